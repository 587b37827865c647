"""CMYK pictures, and gray ones whose profile is a table: their colours beside Little CMS's in double."""

import io
import json
import struct
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image, ImageCms

from gpuops import files
from gpuops.errors import FileError
from gpuops.files import icc
from gpuops.pixels import light
from gpuops.pixels.coding import on_device
from gpuops.pixels.primaries import ColourError

from .choices import each, pairs
from .conftest import Run, in_blocks
from .reference import colour as reference
from .reference import little_cms as cms
from .reference import tables
from .tolerance import INKS as TOLERANCE

Clpix = Callable[..., Run]


def press(cmyk: np.ndarray) -> np.ndarray:
    """CIELAB of a press whose inks are not pure and whose paper is white: smooth, and with colours beyond sRGB."""
    c, m, y, k = np.moveaxis(cmyk, -1, 0)
    left = 1 - 0.9 * k
    lightness = 100 * left * (1 - 0.45 * c) * (1 - 0.5 * m) * (1 - 0.08 * y)
    a = left * (75 * m * (1 - 0.5 * c) - 45 * c * (1 - 0.4 * m))
    b = left * (90 * y * (1 - 0.6 * c) - 55 * c * (1 - 0.5 * y) - 10 * m)
    return np.stack([lightness, a, b], -1)


def of_table(table: bytes, connection: bytes = b"Lab ", **options: Any) -> bytes:
    return tables.table_profile(table, connection, space=b"CMYK", name="press", **options)


PRESS = of_table(tables.lut16(9, lambda v: tables.lab16(press(v)), channels=4), version=2, tag="A2B1")
PROFILES = {
    "lut16": PRESS,
    "lut8": of_table(tables.lut8(7, lambda v: tables.lab8(press(v)), channels=4), version=2),
    "lutAToB": of_table(tables.lut_a_to_b(5, lambda v: tables.lab8(press(v)), gamma=1.4, channels=4)),
}
WITHOUT = "is CMYK without an ICC profile; colours are taken as (1 − ink)(1 − black) of sRGB"


def signal(value: np.ndarray) -> np.ndarray:
    """sRGB's signal, odd."""
    return np.copysign(reference.srgb_signal(np.abs(value)), value)


def little_cms(profile: bytes, inks: np.ndarray) -> np.ndarray:
    """sRGB signals of inks, in double; Little CMS takes percents of them."""
    xyz = cms.xyz(profile, inks / np.iinfo(inks.dtype).max * 100, "cmyk")
    return signal(xyz @ tables.D50_TO_SRGB.T)


def formula(inks: np.ndarray) -> np.ndarray:
    most = np.iinfo(inks.dtype).max
    return (1 - inks[..., :3] / most) * (1 - inks[..., 3:4] / most)


def drawn(dtype: str = "uint8", channels: int = 4, size: tuple[int, int] = (29, 31)) -> np.ndarray:
    """Inks of all kinds, without and with much of each."""
    rng = np.random.default_rng(7)
    inks = rng.integers(0, np.iinfo(dtype).max + 1, (*size, channels)).astype(dtype)
    if channels >= 4:
        inks[::3, ::2, :3] //= 3
        inks[1::4, :, 3] = 0
        solid = np.rint(tables.grid(2, 4) * np.iinfo(dtype).max).astype(dtype)[: inks.size // channels]
        inks.reshape(-1, channels)[: len(solid), :4] = solid
    return inks


def save(path: Path, inks: np.ndarray, profile: bytes | None = PRESS, **options: Any) -> None:
    tifffile.imwrite(path, inks, photometric="separated", iccprofile=profile, metadata=None, **options)


def saving(path: Path, layer: str | int | None = None) -> tuple[files.Picture, list[str]]:
    """The picture in a file, and what is said of it."""
    from gpuops import notes

    said: list[str] = []
    with notes.to(said.append):
        picture = files.read(path, layer=layer)
    return picture, [text.removeprefix(f"{path}: ") for text in said]


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_tiff(name, dtype, tmp_path) -> None:
    inks = drawn(dtype)
    save(tmp_path / "a.tif", inks, PROFILES[name])
    picture, said = saving(tmp_path / "a.tif")
    assert (said, picture.pixels.dtype, picture.depth.name) == ([], np.float32, dtype)
    assert picture.inks == files.Inks(dtype, PROFILES[name])
    assert picture.metadata.icc is None and not picture.linear and not picture.alpha
    wanted = little_cms(PROFILES[name], inks)
    assert wanted.min() < -0.1 and wanted.max() > 1.01  # colours beyond sRGB are kept
    assert np.abs(picture.pixels - wanted).max() < TOLERANCE["signal"]


@pytest.mark.parametrize("options", [
    {"tile": (16, 16)}, {"rowsperstrip": 3}, {"byteorder": ">"}, {"compression": "zlib", "predictor": 2},
    {"compression": "lzw"}, {"compression": "zstd"}, {"bigtiff": True}, {"planarconfig": "separate"},
], ids=str)  # fmt: skip
def test_tiff_however_it_is_stored(options, tmp_path) -> None:
    for size, profile in product([(29, 31), (1, 1), (1, 40), (40, 1)], (PRESS, None)):
        inks = drawn("uint8", size=size)
        stored = np.moveaxis(inks, -1, 0) if "planarconfig" in options else inks
        wanted = little_cms(PRESS, inks) if profile else formula(inks)
        save(tmp_path / "a.tif", stored, profile, **options)
        picture, said = saving(tmp_path / "a.tif")
        assert said == [WITHOUT] * (profile is None)
        found = picture.pixels / (255 if profile is None else 1)
        assert np.abs(found - wanted).max() < (0.51 / 255 if profile is None else TOLERANCE["signal"])


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("profile", [PRESS, None], ids=["profile", "none"])
@pytest.mark.parametrize("kind", ["unassalpha", "assocalpha"])
def test_alpha(kind, profile, dtype, tmp_path) -> None:
    """Inks are divided by associated alpha, and what is under alpha 0 is hidden."""
    most = np.iinfo(dtype).max
    inks = drawn(dtype, 5)
    inks[0, :5, 4] = 0, most, most // 2, 1, 0
    straight = inks[..., :4]
    if kind == "assocalpha":
        inks[..., :4] = np.minimum(inks[..., :4], inks[..., 4:])
        alpha = np.where(inks[..., 4:] == 0, most, inks[..., 4:])
        straight = np.rint(inks[..., :4] / alpha * most).astype(dtype)
    save(tmp_path / "a.tif", inks, profile, extrasamples=[kind])
    picture, said = saving(tmp_path / "a.tif")
    assert picture.alpha and not picture.associated and said == [WITHOUT] * (profile is None)
    wanted = formula(straight) if profile is None else little_cms(profile, straight)
    scale = 1 if profile else most
    error = np.abs(picture.pixels[..., :3] / scale - wanted)
    least = 0.51 / most if profile is None else TOLERANCE["signal"]
    if kind == "assocalpha":  # a half may be rounded either way, and the profile's curves are steep
        least += 20 / most if profile else 1 / most
    assert error.max() < least and np.abs(picture.pixels[..., 3] / scale - inks[..., 4] / most).max() < 1e-7


def test_further_channels_are_named(tmp_path) -> None:
    inks = drawn("uint8", 6)
    save(tmp_path / "a.tif", inks, extrasamples=["unspecified", "unassalpha"])
    picture, said = saving(tmp_path / "a.tif")
    assert said == ["is read without its channel 5 of 6, not said to be colour or alpha"]
    assert (
        np.abs(picture.pixels[..., :3] - little_cms(PRESS, inks[..., :4].copy())).max() < TOLERANCE["signal"]
    )
    assert np.array_equal(picture.pixels[..., 3], (inks[..., 5] / 255).astype(np.float32))


@pytest.mark.parametrize("quality", [100, 60])
@pytest.mark.parametrize("profile", [PRESS, None], ids=["profile", "none"])
@pytest.mark.parametrize("ycck", [False, True])
def test_jpeg(ycck, profile, quality, tmp_path) -> None:
    """The decoder's inks, which Adobe stores inverted; of YCCK as the transform 2 of Adobe's marker says."""
    path = tmp_path / "a.jpg"
    Image.fromarray(drawn(size=(32, 48)), "CMYK").save(
        path, quality=quality, subsampling=0, icc_profile=profile
    )
    if ycck:
        data = bytearray(path.read_bytes())
        data[data.index(b"\xff\xee\x00\x0eAdobe") + 15] = 2
        path.write_bytes(data)
    inks = 255 - np.asarray(imagecodecs.jpeg8_decode(path.read_bytes(), outcolorspace="CMYK"))
    picture, said = saving(path)
    assert said == [WITHOUT] * (profile is None) and picture.inks == files.Inks("uint8", profile)
    if profile:
        assert np.abs(picture.pixels - little_cms(profile, inks)).max() < TOLERANCE["signal"]
    else:
        assert np.abs(picture.pixels / 255 - formula(inks)).max() < 1.01 / 255


def psd(pixels: np.ndarray, *, alpha: bool, runs: bool = False, large: bool = False) -> bytes:
    """A PSD file of CMYK, by Adobe's specification: inks are inverted; a negative number of layers tells of alpha."""
    height, width, channels = pixels.shape
    stored = pixels.copy()
    np.invert(stored[..., :4], out=stored[..., :4])
    data = b"8BPS" + struct.pack(">H6xHIIHH", 1 + large, channels, height, width, 8 * pixels.itemsize, 4)
    resource = b"8BIM" + struct.pack(">HHI", 1039, 0, len(PRESS)) + PRESS + bytes(len(PRESS) % 2)
    data += bytes(4) + struct.pack(">I", len(resource)) + resource
    word = ">Q" if large else ">I"
    section = b""
    if alpha:
        extra = bytes(8) + b"\3one"
        layer = bytes(16) + struct.pack(">H", 0) + b"8BIMnorm" + bytes((255, 0, 0, 0))
        info = struct.pack(">h", -1) + layer + struct.pack(">I", len(extra)) + extra
        info += bytes(len(info) % 2)
        section = struct.pack(word, len(info)) + info + bytes(4)
    data += struct.pack(word, len(section)) + section + struct.pack(">H", int(runs))
    big = np.moveaxis(stored, 2, 0).astype(stored.dtype.newbyteorder(">"))
    if not runs:
        return data + big.tobytes()
    rows = [imagecodecs.packbits_encode(row.tobytes()) for plane in big for row in plane]
    return data + struct.pack(f">{len(rows)}{'I' if large else 'H'}", *map(len, rows)) + b"".join(rows)


@each(dtype__alpha__runs__large=pairs(("uint8", "uint16"), *3 * [(False, True)]))
def test_psd(dtype, alpha, runs, large, tmp_path) -> None:
    """Transparency has mixed the merged picture with white, which is no ink."""
    path, inks, most = tmp_path / "a.psd", drawn(dtype, 5 if alpha else 4), np.iinfo(dtype).max
    inks[3:9] = inks[3:9, :1]  # runs
    if alpha:
        inks[..., 4] |= most // 2 + 1
        wanted = little_cms(PRESS, inks[..., :4].copy())
        alphas = inks[..., 4].copy()
        inks[..., :4] = np.rint(inks[..., :4] * (inks[..., 4:] / most))
    else:
        wanted = little_cms(PRESS, inks)
    path.write_bytes(psd(inks, alpha=alpha, runs=runs, large=large))
    picture, said = saving(path)
    assert said == [] and picture.inks == files.Inks(dtype, PRESS) and picture.alpha == alpha
    assert np.abs(picture.pixels[..., :3] - wanted).max() < TOLERANCE["signal"] + 20 / most * alpha
    if alpha:
        assert np.array_equal(picture.pixels[..., 3], (alphas / most).astype(np.float32))
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(FileError, match=r"a\.psd: could not be read: the file is cut off or damaged"):
        files.read(path)


def test_pillows_colour_management_agrees(tmp_path) -> None:
    """But for its rounding to 8 bits."""
    inks = drawn(size=(40, 40))
    save(tmp_path / "a.tif", inks)
    transform = ImageCms.buildTransform(
        ImageCms.ImageCmsProfile(io.BytesIO(PRESS)), ImageCms.createProfile("sRGB"), "CMYK", "RGB",
        renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, flags=ImageCms.Flags.NOOPTIMIZE,
    )  # fmt: skip
    wanted = np.asarray(transform.apply(Image.fromarray(inks, "CMYK")))
    found = files.read(tmp_path / "a.tif").pixels.clip(0, 1) * 255
    assert np.abs(found - wanted).max() < 0.52


def test_pages(tmp_path) -> None:
    """A page of inks, one of RGB, and one of inks with another profile."""
    first, second, third = drawn(), drawn("uint8", 3), drawn("uint16", 5)
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        file.write(first, photometric="separated", iccprofile=PRESS, metadata=None)
        file.write(second, photometric="rgb", metadata=None)
        other = {"extrasamples": ["unassalpha"], "iccprofile": PROFILES["lut8"]}
        file.write(third, photometric="separated", metadata=None, **other)
    picture, said = saving(tmp_path / "a.tif")
    assert said == ["holds 3 pages; the first is used"] and picture.layers == ("0", "1", "2")
    assert np.abs(picture.pixels - little_cms(PRESS, first)).max() < TOLERANCE["signal"]
    assert np.array_equal(files.read(tmp_path / "a.tif", layer=1).pixels, second)
    picture, said = saving(tmp_path / "a.tif", 2)
    wanted = little_cms(PROFILES["lut8"], third[..., :4].copy())
    assert not said and np.abs(picture.pixels[..., :3] - wanted).max() < TOLERANCE["signal"]


def test_a_stored_orientation_turns_inks(tmp_path) -> None:
    inks = drawn()
    save(tmp_path / "a.tif", inks, extratags=[(274, 3, 1, 6, True)])
    found = saving(tmp_path / "a.tif")[0].upright().pixels
    assert np.abs(found - np.rot90(little_cms(PRESS, inks), -1)).max() < TOLERANCE["signal"]


MISFITS = {
    "is for RGB": reference.rgb_profile("Display P3", reference.parametric(0, 2.2)),
    "is for gray": reference.gray_profile(reference.parametric(0, 2.2)),
    "is for CIELAB": PRESS.replace(b"CMYK", b"Lab ", 1),
    "has no tables that make light of inks": of_table(b"", tag="gamt"),
    "has damaged tables": of_table(b"mft2".ljust(64, b"\0")),
    "is cut off": PRESS[:5000],
    "is damaged": b"\0" * 140,
}


@pytest.mark.parametrize("words", MISFITS)
@pytest.mark.parametrize("suffix", ["tif", "jpg"])
def test_profiles_that_do_not_fit(words, suffix, tmp_path) -> None:
    path, inks = tmp_path / f"a.{suffix}", drawn()
    if suffix == "tif":
        save(path, inks, MISFITS[words])
    else:
        Image.fromarray(inks, "CMYK").save(path, quality=100, subsampling=0, icc_profile=MISFITS[words])
    picture, said = saving(path)
    line = f"is CMYK and its ICC profile {words}; colours are taken as (1 − ink)(1 − black) of sRGB"
    assert (said, picture.metadata.icc, picture.inks) == ([line], None, files.Inks("uint8"))
    assert np.abs(picture.pixels / 255 - formula(inks)).max() < (0.51 if suffix == "tif" else 4) / 255


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp"])
def test_a_profile_of_inks_beside_rgb(suffix, clpix, tmp_path) -> None:
    """It cannot be meant, and is left out: no file may say that its RGB is inks."""
    path, out = tmp_path / f"a.{suffix}", tmp_path / "out.png"
    Image.fromarray(drawn("uint8", 3)).save(path, icc_profile=PRESS)
    run = clpix("blur", path, "--sigma", 1, "-o", out)
    line = f"clpix: warning: {path}: its ICC profile is for inks; colours are taken as sRGB\n"
    assert (run.code, run.err) == (0, line) and files.read(out).metadata.icc is None


def test_no_file_gets_a_profile_of_inks(tmp_path) -> None:
    from gpuops import GpuopsWarning

    picture = files.Picture(drawn("uint8", 3), metadata=files.Metadata(PRESS))
    for name in ("a.png", "a.tif", "a.jpg", "a.jxl", "a.webp"):
        with pytest.warns(
            GpuopsWarning, match="the ICC profile is for inks and does not fit; it is left out"
        ):
            files.write(tmp_path / name, picture)
        assert files.read(tmp_path / name).metadata.icc is None


def test_inks_that_are_refused(tmp_path) -> None:
    path = tmp_path / "a.tif"
    save(path, drawn()[..., :4], extratags=[(332, 3, 1, 2, True)])
    with pytest.raises(FileError, match="inks or channels beyond CMYK"):
        files.read(path)
    for dtype, name in ((np.float32, "float"), (np.float16, "half")):
        save(path, (drawn() / 255).astype(dtype))
        with pytest.raises(
            FileError, match=f"holds {name} samples of inks; convert it to 8 or 16 bits first"
        ):
            files.read(path)
    save(path, drawn())
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(FileError, match="cut off or damaged"):
        files.read(path)
    Image.fromarray(drawn(size=(64, 64)), "CMYK").save(tmp_path / "a.jpg", icc_profile=PRESS)
    (tmp_path / "a.jpg").write_bytes((tmp_path / "a.jpg").read_bytes()[:-3000])
    with pytest.raises(FileError, match="cut off or damaged"):
        files.read(tmp_path / "a.jpg")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PROFILES)
def test_damaged_profiles_are_refused(name) -> None:
    """Bytes that are something else, and every truncation, are fit or one line."""
    profile, rng = PROFILES[name], np.random.default_rng(8)
    for _ in range(40):
        damaged = bytearray(profile)
        for at in rng.integers(0, 500, 3):
            damaged[at] = rng.integers(256)
        for block in (bytes(damaged), profile[: rng.integers(len(profile))]):
            try:
                icc.check_for_inks(block)
            except ColourError as error:
                assert str(error)


@pytest.mark.cases(1)
@each(dtype__alpha__tiled__by_rows=pairs(("uint8", "uint16"), *3 * [(False, True)]))
def test_results_are_srgb_of_the_files_depth(clpix, dtype, alpha, tiled, by_rows, tmp_path, monkeypatch):
    if by_rows:
        in_blocks(monkeypatch)
        monkeypatch.setattr("gpuops.rows.budget.of_machine", lambda: 2)
    inks, largest = drawn(dtype, 4 + alpha, (61, 67)), np.iinfo(dtype).max
    options: dict[str, Any] = {"extrasamples": ["unassalpha"]} if alpha else {}
    save(tmp_path / "in.tif", inks, **options, **({"tile": (16, 16)} if tiled else {"rowsperstrip": 7}))
    out = tmp_path / "out.tif"
    run = clpix("grade", tmp_path / "in.tif", "--exposure", 1, "then", "grade", "--exposure", -1, "-o", out)
    assert run.code == 0 and "clipped" in run.err and len(run.err.splitlines()) == 1
    picture = files.read(out)
    assert (picture.pixels.dtype, picture.alpha, picture.inks) == (dtype, alpha, None)
    wanted = little_cms(PRESS, inks[..., :4].copy()).clip(0, 1)
    assert np.abs(picture.pixels[..., :3] / largest - wanted).max() < TOLERANCE["signal"] + 0.51 / largest
    if alpha:
        assert np.array_equal(picture.pixels[..., 3], inks[..., 4])


def test_large_files_come_by_rows(tmp_path) -> None:
    """Rows are those of the whole, whatever the strips and tiles."""
    for options in ({"tile": (16, 16)}, {"rowsperstrip": 5}):
        inks = drawn("uint8", 5, (100, 50))
        save(tmp_path / "a.tif", inks, extrasamples=["unassalpha"], **options)
        whole = files.read(tmp_path / "a.tif").pixels
        strips = files.open_rows(str(tmp_path / "a.tif"), None, 100)
        assert strips is not None and strips.picture.pixels.shape == whole.shape
        assert strips.picture.pixels.dtype == np.float32 and strips.picture.depth == np.uint8
        blocks = list(strips.rows(16))
        assert len(blocks) > 4 and np.array_equal(np.concatenate(blocks), whole)
    # What OpenImageIO cannot read, or makes RGB of: compressed with zstd, and as JPEG.
    for options in ({"tile": (32, 32)}, {"rowsperstrip": 16}):
        for compression, channels in (("zstd", 4), ("jpeg", 4), ("zstd", 3)):
            kind = "separated" if channels == 4 else "rgb"
            tifffile.imwrite(
                tmp_path / "a.tif", inks[..., :channels], photometric=kind, compression=compression,
                iccprofile=PRESS if channels == 4 else None, metadata=None, **options,
            )  # fmt: skip
            whole = files.read(tmp_path / "a.tif").pixels
            stored = tifffile.imread(tmp_path / "a.tif")
            wanted = little_cms(PRESS, stored) if channels == 4 else stored
            assert np.abs(whole - wanted).max() < TOLERANCE["signal"]
            strips = files.open_rows(str(tmp_path / "a.tif"), None, 100)
            assert strips is not None and strips.least == (32 if "tile" in options else 16)
            blocks = list(strips.rows(33))
            assert len(blocks) == 4 and np.array_equal(np.concatenate(blocks), whole)
    content = (tmp_path / "a.tif").read_bytes()
    (tmp_path / "a.tif").write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(FileError, match="cut off or damaged"):
        list(strips.rows(33))
    Image.fromarray(inks[..., :4].copy(), "CMYK").save(tmp_path / "a.jpg", icc_profile=PRESS)
    with pytest.raises(files.NeedsWholeFile, match="is a JPEG of inks"):
        files.open_rows(str(tmp_path / "a.jpg"), None, 100)
    Image.fromarray(inks[..., :4].copy(), "CMYK").save(tmp_path / "a.jpg")
    assert files.open_rows(str(tmp_path / "a.jpg"), None, 100) is not None


def test_convert_to_formats_of_light_and_wide_colours(gpu, clpix, tmp_path) -> None:
    inks = drawn()
    save(tmp_path / "in.tif", inks)
    wanted = little_cms(PRESS, inks)
    assert clpix("convert", tmp_path / "in.tif", "-o", tmp_path / "a.exr", "--dtype", "float").code == 0
    found = files.read(tmp_path / "a.exr")
    assert (
        found.linear and np.abs(signal(found.pixels.astype(float)) - wanted).max() < 2 * TOLERANCE["signal"]
    )
    run = clpix(
        "convert", tmp_path / "in.tif", "-o", tmp_path / "a.png", "--colour", "rec2020", "--dtype", "uint16"
    )
    assert run.code == 0
    picture = files.read(tmp_path / "a.png")
    to_2020 = np.linalg.inv(reference.matrix("Rec. 2020"))
    of_light = np.where(wanted < 0, -1, 1) * reference.srgb_light(np.abs(wanted))
    inside = ((of_light @ to_2020.T > 0) & (of_light @ to_2020.T < 1)).all(-1)
    found_light = light.of_host(gpu, picture.pixels, picture.colour, alpha=False)[0]
    assert np.abs(found_light - of_light)[inside].max() < 1e-3


def test_stored_values_are_srgb_signals(clpix, tmp_path) -> None:
    """--space encoded, and a spectrum and its inverse, work on the sRGB signals, and give the file's depth back."""
    inks = drawn(size=(32, 32))
    inks[..., :3] //= 4
    save(tmp_path / "in.tif", inks)
    wanted = np.rint(little_cms(PRESS, inks).clip(0, 1) * 255)
    for first, second in ((("fft",), "ifft"), (("dwt",), "idwt")):
        middle, out = tmp_path / "m.npz", tmp_path / f"{second}.png"
        assert clpix(*first, tmp_path / "in.tif", "-o", middle, "--overwrite").code == 0
        run = clpix(second, middle, "-o", out)
        assert run.code == 0 and all("clipped" in line for line in run.err.splitlines())
        assert files.read(out).pixels.dtype == np.uint8 and np.abs(files.read(out).pixels - wanted).max() <= 1
    run = clpix(
        "blur", tmp_path / "in.tif", "--sigma", 0, "--space", "encoded", "-o", tmp_path / "b.png", "--strip"
    )
    assert run.code == 0 and np.array_equal(files.read(tmp_path / "b.png").pixels, wanted)
    run = clpix("dwt", tmp_path / "in.tif", "--integer", "-o", tmp_path / "n.npz")
    assert run.code == 1 and "--integer needs 8- or 16-bit pixels" in run.err


def test_compare(clpix, tmp_path) -> None:
    """Inks are compared by the colours that they make, with RGB and with each other."""
    inks = drawn()
    save(tmp_path / "a.tif", inks)
    Image.fromarray(np.rint(little_cms(PRESS, inks).clip(0, 1) * 255).astype(np.uint8)).save(
        tmp_path / "a.png"
    )
    inks[5, 6, 1] ^= 128
    save(tmp_path / "b.tif", inks)
    assert clpix("compare", tmp_path / "a.tif", tmp_path / "a.tif", "--max-error", 0).code == 0
    assert clpix("compare", tmp_path / "a.tif", tmp_path / "b.tif", "--max-error", 0).code == 1
    assert (
        clpix("compare", tmp_path / "a.tif", tmp_path / "a.png", "--min-psnr", 30).code == 0
    )  # it is clipped


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [(), ("--stats",)])
def test_info(clpix, tmp_path, options) -> None:
    path = tmp_path / "a.tif"
    save(path, drawn("uint16", 5), extrasamples=["unassalpha"])
    run = clpix("info", path)
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        f"{path}: TIFF, 31 × 29, CMYK with alpha, 16 bits, as its profile says\n"
        f"  ICC profile “press”, {len(PRESS)} bytes\n"
        "  EXIF, 38 bytes\n"
    )
    (found,) = json.loads(clpix("info", path, "--json", *options).out)
    assert (found["inks"], found["dtype"], found["channels"]) == ("CMYK", "uint16", ["R", "G", "B", "A"])
    assert (found["metadata"]["icc"], found["metadata"]["icc_description"]) == (len(PRESS), "press")
    save(path, drawn(), None)
    run = clpix("info", path)
    assert (
        run.out == f"{path}: TIFF, 31 × 29, CMYK, 8 bits, without a profile\n  EXIF, 38 bytes\n"
        and WITHOUT in run.err
    )
    Image.fromarray(drawn("uint8", 3)).save(tmp_path / "b.png")
    assert json.loads(clpix("info", tmp_path / "b.png", "--json").out)[0]["inks"] is None


def lightness(gray: np.ndarray) -> np.ndarray:
    """CIE L* of gray, with a toe."""
    return 100 * (0.1 * gray + 0.9 * gray**1.3)


def of_gray(tint: float = 0.0, **tags: bytes) -> bytes:
    def lab(v: np.ndarray) -> np.ndarray:
        level = lightness(v[..., 0])
        return tables.lab16(np.stack([level, tint * (100 - level), 0 * level], -1))

    table = tables.lut16(33, lab, channels=1)
    return tables.table_profile(table, b"Lab ", version=2, space=b"GRAY", name="press in gray", **tags)


GRAY = of_gray()


def gray_by_little_cms(profile: bytes, gray: np.ndarray) -> np.ndarray:
    """sRGB signals of gray's luminance, in double."""
    xyz = cms.xyz(profile, gray.reshape(1, -1), "gray")
    return signal(xyz[..., 1].reshape(gray.shape))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("alpha", [False, True])
def test_gray(gpu, alpha, dtype) -> None:
    values = np.random.default_rng(9).random((23, 27, 1 + alpha))
    most = np.iinfo(dtype).max if dtype[0] == "u" else 1
    pixels = (np.rint(values * most) if dtype[0] == "u" else values).astype(dtype)
    colour, besides = icc.colour_of(GRAY)
    assert (besides, colour.transfer) == ("", "table")
    found = light.of_pixels(on_device(gpu, pixels), colour, alpha=alpha).numpy().astype(float)
    stored = pixels[..., :1].astype(float) / most
    error = np.abs(signal(found[..., :1]) - gray_by_little_cms(GRAY, stored))
    assert error.max() < TOLERANCE["codes" if dtype[0] == "u" else "gray"]
    if alpha:
        assert np.abs(found[..., 1] - pixels[..., 1].astype(float) / most).max() < 1e-7


def test_gray_at_the_tables_steps() -> None:
    """Independent of Little CMS: CIE L* as the table has it."""
    colour, _ = icc.colour_of(GRAY)
    steps = np.linspace(0, 1, 33)
    level = np.rint(lightness(steps) / 100 * 65280) / 65280 * 100
    wanted = np.where(level > 8, ((level + 16) / 116) ** 3, level * 27 / 24389)
    assert np.abs(colour.curves[0].light(steps) - wanted).max() < 1e-5


@pytest.mark.cases(1)
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("suffix", ["png", "tif", "jpg"])
def test_gray_files(clpix, suffix, by_rows, tmp_path, monkeypatch) -> None:
    if by_rows:
        in_blocks(monkeypatch)
    gray = np.arange(40 * 48, dtype=np.uint32).reshape(40, 48) * 255 // 1919
    path, out = tmp_path / f"in.{suffix}", tmp_path / "out.png"
    Image.fromarray(gray.astype(np.uint8)).save(
        path, icc_profile=GRAY, **({"quality": 100} if suffix == "jpg" else {})
    )
    stored = np.asarray(Image.open(path)) / 255
    run = clpix("grade", path, "--exposure", 0.5, "then", "grade", "--exposure", -0.5, "-o", out)
    assert (run.code, run.err) == (0, "")
    found = files.read(out)
    assert found.channels == 1 and found.metadata.icc is None
    assert np.abs(found.pixels[..., 0] / 255 - gray_by_little_cms(GRAY, stored)).max() < 0.51 / 255
    run = clpix("blur", path, "--sigma", 1, "--space", "encoded", "-o", out, "--overwrite")
    assert (run.code, run.err) == (0, "") and files.read(out).metadata.icc == GRAY
    run = clpix("info", path)
    assert "gray, 8 bits, table-encoded" in run.out and "“press in gray”" in run.out


def test_gray_with_a_tint_and_damaged(tmp_path) -> None:
    Image.fromarray(drawn()[..., 0].copy()).save(tmp_path / "a.png", icc_profile=of_gray(0.2))
    picture, said = saving(tmp_path / "a.png")
    assert said == ["of its ICC profile the luminance is used, and not its tint"]
    assert picture.colour.transfer == "table"
    damaged = tables.table_profile(b"mft2".ljust(64, b"\0"), b"Lab ", space=b"GRAY")
    with pytest.raises(ColourError, match="has damaged tables"):
        icc.colour_of(damaged)
    tags = {
        "desc": reference.named("g"),
        "kTRC": reference.parametric(0, 1.8),
        "A2B0": b"mft2".ljust(64, b"\0"),
    }
    colour, besides = icc.colour_of(reference.profile(tags, b"GRAY"))
    assert (colour.transfer, besides) == ("gamma 1.8", "tables")
