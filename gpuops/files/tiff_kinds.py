"""Pages of TIFF files that OpenImageIO does not open, or not as they are: LogLuv, ICC's L*a*b*, and
JPEG of 12 bits.

Sources: TIFF 6.0, sections 2 and 8 (directories); TIFF Technical Note 2 (JPEG: each strip or tile is a whole picture,
but for tables that the tag JPEGTables has for all); ITU-R T.81, annex B.
"""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from typing import Any

from ..errors import FileError
from . import cielab, exif, logluv, oiio
from .read_errors import check_plausible, check_size
from .strips import DENSEST
from .tiff_parts import JPEG, SEPARATE, Tags, number, numbers, tags_of_page

#: The interpretation of samples as ICC's L*a*b*.
ICC_LAB = 9
#: The bits of a sample of JPEG that is read by another library.
DEEP = 12
#: The tag StoNits ("sample to nits"), and the layouts of numbers by their types.
_STONITS, _FLOATS = 37439, {11: "<f", 12: "<d"}
#: The values of ResolutionUnit.
_UNITS = {2: "in", 3: "cm"}
#: What gray, RGB and YCbCr have in JPEG: the interpretation of samples and the number of channels.
_IN_JPEG = ((0, 1), (1, 1), (2, 3), (6, 3))
#: A number of pixels that a side does not have.
_TOO_LONG = 1 << 31


def spec_of(path: str, page: int) -> Any | None:
    """What OpenImageIO's ImageSpec of a page would say, had it such pages; None for all that it opens itself.

    Raises FileError where a page of these kinds has no size, or one that the file cannot hold.
    """
    tags = tags_of_page(path, page)
    photometric, compression = number(tags, 262), number(tags, 259)
    bits = {*numbers(tags, 258)}
    if photometric in (logluv.GRAY, logluv.COLOURS):
        kind, size = "float", 32
    elif compression == JPEG and bits == {DEEP}:
        kind, size = "uint16", DEEP
    elif photometric == ICC_LAB and bits in ({8}, {16}):
        kind, size = f"uint{max(bits)}", max(bits)
    else:
        return None
    width, height, channels = number(tags, 256), number(tags, 257), number(tags, 277, 1)
    check_size(path, width, height)
    if max(width, height) >= _TOO_LONG or not 0 < channels <= 0xFFFF:
        raise FileError(f"{path}: is damaged: it claims {width} x {height} pixels of {channels} channels")
    spec = oiio.library().ImageSpec(width, height, channels, kind)
    tile = number(tags, 322), number(tags, 323)
    if 0 < min(tile) <= max(tile) < _TOO_LONG:
        spec.tile_width, spec.tile_height = tile
        width, height = max(width, tile[0]), max(height, tile[1])
    dense = logluv.DENSEST if kind == "float" else DENSEST / spec.pixel_bytes()
    check_plausible(path, width, height, width * height / dense)
    attributes: dict[str, Any] = {
        oiio.PHOTOMETRIC: photometric,
        "oiio:BitsPerSample": size,
        "tiff:Compression": compression,
        "planarconfig": "separate" if number(tags, 284) == SEPARATE else "contig",
        "tiff:RowsPerStrip": min(spec.height, number(tags, 278, spec.height)),
        "ResolutionUnit": _UNITS.get(number(tags, 296, 2), "none"),
    }
    attributes |= {name: _ratio(tags, tag) for name, tag in (("XResolution", 282), ("YResolution", 283))}
    attributes |= oiio.icc_attribute(tags[34675].data if 34675 in tags else None)
    for name, value in attributes.items():
        spec.attribute(name, *(value if isinstance(value, tuple) else (value,)))
    return spec


def is_deep_jpeg(spec: Any) -> bool:
    """Whether a page holds JPEG of 12 bits."""
    bits: int = spec.get_int_attribute("oiio:BitsPerSample")
    return bits == DEEP and spec.get_int_attribute("tiff:Compression") == JPEG


def stonits(tags: Tags) -> float:
    """By what light is to be multiplied for cd/m², as the tag StoNits says: a double, or a float; else 1."""
    entry = tags.get(_STONITS)
    layout = _FLOATS.get(entry.kind, "") if entry else ""
    return float(struct.unpack_from(layout, entry.data)[0]) if entry and layout and entry.count else 1.0


def without_white(block: bytes | None) -> bytes | None:
    """Returns an EXIF block without the tags WhitePoint and StoNits, which are not true of other colours."""
    with suppress(exif.MalformedError, struct.error):
        structure = exif.Structure(io.BytesIO(block or b""))
        directory, _ = structure.tree(structure.first, exif.POINTERS)
        if directory.keys() & {cielab.WHITE, _STONITS}:
            kept = {tag: entry for tag, entry in directory.items() if tag not in (cielab.WHITE, _STONITS)}
            return b"II*\0\x08\0\0\0" + exif.laid_out(kept, 8) if kept else None
    return block


def count(path: str, file: oiio.Reader) -> int:
    """The number of pages of a file, with those that OpenImageIO does not open. Raises FileError of a damaged file.

    Textures have one, whose smaller copies are no pages.
    """
    texture = False
    with suppress(FileError):
        texture = bool(file.spec().get_string_attribute("textureformat"))
    return file.count() if texture else _directories(path) or file.count()


def check(path: str, spec: Any) -> None:
    """Refuses pages of these kinds whose samples have no place in a picture."""
    photometric, channels = spec.get_int_attribute(oiio.PHOTOMETRIC), spec.nchannels
    if is_deep_jpeg(spec):
        separate = channels > 1 and spec.get_string_attribute("planarconfig") == "separate"
        if (photometric, channels) not in _IN_JPEG or separate:
            what = "other channels than gray, RGB or YCbCr, or one after the other"
            raise FileError(f"{path}: holds JPEG of {DEEP} bits of {what}; convert it first")
        return
    compression = spec.get_int_attribute("tiff:Compression")
    if channels != (1 if photometric == logluv.GRAY else 3) or compression not in logluv.COMPRESSIONS:
        raise FileError(
            f"{path}: holds LogLuv of {channels} channels, or of compression {compression}; convert it first"
        )


def _directories(path: str) -> int:
    """The number of directories that follow each other in a file, up to the first one that is damaged."""
    seen: set[int] = set()
    with suppress(exif.MalformedError), open(path, "rb") as file:
        structure = exif.Structure(file)
        offset = structure.first
        while offset and offset not in seen:
            following = structure.following(offset)
            seen.add(offset)
            offset = following
    return len(seen)


def _ratio(tags: Tags, tag: int) -> float:
    data = tags[tag].data if tag in tags else b""
    above, below = struct.unpack_from("<2I", data) if len(data) >= 8 else (0, 0)
    return above / below if below else 0.0
