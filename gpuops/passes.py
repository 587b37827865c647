"""How an operation goes over a picture whose rows come in parts: passes, measures, turns and filters of spectra."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image
    from .params.kinds import Params


class Reach(NamedTuple):
    """How far away values of a picture have an effect. The default: all rows depend on all, and nothing is spoiled.

    Attributes
    ----------
    rows : float
        How many rows above and below a row of the result depends on; infinity if it is all.
    spoiled : float
        How many pixels away a value that is not finite spoils the result; 0 where it stays, or is repaired.
    around : bool
        Whether the first and the last rows are neighbours. ``rows`` then are those of a taller image; a part of it
        begins above row 0, or ends below the last row.
    again : bool
        Whether much of the work is done once more on rows above and below, each time some rows are made.
    exact : bool
        Whether rows that are made in parts are those of the whole to the last bit.
    """

    rows: float = math.inf
    spoiled: float = 0.0
    around: bool = False
    again: bool = True
    exact: bool = True


class Measure(NamedTuple):
    """What a step needs to know about a whole picture before it works on its rows in parts.

    Attributes
    ----------
    of : callable
        ``(gpu, image, first, end)`` → the figures of these rows, which can be added. None: no value of them counts.
        The Image has a ``part``, with all the rows that they need at least. None in place of the function: nothing is
        to be known, and other steps do the work by rows.
    settled : callable
        ``(figures)`` → the parameters of the steps that do the rest. They need these figures no more.
    needs : callable
        ``(first, end)`` → the same of the rows that these figures depend on.
    """

    of: Callable[[Gpu, Image, int, int], Any] | None
    settled: Callable[[Any], tuple[Params, ...]]
    needs: Callable[[int, int], tuple[int, int]] = lambda first, end: (first, end)


class Pass(NamedTuple):
    """A pass of an operation over a picture whose rows come from the first to the last.

    Attributes
    ----------
    shape : (planes, height, width)
        That of the whole result.
    needs : callable
        ``(first, end)`` → the same of the input's rows, on which those rows of the result depend. Neither decreases
        from row to row.
    make : callable
        ``(gpu, image, first, end)`` → these rows of the result. The Image has a ``part``, with all the rows that they
        need at least.
    window : int
        The most rows of the input that a row of the result needs; with ``align``, as many rows as that.
    align : int
        Rows of the result are made from a multiple of it on.
    bytes_per_value : float
        The device's memory beside the rows of the input, at most, in bytes for each value of them.
    around : callable, optional
        ``(images)`` → the same, rows of the input, and before and behind them rows beyond the input's ends, which the
        pass needs as well.
    columns : callable, optional
        As ``needs``, for columns. Without it those of the result depend on all.
    again : int
        Rows of the input on which much of the work is done once more, each time some rows are made.
    """

    shape: tuple[int, int, int]
    needs: Callable[[int, int], tuple[int, int]]
    make: Callable[[Gpu, Image, int, int], Image]
    window: int = 1
    align: int = 1
    bytes_per_value: float = 4.0
    around: Callable[[Iterable[Image]], Iterable[Image]] | None = None
    columns: Callable[[int, int], tuple[int, int]] | None = None
    again: int = 0


class Turn(NamedTuple):
    """A turn of a picture: pixels change their places, and no value changes.

    Attributes
    ----------
    orientation : int
        EXIF's orientation that asks for this turn, 1 to 8.
    leaves : int, optional
        The orientation that the picture has then. The default is the one that it had.
    """

    orientation: int
    leaves: int | None = None

    @property
    def keeps_rows(self) -> bool:
        """Whether each row of the result is made of the same row."""
        return self.orientation <= 2

    @property
    def transposes(self) -> bool:
        """Whether rows of the result are made of columns."""
        return self.orientation >= 5

    @property
    def backwards(self) -> bool:
        """Whether the first row of the result is made of the last row or column."""
        return self.orientation in (3, 4, 7, 8)

    @property
    def mirrors(self) -> bool:
        """Whether the first column of the result is made of the last column or row."""
        return self.orientation in (2, 3, 6, 7)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Returns the shape (planes, height, width) of a picture of this shape after the turn."""
        planes, height, width = shape
        return (planes, width, height) if self.transposes else shape


class Spectral(NamedTuple):
    """A filter as a product of spectra, which by rows is done in sweeps over a spool: along rows, and down columns.

    Beyond its end a picture goes on mirrored as far as the middle of what the transform has left, and from there on as
    it does before its beginning.

    Attributes
    ----------
    size : (rows, columns)
        Those of the transform.
    products : tuple of callables
        ``(gpu, values, first)``: multiplies columns of half a spectrum (1, rows, columns), from ``first`` on, in place.
        Behind each product there is a transform back.
    place : (row, column), optional
        Where the picture itself takes the place of what was made of it, before the last product.
    alpha : bool
        Whether alpha is filtered as colours are. Otherwise it stays as it is.
    finished : callable
        ``(gpu, image) → image``: what is done to rows of the result at last.
    bytes_per_column, fixed_bytes : float
        The device's memory that products take for a column, and for all together.
    """

    size: tuple[int, int]
    products: tuple[Callable[[Gpu, Image, int], object], ...]
    place: tuple[int, int] | None = None
    alpha: bool = False
    finished: Callable[[Gpu, Image], Image] = lambda _gpu, image: image
    bytes_per_column: float = 0.0
    fixed_bytes: float = 0.0

    @property
    def column(self) -> int:
        """Bytes of a column of the spectrum of a plane."""
        return 8 * self.size[0]

    def spooled(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Returns the shape of what is kept between the sweeps over a picture (planes, height, width): complex64.

        With a ``place`` the picture itself is behind the spectra, two values in each number.
        """
        planes, height, _ = shape
        again = len(self.products) > 1
        return planes * (2 if again else 1), self.size[0] if again else height, self.size[1] // 2 + 1


class Slabbed(NamedTuple):
    """A step that needs all of its input, which by rows a spool keeps, and works on it there in slabs.

    Attributes
    ----------
    work : callable
        ``(image, memory, made)``: replaces an image on the host, a :class:`gpuops.tiles.ends.HostImage`, by the step's
        result, with ``memory`` bytes of the device's. ``made``: ``(shape, dtype)`` → a place for another such image.
    beside : int
        Bytes of the images that it makes.
    least : int
        Bytes of the device's memory that suffice.
    """

    work: Callable[[Any, int, Callable[..., Any]], None]
    beside: int
    least: int
