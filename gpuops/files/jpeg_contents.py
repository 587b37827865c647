"""What a JPEG file holds beside its pixels."""

from __future__ import annotations

from typing import BinaryIO

from . import jpeg_segments
from .containers import EXIF, Extras
from .jpeg_segments import ICC_PART, ISO, MPF, OF_APPLE, OF_GAIN_MAP, XMP, without_gain_map

#: The names of a file's pictures if it has a gain map: as it is, and with the gain map applied.
WITH_GAIN_MAP = ("sdr", "hdr")
#: The marker and the beginning of segments that are not kept, and their contents, None where these only
#: concern the storage.
_BLOCKS: tuple[tuple[int, bytes, str | None], ...] = (
    (0xE0, b"", None),  # JFIF, and previews
    (0xE1, b"http://ns.adobe.com/xmp/extension/\0", "extended XMP"),
    (0xE2, ICC_PART, None),
    (0xE2, MPF, "further pictures (MPF)"),
    (0xE2, ISO, None),
    (0xED, b"Photoshop 3.0\0", "IPTC block"),
    (0xEE, b"Adobe", None),
    (0xFE, b"", "comment"),
)


def container(file: BinaryIO) -> Extras:
    exif = xmp = None
    announced, has_gain_map = b"", False
    unused, index = list[str | None](), (0, b"")
    parts: list[bytes] = []  # of an ICC profile: its number, and that of all
    file.seek(2)
    for marker, data in jpeg_segments.read(file):
        if marker == 0xE2 and data.startswith(ICC_PART):
            parts.append(data[len(ICC_PART) :][:2])
        if marker == 0xE2 and data.startswith(ISO):
            announced, has_gain_map = data, True
        if marker == 0xE1 and data.startswith(EXIF) and exif is None:
            exif = data[len(EXIF) :]
        elif marker == 0xE1 and data.startswith(XMP) and xmp is None:
            xmp = data[len(XMP) :]
        elif marker in range(0xE0, 0xF0) or marker == 0xFE:
            names = [name for kind, start, name in _BLOCKS if kind == marker and data.startswith(start)]
            if data.startswith(MPF):
                index = file.tell() - len(data), data
            unused += names or [f"block APP{marker - 0xE0}"]
    end, packet = file.tell(), xmp or b""
    of_apple, gain = OF_APPLE in packet, None
    has_gain_map |= OF_GAIN_MAP in packet
    if has_gain_map or of_apple:
        from .gain_map import of_jpeg

        others = jpeg_segments.others(file, *index) or jpeg_segments.behind(file, end)
        file.seek(2)
        own = jpeg_segments.samples(jpeg_segments.read(file))
        size = own.width, own.height
        gain = of_jpeg(others, size, announced, exif, packet) if all(size) else None
        if gain is None:
            unused.append("gain map, which is missing or damaged")
        elif len(others) == 1 and index[0]:
            unused.remove("further pictures (MPF)")
    if has_gain_map and xmp and (xmp := without_gain_map(xmp)) is None:
        unused.append("XMP")
    if sorted(parts) != [bytes([i + 1, len(parts)]) for i in range(len(parts))]:
        unused.append("ICC profile, of which parts are missing or numbered wrongly")
    layers = WITH_GAIN_MAP if has_gain_map or gain else ()
    return Extras(
        exif=exif, xmp=xmp, unused=tuple(dict.fromkeys(filter(None, unused))), layers=layers, gain=gain
    )
