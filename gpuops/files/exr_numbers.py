"""Spectra and coefficients in .exr files: a part for each plane, named by array and plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import oiio
from .data import DOUBLES, KEY, Array, Description, RowsOfArray, contradiction, places
from .formats.record import NumberFiles
from .picture import unread


def _text_of_numbers(path: str) -> str | None:
    with oiio.Reader(path) as file:
        return file.spec().get_string_attribute(KEY) or None


def _check_numbers(path: str, described: Description) -> None:
    with oiio.Reader(path) as file:
        for index, (shape, dtype) in enumerate(described.arrays.values()):
            for part in places(described, index):
                try:
                    _check_part(path, file.spec(part), shape[-2:], dtype)
                except IndexError:
                    raise contradiction(path) from None


def _check_part(path: str, spec: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises FileError for a part that cannot be a plane of this shape and type."""
    stored = _samples_of(np.empty((0, 1), dtype)).dtype
    if (
        sorted(spec.channelnames) != sorted(_channels(dtype))
        or oiio.DTYPES.get(str(spec.format)) != stored
        or (spec.height, spec.width) != shape
        or dtype.name in DOUBLES
    ):
        raise contradiction(path)


def _values(samples: Array, spec: Any, dtype: np.dtype[Any]) -> Array:
    """Returns rows of a plane from the samples of its part."""
    if dtype.kind == "c":
        order = [spec.channelnames.index(channel) for channel in ("re", "im")]
        return np.ascontiguousarray(samples[:, :, order]).view(dtype)[:, :, 0]
    samples = samples[:, :, 0]
    return samples.view(np.int32).astype(dtype) if dtype.kind in "iu" else samples


def _rows_of_numbers(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    dtype = list(described.arrays.values())[index][1]
    with oiio.Reader(path) as file:
        for part in places(described, index):
            spec = file.spec(part)
            for samples in file.blocks(count, index=part):
                yield _values(samples, spec, dtype)


def _write_numbers(
    path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool
) -> None:
    parts: list[tuple[Array, dict[str, Any]]] = []
    # All parts of a file share one display window.
    height, width = (max(rows.shape[axis] for rows in arrays.values()) for axis in (-2, -1))
    for i, (name, rows) in enumerate(arrays.items()):
        sample = _samples_of(np.empty((0, rows.shape[-1]), rows.dtype))
        shape = rows.shape[-2], *sample.shape[1:]
        for k in range(rows.planes):
            attributes: dict[str, Any] = {} if parts else {KEY: text}
            # The number keeps the parts' names apart, and their order in the file.
            attributes |= {"name": f"{i}.{k}.{name}", "compression": "zip:1" if compress else "none"}
            attributes["window"] = (0, 0, 0, 0, width, height)
            attributes["channels"] = _channels(rows.dtype)
            parts.append((unread(shape, sample.dtype), attributes))
    with oiio.writer(path, parts) as put:
        for rows in arrays.values():
            for block in rows.blocks(count):
                put(_samples_of(np.ascontiguousarray(block)))


def _channels(dtype: np.dtype[Any]) -> tuple[str, ...]:
    return ("re", "im") if dtype.kind == "c" else ("Y",)


def _samples_of(plane: Array) -> Array:
    """Returns the samples (rows, columns, channels) of rows of a plane."""
    if plane.dtype.kind == "c":
        return plane.view(np.float32).reshape(*plane.shape, 2)
    if plane.dtype.kind in "iu":  # as the bits of EXR's only integer type
        plane = plane.astype(np.int32).view(np.uint32)
    return plane[:, :, None]


NUMBERS = NumberFiles(_text_of_numbers, _check_numbers, _rows_of_numbers, _write_numbers, doubles=False)
