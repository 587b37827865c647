"""Images of FITS, written by rows: as floats, or as the integers that they were in their file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np

from . import cards
from .cards import BLOCK, CARD
from .fits_integers import TYPES, Integers
from .picture import Picture, Pixels, in_blocks

#: BITPIX of floats.
FLOATS = -32
# Integers that are made at a time.
_AT_ONCE = 1 << 16


def head(shape: tuple[int, ...], bits: int, described: Iterable[str], *, extension: bool = False) -> bytes:
    """Returns the header of an image of this shape and BITPIX, with cards that describe it.

    ``extension``: it is not the first one of its file.
    """
    first = {"XTENSION": "IMAGE"} if extension else {"SIMPLE": True}
    axes = {f"NAXIS{axis}": size for axis, size in enumerate(shape[::-1], 1)}
    last = {"PCOUNT": 0, "GCOUNT": 1} if extension else {"EXTEND": True}
    said: dict[str, str | int] = {**first, "BITPIX": bits, "NAXIS": len(shape), **axes, **last}
    return cards.header((*(cards.card(name, what) for name, what in said.items()), *described))


@contextmanager
def write_rows(path: str, picture: Picture, _method: object) -> Iterator[Callable[[Pixels], None]]:
    """Gives a function that writes some rows of pixels, one call after the other from the top on.

    They are written as integers if the picture's metadata say how, and all of them are such integers.
    """
    height, width, planes = picture.pixels.shape
    shape = (height, width) if planes == 1 else (planes, height, width)
    integers, described, at = picture.metadata.integers, picture.metadata.cards, 0
    more = () if integers is None else integers.lines
    bits = FLOATS if integers is None else integers.bits
    start = len(head(shape, bits, (*more, *described)))
    with open(path, "w+b") as file:

        def begin(bits: int, more: Iterable[str]) -> None:
            file.seek(0)
            file.write(head(shape, bits, (*more, *described)))
            nbytes = picture.pixels.size * abs(bits) // 8
            file.truncate(start + -(-nbytes // BLOCK) * BLOCK)

        def lay(rows: Pixels) -> None:
            nonlocal at
            at += len(rows)
            for plane in range(planes):
                file.seek(start + rows.itemsize * width * (plane * height + height - at))
                file.write(rows[::-1, :, plane].tobytes())

        def put(pixels: Pixels) -> None:
            nonlocal integers
            for rows in in_blocks(pixels, max(1, _AT_ONCE // width)) if integers else (pixels,):
                stored = integers.stored(rows) if integers else None
                if integers is not None and stored is None:
                    _as_floats(file, start, integers, picture.pixels.size)
                    begin(FLOATS, (" " * CARD for _ in integers.lines))
                    integers = None
                lay(rows.astype(TYPES[FLOATS]) if stored is None else stored)

        begin(bits, more)
        yield put


def _as_floats(file: BinaryIO, start: int, integers: Integers, count: int) -> None:
    """Makes floats of stored numbers in a file, in their place."""
    kind, floats = integers.kind, np.dtype(TYPES[FLOATS])
    parts = range(0, count, _AT_ONCE)
    for first in parts if kind.itemsize > floats.itemsize else reversed(parts):  # so that none is overwritten
        file.seek(start + kind.itemsize * first)
        stored = np.frombuffer(file.read(kind.itemsize * min(_AT_ONCE, count - first)), kind)
        file.seek(start + floats.itemsize * first)
        file.write(integers.values(stored)[0].astype(floats).tobytes())
