"""Thresholds from measured noise: how far results of the same command differ from run to run."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import files
from ..errors import visible
from ..figures import FIGURES, worst_of
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from .references import References, sha256_of

if TYPE_CHECKING:
    from ..gpu import Gpu

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

    found = {}
    for name, paths in runs.items():
        first = files.read(paths[0], layer=how.layer)
        others = (files.read(path, layer=how.layer) for path in paths[1:])
        measured = (measure(Pair.of(gpu, other, first, how), Thresholds()) for other in others)
        found[name] = worst_of(one.figures for one in measured if not one.equal)
    return found


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
    from ..metrics.z_test import critical

    made: dict[str, str] = {}
    said: dict[str, str] = {}
    for name, paths in runs.items():
        mean, variance = variances.mean_and_variance(paths)
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        files.write(path, mean, overwrite=True)
        variances.write(path + variances.SUFFIX, replace(variance, of=sha256_of(path)))
        made |= {name: path, name + variances.SUFFIX: path + variances.SUFFIX}
        limit = critical(mean.width * mean.height, len(paths))
        said[name] = (
            f"# The noise of {len(paths)} runs explains {limit:.1f} standard deviations; of more runs, less.\n"
            f"{FIGURES['z-test'].option} = {SHARE:g}"
        )
    references.accept(made)
    return said


def to_toml(
    found: Mapping[str, Mapping[str, float]], margin: float = MARGIN, said: Mapping[str, str] | None = None
) -> str:
    """Returns the thresholds as tables of a suite; ``said``: those of pictures whose variance is known."""
    lines: list[str] = []
    for name, figures in found.items():
        if not figures:
            lines.append(f"# {visible(name)}: no noise; without thresholds only equal pictures pass")
            continue
        quoted = "".join(c if c.isprintable() and c not in '\\"' else f"\\U{ord(c):08x}" for c in name)
        lines.append(f'[thresholds."{quoted}"]')
        if said and name in said:
            lines += [said[name], ""]
            continue
        lines += [
            f"{FIGURES[m].option} = {v:.10g}" for m, v in thresholds_for(figures, margin).limits.items()
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _rounded(value: float, *, up: bool) -> float:
    """Rounds to a few digits, away from the noise."""
    if value == 0 or not math.isfinite(value):
        return value
    step = 10.0 ** (math.floor(math.log10(abs(value))) - _DIGITS + 1)
    return (math.ceil if up else math.floor)(value / step) * step
