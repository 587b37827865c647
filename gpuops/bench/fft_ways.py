"""The variants of ``clpix bench fft``: forward and inverse transforms of the same data in several forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import fourier as fft
from ..fourier import of_pixels
from ..fourier.engine.problem import Pixels, Problem
from ..fourier.engine.transform import plan
from ..gpu import Gpu
from ..image import COMPLEX_HALF, Image
from ..params.fft import FftParams, SpectrumParams
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..records import dataclass

# The form of data with a plane of complex numbers for each channel.
PLANES = "planes"
# The form without the last channel, an alpha that nobody uses.
LESS = "one channel less"
# The form with pixels of complex numbers.
INTERLEAVED = "interleaved"
# The form with pixels of real numbers, two of which are one complex number.
PAIRS = "pairs"
# The form with planes of real numbers: the first pass reads no imaginary parts, which are 0.
ZEROS = "zeros not read"
# The form with planes of real numbers, of whose spectra only one half is made.
REAL = "real"
# The form with pixels that kernels of their own convert from and to planes of real numbers.
CONVERTED = "converted"
# The form with pixels that the first and the last pass convert.
PIXELS = "read and written"


@dataclass(frozen=True)
class Variant:
    """A way to compute: its parameters, the form of its data (see above), whether numbers are stored in halves, and the
    type of pixels."""

    params: FftParams
    form: str = PLANES
    half: bool = False
    dtype: str = ""

    def planes(self, channels: int) -> int:
        """Returns how many planes of complex numbers are transformed."""
        return {LESS: channels - 1, PAIRS: (channels + 1) // 2}.get(self.form, channels)


# The parameters by which the library chooses all by itself.
AUTO = FftParams()
# The largest radices of the transforms in local memory that are subdivided, or not.
_RADICES = ("4", "8", "16", "32")
# The variants by name. A star marks subdivided butterflies.
VARIANTS = {
    "UAV R2, table": Variant(FftParams("global", "2", "table")),
    "UAV R2, computed": Variant(FftParams("global", "2", "compute")),
    "SLM R2, table": Variant(FftParams("local", "2", "table")),
    "SLM R2, computed": Variant(FftParams("local", "2", "compute")),
    **{f"SLM R{n}": Variant(FftParams("local", n, "table", "direct")) for n in _RADICES},
    **{f"SLM R{n}*": Variant(FftParams("local", n, "table")) for n in _RADICES},
    "mixed (auto)": Variant(AUTO),
    "SLM R16*, half storage": Variant(FftParams("local", "16", "table"), half=True),
    "mixed, half storage": Variant(AUTO, half=True),
    "mixed, zeros not read": Variant(AUTO, ZEROS),
    "mixed, without alpha": Variant(AUTO, LESS),
    "mixed, interleaved": Variant(AUTO, INTERLEAVED),
    "mixed, pairs": Variant(AUTO, PAIRS),
    "mixed, pairs, half storage": Variant(AUTO, PAIRS, half=True),
    "mixed, real": Variant(AUTO, REAL),
    "mixed, uint8 converted": Variant(AUTO, CONVERTED, dtype="uint8"),
    **{f"mixed, {dtype}": Variant(AUTO, PIXELS, dtype=dtype) for dtype in ("uint8", "uint16", "float16")},
}


def variants(channels: int, form: str = PLANES, *, half: bool = False) -> dict[str, Variant]:
    """Returns the variants for images of ``channels`` channels: with 2 or 4 channels the last one can be alpha.

    With another ``form`` of data or storage, these are the documents' own variants on such data.
    """
    if form == PLANES and not half:
        return {n: variant for n, variant in VARIANTS.items() if variant.form != LESS or channels in (2, 4)}
    return {
        name: replace(variant, form=form, half=half)
        for name, variant in VARIANTS.items()
        if variant.form == PLANES and not variant.half
    }


def data_of(variant: Variant, values: npt.NDArray[np.complex64]) -> npt.NDArray[np.generic]:
    """Returns a variant's complex numbers as they are stored, in planes or in pixels."""
    if variant.form in (INTERLEAVED, PAIRS):
        values = _pixels(values, variant.form)
    else:
        values = values[: variant.planes(len(values))]
    return _stored(values, variant.half)


@dataclass(frozen=True)
class Way:
    """A source on the device, its transform (norm "ortho"), and the transform back."""

    source: Image
    there: Callable[[Image], Image]
    back: Callable[[Image], Image]


def way(gpu: Gpu, variant: Variant, values: npt.NDArray[np.complex64]) -> Way:
    """Makes a variant's data from ``values`` (channels, height, width) or from their real parts.

    Pixels are made from real parts that are clipped to 0 … 1 and rounded to the pixels' type.
    """
    form, how = variant.form, {"norm": "ortho", "params": variant.params}
    if form in (CONVERTED, PIXELS):
        return _of_pixels(gpu, variant, values)
    source = gpu.array(values.real if form in (REAL, ZEROS) else data_of(variant, values))
    size = values.shape[1:]
    if form == REAL:
        return Way(source, partial(fft.rfft2, gpu, **how), partial(fft.irfft2, gpu, s=size, **how))
    problems = (_problem(variant, variant.planes(len(values)), *size, inverse=way) for way in (False, True))
    return Way(source, *(plan(gpu, problem) for problem in problems))


def _pixels(values: npt.NDArray[np.complex64], form: str) -> npt.NDArray[np.complex64]:
    """Returns pixels (height, width, planes) of complex numbers; for PAIRS each joins two channels' real parts.

    With an odd number of channels the last one is joined with zeros.
    """
    if form == PAIRS:
        firsts, seconds = values.real[::2], np.zeros_like(values.real[::2])
        seconds[: len(values) // 2] = values.real[1::2]
        values = firsts + np.complex64(1j) * seconds
    return np.ascontiguousarray(np.moveaxis(values, 0, -1))


def _stored(values: npt.NDArray[np.complex64], half: bool) -> npt.NDArray[np.generic]:
    if not half:
        return values
    halves = np.empty(values.shape, COMPLEX_HALF)
    halves["real"], halves["imag"] = values.real, values.imag
    return halves


def _problem(variant: Variant, planes: int, height: int, width: int, *, inverse: bool) -> Problem:
    """A complex transform."""
    whole, scale = (planes, height, width), 1 / float(np.sqrt(height * width))
    return Problem(
        "c2c", 2, whole, whole, (height, width), inverse, scale, False, variant.params, half=variant.half,
        reals=variant.form == ZEROS and not inverse, interleaved=variant.form in (INTERLEAVED, PAIRS),
    )  # fmt: skip


def _of_pixels(gpu: Gpu, variant: Variant, values: npt.NDArray[np.complex64]) -> Way:
    dtype = np.dtype(variant.dtype)
    largest = np.iinfo(dtype.name).max if dtype.kind == "u" else 1
    light = np.clip(np.moveaxis(values.real, 0, -1), 0, 1)
    source = gpu.array((light * largest + 0.5 * (dtype.kind == "u")).astype(dtype))
    size, encoding, params = (source.shape[0], source.shape[1]), Encoding(dtype), variant.params
    if variant.form == CONVERTED:
        how: dict[str, Any] = {"norm": "ortho", "params": params}
        return Way(
            source,
            lambda pixels: fft.rfft2(gpu, unpack(pixels, Decoding()), **how),
            lambda spectra: pack(fft.irfft2(gpu, spectra, s=size, **how), encoding)[0],
        )
    target, halves = Pixels(dtype.name, source.shape[2], encoding=encoding), SpectrumParams(how=params)
    lost = gpu.zeros((2,), np.uint32)
    return Way(
        source,
        partial(fft.rfft2_of_pixels, gpu, norm="ortho", params=params),
        lambda spectra: of_pixels.back(gpu, spectra, size, size, halves, target, lost=lost),
    )


def predicted_share(variant: Variant, item: int) -> float:
    """Returns how much of the bytes of both axes, forward and inverse, a variant's form has to move by the formulas.

    ``item``: bytes of a real number.

    By the documents' formulas all bytes are 16 textures of real or imaginary parts: the first pass reads two, the last
    one writes two. A real form has one at either end. Pixels have their own bytes there, and kernels that convert them
    read and write pixels and planes once more.
    """
    pixel = np.dtype(variant.dtype).itemsize / item if variant.dtype else 0.0
    textures = {ZEROS: -1.0, REAL: -2.0, CONVERTED: -2 + 2 * (1 + pixel), PIXELS: -4 + 2 * pixel}
    return 1 + textures.get(variant.form, 0.0) / 16
