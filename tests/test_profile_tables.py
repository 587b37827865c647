"""ICC profiles that are tables: their colours beside Little CMS's, and beside formulas that tables hold exactly."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from gpuops import Gpu, files
from gpuops.files import icc
from gpuops.pixels import light
from gpuops.pixels.coding import on_device
from gpuops.pixels.colour import SRGB
from gpuops.pixels.primaries import ColourError

from .choices import pairs
from .conftest import Run, in_blocks
from .reference import colour as reference
from .reference import little_cms as cms
from .reference import tables
from .tolerance import PROFILE_TABLES as TOLERANCE


def scanner(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of a device whose channels have a bit of each other: smooth, and not a matrix with curves."""
    r, g, b = np.moveaxis(rgb, -1, 0)
    lightness = 100 * (0.25 * r + 0.6 * g + 0.15 * b) ** 0.9
    return np.stack([lightness, 70 * (r - g) * (1 - 0.3 * b), 60 * (0.5 * (r + g) - b) + 5 * r * g], -1)


#: XYZ of the sRGB primaries in the connection space, as fractions of a table's largest value, 1 + 32767/32768.
TO_XYZ = np.linalg.inv(tables.D50_TO_SRGB) / (1 + 32767 / 32768)

PROFILES = {
    "lut16, Lab": tables.table_profile(tables.lut16(17, lambda v: tables.lab16(scanner(v))), b"Lab "),
    "lut16, Lab, version 2": tables.table_profile(
        tables.lut16(33, lambda v: tables.lab16(scanner(v)), gamma=1.8), b"Lab ", version=2
    ),
    "lut8, Lab": tables.table_profile(tables.lut8(9, lambda v: tables.lab8(scanner(v))), b"Lab ", version=2),
    "lutAToB, Lab": tables.table_profile(
        tables.lut_a_to_b(21, lambda v: tables.lab8(scanner(v)), gamma=2.2), b"Lab "
    ),
    "lutAToB, XYZ": tables.table_profile(tables.lut_a_to_b(2, lambda v: v @ TO_XYZ.T, gamma=2.4), b"XYZ "),
    "lut16, XYZ, colorimetric": tables.table_profile(
        tables.lut16(5, lambda v: v @ TO_XYZ.T, gamma=2.0), b"XYZ ", "A2B1"
    ),
}


def little_cms(profile: bytes, rgb: np.ndarray) -> np.ndarray:
    """Linear sRGB light by Little CMS, in double, colour by colour."""
    xyz = cms.xyz(profile, rgb.astype(np.float64).reshape(1, -1, 3), "rgb")
    return (xyz @ tables.D50_TO_SRGB.T).reshape(rgb.shape)


def signal(value: np.ndarray) -> np.ndarray:
    """sRGB's signal, odd."""
    return np.copysign(reference.srgb_signal(np.abs(value)), value)


def ours(gpu: Gpu, profile: bytes, pixels: np.ndarray, *, alpha: bool = False) -> np.ndarray:
    colour, besides = icc.colour_of(profile)
    assert besides == "" and colour.cube is not None
    made = light.of_pixels(on_device(gpu, pixels), colour, alpha=alpha)
    return made.numpy().astype(np.float64)


@pytest.mark.parametrize(("name", "dtype"), pairs(PROFILES, ["uint8", "uint16", "float16", "float32"]))
def test_colours_are_little_cmss(gpu, name, dtype) -> None:
    rng = np.random.default_rng(3)
    colours = rng.random((61, 67, 3))
    colours[0, :8] = tables.grid(2)
    colours[1] = rng.random((67, 1))  # grays
    if dtype.startswith("u"):
        largest = np.iinfo(dtype).max
        pixels = np.rint(colours * largest).astype(dtype)
        stored = pixels / largest
    else:
        pixels = colours.astype(dtype)
        stored = pixels.astype(np.float64)
    found, wanted = ours(gpu, PROFILES[name], pixels), little_cms(PROFILES[name], stored)
    assert np.abs(found - wanted).max() < TOLERANCE["light"]
    assert np.abs(signal(found) - signal(wanted)).max() < TOLERANCE["signal"]


def test_formulas_that_a_table_holds(gpu) -> None:
    """Independent of Little CMS: a matrix behind a power, and the colours at a table's own steps."""
    rng = np.random.default_rng(4)
    rgb = rng.random((31, 33, 3)).astype(np.float32)
    wanted = rgb.astype(np.float64) ** 2.4
    found = ours(gpu, PROFILES["lutAToB, XYZ"], rgb)
    assert np.abs(signal(found) - signal(wanted)).max() < TOLERANCE["signal"]
    steps = tables.grid(17).reshape(17, -1, 3)
    found = ours(gpu, PROFILES["lut16, Lab"], steps.astype(np.float32))
    assert np.abs(found - tables.light_of_lab(scanner(steps))).max() < TOLERANCE["steps"]


def test_alpha_and_what_is_no_colour(gpu) -> None:
    pixels = np.array(
        [[[0.2, 0.4, 0.6, 0.5], [np.nan, 0.4, 0.6, 0.25], [-1, 2, np.inf, 1], [0, 1, 1, 0]]], np.float32
    )
    found = ours(gpu, PROFILES["lut16, Lab"], pixels, alpha=True)
    assert np.array_equal(found[..., 3], pixels[..., 3]) and np.isnan(found[0, 1, :3]).all()
    assert np.array_equal(found[0, 2, :3], found[0, 3, :3])  # colours beyond the table are its edge's
    wanted = little_cms(PROFILES["lut16, Lab"], pixels[:, :1, :3])
    assert np.abs(found[:, :1, :3] - wanted).max() < TOLERANCE["light"]


def extra(alpha: bool) -> dict[str, Any]:
    """Tifffile's options of a picture with alpha, or without."""
    return {"extrasamples": ["unassalpha"], "metadata": None} if alpha else {"metadata": None}


def save(
    path: Path, dtype: str = "uint8", *, alpha: bool = False, name: str = "lut16, Lab", seed: int = 5
) -> np.ndarray:
    """Saves a picture with a profile by another program, and returns its fractions, without alpha."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (29, 31, 3 + alpha)).astype(dtype)
    if path.suffix != ".tif":
        Image.fromarray(pixels).save(path, icc_profile=PROFILES[name])
    else:
        tifffile.imwrite(path, pixels, photometric="rgb", iccprofile=PROFILES[name], **extra(alpha))
    return np.asarray(pixels[..., :3] / np.iinfo(dtype).max)


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("options", "dtype", "alpha", "by_rows"),
    pairs(
        [(), ("--working", "rec2020"), ("--working", "acescg"), ("--space", "linear")],
        ("uint8", "uint16"), (False, True), (False, True),
    ),
)  # fmt: skip
def test_pictures_become_srgb(clpix, tmp_path, monkeypatch, options, dtype, alpha, by_rows) -> None:
    if by_rows:
        in_blocks(monkeypatch)
    source, out = tmp_path / "in.tif", tmp_path / "out.png"
    stored = save(source, dtype, alpha=alpha)
    run = clpix("grade", source, "--exposure", 1, *options, "then", "grade", "--exposure", -1, "-o", out)
    assert run.code == 0 and "clipped" in run.err and len(run.err.splitlines()) == 1  # colours beyond sRGB
    picture = files.read(out)
    assert picture.metadata.icc is None and picture.colour == SRGB
    wanted = signal(little_cms(PROFILES["lut16, Lab"], stored).clip(0, 1))
    largest = np.iinfo(dtype).max
    assert np.abs(picture.pixels[..., :3] / largest - wanted).max() < TOLERANCE["signal"] + 0.51 / largest


def test_floats_keep_light_beyond(clpix, tmp_path) -> None:
    stored = save(tmp_path / "in.png", name="lut8, Lab")
    assert clpix("convert", tmp_path / "in.png", "-o", tmp_path / "out.exr", "--dtype", "float").code == 0
    found = files.read(tmp_path / "out.exr").pixels
    wanted = little_cms(PROFILES["lut8, Lab"], stored)
    assert wanted.min() < -0.01 and np.abs(found - wanted).max() < TOLERANCE["light"]


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp"])
def test_stored_values_keep_their_profile(clpix, tmp_path, suffix) -> None:
    save(tmp_path / "in.png")
    out = tmp_path / f"out.{suffix}"
    run = clpix("blur", tmp_path / "in.png", "--sigma", 1, "--space", "encoded", "-o", out)
    assert (run.code, run.err) == (0, "")
    with Image.open(out) as image:
        assert image.info["icc_profile"] == PROFILES["lut16, Lab"]


def test_what_a_table_cannot_do(clpix, tmp_path) -> None:
    save(tmp_path / "in.png")
    run = clpix("blur", tmp_path / "in.png", "--sigma", 1, "--colour", "input", "-o", tmp_path / "out.png")
    words = "its colour space has a curve that is a table: name another one by --colour"
    assert run.code == 1 and words in run.err
    run = clpix("blur", tmp_path / "in.png", "--sigma", 1, "--space", "encoded", "-o", tmp_path / "out.pfm")
    assert run.code == 0


def test_info_names_it(clpix, tmp_path) -> None:
    save(tmp_path / "in.png")
    run = clpix("info", tmp_path / "in.png")
    assert run.code == 0 and "table-encoded" in run.out and "“scanner”" in run.out
    found = json.loads(clpix("info", tmp_path / "in.png", "--json").out)
    assert "table" in json.dumps(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PROFILES)
def test_damaged_tables_are_refused(name) -> None:
    """Every truncation, and bytes that are something else, give a colour space or one line."""
    profile = PROFILES[name]
    rng = np.random.default_rng(6)
    for _ in range(60):
        damaged = bytearray(profile)
        for at in rng.integers(0, min(len(damaged), 700), 3):
            damaged[at] = rng.integers(256)
        for block in (bytes(damaged), profile[: rng.integers(len(profile))]):
            try:
                icc.colour_of(block)
            except ColourError as error:
                assert str(error)


def test_a_damaged_table_beside_a_matrix(tmp_path) -> None:
    table = tables.lut16(9, lambda v: tables.lab16(scanner(v)))[:-100]
    block = reference.rgb_profile("Display P3", reference.parametric(0, 2.2), A2B0=table)
    colour, besides = icc.colour_of(block)
    assert colour.cube is None and colour.primaries == "Display P3" and besides == "tables"


@pytest.mark.parametrize(("dtype", "alpha"), [("uint8", True), ("uint16", False)])
def test_pictures_of_one_table_are_merged_as_they_are_stored(
    clpix, dtype, alpha, tmp_path, monkeypatch
) -> None:
    """A table has no inverse, and needs none: the result is that of the same values without a profile."""
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a", 6), ("b", 7)):
        save(Path(f"{name}.tif"), dtype, alpha=alpha, seed=seed)
        tifffile.imwrite(
            f"plain-{name}.tif", tifffile.imread(f"{name}.tif"), photometric="rgb", **extra(alpha)
        )
    for command, between in (("merge", ()), ("mix", ("--space", "encoded", "--amount", 0.3, "--picture"))):
        for first, second, out in (("a.tif", "b.tif", "o.tif"), ("plain-a.tif", "plain-b.tif", "p.tif")):
            run = clpix(command, first, *between, second, "-o", out, "--overwrite", "-q")
            assert run.code == 0
        found, wanted = files.read("o.tif"), files.read("p.tif")
        assert found.metadata.icc == PROFILES["lut16, Lab"] and np.array_equal(found.pixels, wanted.pixels)


@pytest.mark.parametrize("first", ["table", "curves"])
def test_pictures_of_other_spaces_cannot_become_values_of_a_table(
    clpix, first, tmp_path, monkeypatch
) -> None:
    """One line says it, and what to do. Light of both is mixed and merged as it is by their profiles."""
    monkeypatch.chdir(tmp_path)
    curves = reference.rgb_profile(
        "Display P3", reference.curve(*np.rint(65535 * np.linspace(0, 1, 50) ** 3).astype(int))
    )
    pixels = np.random.default_rng(8).integers(0, 256, (2, 29, 31, 3)).astype(np.uint8)
    Image.fromarray(pixels[0]).save(
        "a.png", icc_profile=PROFILES["lut16, Lab"] if first == "table" else curves
    )
    Image.fromarray(pixels[1]).save("b.png")
    line = (
        "clpix: error: a.png: the image's colour space has a curve that is a table, and b.png has another one: "
        "work in --space linear\n"
    )
    for command in (
        ("merge", "a.png", "b.png"),
        ("mix", "a.png", "--picture", "b.png", "--space", "encoded"),
    ):
        assert clpix(*command, "-o", "o.png") == Run(1, "", line) and not Path("o.png").exists()
        assert clpix(*command[:4], "--space", "linear", "-o", "o.png", "-q").code == 0
        Path("o.png").unlink()
    run = clpix("mix", "a.png", "--picture", "b.png", "--amount", 0.25, "-o", "o.exr", "--dtype", "float")
    assert run == Run(0, "", "")
    if first == "table":
        light_of = little_cms(PROFILES["lut16, Lab"], pixels[0] / 255)
        wanted = 0.75 * light_of + 0.25 * reference.srgb_light(pixels[1] / 255)
        assert np.abs(files.read("o.exr").pixels - wanted).max() < TOLERANCE["light"]
