"""The figures of two pictures that are no sums over the stored values, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from .compare import peak_signal_noise_ratio
from .delta_e import delta_e
from .flip import PPD, flip, hdr_flip
from .flip_tiles import Blocks
from .pixelmatch import pixelmatch
from .pu21 import PEAK, pu21
from .ssim import multiscale_structural_similarity, structural_similarity
from .ssimulacra2 import ssimulacra2
from .tolerant import densest_window, within_radius
from .variance import SUFFIX
from .z_test import z_test

if TYPE_CHECKING:
    from ..image import Image
    from ..params.comparing import Comparing
    from .both import Both


def pu_values(both: Both, *, luminance: bool = False) -> tuple[Image, Image]:
    """Returns PU21 values of both pictures' light, or of its luminance."""
    first, second = (pu21(both.gpu, light, white=both.how.white, luminance=luminance) for light in both.light)
    return first, second


def _ssim(both: Both, convention: str) -> float:
    return structural_similarity(both.gpu, *both.stored, data_range=both.data_range, convention=convention)


def ppd_of(how: Comparing) -> float:
    """Returns the pixels per degree for FLIP."""
    return PPD if how.ppd is None else how.ppd


def blocks_of(both: Both) -> Blocks | None:
    """Returns the blocks of pixels that may differ, if they are known."""
    return None if both.changed is None else both.changed.blocks


def _delta_e(both: Both, method: str) -> float:
    return delta_e(both.gpu, *both.light, method=method, white=both.how.white).max


def _densest(both: Both) -> float:
    _, kinds = pixelmatch(both.gpu, *both.codes, full=True)
    return float(densest_window(both.gpu, kinds, both.how.window).count)


def _unlike(both: Both) -> float:
    tolerance = both.how.tolerance * both.data_range
    return float(within_radius(both.gpu, *both.stored, radius=both.how.radius, tolerance=tolerance))


def _within_noise(both: Both) -> float:
    """Returns the percentage of pixels that the reference's variance explains."""
    return 100 * (1 - beyond_noise(both, both.pixels) / both.pixels)


def beyond_noise(both: Both, tests: int) -> int:
    """Returns how many pixels the reference's variance does not explain, if so many tests are made together."""
    reference, result = both.stored
    if (variance := both.variance) is None:
        raise ParameterError(
            f"a variance is needed beside the reference, NAME{SUFFIX}: clpix regress calibrate --variance writes it"
        )
    if both.reference.colour != both.result.colour or reference.linear != both.reference.linear:
        raise ParameterError("a variance is of values as they are stored, and these are converted")
    values = variance.picture.pixels
    if variance.picture.alpha and not both.how.alpha:
        values = values[..., :-1]
    planes = np.ascontiguousarray(np.moveaxis(values, -1, 0), dtype=np.float32)
    if planes.shape != reference.shape:
        raise ParameterError("the variance has another size or other channels than the reference")
    return z_test(
        both.gpu, reference, result, planes, runs=variance.runs, pixels=tests, scale=both.data_range
    )


#: The functions of the figures that are no sums over the stored values.
FUNCTIONS: dict[str, Callable[[Both], float]] = {
    "ssim": lambda both: _ssim(both, "wang"),
    "ssim-skimage": lambda both: _ssim(both, "skimage"),
    "ms-ssim": lambda both: multiscale_structural_similarity(
        both.gpu, *both.stored, data_range=both.data_range
    ),
    "flip": lambda both: flip(both.gpu, *both.light, ppd=ppd_of(both.how), blocks=blocks_of(both)).mean,
    "hdr-flip": lambda both: (
        hdr_flip(
            both.gpu, *both.light, ppd=ppd_of(both.how), exposures=both.how.exposures, blocks=blocks_of(both)
        ).mean
    ),
    "de76": lambda both: _delta_e(both, "76"),
    "de2000": lambda both: _delta_e(both, "2000"),
    "de-itp": lambda both: _delta_e(both, "itp"),
    "pixelmatch": lambda both: float(pixelmatch(both.gpu, *both.codes).different),
    "pixelmatch-window": _densest,
    "within-radius": _unlike,
    "z-test": _within_noise,
    "pu-psnr": lambda both: peak_signal_noise_ratio(both.gpu, *pu_values(both), data_range=PEAK),
    "pu-ssim": lambda both: structural_similarity(
        both.gpu, *pu_values(both, luminance=True), data_range=PEAK
    ),
    "ssimulacra2": lambda both: ssimulacra2(both.gpu, *both.light),
}
