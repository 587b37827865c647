"""The figures that are joined from those of rows, by their names."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ...errors import ParameterError
from ...whole import needing
from ..measure import wanted
from . import room
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


def needing_both(
    gpu: Gpu, pictures: tuple[Picture, Picture], how: Comparing, thresholds: Thresholds
) -> AbstractContextManager[None]:
    """While it lasts, the error that the device is out of memory says how much both pictures take as a whole."""

    def nbytes() -> float:
        parts, _ = parts_of(gpu, pictures, how, thresholds, 1)
        return room.whole_bytes(pictures, parts.values())

    return needing(gpu, lambda: "this comparison needs both pictures as a whole", nbytes)


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

    Raises ParameterError where it is not defined for these pictures.
    """
    reference = pictures[0]
    if metric in ("ssim", "ssim-skimage"):
        return Similarity(reference, "skimage" if metric == "ssim-skimage" else "wang")
    if metric == "ms-ssim":
        return Scales(reference)
    if metric == "ssimulacra2":
        return Ssimulacra2(reference)
    if metric in ("flip", "hdr-flip"):
        return FlipMean(gpu, reference, how, how.exposures if metric == "hdr-flip" else None)
    if metric.startswith("de"):
        return Largest(metric)
    if metric == "pixelmatch-window":
        return DensestWindow(pictures, how)
    if metric == "pu-ssim":
        return Similarity(reference, "wang", luminance)
    if metric == "pu-psnr":
        return PuPsnr()
    if metric == "within-radius":
        return Unlike(reference, how)
    return Noise(pixels) if metric == "z-test" else PixelmatchCount(pictures)
