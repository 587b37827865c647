"""Contact sheets of glows: each tile is the single command's result, averaged in double by numpy."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpuops.files import Picture, read, write

from .reference import colour as colour_reference
from .reference.lut import reduced
from .test_batch import here
from .test_contact_sheet import GAP, scene, tiles_of

__all__ = ["here"]


def save(channels: int, height: int = 36, width: int = 60) -> None:
    pixels = np.moveaxis(scene((channels, height, width)), 0, -1).copy()
    if channels in (2, 4):
        pixels[..., -1] = np.random.default_rng(3).random((height, width))
    write("light.exr", Picture(pixels, alpha=channels in (2, 4), linear=True), overwrite=True)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("channels", "options"), [
    (3, ()),
    (4, ("--exposure", "0.5", "--threshold", "1", "--knee", "0.2", "--blend", "add")),
    (1, ("--tonemap", "reinhard", "--method", "gaussians")),
    pytest.param(3, ("--method", "fft", "--blades", "6"), marks=pytest.mark.exhaustive),
    pytest.param(4, ("--border", "wrap-x", "--no-karis", "--tonemap", "hable"), marks=pytest.mark.exhaustive ),
])  # fmt: skip
def test_tiles_are_results_made_smaller(clpix, here, channels, options) -> None:
    save(channels)
    strengths, radii, width = (0.1, 0.45), (0.05, 0.2, 0.6), 20
    if "fft" in options:  # each starburst takes most of a second
        strengths, radii = (0.3,), (0.05, 0.2)
    grid = ("--strengths", ",".join(map(str, strengths)), "--radii", ",".join(map(str, radii)))
    run = clpix(
        "bloom", "light.exr", "--contact-sheet", *options, *grid, "--tile-width", width, "-o", "sheet.png"
    )
    assert (run.code, run.err) == (0, "")
    sheet = read("sheet.png").pixels
    assert sheet.dtype == np.uint8 and sheet.shape[2] == (1 if channels < 3 else 3)
    tiles = tiles_of(sheet, len(strengths), len(radii), 12, width)
    shown = options if "--tonemap" in options else (*options, "--tonemap", "agx")
    for strength, row in zip(strengths, tiles, strict=True):
        for radius, tile in zip(radii, row, strict=True):
            one = ("--strength", strength, "--radius", radius, "-o", "one.exr", "--overwrite")
            assert clpix("bloom", "light.exr", *shown, *one, "--dtype", "float").code == 0
            light = np.moveaxis(read("one.exr").pixels.astype(np.float64), -1, 0)
            codes = colour_reference.srgb_signal(reduced(light, 12, width, alpha=channels == 4)) * 255
            assert np.abs(tile - np.moveaxis(codes, 0, -1)).max() <= 0.52


def test_rows_and_columns_without_a_word(clpix, here) -> None:
    save(3)
    for options, rows, columns in (
        ((), 4, 3),
        (("--strength", "0.4"), 3, 3),  # 4 times that is more than all light
        (("--strength", "0.4", "--blend", "add"), 4, 3),
        (("--radius", "0.7"), 4, 2),
        (("--radii", "0.3"), 4, 1),
        (("--kernel", "light.exr"), 4, 1),
    ):
        sheet = ("bloom", "light.exr", "--contact-sheet", "--overwrite", "-o")
        assert clpix(*sheet, "s.png", *options).code == 0
        height = read("s.png").pixels.shape[0]
        assert (height - GAP) % rows == 0 and (height - GAP) // rows == 36 + GAP * 3 // 2 + GAP
        assert clpix(*sheet, "t.png", "--strengths", "0.1", "--radii", "0.1").code == 0
        width = read("t.png").pixels.shape[1] - GAP
        wider = read("s.png").pixels.shape[1] - GAP
        assert round(wider / width) == columns if options[:1] != ("--kernel",) else wider <= width


def test_a_repair_is_told_once(clpix, here) -> None:
    pixels = np.moveaxis(scene((3, 9, 9)), 0, -1).copy()
    pixels[4, 4, 1] = -300.0
    write("light.exr", Picture(pixels, linear=True))
    run = clpix("bloom", "light.exr", "--contact-sheet", "-o", "sheet.png")
    assert run.code == 0 and len(run.err.splitlines()) == 1 and "negative" in run.err


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_pictures_are_upright(clpix, here, orientation) -> None:
    codes = np.zeros((24, 40, 3), np.uint8)
    codes[:8, :8] = 255  # a bright corner
    exif = Image.Exif()
    exif[0x112] = orientation
    Image.fromarray(codes).save("in.png", exif=exif)
    grid = ("--strengths", "0", "--radii", "0.1", "--exposure", "0", "--tonemap", "linear")
    assert clpix("bloom", "in.png", "--contact-sheet", *grid, "-o", "sheet.png").code == 0
    shape = (40, 24) if orientation == 6 else (24, 40)
    ((tile,),) = tiles_of(read("sheet.png").pixels, 1, 1, *shape)
    y, x = {1: (0, 0), 3: (-1, -1), 6: (0, -1)}[orientation]
    assert tile[y, x].min() == 255 and tile[-1 - y if y else -1, -1 - x if x else -1].max() == 0


def test_what_is_refused(clpix, here) -> None:
    save(3)
    for options, why in (
        (("--strengths", "0.1,2"), "strength must be 0 … 1 with the blend energy"),
        (("--radii", "0.1,2"), "radius"),
        (("--radii", "0.1,x"), "these are numbers such as 0.1,0.2, not '0.1,x'"),
        (("--strengths", "0.1", "--strength", "0.1"), "leave out --strength"),
        (("--radii", "0.1", "--radius", "0.1"), "leave out --radius"),
        (("--radii", "0.1", "--kernel", "light.exr"), "leave out --kernel"),
        (("--preset", "d3d11"), "leave out --contact-sheet"),
        (("--dither",), "leave out --dither"),
        (("--dtype", "uint16"), "leave out --dtype"),
        (("--working", "rec2020"), "leave out --working"),
        (("then", "flip", "--axis", "both"), "they have no place in a chain"),
    ):
        run = clpix("bloom", "light.exr", "--contact-sheet", "-o", "s.png", *options)
        assert run.code == 2 and why in run.err and len(run.err.splitlines()) == 1, options
    run = clpix("bloom", "light.exr", "--contact-sheet", "-o", "s.exr")
    assert run.code == 2 and "is a picture of 8 bits" in run.err
    run = clpix("bloom", "light.exr", "--strengths", "0.1", "-o", "s.png")
    assert run.code == 2 and "there is no --contact-sheet" in run.err and not Path("s.png").exists()
