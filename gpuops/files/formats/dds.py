"""DDS, decoded by Pillow; half floats (BC6H) by OpenImageIO. The first surface of a file is read.

Source: Microsoft, Programming Guide for DDS.
"""

from __future__ import annotations

import struct
from io import BytesIO
from pathlib import Path

import numpy as np

from .. import oiio, pillow
from ..picture import Picture
from ..read_errors import parsing
from .bmp import masked
from .record import Format, LayerId

#: The numbers of formats (DXGI) of half floats in blocks: unsigned and signed BC6H.
_BC6H = (95, 96)
#: Those of sRGB in blocks (BC1, BC2, BC3), which Pillow knows by the numbers before, of the same bytes.
_OF_SRGB = (72, 75, 78)
#: The bits of a pixel, and its masks, of formats (DXGI) that Pillow does not read: R16, R10G10B10A2, B8G8R8A8 and
#: B8G8R8X8, plain and of sRGB, B5G6R5, B5G5R5A1 and B4G4R4A4.
_DXGI = {
    56: (16, (0xFFFF,)),
    24: (32, (0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000)),
    **dict.fromkeys((87, 91), (32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000))),
    **dict.fromkeys((88, 93), (32, (0xFF0000, 0xFF00, 0xFF))),
    85: (16, (0xF800, 0x7E0, 0x1F)),
    86: (16, (0x7C00, 0x3E0, 0x1F, 0x8000)),
    115: (16, (0xF00, 0xF0, 0xF, 0xF000)),
}


def _read(path: str, layer: LayerId) -> Picture:
    with open(path, "rb") as file:
        header = file.read(148)
    extended = header[84:88] == b"DX10" and len(header) == 148
    kind = struct.unpack_from("<I", header, 128)[0] if extended else None
    if kind in _BC6H:
        with oiio.Reader(path) as reader:
            pixels = reader.read()
        return Picture(np.ascontiguousarray(pixels[:, :, :3]), linear=True)
    if kind in _DXGI:
        bits, masks = _DXGI[kind]
        height, width = struct.unpack_from("<II", header, 12)
        pixels = masked(path, len(header), (height, width), width * bits // 8, bits, masks)
    elif kind in _OF_SRGB:
        import PIL.Image

        data = Path(path).read_bytes()
        data = data[:128] + struct.pack("<I", kind - 1) + data[132:]
        with parsing(path), PIL.Image.open(BytesIO(data), formats=("DDS",)) as image:
            pixels = pillow.samples(image)
    else:
        pixels = pillow.read(path, "DDS")
    return Picture(pixels, alpha=pixels.shape[2] in (2, 4))


FORMAT = Format(
    "DDS", (".dds",), ("uint8", "float16"), _read, unread=pillow.unread_in("DDS"), magic=(b"DDS ",),
)  # fmt: skip
