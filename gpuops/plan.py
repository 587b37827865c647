"""A chain on its way: what each step gets, where values are converted, and what is fused with reading and writing.

The first step reads the input's pixels and the last one writes the output's, where the operations can. Between steps
there are planes of float32, in the space that the next step wants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

from .errors import ParameterError
from .image import Image
from .operation import Operation, Params, Traits, operation_of
from .pixels.coding import Decoding, unpack
from .pixels.colour import LINEAR, Colour
from .pixels.conversion import conversion, converted, is_direct
from .pixels.pointwise import Stage, each
from .space import Space, Stored, Target

if TYPE_CHECKING:
    from .gpu import Gpu


class Step(NamedTuple):
    """A step of a plan: parameters, the record of their operation, and what it wants and gives with them."""

    params: Params
    operation: Operation
    traits: Traits
    name: str

    @classmethod
    def of(cls, params: Params, name: str = "") -> Step:
        """Returns the step with these parameters. Its name is the operation's, unless another one is given."""
        operation = operation_of(params)
        return cls(params, operation, operation.traits_of(params), name or operation.name)


class Plan(NamedTuple):
    """The steps of a chain that do something.

    Attributes
    ----------
    steps : tuple of Step
    space : str
        ``auto``: each step gets light or stored values, as it wants; ``linear``: all get light; ``encoded``: all get
        values as they are stored.
    linear : bool
        Whether the first step is to get light.
    premultiplied : bool
        Whether the first step is to get colours multiplied by alpha.
    several : bool
        Whether the steps have names in reports, as there are several in the chain.
    light : Colour
        The light that steps work on, by its primaries.
    """

    steps: tuple[Step, ...]
    space: str
    linear: bool
    premultiplied: bool
    several: bool = False
    light: Colour = LINEAR

    def reach(self, gpu: Gpu, shape: tuple[int, int, int]) -> float:
        """Returns how many pixels away a value of the input that is not finite spoils the result."""
        return sum(step.operation.reach_of(gpu, shape, step.params).spoiled for step in self.steps)

    def settled(self, output: Target) -> Plan:
        """Returns the plan with values for what its parameters leave open until the output's depth is known."""
        dtype = output.depth(display=any(step.traits.display for step in self.steps))
        steps = (step._replace(params=step.operation.settled(step.params, dtype)) for step in self.steps)
        return self._replace(steps=tuple(steps))

    @property
    def keeps_range(self) -> bool:
        """Whether values of 0 … 1 stay there, but for overshoot."""
        return all(step.traits.keeps_range for step in self.steps)


def plan(steps: Iterable[Params], space: str = "auto", light: Colour = LINEAR) -> Plan:
    """Plans a chain for images of which files or a caller say the space.

    ``space`` and ``light`` are those of :class:`Plan`.
    """
    given = [Step.of(params) for params in steps]
    chain = [step for step in given if not step.operation.identity(step.params)]
    if len(chain) > 1:
        counts = [step.name for step in chain]
        chain = [
            step._replace(name=f"{k + 1} {step.name}") if counts.count(step.name) > 1 else step
            for k, step in enumerate(chain)
        ]
    # Steps that take any values get those that the first one after them wants: pixels are read once, as that.
    wants = [step.traits for step in chain if step.traits.space != "stored"]
    first = wants[0] if wants else Traits("stored" if chain else given[0].traits.space)
    _check_order(chain, space)
    return Plan(tuple(chain), space, first.space == "light", first.premultiplied, len(chain) > 1, light)


def _check_order(steps: Sequence[Step], space: str) -> None:
    """Refuses a step for values as they are behind one that made light of them, and the other way round."""
    light = space == "linear"
    for step in steps:
        wants = step.traits.space
        if wants == "as is" and light:
            made = space == "linear"
            hint = "--space linear makes light of values" if made else "a step before it wants light"
            raise ParameterError(
                f"{step.name} takes values in a space that it names, and {hint}: "
                "leave out its --from, or add --space encoded"
            )
        if wants != "stored":
            light = space != "encoded" and wants == "light" and not step.traits.asked


def launches(todo: Plan) -> list[tuple[Step, ...]]:
    """Returns the steps of a plan for a file, in groups that :func:`run` does at once.

    Steps that are functions of a pixel join each other, and the next step if that can do them as it reads.
    """
    groups: list[tuple[Step, ...]] = []
    waiting: tuple[Step, ...] = ()
    for step in todo.steps:
        if step.operation.stage is not None:
            waiting += (step,)
            continue
        # Without planes only a step that reads and writes a file's pixels takes them through stages.
        ends = step.operation.ends is not None and step is todo.steps[-1]
        if waiting and not (step.operation.joins(step.params) and (ends or groups)):
            groups.append(waiting)
            waiting = ()
        groups.append((*waiting, step))
        waiting = ()
    return [*groups, waiting] if waiting else groups


class LaunchInput(NamedTuple):
    """What the next launch reads: planes, or with a decoding a file's pixels, and the stages that they go through.

    ``space`` is that of the values behind the stages, and ``orientation`` is the picture's.
    """

    image: Image
    decoding: Decoding | None
    space: Space
    orientation: int | None
    stages: tuple[Stage, ...] = ()

    @classmethod
    def of(cls, image: Image) -> LaunchInput:
        """Returns planes as they are."""
        return cls(image, None, image.space, image.orientation)

    @property
    def alpha(self) -> bool:
        """Whether the last channel is alpha."""
        return self.image.alpha if self.decoding is None else self.decoding.alpha

    @property
    def channels(self) -> int:
        """The number of channels, alpha among them."""
        return self.image.shape[0 if self.decoding is None else 2]

    def through(self, stage: Stage, space: Space) -> LaunchInput:
        """Returns the same with one more stage, behind which values are in ``space``."""
        return self._replace(stages=(*self.stages, stage), space=space)

    def as_light(self) -> LaunchInput:
        """Returns the same for a step that makes light of it. Raises ParameterError for an unknown space."""
        if self.space.unknown:
            raise ParameterError(
                f"values are {self.space.unknown}, which is not known here, and a step wants light: "
                "put that step before, or add --space encoded"
            )
        image, space = copy(self.image), replace(self.space, as_is=False)
        image.space = replace(image.space, as_is=False)
        return self._replace(image=image, space=space)

    def read(self, gpu: Gpu) -> Image:
        """Returns the planes behind the stages."""
        if self.decoding is None and not self.stages:
            return self.image
        if self.stages:
            image, _ = each(gpu, self.image, self.stages, self.decoding)
        else:
            assert self.decoding is not None
            image = planes(self.image, self.decoding)
        image.space, image.owned, image.orientation = self.space, True, self.orientation
        return image

    def stored(self, gpu: Gpu, target: Target) -> Stored:
        """Returns them as pixels for a target."""
        encoding = target.encoding(self.space)
        pixels, lost = each(gpu, self.image, self.stages, self.decoding, encoding)
        assert lost is not None
        return Stored(pixels, lost, self.space, orientation=self.orientation)


def run(
    gpu: Gpu,
    todo: Plan,
    source: Image,
    decoding: Decoding | None = None,
    target: Target | None = None,
    *,
    fuse: bool = True,
    seen: Callable[[Params, Image], None] = lambda _params, _image: None,
) -> Image | Stored:
    """Does the steps of a plan.

    Parameters
    ----------
    source : Image
        Planes, or with a ``decoding`` pixels (height, width, channels) of a file; its ``space`` says what values are.
    target : Target, optional
        Where the result is going: the last launch writes pixels for it, if the operation can.
    fuse : bool
        Whether steps that are functions of a pixel join the launch that reads their result. Else each step reads planes
        and gives planes, and there is no target.
    seen : callable
        It is given the parameters of each step and the planes that it made, unless they were never made.

    Returns
    -------
    Planes, or what the last step has stored for the target.
    """
    at, part = LaunchInput(source, decoding, source.space, source.orientation), source.part
    waiting: list[str] = []  # the steps that the next launch does as it reads
    for step in todo.steps:
        operation, last = step.operation, step is todo.steps[-1]
        if at.decoding is None or at.stages or todo.light != LINEAR:
            at = _prepared(gpu, at, step.traits, todo)
        if fuse and operation.stage is not None:
            stage = operation.stage(step.params, at.channels - at.alpha, at.channels, at.space)
            at = at.through(stage, at.space)
            waiting.append(step.name)
            continue
        ends = operation.ends if target is not None and last and not at.space.stays else None
        joins = fuse and at.stages and operation.joins(step.params) and (ends or at.decoding is None)
        if not joins and (at.stages or not ends):
            with _named(gpu, waiting or [step.name], todo):
                at, waiting = LaunchInput.of(at.read(gpu)), []
        with _named(gpu, [*waiting, step.name], todo):
            more = {"stages": at.stages} if joins else {}
            image = at.image
            if joins:
                image = copy(image)  # whose space is that behind the stages
                image.space = at.space
            image.part = part
            if ends:
                assert target is not None
                stored = ends(gpu, image, step.params, at.decoding, target, **more)
                return replace(stored, orientation=at.orientation)
            result = operation(gpu, image, step.params, **more)
        if result is not image:
            if not (step.traits.display or step.traits.asked):
                result.space = image.space
            result.owned = True
            result.orientation = result.orientation or at.orientation
        at, waiting = LaunchInput.of(result), []
        seen(step.params, result)
    with _named(gpu, waiting, todo):
        if at.stages and target is not None and not at.space.stays:
            return at.stored(gpu, target)
        result = at.read(gpu)
        result.part = part
        return result


def planes(pixels: Image, decoding: Decoding) -> Image:
    """Returns a file's pixels as planes in the space that they are in once they are decoded."""
    image = unpack(pixels, decoding)
    image.space, image.owned, image.orientation = pixels.space, True, pixels.orientation
    return image


def prepared(gpu: Gpu, image: Image, wants: Traits, todo: Plan) -> Image:
    """Returns planes in the space that a step of a plan wants."""
    values = _prepared(gpu, LaunchInput.of(image), wants, todo).read(gpu)
    values.part = image.part
    return values


def _prepared(gpu: Gpu, at: LaunchInput, wants: Traits, todo: Plan) -> LaunchInput:
    """Returns the source in the space that a step wants."""
    as_it_is = wants.space != "light" or todo.space == "encoded"
    colour = LINEAR if wants.rec709 else todo.light
    colour = at.space.colour if as_it_is or at.space.data else colour
    premultiplied = at.space.premultiplied if wants.space == "stored" else wants.premultiplied
    if not as_it_is and at.space.as_is:
        at = at.as_light()
    if not is_direct(at.space.colour, colour):
        image = at.read(gpu)
        result = converted(image, colour, premultiplied=premultiplied)
        result.owned, result.orientation = True, at.orientation
        return LaunchInput.of(result)
    stage, after = conversion(at.space, colour, alpha=at.alpha, premultiplied=premultiplied)
    return at if stage is None else at.through(stage, after)


@contextmanager
def _named(gpu: Gpu, names: Iterable[str], todo: Plan) -> Iterator[None]:
    """While it lasts, kernels in the report have the names of steps before theirs, if there are several steps."""
    if gpu.report is None or not todo.several:
        yield
        return
    gpu.report.step = " + ".join(names)
    try:
        yield
    finally:
        gpu.report.step = ""


def of_library(gpu: Gpu, chain: Sequence[Params], operand: Image | npt.ArrayLike, *, alpha: bool) -> Any:
    """Does a chain for :meth:`gpuops.gpu.Gpu.run`."""
    from .operands import on_device, planes_of, shaped_like

    image = on_device(gpu, operand) if isinstance(operand, Image) else gpu.array(planes_of(operand))
    if not isinstance(operand, Image):
        image.alpha, image.owned = alpha, True
    result = run(gpu, plan(chain), image)
    assert not isinstance(result, Stored)
    if image.space.premultiplied != result.space.premultiplied and not result.space.display:
        result = converted(result, result.space.colour, premultiplied=image.space.premultiplied)
    return shaped_like(operand, result)
