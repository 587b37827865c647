"""--strip: nothing beside the pixels but what they need to look right, by readers of other programs."""

from pathlib import Path

import numpy as np
import OpenImageIO
import pytest
import tifffile
from PIL import Image as PIL
from PIL import ImageOps

from gpuops import files
from gpuops.batch.job import Job, Options
from gpuops.chain import Chain
from gpuops.files import Metadata, Picture
from gpuops.ops.flip import FlipParams

from .choices import thinned
from .conftest import in_blocks

#: EXIF's tags of the orientation, the camera and the time.
ORIENTATION, MODEL, TIME = 0x0112, 0x0110, 0x0132
#: TIFF's tags of what pixels are, and where they are in the file.
NEEDED = {254, 256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 317, 338, 339, 34675}

#: TIFF's tags of the resolution, which it must have, and what they are where none is known: 1 by 1, without unit.
UNKNOWN = {282: (1, 1), 283: (1, 1), 296: 1}


def photograph(folder: Path, orientation: int = 6, suffix: str = ".png") -> Path:
    """A picture with EXIF, XMP, a resolution and a profile, as cameras and programs write them."""
    exif = PIL.Exif()
    exif[ORIENTATION], exif[MODEL], exif[TIME] = orientation, "secret camera", "2020:01:02 03:04:05"
    pixels = np.random.default_rng(orientation).integers(0, 256, (9, 14, 3), np.uint8)
    path = folder / f"in{orientation}{suffix}"
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>secret</x:xmpmeta>"
    block = exif.tobytes().removeprefix(b"Exif\0\0")
    files.write(path, Picture(pixels, metadata=Metadata(exif=block, xmp=xmp, resolution=(300, 300, "in"))))
    return path


@pytest.mark.parametrize("suffix", thinned([".png", ".tif", ".exr", ".jpg", ".webp", ".npz"], 2))
def test_nothing_is_left(clpix, tmp_path, suffix) -> None:
    path = photograph(tmp_path)
    out, plain = tmp_path / f"out{suffix}", tmp_path / f"plain{suffix}"
    colour = () if suffix in (".exr", ".npz") else ("--colour", "display-p3")
    for name, more in ((out, ("--strip",)), (plain, ())):
        run = clpix("convert", path, "-o", name, *colour, *more)
        assert run.code == 0, run.err
    assert b"secret" not in out.read_bytes() and b"2020:01:02" not in out.read_bytes()
    found = files.read(out)
    assert found.metadata == Metadata(found.metadata.icc, colour=found.metadata.colour)
    assert (found.height, found.width) == (14, 9)
    before = files.read(plain).metadata
    assert (found.metadata.icc, found.metadata.colour) == (before.icc, before.colour)
    if suffix == ".tif":
        with tifffile.TiffFile(out) as read:
            tags = {tag.code: tag.value for tag in read.pages[0].tags}
            assert tags.keys() <= NEEDED | UNKNOWN.keys() and UNKNOWN.items() <= tags.items()
    elif suffix == ".exr":
        read = OpenImageIO.ImageInput.open(str(out))
        names = {attribute.name for attribute in read.spec().extra_attribs}
        read.close()
        assert not names & {"DateTime", "Software", "XResolution", "Make", "Model", "capDate", "comments"}
    elif suffix != ".npz":
        with PIL.open(out) as opened:
            assert not opened.getexif() and "xmp" not in opened.info and opened.info.get("dpi") != (300, 300)
            assert opened.info["icc_profile"] if suffix != ".png" else opened.info
            assert not getattr(opened, "text", {})


def test_pixels_are_upright(clpix, tmp_path) -> None:
    for orientation in (1, 3, 5, 8):
        path = photograph(tmp_path, orientation)
        assert clpix("convert", path, "-o", tmp_path / "out.png", "--strip", "--overwrite").code == 0
        with PIL.open(path) as before, PIL.open(tmp_path / "out.png") as after:
            np.testing.assert_array_equal(np.asarray(after), np.asarray(ImageOps.exif_transpose(before)))


def test_those_on_the_way_and_on_stdout(clpix, tmp_path) -> None:
    path = photograph(tmp_path)
    middle = ("then", "write", tmp_path / "mid.png", "then", "rotate", "--auto-orient")
    assert clpix("convert", path, "-o", tmp_path / "out.png", "--strip", *middle).code == 0
    for name in ("mid.png", "out.png"):
        with PIL.open(path) as before, PIL.open(tmp_path / name) as after:
            np.testing.assert_array_equal(np.asarray(after), np.asarray(ImageOps.exif_transpose(before)))
            assert not after.getexif()


@pytest.mark.parametrize("orientation", [1, 3])
def test_large_pictures(clpix, tmp_path, monkeypatch, orientation) -> None:
    """By rows if they are upright, else as a whole."""
    path = photograph(tmp_path, orientation)
    assert clpix("convert", path, "-o", tmp_path / "whole.png", "--strip").code == 0
    in_blocks(monkeypatch, 1 << 8)
    assert clpix("convert", path, "-o", tmp_path / "rows.png", "--strip").code == 0
    with PIL.open(tmp_path / "rows.png") as rows, PIL.open(tmp_path / "whole.png") as whole:
        np.testing.assert_array_equal(np.asarray(rows), np.asarray(whole))
        assert rows.info == whole.info and not rows.getexif()
    run = clpix("convert", path, "-o", tmp_path / "limited.png", "--strip", "--memory", "100")
    assert run.code == 1 and (orientation == 1 or "turning it upright for --strip" in run.err), run.err


def test_other_commands(clpix, tmp_path) -> None:
    path = photograph(tmp_path)
    for command in (("fft", path), ("dwt", path), ("tonemap", path, "--contact-sheet", "--tile-width", "16")):
        run = clpix(*command, "-o", tmp_path / f"{command[0]}.png", "--strip")
        assert run.code == 0, run.err
        assert b"secret" not in (tmp_path / f"{command[0]}.png").read_bytes()
    run = clpix("fft", path, "-o", tmp_path / "a.npz", "--strip")
    assert run.code == 2 and "leave out --strip" in run.err
    assert clpix("fft", path, "-o", tmp_path / "a.npz").code == 0
    assert clpix("ifft", tmp_path / "a.npz", "-o", tmp_path / "back.png", "--strip").code == 0
    with PIL.open(path) as before, PIL.open(tmp_path / "back.png") as after:
        np.testing.assert_array_equal(np.asarray(after), np.asarray(ImageOps.exif_transpose(before)))
    assert clpix("info", path, "--strip").code == 2


def test_header_attributes_of_exr(clpix, tmp_path) -> None:
    places = (0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329)
    attributes = {"owner": ("string", "secret"), "chromaticities": ("float[8]", places)}
    what = Picture(np.zeros((4, 6, 3), np.float16), linear=True, metadata=Metadata(attributes=attributes))
    files.write(tmp_path / "in.exr", what)
    options = ("--axis", "both", "--strip", "--space", "encoded", "-o", tmp_path / "out.exr")
    run = clpix("flip", tmp_path / "in.exr", *options)
    assert run.code == 0, run.err
    assert set(files.read(tmp_path / "out.exr").metadata.attributes) == {"chromaticities"}


def test_the_recipe_tells_them_apart() -> None:
    chain = Chain(FlipParams("both"))
    assert len({Job("a", chain, "b.png", options=Options(strip=on)).recipe for on in (True, False)}) == 2
