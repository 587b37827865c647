"""Radiance pictures, read to the last bit.

A pixel is (r, g, b, e), which means (r, g, b) · 2^(e − 136), and black where e is 0. A row is stored plainly, or each
of its components in runs. Before 1991 equal pixels were stored in runs: (1, 1, 1, n) repeats the pixel before it
n times, and the next one, if it is such too, 256 n times.
Source: Greg Ward, Real Pixels (Graphics Gems II); Radiance's file formats (picture files), and freadcolrs in its
color.c. imagecodecs (2026.3) decodes rows by components to the same values, but neither runs of pixels, nor both kinds
in a file, nor other axes, nor files that do not name their FORMAT.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from ...errors import FileError
from .. import colours, containers, oiio, raster
from ..picture import Picture, Pixels
from .record import Format, LayerId, Storage

# Bytes of a header's line, at most.
_LONGEST_LINE = 1 << 12
# Lines of a header that change what pixels mean, as messages name them.
_HDR_KEYS = {"EXPOSURE": "exposure", "COLORCORR": "colour correction", "VIEW": "view"}
_HDR_KEYS |= {"PIXASPECT": "pixel aspect ratio", "GAMMA": "gamma"}
#: The orders of rows and columns, of orientations 1 to 8.
_AXES = ("-Y +X", "-Y -X", "+Y -X", "+Y +X", "+X -Y", "-X -Y", "-X +Y", "+X +Y")
# The least number of pixels of rows that may be stored by components.
_SHORTEST_ROW = 8
# The largest number of pixels of such rows.
_LONGEST_ROW = 0x7FFF
# The largest count of different bytes; larger counts are of equal bytes.
_LONGEST_RUN = 128
# The excess of a stored exponent over the power of two that multiplies the stored whole numbers.
_BIAS = 136


def _read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, _container)
    with oiio.Reader(path) as file:
        page = raster.Page(path, extras, file.spec(), layer)
        file.check_plausible(page.spec)
    return page.picture(_pixels(path))


def _write(path: str, picture: Picture, storage: Storage) -> None:
    oiio.write(path, picture.pixels, {})


def _container(file: BinaryIO) -> containers.Extras:
    unused: list[str] = []
    stated = None
    lines, axes = _header(file)
    for line in lines:
        key, _, value = line.partition("=")
        if key == "FORMAT" and value.strip() != "32-bit_rle_rgbe":
            what = f"pixels of the kind {value.strip()}; convert it to 32-bit_rle_rgbe first"
            raise FileError(f"{file.name}: holds {what}")
        if key == "PRIMARIES":
            stated = colours.of_chromaticities(_numbers(value), "primaries")
        if key in _HDR_KEYS and value.strip() and {*_numbers(value)} != {1}:  # factors of 1 change nothing
            unused.append(_HDR_KEYS[key])
    order = " ".join(axes[::2])
    orientation = 1 + _AXES.index(order) if order in _AXES else 0
    return containers.Extras(colours=stated, unused=tuple(dict.fromkeys(unused)), orientation=orientation)


def _header(file: BinaryIO) -> tuple[list[str], list[str]]:
    """The lines of a header, and the words of the line behind it that says the size."""
    lines = iter(lambda: file.readline(_LONGEST_LINE).decode("latin-1").strip(), "")
    return list(lines), file.readline(_LONGEST_LINE).decode("latin-1").split()


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        return ()


def _pixels(path: str) -> Pixels:
    """The pixels (rows, pixels, 3) as they lie in the file, whose header OpenImageIO has accepted."""
    with open(path, "rb") as file:
        _, axes = _header(file)
        data = file.read()
    if len(axes) != 4 or not (axes[1] + axes[3]).isdecimal():
        raise FileError(f"{path}: is damaged: the line with its size makes no sense")
    pixels = np.empty((int(axes[1]), int(axes[3]), 3), np.float32)
    at = 0
    for y, row in enumerate(pixels):
        try:
            stored, at = _row(data, at, len(row))
        except (IndexError, ValueError):
            place = f"row {y + 1} of {len(pixels)}"
            raise FileError(f"{path}: could not be read: the file is cut off or damaged ({place})") from None
        np.ldexp(stored[:, :3].astype(np.float32), stored[:, 3:].astype(np.int32) - _BIAS, out=row)
        row[stored[:, 3] == 0] = 0
    return pixels


def _row(data: bytes, at: int, length: int) -> tuple[Pixels, int]:
    """The stored pixels (pixels, 4) of the row that begins there, and where it ends.

    Raises IndexError or ValueError where there is no such row.
    """
    head = data[at : at + 4]
    if _SHORTEST_ROW <= length <= _LONGEST_ROW and head[:2] == b"\2\2" and head[2] < 0x80:
        if int.from_bytes(head[2:], "big") != length:
            raise ValueError("a row of another length")
        row, at = _by_components(data, at + 4, length)
        return np.frombuffer(row, np.uint8).reshape(4, length).T, at
    if b"\1\1\1" in data[at : at + 4 * length]:
        row, at = _in_runs(data, at, length)
    else:
        row, at = bytearray(data[at : at + 4 * length]), at + 4 * length
    return np.frombuffer(row, np.uint8).reshape(length, 4), at


def _by_components(data: bytes, at: int, length: int) -> tuple[bytearray, int]:
    """All reds of a row, all greens, blues and exponents, and where they end in the file."""
    row = bytearray()
    for end in range(length, 4 * length + 1, length):
        while len(row) < end:
            count = data[at]
            if count > _LONGEST_RUN:
                row += data[at + 1 : at + 2] * (count - _LONGEST_RUN)
                at += 2
            else:
                row += data[at + 1 : at + 1 + count]
                at += 1 + count
        if len(row) > end:
            raise ValueError("a run beyond the row's end")
    return row, at


def _in_runs(data: bytes, at: int, length: int) -> tuple[bytearray, int]:
    """The pixels of a row that may have runs of equal ones, and where they end in the file."""
    row = bytearray()
    place = 0
    while len(row) < 4 * length:
        red, green, blue, times = pixel = data[at : at + 4]
        at += 4
        if red == green == blue == 1:
            if not row:
                raise ValueError("a run of nothing")
            row += row[-4:] * min(times << place, length - len(row) // 4)
            place += 8
        else:
            row += pixel
            place = 0
    return row, at


FORMAT = Format(
    "Radiance HDR", (".hdr", ".rgbe"), ("float32",), _read, _write, unread=oiio.unread_in,
    magic=(b"#?RADIANCE", b"#?RGBE"), channels=(3,), brightest=255 * 2.0**119, lossy=True,
)  # fmt: skip
