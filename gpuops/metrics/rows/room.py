"""How many rows of two pictures are measured at a time, and whether they have room as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm
from typing import TYPE_CHECKING

from ...errors import DeviceError, ParameterError, are_allowed, byte_count
from ...tiles.memory import MOST_PIXELS, ROUNDED

if TYPE_CHECKING:
    from ...figure import Figure
    from ...files.picture import Picture
    from ...gpu import Gpu

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


def fits(gpu: Gpu, pictures: Iterable[Picture], parts: Iterable[Figure]) -> bool:
    """Says whether the device has room for both pictures as a whole."""
    both, limits = [*pictures], gpu.limits
    values = max(picture.pixels.size for picture in both)
    return (
        whole_bytes(both, parts) <= limits.global_bytes
        and 4 * values <= limits.max_alloc_bytes
        and both[0].width * both[0].height <= MOST_PIXELS
    )


def whole_bytes(pictures: Sequence[Picture], parts: Iterable[Figure]) -> float:
    """Returns how many bytes of the device's memory both pictures take as a whole, with what figures need of them."""
    parts = [*parts]
    values = max(picture.pixels.size for picture in pictures)
    planes = 4 * _floats(parts, "stored") * values
    fixed = max((part.fixed for part in parts), default=0.0)
    return ROUNDED * (sum(picture.pixels.nbytes for picture in pictures) + planes + fixed) + _TABLES


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
            needed = byte_count(fixed + (least + sum(halo)) * each, up=True)
            raise DeviceError(
                f"{least + sum(halo)} rows of {width} pixels need {needed} of the device's memory for this, of "
                f"{byte_count(limits.global_bytes)}: raise the limit, or use another device"
            )
        most = min(most, rows)
    wanted = max(_ENOUGH // row, 2 * sum(halos(parts, height)), _BAND)
    return _whole_units(min(most, wanted), _unit(parts), height)


def rows_in_memory(
    pictures: tuple[Picture, Picture], parts: Iterable[Figure], memory: int, *, fixed: int, least: int
) -> int:
    """Returns how many rows have room in so many bytes of the host's memory, beside those ``fixed``.

    ``least``: rows that a file gives together. Raises ParameterError if there is no room for the least number.
    """
    parts = [*parts]
    height, width = pictures[0].height, pictures[0].width
    unit = min(_unit(parts), height)
    pixels = sum(width * picture.channels * picture.pixels.itemsize for picture in pictures)
    row = _ON_HOST * pixels + _PLACES * width
    beside = fixed + sum(halos(parts, height)) * row + _BLOCKS * least * pixels
    rows = (memory - beside) // row
    if rows < unit:
        raise ParameterError(
            f"needs {byte_count(beside + unit * row, up=True)} of memory for this, and "
            f"{are_allowed(memory)}: raise --memory"
        )
    return _whole_units(rows, unit, height)


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


def _whole_units(rows: int, unit: int, height: int) -> int:
    """Returns so many rows at most, in whole multiples."""
    if rows >= height:
        return height
    unit = _BAND if rows >= _BAND and _BAND % unit == 0 else unit
    return rows // unit * unit
