"""A reader of TIFF for which each page counts alone.

OpenImageIO opens no file whose page 0 is of a kind that it does not know. It gets another page in a temporary file
then: with that page's bytes where they were, and nothing between them, which takes no room on the disk.
Source: TIFF 6.0, section 2 (directories).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

from ..errors import FileError
from ..process import temporary
from . import exif, oiio
from .drafts import draft_file
from .read_errors import parsing
from .tiff_parts import PLACES, numbers

#: Bytes that are copied at a time.
_AT_ONCE = 1 << 20
#: The most bytes of a header, and of the place of the next directory.
_HEADER, _PLACE = 16, 8


class PageReader(oiio.Reader):
    """A context that reads one file, as its base does."""

    def __init__(self, path: str, *, raw: bool = False) -> None:
        super().__init__(path, raw=raw)
        self._drafts = ExitStack()
        self._apart = 0

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._drafts.close()

    def spec(self, index: int = 0) -> Any:
        """OpenImageIO's ImageSpec of a page; IndexError where there is none."""
        if index and index == self._apart:
            return super().spec()
        try:
            return super().spec(index)
        except (FileError, IndexError):
            if not index:
                raise
        with parsing(self.path):
            self.opened = self._drafts.enter_context(draft_file(temporary.folder()))
            _write_alone(self.path, index, self.opened)
        self._apart = index
        return super().spec()


def _write_alone(path: str, page: int, target: str) -> None:
    """Writes a file of one page of another file. Raises MalformedError where the directories are damaged."""
    with open(path, "rb") as file, open(target, "r+b") as out:
        structure = exif.Structure(file)
        offset = structure.first
        for _ in range(page):
            offset = structure.following(offset)
        kind, first = ("Q", 8) if structure.big else ("I", 4)
        size, done = os.path.getsize(path), 0
        out.truncate(size)
        for start, end in sorted([(0, _HEADER), *_ranges(structure, offset, exif.POINTERS)]):
            done = max(start, done)
            file.seek(done)
            out.seek(done)
            while done < min(end, size):
                done += out.write(file.read(min(_AT_ONCE, end - done)))
        out.seek(first)
        out.write(struct.pack(structure.order + kind, offset))
        out.seek(structure.directory(offset).end)
        out.write(bytes(struct.calcsize("=" + kind)))  # there is no next one


def _ranges(structure: exif.Structure, offset: int, pointers: exif.Pointers) -> Iterator[tuple[int, int]]:
    """From where and up to where a file has what belongs to a directory."""
    listed = structure.directory(offset)
    yield offset, listed.end + _PLACE
    for tag, entry in listed.entries:
        yield entry.position, entry.position + len(entry.data)
        if tag in pointers:
            with suppress(exif.MalformedError):
                yield from _ranges(structure, entry.integer(), pointers[tag])
    for places, sizes in PLACES:
        for start, size in zip(numbers(listed.tags, places), numbers(listed.tags, sizes), strict=False):
            yield start, start + size
