"""Resized images against matrices of weights in double precision, Pillow's filters, and exact indices."""

from fractions import Fraction
from functools import cache
from math import floor
from typing import Any

import numpy as np
import PIL.Image
import pytest

from gpuops import Gpu, ParameterError, files
from gpuops.filters.resampling import BySample, ResampledAxis, weights
from gpuops.ops.resize import OPERATION as resize
from gpuops.ops.resize import ResizeParams

from . import tolerance
from .choices import each

TOLERANCE = tolerance.RESIZE
IDENTITIES = [ResizeParams(scale=(1, 1)), ResizeParams(scale="100%", filter="nearest")]  # type: ignore[arg-type]


def lanczos3(x: np.ndarray) -> np.ndarray:
    angle = np.pi * np.where(x == 0, 1, x)
    inside = np.where(x == 0, 1, 3 * np.sin(angle) * np.sin(angle / 3) / angle**2)
    return np.where(abs(x) < 3, inside, 0)


def mitchell(x: np.ndarray) -> np.ndarray:
    near, far = 7 * x**3 - 12 * x**2 + 16 / 3, -7 / 3 * x**3 + 12 * x**2 - 20 * x + 32 / 3
    return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6


def catmull_rom(x: np.ndarray) -> np.ndarray:
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


KERNELS = {"lanczos3": lanczos3, "mitchell": mitchell, "catmull-rom": catmull_rom}


@cache
def matrix(size: int, result: int, step: Fraction, filter: str) -> np.ndarray:
    """The weights (result, sample) of an axis of which ``result`` intervals of ``step`` are taken from the middle."""
    if (size, step) == (result, 1):
        return np.eye(size)  # even by a filter that is not 0 at other samples' places, as Mitchell's
    begins = [(size - result * step) / 2 + i * step for i in range(result)]
    if filter == "nearest":
        return np.eye(size)[[floor(begin + step / 2) for begin in begins]]
    begin, j, width = np.array(begins, float)[:, None], np.arange(size), float(step)
    if filter == "area":
        found = np.clip(np.minimum(begin + width, j + 1) - np.maximum(begin, j), 0, None)
    else:
        found = KERNELS[filter](abs(j + 0.5 - begin - width / 2) / max(width, 1))
    weights: np.ndarray = found / found.sum(1, keepdims=True)
    return weights


def target(height: int, width: int, p: ResizeParams) -> tuple[tuple[int, int], tuple[Fraction, Fraction]]:
    """The result's height and width, and the samples of each."""
    if p.scale:
        sides = [max(1, floor(n * s + 0.5)) for n, s in zip((width, height), p.scale, strict=True)]
    else:
        assert p.size
        factors = [Fraction(new, old) for new, old in zip(p.size, (width, height), strict=True) if new]
        if None in p.size or p.fit == "contain":
            sides = [max(1, floor(n * min(factors) + Fraction(1, 2))) for n in (width, height)]
        else:
            sides = [new for new in p.size if new]
            if p.fit == "cover":
                return (sides[1], sides[0]), (1 / max(factors), 1 / max(factors))
    return (sides[1], sides[0]), (Fraction(height, sides[1]), Fraction(width, sides[0]))


def reference(x: np.ndarray, colours: int, p: ResizeParams) -> np.ndarray:
    (rows, columns), (y, x_step) = target(*x.shape[1:], p)
    along = matrix(x.shape[2], columns, x_step, p.filter)
    return matrix(x.shape[1], rows, y, p.filter) @ x @ along.T


def planes(gpu: Gpu, x: np.ndarray, **params: Any) -> np.ndarray:
    """The result of planes (or of one) for these parameters."""
    x = x.astype(np.float32)
    return resize(gpu, gpu.array(x if x.ndim == 3 else x[None]), ResizeParams(**params)).numpy()


FILTERS = ("lanczos3", "mitchell", "catmull-rom", "area", "nearest")
# Columns first is cheaper, or rows; more columns than a CPU's strip; more samples of a result than are summed at once.
SIZES = [
    ((127, 113), (89, 31)), ((1, 1), (1, 1)), ((1, 1), (13, 7)), ((101, 97), (1, 1)), ((7, 5), (1, 301)),
    ((31, 37), (61, 127)), ((400, 3), (3, 400)), ((3, 400), (400, 3)), ((40, 60), (60, 13)), ((16, 48), (48, 32)),
    ((2, 4200), (2100, 2)), ((2, 40), (1300, 3)), ((5000, 2), (2, 3)), ((21, 9000), (3601, 11)),
    ((300, 700), (17, 200)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("filter", "sizes"),
    [(f, s) for f in FILTERS for s in SIZES if f in ("lanczos3", "nearest") or s in SIZES[:6]],
)
def test_sizes(gpu, rng, filter, sizes) -> None:
    """Up and down, 1 × 1, primes, and sizes about those of vectors and strips, against matrices."""
    shape, size = sizes
    x = rng.random(shape)
    expected = reference(
        x[None].astype(np.float32).astype(float), 1, ResizeParams(size, fit="stretch", filter=filter)
    )
    result = planes(gpu, x, size=size, fit="stretch", filter=filter)
    assert result.shape == (1, size[1], size[0])
    assert np.abs(result - expected).max() <= TOLERANCE * max(1, np.abs(expected).max())
    if filter == "nearest":
        np.testing.assert_array_equal(result, expected.astype(np.float32))


@pytest.mark.parametrize(("filter", "peer"), [
    ("lanczos3", PIL.Image.Resampling.LANCZOS),
    ("catmull-rom", PIL.Image.Resampling.BICUBIC),
    ("area", PIL.Image.Resampling.BOX),
])  # fmt: skip
def test_beside_pillow(gpu, rng, filter, peer) -> None:
    """Pillow's float images: sums are in double there, with a result in float32 after either axis.

    Its box takes whole samples, so that it is the mean of what a pixel covers for whole ratios alone.
    """
    x = rng.random((60, 90)).astype(np.float32)
    sizes = [(30, 20), (45, 12), (90, 5)] if filter == "area" else [(31, 23), (7, 120), (200, 59), (90, 41)]
    for size in sizes:
        theirs = np.asarray(PIL.Image.fromarray(x).resize(size, peer))
        ours = planes(gpu, x, size=size, fit="stretch", filter=filter)[0]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance.ROUNDINGS)


def test_nearest_copies_the_sample_that_holds_the_centre(gpu) -> None:
    """A centre between two samples is in the second."""
    assert planes(gpu, np.arange(6)[None], scale=(0.5, 1), filter="nearest").tolist() == [[[1, 3, 5]]]
    assert planes(gpu, np.arange(5)[None], size=(3, 1), filter="nearest", fit="stretch").tolist() == [
        [[0, 2, 4]]
    ]
    assert planes(gpu, np.arange(3)[None], scale=(2, 1), filter="nearest").tolist() == [[[0, 0, 1, 1, 2, 2]]]


@pytest.mark.parametrize("filter", FILTERS)
def test_constants_stay(gpu, filter) -> None:
    """Edges included: weights add up to 1 in float32 as well; what is left is the rounding of sums."""
    for scale in (0.013, 0.3, 0.77, 1.9, 7.1):
        result = planes(gpu, np.full((1, 157, 211), 0.7, np.float32), scale=scale, filter=filter)
        np.testing.assert_allclose(result, np.float32(0.7), rtol=tolerance.ROUNDINGS)


def test_cover_is_the_middle_of_a_larger_result(gpu, rng) -> None:
    """Samples beyond what is cut off count as anywhere else in the image; devices sum in other orders."""
    x = rng.random((48, 80))
    larger = planes(gpu, x, size=(40, 24), fit="stretch")
    middle = planes(gpu, x, size=(20, 24), fit="cover")
    np.testing.assert_allclose(middle, larger[:, :, 10:30], atol=TOLERANCE)
    larger = planes(gpu, x, size=(160, 96), fit="stretch")
    middle = planes(gpu, x, size=(160, 30), fit="cover")
    np.testing.assert_allclose(middle, larger[:, 33:63], atol=TOLERANCE)


def test_sizes_that_follow_from_the_shape(gpu) -> None:
    """(height, width) of a result of 300 × 200 pixels, by ImageMagick's and CSS's rules."""
    image = gpu.array(np.zeros((1, 200, 300), np.float32))
    for params, shape in {
        ResizeParams("150x150"): (100, 150),  # type: ignore[arg-type]
        ResizeParams("600x150"): (150, 225),  # type: ignore[arg-type]
        ResizeParams("150x"): (100, 150),  # type: ignore[arg-type]
        ResizeParams("x150", fit="cover"): (150, 225),  # type: ignore[arg-type]
        ResizeParams("7x", fit="stretch"): (5, 7),  # type: ignore[arg-type]
        ResizeParams("1x1"): (1, 1),  # type: ignore[arg-type]
        ResizeParams("1x1000"): (1, 1),  # type: ignore[arg-type]
        ResizeParams("150×150", fit="cover"): (150, 150),  # type: ignore[arg-type]
        ResizeParams("150x150", fit="stretch"): (150, 150),  # type: ignore[arg-type]
        ResizeParams(scale="50%"): (100, 150),  # type: ignore[arg-type]
        ResizeParams(scale="0.5,150%"): (300, 150),  # type: ignore[arg-type]
        ResizeParams(scale=0.0001): (1, 1),  # type: ignore[arg-type]
        ResizeParams(scale=(0.015, 0.0124)): (2, 5),  # 2.48 and 4.5, halves up
    }.items():
        assert resize(gpu, image, params).shape == (1, *shape)
    for same in ("300x200", "300x", "x200", "400x200"):
        assert resize(gpu, image, ResizeParams(same)) is image  # type: ignore[arg-type]


def test_a_value_that_is_not_finite_spoils_what_it_reaches(gpu) -> None:
    x = np.ones((1, 40, 40), np.float32)
    x[0, 20, 20] = np.nan
    result = planes(gpu, x, scale=0.5)[0]
    spoilt = np.zeros((20, 20), bool)
    spoilt[7:13, 7:13] = True  # centres 2 i + 1 less than 6 away from 20.5: 15 … 25
    np.testing.assert_array_equal(np.isnan(result), spoilt)
    x = np.ones((1, 42, 42), np.float32)
    x[0, 19, 19] = np.nan
    result = planes(gpu, x, size=(14, 14))[0]
    spoilt = np.zeros((14, 14), bool)
    spoilt[4:9, 4:9] = (
        True  # centres 3 i + 1.5 less than 9 away from 19.5; the weights of 10.5 and 28.5 are 0
    )
    np.testing.assert_array_equal(np.isnan(result), spoilt)


@each(filter=FILTERS)
def test_weights_by_sample(filter) -> None:
    """They are those by result: the same matrix."""
    for size, result in ((97, 31), (31, 97), (53, 53), (40, 39), (400, 3), (5, 1)):
        axis = ResampledAxis.of(size, result)
        taps = weights(axis, filter)
        samples = BySample.of(taps, size)
        by_result, by_sample = np.zeros((2, size, result))
        for i, (first, count) in enumerate(zip(taps.first, taps.count, strict=True)):
            by_result[first : first + count, i] = taps.weights[i, :count]
        for j in range(size):
            under_way = slice(samples.ended[j], samples.begun[j])
            by_sample[j, under_way] = samples.weights[j, : under_way.stop - under_way.start]
            assert not samples.weights[j, under_way.stop - under_way.start :].any()
        np.testing.assert_array_equal(by_sample, by_result)


def test_what_is_refused(gpu, clpix, tmp_path) -> None:
    files.write(tmp_path / "in.png", files.Picture(np.zeros((4, 6, 3), np.uint8)))
    for given, said in (
        ([], "size"),
        (["--size", "3x3", "--scale", "0.5"], "size"),
        (["--scale", "0.5", "--fit", "cover"], "--fit"),
        *((["--size", size], "1920x") for size in ("x", "0x5", "3", "1e")),
        *((["--scale", scale], "scale") for scale in ("0", "x%", "1,2,3")),
    ):
        run = clpix("resize", tmp_path / "in.png", *given, "-o", tmp_path / "out.png")
        assert (run.code, len(run.err.splitlines())) == (2, 1) and said.lstrip("-") in run.err
    run = clpix("resize", tmp_path / "in.png", "--scale", "1e6", "-o", tmp_path / "out.png")
    assert (run.code, len(run.err.splitlines())) == (1, 1) and "6000000 × 4000000" in run.err
    with pytest.raises(ParameterError, match="either a size"):
        ResizeParams()


def test_colours_do_not_leak_out_of_transparent_pixels(clpix, tmp_path) -> None:
    """Red beside transparent green stays red; black beside white becomes the mean of light."""
    x = np.zeros((8, 8, 4), np.uint8)
    x[:, ::2] = 255, 0, 0, 255
    x[:, 1::2] = 0, 255, 0, 0
    files.write(tmp_path / "in.png", files.Picture(x, alpha=True))
    run = clpix(
        "resize", tmp_path / "in.png", "--scale", "50%", "--filter", "area", "-o", tmp_path / "out.png"
    )
    assert (run.code, run.err) == (0, "")
    result = files.read(tmp_path / "out.png").pixels
    assert result.shape == (4, 4, 4) and (result == (255, 0, 0, 128)).all()
    x[:, ::2], x[:, 1::2] = 255, (0, 0, 0, 255)
    files.write(tmp_path / "gray.png", files.Picture(x, alpha=True))
    clpix("resize", tmp_path / "gray.png", "--size", "4x4", "--filter", "area", "-o", tmp_path / "light.png")
    assert (files.read(tmp_path / "light.png").pixels == (188, 188, 188, 255)).all()
