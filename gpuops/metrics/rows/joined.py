"""The figures that are joined from those of rows, by their names, and those that need a whole picture."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ...errors import ParameterError
from ...whole import needing
from ..measure import wanted
from . import room
from .means import Flip, Scales, Similarity, Ssimulacra2, luminance
from .parts import DensestWindow, Largest, Noise, Part, Pixelmatch, PuPsnr, Unlike, Whole

if TYPE_CHECKING:
    from ...files.picture import Picture
    from ...gpu import Gpu
    from ...params.comparing import Comparing
    from ...params.thresholds import Thresholds

#: The figures that follow from what is counted of the stored values.
COUNTED = ("max", "mean", "rmse", "psnr")
# The values that figures look at whose coarse levels, or exposures, are made of all rows, and the numbers of 32 bits
# for each pixel that they need on the device beside these.
_WHOLE = {"hdr-flip": ("light", 2.0)}


def whole_only(how: Comparing, thresholds: Thresholds) -> str | None:
    """Returns the first figure wanted that needs both pictures as a whole, in words, if there is one."""
    for metric in wanted(how, thresholds):
        if _needs_all(metric, how):
            return f"{metric} without --exposures" if metric == "hdr-flip" else metric
    return None


def _needs_all(metric: str, how: Comparing) -> bool:
    return metric in _WHOLE and not (metric == "hdr-flip" and how.exposures is not None)


def needing_both(
    gpu: Gpu, pictures: tuple[Picture, Picture], how: Comparing, thresholds: Thresholds
) -> AbstractContextManager[None]:
    """While it lasts, the error that the device is out of memory names the figure that needs both as a whole."""

    def nbytes() -> float:
        parts, _ = parts_of(gpu, pictures, how, thresholds, 1)
        colours = pictures[0].channels - pictures[0].alpha
        names = (metric for metric in wanted(how, thresholds) if _needs_all(metric, how))
        whole = [Whole(wants, floats / colours) for wants, floats in map(_WHOLE.__getitem__, names)]
        return room.whole_bytes(pictures, [*parts.values(), *whole])

    def words() -> str:
        return f"{whole_only(how, thresholds) or 'this comparison'} needs both pictures as a whole"

    return needing(gpu, words, nbytes)


def parts_of(
    gpu: Gpu, pictures: tuple[Picture, Picture], how: Comparing, thresholds: Thresholds, pixels: int
) -> tuple[dict[str, Part], dict[str, ParameterError]]:
    """Returns the parts of all figures that need no whole picture, as :func:`part_of` does, and why some have none."""
    found: dict[str, Part] = {}
    undefined: dict[str, ParameterError] = {}
    for metric in wanted(how, thresholds):
        if metric not in COUNTED and not _needs_all(metric, how):
            try:
                found[metric] = part_of(metric, gpu, pictures, how, pixels)
            except ParameterError as error:
                undefined[metric] = error
    return found, undefined


def part_of(metric: str, gpu: Gpu, pictures: tuple[Picture, Picture], how: Comparing, pixels: int) -> Part:
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
        return Flip(gpu, reference, how, how.exposures if metric == "hdr-flip" else None)
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
    return Noise(pixels) if metric == "z-test" else Pixelmatch(pictures)
