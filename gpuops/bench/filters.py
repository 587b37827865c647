"""Blurs, blooms and tone mapping as named variants, beside the time of a copy.

They make the comparison that the Direct3D 11 sample HDRToneMappingCS11 is made for: neighbours read through local
memory (the "shared memory" of its compute shader) against direct reads by each pixel (its pixel shader).
:mod:`gpuops.glow.d3d11` has the sample's own filters both ways, and :mod:`gpuops.metrics.statistics` its reduction;
clpix's own filters follow below them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..errors import ParameterError, check_name
from ..filters import blur
from ..glow import bloom, d3d11
from ..gpu import Gpu
from ..image import Image
from ..metrics import statistics as reduce
from ..ops.bloom import BloomParams
from ..ops.blur import BlurParams
from ..ops.tonemap import TonemapParams
from ..params.operators import OPERATORS
from ..tone import tonemap
from . import copies as bench
from .copies import Row, ratio
from .report_formats import cell

# Width and height of the image on GPUs.
GPU_SIZE = (3840, 2160)
# Width and height of the image on CPUs.
CPU_SIZE = (1280, 720)
# The variant that only copies the image, with which the others are compared.
COPY = "copy"
# Images in memory at a time, at most: a starburst's transforms are up to ten, those of an image up to seven.
_IMAGES = 20

Filter = Callable[["Gpu", "Image"], object]


def _called(
    function: Callable[..., object], kind: Callable[..., object], gpu: Gpu, image: Image, /, **params: Any
) -> object:
    """Calls the function of an operation with parameters of its ``kind``."""
    return function(gpu, image, kind(**params))


def _ways(name: str, function: Callable[..., object], *methods: str, **params: Any) -> dict[str, Filter]:
    """Returns variants that a function computes by several methods."""
    return {f"{name}, {method}": partial(function, method=method, **params) for method in methods}


_BLUR = partial(_called, blur.blur, BlurParams)
_BLOOM = partial(_called, bloom.bloom, BloomParams)
_GAUSSIAN = ("local", "direct", "multirate", "auto")
# All variants by name, by operation. Those of tone mapping are its steps, and the whole.
VARIANTS: dict[str, dict[str, Filter]] = {
    "blur": {
        **_ways("d3d11", d3d11.blur, "local", "direct"),
        **_ways("gaussian σ 3", _BLUR, *_GAUSSIAN, sigma=(3, 3)),
        **_ways("gaussian σ 10", _BLUR, *_GAUSSIAN, sigma=(10, 10)),
        **_ways("gaussian σ 30", _BLUR, *_GAUSSIAN, sigma=(30, 30)),
        **_ways("box radius 10", _BLUR, "local", "direct", "auto", kind="box", radius=(10, 10)),
        **_ways("disc radius 7", _BLUR, "local", "direct", "fft", "auto", kind="disc", radius=(7, 7)),
    },
    "bloom": {
        **_ways("d3d11", d3d11.bloom, "local", "direct"),
        **{f"mip, {way}": partial(_BLOOM, reads=way) for way in ("local", "direct", "auto")},
        "gaussians": partial(_BLOOM, method="gaussians"),
        "fft, starburst": partial(_BLOOM, method="fft"),
    },
    "tonemap": {
        **_ways("statistics", reduce.statistics, "tiles", "direct", histogram=False),
        "statistics with mip": partial(reduce.statistics_and_mip, histogram=False),
        "statistics with histogram": partial(reduce.statistics, histogram=True),
        "statistics, all channels": partial(reduce.all_statistics, histogram=True),
        **_ways("d3d11 tonemap", d3d11.tonemap, "local", "direct"),
        **{
            f"tonemap {operator}": partial(_called, tonemap.tonemap, TonemapParams, operator=operator)
            for operator in OPERATORS
        },
    },
}


def measure(
    gpu: Gpu, operation: str, sizes: Sequence[tuple[int, int]] = (), channels: int = 3
) -> Iterator[Row]:
    """Measures a copy and all variants of an operation at ``sizes`` (width, height).

    Images are planes of float32 on the device, before and after. With 2 or 4 channels the last one is alpha.

    Parameters
    ----------
    operation : str
        ``blur``, ``bloom`` or ``tonemap``.
    sizes
        The default is 3840 × 2160, on CPUs 1280 × 720.

    Yields
    ------
    Row
        ``variant``, ``width``, ``height`` and ``channels``; ``kernels``, the labels of all launches; ``model_bytes``,
        which these have to read and write by the library's own model, and ``predicted_ms``, the time that this takes at
        the copy's speed; ``ms``, the sum of their times in each run, with ``median_ms`` and ``gbps``; ``copy_ms`` and
        ``copy_gbps`` of the copy at this size, and the ratios to them, ``copies`` and ``copy_share``. What the device's
        clock cannot tell is None.

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
    usual = CPU_SIZE if gpu.limits.is_cpu else GPU_SIZE
    for size in bench.checked(gpu, sizes, [usual], channels, 4, images=_IMAGES):
        yield from _measure(gpu, operation, *size, channels)


def _measure(gpu: Gpu, operation: str, width: int, height: int, channels: int) -> Iterator[Row]:
    planes = np.random.default_rng(1).random((channels, height, width), np.float32)
    image = gpu.array(planes)
    image.alpha = channels in (2, 4)
    first: tuple[float, float | None] | None = None
    for variant, apply in {COPY: bench.copy_image, **VARIANTS[operation]}.items():
        kernels, moved, ms = bench.times(gpu, partial(apply, gpu, image))
        median_ms, gbps = bench.speed(ms, moved)
        copy_ms, copy_gbps = first = first or (median_ms, gbps)
        yield Row(
            variant=variant, width=width, height=height, channels=channels, kernels=kernels, model_bytes=moved, ms=ms,
            copy_ms=copy_ms, copy_gbps=copy_gbps or 0.0, median_ms=median_ms,
            predicted_ms=ratio(moved / 1e6, copy_gbps), copies=ratio(median_ms, copy_ms), gbps=gbps,
            copy_share=ratio(gbps, copy_gbps),
        )  # fmt: skip


# The cells of a row, by the table's headings behind the variant's.
_CELLS: dict[str, Callable[[Row], str]] = {
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


def table(gpu: Gpu, rows: Sequence[Row], operation: str) -> str:
    """Returns the rows as text for a person."""
    return bench.table_of(
        gpu,
        {operation: lambda row: str(row.variant), **_CELLS},
        rows,
        "float32 planes to float32 planes; all kernels of a call; × copy: the median over that of a read and a write;",
        "model MB: what the launches read and write; model ms: that at the copy's speed; GB/s: that at the median;",
        "% of copy: of the copy's GB/s.",
    )
