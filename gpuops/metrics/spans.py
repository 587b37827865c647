"""Parts of an image for groups that each read one part: as many on all devices, so that sums have the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..gpu import Kernel

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


def worst_of(bits: npt.NDArray[Any], value: int, place: int) -> tuple[float, int]:
    """Returns the groups' largest value and the first place that has it, from columns of their results' bits."""
    values, places = bits.view(np.float32)[:, value], bits[:, place]
    largest = values.max()
    return float(largest), int(places[values == largest].min())
