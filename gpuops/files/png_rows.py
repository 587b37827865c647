"""PNG files inflated by isal, twice as fast as by zlib, where a device undoes the filters of their rows.

Whoever has a device says so by :func:`undone_by`. Files with a palette, a colour key, interlacing or less than 8 bits,
and small or damaged ones, are left to OpenImageIO, which has the last word on what can be read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from .png import chunks, header

#: Channels by PNG's colour type.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
#: The kinds of values, as the file has them first and as the device has them, by their bits.
_DTYPES: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint8), 16: np.dtype("<u2")}
#: Bytes of pixels from which on it pays to have their filters undone by a device.
_WORTH = 1 << 18
#: The most bytes that deflate can make of one.
_DENSEST = 1032

Rows = npt.NDArray[np.uint8]
Pixels = npt.NDArray[Any]
Undo = Callable[[Rows, tuple[int, int, int], np.dtype[Any]], Pixels | None]

_undo: ContextVar[Undo | None] = ContextVar("undo", default=None)


class DeferredUnfilter:
    """Undoes filters once there is a device. Threads that have inflated a file wait for that.

    Attributes
    ----------
    awaited : bool
        Whether a thread waits, or has waited. It then calls ``asked``.
    """

    def __init__(self, asked: Callable[[], object] = lambda: None) -> None:
        self.awaited = False
        self._asked = asked
        self._undo: Undo | None = None
        self._known = Event()

    @property
    def known(self) -> bool:
        """Whether threads need not wait any more."""
        return self._known.is_set()

    @property
    def refused(self) -> bool:
        """Whether it is known that nothing undoes filters."""
        return self.known and self._undo is None

    def give(self, undo: Undo | None) -> None:
        """Says what undoes filters; None if there is nothing, and files are left to OpenImageIO."""
        self._undo = undo
        self._known.set()

    def __call__(self, rows: Rows, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> Pixels | None:
        if not self.known:
            self.awaited = True
            self._asked()
            self._known.wait()
        return None if self._undo is None else self._undo(rows, shape, dtype)


@contextmanager
def undone_by(undo: Undo | None) -> Iterator[None]:
    """While it lasts, this thread's PNG files have their filters undone by ``undo``: rows, shape, dtype → pixels."""
    before = _undo.set(undo)
    try:
        yield
    finally:
        _undo.reset(before)


def read(path: str, nbytes: int) -> Pixels | None:
    """Returns the pixels (height, width, channels) of a file with right checksums; None where OpenImageIO reads it.

    ``nbytes`` of the pixels: a small file is not opened.
    """
    undo = _undo.get()
    if nbytes < _WORTH or undo is None or (isinstance(undo, DeferredUnfilter) and undo.refused):
        return None
    found = _inflated(path)
    return None if found is None else undo(*found)


def _inflated(path: str) -> tuple[Rows, tuple[int, int, int], np.dtype[Any]] | None:
    """Returns the rows with their filters, and the shape and kind of the pixels."""
    from isal import isal_zlib

    width, height, bits, colour, interlaced = header(path)
    if interlaced or colour not in _CHANNELS or bits not in _DTYPES:
        return None
    shape, dtype = (height, width, _CHANNELS[colour]), _DTYPES[bits]
    nbytes = height * (width * shape[2] * dtype.itemsize + 1)
    if nbytes > _DENSEST * os.path.getsize(path):
        return None
    parts = []
    with open(path, "rb") as file:
        for kind, data in chunks(file, pixels=True):
            if kind == b"tRNS":
                return None
            parts += [data] * (kind == b"IDAT")
    try:
        rows = np.frombuffer(isal_zlib.decompress(b"".join(parts), bufsize=nbytes), np.uint8)
    except Exception:  # OpenImageIO will say what is wrong
        return None
    if rows.size != nbytes or rows.reshape(height, -1)[:, 0].max() > 4:
        return None
    return rows, shape, dtype
