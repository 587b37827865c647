"""The bilateral filter of a plane on a coarse grid, for wide windows: launches of bilateral_grid.cl."""

from __future__ import annotations

import math
from dataclasses import replace

from ..errors import ParameterError
from ..gpu import Gpu, Local
from ..image import Image
from ..metrics.statistics import statistics
from ..params.blur import BlurParams
from ..records import dataclass
from .blur import blur

# Cells in a spatial sigma, about. With 2 cells and 2 bins errors are three times as large, with the papers' 1
# and 1 ten times (measured).
_CELLS = 4
# Bins in a sigma of values.
_BINS = 3
# Bins of the grid, at most.
_MOST_BINS = 4096
# Pixels of a cell's side, at most: splat can count no more than its square.
_MOST_CELL = 480
# Work-items of a group.
_ITEMS = 64
# Bins of a work-item, at least.
_LEAST_DEPTH = 16
# Bytes of local memory of a group, at most.
_MOST_LOCAL = 32768


@dataclass(frozen=True)
class Grid:
    """The places of a grid's cells, over (value, row, column).

    Attributes
    ----------
    cell
        Width of a cell in pixels.
    rows, columns, bins
        The numbers of cells; the first and last row and column are beyond the image.
    lowest, per_unit
        The value at the first bin's middle, and the number of bins for a unit of value.
    sigma
        The σ by which the grid is blurred, in cells and in bins: summing up and reading between cells blur as well.
    """

    cell: int
    rows: int
    columns: int
    bins: int
    lowest: float
    per_unit: float
    sigma: tuple[float, float]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the cells: sums of weights, and of weights times values, for each bin."""
        return 2 * self.bins, self.rows, self.columns

    @classmethod
    def of(
        cls, size: tuple[int, ...], sigma_spatial: float, sigma_color: float, lowest: float, highest: float
    ) -> Grid:
        """Returns the grid for planes of ``size`` (height, width) with values ``lowest`` … ``highest``."""
        for name, value, least in (
            ("sigma_spatial", sigma_spatial, 1.0),
            ("sigma_color", sigma_color, 1e-20),
        ):
            if not least <= value <= 1e20:
                raise ParameterError(f"a bilateral grid's {name} must be {least:g} … 1e+20, not {value}")
        sigma_spatial = min(sigma_spatial, 16.0 * max(size))  # beyond it all weights are 0.998 at least
        # A cell is a whole number of pixels wide, so that all cells are alike.
        cell = min(math.ceil(min(sigma_spatial, max(size)) / _CELLS), _MOST_CELL)
        rows, columns = (-(-n // cell) + 2 for n in size)
        per_unit = _BINS / sigma_color
        if not (highest - lowest) * per_unit <= _MOST_BINS - 2:
            raise ParameterError(
                f"sigma_color {sigma_color:g} is too small for values {lowest:g} … {highest:g}: "
                f"{(highest - lowest) * _BINS / _MOST_BINS:.3g} is the least for a bilateral grid"
            )
        # These are the variances of a cell's pixels and of the interpolation between cells; bins have 1/6 for each.
        places = [(i + 0.5) / cell for i in range(cell)]
        within = sum((p - 0.5) ** 2 for p in places) / cell
        between = sum(f * (1 - f) for f in ((p + 0.5) % 1 for p in places)) / cell
        space = (sigma_spatial / cell) ** 2 - within - between
        return cls(
            cell, rows, columns, int((highest - lowest) * per_unit) + 2, lowest, per_unit,
            (math.sqrt(space), math.sqrt(_BINS**2 - 1 / 3)),
        )  # fmt: skip


def bilateral(
    gpu: Gpu,
    image: Image,
    sigma_color: float,
    sigma_spatial: float,
    *,
    span: tuple[float, float] | None = None,
    overwrite_input: bool = False,
) -> Image:
    """Applies the bilateral filter to one plane, for a sigma_spatial too large for :mod:`gpuops.filters.bilateral`'s
    windows.

    Weights are Gaussians without a window's edge; pixels beyond the image weigh nothing. Values that are not finite
    have no weight, and stay. Within 0.1 sigma_color of the filter's definition, and 0.004 in the mean of squares
    (photographs' logarithms); the same bits on every run on a device.

    Parameters
    ----------
    image : Image (1, height, width) float32
    sigma_color, sigma_spatial : float
        Standard deviations of the differences of values and of places; the latter is 1 pixel at least. The time hardly
        depends on them.
    span : (float, float), optional
        The least and the largest finite value, where they are known: this saves a reading pass.
    overwrite_input : bool
        The result takes the input's memory.

    Returns
    -------
    Image (1, height, width). Memory beside it: two grids of 8 bytes a cell, about 4/sigma_spatial cells a pixel along
    both axes and 3/sigma_color along values.

    Raises
    ------
    ParameterError
        More planes than one, a sigma out of range, a sigma_color of less than 1/1365 of the values' range.
    """
    if image.shape[0] != 1:
        raise ParameterError(f"a bilateral grid is of one plane, not of {image.shape[0]}")
    result = image if overwrite_input else image.like()
    if span is None:
        measured = statistics(gpu, image, histogram=False)
        span = measured.minimum, measured.maximum
    if math.isnan(span[0]):  # no value is finite
        if not overwrite_input:
            result.put(slice(0, 1), image)
        return result
    grid = Grid.of(image.shape[1:], sigma_spatial, sigma_color, *span)
    cells = gpu.zeros(grid.shape)
    splat(gpu, image, grid, cells)
    slice_(gpu, image, grid, blurred(gpu, cells, grid), result)
    return result


def slice_(gpu: Gpu, image: Image, grid: Grid, cells: Image, result: Image) -> None:
    """Reads the result of each pixel of a plane, which may be a part of a picture, between blurred cells."""
    height, width = image.shape[1:]
    gpu.compute(
        "bilateral_grid", "slice", (width, height), image, cells, result, _start(image), height, width, grid.cell,
        grid.rows, grid.columns, grid.bins, grid.lowest, grid.per_unit, group=(32, 8), label="bilateral grid slice",
        traffic=2 * image.nbytes,
    )  # fmt: skip


def _start(image: Image) -> int:
    """Returns the picture's row that is the first of an Image."""
    return 0 if image.part is None else image.part.first


def splat(gpu: Gpu, image: Image, grid: Grid, cells: Image) -> None:
    """Adds the pixels of a plane, which may be a part of a picture, to the cells of a grid, which begin as zeros."""
    height, width = image.shape[1:]
    kernel = gpu.kernel("bilateral_grid", "splat")
    (items, _, _) = kernel.fit(_ITEMS, 1, 1)
    floats = min(_MOST_LOCAL, gpu.limits.local_bytes) // 8
    while floats // items < min(grid.bins, _LEAST_DEPTH) and items > 1:
        items //= 2
    depth = min(grid.bins, floats // items)
    gpu.launch(
        kernel, (grid.columns, grid.rows, -(-grid.bins // depth)), image, cells, _start(image), height, width,
        grid.cell, grid.rows, grid.columns, grid.bins, depth, grid.lowest, grid.per_unit, Local(8 * depth * items),
        local=(items, 1, 1), label="bilateral grid splat",
    )  # fmt: skip


def blurred(gpu: Gpu, cells: Image, grid: Grid) -> Image:
    """Blurs a grid's cells, in their own memory, along rows and columns, then along bins.

    The bins are the rows of a plane with all cells as its columns.

    It uses direct sums alone, so that no weight becomes negative beside one that is thousands of times as large.
    """
    by_sums = BlurParams(border="constant", method="direct" if gpu.limits.is_cpu else "local")
    space, value = grid.sigma
    cells = blur(gpu, cells, replace(by_sums, sigma=(space, space)), overwrite_input=True)
    flat = Image(gpu, cells.buffer, (2, grid.bins, grid.rows * grid.columns), cells.dtype)
    return blur(gpu, flat, replace(by_sums, sigma=(value, 0.0)), overwrite_input=True)
