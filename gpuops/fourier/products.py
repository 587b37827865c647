"""Filters as products of spectra, axis by axis: some rows of a picture at a time, and then some columns at a time.

Each function does the device's part of one sweep of a :class:`~gpuops.operation.Spectral` filter. What is beyond an
image's edges, the transform of a whole image makes itself as it reads, where it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TooLongError
from ..gpu import Gpu
from ..image import Image
from ..params.border import define
from ..params.fft import SpectrumParams
from ..tiles.memory import ROUNDED, no_room
from ..tiles.rectangles import paste
from . import axes
from .api import DEFAULT, rfft2
from .engine.problem import Problem, Surroundings
from .engine.transform import plan

if TYPE_CHECKING:
    from ..operation import Spectral

Shape = tuple[int, int, int]
Size = tuple[int, int]

#: The transforms of a filter: half spectra, with the factor on the way back.
PARAMS = SpectrumParams("backward")
# Copies of a row of planes beside its transforms: before they begin, joined with alpha, and finished.
_ROWS = 3


def surrounded(gpu: Gpu, image: Image, size: Size) -> Image:
    """Returns planes of float32 or complex64 amid their mirror images, of ``size``: see :class:`Spectral`."""
    planes, rows, columns = image.shape
    if (rows, columns) == size:
        return image
    result = image.like((planes, *size))
    values = image.dtype.itemsize // 4
    gpu.compute(
        ("border", "surround"), "surround", (size[1] * values, size[0], planes), image, result, rows, columns, size,
        group=64, label="surround", VALUES=values, **define("reflect"),
    )  # fmt: skip
    return result


def rfft2_bordered(gpu: Gpu, image: Image, border: str) -> Image:
    """Returns half the spectrum, not scaled, of a planar float32 Image that is continued by a ``border``.

    ``wrap``: the image repeats; complex64 (planes, rows, columns // 2 + 1). ``reflect``: it is mirrored, over twice as
    many rows and columns; the image is the first half of both.
    """
    planes, rows, columns = image.shape
    size, around = (rows, columns), None
    if border == "reflect":
        size, around = (2 * rows, 2 * columns), Surroundings("reflect", 0.0, (rows, columns))
    out = planes, size[0], size[1] // 2 + 1
    problem = Problem("r2c", 2, (planes, rows, columns), out, size, False, 1.0, False, DEFAULT, around)
    try:
        return plan(gpu, problem)(image)
    except TooLongError:  # rows that need several passes, such as those with large prime factors
        if around is None:
            raise
        return rfft2(gpu, surrounded(gpu, image, size))


def rows_of(gpu: Gpu, image: Image, spectral: Spectral) -> Image:
    """Returns the transform of rows, and of what is beside them: float32 → complex64 (planes, rows, columns)."""
    image = surrounded(gpu, image, (image.shape[1], spectral.size[1]))
    return plan(gpu, axes.along(image.shape, (image.shape[1], spectral.size[1]), PARAMS))(image)


def columns_of(gpu: Gpu, panel: Image, first: int, spectral: Spectral, number: int, height: int) -> Image:
    """Returns columns of a spectrum, from ``first`` on, after the product of this number, and transformed back.

    The picture has ``height`` rows, which are all that a panel before the first product has, and behind the last one.
    """
    rows = spectral.size[0]
    panel = surrounded(gpu, panel, (rows, panel.shape[2]))
    shape = (panel.shape[0], rows, panel.shape[2])
    values = plan(gpu, axes.down(shape, shape, rows, PARAMS, inverse=False))(panel)
    del panel
    spectral.products[number](gpu, values, first)
    last = number == len(spectral.products) - 1
    return axes.columns_back(gpu, values, height if last else rows, PARAMS)


def rows_replaced(gpu: Gpu, values: Image, picture: Image | None, at: int, spectral: Spectral) -> Image:
    """Returns the transform of rows in which the picture takes its place; ``values`` is the transform of what was made.

    ``picture`` has the picture's rows that belong there, from row ``at`` of the values on.
    """
    assert spectral.place is not None
    columns = spectral.size[1]
    made = axes.rows_back(gpu, values, columns, columns, PARAMS, first=0, height=0)
    if picture is not None:
        paste(made, picture, (at, spectral.place[1]))
    return rows_of(gpu, made, spectral)


def rows_back(gpu: Gpu, values: Image, width: int, spectral: Spectral) -> Image:
    """Returns rows of the result, ``width`` wide: planar float32."""
    return axes.rows_back(gpu, values, spectral.size[1], width, PARAMS, first=0, height=0)


def copies_of_rows(gpu: Gpu, shape: Shape, spectral: Spectral) -> float:
    """Returns the most memory on the device that rows of a picture of this shape take, in copies of their planes."""
    planes, height, width = shape
    surroundings = planes, height, spectral.size[1]
    return _ROWS + axes.row_peak(gpu, surroundings, spectral.size, PARAMS) / (4 * planes * width)


def bytes_of_tables(spectral: Spectral) -> float:
    """Returns the bytes on the device that transforms of both axes, and products, keep."""
    return axes.tables(spectral.size, PARAMS) + spectral.fixed_bytes


def columns_at_once(gpu: Gpu, shape: Shape, spectral: Spectral, nbytes: float) -> int:
    """Returns how many columns go at a time, if a panel of them may take so many bytes of the host's memory.

    ``shape`` is the picture's (planes, height, width). Raises DeviceError if the device has no room for one.
    """
    (rows, columns), limits = spectral.size, gpu.limits
    half = columns // 2 + 1
    peak = axes.column_peak(gpu, rows, spectral.size, PARAMS)
    each = 8 * shape[1] + peak + spectral.bytes_per_column
    tables = bytes_of_tables(spectral)
    fitting = min((limits.global_bytes / ROUNDED - tables) // each, limits.max_alloc_bytes // spectral.column)
    if fitting < 1:
        words = f"columns of a transform of {rows}×{columns} need"
        raise no_room(gpu, words, (tables + each) * ROUNDED)
    most = min(nbytes, axes.ENOUGH) // spectral.column
    return axes.whole_lanes(int(min(half, fitting, max(1, most))))


def rows_at_once(gpu: Gpu, shape: Shape, spectral: Spectral, nbytes: float) -> int:
    """Returns how many rows go at a time before the picture takes its place, if their spectra may take so many bytes of
    the host's memory."""
    planes, _, width = shape
    free = gpu.limits.global_bytes / ROUNDED - bytes_of_tables(spectral)
    each = 4 * planes * width * copies_of_rows(gpu, shape, spectral)
    spectra = 8 * planes * (spectral.size[1] // 2 + 1)
    return max(1, int(min(free // each, min(nbytes, axes.ENOUGH) // spectra)))
