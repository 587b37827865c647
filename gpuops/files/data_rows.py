"""Files of numbers as :mod:`gpuops.files.data` has them, written some rows at a time."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from . import data
from .data import Array, Kind
from .output import atomic, check_place
from .picture import unread


@dataclass(frozen=True)
class RowsOfArray:
    """An array (planes, rows, columns) whose rows come one after the other.

    Attributes
    ----------
    shape, dtype
        Those of the whole array; a plane alone is (rows, columns).
    blocks : callable
        ``(count)`` → iterator over arrays (rows, columns), of ``count`` rows at most, from the top of the first plane
        to the bottom of the last one; no block has rows of two planes.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    blocks: Callable[[int], Iterator[Array]]

    @classmethod
    def of(cls, array: Array) -> RowsOfArray:
        """Returns the rows of an array in memory."""

        def blocks(count: int) -> Iterator[Array]:
            for plane in array.reshape(-1, *array.shape[-2:]):
                for start in range(0, len(plane), count):
                    yield plane[start : start + count]

        return cls(array.shape, array.dtype, blocks)

    @property
    def nbytes(self) -> int:
        """The bytes of the whole array."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def planes(self) -> int:
        """The number of planes."""
        return self.shape[0] if len(self.shape) == 3 else 1

    def whole(self, count: int) -> Array:
        """Returns the array, read by ``count`` rows."""
        array = np.empty((self.planes * self.shape[-2], self.shape[-1]), self.dtype)
        start = 0
        for block in self.blocks(count):
            array[start : (start := start + len(block))] = block
        return array.reshape(self.shape)


def write_data_rows(
    path: str | os.PathLike[str],
    arrays: Mapping[str, RowsOfArray],
    attributes: Mapping[str, Any],
    count: int,
    *,
    overwrite: bool = False,
) -> None:
    """Writes the same file as :func:`gpuops.files.data.write_data`, ``count`` rows at a time."""
    kinds: dict[str, Kind] = {name: (rows.shape, rows.dtype) for name, rows in arrays.items()}
    suffix, text = data.description_of(path, kinds, attributes)
    check_place(path, overwrite=overwrite)
    with atomic(path, overwrite=overwrite) as temporary:
        _WRITERS[suffix](temporary, arrays, text, count)


def _write_npz(path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        with archive.open(f"{data.KEY}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.array(text), allow_pickle=False)
        for i, (name, rows) in enumerate(arrays.items()):
            with archive.open(f"{data.member(i, name)}.npy", "w", force_zip64=True) as member:
                header = np.lib.format.header_data_from_array_1_0(unread(rows.shape, rows.dtype))
                np.lib.format.write_array_header_1_0(member, header | {"fortran_order": False})
                for block in rows.blocks(count):
                    member.write(np.ascontiguousarray(block).data.cast("B"))


def _write_tiff(path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int) -> None:
    import tifffile

    size = sum(rows.nbytes for rows in arrays.values())
    description: str | None = text
    with tifffile.TiffWriter(path, bigtiff=size > 2**32 - 2**25) as file:
        for rows in arrays.values():
            for blocks in _planes(rows, count):
                file.write(
                    iter(blocks),
                    shape=rows.shape[-2:],
                    dtype=rows.dtype,
                    description=description,
                    metadata=None,
                    photometric="minisblack",
                    contiguous=False,
                )
                description = None


def _write_exr(path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int) -> None:
    from . import oiio

    kinds: dict[str, Kind] = {name: (rows.shape, rows.dtype) for name, rows in arrays.items()}
    stand_ins = (
        data.exr_samples(np.empty((0, rows.shape[-1]), rows.dtype))
        for rows in arrays.values()
        for _ in range(rows.planes)
    )
    heights = [rows.shape[-2] for rows in arrays.values() for _ in range(rows.planes)]
    parts = [
        (unread((height, *sample.shape[1:]), sample.dtype), attributes)
        for height, sample, attributes in zip(
            heights, stand_ins, data.exr_attributes(kinds, text, False), strict=True
        )
    ]
    samples = (map(data.exr_samples, blocks) for rows in arrays.values() for blocks in _planes(rows, count))
    oiio.write_parts(path, parts, samples)


def _planes(rows: RowsOfArray, count: int) -> Iterator[Iterable[Array]]:
    """Returns the blocks of each plane in turn, all of which have to be taken before the next plane's."""
    blocks = rows.blocks(count)

    def plane() -> Iterator[Array]:
        left = rows.shape[-2]
        while left:
            block = next(blocks)
            left -= len(block)
            yield np.ascontiguousarray(block)

    for _ in range(rows.planes):
        yield plane()


_WRITERS = {".npz": _write_npz, ".exr": _write_exr, ".tif": _write_tiff, ".tiff": _write_tiff}
