"""Runs of pointwise steps in one launch, from and to pixels of any depth, against numpy in double precision."""

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from gpuops import Gpu, Report
from gpuops.chain import Chain
from gpuops.ops.grade import GradeParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.pixels.coding import Decoding, Encoding, losses, on_device
from gpuops.pixels.colour import LINEAR
from gpuops.pixels.conversion import conversion
from gpuops.pixels.pointwise import Stage, each
from gpuops.plan import operation_of
from gpuops.space import Space

from . import test_grade
from .choices import in_turns, pairs
from .reference.images import decoded, encoded
from .tolerance import CHAIN, GRADE

Way = tuple[int, bool, bool, bool]
DEPTHS = ("uint8", "uint16", "float16", "float32")
GRADES = (
    GradeParams(0.5, (1.2, 0.9, 0.7), (-0.05, 0.0, 0.05), (1.3, 1.0, 0.8), 0.6),
    GradeParams(contrast=1.2, saturation=1.4),
    GradeParams(-1.0, curve=((0, 0.02), (0.25, 0.2), (0.6, 0.7), (1, 0.7), (3, 2))),
)


def stages(grades: Sequence[GradeParams], colours: int, channels: int) -> list[Stage]:
    found = []
    for params in grades:
        make = operation_of(params).stage
        assert make is not None
        found.append(make(params, colours, channels, Space()))
    return found


def pixels(rng: np.random.Generator, dtype: str, channels: int, *, alpha: bool) -> np.ndarray:
    """Pixels of any size, with an odd number of values."""
    if dtype.startswith("uint"):
        x = rng.integers(0, np.iinfo(dtype).max, (7, 13, channels), endpoint=True).astype(dtype)
    else:
        x = rng.gamma(0.5, 1, (7, 13, channels)).astype(dtype)
        x[..., : channels - alpha] -= np.array(0.05, dtype)
    if alpha:
        x[2, 3:5, -1] = 0
    return x


#: How many stages; linearise; encode; multiply by alpha in the last stage, and divide by it in the encoding.
WAYS = list(itertools.product(range(4), *[(False, True)] * 3))
_dice = random.Random(7)
#: Depth before and after, channels, and one of the ways.
CASES = [(*layout, _dice.choice(WAYS)) for layout in pairs(DEPTHS, DEPTHS, (1, 2, 3, 4))]


@pytest.mark.cases(1)
@pytest.mark.parametrize(("before", "after", "channels", "way"), CASES)
@pytest.mark.parametrize("planned", ["cpu", "gpu"], indirect=True)
def test_any_depth_to_any_depth(planned, rng, before, after, channels, way) -> None:
    check(planned, rng, before, after, channels, way)


def check(gpu: Gpu, rng: np.random.Generator, before: str, after: str, channels: int, way: Way) -> None:
    """Stages from pixels to pixels, against numpy."""
    alpha = channels % 2 == 0
    x = pixels(rng, before, channels, alpha=alpha)
    count, linearise, encode, multiply = way
    decoding = Decoding(alpha, linearise=linearise and before != "float16")
    encoding = Encoding(np.dtype(after), encode=encode, unpremultiply=multiply)
    grades = GRADES[:count]
    done = stages(grades, channels - alpha, channels)
    expected = decoded(x, decoding)
    for params in grades:
        expected = test_grade.reference(expected, channels - alpha, params)
    if multiply and alpha:  # as before a filter; the encoding divides by alpha again
        step, _ = conversion(Space(), LINEAR, alpha=True, premultiplied=True)
        assert step is not None
        done.append(step)
        expected[:-1] *= expected[-1]
    result, lost = each(gpu, on_device(gpu, x), done, decoding, encoding)
    assert lost is not None and losses(lost).not_finite == 0
    expected = encoded(expected, encoding, alpha)
    if encoding.dtype.kind == "u":
        expected = np.clip(expected, 0, 1) * np.iinfo(after).max
    visible = expected[..., -1:] > 0 if alpha else np.ones_like(expected[..., :1], bool)
    error = np.abs(result.numpy() - expected) * (visible if multiply else 1)
    rounding = {"uint8": 0.5, "uint16": 0.5, "float16": 2.0**-11 * np.abs(expected), "float32": 0}[after]
    scale = {"uint8": 255, "uint16": 65535}.get(after, np.abs(expected).max())
    allowed = rounding + GRADE["encoded" if encode else "grade"] * scale
    assert (error <= allowed).all()


@pytest.mark.cases(1)
@pytest.mark.parametrize("after", DEPTHS)
def test_what_is_not_finite(planned, after) -> None:
    """It goes through stages as it is, and is counted where integers cannot hold it."""
    x = np.full((3, 5, 4), 0.25, np.float32)
    x[0, 0, 0], x[1, 2, 1], x[2, 4, 2], x[1, 1, 1] = np.nan, np.inf, -np.inf, -3
    for encode in (False, True):
        done = stages([GradeParams(slope=(0.5,) * 3)], 3, 4)
        encoding = Encoding(np.dtype(after), encode=encode)
        result, lost = each(planned, on_device(planned, x), done, Decoding(alpha=True), encoding)
        assert lost is not None
        count, found = losses(lost), result.numpy()
        if np.dtype(after).kind == "f":
            np.testing.assert_array_equal(np.isnan(found), np.isnan(x))
            np.testing.assert_array_equal(np.isposinf(found), np.isposinf(x))
            assert (count.clipped, count.not_finite) == (0, 0)
        else:
            assert (count.clipped, count.not_finite) == (1, 3)
            most = np.iinfo(after).max
            assert (found[0, 0, 0], found[1, 2, 1], found[2, 4, 2], found[1, 1, 1]) == (0, most, 0, 0)


TONES = [
    TonemapParams("aces-hill"),
    TonemapParams("reinhard-extended", exposure=0.5),
    TonemapParams("hable", meter="histogram", white_balance="gray-world"),
    TonemapParams("reinhard", meter="mean", method="local"),
    TonemapParams("agx", meter="center"),
    TonemapParams("reinhard-local"),
    TonemapParams("durand"),
]


@pytest.mark.cases(1)
@in_turns(("params", "alpha"), [(params, bool(k // 2 % 2)) for k, params in enumerate(TONES)])
def test_tone_mapping_reads_through_stages(planned, opened, rng, params, alpha) -> None:
    """The steps one after the other give the same; so its measurements are of what the stages make of light."""
    x = rng.gamma(0.5, 1, (3 + alpha, 21, 34)).astype(np.float32)
    image = planned.array(x)
    image.alpha = alpha
    image.space = Space(premultiplied=alpha)
    report = Report()
    reporting = opened(report=report)
    reporting.limits = planned.limits
    again = reporting.array(x)
    again.alpha, again.space = alpha, image.space
    reporting.run(Chain(*GRADES, params), again).numpy()
    names = {time.label.split(":")[0] for time in report.kernels()}
    assert names == {"1 grade + 2 grade + 3 grade + tonemap"}
    single = image
    for step in (*GRADES, params):
        single = planned.run(Chain(step), single)
    result = planned.run(Chain(*GRADES, params), image)
    powers = CHAIN["powers"]
    np.testing.assert_allclose(result.numpy(), single.numpy(), rtol=powers, atol=powers / 10)
