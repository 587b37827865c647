"""The pixels that are left out of a comparison: those under a mask, and those in rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import ParameterError
from ..params.comparing import Comparing, Rectangle

if TYPE_CHECKING:
    from ..files.picture import Picture, Pixels

Mask = npt.NDArray[np.bool_]


def left_out(picture: Picture, how: Comparing) -> Mask | None:
    """Returns where nothing of a picture is compared, or None. Raises ParameterError if that is everywhere."""
    if how.mask is None and not how.ignore:
        return None
    size = picture.height, picture.width
    check_rectangles(how.ignore, size)
    found: Mask = np.zeros(size, bool)
    if how.mask is not None:
        mask = files.read(how.mask)
        check_mask(how.mask, mask, size)
        found |= black(mask.pixels, mask)
    add_rectangles(found, how.ignore, 0)
    if found.all():
        raise nothing_left()
    return found


def check_mask(path: str, mask: Picture, size: tuple[int, int]) -> None:
    """Raises ParameterError for a mask of another size than that of the picture (height, width)."""
    if (mask.height, mask.width) != size:
        raise ParameterError(
            f"{path}: the mask has {mask.width}×{mask.height} pixels, the picture {size[1]}×{size[0]}"
        )


def check_rectangles(rectangles: Sequence[Rectangle], size: tuple[int, int]) -> None:
    """Raises ParameterError for a rectangle that has no pixel of a picture (height, width)."""
    for x, y, width, height in rectangles:
        if x >= size[1] or y >= size[0]:
            raise ParameterError(
                f"the rectangle {x},{y},{width},{height} is outside {size[1]}×{size[0]} pixels"
            )


def black(pixels: Pixels, mask: Picture) -> Mask:
    """Returns where pixels of a mask are black, whatever their alpha is."""
    colours = pixels[..., :-1] if mask.alpha else pixels
    return np.asarray(~(colours != 0).any(axis=-1))


def add_rectangles(found: Mask, rectangles: Sequence[Rectangle], first: int) -> None:
    """Marks the pixels in rectangles, for rows of a picture from ``first`` on."""
    for x, y, width, height in rectangles:
        found[max(0, y - first) : max(0, y + height - first), x : x + width] = True


def nothing_left() -> ParameterError:
    """Returns the error of a comparison without any pixel."""
    return ParameterError("the mask and the rectangles leave no pixel to compare")


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
