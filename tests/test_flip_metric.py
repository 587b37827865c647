"""FLIP against its formulas in float64, published anchors, and the authors' and OpenImageIO's programs."""

import math

import numpy as np
import OpenImageIO as oiio
import pytest

from gpuops import ParameterError
from gpuops.metrics.flip import PPD, Flip, flip, hdr_flip, pixels_per_degree, weighted_percentiles
from gpuops.metrics.heat import heat

from .reference import flip as reference
from .reference.colour import srgb_light
from .tolerance import FLIP as TOLERANCE

# One pixel; less than a vector; primes; tiles of 32 and 64 pixels ± 1; several tiles.
SIZES = [(1, 1), (1, 7), (9, 1), (31, 67), (65, 33), (97, 131)]
NOT_FINITE = [
    (np.nan, 0.5), (0.5, np.nan), (np.inf, 0.5), (0.5, -np.inf), (np.inf, -np.inf), (np.inf, np.nan),
]  # fmt: skip


def pair() -> tuple[np.ndarray, np.ndarray]:
    """The formula pair as light of 8-bit pictures."""
    first, second = (srgb_light(np.round(v * 255) / 255) for v in reference.formula_pair())
    return first.astype(np.float32), second.astype(np.float32)


def bright_pair() -> tuple[np.ndarray, np.ndarray]:
    """The formula pair as HDR light."""
    first, second = (20 * v**3 for v in reference.formula_pair())
    return first.astype(np.float32), second.astype(np.float32)


def noisy(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    a = rng.random(shape, np.float32)
    return a, (a + rng.normal(0, 0.1, shape)).astype(np.float32)


def flat(*colour: float) -> np.ndarray:
    return np.broadcast_to(np.float32(colour)[:, None, None], (3, 64, 64)).copy()


def interleaved(planes: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(planes.transpose(1, 2, 0))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_errors_are_those_of_the_formulas(gpu, rng, size) -> None:
    a, b = noisy(rng, (3, *size))
    expected = reference.flip(a, b)
    result, errors = flip(gpu, a, b, full=True)
    got = errors.numpy()[0]
    assert np.abs(got - expected).max() <= TOLERANCE["pixel"]
    assert result.mean == pytest.approx(expected.mean(), abs=TOLERANCE["mean"])
    assert result.maximum == got.max() and result.place == np.unravel_index(got.argmax(), got.shape)


@pytest.mark.cases(1)
@pytest.mark.parametrize("ppd", [1.0, 20.0, 130.0])
def test_any_number_of_pixels_per_degree(gpu, ppd) -> None:
    a, b = (v[:, 20:60, 50:110] for v in pair())
    expected = reference.flip(a, b, ppd)
    result, errors = flip(gpu, a, b, ppd=ppd, full=True)
    assert np.abs(errors.numpy()[0] - expected).max() <= TOLERANCE["pixel"]
    assert result.mean == pytest.approx(expected.mean(), abs=TOLERANCE["mean"])


@pytest.mark.parametrize("step", [1e-3, 1e-5, 3e-7])
def test_small_errors_keep_their_digits(gpu, rng, step) -> None:
    a = rng.uniform(0.2, 0.8, (3, 40, 45)).astype(np.float32)
    b = (a + rng.uniform(-step, step, a.shape)).astype(np.float32)
    expected = reference.flip(a, b)
    result = flip(gpu, a, b)
    assert expected.mean() > 0 and result.mean == pytest.approx(expected.mean(), rel=TOLERANCE["small"])


@pytest.mark.cases(1)
@pytest.mark.parametrize("curve", reference.CURVES)
def test_hdr_errors_are_those_of_the_formulas(gpu, curve) -> None:
    a, b = (v[:, 15:60, 20:75] for v in bright_pair())
    at = reference.exposures(a, curve)
    expected, which = reference.hdr_flip(a, b, at, curve)
    result, errors, best = hdr_flip(gpu, a, b, tone_map=curve, full=True)
    assert result.exposures == pytest.approx(at, abs=1e-6)
    assert np.abs(errors.numpy()[0] - expected).max() <= TOLERANCE["pixel"]
    assert result.mean == pytest.approx(expected.mean(), abs=TOLERANCE["mean"])
    shown = np.round(best.numpy()[0] * (len(at) - 1))
    np.testing.assert_array_equal(shown[expected > 1e-4], which[expected > 1e-4])


def test_lower_median_sets_the_last_exposure(gpu) -> None:
    """Of an even number of pixels the upper of the two in the middle counts, as the authors' code has it."""
    a = np.float32([0.1, 0.2, 0.4, 0.8]).reshape(1, 2, 2)
    result = hdr_flip(gpu, a, a)
    assert result.exposures == pytest.approx(reference.exposures(np.repeat(a, 3, 0), "aces"), abs=1e-6)
    assert result.exposures[-1] == pytest.approx(math.log2(2.118872324 / 0.4), abs=1e-6)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("ppd", "mean"), [(PPD, 0.0763302), (30.0, 0.0707007), (100.0, 0.0801313)])
def test_anchors_of_the_formula_pair(gpu, ppd, mean) -> None:
    result, errors = flip(gpu, *pair(), ppd=ppd, full=True)
    assert result.mean == pytest.approx(mean, abs=1e-6)
    if ppd == PPD:
        assert result.maximum == pytest.approx(0.970416, abs=1e-6)
        assert errors.numpy()[0, 48, 64] == pytest.approx(0.411773, abs=1e-6)
        assert errors.numpy()[0, 42, 10] == pytest.approx(0.901912, abs=1e-6)


def test_anchors_of_weighted_percentiles(gpu) -> None:
    _, errors = flip(gpu, *pair(), full=True)
    assert weighted_percentiles(errors) == pytest.approx((0.146946, 0.186444, 0.571550), abs=2e-6)
    assert weighted_percentiles(np.zeros((3, 4))) == (0, 0, 0)
    assert np.isnan(weighted_percentiles(np.float32([[0.5, np.nan]]), (50,))).all()
    assert weighted_percentiles(np.float32([[0.1, 0.2, 0.3]]), (0, 49, 51, 100)) == pytest.approx(
        (0.1, 0.2, 0.3, 0.3)
    )
    with pytest.raises(ParameterError, match="percents must be 0 … 100"):
        weighted_percentiles(errors, (101,))


@pytest.mark.parametrize(("curve", "exposures", "count", "mean"), [
    ("aces", None, 3, 0.0914792),
    ("hable", None, 3, 0.0859911),
    ("reinhard", None, 3, 0.0886460),
    ("aces", (-3.0, 3.0), 4, 0.1281928),
    ("aces", (math.log2(2.118872324 / 2), math.log2(2.118872324 / 0.18)), 4, 0.1326175),
])  # fmt: skip
def test_anchors_of_the_bright_formula_pair(gpu, curve, exposures, count, mean) -> None:
    given = count if exposures else None
    result = hdr_flip(gpu, *bright_pair(), tone_map=curve, exposures=exposures, count=given)
    assert len(result.exposures) == count and result.mean == pytest.approx(mean, abs=2e-6)


@pytest.mark.parametrize(("one", "other", "mean"), [
    (flat(0.099975586, 0.099975586, 0.099975586), flat(0.89990234, 0.89990234, 0.89990234), 0.9513667),
    (flat(0, 0, 0), flat(1, 1, 1), 0.9673798),
    (flat(0, 1, 0), flat(0, 0, 1), 1.0),
    (*(flat(*srgb_light(np.array(c))) for c in ((0.5, 0.5, 0.5), (0.51, 0.5, 0.5))), 0.047436),
    (*(flat(*srgb_light(np.array(c))) for c in ((0.2, 0.4, 0.6), (0.25, 0.4, 0.6))), 0.082880),
], ids=["light gray", "white", "blue", "a little red", "more red"])  # fmt: skip
def test_anchors_of_flat_colours(gpu, one, other, mean) -> None:
    result, errors = flip(gpu, one, other, full=True)
    assert result.mean == pytest.approx(mean, abs=1e-6) and np.ptp(errors.numpy()) <= 1e-6
    assert result.maximum <= 1


@pytest.mark.parametrize("hdr", [False, True])
def test_agrees_with_the_authors_program(gpu, hdr) -> None:
    theirs = pytest.importorskip("flip_evaluator", reason="needs the extra test-all")
    a, b = bright_pair() if hdr else pair()
    expected, mean, _ = theirs.evaluate(
        interleaved(a), interleaved(b), "HDR" if hdr else "LDR", inputsRGB=False, applyMagma=False
    )
    result: Flip
    result, errors, *_ = hdr_flip(gpu, a, b, full=True) if hdr else flip(gpu, a, b, full=True)
    assert np.abs(errors.numpy()[0] - expected[..., 0]).max() <= TOLERANCE["peers"]
    assert result.mean == pytest.approx(mean, abs=5e-5)


@pytest.mark.skipif(not hasattr(oiio.ImageBufAlgo, "FLIP_diff"), reason="OpenImageIO has no FLIP before 3.2")
@pytest.mark.parametrize("hdr", [False, True])
def test_agrees_with_openimageio(gpu, hdr) -> None:
    a, b = bright_pair() if hdr else pair()
    first, second = (oiio.ImageBuf(interleaved(v)) for v in (a, b))
    expected = oiio.ImageBufAlgo.FLIP_diff(first, second, hdr=int(hdr), maxluminance=0.0)
    _, errors, *_ = hdr_flip(gpu, a, b, full=True) if hdr else flip(gpu, a, b, full=True)
    assert np.abs(errors.numpy()[0] - expected.get_pixels(oiio.FLOAT)[..., 0]).max() <= TOLERANCE["peers"]


def test_equal_pictures_have_no_error(gpu, rng) -> None:
    a = rng.random((3, 70, 80), np.float32)
    a[0, 3, 4], a[1, 5, 6], a[2, 7, 8] = np.nan, np.inf, -np.inf
    assert flip(gpu, a, a.copy()) == Flip(0.0, 0.0, (0, 0))
    result, errors, best = hdr_flip(gpu, a, a.copy(), full=True)
    assert (result.mean, result.maximum) == (0, 0) and not errors.numpy().any() and not best.numpy().any()


@pytest.mark.parametrize("place", [(0, 0), (63, 64), (64, 127), (70, 100), (149, 199)])
def test_errors_beyond_the_reach_of_a_change_are_exactly_zero(gpu, rng, place) -> None:
    """Tiles without a difference are skipped, but not those that a neighbour's difference reaches."""
    a = rng.random((3, 150, 200), np.float32)
    b = a.copy()
    row, column = place
    b[:, row, column] = 1 - b[:, row, column]
    expected = reference.flip(a, b)
    _, errors = flip(gpu, a, b, full=True)
    assert np.abs(errors.numpy()[0] - expected).max() <= TOLERANCE["pixel"]
    near = np.zeros((150, 200), bool)
    near[max(0, row - 10) : row + 11, max(0, column - 10) : column + 11] = True
    assert not errors.numpy()[0][~near].any() and np.count_nonzero(errors.numpy()) > 50


@pytest.mark.parametrize("shape", [(40, 50), (1, 40, 50)])
def test_gray_is_three_equal_planes(gpu, rng, shape) -> None:
    a, b = noisy(rng, shape)
    three = [np.repeat(v.reshape(1, 40, 50), 3, 0) for v in (a, b)]
    assert flip(gpu, a, b) == flip(gpu, *three)
    assert hdr_flip(gpu, a, b, ppd=20) == hdr_flip(gpu, *three, ppd=20)


def test_light_of_any_brightness(gpu) -> None:
    """Squares of light beyond 2^64 would not be finite; negative light counts as none."""
    a = np.full((3, 6, 6), np.finfo(np.float32).max, np.float32)
    b = a / np.float32(1e30)
    a[:, 2], b[:, 2] = -5, 0
    for curve in reference.CURVES:
        result, errors, _ = hdr_flip(gpu, a, b, tone_map=curve, full=True)
        assert np.isfinite(errors.numpy()).all() and result.maximum <= 1
    black = np.zeros((3, 5, 5), np.float32)
    result = hdr_flip(gpu, black, black + 1e-3)
    assert result.exposures == pytest.approx([math.log2(2.118872324) + 23] * 2) and 0.5 < result.mean <= 1


@pytest.mark.parametrize(("one", "other"), NOT_FINITE)
@pytest.mark.parametrize("hdr", [False, True])
def test_a_value_that_is_not_finite_meets_no_threshold(gpu, rng, one, other, hdr) -> None:
    a = rng.random((3, 40, 70), np.float32)
    b = a.copy()
    a[1, 33, 66], b[1, 33, 66] = one, other
    a[2, 35, 5], b[2, 35, 5] = one, other
    result: Flip
    result, errors, *_ = hdr_flip(gpu, a, b, full=True) if hdr else flip(gpu, a, b, full=True)
    assert math.isnan(result.mean) and math.isnan(result.maximum) and result.place == (33, 66)
    wrong = np.isnan(errors.numpy()[0])
    assert list(zip(*np.nonzero(wrong), strict=True)) == [(33, 66), (35, 5)]
    assert np.isfinite(result.exposures).all()


def test_infinite_light_in_both_pictures_hides_no_error(gpu, rng) -> None:
    """The authors' program gives 0 for any test picture if the reference has an infinity."""
    a, b = noisy(rng, (3, 30, 30))
    clean = hdr_flip(gpu, a, b, ppd=20)
    a[:, 4, 4] = b[:, 4, 4] = np.inf
    result = hdr_flip(gpu, a, b, ppd=20)
    assert result.exposures[-1] == pytest.approx(clean.exposures[-1], abs=0.1)
    assert result.mean == pytest.approx(clean.mean, rel=0.1)


@pytest.mark.parametrize(("shapes", "options", "message"), [
    (((3, 4, 5), (3, 5, 4)), {}, "shapes differ"),
    (((4, 4, 5), (4, 4, 5)), {}, "three planes of RGB or one of gray"),
    (((3, 4, 5), (3, 4, 5)), {"ppd": 0.5}, "ppd must be 1 … 1000"),
    (((3, 4, 5), (3, 4, 5)), {"ppd": math.nan}, "ppd must be"),
    (((3, 4, 5), (3, 4, 5)), {"tone_map": "agx"}, "tone map"),
    (((3, 4, 5), (3, 4, 5)), {"exposures": (2.0, 1.0)}, "exposures must go up"),
    (((3, 4, 5), (3, 4, 5)), {"exposures": (0.0, math.inf)}, "exposures must go up"),
    (((3, 4, 5), (3, 4, 5)), {"count": 0}, "count must be 1 … 1000"),
], ids=lambda v: str(v)[:20])  # fmt: skip
def test_bad_input_has_one_clear_line(gpu, shapes, options, message) -> None:
    a, b = (np.zeros(shape, np.float32) for shape in shapes)
    with pytest.raises(ParameterError, match=message) as caught:
        hdr_flip(gpu, a, b, **options)
    assert "\n" not in str(caught.value)


def test_pixels_per_degree() -> None:
    assert pixels_per_degree(0.7, 3840, 0.7) == PPD == pytest.approx(67.0206432766)
    with pytest.raises(ParameterError, match="distance must be a positive number"):
        pixels_per_degree(0, 3840, 0.7)


def test_heat_has_the_colours_of_magma(gpu) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="needs the extra plots")
    errors = np.linspace(0, 1, 256, dtype=np.float32).reshape(1, 8, 32)
    expected = np.array(matplotlib.colormaps["magma"].colors).T.reshape(3, 8, 32)
    image = heat(gpu, errors)
    assert not image.linear and np.abs(image.numpy() - expected).max() <= 0.5 / 255 + 1e-6
    shown = heat(gpu, np.float32([[np.nan, -1, 2]])).numpy()
    np.testing.assert_array_equal(shown[:, 0, 0], 1)
    np.testing.assert_array_equal(shown[:, 0, 1:], image.numpy()[:, [0, -1], [0, -1]])
    with pytest.raises(ParameterError, match="one plane"):
        heat(gpu, np.zeros((3, 4, 4)))
