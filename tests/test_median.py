"""The median filter against scipy.ndimage, exactly."""

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import Gpu, ParameterError
from gpuops.filters import median_merges as networks
from gpuops.filters.median import LARGEST, median, median_filter
from gpuops.params.border import BORDERS

from .choices import each, thinned
from .reference.filters import median as expected

# The windows take straight-line code with tiles of 1, 2, 4 and 8 rows, merges in memory with as many, and histograms.
RADII = [
    (0, 1), (1, 0), (1, 1), (2, 1), (2, 2), (3, 3), (1, 7), (0, 15), (15, 0), (5, 5), (4, 7), (6, 6), (8, 15),
]  # fmt: skip
# A single pixel, single lines, primes; the vectors' and strips' sizes ± 1; more rows than a band has.
SHAPES = [(1, 1), (1, 7), (9, 1), (17, 31), (37, 65), (13, 513), (97, 101), (263, 5)]
DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32"]


@pytest.fixture(scope="module")
def planned_for_gpus() -> Iterator[Gpu]:
    """The device under test, used as if it were a GPU."""
    with Gpu() as gpu:
        gpu.limits = dataclasses.replace(gpu.limits, is_cpu=False, lanes=1, compute_units=4)
        yield gpu


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """The whole range, with values that occur several times."""
    if dtype.startswith("float"):
        return np.where(rng.random(shape) < 0.3, rng.integers(-3, 4, shape), rng.normal(0, 9, shape)).astype(
            dtype
        )
    limits = np.iinfo(dtype)
    wide = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.where(rng.random(shape) < 0.3, rng.integers(0, 4, shape).astype(dtype), wide)


def by_sorting(x: np.ndarray, radius: tuple[int, int]) -> np.ndarray:
    """The middle of numpy's sorted windows, whose last values are NaN."""
    widths = [(r, r) for r in radius]
    padded = np.stack([np.pad(p, widths, mode="symmetric") for p in x])
    size = (2 * radius[0] + 1, 2 * radius[1] + 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, (1, 2))
    return np.sort(windows.reshape(*x.shape, -1), axis=-1)[..., size[0] * size[1] // 2]


@pytest.mark.cases(1)
@pytest.mark.parametrize("radius", RADII)
def test_scipys_for_every_shape(gpu, rng, radius) -> None:
    turn = RADII.index(radius)  # builds take most of the time: two borders for each
    for k, shape in enumerate(SHAPES):
        border = list(BORDERS)[(turn + k % 2) % len(BORDERS)]
        x = values(rng, (2, *shape), "uint8")
        got = median(gpu, gpu.array(x), radius, border, 7).numpy()
        np.testing.assert_array_equal(got, expected(x, radius, border, 7))


@pytest.mark.cases(1)
@pytest.mark.parametrize(("border", "radius"), [*product(BORDERS, [(1, 1), (6, 6)])])
def test_scipys_for_every_border(gpu, planned_for_gpus, rng, border, radius) -> None:
    for shape in ((1, 1), (2, 3), (11, 67), (41, 150)):
        x = values(rng, (1, *shape), "float32")
        for device in (gpu, planned_for_gpus):
            got = median(device, device.array(x), radius, border, -1.5).numpy()
            np.testing.assert_array_equal(got, expected(x, radius, border, -1.5))


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(gpu, planned_for_gpus, rng, dtype) -> None:
    x = values(rng, (2, 23, 131), dtype)
    for device, radius in ((gpu, (1, 1)), (planned_for_gpus, (6, 6))):
        result = median(device, device.array(x), radius, "constant", 3)
        assert result.dtype == x.dtype and result.shape == x.shape
        np.testing.assert_array_equal(result.numpy(), expected(x, radius, "constant", 3))


@pytest.mark.cases(1)
@each(radius=thinned([(2, 1), (0, 1), (3, 3), (15, 0), (6, 6), (8, 15), (2, 15), (15, 15)], 4))
def test_planned_for_gpus(planned_for_gpus, rng, radius) -> None:
    gpu = planned_for_gpus
    for dtype in ("uint8", "uint16"):
        x = values(rng, (2, 95, 141), dtype)
        np.testing.assert_array_equal(median(gpu, gpu.array(x), radius).numpy(), expected(x, radius))


@pytest.mark.cases(1)
@each(channels__radius__dtype=[(2, (1, 1), "float32"), (3, (6, 6), "uint8"), (4, (2, 2), "uint16")])
def test_interleaved(gpu, planned_for_gpus, rng, channels, radius, dtype) -> None:
    for border, shape in product(("reflect", "wrap-x"), ((31, 90), (5, 3), (1, 1))):
        x = values(rng, (*shape, channels), dtype)
        planes = expected(np.moveaxis(x, 2, 0), radius, border, 1)
        for device in (gpu, planned_for_gpus):
            got = median(device, device.array(x), radius, border, 1, interleaved=True).numpy()
            np.testing.assert_array_equal(got, np.moveaxis(planes, 0, 2))


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("radius", [(1, 1), (6, 6)])
def test_nan_is_the_largest(gpu, planned_for_gpus, rng, radius, dtype) -> None:
    x = values(rng, (4, 30, 80), dtype)
    x[rng.random(x.shape) < 0.2] = np.inf
    x[rng.random(x.shape) < 0.2] = -np.inf
    for plane, share in enumerate((0.0, 0.1, 0.4, 0.7)):
        x[plane, rng.random(x.shape[1:]) < share] = np.nan
    x = np.where(np.isnan(x) & (rng.random(x.shape) < 0.5), -x, x)  # NaN of either sign
    wanted = by_sorting(x, radius)
    assert np.isnan(wanted).any() and np.isinf(wanted).any()
    for device in (gpu, planned_for_gpus):
        np.testing.assert_array_equal(median(device, device.array(x), radius).numpy(), wanted)


@pytest.mark.parametrize("outside", [np.nan, np.inf, -np.inf])
def test_not_finite_outside(gpu, rng, outside) -> None:
    x = values(rng, (1, 12, 20), "float32")
    padded = np.pad(x, ((0, 0), (2, 2), (2, 2)), constant_values=outside)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (1, 2))
    wanted = np.sort(windows.reshape(*x.shape, 25), axis=-1)[..., 12]
    np.testing.assert_array_equal(median(gpu, gpu.array(x), (2, 2), "constant", outside).numpy(), wanted)


@pytest.mark.exhaustive
@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 90)),
    radius=st.sampled_from([(1, 1), (3, 3), (6, 6)]),
    border=st.sampled_from(["reflect", "wrap"]),
    levels=st.sampled_from([2, 5, 256]),
)
def test_scipys_for_any_image(gpu, seed, shape, radius, border, levels) -> None:
    x = np.random.default_rng(seed).integers(0, levels, (1, *shape)).astype(np.uint8)
    got = median(gpu, gpu.array(x), radius, border).numpy()
    np.testing.assert_array_equal(got, expected(x, radius, border))


def test_library_function_takes_and_returns_arrays(gpu, rng) -> None:
    x = values(rng, (2, 3, 20, 21), "uint8")
    got = median_filter(gpu, x, (3, 5), mode="wrap")
    assert got.shape == x.shape and got.dtype == x.dtype
    np.testing.assert_array_equal(got, scipy.ndimage.median_filter(x, (1, 1, 3, 5), mode="wrap"))
    doubles = rng.random((20, 21))
    got = median_filter(gpu, doubles, 5)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, scipy.ndimage.median_filter(doubles.astype(np.float32), 5))
    np.testing.assert_array_equal(
        median_filter(gpu, x[0, 0].astype(">u2"), 3), median_filter(gpu, x[0, 0], 3)
    )
    image = gpu.array(x[0])
    np.testing.assert_array_equal(median_filter(gpu, image, 3).numpy(), median_filter(gpu, x[0], 3))


@pytest.mark.parametrize("size", [0, 2, -3, 33, (3, 4), (1, 2, 3), 3.0, "3"])
def test_wrong_sizes(gpu, size) -> None:
    with pytest.raises(ParameterError, match="size"):
        median_filter(gpu, np.zeros((4, 4), np.uint8), size)  # type: ignore[call-overload]


def test_wrong_arguments(gpu) -> None:
    image = gpu.array(np.zeros((1, 4, 4), np.uint8))
    for cval in (-1, 256, 0.5, np.nan):
        with pytest.raises(ParameterError, match="outside"):
            median(gpu, image, (1, 1), "constant", cval)
    for radius in ((LARGEST + 1, 0), (-1, 1), (1.5, 1)):
        with pytest.raises(ParameterError, match="radius"):
            median(gpu, image, radius)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="border"):
        median(gpu, image, (1, 1), "none")
    with pytest.raises(ParameterError, match="float64"):
        median(gpu, gpu.array(np.zeros((1, 4, 4))), (1, 1))
    with pytest.raises(ParameterError, match="axes"):
        median(gpu, gpu.array(np.zeros((4, 4), np.uint8)), (1, 1))


@pytest.mark.parametrize("size", thinned([(5, 5), (1, 3), (3, 3), (7, 7), (3, 31), (31, 3), (11, 11)], 4))
def test_networks_of_zeros_and_ones(size, rng) -> None:
    """A network that sorts zeros and ones sorts anything: the straight-line code is run on windows of both."""
    network = networks.network(*size)
    code = network.source().text.splitlines()[1:-1]
    tile, blocks, held = (network.defines[name] for name in ("TILE", "BLOCKS", "HELD"))
    height, width = size
    # Rows from block 0 on, in 4096 cases, of which about half the values are one.
    cases = rng.random((tile * (blocks + 6), width, 4096)) < rng.uniform(0.4, 0.6, 4096)
    state = [np.zeros(4096, bool)] * held
    for block in range(blocks + 6):
        medians: list[np.ndarray] = [np.zeros(0)] * tile
        scope = {
            "LOAD": lambda t, k, block=block: cases[block * tile + t, k],
            "MIN": np.logical_and, "MAX": np.logical_or, "held": state, "medians": medians,
        }  # fmt: skip
        exec("\n".join(line.strip().removeprefix("V ").rstrip(";") for line in code), scope)
        if block >= blocks:
            for window, got in enumerate(medians):
                first = (block - blocks) * tile + 1 + window
                ones = cases[first : first + height].sum((0, 1))
                np.testing.assert_array_equal(got, ones > height * width // 2)
