"""PAM, Netpbm's format with alpha: see :mod:`gpuops.files.formats.pnm`, which reads it."""

from __future__ import annotations

import numpy as np

from ..picture import Picture
from .pnm import magic, read, unread_in, written
from .record import INTEGERS, Format, Storage

#: The kinds of tuples, by channels.
_TUPLES = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}


def _write(path: str, picture: Picture, storage: Storage) -> None:
    depth, most = picture.channels, np.iinfo(picture.pixels.dtype).max
    head = f"P7\nWIDTH {picture.width}\nHEIGHT {picture.height}\nDEPTH {depth}\nMAXVAL {most}\n"
    written(path, f"{head}TUPLTYPE {_TUPLES[depth]}\nENDHDR\n", picture.pixels)


FORMAT = Format("PAM", (".pam",), INTEGERS, read, _write, unread=unread_in, magic=magic(7))
