"""The contents of any file: a picture, or numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from . import arrays, data
from .formats import Format
from .picture import Metadata, Picture
from .pictures import format_in, read
from .streams import with_text_name

# The most channels of an array that counts as a picture.
_MOST_CHANNELS = 16


@dataclass(frozen=True)
class NamedArrays:
    """Named arrays of a file that is no picture: a spectrum, wavelet coefficients, or any others.

    described: by clpix itself, with `attributes`, the `metadata` of the picture they come from, and planes first.
    """

    arrays: dict[str, NDArray[Any]]
    described: bool = False
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


def is_numbers(path: str | os.PathLike[str]) -> bool:
    """Says whether a file is one of numbers that clpix has described."""
    name = os.fspath(path)
    with with_text_name(name) as text:
        return data.describes_itself(text, format_in(name))


def read_contents(
    path: str | os.PathLike[str], *, layer: str | None = None
) -> tuple[Format, Picture | NamedArrays]:
    """A file's format, told by its content, and what is in it; damage is found, since all of it is read.

    A picture is whatever :func:`read` takes for one without choosing among arrays. ``layer`` is a layer of a picture
    as for :func:`read`, or the name of an array of numbers.
    """
    name = os.fspath(path)
    fmt = format_in(name)
    if is_numbers(name):
        return fmt, _chosen(name, _described(name), layer)
    if not fmt.of_numbers:
        return fmt, read(name, layer=layer)
    if layer is not None or not arrays.is_several(name):
        try:
            return fmt, read(name, layer=layer)
        except arrays.NoPictureError:
            pass
    return fmt, _chosen(name, NamedArrays(arrays.read_arrays(name)), layer)


def _described(path: str) -> NamedArrays:
    values, attributes = data.read_data(path)
    metadata = Metadata.of_numbers(path, attributes.pop("metadata", None))
    return NamedArrays(values, True, attributes, metadata)


def _chosen(path: str, numbers: NamedArrays, name: str | None) -> NamedArrays:
    if name is None:
        return numbers
    if name not in numbers.arrays:
        raise FileError(f"{path}: has no array {name!r}; it has {', '.join(numbers.arrays)}")
    return NamedArrays({name: numbers.arrays[name]}, numbers.described, numbers.attributes, numbers.metadata)
