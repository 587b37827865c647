"""The integers that a FITS file stores for whole numbers: read as floats, and made of floats again.

Source: the FITS Standard 4.0, 4.4.2.5 and 5.2: a value is BZERO + BSCALE · stored, and BLANK stands for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import cards

#: The types of stored values, by BITPIX.
TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
#: The largest whole number of which floats say that it was no other one.
EXACT = (1 << 24) - 1
#: BZERO of 64-bit integers without a sign, and the largest one that sums of other integers have room for.
_UNSIGNED, _ROOM = 1 << 63, 1 << 61
#: BZERO up to which floats hold its sum with 8 or 16 bits.
_SMALL = 1 << 23


def blank_of(known: Mapping[str, cards.Value], bits: int) -> int | None:
    """Returns the stored number that stands for no value in an image with this header, if there is one."""
    blank = known.get("BLANK", known.get("ZBLANK"))
    if bits < 0 or not isinstance(blank, int) or isinstance(blank, bool):
        return None
    ends = np.iinfo(TYPES[bits])
    return blank if ends.min <= blank <= ends.max else None


class Integers(NamedTuple):
    """How an image stores whole numbers: BITPIX, BZERO, and BLANK if there is one; and the cards that say it."""

    bits: int
    zero: int = 0
    blank: int | None = None
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, known: Mapping[str, cards.Value], lines: Iterable[str], bits: int) -> Integers | None:
        """Returns how an image with this header stores its values, unless they are no whole numbers."""
        zero, scale = float(cards.number(known, "BZERO", 0)), cards.number(known, "BSCALE", 1)
        has_room = zero in (0, _UNSIGNED) if bits == 64 else abs(zero) <= _ROOM
        if bits < 0 or scale != 1 or not zero.is_integer() or not has_room:
            return None
        said = {cards.keyword(line): line for line in lines}
        kept = [said[name] for name in ("BSCALE", "BZERO") if name in said]
        if (blank := blank_of(known, bits)) is not None:
            kept.append(said.get("BLANK") or cards.card("BLANK", blank))
        return cls(bits, int(zero), blank, tuple(kept))

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of stored numbers."""
        return np.dtype(TYPES[self.bits])

    def values(self, stored: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], bool]:
        """Returns the values of stored numbers, NaN where there is none, and whether all are known exactly."""
        absent, exact = None if self.blank is None else stored == self.blank, True
        if stored.dtype.itemsize < 4 and abs(self.zero) <= _SMALL:
            values = stored.astype(np.float32)
            values += np.float32(self.zero)
        else:
            whole: npt.NDArray[Any] = stored.astype(np.int64)
            if self.zero == _UNSIGNED:
                whole = whole.view(np.uint64) ^ np.uint64(_UNSIGNED)
            elif self.zero:
                whole += self.zero
            if absent is not None:
                whole[absent] = 0
            exact = bool(whole.min(initial=0) >= -EXACT and whole.max(initial=0) <= EXACT)
            values = whole.astype(np.float32)
        if absent is not None:
            values[absent] = np.nan
        return values, exact

    def stored(self, values: npt.NDArray[np.float32]) -> npt.NDArray[Any] | None:
        """Returns the stored numbers of values, or None where one of these is no whole number, or has no room."""
        ends = np.iinfo(self.kind)
        least, most = max(ends.min + self.zero, -EXACT), min(ends.max + self.zero, EXACT)
        absent = None if self.blank is None else np.isnan(values)
        if absent is not None:
            values = np.where(absent, np.float32(least), values)
        with np.errstate(invalid="ignore"):  # NaN, and what has no room, become numbers that are not equal
            whole = values.astype(np.int32)
        if whole.min() < least or whole.max() > most or (whole.astype(np.float32) != values).any():
            return None
        made = whole + np.int64(-self.zero)
        if absent is not None and self.blank is not None:
            if (made[~absent] == self.blank).any():
                return None
            made[absent] = self.blank
        return made.astype(self.kind)
