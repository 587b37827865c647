"""Where two files' pictures of one kind differ, found on the host: equal pixels need no conversion and no figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .flip_tiles import BLOCK

if TYPE_CHECKING:
    from ..files.picture import Picture

# Neighbours that are taken together, in reading order: they fill whole words, whatever a pixel is.
_RUN = 8
# The largest share of a picture that is taken apart: of more, the whole is measured as fast.
_MOST = 0.25


@dataclass(frozen=True)
class Changed:
    """The pixels that differ between two pictures, with some neighbours; all others have the same bits.

    Attributes
    ----------
    places : array of int
        Their numbers in reading order, at least one.
    pictures : tuple of Picture
        Both pictures of these pixels alone, as one row.
    blocks : array of bool
        Which blocks of BLOCK × BLOCK pixels have one of them.
    none : bool
        Whether these pixels have the same bits, too.
    """

    places: npt.NDArray[np.intp]
    pictures: tuple[Picture, Picture]
    blocks: npt.NDArray[np.bool_]
    none: bool


def changed(a: Picture, b: Picture) -> Changed | None:
    """Returns where two pictures of one size differ; None if they are of different kinds, or differ in many places."""
    if a.pixels.dtype != b.pixels.dtype or a.pixels.shape != b.pixels.shape or a.colour != b.colour:
        return None
    pixels = [_in_a_row(picture.pixels) for picture in (a, b)]
    size, channels = pixels[0].shape
    whole = (size - 1) // _RUN * _RUN  # the last run may be shorter, and is always taken
    first, second = (p[:whole].reshape(-1).view(np.uint64) for p in pixels)
    words = np.flatnonzero(first != second)
    runs = np.zeros(whole // _RUN, bool)
    runs[words // (channels * a.pixels.itemsize)] = True
    if np.count_nonzero(runs) > _MOST * len(runs):
        return None
    places = (np.flatnonzero(runs)[:, None] * _RUN + np.arange(_RUN)).ravel()
    places = np.concatenate([places, np.arange(whole, size)])
    blocks = np.zeros((-(-a.height // BLOCK), -(-a.width // BLOCK)), bool)
    blocks[places // a.width // BLOCK, places % a.width // BLOCK] = True
    parts = (replace(picture, pixels=p[places][None]) for picture, p in zip((a, b), pixels, strict=True))
    last = [p[whole:].view(f"u{a.pixels.itemsize}") for p in pixels]
    none = words.size == 0 and np.array_equal(last[0], last[1])
    return Changed(places, (next(parts), next(parts)), blocks, none)


def _in_a_row(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(pixels).reshape(-1, pixels.shape[2])
