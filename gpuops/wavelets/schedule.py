"""The reach of lifting steps, and their OpenCL C in the order that clkernels/wavelets/dwt_level.cl takes them, row by
row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..gpu import Source
from .wavelets import Step, Wavelet


@dataclass(frozen=True)
class Schedule:
    """Lifting steps over a window of pairs that moves from row to row.

    Attributes
    ----------
    steps : tuple of Step
        The steps in the order in which they are taken.
    spans : tuple of (before, after)
        For pair k to come out right a step must have been taken for the pairs k − before … k + after.
    left, right : int
        Pairs before and after k that all steps together read.
    """

    steps: tuple[Step, ...]
    spans: tuple[tuple[int, int], ...]
    left: int
    right: int

    @classmethod
    def of(cls, steps: tuple[Step, ...], *, before: int = 0) -> Schedule:
        """The schedule of these steps, by which the pairs k − ``before`` … k come out right."""
        need = {False: (before, 0), True: (before, 0)}  # for even and for odd samples
        later: list[tuple[Step, int]] = []
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
        return cls(steps, tuple(reversed(spans)), max(lefts), max(rights))

    @property
    def kept(self) -> int:
        """The number of pairs that must be at hand: from the oldest that a step reads to the newest."""
        oldest = min(
            (after + step.first for step, (_, after) in zip(self.steps, self.spans, strict=True)), default=0
        )
        return max(0, -oldest) + self.right + 1

    def is_read_again(self, odd: bool, at: int) -> bool:
        """Whether the sample of pair k + ``at`` is read, or changed, when later pairs than k are finished."""
        for step, (_, after) in zip(self.steps, self.spans, strict=True):
            oldest = after if step.odd == odd else after + step.first
            if oldest < at:
                return True
        return False


@cache
def schedule(wavelet: Wavelet, *, inverse: bool, sample: str) -> tuple[Schedule, Source]:
    """The schedule, and the schedule as OpenCL C for samples ``float`` or ``double``.

    In the C, STEPS(TAKE) calls the macro TAKE(target, other, first, taps, before, after, again, weights…) for each
    step: target[k] += Σ_j weights[j] other[k + first + j], with e and o for the even and the odd samples;
    ``again``: the result is read for a later pair, too.
    """
    plan = Schedule.of(wavelet.steps[::-1] if inverse else wavelet.steps)
    sign = -1.0 if inverse else 1.0
    lines = [
        f"#define LEFT {plan.left}",
        f"#define RIGHT {plan.right}",
        f"#define KEPT {plan.kept}",
        f"#define K2 {_literal(wavelet.scale**2, sample)}",  # along both axes: low times low is K², low times high −1
        "#define STEPS(TAKE) \\\n    "
        + " \\\n    ".join(
            f"TAKE({'o, e' if step.odd else 'e, o'}, {step.first}, {len(step.taps)}, {before}, {after}, "
            f"{int(plan.is_read_again(step.odd, after))}, "
            f"{', '.join(_literal(sign * w, sample) for w in step.weights)})"
            for step, (before, after) in zip(plan.steps, plan.spans, strict=True)
        ),
    ]
    return plan, Source(f"dwt_{wavelet.name.replace('/', '_')}_schedule", "\n".join(lines))


def lifting(*pairs: int) -> tuple[str | Source, ...]:
    """The sources of the steps on rows of n pairs, for each n in ``pairs``: clkernels/wavelets/dwt_lift.cl."""
    return tuple(
        part
        for n in pairs
        for part in (Source(f"dwt_rows_of_{n}_pairs", f"#undef N\n#define N {n}"), "dwt_lift")
    )


def _literal(value: float, sample: str) -> str:
    return repr(float(value)) if sample == "double" else f"{float(np.float32(value))!r}f"
