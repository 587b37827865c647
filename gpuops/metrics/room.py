"""How many rows of two pictures are measured at a time, and whether they have room as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from ..files.picture import Picture
from ..files.strips import Strips
from ..rows.budget import codecs
from ..tiles.memory import MOST_PIXELS, ROUNDED, no_room

if TYPE_CHECKING:
    from ..figures import Figure
    from ..gpu import Gpu

# Numbers of 32 bits for each value of one picture that each kind of values takes, of both pictures.
_BOTH = 2.0
# The same for what is there for a while only: values on their way to light, and what the pool rounds up.
_SPARE = 3.0
# Bytes of tables, and of the sums of groups, beside whole pictures (measured: 2.4 MB).
_TABLES = 3e6
# Bytes of planes from which on more rows at a time are no faster.
_ENOUGH = 1 << 24
# Rows in whole multiples of which sums are the same bits as those of the whole: moments.py's bands are of so many.
_BAND = 64
# The share of the device's memory that rows may take: tables and scratch memory have the rest.
_SHARE = 0.85
# Copies of a row of pixels that the host has: read ahead, held, put together, and made equal where nothing is compared.
_ON_HOST = 4
# Blocks of a file's least rows that are held or read beyond those.
_BLOCKS = 2
# Bytes for each pixel of what says where pixels differ.
_PLACES = 24


def fits(gpu: Gpu, pictures: Sequence[Picture], parts: Iterable[Figure]) -> bool:
    """Says whether the device has room for both pictures as a whole, with what figures need of them."""
    parts, limits = [*parts], gpu.limits
    values = max(picture.pixels.size for picture in pictures)
    planes = 4 * _floats(parts, "stored") * values
    fixed = max((part.fixed for part in parts), default=0.0)
    whole = ROUNDED * (sum(picture.pixels.nbytes for picture in pictures) + planes + fixed) + _TABLES
    return (
        whole <= limits.global_bytes
        and 4 * values <= limits.max_alloc_bytes
        and pictures[0].width * pictures[0].height <= MOST_PIXELS
    )


def halos(parts: Iterable[Figure], height: int) -> tuple[int, int]:
    """Returns how many rows above and below the parts look at, at most."""
    both = [(0, 0), *((part.above, part.below) for part in parts)]
    return min(height, max(above for above, _ in both)), min(height, max(below for _, below in both))


def rows_at_a_time(gpu: Gpu, pictures: tuple[Picture, Picture], parts: Iterable[Figure]) -> int:
    """Returns how many rows the device should measure at a time.

    Raises DeviceError if it has no room for the least number.
    """
    parts = [*parts]
    height, width = pictures[0].height, pictures[0].width
    least = min(_unit(parts), height)
    row = 4 * width * max(picture.channels for picture in pictures)
    pixels = sum(width * picture.channels * picture.pixels.itemsize for picture in pictures)
    limits = gpu.limits
    most = height
    for halo in {(0, 0), *((part.above, part.below) for part in parts)}:
        with_halo = [part for part in parts if (part.above, part.below) == halo]
        counted = ("stored",) if halo == (0, 0) else ()
        each = (pixels + (_floats(with_halo, *counted) + _SPARE) * row) / _SHARE
        fixed = max((part.fixed for part in with_halo), default=0.0) / _SHARE
        rows = int(min((limits.global_bytes - fixed) / each, limits.max_alloc_bytes / row)) - sum(halo)
        if rows < least:
            words = f"{least + sum(halo)} rows of {width} pixels need"
            raise no_room(gpu, words, fixed + (least + sum(halo)) * each)
        most = min(most, rows)
    wanted = max(_ENOUGH // row, 2 * sum(halos(parts, height)), _BAND)
    return whole_units(min(most, wanted), _unit(parts), height)


class HostRows(NamedTuple):
    """What rows of two pictures take of the host's memory: bytes whatever their number, and for each row that counts.

    They come in multiples of ``unit``.
    """

    fixed_bytes: int
    bytes_per_row: int
    unit: int


def host_rows(
    picture: Picture, files: Sequence[Strips], parts: Iterable[Figure], *, written: bool, more: int = 0
) -> HostRows:
    """Returns it for files of the size of ``picture``: two pictures, and what belongs to them.

    ``written``: whether a picture of the difference is; ``more``: bytes of the pixels of another file, which is whole.
    """
    parts, sizes = [*parts], [one.picture.pixels.nbytes for one in files]
    pixels = -(-(sum(sizes) + more) // picture.height)
    row = _ON_HOST * pixels + _PLACES * picture.width
    held = more + sum(one.held for one in files)
    blocks = _BLOCKS * max(one.least for one in files) * pixels
    fixed = codecs(2 + written) + sum(halos(parts, picture.height)) * row + blocks + held
    return HostRows(fixed, row, min(_unit(parts), picture.height))


def _floats(parts: Iterable[Figure], *kinds: str) -> float:
    """Returns the numbers for each value of one picture that parts need together; they come one after the other.

    ``kinds``: values that are there anyway.
    """
    parts = [*parts]
    kinds = tuple({*kinds, *(part.wants for part in parts)})
    return _BOTH * len(kinds) + max((part.floats for part in parts), default=0.0)


def _unit(parts: Iterable[Figure]) -> int:
    """Returns what rows have to come in multiples of."""
    return lcm(*(part.multiple for part in parts))


def whole_units(rows: int, unit: int, height: int) -> int:
    """Returns so many rows at most, ``height`` at most, in whole multiples."""
    if rows >= height:
        return height
    unit = _BAND if rows >= _BAND and _BAND % unit == 0 else unit
    return rows // unit * unit
