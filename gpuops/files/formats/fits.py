"""FITS images, coded by OpenImageIO: numbers of a sensor or a survey, which are taken as linear light.

Source: the FITS Standard 4.0, 4.4.2.5 and 5.3: the value is BZERO + BSCALE · stored, and BLANK stands for none. The
first row of a file is the lowest. Three planes are taken as red, green and blue.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note, some_of
from .. import oiio
from ..picture import Picture
from ..read_errors import chosen
from .record import Format, LayerId, Storage, file_size

#: The largest whole number up to which floats hold all.
_EXACT = 1 << 24

# The bytes of a header's block, and of a card in it.
_BLOCK, _CARD = 2880, 80
# Attributes that say how an image is stored.
_STRUCTURE = re.compile("oiio:.*|Bzero|Bscale|Blank|Pcount|Gcount|Extend|Groups|Date(Time)?", re.IGNORECASE)


def _read(path: str, layer: LayerId) -> Picture:
    """The values of an image as floats; layer is the number of an image in the file."""
    with oiio.Reader(path) as file:
        count = file.count()
        filled = [i for i in range(count) if _has_pixels(file.spec(i))]
        first = next(iter(filled), 0)
        index = first if layer is None else chosen(path, layer, count, "images", "image")
        spec = file.spec(index)
        if index not in filled:
            others = f"; --layer names one that has: {', '.join(map(str, filled))}" if filled else ""
            raise FileError(f"{path}: {f'image {index}' if others else 'it'} has no pixels{others}")
        planes = spec.nchannels * spec.depth
        if planes not in (1, 3) or spec.depth > 1:
            raise FileError(f"{path}: holds a cube of {planes} planes; take one of them out first")
        stored = file.read(index=index)
        zero, scale = (spec.get_float_attribute(name, usual) for name, usual in (("Bzero", 0), ("Bscale", 1)))
        blank = spec.getattribute("Blank")
        cards = [a.name.upper() for a in spec.extra_attribs if not _STRUCTURE.fullmatch(a.name)]
    if len(filled) > 1 and layer is None:
        note(f"{path}: holds {len(filled)} images; number {index} is used")
    if cards:
        note(f"{path}: is read without its header cards {some_of(cards)}")
    values = stored.astype(np.float64)
    if stored.dtype.kind in "iu" and blank is not None:
        values[stored == int(blank)] = np.nan
    values = zero + scale * values
    if stored.dtype.kind in "iu" and np.nanmax(np.abs(values), initial=0) > _EXACT:
        note(f"{path}: holds whole numbers beyond {_EXACT}, which floats round")
    with np.errstate(over="ignore"):  # values beyond float's range become infinite
        pixels = values.astype(np.float32)
    return Picture(pixels, linear=True).numbered(index, count)


def _has_pixels(spec: Any) -> bool:
    return bool(min(spec.width, spec.height, spec.nchannels) > 0)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    oiio.write(path, picture.pixels, {}, kind="fits")
    with open(path, "r+b") as file:  # the date would make each run's bytes others
        dated = file.read(_BLOCK).find(b"DATE    =")
        if dated >= 0:
            file.seek(dated)
            file.write(b" " * _CARD)  # a card without a keyword


FORMAT = Format(
    "FITS", (".fits", ".fit", ".fts"), ("float32",), _read, _write, nbytes=file_size, magic=(b"SIMPLE  =",),
    channels=(1, 3), layered=True,
)  # fmt: skip
