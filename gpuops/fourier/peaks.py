"""The strongest periodic components of an image: peaks of its spectrum that stand out from their surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import atan2, degrees, hypot, log, pi, sin
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from ..errors import ParameterError
from ..filters.box import Box, box
from ..gpu import Gpu
from ..image import Image
from ..params.fft import SpectrumParams
from ..records import dataclass
from .spectrum import spectrum

Array = npt.NDArray[Any]

#: The least amplitude of a peak, relative to the geometric mean around it.
LEAST_RATIO = 6.0
# The half-width of the surroundings, in places of the spectrum.
_AROUND = 10
# A peak is the largest value within so many places.
_NEAR = 2
# Amplitudes below this share of the largest one are rounding errors.
_ROUNDING = 1e-6
# The largest amplitude of a component relative to the value at its nearest place: it may be half a place away along
# both axes, and both places of a mirrored pair count.
_MOST_GAIN = 2 * (0.75 * pi / 2) ** 2


@dataclass(frozen=True)
class Peak:
    """A periodic component, amplitude · cos(2π (fx·x + fy·y) + phase).

    Attributes
    ----------
    cycles : (float, float)
        Its place in the spectrum: cycles per picture along x, from 0 on, and along y, downwards.
    frequency : (float, float)
        The same in cycles per pixel, as a notch filter's cutoff has it.
    period : float
        Pixels from one crest to the next, across the crests.
    angle : float
        The direction from crest to crest, in degrees counter-clockwise from the x axis, above −90 to 90.
    amplitude : float
        In the image's values; of colours the root of the mean square.
    """

    cycles: tuple[float, float]
    frequency: tuple[float, float]
    period: float
    angle: float
    amplitude: float

    @property
    def cutoff(self) -> str:
        """The place as a notch filter takes it, without negative zeros."""
        return ",".join(f"{round(f, 5) + 0.0:.5f}" for f in self.frequency)

    def written(self) -> dict[str, Any]:
        """Returns the component as plain values, for a report."""
        return {**asdict(self), "cutoff": self.cutoff}


def peaks(gpu: Gpu, image: Image, count: int) -> list[Peak]:
    """Returns the strongest periodic components of a planar float32 Image's colours, at most ``count``.

    The image is multiplied by a Hann window. A component is a place of the spectrum whose amplitude is the largest of
    those near it, and :data:`LEAST_RATIO` times the geometric mean around it; ripples that the window puts around
    stronger components are left out. Places and amplitudes between the spectrum's places are interpolated by the
    window's own shape (Grandke, IEEE Trans. Instrum. Meas. 32, 350, 1983).

    Raises ParameterError for another Image, for pixels that are not finite, and for a ``count`` below 1.
    """
    image.check_planar()
    if count < 1:
        raise ParameterError(f"at least one component has to be looked for, not {count}")
    _, rows, columns = image.shape
    values = spectrum(gpu, image.without_alpha(), SpectrumParams("backward", window="hann")).numpy()
    half = np.sqrt((np.abs(values.astype(np.complex128)) ** 2).mean(0))
    whole = _whole(half, columns) / (_window_sum(rows) * _window_sum(columns))
    least = _ROUNDING * float(whole.max())
    logs = np.log(np.maximum(whole, max(least, 1e-30)))
    radii = min(_AROUND, rows // 8), min(_AROUND, columns // 8)
    around = box(gpu, gpu.array(logs[None].astype(np.float32)), Box(radii, "wrap")).numpy()[0]
    stands_out = (logs[:, : columns // 2 + 1] > around[:, : columns // 2 + 1] + log(LEAST_RATIO)) & (
        whole[:, : columns // 2 + 1] > least
    )
    places = np.argwhere(stands_out)
    order = np.argsort(-whole[tuple(places.T)], kind="stable")
    waves: list[tuple[Peak, tuple[int, int]]] = []
    for row, column in places[order]:
        at = int(row), int(column)
        least_told = sorted(peak.amplitude for peak, _ in waves)[-count] if len(waves) >= count else 0.0
        if _MOST_GAIN * whole[at] < least_told:
            break
        if _is_peak(whole, at) and not any(_is_ripple(whole, at, other) for _, other in waves):
            waves.append((_peak(whole, at), at))
    return sorted((peak for peak, _ in waves), key=lambda peak: -peak.amplitude)[:count]


def _whole(half: Array, columns: int) -> Array:
    """Returns the absolute values of a real image's whole spectrum, from half of them."""
    rest = np.roll(half[::-1], 1, 0)[:, 1 : (columns + 1) // 2][:, ::-1]
    return np.concatenate([half, rest], 1)


def _window_sum(n: int) -> float:
    return n / 2 if n > 1 else 1.0


def _signed(k: int, n: int) -> int:
    return k - n if 2 * k > n else k


def _is_peak(whole: Array, at: tuple[int, int]) -> bool:
    """Says whether a value is the largest near it, away from frequency 0, and the listed one of a mirrored pair."""
    rows, columns = whole.shape
    y, x = _signed(at[0], rows), _signed(at[1], columns)
    if max(abs(y), abs(x)) <= _NEAR:
        return False
    if (x == 0 or 2 * x == columns) and y < 0:
        return False
    near = range(-_NEAR, _NEAR + 1)
    block = whole[np.ix_([(at[0] + d) % rows for d in near], [(at[1] + d) % columns for d in near])]
    return bool(whole[at] >= block.max())


def _is_ripple(whole: Array, at: tuple[int, int], other: tuple[int, int]) -> bool:
    """Says whether a value may be a ripple that the window makes around a stronger one, or around its mirror image."""
    for sign in (1, -1):
        share = 2.0
        for here, there, n in zip(at, other, whole.shape, strict=True):
            apart = (here - sign * there) % n
            d = min(apart, n - apart) - 0.5  # the stronger one lies up to half a place nearer
            share *= 1.0 if d < 1.5 else 1 / (pi * d * (d * d - 1))
        if whole[at] < share * whole[other]:
            return True
    return False


def _peak(whole: Array, at: tuple[int, int]) -> Peak:
    rows, columns = whole.shape
    offsets, gain = [], 1.0
    for axis, n in enumerate(whole.shape):
        d = _offset(whole, at, axis) if n >= 8 else 0.0
        offsets.append(d)
        # The transform of the window, relative to its peak.
        gain *= sin(pi * d) / (pi * d) / (1 - d * d) if d else 1.0
    y, x = _signed(at[0], rows) + offsets[0], at[1] + offsets[1]
    alone = all(2 * k % n == 0 for k, n in zip(at, whole.shape, strict=True))  # it is its own mirror image
    fx, fy = min(x / columns, 0.5), max(-0.5, min(y / rows, 0.5))
    amplitude = float(whole[at]) / gain * (1 if alone else 2)
    angle = degrees(atan2(-fy, fx))
    angle += 180 * (angle <= -90)
    return Peak((x, y), (fx, fy), 1 / hypot(fx, fy), angle + 0.0, amplitude)


def _offset(whole: Array, at: tuple[int, int], axis: int) -> float:
    """Returns the distance of the component from its largest value along an axis, −0.5 to 0.5."""

    def beside(step: int) -> float:
        place = list(at)
        place[axis] = (place[axis] + step) % whole.shape[axis]
        return float(whole[tuple(place)])

    before, after = beside(-1), beside(1)
    ratio = max(before, after) / float(whole[at])
    offset = (2 * ratio - 1) / (ratio + 1)
    return max(0.0, min(offset, 0.5)) * (1 if after > before else -1)


# The codes of what is drawn: nothing, black and white.
_NONE, _DARK, _LIGHT = 0, 128, 255
# Pixels of a picture's shorter side for each pixel of a letter's height, and the least height.
_SIDE, _LEAST = 45, 9
# -- Rings around peaks, and axes, in pictures of spectra --------------------------------------------------------

# The distance of an axis's marks, in cycles per pixel.
_STEP = 0.1


def annotated(
    planes: npt.NDArray[Any], middle: tuple[int, int], components: Sequence[Peak], *, axes: bool
) -> npt.NDArray[Any]:
    """Returns the picture of a spectrum with a numbered ring around each peak and its mirror image, and axes.

    ``planes``: (planes, rows, columns) of 0 … 1, with frequency 0 at ``middle``. What is drawn is white with a black
    outline. The marks of axes are in cycles per pixel.
    """
    _, rows, columns = planes.shape
    ink = Pillow.new("L", (columns, rows), _NONE)
    draw = ImageDraw.Draw(ink)
    draw.fontmode = "1"  # letters without shades
    size = max(min(rows, columns) // _SIDE, _LEAST)
    font = ImageFont.load_default(size)
    if axes:
        _draw_axes(draw, (rows, columns), middle, font, size)
    for number, peak in enumerate(components, 1):
        for sign in (1, -1):
            x, y = (
                (round(sign * f * n) + at) % n
                for f, at, n in zip(peak.frequency, middle[::-1], (columns, rows), strict=True)
            )
            for radius, code in ((size + 1, _DARK), (size - 1, _DARK), (size, _LIGHT)):
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=code)
            if sign == 1:
                _write(draw, (x, y), str(number), font, size, (rows, columns))
    codes = np.asarray(ink)
    result = np.where(codes >= (_DARK + _LIGHT) // 2, np.float32(1), planes)
    return np.where((codes >= _DARK // 2) & (codes < (_DARK + _LIGHT) // 2), np.float32(0), result)


def _draw_axes(
    draw: ImageDraw.ImageDraw, shape: tuple[int, int], middle: tuple[int, int], font: Any, size: int
) -> None:
    """Draws both axes through frequency 0, with marks."""
    rows, columns = shape
    y, x = middle
    for at, code in ((-1, _DARK), (1, _DARK), (0, _LIGHT)):
        draw.line((0, y + at, columns, y + at), code)
        draw.line((x + at, 0, x + at, rows), code)
    mark = size // 2
    # The first mark that has room for its text, on axes of whatever length.
    steps = np.arange(1, 6) * _STEP
    for axis, n in ((0, columns), (1, rows)):
        often = 1 if _STEP * n >= 4 * size else 2 if 2 * _STEP * n >= 4 * size else 4
        for f in (sign * step for step in steps[often - 1 :: often] for sign in (1, -1)):
            place = (x if axis == 0 else y) + round(float(f) * n)
            if not 0 <= place < n:
                continue
            px, py = (place, y) if axis == 0 else (x, place)
            ends = (px, py - mark, px, py + mark) if axis == 0 else (px - mark, py, px + mark, py)
            draw.line(ends, _LIGHT, 1)
            _write(draw, (px, py), f"{f:.1f}", font, mark, shape)


def _write(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, font: Any, away: int, shape: tuple[int, int]
) -> None:
    """Writes a text to the right of a place and below it, or on the side that has room."""
    _, _, right, bottom = draw.textbbox((0, 0), text, font=font, stroke_width=1)
    x = at[0] + away if at[0] + away + right < shape[1] else at[0] - away - right
    y = at[1] + away if at[1] + away + bottom < shape[0] else at[1] - away - bottom
    draw.text((x, y), text, _LIGHT, font, stroke_width=1, stroke_fill=_DARK)
