"""Reading pictures; the first one while the device is being opened."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor

from gpuops import files, notes, signals

from . import naming
from .checks import check_input


class Reader:
    """Reads pictures, of which one may be on its way already, in a thread that ends with this context."""

    def __init__(self, layer: str | None = None) -> None:
        self._layer = layer
        self._pool = ThreadPoolExecutor(1, initializer=signals.leave_to_others)
        self._ahead: tuple[str, Future[files.Picture], list[str]] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.shutdown()

    def begin(self, path: str) -> None:
        """Starts to read a file, unless it could keep one waiting: a pipe, say."""
        if os.path.isfile(path):
            found: list[str] = []
            self._ahead = path, self._pool.submit(self._noting, found, path), found

    def read(self, path: str) -> files.Picture:
        """The picture, or the error that reading it gave; notes of it are said now."""
        ahead, self._ahead = self._ahead, None  # its memory is the caller's from now on
        if ahead is None or ahead[0] != path:
            return read_picture(path, self._layer)
        try:
            return ahead[1].result()
        finally:
            for text in ahead[2]:
                notes.note(text)

    def _noting(self, found: list[str], path: str) -> files.Picture:
        with notes.to(found.append):
            return read_picture(path, self._layer)


def read_picture(path: str, layer: str | None = None) -> files.Picture:
    """The picture in a file, or in standard input."""
    if path == naming.STREAM:
        return files.read_stream(sys.stdin.buffer, layer=layer)
    check_input(path)
    return files.read(path, layer=layer)
