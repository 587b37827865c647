"""The wavelet transform against PyWavelets, against plain numpy, and against itself."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import pywt
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import Gpu, GpuopsWarning, ParameterError
from gpuops.dwt import dwt2, idwt2, wavedec2, waverec2
from gpuops.dwt.wavelets import WAVELETS
from gpuops.params import dwt as names
from gpuops.params.dwt import DwtParams

TOLERANCE = {
    # Of the largest coefficient: float32 sums of at most 14 products, up to 3 levels deep.
    "coefficients": 2e-6,
    # Of values in [0, 1] after forward and inverse, 5 levels: well below half a level of 16 bits, 7.6e-6.
    "round trip": 3e-6,
}
LIFTING = [name for name, (lifts, _) in names.WAVELETS.items() if lifts]
INTEGER = [name for name, (_, whole) in names.WAVELETS.items() if whole]
# Every length from 1 to 33 along both axes, with odd and even ones paired.
SHAPES = [(n, 34 - n) for n in range(1, 34)]
# Ways to compute: the tile in a work-item's and in a group's memory, and no tile at all.
LIFTING_WAYS: list[dict[str, str]] = [
    {"method": "lifting", "tile": "private"},
    {"method": "lifting", "tile": "local"},
    {"method": "laan"},
]


@cache
def reference(name: str) -> pywt.Wavelet:
    """PyWavelets' wavelet; those it has not, from the filters here."""
    if name in pywt.wavelist(kind="discrete"):
        return pywt.Wavelet(name)
    wavelet = WAVELETS[name]
    return pywt.Wavelet(name, filter_bank=(*wavelet.decompose, *wavelet.reconstruct))


def flat(coefficients: Any) -> list[Any]:
    """All bands, coarsest first."""
    return [coefficients[0], *(band for details in coefficients[1:] for band in details)]


def assert_close(ours: Any, theirs: Any) -> None:
    """Two coefficient structures: the same shapes, and values close by the largest of all."""
    a, b = flat(ours), flat(theirs)
    scale = max(np.abs(band).max(initial=0) for band in b)
    for one, other in zip(a, b, strict=True):
        assert one.shape == other.shape
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE["coefficients"] * scale)


# -- against PyWavelets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in WAVELETS if name != "dd13/7"])
def test_filters_are_pywts(name: str) -> None:
    ours = (*WAVELETS[name].decompose, *WAVELETS[name].reconstruct)
    for mine, theirs in zip(ours, pywt.Wavelet(name).filter_bank, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_dd137_filter_is_the_published_one() -> None:
    low, _ = WAVELETS["dd13/7"].decompose
    published = np.array([-1, 0, 18, -16, -63, 144, 348, 144, -63, -16, 18, 0, -1]) / 512
    np.testing.assert_allclose(low[1:], published * np.sqrt(2), atol=1e-15)


@pytest.mark.parametrize("mode", ["symmetric", "periodization"])
@pytest.mark.parametrize("name", list(WAVELETS))
def test_every_size_is_pywts(gpu: Gpu, rng, name: str, mode: str) -> None:
    for shape in SHAPES:
        x = rng.standard_normal(shape).astype(np.float32)
        theirs = pywt.dwt2(x.astype(float), reference(name), mode)
        ours = dwt2(gpu, x, name, mode)
        assert_close(ours, theirs)
        full = idwt2(gpu, ours, name, mode)
        expected = pywt.idwt2(theirs, reference(name), mode)
        assert full.shape == expected.shape
        np.testing.assert_allclose(full, expected, atol=TOLERANCE["coefficients"] * np.abs(expected).max())
        assert idwt2(gpu, ours, name, mode, shape=shape).shape == shape


@pytest.mark.parametrize("mode", pywt.Modes.modes)
@pytest.mark.parametrize(("name", "tile"), [("bior4.4", "private"), ("bior2.2", "local"), ("db3", "private")])
def test_every_mode_is_pywts(gpu: Gpu, rng, name: str, tile: str, mode: str) -> None:
    least = 2 if "reflect" in mode else 1
    for shape in [(least, 5), (3, 2), (6, 33), (40, 31)]:
        x = rng.standard_normal(shape).astype(np.float32)
        assert_close(dwt2(gpu, x, name, mode, tile=tile), pywt.dwt2(x.astype(float), reference(name), mode))


@pytest.mark.parametrize("name", ["haar", "bior4.4", "db4"])
def test_levels_are_pywts(gpu: Gpu, rng, name: str) -> None:
    for shape in [(2, 65, 130), (97, 101)]:
        x = rng.standard_normal(shape).astype(np.float32)
        for level in (None, 0, 1, 3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = pywt.wavedec2(x.astype(float), name, "symmetric", level)
                ours = wavedec2(gpu, x, name, "symmetric", level)
            assert_close(ours, theirs)
            full = waverec2(gpu, ours, name, "symmetric")
            expected = pywt.waverec2(theirs, name, "symmetric")
            assert full.shape == expected.shape
            np.testing.assert_allclose(full, expected, atol=1e-5)


@pytest.mark.parametrize("name", LIFTING)
def test_mirror_is_pywts_symmetric_extension_cropped(gpu: Gpu, rng, name: str) -> None:
    wavelet = reference(name)
    # Whole-sample symmetry for filters of odd length; half-sample for haar, which needs one sample at most.
    mode = "symmetric" if name == "haar" else "reflect"
    skip = (wavelet.dec_len // 2 - 1) // 2
    for height, width in SHAPES[1:-1]:
        x = rng.standard_normal((height, width)).astype(np.float32)
        a, (h, v, d) = pywt.dwt2(x.astype(float), wavelet, mode)
        low_y, high_y = slice(skip, skip + (height + 1) // 2), slice(skip, skip + height // 2)
        low_x, high_x = slice(skip, skip + (width + 1) // 2), slice(skip, skip + width // 2)
        cropped = a[low_y, low_x], (h[high_y, low_x], v[low_y, high_x], d[high_y, high_x])
        assert_close(dwt2(gpu, x, name, "mirror"), cropped)


@pytest.mark.parametrize("tile", ["private", "local"])
@pytest.mark.parametrize("method", ["lifting", "filterbank"])
def test_many_tiles(gpu: Gpu, rng, method: str, tile: str) -> None:
    x = rng.standard_normal((2, 259, 1030)).astype(np.float32)
    ours = dwt2(gpu, x, "bior4.4", "symmetric", method=method, tile=tile)
    assert_close(ours, pywt.dwt2(x.astype(float), "bior4.4", "symmetric"))
    back = idwt2(gpu, ours, "bior4.4", "symmetric", shape=(259, 1030), method=method, tile=tile)
    np.testing.assert_allclose(back, x, atol=1e-5)


# -- properties -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", LIFTING_WAYS, ids=lambda way: "-".join(way.values()))
@pytest.mark.parametrize("name", LIFTING)
def test_all_ways_agree_and_invert(gpu: Gpu, rng, name: str, way: dict[str, str]) -> None:
    for mode in ("mirror", "periodization"):
        for shape in [(1, 1), (1, 7), (2, 2), (9, 2), (31, 150)]:
            x = rng.random(shape, dtype=np.float32)
            ours = wavedec2(gpu, x, name, mode, None, **way)
            assert_close(ours, wavedec2(gpu, x, name, mode, len(ours) - 1))
            back = waverec2(gpu, ours, name, mode, shape=shape, **way)
            np.testing.assert_allclose(back, x, atol=TOLERANCE["round trip"])


@pytest.mark.parametrize("way", LIFTING_WAYS, ids=lambda way: "-".join(way.values()))
@pytest.mark.parametrize("name", LIFTING)
def test_more_levels_than_there_is_size_for(gpu: Gpu, rng, name: str, way: dict[str, str]) -> None:
    for shape in [(1, 1), (1, 7), (5, 3)]:
        x = rng.random(shape, dtype=np.float32)
        with pytest.warns(GpuopsWarning, match="5 levels are more than"):
            coefficients = wavedec2(gpu, x, name, "mirror", 5, **way)
        assert sum(band.size for band in flat(coefficients)) == x.size
        np.testing.assert_allclose(coefficients[0][0, 0], x.mean() * 32, rtol=0.5)
        back = waverec2(gpu, coefficients, name, "mirror", **way)
        np.testing.assert_allclose(back, x, atol=TOLERANCE["round trip"])


sizes = st.tuples(st.integers(1, 70), st.integers(1, 70))
wavelets = st.sampled_from(LIFTING)


@settings(max_examples=25, deadline=None)
@given(sizes, wavelets, st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_the_inverse_is_exact_enough(gpu: Gpu, shape, name: str, level: int, seed: int) -> None:
    x = np.random.default_rng(seed).random(shape, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GpuopsWarning)
        coefficients = wavedec2(gpu, x, name, "mirror", level)
    np.testing.assert_allclose(waverec2(gpu, coefficients, name, "mirror"), x, atol=TOLERANCE["round trip"])


@settings(max_examples=15, deadline=None)
@given(sizes, wavelets, st.floats(-3, 3, width=32), st.integers(0, 2**32 - 1))
def test_linearity(gpu: Gpu, shape, name: str, factor: float, seed: int) -> None:
    x, y = np.random.default_rng(seed).random((2, *shape), dtype=np.float32)
    sums = dwt2(gpu, x + np.float32(factor) * y, name, "mirror")
    parts = [
        a + np.float32(factor) * b
        for a, b in zip(*(flat(dwt2(gpu, v, name, "mirror")) for v in (x, y)), strict=True)
    ]
    for ours, theirs in zip(flat(sums), parts, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-6)


@pytest.mark.parametrize("mode", ["mirror", "periodization", "symmetric"])
@pytest.mark.parametrize("name", [*LIFTING, "db4"])
def test_a_constant_has_no_details(gpu: Gpu, name: str, mode: str) -> None:
    if name == "db4" and mode == "mirror":
        return
    first, details = dwt2(gpu, np.full((33, 46), 0.7, np.float32), name, mode)
    np.testing.assert_allclose(first, 1.4, rtol=1e-6)
    assert max(np.abs(band).max() for band in details) < 1e-6


@pytest.mark.parametrize("name", ["haar", "db3", "sym4"])
def test_orthogonal_wavelets_keep_the_energy(gpu: Gpu, rng, name: str) -> None:
    x = rng.standard_normal((64, 128)).astype(np.float32)
    energy = sum(np.sum(band.astype(float) ** 2) for band in flat(wavedec2(gpu, x, name, "periodization", 3)))
    assert energy == pytest.approx(np.sum(x.astype(float) ** 2), rel=1e-6)


# -- whole numbers --------------------------------------------------------------------------------------


def integer_line(x: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Low and high half of every row by the published integer formulas, extended by symmetry."""
    n = x.shape[1]
    if name == "haar":
        e = np.pad(x, ((0, 0), (0, n % 2)), "symmetric")
        high = e[:, 1::2] - e[:, ::2]
        return e[:, ::2] + (high >> 1), high[:, : n // 2]
    margin = 16
    e = np.pad(x, ((0, 0), (margin, margin + n % 2)), "reflect" if n > 1 else "edge")
    even, odd = e[:, ::2], e[:, 1::2]

    def at(a: np.ndarray, shift: int) -> np.ndarray:
        return np.roll(a, -shift, 1)

    if name == "bior2.2":  # JPEG 2000
        high = odd - ((even + at(even, 1)) >> 1)
        low = even + ((at(high, -1) + high + 2) >> 2)
    else:  # VC-2
        high = odd - ((9 * (even + at(even, 1)) - at(even, -1) - at(even, 2) + 8) >> 4)
        low = even + ((9 * (at(high, -1) + high) - at(high, -2) - at(high, 1) + 16) >> 5)
    skip = margin // 2
    return low[:, skip : skip + (n + 1) // 2], high[:, skip : skip + n // 2]


@pytest.mark.parametrize("way", LIFTING_WAYS, ids=lambda way: "-".join(way.values()))
@pytest.mark.parametrize("name", INTEGER)
def test_integers_are_the_published_ones_and_lossless(gpu: Gpu, rng, name: str, way: dict[str, str]) -> None:
    for shape in [(1, 1), (1, 6), (7, 1), (2, 3), (33, 18), (40, 301)]:
        x = rng.integers(0, 65536, shape).astype(np.uint16)
        low, high = (half.T for half in integer_line(x.T.astype(np.int64), name))  # vertically first
        (a, v), (h, d) = (integer_line(half, name) for half in (low, high))
        ours = dwt2(gpu, x, name, "mirror", integer=True, **way)
        for mine, theirs in zip(flat(ours), (a, h, v, d), strict=True):
            assert mine.dtype == np.int32
            np.testing.assert_array_equal(mine, theirs)
        for mode in ("mirror", "periodization"):
            level = max(shape).bit_length() if mode == "mirror" else 2
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GpuopsWarning)
                coefficients = wavedec2(gpu, x, name, mode, level, integer=True, **way)
            back = waverec2(gpu, coefficients, name, mode, shape=shape, integer=True, **way)
            np.testing.assert_array_equal(back, x)


# -- structure ------------------------------------------------------------------------------------------


def test_images_stay_on_the_device(gpu: Gpu, rng) -> None:
    x = rng.random((4, 37, 50), dtype=np.float32)
    image = gpu.array(x)
    image.alpha, image.linear = True, False
    coefficients = wavedec2(gpu, image, "5/3", "mirror", 2)
    assert all((band.alpha, band.linear) == (True, False) for band in flat(coefficients))
    for band, array in zip(flat(coefficients), flat(wavedec2(gpu, x, "5/3", "mirror", 2)), strict=True):
        np.testing.assert_array_equal(band.numpy(), array)
    back = waverec2(gpu, coefficients, "5/3", "mirror")
    assert (back.alpha, back.linear) == (True, False)
    np.testing.assert_allclose(back.numpy(), x, atol=TOLERANCE["round trip"])


def test_none_is_a_band_of_zeros(gpu: Gpu, rng) -> None:
    x = rng.random((24, 40), dtype=np.float32)
    for mode in ("symmetric", "mirror"):
        a, (h, v, d) = dwt2(gpu, x, "9/7", mode)
        zero = np.zeros_like
        for some, full in [
            ((None, (h, v, d)), (zero(a), (h, v, d))),
            ((a, (None, None, None)), (a, (zero(h), zero(v), zero(d)))),
            ((a, None), (a, (zero(h), zero(v), zero(d)))),
            ((None, (None, None, d)), (zero(a), (zero(h), zero(v), d))),
        ]:
            ours, expected = (idwt2(gpu, coefficients, "9/7", mode) for coefficients in (some, full))
            np.testing.assert_array_equal(ours, expected)
    coefficients = wavedec2(gpu, x, "haar", "periodization", 3)
    coefficients[2] = None
    zeros = tuple(np.zeros((6, 10), np.float32) for _ in range(3))
    without = [coefficients[0], coefficients[1], zeros, coefficients[3]]
    ours, expected = (waverec2(gpu, c, "haar", "periodization") for c in (coefficients, without))
    np.testing.assert_array_equal(ours, expected)


def test_names_have_coefficients_and_coefficients_names() -> None:
    assert list(WAVELETS) == list(names.WAVELETS)
    for name, (lifts, whole) in names.WAVELETS.items():
        steps = WAVELETS[name].steps
        assert bool(steps) == lifts
        assert whole == (lifts and all(tap == int(tap) for step in steps for tap in step.taps))
    assert set(pywt.Modes.modes) == set(names.MODES) - {"mirror"}
    for short, long in pairwise(["CDF9/7", "BIOR4.4"]):
        assert names.wavelet_name(short) == names.wavelet_name(long) == "bior4.4"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"wavelet": "harr"}, "unknown wavelet 'harr': did you mean 'haar'?"),
        ({"wavelet": "bior44"}, "did you mean 'bior4.4'?"),
        ({"mode": "symetric"}, "unknown mode 'symetric': did you mean 'symmetric'?"),
        ({"mode": ""}, "unknown mode ''"),
        ({"levels": -1}, "levels must be"),
        ({"levels": 1000}, "levels must be"),
        ({"wavelet": "db2"}, "mirror needs a symmetric wavelet"),
        ({"wavelet": "db2", "mode": "zero", "method": "lifting"}, "no lifting steps"),
        ({"method": "laan", "mode": "zero"}, "laan knows the modes"),
        ({"method": "stripes"}, "unknown method"),
        ({"integer": True}, "no reversible integer form: use one of haar, bior2.2"),
        ({"integer": True, "wavelet": "5/3", "method": "filterbank"}, "works by lifting"),
    ],
)
def test_bad_parameters(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        DwtParams(**arguments)
    assert message in str(error.value)


def test_bad_data(gpu: Gpu) -> None:
    x = np.zeros((6, 8), np.float32)
    for data, arguments, message in [
        (np.zeros((1, 5)), ("9/7", "reflect"), "needs two samples"),
        (np.zeros((0, 5)), ("9/7",), "with elements"),
        (np.zeros(5), ("9/7",), "two or more dimensions"),
        (x + 1j, ("9/7",), "real array"),
        (gpu.array(x), ("9/7",), "planes, height, width"),
    ]:
        with pytest.raises(ParameterError, match=message):
            dwt2(gpu, data, *arguments)
    with pytest.raises(ParameterError, match="whole numbers"):
        dwt2(gpu, x, "5/3", integer=True)
    a, (h, v, d) = dwt2(gpu, x, "5/3", "mirror")
    for coefficients, message in [
        ([], "is empty"),
        ([a, (h, v)], "must be a tuple"),
        ([None, None], "no size|one band at least|must be given"),
        ([a, (h, v[:, :2], d)], "do not fit together"),
        ([a[:, :2], (h, v, d)], "do not fit together"),
        ([a, (h, v, d), (h, v, d)], "cannot give"),
    ]:
        with pytest.raises(ParameterError, match=message):
            waverec2(gpu, coefficients, "5/3", "mirror")
    with pytest.raises(ParameterError, match="cannot give 9×8"):
        idwt2(gpu, (a, (h, v, d)), "5/3", "mirror", shape=(9, 8))
