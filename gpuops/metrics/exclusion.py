"""The pixels that are left out of a comparison: those under a mask, and those in rectangles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..params.comparing import Comparing

if TYPE_CHECKING:
    from ..files.picture import Picture

Mask = npt.NDArray[np.bool_]


def check(how: Comparing, mask: Picture | None, picture: Picture) -> None:
    """Raises ParameterError for a mask of another size than the picture, and for a rectangle that has none of it."""
    size = f"{picture.width}×{picture.height}"
    for x, y, width, height in how.ignore:
        if x >= picture.width or y >= picture.height:
            raise ParameterError(f"the rectangle {x},{y},{width},{height} is outside {size} pixels")
    if mask is not None and (mask.height, mask.width) != (picture.height, picture.width):
        raise ParameterError(
            f"{how.mask}: the mask has {mask.width}×{mask.height} pixels, the picture {size}"
        )


def left_out_rows(how: Comparing, mask: Picture | None, first: int, shape: tuple[int, ...]) -> Mask | None:
    """Returns where nothing of the rows (rows, width) from ``first`` on is compared, or None.

    ``mask``: its rows there. They are black, whatever their alpha is.
    """
    if mask is None and not how.ignore:
        return None
    found: Mask = np.zeros(shape, bool)
    if mask is not None:
        found |= ~mask.pixels[..., : mask.colours].any(axis=-1)
    for x, y, width, height in how.ignore:
        found[max(0, y - first) : max(0, y + height - first), x : x + width] = True
    return found


def without(result: Picture, reference: Picture, where: Mask) -> tuple[Picture, Picture]:
    """Returns both pictures equal where nothing is compared: with the reference's pixels, or black if types differ."""
    same = result.pixels.dtype == reference.pixels.dtype and result.colour == reference.colour
    same = same and result.pixels.shape == reference.pixels.shape
    changed = []
    for picture in (result, reference):
        pixels = picture.pixels.copy()
        pixels[where] = reference.pixels[where] if same else 0
        changed.append(replace(picture, pixels=pixels))
    return changed[0], changed[1]
