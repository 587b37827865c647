"""Numpy's arrays in .npy and .npz files, and pictures of them."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from math import prod
from threading import RLock
from typing import IO, Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..pixels.colour import DATA
from .picture import DTYPES, Metadata, Picture, Pixels, unread
from .read_errors import parsing
from .strips import COPIES, DENSEST, NeedsWholeFile, RowsOf

# The name of a member that holds pixels.
PIXELS = "pixels"
# Bytes that are read at a time.
_BLOCK = 1 << 20


class NoPictureError(FileError):
    """Says that arrays are not the pixels of a picture."""


# Who parses headers holds it: CPython 3.11 may take two threads that do so for damage (its issue gh-106905).
_headers = RLock()


@contextmanager
def loaded(path: str) -> Iterator[Any]:
    """Gives what numpy loads of an .npy or .npz: by itself it does not close an archive that is damaged."""
    with open(path, "rb") as file, _headers:
        yield np.load(file, allow_pickle=False)


@contextmanager
def member(path: str, name: str = "") -> Iterator[tuple[IO[bytes], tuple[int, ...], bool, np.dtype[Any]]]:
    """Gives the file of an array, whose pixels come next, its shape, whether it lies column by column, and its type.

    ``name``: the array in an .npz; an .npy has one without a name.
    """
    with ExitStack() as opened:
        if name:
            archive = opened.enter_context(zipfile.ZipFile(path))
            size = archive.getinfo(f"{name}.npy").file_size
            file: IO[bytes] = opened.enter_context(archive.open(f"{name}.npy"))
        else:
            size, file = os.path.getsize(path), opened.enter_context(open(path, "rb"))
        form = np.lib.format
        first = form.read_magic(file) == (1, 0)
        with _headers:
            read = form.read_array_header_1_0 if first else form.read_array_header_2_0
            shape, fortran, kind = read(file)
        if prod(shape) * kind.itemsize > size - file.tell():
            raise EOFError("its last rows are missing")
        yield file, shape, fortran, kind


def blocks(file: IO[bytes], shape: tuple[int, ...], kind: np.dtype[Any], count: int) -> Iterator[Pixels]:
    """Reads an array of this shape, ``count`` of its rows at a time, of an open file. Raises EOFError if it ends."""
    for start in range(0, shape[0], count):
        block = np.empty((min(count, shape[0] - start), *shape[1:]), kind)
        if file.readinto(block.reshape(-1).view(np.uint8).data) < block.nbytes:  # type: ignore[attr-defined]
            raise EOFError("its last rows are missing")
        yield block


def _names(path: str) -> list[str]:
    """The names of an .npz's arrays; an .npy has one without a name."""
    if not zipfile.is_zipfile(path):
        return [""]
    with zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def is_several(path: str) -> bool:
    """Whether there are several arrays, and none is named as the pixels of a picture."""
    with suppress(Exception):  # the reader of the file will report it
        names = _names(path)
        return len(names) > 1 and PIXELS not in names
    return False


def check_arrays(path: str, most: float) -> dict[str, Pixels] | None:
    """Reads all arrays as :func:`read_arrays` does, if they take more than ``most`` bytes, and keeps none.

    Returns arrays without memory that stand for them; None if they take less.
    """
    if os.path.getsize(path) * DENSEST <= most:
        return None
    kinds = {}
    with parsing(path):
        names = _names(path)
        for name in names:
            with member(path, name) as (_, shape, _, kind):
                kinds[name] = shape, kind
        if COPIES * sum(prod(shape) * kind.itemsize for shape, kind in kinds.values()) <= most:
            return None
        for name in names:
            with member(path, name) as (file, shape, _, kind):
                for _ in blocks(file, (prod(shape),), kind, _BLOCK // kind.itemsize):
                    pass
    return {name: unread(*kind) for name, kind in kinds.items()}


def read_arrays(path: str) -> dict[str, Pixels]:
    """All arrays of an .npz by name, or the one of an .npy; of any shapes and types but Python's objects."""
    with parsing(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                others = [name for name in archive.namelist() if not name.endswith(".npy")]
            if others:
                raise FileError(f"{path}: holds {others[0]!r}, which is no array")
        arrays = {}
        for name in _names(path):
            with member(path, name) as (file, shape, fortran, kind):
                arrays[name] = _whole(file, shape, fortran, kind)
    return arrays


def _whole(file: IO[bytes], shape: tuple[int, ...], fortran: bool, kind: np.dtype[Any]) -> Pixels:
    """Reads an array of an open file. Raises EOFError if it ends, ValueError for Python's objects."""
    if kind.hasobject:
        raise ValueError("it holds Python's objects")
    raw = np.empty(prod(shape) * kind.itemsize, np.uint8)
    for at in range(0, len(raw), _BLOCK):
        piece = raw[at : at + _BLOCK]
        if file.readinto(piece.data) < len(piece):  # type: ignore[attr-defined]
            raise EOFError("its last rows are missing")
    flat = raw.view(kind) if kind.itemsize else np.empty(prod(shape), kind)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def described(
    path: str,
    name: str,
    linear: bool | None = None,
    metadata: Metadata | None = None,
    layer: str = "",
    layers: tuple[str, ...] = (),
) -> Picture:
    """The picture without pixels of an array (height, width[, channels]); of 2 and 4 channels the last is alpha."""
    with parsing(path), member(path, name) as (_, shape, _, kind):
        kind = kind.newbyteorder("=")
    if len(shape) == 2:
        shape = (*shape, 1)
    if len(shape) != 3 or not 1 <= shape[2] <= 4 or 0 in shape:
        raise NoPictureError(f"{path}: no picture has the shape {shape}; it must be (height, width, 1 to 4)")
    if kind == np.float64:
        note(f"{path}: double precision is read as float")
        kind = np.dtype(np.float32)
    if kind.name not in DTYPES:
        raise NoPictureError(f"{path}: its samples are {kind}; they must be one of {', '.join(DTYPES)}")
    if linear is None and kind == np.uint16:  # of which more are counts than are shades
        metadata, linear = replace(metadata or Metadata(), colour=DATA), True
    return Picture(
        unread(shape, kind),
        alpha=shape[2] in (2, 4),
        linear=kind.kind == "f" if linear is None else linear,
        metadata=metadata or Metadata(),
        layer=layer,
        layers=layers,
        assumed=linear is None,
    )


def whole(path: str, name: str, picture: Picture) -> Picture:
    """Returns the picture that :func:`described` gives of an array, with its pixels."""
    with parsing(path), member(path, name) as (file, shape, fortran, kind):
        array = next(blocks(file, shape[::-1] if fortran else shape, kind, max(shape)))
        return replace(picture, pixels=_pixels(array.T if fortran else array, picture))


def by_rows(path: str, name: str, picture: Picture, most: int) -> tuple[Picture, RowsOf, int] | None:
    """Returns the same picture without its pixels, its rows, and how many come together; see ``ReadRows``."""
    if picture.pixels.nbytes * COPIES <= most:
        return None
    with parsing(path), member(path, name) as (_, shape, fortran, kind):
        pass
    if fortran and prod(shape[:-1]) > 1:
        raise NeedsWholeFile("holds its pixels column by column", picture.pixels)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        with parsing(path), member(path, name) as (file, *_):
            for block in blocks(file, shape, kind, count):
                yield _pixels(block, picture)

    return picture, rows, 1


def _pixels(array: Pixels, picture: Picture) -> Pixels:
    """Returns rows of an array as a picture holds them."""
    rows = array.reshape(-1, *picture.pixels.shape[1:])
    return np.ascontiguousarray(rows, picture.pixels.dtype)
