"""Separable blurs against scipy.ndimage."""

import numpy as np
import pytest
import scipy.ndimage

from gpuops import GpuopsWarning, ParameterError
from gpuops.filters import blur
from gpuops.ops.blur import BlurParams
from gpuops.params.border import BORDERS, SYNONYMS, border_name, border_option
from gpuops.passes import Reach
from gpuops.pixels.coding import Decoding, Encoding

from .choices import each
from .reference import borders
from .tolerance import BLUR as TOLERANCE
from .tolerance import ROUNDINGS

# A single pixel, single lines, primes, and the tiles' and vectors' sizes ± 1: each takes another path.
SHAPES = [(1, 1), (1, 7), (9, 1), (17, 31), (64, 65), (97, 101), (63, 257)]


@pytest.mark.cases(1)
@each(method=["direct", "local"], border=list(BORDERS), shape=SHAPES)
def test_gaussian_is_scipys(gpu, rng, method, border, shape) -> None:
    x = rng.random((2, *shape), dtype=np.float32)
    for sigma in ((0.3, 0.3), (1.0, 3.3), (12.0, 0.0), (0.0, 40.0)):
        params = BlurParams(sigma=sigma, border=border, cval=0.25, truncate=4.0, method=method)
        expected = scipy.ndimage.gaussian_filter(
            x.astype(float), (0, *sigma), mode=borders.modes(border), cval=0.25
        )
        np.testing.assert_allclose(
            blur.blur(gpu, gpu.array(x), params).numpy(), expected, atol=TOLERANCE["sums"]
        )


@pytest.mark.cases(1)
@each(
    border=list(BORDERS),
    sigma=[
        (0.3, 0.8), (2, 3), (4.3, 5.4), (5, 5.9), (4.6, 9), (10, 9), (7, 0), (2, 40), (30, 12), (100, 300),
    ],
)  # fmt: skip
def test_auto_is_a_whole_gaussian(gpu, rng, sigma, border) -> None:
    for shape in ((1, 9), (31, 17), (97, 131), (56, 64), (2, 330)):
        point = np.zeros(shape)
        point[shape[0] // 2, shape[1] // 3] = 1
        step = np.zeros(shape)
        step[:, shape[1] // 2 :] = 1
        x = np.stack([point, step, rng.random(shape)])
        got = blur.blur(gpu, gpu.array(x.astype(np.float32)), BlurParams(sigma=sigma, border=border)).numpy()
        expected = scipy.ndimage.gaussian_filter(x, (0, *sigma), mode=borders.modes(border), truncate=9)
        assert (np.abs(got - expected).max((1, 2)) <= TOLERANCE["coarse"] * expected.max((1, 2))).all()


@each(border=list(BORDERS), sigma=[450, 930, 1000, 2000])
def test_auto_on_narrow_images(gpu, rng, sigma, border) -> None:
    """Narrow images have a coarse grid of a few samples, on which much of the Gaussian is left."""
    for width in (1, 5, 37, 64):
        x = rng.random((3, width))
        params = BlurParams(sigma=(0, sigma), border=border, cval=0.5)
        got = blur.blur(gpu, gpu.array(x[None].astype(np.float32)), params).numpy()[0]
        expected = scipy.ndimage.gaussian_filter(
            x, (0, sigma), mode=borders.modes(border, 2), cval=0.5, truncate=6
        )
        np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE["coarse"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("sigma", [3.0, 30.0])
def test_work_items_of_many_rows(gpu, rng, sigma) -> None:
    """No driver's limit on the rounds of a work-item's loops cuts them off (llvmpipe's is 65535)."""
    x = rng.random((1, 640, 600))
    got = blur.blur(gpu, gpu.array(x.astype(np.float32)), BlurParams(sigma=(sigma, sigma))).numpy()
    expected = scipy.ndimage.gaussian_filter(x, (0, sigma, sigma), truncate=6)
    np.testing.assert_allclose(got, expected, atol=TOLERANCE["sums"])


def covered(inside, radius: int) -> np.ndarray:
    """Shares of pixels, by 100 × 100 points in each."""
    fine = (np.arange((2 * radius + 1) * 100) + 0.5) / 100 - radius - 0.5
    points = inside(fine[:, None], fine[None, :]).reshape(2 * radius + 1, 100, 2 * radius + 1, 100)
    shares = points.sum((1, 3))
    return shares / shares.sum()


@pytest.mark.parametrize("radius", [0.3, 1.0, 2.5, 7.2, 12.0])
def test_a_point_becomes_a_disc(gpu, radius) -> None:
    point = np.zeros((1, 31, 31), np.float32)
    point[0, 15, 15] = 1
    got = blur.blur(gpu, gpu.array(point), BlurParams(kind="disc", radius=(radius, radius))).numpy()[0]
    expected = covered(lambda y, x: y * y + x * x < radius * radius, 15)
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE["disc"] * expected.max())


@each(angle=[0.0, 30.0, 90.0, 135.0, -400.0], length=[0.5, 1.0, 7.0, 20.3])
def test_a_point_becomes_a_line(gpu, length, angle) -> None:
    point = np.zeros((1, 31, 31), np.float32)
    point[0, 15, 15] = 1
    got = blur.blur(gpu, gpu.array(point), BlurParams(kind="motion", length=length, angle=angle)).numpy()[0]
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    expected = covered(lambda y, x: (np.abs(x * c - y * s) < length / 2) & (np.abs(x * s + y * c) < 0.5), 15)
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE["line"] * expected.max())


@pytest.mark.cases(1)
@pytest.mark.parametrize("border", list(BORDERS))
def test_gaussian_by_spectra(gpu, rng, border) -> None:
    x = rng.random((2, 40, 51), dtype=np.float32)
    params = BlurParams(sigma=(3.0, 6.0), border=border, cval=0.3, method="fft")
    expected = scipy.ndimage.gaussian_filter(
        x.astype(float), (0, 3, 6), mode=borders.modes(border), cval=0.3, truncate=9
    )
    got = blur.blur(gpu, gpu.array(x), params).numpy()
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE["fft"])


def test_overwriting_the_input(gpu, rng, monkeypatch) -> None:
    monkeypatch.setattr("gpuops.tiles.planes._AT_ONCE", 1 << 12)  # so that planes are processed one by one
    x = rng.random((3, 50, 60), dtype=np.float32)
    for sigma in (2.0, 9.0):
        params = BlurParams(sigma=(sigma, sigma))
        image = gpu.array(x)
        result = blur.blur(gpu, image, params, overwrite_input=True)
        assert result is image
        np.testing.assert_array_equal(result.numpy(), blur.blur(gpu, gpu.array(x), params).numpy())


def test_library_functions_take_and_return_arrays(gpu, rng) -> None:
    x = rng.random((40, 50))
    y = blur.gaussian_filter(gpu, x, 2.5, mode="wrap", truncate=3)
    assert y.shape == x.shape and y.dtype == np.float32
    expected = scipy.ndimage.gaussian_filter(x, 2.5, mode="wrap", truncate=3)
    np.testing.assert_allclose(y, expected, atol=TOLERANCE["sums"])
    expected = scipy.ndimage.uniform_filter(x, 7)
    np.testing.assert_allclose(blur.uniform_filter(gpu, x, 7), expected, atol=TOLERANCE["sums"])
    stack = rng.random((2, 3, 20, 21), dtype=np.float32)
    assert blur.gaussian_filter(gpu, stack, (1, 2)).shape == stack.shape


@pytest.mark.parametrize("method", ["direct", "local"])
def test_nan_stays_within_the_support(gpu, method) -> None:
    x = np.zeros((1, 40, 48), np.float32)
    x[0, 20, 24] = np.nan
    params = BlurParams(sigma=(1.0, 1.0), truncate=4.0, method=method)
    spread = np.isnan(blur.blur(gpu, gpu.array(x), params).numpy()[0])
    expected = np.zeros((40, 48), bool)
    expected[16:25, 20:29] = True
    np.testing.assert_array_equal(spread, expected)


@pytest.mark.parametrize("sigma", [0.8, 4.0, 5.0, 15.0, 33.0, 100.0, 200.0])
def test_nan_gets_as_far_as_is_said(gpu, sigma) -> None:
    x = np.zeros((1, 3, int(20 * sigma)), np.float32)
    middle = x.shape[2] // 2
    x[0, 1, middle] = np.nan
    for params in (BlurParams(sigma=(0, sigma)), BlurParams(sigma=(0, sigma), truncate=3.0)):
        spread = np.flatnonzero(np.isnan(blur.blur(gpu, gpu.array(x), params).numpy()[0, 1]))
        far = max(middle - spread.min(), spread.max() - middle)
        said = blur.reach(gpu, x.shape, params).spoiled
        assert 0.4 * said < far <= said
    assert blur.reach(gpu, x.shape, BlurParams(kind="median", radius=(3, 3))) == Reach(3, 0)


KINDS: list[dict[str, object]] = [
    {"sigma": (2.0, 3.0), "method": "direct"},
    {"sigma": (2.0, 3.0), "method": "local"},
    {"sigma": (9.0, 7.0), "method": "multirate"},
    {"sigma": (3.0, 4.0), "method": "fft"},
    {"kind": "box", "radius": (3, 5)},
    {"kind": "box", "radius": (3, 70)},
    {"kind": "disc", "radius": (4.5, 4.5)},
    {"kind": "motion", "length": 15.0, "angle": 30.0},
    {"kind": "median", "radius": (2, 2)},
    {"kind": "bilateral", "sigma": (2.0, 2.0), "sigma_color": 0.3},
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_turning_a_panorama_turns_its_blur(gpu, rng, options) -> None:
    """Pixels are in the depth of a file, whose rows are of any length."""
    codes, params = rng.integers(0, 65536, (30, 67, 3), np.uint16), BlurParams(border="wrap-x", **options)
    decoding, encoding = Decoding(linearise=True), Encoding(np.dtype(np.uint16), encode=True)
    by = 20
    made = [
        blur.blur_pixels(gpu, gpu.array(np.ascontiguousarray(v)), params, decoding, encoding)[0]
        .numpy()
        .astype(int)
        for v in (codes, np.roll(codes, by, 1))
    ]
    assert np.abs(np.roll(made[0], by, 1) - made[1]).max() <= 3


def test_border_names() -> None:
    assert border_name("REFLECT_101") == "mirror" and border_name("edge") == "nearest"
    assert set(SYNONYMS.values()) <= set(BORDERS) and border_option("constant:0.5") == ("constant", 0.5)
    for bad in ("constant:x", "constant:nan", "mirror:1", "sideways"):
        with pytest.raises(ParameterError):
            border_option(bad)


def test_the_older_name_of_a_method() -> None:
    with pytest.warns(GpuopsWarning, match="its method is auto"):
        assert BlurParams((4.0, 4.0), method="recursive") == BlurParams((4.0, 4.0))


@pytest.mark.parametrize("bad", [
    {"sigma": (-1.0, 1.0)},
    {"sigma": (float("nan"), 1.0)},
    {"truncate": 0.0},
    {"method": "multirate", "sigma": (2.0, 2.9)},
    {"method": "multirate", "sigma": (9.0, 9.0), "truncate": 4.0},
    {"method": "multirate", "kind": "box", "radius": (9, 9)},
    {"kind": "round"},
    {"kind": "median", "radius": (16, 1)},
    {"kind": "median", "radius": (1, 1), "method": "local"},
    {"kind": "bilateral", "sigma": (1.0, 2.0), "sigma_color": 0.1},
    {"kind": "box", "radius": (1.0, float("inf"))},
    {"kind": "motion", "length": -1.0},
    {"kind": "motion", "length": 1e4},
    {"method": "magic"},
    {"border": "sideways"},
])  # fmt: skip
def test_parameters_without_meaning_are_refused(bad) -> None:
    with pytest.raises(ParameterError):
        BlurParams(**bad)


def test_bad_arrays_are_refused(gpu) -> None:
    for bad in (np.zeros(5), np.zeros((0, 4)), np.zeros((4, 4), complex)):
        with pytest.raises(ParameterError):
            blur.gaussian_filter(gpu, bad, 1.0)
    with pytest.raises(ParameterError, match="odd"):
        blur.uniform_filter(gpu, np.zeros((4, 4)), 4)


def test_numbers_of_any_kind(gpu, rng) -> None:
    x = rng.random((9, 11), dtype=np.float32)
    expected = blur.gaussian_filter(gpu, x, 2)
    for sigma in (np.float32(2), np.int64(2), np.array(2.0), [2, 2], (np.float64(2), 2)):
        np.testing.assert_array_equal(blur.gaussian_filter(gpu, x, sigma), expected)
    wide = blur.uniform_filter(gpu, x, (np.int64(3), 5))
    np.testing.assert_allclose(wide, scipy.ndimage.uniform_filter(x, (3, 5)), rtol=0, atol=ROUNDINGS)
    for sigma in ((1, 2, 3), "3", None, [[1, 2]], 1j):
        with pytest.raises(ParameterError, match="sigma must be"):
            blur.gaussian_filter(gpu, x, sigma)
    with pytest.raises(ParameterError, match="odd size"):
        blur.uniform_filter(gpu, x, 2.5)
    with pytest.raises(ParameterError, match="numbers are needed"):
        blur.gaussian_filter(gpu, np.array([["a", "b"]]), 1)


IDENTITIES = [BlurParams(), BlurParams(kind="box"), BlurParams(kind="disc"), BlurParams(kind="motion")]
