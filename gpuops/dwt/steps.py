"""Lifting steps as launches of their own: what the methods laan and in-place have in common."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..errors import ParameterError
from ..image import Image
from .wavelets import Step, Wavelet


@dataclass(frozen=True)
class Half:
    """The even or odd samples of a signal along an axis of an image: every ``spacing``-th, from ``phase`` on.

    What the image holds is ``scale`` times what the steps work on (in float).
    """

    image: Image
    spacing: int = 1
    phase: int = 0
    scale: float = 1.0


Halves = dict[bool, Half]  # odd or not -> half


@dataclass(frozen=True)
class Line:
    """What all steps of a transform along one axis have in common: ``n`` samples, in ``across`` lines of each plane."""

    wavelet: Wavelet
    mode: str
    axis: int
    n: int
    across: int
    inverse: bool
    method: str

    @property
    def counts(self) -> tuple[int, int]:
        """Even and odd samples; periodization makes an odd length even."""
        return (self.n + 1) // 2, self.n // 2 if self.mode == "mirror" else (self.n + 1) // 2

    @property
    def scale(self) -> float:
        """Of low coefficients. One sample and its mirror images are a constant: √2 times itself."""
        return sqrt(2.0) if self.mode == "mirror" and self.n == 1 else self.wavelet.scale

    @property
    def border(self) -> str:
        if self.mode == "periodization":
            return "BORDER_WRAP"
        return "BORDER_MIRROR" if self.wavelet.whole_sample else "BORDER_CONSTANT"

    @property
    def label(self) -> str:
        return f"{'i' if self.inverse else ''}dwt {'yx'[self.axis - 1]} {self.wavelet.name} {self.method}"

    def signal(self, image: Image) -> Halves:
        """The samples of an image."""
        return {False: Half(image, 2, 0), True: Half(image, 2, 1)}

    def bands(self, low: Image, high: Image) -> Halves:
        """Coefficients in images of their own."""
        return {False: Half(low, scale=self.scale), True: Half(high, scale=-1.0 / self.scale)}

    def apart(self, image: Image, *, samples: bool = False) -> Halves:
        """Coefficients, or ``samples``, in one image: the low or even ones before the high or odd ones."""
        low, high = (1.0, 1.0) if samples else (self.scale, -1.0 / self.scale)
        return {False: Half(image, scale=low), True: Half(image, phase=self.counts[0], scale=high)}


def run(line: Line, begin: Halves, between: Halves, end: Halves) -> None:
    """All steps: the first on each half reads ``begin``, the last writes ``end``, others use ``between``.

    Raises ParameterError for double precision, which these kernels have not.
    """
    if end[False].image.dtype == np.float64:
        raise ParameterError(f"the method {line.method} takes float32, not float64: use lifting")
    steps = line.wavelet.steps[::-1] if line.inverse else line.wavelet.steps
    now = dict(begin)
    for index, step in enumerate(steps):
        last = not any(later.odd == step.odd for later in steps[index + 1 :])
        to = (end if last else between)[step.odd]
        _launch(line, step, now[step.odd], now[not step.odd], to)
        now[step.odd] = to


def _launch(line: Line, step: Step, source: Half, other: Half, to: Half) -> None:
    gpu, planes = to.image.gpu, to.image.shape[0]
    integer, rows = to.image.dtype.kind == "i", line.axis == 2
    targets, others = line.counts[step.odd], line.counts[not step.odd]
    if planes * line.across * targets == 0:
        return
    sample = "int" if integer else "float"
    wide = 16 if gpu.limits.is_cpu else 1
    defines: dict[str, bool | str] = {"S": sample, "S16": f"{sample}16", "INTEGER": integer, "ROWS": rows}
    kernel = gpu.kernel(
        ("border", "dwt_step"),
        "lifting_step",
        TAPS=len(step.taps),
        WIDTH=wide,
        **{line.border: True},
        **defines,
    )
    taps = [int(tap) for tap in step.taps] if integer else [-w if line.inverse else w for w in step.weights]
    weights = tuple(taps + [type(taps[0])(0)] * (16 - len(taps)))
    size = (-(-targets // wide), line.across) if rows else (-(-line.across // wide), targets)
    gpu.launch(
        kernel, (*size, planes), source.image, other.image, to.image, planes, line.across, line.n, targets, others,
        *((*half.image.shape[1:], half.spacing, half.phase) for half in (source, other, to)), weights, step.first,
        int(step.odd), 1.0 / source.scale, 1.0 / other.scale, to.scale, step.rounding, step.shift,
        int(step.odd != line.inverse), local=kernel.fit(64 // wide, 4, 1),
        label=f"{line.label} {'predict' if step.odd else 'update'}",
        traffic=4 * planes * line.across * (2 * targets + others),
    )  # fmt: skip
