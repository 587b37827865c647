"""The wavelet transform against PyWavelets, against plain numpy, and against itself."""

import warnings
from dataclasses import replace
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import pytest
import pywt
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import DeviceError, Gpu, GpuopsWarning, ParameterError
from gpuops.params import dwt as names
from gpuops.params.dwt import DwtParams
from gpuops.wavelets import dwt2, idwt2, iswt2, swt2, wavedec2, waverec2, wpdec2, wprec2
from gpuops.wavelets.wavelets import WAVELETS

from .choices import each, some
from .reference.wavelets import (
    VC2,
    flat,
    integer_line,
    largest,
    mirrored,
    stationary_bands,
    vc2_level_of,
    vc2_lines,
    wavelet_of,
)
from .tolerance import DOUBLE
from .tolerance import DWT as TOLERANCE

LIFTING = ["haar", "bior2.2", "bior4.4", "dd13/7"]
INTEGER = ["haar", "bior2.2", "dd13/7"]
# Lengths from 1 to 33 along both axes, odd and even ones.
SHAPES = [(n, 34 - n) for n in (1, 2, 3, 4, 5, 8, 9, 16, 17, 18, 25, 26, 32, 33)]
# Ways to compute: the tile in a work-item's and in a group's memory, and no tile at all.
LIFTING_WAYS: list[dict[str, str]] = [
    {"method": "lifting", "tile": "private"},
    {"method": "lifting", "tile": "local"},
    {"method": "laan"},
]


def assert_close(ours: Any, theirs: Any, dtype: type = np.float32, factor: float = 1.0) -> None:
    """Two coefficient structures: the same shapes, and values close by the largest of all."""
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        assert one.shape == other.shape and one.dtype == dtype
        np.testing.assert_allclose(one, other, rtol=0, atol=factor * tolerance_of(dtype) * largest(theirs))


def assert_near(got: np.ndarray, expected: np.ndarray) -> None:
    """Values in single precision, close by the largest of all."""
    allowed = TOLERANCE["coefficients"] * np.abs(expected).max()
    np.testing.assert_allclose(got, expected, rtol=0, atol=allowed)


def tolerance_of(dtype: Any) -> float:
    """The tolerance of coefficients computed in this precision."""
    return TOLERANCE["coefficients" if dtype in (np.float32, np.complex64) else "double"]


@pytest.mark.parametrize("name", pywt.wavelist(kind="discrete"))
def test_filters_are_pywts(name) -> None:
    wavelet = WAVELETS[names.wavelet_name(name)]
    for mine, theirs in zip(
        (*wavelet.decompose, *wavelet.reconstruct), pywt.Wavelet(name).filter_bank, strict=True
    ):
        allowed = TOLERANCE["PyWavelets' 9/7" if name == "bior4.4" else "taps"]
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=allowed)


def test_the_9_7_filters_are_the_polynomials_factors() -> None:
    """Cohen, Daubechies and Feauveau (1992): 1 + 4y + 10y² + 20y³ with y = sin²(ω/2), its real root to the 7 taps."""
    pole, one, half = np.array([-0.25, 0.5, -0.25]), np.array([0.0, 1.0, 0.0]), np.array([0.5, 0.5])
    factors = {root: one - pole / root for root in np.roots([20, 10, 4, 1])}
    assert sorted(np.isreal(root) for root in factors) == [False, False, True]
    flat_at_pi = np.sqrt(2) * np.convolve(np.convolve(half, half), np.convolve(half, half))
    nine = flat_at_pi
    for root, factor in factors.items():
        if np.isreal(root):
            seven = np.convolve(flat_at_pi, factor).real
        else:
            nine = np.convolve(nine, factor)
    high_taps = seven * (-1.0) ** np.arange(7)
    low, high = WAVELETS["bior4.4"].decompose
    np.testing.assert_allclose(low[1:], nine.real, rtol=0, atol=DOUBLE)
    np.testing.assert_allclose(high[1:8], high_taps, rtol=0, atol=DOUBLE)
    # Once PyWavelets mends its table, `reference` can take it.
    assert np.abs(np.array(pywt.Wavelet("bior4.4").dec_hi[1:8]) - high_taps).max() > 1e-13


@pytest.mark.parametrize(("name", "taps", "divisor"), [
    ("dd9/7", [1, 0, -8, 16, 46, 16, -8, 0, 1], 64),
    ("dd13/7", [-1, 0, 18, -16, -63, 144, 348, 144, -63, -16, 18, 0, -1], 512),
])  # fmt: skip
def test_deslauriers_dubuc_filters_are_the_published_ones(name, taps, divisor) -> None:
    low, _ = WAVELETS[name].decompose
    np.testing.assert_allclose(low[1:], np.array(taps) / divisor * np.sqrt(2), rtol=0, atol=TOLERANCE["taps"])


def assert_is_pywts(gpu: Gpu, x: np.ndarray, name: str, mode: str, level: int) -> None:
    """Both directions, of an array in the precision to test."""
    dtype, wavelet = x.dtype.type, wavelet_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyWavelets warns of more levels than the size allows
        theirs = pywt.wavedec2(x.astype(np.result_type(x, np.float64)), wavelet, mode, level)
        ours = wavedec2(gpu, x, name, mode, level)
    # A line through the last two samples multiplies the first axis' rounding by its length, in PyWavelets as well, and
    # here where no higher precision is available.
    factor = 1.0
    if mode == "smooth" and dtype == np.float64:
        factor = TOLERANCE["double, smooth"] / TOLERANCE["double"]
    elif mode == "smooth" and not gpu.limits.double:
        factor = max(1.0, wavelet.dec_len / 2)
    assert_close(ours, theirs, dtype, factor)
    given = [theirs[0].astype(dtype), *(tuple(b.astype(dtype) for b in bands) for bands in theirs[1:])]
    full, expected = waverec2(gpu, given, name, mode), pywt.waverec2(theirs, wavelet, mode)
    assert full.shape == expected.shape and full.dtype == dtype
    scale = max(largest(theirs), np.abs(expected).max())
    np.testing.assert_allclose(full, expected, rtol=0, atol=tolerance_of(dtype) * scale)


# All sizes from 1 to 67 in an order that pairs odd and even, small and large.
ORDER = [(k * 29) % 67 + 1 for k in range(67)]


def some_of(names: list[str], mode: str) -> list[str]:
    """Wavelets to test with a mode: each one has some mode."""
    return names[pywt.Modes.modes.index(mode) :: len(pywt.Modes.modes)]


@each(mode=pywt.Modes.modes)
def test_every_wavelet_is_pywts(gpu, rng, mode) -> None:
    least = 2 if "reflect" in mode else 1
    sizes = cycle(n for n in ORDER if n >= least)
    for name in some_of(pywt.wavelist(kind="discrete"), mode):
        for shape, level in [
            ((next(sizes), next(sizes)), 1),
            ((next(sizes), next(sizes)), 2 if mode != "smooth" or gpu.limits.double else 1),
            ((least, 6), 1),
        ]:
            assert_is_pywts(gpu, rng.standard_normal(shape).astype(np.float32), name, mode, level)


@pytest.mark.exhaustive
@each(mode=pywt.Modes.modes)
def test_double_precision(gpu, rng, mode) -> None:
    if not gpu.limits.double:
        pytest.skip("no double precision")
    sizes = cycle(n for n in ORDER if n > 1)
    for name in some_of([*pywt.wavelist(kind="discrete"), "dd13/7"], mode):
        for level in (1, 2):
            assert_is_pywts(gpu, rng.standard_normal((next(sizes), next(sizes))), name, mode, level)


def test_double_precision_is_refused_where_there_is_none(gpu, monkeypatch) -> None:
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, double=False))
    with pytest.raises(DeviceError, match="no double precision"):
        dwt2(gpu, np.ones((4, 4)), "haar")


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_transformed_as_two_real_ones(gpu, rng, dtype) -> None:
    if dtype == np.complex128 and not gpu.limits.double:
        pytest.skip("no double precision")
    x = (rng.standard_normal((2, 17, 22)) + 1j * rng.standard_normal((2, 17, 22))).astype(dtype)
    assert_is_pywts(gpu, x, "db3", "symmetric", 2)
    a, (h, _, d) = dwt2(gpu, x, "db3")
    mixed = (a.real, (h, None, d))  # a real band among complex ones
    expected = pywt.idwt2((a.real + 0j, (h, None, d)), "db3")
    assert_near(idwt2(gpu, mixed, "db3"), expected)


def test_nan_goes_where_pywts_goes(gpu, rng) -> None:
    for name in ("haar", "db4", "bior4.4"):
        x = rng.standard_normal((20, 30)).astype(np.float32)
        x[7, 11], x[0, 29] = np.nan, np.inf
        with np.errstate(invalid="ignore"):
            theirs = flat(pywt.dwt2(x, name))
        for mine, other in zip(flat(dwt2(gpu, x, name)), theirs, strict=True):
            # Where PyWavelets multiplies them by taps of zero, here they are left out.
            spoilt = ~np.isfinite(mine)
            assert spoilt.any() and not (spoilt & np.isfinite(other)).any()
            good = np.isfinite(other)
            assert_near(mine[good], other[good])


@pytest.mark.exhaustive
@some(mode=["symmetric", "periodization"], name=[*LIFTING, "dd9/7", "db4", "sym10"])
def test_every_size_is_pywts(gpu, rng, name, mode) -> None:
    for shape in SHAPES:
        x = rng.standard_normal(shape).astype(np.float32)
        theirs = pywt.dwt2(x.astype(float), wavelet_of(name), mode)
        ours = dwt2(gpu, x, name, mode)
        assert_close(ours, theirs)
        full = idwt2(gpu, ours, name, mode)
        expected = pywt.idwt2(theirs, wavelet_of(name), mode)
        assert full.shape == expected.shape
        assert_near(full, expected)
        assert idwt2(gpu, ours, name, mode, shape=shape).shape == shape


@pytest.mark.exhaustive
@some(mode=pywt.Modes.modes, name__tile=[("bior4.4", "private"), ("bior2.2", "local"), ("db3", "private")])
def test_every_mode_is_pywts(gpu, rng, name, tile, mode) -> None:
    least = 2 if "reflect" in mode else 1
    for shape in [(least, 5), (3, 2), (6, 33), (40, 31)]:
        x = rng.standard_normal(shape).astype(np.float32)
        assert_close(dwt2(gpu, x, name, mode, tile=tile), pywt.dwt2(x.astype(float), wavelet_of(name), mode))


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["haar", "bior4.4", "db4"])
def test_levels_are_pywts(gpu, rng, name) -> None:
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
            assert_near(full, expected)


@pytest.mark.parametrize("name", LIFTING)
def test_mirror_is_pywts_symmetric_extension_cropped(gpu, rng, name) -> None:
    """Whole-sample symmetry for filters of odd length; half-sample for haar, which needs one sample at most."""
    for shape in SHAPES[1:-1]:
        x = rng.standard_normal(shape).astype(np.float32)
        assert_close(dwt2(gpu, x, name, "mirror"), mirrored(x, name))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "mode", "shape", "way"), [
    *(("bior4.4", "symmetric", (2, 259, 1030), {"method": method, "tile": tile})
      for method in ("lifting", "filterbank") for tile in ("private", "local")),
    ("bior4.4", "periodization", (1, 150, 4250), {}), ("dd13/7", "periodization", (1, 150, 4250), {}),
])  # fmt: skip
def test_many_and_wide_tiles(gpu, rng, name, mode, shape, way) -> None:
    x = rng.standard_normal(shape).astype(np.float32)
    ours = dwt2(gpu, x, name, mode, **way)
    assert_close(ours, pywt.dwt2(x.astype(float), wavelet_of(name), mode))
    assert_near(idwt2(gpu, ours, name, mode, shape=shape[1:], **way), x)


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_the_stationary_transform_is_pywts(gpu, rng, dtype) -> None:
    if dtype == np.float64 and not gpu.limits.double:
        pytest.skip("no double precision")
    for name, shape, level, start in [
        ("haar", (2, 2), 1, 0),
        ("db2", (3, 24, 8), 3, 0),
        ("bior4.4", (16, 20), 2, 0),
        ("bior3.1", (16, 32), 2, 1),
        ("coif17", (32, 16), 3, 0),
    ]:
        x = rng.standard_normal(shape).astype(dtype)
        for trim, norm in [(False, False), (True, False), (False, True)]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyWavelets warns that norm is for orthogonal wavelets
                theirs = pywt.swt2(
                    x.astype(np.result_type(x, float)), wavelet_of(name), level, start, (-2, -1), trim, norm
                )
                ours = swt2(gpu, x, name, level, start, trim_approx=trim, norm=norm)
                bands = stationary_bands(theirs)
                tolerance = tolerance_of(dtype) * max(np.abs(band).max() for band in bands)
                for mine, other in zip(stationary_bands(ours), bands, strict=True):
                    assert mine.shape == other.shape and mine.dtype == dtype
                    np.testing.assert_allclose(mine, other, rtol=0, atol=tolerance)
                shrunk = [
                    level if isinstance(level, np.ndarray) else tuple(0.5 * np.stack(level))
                    for level in swt2(gpu, x, name, level, start, trim_approx=True, norm=norm)
                ]
                expected = pywt.iswt2(shrunk, wavelet_of(name), norm)
                np.testing.assert_allclose(
                    iswt2(gpu, shrunk, name, norm=norm), expected, rtol=0, atol=tolerance
                )
            if start == 0:
                np.testing.assert_allclose(iswt2(gpu, ours, name, norm=norm), x, rtol=0, atol=tolerance)


def test_the_stationary_transform_has_levels_while_sides_halve(gpu) -> None:
    x = np.zeros((16, 24), np.float32)
    assert len(swt2(gpu, x, "db3")) == 3
    assert swt2(gpu, gpu.array(x[None]), "db3", 1)[0][0].shape == (1, 16, 24)
    for arguments, message in [
        (("db3", 3, 1), r"3 stationary levels.* not 1 \+ 3"),
        (("db3", 0), r"not 0 \+ 0"),
        (("db3", None, 3), r"not 3 \+ 0"),
        (("db3", 1, -1), "not -1"),
    ]:
        with pytest.raises(ParameterError, match=message):
            swt2(gpu, x, *arguments)
    for coefficients, message in [
        ([], "empty"),
        ([(x, (x, None, x))], "give zeros"),
        ([(x, (x, x[:8], x))], "one shape"),
        ([(x, (x, x))], "must be a tuple"),
    ]:
        with pytest.raises(ParameterError, match=message):
            iswt2(gpu, coefficients, "db3")


@pytest.mark.cases(1)
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (-1, 0), [1, 2]])
def test_any_two_axes_are_pywts(gpu, rng, axes) -> None:
    x = (rng.standard_normal((12, 20, 16)) + 1j * rng.standard_normal((12, 20, 16))).astype(np.complex64)
    theirs = pywt.wavedec2(x.astype(complex), "db2", "symmetric", 2, axes)
    ours = wavedec2(gpu, x, "db2", "symmetric", 2, axes)
    assert_close(ours, theirs, np.complex64)
    assert_near(waverec2(gpu, ours, "db2", "symmetric", axes), x)
    low, (across, _, both) = dwt2(gpu, x, "db2", "symmetric", axes)
    expected = pywt.idwt2((low, (across, None, both)), "db2", "symmetric", axes)
    found = idwt2(gpu, (low, (across, None, both)), "db2", "symmetric", axes)
    assert_near(found, expected)
    levels = pywt.swt2(x.astype(complex), "db2", 2, 0, axes)
    stationary = swt2(gpu, x, "db2", 2, 0, axes)
    for one, other in zip(stationary, levels, strict=True):
        assert_close(one, other, np.complex64)
    assert_near(iswt2(gpu, stationary, "db2", False, axes), x)
    packets = wpdec2(gpu, x.real, "db2", "symmetric", 1, axes)
    tree = pywt.WaveletPacket2D(x.real.astype(float), "db2", "symmetric", 1, axes)
    for path, band in packets.items():
        assert_close([band], [tree[path].data])
    shape = x.shape[axes[0]], x.shape[axes[1]]
    assert_near(wprec2(gpu, packets, "db2", "symmetric", axes, shape=shape), x.real)


def test_axes_that_are_none(gpu) -> None:
    x = np.ones((4, 5, 6), np.float32)
    for axes in ((0, 0), (0, 3), (-4, 0), (0,), (0, 1, 2), (0.5, 1), 0):
        with pytest.raises(ParameterError, match="axes must be two different ones of the array's 3"):
            wavedec2(gpu, x, "haar", axes=axes)
    with pytest.raises(ParameterError, match="leave out axes"):
        dwt2(gpu, gpu.array(x), "haar", axes=(0, 1))


@pytest.mark.parametrize("mode", ["symmetric", "periodization", "smooth"])
def test_packets_are_pywts(gpu, rng, mode) -> None:
    x = rng.standard_normal((21, 34)).astype(np.float32)
    tree = pywt.WaveletPacket2D(x.astype(float), "db2", mode, maxlevel=2)
    theirs = {node.path: node.data for node in tree.get_level(2)}
    ours = wpdec2(gpu, x, "db2", mode, 2)
    assert set(ours) == set(theirs)
    # The rounding where smooth has no double precision.
    factor = 100.0 if mode == "smooth" and not gpu.limits.double else 1.0
    for path, band in ours.items():
        assert_close([band], [theirs[path]], factor=factor)
    back = wprec2(gpu, ours, "db2", mode, shape=x.shape)
    assert_near(back, x)
    some = {"aa": ours["aa"], "h": wpdec2(gpu, x, "db2", mode)["h"], "dv": ours["dv"]}
    all_of_them = {path: band if path[0] == "h" or path in some else 0 * band for path, band in ours.items()}
    expected = wprec2(gpu, all_of_them, "db2", mode, shape=x.shape)
    assert_near(wprec2(gpu, some, "db2", mode, shape=x.shape), expected)


def test_a_deep_packet_alone_is_zeros_beside_it(gpu, rng) -> None:
    """Only the paths on the way to the packet are visited, not all 4³⁰ of its length."""
    band = rng.random((1, 1)).astype(np.float32)
    got = wprec2(gpu, {"a" * 30: band}, "haar", "periodization", shape=(8, 8))
    np.testing.assert_allclose(got, np.full((8, 8), band[0, 0] / 2**30), rtol=TOLERANCE["deep"])


@pytest.mark.exhaustive
def test_packets_of_whole_numbers_and_of_odd_sizes(gpu, rng) -> None:
    for shape in [(1, 1), (1, 6), (13, 11)]:
        x = rng.integers(0, 256, shape)
        packets = wpdec2(gpu, x, "5/3", "mirror", 2, integer=True)
        assert sum(band.size for band in packets.values()) == x.size
        back = wprec2(gpu, packets, "5/3", "mirror", shape=shape, integer=True)
        np.testing.assert_array_equal(back, x)
    assert list(wpdec2(gpu, x, "5/3", level=0)) == [""]
    for packets, message in [
        ({}, "one packet at least"),
        ({"x": x}, "no path"),
        ({"a": x}, "must be 7×6, not 13×11"),
    ]:
        with pytest.raises(ParameterError, match=message):
            wprec2(gpu, packets, "5/3", "mirror", shape=(13, 11))


@pytest.mark.cases(1)
@each(way=LIFTING_WAYS, name=LIFTING)
def test_all_ways_agree_and_invert(gpu, rng, name, way) -> None:
    for mode in ("mirror", "periodization"):
        for shape in [(1, 1), (1, 7), (2, 2), (9, 2), (31, 150)]:
            x = rng.random(shape, dtype=np.float32)
            ours = wavedec2(gpu, x, name, mode, None, **way)
            assert_close(ours, wavedec2(gpu, x, name, mode, len(ours) - 1))
            back = waverec2(gpu, ours, name, mode, shape=shape, **way)
            np.testing.assert_allclose(back, x, atol=TOLERANCE["round trip"])


@pytest.mark.cases(1)
@each(way=LIFTING_WAYS, name=LIFTING)
def test_more_levels_than_there_is_size_for(gpu, rng, name, way) -> None:
    for shape in [(1, 1), (1, 7), (5, 3)]:
        x = rng.random(shape, dtype=np.float32)
        with pytest.warns(GpuopsWarning, match="5 levels are more than"):
            coefficients = wavedec2(gpu, x, name, "mirror", 5, **way)
        assert sum(band.size for band in flat(coefficients)) == x.size
        np.testing.assert_allclose(coefficients[0][0, 0], x.mean() * 32, rtol=0.5)
        back = waverec2(gpu, coefficients, name, "mirror", **way)
        np.testing.assert_allclose(back, x, atol=TOLERANCE["round trip"])


@pytest.mark.exhaustive
@settings(max_examples=25)
@given(
    st.tuples(st.integers(1, 70), st.integers(1, 70)),
    st.sampled_from(LIFTING),
    st.integers(0, 5),
    st.integers(0, 2**32 - 1),
)
def test_the_inverse_is_exact_enough(gpu, shape, name, level, seed) -> None:
    x = np.random.default_rng(seed).random(shape, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GpuopsWarning)
        coefficients = wavedec2(gpu, x, name, "mirror", level)
    np.testing.assert_allclose(waverec2(gpu, coefficients, name, "mirror"), x, atol=TOLERANCE["round trip"])


@pytest.mark.cases(1)
@each(
    name__way=[
        *zip(INTEGER, LIFTING_WAYS, strict=True),
        ("dd9/7", LIFTING_WAYS[0]),
        ("haar", LIFTING_WAYS[1]),
    ]
)
def test_integers_are_the_published_ones_and_lossless(gpu, rng, name, way) -> None:
    for shape in [(1, 1), (1, 6), (7, 1), (2, 3), (33, 18), (40, 301)]:
        x = rng.integers(0, 65536, shape).astype(np.uint16)
        # Columns are transformed first.
        low, high = (half.T for half in integer_line(x.T.astype(np.int64), name))
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


@pytest.mark.exhaustive
def test_integers_are_lossless_in_every_mode(gpu, rng) -> None:
    x = rng.integers(0, 65536, (33, 18)).astype(np.uint16)
    for mode in names.MODES:
        coefficients = wavedec2(gpu, x, "5/3", mode, 1, integer=True)
        back = waverec2(gpu, coefficients, "5/3", mode, shape=x.shape, integer=True)
        np.testing.assert_array_equal(back, x, mode)


def vc2_level(bands: Any, name: str) -> np.ndarray:
    """15.4.3: bands interleaved, synthesised vertically, then horizontally, shifted."""
    ll, (lh, hl, hh) = bands
    a = np.empty((2 * ll.shape[0], 2 * ll.shape[1]), np.int64)
    a[::2, ::2], a[::2, 1::2], a[1::2, ::2], a[1::2, 1::2] = ll, hl, lh, hh
    a = vc2_lines(vc2_lines(a.T, name, inverse=True).T, name, inverse=True)
    shift = VC2[name][0]
    return (a + ((1 << shift) >> 1)) >> shift


@pytest.mark.cases(1)
@each(name__tile=[("vc2-fidelity", "local"), ("vc2-haar", "local"), *((name, "private") for name in VC2)])
def test_vc2_is_the_standards(gpu, rng, name, tile) -> None:
    way: dict[str, Any] = {"integer": True, "tile": tile}
    for shape, levels in [((2, 2), 1), ((4, 6), 1), ((2, 18), 1), ((80, 48), 3), ((36, 600), 2)]:
        x = rng.integers(0, 65536, shape).astype(np.uint16)
        a, coefficients = x.astype(np.int64), []
        for _ in range(levels):
            a, details = vc2_level_of(a, name)
            coefficients.append(details)
        theirs = [a, *coefficients[::-1]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GpuopsWarning)
            ours = wavedec2(gpu, x, name, "vc2", levels, **way)
        for mine, other in zip(flat(ours), flat(theirs), strict=True):
            np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(waverec2(gpu, ours, name, "vc2", **way), x)
        # Coefficients that no picture has, but that a decoder may meet.
        coarse = [band // 5 * 5 for band in flat(ours)]
        expected = coarse[0].astype(np.int64)
        for at in range(1, len(coarse), 3):
            expected = vc2_level((expected, coarse[at : at + 3]), name)
        again = [coarse[0], *(tuple(coarse[at : at + 3]) for at in range(1, len(coarse), 3))]
        np.testing.assert_array_equal(waverec2(gpu, again, name, "vc2", **way), expected)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "mode"), [
    *((name, "vc2") for name in VC2),
    *((name, "mirror") for name in ("vc2-haar", "vc2-fidelity", "vc2-9/7")),
    ("vc2-9/7", "periodization"),
])  # fmt: skip
def test_vc2_is_lossless_for_all_sizes(gpu, rng, name, mode) -> None:
    for shape in [(1, 1), (1, 6), (7, 1), (2, 3), (33, 18), (20, 201)]:
        for dtype in (np.uint8, np.int16):
            limits = np.iinfo(dtype)
            x = rng.integers(limits.min, limits.max + 1, shape).astype(dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GpuopsWarning)
                coefficients = wavedec2(gpu, x, name, mode, 4, integer=True)
            back = waverec2(gpu, coefficients, name, mode, shape=shape, integer=True)
            np.testing.assert_array_equal(back, x)
    even = rng.integers(0, 256, (6, 20))
    if mode == "mirror" and name != "vc2-fidelity":  # the steps of others only reach one neighbour
        ours, theirs = (dwt2(gpu, even, name, m, integer=True) for m in ("mirror", "vc2"))
        for mine, other in zip(flat(ours), flat(theirs), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_images_stay_on_the_device(gpu, rng) -> None:
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


def test_what_is_kept_for_one_image_serves_no_other(gpu, opened, rng) -> None:
    """Shapes, wavelets and modes by turns: the same as on a Gpu that has done nothing else."""
    cases = [((2, 24, 40), "bior4.4", "mirror"), ((1, 33, 70), "bior4.4", "mirror")]
    cases += [((1, 33, 70), "bior2.2", "mirror"), ((2, 24, 40), "bior2.2", "symmetric")]
    works = [(rng.random(shape, np.float32), *how) for shape, *how in cases]
    alone = [flat(dwt2(opened(), *work)) for work in works]
    for work, expected in 2 * list(zip(works, alone, strict=True)):
        for mine, other in zip(flat(dwt2(gpu, *work)), expected, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_none_is_a_band_of_zeros(gpu, rng) -> None:
    x = rng.random((24, 40), dtype=np.float32)
    for mode in ("symmetric", "mirror"):
        a, (h, v, d) = dwt2(gpu, x, "9/7", mode)
        zero = np.zeros_like
        for partly, full in [
            ((None, (h, v, d)), (zero(a), (h, v, d))),
            ((a, (None, None, None)), (a, (zero(h), zero(v), zero(d)))),
            ((a, None), (a, (zero(h), zero(v), zero(d)))),
            ((None, (None, None, d)), (zero(a), (zero(h), zero(v), d))),
        ]:
            ours, expected = (idwt2(gpu, coefficients, "9/7", mode) for coefficients in (partly, full))
            np.testing.assert_array_equal(ours, expected)
    coefficients = wavedec2(gpu, x, "haar", "periodization", 3)
    coefficients[2] = None
    zeros = tuple(np.zeros((6, 10), np.float32) for _ in range(3))
    without = [coefficients[0], coefficients[1], zeros, coefficients[3]]
    ours, expected = (waverec2(gpu, c, "haar", "periodization") for c in (coefficients, without))
    np.testing.assert_array_equal(ours, expected)


def test_names_have_coefficients_and_coefficients_names() -> None:
    for name, (lifts, whole) in names.WAVELETS.items():
        steps = WAVELETS[name].steps
        assert bool(steps) == lifts
        assert whole == (lifts and all(tap == int(tap) for step in steps for tap in step.taps))
    theirs = set(pywt.wavelist(kind="discrete"))
    assert {names.wavelet_name(name) for name in theirs} == {
        name for name in names.WAVELETS if name in theirs
    }
    assert {name for name in names.WAVELETS if name not in theirs} == {"dd9/7", "dd13/7", *VC2}
    with pytest.raises(KeyError):
        WAVELETS["morl"]
    assert set(pywt.Modes.modes) == set(names.MODES) - {"mirror", "vc2"}
    for short, long in pairwise(["CDF9/7", "BIOR4.4"]):
        assert names.wavelet_name(short) == names.wavelet_name(long) == "bior4.4"


@pytest.mark.parametrize(("arguments", "message"), [
    ({"wavelet": "harr"}, "unknown wavelet 'harr': did you mean 'haar'?"),
    ({"mode": "symetric"}, "unknown mode 'symetric': did you mean 'symmetric'?"),
    ({"levels": -1}, "levels must be"),
    ({"wavelet": "db2"}, "mirror needs lifting steps"),
    ({"wavelet": "vc2-5/3", "method": "laan"}, "laan does not know vc2-5/3"),
    ({"wavelet": "db2", "mode": "zero", "method": "lifting"}, "no lifting steps"),
    ({"method": "laan", "mode": "zero"}, "laan knows the modes"),
    ({"integer": True}, "no reversible integer form: use one of haar, bior2.2"),
    ({"integer": True, "wavelet": "5/3", "method": "filterbank"}, "works by lifting"),
])  # fmt: skip
def test_bad_parameters(arguments, message) -> None:
    with pytest.raises(ParameterError) as error:
        DwtParams(**arguments)
    assert message in str(error.value)


def test_methods_of_single_precision_refuse_double(gpu) -> None:
    if gpu.limits.double:
        with pytest.raises(ParameterError, match=r"float32 is needed, not .* float64"):
            dwt2(gpu, np.zeros((8, 8)), "9/7", "mirror", method="in-place")


def test_bad_data(gpu) -> None:
    x = np.zeros((6, 8), np.float32)
    for data, arguments, message in [
        (x[:1], ("9/7", "reflect"), "needs two samples"),
        (x[:0], ("9/7",), "with elements"),
        (x[0], ("9/7",), "two or more dimensions"),
        (x[0] + 1j, ("9/7",), "two or more dimensions"),
        (x.astype(np.longdouble), ("9/7",), "convert to float64"),
        (np.array([["a"]]), ("9/7",), "numbers are needed"),
        (gpu.array(x), ("9/7",), "planes, height, width"),
        (gpu.array(x[None].astype(np.float16)), ("9/7",), "float32 is needed"),
    ]:
        with pytest.raises(ParameterError, match=message):
            dwt2(gpu, data, *arguments)
    with pytest.raises(ParameterError, match="whole numbers"):
        dwt2(gpu, x, "5/3", integer=True)
    with pytest.raises(ParameterError, match="from -2147483648 to"):
        dwt2(gpu, np.full((2, 2), 2**31), "5/3", integer=True)
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
