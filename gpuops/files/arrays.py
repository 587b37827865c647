"""Numpy's arrays in .npy and .npz files, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from ..errors import FileError
from ..notes import note
from .picture import DTYPES, Metadata, Picture, Pixels
from .reading import parsing

# The name of a member that holds pixels.
PIXELS = "pixels"


class NoPictureError(FileError):
    """Says that arrays are not the pixels of a picture."""


@contextmanager
def loaded(path: str) -> Iterator[Any]:
    """Gives what numpy loads of an .npy or .npz: by itself it does not close an archive that is damaged."""
    with open(path, "rb") as file:
        yield np.load(file, allow_pickle=False)


def header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Returns an .npy file's shape, whether it lies there column by column, and its type; the pixels come behind."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    found: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(file)
    return found


def read_arrays(path: str) -> dict[str, Pixels]:
    """All arrays of an .npz by name, or the one of an .npy; of any shapes and types but Python's objects."""
    with parsing(path), loaded(path) as content:
        if not isinstance(content, np.lib.npyio.NpzFile):
            return {"": content}
        arrays = {name: content[name] for name in content.files}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise FileError(f"{path}: holds {name!r}, which is no array")
    return arrays


def is_several(path: str) -> bool:
    """Whether an .npz has several arrays, and none is named as the pixels of a picture."""
    try:
        with loaded(path) as file:
            return not isinstance(file, np.ndarray) and len(file.files) > 1 and PIXELS not in file.files
    except Exception:  # the reader of the file will report it
        return False


def picture_of(
    path: str,
    array: Pixels,
    linear: bool | None = None,
    metadata: Metadata | None = None,
    layer: str = "",
    layers: tuple[str, ...] = (),
) -> Picture:
    """Makes a picture of an array (height, width[, channels]); of 2 and 4 channels the last is alpha."""
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or 0 in array.shape:
        raise NoPictureError(
            f"{path}: no picture has the shape {array.shape}; it must be (height, width, 1 to 4)"
        )
    if array.dtype.newbyteorder("=").name == "float64":
        note(f"{path}: double precision is read as float")
        array = array.astype(np.float32)
    if array.dtype.newbyteorder("=").name not in DTYPES:
        raise NoPictureError(
            f"{path}: its samples are {array.dtype}; they must be one of {', '.join(DTYPES)}"
        )
    pixels = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return Picture(
        pixels,
        alpha=pixels.shape[2] in (2, 4),
        linear=pixels.dtype.kind == "f" if linear is None else linear,
        metadata=metadata or Metadata(),
        layer=layer,
        layers=layers,
    )
