"""A whole level of the lifting transform in one pass.

On GPUs dwt_margins.cl puts a few samples aside for dwt_level.cl, and small levels are dwt_tile.cl's; on CPUs
dwt_level_wide.cl does it all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, prod

import numpy as np

from ..errors import DeviceError
from ..gpu import LATER, Argument, Define, Gpu, Kernel, Source, Step
from ..image import Image
from ..params.dwt import DwtParams
from . import axis, tile
from .schedule import Schedule, schedule
from .wavelets import WAVELETS, Wavelet

_PAIRS = 4  # of columns of a work-item, as in dwt_rows.cl
_COLUMNS = 2 * _PAIRS
_ITEMS = 256
_LEAST_ITEMS = 8
_GROUPS = 2  # a compute unit: as many as run at once
# On CPUs, pairs of columns of a work-item: shorter stretches of rows are read half as fast. Small images have few.
_NARROW, _WIDE = 64, 2048
_BANDS = 4  # a core
MOST = 2**32  # samples of a plane: numbers of 32 bits are their places
_LEAST = 8  # pairs of rows of a band: of shorter ones most rows would be read twice
_KEPT = 256  # levels of a device, of any images, that stay prepared

SAMPLES = {"float32": "float", "float64": "double"}
Shape = tuple[int, int]
Shape3 = tuple[int, int, int]
Four = tuple[Image, Image, Image, Image]  # cA, cH, cV, cD


@dataclass(frozen=True)
class Layout:
    """Where an image and its coefficients lie in one buffer, by strips: see dwt_layout.cl.

    ``strip`` and ``run`` are binary logarithms; ``pitch``: samples from a row to the next; ``plane``: to another plane.
    """

    strip: int
    run: int
    pitch: int
    plane: int

    def vector(self, width: int) -> tuple[int, int, int, int]:
        """What the kernels take, for an image of ``width`` columns."""
        last = (width - 1) >> self.run
        return self.strip, self.run, last, ceil((width - (last << self.run)) / 2)


@dataclass(frozen=True)
class Aside:
    """What is put aside of each plane: see dwt_margins.cl."""

    inside: int
    outside: int
    column_pitch: int
    row_pitch: int
    above: int
    below: int
    rows: int


@dataclass(frozen=True)
class Level:
    """One level of ``planes`` of an image (height, width), forward or inverse; in place where there is a layout."""

    gpu: Gpu
    params: DwtParams
    dtype: np.dtype[np.generic]
    planes: int
    image: Shape
    inverse: bool
    layout: Layout | None = None
    room: int = 0  # in place: bytes that may be put aside

    def prepared(self) -> Level:
        """This level, or its equal that was prepared before: preparing takes ten times as long as launching."""
        known: Level = self.gpu.kept("dwt levels", lambda: lru_cache(_KEPT)(lambda level: level))(self)
        return known

    def run(self, image: Image, coefficients: Four | None = None) -> None:
        """Reads the one and writes the other; in place ``image`` is both."""
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
        """Whether the device can run it."""
        return self._whole is not None or self.group is not None

    @cached_property
    def _whole(self) -> Step | None:
        """The one launch of an image and its four bands, where it takes no more; None where samples go aside first."""
        if self.layout is not None:
            return None
        if self.gpu.limits.is_cpu:
            return self._wide()
        small = self.planes * prod(self.image) <= tile.SMALL
        return self._tiled() if small or self.group is None else None

    def _tiled(self) -> Step | None:
        """A work-group a tile."""
        found = tile.fitting(
            self.gpu, self._schedule, self.pairs, self.planes, self.dtype.itemsize,
            {"S": SAMPLES[self.dtype.name], "INVERSE": self.inverse, **self._border},
        )  # fmt: skip
        if found is None:
            return None
        down, across = (ceil(n / found.side) for n in self.pairs)
        return self.gpu.bind(
            found.kernel, (down * across * found.items, self.planes), *[LATER] * 5, self.bands, self.image, self.first,
            across, local=(found.items, 1), label=self._label("level"), traffic=self._traffic,
        )  # fmt: skip

    def _wide(self) -> Step:
        """A work-item a tile."""
        sources = ("border", "dwt_layout", "dwt_beyond", self._schedule[1], "dwt_level_wide")
        wide = _NARROW if self.pairs[1] <= _NARROW else _WIDE
        kernel = self.gpu.kernel(sources, "level_wide", **self._defines, **self._border, PAIRS=wide)
        tiles = -(-self.pairs[1] // wide)
        band = max(
            _LEAST, ceil(self.pairs[0] * tiles * self.planes / (self.gpu.limits.compute_units * _BANDS))
        )
        return self.gpu.bind(
            kernel, (tiles, ceil(self.pairs[0] / band), self.planes), LATER, self.image[1], *[LATER] * 4, self.bands,
            self.image, np.uint64(prod(self.image)), self.first, band, local=(1, 1, 1), label=self._label("level"),
            traffic=self._traffic,
        )  # fmt: skip

    @cached_property
    def _groups(self) -> tuple[Step, Step, Shape3, Shape3]:
        """A work-group a tile: what puts samples aside, what makes the rest, and the shapes of columns and rows aside.

        The first takes what is read, the second the image and its bands, if they are apart; both then columns and rows.
        """
        if self.group is None:
            raise DeviceError(
                f"{self.gpu.info.name} cannot run groups that are large enough: use --method laan"
            )
        kernel, items = self.group
        height, width = self.read
        tiles = -(-self.pairs[1] // (items * _PAIRS))
        aside, band = self._aside(tiles, items)
        columns = self.planes, height, aside.column_pitch
        rows = self.planes, aside.rows, aside.row_pitch
        bands: tuple[Argument, ...] = ()
        if self.layout is None:
            pitch, plane = self.image[1], prod(self.image)
            where: tuple[Argument, ...] = (LATER, pitch)
            bands = (LATER,) * 4
        else:
            pitch, plane = self.layout.pitch, self.layout.plane
            where = (LATER, pitch, self.layout.vector(width))
        reading = bands if self.inverse and bands else where
        rest = (
            LATER, LATER, self.bands, self.image, np.uint64(plane), self.first,
            (aside.inside, aside.outside, aside.column_pitch, aside.row_pitch),
            (aside.above, aside.rows, aside.above + aside.below, 0), tiles, band,
        )  # fmt: skip
        sources = ("border", "dwt_layout", "dwt_beyond", self._schedule[1], "dwt_margins")
        margins = self.gpu.kernel(sources, "margins", **self._defines, **self._border, TILE=items * _COLUMNS)
        fours = (height * aside.column_pitch + aside.rows * aside.row_pitch) // 4
        return (
            self.gpu.bind(
                margins, (fours, self.planes), *reading, *rest, local=(*margins.fit(128), 1),
                label=self._label("margins"), traffic=2 * (prod(columns) + prod(rows)) * self.dtype.itemsize,
            ),
            self.gpu.bind(
                kernel, (tiles * items, ceil(self.pairs[0] / band), self.planes), *where, *bands, *rest,
                local=(items, 1, 1), label=self._label("level"), traffic=self._traffic,
            ),
            columns,
            rows,
        )  # fmt: skip

    def _label(self, what: str) -> str:
        return f"{'i' if self.inverse else ''}dwt {what} {self._wavelet.name}"

    @property
    def _traffic(self) -> int:
        return 2 * self.planes * prod(self.image) * self.dtype.itemsize

    @property
    def _border(self) -> dict[str, bool]:
        return axis.extension(self._wavelet, self.params.mode, self.inverse)

    @cached_property
    def bands(self) -> tuple[int, int, int, int]:
        """How many low and high coefficients: along y, then along x."""
        (lows_y, highs_y), (lows_x, highs_x) = (axis.lengths(self.params, n) for n in self.image)
        return lows_y, highs_y, lows_x, highs_x

    @cached_property
    def first(self) -> int:
        """The pair to read that belongs to the first one to make."""
        if not axis.expansive(self.params):
            return 0
        shift = (1 - self._wavelet.length // 2) // 2
        return -shift if self.inverse else shift

    @cached_property
    def pairs(self) -> Shape:
        """Pairs to make, along y and x."""
        if self.inverse:
            return ceil(self.image[0] / 2), ceil(self.image[1] / 2)
        return self.bands[0], self.bands[2]

    @cached_property
    def read(self) -> Shape:
        """Height and width of what is read, of coefficients as an image."""
        return (sum(self.bands[:2]), sum(self.bands[2:])) if self.inverse else self.image

    @property
    def _wavelet(self) -> Wavelet:
        return WAVELETS[self.params.wavelet]

    @cached_property
    def _schedule(self) -> tuple[Schedule, Source]:
        return schedule(self._wavelet, inverse=self.inverse, sample=SAMPLES[self.dtype.name])

    @cached_property
    def _reach(self) -> tuple[int, int]:
        """Columns before and after its own that a work-item reads: multiples of four."""
        plan, _ = self._schedule
        return _up(2 * plan.left, 4), _up(2 * plan.right, 4)

    @cached_property
    def _room(self) -> int:
        """Columns put aside before the first ones that are made."""
        return _up(self._reach[0], _COLUMNS)

    @cached_property
    def _defines(self) -> dict[str, Define]:
        before, after = self._reach
        return {
            "S": SAMPLES[self.dtype.name],
            "INVERSE": self.inverse,
            "STRIPS": self.layout is not None,
            "BEFORE": before,
            "AFTER": after,
            "EDGE": before + after,
            "ROOM": self._room,
        }

    @cached_property
    def group(self) -> tuple[Kernel, int] | None:
        """The kernel for groups, and the largest that the device can run; None where all are too small."""
        *_, lows, highs = self.bands
        place = (self.layout.pitch, (self.planes - 1) * self.layout.plane) if self.layout else ()
        words = self.image[1] % 2 == 0 and all(
            n % _PAIRS == 0 for n in (self.image[1] // 2, lows, highs, self.first, *place)
        )
        sources = ("dwt_layout", self._schedule[1], "dwt_rows", "dwt_level")
        edge, limits = sum(self._reach), self.gpu.limits
        items = _ITEMS
        while items >= max(_LEAST_ITEMS, 2 * edge):  # which fetch what is beside two rows
            # Rows by vectors: two lines of one and of the next pair. By samples: two of one, and two finished rows.
            samples = 4 * items * _COLUMNS + (4 if words else 2) * edge
            if items <= limits.work_group and samples * self.dtype.itemsize <= limits.local_bytes:
                kernel = self.gpu.kernel(sources, "level", **self._defines, ITEMS=items, WORDS=words)
                if kernel.fit(items) == (items,) and kernel.local_bytes <= limits.local_bytes:
                    return kernel, items
            items //= 2
        return None

    def _aside(self, tiles: int, items: int) -> tuple[Aside, int]:
        """What is put aside, and how many pairs of rows a band has."""
        plan, _ = self._schedule
        before, after = self._reach
        (height, width), (pairs_y, pairs_x), first = self.read, self.pairs, self.first
        start = 2 * first - self._room
        inside = 2 * first + _up(max(0, -2 * first), _COLUMNS)
        outside = 2 * first + (width - 2 * first) // _COLUMNS * _COLUMNS
        end = 2 * (first + pairs_x + 2 * _PAIRS) + _COLUMNS + after  # as in dwt_level.cl
        above, below = 2 * (plan.left - first), max(0, 2 * (pairs_y + first + plan.right) - height)
        row_pitch = _up(end - start, _COLUMNS)
        wanted = ceil(self.gpu.limits.compute_units * _GROUPS * _ITEMS / (items * tiles * self.planes))
        if self.layout is None:
            column_pitch = _up(inside - start + end - outside, _COLUMNS)
            band = max(_LEAST, ceil(pairs_y / wanted))
            rows = above + below
        else:
            column_pitch = _up(tiles * (before + after), _COLUMNS) + _up(end - outside, _COLUMNS)
            left = self.room // (self.planes * self.dtype.itemsize) - height * column_pitch
            most = left // max(1, (above + below) * row_pitch) - 1
            band = max(_LEAST, ceil(pairs_y / max(1, min(wanted, most))))
            rows = (above + below) * (ceil(pairs_y / band) + 1)
        return Aside(inside, outside, column_pitch, row_pitch, above, below, rows), band


def fitting(image: Image, params: DwtParams, size: tuple[int, ...], *, inverse: bool) -> Level | None:
    """The level of an image of ``size``, given it or one of its bands; None where it cannot go this way.

    That is for lifting of floats that sees beyond the samples' edges.
    """
    if params.integer or params.method != "lifting" or params.tile != "auto":
        return None
    if params.mode == "vc2" or params.wavelet.startswith("vc2-"):  # beyond the edges of each step
        return None
    if prod(size) >= MOST:
        return None
    level = Level(image.gpu, params, image.dtype, image.shape[0], (size[0], size[1]), inverse).prepared()
    if image.gpu.limits.is_cpu:
        # A compiler that does not know vectors takes half a minute for these.
        return level if image.gpu.limits.lanes > 1 else None
    return level if level.fits else None


def forward(image: Image, level: Level) -> tuple[Image, tuple[Image, Image, Image]]:
    """One level: cA, (cH, cV, cD)."""
    for n in level.image:
        axis.check_length(level.params, n)
    planes, (low_y, high_y, low_x, high_x) = level.planes, level.bands
    four = (
        image.like((planes, low_y, low_x)),
        image.like((planes, high_y, low_x)),
        image.like((planes, low_y, high_x)),
        image.like((planes, high_y, high_x)),
    )
    level.run(image, four)
    return four[0], four[1:]


def inverse(approximation: Image, details: tuple[Image, Image, Image], level: Level) -> Image:
    """The image that one level's bands stand for."""
    image = approximation.like((level.planes, *level.image))
    level.run(image, (approximation, *details))
    return image


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
