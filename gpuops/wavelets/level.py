"""A whole level of the lifting transform in one pass.

On GPUs dwt_margins.cl puts a few samples aside for dwt_level.cl. Small levels go to dwt_tile.cl. So do large levels
forward if their rows are not aligned for vectors. On CPUs dwt_level_wide.cl does everything.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import ceil, prod

import numpy as np

from ..errors import DeviceError
from ..gpu import LATER, Argument, BoundLaunch, Define, GeneratedSource, Gpu, Kernel
from ..image import Image
from ..params.dwt import DwtParams
from ..records import dataclass
from . import axis, extension, tiled_level
from .lifting import Lifting, lifting, macro, rows
from .wavelets import WAVELETS, Wavelet

_PAIRS = 4  # pairs of columns of a work-item, as in dwt_rows.cl
_COLUMNS = 2 * _PAIRS  # columns of a work-item
_ITEMS = 256  # the most work-items of a group
_LEAST_ITEMS = 8  # the fewest work-items of a group
_GROUPS = 2  # groups for each compute unit: as many as run at once
_UNITS = 2  # compute units for each group: with fewer groups the time is that of loads one after the other
# Pairs of columns of a work-item on CPUs: shorter stretches of rows are read half as fast. Narrow images have few.
_NARROW, _WIDE = 64, 2048
_BANDS = 4  # bands for each core
# In place: the largest parts of an image that may be put aside, usually, and if the first part makes too few bands for
# half of the device's compute units. So many bands take the same memory whatever the image's size: small images need
# more.
_ASIDE, _MORE_ASIDE = 0.0195, 0.25
MOST = 2**32  # samples that a plane must stay below: their places are numbers of 32 bits
_LEAST = 8  # the fewest pairs of rows of a band: in shorter bands most rows would be read twice

Shape = tuple[int, int]
Shape3 = tuple[int, int, int]
Three = tuple[Image, Image, Image]  # cH, cV, cD
Four = tuple[Image, Image, Image, Image]  # cA, cH, cV, cD


@dataclass(frozen=True)
class LevelLayout:
    """The places of an image and its coefficients in one buffer, by strips: see dwt_layout.cl.

    ``strip`` and ``run`` are binary logarithms; ``pitch`` is the samples from a row to the next, ``plane`` those from a
    plane to the next.
    """

    strip: int
    run: int
    pitch: int
    plane: int

    def vector(self, width: int) -> tuple[int, int, int, int]:
        """The kernels' argument ``layout``, for an image of ``width`` columns."""
        last = (width - 1) >> self.run
        return self.strip, self.run, last, ceil((width - (last << self.run)) / 2)


@dataclass(frozen=True)
class Aside:
    """The samples of each plane that are put aside: see dwt_margins.cl."""

    start: int
    inside: int
    outside: int
    column_pitch: int
    row_pitch: int
    above: int
    below: int
    rows: int

    @property
    def sides(self) -> tuple[int, int, int, int]:
        """The kernels' argument ``sides``, for columns."""
        return self.inside, self.outside, self.column_pitch, self.row_pitch

    @property
    def beyond(self) -> tuple[int, int, int, int]:
        """The kernels' argument ``beyond``, for rows."""
        return self.above, self.rows, self.above + self.below, 0


@dataclass(frozen=True)
class Level:
    """One level of ``planes`` of an image (height, width), forward or inverse; in place where there is a layout."""

    gpu: Gpu
    params: DwtParams
    dtype: np.dtype[np.generic]
    planes: int
    image: Shape
    inverse: bool
    layout: LevelLayout | None = None

    def prepared(self) -> Level:
        """This level, or its equal that was prepared before: preparing takes ten times as long as launching."""
        return self.gpu.kept(self, lambda: self)

    def run(self, image: Image, coefficients: Four | None = None) -> None:
        """Reads the image and writes the coefficients, or for an inverse the reverse; in place ``image`` is both."""
        if self._whole is not None:
            assert coefficients is not None
            self._whole(image, *coefficients)
            return
        margins, level, *shapes = self._groups
        aside = [image.like(shape) for shape in shapes]
        bands = coefficients or ()
        margins(*(bands if self.inverse and bands else (image,)), *aside)
        level(image, *bands, *aside)

    @property
    def fits(self) -> bool:
        """Whether the device can run the level."""
        return self._whole is not None or self.group is not None

    def empty(self, like: Image) -> Four:
        """Four bands, uninitialised."""
        low_y, _, low_x, _ = self.bands
        return (like.like((self.planes, low_y, low_x)), *self.details(like))

    def details(self, like: Image) -> Three:
        """The bands cH, cV and cD, uninitialised."""
        n, (low_y, high_y, low_x, high_x) = self.planes, self.bands
        return like.like((n, high_y, low_x)), like.like((n, low_y, high_x)), like.like((n, high_y, high_x))

    @cached_property
    def _whole(self) -> BoundLaunch | None:
        """The launch that does everything, for an image and its four bands; None if samples are put aside first."""
        if self.layout is not None:
            return None
        if self.gpu.limits.is_cpu:
            return self._wide()
        nbytes = self.planes * prod(self.image) * self.dtype.itemsize
        if tiled_level.pays(nbytes, inverse=self.inverse, words=self._words) or self.group is None:
            return tiled_level.prepared(self)
        return None

    def _wide(self) -> BoundLaunch:
        """The launch in which each work-item takes a tile."""
        sources = ("border", "dwt_layout", "dwt_beyond", self.steps, "dwt_level_wide")
        wide = _NARROW if self.pairs[1] <= _NARROW else _WIDE
        kernel = self.gpu.kernel(sources, "level_wide", **self.defines, **self.border, PAIRS=wide)
        tiles = -(-self.pairs[1] // wide)
        band = max(
            _LEAST, ceil(self.pairs[0] * tiles * self.planes / (self.gpu.limits.compute_units * _BANDS))
        )
        return self.gpu.bind(
            kernel, (tiles, ceil(self.pairs[0] / band), self.planes), LATER, self.image[1], *[LATER] * 4, self.bands,
            self.image, np.uint64(prod(self.image)), self.first, band, local=(1, 1, 1), label=self.label("level"),
            traffic=self.traffic,
        )  # fmt: skip

    @cached_property
    def _groups(self) -> tuple[BoundLaunch, BoundLaunch, Shape3, Shape3]:
        """Two launches in which work-groups take tiles, and the shapes of the columns and of the rows put aside.

        The first launch puts samples aside; its arguments begin with the input. The second does the rest; its arguments
        begin with the image, and its bands unless they are in place. Both end with the columns and rows put aside.
        """
        kernel, items = self.required_group
        tiles = -(-self.pairs[1] // (items * _PAIRS))
        aside, band = self._divided(tiles, items)
        bands: tuple[Argument, ...] = ()
        if self.layout is None:
            where: tuple[Argument, ...] = (LATER, self.image[1])
            bands = (LATER,) * 4
        else:
            where = (LATER, self.layout.pitch, self.layout.vector(self.read[1]))
        plane = prod(self.image) if self.layout is None else self.layout.plane
        rest = (
            LATER, LATER, self.bands, self.image, np.uint64(plane), self.first, aside.sides, aside.beyond, tiles, band,
        )  # fmt: skip
        sources = ("border", "dwt_layout", "dwt_beyond", self.steps, "dwt_margins")
        margins = self.gpu.kernel(sources, "margins", **self.defines, **self.border, TILE=items * _COLUMNS)
        columns, rows = self.shapes(aside)
        samples = prod(columns) + prod(rows)
        return (
            self.gpu.bind(
                margins, (samples // (4 * self.planes), self.planes), *(bands if self.inverse and bands else where),
                *rest, local=(*margins.fit(128), 1), label=self.label("margins"),
                traffic=2 * samples * self.dtype.itemsize,
            ),
            self.gpu.bind(
                kernel, (tiles * items, ceil(self.pairs[0] / band), self.planes), *where, *bands, *rest,
                local=(items, 1, 1), label=self.label("level"), traffic=self.traffic,
            ),
            columns,
            rows,
        )  # fmt: skip

    def shapes(self, aside: Aside) -> tuple[Shape3, Shape3]:
        """The shapes of the columns and of the rows put aside."""
        return ((self.planes, self.read[0], aside.column_pitch), (self.planes, aside.rows, aside.row_pitch))

    def label(self, what: str) -> str:
        return f"{'i' if self.inverse else ''}dwt {what} {self._wavelet.name}"

    @property
    def traffic(self) -> int:
        return 2 * self.planes * prod(self.image) * self.dtype.itemsize

    @property
    def border(self) -> dict[str, bool]:
        return extension.defines(self._wavelet, self.params.mode, inverse=self.inverse)

    @cached_property
    def bands(self) -> tuple[int, int, int, int]:
        """The numbers of low and high coefficients: along y, then along x."""
        (lows_y, highs_y), (lows_x, highs_x) = (axis.lengths(self.params, n) for n in self.image)
        return lows_y, highs_y, lows_x, highs_x

    @cached_property
    def first(self) -> int:
        """The pair to read that belongs to the first pair to make."""
        if not axis.expansive(self.params):
            return 0
        shift = (1 - self._wavelet.length // 2) // 2
        return -shift if self.inverse else shift

    @cached_property
    def pairs(self) -> Shape:
        """The numbers of pairs to make, along y and x."""
        if self.inverse:
            return ceil(self.image[0] / 2), ceil(self.image[1] / 2)
        return self.bands[0], self.bands[2]

    @cached_property
    def read(self) -> Shape:
        """The height and width of the image that is read, or of the coefficients as one image."""
        return (sum(self.bands[:2]), sum(self.bands[2:])) if self.inverse else self.image

    @property
    def _wavelet(self) -> Wavelet:
        return WAVELETS[self.params.wavelet]

    @cached_property
    def lifting(self) -> Lifting:
        return lifting(self._wavelet, inverse=self.inverse)

    @property
    def steps(self) -> GeneratedSource:
        """The steps, for the kernels."""
        return macro(self.lifting, extension.TYPES[self.dtype.name])

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The columns before and after its own that a work-item reads: multiples of four."""
        return _up(2 * self.lifting.left, 4), _up(2 * self.lifting.right, 4)

    @cached_property
    def defines(self) -> dict[str, Define]:
        before, after = self.reach
        return {
            "S": extension.TYPES[self.dtype.name],
            "INVERSE": self.inverse,
            "STRIPS": self.layout is not None,
            "BEFORE": before,
            "AFTER": after,
            "EDGE": before + after,
            "ROOM": _up(before, _COLUMNS),  # columns put aside before the first ones that are made
        }

    @cached_property
    def _words(self) -> bool:
        """Whether rows are aligned for vectors."""
        *_, lows, highs = self.bands
        place = (self.layout.pitch, (self.planes - 1) * self.layout.plane) if self.layout else ()
        return self.image[1] % 2 == 0 and all(
            n % _PAIRS == 0 for n in (self.image[1] // 2, lows, highs, self.first, *place)
        )

    @cached_property
    def group(self) -> tuple[Kernel, int] | None:
        """The kernel for groups, and the largest that the device can run; None where all are too small."""
        sources = ("dwt_layout", self.steps, *rows(_PAIRS), "dwt_rows", "dwt_level")
        edge, limits = sum(self.reach), self.gpu.limits
        items = _ITEMS
        while items >= max(_LEAST_ITEMS, 2 * edge):  # the work-items fetch the edges of two rows
            # By vectors, local memory has the two rows of this pair and of the next; by samples, two and two finished.
            samples = 4 * items * _COLUMNS + (4 if self._words else 2) * edge
            if items <= limits.work_group and samples * self.dtype.itemsize <= limits.local_bytes:
                kernel = self.gpu.kernel(sources, "level", **self.defines, ITEMS=items, WORDS=self._words)
                if kernel.runs(items):
                    return kernel, items
            items //= 2
        return None

    @property
    def required_group(self) -> tuple[Kernel, int]:
        """:attr:`group`. Raises DeviceError where there is none."""
        if self.group is None:
            raise DeviceError(
                f"{self.gpu.info.name} cannot run groups that are large enough: use --method lifting"
            )
        return self.group

    def aside(self, origin: int | None = None) -> Aside:
        """The samples put aside if there is no layout; work-items' columns begin eight by eight from ``origin``."""
        plan = self.lifting
        before, after = self.reach
        (height, width), (pairs_y, pairs_x), first = self.read, self.pairs, self.first
        origin = 2 * first if origin is None else origin
        start = origin - _up(max(0, origin - (2 * first - before)), _COLUMNS)
        inside = origin + _up(max(0, -origin), _COLUMNS)
        outside = origin + (width - origin) // _COLUMNS * _COLUMNS
        end = 2 * (first + pairs_x + 2 * _PAIRS) + _COLUMNS + after  # as in dwt_level.cl
        above, below = 2 * (plan.left - first), max(0, 2 * (pairs_y + first + plan.right) - height)
        columns, row = _up(inside - start + end - outside, _COLUMNS), _up(end - start, _COLUMNS)
        return Aside(start, inside, outside, columns, row, above, below, above + below)

    def _divided(self, tiles: int, items: int) -> tuple[Aside, int]:
        """The samples put aside, and the number of pairs of rows of a band."""
        aside, pairs = self.aside(), self.pairs[0]
        wanted = ceil(self.gpu.limits.compute_units * _GROUPS * _ITEMS / (items * tiles * self.planes))
        if self.layout is None:
            return aside, max(_LEAST, ceil(pairs / wanted))
        height, _ = self.read
        end = aside.start + aside.row_pitch
        columns = _up(tiles * sum(self.reach), _COLUMNS) + _up(end - aside.outside, _COLUMNS)
        edge = aside.above + aside.below

        def bands_in(room: int) -> int:
            left = room // (self.planes * self.dtype.itemsize) - height * columns
            return left // max(1, edge * aside.row_pitch) - 1

        few = ceil(self.gpu.limits.compute_units / (_UNITS * tiles * self.planes))
        nbytes = self.planes * self.layout.plane * self.dtype.itemsize
        most = max(bands_in(int(_ASIDE * nbytes)), min(few, bands_in(int(_MORE_ASIDE * nbytes))))
        # If the device forbids bands that are long enough, more is put aside than there is room for.
        band = min(max(_LEAST, ceil(pairs / max(1, min(wanted, most)))), self.gpu.limits.band // 2)
        return replace(aside, column_pitch=columns, rows=edge * (ceil(pairs / band) + 1)), band


def in_passes(params: DwtParams, shape: tuple[int, ...]) -> bool:
    """Whether it is the lifting of floats that extends the samples, rather than each step, beyond the edges."""
    each_step = params.mode == "vc2" or params.wavelet.startswith("vc2-")
    as_usual = params.method == "lifting" and params.tile == "auto" and not params.integer
    return as_usual and not each_step and prod(shape[1:]) < MOST


def fitting(
    gpu: Gpu, params: DwtParams, dtype: np.dtype[np.generic], shape: tuple[int, ...], *, inverse: bool
) -> Level | None:
    """The level of an image (planes, height, width); None if it cannot be done in one pass."""
    if not in_passes(params, shape):
        return None
    planes, height, width = shape
    level = Level(gpu, params, dtype, planes, (height, width), inverse).prepared()
    if gpu.limits.is_cpu:
        # A compiler that does not know vectors takes half a minute for these kernels.
        return level if gpu.limits.lanes > 1 else None
    return level if level.fits else None


def forward(image: Image, level: Level) -> tuple[Image, list[Three]]:
    """One level: cA, [(cH, cV, cD)]."""
    four = level.empty(image)
    level.run(image, four)
    return four[0], [four[1:]]


def inverse(approximation: Image, details: Three, level: Level) -> Image:
    """The image that one level's bands stand for."""
    image = approximation.like((level.planes, *level.image))
    level.run(image, (approximation, *details))
    return image


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
