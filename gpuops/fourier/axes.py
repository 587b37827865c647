"""The spectrum of an image axis by axis: some rows at a time, and then some columns at a time.

This is for devices that have no room for a whole transform. Each function does the part of
:mod:`gpuops.fourier.spectrum` for one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..image import COMPLEX_HALF, Image, Part
from ..params.fft import SpectrumParams
from ..tiles.rectangles import cut
from .api import problem_of
from .engine.problem import Problem
from .engine.transform import plan
from .spectrum import check_finite, multiply, unweighed, weighed

if TYPE_CHECKING:
    from ..gpu import Gpu

Size = tuple[int, int]
Shape = tuple[int, int, int]


def stored(params: SpectrumParams) -> np.dtype[np.generic]:
    """The type of a spectrum's numbers."""
    kinds = {"half": COMPLEX_HALF, "single": np.dtype(np.complex64), "double": np.dtype(np.complex128)}
    return kinds[params.precision]


def width(transform: Size, params: SpectrumParams) -> int:
    """The columns of a spectrum over ``transform`` (rows, columns)."""
    return transform[1] // 2 + 1 if params.half else transform[1]


def of_rows(gpu: Gpu, image: Image, transform: Size, params: SpectrumParams) -> Image:
    """Window, and transform of rows: planar float32 → (planes, rows, columns of the spectrum).

    The image's ``part`` says which rows of a picture it has.
    """
    return plan(gpu, along(image.shape, transform, params))(weighed(gpu, image, params))


def of_columns(gpu: Gpu, panel: Image, first: int, transform: Size, params: SpectrumParams) -> Image:
    """Transform of columns, padded with zeros, filter and mask: columns of a spectrum from ``first`` on.

    Raises ParameterError for NaN or infinite pixels, which a transform spreads over everything.
    """
    planes, _, columns = panel.shape
    shape = planes, transform[0], columns
    values = plan(gpu, down(panel.shape, shape, transform[0], params, inverse=False))(panel)
    if first == 0 and values.dtype != COMPLEX_HALF:  # halves have a smaller range
        check_finite(values)
    multiply(gpu, values, transform, params.filter, params.mask, transform, first)
    return values


def columns_back(gpu: Gpu, panel: Image, rows: int, params: SpectrumParams) -> Image:
    """Inverse transform of columns of a spectrum; only the first ``rows`` rows are wanted."""
    planes, points, columns = panel.shape
    return plan(gpu, down(panel.shape, (planes, rows, columns), points, params, inverse=True))(panel)


def rows_back(
    gpu: Gpu, values: Image, columns: int, wanted: int, params: SpectrumParams, *, first: int, height: int
) -> Image:
    """Inverse transform of rows ``first``, … of a picture of ``height`` rows, divided by the window: planar float32.

    The transform has ``columns`` points, the picture ``wanted`` columns.
    """
    image = plan(gpu, along_back(values.shape, columns, params))(values)
    if wanted < columns:
        image = cut(image, (0, 0), (image.shape[1], wanted))
    if params.window != "none":
        image.part = Part(first, height)
    return unweighed(gpu, image, params)


def down(given: Sequence[int], made: Shape, points: int, params: SpectrumParams, *, inverse: bool) -> Problem:
    """The transform of columns of ``points``: arrays of the shape ``given`` become arrays of the shape ``made``."""
    return problem_of(params, "c2c", 1, given, made, (points, made[2]), inverse=inverse, down=True)


def along(shape: Sequence[int], transform: Size, params: SpectrumParams) -> Problem:
    """The transform of rows of a real image."""
    planes, rows, _ = shape
    made = planes, rows, width(transform, params)
    return problem_of(params, "r2c", 1, shape, made, (rows, transform[1]))


def along_back(shape: Sequence[int], columns: int, params: SpectrumParams) -> Problem:
    """The inverse transform of rows of a spectrum of this shape, over ``columns`` points, whose result is real."""
    planes, rows, _ = shape
    kind, made = "c2r" if params.half else "c2c", (planes, rows, columns)
    return problem_of(params, kind, 1, shape, made, (rows, columns), inverse=True, reals=not params.half)
