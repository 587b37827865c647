"""Median filter over a rectangle, exact for every type, following scipy.ndimage.median_filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ParameterError
from .gpu import Kernel
from .image import Image
from .networks import best_step

if TYPE_CHECKING:
    from .gpu import Gpu

LARGEST = 15  # radius

_BYTES = 64  # of a vector on CPUs


@dataclass(frozen=True)
class _Type:
    name: str
    infinite: int = 0
    nan: int = 0


_TYPES = {
    "uint8": _Type("uchar"),
    "int8": _Type("char"),
    "uint16": _Type("ushort"),
    "int16": _Type("short"),
    "uint32": _Type("uint"),
    "int32": _Type("int"),
    "float16": _Type("short", 0x7C00, 0x7E00),
    "float32": _Type("int", 0x7F800000, 0x7FC00000),
}


def median(gpu, image, radius, border="reflect", cval=0.0, *, interleaved=False):
    planes, height, width = image.shape
    channels=1
    if interleaved:
        height, width, channels = image.shape
        planes = 1
    t = _TYPES[image.dtype.name]
    size = image.dtype.itemsize
    m, n = 2 * radius[0] + 1, 2 * radius[1] + 1
    step = best_step(m, n)
    lanes = _BYTES // size if gpu.limits.is_cpu else 1
    items = 1 if gpu.limits.is_cpu else 128
    import os
    vectors = max(1, min(int(os.environ.get('VMAX',16)), int(os.environ.get('VB',24576)) // (64 * max(1,step.held)))) if gpu.limits.is_cpu else 1
    defines = dict(TYPE=t.name, LANES=lanes, ITEMS=items, HEIGHT=m, WIDTH=n, CHANNELS=channels, TILE=step.tile, BLOCKS=step.blocks, HELD=max(1, step.held), VECTORS=vectors)
    defines[f"BORDER_{border.upper()}"] = True
    if t.nan:
        defines |= dict(NAN_BITS=t.nan, INFINITE_BITS=t.infinite, MOST_BITS=2 ** (8 * size - 1) - 1)
    kernel = gpu.kernel(("border", "median", step.source()), "median_network", **defines)
    result = image.like()
    band = 256
    value = np.array(cval, image.dtype)
    value = value.view(f"i{size}") if t.nan else value
    gpu.launch(kernel, (-(-width * channels // (lanes * items * vectors)) * items, -(-height // band), planes), image, result, height, width * channels, band, value[()], local=(items, 1, 1), label="median", traffic=2 * image.nbytes)
    return result
