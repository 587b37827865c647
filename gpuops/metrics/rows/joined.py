"""The figures that are joined from those of rows, by their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...errors import ParameterError
from ..measure import wanted
from .means import FlipMean, Scales, Similarity, Ssimulacra2, luminance
from .parts import DensestWindow, FigurePart, Largest, Noise, PixelmatchCount, PuPsnr, Unlike

if TYPE_CHECKING:
    from ...files.picture import Picture
    from ...gpu import Gpu
    from ...params.comparing import Comparing
    from ...params.thresholds import Thresholds

#: The figures that follow from what is counted of the stored values.
COUNTED = ("max", "mean", "rmse", "psnr")


def in_the_end(metric: str, how: Comparing) -> bool:
    """Says whether a figure has sweeps of its own: it needs to know of all rows before."""
    return metric == "hdr-flip" and how.exposures is None


def parts_of(
    gpu: Gpu, pictures: tuple[Picture, Picture], how: Comparing, thresholds: Thresholds, pixels: int
) -> tuple[dict[str, FigurePart], dict[str, ParameterError]]:
    """Returns the parts of all figures, as :func:`part_of` does, and why some have none."""
    found: dict[str, FigurePart] = {}
    undefined: dict[str, ParameterError] = {}
    for metric in wanted(how, thresholds):
        if metric not in COUNTED:
            try:
                found[metric] = part_of(metric, gpu, pictures, how, pixels)
            except ParameterError as error:
                undefined[metric] = error
    return found, undefined


def part_of(
    metric: str, gpu: Gpu, pictures: tuple[Picture, Picture], how: Comparing, pixels: int
) -> FigurePart:
    """Returns the figure's part, for pictures, the reference first, of which so many ``pixels`` are compared.

    Raises ParameterError where it is not defined for these pictures, and KeyError for a figure that nobody joins.
    """
    reference = pictures[0]
    parts: dict[str, Callable[[], FigurePart]] = {
        "ssim": lambda: Similarity(reference, "wang"),
        "ssim-skimage": lambda: Similarity(reference, "skimage"),
        "ms-ssim": lambda: Scales(reference),
        "flip": lambda: FlipMean(gpu, reference, how),
        "hdr-flip": lambda: FlipMean(gpu, reference, how, how.exposures),
        **{metric: partial(Largest, metric) for metric in ("de76", "de2000", "de-itp")},
        "ssimulacra2": lambda: Ssimulacra2(reference),
        "pixelmatch": lambda: PixelmatchCount(pictures),
        "pixelmatch-window": lambda: DensestWindow(pictures, how),
        "within-radius": lambda: Unlike(reference, how),
        "z-test": lambda: Noise(pixels),
        "pu-psnr": PuPsnr,
        "pu-ssim": lambda: Similarity(reference, "wang", luminance),
    }
    return parts[metric]()
