"""Two pictures that are compared, as a whole or by rows, with the mask and the variance that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import ParameterError
from ..figures import FIGURES, Figure
from ..files.picture import Picture, Pixels
from ..files.strips import Strips
from ..gpu import Gpu
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from ..records import dataclass
from ..rows.budget import Budget
from ..rows.threads import read_ahead
from ..rows.window import bands
from .band import Band
from .compare import Scale, check_same, scale_of
from .room import halos, host_rows, rows_at_a_time, whole_units

if TYPE_CHECKING:
    from .variance import Variance

Mask = npt.NDArray[np.bool_]

# Figures that are always measured: verdicts, reports and difference pictures need them.
_ALWAYS = ("max", "rmse")
# Rows that are read at a time if only a mask is read.
_ROWS = 256


class SizeError(ParameterError):
    """Two pictures have different sizes or channels."""


@dataclass(frozen=True)
class Pair:
    """Two pictures that are compared.

    Attributes
    ----------
    strips : (Strips, Strips)
        The rows of the reference, and of the result.
    mask : Strips, optional
        Those of the picture of ``how.mask``.
    variance : (Variance, Strips), optional
        The reference's variance, and its rows.
    budget : Budget, optional
        The host's memory, for pictures that come by rows. None: the pictures are whole, and one band.
    pool : Executor, optional
        Its threads read rows ahead.
    written : bool
        Whether a picture of the difference is written.
    missing : int
        How many pixels are not compared.

    Raises SizeError if the pictures' sizes or channels differ, ParameterError for a mask of another size, or if nothing
    is left to compare.
    """

    gpu: Gpu
    how: Comparing
    strips: tuple[Strips, Strips]
    mask: Strips | None = None
    variance: tuple[Variance, Strips] | None = None
    budget: Budget | None = None
    pool: Executor | None = None
    written: bool = False
    missing: int = field(default=-1)

    def __post_init__(self) -> None:
        if self.missing >= 0:  # it is a pair with other options
            return
        self._lay_on_one_window()
        try:
            check_same(self.reference, self.result, self.how.alpha)
        except ParameterError as error:
            raise SizeError(str(error)) from None
        self._check_exclusion()
        object.__setattr__(self, "missing", self._left_out_altogether())
        if not self.pixels:
            raise ParameterError("the mask and the rectangles leave no pixel to compare")

    @classmethod
    def of(
        cls, gpu: Gpu, result: Picture, reference: Picture, how: Comparing, variance: Variance | None = None
    ) -> Pair:
        """Returns whole pictures."""
        mask = None if how.mask is None else Strips.of(files.read(how.mask))
        known = None if variance is None else (variance, Strips.of(variance.picture))
        return cls(gpu, how, (Strips.of(reference), Strips.of(result)), mask, known)

    @property
    def reference(self) -> Picture:
        """The reference; without its pixels if it comes by rows."""
        return self.strips[0].picture

    @property
    def result(self) -> Picture:
        """The result; without its pixels if it comes by rows."""
        return self.strips[1].picture

    @property
    def whole(self) -> bool:
        return self.budget is None

    @property
    def pixels(self) -> int:
        """How many pixels are compared."""
        return self.reference.width * self.reference.height - self.missing

    @property
    def channels(self) -> int:
        """How many values of a pixel are compared."""
        return self.reference.channels if self.how.alpha else self.reference.colours

    @property
    def bounded(self) -> bool:
        """Whether values have a largest one, as integers do."""
        return all(picture.pixels.dtype.kind == "u" for picture in (self.reference, self.result))

    @cached_property
    def scale(self) -> Scale:
        """The stored values that are compared."""
        return scale_of(self.reference, self.result, space=self.how.space, alpha=self.how.alpha)

    @property
    def data_range(self) -> float:
        """The value that counts as 1."""
        return self.scale.data_range

    @property
    def converted(self) -> str | None:
        """What is compared, in words; None if it is what both pictures hold."""
        pictures = self.reference, self.result
        if self.scale.as_stored:
            return None
        converted = any(picture.metadata.colour is not None for picture in pictures)
        kind = " (sRGB)" if not self.scale.linear else " (Rec. 709)" if converted else ""
        return f"{self.scale.space} values{kind}"

    @property
    def note(self) -> str:
        """What is left out, in words."""
        pixels = self.pixels + self.missing
        notes = [f"{self.missing} of {pixels} pixels are not compared"] if self.missing else []
        if not self.how.alpha and (self.reference.alpha or self.result.alpha):
            notes.append("alpha is not compared")
        return "; ".join(notes)

    @cached_property
    def _all(self) -> Band:
        return next(self._bands(self.reference.height))

    def bands(self, figures: Sequence[Figure], later: Sequence[Figure] = ()) -> Iterator[Band]:
        """Returns the rows for these figures, from the top on, as often as it is asked.

        ``later``: figures for which rows are asked for afterwards, so that there has to be room for them, too. Raises
        FileError or DeviceError if there is no room.
        """
        if self.whole:
            return iter((self._all,))
        self._in_memory([*figures, *later])
        return self._bands(self._rows(figures), *halos(figures, self.reference.height))

    def _bands(self, rows: int, above: int = 0, below: int = 0) -> Iterator[Band]:
        strips = dict(zip(("reference", "result"), self.strips, strict=True))
        if self.mask is not None:
            strips["mask"] = self.mask
        size = self.reference.pixels.shape[:2]
        if self.variance is not None and self.variance[1].picture.pixels.shape[:2] == size:
            strips["variance"] = self.variance[1]
        sources = [one.rows(rows) for one in strips.values()]
        if self.pool is not None:
            sources = [read_ahead(self.gpu, self.pool, source) for source in sources]
        for place, arrays in bands(sources, size[0], rows, above, below):
            part = dict(zip(strips, arrays, strict=True))
            variance = None
            if self.variance is not None and "variance" in part:
                known = self.variance[0]
                variance = replace(known, picture=replace(known.picture, pixels=part["variance"]))
            reference = replace(self.reference, pixels=part["reference"])
            result = replace(self.result, pixels=part["result"])
            compared = (place.stop - place.start) * size[1]
            mask = self._left_out(place.first, len(arrays[0]), part.get("mask"))
            if mask is not None and mask.any():
                compared -= int(mask[place.counted].sum())
                result, reference = _without(result, reference, mask)
            yield Band(self, place, reference, result, compared, variance)

    def _lay_on_one_window(self) -> None:
        """Lays both, and what belongs to them, on a data window that holds the pixels of both.

        Raises SizeError for different display windows.
        """
        frames = self.reference.frame, self.result.frame
        if frames[0].shown != frames[1].shown:
            if frames[0].usual and frames[1].usual:
                return  # their sizes differ
            raise SizeError(f"windows differ: pixels {frames[1]}, and {frames[0]}")
        both = frames[0].union(frames[1])

        def laid(strips: Strips) -> Strips:
            return strips.on(both) if strips.picture.frame.shown == both.shown else strips

        object.__setattr__(self, "strips", tuple(map(laid, self.strips)))
        if self.mask is not None:
            object.__setattr__(self, "mask", laid(self.mask))
        if self.variance is not None:
            object.__setattr__(self, "variance", (self.variance[0], laid(self.variance[1])))

    def _check_exclusion(self) -> None:
        """Raises ParameterError for a mask of another size, and for a rectangle outside the pictures."""
        size, shown = f"{self.reference.width}×{self.reference.height}", self.reference.frame
        for x, y, width, height in self.how.ignore:
            if x >= shown.width or y >= shown.height:
                of_all = f"{shown.width}×{shown.height}"
                raise ParameterError(f"the rectangle {x},{y},{width},{height} is outside {of_all} pixels")
        if self.mask is not None and self.mask.picture.pixels.shape[:2] != self.reference.pixels.shape[:2]:
            of_mask = f"{self.mask.picture.width}×{self.mask.picture.height}"
            raise ParameterError(f"{self.how.mask}: the mask has {of_mask} pixels, the picture {size}")

    def _left_out(self, first: int, count: int, pixels: Pixels | None = None) -> Mask | None:
        """Returns where nothing of the rows from ``first`` on is compared, or None.

        ``pixels``: the mask's there. They are black, whatever their alpha is.
        """
        if pixels is None and not self.how.ignore:
            return None
        mask: Mask = np.zeros((count, self.reference.width), bool)
        if pixels is not None and self.mask is not None:
            mask |= ~pixels[..., : self.mask.picture.colours].any(axis=-1)
        left, top = self.reference.frame.data[:2]
        for x, y, width, height in self.how.ignore:
            rows, columns = (
                (max(0, y - top - first), max(0, y + height - top - first)),
                (x - left, x + width - left),
            )
            mask[slice(*rows), max(0, columns[0]) : max(0, columns[1])] = True
        return mask

    def _left_out_altogether(self) -> int:
        """Returns how many pixels are not compared."""
        sources = [] if self.mask is None else [self.mask.rows(_ROWS)]
        some = bands(sources, self.reference.height, _ROWS) if sources or self.how.ignore else ()
        masks = (self._left_out(place.start, place.stop - place.start, *pixels) for place, pixels in some)
        return sum(int(mask.sum()) for mask in masks if mask is not None)

    def _rows(self, figures: Sequence[Figure]) -> int:
        """Returns how many rows are measured at a time: as the device, and the host's memory, have room for."""
        pictures = self.reference, self.result
        return min(rows_at_a_time(self.gpu, pictures, figures), self._in_memory(figures))

    @property
    def whole_bytes(self) -> float:
        """The bytes of memory that both take as a whole."""
        assert self.budget is not None
        return self.budget.whole(max(self.reference.pixels.nbytes, self.result.pixels.nbytes))

    def _in_memory(self, figures: Sequence[Figure]) -> int:
        """Returns how many rows the host's memory has room for. Raises FileError if it is none."""
        height, budget = self.reference.height, self.budget
        if budget is None or budget.memory is None:
            return height
        given = [*self.strips, *filter(None, (self.mask, self.variance and self.variance[1]))]
        rows = host_rows(self.reference, given, figures, written=self.written)
        return whole_units(budget.rows(*rows, self.whole_bytes), rows.unit, height)

    def figures(self, thresholds: Thresholds) -> tuple[dict[str, Figure], dict[str, ParameterError]]:
        """Returns the figures that are measured, for these pictures: those asked for, those of thresholds, and those
        that all need; and of those that are not defined, why."""
        figures: dict[str, Figure] = {}
        undefined: dict[str, ParameterError] = {}
        named = {*thresholds.limits, *self.how.metrics, *_ALWAYS}
        for name, figure in FIGURES.items():
            if name in named:
                try:
                    figures[name] = figure.fit(figure, self)
                except ParameterError as error:
                    undefined[name] = error
        return figures, undefined

    def on_bands(self, thresholds: Thresholds) -> list[Figure]:
        """Returns those of them that are measured on bands."""
        return [figure for figure in self.figures(thresholds)[0].values() if figure.band is not None]


def _without(result: Picture, reference: Picture, where: Mask) -> tuple[Picture, Picture]:
    """Returns both pictures equal where nothing is compared: with the reference's pixels, or black if types differ."""
    same = result.pixels.dtype == reference.pixels.dtype and result.colour == reference.colour
    same = same and result.pixels.shape == reference.pixels.shape
    changed = []
    for picture in (result, reference):
        pixels = picture.pixels.copy()
        pixels[where] = reference.pixels[where] if same else 0
        changed.append(replace(picture, pixels=pixels))
    return changed[0], changed[1]
