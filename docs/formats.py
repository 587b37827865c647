"""Writes the tables of formats.md: what survives in each file format, found by writing and reading pictures.

python docs/formats.py     writes the tables anew; tests/test_formats.py asks whether they are as they would be
"""

from __future__ import annotations

import io
import struct
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms

from gpuops import GpuopsWarning
from gpuops.files import FORMATS, ONLY_READ, Format, Metadata, Picture, format_of, output_dtype, read, write
from gpuops.files.gain_map import ISO, GainMap
from gpuops.files.hdr_light import HdrLight
from gpuops.files.layers import ExrPart, Rest
from gpuops.files.texts import TextChunk
from gpuops.params.moves import Frame
from gpuops.params.storage import Storage
from gpuops.pixels.spaces import named

DOCUMENT = Path(__file__).with_suffix(".md")
BEGIN, END = "<!-- tables: written by docs/formats.py -->", "<!-- end of tables -->"
DTYPES = {"uint8": "8 bits", "uint16": "16 bits", "float16": "half", "float32": "float"}
CHANNELS = {1: "gray", 2: "gray + alpha", 3: "RGB", 4: "RGB + alpha"}
KINDS = {
    "icc": "ICC profile",
    "exif": "EXIF",
    "xmp": "XMP",
    "resolution": "resolution",
    "spacing": "spacing of pixels",
    "frame": "windows",
    "attributes": "EXR attributes",
    "rest": "other channels",
    "cards": "FITS cards",
    "light": "HDR light",
    "texts": "texts",
    "gain": "gain map",
}
#: How a warning names them, where it does so by other words.
WARNED = {
    "texts": "text 'Title'",
    "frame": "window",
    "attributes": "EXR header attributes",
    "rest": "channels",
    "light": "mastering display",
}
#: The formats that are written, JPEG also with a gain map.
GAIN_MAP = format_of("a.jpg", gain_map=True)
WRITTEN = (*FORMATS[:2], GAIN_MAP, *FORMATS[2:])

ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
# little-endian EXIF: Make = "clpix", Orientation = 6
EXIF = b"II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x06\0\0\0\x26\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0clpix\0"
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF/></x:xmpmeta>'
#: A gain map of gray, with its numbers as ISO 21496-1 has them: 0 and 3 stops of headroom; from 0 to 3 stops.
NUMBERS = struct.pack(">HHB4I", 0, 0, 0x40, 0, 1, 3, 1) + struct.pack(">10I", 0, 1, 3, 1, 1, 1, 0, 1, 0, 1)


def gain_map() -> GainMap:
    stream = io.BytesIO()
    Image.new("L", (8, 8), 90).save(stream, "JPEG")
    data = stream.getvalue()
    segment = b"\xff\xe2" + struct.pack(">H", 2 + len(ISO + NUMBERS)) + ISO + NUMBERS
    return GainMap(data[:2] + segment + data[2:], (41, 37), ISO + bytes(4))


METADATA = {
    "icc": ICC,
    "exif": EXIF,
    "xmp": XMP,
    "resolution": (300.0, 150.0, "in"),
    "spacing": (4.0, 2.0),
    "frame": Frame(2, 3, 41, 37, 50, 60),
    "attributes": {"shot": ("string", "a lake")},
    "rest": Rest((ExrPart("", ("Z",), ("half",), np.ones((37, 41, 1), np.float16)),), 0, ("R", "G", "B")),
    "cards": ("OBJECT  = 'M 31'".ljust(80),),
    "texts": (TextChunk(b"tEXt", b"Title\0A lake"),),
    "light": HdrLight(
        (34000, 16000, 13250, 34500, 7500, 3000, 15635, 16450, 10_000_000, 50), (8_120_000, 950_000)
    ),
    "gain": gain_map(),
}


def pixels(dtype: str, channels: int) -> np.ndarray:
    """Noise over the whole range, with alpha 0, partial and full; JPEG 2000 needs 32 pixels each way."""
    values = np.random.default_rng(7).random((37, 41, channels))
    if channels in (2, 4):
        values[:3, :, -1], values[3:6, :, -1] = 0, 1
    return (values * 65535).astype(np.uint16).astype(dtype) if dtype == "uint16" else (
        (values * 255).astype(dtype) if dtype == "uint8" else values.astype(dtype)
    )  # fmt: skip


def save(path: Path, picture: Picture, fmt: Format) -> None:
    write(path, picture, overwrite=True, storage=Storage(gain_map=fmt is GAIN_MAP))


def load(path: Path, fmt: Format) -> Picture:
    return read(path, layer="hdr" if fmt is GAIN_MAP else None)


def cell(fmt: Format, dtype: str, channels: int, folder: Path) -> str:
    """The table's text for a picture that was written and read: "exact", or in words what did not survive."""
    path = folder / f"picture{fmt.extension}"
    held = output_dtype(fmt, dtype).name
    if held != dtype:
        return f"as {DTYPES[held]}"
    alpha = channels in (2, 4)
    before = pixels(dtype, channels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(path, Picture(before, alpha=alpha, linear=dtype.startswith("float")), fmt)
    after = load(path, fmt)
    said = " ".join(str(w.message) for w in caught)
    assert after.pixels.dtype == dtype
    assert after.linear == (dtype.startswith("float") or after.colour.data)
    words = []
    if alpha and not after.alpha:
        assert "no alpha" in said
        before, words = before[:, :, :-1], ["without alpha"]
    if after.channels > before.shape[2]:
        assert "no gray" in said
        before, words = np.concatenate((before[:, :, :1],) * 3 + (before[:, :, 1:],), 2), [*words, "as RGB"]
        before = before[:, :, : after.channels] if not after.alpha else before
    assert after.pixels.shape == before.shape
    if fmt.lossy:
        return ", ".join([*words, "lossy"])
    if not np.array_equal(after.pixels, before):
        words.append(difference(before, after.pixels))
        assert "alpha" in said
    return ", ".join(words) or "exact"


def difference(before: np.ndarray, after: np.ndarray) -> str:
    """The difference in units of the last place, apart from colour under alpha 0, which may only become 0."""
    hidden = before[:, :, -1] == 0
    assert not after[hidden].any()
    assert np.array_equal(before[:, :, -1], after[:, :, -1])
    before, after = before[~hidden], after[~hidden]
    ulps = np.abs(before.astype(np.float64) - after) / np.spacing(
        np.maximum(before, np.finfo(before.dtype).tiny)
    )
    assert ulps.max() <= 1
    return "±1 in the last bit; colour under alpha 0 becomes 0"


def metadata_cell(fmt: Format, kind: str, folder: Path) -> str:
    depths = fmt.dtypes[-1:] if fmt.deep_holds is None else fmt.dtypes
    found = {metadata_of(fmt, kind, dtype, folder) for dtype in depths}
    return found.pop() if len(found) == 1 else "kept beside 8 bits"


def metadata_of(fmt: Format, kind: str, dtype: str, folder: Path) -> str:
    """What becomes of a kind of metadata beside pixels of a type: it is there again, or a warning names it."""
    path = folder / f"metadata{fmt.extension}"
    before = Metadata(**{kind: METADATA[kind]})
    light = dtype.startswith("float") and (kind != "icc" or fmt is GAIN_MAP)  # the profile is of sRGB
    if kind == "light" and not light:
        before = replace(before, colour=named("rec2100-pq"))
    picture = Picture(pixels(dtype, 3), linear=light, metadata=before)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(path, picture, fmt)
        after = read(path, layers=True).metadata if kind == "rest" else load(path, fmt).metadata
    if fmt.upright:
        before = before.oriented(1)
    if fmt.name == "AVIF" and after.exif:  # Pillow lays the tags out anew, without the orientation
        assert tags(after.exif) == {0x010F: "clpix"}
        before = replace(before, exif=after.exif)
    words = WARNED.get(kind, KINDS[kind])
    told = [w for w in caught if words in str(w.message)]
    if essence(after, kind) == essence(before, kind):
        assert not told
        return "kept"
    assert not essence(after, kind), (fmt, kind, dtype)
    assert [w.category for w in told] == [GpuopsWarning], (fmt, kind, dtype)
    return "—"


def essence(metadata: Metadata, kind: str) -> object:
    """A kind of metadata, without what formats add to it by themselves."""
    if kind in ("rest", "gain"):
        part = getattr(metadata, kind)
        return part and (part.channels if kind == "rest" else part.data)
    return metadata.attributes.get("shot") if kind == "attributes" else getattr(metadata, kind)


def tags(exif: bytes) -> dict[int, object]:
    found = Image.Exif()
    found.load(exif)
    return dict(found)


def tables(folder: Path) -> str:
    """All tables, by files in a folder."""
    lines = ["| format | extensions | channels | " + " | ".join(DTYPES.values()) + " |", "|---" * 7 + "|"]
    for fmt in WRITTEN:
        for channels, name in CHANNELS.items():
            head = f"{fmt} | {' '.join(fmt.extensions)}" if channels == 1 else " | "
            cells = " | ".join(cell(fmt, dtype, channels, folder) for dtype in DTYPES)
            lines.append(f"| {head} | {name} | {cells} |")
    lines += ["", "| format | " + " | ".join(KINDS.values()) + " |", "|---" * (len(KINDS) + 1) + "|"]
    for fmt in WRITTEN:
        lines.append(f"| {fmt} | " + " | ".join(metadata_cell(fmt, kind, folder) for kind in KINDS) + " |")
    lines += ["", "| format | extensions | read | written | package |", "|---" * 5 + "|"]
    for fmt in (*WRITTEN, *ONLY_READ):
        depths = ", ".join(DTYPES[dtype] for dtype in fmt.dtypes)
        written = depths if fmt.written else "—"
        lines.append(f"| {fmt} | {' '.join(fmt.extensions)} | {depths} | {written} | {fmt.needs or '—'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    with tempfile.TemporaryDirectory() as temporary:
        written = tables(Path(temporary))
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
