"""Van der Laan, Jalba and Roerdink's method: a kernel for each lifting step, out of place, halves apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt

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
class _Line:
    """What all steps of a transform along one axis have in common."""

    wavelet: Wavelet
    mode: str
    axis: int
    n: int
    inverse: bool

    @property
    def counts(self) -> tuple[int, int]:
        """Even and odd samples; periodization makes an odd length even."""
        return (self.n + 1) // 2, self.n // 2 if self.mode == "mirror" else (self.n + 1) // 2

    @property
    def lone(self) -> bool:
        """One sample and its mirror images: a constant, whose low coefficient is √2 times itself."""
        return self.mode == "mirror" and self.n == 1

    @property
    def border(self) -> str:
        if self.mode == "periodization":
            return "BORDER_WRAP"
        return "BORDER_MIRROR" if self.wavelet.whole_sample else "BORDER_CONSTANT"


def analyse(image: Image, low: Image, high: Image, wavelet: Wavelet, mode: str, axis: int) -> None:
    """``image`` → its halves along ``axis``. The first two steps read the image, the others work on the halves."""
    line = _Line(wavelet, mode, axis, image.shape[axis], inverse=False)
    begin = {False: Half(image, 2, 0), True: Half(image, 2, 1)}
    _run(line, begin, {False: Half(low), True: Half(high)}, _scaled(line, low, high))


def synthesise(low: Image, high: Image, image: Image, wavelet: Wavelet, mode: str, axis: int) -> None:
    """The halves → ``image``, which the last two steps write; those before work on copies of the halves."""
    line = _Line(wavelet, mode, axis, image.shape[axis], inverse=True)
    end = {False: Half(image, 2, 0), True: Half(image, 2, 1)}
    between = {False: Half(low.like()), True: Half(high.like())} if len(wavelet.steps) > 2 else end
    _run(line, _scaled(line, low, high), between, end)


def _scaled(line: _Line, low: Image, high: Image) -> Halves:
    scale = sqrt(2.0) if line.lone else line.wavelet.scale
    return {False: Half(low, scale=scale), True: Half(high, scale=-1.0 / scale)}


def _run(line: _Line, begin: Halves, between: Halves, end: Halves) -> None:
    """All steps: the first on each half reads ``begin``, the last writes ``end``, others use ``between``."""
    steps = line.wavelet.steps[::-1] if line.inverse else line.wavelet.steps
    now = dict(begin)
    for index, step in enumerate(steps):
        last = not any(later.odd == step.odd for later in steps[index + 1 :])
        to = (end if last else between)[step.odd]
        _step(line, step, now[step.odd], now[not step.odd], to)
        now[step.odd] = to


def _step(line: _Line, step: Step, source: Half, other: Half, to: Half) -> None:
    gpu = to.image.gpu
    integer = to.image.dtype.kind == "i"
    shape, axis = to.image.shape, line.axis
    outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    targets, others = line.counts[step.odd], line.counts[not step.odd]
    size = outer * targets * inner
    if size == 0:
        return
    sample = "int" if integer else "float"
    defines: dict[str, bool | str] = {"S": sample, "S4": f"{sample}4", "INTEGER": integer, line.border: True}
    kernel = gpu.kernel(("border", "dwt_laan"), "lifting_step", **defines)
    taps = [int(tap) for tap in step.taps] if integer else [-w if line.inverse else w for w in step.weights]
    weights = tuple(taps + [type(taps[0])(0)] * (4 - len(taps)))
    name = f"{'i' if line.inverse else ''}dwt {'yx'[axis - 1]} {line.wavelet.name} laan"
    label = f"{name} {'predict' if step.odd else 'update'}"
    gpu.launch(
        kernel, (size,), source.image, other.image, to.image, outer, inner, line.n, targets, others,
        *((half.image.shape[axis], half.spacing, half.phase, 0) for half in (source, other, to)),
        weights, step.first, 0 if line.lone else len(taps), int(step.odd), 1.0 / source.scale, 1.0 / other.scale,
        to.scale, step.rounding, step.shift, int(step.odd != line.inverse), local=kernel.fit(256), label=label,
        traffic=3 * size * 4,
    )  # fmt: skip
