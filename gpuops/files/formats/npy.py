"""NPY: one of numpy's arrays."""

from __future__ import annotations

import numpy as np

from ..arrays import picture_of
from ..picture import Picture
from ..reading import parsing
from .record import ANY, Format, LayerId, Storage, file_size


def _read(path: str, layer: LayerId) -> Picture:
    with parsing(path):
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)  # checks the size first
        return picture_of(path, np.array(mapped))


def _write(path: str, picture: Picture, storage: Storage) -> None:
    with open(path, "wb") as file:
        np.save(file, picture.pixels)


FORMAT = Format(
    "NPY", (".npy",), ANY, _read, _write, nbytes=file_size, magic=(b"\x93NUMPY",), of_numbers=True,
)  # fmt: skip
