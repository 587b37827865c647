"""Spectra and coefficients in .npz files: each array under its name, and the description as an array of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from .arrays import header, loaded
from .data import KEY, Array, Check, Description, RowsOfArray, contradiction
from .formats.record import Numbers
from .picture import unread


def _text(path: str) -> str | None:
    with loaded(path) as file:
        there = isinstance(file, np.lib.npyio.NpzFile) and KEY in file.files
        return str(file[KEY]) if there else None


def _opened(path: str, described: Description) -> Check:
    def check(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        with _member(path, described, index) as (_, there):
            if there[:2] != (shape, dtype):
                raise contradiction(path)

    return check


@contextmanager
def _member(path: str, described: Description, index: int) -> Iterator[tuple[Any, tuple[Any, Any, bool]]]:
    """Gives the file of an array in an archive, and its shape, type, and whether it lies there column by column."""
    name = _name(index, list(described.arrays)[index])
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
        shape, fortran, dtype = header(file)
        yield file, (shape, dtype, fortran)


def _rows(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    with _member(path, described, index) as (file, (shape, dtype, fortran)):
        if fortran and prod(shape[:-1]) > 1:
            with loaded(path) as content:
                array = content[_name(index, list(described.arrays)[index])]
            yield from RowsOfArray.of(array).blocks(count)
            return
        for _ in range(shape[0] if len(shape) == 3 else 1):
            for start in range(0, shape[-2], count):
                block = np.empty((min(count, shape[-2] - start), shape[-1]), dtype)
                wanted = block.data.cast("B")
                while wanted:
                    got = file.readinto(wanted)
                    if not got:
                        raise EOFError("its last rows are missing")
                    wanted = wanted[got:]
                yield block


def _write(path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool) -> None:
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind, allowZip64=True) as archive:
        with archive.open(f"{KEY}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.array(text), allow_pickle=False)
        for i, (name, rows) in enumerate(arrays.items()):
            with archive.open(f"{_name(i, name)}.npy", "w", force_zip64=True) as member:
                head = np.lib.format.header_data_from_array_1_0(unread(rows.shape, rows.dtype))
                np.lib.format.write_array_header_1_0(member, head | {"fortran_order": False})
                for block in rows.blocks(count):
                    member.write(np.ascontiguousarray(block).data.cast("B"))


def _name(i: int, name: str) -> str:
    """Returns an array's name in the archive: its own, or a number where a file cannot have such a name."""
    return name if name.isidentifier() and name.isascii() and name != KEY else f"array-{i}"


NUMBERS = Numbers(_text, _opened, _rows, _write)
