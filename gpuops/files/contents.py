"""The contents of any file: a picture, or numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from . import arrays, data
from .formats import Format
from .picture import Metadata, Picture, unread
from .pictures import format_in, read
from .streams import with_text_name

# The most channels of an array that counts as a picture.
_MOST_CHANNELS = 16
# Rows of numbers that are read at a time.
_ROWS = 256


@dataclass(frozen=True)
class NamedArrays:
    """Named arrays of a file that is no picture: a spectrum, wavelet coefficients, or any others.

    described: by clpix itself, with `attributes`, the `metadata` of the picture they come from, and planes first.
    kept: whether the numbers are there, and not only arrays without memory that stand for them.
    """

    arrays: dict[str, NDArray[Any]]
    described: bool = False
    kept: bool = True
    attributes: dict[str, Any] = field(default_factory=dict)
    metadata: Metadata = field(default_factory=Metadata)

    def planes(self, name: str) -> NDArray[Any]:
        """An array as (planes, rows, columns).

        Of arrays that clpix did not describe, the last of three axes counts the planes where there are 16 at most;
        otherwise all values are one plane.
        """
        array = self.arrays[name]
        if self.described:
            return array.reshape(-1, *array.shape[-2:])
        if array.ndim == 3 and array.shape[2] <= _MOST_CHANNELS:
            return np.moveaxis(array, 2, 0)
        return array.reshape(1, -1, array.shape[-1] if array.ndim else 1)


def is_numbers(path: str | os.PathLike[str], layer: str | None = None) -> bool:
    """Says whether a file is one of numbers: clpix has described them, or there are several arrays to choose from."""
    name = os.fspath(path)
    fmt = format_in(name)
    several = fmt.of_numbers and layer is None and arrays.is_several(name)
    return several or _is_described(name, fmt)


def read_contents(
    path: str | os.PathLike[str], *, layer: str | None = None, most: float = inf
) -> tuple[Format, Picture | NamedArrays]:
    """A file's format, told by its content, and what is in it; damage is found, since all of it is read.

    A picture is whatever :func:`read` takes for one without choosing among arrays. ``layer`` is a layer of a picture
    as for :func:`read`, or the name of an array of numbers. Numbers of more than ``most`` bytes are not kept.
    """
    name = os.fspath(path)
    fmt = format_in(name)
    if _is_described(name, fmt):
        return fmt, _chosen(name, _described(name, most), layer)
    if not is_numbers(name, layer):
        try:
            return fmt, read(name, layer=layer)
        except arrays.NoPictureError:
            pass
    found = arrays.check_arrays(name, most)
    numbers = NamedArrays(arrays.read_arrays(name)) if found is None else NamedArrays(found, kept=False)
    return fmt, _chosen(name, numbers, layer)


def _is_described(path: str, fmt: Format) -> bool:
    with with_text_name(path) as text:
        return data.describes_itself(text, fmt)


def _described(path: str, most: float) -> NamedArrays:
    found = data.open_numbers(path, most)
    if found is None:
        values, attributes = data.read_data(path)
    else:
        rows, attributes = found
        for array in rows.values():
            for _ in array.blocks(_ROWS):
                pass
        values = {name: unread(array.shape, array.dtype) for name, array in rows.items()}
    metadata = Metadata.of_numbers(path, attributes.pop("metadata", None))
    return NamedArrays(values, True, found is None, attributes, metadata)


def _chosen(path: str, numbers: NamedArrays, name: str | None) -> NamedArrays:
    if name is None:
        return numbers
    if name not in numbers.arrays:
        raise FileError(f"{path}: has no array {name!r}; it has {', '.join(numbers.arrays)}")
    return replace(numbers, arrays={name: numbers.arrays[name]})
