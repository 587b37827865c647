"""Blurs, blooms and tone mapping as named variants, beside the time of a copy.

They make the comparison that the Direct3D 11 sample HDRToneMappingCS11 is made for: neighbours read through local
memory (the "shared memory" of its compute shader) against direct reads by each pixel (its pixel shader).
:mod:`gpuops.glow.d3d11` has the sample's own filters both ways, and :mod:`gpuops.metrics.statistics` its reduction;
clpix's own filters follow below them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError, check_name
from ..filters import blur
from ..glow import bloom, d3d11
from ..metrics import statistics as reduce
from ..ops.bloom import BloomParams
from ..ops.blur import BlurParams
from ..ops.tonemap import TonemapParams
from ..params.operators import OPERATORS
from ..tone import tonemap
from . import copies as bench
from . import tables
from .report_formats import cell

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

# Width and height of the image on GPUs.
GPU_SIZE = (3840, 2160)
# Width and height of the image on CPUs.
CPU_SIZE = (1280, 720)
# The variant that only copies the image, with which the others are compared.
COPY = "copy"
# Images in memory at a time, at most: a starburst's transforms are up to ten, those of an image up to seven.
_IMAGES = 20

Filter = Callable[["Gpu", "Image"], object]


def _blur(**params: Any) -> Filter:
    return lambda gpu, image: blur.blur(gpu, image, BlurParams(**params))


def _bloom(**params: Any) -> Filter:
    return lambda gpu, image: bloom.bloom(gpu, image, BloomParams(**params))


def _tonemap(operator: str) -> Filter:
    return lambda gpu, image: tonemap.tonemap(gpu, image, TonemapParams(operator))


# The blurs by name.
BLURS: dict[str, Filter] = {
    **{f"d3d11, {way}": partial(d3d11.blur, method=way) for way in ("local", "direct")},
    **{
        f"gaussian σ {sigma}, {way}": _blur(sigma=(sigma, sigma), method=way)
        for sigma in (3, 10, 30)
        for way in ("local", "direct", "multirate", "auto")
    },
    **{
        f"box radius 10, {way}": _blur(kind="box", radius=(10, 10), method=way)
        for way in ("local", "direct", "auto")
    },
    **{
        f"disc radius 7, {way}": _blur(kind="disc", radius=(7, 7), method=way)
        for way in ("local", "direct", "fft", "auto")
    },
}
# The blooms by name.
BLOOMS: dict[str, Filter] = {
    **{f"d3d11, {way}": partial(d3d11.bloom, method=way) for way in ("local", "direct")},
    **{f"mip, {way}": _bloom(reads=way) for way in ("local", "direct", "auto")},
    "gaussians": _bloom(method="gaussians"),
    "fft, starburst": _bloom(method="fft"),
}
# The steps of tone mapping, and the whole, by name.
TONEMAPS: dict[str, Filter] = {
    **{
        f"statistics, {way}": partial(reduce.statistics, histogram=False, method=way)
        for way in ("tiles", "direct")
    },
    "statistics with mip": partial(reduce.statistics_and_mip, histogram=False),
    "statistics with histogram": partial(reduce.statistics, histogram=True),
    "statistics, all channels": partial(reduce.all_statistics, histogram=True),
    **{f"d3d11 tonemap, {way}": partial(d3d11.tonemap, method=way) for way in ("local", "direct")},
    **{f"tonemap {operator}": _tonemap(operator) for operator in OPERATORS},
}
# All variants, by operation.
VARIANTS = {"blur": BLURS, "bloom": BLOOMS, "tonemap": TONEMAPS}


@dataclass(frozen=True)
class FilterRow(tables.Row):
    """The measurements of one variant at one size, from float32 planes to float32 planes, on the device.

    Attributes
    ----------
    kernels
        The labels of all launches; a kernel that was launched several times is there as often.
    model_bytes
        The bytes that the launches have to read and write by the library's own model.
    ms
        The sum of all launches' times in each run, by their events.
    copy_ms, copy_gbps
        The median time and GB/s of "copy" at this size.
    """

    variant: str
    width: int
    height: int
    channels: int
    kernels: tuple[str, ...]
    model_bytes: int
    ms: tuple[float, ...]
    copy_ms: float = 0.0
    copy_gbps: float = 0.0
    more = ("median_ms", "predicted_ms", "copies", "gbps", "copy_share")

    @property
    def copies(self) -> float | None:
        """The median time over the copy's; None where the device's clock cannot tell."""
        return self.median_ms / self.copy_ms if self.copy_ms > 0 else None

    @property
    def predicted_ms(self) -> float | None:
        """The time that the model's bytes take at the copy's speed; None where that is not known."""
        return self.model_bytes / self.copy_gbps / 1e6 if self.copy_gbps > 0 else None

    @property
    def copy_share(self) -> float | None:
        """The share of the copy's bandwidth; None where the device's clock cannot tell."""
        return self.gbps / self.copy_gbps if self.gbps and self.copy_gbps > 0 else None


def measure(
    gpu: Gpu, operation: str, sizes: Sequence[tuple[int, int]] = (), channels: int = 3
) -> Iterator[FilterRow]:
    """Measures a copy and all variants of an operation at ``sizes`` (width, height).

    With 2 or 4 channels the last one is alpha.

    Parameters
    ----------
    operation : str
        ``blur``, ``bloom`` or ``tonemap``.
    sizes
        The default is 3840 × 2160, on CPUs 1280 × 720.

    Raises
    ------
    ParameterError
        Another operation, a size below 1, other channels than 1 … 4, or a gpu without a report (only a profiling
        queue tells times).
    DeviceError
        The device has too little memory.
    """
    bench.need_events(gpu)
    check_name("operation", operation, VARIANTS)
    if not 1 <= channels <= 4:
        raise ParameterError(f"an image has 1 … 4 channels, not {channels}")
    sizes = tuple(dict.fromkeys(sizes)) or (CPU_SIZE if gpu.limits.is_cpu else GPU_SIZE,)
    for size in sizes:  # all sizes are checked before the first is measured
        bench.check_memory(gpu, size, channels, 4, images=_IMAGES)
    for size in sizes:
        yield from _measure(gpu, operation, *size, channels)


def _measure(gpu: Gpu, operation: str, width: int, height: int, channels: int) -> Iterator[FilterRow]:
    planes = np.random.default_rng(1).random((channels, height, width), np.float32)
    image = gpu.array(planes)
    image.alpha = channels in (2, 4)
    first: FilterRow | None = None
    for variant, apply in {COPY: bench.copy_image, **VARIANTS[operation]}.items():
        kernels, ms = bench.times(gpu, partial(apply, gpu, image))
        labels = tuple(kernel.label for kernel in kernels for _ in kernel.ms)
        moved = sum(kernel.traffic * len(kernel.ms) for kernel in kernels)
        row = FilterRow(variant, width, height, channels, labels, moved, ms)
        first = first or row
        yield replace(row, copy_ms=first.median_ms, copy_gbps=first.gbps or 0.0)


# The cells of a row, by the table's headings behind the variant's.
_CELLS: dict[str, Callable[[FilterRow], str]] = {
    "size": lambda row: f"{row.width}×{row.height}×{row.channels}",
    "launches": lambda row: str(len(row.kernels)),
    "min ms": lambda row: f"{min(row.ms):.4f}",
    "median": lambda row: f"{row.median_ms:.4f}",
    "model ms": lambda row: cell(row.predicted_ms, 4),
    "× copy": lambda row: cell(row.copies, 2),
    "model MB": lambda row: cell(row.model_bytes, 2, per=1e6),
    "GB/s": lambda row: cell(row.gbps),
    "% of copy": lambda row: cell(row.copy_share, per=0.01),
}


def table(gpu: Gpu, rows: Sequence[FilterRow], operation: str) -> str:
    """Returns the rows as text for a person."""
    return tables.table(
        gpu,
        {operation: lambda row: str(row.variant), **_CELLS},
        rows,
        "float32 planes to float32 planes; all kernels of a call; × copy: the median over that of a read and a write;",
        "model MB: what the launches read and write; model ms: that at the copy's speed; GB/s: that at the median;",
        "% of copy: of the copy's GB/s.",
    )
