"""Portable FloatMap: a text header, then float32 rows from the bottom to the top.

Format: Paul Debevec's description; a negative scale means little-endian. Its magnitude has no agreed meaning: of other
readers some multiply by it, some divide, and some ignore it.
"""

from __future__ import annotations

import re

import numpy as np

from ...errors import FileError
from ...notes import note
from ..picture import Picture, Pixels, unread
from ..read_errors import beginning, check_size, stored
from .record import Format, LayerId, Storage

# The header: the kind of file, width, height, and scale. Its lines may all end as Windows has it.
_HEADER = re.compile(rb"(PF|Pf)(?=(\r\n)?)\s+(\d+)\s+(\d+)\s+([-+.\deE]+)(?:\2|\s)")


def _header(path: str) -> tuple[re.Match[bytes], tuple[int, int, int]]:
    """The header of a file, and the shape of its pixels."""
    header = _HEADER.match(beginning(path, 256))
    if header is None:
        raise FileError(f"{path}: is damaged: its PFM header is not complete")
    return header, (int(header[4]), int(header[3]), 3 if header[1] == b"PF" else 1)


def _unread(path: str) -> Pixels:
    return unread(_header(path)[1], np.float32)


def _read(path: str, layer: LayerId) -> Picture:
    header, (height, width, channels) = _header(path)
    try:
        scale = float(header[5])
    except ValueError:
        scale = 0
    if scale == 0:
        raise FileError(
            f"{path}: is damaged: its PFM header has no scale, whose sign tells the order of bytes"
        )
    check_size(path, width, height)
    data = stored(path, ("<" if scale < 0 else ">") + "f4", width * height * channels, header.end())
    if abs(scale) != 1:
        note(
            f"{path}: is read without its scale of {abs(scale):g}, by which some programs multiply or divide"
        )
    pixels = data.reshape(height, width, channels)[::-1].astype("f4")
    return Picture(np.ascontiguousarray(pixels), linear=True)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    kind = "PF" if picture.channels == 3 else "Pf"
    with open(path, "wb") as file:
        file.write(f"{kind}\n{picture.width} {picture.height}\n-1.0\n".encode())
        np.ascontiguousarray(picture.pixels[::-1], "<f4").tofile(file)


FORMAT = Format(
    "PFM", (".pfm",), ("float32",), _read, _write, unread=_unread,
    magic=(b"PF\n", b"Pf\n", b"PF\r", b"Pf\r"), channels=(1, 3),
)  # fmt: skip
