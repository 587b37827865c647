"""clpix fft and ifft of what neither the device nor memory has room for: as the whole, and as numpy in double."""

import os
from contextlib import ExitStack
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import files
from gpuops.batch.chains import ChainRows
from gpuops.files import Picture
from gpuops.fourier import axes
from gpuops.image import Part
from gpuops.params.fft import FftParams, SpectrumParams
from gpuops.rows.spool import new_spool

from .choices import each
from .conftest import run_python
from .reference.fourier import error
from .reference.images import save as write
from .tolerance import FFT as TOLERANCE

# A device of so little memory does no picture of the size below as a whole.
LITTLE = ("--device-memory", "256K")
SIZE = 200, 300


def noise(shape: tuple[int, ...], dtype: str = "uint8") -> np.ndarray:
    rng = np.random.default_rng(11)
    if dtype.startswith("float"):
        return (rng.random(shape) * 4).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


@pytest.fixture
def by_rows(monkeypatch) -> None:
    """Every transform goes by rows, and parts are small."""
    monkeypatch.setattr("gpuops.fourier.axes.fits", lambda *_, **__: False)
    monkeypatch.setattr("gpuops.fourier.axes.ENOUGH", 1 << 13)


@pytest.mark.cases(1)
@each(
    precision=["half", "single", "double"],
    half=[True, False],
    size=[(20, 30), (1, 7), (263, 17)],
    method=["auto", "global"],
)
def test_axes_are_those_of_the_definition(planned, size, half, precision, method) -> None:
    """Rows in two parts, columns in panels of three; and back."""
    if precision == "double" and not planned.limits.double:
        pytest.skip("no double precision")
    params = SpectrumParams(half=half, precision=precision, how=FftParams(method))
    x = noise((2, *size), "float32")
    rows, columns = size
    middle = (rows + 1) // 2
    found = []
    for at in (slice(0, middle), slice(middle, rows)):
        if at.stop > at.start:
            image = planned.array(np.ascontiguousarray(x[:, at]))
            image.part = Part(at.start, rows)
            found.append(axes.of_rows(planned, image, size, params).numpy())
    values = np.concatenate(found, 1)
    for first in range(0, values.shape[2], 3):
        panel = planned.array(np.ascontiguousarray(values[..., first : first + 3]))
        values[..., first : first + 3] = axes.of_columns(planned, panel, first, size, params).numpy()
    expected = (np.fft.rfft2 if half else np.fft.fft2)(x.astype(float), norm="ortho")
    got = values["real"] + 1j * values["imag"].astype(float) if precision == "half" else values
    roundings = 4 if precision == "half" else 1  # halves are rounded after each pass
    assert error(got, expected) < TOLERANCE[precision] * roundings

    for first in range(0, values.shape[2], 3):
        panel = planned.array(np.ascontiguousarray(values[..., first : first + 3]))
        values[..., first : first + 3] = axes.columns_back(planned, panel, rows, params).numpy()
    back = axes.rows_back(planned, planned.array(values), columns, columns, params, first=0, height=rows)
    allowed = 8e-3 if precision == "half" else TOLERANCE["value"]
    np.testing.assert_allclose(back.numpy(), x, rtol=0, atol=allowed * x.max())


def test_the_least_memory_is_said(opened) -> None:
    gpu = opened(memory=1 << 18)
    with pytest.raises(Exception, match=r"of a transform of 100000×50 need [\d.]+ .B"):
        axes.parts(gpu, (100_000, 50, 3), 150, SpectrumParams())


@given(data=st.data())
@settings(max_examples=60)
def test_spools_keep_what_they_are_given(tmp_path, data) -> None:
    shape, width = tuple(data.draw(st.integers(1, n)) for n in (3, 20, 20)), data.draw(st.integers(1, 25))
    dtype = np.dtype(data.draw(st.sampled_from([np.complex64, np.complex128, np.float32])))
    array = noise(shape, "float64").astype(dtype)
    with ExitStack() as stack:
        spools = [new_spool(stack, folder, shape, dtype, width) for folder in (str(tmp_path), None)]  # type: ignore[arg-type]
        assert len(os.listdir(tmp_path)) == 1
        for spool in spools:
            for plane, first in product(range(shape[0]), range(0, shape[1], 3)):
                spool.put_rows(plane, first, array[plane, first : first + 3])
            for plane, at in product(range(shape[0]), spool.panels):
                panel = spool.panel(plane, at, shape[1])
                np.testing.assert_array_equal(panel, array[plane, :, at])
                spool.put_panel(plane, at, 2 * panel)
            for plane in range(shape[0]):
                at = slice(shape[1] // 3, shape[1])
                np.testing.assert_array_equal(spool.rows(plane, at), 2 * array[plane, at])
    assert not os.listdir(tmp_path)


@each(
    extension=["npz", "exr", "tif"],
    dtype__channels=[("uint8", 1), ("uint8", 3), ("uint8", 4), ("uint16", 2)],
    scratch=[False, True],
)
def test_every_pixel_comes_back(clpix, tmp_path, monkeypatch, dtype, channels, extension, scratch) -> None:
    """With a spool in memory and in a file; the spectrum is numpy's."""
    pixels = noise((*SIZE, channels), dtype)
    image, spectrum, back = write(tmp_path / "a.png", pixels), tmp_path / f"s.{extension}", tmp_path / "b.png"
    limits: tuple[object, ...] = LITTLE
    if scratch:
        monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
        folder = tmp_path / "scratch"
        folder.mkdir()
        limits = (*LITTLE, "--memory", "800K", "--scratch", folder)
        with pytest.MonkeyPatch.context() as patch:
            used = spied(patch)
            assert clpix("fft", image, "-o", spectrum, *limits).code == 0
            assert clpix("ifft", spectrum, "-o", back, *limits).code == 0
        assert used == [str(folder)] * 2 or channels < 3
        assert not os.listdir(folder)
    else:
        for command in (("fft", image, "-o", spectrum), ("ifft", spectrum, "-o", back)):
            run = clpix(*command, *limits)
            assert (run.code, run.err) == (0, "")
    arrays, _ = files.read_data(spectrum)
    exact = np.fft.rfft2(np.moveaxis(pixels / np.iinfo(dtype).max, -1, 0), norm="ortho")
    assert error(arrays["spectrum"], exact) < TOLERANCE["single"]
    restored = files.read(back)
    np.testing.assert_array_equal(restored.pixels, pixels)
    assert restored.alpha == (channels in (2, 4))


def spools_made(patch: pytest.MonkeyPatch) -> list[Any]:
    """The spools of chains."""
    spools: list[Any] = []
    made = ChainRows._spool

    def spool_of(*given: Any) -> Any:
        spools.append(made(*given))
        return spools[-1]

    patch.setattr(ChainRows, "_spool", spool_of)
    return spools


def spied(patch: pytest.MonkeyPatch) -> list[str]:
    """The folders that scratch files are made in."""
    from gpuops.files import drafts

    used: list[str] = []
    made = drafts.scratch_file

    def file(folder: str, nbytes: int) -> Any:
        used.append(folder)
        return made(folder, nbytes)

    patch.setattr("gpuops.files.drafts.scratch_file", file)
    return used


OPTIONS = [
    ("--full",),
    ("--full", "--shift", "--norm", "backward"),
    ("--shift", "--norm", "forward", "--pad", "fast"),
    ("--pad", "pow2", "--filter", "lowpass", "--cutoff", "0.2", "--full"),
    ("--filter", "highpass", "--cutoff", "0.1", "--filter-shape", "butterworth", "--order", "3"),
    ("--filter", "bandpass", "--cutoff", "0.1:0.3", "--shift"),
    ("--filter", "notch", "--cutoff", "0.2,-0.1,0.05", "--cutoff", "0,0.3", "--filter-shape", "gaussian"),
    ("--precision", "double", "--pad", "7"),
    ("--precision", "half", "--shift"),
    ("--method", "global", "--radix", "4", "--twiddle", "compute"),
    ("--method", "local"),
    ("--pad", "5", "--window", "hamming"),
]


@pytest.mark.cases(2)
@each(options=OPTIONS, size=[(37, 44), (41, 53), (1, 9), (9, 1)])
def test_every_option_gives_the_whole(clpix, tmp_path, options, size, request) -> None:
    """The spectrum, what the file says of it, and the picture that comes back, of odd and prime sizes."""
    image = write(tmp_path / "a.png", noise((*size, 3)))
    whole = clpix("fft", image, "-o", tmp_path / "whole.npz", *options)
    clpix("ifft", tmp_path / "whole.npz", "-o", tmp_path / "whole.png")
    request.getfixturevalue("by_rows")
    parts = clpix("fft", image, "-o", tmp_path / "parts.npz", *options)
    back = clpix("ifft", tmp_path / "parts.npz", "-o", tmp_path / "parts.png")
    assert (whole.code, parts.code, back.code) == (0, 0, 0), parts.err + back.err
    assert whole.err == parts.err
    a, about_a = files.read_data(tmp_path / "whole.npz")
    b, about_b = files.read_data(tmp_path / "parts.npz")
    assert about_a == about_b and list(a) == list(b)
    for name in a:
        tolerance = 2e-3 if "half" in options else TOLERANCE["double" if "double" in options else "single"]
        assert (b[name].shape, b[name].dtype) == (a[name].shape, a[name].dtype)
        assert error(b[name], a[name]) < 2 * tolerance
    pixels = files.read(tmp_path / "parts.png").pixels
    difference = np.abs(pixels.astype(int) - files.read(tmp_path / "whole.png").pixels)
    if "--filter" in options:  # values on the border of two levels may fall to either
        assert difference.max() <= 1 and np.count_nonzero(difference) <= 0.02 * difference.size
    else:
        assert not difference.any()
        np.testing.assert_array_equal(pixels, files.read(image).pixels)


@pytest.mark.cases(3)
@each(
    view=["log-magnitude", "magnitude", "phase", "power", "real", "imag"],
    size__shift=[((48, 31), True), ((31, 48), False), ((1, 5), True), ((2, 2), True)],
)
def test_pictures_are_those_of_the_whole(clpix, tmp_path, view, size, shift, request) -> None:
    image = write(tmp_path / "a.png", noise((*size, 4)))
    options = ("--view", view, "--shift" if shift else "--no-shift")
    assert clpix("fft", image, "-o", tmp_path / "whole.png", *options).code == 0
    request.getfixturevalue("by_rows")
    run = clpix("fft", image, "-o", tmp_path / "parts.png", *options)
    assert (run.code, run.err) == (0, "")
    a, b = files.read(tmp_path / "whole.png"), files.read(tmp_path / "parts.png")
    assert a.metadata == b.metadata and a.pixels.shape == b.pixels.shape
    difference = np.abs(a.pixels.astype(int) - b.pixels)
    if view in ("phase", "imag"):  # 0 and what rounding makes of it may have any phase
        assert np.count_nonzero(difference > 1) <= 0.02 * difference.size + 8
    else:
        assert difference.max() <= 1


def test_numbers_of_a_view_are_those_of_the_whole(clpix, tmp_path, request) -> None:
    image, options = write(tmp_path / "a.png", noise((48, 31, 4))), ("--view", "real", "--norm", "backward")
    assert clpix("fft", image, "-o", tmp_path / "whole.exr", *options).code == 0
    request.getfixturevalue("by_rows")
    assert clpix("fft", image, "-o", tmp_path / "parts.exr", *options).code == 0
    a, b = (files.read(tmp_path / f"{name}.exr").pixels for name in ("whole", "parts"))
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)


def test_a_picture_s_shades_are_chosen_by_the_same_sample(clpix, tmp_path, monkeypatch, request) -> None:
    monkeypatch.setattr("gpuops.fourier.spectrum._SAMPLE", 101)
    image = write(tmp_path / "a.png", noise((48, 31, 3)))
    assert clpix("fft", image, "-o", tmp_path / "whole.png").code == 0
    request.getfixturevalue("by_rows")
    assert clpix("fft", image, "-o", tmp_path / "parts.png").code == 0
    a, b = (files.read(tmp_path / f"{name}.png").pixels.astype(int) for name in ("whole", "parts"))
    assert np.abs(a - b).max() <= 1


@pytest.mark.exhaustive
@given(data=st.data())
@settings(max_examples=25)
def test_any_picture_under_any_limit(clpix, tmp_path, data) -> None:
    """It comes back, or a line says what would do."""
    size = data.draw(st.integers(1, 90)), data.draw(st.integers(1, 90))
    pixels = noise((*size, data.draw(st.integers(1, 4))))
    image = tmp_path / "a.png"
    files.write(image, Picture(pixels, alpha=pixels.shape[2] in (2, 4)), overwrite=True)
    limit = f"{data.draw(st.integers(20, 300))}K"
    ways = (
        "--pad",
        data.draw(st.sampled_from(["none", "fast", "3"])),
        *data.draw(st.sampled_from([(), ("--full",)])),
    )
    for command in (
        ("fft", image, "-o", tmp_path / "s.npz", *ways),
        ("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png"),
    ):
        run = clpix(*command, "--device-memory", limit, "--overwrite")
        if run.code:
            assert "raise the limit" in run.err and len(run.err.splitlines()) == 1, run.err
            return
    np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, pixels)


def test_floats_and_light(clpix, tmp_path, by_rows) -> None:
    pixels = noise((41, 53, 3), "float32")
    image = write(tmp_path / "a.exr", pixels, linear=True)
    assert clpix("fft", image, "-o", tmp_path / "s.tif").code == 0
    assert clpix("ifft", tmp_path / "s.tif", "-o", tmp_path / "b.exr").code == 0
    back = files.read(tmp_path / "b.exr")
    np.testing.assert_allclose(back.pixels, pixels, rtol=0, atol=TOLERANCE["value"] * pixels.max())
    assert back.linear and clpix("fft", image, "-o", tmp_path / "e.npz", "--space", "encoded").code == 0


@each(value=[np.nan, np.inf], precision=["single", "half"])
def test_pixels_that_are_not_finite(clpix, tmp_path, by_rows, value, precision) -> None:
    pixels = noise((9, 9, 3), "float32")
    pixels[3, 4, 1] = value
    image = write(tmp_path / "a.exr", pixels, linear=True)
    run = clpix("fft", image, "-o", tmp_path / "s.npz", "--precision", precision)
    assert run.code == 1 and "NaN or infinite" in run.err and "a.exr" in run.err
    assert os.listdir(tmp_path) == ["a.exr"]


def test_spectra_that_are_not_finite(clpix, tmp_path, by_rows) -> None:
    image = write(tmp_path / "a.png", noise((17, 31, 3)))
    clpix("fft", image, "-o", tmp_path / "s.npz")
    arrays, attributes = files.read_data(tmp_path / "s.npz")
    arrays["spectrum"][1, 3, 3] = np.nan
    files.write_data(tmp_path / "s.npz", arrays, attributes, overwrite=True)
    run = clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png")
    assert run.code == 1 and "NaN" in run.err and not (tmp_path / "b.png").exists()


def test_large_spectra_are_read_by_rows(clpix, tmp_path, monkeypatch) -> None:
    """Where memory has no room for the spectrum, the file is never read as a whole."""
    pixels = noise((*SIZE, 3))
    image = write(tmp_path / "a.png", pixels)
    for name in ("s.npz", "s.tif", "s.exr"):
        assert clpix("fft", image, "-o", tmp_path / name).code == 0
        with monkeypatch.context() as patch:
            patch.setattr("gpuops.rows.budget.of_machine", lambda: 2_700_000)
            patch.setattr("gpuops.rows.budget._CODEC", 0)
            patch.setattr("gpuops.files.read_data", None)
            assert clpix("ifft", tmp_path / name, "-o", tmp_path / "b.png", "--overwrite").code == 0
        np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, pixels)


@pytest.mark.exhaustive
def test_streams(tmp_path) -> None:
    """A spectrum through a pipe, each side with little memory on the device."""
    pixels = noise((*SIZE, 3))
    image, back = write(tmp_path / "a.png", pixels), tmp_path / "b.png"
    fft = run_python(
        "-m", "clpix", "fft", image, "-o", "-", "--format", "npz", *LITTLE, text=False, check=True
    )
    run_python("-m", "clpix", "ifft", "-", "-o", back, *LITTLE, input=fft.stdout, check=True)
    np.testing.assert_array_equal(files.read(back).pixels, pixels)


def test_what_memory_would_do(clpix, tmp_path, monkeypatch) -> None:
    """One line says it: what it says is enough, and so is a scratch folder."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    image = write(tmp_path / "a.png", noise((*SIZE, 3)))
    run = clpix("fft", image, "-o", tmp_path / "s.npz", "--memory", "700K")
    assert run.code == 1 and len(run.err.splitlines()) == 1
    assert "--scratch DIR" in run.err and os.listdir(tmp_path) == ["a.png"]
    enough = run.err.split("raise --memory to ")[1].split(",")[0]
    assert clpix("fft", image, "-o", tmp_path / "s.npz", "--memory", enough).code == 0
    few = clpix("fft", image, "-o", tmp_path / "t.npz", "--memory", "2K", "--scratch", tmp_path)
    assert few.code == 1 and "raise --memory" in few.err and len(few.err.splitlines()) == 1


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_memory_stays_within_what_was_promised(tmp_path) -> None:
    """A spectrum of 288 MB under 160 MB for the host and 40 MB for the device, which may be the host."""
    from .test_streaming import PROGRAM

    small, large, folder = tmp_path / "small.tif", tmp_path / "large.tif", tmp_path / "scratch"
    folder.mkdir()
    files.write(small, Picture(np.zeros((64, 64, 1), np.uint8)))
    pixels = noise((7200, 10_000, 1))
    files.write(large, Picture(pixels))
    limits = ("--memory", "160M", "--device-memory", "40M", "--scratch", folder)
    # The program names its outputs .tif, which hold spectra and pictures.
    for command, a, b, out in (
        ("fft", small, large, tmp_path / "s"),
        ("ifft", tmp_path / "s0.tif", tmp_path / "s1.tif", tmp_path / "b"),
    ):
        done = run_python("-c", PROGRAM, a, b, out, command, *limits)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) <= 200 << 20
    np.testing.assert_array_equal(files.read(tmp_path / "b1.tif").pixels, pixels)
