"""The Wiener filter, which undoes a known blur, as products of spectra.

A picture in its surroundings is periodic. These are its mirror images, blurred: the filter expects that all it is given
was blurred, in one direction. It rings where that is not so, such as at a step, or where motion is mirrored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..fourier import axes, irfft2, rfft2
from ..fourier.engine.problem import Problem
from ..fourier.engine.radices import next_fast_size
from ..fourier.engine.transform import plan
from ..fourier.of_pixels import back
from ..fourier.products import PARAMS, surrounded
from ..gpu import Argument, Gpu
from ..image import Image
from ..operation import Spectral
from ..tiles.rectangles import paste
from .point_spread import weights

if TYPE_CHECKING:
    from ..ops.deconvolve import DeconvolveParams

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]

#: How many of the blur's whole widths there are between an image's end and its beginning, where it goes around.
_GAP = 4


def wiener(gpu: Gpu, image: Image, params: DeconvolveParams) -> Image:
    """Restores every plane of a planar float32 Image."""
    _, rows, columns = image.shape
    filter_ = spectral(gpu, (image.shape[0], rows, columns), params)
    assert filter_.place is not None
    blur, restore = filter_.products
    spectrum = rfft2(gpu, surrounded(gpu, image, filter_.size))
    blur(gpu, spectrum, 0)
    around = irfft2(gpu, spectrum, filter_.size)
    paste(around, image, filter_.place)
    spectrum = rfft2(gpu, around)
    restore(gpu, spectrum, 0)
    del around
    return back(gpu, spectrum, (rows, columns), filter_.size, PARAMS)


def spectral(gpu: Gpu, shape: Shape, params: DeconvolveParams) -> Spectral:
    """Returns the filter of planes of this shape: their surroundings are blurred, and then all is restored."""
    _, rows, columns = shape
    y, x = params.blur().radii
    high, wide = 2 * y + 1, 2 * x + 1
    size = next_fast_size(rows + _GAP * high, columns + _GAP * wide)
    blur = _Blur(params, size)
    # The blur is centred at its corner, so what it blurs has moved by its middle; the filter moves it back.
    return Spectral(
        size, (blur.times, blur.restored), place=(y, x), bytes_per_column=blur.bytes_per_column(gpu, high),
        fixed_bytes=8.0 * high * (size[1] // 2 + 1),
    )  # fmt: skip


class _Blur:
    """A blur as a product of spectra over ``size`` (rows, columns)."""

    def __init__(self, params: DeconvolveParams, size: tuple[int, int]) -> None:
        self.params, self.size = params, size
        self._rows: Array | None = None

    def times(self, gpu: Gpu, values: Image, first: int) -> None:
        """Multiplies columns of half spectra by the blur's."""
        _, rows, columns = values.shape
        _launch(gpu, "blur", values, self._columns(gpu, first, columns), rows, columns)

    def restored(self, gpu: Gpu, values: Image, first: int) -> None:
        """Applies the Wiener filter to columns of half spectra."""
        _, rows, columns = values.shape
        transfer, params = self._columns(gpu, first, columns), self.params
        _launch(
            gpu, "wiener", values, transfer, rows, columns, first, self.size[1], params.balance,
            LAPLACIAN=params.reg == "laplacian",
        )  # fmt: skip

    def bytes_per_column(self, gpu: Gpu, high: int) -> float:
        """Returns the bytes on the device that a column of the blur's spectrum takes while it is made."""
        return axes.peak(gpu, self._down(high, axes.SEVERAL)) / axes.SEVERAL

    def _columns(self, gpu: Gpu, first: int, count: int) -> Image:
        """Returns columns of the blur's half spectrum. Its rows are transformed the first time."""
        if self._rows is None:
            spread = np.asarray(weights(self.params.blur()), np.float32)[None]
            _, high, wide = spread.shape
            along = axes.along((1, high, wide), (high, self.size[1]), PARAMS)
            self._rows = plan(gpu, along)(gpu.array(spread)).numpy()
        panel = np.ascontiguousarray(self._rows[:, :, first : first + count])
        return plan(gpu, self._down(panel.shape[1], count))(gpu.array(panel))

    def _down(self, high: int, count: int) -> Problem:
        rows = self.size[0]
        return axes.down((1, high, count), (1, rows, count), rows, PARAMS, inverse=False)


def _launch(gpu: Gpu, name: str, values: Image, transfer: Image, *args: Argument, **defines: bool) -> None:
    """Launches a kernel of deconvolve.cl on half spectra."""
    gpu.compute(
        "deconvolve", f"deconvolve_{name}", values.shape[::-1], values, transfer, *args, group=64,
        label=f"deconvolve {name}", traffic=2 * values.nbytes, **defines,
    )  # fmt: skip
