"""The header of a PSD file, and the inks of its merged picture, of which OpenImageIO gives nothing but RGB.

Source: Adobe, Photoshop File Formats Specification: File Header, Image Data.
"""

from __future__ import annotations

import struct
from typing import BinaryIO, NamedTuple

import numpy as np

from ..errors import FileError
from .picture import Pixels

#: The mode of colours that are amounts of ink, and how many there are.
_CMYK, _INKS = 4, 4
#: The version of large files (PSB).
_LARGE = 2
#: Bytes of the header.
_HEADER = 26
#: The kinds of compression of the merged picture.
_NONE, _RUNS = 0, 1


class PsdHeader(NamedTuple):
    """What a file's header says."""

    version: int
    channels: int
    height: int
    width: int
    bits: int
    mode: int

    @property
    def is_cmyk(self) -> bool:
        """Whether the file holds amounts of ink."""
        return self.mode == _CMYK

    @classmethod
    def of(cls, file: BinaryIO) -> PsdHeader:
        """Reads it."""
        file.seek(0)
        return cls(*struct.unpack(">4xH6xHIIHH", file.read(_HEADER)))


def inks(path: str, *, alpha: bool) -> Pixels:
    """The inks of the merged picture, 0 where there is none, and alpha behind them if it is the fifth channel.

    Returns (height, width, channels) of uint8 or uint16. Raises FileError for another depth or compression.
    """
    import imagecodecs

    channels = _INKS + alpha
    with open(path, "rb") as file:
        header = PsdHeader.of(file)
        large = header.version == _LARGE
        for size in (4, 4, 8 if large else 4):  # colours of palettes, resources, layers
            file.seek(int.from_bytes(file.read(size), "big"), 1)
        (kind,) = struct.unpack(">H", file.read(2))
        if header.bits not in (8, 16) or kind not in (_NONE, _RUNS):
            what = f"samples of {header.bits} bits" if kind in (_NONE, _RUNS) else f"compression {kind}"
            raise FileError(f"{path}: holds inks in {what}; save it as TIFF first")
        counts = None
        if kind == _RUNS:
            unit = np.dtype(">u4" if large else ">u2")
            read = file.read(unit.itemsize * header.channels * header.height)
            counts = np.frombuffer(read, unit).reshape(header.channels, header.height)
        dtype = np.dtype(f">u{header.bits // 8}")
        result = np.empty((header.height, header.width, channels), dtype.newbyteorder("="))
        for channel in range(channels):
            for row in range(header.height):
                length = header.width * dtype.itemsize if counts is None else int(counts[channel, row])
                stored = file.read(length)
                data = stored if counts is None else imagecodecs.packbits_decode(stored)
                result[row, :, channel] = np.frombuffer(data, dtype, header.width)
    np.invert(result[..., :_INKS], out=result[..., :_INKS])
    return result
