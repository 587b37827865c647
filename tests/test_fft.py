"""Fourier transforms against scipy.fft in double precision."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import DeviceError, Gpu, Image, ParameterError
from gpuops import fourier as fft
from gpuops.fourier import spectrum
from gpuops.fourier.engine import groups, planner, radices
from gpuops.fourier.engine.radices import largest_prime
from gpuops.image import COMPLEX_HALF
from gpuops.params.fft import FftParams, FrequencyFilter, SpectrumParams, filter_option
from gpuops.pixels.coding import Decoding
from gpuops.reuse import Plans

from .choices import each, some
from .reference.fourier import VIEWS, error, frequency_filter, picture_error
from .tolerance import DOUBLE
from .tolerance import FFT as TOLERANCE

METHODS = ("auto", "local", "global")
# One pixel, one row, one column; primes with a butterfly and without; composite, and odd, and a row of lanes.
SHAPES = [(1, 1), (1, 7), (7, 1), (17, 30), (48, 31)]


def noise(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)


def small_primes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prime factors above 13 by Bluestein's convolution: of small sizes, what large ones need."""
    monkeypatch.setattr(groups, "LARGEST_PRIME", 13)


def shared_primes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work-items share the butterflies of primes from 11 on, as they do those of large ones."""
    for name in ("_NEVER_SHARED", "_ALONE", "LARGEST_UNROLLED"):
        monkeypatch.setattr(groups, name, 7)


@pytest.fixture
def tiny(gpu, monkeypatch) -> Iterator[Gpu]:
    """The device with 1 KB of local memory: 128 points, so that small sizes take the ways of large ones.

    Primes from 17 on are convolutions.
    """
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, local_bytes=1024))
    small_primes(monkeypatch)
    monkeypatch.setattr(gpu, "plans", Plans())
    yield gpu


@pytest.mark.parametrize("radix", [r for r in range(2, 33) if radices.radices(r) == (r,)] + [37, 61, 109])
def test_every_butterfly(gpu, rng, radix) -> None:
    x = noise(rng, 3, radix)
    assert error(fft.fft(gpu, x, params=FftParams("local")), np.fft.fft(x)) < TOLERANCE["single"]


@pytest.mark.cases(1)
@some(method=METHODS, shape=SHAPES)
def test_two_dimensions_are_scipys(gpu, rng, shape, method) -> None:
    z, params = noise(rng, 3, *shape), FftParams(method)
    x = np.ascontiguousarray(z.real)
    assert error(fft.fft2(gpu, z, params=params), scipy.fft.fft2(z.astype(complex))) < TOLERANCE["single"]
    assert error(fft.ifft2(gpu, z, params=params), scipy.fft.ifft2(z.astype(complex))) < TOLERANCE["single"]
    half = scipy.fft.rfft2(x.astype(float))
    assert error(fft.rfft2(gpu, x, params=params), half) < TOLERANCE["single"]
    back = fft.irfft2(gpu, half.astype(np.complex64), s=shape, params=params)
    assert error(back, x) < TOLERANCE["single"] and back.dtype == np.float32
    full = fft.fft2(gpu, x, params=params)
    assert error(full, scipy.fft.fft2(x.astype(float))) < TOLERANCE["single"] and full.dtype == np.complex64


@pytest.mark.exhaustive
def test_two_lengths_of_the_same_convolution(gpu, rng, monkeypatch) -> None:
    """101 and 103 are both convolutions of 210 points: the filter of one axis is not that of the other."""
    small_primes(monkeypatch)
    monkeypatch.setattr(gpu, "plans", Plans())
    z = noise(rng, 101, 103)
    exact = scipy.fft.fft2(z.astype(complex))
    assert error(fft.fft2(gpu, z, params=FftParams("global")), exact) < TOLERANCE["single"]
    assert {(p.convolved, p.n) for p in next(iter(gpu.plans.values())).passes} == {(101, 210), (103, 210)}


@pytest.mark.cases(1)
@each(
    n__kinds__method=[
        (180, {("local", False)}, "local"),  # 12 · 15 points: in two halves
        (122, {("local", False)}, "auto"),  # 2 · 61: the second half by Bluestein's convolution
        (323, {("local", False)}, "local"),  # 17 · 19: both
        # A prime: the convolution goes through global memory, its transforms in halves.
        (131, {("local", True)}, "auto"),
        (306, {("local", False)}, "auto"),  # 17 · 18: the first
        # No halves fit: the convolution's transforms go through memory as well.
        (131 * 256, {("global", True)}, "local"),
    ]
)
def test_sizes_beyond_local_memory(tiny, rng, n, kinds, method) -> None:
    params = FftParams(method)
    for shape, axis in (((3, n), -1), ((n, 3), -2)):
        z = noise(rng, *shape)
        x = np.ascontiguousarray(z.real)
        assert (
            error(fft.fft(tiny, z, axis=axis, params=params), np.fft.fft(z, axis=axis)) < TOLERANCE["single"]
        )
        assert (
            error(fft.ifft(tiny, z, axis=axis, params=params), np.fft.ifft(z, axis=axis))
            < TOLERANCE["single"]
        )
        if n < 1000:
            half = np.fft.rfft2(x)
            assert error(fft.rfft2(tiny, x, params=params), half) < TOLERANCE["single"]
            assert (
                error(fft.irfft2(tiny, half.astype(np.complex64), s=shape, params=params), x)
                < TOLERANCE["single"]
            )
            padded = np.fft.rfft2(x, s=(7, n + 9))
            assert error(fft.rfft2(tiny, x, s=(7, n + 9), params=params), padded) < TOLERANCE["single"]
    passes = [p for plan in tiny.plans.values() for p in plan.passes]
    used = {("global" if p.kind == "global" else "local", p.convolved > 0) for p in passes}  # or wide
    assert kinds <= used


@pytest.mark.exhaustive
@each(
    shape__joined=[
        ((3, 2), None),
        ((28, 44), 2),  # the last stage's runs are odd
        ((24, 40), 4),
        ((34, 34), 2),  # complex columns and rows by Bluestein's convolution
        ((180, 12), None),  # columns in two halves
        ((2, 16), None),
    ]
)
def test_columns_before_rows(tiny, rng, monkeypatch, shape, joined) -> None:
    """Columns, short where several rows are transformed across each other when they are loaded, then rows."""
    if joined:
        monkeypatch.setitem(vars(tiny), "limits", replace(tiny.limits, local_bytes=4096))
        monkeypatch.setattr(planner.Planner, "joined", lambda *_: joined)
    z, params = noise(rng, 2, *shape), FftParams("local")
    x, exact = np.ascontiguousarray(z.real), z.astype(complex)
    half = scipy.fft.rfft2(exact.real)
    for got, expected in (
        (fft.fft2(tiny, z, params=params), scipy.fft.fft2(exact)),
        (fft.ifft2(tiny, z, params=params), scipy.fft.ifft2(exact)),
        (fft.rfft2(tiny, x, params=params), half),
        (fft.fft2(tiny, x, params=params), scipy.fft.fft2(exact.real)),
        (fft.irfft2(tiny, half.astype(np.complex64), params=params), exact.real),
        (fft.ifft2(tiny, tiny.array(x), params=params).numpy(), scipy.fft.ifft2(exact.real)),
    ):
        assert error(got, expected) < TOLERANCE["single"]
    used = {p.at.joined for plan in tiny.plans.values() for p in plan.passes}
    assert used == {joined or 1, 1}
    if shape == (3, 2):
        # The shapes are longer than the input, which adds zeros, or shorter.
        for s in ((5, 3), (2, 1), (3, 3), (4, 2), (3, 4), (6, 8)):
            assert error(fft.rfft2(tiny, x, s=s, params=params), np.fft.rfft2(x, s=s)) < TOLERANCE["single"]
            assert error(fft.fft2(tiny, z, s=s, params=params), np.fft.fft2(z, s=s)) < TOLERANCE["single"]
            got, expected = fft.irfft2(tiny, z, s=s, params=params), scipy.fft.irfft2(exact, s=s)
            assert error(got, expected) < TOLERANCE["single"]


@pytest.mark.cases(1)
@pytest.mark.parametrize("shape", [(40, 36, 2), (96, 20, 3), (50, 30, 4), (44, 26, 4)])
def test_bytes_of_all_channels(gpu, rng, shape) -> None:
    pixels = rng.integers(0, 256, shape, dtype=np.uint8)
    expected = scipy.fft.rfft2(np.moveaxis(pixels / 255, 2, 0))
    assert error(fft.rfft2_of_pixels(gpu, pixels, params=FftParams("local")), expected) < TOLERANCE["single"]


@pytest.mark.cases(1)
@some(method=METHODS, shape=[(20, 32, 3), (17, 31, 4), (5, 6, 1)])
def test_pixels_in_their_own_depth(gpu, rng, shape, method) -> None:
    for dtype, largest in (("uint8", 255), ("uint16", 65535), ("float16", 1), ("float32", 1)):
        pixels = (rng.random(shape) * largest).astype(dtype)
        expected = scipy.fft.rfft2(np.moveaxis(pixels.astype(float) / largest, 2, 0), norm="ortho")
        got = fft.rfft2_of_pixels(gpu, pixels, "ortho", params=FftParams(method))
        assert error(got, expected) < TOLERANCE["single"], dtype
    on_device = fft.rfft2_of_pixels(gpu, gpu.array(pixels), "ortho")
    assert isinstance(on_device, Image) and error(on_device.numpy(), expected) < TOLERANCE["single"]
    for bad in (pixels[0], pixels.astype(np.float64), pixels[:0]):
        with pytest.raises(ParameterError, match="pixels must be"):
            fft.rfft2_of_pixels(gpu, bad)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("radix", "twiddle", "method"),
    [("2", "table", "local"), ("4", "compute", "global"), ("8", "compute", "local"), ("16", "table", "auto")],
)
def test_radix_and_twiddles(gpu, rng, radix, twiddle, method) -> None:
    z, params = noise(rng, 2, 48, 128), FftParams(method, radix, twiddle)
    assert error(fft.fft2(gpu, z, params=params), np.fft.fft2(z)) < TOLERANCE["compute"]
    passes = next(reversed(gpu.plans.values())).passes
    factors = [r for p in passes for r in p.schedule.radices]
    assert all(r <= max(3, int(radix)) for r in factors) and math.prod(factors) == 48 * 128


@pytest.mark.cases(1)
@some(norm=[None, "backward", "ortho", "forward"], places=[
    (((17, 30), (-2, -1)), ((8, 48), (-1, -2))), (((48, 7), (0, 2)), ((1, -1), (1, 2))),
])  # fmt: skip
def test_norm_lengths_and_axes(gpu, rng, norm, places) -> None:
    z = noise(rng, 2, 17, 30)
    x = np.ascontiguousarray(z.real)
    for s, axes in places:
        for name, data in (("fft2", z), ("ifft2", z), ("rfft2", x), ("irfft2", z), ("ifft2", x)):
            reference = getattr(scipy.fft, name)(data, s, axes, norm)
            if data is z or name == "rfft2":
                reference = getattr(scipy.fft, name)(
                    data.astype(complex if data is z else float), s, axes, norm
                )
            assert error(getattr(fft, name)(gpu, data, s, axes, norm), reference) < TOLERANCE["single"], (
                name,
                s,
                axes,
            )
    for n, axis in ((None, -1), (48, 1)):
        for name, data in (("fft", z), ("ifft", z), ("rfft", x), ("irfft", z)):
            reference = getattr(scipy.fft, name)(data.astype(complex if data is z else float), n, axis, norm)
            assert error(getattr(fft, name)(gpu, data, n, axis, norm), reference) < TOLERANCE["single"], (
                name,
                n,
            )


@each(
    norm=[None, "ortho"],
    s__axes=[(None, None), ((4, 5), None), (None, (0, 2, 1)), ((3, 6), (1, 0)), (None, (1,))],
)
def test_any_number_of_axes(gpu, rng, s, axes, norm) -> None:
    z = noise(rng, 4, 6, 5, 2)
    data = {"fftn": z, "ifftn": z, "rfftn": z.real, "irfftn": z}
    for name, x in data.items():
        expected = getattr(scipy.fft, name)(x.astype(float if name == "rfftn" else complex), s, axes, norm)
        assert error(getattr(fft, name)(gpu, x, s, axes, norm), expected) < TOLERANCE["single"], name


@pytest.mark.cases(1)
@each(method=["auto", "local"], n=[2, 3, 6, 26, 34, 96])
def test_real_rows(gpu, rng, n, method) -> None:
    """Rows of even length are transformed as complex rows of half the length; lengths are cropped and padded."""
    z, params = noise(rng, 11, n), FftParams(method)
    for length in (None, n + 3, n + 2, max(1, n - 1), max(2, n - 4)):
        got = fft.rfft(gpu, z.real, length, params=params)
        assert error(got, scipy.fft.rfft(z.real.astype(float), length)) < TOLERANCE["single"], length
        got = fft.irfft(gpu, z, length, params=params)
        assert error(got, scipy.fft.irfft(z.astype(complex), length)) < TOLERANCE["single"], length


def test_a_spectrum_of_fewer_columns_than_wanted(gpu, rng) -> None:
    z = noise(rng, 5, 1)
    assert error(fft.irfft(gpu, z, 4), scipy.fft.irfft(z.astype(complex), 4)) < TOLERANCE["single"]


@pytest.mark.cases(1)
@some(method=METHODS, shape=[(2, 64, 48), (3, 17, 30), (1, 1, 1)])
def test_half_storage(gpu, rng, shape, method) -> None:
    """Errors of a rounding to 11 bits, where passes end; neither sums nor their inverses leave its range."""
    x, params = np.empty(shape, COMPLEX_HALF), FftParams(method)
    x["real"], x["imag"] = 60 + rng.random(shape), rng.standard_normal(shape)
    values = x["real"] + 1j * x["imag"].astype(float)
    spectra = fft.fft2(gpu, x, norm="ortho", params=params)
    assert spectra.dtype == COMPLEX_HALF
    got = spectra["real"] + 1j * spectra["imag"].astype(float)
    passes = len(next(reversed(gpu.plans.values())).passes)
    assert error(got, scipy.fft.fft2(values, norm="ortho")) < TOLERANCE["half"] * passes**0.5
    back = fft.ifft2(gpu, gpu.array(spectra), norm="ortho", params=params)
    assert isinstance(back, Image) and back.dtype == COMPLEX_HALF
    most = 5 * TOLERANCE["half, eight times"] * x["real"].max()
    assert np.abs(back.numpy()["real"].astype(float) - x["real"]).max() < most
    with pytest.raises(ParameterError):
        fft.rfft2(gpu, x)


def test_the_documents_radices() -> None:
    assert radices.largest_radices(1024, 8) == (8, 8, 8, 2)
    assert radices.largest_radices(1024, 16) == (16, 16, 4) and radices.largest_radices(2 * 211, 8) is None


def test_what_must_be_real_is_taken_as_real(gpu, rng) -> None:
    half = noise(rng, 4, 6, 9)  # both sequences of a pair have imaginary parts at frequencies 0 and n/2
    for n in (15, 16):
        expected = scipy.fft.irfft(half.astype(complex), n)
        for method in METHODS:
            assert error(fft.irfft(gpu, half, n, params=FftParams(method)), expected) < TOLERANCE["single"]


def test_double_precision_is_refused_where_there_is_none(gpu, monkeypatch) -> None:
    monkeypatch.setitem(vars(gpu), "limits", replace(gpu.limits, double=False))
    with pytest.raises(DeviceError, match="no double precision"):
        fft.fft2(gpu, np.ones((2, 2)))


def test_images_stay_on_the_device(gpu, rng) -> None:
    x = rng.random((3, 17, 30), dtype=np.float32)
    image = gpu.array(x)
    half = fft.rfft2(gpu, image, norm="ortho")
    assert isinstance(half, Image) and half.shape == (3, 17, 16) and half.dtype == np.complex64
    kept = half.numpy()
    back = fft.irfft2(gpu, half, s=(17, 30), norm="ortho")
    np.testing.assert_allclose(back.numpy(), x, rtol=0, atol=TOLERANCE["value"])
    np.testing.assert_array_equal(half.numpy(), kept)  # inputs are never overwritten
    np.testing.assert_array_equal(image.numpy(), x)


@each(method=["auto", "local"], n=[17, 31, 37, 61, 28 * 37, 67, 6 * 101, 60 * 73, 4 * 137, 199])
def test_accuracy_of_primes_is_scipys(gpu, rng, n, method) -> None:
    z = noise(rng, 100, n)
    exact = scipy.fft.fft(z.astype(complex))
    assert error(fft.fft(gpu, z, params=FftParams(method)), exact) < 1.1 * error(scipy.fft.fft(z), exact)


@pytest.mark.exhaustive
@settings(max_examples=6)
@given(
    shape=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    kilobytes=st.sampled_from([1, 4, 32]),
    method=st.sampled_from(["auto", "local"]),
)
def test_any_size(gpu, shape, kilobytes, method) -> None:
    """Any plan is right; little local memory gives small sizes the plans of much larger ones."""
    z, params = noise(np.random.default_rng(1), *shape), FftParams(method)
    exact, limits = z.astype(complex), gpu.limits
    try:
        vars(gpu)["limits"] = replace(limits, local_bytes=min(kilobytes * 1024, limits.local_bytes))
        gpu.plans.clear()
        assert error(fft.fft2(gpu, z, params=params), scipy.fft.fft2(exact)) < TOLERANCE["single"]
        half = scipy.fft.rfft2(exact.real)
        assert error(fft.rfft2(gpu, z.real, params=params), half) < TOLERANCE["single"]
        back = fft.irfft2(gpu, half.astype(np.complex64), shape, params=params)
        assert error(back, exact.real) < TOLERANCE["single"]
    finally:
        vars(gpu)["limits"] = limits
        gpu.plans.clear()


@given(st.integers(1, 100_000), st.sampled_from([2, 4, 8, 16]), st.sampled_from([13, 61, 109]))
def test_radices_multiply_to_the_length(n, most, prime) -> None:
    factors = radices.radices(n, most, prime)
    rest, p = n, 2
    while p <= prime:
        rest, p = (rest // p, p) if rest % p == 0 else (rest, p + 1)
    assert (factors is None) == (rest > 1)
    if factors is not None:
        assert math.prod(factors) == n and all(r <= most or largest_prime(r) == r <= prime for r in factors)


@given(st.integers(1, 20_000), st.integers(1, 40), st.sampled_from([1, 16, 32, 48, 1024]), st.sampled_from([32, 256]),
       st.booleans(), st.sampled_from(METHODS))  # fmt: skip
def test_plans_respect_the_limits(gpu, n, rows, kilobytes, group, cpu, method) -> None:
    limits = replace(
        gpu.limits, work_group=group, work_item_sizes=(group,) * 3, local_bytes=kilobytes * 1024, is_cpu=cpu
    )
    at = planner.Sequences((1, 1, rows), (0, 0, n, 1), (0, 0, n, 1), n, n)
    passes = planner.Planner(limits, FftParams(method)).passes(n, at, planner.PassEnds())
    assert not passes[-1].temporary and all(p.temporary for p in passes[:-1])
    for p in passes:
        s = p.schedule
        if p.kind == "local":
            assert s.places * p.lanes * (4 if s.halved else 8) <= limits.local_bytes
            assert s.group <= group and (cpu or p.lanes == 1)
        assert (method == "global") <= (p.kind == "global")


def test_spectrum_of_an_image(gpu, rng) -> None:
    x = rng.random((2, 17, 30), dtype=np.float32)
    image = gpu.array(x)
    for half, shift in product((True, False), (True, False)):
        got = spectrum.spectrum(gpu, image, SpectrumParams(half=half, shift=shift)).numpy()
        expected = (np.fft.rfft2 if half else np.fft.fft2)(x, norm="ortho")
        if shift:
            expected = np.fft.fftshift(expected, -2 if half else (-2, -1))
        assert error(got, expected) < TOLERANCE["single"]
    params = SpectrumParams(window="hann", pad="3", half=False, shift=True)
    values = spectrum.spectrum(gpu, image, params)
    w = np.multiply.outer(*(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n) for n in (17, 30)))
    expected = np.fft.fftshift(np.fft.fft2(x * w, s=(20, 33), norm="ortho"), (-2, -1))
    assert error(values.numpy(), expected) < TOLERANCE["single"]
    back = spectrum.image_of(gpu, values.numpy(), (17, 30), (20, 33), params).numpy()
    kept = w >= 0.01
    difference = (back - x)[:, kept] * w[
        kept
    ]  # the windowed image is what comes back, and is divided by the window
    assert np.abs(difference).max() < TOLERANCE["value"] and np.all(back[:, w < spectrum.LEAST_WINDOW] == 0)
    assert spectrum.lost_pixels("hann", (17, 30)) == np.count_nonzero(w < spectrum.LEAST_WINDOW)


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman"])
def test_windows_are_scipys(name) -> None:
    import scipy.signal

    for n in (1, 2, 9, 16):
        expected = scipy.signal.get_window(name, n)
        np.testing.assert_allclose(spectrum.window(name, n), expected, rtol=0, atol=DOUBLE)


@pytest.mark.cases(5)
@pytest.mark.parametrize("shape", ["gaussian", "butterworth", "ideal"])
@pytest.mark.parametrize(("kind", "cutoff"), [
    ("lowpass", "0.2"),
    ("highpass", "0.1"),
    ("bandpass", "0.1:0.3"),
    ("bandstop", "0.1:0.3"),
    ("notch", ("0.2,0.1,0.05", "-0.35,0.45,0.15", "0,-0.3")),
])  # fmt: skip
def test_filters(gpu, rng, kind, cutoff, shape) -> None:
    x = rng.random((1, 17, 30), dtype=np.float32)
    f = filter_option(kind, cutoff, shape, 3)
    h = frequency_filter(f, (17, 30))[:, :16]
    got = spectrum.spectrum(gpu, gpu.array(x), SpectrumParams(filter=f)).numpy()
    whole = np.fft.rfft2(x, norm="ortho")
    np.testing.assert_allclose(got, whole * h, rtol=0, atol=TOLERANCE["value"] * np.abs(whole).max())


@pytest.mark.cases(99)
@each(shift=[True, False], size=[(48, 31), (17, 30)], view=VIEWS)
def test_views(gpu, rng, view, size, shift) -> None:
    x = rng.random((2, *size), dtype=np.float32)
    pixels, params = gpu.array(np.moveaxis(x, 0, -1)), SpectrumParams(half=False, shift=shift)
    got = spectrum.picture_of_pixels(gpu, pixels, Decoding(), params, view).numpy()
    assert got.shape == x.shape and picture_error(got, x, view, shift) < TOLERANCE["picture"]


def test_views_of_nothing(gpu) -> None:
    for view in VIEWS:
        params = SpectrumParams(half=False, shift=True)
        shown = spectrum.picture_of_pixels(gpu, gpu.zeros((48, 31, 1)), Decoding(), params, view)
        assert np.isfinite(shown.numpy()).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_pixels_that_are_not_finite_are_an_error(gpu, value) -> None:
    x = np.zeros((2, 5, 6), np.float32)
    x[1, 3, 2] = value
    with pytest.raises(ParameterError, match="NaN or infinite"):
        spectrum.spectrum(gpu, gpu.array(x), SpectrumParams())


@pytest.mark.parametrize(("name", "x", "options", "message"), [
    ("fft2", np.zeros((0, 4)), {}, "nothing to transform"),
    ("fft2", np.zeros((4, 4), np.float32), {"norm": "unitary"}, "norm"),
    ("fft2", np.zeros((4, 4), np.float32), {"s": (4,)}, "lengths for 2 axes"),
    ("fft2", np.zeros((4, 4), np.float32), {"axes": (0, 0)}, "axes"),
    ("fftn", np.ones((2, 3, 4)), {"s": (1, 2), "axes": (0,)}, "axes|lengths"),
    ("fftn", np.ones((2, 3, 4)), {"axes": (0, 3)}, "axes"),
    ("fftn", np.ones((2, 3, 4)), {"axes": (1, -2)}, "axes"),
    ("fftn", np.ones((2, 3, 4)), {"s": (1, 2, 3, 4)}, "axes|lengths"),
    ("fftn", np.ones((2, 3, 4)), {"axes": ()}, "axes"),
    ("fft2", np.array([["a", "b"]]), {}, "numbers are needed"),
    ("rfft2", np.zeros((4, 4), complex), {}, "real array"),
])  # fmt: skip
def test_bad_input(gpu, name, x, options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        getattr(fft, name)(gpu, x, **options)


def test_bad_images(gpu) -> None:
    image = gpu.array(np.zeros((1, 4, 4), np.float32))
    with pytest.raises(ParameterError, match="last axes"):
        fft.fft2(gpu, image, axes=(0, 1))
    with pytest.raises(ParameterError, match="complex64"):
        fft.irfft2(gpu, image)
    with pytest.raises(ParameterError, match="float16"):
        fft.fft2(gpu, gpu.array(np.zeros((1, 4, 4), np.float16)))


def test_bad_parameters() -> None:
    for make in (
        lambda: FftParams(method="fast"),
        lambda: FftParams(radix="3"),
        lambda: SpectrumParams(pad="-1"),
        lambda: SpectrumParams(precision="half", norm="backward"),
        lambda: FrequencyFilter("lowpass", high=float("nan")),
        lambda: filter_option("bandpass", "0.3:0.1"),
        lambda: filter_option("bandpass", "0.3"),
        lambda: filter_option("notch", "0.7,0"),
        lambda: filter_option("notch", ["0.1,0", "0.2,nan"]),
        lambda: filter_option("notch", ["0.1,0"] * 65),
        lambda: filter_option("bandstop", ["0.1:0.2", "0.2:0.3"]),
        lambda: FrequencyFilter("notch"),
    ):
        with pytest.raises(ParameterError):
            make()
