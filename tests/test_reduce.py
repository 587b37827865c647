"""gpuops.metrics.statistics against numpy in float64."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import Gpu, Image, ParameterError
from gpuops.image import Part
from gpuops.metrics.statistics import (
    Statistics,
    all_statistics,
    channel_statistics,
    statistics,
    statistics_and_mip,
)
from gpuops.pixels.coding import Decoding, upload
from gpuops.pixels.primaries import REC601_LUMINANCE, REC709_LUMINANCE

from .choices import each
from .reference.metrics import halved, luminance
from .tolerance import REDUCE as TOLERANCE

METHODS = ("tiles", "direct")
# One pixel; less than a tile and a vector; a tile ± 1; partial tiles both ways; more than 128 tiles; one long row.
SIZES = [(1, 1), (1, 7), (15, 16), (16, 17), (33, 31), (97, 101), (240, 250), (1, 4099), (3001, 2)]


def light(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Light over 30 stops."""
    return np.exp2(np.random.default_rng(seed).normal(0, 5, shape)).astype(np.float32)


def alike(a: Statistics, b: Statistics) -> None:
    """Checks that statistics are the same up to the order of their additions."""
    without_sums = [replace(one, sum=0.0, log2_sum=0.0, centre_log2=0.0) for one in (a, b)]
    assert repr(without_sums[0]) == repr(without_sums[1])  # repr compares NaN as equal
    np.testing.assert_array_equal(a.histogram, b.histogram)
    assert a.sum == pytest.approx(b.sum, rel=TOLERANCE["sum"])
    assert a.log2_sum == pytest.approx(b.log2_sum, abs=TOLERANCE["log2"] * max(1, b.positive))
    assert a.centre_log2 == pytest.approx(b.centre_log2, abs=TOLERANCE["centre"], nan_ok=True)


def check(got: Statistics, values: np.ndarray) -> None:
    finite = values[np.isfinite(values)]
    positive = finite[finite >= 2.0**-126]
    assert got.count == values.size and (got.finite, got.positive) == (finite.size, positive.size)
    assert (got.nan, got.infinite) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert got.negative == (finite < 0).sum()
    assert got.sum == pytest.approx(finite.sum(), abs=TOLERANCE["sum"] * np.abs(finite).sum())
    assert got.log2_sum == pytest.approx(
        np.log2(positive).sum(), abs=TOLERANCE["log2"] * max(1, positive.size)
    )
    assert got.histogram.sum() == positive.size
    if finite.size:
        assert got.mean == pytest.approx(finite.mean(), abs=TOLERANCE["sum"] * np.abs(finite).mean())
        # A negative channel may cancel others, so that their rounding remains.
        assert got.minimum == pytest.approx(finite.min(), rel=TOLERANCE["sum"], abs=TOLERANCE["sum"])
        assert got.maximum == pytest.approx(finite.max(), rel=TOLERANCE["sum"])


def check_codes(gpu: Gpu, rng: np.random.Generator, channels: int, decoding: Decoding) -> None:
    """Checks statistics of pixels of 8 bits: counts of codes lose nothing."""
    pixels = rng.integers(0, 256, (97, 101, channels), np.uint8)
    pixels[:9] = 0
    planes = upload(gpu, pixels, alpha=decoding.alpha, linearise=decoding.linearise, scale=decoding.scale)
    of_luminance, each_of = all_statistics(gpu, pixels, decoding=decoding)
    for got, values in zip(each_of, planes.numpy().astype(np.float64), strict=True):
        check(got, values)
        positive = values[values > 0]
        bins = np.floor(4 * np.log2(positive)).astype(int) + 128
        np.testing.assert_array_equal(got.histogram, np.bincount(bins, minlength=256))
        assert (got.minimum, got.maximum) == (values.min(), values.max())
        assert got.sum == pytest.approx(values.sum(), rel=TOLERANCE["codes"])
        assert got.log2_sum == pytest.approx(np.log2(positive).sum(), rel=TOLERANCE["codes"])
    assert of_luminance is not None
    check(of_luminance, luminance(planes.numpy()[:3]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", SIZES)
def test_matches_numpy(gpu, size, method) -> None:
    rgb = light((3, *size))
    check(statistics(gpu, rgb, method=method), luminance(rgb))
    check(statistics(gpu, rgb, weights=REC601_LUMINANCE, method=method), luminance(rgb, REC601_LUMINANCE))
    gray = light(size)
    check(statistics(gpu, gray, method=method), gray.astype(np.float64))


@pytest.mark.parametrize("method", METHODS)
def test_leaves_out_and_counts_what_is_not_light(gpu, method) -> None:
    gray = light((53, 47))
    gray.flat[[0, 5, 900]] = np.nan
    gray.flat[[1, 2490]] = np.inf
    gray.flat[7] = -np.inf
    gray.flat[[8, 9, 10, 11]] = -3.0
    gray.flat[[12, 13]] = 0.0
    got = statistics(gpu, gray, method=method)
    check(got, gray.astype(np.float64))
    assert (got.nan, got.infinite, got.negative, got.finite - got.positive) == (3, 3, 4, 6)


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0])
def test_images_without_light(gpu, value, method) -> None:
    got = statistics(gpu, np.full((20, 30), value, np.float32), centre=True, method=method)
    assert got.positive == 0
    assert math.isnan(got.log_mean) and math.isnan(got.centre_mean) and math.isnan(got.percentile(50))
    assert math.isnan(got.trimmed_log_mean(10, 90)) and math.isnan(got.mean) == (got.finite == 0)


@pytest.mark.parametrize("method", METHODS)
def test_histogram_is_exact(gpu, method) -> None:
    edges = np.float32([1, 1.1892072, 1.4142137, 1.6817929])  # quarters of a stop: the first floats not below
    below = np.nextafter(edges, np.float32(0)).astype(np.float64)
    assert all(float(v) >= 2 ** (k / 4) > u for k, (v, u) in enumerate(zip(edges, below, strict=True)))
    values = np.concatenate([edges * np.float32(2.0**e) for e in range(-40, 40)])
    values = np.concatenate([values, np.nextafter(values, np.float32(0)), light((4000,))])[np.newaxis]
    # Quarters within each octave by comparison; octaves by the exponent: exact.
    mantissa, exponent = np.frexp(values[0].astype(np.float64))
    quarter = np.searchsorted(edges.astype(np.float64), mantissa * 2, "right") - 1
    bins = np.clip((exponent - 1 + 32) * 4 + quarter, 0, 255)
    got = statistics(gpu, values, method=method)
    np.testing.assert_array_equal(got.histogram, np.bincount(bins, minlength=256))


def test_percentiles_to_a_quarter_of_a_stop(gpu) -> None:
    gray = light((200, 300))
    got = statistics(gpu, gray)
    for percent in (1, 10, 50, 90, 99):
        assert abs(math.log2(got.percentile(percent) / np.percentile(gray, percent))) <= 0.25
    low, high = np.percentile(gray, [10, 90])
    middle = np.log2(gray[(gray >= low) & (gray <= high)]).mean()
    assert abs(math.log2(got.trimmed_log_mean(10, 90)) - middle) <= 0.125


def test_percentiles_are_within_the_extremes(gpu) -> None:
    got = statistics(gpu, np.full((20, 30), 0.5, np.float32))  # the first value of its bin
    assert [got.percentile(percent) for percent in (0, 1, 50, 99, 100)] == [0.5] * 5
    got = statistics(gpu, np.float32([[-1, 0, 0.59, 0.59]]))  # the last one; the minimum is no positive value
    assert got.percentile(100) == np.float32(0.59) and 0.5 <= got.percentile(0) <= 0.59


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", METHODS)
def test_centre_weighted_mean(gpu, method) -> None:
    gray = light((61, 83))
    gray[30, 40] = np.nan
    y, x = ((np.arange(n) + 0.5) / n - 0.5 for n in gray.shape)
    weight = np.exp(-0.5 * ((x[np.newaxis] / 0.25) ** 2 + (y[:, np.newaxis] / 0.25) ** 2))
    lit = np.isfinite(gray)
    expected = (weight[lit] * np.log2(gray[lit].astype(np.float64))).sum() / weight[lit].sum()
    assert statistics(gpu, gray, centre=True, method=method).centre_log2 == pytest.approx(
        expected, abs=TOLERANCE["centre"]
    )
    assert math.isnan(statistics(gpu, gray, method=method).centre_mean)
    parts = []
    for first in range(0, 61, 17):  # rows of the whole, whose weights add up to it
        rows = gpu.array(gray[np.newaxis, first : first + 17])
        rows.part = Part(first, 61)
        parts.append(statistics(gpu, rows, centre=True, method=method))
    together = parts[0] + parts[1] + parts[2] + parts[3]
    assert together.centre_log2 == pytest.approx(expected, abs=TOLERANCE["centre"])


@pytest.mark.exhaustive
def test_same_bits_on_every_run(gpu) -> None:
    image = gpu.array(light((3, 301, 407)))
    for method in METHODS:
        runs = [statistics(gpu, image, centre=True, method=method) for _ in range(5)]
        assert len({(repr(run), run.histogram.tobytes()) for run in runs}) == 1
    assert len({repr(all_statistics(gpu, image)) for _ in range(5)}) == 1
    mips = [statistics_and_mip(gpu, image, centre=True) for _ in range(5)]
    assert len({(repr(got), mip.numpy().tobytes()) for got, mip in mips}) == 1


def test_precision_does_not_fall_with_size(gpu) -> None:
    # 0.1 is no binary fraction: a plain float32 sum of 4 million is off by percents.
    got = statistics(gpu, np.full((2048, 2048), 0.1, np.float32), histogram=False)
    assert got.mean == pytest.approx(float(np.float32(0.1)), rel=TOLERANCE["gray sum"])
    assert got.log_mean == pytest.approx(float(np.float32(0.1)), rel=TOLERANCE["gray log"])
    # A few bright pixels must neither dominate nor vanish.
    image = np.full((1000, 1000), 1e-3, np.float32)
    image[::100, ::100] = 1e7
    assert statistics(gpu, image).sum == pytest.approx(
        image.astype(np.float64).sum(), rel=TOLERANCE["gray sum"]
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_largest_floats_do_not_overflow(gpu, method) -> None:
    most = np.finfo(np.float32).max
    got = statistics(gpu, np.full((100, 100), most, np.float32), method=method)
    assert got.mean == pytest.approx(float(most), rel=TOLERANCE["gray sum"])
    assert got.log2_sum == pytest.approx(128e4, rel=TOLERANCE["gray log"])
    assert (got.minimum, got.maximum) == (most, most)


def test_each_channel_by_itself(gpu) -> None:
    image = light((5, 40, 50))
    image[3, 2, 1] = np.nan
    got = channel_statistics(gpu, image)
    assert len(got) == 5
    for one, plane in zip(got, image, strict=True):
        check(one, plane.astype(np.float64))
        assert replace(one, histogram=got[0].histogram) == statistics(gpu, plane)


@pytest.mark.parametrize("size", SIZES)
def test_the_log_mean_of_pixels(gpu, size) -> None:
    """The light has any magnitude; values without a logarithm do not count, whatever stands beside them."""
    rgb = light((3, *size)) * np.float32(2.0**80)
    rgb[:, ::5, ::3] = np.float32(2.0**-80)
    for bad in (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-40):
        rgb[:, size[0] // 2, size[1] // 3] = bad
        pixels = gpu.array(np.ascontiguousarray(rgb.transpose(1, 2, 0)))
        assert statistics(gpu, pixels, decoding=Decoding()) == statistics(gpu, rgb)


@pytest.mark.parametrize("planes", [2, 4, 5])
def test_luminance_needs_one_or_three_colours(gpu, planes) -> None:
    with pytest.raises(ParameterError, match=f"{planes} channels"):
        statistics(gpu, np.ones((planes, 4, 4), np.float32))


@pytest.mark.cases(1)
@pytest.mark.parametrize("size", [*SIZES, (64, 128), (30, 36), (5, 1), (2, 3)])
def test_a_mip_on_the_way(gpu, size) -> None:
    for colours in (1, 3):
        image = light((colours, *size))
        got, mip = statistics_and_mip(gpu, image, centre=True)
        alike(got, statistics(gpu, image, centre=True))
        np.testing.assert_allclose(mip.numpy(), halved(image), rtol=TOLERANCE["mip"])


def test_a_mip_of_what_is_not_light(gpu) -> None:
    image = np.full((3, 5, 37), np.finfo(np.float32).max, np.float32)  # their sums are infinite
    image[0, 0, 0], image[1, 2, 3], image[2, 4, 36] = np.nan, np.inf, -np.inf
    image[0, 2:4, 8], image[0, 2, 9] = [np.inf, -np.inf], -np.inf
    got, mip = statistics_and_mip(gpu, image)
    expected = image[:, ::2, ::2].copy()
    expected[0, 1, 4] = np.nan
    expected[1, 1, 1] = np.inf
    np.testing.assert_array_equal(mip.numpy(), expected)
    check(
        got,
        np.sum(
            [np.float32(w) * plane for w, plane in zip(REC709_LUMINANCE, image.astype(float), strict=True)], 0
        ),
    )


@pytest.mark.cases(1)
@pytest.mark.parametrize(("planes", "alpha"), [(3, 0), (1, 0), (2, 1), (4, 1), (2, 0), (4, 0), (5, 0)])
def test_all_in_one_reading(gpu, planes, alpha) -> None:
    size = SIZES[planes % len(SIZES)]
    values = light((planes, *size), planes)
    values.flat[[0, values.size // 2]] = np.nan, -1
    image = gpu.array(values)
    image.alpha = bool(alpha)
    of_luminance, channels = all_statistics(gpu, image)
    assert len(channels) == planes
    for got, expected in zip(channels, channel_statistics(gpu, image), strict=True):
        alike(got, expected)
    if planes - alpha == 3:
        assert of_luminance is not None
        alike(of_luminance, statistics(gpu, image))
    else:
        assert of_luminance is (channels[0] if planes - alpha == 1 else None)


@pytest.mark.cases(1)
@each(dtype__channels=[("uint8", 3), ("uint16", 4), ("float16", 1), ("float32", 2), ("uint8", 5)])
def test_all_of_pixels(gpu, rng, dtype, channels) -> None:
    floats = dtype.startswith("f")
    values = rng.random((17, 23, channels)) * (1 if floats else np.iinfo(dtype).max)
    pixels = values.astype(dtype)
    decoding = Decoding(channels in (2, 4), linearise=not floats)
    for operand in (pixels, gpu.array(pixels)):
        of_luminance, each = all_statistics(gpu, operand, decoding=decoding)
        image = upload(gpu, pixels, alpha=decoding.alpha, linearise=decoding.linearise)
        assert len(each) == channels
        for got, plane in zip(each, image.numpy(), strict=True):
            check(got, plane.astype(np.float64))
        assert (of_luminance is None) == (channels == 5)
        if of_luminance is not None and channels > 2:
            check(of_luminance, luminance(image.numpy()[:3]))


@pytest.mark.cases(1)
@each(channels__decoding=[
    (3, Decoding(linearise=True)), (4, Decoding(alpha=True, linearise=True)), (4, Decoding(alpha=True)),
    (3, Decoding(scale=1.0)),
])  # fmt: skip
def test_codes_of_8_bits(gpu, rng, channels, decoding) -> None:
    check_codes(gpu, rng, channels, decoding)


@pytest.mark.exhaustive
def test_all_without_histogram_and_by_other_weights(gpu) -> None:
    image = light((3, 20, 30))
    of_luminance, channels = all_statistics(gpu, image, weights=REC601_LUMINANCE, histogram=False)
    assert of_luminance is not None and not of_luminance.histogram.size and not channels[0].histogram.size
    assert of_luminance.sum == pytest.approx(luminance(image, REC601_LUMINANCE).sum(), rel=TOLERANCE["sum"])


@pytest.mark.exhaustive
@settings(max_examples=25)
@given(height=st.integers(1, 70), width=st.integers(1, 70), seed=st.integers(0, 2**16), bad=st.integers(0, 9))
def test_all_of_any_size(gpu, height, width, seed, bad) -> None:
    image = light((3, height, width), seed)
    rng = np.random.default_rng(seed)
    image.flat[rng.integers(0, image.size, bad)] = rng.choice([np.nan, np.inf, -1, 0], bad)
    of_luminance, channels = all_statistics(gpu, image)
    assert of_luminance is not None
    check(of_luminance, luminance(image))
    for got, plane in zip(channels, image, strict=True):
        check(got, plane.astype(np.float64))
    for method in METHODS:
        check(statistics(gpu, image, method=method), luminance(image))
    got, mip = statistics_and_mip(gpu, image)
    check(got, luminance(image))
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(
            mip.numpy(), halved(image), rtol=TOLERANCE["mip"], atol=TOLERANCE["mip"] / 2
        )


def test_more_pixels_than_indices(gpu) -> None:
    buffer = gpu.empty((4,)).buffer
    image = Image(gpu, buffer, (1, 1 << 16, 1 << 15), np.dtype(np.float32))
    for measure in (statistics, all_statistics, channel_statistics):
        with pytest.raises(ParameterError, match="2147483647 pixels at most, not of 32768 × 65536"):
            measure(gpu, image)
