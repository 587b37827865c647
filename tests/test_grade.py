"""Colour correction against its formulas in double, with scipy's curve."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from gpuops import ParameterError
from gpuops.ops.grade import OPERATION as grade
from gpuops.ops.grade import GradeParams
from gpuops.tone.curves import cubics

from . import tolerance
from .operation_cases import CASES

TOLERANCE = tolerance.GRADE["grade"]
IDENTITIES = [GradeParams(), GradeParams(pivot=0.5), GradeParams(curve=((-1, -1), (0.3, 0.3), (2, 2)))]
WEIGHTS = (0.2126, 0.7152, 0.0722)


def saturated(v: np.ndarray, saturation: float) -> np.ndarray:  # type: ignore[type-arg]
    y = np.tensordot(WEIGHTS, v, 1)
    return y + saturation * (v - y)


def curved(v: np.ndarray, points: tuple[tuple[float, float], ...]) -> np.ndarray:  # type: ignore[type-arg]
    x, y = np.transpose(points)
    curve = PchipInterpolator(x, y)
    inside = curve(v.clip(x[0], x[-1]))
    return inside + np.minimum(v - x[0], 0) * curve(x[0], 1) + np.maximum(v - x[-1], 0) * curve(x[-1], 1)


def reference(x: np.ndarray, colours: int, p: GradeParams) -> np.ndarray:  # type: ignore[type-arg]
    slope, offset, power = (np.reshape(t, (3, 1, 1)) for t in (p.slope, p.offset, p.power))
    v = 2**p.exposure * x[:colours] * slope + offset
    v = saturated(np.where(v < 0, v, np.abs(v) ** power), p.cdl_saturation)
    v = np.sign(v) * np.abs(v / p.pivot) ** p.contrast * p.pivot
    v = saturated(v, p.saturation)
    if p.curve:
        v = curved(v, p.curve)
    return np.concatenate([v if colours == 3 else np.tensordot(WEIGHTS, v, 1)[None], x[colours:]])


@pytest.mark.parametrize("params", CASES["grade"])
def test_light_far_beyond_both_ends(gpu, rng, params) -> None:
    """Negative light as well, within a tolerance of each value, or of 1, which offsets and the curve's points are."""
    x = (rng.choice([-1, 1], (3, 30, 40)) * 2.0 ** rng.uniform(-20, 15, (3, 30, 40))).astype(np.float32)
    params = replace(
        params, cdl_saturation=1, saturation=1
    )  # by which a colour takes on the others' rounding
    expected = reference(x.astype(float), 3, params)
    far = tolerance.GRADE["far"]
    np.testing.assert_allclose(grade(gpu, gpu.array(x), params).numpy(), expected, rtol=far, atol=far)


@pytest.mark.cases(1)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_what_is_not_finite_stays(gpu, rng, channels) -> None:
    """Value for value: other channels of a pixel stay finite, and other pixels are as without it."""
    x = rng.random((channels, 5, 16), np.float32)
    plain = x.copy()
    at = [(0, 1, 2), (channels - 1, 3, 4), (channels // 2, 4, 15)]
    for place, value in zip(at, (np.nan, np.inf, -np.inf), strict=True):
        x[place] = value
    for params in CASES["grade"]:
        image, without = gpu.array(x), gpu.array(plain)
        image.alpha = without.alpha = channels % 2 == 0
        result, expected = grade(gpu, image, params).numpy(), grade(gpu, without, params).numpy()
        spoilt = ~np.isfinite(x)
        np.testing.assert_array_equal(result[spoilt], x[spoilt])
        assert np.isfinite(result[~spoilt]).all()
        whole = np.isfinite(x).all(axis=0)
        np.testing.assert_array_equal(result[:, whole], expected[:, whole])


def test_an_image_without_colours_is_refused(gpu) -> None:
    with pytest.raises(ParameterError, match="grading needs a gray or RGB image"):
        grade(gpu, gpu.array(np.zeros((5, 2, 2), np.float32)), CASES["grade"][0])


@pytest.mark.parametrize("points", [
    ((0, 0), (0.25, 0.2), (1, 1)), ((0, 1), (1, 0), (2, 1)), ((-1, 0), (0, 5), (0.1, 5), (3, 4.9), (4, -7)),
    tuple((float(i), float(i * i % 7)) for i in range(16)),
])  # fmt: skip
def test_curves_are_scipys(points) -> None:
    x = np.linspace(points[0][0] - 1, points[-1][0] + 1, 501)
    result = np.full(501, float(points[0][1]))
    for start, low, high, *terms in cubics(points):
        t = (x - start).clip(low, high)
        result += np.polyval([*terms[::-1], 0], t)
    off = tolerance.GRADE["curve"]
    np.testing.assert_allclose(result, curved(x, points), rtol=off, atol=off)


def test_curves_that_are_none(clpix, tmp_path) -> None:
    for text, said in (
        ("0,0 1", "curve cannot be '0,0 1': give 2 … 16 points `X,Y`"),
        ("0,0", "curve must have 2 to 16 points, not 1"),
        (" ".join(f"{i},0" for i in range(17)), "curve must have 2 to 16 points, not 17"),
        ("0,0 nan,1", "curve must have points from -100000 to 100000"),
        ("0,0 1,1 1,2", "curve must have points from left to right, at least 1e-06 apart: 1 follows 1"),
    ):
        with pytest.raises(ParameterError) as caught:
            GradeParams(curve=text)  # type: ignore[arg-type]
        assert str(caught.value) == said
        run = clpix("grade", tmp_path / "in.png", "--curve", text, "-o", tmp_path / "out.png")
        assert run.code == 2 and len(run.err.splitlines()) == 1 and said in run.err
    assert GradeParams(curve="0,0  .5,.25 1,1").curve == ((0, 0), (0.5, 0.25), (1, 1))  # type: ignore[arg-type]
