"""Pictures that none of the other readers knows: Pillow's rare formats, and SPE by imageio's plugin.

No other plugin is asked: some fetch what they lack, or what a file names, and some take any file for a picture. Of
Pillow's formats those are left out that start a program (EPS) or only name what they hold (such as GRIB).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from . import colours, pillow
from .formats.record import ANY, Format, LayerId, unread_bytes
from .picture import DTYPES, Picture
from .read_errors import chosen, parsing

#: Pillow's names of the formats that are read.
_FORMATS = "BLP CUR DCX DIB FLI FTEX GBR ICNS ICO MCIDAS MSP PCD PCX PIXAR SGI SUN XBM XPM XVTHUMB"
#: What Pillow's modes are converted to; those of 16 bits stay as they are.
_MODES: dict[str, str | None] = {
    "1": "L", "P": "RGB", "PA": "RGBA", "L": "L", "LA": "LA", "RGB": "RGB", "RGBA": "RGBA", "RGBX": "RGB",
    "I;16": None, "I;16B": None,
}  # fmt: skip
#: The same modes for what has a transparent colour.
_WITH_ALPHA: dict[str | None, str] = {"L": "LA", "RGB": "RGBA"}
#: The extension of the files of WinView and LightField, which have no sign of their own.
_SPE = ".spe"


def format_in(path: str) -> Format | None:
    """The format of a file that is read so; None for others."""
    if _is_spe(path):
        return replace(_OTHER, name="SPE", unread=unread_bytes)
    with suppress(FileError), pillow.opened(path) as image:
        return replace(_OTHER, name=image.format) if image.format in _FORMATS.split() else None
    return None


def _is_spe(path: str) -> bool:
    return path.lower().endswith(_SPE)


def _count(path: str) -> int:
    """The number of pictures in a file."""
    if _is_spe(path):
        with _spe(path) as file:
            return int(file.properties().n_images)
    return pillow.count(path, None)


def _read(path: str, layer: LayerId) -> Picture:
    """The first picture of a file, or the one of a number; light where it holds floats."""
    several = _count(path)
    index = 0 if layer is None else chosen(path, layer, several)
    icc = None
    if _is_spe(path):
        with _spe(path) as file:
            samples = np.asarray(file.read(index=index))
    else:
        with pillow.opened(path) as image:
            image.seek(index)
            if image.mode not in _MODES:
                raise FileError(f"{path}: holds {image.mode} samples; convert it to gray or RGB first")
            mode, icc = _MODES[image.mode], image.info.get("icc_profile")
            mode = _WITH_ALPHA.get(mode, mode) if image.has_transparency_data else mode
            samples = np.array(image.convert(mode) if mode else image)
    if samples.dtype.newbyteorder("=").name not in DTYPES:
        raise FileError(
            f"{path}: holds {samples.dtype} samples; convert it to 8 or 16 bits or to float first"
        )
    if several > 1 and layer is None:
        note(f"{path}: holds {several} pictures; the first is used")
    pixels = samples if samples.ndim == 3 else samples[:, :, None]
    return colours.picture(path, pixels, icc).numbered(index, several)


@contextmanager
def _spe(path: str) -> Iterator[Any]:
    """Gives imageio's file, which is given open, and not by its name, which might be taken for an address."""
    import imageio.v3

    imopen: Any = imageio.v3.imopen
    with parsing(path), open(path, "rb") as data, imopen(data, "r", plugin="SPE") as file:
        yield file


# The names of formats are put in.
_OTHER = Format(
    "other", (), ANY, _read, unread=pillow.unread_in(None), layered=True, count=_count, needs="imageio",
)  # fmt: skip
