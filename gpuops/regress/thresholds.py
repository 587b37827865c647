"""Thresholds: made from noise, which is how far results differ from run to run, and tested by wrong pictures.

Pictures that are surely wrong must fail. Where one passes, the thresholds are blind.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import GpuopsError, visible
from ..figures import FIGURES, worst_of
from ..metrics.variance import Variance
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from .references import References, sha256_of

if TYPE_CHECKING:
    from ..gpu import Gpu

Pixels = npt.NDArray[np.generic]

# The standard deviation in pixels of the slight blur.
_SIGMA = 0.7
#: How much more than the largest noise is allowed.
MARGIN = 2.0
#: The percentage of pixels that have to pass the Z-test, as in Mitsuba 3.
SHARE = 99.75
# Significant digits of thresholds.
_DIGITS = 2


def noise(gpu: Gpu, runs: Mapping[str, Sequence[str]], how: Comparing) -> dict[str, dict[str, float]]:
    """Returns the worst figures of each picture: of each of its files against the first.

    ``runs``: the files that several runs made, by the picture's name. A picture that never changed has no figures.
    """
    from ..metrics.measure import Pair, measure

    worst = {}
    for name, paths in runs.items():
        first = files.read(paths[0], layer=how.layer)
        others = (files.read(path, layer=how.layer) for path in paths[1:])
        measured = (measure(Pair.of(gpu, other, first, how), Thresholds()) for other in others)
        worst[name] = worst_of(one.figures for one in measured if not one.equal)
    return worst


def thresholds_for(figures: Mapping[str, float], margin: float = MARGIN) -> Thresholds:
    """Returns thresholds that allow ``margin`` times this noise; without noise only equal pictures pass.

    A figure of which more is better is moved away from its best by the margin; dB fall by the margin's.
    """
    limits = {}
    for metric, value in figures.items():
        declared = FIGURES[metric]
        if not declared.higher:
            limits[metric] = _rounded(value * margin, up=True)
        elif math.isinf(declared.best):
            limits[metric] = _rounded(value - 20 * math.log10(margin), up=False)
        else:
            limits[metric] = declared.best - _rounded((declared.best - value) * margin, up=True)
    return Thresholds(limits=limits)


def write_references(
    runs: Mapping[str, Sequence[str]], folder: str, references: References
) -> dict[str, str]:
    """Makes the mean of each picture's runs its reference, with the variance beside it; all or none of them.

    Files are made in ``folder`` before. Returns the thresholds of each as lines of TOML, with a remark of what it sees.

    Raises ParameterError for pictures that no mean is made of: see :func:`gpuops.metrics.variance.mean_and_variance`.
    """
    from ..metrics import variance as variances

    made: dict[str, str] = {}
    said: dict[str, str] = {}
    for name, paths in runs.items():
        mean, variance = variances.mean_and_variance(paths)
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        files.write(path, mean, overwrite=True)
        variances.write(path + variances.SUFFIX, replace(variance, of=sha256_of(path)))
        made |= {name: path, name + variances.SUFFIX: path + variances.SUFFIX}
        limit = variances.critical(mean.width * mean.height, len(paths))
        said[name] = (
            f"# The noise of {len(paths)} runs explains {limit:.1f} standard deviations; of more runs, less.\n"
            f"{FIGURES['z-test'].option} = {SHARE:g}"
        )
    references.accept(made)
    return said


def to_toml(
    worst: Mapping[str, Mapping[str, float]], margin: float = MARGIN, said: Mapping[str, str] | None = None
) -> str:
    """Returns the thresholds as tables of a suite; ``said``: those of pictures whose variance is known."""
    lines: list[str] = []
    for name, figures in worst.items():
        if not figures:
            lines.append(f"# {visible(name)}: no noise; without thresholds only equal pictures pass")
            continue
        quoted = "".join(c if c.isprintable() and c not in '\\"' else f"\\U{ord(c):08x}" for c in name)
        lines.append(f'[thresholds."{quoted}"]')
        if said and name in said:
            lines += [said[name], ""]
            continue
        limits = thresholds_for(figures, margin).limits
        lines += [f"{FIGURES[metric].option} = {value:.10g}" for metric, value in limits.items()]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _rounded(value: float, *, up: bool) -> float:
    """Rounds to a few digits, away from the noise."""
    if value == 0 or not math.isfinite(value):
        return value
    step = 10.0 ** (math.floor(math.log10(abs(value))) - _DIGITS + 1)
    return (math.ceil if up else math.floor)(value / step) * step


class Blind(NamedTuple):
    """A wrong picture that passes: ``mutation`` is what was done to the reference, ``why`` what was measured."""

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
    pixels, order = picture.pixels, list(range(picture.channels))
    if picture.channels - picture.alpha >= 3:
        order[:3] = order[2::-1]
    made: dict[str, Callable[[], Pixels]] = {
        "black": lambda: np.zeros_like(pixels),
        "shifted by a pixel": lambda: np.roll(pixels, 1, axis=1),
        "a level more": lambda: _level(pixels, 1),
        "a level less": lambda: _level(pixels, -1),
        "red and blue swapped": lambda: pixels[..., order],
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
                blind.append(Blind(mutation, str(error)))
                continue
            if not measured.missed:
                figures = ", ".join(f"{metric} {value:.4g}" for metric, value in measured.figures.items())
                blind.append(Blind(mutation, figures))
        yield name, blind, tried
