"""All figures of two files' pictures, and the verdict by thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import ParameterError
from ..params.comparing import Comparing, Measured, Worst
from ..params.metrics import METRICS
from ..params.thresholds import Thresholds
from ..pixels.coding import unpack
from ..pixels.light import readable
from .compare import check_same, pair, space_of

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu
    from ..image import Image

Mask = npt.NDArray[np.bool_]


class SizeError(ParameterError):
    """Two pictures have different sizes or channels."""


def measure(
    gpu: Gpu, result: Picture, reference: Picture, how: Comparing, thresholds: Thresholds
) -> Measured:
    """Measures the figures that ``how`` and the thresholds name, and judges.

    Raises
    ------
    SizeError
        The pictures' sizes or channels differ.
    ParameterError
        Thresholds that could not fail these pictures whatever they hold, a figure that a threshold needs and that is
        not defined for them, a mask of another size.
    """
    try:
        check_same(result, reference, how.alpha)
    except ParameterError as error:
        raise SizeError(str(error)) from None
    left_out = _left_out(result, how)
    if left_out is not None:
        result, reference = _without(result, reference, left_out)
    both = Both(gpu, result, reference, how)
    pixels = result.width * result.height - (int(left_out.sum()) if left_out is not None else 0)
    bounded = all(picture.pixels.dtype.kind == "u" for picture in (result, reference))
    if (blind := thresholds.blind(pixels, most=1.0 if bounded else None)) is not None:
        raise ParameterError(blind)
    counted = both.counts(thresholds)
    figures: dict[str, float] = {}
    undefined = []
    for metric, declared in METRICS.items():
        needed = metric in thresholds.limits
        if not needed and metric not in how.metrics and metric != "max":
            continue
        if metric in counted.figures:
            figures[metric] = counted.figures[metric]
        elif counted.differing == 0:
            figures[metric] = declared.best
        else:
            try:
                figures[metric] = FUNCTIONS[metric](both)
            except ParameterError as error:
                if needed:
                    raise ParameterError(f"{metric}: {error}") from None
                undefined.append(metric)
    notes = []
    if left_out is not None:
        notes.append(f"{int(left_out.sum())} of {left_out.size} pixels are not compared")
    if reference.alpha and not how.alpha:
        notes.append("alpha is not compared")
    if undefined:
        notes.append(f"not defined for these pictures: {', '.join(undefined)}")
    return Measured(
        {metric: figures[metric] for metric in METRICS if metric in figures},
        pixels,
        counted.differing,
        counted.bad,
        both.data_range,
        thresholds.missed(figures, counted.bad, pixels),
        thresholds.warned(figures, counted.warning, pixels),
        counted.worst,
        space_of(both.stored[0]),
        "; ".join(notes),
    )


@dataclass(frozen=True)
class Counted:
    """The figures of one pass over the stored values; ``bad`` and ``warning`` count pixels."""

    figures: dict[str, float]
    differing: int
    bad: int
    warning: int
    worst: Worst | None


class Both:
    """The two pictures on the device, in the values that figures want; each is made when it is first asked for."""

    def __init__(self, gpu: Gpu, result: Picture, reference: Picture, how: Comparing) -> None:
        self.gpu = gpu
        self.how = how
        self.result = result
        self.reference = reference
        first, second, self.data_range = pair(gpu, result, reference, space=how.space, alpha=how.alpha)
        self.stored = first, second

    @cached_property
    def light(self) -> tuple[Image, Image]:
        """Linear Rec. 709 light without alpha, the reference first."""
        return self._values(linear=True)

    @cached_property
    def colours(self) -> tuple[Image, Image]:
        """The stored values without alpha, the reference first."""
        return self.stored[1].without_alpha(), self.stored[0].without_alpha()

    def _values(self, *, linear: bool) -> tuple[Image, Image]:
        reference, result = (
            unpack(*readable(self.gpu, picture, linear=linear, alpha=False))
            for picture in (self.reference, self.result)
        )
        return reference, result

    def counts(self, thresholds: Thresholds) -> Counted:
        """Returns the figures of one pass over the stored values."""
        raise NotImplementedError


def _left_out(picture: Picture, how: Comparing) -> Mask | None:
    """Returns where nothing is compared, or None."""
    if how.mask is None and not how.ignore:
        return None
    size = picture.height, picture.width
    left_out: Mask = np.zeros(size, bool)
    if how.mask is not None:
        mask = files.read(how.mask)
        if (mask.height, mask.width) != size:
            raise ParameterError(
                f"{how.mask}: the mask has {mask.width}×{mask.height} pixels, the picture {size[1]}×{size[0]}"
            )
        colours = mask.pixels[..., :-1] if mask.alpha else mask.pixels
        left_out |= ~(colours != 0).any(axis=-1)
    for x, y, width, height in how.ignore:
        if x >= size[1] or y >= size[0]:
            raise ParameterError(
                f"the rectangle {x},{y},{width},{height} is outside {size[1]}×{size[0]} pixels"
            )
        left_out[y : y + height, x : x + width] = True
    if left_out.all():
        raise ParameterError("the mask and the rectangles leave no pixel to compare")
    return left_out if left_out.any() else None


def _without(result: Picture, reference: Picture, left_out: Mask) -> tuple[Picture, Picture]:
    """Returns both pictures equal where nothing is compared: with the reference's pixels, or black if types differ."""
    same = result.pixels.dtype == reference.pixels.dtype and result.colour == reference.colour
    same = same and result.pixels.shape == reference.pixels.shape
    changed = []
    for picture in (result, reference):
        pixels = picture.pixels.copy()
        pixels[left_out] = reference.pixels[left_out] if same else 0
        changed.append(replace(picture, pixels=pixels))
    return changed[0], changed[1]


FUNCTIONS: dict[str, Callable[[Both], float]] = {}
