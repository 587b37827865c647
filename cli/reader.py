"""Reading pictures; the first one while the device is being opened."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor

from gpuops import files, signals

from . import naming
from .checks import check_input


class Reader:
    """Reads pictures, of which one may be on its way already, in a thread of its own. A context: it ends with that one.

    Only the first input is read ahead: nothing else gives warnings then, which would be taken for another input's.
    """

    def __init__(self, layer: str | None = None) -> None:
        self._layer = layer
        self._pool = ThreadPoolExecutor(1, initializer=signals.leave_to_others)
        self._ahead: tuple[str, Future[files.Picture]] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.shutdown()

    def begin(self, path: str) -> None:
        """Starts to read a file, unless it could keep one waiting: a pipe, say."""
        if os.path.isfile(path):
            self._ahead = path, self._pool.submit(read_picture, path, self._layer)

    def read(self, path: str) -> files.Picture:
        """The picture, or the error that reading it gave."""
        ahead, self._ahead = self._ahead, None  # its memory is the caller's from now on
        if ahead is not None and ahead[0] == path:
            return ahead[1].result()
        return read_picture(path, self._layer)


def read_picture(path: str, layer: str | None = None) -> files.Picture:
    """The picture in a file, or in standard input."""
    if path == naming.STREAM:
        return files.read_stream(sys.stdin.buffer, layer=layer)
    check_input(path)
    return files.read(path, layer=layer)
