"""What a file holds, for its description: as a whole, or by rows where memory has no room for it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import files, notes
from ..errors import FileError, are_allowed, byte_count
from ..files.arrays import NoPictureError
from ..files.strips import CODEC
from ..metrics import contents as measure
from ..process.memory import of_machine
from .access import Access
from .job import Options
from .read_ahead import read_ahead
from .reader import check_input

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..metrics.contents import Measured

# Rows that are read at a time where nothing is measured.
_ROWS = 256
# Blocks of rows that are in memory: those that are measured, and those that are read meanwhile.
_AT_ONCE = 3


def read(
    path: str, options: Options
) -> tuple[files.Format, files.Picture | files.NamedArrays | files.Strips]:
    """Returns a file's format and what it holds: rows, if that takes more memory than the options allow.

    Raises FileError for what cannot be read.
    """
    check_input(path, alone=True)
    if not files.is_numbers(path, options.layer):
        with suppress(NoPictureError):
            rows = Access(path, options).rows()
            if rows is not None:
                for text in rows.said:
                    notes.note(text)
                return files.format_in(path), rows
    return files.read_contents(path, layer=options.layer, most=options.memory or of_machine() // 2)


def check(strips: files.Strips) -> None:
    """Reads all rows, so that damage is found."""
    for _ in strips.rows(_ROWS):
        pass


def measured(gpu: Gpu, path: str, content: files.Picture | files.Strips, options: Options) -> Measured:
    """Returns the statistics of a picture, by rows if they come so or the device has no room for all of them."""
    memory = options.memory
    if isinstance(content, files.Picture):
        if measure.fits(gpu, content):
            return measure.picture(gpu, content, options.space, alpha=options.alpha)
        content, memory = files.Strips.of(content), None  # it is in memory already
    rows = measure.rows_at_a_time(gpu, content.picture)
    if memory is not None:
        rows = min(rows, _in_memory(path, content, memory))
    with ThreadPoolExecutor(1) as pool:
        found = None
        for part in _parts(gpu, pool, content, rows):
            of_part = measure.picture(gpu, part, options.space, alpha=options.alpha)
            found = of_part if found is None else found + of_part
    assert found is not None
    return found


def _parts(gpu: Gpu, pool: ThreadPoolExecutor, content: files.Strips, rows: int) -> Iterator[files.Picture]:
    """Gives pictures of some rows each."""
    for block in read_ahead(gpu, pool, content.rows(rows)):
        for start in range(0, len(block), rows):  # tiles may have more
            yield replace(content.picture, pixels=block[start : start + rows])


def _in_memory(path: str, content: files.Strips, memory: int) -> int:
    """Returns how many rows the host's memory has room for."""
    picture = content.picture
    row = picture.pixels.nbytes // picture.height
    fixed = CODEC + _AT_ONCE * content.least * row
    rows = (memory - fixed) // (_AT_ONCE * row)
    if rows < 1:
        raise FileError(
            f"{path}: needs {byte_count(fixed + _AT_ONCE * row, up=True)} of memory, and "
            f"{are_allowed(memory)}: raise --memory"
        )
    return int(rows)
