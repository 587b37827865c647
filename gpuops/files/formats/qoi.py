"""QOI (The Quite OK Image Format 1.0), by imagecodecs; encoders set its byte for linear light beside sRGB, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import FileError
from ..picture import Picture, Pixels, unread
from ..read_errors import parsing
from .record import Format, LayerId, Storage


def _unread(path: str) -> Pixels:
    _, width, height, last = np.fromfile(path, ">u4,>u4,>u4,u1", 1)[0].tolist()
    return unread((height, width, 3 if last == 3 else 4))


def _read(path: str, layer: LayerId) -> Picture:
    import imagecodecs

    with parsing(path):
        data = Path(path).read_bytes()
        if not data.endswith(bytes(7) + b"\1") or _unread(path).nbytes > 4 * 62 * len(
            data
        ):  # runs of 62 pixels
            raise FileError(f"{path}: could not be read: the file is cut off or damaged")
        pixels = np.array(imagecodecs.qoi_decode(data))
    return Picture(pixels, alpha=pixels.shape[2] == 4)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    import imagecodecs

    data = imagecodecs.qoi_encode(picture.pixels)
    Path(path).write_bytes(data[:13] + b"\0" + data[14:])  # sRGB


FORMAT = Format(
    "QOI", (".qoi",), ("uint8",), _read, _write, unread=_unread, magic=(b"qoif",), channels=(3, 4),
)  # fmt: skip
