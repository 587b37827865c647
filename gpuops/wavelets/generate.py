"""OpenCL C of a wavelet's constants, which clkernels/wavelets/dwt_steps.cl expects before it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from ..gpu import Source
from .schedule import Schedule
from .wavelets import Wavelet


@cache
def lifting(
    wavelet: Wavelet, *, inverse: bool, integer: bool, double: bool = False, held: bool = False
) -> Source:
    """The steps in order, the reach of each into the halo, the halo's width, and the pairs that a window keeps.

    ``held``: for ends held at each step (mode vc2). A last pair without an odd sample takes the odd sample of the pair
    before.
    """
    steps = wavelet.steps[::-1] if inverse else wavelet.steps
    sign = -1.0 if inverse else 1.0
    plan = Schedule.of(steps, before=int(held))
    taps = max(len(step.taps) for step in steps)
    padding = [(0.0,) * (taps - len(step.taps)) for step in steps]
    lines = [
        f"#define STEPS {len(steps)}",
        f"#define TAPS {taps}",
        f"#define LEFT {plan.left}",
        f"#define RIGHT {plan.right}",
        f"#define KEPT {plan.kept}",
        _ints("STEP_ODD", (step.odd for step in steps)),
        _ints("FIRST", (step.first for step in steps)),
        _ints("STEP_BEFORE", (before for before, _ in plan.spans)),
        _ints("STEP_AFTER", (after for _, after in plan.spans)),
    ]
    if integer:
        weights = [tap for step, pad in zip(steps, padding, strict=True) for tap in (*step.taps, *pad)]
        # Coefficients of 16-bit samples, shifted up or by gain, have 24 bits after a few levels.
        wide = max(sum(map(abs, step.taps)) for step in steps) >= 2**7
        lines += [
            _ints("WEIGHT", map(int, weights)),
            _ints("SHIFT", (step.shift for step in steps)),
            _ints("ROUNDING", (step.rounding for step in steps)),
            _ints("SUBTRACT", (step.subtract != inverse for step in steps)),
            "#define LOW_SCALE 1",
            "#define HIGH_SCALE 1",
            *(["#define WIDE"] if wide else []),
        ]
    else:
        weights = [sign * w for step, pad in zip(steps, padding, strict=True) for w in (*step.weights, *pad)]
        scale = 1.0 / wavelet.scale if inverse else wavelet.scale
        lines += [
            f"__constant S WEIGHT[] = {{{', '.join(_literal(w, double) for w in weights)}}};",
            f"#define LOW_SCALE {_literal(scale, double)}",
            f"#define HIGH_SCALE {_literal(-1.0 / scale, double)}",
        ]
    return Source(f"dwt_{wavelet.name.replace('/', '_')}", "\n".join(lines))


# The constants for filter banks, whose filters are data: the longest has 102 taps (coif17), in 52 pairs under
# periodization.
FILTERS = Source("dwt_filters", "#define LEFT 0\n#define RIGHT 51\n#define LOW_SCALE 1\n#define HIGH_SCALE 1")


@cache
def polyphase(
    wavelet: Wavelet, *, inverse: bool, expansive: bool
) -> tuple[int, tuple[tuple[float, float, float, float], ...]]:
    """The filters as matrices: (a, b)[k] = Σ_u M[u] · (even, odd)[k + first + u]; first, and all M row by row.

    For the analysis (even, odd) are samples and (a, b) = (low, high), for the synthesis the other way round:

        low[k] = Σ_j dec_lo[j] x[2k + o − j]      x[2k + r] = Σ_u rec_lo[o + r − 2u] low[k + u] + rec_hi[…] high[k + u]

    The alignments o are PyWavelets': for the analysis 1, under periodization L/2; for the synthesis L − 2 and L/2 − 1.
    """
    length = wavelet.length
    low, high = wavelet.reconstruct if inverse else wavelet.decompose
    if inverse:
        offset = length - 2 if expansive else length // 2 - 1
        first, last = -((length - 1 - offset) // 2), (offset + 1) // 2
    else:
        offset = 1 if expansive else length // 2
        first, last = (offset - length + 1) >> 1, offset >> 1

    def tap(filter: tuple[float, ...], j: int) -> float:
        return filter[j] if 0 <= j < length else 0.0

    matrices = []
    for u in range(first, last + 1):
        j = offset - 2 * u  # the tap of even sample k + u; that of the odd one is j − 1
        if inverse:
            matrices.append((tap(low, j), tap(high, j), tap(low, j + 1), tap(high, j + 1)))
        else:
            matrices.append((tap(low, j), tap(low, j - 1), tap(high, j), tap(high, j - 1)))
    return first, tuple(matrices)


def _literal(value: float, double: bool) -> str:
    return repr(float(value)) if double else f"{float(np.float32(value))!r}f"


def _ints(name: str, values: Iterable[int | bool]) -> str:
    return f"__constant int {name}[] = {{{', '.join(str(int(v)) for v in values)}}};"


def halo(constants: Source) -> int:
    """LEFT + RIGHT of a generated source."""
    return sum(
        int(line.split()[2]) for line in constants.text.splitlines() if line.split()[1] in ("LEFT", "RIGHT")
    )
