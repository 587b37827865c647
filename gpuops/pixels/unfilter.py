"""PNG's filters undone on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

Rows = npt.NDArray[np.uint8]


def unfiltered(rows: Image, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> Image:
    """Returns the pixels (height, width, channels) of a PNG file's inflated rows, uint8 or uint16.

    ``rows``: uint8, for each row a byte that names its filter, and its filtered bytes; values of 16 bits have their
    high byte first. Source: W3C Portable Network Graphics (Third Edition), section 9.
    """
    gpu, (height, width, channels) = rows.gpu, shape
    kernel = gpu.kernel("unfilter", "unfilter", BYTES=channels * dtype.itemsize, WIDE=dtype.itemsize == 2)
    pixels = gpu.empty(shape, dtype)
    gpu.launch(kernel, (1,), rows, pixels, width, height, local=(1,))
    return pixels


def undoing(gpu: Gpu) -> Callable[[Rows, tuple[int, int, int], np.dtype[Any]], npt.NDArray[Any]] | None:
    """Returns the same from host to host, for :func:`gpuops.files.formats.png.undone_by`.

    It may be called by several threads; what they wait for is no phase of the report. Returns None for GPUs, whose
    work-items take too long for what one has to do after the other, and where the device's memory is limited, all of
    which work on the device may need meanwhile.
    """
    if not gpu.limits.vectors or gpu.memory is not None:
        return None

    def undo(rows: Rows, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        image = gpu.empty(rows.shape, rows.dtype)
        gpu.copy(image.buffer, rows)
        pixels = np.empty(shape, dtype)
        gpu.copy(pixels, unfiltered(image, shape, dtype).buffer)
        return pixels

    return undo
