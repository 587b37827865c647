"""What a file holds, for its description: as a whole, or by rows where memory has no room for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import files, notes
from ..files.arrays import NoPictureError
from ..metrics import contents as measure
from ..rows.budget import BLOCKS, Budget, codecs
from ..rows.threads import rows_ahead
from .access import Access
from .options import Options
from .reader import check_input

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..metrics.contents import Measured

# Rows that are read at a time where nothing is measured.
_ROWS = 256


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
    return files.read_contents(path, layer=options.layer, most=Budget(path, options.memory).nbytes)


def check(strips: files.Strips) -> None:
    """Reads all rows, so that damage is found."""
    for _ in strips.rows(_ROWS):
        pass


def measured(gpu: Gpu, path: str, content: files.Picture | files.Strips, options: Options) -> Measured:
    """Returns the statistics of a picture, by rows if they come so or the device has no room for all of them."""
    if isinstance(content, files.Picture):
        if measure.fits(gpu, content):
            return measure.picture(gpu, content, options.space, alpha=options.alpha)
        content = files.Strips.of(content)
    rows = measure.rows_at_a_time(gpu, content.picture)
    if options.memory is not None and not content.in_memory:
        rows = min(rows, _in_memory(Budget(path, options.memory), content))
    with ThreadPoolExecutor(1) as pool:
        found = None
        for _, pixels in rows_ahead(gpu, pool, content, rows):
            part = replace(content.picture, pixels=pixels)
            of_part = measure.picture(gpu, part, options.space, alpha=options.alpha)
            found = of_part if found is None else found + of_part
    assert found is not None
    return found


def _in_memory(budget: Budget, content: files.Strips) -> int:
    """Returns how many rows the host's memory has room for."""
    nbytes = content.picture.pixels.nbytes
    each = BLOCKS * nbytes // content.picture.height
    return budget.rows(codecs(1) + content.least * each, each, 1, budget.whole(nbytes))
