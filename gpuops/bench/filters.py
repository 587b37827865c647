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


def _blur(gpu: Gpu, image: Image, **params: Any) -> object:
    return blur.blur(gpu, image, BlurParams(**params))


def _bloom(gpu: Gpu, image: Image, **params: Any) -> object:
    return bloom.bloom(gpu, image, BloomParams(**params))


def _tonemap(gpu: Gpu, image: Image, **params: Any) -> object:
    return tonemap.tonemap(gpu, image, TonemapParams(**params))


def _ways(name: str, function: Callable[..., object], *methods: str, **params: Any) -> dict[str, Filter]:
    """Returns variants that a function computes by several methods."""
    return {f"{name}, {method}": partial(function, method=method, **params) for method in methods}


_GAUSSIAN = ("local", "direct", "multirate", "auto")
# The blurs by name.
BLURS: dict[str, Filter] = {
    **_ways("d3d11", d3d11.blur, "local", "direct"),
    **_ways("gaussian σ 3", _blur, *_GAUSSIAN, sigma=(3, 3)),
    **_ways("gaussian σ 10", _blur, *_GAUSSIAN, sigma=(10, 10)),
    **_ways("gaussian σ 30", _blur, *_GAUSSIAN, sigma=(30, 30)),
    **_ways("box radius 10", _blur, "local", "direct", "auto", kind="box", radius=(10, 10)),
    **_ways("disc radius 7", _blur, "local", "direct", "fft", "auto", kind="disc", radius=(7, 7)),
}
# The blooms by name.
BLOOMS: dict[str, Filter] = {
    **_ways("d3d11", d3d11.bloom, "local", "direct"),
    **{f"mip, {way}": partial(_bloom, reads=way) for way in ("local", "direct", "auto")},
    "gaussians": partial(_bloom, method="gaussians"),
    "fft, starburst": partial(_bloom, method="fft"),
}
# The steps of tone mapping, and the whole, by name.
TONEMAPS: dict[str, Filter] = {
    **_ways("statistics", reduce.statistics, "tiles", "direct", histogram=False),
    "statistics with mip": partial(reduce.statistics_and_mip, histogram=False),
    "statistics with histogram": partial(reduce.statistics, histogram=True),
    "statistics, all channels": partial(reduce.all_statistics, histogram=True),
    **_ways("d3d11 tonemap", d3d11.tonemap, "local", "direct"),
    **{f"tonemap {operator}": partial(_tonemap, operator=operator) for operator in OPERATORS},
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
