"""Spectra and coefficients in .npz files: each array under its name, and the description as an array of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from .arrays import blocks, loaded, member
from .data import KEY, Array, Check, Description, RowsOfArray, contradiction
from .formats.record import NumberFiles
from .picture import unread


def _text(path: str) -> str | None:
    with loaded(path) as file:
        there = isinstance(file, np.lib.npyio.NpzFile) and KEY in file.files
        return str(file[KEY]) if there else None


def _opened(path: str, described: Description) -> Check:
    def check(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        with member(path, _name(index, list(described.arrays)[index])) as (_, of_file, _, kind):
            if (of_file, kind) != (shape, dtype):
                raise contradiction(path)

    return check


def _rows(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    name = _name(index, list(described.arrays)[index])
    with member(path, name) as (file, shape, fortran, dtype):
        if fortran and prod(shape[:-1]) > 1:
            with loaded(path) as content:
                yield from RowsOfArray.of(content[name]).blocks(count)
            return
        for _ in range(shape[0] if len(shape) == 3 else 1):
            yield from blocks(file, shape[-2:], dtype, count)


def _write(path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool) -> None:
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind, allowZip64=True) as archive:
        with archive.open(f"{KEY}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.array(text), allow_pickle=False)
        for i, (name, rows) in enumerate(arrays.items()):
            with archive.open(f"{_name(i, name)}.npy", "w", force_zip64=True) as file:
                head = np.lib.format.header_data_from_array_1_0(unread(rows.shape, rows.dtype))
                np.lib.format.write_array_header_1_0(file, head | {"fortran_order": False})
                for block in rows.blocks(count):
                    file.write(np.ascontiguousarray(block).data.cast("B"))


def _name(i: int, name: str) -> str:
    """Returns an array's name in the archive: its own, or a number where a file cannot have such a name."""
    return name if name.isidentifier() and name.isascii() and name != KEY else f"array-{i}"


NUMBERS = NumberFiles(_text, _opened, _rows, _write)
