"""Van der Laan, Jalba and Roerdink's method: all lifting steps along an axis in one kernel, out of place.

This method is here for comparison. W. J. van der Laan, A. C. Jalba and J. B. T. M. Roerdink, "Accelerating Wavelet
Lifting on Graphics Hardware Using CUDA", IEEE TPDS 22 (2011). Rows are lifted one by one in local memory, or in
segments if they are too long for it; columns are lifted in a window that slides down a block of them:
clkernels/wavelets/dwt_laan.cl.

Groups that make r samples each, which depend on h others before them and after them, read and write 8 (1 + h / r) bytes
for each sample of float32 and each axis: table 3 of T. Ikuzawa, F. Ino and K. Hagihara, "Reducing Memory Usage of
Discrete Wavelet Transform by Overwriting the Input on a GPU".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import ceil

import numpy as np

from ..errors import DeviceError
from ..gpu import Define, Gpu, Kernel, Local
from ..image import Image
from ..params.dwt import DwtParams
from ..records import dataclass
from . import blocks, extension
from .lifting import Lifting, lifting, tables
from .wavelets import WAVELETS, Wavelet

_SOURCES = ("border", "dwt_extension", "dwt_steps", "dwt_laan")
_LOCAL = 24 << 10  # bytes that a group takes at most, so that several run on a compute unit at once
# Work-items of a group; 128 for rows took 14 % less time on an H200 than 256.
_ROW_ITEMS, _COLUMN_ITEMS = 128, 256
# Groups for each compute unit when columns are lifted: several times as many as run at once, so that units end
# together.
_GROUPS = 32
_COLUMNS, _CPU_COLUMNS = 32, 512  # columns of a block
_WINDOW, _CPU_WINDOW = 32, 16  # pairs of rows of a window, a power of two
_CPU_LOCAL = 64 << 10  # the most bytes of a CPU's window, which is in its second-level cache
_LEAST_BAND = 32  # the fewest pairs of rows that a group goes down, so that most are read once
_LANES = 16  # neighbours that a work-item of a CPU takes at once
# The most pairs of a row of which a group takes several; how many a CPU's group takes.
_SHORT, _SEVERAL = 128, 8

Shape = tuple[int, ...]


def lift(image: Image, low: Image, high: Image, params: DwtParams, axis: int, *, inverse: bool) -> None:
    """``image`` (planes, height, width) → its halves along ``axis`` (1: vertically, 2: horizontally), or back."""
    wavelet, mode = WAVELETS[params.wavelet], params.mode
    _launch(_Axis(image.gpu, wavelet, mode, image.dtype, image.shape, axis, inverse), image, low, high)


def decompose(image: Image, params: DwtParams, levels: int) -> None:
    """All levels of an Image (planes, height, width), which the :mod:`.blocks` layout overwrites.

    It needs as much memory again: lifted columns go from the image to that memory, lifted rows back. Raises
    ParameterError as :func:`.blocks.regions`.
    """
    scratch = image.like()
    for down, along in _levels(image.gpu, image.shape, image.dtype, params, levels):
        _launch(down, image, scratch, scratch, down.counts[0])
        _launch(along, scratch, image, image, along.counts[0])


def table_3_bytes(gpu: Gpu, shape: Shape, params: DwtParams, levels: int) -> int:
    """The bytes by the formula of table 3 for all levels of a float32 image of ``shape`` (planes, height, width), with
    the r of our groups."""
    return round(
        sum(
            8 * (1 + part.wavelet.halo / part.made) * part.samples
            for level in _levels(gpu, shape, np.dtype(np.float32), params, levels)
            for part in level
        )
    )


def _levels(
    gpu: Gpu, shape: Shape, dtype: np.dtype[np.generic], params: DwtParams, levels: int
) -> Iterator[tuple[_Axis, _Axis]]:
    """The axes of each level: columns, then rows."""
    wavelet = WAVELETS[params.wavelet]
    for size in blocks.regions(shape[1:], params, levels):
        down, along = (
            _Axis(gpu, wavelet, params.mode, dtype, (shape[0], *size), axis, False) for axis in (1, 2)
        )
        yield down, along


@dataclass(frozen=True)
class _Axis:
    """One axis of images of ``shape`` (planes, height, width), forward or inverse, and its division among groups."""

    gpu: Gpu
    wavelet: Wavelet
    mode: str
    dtype: np.dtype[np.generic]
    shape: Shape
    axis: int
    inverse: bool

    @property
    def n(self) -> int:
        return self.shape[self.axis]

    @property
    def across(self) -> int:
        """The number of lines of each plane."""
        return self.shape[3 - self.axis]

    @property
    def samples(self) -> int:
        return self.shape[0] * self.across * self.n

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of low and high coefficients; periodization makes an odd length even."""
        return (self.n + 1) // 2, self.n // 2 if self.mode == "mirror" else (self.n + 1) // 2

    @cached_property
    def plan(self) -> Lifting:
        return lifting(self.wavelet, inverse=self.inverse)

    @property
    def made(self) -> int:
        """The r of the source: the most samples along the axis that a group makes."""
        return min(self.n, 2 * self.groups.run)

    @property
    def groups(self) -> _Groups:
        return self._rows() if self.axis == 2 else self._columns()

    def traffic(self, run: int) -> int:
        """The bytes that groups of ``run`` pairs read, with their halos inside the image, and write."""
        plan, lows = self.plan, self.counts[0]
        reads = sum(
            min(2 * (min(start + run, lows) + plan.right), self.n) - max(2 * (start - plan.left), 0)
            for start in range(0, lows, run)
        )
        return self.dtype.itemsize * self.shape[0] * self.across * (reads + sum(self.counts))

    def _rows(self) -> _Groups:
        """Groups that take several rows, or one of several segments of each."""
        limits, plan, lows, wide = self.gpu.limits, self.plan, self.counts[0], self.lanes
        room = min(_LOCAL, limits.local_bytes) // (2 * self.dtype.itemsize)
        beside = plan.left + plan.right + wide  # whole vectors may reach beyond the last pair
        # Even and odd samples of the same pairs are half of 32 banks apart.
        spacing, shift = (32, 16) if wide == 1 else (wide, 0)
        most = ((room - shift) // spacing * spacing + shift - beside) // wide * wide
        if most < 1:
            raise self._too_small()
        run = min(most, _up(ceil(lows / ceil(lows / most)), wide))
        kernel = self._kernel("rows")
        together = kernel.fit(_ROW_ITEMS if wide == 1 else _SEVERAL)[0]
        items = min(together, 1 << (run - 1).bit_length()) if wide == 1 else 1
        pitch = _up(run + beside - shift, spacing) + shift
        several = together // items if run <= _SHORT else 1
        while several > 1 and several * pitch > room:
            several //= 2
        planes, itemsize = self.shape[0], self.dtype.itemsize
        groups = ceil(planes * self.across / several) * ceil(lows / run)
        return _Groups(
            kernel, (groups * items, several), (items, several), (planes, self.across), run, pitch,
            2 * several * pitch * itemsize,
        )  # fmt: skip

    def _columns(self) -> _Groups:
        """Groups that take blocks of columns, a band down, in a window in local memory."""
        limits, plan, lows, wide = self.gpu.limits, self.plan, self.counts[0], self.lanes
        if wide == 1:
            columns, down, window, room = _COLUMNS, _COLUMN_ITEMS // _COLUMNS, _WINDOW, _LOCAL
        else:
            columns, down, window, room = _CPU_COLUMNS, 1, _CPU_WINDOW, _CPU_LOCAL
        room = min(room, limits.local_bytes) // (2 * self.dtype.itemsize)
        while columns * window > room and window // 2 >= plan.kept + down - 1:
            window //= 2
        while columns * window > room and columns > wide:
            columns //= 2
        if columns * window > room:
            raise self._too_small()
        while True:
            each = (window - plan.kept + 1) // down
            items = columns if wide == 1 else 1
            kernel = self._kernel(
                "columns", WINDOW=window, DOWN=down, ROUND=each * down, BATCH=each if wide == 1 else 1
            )
            if kernel.fit(items, down) == (items, down):
                break
            if items * down == 1:
                raise self._too_small()
            down, columns = (down // 2, columns) if down > 1 else (1, columns // 2)
        blocks, planes = ceil(self.across / columns), self.shape[0]
        wanted = ceil(limits.compute_units * _GROUPS / (blocks * planes))
        band = max(_LEAST_BAND, ceil(lows / wanted))
        rounds = ceil((band + plan.left + plan.right) / (each * down))
        band = min(rounds * each * down - plan.left - plan.right, limits.band // 2, lows)
        return _Groups(
            kernel, (blocks * items, ceil(lows / band) * down, planes), (items, down, 1), (self.across,), band,
            columns // wide, 2 * window * columns * self.dtype.itemsize,
        )  # fmt: skip

    @property
    def lanes(self) -> int:
        return _LANES if self.gpu.limits.lanes > 1 else 1

    def _kernel(self, name: str, **defines: Define) -> Kernel:
        border = extension.defines(self.wavelet, self.mode, inverse=self.inverse)
        sample = extension.TYPES[self.dtype.name]
        return self.gpu.kernel(
            (tables(self.plan, sample), *_SOURCES, f"dwt_laan_{name}"), name, INTEGER=sample == "int",
            INVERSE=self.inverse, **extension.vectors(self.dtype, self.lanes), **border, **defines,
        )  # fmt: skip

    def _too_small(self) -> DeviceError:
        return DeviceError(
            f"{self.gpu.info.name} has {self.gpu.limits.local_bytes} bytes of local memory, too few for the "
            "method laan: use --method lifting"
        )


@dataclass(frozen=True)
class _Groups:
    """An axis divided among groups of ``items``, each of which makes ``run`` pairs along it.

    ``lines`` and ``last`` are the kernel's arguments for the other axis, and the last one before local memory.
    """

    kernel: Kernel
    size: tuple[int, ...]
    items: tuple[int, ...]
    lines: tuple[int, ...]
    run: int
    last: int
    nbytes: int


def _launch(part: _Axis, image: Image, low: Image, high: Image, high_from: int = 0) -> None:
    """Transforms the image to its halves, or the reverse, in ``part`` of the image, at its top left."""
    if part.samples == 0:
        return
    groups = part.groups
    buffers = (low, high, image) if part.inverse else (image, low, high)
    part.gpu.launch(
        groups.kernel, groups.size, *buffers, *(one.shape[1:] for one in (image, low, high)), high_from, *groups.lines,
        part.n, *part.counts, groups.run, groups.last, Local(groups.nbytes), local=groups.items,
        label=f"{'i' if part.inverse else ''}dwt {'yx'[part.axis - 1]} {part.wavelet.name} laan lift",
        traffic=part.traffic(groups.run),
    )  # fmt: skip


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
