"""Two levels of the lifting transform in one pass, on GPUs: clkernels/wavelets/dwt_two_levels.cl.

This is for floats whose rows can be read by vectors. There are two launches: the first puts aside the samples beyond
the image's edges and the approximations beyond theirs, the second makes all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ceil, prod

import numpy as np

from ..gpu import LATER, Argument, BoundLaunch, Define, Gpu, Kernel
from ..image import Image
from ..params.dwt import DwtParams
from ..records import dataclass
from . import axis
from .level import Aside, Level, Three, in_passes
from .lifting import rows

_PAIRS = 4  # pairs of columns of a work-item, as in dwt_rows.cl
_ITEMS = 96  # work-items of a group that write
# Work-items that run at once on a compute unit; the second for short steps forward.
_THREADS, _MORE_THREADS = 512, 640
# The most pairs that the steps reach, forward and inverse: with more there is room for too few work-items at once.
_MOST_REACH = {False: 4, True: 2}
_LEAST = 12  # the fewest pairs of rows of approximations of a band: in shorter bands too many rows would be read twice
# Samples above which this pays: in smaller images the second level alone takes little time.
_LEAST_SAMPLES = 1 << 24


@dataclass(frozen=True)
class TwoLevels:
    """The level of an image, ``fine``, and that of its approximations, ``coarse``."""

    fine: Level
    coarse: Level

    def prepared(self) -> TwoLevels:
        """These levels, or their equal that was prepared before."""
        return self.gpu.kept(self, lambda: self)

    @property
    def gpu(self) -> Gpu:
        """The device."""
        return self.fine.gpu

    def run(self, image: Image, details: Sequence[Image], coarse: Sequence[Image]) -> None:
        """Reads the image and writes the bands, or the other way round."""
        fine_aside = [image.like(shape) for shape in self.fine.shapes(self._asides[0])]
        coarse_aside = [image.like(shape) for shape in self.coarse.shapes(self._asides[1])]
        margins, levels = self._steps
        if self.fine.inverse:
            margins(*coarse, *details, *coarse_aside, *fine_aside)
        else:
            margins(image, *fine_aside, *coarse_aside)
        levels(image, *details, *coarse, *fine_aside, *coarse_aside)

    @cached_property
    def _asides(self) -> tuple[Aside, Aside]:
        """The samples put aside of the fine and of the coarse level. The inverse's work-items begin with the fine
        level's coefficients."""
        return self.fine.aside(0 if self.fine.inverse else None), self.coarse.aside()

    @cached_property
    def _steps(self) -> tuple[BoundLaunch, BoundLaunch]:
        """The launch that puts samples aside, and the one that makes the rest."""
        assert self.kernel is not None
        fine, coarse = self.fine, self.coarse
        fine_aside, coarse_aside = self._asides
        columns, rows = self._extent
        tiles = ceil(columns / _ITEMS)
        threads = _THREADS if fine.inverse or self._reach > 2 else _MORE_THREADS
        groups = self.gpu.limits.compute_units * (threads // (ceil(self._group / 32) * 32))
        bands = max(1, groups // (tiles * fine.planes))
        band = max(_LEAST, ceil(rows / bands))
        size = self._group
        levels = self.gpu.bind(
            self.kernel, (tiles * size, ceil(rows / band), fine.planes), *[LATER] * 12,
            fine.image, fine.bands, coarse.bands, (fine.first, coarse.first), fine_aside.sides, coarse_aside.sides,
            (fine_aside.start, coarse_aside.start), (fine_aside.above, fine_aside.rows),
            (coarse_aside.above, coarse_aside.rows), band, local=(size, 1, 1), label=fine.label("two levels"),
            traffic=2 * fine.planes * prod(fine.image) * fine.dtype.itemsize,
        )  # fmt: skip
        return self._margins(), levels

    def _margins(self) -> BoundLaunch:
        """The launch that puts aside samples that one level reads, and approximations that the other level reads."""
        levels, asides = (self.fine, self.coarse), self._asides
        (read, other), (aside, other_aside) = (
            (levels[::-1], asides[::-1]) if self.fine.inverse else (levels, asides)
        )
        sources = (
            "border", "dwt_layout", "dwt_beyond", read.steps, "dwt_margins", *rows(1), "dwt_two_margins",
        )  # fmt: skip
        kernel = self.gpu.kernel(sources, "two_margins", **read.defines, **read.border)
        # Of the approximations no more are put aside than the steps read.
        plan = other.lifting
        begin, end = 2 * (other.first - plan.left), 2 * (other.first + other.pairs[1] + plan.right)
        beside = max(other_aside.inside - begin, 0) + max(end - other_aside.outside, 0)
        count = other.read[0] * beside + other_aside.rows * (end - begin)
        samples = sum(prod(shape) for shape in read.shapes(aside)) // read.planes
        what: tuple[Argument, ...] = (*[LATER] * 7,) if read.inverse else (LATER, read.image[1])
        return self.gpu.bind(
            kernel, (count + samples // 4, read.planes), *what, *[LATER] * 4, read.bands, read.image,
            np.uint64(prod(read.image)), read.first, aside.sides, aside.beyond, other.bands, other.image, other.first,
            other_aside.sides, other_aside.beyond, other_aside.start, local=(*kernel.fit(128), 1),
            label=read.label("two margins"), traffic=2 * (count + samples) * read.planes * read.dtype.itemsize,
        )  # fmt: skip

    @cached_property
    def _extent(self) -> tuple[int, int]:
        """The number of work-items along x, and the pairs of rows of approximations, or for the inverse the pairs of
        pairs of the image's rows."""
        fine, coarse = self.fine, self.coarse
        if fine.inverse:
            return ceil((fine.pairs[1] + fine.first) / _PAIRS), ceil(fine.pairs[0] / 2)
        # All pairs of approximations count, and approximations before and behind those that have pairs of their own.
        rows, columns = (max(coarse.pairs[i], ceil(fine.pairs[i] / 2) - coarse.first) for i in range(2))
        return ceil(columns / (_PAIRS // 2)), rows

    @property
    def _reach(self) -> int:
        return self.fine.lifting.left + self.fine.lifting.right

    @property
    def _ghosts(self) -> int:
        """The work-items added at each side of a group, since the columns of the group's own depend on theirs."""
        most = max(self.fine.reach)
        return ceil(most / _PAIRS) + ceil(most / (2 * _PAIRS))

    @property
    def _group(self) -> int:
        return _ITEMS + 2 * self._ghosts

    @cached_property
    def kernel(self) -> Kernel | None:
        """The kernel; None where the device cannot run its groups."""
        limits, edge = self.gpu.limits, sum(self.fine.reach)
        size = self._group
        samples = 4 * (size * 2 * _PAIRS + edge) + 4 * (size * _PAIRS + edge)
        if size > limits.work_group or samples * self.fine.dtype.itemsize > limits.local_bytes:
            return None
        sources = (
            "dwt_layout", self.fine.steps, *rows(_PAIRS, _PAIRS // 2), "dwt_rows", "dwt_two_levels",
        )  # fmt: skip
        defines: dict[str, Define] = {**self.fine.defines, "EDGE": False, "WORDS": True}
        kernel = self.gpu.kernel(sources, "two_levels", **defines, ITEMS=_ITEMS, GHOSTS=self._ghosts)
        fits = kernel.fit(size) == (size,) and kernel.local_bytes <= limits.local_bytes
        return kernel if fits else None

    @cached_property
    def can_be(self) -> bool:
        """Whether two levels in one pass pay, and all rows that are read or written begin where vectors may."""
        fine, coarse, plan = self.fine, self.coarse, self.fine.lifting
        return (
            self._reach <= _MOST_REACH[fine.inverse]
            and all(n % _PAIRS == 0 for n in (fine.image[1], fine.bands[2]))
            and all(n % (_PAIRS // 2) == 0 for n in (coarse.bands[2], fine.first, coarse.first))
            and all(level.bands[2] == level.bands[3] and level.first <= plan.left for level in (fine, coarse))
        )


def fitting(
    gpu: Gpu, params: DwtParams, dtype: np.dtype[np.generic], shape: tuple[int, ...], *, inverse: bool
) -> TwoLevels | None:
    """Two levels of an image (planes, height, width); None if they cannot be done in one pass, or are too small."""
    planes, height, width = shape
    if gpu.limits.is_cpu or not in_passes(params, shape):
        return None
    # Modes that need three approximations for each one beyond an edge are left out.
    if dtype != np.float32 or prod(shape) <= _LEAST_SAMPLES or params.mode in ("antireflect", "smooth"):
        return None
    fine = Level(gpu, params, dtype, planes, (height, width), inverse)
    lows = axis.lengths(params, height)[0], axis.lengths(params, width)[0]
    coarse = Level(gpu, params, dtype, planes, lows, inverse)
    levels = TwoLevels(fine, coarse).prepared()
    return levels if levels.can_be and levels.kernel is not None else None


def forward(image: Image, levels: TwoLevels) -> tuple[Image, list[Three]]:
    """Two levels: cA, [coarse (cH, cV, cD), fine (cH, cV, cD)]."""
    details = levels.fine.details(image)
    coarse = levels.coarse.empty(image)
    levels.run(image, details, coarse)
    return coarse[0], [coarse[1:], details]


def inverse(approximation: Image, coarse: Sequence[Image], fine: Sequence[Image], levels: TwoLevels) -> Image:
    """The image that cA and two levels' cH, cV, cD stand for."""
    image = approximation.like((levels.fine.planes, *levels.fine.image))
    levels.run(image, fine, (approximation, *coarse))
    return image
