"""Two operands of a metric, arrays or Images of one shape, and the parts of them that groups read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import Operand, on_device

if TYPE_CHECKING:
    from ..gpu import Gpu, Kernel

# Groups: enough to fill any device.
_GROUPS = 1024


def operands(gpu: Gpu, a: Operand, b: Operand) -> tuple[Image, Image]:
    """Returns both on the device, as planes. Raises ParameterError for different shapes."""
    first, second = on_device(gpu, a), on_device(gpu, b)
    if not isinstance(a, Image) and not isinstance(b, Image) and np.shape(a) != np.shape(b):
        raise ParameterError(f"shapes differ: {np.shape(a)} and {np.shape(b)}")
    same_shape(first, second)
    return first, second


def same_shape(a: Image, b: Image) -> None:
    """Raises ParameterError for Images of different shapes."""
    if a.shape != b.shape:
        raise ParameterError(f"shapes differ: {a.shape} and {b.shape}")


def data_range_of(image: Operand, given: float | None) -> float:
    """Returns the data range that was given, or that of the operand's unsigned integers.

    Raises ParameterError for one that is not positive, and where none is given for other values.
    """
    if given is None:
        dtype = image.dtype if isinstance(image, Image) else np.asarray(image).dtype
        if dtype.kind != "u":
            raise ParameterError(
                f"data_range is needed for {dtype}: the largest minus the smallest possible value"
            )
        return float(np.iinfo(dtype).max)
    if not (math.isfinite(given) and given > 0):
        raise ParameterError(f"data_range must be a positive number, not {given}")
    return given


def bytes_on_device(
    gpu: Gpu, operand: Operand, what: str, shape: tuple[int, ...], *, or_bool: bool = True
) -> Image:
    """Returns an operand of uint8, or of bool, on the device.

    ``what`` it should be is said by the ParameterError for another type, or another ``shape``, in which 0 is any size.
    """
    if isinstance(operand, Image):
        gpu.check_own(operand)
    array = operand if isinstance(operand, Image) else np.asarray(operand)
    sizes = [any_ or size for any_, size in zip(shape, array.shape, strict=False)]
    right = array.dtype == np.uint8 or (or_bool and array.dtype == np.bool_)
    if not right or sizes != [*array.shape] or len(sizes) != len(shape) or 0 in sizes:
        raise ParameterError(f"{what} of uint8 is needed, not {array.dtype} of shape {array.shape}")
    return array if isinstance(array, Image) else gpu.array(array.astype(np.uint8))


def spans(kernel: Kernel, pixels: int, lanes: int) -> tuple[int, int, int]:
    """Returns the work-items of a group, the number of groups, and the pixels of each: its span.

    There are as many on all devices, so that sums have the same order.

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
