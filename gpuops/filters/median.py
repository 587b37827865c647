"""Median filter over a rectangle, following scipy.ndimage.median_filter; exact for every type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import DeviceError, ParameterError
from ..gpu import Define, Gpu, Local
from ..image import Image
from ..operands import on_device, shaped_like, two_ended
from ..params.blur import MAX_MEDIAN as LARGEST
from ..params.border import border_name, define
from ..programs import in_largest_group
from .clang import clang_defines
from .median_merges import merges, network, sorting

# Pixels of a window up to which its code is straight-line: about 2000 operations.
_STRAIGHT = 121
# The same on GPUs, by the bytes of a value: for larger windows histograms are faster (measured).
_IN_REGISTERS = {1: 49, 2: 121, 4: 121}
# Bytes of a vector on CPUs.
_BYTES = 64
# Lanes of a vector on CPUs, at most, where the compiler has only OpenCL's vectors.
_LANES = 16
# Vectors of columns that a work-item takes in turn, at most.
_VECTORS = 32
# Bytes that a work-item keeps for these vectors, at most: half of a first-level cache.
_HELD = 24576
# Work-items of a group on other devices.
_ITEMS = 128
# Results of a row in a group of median_histograms.cl (its ACROSS).
_ACROSS = 32
# Work-items that share a histogram's counts there (its PARTS).
_PARTS = 4
# Pixels of a region there, at most (its REGION).
_REGION = 4096
# Pixels of a bucket there (its RUN).
_RUN = 16
# Bytes of the histograms there.
_COUNTS = 17408
# Groups of a compute unit.
_GROUPS = 8
# Work-items of a compute unit that merge lists; each takes many bands in turn.
_MERGING = 4
# Rows of a group, at most.
_BAND = 256
# Rows of a group, at least.
_LEAST_BAND = 32
# Bytes for the lists of all work-items of larger windows, at most.
_MEMORY = 1 << 30
# Source files of the kernels that have no histograms.
_SOURCES = ("border", "median_pixels", "fetch_ahead", "median")

# What a program is built with, by names of macros.
_Defines = dict[str, Define]

# The types in OpenCL C that medians are taken of, by numpy's names. Of floats they are taken of the bits.
_TYPES = {
    "uint8": "uchar", "int8": "char", "uint16": "ushort", "int16": "short", "uint32": "uint", "int32": "int",
    "float16": "short", "float32": "int",
}  # fmt: skip


def median(
    gpu: Gpu,
    image: Image,
    radius: tuple[int, int],
    border: str = "reflect",
    cval: float = 0.0,
    *,
    interleaved: bool = False,
) -> Image:
    """Returns the median of (2 · radius_y + 1) × (2 · radius_x + 1) pixels around each, of every plane.

    Parameters
    ----------
    image : Image (planes, height, width), or with ``interleaved`` (height, width, channels)
        Of 8, 16 or 32 bits: integers as they are, float16, float32. The fewer bits, the faster. A NaN counts as larger
        than all else, as in numpy.sort: the median is NaN where more than half of the window is. −0 is less than 0.
    radius : (y, x)
        0 … 15. Where both are 0, the input itself is the result.
    border, cval
        What stands beyond the edges: see :mod:`.params.border`; ``cval`` in the image's type.

    Returns
    -------
    Image of the input's shape and type.

    Raises
    ------
    ParameterError
        Another type, a radius beyond 15, a ``cval`` that the type does not have.
    """
    if len(image.shape) != 3 or image.dtype.name not in _TYPES:
        raise ParameterError(f"no median of {image.dtype} {image.shape}: three axes of {', '.join(_TYPES)}")
    if not all(isinstance(r, int | np.integer) and 0 <= r <= LARGEST for r in radius):
        raise ParameterError(f"the median's radius must be 0 to {LARGEST}, its size odd, not {radius}")
    border, outside = border_name(border), _outside(cval, image.dtype)
    if not any(radius):
        return image
    rows, columns = (2 * int(r) + 1 for r in radius)
    if interleaved:
        (height, width, channels), planes = image.shape, 1
    else:
        (planes, height, width), channels = image.shape, 1
    run = _MedianRun(gpu, image, image.like(), (planes, height, width * channels), outside)
    size = image.dtype.itemsize
    defines: _Defines = {
        **define(border), "TYPE": _TYPES[image.dtype.name], "HEIGHT": rows, "WIDTH": columns, "CHANNELS": channels,
    }  # fmt: skip
    if image.dtype.kind == "f":
        infinite, nan = (int(_outside(value, image.dtype)) for value in (np.inf, np.nan))
        defines |= {"NAN_BITS": nan, "INFINITE_BITS": infinite, "MOST_BITS": (1 << (8 * size - 1)) - 1}
    straight = rows * columns <= (_IN_REGISTERS[size] if run.in_groups else _STRAIGHT)
    if run.in_groups and not straight:
        _by_histograms(run, rows, columns, channels, defines)
        return run.result
    defines |= clang_defines(gpu)
    most = _BYTES // size if defines["CLANG"] else min(_LANES, _BYTES // size)
    lanes = defines["LANES"] = most if run.by_vectors else 1
    if straight:
        _straight(run, rows, columns, lanes, defines)
    else:
        _merged(run, rows, columns, lanes, defines)
    return run.result


@dataclass(frozen=True)
class _MedianRun:
    """The image to filter and its result; ``shape`` is (planes, height, elements of a row)."""

    gpu: Gpu
    image: Image
    result: Image
    shape: tuple[int, int, int]
    outside: np.generic

    @property
    def by_vectors(self) -> bool:
        """Whether a work-item takes many columns as lanes of vectors.

        So it is on CPUs, but not on llvmpipe, whose lanes are work-items and whose loops end after 65535 rounds.
        """
        return self.gpu.limits.lanes > 1

    @property
    def local_bytes(self) -> int:
        """Bytes of local memory for the histograms of a region."""
        sorted_too = 2 * _REGION if self.image.dtype.itemsize > 1 else 0
        return _COUNTS + 4 * (_ACROSS * _PARTS + _ACROSS) + _REGION + sorted_too

    @property
    def in_groups(self) -> bool:
        """Whether work-items can share histograms."""
        limits = self.gpu.limits
        fits = limits.work_group >= _ACROSS * _PARTS and limits.local_bytes >= self.local_bytes
        return not self.by_vectors and fits

    def bands(self, columns: int) -> tuple[int, int, int]:
        """The numbers of strips of ``columns``, of bands and of a band's rows: all compute units have work."""
        planes, height, width = self.shape
        strips = -(-width // columns)
        wanted = max(1, _GROUPS * self.gpu.limits.compute_units // (strips * planes))
        band = min(_BAND, max(_LEAST_BAND, -(-height // wanted)))
        return strips, -(-height // band), band


def _straight(run: _MedianRun, rows: int, columns: int, lanes: int, defines: _Defines) -> None:
    gpu, code, items, vectors = run.gpu, network(rows, columns), _ITEMS, 1
    if run.by_vectors:
        items, row = 1, lanes * run.image.dtype.itemsize * code.defines["TILE"]
        # Vectors of a row that a group reads beyond its own columns.
        beside = -(-(columns - 1) * int(defines["CHANNELS"] or 1) // lanes)
        held, fits = _HELD // (_BYTES * code.held_values), gpu.limits.local_bytes // row - beside
        vectors = max(1, min(_VECTORS, held, fits))
    defines = {**defines, **code.defines, "VECTORS": vectors}
    items, source = min(items, gpu.limits.work_group), (*_SOURCES, code.source())
    group = in_largest_group(lambda n: gpu.kernel(source, "median_network", **defines, ITEMS=n), items)
    if group is None:
        raise DeviceError("local memory is too small for a median")
    kernel, items = group
    planes, height, width = run.shape
    strips, bands, band = run.bands(items * vectors * lanes)
    gpu.launch(
        kernel, (strips * items, bands, planes), run.image, run.result, height, width, band, run.outside,
        local=(items, 1, 1), label="median",
    )  # fmt: skip


def _by_histograms(run: _MedianRun, rows: int, columns: int, channels: int, defines: _Defines) -> None:
    bits = 8 * run.image.dtype.itemsize
    region = _REGION // (_ACROSS + columns - 1)  # rows of a region
    source = ("border", "median_pixels", "median_histograms", *((sorting(_RUN),) if bits > 8 else ()))
    kernel = run.gpu.kernel(source, "median_histograms", **defines, BITS=bits, REGION_Y=region)
    planes, height, width = run.shape
    strips, bands = -(-width // channels // _ACROSS), -(-height // (region - rows + 1))
    run.gpu.launch(
        kernel, (strips * _ACROSS, bands * _PARTS, planes * channels), run.image, run.result, height, width,
        run.outside, Local(run.local_bytes), local=(_ACROSS, _PARTS, 1), label="median histograms",
    )  # fmt: skip


def _merged(run: _MedianRun, rows: int, columns: int, lanes: int, defines: _Defines) -> None:
    gpu, code = run.gpu, merges(rows, columns)
    defines = {**defines, **code.defines, "VECTORS": 1, "ITEMS": 1}
    kernel = gpu.kernel((*_SOURCES, sorting(columns)), "median_merges", **defines)
    planes, height, width = run.shape
    strips, bands, band = run.bands(lanes)
    tasks = strips * bands * planes
    bytes_of_item = code.memory * lanes * run.image.dtype.itemsize
    most = min(_MEMORY, gpu.limits.max_alloc_bytes, gpu.limits.global_bytes // 8)
    items = max(1, min(tasks, _MERGING * gpu.limits.compute_units, most // bytes_of_item))
    memory = gpu.empty((items * bytes_of_item,), np.uint8)
    table = gpu.kept(("median", rows, columns), lambda: gpu.array(code.table))
    gpu.launch(
        kernel, (items,), run.image, run.result, table, len(code.table), memory, height, width, band, tasks,
        run.outside, local=(1,), label="median merges", traffic=2 * run.image.nbytes,
    )  # fmt: skip


def _outside(cval: float, dtype: np.dtype[np.generic]) -> np.generic:
    """``cval`` in the type of the kernel's pixels."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            bits: np.generic = dtype.type(cval).view(f"i{dtype.itemsize}")
            return bits
    limits = np.iinfo(dtype.name)
    if not (cval == np.floor(cval) and limits.min <= cval <= limits.max):
        raise ParameterError(f"{cval} outside the image is no {dtype}: use a whole number that is")
    return dtype.type(int(cval))


@two_ended
def median_filter(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    size: int | Sequence[int] = 3,
    *,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Image | npt.NDArray[np.generic]:
    """Returns medians over an odd ``size`` × ``size`` (or (y, x)) rectangle of the last two axes, as in scipy.ndimage.

    Parameters
    ----------
    input : array (..., height, width) or Image (planes, height, width)
        Integers of up to 32 bits, float16 and float32 keep their type; others are converted to float32. A NaN counts
        as larger than all else, as in numpy.sort.
    size : int or (y, x)
        Odd, up to 31.
    mode, cval
        As in scipy.ndimage: reflect, mirror, nearest, wrap, constant; ``cval`` in the input's type.

    Returns
    -------
    Array of the input's shape and type (or float32), or an Image for an Image.

    Raises
    ------
    ParameterError
        A size that is even or too large, an unknown mode, a ``cval`` that the type does not have, an array without
        elements.
    """
    sizes = np.asarray(size)
    if sizes.dtype.kind not in "ui" or sizes.shape not in ((), (1,), (2,)) or not (sizes % 2 == 1).all():
        raise ParameterError(f"the median's size must be an odd number or two, (y, x), not {size!r}")
    y, x = (int(n) // 2 for n in np.broadcast_to(sizes, 2))
    name = (input.dtype if isinstance(input, Image) else np.asarray(input).dtype).name
    image = on_device(gpu, input, name if name in _TYPES else np.float32)
    return shaped_like(input, median(gpu, image, (y, x), mode, cval))
