"""Tables of what is measured: a row for each input, page or frame, as CSV or as JSON lines."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from gpuops.errors import ParameterError, json_text
from gpuops.files.output import check_place, write_text
from gpuops.files.streams import printable

from .shared import Shared

#: The kinds of files, by their extensions.
_KINDS = (".csv", ".jsonl")
#: What a column's name ends with for the numbers of a pair.
_PAIR = ("x", "y")


class Table:
    """The rows of a table. Columns are named as figures are in JSON; ``page`` counts from 0, and is empty for files
    with one picture."""

    def __init__(self, path: str, *, overwrite: bool) -> None:
        self._path, self._overwrite = path, overwrite
        if os.path.splitext(path)[1].lower() not in _KINDS:
            raise ParameterError(f"--table {path}: a table is written as {' or '.join(_KINDS)}")
        check_place(path, overwrite=overwrite)
        self._rows: list[dict[str, Any]] = []

    def add(self, source: str, page: str | None, figures: Mapping[str, Any]) -> None:
        """Adds a row. Figures that are pairs become two columns, others that are no single values are left out."""
        number = int(page) if page is not None and page.isdecimal() else page
        row: dict[str, Any] = {"input": printable(source), "page": number}
        for name, value in figures.items():
            if isinstance(value, list | tuple) and len(value) == len(_PAIR):
                row |= {f"{name}_{axis}": one for axis, one in zip(_PAIR, value, strict=True)}
            elif value is None or isinstance(value, int | float | str):
                row[name] = value
        self._rows.append(row)

    def write(self) -> None:
        """Writes the file, whole or not at all."""
        columns = list(dict.fromkeys(name for row in self._rows for name in row))
        rows = [{name: _defined(row.get(name)) for name in columns} for row in self._rows]
        if self._path.lower().endswith(".jsonl"):
            text = "".join(f"{json_text(row)}\n" for row in rows)
        else:
            stream = io.StringIO()
            writer = csv.DictWriter(stream, columns or ["input", "page"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            text = stream.getvalue()
        write_text(self._path, text, overwrite=self._overwrite)


def _defined(value: Any) -> Any:
    """Returns a value, None for what is not defined."""
    return None if isinstance(value, float) and math.isnan(value) else value


@contextmanager
def table_of(shared: Shared) -> Iterator[Table | None]:
    """Gives the table that is wanted, or None; it is written at the end, also where some inputs have failed."""
    if shared.table is None:
        yield None
        return
    table = Table(shared.table, overwrite=shared.overwrite)
    try:
        yield table
    except click.exceptions.Exit:
        table.write()
        raise
    table.write()
