"""OpenCL C of a wavelet's constants: what clkernels/dwt.cl expects before it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from ..gpu import Source
from .wavelets import Step, Wavelet


@cache
def lifting(wavelet: Wavelet, *, inverse: bool, integer: bool) -> Source:
    """Steps in order, how far each reaches into the halo, and the halo's width."""
    steps = wavelet.steps[::-1] if inverse else wavelet.steps
    sign = -1.0 if inverse else 1.0
    spans, left, right = _reach(steps)
    taps = max(len(step.taps) for step in steps)
    padding = [(0.0,) * (taps - len(step.taps)) for step in steps]
    lines = [
        f"#define STEPS {len(steps)}",
        f"#define TAPS {taps}",
        f"#define LEFT {left}",
        f"#define RIGHT {right}",
        _ints("STEP_ODD", (step.odd for step in steps)),
        _ints("FIRST", (step.first for step in steps)),
        _ints("STEP_FROM", (left - low for low, _ in spans)),
        _ints("STEP_TO", (f"LEFT + PAIRS + {high}" for _, high in spans)),
    ]
    if integer:
        weights = [tap for step, pad in zip(steps, padding, strict=True) for tap in (*step.taps, *pad)]
        lines += [
            _ints("WEIGHT", map(int, weights)),
            _ints("SHIFT", (step.shift for step in steps)),
            _ints("ROUNDING", (step.rounding for step in steps)),
            _ints("SUBTRACT", (step.odd != inverse for step in steps)),
            "#define LOW_SCALE 1",
            "#define HIGH_SCALE 1",
        ]
    else:
        weights = [sign * w for step, pad in zip(steps, padding, strict=True) for w in (*step.weights, *pad)]
        scale = 1.0 / wavelet.scale if inverse else wavelet.scale
        lines += [
            _floats("WEIGHT", weights),
            f"#define LOW_SCALE {_literal(scale)}",
            f"#define HIGH_SCALE {_literal(-1.0 / scale)}",
        ]
    return Source(f"dwt_{wavelet.name.replace('/', '_')}", "\n".join(lines))


@cache
def filterbank(wavelet: Wavelet, *, inverse: bool, expansive: bool) -> Source:
    """Filters, their alignment and the halo. The alignments are PyWavelets': see :mod:`.wavelets`."""
    length = wavelet.length
    low, high = wavelet.reconstruct if inverse else wavelet.decompose
    if inverse:
        offset = length - 2 if expansive else length // 2 - 1
        left, right = max(0, (length - 1 - offset) // 2), max(0, (offset + 1) // 2)
    else:
        offset = 1 if expansive else length // 2
        left, right = -((offset - length + 1) >> 1), offset >> 1
    lines = [
        f"#define FILTER {length}",
        f"#define OFFSET {offset}",
        f"#define LEFT {left}",
        f"#define RIGHT {right}",
        _floats("LOW", low),
        _floats("HIGH", high),
        "#define LOW_SCALE 1.0f",
        "#define HIGH_SCALE 1.0f",
    ]
    return Source(f"dwt_{wavelet.name.replace('/', '_')}_filters", "\n".join(lines))


def _reach(steps: tuple[Step, ...]) -> tuple[list[tuple[int, int]], int, int]:
    """Pairs that each step must compute before and after the tile proper so that the last results are right.

    Also the pairs of halo before and after that the steps together read.
    """
    need = {False: (0, 0), True: (0, 0)}  # of even and of odd samples
    spans = []
    for step in reversed(steps):
        before, after = need[step.odd]
        spans.append((before, after))
        low, high = need[not step.odd]
        last = step.first + len(step.taps) - 1
        need[not step.odd] = max(low, before - step.first), max(high, after + last)
    return spans[::-1], max(low for low, _ in need.values()), max(high for _, high in need.values())


def _literal(value: float) -> str:
    return f"{float(np.float32(value))!r}f"


def _floats(name: str, values: Iterable[float]) -> str:
    return f"__constant float {name}[] = {{{', '.join(map(_literal, values))}}};"


def _ints(name: str, values: Iterable[int | bool | str]) -> str:
    return f"__constant int {name}[] = {{{', '.join(v if isinstance(v, str) else str(int(v)) for v in values)}}};"


def halo(constants: Source) -> int:
    """LEFT + RIGHT of a generated source."""
    return sum(
        int(line.split()[2]) for line in constants.text.splitlines() if line.split()[1] in ("LEFT", "RIGHT")
    )
