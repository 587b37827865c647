"""Nothing that a file says is lost without a word: files by other programs, random chains, results read by others.

Each thing that a file may say is looked for in the input and in the result by a library that is not ours. What is in
the one and not in the other has to be named in a line.
"""

import re
import struct
import tempfile
import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import imagecodecs
import numpy as np
import PIL.Image
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL.PngImagePlugin import PngInfo

from gpuops.files import Picture, write
from gpuops.params.storage import Storage

from .choices import each
from .conftest import in_blocks
from .reference import colour as reference

astropy_fits = pytest.importorskip("astropy.io.fits")
oiio = pytest.importorskip("OpenImageIO")

P3 = reference.rgb_profile(
    "Display P3", reference.parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
)
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'
#: What a file may say, and how a line names it when it is lost.
WORDS = {
    "profile": r"ICC profile|cannot say what its values are",
    "exif": "EXIF",
    "xmp": "XMP",
    "dpi": "resolution",
    "text": "text|comment|description|EXIF",
    "content light": "cLLI|light",
    "mastering display": "mDCV|mastering",
    "place": "EXIF",
    "iptc": "IPTC|Photoshop",
    "gain map": "gain map",
    "geo": "EXIF|GeoTIFF",
    "spacing": "spacing|resolution",
    "pages": "pages|images",
    "windows": "display window|place of its window",
    "owner": "EXR header attributes",
    "layers": "channels|layers",
    "cards": "FITS cards",
    "world": "world coordinates",
    "extension": "images",
}
#: Of these a file says nothing else.
ALONE = {"gain map", "spacing", "content light", "mastering display"}
SMALL = ("npy", "bmp", "qoi", "gif", "tga", "ppm", "dpx", "hdr", "pam", "pfm")
RESULTS = ("png", "jpg", "tif", "webp", "exr", "fits", "avif", "jxl", *SMALL)
STEPS = (
    ("flip", "--axis", "horizontal"),
    ("rotate", "--angle", "90"),
    ("rotate", "--angle", "20"),
    ("resize", "--scale", "50%"),
    ("crop", "--region", "10%,20%,60%,50%"),
    ("blur", "--sigma", "1"),
    ("tonemap",),
    ("convert",),
)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(path: Path, said: Collection[str]) -> None:
    image = PIL.Image.fromarray(np.random.default_rng(1).integers(0, 256, (28, 36, 3)).astype(np.uint8))
    exif = PIL.Image.Exif()
    exif[0x010F] = "Maker"
    hdr = not {"content light", "mastering display"}.isdisjoint(said)
    options = {"icc_profile": P3} if "profile" in said and not hdr else {}
    options |= {"exif": exif} if "exif" in said else {}
    options |= {"dpi": (300, 300)} if "dpi" in said else {}
    text = PngInfo()
    if "text" in said:
        text.add_text("Title", "A lake")
    if "xmp" in said:
        text.add_itxt("XML:com.adobe.xmp", XMP.decode())
    image.save(path, pnginfo=text, **options)
    extra = chunk(b"cLLI", struct.pack(">II", 10000000, 2000000)) if "content light" in said else b""
    extra += chunk(b"cICP", bytes((9, 16, 0, 1))) if hdr else b""
    if "mastering display" in said:
        extra += chunk(b"mDCV", struct.pack(">8HII", *[15000] * 8, 10000000, 50))
    data = path.read_bytes()
    path.write_bytes(data[:33] + extra + data[33:])


def jpg(path: Path, said: Collection[str]) -> None:
    if "gain map" in said:
        light = np.random.default_rng(1).random((28, 36, 3)).astype(np.float16) * 4
        write(path, Picture(light, linear=True), storage=Storage(gain_map=True))
        return
    image = PIL.Image.fromarray(np.random.default_rng(1).integers(0, 256, (28, 36, 3)).astype(np.uint8))
    exif = PIL.Image.Exif()
    exif[0x010F] = "Maker"
    options = {"icc_profile": P3} if "profile" in said else {}
    options |= {"exif": exif} if "exif" in said else {}
    options |= {"dpi": (300, 300)} if "dpi" in said else {}
    options |= {"comment": "A lake"} if "text" in said else {}
    if "place" in said:
        exif.get_ifd(0x8825)[1] = "N"
        options["exif"] = exif
    options |= {"xmp": XMP} if "xmp" in said else {}
    image.save(path, **options)
    if "iptc" in said:
        record = b"\x1c\x02\x78\x00\x06A lake"
        block = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(record)) + record + b"\0"
        data = path.read_bytes()
        path.write_bytes(data[:2] + b"\xff\xed" + struct.pack(">H", len(block) + 2) + block + data[2:])


def tif(path: Path, said: Collection[str]) -> None:
    pages = np.random.default_rng(1).integers(0, 65536, (3, 28, 36)).astype(np.uint16)
    if "spacing" in said:
        tifffile.imwrite(
            path,
            pages if "pages" in said else pages[0],
            imagej=True,
            resolution=(3.0, 3.0),
            metadata={"unit": "um", "axes": "ZYX" if "pages" in said else "YX"},
        )
        return
    tags: list[tuple[int, str, int, object, bool]] = []
    if "exif" in said:
        tags.append((271, "s", 0, "Maker", True))
    if "xmp" in said:
        tags.append((700, "B", len(XMP), XMP, True))
    if "geo" in said:
        tags += [(33550, "d", 3, (2.0, 2.0, 0.0), True), (33922, "d", 6, (0, 0, 0, 7e5, 5e6, 0), True)]
        tags += [(34735, "H", 4, (1, 1, 0, 0), True)]
    if "text" in said:
        tags.append((270, "s", 0, "A lake", True))
    options = {"resolution": (300, 300), "resolutionunit": 2} if "dpi" in said else {}
    with tifffile.TiffWriter(path) as file:
        for page in pages if "pages" in said else pages[:1]:
            file.write(
                page, extratags=tags, metadata=None, iccprofile=P3 if "profile" in said else None, **options
            )


def exr(path: Path, said: Collection[str]) -> None:
    names = ["R", "G", "B", *["Z", "mask.Y"] * ("layers" in said)]
    spec = oiio.ImageSpec(36, 28, len(names), "half")
    spec.channelnames = tuple(names)
    if "windows" in said:
        spec.x, spec.y, spec.full_width, spec.full_height = 4, 6, 64, 48
    if "owner" in said:
        spec.attribute("shot", "A studio")
    if "dpi" in said:
        spec.attribute("XResolution", 300.0)
        spec.attribute("YResolution", 300.0)
        spec.attribute("ResolutionUnit", "in")
    output = oiio.ImageOutput.create(str(path))
    output.open(str(path), spec)
    output.write_image(np.random.default_rng(1).random((28, 36, len(names)), np.float32))
    output.close()


def fits(path: Path, said: Collection[str]) -> None:
    values = np.random.default_rng(1).random((4, 28, 36)).astype(np.float32)
    hdu = astropy_fits.PrimaryHDU(values if "pages" in said else values[0])
    if "cards" in said:
        hdu.header["OBJECT"], hdu.header["EXPTIME"] = "M 31", 30.0
    if "world" in said:
        hdu.header.update(CTYPE1="RA---TAN", CTYPE2="DEC--TAN", CRVAL1=10.0, CRVAL2=41.0)
        hdu.header.update(CRPIX1=18.0, CRPIX2=14.0, CD1_1=-1e-4, CD1_2=0.0, CD2_1=0.0, CD2_2=1e-4)
    others = [astropy_fits.ImageHDU(values[0], name="ERR")] if "extension" in said else []
    astropy_fits.HDUList([hdu, *others]).writeto(path)


SOURCES = {
    "png": (png, ("profile", "exif", "xmp", "dpi", "text", "content light", "mastering display")),
    "jpg": (jpg, ("profile", "exif", "xmp", "dpi", "text", "place", "iptc", "gain map")),
    "tif": (tif, ("profile", "exif", "xmp", "dpi", "text", "geo", "spacing", "pages")),
    "exr": (exr, ("windows", "owner", "layers", "dpi")),
    "fits": (fits, ("cards", "world", "extension", "pages")),
}


def has_gain_map(data: bytes) -> bool:
    """Whether libultrahdr makes light of a file."""
    with suppress(imagecodecs.UltrahdrError):
        return imagecodecs.ultrahdr_decode(data).dtype == np.float16
    return False


def by_pillow(path: Path) -> set[str]:
    with PIL.Image.open(path) as image:
        info, exif = image.info, image.getexif()
    found = {"profile"} if info.get("icc_profile") == P3 else set[str]()
    found |= {"exif"} if exif.get(0x010F) == "Maker" else set()
    found |= {"xmp"} if info.get("xmp") or info.get("XML:com.adobe.xmp") else set()
    found |= {"dpi"} if "dpi" in info and abs(info["dpi"][0] - 300) < 0.1 else set()
    found |= {"geo"} if {33550, 33922, 34735} <= set(exif) or 34264 in exif else set()
    found |= {"place"} if exif.get_ifd(0x8825).get(1) == "N" else set()
    data = path.read_bytes()
    found |= {"iptc"} if b"8BIM" in data else set()
    found |= {"gain map"} if path.suffix == ".jpg" and has_gain_map(data) else set()
    told = {key: value for key, value in info.items() if key != "photoshop"}
    return found | ({"text"} if "A lake" in str({**told, **dict(exif)}) else set())


def of_png(path: Path) -> set[str]:
    data, at, names = path.read_bytes(), 8, {}
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        names[name] = data[at + 8 : at + 8 + size]
        at += size + 12
    found = {"content light"} if b"cLLI" in names else set[str]()
    found |= {"profile"} if names.get(b"cICP", b"")[:2] == bytes((12, 13)) else set()
    return found | ({"mastering display"} if b"mDCV" in names else set())


def of_tif(path: Path) -> set[str]:
    with tifffile.TiffFile(path) as file:
        tags, pages = {tag.code: tag.value for tag in file.pages[0].tags.values()}, len(file.pages)
        imagej = file.imagej_metadata
    found = {"geo"} if {33550, 33922, 34735} <= tags.keys() or 34264 in tags else set[str]()
    found |= {"profile"} if tags.get(34675) == P3 else set()
    found |= {"exif"} if tags.get(271) == "Maker" else set()
    found |= {"place"} if 34853 in tags else set()
    found |= {"xmp"} if 700 in tags else set()
    found |= {"text"} if tags.get(270) == "A lake" else set()
    found |= {"dpi"} if tags.get(296) == 2 and tags[282][0] == 300 * tags[282][1] else set()
    found |= {"spacing"} if imagej and imagej.get("unit") in ("um", "micron", "\\u00B5m", "µm") else set()
    return found | ({"pages"} if pages == 3 else set())


def of_exr(path: Path) -> set[str]:
    file = oiio.ImageInput.open(str(path))
    spec = file.spec()
    file.close()
    placed = (spec.x, spec.y, spec.width, spec.height) != (0, 0, spec.full_width, spec.full_height)
    found = {"windows"} if placed else set[str]()
    found |= {"owner"} if spec.get_string_attribute("shot") == "A studio" else set()
    found |= {"dpi"} if abs(spec.get_float_attribute("XResolution") - 300) < 0.1 else set()
    chromaticities = spec.getattribute("chromaticities")
    found |= {"profile"} if chromaticities is not None and abs(chromaticities[0] - 0.68) < 1e-3 else set()
    return found | ({"layers"} if {"Z", "mask.Y"} <= set(spec.channelnames) else set())


def of_fits(path: Path) -> set[str]:
    with astropy_fits.open(path) as file:
        header, names = file[0].header, [hdu.name for hdu in file]
    found = {"cards"} if header.get("OBJECT") == "M 31" else set[str]()
    found |= {"world"} if header.get("CRVAL1") == 10 else set()
    found |= {"pages"} if header.get("NAXIS") == 3 and header["NAXIS3"] == 4 else set()
    return found | ({"extension"} if "ERR" in names else set())


READERS = {"png": of_png, "tif": of_tif, "exr": of_exr, "fits": of_fits}
BY_PILLOW = ("png", "jpg", "webp", "avif", "bmp", "gif", "tga", "ppm")


def said_in(path: Path) -> set[str]:
    kind = path.suffix[1:]
    found = READERS[kind](path) if kind in READERS else set[str]()
    if kind == "jxl":
        file = oiio.ImageInput.open(str(path))
        spec = file.spec()
        file.close()
        found |= {"profile"} if spec.getattribute("ICCProfile") is not None else set()
        data = path.read_bytes()
        found |= {"exif"} if b"Maker" in data else set()
        found |= {"text"} if b"A lake" in data else set()
        found |= (
            {"place"} if struct.pack("<H", 0x8825) in data or struct.pack(">H", 0x8825) in data else set()
        )
        found |= {"geo"} if any(struct.pack("<HH", tag, 12) in data for tag in (33550, 34264)) else set()
        found |= {"xmp"} if b"xmpmeta" in data else set()
    return found | (by_pillow(path) if kind in BY_PILLOW else set())


def check(clpix, source: str, said: Collection[str], steps, result: str, by_rows: bool) -> None:  # type: ignore[no-untyped-def]
    """Asserts that lines name what a result lacks of what its input says."""
    words = [word for step in steps for word in ("then", *step)][1:]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path, made = Path(folder, f"in.{source}"), Path(folder, f"made.{result}")
        SOURCES[source][0](path, said)
        if by_rows:
            in_blocks(patch)
        run = clpix(words[0], path, *words[1:], "-o", made)
        assert run.code == 0, run.err
        found = said_in(path)
        assert found >= {*said} - ALONE or not ALONE.isdisjoint(said), "a file does not say what it should"
        missing = found - said_in(made)
    if any(step[0] == "crop" for step in steps):
        missing -= {"windows"}  # all of the display window may be pixels then
    if ("tonemap",) in steps or result in ("fits", *SMALL):
        missing -= {"profile"}  # the values were converted to sRGB or to light of Rec. 709
    silent = {name for name in missing if not re.search(WORDS[name], run.err)}
    assert not silent, run.err


@each(source=SOURCES, step=STEPS, result=RESULTS, by_rows=[False, True])
def test_what_is_lost_is_named(clpix, source, step, result, by_rows) -> None:
    said = [kind for kind in SOURCES[source][1] if kind != "gain map"]  # which comes alone
    check(clpix, source, said, [step], result, by_rows)


@pytest.mark.exhaustive
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    source=st.sampled_from(sorted(SOURCES)),
    said=st.data(),
    steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=3),
    result=st.sampled_from(RESULTS),
    by_rows=st.booleans(),
)
def test_what_is_lost_by_chains_is_named(clpix, source, said, steps, result, by_rows) -> None:
    kinds = said.draw(st.frozensets(st.sampled_from(SOURCES[source][1])))
    check(clpix, source, kinds, steps, result, by_rows)
