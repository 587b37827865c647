"""JPEG with a gain map: light beside the formulas of ISO 21496-1 and Ultra HDR in double precision."""

import io
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.ndimage
from PIL import Image
from PIL.MpoImagePlugin import MpoImageFile

from gpuops import files
from gpuops.errors import FileError, GpuopsWarning, ParameterError
from gpuops.files import Metadata, NeedsWholeFile, Picture, read, strips, write
from gpuops.files.jpeg_segments import without_gain_map
from gpuops.params.storage import Storage
from gpuops.pixels.colour import of_primaries
from gpuops.pixels.curves import LINEAR_CURVE
from gpuops.pixels.primaries import NAMED

from .choices import each, pairs, thinned
from .conftest import in_blocks
from .reference import colour as reference
from .test_foreign_files import ULTRA_HDR
from .test_formats import SCRIPT

LIGHT = Storage(gain_map=True)
EXIF, XMP = SCRIPT["EXIF"], SCRIPT["XMP"]
GAMUTS = ("Rec. 709", "Display P3", "Rec. 2020")
#: How a segment with a gain map's description begins.
ISO = b"urn:iso:std:iso:ts:21496:-1\0"
#: Of reading: libultrahdr's tables of sRGB's curve and of gains have 1024 steps, and halfs 11 bits.
READ = 4e-3
#: Of writing at quality 100, of the median and of nineteen in twenty values: a step of the map, which is cut off and
#: not rounded, is 1.5 %, and a code of the picture as much in its middle.
MEDIAN, MOST = 0.02, 0.06


class Description(NamedTuple):
    """What a gain map is to be applied with: numbers of each channel, and whether in the picture's own primaries."""

    least: np.ndarray
    most: np.ndarray
    gamma: np.ndarray
    own: np.ndarray
    other: np.ndarray
    in_own: bool = True


def described(block: bytes) -> Description:
    """ISO 21496-1, annex C: two versions, flags, the headrooms, and of each channel five fractions."""
    assert struct.unpack_from(">HH", block) == (0, 0)
    flags = block[4]
    assert not flags & ~0xC0
    channels = 3 if flags & 0x80 else 1
    numbers = struct.unpack_from(">" + "II" * 2 + "iIiIIIiIiI" * channels, block, 5)
    fractions = np.array(numbers[4::2], float) / numbers[5::2]
    return Description(*np.tile(fractions.reshape(channels, 5), (3 // channels, 1)).T, bool(flags & 0x40))


def described_by_xmp(packet: bytes) -> Description:
    """Ultra HDR Image Format 1.1: the attributes of hdrgm, with their defaults."""
    space = "{http://ns.adobe.com/hdr-gain-map/1.0/}"
    (found,) = [e.attrib for e in ElementTree.fromstring(packet).iter() if f"{space}GainMapMax" in e.attrib]
    defaults = {"GainMapMin": 0, "GainMapMax": 1, "Gamma": 1, "OffsetSDR": 1 / 64, "OffsetHDR": 1 / 64}
    return Description(
        *(np.full(3, float(found.get(space + name, usual))) for name, usual in defaults.items())
    )


def stored(data: bytes) -> np.ndarray:
    """The samples of a JPEG as fractions, colours from its brightness and colour differences without rounding."""
    with Image.open(io.BytesIO(data)) as image:
        if image.mode == "L":
            return np.repeat(np.asarray(image)[:, :, None], 3, axis=2) / 255
        image.draft("YCbCr", image.size)
        y, cb, cr = np.moveaxis(np.asarray(image).astype(float), 2, 0)
    cb, cr = cb - 128, cr - 128
    return np.stack((y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb), 2).clip(0, 255) / 255


def primaries_of(data: bytes) -> str | None:
    """The primaries that a JPEG's profile names by its red one."""
    with Image.open(io.BytesIO(data)) as image:
        profile = image.info.get("icc_profile")
    if profile is None:
        return None
    at = profile.index(b"rXYZ")
    (offset,) = struct.unpack_from(">I", profile, at + 4)
    red = np.array(struct.unpack_from(">3i", profile, offset + 8)) / 65536
    return min(GAMUTS, key=lambda name: np.abs(reference.d50_columns(name)[:, 0] - red).max())


def halves(data: bytes) -> tuple[bytes, bytes]:
    """A file's two pictures, as its index (CIPA DC-007) says where they are."""
    with MpoImageFile(io.BytesIO(data)) as image:
        first, second = image.mpinfo[0xB002]
    start = data.index(b"MPF\0") + 4 + second["DataOffset"]
    assert (first["DataOffset"], first["Size"], start + second["Size"]) == (0, start, len(data))
    return data[:start], data[start:]


def applied(data: bytes) -> tuple[np.ndarray, str]:
    """The light of a file, and its primaries: (base + own) · 2^(least + (most − least) g^(1/gamma)) − other."""
    first, second = halves(data)
    with Image.open(io.BytesIO(second)) as image:
        blocks = [block for kind, block in image.applist if kind == "APP2" and block.startswith(ISO)]
        how = described(blocks[0][len(ISO) :]) if blocks else described_by_xmp(image.info["xmp"])
    own = primaries_of(first) or "Rec. 709"
    to = primaries_of(second) or own
    turn = np.linalg.solve(reference.d50_columns(to), reference.d50_columns(own))
    light = reference.srgb_light(stored(first))
    with Image.open(io.BytesIO(second)) as image:
        gray = image.mode == "L"
        gains = np.asarray(image).astype(float) / 255
    gains = covering(np.repeat(gains[:, :, None], 3, axis=2) if gray else gains, *light.shape[:2])
    return lit(light, gains, how, turn), to


def lit(light: np.ndarray, gains: np.ndarray, how: Description, turn: np.ndarray) -> np.ndarray:
    """The light with gains, in the primaries that ``turn`` leads to: (base + own) · 2^(…) − other."""
    if not how.in_own:
        light = light @ turn.T
    light = (light + how.own) * 2 ** (
        how.least + (how.most - how.least) * gains ** (1 / how.gamma)
    ) - how.other
    return np.clip(light @ turn.T if how.in_own else light, 0, 10000 / 203)


def covering(gains: np.ndarray, height: int, width: int) -> np.ndarray:
    """A map of any size at the pixels of its picture, linear between the middles of its own."""
    if gains.shape[:2] == (height, width):
        return gains
    rows = (np.arange(height) + 0.5) * gains.shape[0] / height - 0.5
    columns = (np.arange(width) + 0.5) * gains.shape[1] / width - 0.5
    places = np.meshgrid(rows, columns, indexing="ij")
    planes = [
        scipy.ndimage.map_coordinates(plane, places, order=1, mode="nearest")
        for plane in np.moveaxis(gains, 2, 0)
    ]
    return np.stack(planes, axis=2)


def scene(height: int = 48, width: int = 64) -> np.ndarray:
    """Smooth light of 0.03 to 40, (height, width, 3), of colours within all primaries."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    brightness = 2 ** (10 * x - 5 + np.sin(7 * y))
    return np.stack((brightness, brightness * (1 - 0.5 * y), brightness * (0.6 + 0.4 * x)), axis=2).clip(
        0, 40
    )


def light_of(name: str) -> Any:
    return None if name == "Rec. 709" else of_primaries(NAMED[name], LINEAR_CURVE)


def picture(values: np.ndarray, primaries: str = "Rec. 709", **metadata: Any) -> Picture:
    return Picture(
        values.astype(np.float16), linear=True, metadata=Metadata(colour=light_of(primaries), **metadata)
    )


def segment(marker: int, block: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", 2 + len(block)) + block


def joined(base: bytes, gains: bytes, announced: bytes, description: bytes) -> bytes:
    """A file of two JPEGs with segments before theirs, and an index of them."""
    second = gains[:2] + description + gains[2:]
    size = len(base) + len(announced) + 4 + 86
    entries = struct.pack(
        "<IIIHHIIIHH", 0x030000, size, 0, 0, 0, 0, len(second), size - 2 - len(announced) - 8, 0, 0
    )
    index = b"II*\0\x08\0\0\0" + struct.pack("<H", 3)
    index += struct.pack("<HHI4s", 0xB000, 7, 4, b"0100") + struct.pack("<HHII", 0xB001, 4, 1, 2)
    index += struct.pack("<HHIII", 0xB002, 7, 32, 50, 0) + entries
    return base[:2] + announced + segment(0xE2, b"MPF\0" + index) + base[2:] + second


def jpeg(pixels: np.ndarray, **options: Any) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=95, subsampling=0, **options)
    return stream.getvalue()


def made(xmp: bool, gray: bool, profile: bytes | None = None) -> bytes:
    """A file as no encoder here makes it: gamma, offsets, factors below 1; numbers of each channel, or one for all."""
    y, x = np.mgrid[0:40, 0:56]
    base = np.stack((4 * x, 6 * y, 255 - 2 * x - 3 * y), axis=2).clip(0, 255).astype(np.uint8)
    gains = np.stack((3 * y + 2 * x, 250 - 4 * y, 4 * x), axis=2).clip(0, 255).astype(np.uint8)
    kept = {"icc_profile": profile} if profile else {}
    first, second = jpeg(base, **kept), jpeg(gains[:, :, 0] if gray else gains)
    name = b"http://ns.adobe.com/xap/1.0/\0"
    around = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    around += b'<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" %s/>'
    around += b"</rdf:RDF></x:xmpmeta>"
    if xmp:
        numbers = (
            b'hdrgm:GainMapMin="-0.5" hdrgm:GainMapMax="3.25" hdrgm:Gamma="1.5" hdrgm:HDRCapacityMax="3.25"'
        )
        announced, description = around % b"", around % numbers
        return joined(first, second, segment(0xE1, name + announced), segment(0xE1, name + description))
    numbers = b""
    for least, most, gamma, own, other in ((-64, 300, 64, 1, 2), (0, 200, 96, 1, 1), (-20, 250, 128, 0, 0)):
        numbers += struct.pack(">iIiIIIiIiI", least, 100, most, 100, gamma, 64, own, 64, other, 64)
    block = struct.pack(">HHBIIII", 0, 0, 0xC0, 0, 1, 3, 1) + numbers
    return joined(first, second, segment(0xE2, ISO + bytes(4)), segment(0xE2, ISO + block))


def display_p3() -> bytes:
    curve = reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    return reference.rgb_profile("Display P3", curve)


FILES = {
    "libultrahdr": lambda: ULTRA_HDR,
    "each channel": lambda: made(xmp=False, gray=False),
    "xmp, gray map": lambda: made(xmp=True, gray=True),
    "xmp, Display P3": lambda: made(xmp=True, gray=False, profile=display_p3()),
}


@pytest.mark.parametrize("name", FILES)
def test_light_is_that_of_the_formula(name, tmp_path) -> None:
    data = FILES[name]()
    (tmp_path / "a.jpg").write_bytes(data)
    expected, primaries = applied(data)
    found = read(tmp_path / "a.jpg", layer="hdr")
    assert found.pixels.dtype == np.float16
    assert (found.linear, found.alpha, found.layer, found.layers) == (True, False, "hdr", ("sdr", "hdr"))
    assert found.colour.primaries == primaries == ("Display P3" if "P3" in name else "Rec. 709")
    assert found.metadata.icc is None and expected.max() > 2
    assert np.abs(found.pixels - expected).max() < READ * expected.max()
    assert np.median(np.abs(found.pixels - expected) / (expected + 1e-3)) < READ


def test_the_picture_itself_is_read_without_a_word_if_asked_for(tmp_path) -> None:
    (tmp_path / "a.jpg").write_bytes(FILES["libultrahdr"]())
    usual = read(tmp_path / "a.jpg")
    named = read(tmp_path / "a.jpg", layer="sdr")
    assert np.array_equal(named.pixels, usual.pixels)
    assert (named.layer, usual.layer, usual.pixels.dtype) == ("sdr", "sdr", np.uint8)
    with pytest.raises(FileError, match=r"a.jpg: has no layer 'x'; it has layers sdr and hdr$"):
        read(tmp_path / "a.jpg", layer="x")


def test_without_a_gain_map_there_is_no_such_layer(tmp_path) -> None:
    (tmp_path / "a.jpg").write_bytes(jpeg(np.zeros((16, 16, 3), np.uint8)))
    with pytest.raises(FileError, match=r"a.jpg: has no layer 'hdr'; it has no layers$"):
        read(tmp_path / "a.jpg", layer="hdr")


def test_metadata_and_other_blocks(tmp_path) -> None:
    """EXIF with the orientation, XMP without what is said of the gain map; a further block is named."""
    data = made(xmp=True, gray=True)
    added = segment(0xE1, b"Exif\0\0" + EXIF) + segment(0xED, b"Photoshop 3.0\0")
    (tmp_path / "a.jpg").write_bytes(data[:2] + added + data[2:])
    with pytest.warns(GpuopsWarning, match="a.jpg: is read without its IPTC block$"):
        found = read(tmp_path / "a.jpg", layer="hdr").metadata
    assert (found.exif, found.orientation) == (EXIF, 6) and found.xmp is not None
    assert b"hdrgm" not in found.xmp
    ElementTree.fromstring(found.xmp)


def test_xmp_keeps_all_else() -> None:
    kept = (
        b'<r:RDF xmlns:r="r"><r:Description xmlns:xmp="x" xmp:Rating="3"%s><xmp:A/>%s</r:Description></r:RDF>'
    )
    spaces = b' xmlns:Container="http://ns.google.com/photos/1.0/container/" xmlns:h="http://ns.adobe.com/hdr-gain-map/1.0/"'
    spaces += b" xmlns:Item='http://ns.google.com/photos/1.0/container/item/' h:Version='1.0'"
    inner = b'<Container:Directory><r:Seq><r:li><Container:Item Item:Length="9"/></r:li></r:Seq></Container:Directory>'
    inner += b'<h:A/><h:B r:x="1">text</h:B>'
    assert without_gain_map(kept % (spaces, inner)) == kept % (b"", b"")
    assert without_gain_map(kept % (b"", b"")) == kept % (b"", b"")
    assert without_gain_map(b"<a>http://ns.adobe.com/hdr-gain-map/1.0/</a>") is None


def test_damage_is_one_line(clpix, tmp_path) -> None:
    data = made(xmp=False, gray=False)
    first, second = halves(data)
    at = second.index(ISO) + len(ISO)
    adobe = reference.rgb_profile("Display P3", reference.curve(563))
    cases = {
        "cut": (data[:-300], "its gain map is damaged"),
        "missing": (first, "its gain map is missing"),
        "unknown": (
            first + second[:at] + b"\0\7" + second[at + 2 :],
            "its gain map is damaged, or of a kind",
        ),
        "numbers": (first + second[: at + 21] + bytes(40) + second[at + 61 :], "its gain map is damaged"),
        "curve": (made(xmp=True, gray=True, profile=adobe), "its gain map is for colours other than sRGB"),
    }
    for name, (content, said) in cases.items():
        path = tmp_path / f"{name}.jpg"
        path.write_bytes(content)
        run = clpix("convert", path, "--layer", "hdr", "-o", tmp_path / "out.exr")
        assert run.code == 1
        assert run.err.startswith(f"clpix: error: {path}: {said}"), name
        assert run.err.endswith("; --layer sdr reads the picture without it\n") and run.err.count("\n") == 1
        assert not (tmp_path / "out.exr").exists()
        assert clpix("convert", path, "--layer", "sdr", "-o", tmp_path / f"{name}.png").code == 0


def test_large_ones_are_read_as_a_whole(tmp_path) -> None:
    path = str(tmp_path / "a.jpg")
    Path(path).write_bytes(made(xmp=False, gray=False))
    with pytest.raises(NeedsWholeFile, match="is read with its gain map") as caught:
        strips.open_rows(path, "hdr", 3 * 40 * 56 * 3)
    assert caught.value.pixels.nbytes == 40 * 56 * 3 * 2
    assert strips.open_rows(path, "hdr", 3 * 40 * 56 * 3 * 2) is None


@each(size__primaries=thinned(pairs([(48, 64), (8, 8), (9, 31), (101, 57)], GAMUTS), 4, arguments=2))
def test_light_comes_back(size, primaries, tmp_path) -> None:
    """By the formula, not by the reader of this program; and the tags by Pillow."""
    light = scene(*size)
    path = tmp_path / "a.jpg"
    write(path, picture(light, primaries), storage=Storage(100, gain_map=True))
    found, named = applied(path.read_bytes())
    assert named == primaries
    off = np.abs(found / light - 1)
    assert np.median(off) < MEDIAN and np.percentile(off, 95) < MOST
    back = read(path, layer="hdr")
    assert back.colour.primaries == primaries and np.abs(back.pixels - found).max() < 2 * READ * found.max()
    assert primaries_of(halves(path.read_bytes())[0]) == "Display P3"
    with Image.open(path) as image:
        assert (image.size, image.mode, image.n_frames) == (size[::-1], "RGB", 2)


def test_quality_makes_smaller_files(tmp_path) -> None:
    noisy = scene() * np.random.default_rng(3).uniform(0.8, 1.2, (48, 64, 3))
    sizes = []
    for quality in (30, 95, 100):
        write(tmp_path / f"{quality}.jpg", picture(noisy), storage=Storage(quality, gain_map=True))
        sizes.append((tmp_path / f"{quality}.jpg").stat().st_size)
    write(tmp_path / "usual.jpg", picture(noisy), storage=LIGHT)
    assert sizes[0] < sizes[1] < sizes[2]
    assert (tmp_path / "usual.jpg").read_bytes() == (tmp_path / "95.jpg").read_bytes()


def test_tags_by_another_reader(tmp_path) -> None:
    path = tmp_path / "a.jpg"
    write(path, picture(scene(), exif=EXIF, xmp=XMP, resolution=(300.0, 150.0, "in")), storage=LIGHT)
    first, _ = halves(path.read_bytes())
    assert first[2:4] == b"\xff\xe1"  # EXIF follows the beginning at once
    with Image.open(path) as image:
        assert image.info["xmp"] == XMP and image.info["dpi"] == (300, 150)
        assert dict(image.getexif())[0x010F] == "clpix" and image.getexif()[0x0112] == 6
    found = read(path, layer="hdr").metadata
    assert (found.exif, found.xmp, found.resolution) == (EXIF, XMP, (300.0, 150.0, "in"))


@pytest.mark.parametrize(("unit", "own"), [(0, None), (1, (300.0, 150.0, "in")), (2, (100.0, 50.0, "cm"))])
def test_the_resolution_is_that_of_the_picture(unit, own, tmp_path) -> None:
    """As in reading without the gain map; of files of others, too, whose unit may be the centimetre, or none."""
    path = tmp_path / "a.jpg"
    write(path, picture(scene(), exif=EXIF, resolution=own), storage=LIGHT)
    usual, found = (read(path, layer=name).metadata.resolution for name in ("sdr", "hdr"))
    assert usual == found == ((254, 127, "in") if own and own[2] == "cm" else own)
    data = bytearray(path.read_bytes())
    struct.pack_into(">BHH", data, data.index(b"JFIF\0") + 7, unit, 118, 118)
    path.write_bytes(data)
    usual, found = (read(path, layer=name).metadata.resolution for name in ("sdr", "hdr"))
    assert usual == found == ((118, 118, ("in", "cm")[unit - 1]) if unit else None)


def test_what_light_loses_is_said(tmp_path) -> None:
    """Values that a file has no place for; colours that the picture's own primaries do not reach."""
    values = scene().astype(np.float16)
    values[3:5, 3] = np.nan
    values[9:11, 9] = np.inf
    values[20:24, 20] = 500
    values[30:32, 30] = -1
    path = tmp_path / "a.jpg"
    with pytest.warns(GpuopsWarning) as caught:
        write(path, picture(values), storage=Storage(100, gain_map=True))
    assert [str(entry.message) for entry in caught] == [
        f"{path}: JPEG with a gain map holds no negative values; they become 0",
        f"{path}: JPEG with a gain map holds no NaN; it becomes 0",
        f"{path}: JPEG with a gain map holds no values above 49.26; they become that",
    ]
    assert read(path, layer="hdr").pixels.max() == pytest.approx(49.26, rel=0.03)
    assert np.isfinite(read(path, layer="hdr").pixels).all()
    green = np.tile((0.0, 1.0, 0.0), (16, 16, 1))
    with pytest.warns(GpuopsWarning, match="keeps colours within Display P3; others lose saturation$"):
        write(path, picture(green, "Rec. 2020"), overwrite=True, storage=LIGHT)
    assert read(path, layer="hdr").pixels[8, 8, 0] > 0.05
    write(path, picture(green, "Display P3"), overwrite=True, storage=LIGHT)
    assert read(path, layer="hdr").pixels[8, 8, 0] < 0.01


def test_gray_and_alpha(tmp_path) -> None:
    gray = scene()[:, :, :1]
    path = tmp_path / "a.jpg"
    with pytest.warns(GpuopsWarning) as caught:
        write(
            path, Picture(np.dstack((gray, gray)).astype(np.float16), alpha=True, linear=True), storage=LIGHT
        )
    assert [str(entry.message) for entry in caught] == [
        f"{path}: JPEG with a gain map has no alpha; it is left out",
        f"{path}: JPEG with a gain map has no gray; it is written as RGB",
    ]
    off = np.abs(applied(path.read_bytes())[0] / gray - 1)
    assert np.median(off) < MEDIAN


@pytest.mark.parametrize(("what", "said"), [
    (picture(np.ones((7, 8, 3))), "needs at least 8 pixels each way; choose another format"),
    (picture(np.ones((8, 8193, 3))), "holds 8192 pixels along a side at most, not 8193; name another format"),
    (Picture(np.ones((8, 8, 3), np.float16)), "holds light of Rec. 709 or Display P3 or Rec. 2020"),
], ids=["small", "large", "encoded"])  # fmt: skip
def test_pictures_that_have_no_place(what, said, tmp_path) -> None:
    with pytest.raises(FileError, match=f"a.jpg: .*{said}"):
        write(tmp_path / "a.jpg", what, storage=LIGHT)
    assert not [*tmp_path.iterdir()]


@pytest.fixture
def exr(tmp_path: Path) -> Path:
    write(tmp_path / "in.exr", picture(scene()))
    return tmp_path / "in.exr"


@pytest.mark.parametrize(("colour", "primaries"), [
    ("auto", "Rec. 709"), ("srgb", "Rec. 709"), ("display-p3", "Display P3"), ("linear-p3", "Display P3"),
    ("rec2020", "Rec. 2020"), ("rec2100-pq", "Rec. 2020"), ("linear-rec2020", "Rec. 2020"), ("input", "Rec. 709"),
])  # fmt: skip
def test_colour_names_the_primaries(colour, primaries, clpix, exr, tmp_path) -> None:
    path = tmp_path / "a.jpg"
    run = clpix("convert", exr, "--colour", colour, "--gain-map", "--quality", 100, "-o", path)
    assert (run.code, run.err) == (0, "")
    found, named = applied(path.read_bytes())
    assert named == primaries
    expected = scene() @ np.linalg.inv(reference.matrix(primaries)).T
    assert np.median(np.abs(found / expected - 1)) < MEDIAN


def test_operations_there_and_back(clpix, exr, tmp_path) -> None:
    """A chain writes light on the way; the input's primaries stay; --strip leaves no metadata."""
    a, b, c = (tmp_path / name for name in ("a.jpg", "b.jpg", "c.jpg"))
    run = clpix(
        "flip", exr, "--axis", "vertical", "then", "write", a, "--gain-map", "then", "tonemap", "-o", b
    )
    assert (run.code, run.err) == (0, "")
    assert np.median(np.abs(applied(a.read_bytes())[0] / scene()[::-1] - 1)) < MEDIAN and read(b).layers == ()
    write(c, picture(scene(), "Display P3", exif=EXIF, xmp=XMP), storage=LIGHT)
    d, e = tmp_path / "d.jpg", tmp_path / "e.exr"
    options = ("--region", "0,0,40,40", "--colour", "input", "--gain-map", "--strip")
    run = clpix("crop", c, "--layer", "hdr", *options, "-o", d)
    assert (run.code, run.err) == (0, "") and read(d, layer="hdr").colour.primaries == "Display P3"
    assert b"Exif" not in d.read_bytes() and b"clpix" not in d.read_bytes()
    assert clpix("convert", c, "--layer", "hdr", "-o", e).code == 0
    assert read(e).colour.primaries == "Display P3"
    assert clpix("blur", c, "--sigma", 1, "--layer", "hdr", "-o", e, "--overwrite").code == 0
    assert read(e).colour.primaries == "Display P3"
    run = clpix("compare", c, c, "--layer", "hdr", "--max-error", 0)
    assert run.code == 0


def test_info_tells_of_the_gain_map(clpix, exr, tmp_path) -> None:
    path = tmp_path / "a.jpg"
    assert clpix("convert", exr, "--gain-map", "-o", path).code == 0
    run = clpix("info", path)
    assert "  layers sdr, hdr; this is sdr\n" in run.out
    assert "  gain map (ISO 21496-1), 64 × 48, up to 5.62 stops above white\n" in run.out and run.err == ""
    run = clpix("info", path, "--layer", "hdr")
    assert "64 × 48, RGB, half, linear light\n  layers sdr, hdr; this is hdr\n" in run.out and run.err == ""


@pytest.mark.parametrize(("command", "options", "said"), [
    ("tonemap", (), "a gain map needs light, and this is a picture for a display: leave out --gain-map"),
    ("bloom", ("--tonemap", "agx"), "a gain map needs light, and this is a picture for a display"),
    ("fft", (), "a gain map needs light, and a spectrum is none"),
    ("convert", ("--dtype", "uint8"), "JPEG with a gain map holds no 8-bit integers: use --dtype half"),
    ("convert", ("--colour", "acescg"), "holds light of Rec. 709 or Display P3 or Rec. 2020, not of ACES AP1"),
    ("convert", ("--subsampling", "4:2:0"), "keeps all colours: leave out --subsampling"),
    ("convert", ("--dither",), "holds floats, which are not rounded: leave out --dither"),
    ("info", (), "nothing is written: leave out --gain-map"),
])  # fmt: skip
def test_refused(command, options, said, clpix, exr, tmp_path) -> None:
    target = () if command == "info" else ("-o", tmp_path / "a.jpg")
    run = clpix(command, exr, *options, "--gain-map", *target)
    assert run.code in (1, 2) and said in run.err and run.err.count("\n") == 1
    assert not (tmp_path / "a.jpg").exists()


def test_only_jpeg_has_them(tmp_path) -> None:
    for name, kind in (("a.png", "PNG"), ("a.avif", "AVIF"), ("a.exr", "EXR")):
        with pytest.raises(
            ParameterError, match=f"gain maps are written in JPEG, not in {kind}: leave out --gain"
        ):
            write(tmp_path / name, picture(scene()), storage=LIGHT)


def test_by_rows(clpix, exr, tmp_path, monkeypatch) -> None:
    """The rows of a large result become one file in the end, the same."""
    assert clpix("blur", exr, "--sigma", 2, "--gain-map", "-o", tmp_path / "a.jpg").code == 0
    in_blocks(monkeypatch, 1)
    assert clpix("blur", exr, "--sigma", 2, "--gain-map", "-o", tmp_path / "b.jpg").code == 0
    a, b = (read(tmp_path / name, layer="hdr").pixels.astype(float) for name in ("a.jpg", "b.jpg"))
    assert np.abs(a - b).max() < 0.02 * a.max()


def test_a_stream(clpix, exr, tmp_path) -> None:
    """Standard output has the same bytes."""
    assert clpix("convert", exr, "--gain-map", "-o", tmp_path / "a.jpg").code == 0
    stream = io.BytesIO()
    files.write_stream(stream, files.read(exr), files.format_of("a.jpg", gain_map=True), LIGHT)
    assert stream.getvalue() == (tmp_path / "a.jpg").read_bytes()
