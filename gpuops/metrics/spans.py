"""Parts of an image for groups that each read one part: as many on all devices, so that sums have the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import on_device

if TYPE_CHECKING:
    from ..gpu import Gpu, Kernel

# Groups: enough to fill any device.
_GROUPS = 1024


def spans(kernel: Kernel, pixels: int, lanes: int) -> tuple[int, int, int]:
    """Returns the work-items of a group, the number of groups, and the pixels of each: its span.

    A CPU's group has one work-item, which reads vectors of ``lanes`` neighbours; a GPU's has a power of two.
    """
    (items,) = kernel.fit(1 if lanes > 1 else 256)
    items = 1 << (items.bit_length() - 1)
    step = items * lanes
    span = -(-pixels // (_GROUPS * step)) * step
    return items, -(-pixels // span), span


def two_pictures(gpu: Gpu, a: Image | npt.ArrayLike, b: Image | npt.ArrayLike) -> tuple[Image, Image]:
    """Returns two operands as planar float32 Images of one shape. Raises ParameterError for different shapes."""
    first, second = on_device(gpu, a), on_device(gpu, b)
    if first.shape != second.shape:
        raise ParameterError(f"shapes differ: {first.shape} and {second.shape}")
    return first, second


def worst_of(bits: npt.NDArray[Any], value: int, place: int) -> tuple[float, int]:
    """Returns the groups' largest value and the first place that has it, from columns of their results' bits."""
    values, places = bits.view(np.float32)[:, value], bits[:, place]
    largest = values.max()
    return float(largest), int(places[values == largest].min())
