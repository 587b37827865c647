"""JPEG XR (ITU-T T.832), decoded by imagecodecs: also screenshots of HDR displays, whose floats are light.

Sources: ITU-T T.832, annex A: the file is of TIFF's structure but for its third and fourth byte, and tag 0xBC01 names
the kind of pixels; Microsoft, HD Photo Feature Specification 1.0 (the kinds' numbers).
"""

from __future__ import annotations

import struct
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np

from ...errors import FileError
from ...notes import note
from .. import colours
from ..containers import of_tiff
from ..exif import MalformedError, Structure
from ..picture import Picture, Pixels, unread
from ..pillow import LARGE
from ..read_errors import check_plausible, parsing
from ..samples import straight
from .record import ANY, Format, LayerId

_MAGIC = b"II\xbc\x01"
#: Tags: the kind of pixels, the width and the height, the resolutions in dots per inch, the ICC profile.
_KIND, _WIDTH, _HEIGHT, _ACROSS, _DOWN, _ICC = 0xBC01, 0xBC80, 0xBC81, 0xBC82, 0xBC83, 0x8773
#: Tags of a stream: where it is, and its bytes; and the same of alpha's own.
_STREAMS = ((0xBCC0, 0xBCC1), (0xBCC2, 0xBCC3))
#: The kinds whose colours are multiplied by alpha; those of inks; red, green and blue with one exponent. Others of
#: more than four channels are refused by their number.
_ASSOCIATED, _INKS, _RGBE = (0x10, 0x17, 0x1A, 0x40), (0x1C, 0x1F, 0x2C, 0x2D), 0x3D
#: The channels and the type of samples of some kinds; others are taken for four floats.
_SAMPLES = {
    0x08: (1, "u1"), 0x0B: (1, "u2"), 0x0C: (3, "u1"), 0x0D: (3, "u1"), 0x0F: (4, "u1"), 0x10: (4, "u1"),
    0xE9: (4, "u1"), 0x15: (3, "u2"), 0x16: (4, "u2"), 0x17: (4, "u2"), 0x11: (1, "f4"), 0x3A: (4, "f2"),
    0x3B: (3, "f2"), 0x3E: (1, "f2"),
}  # fmt: skip
#: The most pixels that a byte of a file can hold: macroblocks of 256 that are as their neighbours.
_DENSEST = 20_000


def _tags(path: str, data: bytes) -> tuple[int, int, int, tuple[float, float, str] | None, bytes | None]:
    """The kind of pixels, width, height, resolution and ICC profile of a file."""
    tags = Structure(BytesIO(b"II*\0" + data[4:])).led_to().tags
    kind, width, height = tags[_KIND].data[-1], tags[_WIDTH].integer(), tags[_HEIGHT].integer()
    if width * height > LARGE:
        check_plausible(path, width, height, width * height / _DENSEST)
    for start, count in _STREAMS:  # of one that is cut off the decoder makes what it can, and says nothing
        nbytes = tags[count].integer() if start in tags else 0
        # jxrlib counts alpha's bytes from the file's beginning.
        if nbytes and tags[start].integer() + nbytes > len(data) != nbytes:
            raise FileError(f"{path}: could not be read: the file is cut off or damaged")
    resolution = None
    if _ACROSS in tags and _DOWN in tags:
        (x,), (y,) = (struct.unpack("<f", tags[tag].data[:4]) for tag in (_ACROSS, _DOWN))
        resolution = (x, y, "in") if x > 0 < y else None
    return kind, width, height, resolution, tags[_ICC].data if _ICC in tags else None


def _read(path: str, layer: LayerId) -> Picture:
    import imagecodecs

    data = Path(path).read_bytes()
    try:
        kind, *_, resolution, icc = _tags(path, data)
    except (MalformedError, KeyError, IndexError, struct.error):
        raise FileError(f"{path}: is damaged: it does not say what its picture is like") from None
    if kind in _INKS or kind == _RGBE:
        of_what = "inks" if kind in _INKS else "red, green and blue with one exponent"
        raise FileError(f"{path}: is a JPEG XR of {of_what}; convert it first")
    with parsing(path):
        pixels = np.asarray(imagecodecs.jpegxr_decode(data))
    pixels = pixels if pixels.ndim == 3 else pixels[:, :, None]
    if pixels.shape[2] > 4:
        raise FileError(f"{path}: is a JPEG XR of {pixels.shape[2]} channels; convert it first")
    if pixels.dtype == bool:
        pixels = pixels * np.uint8(255)
    extras = of_tiff(BytesIO(b"II*\0" + data[4:]))
    if extras.unused:
        note(f"{path}: is read without its {', '.join(extras.unused)}")
    associated = kind in _ASSOCIATED
    pixels = straight(pixels) if associated else np.ascontiguousarray(pixels)
    picture = colours.picture(path, pixels, icc, extras.exif, extras.xmp, resolution)
    return replace(picture, associated=associated)


def _unread(path: str) -> Pixels:
    data = Path(path).read_bytes()
    try:
        kind, width, height, *_ = _tags(path, data)
    except (MalformedError, KeyError, IndexError, struct.error):
        return unread((0, 0, 4))
    channels, dtype = _SAMPLES.get(kind, (4, "f4"))
    return unread((height, width, channels), dtype)


FORMAT = Format("JPEG XR", (".jxr", ".wdp", ".hdp"), ANY, _read, unread=_unread, magic=(_MAGIC,))
