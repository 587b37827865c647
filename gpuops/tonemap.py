"""Tone mapping: metering, exposure, an operator, and a display's signal."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from .errors import GpuopsWarning
from .image import Image
from .params.tonemap import WHITE, TonemapParams
from .reduce import Statistics, check_colours, log_mean_of_pixels, statistics

if TYPE_CHECKING:
    from .gpu import Gpu
    from .pixels import Decoding

# The share of pixels, in percent, that the histogram meter reads.
HISTOGRAM_RANGE = (10.0, 90.0)

# Operators whose results are cut at 1.
CLIPPED = ("aces-narkowicz", "aces-hill", "agx", "agx-punchy", "agx-golden")


def tonemap(gpu: Gpu, image: Image, params: TonemapParams) -> Image:
    """Maps linear Rec. 709 light to a display's signal.

    The result is finite whatever the input holds: NaN and negative light become 0, infinite light the operator's
    brightest; a GpuopsWarning counts such pixels. Values above 1 are left to whoever stores the result. Gray is
    treated as R = G = B; alpha passes through. ``linear`` of the result tells whether it is light or a signal.

    Reads the image once for metering where the parameters need it, and once to map it. Memory beside the input: the
    result.

    Raises
    ------
    ParameterError
        The image is neither gray nor RGB.
    """
    check_colours(image.colours, image.shape[0], "tone mapping")
    scale, white = _levels(gpu, image, params)
    per_item = gpu.limits.lanes
    kernel = gpu.kernel(
        ("lanes", "tonemap_operators", "tonemap_light", "tonemap"),
        "tonemap",
        OPERATOR=function_of(params.operator),
        COLOURS=image.colours,
        ALPHA=image.alpha,
        WIDTH=per_item,
        NATIVE=not gpu.limits.is_cpu,
        SRGB=params.transfer == "srgb",
        GAMMA=params.transfer == "gamma",
        PQ=params.transfer == "pq",
        DITHER=params.dither is not None,
    )
    result = image.like()
    result.linear = params.transfer == "linear"
    repaired = gpu.zeros((3,), np.uint32)
    size = image.shape[1] * image.shape[2]
    gpu.launch(
        kernel, (-(-size // per_item),), image, result, repaired, size, float(scale), float(white), float(params.gamma),
        1.0 / params.dither if params.dither else 0.0, np.uint32(params.seed), local=kernel.fit(256),
        label=f"tonemap {params.operator}", traffic=image.nbytes + result.nbytes,
    )  # fmt: skip
    nan, infinite, negative = (int(n) for n in repaired.numpy())
    warn_of_repairs(nan, infinite, negative)
    return result


def exposure(
    gpu: Gpu, image: Image, meter: str = "log-mean", key: float = 0.18, method: str = "auto"
) -> float:
    """The factor that brings the metered luminance of ``image`` to ``key``; 1 where nothing is lit.

    ``meter`` is a name of :data:`gpuops.params.tonemap.METERS`. Raises ParameterError for an image that is neither
    gray nor RGB.
    """
    params = TonemapParams(meter=meter, key=key, method=method)
    return _factor(_measured(gpu, image, params), params)


def exposure_of_pixels(gpu: Gpu, pixels: Image, decoding: Decoding) -> float:
    """:func:`exposure` by the default meter of the light of pixels (height, width, channels), read as they are."""
    return _to_key(log_mean_of_pixels(gpu, pixels, decoding), TonemapParams.key)


def function_of(operator: str) -> str:
    """The operator's name in tonemap_operators.cl."""
    return f"op_{operator.replace('-', '_')}"


def fixed_white(params: TonemapParams) -> float | None:
    """The luminance after exposure that becomes white (1 for operators without such a point), unless it is metered."""
    return params.white if params.white is not None else WHITE.get(params.operator, 1.0)


def white_point(brightest: float) -> float:
    """The luminance that becomes white by default, of the brightest one after exposure."""
    # As Reinhard's; not below 1, or a dim even picture would become white.
    return min(max(brightest, 1.0), 2.0**60) if math.isfinite(brightest) else 1.0


def _measured(gpu: Gpu, image: Image, params: TonemapParams) -> Statistics:
    return statistics(
        gpu,
        image,
        histogram=params.meter == "histogram",
        centre=params.meter == "center",
        method="tiles" if params.method == "local" else params.method,
    )


def _factor(measured: Statistics, params: TonemapParams) -> float:
    if params.meter == "mean":
        level = measured.mean
    elif params.meter == "log-mean":
        level = measured.log_mean
    elif params.meter == "histogram":
        level = measured.trimmed_log_mean(*HISTOGRAM_RANGE)
    else:
        level = measured.centre_mean
    return _to_key(level, params.key)


def _to_key(level: float, key: float) -> float:
    if not level > 0:  # black, or nothing that could be read
        return 1.0
    # Within float32 whatever the image: 2**±100 is beyond any light.
    return min(max(key / level, 2.0**-100), 2.0**100)


def _levels(gpu: Gpu, image: Image, params: TonemapParams) -> tuple[float, float]:
    """The exposure's factor, and the luminance after exposure that becomes white."""
    white = fixed_white(params)
    if params.exposure is not None and white is not None:
        return 2.0**params.exposure, white
    measured = _measured(gpu, image, params)
    scale = _factor(measured, params) if params.exposure is None else 2.0**params.exposure
    if white is None:
        white = white_point(measured.maximum * scale)
    return scale, white


def warn_of_repairs(nan: int, infinite: int, negative: int) -> None:
    """One warning for pixels whose light had to be repaired."""
    kinds = ((nan, "NaN"), (infinite, "infinite"), (negative, "negative"))
    counts = [f"{count} {kind}" for count, kind in kinds if count]
    if counts:
        warnings.warn(
            f"pixels repaired before tone mapping: {', '.join(counts)} (NaN and negative light became black, "
            "infinite light white)",
            GpuopsWarning,
            stacklevel=3,
        )
