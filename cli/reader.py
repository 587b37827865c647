"""Reading of pictures, which reads the first one while the device is being opened."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor

from gpuops import files, notes
from gpuops.process import signals

from . import naming
from .checks import check_input


class Reader:
    """Reads pictures. A thread, which ends with this context, may already be reading one of them."""

    def __init__(self, layer: str | None = None) -> None:
        self._layer = layer
        self._pool = ThreadPoolExecutor(1, initializer=signals.leave_to_others)
        self._ahead: tuple[str, Future[files.Picture], list[str]] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.shutdown()

    def begin(self, path: str) -> None:
        """Starts to read a file, unless it is one that may wait for its data, such as a pipe."""
        if os.path.isfile(path):
            found: list[str] = []
            self._ahead = path, self._pool.submit(self._noting, found, path), found

    def read(self, path: str) -> files.Picture:
        """Returns the picture or raises the error of reading it, and passes on the notes about it."""
        ahead, self._ahead = self._ahead, None  # its memory belongs to the caller from now on
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
