"""Median filter over a rectangle, exact for every type, following scipy.ndimage.median_filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ParameterError
from .gpu import Kernel
from .image import Image
from .networks import merges, network, row_sort

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
    import os
    planes, height, width = image.shape
    channels=1
    if interleaved:
        height, width, channels = image.shape
        planes = 1
    t = _TYPES[image.dtype.name]
    size = image.dtype.itemsize
    m, n = 2 * radius[0] + 1, 2 * radius[1] + 1
    width *= channels
    lanes = _BYTES // size if gpu.limits.is_cpu else 1
    items = 1 if gpu.limits.is_cpu else 128
    defines = dict(TYPE=t.name, LANES=lanes, ITEMS=items, HEIGHT=m, WIDTH=n, CHANNELS=channels, VECTORS=1)
    defines[f"BORDER_{border.upper()}"] = True
    if t.nan:
        defines |= dict(NAN_BITS=t.nan, INFINITE_BITS=t.infinite, MOST_BITS=2 ** (8 * size - 1) - 1)
    value = np.array(cval, image.dtype)
    value = (value.view(f"i{size}") if t.nan else value)[()]
    result = image.like()
    common = dict(local=(items, 1, 1), label="median", traffic=2 * image.nbytes)
    if m * n <= int(os.environ.get("AREA", 121)):
        code = network(m, n)
        if gpu.limits.is_cpu:
            defines["VECTORS"] = max(1, min(8, 24576 // (64 * code.defines["HELD"])))
        kernel = gpu.kernel(("border", "median", code.source()), "median_network", **defines, **code.defines)
        band = 256
        gpu.launch(kernel, (-(-width // (lanes * items * defines["VECTORS"])) * items, -(-height // band), planes), image, result, height, width, band, value, **common)
        return result
    code = merges(m, n)
    kernel = gpu.kernel(("border", "median", row_sort(n)), "median_merges", **defines, **code.defines)
    band=256
    tasks = -(-width // (lanes * items)) * -(-height // band) * planes
    groups = min(tasks, gpu.limits.compute_units * 4)
    memory = gpu.empty((groups * items, code.memory, lanes), image.dtype)
    gpu.launch(kernel, (groups*items,1,1), image, result, gpu.array(code.table), len(code.table), memory, height, width, band, tasks, value, **common)
    return result
