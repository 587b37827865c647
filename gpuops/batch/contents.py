"""What files hold, which nothing is computed of: as a whole, or by rows where memory has no room for it."""

from __future__ import annotations

from contextlib import suppress

from .. import files
from ..files.arrays import NoPictureError
from ..rows.budget import Budget
from .access import Access, check_input
from .options import Options

#: The names of channels, by their number.
CHANNELS = {1: ("Y",), 2: ("Y", "A"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "A")}
# Rows that are read at a time.
_ROWS = 256


def read(
    path: str, options: Options
) -> tuple[files.Format, files.Picture | files.NamedArrays | files.Strips]:
    """Returns a file's format and what it holds: rows, if that takes more memory than the options allow.

    Raises FileError for what cannot be read.
    """
    check_input(path, alone=True)
    fmt = files.format_in(path)
    if not files.is_numbers(path, fmt, options.layer):
        with suppress(NoPictureError):
            rows = Access(path, options).rows()
            if rows is not None:
                rows.tell()
                return fmt, rows
    return files.read_contents(path, fmt=fmt, layer=options.layer, most=Budget(path, options.memory).nbytes)


def check(strips: files.Strips) -> None:
    """Reads all rows, so that damage is found."""
    for _ in strips.rows(_ROWS):
        pass
