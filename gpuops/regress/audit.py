"""Tests of thresholds: pictures that are surely wrong must fail. Where one passes, the thresholds are blind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import GpuopsError
from ..metrics.variance import Variance
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds

if TYPE_CHECKING:
    from ..gpu import Gpu

Pixels = npt.NDArray[np.generic]

# The standard deviation in pixels of the slight blur.
_SIGMA = 0.7


@dataclass(frozen=True)
class Blind:
    """A wrong picture that passes: ``mutation`` is what was done to the reference, ``why`` what was measured."""

    name: str
    mutation: str
    why: str


def _level(pixels: Pixels, step: int) -> Pixels:
    """Adds a level of the integer type, or of 8 bits to light; values at the end of the range go the other way."""
    if pixels.dtype.kind != "u":
        return (pixels + np.asarray(step / 255, pixels.dtype)).astype(pixels.dtype)
    most = int(np.iinfo(pixels.dtype.name).max)
    wide = pixels.astype(np.int64)
    moved = np.where((wide + step < 0) | (wide + step > most), wide - step, wide + step)
    return moved.astype(pixels.dtype)


def _swapped(pixels: Pixels, colours: int) -> Pixels:
    result = pixels.copy()
    if colours >= 3:
        result[..., [0, 2]] = result[..., [2, 0]]
    return result


def _nan(pixels: Pixels) -> Pixels:
    result = pixels.copy()
    if pixels.dtype.kind == "f":
        result[result.shape[0] // 2, result.shape[1] // 2, 0] = np.nan
    return result


def _blurred(gpu: Gpu, picture: files.Picture) -> Pixels:
    from ..filters.blur import blur
    from ..ops.blur import BlurParams

    pixels = picture.pixels
    most = np.iinfo(pixels.dtype.name).max if pixels.dtype.kind == "u" else 1
    planes = np.ascontiguousarray(np.moveaxis(pixels.astype(np.float32), -1, 0))
    soft = np.moveaxis(blur(gpu, gpu.array(planes), BlurParams(sigma=(_SIGMA, _SIGMA))).numpy(), 0, -1)
    rounded: Pixels = np.clip(np.rint(soft), 0, most) if most > 1 else soft
    return rounded.astype(pixels.dtype)


def mutations(gpu: Gpu, picture: files.Picture, other: files.Picture) -> Iterator[tuple[str, files.Picture]]:
    """Gives wrong pictures, made of a reference, with what was done to it; those that equal it are left out.

    ``other``: another reference, which stands for a picture that was mixed up.
    """
    pixels, colours = picture.pixels, picture.channels - picture.alpha
    made: dict[str, Callable[[], Pixels]] = {
        "black": lambda: np.zeros_like(pixels),
        "shifted by a pixel": lambda: np.roll(pixels, 1, axis=1),
        "a level more": lambda: _level(pixels, 1),
        "a level less": lambda: _level(pixels, -1),
        "red and blue swapped": lambda: _swapped(pixels, colours),
        "mirrored": lambda: pixels[:, ::-1],
        "upside down": lambda: pixels[::-1],
        "slightly blurred": lambda: _blurred(gpu, picture),
        "one NaN": lambda: _nan(pixels),
    }
    if not np.array_equal(other.pixels, pixels):
        yield "another reference", other
    for name, make in made.items():
        wrong = np.ascontiguousarray(make())
        if not np.array_equal(wrong, pixels):
            yield name, replace(picture, pixels=wrong)


def audit(
    gpu: Gpu,
    references: Mapping[str, str],
    thresholds_of: Callable[[str], Thresholds],
    how: Comparing,
    variances: Mapping[str, Variance] | None = None,
) -> Iterator[tuple[str, list[Blind], int]]:
    """Gives, for each reference, the wrong pictures that pass, and how many were tried.

    ``references``: their files, by name; ``variances``: the variances of those that have one. Thresholds that could
    never fail are blind, too.
    """
    from ..metrics.measure import Pair, SizeError, measure

    names = list(references)
    for name, neighbour in zip(names, (*names[-1:], *names[:-1]), strict=True):
        picture, other = (files.read(references[one], layer=how.layer) for one in (name, neighbour))
        known = (variances or {}).get(name)
        blind, tried = [], 0
        for mutation, wrong in mutations(gpu, picture, other):
            tried += 1
            try:
                measured = measure(Pair.of(gpu, wrong, picture, how, known), thresholds_of(name))
            except SizeError:
                continue  # what fails by its size is seen
            except GpuopsError as error:
                blind.append(Blind(name, mutation, str(error)))
                continue
            if not measured.missed:
                figures = ", ".join(f"{metric} {value:.4g}" for metric, value in measured.figures.items())
                blind.append(Blind(name, mutation, figures))
        yield name, blind, tried
