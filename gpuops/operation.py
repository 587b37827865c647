"""An operation as data: its name, its parameters, its function, and what others need to know of it.

An operation is one module of :mod:`gpuops.ops` with its parameters, its function and its :class:`Operation`. The module
needs neither a device nor numpy before the function is called. From the record follow the command and its help, the
page of the reference, the step of a chain, the key of a recipe and the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple

from .params.kinds import Choice, Flag, Given, Kind, Number, Option, Params, Whole, kinds, parameter
from .params.notations import (
    File,
    Files,
    Group,
    Numbers,
    PerAxis,
    Points,
    Rectangle,
    Repeated,
    Size,
    Text,
    Written,
)

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image
    from .pixels.pointwise import Stage
    from .space import Space, Stored, Target

__all__ = [
    "Choice", "File", "Files", "Flag", "Given", "Group", "Kind", "Measure", "Number", "Numbers", "Operation",
    "Option", "Params", "Pass", "PerAxis", "Points", "Rectangle", "Repeated", "Size", "Spectral", "Text", "Together",
    "Traits", "Turn", "Whole", "Written", "kinds", "operation_of", "parameter",
]  # fmt: skip


class Traits(NamedTuple):
    """Traits of an operation with certain parameters: what it wants and gives. The default: the whole image, in light.

    Attributes
    ----------
    space : str
        The values that it works on: ``light``, linear, of the plan's primaries; ``stored``, whatever the image holds;
        ``as is``, those of the file, or of the last step of this kind, which must not have become light before.
    rec709 : bool
        Whether its numbers are made for light of Rec. 709's primaries, whatever the plan's are.
    premultiplied : bool
        Whether it wants colours multiplied by alpha. Of stored values it takes them as they are.
    display : bool
        Whether its result is made for a display, and no longer the input's light.
    asked : bool
        Whether its result is in a space that a parameter names, and that the function says: files, and steps for values
        as they are, get it so.
    kind : str
        ``pointwise``: a pixel's result depends on that pixel. ``local``: on those around it. ``measured``: on that
        pixel and on figures of the image, the ``statistics``. ``grid``: on a small image of all. ``transform``: on all
        pixels. ``geometry``: pixels move. ``opaque``: nothing is known.
    keeps_range : bool
        Whether values of 0 … 1 stay there, but for the overshoot of weights that are negative.
    statistics : tuple of str
        The figures of the image that are needed first.
    bytes_per_value : float
        The device's memory beside the input, at most, in bytes for each value of the input.
    fixed_bytes : float
        The device's memory beside that, whatever the size of the input.
    """

    space: str = "light"
    rec709: bool = False
    premultiplied: bool = False
    display: bool = False
    asked: bool = False
    kind: str = "opaque"
    keeps_range: bool = False
    statistics: tuple[str, ...] = ()
    bytes_per_value: float = 4.0
    fixed_bytes: float = 0.0


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


class Together(NamedTuple):
    """What a step needs to know of all inputs of a command, each of which is measured by itself first.

    Attributes
    ----------
    alone : Params
        The step's parameters for an input that has no neighbours.
    known : callable
        ``(params)`` → whether the measures of ``alone`` have made these parameters, which say what is wanted.
    settled : callable
        ``(measured)`` → the step's parameters for each input, of what :attr:`known` of each one; None stands for an
        input that could not be measured.
    figure, unit : str
        The number among the parameters that is measured, for people.
    """

    alone: Params
    known: Callable[[Any], bool]
    settled: Callable[[Sequence[Any]], list[Params]]
    figure: str
    unit: str


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
    around : callable
        ``(images)`` → the same, rows of the input, and before and behind them rows beyond the input's ends, which the
        pass needs as well.
    columns : callable, optional
        As ``needs``, for columns. Without it those of the result depend on all.
    """

    shape: tuple[int, int, int]
    needs: Callable[[int, int], tuple[int, int]]
    make: Callable[[Gpu, Image, int, int], Image]
    window: int = 1
    align: int = 1
    bytes_per_value: float = 4.0
    around: Callable[[Iterable[Image]], Iterable[Image]] = lambda images: images
    columns: Callable[[int, int], tuple[int, int]] | None = None


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


@dataclass(frozen=True)
class Operation:
    """The record of an operation.

    Attributes
    ----------
    name : str
        The name of its command, and of its step in a chain.
    params : type
        Its :class:`Params`, whose docstring becomes its help.
    function : callable
        ``(gpu, image, params) → image``: planar float32 (channel, row, column).
    traits : Traits or callable
        What it wants and gives; ``(params) → Traits`` where that depends on the parameters.
    identity : callable, optional
        ``(params)`` → whether the result is the input itself. Without this function it never is.
    reach : callable, optional
        ``(gpu, shape, params)`` → how many pixels away a pixel of the input has an effect, for planes of this shape.
        Without this function a value that is not finite stays where it is, or is repaired.
    halo : callable, optional
        ``(gpu, shape, params)`` → how many rows above and below a row of the result depends on, for planes of this
        shape; infinity if it is all. The function then takes Images that are a part of a picture. Without it, only
        what has a ``stage`` does.
    around : callable
        ``(params)`` → whether the first and the last rows of an image are neighbours for it. The ``halo`` then is that
        of a taller image; a part of it begins above row 0, or ends below the last row.
    fixed_bytes : callable, optional
        ``(gpu, shape, params)`` → bytes of the device's memory that stay taken while such Images come and go. Where all
        rows are needed at once: bytes that are taken in addition to the traits'.
    passes : callable, optional
        ``(gpu, shape, params)`` → each :class:`Pass` that does the same in place of ``function``, one after the other,
        where rows of the result are not those of the input. None: all rows of the input are needed at once.
    turn : callable, optional
        ``(params, orientation)`` → the :class:`Turn` that ``function`` does to a picture of this EXIF orientation, or
        None if it does more. By rows a spool does it.
    spectral : callable, optional
        ``(gpu, shape, params)`` → the :class:`Spectral` filter that ``function`` is for planes of this shape, or None
        if it is none. By rows a spool keeps its spectra.
    whole : mapping of str to tuple
        Of parameters, the values with which the step may need all rows at once, for :meth:`words`.
    gathers : str, optional
        The parameter, of the kind :class:`Files`, that takes the inputs behind the first one: all inputs of a command
        make one output. Without it each input has its own.
    writes : bool
        Whether the step is there to show all of its input to whoever runs the chain.
    measure : callable, optional
        ``(gpu, shape, params)`` → the next :class:`Measure` of a whole picture of this shape that the step needs, or
        None.
    together : callable
        ``(params)`` → what the step needs to know of all inputs of a command, a :class:`Together`, or None.
    ends : callable, optional
        ``(gpu, source, params, decoding, target) → Stored``: the same from a file's own pixels to such pixels. Without
        a ``decoding`` the source is planes.
    stage : callable, optional
        ``(params, colours, channels, space) → Stage``: a pointwise operation as a function of a pixel of so many
        colours and channels, in a space. It then joins the launch that reads its result.
    joins : callable, optional
        ``(params)`` → whether ``function`` and ``ends`` take the argument ``stages``, which are done as they read.
    check : callable, optional
        ``(params)``: raises an error for what only reading files or computing can tell to be wrong.
    prepare : callable, optional
        ``(gpu, params, target)``: makes what depends on parameters alone, such as weights of a kernel image, and keeps
        it; refuses parameters that do not suit the target of the last step, which is None for others.
    settled : callable
        ``(params, dtype)`` → the parameters, with values for what they leave open until the type of the output's pixels
        is known.
    cases : tuple
        Parameters that are worth trying, for tests.
    examples : tuple of str
        Command lines that show what people use it for.
    groups : mapping of str to tuple
        Names of options by titles, for the command's help; the most important group comes first. Those of a shape such
        as ``sigma``, ``sigma_x`` are named one by one.
    """

    name: str
    params: type[Params]
    function: Callable[..., Image]
    traits: Traits | Callable[[Any], Traits] = field(default_factory=Traits)
    identity: Callable[[Any], bool] = lambda _params: False
    reach: Callable[[Gpu, tuple[int, ...], Any], float] | None = None
    halo: Callable[[Gpu, tuple[int, int, int], Any], float] | None = None
    around: Callable[[Any], bool] = lambda _params: False
    fixed_bytes: Callable[[Gpu, tuple[int, int, int], Any], float] = lambda _gpu, _shape, _params: 0.0
    measure: Callable[[Gpu, tuple[int, int, int], Any], Measure | None] = lambda _gpu, _shape, _params: None
    together: Callable[[Any], Together | None] = lambda _params: None
    passes: Callable[[Gpu, tuple[int, int, int], Any], tuple[Pass, ...] | None] | None = None
    turn: Callable[[Any, int], Turn | None] | None = None
    spectral: Callable[[Gpu, tuple[int, int, int], Any], Spectral | None] = lambda _gpu, _shape, _params: None
    whole: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    gathers: str | None = None
    writes: bool = False
    ends: Callable[..., Stored] | None = None
    stage: Callable[[Any, int, int, Space], Stage] | None = None
    joins: Callable[[Any], bool] = lambda _params: False
    check: Callable[[Any], object] = lambda _params: None
    prepare: Callable[[Gpu, Any, Target | None], object] = lambda _gpu, _params, _target: None
    settled: Callable[[Any, Any], Params] = lambda params, _dtype: params
    cases: tuple[Params, ...] = ()
    examples: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def about(self) -> str:
        """What the operation does, for people: the parameters' docstring without its sections."""
        text = cleandoc(self.params.__doc__ or "")
        for heading in ("\nAttributes\n", "\nNotes\n"):
            text = text.partition(heading)[0]
        return text.strip()

    def words(self, params: Params) -> str:
        """Returns what people call a step that needs all rows: its name, with the options that are the reason."""
        why = (name for name, values in self.whole.items() if getattr(params, name) in values)
        return " ".join((self.name, *(f"--{name} {getattr(params, name)}" for name in why)))

    def traits_of(self, params: Params) -> Traits:
        """Returns what the operation wants and gives with these parameters."""
        return self.traits if isinstance(self.traits, Traits) else self.traits(params)


def operation_of(params: Params) -> Operation:
    """Returns the record that parameters belong to: it stands in their module."""
    found: Operation = sys.modules[type(params).__module__].OPERATION
    return found
