"""What docs/formats.md says that small formats keep, by readers that are not ours: libraries, or a few lines.

These are the cells of DPX, Radiance HDR, PNM, PAM, TGA, QOI, PFM, BMP and GIF: pixels of every depth and number of
channels, every kind of metadata, and colours.
"""

import runpy
import struct
import warnings
from collections.abc import Callable
from pathlib import Path

import imagecodecs
import numpy as np
import OpenImageIO
import PIL.Image
import pytest
import tifffile

from gpuops.files import Metadata, Picture, write
from gpuops.pixels.spaces import named

from .choices import each, some
from .reference import colour as reference
from .test_more_formats import by_oiio

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "formats.py"))
TABLES = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in SCRIPT["DOCUMENT"].read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
]
FORMATS = {
    "dpx": "DPX", "hdr": "Radiance HDR", "pnm": "PNM", "pam": "PAM", "tga": "TGA", "qoi": "QOI", "pfm": "PFM",
    "bmp": "BMP", "gif": "GIF",
}  # fmt: skip
DTYPES, CHANNELS, KINDS = SCRIPT["DTYPES"], SCRIPT["CHANNELS"], SCRIPT["KINDS"]


def by_pillow(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as image:
        return np.asarray(image)


def by_imagecodecs(path: Path) -> np.ndarray:
    return np.asarray(imagecodecs.rgbe_decode(path.read_bytes()))


def by_ffmpeg(path: Path) -> np.ndarray:
    """OpenImageIO does not skip the bytes by which rows of 8 bits are filled up to words (SMPTE ST 268-1)."""
    av = pytest.importorskip("av", reason="needs the extra video")
    with av.open(str(path), format="dpx_pipe") as file:
        return np.asarray(next(file.decode(video=0)).to_ndarray())


def netpbm(path: Path) -> np.ndarray:
    """The manuals pgm, ppm and pam of Netpbm; and Paul Debevec's page on PFM, whose rows begin below."""
    data = path.read_bytes()
    kind = data[:2]
    if kind == b"P7":
        head, _, body = data.partition(b"ENDHDR\n")
        told = dict(line.split(b" ", 1) for line in head.splitlines()[1:])
        width, height, channels, most = (int(told[key]) for key in (b"WIDTH", b"HEIGHT", b"DEPTH", b"MAXVAL"))
        names = {1: b"GRAYSCALE", 2: b"GRAYSCALE_ALPHA", 3: b"RGB", 4: b"RGB_ALPHA"}
        assert told[b"TUPLTYPE"] == names[channels]
    else:
        first, second, third, body = data.split(b"\n", 3)
        assert first == kind
        (width, height), channels = map(int, second.split()), 3 if kind in (b"P6", b"PF") else 1
        if kind in (b"PF", b"Pf"):
            assert float(third) == -1
            return np.frombuffer(body, "<f4").reshape(height, width, channels)[::-1]
        most = int(third)
    return np.frombuffer(body, "u1" if most < 256 else ">u2").reshape(height, width, channels)


READERS: dict[str, Callable[[Path], np.ndarray]] = {
    "dpx": by_ffmpeg, "hdr": by_imagecodecs, "pnm": netpbm, "pam": netpbm, "tga": by_pillow, "qoi": by_pillow,
    "pfm": netpbm, "bmp": by_oiio, "gif": by_oiio,
}  # fmt: skip


def cell(name: str, channels: int, dtype: str) -> str:
    """What the first table says of pixels."""
    row = next(i for i, row in enumerate(TABLES) if row[0] == name and len(row) == 7)
    return TABLES[row + channels - 1][3 + [*DTYPES].index(dtype)]


def fractions(pixels: np.ndarray) -> np.ndarray:
    return pixels.astype(np.float64) / (np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1)


@some(name=FORMATS, dtype=DTYPES, channels=CHANNELS)
def test_pixels(clpix, tmp_path, rng, name, dtype, channels) -> None:
    """As they were, in the depth that the table names, which is of sRGB for whole numbers, and of light for floats."""
    values = rng.random((20, 23, channels))
    if channels in (2, 4):
        values[:3, :, -1], values[3:6, :, -1] = 0, 1
    if name == "gif":  # of which few colours, and all or no alpha, stay
        values = np.rint(values * [3, 3, 3, 1][-channels:] if channels == 4 else values * 3) / 3
        values[..., -1] = np.rint(values[..., -1]) if channels in (2, 4) else values[..., -1]
    most = {"uint8": 255, "uint16": 65535}.get(dtype)
    before = (np.rint(values * most) if most else values).astype(dtype)
    options = {"extrasamples": ["unassalpha"]} if channels in (2, 4) else {}
    options |= {"planarconfig": "contig"} if channels > 1 else {}
    kind = "rgb" if channels > 2 else "minisblack"
    tifffile.imwrite(tmp_path / "in.tif", before.squeeze(), photometric=kind, metadata=None, **options)
    path = tmp_path / f"out.{name}"
    run = clpix("convert", tmp_path / "in.tif", "-o", path)
    assert run.code == 0, run.err
    said = cell(FORMATS[name], channels, dtype)
    held = next((key for key, text in DTYPES.items() if said == f"as {text}"), dtype)
    words = said if held == dtype else cell(FORMATS[name], channels, held)
    narrower = [*DTYPES].index(held) < [*DTYPES].index(dtype)
    assert ("the result has" in run.err) == narrower
    shares = fractions(before)
    colours = shares[..., : channels - (channels in (2, 4))]
    if dtype.startswith("float") != held.startswith("float"):
        colours = reference.srgb_light(colours) if most else reference.srgb_signal(colours)
    expected = [colours] if colours.shape[2] == 3 or "as RGB" not in words else [colours] * 3
    if channels in (2, 4) and "without alpha" not in words:
        expected.append(shares[..., -1:])
    else:
        assert channels in (1, 3) or "alpha" in run.err
    wanted = np.concatenate(expected, -1)
    there = READERS[name](path)
    assert there.dtype.newbyteorder("=") == (held if name != "hdr" else "float32")
    got = fractions(there.reshape(20, 23, -1))
    if name == "gif" and got.shape[2] > wanted.shape[2]:
        assert (got[..., 3] == 1).all()
        got = got[..., :3]
    assert got.shape == wanted.shape, words
    if name == "gif" and channels in (2, 4):  # what is not seen has no colour
        wanted[wanted[..., -1] == 0] = got[wanted[..., -1] == 0] = 0
    if name == "hdr":  # bytes of a common exponent
        assert (np.abs(got - wanted) <= wanted.max(-1, keepdims=True) / 128).all()
        return
    step = 0 if words == "exact" and held == dtype else 1e-6
    if held.startswith("uint"):
        step = (0.5 + 1e-2) / np.iinfo(held).max if held != dtype else 1e-9
    assert np.abs(got - wanted).max() <= step, (words, np.abs(got - wanted).max() / (step or 1))


#: Bytes of each kind of metadata that is written here.
MARKS = {
    "icc": b"acsp", "exif": b"II*\0", "xmp": b"xmpmeta", "attributes": b"a lake", "cards": b"M 31", "texts": b"A lake",
    "gain": b"\xff\xd8\xff",
}  # fmt: skip


def resolution(path: Path) -> tuple[float, float] | None:
    """Pixels per inch each way; of BMP by its header, BITMAPINFOHEADER."""
    if path.suffix == ".bmp":
        across, down = struct.unpack_from("<2i", path.read_bytes(), 38)
        return (across * 0.0254, down * 0.0254) if across or down else None
    if path.suffix == ".qoi" or path.suffix == ".pam":
        return None  # whose documents have no place for it
    spec = OpenImageIO.ImageInput.open(str(path)).spec()
    across, down = (spec.get_float_attribute(key) for key in ("XResolution", "YResolution"))
    assert spec.get_float_attribute("PixelAspectRatio", 1) == 1
    return (across, down) if across or down else None


@each(name=[name for name in FORMATS for _ in KINDS], kind=[*KINDS] * len(FORMATS))
def test_metadata(tmp_path, name, kind) -> None:
    """What the table says is kept is there. Of all else there is nothing, and a line names it."""
    floats = name in ("hdr", "pfm")
    metadata = Metadata(**{kind: SCRIPT["METADATA"][kind]})
    pixels = np.full((37, 41, 3), 0.5, np.float32) if floats else np.full((37, 41, 3), 99, np.uint8)
    path = tmp_path / f"a.{name}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write(path, Picture(pixels, linear=floats, metadata=metadata))
    head = next(row for row in TABLES if row[0] == "format" and KINDS[kind] in row)
    row = next(row for row in TABLES if row[0] == FORMATS[name] and len(row) == len(head))
    kept = row[head.index(KINDS[kind])] == "kept"
    said = [str(one.message) for one in caught if SCRIPT["WARNED"].get(kind, KINDS[kind]) in str(one.message)]
    assert len(said) == (not kept) and all(text.startswith(f"{path}: ") for text in said), caught
    data = path.read_bytes()
    assert {key for key, mark in MARKS.items() if mark in data} == ({kind} & MARKS.keys() if kept else set())
    wanted = (300, 150) if kept and kind == "resolution" else None
    assert resolution(path) == (wanted and pytest.approx(wanted, abs=0.02))
    there = READERS[name](path)[..., :3]
    if kind == "frame":  # of 50 by 60 pixels, with the picture 2 and 3 from its corner
        assert there.shape[:2] == (60, 50) and there[:3].max() == there[:, :2].max() == 0
        there = there[3:40, 2:43]
    assert there.shape == (37, 41, 3) and np.ptp(there) == 0 < there.min()
    if name not in ("qoi", "pam"):
        spec = OpenImageIO.ImageInput.open(str(path)).spec()
        assert (spec.x, spec.y) == (0, 0) and (spec.full_width, spec.full_height) == (spec.width, spec.height)
        assert spec.getattribute("ICCProfile") is None


@each(name=FORMATS, command=[("convert",), ("flip", "--axis", "vertical"), ("blur", "--sigma", "0")])
def test_colours(clpix, tmp_path, name, command) -> None:
    """Colours of Display P3 become sRGB's, or light of Rec. 709, since no such file says what they are."""
    y, x = np.mgrid[:24, :32]
    light = np.stack((x / 40 + 0.2, y / 30 + 0.1, (x + y) / 60), -1)[:, :, :]
    if name == "gif":
        light = np.rint(light * 5) / 5
    values = np.rint(reference.srgb_signal(light) * 65535).astype(np.uint16)
    profile = reference.rgb_profile(
        "Display P3", reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    )
    tifffile.imwrite(tmp_path / "in.tif", values, photometric="rgb", iccprofile=profile, metadata=None)
    path = tmp_path / f"out.{name}"
    run = clpix(command[0], tmp_path / "in.tif", *command[1:], "-o", path)
    assert run.code == 0 and "profile" not in run.err, run.err
    expected = reference.srgb_light(values / 65535) @ reference.matrix("Display P3").T
    expected = expected[::-1] if command[0] == "flip" else expected
    there = fractions(READERS[name](path).reshape(24, 32, -1)[..., :3])
    if name in ("hdr", "pfm"):
        assert np.abs(there - expected).max() <= (0.02 if name == "hdr" else 1e-4)
        return
    deep = name in ("dpx", "pnm", "pam")
    assert np.abs(there - reference.srgb_signal(expected.clip(0, 1))).max() <= (1e-3 if deep else 0.6 / 255)


@each(name=FORMATS)
def test_light_of_whole_numbers(tmp_path, name) -> None:
    """DPX says that its numbers are linear light (SMPTE ST 268-1, transfer 2, at byte 801). Of others a line says that
    they do not."""
    if name in ("hdr", "pfm"):
        pytest.skip("which hold floats, of light")
    path = tmp_path / f"a.{name}"
    dtype = np.uint16 if name in ("dpx", "pnm", "pam") else np.uint8
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write(path, Picture(np.full((5, 6, 3), 99, dtype)).meant(named("linear")))
    said = [str(one.message) for one in caught]
    if name == "dpx":
        assert said == [] and path.read_bytes()[801] == 2
        spec = OpenImageIO.ImageInput.open(str(path)).spec()
        assert spec.get_string_attribute("dpx:Transfer") == "Linear"
    else:
        assert len(said) == 1 and "cannot say" in said[0]
