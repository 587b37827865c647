"""clpix fft and clpix ifft: every pixel comes back, and what cannot is said."""

import csv
import json

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Metadata

from .choices import each
from .reference.fourier import error
from .reference.images import save as write
from .tolerance import FFT as TOLERANCE

EXTENSIONS = ("npz", "exr", "tif")
SIZES = [(1, 1), (1, 7), (17, 31), (97, 101)]


def noise(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


@pytest.mark.cases(1)
@each(extension=EXTENSIONS, channels=[1, 2, 3, 4], dtype=["uint8", "uint16"])
def test_every_pixel_comes_back(clpix, tmp_path, rng, dtype, channels, extension) -> None:
    for index, size in enumerate(SIZES):
        pixels = noise(rng, (*size, channels), dtype)
        image = write(tmp_path / f"{index}.png", pixels)
        spectrum, back = tmp_path / f"{index}.{extension}", tmp_path / f"{index}-back.png"
        assert clpix("fft", image, "-o", spectrum).code == 0
        result = clpix("ifft", spectrum, "-o", back)
        assert (result.code, result.err) == (0, "")
        restored = files.read(back)
        np.testing.assert_array_equal(restored.pixels, pixels)
        assert restored.pixels.dtype == pixels.dtype and restored.alpha == (channels in (2, 4))


def test_alpha_is_left_out(clpix, tmp_path, rng) -> None:
    pixels = noise(rng, (12, 20, 4), "uint8")
    image = write(tmp_path / "a.png", pixels)
    assert clpix("fft", image, "-o", tmp_path / "s.npz").code == 0
    assert clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png", "--alpha", "drop").code == 0
    np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, pixels[..., :3])
    assert clpix("fft", image, "-o", tmp_path / "t.npz", "--alpha", "drop").code == 0
    assert files.read_data(tmp_path / "t.npz")[0]["spectrum"].shape[0] == 3
    assert clpix("ifft", tmp_path / "t.npz", "-o", tmp_path / "c.png").code == 0
    np.testing.assert_array_equal(files.read(tmp_path / "c.png").pixels, pixels[..., :3])


def test_half_precision_is_stored_in_halves_throughout(clpix, tmp_path, rng) -> None:
    """Planes of RGB of 32 × 20: 12 bytes a pixel are read, 6 written and read between the axes, 6 · 17/16 written."""
    image = write(tmp_path / "a.png", noise(rng, (20, 32, 3), "uint8"))
    moved = {}
    for precision in ("single", "half"):
        timing = tmp_path / f"{precision}.json"
        command = ("fft", image, "-o", tmp_path / f"{precision}.npz", "--timing-file", timing)
        assert clpix(*command, "--precision", precision).code == 0
        launches = json.loads(timing.read_text())["kernels"]
        transforms = [kernel for kernel in launches if kernel["name"] != "unpack uint8"]
        moved[precision] = sum(kernel["bytes"] * kernel["count"] for kernel in transforms)
    planes, between, spectrum = 20 * 32 * 3 * 4, 20 * 16 * 3 * 4, 20 * 17 * 3 * 4
    assert moved == {"half": planes + 2 * between + spectrum, "single": planes + 4 * between + 2 * spectrum}


def test_double_precision(clpix, gpu, tmp_path, rng) -> None:
    pixels = noise(rng, (17, 31, 3), "uint16")
    result = clpix(
        "fft", write(tmp_path / "a.png", pixels), "-o", tmp_path / "s.npz", "--precision", "double"
    )
    if not gpu.limits.double:
        assert result.code == 1 and "double precision" in result.err
        return
    assert files.read_data(tmp_path / "s.npz")[0]["spectrum"].dtype == np.complex128
    assert clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png").code == 0
    np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, pixels)


def test_float_images_come_back_as_they_are(clpix, tmp_path, rng) -> None:
    pixels = (rng.random((17, 31, 3)) * 40 - 1).astype(np.float32)
    image = write(tmp_path / "a.exr", pixels, linear=True)
    assert clpix("fft", image, "-o", tmp_path / "s.tif").code == 0
    assert clpix("ifft", tmp_path / "s.tif", "-o", tmp_path / "b.exr").code == 0
    back = files.read(tmp_path / "b.exr")
    np.testing.assert_allclose(back.pixels, pixels, rtol=0, atol=TOLERANCE["value"] * pixels.max())
    assert back.pixels.dtype == np.float32 and back.linear


def test_what_a_spectrum_file_holds(clpix, tmp_path, rng) -> None:
    pixels = noise(rng, (17, 30, 3), "uint8")
    clpix("fft", write(tmp_path / "a.png", pixels), "-o", tmp_path / "s.npz")
    arrays, attributes = files.read_data(tmp_path / "s.npz")
    expected = np.fft.rfft2(np.moveaxis(pixels / 255, -1, 0), norm="ortho")
    assert error(arrays["spectrum"], expected) < TOLERANCE["single"]
    assert attributes["size"] == attributes["transform"] == [17, 30]
    assert (attributes["kind"], attributes["dtype"], attributes["planes"]) == ("spectrum", "uint8", 3)
    assert (attributes["norm"], attributes["half"], attributes["shift"]) == ("ortho", True, False)


def test_metadata_survives(clpix, tmp_path, rng) -> None:
    metadata = Metadata(xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", resolution=(300.0, 300.0, "in"))
    image = write(tmp_path / "a.tif", noise(rng, (17, 31, 3), "uint8"), metadata=metadata)
    kept = files.read(image).metadata
    clpix("fft", image, "-o", tmp_path / "s.exr")
    clpix("ifft", tmp_path / "s.exr", "-o", tmp_path / "b.tif")
    assert files.read(tmp_path / "b.tif").metadata == kept


def test_a_view_of_floats_is_numbers(clpix, tmp_path, rng) -> None:
    """ln |F|, |F|, the angle, |F|², both parts: of scipy's definition in double precision, unscaled and unclipped."""
    pixels = noise(rng, (33, 20, 4), "uint8")
    image = write(tmp_path / "a.png", pixels)
    exact = np.fft.fftshift(np.fft.fft2(pixels[..., :3] / 255.0, axes=(0, 1)), axes=(0, 1))
    numbers = {
        "log-magnitude": np.log(np.abs(exact)), "magnitude": np.abs(exact), "power": np.abs(exact) ** 2,
        "real": exact.real, "imag": exact.imag,
    }  # fmt: skip
    for view, expected in numbers.items():
        out = tmp_path / f"{view}.exr"
        run = clpix("fft", image, "-o", out, "--view", view, "--norm", "backward")
        got = files.read(out).pixels
        assert (run.code, run.err, got.dtype) == (0, "", np.float32)
        assert np.abs(got - expected).max() < 2e-5 * np.abs(expected).max()
    half = tmp_path / "half.tif"
    assert clpix("fft", image, "-o", half, "--view", "magnitude", "--dtype", "float", "--no-shift").code == 0
    wanted = np.fft.ifftshift(np.abs(exact), axes=(0, 1)) / np.sqrt(33 * 20)
    np.testing.assert_allclose(files.read(half).pixels, wanted, rtol=1e-4)
    assert clpix("fft", image, "-o", tmp_path / "a.tif", "--view", "power").code == 0
    assert files.read(tmp_path / "a.tif").pixels.dtype == np.uint8  # a picture, as before
    run = clpix("fft", image, "-o", tmp_path / "b.exr", "--view", "power", "--axes")
    assert run.code == 2 and "--axes" in run.err and not (tmp_path / "b.exr").exists()


@pytest.mark.cases(1)
@each(size__view__pad=[((32, 32), None, 0), ((17, 40), "imag", 3), ((1, 5), "real", 0)])
def test_a_radial_profile(clpix, tmp_path, rng, size, view, pad) -> None:
    pixels = noise(rng, (*size, 3), "uint16")
    images = [
        write(tmp_path / name, channels) for name, channels in (("a.png", pixels), ("b.png", pixels[..., :1]))
    ]
    options = (*(("--view", view) if view else ()), "--norm", "backward", "--pad", pad)
    out = tmp_path / "profile.csv"
    run = clpix("fft", *images, "-o", tmp_path / "{stem}.npz", "--profile", out, *options)
    assert (run.code, run.err) == (0, "")
    n = [length + pad for length in size]
    f = np.fft.fft2(pixels / 65535.0, n, axes=(0, 1))
    values = np.abs(f) ** 2 if view is None else getattr(f, view)
    radius = np.rint(np.hypot(np.fft.fftfreq(n[0])[:, None], np.fft.fftfreq(n[1])) * max(n))
    expected = [
        (str(image), colour, r, r / max(n), (radius == r).sum(), values[radius == r, c].mean())
        for image, colours in zip(images, (("red", "green", "blue"), ("gray",)), strict=True)
        for c, colour in enumerate(colours)
        for r in np.unique(radius)
    ]
    header, *rows = list(csv.reader(out.open()))
    assert header == ["input", "colour", "radius", "frequency", "samples", "mean"]
    assert [row[:2] for row in rows] == [list(row[:2]) for row in expected]
    got = np.array([row[2:] for row in rows], float)
    np.testing.assert_allclose(got, [row[2:] for row in expected], rtol=1e-5, atol=1e-4)
    again = clpix("fft", images[0], "-o", tmp_path / "c.npz", "--profile", out)
    assert again.code == 1 and "--overwrite" in again.err and not (tmp_path / "c.npz").exists()
    part = clpix(
        "fft", *images, "-o", tmp_path / "{stem}.npz", "--profile", tmp_path / "d.csv", "--skip-existing"
    )
    assert part.code == 2 and "all inputs" in part.err
    named = clpix("fft", images[0], "-o", tmp_path / "c.npz", "--profile", tmp_path / "{stem}.csv")
    assert named.code == 2 and "{stem}.csv is one file for all inputs: leave out {stem}" in named.err


def test_a_window_that_loses_pixels_is_named(clpix, tmp_path, rng) -> None:
    pixels = noise(rng, (17, 31, 1), "uint8")
    result = clpix("fft", write(tmp_path / "a.png", pixels), "-o", tmp_path / "s.npz", "--window", "hann")
    assert result.code == 0 and "warning" in result.err and "47 of 527 pixels" in result.err
    clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png")
    restored = files.read(tmp_path / "b.png").pixels
    np.testing.assert_array_equal(restored[1:, 1:], pixels[1:, 1:])
    assert not restored[0].any() and not restored[:, 0].any()


@pytest.mark.parametrize(("options", "message"), [
    (("--filter", "lowpass"), "--cutoff"),
    (("--filter", "notch", "--cutoff", "0.1,0.1,0.1,0.1"), "FX,FY,RADIUS"),
    (("--pad", "9999999999999"), "--pad"),
    (("--filter", "lowpass", "--cutoff", "0.2", "--cutoff", "0.1"), "has one --cutoff, not 2"),
    (("--precision", "half", "--norm", "backward"), "ortho"),
])  # fmt: skip
def test_bad_options(clpix, tmp_path, rng, options, message) -> None:
    image = write(tmp_path / "a.png", noise(rng, (4, 4, 1), "uint8"))
    result = clpix("fft", image, "-o", tmp_path / "s.npz", *options)
    assert result.code == 2 and message in result.err and not (tmp_path / "s.npz").exists()


def test_half_precision_that_overflows(clpix, tmp_path) -> None:
    image = write(tmp_path / "a.exr", np.full((64, 64, 1), 2000, np.float32), linear=True)
    result = clpix("fft", image, "-o", tmp_path / "s.npz", "--precision", "half")
    assert (
        result.code == 1
        and "a.exr" in result.err
        and "65504" in result.err
        and not (tmp_path / "s.npz").exists()
    )


def test_a_notch_of_an_older_file(clpix, tmp_path, rng) -> None:
    pixels = noise(rng, (17, 31, 1), "uint8")
    image = write(tmp_path / "a.png", pixels)
    assert clpix("fft", image, "-o", tmp_path / "s.npz").code == 0
    arrays, attributes = files.read_data(tmp_path / "s.npz")
    attributes["filter"] = {
        "kind": "notch", "low": 0.0, "high": 0.02, "centre": [0.2, 0.1], "shape": "ideal", "order": 2,
    }  # fmt: skip
    files.write_data(tmp_path / "s.npz", arrays, attributes, overwrite=True)
    assert clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png").code == 0
    np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, pixels)


def spoil(change: str, arrays: dict, attributes: dict) -> None:
    if change == "missing":
        del attributes["norm"]
    elif change == "nonsense":
        attributes["half"] = "perhaps"
    elif change == "contradiction":
        attributes["transform"] = [40, 40]
    elif change == "size":
        attributes["size"] = attributes["transform"] = [16, 31]
    elif change == "alpha":
        attributes["alpha"] = True
    elif change == "nan":
        arrays["spectrum"][0, 3, 3] = np.nan
    elif change == "array":
        arrays["other"] = arrays.pop("spectrum")
    elif change == "digits":
        attributes["pad"] = "9" * 5000
    elif change == "filter":
        attributes["filter"] = {"kind": ["lowpass"], "centre": [0, 0]}
    elif change == "kind":
        attributes["kind"] = "wavelet"


@pytest.mark.parametrize(("change", "message"), [
    ("missing", "'norm' is missing"), ("nonsense", "make no sense"), ("contradiction", "padded"),
    ("size", "of shape"), ("alpha", "alpha"), ("nan", "NaN"), ("array", "'spectrum' is missing"),
    ("kind", "not the spectrum"), ("digits", "make no sense"), ("filter", "make no sense"),
])  # fmt: skip
def test_damaged_spectra(clpix, tmp_path, rng, change, message) -> None:
    image = write(tmp_path / "a.png", noise(rng, (17, 31, 3), "uint8"))
    clpix("fft", image, "-o", tmp_path / "s.npz")
    arrays, attributes = files.read_data(tmp_path / "s.npz")
    spoil(change, arrays, attributes)
    files.write_data(tmp_path / "s.npz", arrays, json.loads(json.dumps(attributes)), overwrite=True)
    result = clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.png")
    assert result.code == 1 and message in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "b.png").exists()


@pytest.mark.cases(2)
@each(extension=EXTENSIONS, resolution=["1e308", "Infinity", "NaN", "-5", "0"])
def test_a_resolution_that_is_none_is_left_out(clpix, tmp_path, rng, extension, resolution) -> None:
    image = write(tmp_path / "a.png", noise(rng, (4, 4, 1), "uint8"))
    spectrum = tmp_path / f"s.{extension}"
    clpix("fft", image, "-o", spectrum)
    arrays, attributes = files.read_data(spectrum)
    attributes["metadata"] = {"resolution": [float(resolution), 300.0, "in"]}
    files.write_data(spectrum, arrays, attributes, overwrite=True)
    result = clpix("ifft", spectrum, "-o", tmp_path / "b.png")
    assert result.code == 0 and "the resolution" in result.err and result.err.count("\n") == 1
    assert files.read(tmp_path / "b.png").metadata == Metadata()


@each(
    extension=EXTENSIONS,
    entry=[
        '{"shape": [1e999, 4, 3], "dtype": "complex64"}',
        '{"shape": [1, 4, 3], "dtype": "' + "9" * 5000 + '"}',
        '{"shape": [1, 4, 3], "dtype": ["O"]}',
        '{"shape": [1, 4000000000, 4000000000], "dtype": "complex64"}',
        '{"shape": [[1], 4, 3], "dtype": null}',
    ],
)
def test_descriptions_that_make_no_sense(clpix, tmp_path, rng, monkeypatch, extension, entry) -> None:
    arrays = {"spectrum": np.ones((1, 4, 3), np.complex64)}
    text = '{"format": 1, "arrays": {"spectrum": ' + entry + '}, "attributes": {}}'
    with monkeypatch.context() as patched:
        patched.setattr("gpuops.files.data.json.dumps", lambda _: text)
        files.write_data(tmp_path / f"s.{extension}", arrays, {})
    result = clpix("ifft", tmp_path / f"s.{extension}", "-o", tmp_path / "b.png")
    assert result.code == 1 and "damaged" in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "b.png").exists()


def test_what_is_no_spectrum(clpix, tmp_path, rng) -> None:
    image = write(tmp_path / "a.tif", noise(rng, (4, 4, 1), "uint8"))
    result = clpix("ifft", image, "-o", tmp_path / "b.png")
    assert result.code == 1 and "clpix" in result.err
    picture = write(tmp_path / "a.png", noise(rng, (4, 4, 1), "uint8"))
    result = clpix("ifft", picture, "-o", tmp_path / "b.png")
    assert result.code == 1 and ".npz" in result.err and not (tmp_path / "b.png").exists()


@pytest.mark.cases(1)
@pytest.mark.parametrize(("dtype", "options", "lines"), [
    ("uint8", (), 0),
    ("uint16", (), 1),
    ("uint8", ("--window", "hamming"), 1),
    ("uint8", ("--method", "global"), 1),
])  # fmt: skip
def test_a_loss_by_half_precision_is_said(clpix, tmp_path, rng, dtype, options, lines) -> None:
    image = write(tmp_path / "a.png", noise(rng, (40, 50, 4), dtype))
    result = clpix("fft", image, "-o", tmp_path / "a.npz", "--precision", "half", *options)
    assert result.code == 0 and result.err.count("half precision") == result.err.count("\n") == lines
    assert clpix("ifft", tmp_path / "a.npz", "-o", tmp_path / "b.png").code == 0
    if not lines:
        np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, files.read(image).pixels)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("precision", "method", "lines"),
    [("half", "global", 1), ("half", "local", 0), ("half", "auto", 0), ("single", "global", 0)],
)
def test_a_loss_by_half_precision_is_said_on_the_way_back(
    clpix, tmp_path, rng, precision, method, lines
) -> None:
    image = write(tmp_path / "a.png", noise(rng, (40, 50, 3), "uint8"))
    result = clpix("fft", image, "-o", tmp_path / "a.npz", "--precision", precision)
    assert (result.code, result.err) == (0, "")
    result = clpix("ifft", tmp_path / "a.npz", "-o", tmp_path / "b.png", "--method", method)
    assert result.code == 0 and result.err.count("half precision") == result.err.count("\n") == lines


def test_rounding_is_no_loss(clpix, tmp_path, rng) -> None:
    image = write(tmp_path / "a.png", noise(rng, (9, 11, 3), "uint8") // 255)
    assert clpix("fft", image, "-o", tmp_path / "s.npz").code == 0
    result = clpix("ifft", tmp_path / "s.npz", "-o", tmp_path / "b.hdr", "--dtype", "float")
    assert result.code == 0 and result.err == ""
