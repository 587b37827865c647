"""Lifting steps in place, each a launch of its own, on an image whose even and odd samples lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from ..image import Image
from .lifting import lifting
from .wavelets import LiftingStep, Wavelet


@dataclass(frozen=True)
class Line:
    """A transform along one axis: ``n`` samples, in ``across`` lines of each plane, at an image's top left."""

    wavelet: Wavelet
    mode: str
    axis: int
    n: int
    across: int
    inverse: bool

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of even and odd samples. In the mode periodization n is even."""
        return (self.n + 1) // 2, self.n // 2

    @property
    def scales(self) -> tuple[float, float]:
        """The factors of low coefficients to even samples, and of high ones to odd samples, as all steps leave them.

        One sample and its mirror images are a constant, whose low coefficient is √2 times itself.
        """
        scale = sqrt(2.0) if self.mode == "mirror" and self.n == 1 else self.wavelet.scale
        return scale, -1.0 / scale

    @property
    def border(self) -> str:
        if self.mode == "periodization":
            return "BORDER_WRAP"
        return "BORDER_MIRROR" if self.wavelet.whole_sample else "BORDER_CONSTANT"

    @property
    def label(self) -> str:
        return f"{'i' if self.inverse else ''}dwt {'yx'[self.axis - 1]} {self.wavelet.name} in-place"


def run(line: Line, image: Image) -> None:
    """Takes all steps: even samples, which come first along the axis, and odd ones become low and high coefficients.

    With ``line.inverse`` it is the other way round. The image is float32 or int32.
    """
    steps = lifting(line.wavelet, inverse=line.inverse).steps
    # The factors of the image's even and odd values relative to the values that the steps work on.
    stored = line.scales if line.inverse else (1.0, 1.0)
    end = (1.0, 1.0) if line.inverse else line.scales
    for index, step in enumerate(steps):
        last = not any(later.odd == step.odd for later in steps[index + 1 :])
        result = end[step.odd] if last else 1.0
        _launch(line, image, step, stored[step.odd], stored[not step.odd], result)
        stored = (stored[0], result) if step.odd else (result, stored[1])


def _launch(line: Line, image: Image, step: LiftingStep, own: float, other: float, result: float) -> None:
    """Takes one step. ``own``, ``other``: scales of the changed and the other half before it; ``result``: scale of the
    changed half after it."""
    gpu, planes = image.gpu, image.shape[0]
    integer, rows = image.dtype.kind == "i", line.axis == 2
    targets, others = line.counts[step.odd], line.counts[not step.odd]
    if planes * line.across * targets == 0:
        return
    sample = "int" if integer else "float"
    wide = 16 if gpu.limits.is_cpu else 1
    taps = [int(tap) for tap in step.taps] if integer else [*step.weights]
    weights = tuple(taps + [type(taps[0])(0)] * (16 - len(taps)))
    size = (-(-targets // wide), line.across) if rows else (-(-line.across // wide), targets)
    to, beside = (line.counts[0], 0) if step.odd else (0, line.counts[0])
    gpu.compute(
        ("border", "dwt_step"), "lifting_step", (*size, planes), image, planes, image.shape[1:], line.across,
        line.n, targets, others, to, beside,
        weights, step.first, int(step.odd), 1.0 / own, 1.0 / other, result, step.rounding, step.shift,
        int(step.subtract), group=(64 // wide, 4), label=f"{line.label} {'predict' if step.odd else 'update'}",
        traffic=4 * planes * line.across * (2 * targets + others), TAPS=len(step.taps), WIDTH=wide, S=sample,
        S16=f"{sample}16", INTEGER=integer, ROWS=rows, **{line.border: True},
    )  # fmt: skip
