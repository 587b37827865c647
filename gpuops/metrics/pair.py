"""Two pictures that are compared, as a whole or by rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..figures import FIGURES
from ..files.windows import RowPlace
from .band import Band
from .compare import Scale, check_same, scale_of
from .left_out import left_out, without

if TYPE_CHECKING:
    from ..figure import Figure
    from ..files.picture import Picture
    from ..gpu import Gpu
    from ..params.comparing import Comparing
    from ..params.thresholds import Thresholds
    from .variance import Variance

# Figures that are always measured: verdicts, reports and difference pictures need them.
_ALWAYS = ("max", "rmse")


class SizeError(ParameterError):
    """Two pictures have different sizes or channels."""


@dataclass(frozen=True)
class Pair:
    """Two pictures that are compared.

    Attributes
    ----------
    reference, result : Picture
        Those that come by rows are without their pixels.
    missing : int
        How many pixels are not compared. Pictures as a whole are equal there.
    read : callable, optional
        What gives the :meth:`bands` of pictures that come by rows. None: the pictures are whole, and one band.
    variance : Variance, optional
        That of the reference, of whole pictures.

    Raises SizeError if the pictures' sizes or channels differ.
    """

    gpu: Gpu
    how: Comparing
    reference: Picture
    result: Picture
    missing: int = 0
    read: Callable[[Pair, Sequence[Figure], Sequence[Figure]], Iterator[Band]] | None = None
    variance: Variance | None = None

    def __post_init__(self) -> None:
        try:
            check_same(self.reference, self.result, self.how.alpha)
        except ParameterError as error:
            raise SizeError(str(error)) from None

    @classmethod
    def of(
        cls, gpu: Gpu, result: Picture, reference: Picture, how: Comparing, variance: Variance | None = None
    ) -> Pair:
        """Returns whole pictures.

        Raises ParameterError for a mask of another size, or if nothing is left to compare.
        """
        pair = cls(gpu, how, reference, result, variance=variance)
        if (mask := left_out(reference, how)) is None or not mask.any():
            return pair
        result, reference = without(result, reference, mask)
        return cls(gpu, how, reference, result, int(mask.sum()), variance=variance)

    @property
    def whole(self) -> bool:
        return self.read is None

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
        if pictures[0].colour == pictures[1].colour and pictures[0].linear == self.scale.linear:
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
        height = self.reference.height
        place = RowPlace(0, 0, height, height)
        return Band(self, place, self.reference, self.result, self.pixels, self.variance)

    def bands(self, figures: Sequence[Figure], later: Sequence[Figure] = ()) -> Iterator[Band]:
        """Returns the rows for these figures, from the top on, as often as it is asked.

        ``later``: figures for which rows are asked for afterwards, so that there has to be room for them, too.
        """
        return iter((self._all,)) if self.read is None else self.read(self, figures, later)

    def figures(self, thresholds: Thresholds) -> tuple[dict[str, Figure], dict[str, ParameterError]]:
        """Returns the figures that are measured, for these pictures: those asked for, those of thresholds, and those
        that all need; and of those that are not defined, why."""
        found: dict[str, Figure] = {}
        undefined: dict[str, ParameterError] = {}
        named = {*thresholds.limits, *self.how.metrics, *_ALWAYS}
        for name, figure in FIGURES.items():
            if name in named:
                try:
                    found[name] = figure.fit(figure, self)
                except ParameterError as error:
                    undefined[name] = error
        return found, undefined

    def on_bands(self, thresholds: Thresholds) -> list[Figure]:
        """Returns those of them that are measured on bands."""
        return [figure for figure in self.figures(thresholds)[0].values() if figure.band is not None]
