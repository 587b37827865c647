"""Files of numbers as :mod:`gpuops.files.data` has them, read some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from . import data
from .arrays import DENSEST, blocks, loaded, member
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


def open_numbers(
    path: str | os.PathLike[str], most: float
) -> tuple[dict[str, RowsOfArray], dict[str, Any]] | None:
    """Opens a file of numbers, if its arrays and what is made of them take more than ``most`` bytes."""
    if os.path.getsize(path) * DENSEST <= most:
        return None
    arrays, attributes = open_data(path)
    return (arrays, attributes) if 2 * sum(array.nbytes for array in arrays.values()) > most else None


def _open_npz(path: str) -> tuple[Description, Check]:
    with loaded(path) as file:
        described = Description(path, str(file[data.KEY]) if data.KEY in file.files else None)

    def check(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        with parsing(path), member(path, _name(described, index)) as (_, of_file, _, kind):
            if (of_file, kind) != (shape, dtype):
                raise contradiction(path)

    return described, check


def _name(described: Description, index: int) -> str:
    """Returns the name of an array in an archive."""
    return data.member(index, list(described.arrays)[index])


def _rows_of_npz(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    with member(path, _name(described, index)) as (file, shape, fortran, dtype):
        if fortran and prod(shape[:-1]) > 1:
            with loaded(path) as content:
                yield from RowsOfArray.of(content[_name(described, index)]).blocks(count)
            return
        for _ in range(shape[0] if len(shape) == 3 else 1):
            yield from blocks(file, shape[-2:], dtype, count)


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
