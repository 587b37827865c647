"""Lifting steps in the order in which they are taken, their reach, and their two forms for kernels."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from ..gpu import GeneratedSource
from ..records import dataclass
from .wavelets import LiftingStep, Wavelet


@dataclass(frozen=True, eq=False)
class Lifting:
    """Lifting steps over a window of pairs that moves from row to row.

    Attributes
    ----------
    steps : tuple of LiftingStep
        The steps in the order in which they are taken.
    spans : tuple of (before, after)
        For pair k to come out right a step must have been taken for the pairs k − before … k + after.
    left, right : int
        Pairs before and after k that all steps together read.
    """

    wavelet: Wavelet
    inverse: bool
    steps: tuple[LiftingStep, ...]
    spans: tuple[tuple[int, int], ...]
    left: int
    right: int

    @property
    def kept(self) -> int:
        """The number of pairs that must be at hand: from the oldest that a step reads to the newest."""
        oldest = min(
            (after + step.first for step, (_, after) in zip(self.steps, self.spans, strict=True)), default=0
        )
        return max(0, -oldest) + self.right + 1

    def is_read_again(self, odd: bool, at: int) -> bool:
        """Whether the sample of pair k + ``at`` is read, or changed, when later pairs than k are finished."""
        steps = zip(self.steps, self.spans, strict=True)
        return any((after if step.odd == odd else after + step.first) < at for step, (_, after) in steps)

    def _source(self, form: str, *lines: str) -> GeneratedSource:
        reach = f"#define LEFT {self.left}", f"#define RIGHT {self.right}", f"#define KEPT {self.kept}"
        return GeneratedSource(
            f"dwt_{self.wavelet.name.replace('/', '_')}_{form}", "\n".join((*reach, *lines))
        )


@cache
def lifting(wavelet: Wavelet, *, inverse: bool, held: bool = False) -> Lifting:
    """The steps forward, or those of the inverse: the last one first, with opposite signs.

    ``held``: for ends held at each step (mode vc2). A last pair without an odd sample takes the odd sample of the pair
    before.
    """
    steps = tuple(step.undone for step in reversed(wavelet.steps)) if inverse else wavelet.steps
    need = {False: (int(held), 0), True: (int(held), 0)}  # for even and for odd samples
    later: list[tuple[LiftingStep, int]] = []
    spans = []
    for step in reversed(steps):
        ahead, after = need[step.odd]
        # A later step changes samples that this step reads: it may only when no pair needs them any more.
        changed = [far - step.first for other, far in later if other.odd != step.odd]
        after = max([after, *changed])
        spans.append((ahead, after))
        later.append((step, after))
        low, high = need[not step.odd]
        last = step.first + len(step.taps) - 1
        need[not step.odd] = max(low, ahead - step.first), max(high, after + last)
        need[step.odd] = ahead, after
    lefts, rights = zip(*need.values(), strict=True)
    return Lifting(wavelet, inverse, steps, tuple(reversed(spans)), max(lefts), max(rights))


@cache
def macro(plan: Lifting, sample: str) -> GeneratedSource:
    """The steps as a macro, for compilers to unroll: clkernels/wavelets/dwt_level.cl and its like, for floats.

    STEPS(TAKE) calls the macro TAKE(target, other, first, taps, before, after, again, weights…) for each step:
    target[k] += Σ_j weights[j] other[k + first + j], with e and o for the even and the odd samples; ``again``: the
    result is read for a later pair, too.
    """
    takes = (
        f"TAKE({'o, e' if step.odd else 'e, o'}, {step.first}, {len(step.taps)}, {before}, {after}, "
        f"{int(plan.is_read_again(step.odd, after))}, {_numbers(step.weights, sample)})"
        for step, (before, after) in zip(plan.steps, plan.spans, strict=True)
    )
    return plan._source(
        "macro",
        # Along both axes: low times low is K², low times high −1.
        f"#define K2 {_numbers([plan.wavelet.scale**2], sample)}",
        "#define STEPS(TAKE) \\\n    " + " \\\n    ".join(takes),
    )


@cache
def tables(plan: Lifting, sample: str) -> GeneratedSource:
    """The steps as arrays, for loops over them: clkernels/wavelets/dwt_steps.cl, for floats and for ``int``."""
    steps, most = plan.steps, max(len(step.taps) for step in plan.steps)

    def padded(taps: tuple[float, ...]) -> tuple[float, ...]:
        return taps + (0.0,) * (most - len(taps))

    lines = [
        f"#define STEPS {len(steps)}",
        f"#define TAPS {most}",
        _table("STEP_ODD", (step.odd for step in steps)),
        _table("FIRST", (step.first for step in steps)),
        _table("STEP_BEFORE", (before for before, _ in plan.spans)),
        _table("STEP_AFTER", (after for _, after in plan.spans)),
    ]
    if sample == "int":
        lines += [
            _table("WEIGHT", (tap for step in steps for tap in padded(step.taps))),
            _table("SHIFT", (step.shift for step in steps)),
            _table("ROUNDING", (step.rounding for step in steps)),
            _table("SUBTRACT", (step.subtract for step in steps)),
            "#define LOW_SCALE 1",
            "#define HIGH_SCALE 1",
        ]
        # Coefficients of 16-bit samples, shifted up or by gain, have 24 bits after a few levels.
        if max(sum(map(abs, step.taps)) for step in steps) >= 2**7:
            lines.append("#define WIDE")
    else:
        weights = (weight for step in steps for weight in padded(step.weights))
        scale = 1.0 / plan.wavelet.scale if plan.inverse else plan.wavelet.scale
        lines += [
            f"__constant S WEIGHT[] = {{{_numbers(weights, sample)}}};",
            f"#define LOW_SCALE {_numbers([scale], sample)}",
            f"#define HIGH_SCALE {_numbers([-1.0 / scale], sample)}",
        ]
    return plan._source("tables", *lines)


def rows(*pairs: int) -> tuple[str | GeneratedSource, ...]:
    """The sources of the steps on rows of n pairs, for each n in ``pairs``: clkernels/wavelets/dwt_lift.cl."""
    return tuple(
        part
        for n in pairs
        for part in (GeneratedSource(f"dwt_rows_of_{n}_pairs", f"#undef N\n#define N {n}"), "dwt_lift")
    )


def _table(name: str, values: Iterable[float]) -> str:
    return f"__constant int {name}[] = {{{', '.join(str(int(v)) for v in values)}}};"


def _numbers(values: Iterable[float], sample: str) -> str:
    return ", ".join(repr(float(v)) if sample == "double" else f"{float(np.float32(v))!r}f" for v in values)
