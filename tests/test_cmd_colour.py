"""Colour spaces through the commands: what is written and how it is labelled, what is read, what is compared."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PIL
from PIL import ImageCms

from gpuops import files
from gpuops.files import Metadata, Picture

from .choices import each
from .conftest import Run
from .reference import colour as reference
from .tolerance import COLOUR as TOLERANCE
from .tolerance import DWT, HALF, ROUNDINGS

Clpix = Callable[..., Run]

SRGB_CURVE = reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
P3 = reference.rgb_profile("Display P3", SRGB_CURVE)
LUT = reference.profile({"desc": reference.named("Inkjet"), "A2B0": b"mft2".ljust(64, b"\0")})
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
TO_709 = reference.matrix("Display P3").T


@pytest.fixture
def p3(tmp_path, rng) -> Path:
    PIL.fromarray(rng.integers(0, 256, (37, 45, 3)).astype(np.uint8)).save(
        tmp_path / "p3.png", icc_profile=P3
    )
    return tmp_path / "p3.png"


@pytest.fixture
def ap1(tmp_path, rng) -> Path:
    pixels = rng.uniform(0, 9, (37, 45, 3)).astype(np.float32)
    attributes = {
        "chromaticities": ("float[8]", reference.CHROMATICITIES["ACES AP1"]),
        "owner": ("string", "me"),
    }
    files.write(tmp_path / "ap1.exr", Picture(pixels, linear=True, metadata=Metadata(attributes=attributes)))
    return tmp_path / "ap1.exr"


def light_of(clpix: Clpix, path: Path, *options: object) -> np.ndarray:
    """The light that commands take a file for: float EXR of the picture, blurred by nothing."""
    out = path.parent / "light.exr"
    how = ("--dtype", "float", "--colour", "linear", "--overwrite")
    run = clpix("blur", path, "--sigma", 0, "-o", out, *how, *options)
    assert run.code == 0
    return files.read(out).pixels


def info(clpix: Clpix, path: Path) -> dict[str, Any]:
    (found,) = json.loads(clpix("info", path, "--json").out)
    return dict(found)


def test_an_inputs_srgb_profile_labels_no_other_signal(clpix, tmp_path) -> None:
    pixels = np.full((8, 9, 3), 120, np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "in.png", icc_profile=SRGB)
    for transfer, kept in (("srgb", SRGB), ("pq", None), ("linear", None)):
        run = clpix(
            "tonemap", tmp_path / "in.png", "-o", tmp_path / "out.png", "--transfer", transfer, "--overwrite"
        )
        assert (run.code, run.err) == (0, "")
        with PIL.open(tmp_path / "out.png") as image:
            assert image.info.get("icc_profile") == kept and ("srgb" in image.info) is False
    data = (tmp_path / "out.png").read_bytes()
    assert b"gAMA" + struct.pack(">I", 100000) in data
    run = clpix("blur", "--sigma", 1, tmp_path / "in.png", "-o", tmp_path / "out.tif", "--dtype", "float")
    assert files.read(tmp_path / "out.tif").metadata.icc is None  # the values are light


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_a_wide_profile_is_converted(clpix, suffix, tmp_path, rng) -> None:
    path = tmp_path / f"in.{suffix}"
    quality = {"quality": 100, "subsampling": 0} if suffix == "jpg" else {}
    PIL.fromarray(rng.integers(0, 256, (37, 45, 3)).astype(np.uint8)).save(path, icc_profile=P3, **quality)
    with PIL.open(path) as image:
        values = np.asarray(image) / 255
    expected = reference.srgb_light(values) @ TO_709
    assert np.abs(light_of(clpix, path) - expected).max() < TOLERANCE["profile"]
    run = clpix("blur", path, "--sigma", 0, "--colour", "srgb", "-o", tmp_path / "out.png")
    outside = np.count_nonzero((expected < 0) | (expected > 1.001))
    assert f"{tmp_path / 'out.png'}: " in run.err
    assert "values were outside the range of 8-bit integers and clipped" in run.err
    assert abs(int(run.err.split("out.png: ")[1].split()[0]) - outside) < 40
    result = files.read(tmp_path / "out.png")
    assert result.metadata.icc is None
    levels = np.rint(255 * np.clip(reference.srgb_signal(expected), 0, 1))
    assert np.abs(result.pixels - levels).max() <= 1


def test_space_still_means_what_it_did(clpix, p3, tmp_path) -> None:
    """Stored values stay in the input's space, with its profile."""
    run = clpix("blur", p3, "--sigma", 0, "--space", "encoded", "-o", tmp_path / "a.png")
    assert (run.code, run.err) == (0, "")
    result, before = files.read(tmp_path / "a.png"), files.read(p3)
    assert np.array_equal(result.pixels, before.pixels) and result.metadata.icc == P3
    # Floats are converted to light.
    expected = reference.srgb_light(before.pixels / 255) @ TO_709
    assert np.abs(light_of(clpix, p3, "--space", "encoded") - expected).max() < TOLERANCE["profile"]
    # A format without profiles gets light as well.
    assert clpix("blur", p3, "--sigma", 0, "--space", "encoded", "-o", tmp_path / "a.dpx").code == 0
    levels = np.rint(255 * np.clip(reference.srgb_signal(expected), 0, 1))
    assert np.abs(files.read(tmp_path / "a.dpx").pixels - levels).max() <= 1


def test_stored_values_with_alpha_become_light(clpix, tmp_path, rng) -> None:
    """Colours are divided by alpha before they go through a curve."""
    pixels = rng.integers(1, 256, (12, 13, 4)).astype(np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "in.png", icc_profile=P3)
    files.write(tmp_path / "k.pfm", Picture(np.ones((1, 1, 1), np.float32), linear=True))
    expected = reference.srgb_light(pixels[..., :3] / 255) @ TO_709
    for command in (("convolve", "--kernel", tmp_path / "k.pfm"), ("blur", "--sigma", "1e-3")):
        out = tmp_path / "out.tif"
        options = ("--space", "encoded", "--dtype", "float", "--colour", "linear", "--overwrite")
        assert clpix(*command, tmp_path / "in.png", "-o", out, *options).code == 0
        result = files.read(out).pixels
        assert np.abs(result[..., :3] - expected).max() < TOLERANCE["profile"]
        assert np.abs(result[..., 3] - pixels[..., 3] / 255).max() < TOLERANCE["alpha"]


def test_chromaticities_are_converted(clpix, ap1, tmp_path) -> None:
    before = files.read(ap1)
    expected = before.pixels @ reference.matrix("ACES AP1").T
    most = TOLERANCE["five digits"] * np.abs(before.pixels).max()
    assert np.abs(light_of(clpix, ap1) - expected).max() < most
    result = files.read(tmp_path / "light.exr")
    assert "chromaticities" not in result.metadata.attributes
    assert "me" in {value for _, value in result.metadata.attributes.values()}
    assert result.pixels.min() < 0  # colours outside Rec. 709


@pytest.mark.cases(2)
@pytest.mark.parametrize("command", [
    ("blur", "--sigma", "1.5"),
    ("bloom",),
    ("bloom", "--tonemap", "agx"),
    ("tonemap",),
    ("tonemap", "--preset", "d3d11"),
    ("tonemap", "--transfer", "pq"),
    ("tonemap", "--contact-sheet", "--operators", "agx"),
    ("dwt", "--space", "linear", "--shrink", "soft", "--threshold", "0.01", "--reconstruct"),
    ("fft", "--space", "linear", "--view", "magnitude"),
], ids=" ".join)  # fmt: skip
def test_every_command_works_on_the_same_light(clpix, command, p3, tmp_path) -> None:
    """A file's as that of an EXR of its Rec. 709 light."""
    light = tmp_path / "light.exr"
    light_of(clpix, p3)
    results = []
    of_light = command[0] == "blur" or command == ("bloom",)
    srgb = ("--colour", "srgb") if of_light or "--reconstruct" in command else ()
    for source in (p3, light):
        out = tmp_path / f"{source.stem}-out.png"
        run = clpix(command[0], source, "-o", out, "--dtype", "uint8", *command[1:], *srgb)
        assert run.code == 0
        results.append(files.read(out))
    first, second = (np.asarray(result.pixels, np.int16) for result in results)
    assert np.abs(first - second).max() <= 1 and results[0].colour == results[1].colour
    assert results[0].metadata.icc is None


def test_a_kernel_image_has_colours_too(clpix, p3, tmp_path, rng) -> None:
    gray = reference.gray_profile(reference.parametric(0, 3.0))
    values = rng.integers(40, 256, (5, 5)).astype(np.uint8)
    PIL.fromarray(values).save(tmp_path / "k.png", icc_profile=gray)
    files.write(tmp_path / "k.exr", Picture(((values / 255) ** 3).astype(np.float32)[..., None], linear=True))
    for name in ("png", "exr"):
        out = tmp_path / f"{name}.exr"
        assert (
            clpix("convolve", p3, "-o", out, "--kernel", tmp_path / f"k.{name}", "--dtype", "float").code == 0
        )
    first, second = (files.read(tmp_path / f"{name}.exr").pixels for name in ("png", "exr"))
    assert np.abs(first - second).max() < TOLERANCE["curve"]


GAMMA = 55556
OVERRULED = {
    "cICP sRGB": ((1, 13, 0, 1), reference.srgb_light, "Rec. 709"),
    "cICP P3": ((12, 13, 0, 1), reference.srgb_light, "Display P3"),
    "cICP linear": ((1, 8, 0, 1), lambda v: v, "Rec. 709"),
    "gamma": (None, lambda v: v ** (100000 / GAMMA), "Rec. 2020"),
}


@each(said=OVERRULED, suffix=["png", "tif", "npz", "jp2", "exr"])
def test_a_profile_that_does_not_count_labels_nothing(clpix, said, suffix, tmp_path, rng) -> None:
    """A profile beside cICP labels nothing, nor does one that is not understood if a gamma says what values are."""
    codes, curve, space = OVERRULED[said]
    block = LUT if codes is None else reference.rgb_profile("ACES AP1", reference.parametric(0, 2.2))
    chunks = [reference.png_chunk(b"iCCP", b"p\0\0" + zlib.compress(block))]
    if codes is None:
        places = reference.CHROMATICITIES["Rec. 2020"]
        white_first = [round(100000 * place) for place in (*places[6:], *places[:6])]
        chunks.append(reference.png_chunk(b"cHRM", struct.pack(">8I", *white_first)))
        chunks.append(reference.png_chunk(b"gAMA", struct.pack(">I", GAMMA)))
    else:
        chunks.append(reference.png_chunk(b"cICP", bytes(codes)))
    pixels = rng.integers(0, 65536, (33, 34, 3)).astype(np.uint16)
    source, out = tmp_path / "in.png", tmp_path / f"out.{suffix}"
    source.write_bytes(reference.png(pixels, *chunks))
    told = f"clpix: warning: {source}: its ICC profile has damaged tables; it is left out\n" * (codes is None)
    light = curve(pixels / 65535) @ reference.matrix(space).T
    numbers = tmp_path / "numbers.npz"
    run = clpix("dwt", source, "-o", numbers)
    assert (run.code, run.err) == (0, told)
    for command in (("blur", source), ("blur", source, "--space", "encoded"), ("idwt", numbers)):
        options = ("--sigma", 0) if command[0] == "blur" else ()
        depth = "float" if suffix == "exr" else "uint16"
        assert clpix(*command, *options, "-o", out, "--dtype", depth, "--overwrite").code == 0
        result = files.read(out)
        assert result.metadata.icc != block
        expected = light if result.colour.primaries == space else np.clip(light, 0, 1)
        expected = light if suffix == "exr" else expected
        assert np.abs(light_of(clpix, out) - expected).max() < TOLERANCE["stored"]


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "through", [("fft", "ifft", "npz"), ("fft", "ifft", "tif"), ("dwt", "idwt", "exr")], ids=" ".join
)
def test_what_comes_back_as_it_was_keeps_its_colours(clpix, through, p3, ap1, tmp_path) -> None:
    there, back, suffix = through
    pq = tmp_path / "pq.png"
    pixels = np.random.default_rng(2).integers(0, 65536, (37, 45, 3)).astype(np.uint16)
    pq.write_bytes(reference.png(pixels, reference.png_chunk(b"cICP", bytes((9, 16, 0, 1)))))
    linear = tmp_path / "linear.png"
    linear.write_bytes(reference.png(pixels, reference.png_chunk(b"gAMA", struct.pack(">I", 100000))))
    for source in (p3, pq, linear, ap1):
        numbers, out = tmp_path / f"numbers.{suffix}", tmp_path / f"out{source.suffix}"
        run = clpix(there, source, "-o", numbers, "--overwrite")
        assert run.code == 0
        # The attribute that is lost is the owner.
        assert ("EXR header attributes" in run.err) == (source == ap1)
        run = clpix(back, numbers, "-o", out, "--overwrite", "--dtype", "float" if source == ap1 else "auto")
        assert (run.code, run.err) == (0, "")
        before, after = files.read(source), files.read(out)
        most = DWT["round trip"] * np.abs(before.pixels).max() if source == ap1 else 0
        assert np.abs(after.pixels.astype(np.float64) - before.pixels).max() <= most
        assert after.colour == before.colour and after.metadata.icc == before.metadata.icc
        # In another kind of file values are converted to light.
        if source == p3:
            assert (
                clpix(back, numbers, "-o", tmp_path / "out.exr", "--overwrite", "--dtype", "float").code == 0
            )
            expected = reference.srgb_light(before.pixels / 255)  # of the same primaries
            assert np.abs(files.read(tmp_path / "out.exr").pixels - expected).max() < TOLERANCE["profile"]
            assert files.read(tmp_path / "out.exr").colour.primaries == "Display P3"
        if source == ap1:
            assert (
                clpix(back, numbers, "-o", tmp_path / "out.png", "--overwrite", "--dtype", "uint16").code == 0
            )
            signal = reference.srgb_signal(before.pixels @ reference.matrix("ACES AP1").T)
            got = files.read(tmp_path / "out.png").pixels / 65535
            assert np.abs(got - np.clip(signal, 0, 1)).max() < 13 * TOLERANCE["profile"]


@pytest.mark.cases(1)
@each(dtype__channels=[("uint8", 3), ("uint16", 4), ("uint8", 2), ("uint16", 1)])
def test_stored_values_of_a_narrow_range(clpix, dtype, channels, tmp_path, rng) -> None:
    """They have black at 16 and white at 235, times 256 of 16 bits, also where they were floats meanwhile."""
    most, unit = (255, 1) if dtype == "uint8" else (65535, 256)
    pixels = rng.integers(0, most + 1, (33, 34, channels)).astype(dtype)
    pixels[0, :4] = np.reshape([16, 235, 0, 255], (4, 1)) * unit
    alpha = channels in (2, 4)
    if alpha:
        pixels[..., -1] = most
    chunk = reference.png_chunk(b"cICP", bytes((12, 13, 0, 0)))
    (tmp_path / "in.png").write_bytes(reference.png(pixels, chunk))
    visible = pixels[..., : channels - alpha].astype(np.float64)
    light = reference.srgb_light(np.clip((visible - 16 * unit) / (219 * unit), 0, 1))
    if channels >= 3:
        light = light @ TO_709
    levels = 65535 * np.clip(reference.srgb_signal(light), 0, 1)
    ways = [("blur", tmp_path / "in.png", "--sigma", 0, "--space", "encoded")]
    for there in ("dwt", "fft"):
        assert clpix(there, tmp_path / "in.png", "-o", tmp_path / f"{there}.npz").code == 0
        ways.append((f"i{there}", tmp_path / f"{there}.npz"))
    other = "uint16" if dtype == "uint8" else "uint8"
    for command in ways:
        for name, depth in (("a.exr", "float"), ("a.png", "auto"), ("a.png", other), ("a.tif", "uint16")):
            run = clpix(*command, "-o", tmp_path / name, "--dtype", depth, "--overwrite")
            assert run.code == 0
            result = files.read(tmp_path / name)
            colours = result.pixels[..., : channels - alpha]
            if depth == "float":
                shown = light_of(clpix, tmp_path / name)[..., : channels - alpha]
                assert np.abs(shown - light).max() < TOLERANCE["profile"]
            elif depth == "auto":  # the depth stays
                assert (run.err, result.colour.narrow) == ("", True) and np.array_equal(result.pixels, pixels)
            else:  # a narrow range only stays in its own depth and format; else values become sRGB
                assert result.colour.transfer == "sRGB" and not result.colour.narrow
                step = 1 if result.pixels.dtype == np.uint16 else 257
                assert np.abs(colours.astype(np.float64) * step - levels).max() < (8 if step == 1 else 260)


@pytest.mark.cases(1)
@each(kind=["linear integers", "sRGB floats", "sRGB integers"], there=["dwt", "fft"], gray=[False, True])
def test_light_that_comes_back_has_no_profile_of_its_file(clpix, kind, there, gray, tmp_path, rng) -> None:
    """Its profile is that of the values written: sRGB in integers, light in floats."""
    curve = reference.curve() if kind.startswith("linear") else SRGB_CURVE
    block = reference.gray_profile(curve) if gray else reference.rgb_profile("Rec. 709", curve)
    values = rng.random((33, 34, 1 if gray else 3))
    pixels = values.astype(np.float32) if kind.endswith("floats") else (65535 * values).astype(np.uint16)
    picture = Picture(pixels, linear=kind.startswith("linear"), metadata=Metadata(icc=block))
    files.write(tmp_path / "in.tif", picture)
    light = values if kind.startswith("linear") else reference.srgb_light(values)
    assert clpix(there, tmp_path / "in.tif", "-o", tmp_path / "n.npz", "--space", "linear").code == 0
    for name, depth in (("a.png", "uint16"), ("a.tif", "uint16"), ("a.tif", "float"), ("a.npz", "auto")):
        run = clpix(f"i{there}", tmp_path / "n.npz", "-o", tmp_path / name, "--dtype", depth, "--overwrite")
        assert (run.code, [line for line in run.err.splitlines() if "clipped" not in line]) == (0, [])
        assert np.abs(light_of(clpix, tmp_path / name) - light).max() < TOLERANCE["stored"]
        result = files.read(tmp_path / name)
        same = kind == "sRGB integers" and depth != "float"
        assert result.metadata.icc == (block if same else None)


@pytest.mark.cases(1)
@each(channels__name=[(3, "a.tif"), (1, "a.exr"), (4, "a.npz"), (2, "a.png"), (3, "a.hdr")])
def test_floats_that_are_no_light(clpix, channels, name, tmp_path, rng) -> None:
    """NPZ says of floats that they are sRGB; so do other files of them, or they hold light."""
    pixels = rng.random((33, 34, channels)).astype(np.float32)
    if channels in (2, 4):
        pixels[..., -1] = 1
    np.savez(tmp_path / "in.npz", pixels=pixels, linear=False)
    light = reference.srgb_light(pixels[..., : 3 if channels >= 3 else 1].astype(np.float64))
    assert clpix("fft", tmp_path / "in.npz", "-o", tmp_path / "numbers.npz").code == 0
    blur = ("blur", tmp_path / "in.npz", "--sigma", 0)
    for command in ((*blur, "--space", "encoded"), blur, ("ifft", tmp_path / "numbers.npz")):
        for depth in ("half", "float") if name == "a.tif" else ("auto",):
            run = clpix(*command, "-o", tmp_path / name, "--dtype", depth, "--overwrite")
            assert run.code == 0 and "cannot say" not in run.err
            got = light_of(clpix, tmp_path / name)
            assert (
                np.abs(got[..., : light.shape[2]] - light).max()
                < TOLERANCE["rgbe" if name == "a.hdr" else "half signal"]
            )
            result = files.read(tmp_path / name)
            if name in ("a.tif", "a.npz"):
                assert not result.linear and np.abs(result.pixels - pixels).max() < HALF


@pytest.mark.cases(2)
@each(said=["gamma", "PQ"], channels=[1, 2], suffix=["png", "tif", "jpg", "webp", "jp2", "npz", "dpx"])
def test_stored_gray(clpix, said, channels, suffix, tmp_path, rng) -> None:
    """Light stays in formats that have no gray, or none with alpha; and only PNG can state that gray is PQ."""
    blocks = rng.integers(60, 230, (2, 3, channels))
    pixels = blocks.repeat(32, 0).repeat(32, 1).astype(np.uint8)  # lossy formats keep such blocks
    profile = reference.gray_profile(reference.parametric(0, 3.0))
    chunk = reference.png_chunk(b"iCCP", b"p\0\0" + zlib.compress(profile))
    if said == "PQ":
        chunk = reference.png_chunk(b"cICP", bytes((9, 16, 0, 1)))
    (tmp_path / "in.png").write_bytes(reference.png(pixels, chunk))
    curve = reference.pq_light if said == "PQ" else lambda v: v**3
    light = curve(pixels[..., :1] / 255)
    assert clpix("dwt", tmp_path / "in.png", "-o", tmp_path / "numbers.npz").code == 0
    stored = ("blur", tmp_path / "in.png", "--sigma", 0, "--space", "encoded")
    lines = (" has no alpha; ", " has no gray; ", " were outside the range of ")
    for command in (stored, ("idwt", tmp_path / "numbers.npz")):
        out = tmp_path / f"out.{suffix}"
        run = clpix(*command, "-o", out, "--overwrite")
        assert run.code == 0 and all(any(known in line for known in lines) for line in run.err.splitlines())
        result = files.read(out)
        values = result.pixels[..., :1] / 255
        if result.colour.transfer == "sRGB":
            assert said == "PQ" or suffix == "dpx"
            expected, got = np.clip(light, 0, 1), reference.srgb_light(values)
        else:
            expected, got = light, curve(values)
            assert result.colour.transfer == {"PQ": "PQ", "gamma": "gamma 3"}[said]
        error = np.abs(got - expected) / np.maximum(expected, 0.1)
        assert np.median(error) < 0.02 if suffix in ("jpg", "webp") else error.max() < 0.04


def test_what_gray_alone_cannot_say_is_said_of_gray(clpix, tmp_path) -> None:
    for channels, named in ((1, "gray TIFF cannot say what its values are (PQ"), (3, "")):
        files.write(tmp_path / "in.png", Picture(np.full((8, 9, channels), 77, np.uint8)), overwrite=True)
        out = ("-o", tmp_path / "out.tif", "--overwrite")
        run = clpix("convert", tmp_path / "in.png", *out, "--colour", "rec2100-pq")
        assert run.code == 0 and named in run.err and bool(named) == bool(run.err)


def test_a_gray_profile_that_is_not_understood_is_no_rgb_profile(clpix, tmp_path) -> None:
    block = reference.profile({"desc": reference.named("gray")}, b"GRAY")
    PIL.fromarray(np.full((8, 9), 77, np.uint8)).save(tmp_path / "in.png", icc_profile=block)
    run = clpix("blur", tmp_path / "in.png", "--sigma", 0, "-o", tmp_path / "out.webp")
    assert "the ICC profile is for gray and does not fit; it is left out\n" in run.err
    assert files.read(tmp_path / "out.webp").metadata.icc is None


@pytest.mark.parametrize("profile", [P3, LUT, SRGB], ids=["P3", "tables", "sRGB"])
@pytest.mark.parametrize(
    "command", [("fft",), ("dwt",), ("tonemap", "--contact-sheet"), ("tonemap",)], ids=" ".join
)
def test_pictures_of_something_else_are_not_in_the_inputs_space(
    clpix, command, profile, tmp_path, rng
) -> None:
    PIL.fromarray(rng.integers(0, 256, (24, 25, 3)).astype(np.uint8)).save(
        tmp_path / "in.png", icc_profile=profile
    )
    run = clpix(*command, tmp_path / "in.png", "-o", tmp_path / "out.png")
    assert run.code == 0
    assert ("its ICC profile has damaged tables; colours are taken as sRGB" in run.err) == (profile == LUT)
    result = files.read(tmp_path / "out.png")
    assert result.metadata.icc in ((None,) if profile != SRGB else (None, SRGB))
    assert result.colour == files.Picture(result.pixels).colour


def test_a_profile_that_is_not_understood_stays_with_pixels_that_are_in_it(clpix, tmp_path) -> None:
    PIL.fromarray(np.full((8, 9, 3), 77, np.uint8)).save(tmp_path / "in.jpg", icc_profile=LUT)
    run = clpix("blur", tmp_path / "in.jpg", "--sigma", 1, "-o", tmp_path / "out.png")
    line = "its ICC profile has damaged tables; colours are taken as sRGB"
    assert run.err == f"clpix: warning: {tmp_path / 'in.jpg'}: {line}\n"
    with PIL.open(tmp_path / "out.png") as image:
        assert image.info["icc_profile"] == LUT


def test_info_of_unusual_primaries(clpix, tmp_path) -> None:
    odd = tmp_path / "odd.png"
    chunks = [
        reference.png_chunk(b"gAMA", struct.pack(">I", 55556)),
        reference.png_chunk(
            b"cHRM", struct.pack(">8I", 31270, 32900, 60000, 33000, 30000, 65000, 15000, 5000)
        ),
    ]
    odd.write_bytes(reference.png(np.zeros((3, 4, 3), np.uint8), *chunks))
    text = "gamma 1.8-encoded, (0.6000, 0.3300), (0.3000, 0.6500), (0.1500, 0.0500) primaries\n"
    assert clpix("info", odd).out.endswith(text)


@pytest.mark.exhaustive
def test_statistics_are_of_rec_709_light(clpix, p3) -> None:
    (found,) = json.loads(clpix("info", p3, "--stats", "--json").out)
    light = reference.srgb_light(files.read(p3).pixels / 255) @ TO_709
    for i, name in enumerate("RGB"):
        assert found["statistics"]["channels"][name]["mean"] == pytest.approx(
            light[..., i].mean(), rel=TOLERANCE["profile"]
        )
    luminance = (light @ [0.2126, 0.7152, 0.0722]).mean()
    assert found["statistics"]["luminance"]["mean"] == pytest.approx(luminance, rel=TOLERANCE["profile"])
    (found,) = json.loads(clpix("info", p3, "--stats", "--json", "--space", "encoded").out)
    assert found["statistics"]["values"] == "stored"
    mean = (files.read(p3).pixels[..., 0] / 255).mean()
    assert found["statistics"]["channels"]["R"]["mean"] == pytest.approx(mean, rel=ROUNDINGS)


def test_compare(clpix, p3, ap1, tmp_path) -> None:
    """Files in different spaces are compared in one space, files in the same space as they are stored."""
    run = clpix("compare", p3, p3)
    assert run.code == 0 and "compared as" not in run.out
    changed = np.asarray(PIL.open(p3)).copy()
    changed[3, 4, 1] ^= 1
    PIL.fromarray(changed).save(tmp_path / "q3.png", icc_profile=P3)
    assert "(1 of 255 levels)" in clpix("compare", p3, tmp_path / "q3.png").out
    light_of(clpix, p3)
    run = clpix("compare", p3, tmp_path / "light.exr", "--max-error", "1e-4")
    assert run.code == 0 and run.out.startswith("compared as encoded values (sRGB)\n")
    # The codes stay, but mean other colours.
    PIL.fromarray(np.asarray(PIL.open(p3))).save(tmp_path / "plain.png")
    assert clpix("compare", p3, tmp_path / "plain.png", "--max-error", "1e-2").code == 1
    assert clpix("compare", ap1, ap1).code == 0
    light_of(clpix, ap1)
    run = clpix("compare", ap1, tmp_path / "light.exr", "--max-error", "1e-4")
    assert run.code == 0 and run.out.startswith("compared as linear values (Rec. 709)\n")
    assert json.loads(clpix("compare", ap1, tmp_path / "light.exr", "--json").out)["space"] == "linear"
