"""Files of numbers as :mod:`gpuops.files.data` has them, read some rows at a time."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from . import data
from .arrays import header, loaded
from .data import Array, Description, contradiction
from .data_rows import RowsOfArray
from .reading import parsing, quiet_tifffile, reading
from .streams import with_text_name

#: ``(index, shape, dtype)``: raises FileError unless the array of that number in the file is of this kind.
Check = Callable[[int, tuple[int, ...], "np.dtype[Any]"], None]


def open_data(path: str | os.PathLike[str]) -> tuple[dict[str, RowsOfArray], dict[str, Any]]:
    """Opens what :func:`gpuops.files.data.read_data` reads: arrays whose rows are read when they are asked for."""
    name = os.fspath(path)
    with reading(name), with_text_name(name) as text:
        fmt = data.format_in(name)
        with parsing(text):
            described, check = _OPENERS[fmt](text)
        for i, (shape, dtype) in enumerate(described.arrays.values()):
            check(i, shape, dtype)

    def rows_of(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> RowsOfArray:
        def blocks(count: int) -> Iterator[Array]:
            with reading(name), with_text_name(name) as text, parsing(text):
                yield from _ROWS[fmt](text, described, index, count)

        return RowsOfArray(shape, dtype, blocks)

    arrays = {n: rows_of(i, *kind) for i, (n, kind) in enumerate(described.arrays.items())}
    return arrays, described.attributes


def _open_npz(path: str) -> tuple[Description, Check]:
    with loaded(path) as file:
        described = Description(path, str(file[data.KEY]) if data.KEY in file.files else None)

    def check(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        with parsing(path), _member(path, described, index) as (_, there):
            if there[:2] != (shape, dtype):
                raise contradiction(path)

    return described, check


@contextmanager
def _member(path: str, described: Description, index: int) -> Iterator[tuple[Any, tuple[Any, Any, bool]]]:
    """Gives the file of an array in an archive, and its shape, type, and whether it lies there column by column."""
    name = data.member(index, list(described.arrays)[index])
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
        shape, fortran, dtype = header(file)
        yield file, (shape, dtype, fortran)


def _rows_of_npz(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    with _member(path, described, index) as (file, (shape, dtype, fortran)):
        if fortran and prod(shape[:-1]) > 1:
            with loaded(path) as content:
                array = content[data.member(index, list(described.arrays)[index])]
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


def _open_tiff(path: str) -> tuple[Description, Check]:
    tifffile = quiet_tifffile()
    with tifffile.TiffFile(path) as file:
        described = data.described_tiff(path, file)
        pages = [(page.shape, page.dtype) for page in file.pages]

    def check(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        at = _places(described, index)
        if pages[at.start : at.stop] != [(shape[-2:], dtype)] * (at.stop - at.start):
            raise contradiction(path)

    return described, check


def _places(described: Description, index: int) -> range:
    """Returns the numbers of the pages, or parts, of an array's planes."""
    counts = [shape[0] if len(shape) == 3 else 1 for shape, _ in described.arrays.values()]
    first = sum(counts[:index])
    return range(first, first + counts[index])


def _rows_of_tiff(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    import tifffile

    with tifffile.TiffFile(path) as file:
        for number in _places(described, index):
            page = file.pages[number]
            if not page.is_contiguous:
                yield from RowsOfArray.of(page.asarray()).blocks(count)
                continue
            (height, width), dtype = page.shape, np.dtype(page.dtype)
            stored = dtype.newbyteorder(file.byteorder)
            file.filehandle.seek(page.dataoffsets[0])
            for start in range(0, height, count):
                rows = min(count, height - start)
                block = file.filehandle.read_array(stored, rows * width).reshape(rows, width)
                yield block.astype(dtype, copy=False)


def _open_exr(path: str) -> tuple[Description, Check]:
    from . import oiio

    with oiio.Reader(path) as file:
        described = Description(path, file.spec().get_string_attribute(data.KEY))

    def check(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        with oiio.Reader(path) as file:
            for part in _places(described, index):
                try:
                    data.check_exr_part(path, file.spec(part), shape[-2:], dtype)
                except IndexError:
                    raise contradiction(path) from None

    return described, check


def _rows_of_exr(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    from . import oiio

    dtype = list(described.arrays.values())[index][1]
    with oiio.Reader(path) as file:
        for part in _places(described, index):
            spec = file.spec(part)
            for samples in file.blocks(count, index=part):
                yield data.exr_values(samples, spec, dtype)


_OPENERS = {"NPZ": _open_npz, "TIFF": _open_tiff, "EXR": _open_exr}
_ROWS = {"NPZ": _rows_of_npz, "TIFF": _rows_of_tiff, "EXR": _rows_of_exr}
