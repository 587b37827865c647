"""The best approximation of an image by a part of its coefficients: only the largest are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..gpu import Gpu
from ..metrics.compare import mean_squared_error
from ..params.dwt import KeepParams
from ..pixels.coding import Decoding, Encoding, on_device, unpack
from ..records import dataclass
from ..tiles import memory
from ..tiles.ends import Somewhere, changed
from . import statistics
from .shrink import shrink_band

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Kept:
    """The number of coefficients that were kept, those of magnitude ``threshold`` or more; the number of all."""

    kept: int
    coefficients: int
    threshold: float


def keep(bands: Sequence[Somewhere], params: KeepParams) -> tuple[list[Somewhere], Kept]:
    """The bands with only the largest coefficients of all colours and bands; alpha's are all kept.

    Bands on the host are overwritten. If several have the magnitude of the last one kept, all of them are kept, since
    none is better than another. With orthogonal wavelets, whose coefficients' squares sum up to the image's, this
    leaves the least squared error.
    """
    alpha = bands[0].alpha
    planes = bands[0].shape[0] - alpha
    count = sum(planes * math.prod(band.shape[1:]) for band in bands)
    wanted = max(1, round(count * params.percent / 100))
    threshold, kept = statistics.largest(bands, planes, wanted)
    limits = [threshold] * planes + [0.0] * alpha
    shrunk = [changed(band, partial(shrink_band, thresholds=limits, mode="hard")) for band in bands]
    return shrunk, Kept(kept, count, threshold)


def psnr(gpu: Gpu, pixels: Array, restored: Array, *, alpha: bool, linear: bool) -> float:
    """The PSNR in dB of pixels (height, width, channels) ``restored``, in :func:`depth_of` their original ``pixels``.

    ``linear`` says whether the original's values are linear. All channels count, alpha included. As in ``clpix
    compare``, values of float pixels are compared as linear light, other values as they are encoded.
    """
    height, squares, light = pixels.shape[0], 0.0, pixels.dtype.kind == "f"
    decodings = [Decoding(alpha, encode=is_light and not (linear and light)) for is_light in (linear, light)]
    for at in memory.turns(gpu, height, 4 * pixels[0].size):
        parts = (on_device(gpu, np.ascontiguousarray(part[at])) for part in (pixels, restored))
        error = mean_squared_error(gpu, *map(unpack, parts, decodings))
        squares += error * ((at.stop - at.start) / height)
    if squares == 0:
        return math.inf
    return 10 * math.log10(1 / squares) if math.isfinite(squares) else -math.inf


def depth_of(dtype: np.dtype[Any], *, linear: bool) -> Encoding:
    """The encoding of an image as pixels in its original's depth; ``linear``: whether the image's values are linear."""
    light = dtype.kind == "f"
    return Encoding(dtype, encode=linear and not light, linearise=light and not linear)
