"""NPY: one of numpy's arrays."""

from __future__ import annotations

import numpy as np

from .. import arrays
from ..picture import Picture
from ..strips import RowsOf
from .record import ANY, Format, LayerId, Storage


def _read(path: str, layer: LayerId) -> Picture:
    return arrays.whole(path, "", arrays.described(path, ""))


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    return arrays.by_rows(path, "", arrays.described(path, ""), most)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    with open(path, "wb") as file:
        np.save(file, picture.pixels)


FORMAT = Format(
    "NPY", (".npy",), ANY, _read, _write, read_rows=_read_rows, magic=(b"\x93NUMPY",), of_numbers=True,
    says_data=lambda picture: picture.pixels.dtype == np.uint16,
)  # fmt: skip
