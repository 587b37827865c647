"""Self-describing files of numbers, for spectra and wavelet coefficients: named arrays, bit exact.

.npz   each array under its name, complex ones too; the attributes as JSON text in the array "clpix".
.tif   a page for each array (2-D) or for each of its planes (3-D), complex samples natively.
.exr   a part for each plane, named by array and plane; complex arrays as the channels re and im. Integers
       are stored as the 32 bits of EXR's uint type, shorter ones widened; half and float as they are;
       double is refused.

All of them uncompressed, unless they are asked to be deflated.
The attributes, and the names, shapes and types of the arrays, are one JSON text under the name "clpix": an
array of its own (.npz), the first page's description (.tif), a header attribute of the first part (.exr).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf, prod
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, ParameterError
from .arrays import NoPictureError, check_arrays, is_several, read_arrays
from .formats import HEAD, Format, by_extension, every, sniff
from .formats.record import NumberFiles
from .output import atomic, check_place
from .picture import Metadata, Picture, filled, in_blocks, unread
from .pictures import format_in, read
from .read_errors import beginning, parsing, reading
from .streams import to_stream, with_text_name
from .strips import DENSEST

Array = NDArray[Any]
# The types of arrays, by numpy's names.
DTYPES = ("float16", "float32", "float64", "int16", "int32", "uint8", "uint16", "complex64", "complex128")
# Those of double precision.
DOUBLES = ("float64", "complex128")
# The name of the description in a file.
KEY = "clpix"
# The most channels of an array that counts as a picture.
_MOST_CHANNELS = 16
# The version of the description.
_FORMAT = 1
# Rows that are read at a time where all are wanted.
_ROWS = 256


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
            planes = array.reshape(-1, *array.shape[-2:])
            return (rows for plane in planes for rows in in_blocks(plane, count))

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
        return filled(array, self.blocks(count)).reshape(self.shape)


def is_data_format(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension names a format that can hold spectra and coefficients."""
    return _format_of(path) is not None


def _format_of(path: str | os.PathLike[str]) -> Format | None:
    fmt = by_extension(PurePath(path).suffix.lower())
    return fmt if fmt is not None and fmt.numbers else None


def write_data(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Array],
    attributes: Mapping[str, Any],
    *,
    overwrite: bool = False,
    compress: bool = False,
) -> None:
    """Writes arrays (2-D or 3-D, any shapes) and attributes (whatever JSON can say), whole or not at all.

    ``compress``: the file is deflated, without loss: zeros take little room then, other numbers only take longer.
    """
    native = {
        name: RowsOfArray.of(np.ascontiguousarray(a, a.dtype.newbyteorder("="))) for name, a in arrays.items()
    }
    rows = max((a.shape[-2] for a in arrays.values() if a.ndim > 1), default=1)
    write_data_rows(path, native, attributes, rows, overwrite=overwrite, compress=compress)


def write_data_rows(
    path: str | os.PathLike[str],
    arrays: Mapping[str, RowsOfArray],
    attributes: Mapping[str, Any],
    count: int,
    *,
    overwrite: bool = False,
    compress: bool = False,
) -> None:
    """Writes the same file as :func:`write_data`, ``count`` rows at a time."""
    fmt = _format_of(path)
    if fmt is None or fmt.numbers is None:
        raise FileError(f"{os.fspath(path)}: spectra and coefficients are stored as {_known()}")
    for name, kind in arrays.items():
        shape, dtype = kind.shape, kind.dtype
        if dtype.name not in DTYPES or len(shape) not in (2, 3) or 0 in shape:
            raise ParameterError(f"{name!r} ({dtype}, {len(shape)}-D) is not 2-D or 3-D of {DTYPES}")
        if not fmt.numbers.doubles and dtype.name in DOUBLES:
            raise FileError(f"{os.fspath(path)}: {fmt} holds no double precision; write .npz or .tif")
    if not arrays:
        raise ParameterError("no arrays to write")
    described = {name: {"shape": a.shape, "dtype": a.dtype.name} for name, a in arrays.items()}
    text = json.dumps({"format": _FORMAT, "arrays": described, "attributes": dict(attributes)})
    check_place(path, overwrite=overwrite)
    with atomic(path, overwrite=overwrite) as temporary:
        fmt.numbers.write(temporary, arrays, text, count, compress)


def read_data(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and the attributes that write_data was given. The format is told by the content."""
    arrays, attributes = open_data(path)
    return {name: rows.whole(_ROWS) for name, rows in arrays.items()}, attributes


def open_data(path: str | os.PathLike[str]) -> tuple[dict[str, RowsOfArray], dict[str, Any]]:
    """Opens what :func:`read_data` reads: arrays whose rows are read when they are asked for."""
    name = os.fspath(path)
    with reading(name), with_text_name(name) as text:
        numbers = _numbers_in(name)
        with parsing(text):
            described = Description(text, numbers.text(text))
            numbers.check(text, described)

    def rows_of(index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> RowsOfArray:
        def blocks(count: int) -> Iterator[Array]:
            with reading(name), with_text_name(name) as text, parsing(text):
                yield from numbers.rows(text, described, index, count)

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


def _numbers_in(name: str) -> NumberFiles:
    """Returns how the format of a file of numbers holds them, as the content tells it."""
    fmt = sniff(beginning(name, HEAD), name)
    if fmt is None or fmt.numbers is None:
        kind = fmt or "of no known format"
        raise FileError(f"{name}: is {kind}; spectra and coefficients are stored as {_known()}")
    return fmt.numbers


def _known() -> str:
    return " ".join(end for fmt in every() if fmt.numbers for end in fmt.extensions)


def describes_itself(path: str, fmt: Format) -> bool:
    """Whether a file has the description of a spectrum or coefficient file. One that cannot be read has none."""
    with suppress(Exception):  # the libraries raise anything; the reader of the file will report it
        return fmt.numbers is not None and fmt.numbers.text(path) is not None
    return False


def write_data_stream(
    stream: BinaryIO,
    arrays: Mapping[str, Array],
    attributes: Mapping[str, Any],
    fmt: Format,
    *,
    compress: bool = False,
) -> None:
    """Writes arrays and attributes to a stream, such as standard output."""
    with to_stream(stream, fmt.extension) as path:
        write_data(path, arrays, attributes, compress=compress)


class Description:
    """The checked JSON text of a file: its ``attributes``, and by name its ``arrays``' shapes and types."""

    def __init__(self, path: str, text: str | None) -> None:
        if not text:
            raise FileError(f"{path}: is not a spectrum or coefficient file written by clpix")
        try:
            content = json.loads(text)
            self.format = int(content["format"])
            self.attributes: dict[str, Any] = dict(content["attributes"])
            self.arrays = {
                str(name): (tuple(int(n) for n in entry["shape"]), np.dtype(entry["dtype"]))
                for name, entry in content["arrays"].items()
            }
        except Exception:  # numpy parses the names of types, and raises even SyntaxError
            raise FileError(
                f"{path}: is damaged: its clpix description makes no sense; write it anew"
            ) from None
        if self.format > _FORMAT:
            raise FileError(f"{path}: was written by a newer clpix (format {self.format}); update clpix")
        for shape, dtype in self.arrays.values():
            if dtype.name not in DTYPES or len(shape) not in (2, 3) or min(shape) < 1:
                raise contradiction(path)


def contradiction(path: str) -> FileError:
    return FileError(f"{path}: is damaged: its arrays are not those it describes; write it anew")


def places(described: Description, index: int) -> range:
    """Returns the numbers of the pages, or parts, of an array's planes."""
    counts = [shape[0] if len(shape) == 3 else 1 for shape, _ in described.arrays.values()]
    first = sum(counts[:index])
    return range(first, first + counts[index])


# What is in any file: a picture, or numbers ----------------------------------------------------------


@dataclass(frozen=True)
class NamedArrays:
    """Named arrays of a file that is no picture: a spectrum, wavelet coefficients, or any others.

    described: by clpix itself, with `attributes`, the `metadata` of the picture they come from, and planes first.
    kept: whether the numbers are there, and not only arrays without memory that stand for them.
    """

    arrays: dict[str, Array]
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


def is_numbers(path: str | os.PathLike[str], fmt: Format, layer: str | None = None) -> bool:
    """Says whether a file is one of numbers: clpix has described them, or there are several arrays to choose from."""
    name = os.fspath(path)
    return _is_several(name, fmt, layer) or _is_described(name, fmt)


def read_contents(
    path: str | os.PathLike[str],
    *,
    fmt: Format | None = None,
    layer: str | None = None,
    most: float = inf,
) -> tuple[Format, Picture | NamedArrays]:
    """A file's format, told by its content, and what is in it; damage is found, since all of it is read.

    A picture is whatever :func:`read` takes for one without choosing among arrays. ``layer`` is a layer of a picture
    as for :func:`read`, or the name of an array of numbers. Numbers of more than ``most`` bytes are not kept. ``fmt``:
    the format, if it is known.
    """
    name = os.fspath(path)
    fmt = fmt or format_in(name)
    if _is_described(name, fmt):
        return fmt, _chosen(name, _described(name, most), layer)
    if not _is_several(name, fmt, layer):
        with suppress(NoPictureError):
            return fmt, read(name, layer=layer, fmt=fmt)
    arrays = check_arrays(name, most)
    numbers = NamedArrays(read_arrays(name)) if arrays is None else NamedArrays(arrays, kept=False)
    return fmt, _chosen(name, numbers, layer)


def _is_several(path: str, fmt: Format, layer: str | None) -> bool:
    return fmt.of_numbers and layer is None and is_several(path)


def _is_described(path: str, fmt: Format) -> bool:
    if fmt.numbers is None:
        return False
    with with_text_name(path) as text:
        return describes_itself(text, fmt)


def _described(path: str, most: float) -> NamedArrays:
    by_rows = open_numbers(path, most)
    if by_rows is None:
        values, attributes = read_data(path)
    else:
        rows, attributes = by_rows
        for array in rows.values():
            for _ in array.blocks(_ROWS):
                pass
        values = {name: unread(array.shape, array.dtype) for name, array in rows.items()}
    metadata = Metadata.of_numbers(path, attributes.pop("metadata", None))
    return NamedArrays(values, True, by_rows is None, attributes, metadata)


def _chosen(path: str, numbers: NamedArrays, name: str | None) -> NamedArrays:
    if name is None:
        return numbers
    if name not in numbers.arrays:
        raise FileError(f"{path}: has no array {name!r}; it has {', '.join(numbers.arrays)}")
    return replace(numbers, arrays={name: numbers.arrays[name]})
