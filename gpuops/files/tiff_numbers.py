"""Spectra and coefficients in .tif files: a page for each plane, and the description as the first one's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .data import Array, Description, RowsOfArray, contradiction, places
from .formats.record import NumberFiles
from .read_errors import quiet_tifffile

# How a description begins.
_BEGINNING = '{"format"'


def _text_of_numbers(path: str) -> str | None:
    with quiet_tifffile().TiffFile(path) as file:
        text = str(file.pages.first.description) if len(file.pages) else ""
    return text if text.startswith(_BEGINNING) else None


def _check_numbers(path: str, described: Description) -> None:
    with quiet_tifffile().TiffFile(path) as file:
        pages = [(page.shape, page.dtype) for page in file.pages]
    for index, (shape, dtype) in enumerate(described.arrays.values()):
        at = places(described, index)
        if pages[at.start : at.stop] != [(shape[-2:], dtype)] * len(at):
            raise contradiction(path)


def _rows_of_numbers(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    with quiet_tifffile().TiffFile(path) as file:
        for number in places(described, index):
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


def _of_plane(blocks: Iterator[Array], height: int) -> Iterator[Array]:
    """Gives the blocks of the next plane, which has so many rows."""
    while height:
        block = next(blocks)
        height -= len(block)
        yield np.ascontiguousarray(block)


def _write_numbers(
    path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool
) -> None:
    size = sum(rows.nbytes for rows in arrays.values())
    description: str | None = text
    with quiet_tifffile().TiffWriter(path, bigtiff=size > 2**32 - 2**25) as file:
        for rows in arrays.values():
            blocks = rows.blocks(count)
            for _ in range(rows.planes):
                plane = _of_plane(blocks, rows.shape[-2])
                file.write(
                    np.concatenate(list(plane)) if compress else plane,
                    shape=rows.shape[-2:],
                    dtype=rows.dtype,
                    description=description,
                    metadata=None,
                    photometric="minisblack",
                    contiguous=False,
                    compression="zlib" if compress else None,
                )
                description = None


NUMBERS = NumberFiles(_text_of_numbers, _check_numbers, _rows_of_numbers, _write_numbers)
