"""An operation as data: its name, its parameters, its function, and what others need to know of it.

An operation is one module of :mod:`gpuops.ops` with its parameters, its function and its :class:`Operation`. The module
needs neither a device nor numpy before the function is called. From the record follow the command and its help, the
page of the reference, the step of a chain, the key of a recipe and the tests.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple

from .ops import operation
from .params.kinds import Choice, Flag, Given, Kind, Number, Option, Params, Whole, kinds
from .params.moves import Frame, Move
from .params.notations import (
    File,
    Files,
    NumberOr,
    Numbers,
    PerAxis,
    Points,
    Rectangle,
    Repeated,
    Size,
    Text,
    Written,
)
from .passes import Measure, Pass, Reach, Slabbed, Spectral, Turn

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image
    from .pixels.pointwise import Stage
    from .space import Space, Stored, Target

__all__ = [
    "Choice", "File", "Files", "Flag", "Frame", "Given", "Kind", "Measure", "Move", "Number", "NumberOr",
    "Numbers", "Operation", "Option", "Params", "Pass", "PerAxis", "Points", "Reach", "Rectangle", "Repeated", "Size",
    "Spectral", "Text", "Together", "Traits", "Turn", "Whole", "Written", "kinds", "later", "operation_of",
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
    copies : bool
        Whether each value of the result is one of the input, as it is.
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
    copies: bool = False
    statistics: tuple[str, ...] = ()
    bytes_per_value: float = 4.0
    fixed_bytes: float = 0.0


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


def _check_pictures(params: Params) -> None:
    from .files.operands import check

    check(params)


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
        ``(gpu, image, params) → image``: planar float32 (channel, row, column). Call the record in its place.
    traits : Traits or callable
        What it wants and gives; ``(params) → Traits`` where that depends on the parameters.
    identity : callable, optional
        ``(params)`` → whether the result is the input itself. Without this function it never is.
    reach : callable, optional
        ``(gpu, shape, params)`` → the :class:`Reach` of pixels, for planes of this shape. Without this function the
        traits' kind tells it, for ``pointwise`` and ``transform``.
    fixed_bytes : callable, optional
        ``(gpu, shape, params)`` → bytes of the device's memory that stay taken while such Images come and go. Where all
        rows are needed at once: bytes that are taken in addition to the traits'.
    parts : callable, optional
        ``(params, orientation, height, width)`` → the parameters of the steps that do the same to a picture of this
        EXIF orientation, in a display window of this size. A chain on a file does these in its place.
    shrinks : callable, optional
        ``(params, orientation, height, width)`` → by how much a decoder may make such a picture smaller before: 1 for
        not at all.
    passes : callable, optional
        ``(gpu, shape, params)`` → each :class:`Pass` that does the same in place of ``function``, one after the other,
        where rows of the result are not those of the input. None: all rows of the input are needed at once.
    turn : callable, optional
        ``(params, orientation)`` → the :class:`Turn` that ``function`` does to a picture of this EXIF orientation, or
        None if it does more. By rows a spool does it.
    move : callable, optional
        ``(params, height, width)`` → the :class:`Move` of what is displayed in a window of this size, or None if
        nothing moves. Windows, resolution and positions of the file follow. Without this function the turn tells it.
    shifts : bool
        Whether pixels are shifted by what ``function`` measures, and gives as the finding ``shift`` (to the right,
        down). Positions of the file follow.
    spectral : callable, optional
        ``(gpu, shape, params)`` → the :class:`Spectral` filter that ``function`` is for planes of this shape, or None
        if it is none. By rows a spool keeps its spectra.
    slabs : callable, optional
        ``(gpu, shape, params)`` → how ``function``, which needs all rows, is done in slabs of an image on the host: a
        :class:`Slabbed`. None: it cannot be.
    whole : mapping of str to tuple
        Of parameters, the values with which the step may need all rows at once, for :meth:`words`.
    writes : bool
        Whether the step is there to show all of its input to whoever runs the chain.
    measure : callable, optional
        ``(gpu, shape, params)`` → the next :class:`Measure` of a whole picture of this shape that the step needs, or
        None.
    together : callable
        ``(params)`` → what the step needs to know of all inputs of a command, a :class:`Together`, or None.
    ends : callable, optional
        ``(gpu, source, params, decoding, target) → Stored``: the same from a file's own pixels to such pixels. Without
        a ``decoding`` the source is planes. Where rows depend on rows around them, it takes the argument ``rows``: the
        first and the end of those of the picture that the result is to have, of a source with a ``part``.
    stage : callable, optional
        ``(params, colours, channels, space) → Stage``: a pointwise operation as a function of a pixel of so many
        colours and channels, in a space. It then joins the launch that reads its result.
    joins : callable, optional
        ``(params)`` → whether ``function`` and ``ends`` take the argument ``stages``, which are done as they read.
    check : callable
        ``(params)``: raises an error for what only reading files or computing can tell to be wrong. Without this
        function the pictures that parameters name are read.
    prepare : callable, optional
        ``(gpu, params, target)``: makes what depends on parameters alone, such as weights of a kernel image, and keeps
        it; refuses parameters that do not suit the target of the last step, which is None for others.
    settled : callable
        ``(params, dtype)`` → the parameters, with values for what they leave open until the type of the output's pixels
        is known.
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
    reach: Callable[[Gpu, tuple[int, int, int], Any], Reach] | None = None
    fixed_bytes: Callable[[Gpu, tuple[int, int, int], Any], float] = lambda _gpu, _shape, _params: 0.0
    measure: Callable[[Gpu, tuple[int, int, int], Any], Measure | None] = lambda _gpu, _shape, _params: None
    together: Callable[[Any], Together | None] = lambda _params: None
    parts: Callable[[Any, int, int, int], tuple[Params, ...]] | None = None
    shrinks: Callable[[Any, int, int, int], int] | None = None
    passes: Callable[[Gpu, tuple[int, int, int], Any], tuple[Pass, ...] | None] | None = None
    turn: Callable[[Any, int], Turn | None] | None = None
    move: Callable[[Any, int, int], Move | None] = lambda _params, _height, _width: None
    shifts: bool = False
    spectral: Callable[[Gpu, tuple[int, int, int], Any], Spectral | None] = lambda _gpu, _shape, _params: None
    slabs: Callable[[Gpu, tuple[int, int, int], Any], Slabbed | None] = lambda _gpu, _shape, _params: None
    whole: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    writes: bool = False
    ends: Callable[..., Stored] | None = None
    stage: Callable[[Any, int, int, Space], Stage] | None = None
    joins: Callable[[Any], bool] = lambda _params: False
    check: Callable[[Any], object] = _check_pictures
    prepare: Callable[[Gpu, Any, Target | None], object] = lambda _gpu, _params, _target: None
    settled: Callable[[Any, Any], Params] = lambda params, _dtype: params
    examples: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, gpu: Gpu, image: Image, params: Params, **more: Any) -> Image:
        """Does :attr:`function`, and gives the Image itself where that would change nothing.

        Raises ParameterError where the Image is not planar float32 (channel, row, column).
        """
        image.check_planar()
        return image if self.identity(params) else self.function(gpu, image, params, **more)

    def reach_of(self, gpu: Gpu, shape: tuple[int, int, int], params: Params) -> Reach:
        """Returns how far values have an effect, in planes of this shape.

        Where a row does not depend on all rows, the operation takes Images that are a part of a picture.
        """
        if self.reach is not None:
            return self.reach(gpu, shape, params)
        kind = self.traits_of(params).kind
        return Reach(0) if kind == "pointwise" else Reach(spoiled=math.inf if kind == "transform" else 0)

    def moved(self, params: Params, turn: Turn | None, frame: Frame) -> Move:
        """Returns where the pixels in the display window of a frame come to; ``turn`` is what the step does, if so."""
        width, height = frame.width, frame.height
        if turn is not None:
            return Move.turn(turn.orientation, width, height)
        return self.move(params, height, width) or Move.none(width, height)

    @property
    def gathers(self) -> str | None:
        """The parameter that takes the inputs behind the first one: all inputs of a command then make one output."""
        return next((name for name, kind in kinds(self.params).items() if isinstance(kind, Files)), None)

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


def later(module: str, name: str) -> Callable[..., Any]:
    """Returns a function of a module that is imported when it is called, as ``--help`` must not wait for it."""

    def function(*args: Any, **more: Any) -> Any:
        return getattr(import_module(f".{module}", __package__), name)(*args, **more)

    return function


def operation_of(params: Params) -> Operation:
    """Returns the record that parameters belong to: it stands in their module, or in that of its name in ops."""
    module = type(params).__module__
    record: Operation | None = getattr(sys.modules[module], "OPERATION", None)
    return record or operation(module.rpartition(".")[2])
