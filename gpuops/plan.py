"""A chain on its way: what each step gets, where values are converted, and what is fused with reading and writing.

The first step reads the input's pixels and the last one writes the output's, where the operations can. Between steps
there are planes of float32, in the space that the next step wants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .chain import Chain
from .operation import Operation, Params, Traits, operation_of
from .pixels.colour import LINEAR
from .space import Stored, converted

if TYPE_CHECKING:
    import numpy.typing as npt

    from .gpu import Gpu
    from .image import Image
    from .pixels.coding import Decoding
    from .space import Target


class Step(NamedTuple):
    """A step of a plan: parameters, the record of their operation, and what it wants and gives with them."""

    params: Params
    operation: Operation
    traits: Traits
    name: str


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
    """

    steps: tuple[Step, ...]
    space: str
    linear: bool
    premultiplied: bool

    def reach(self, gpu: Gpu, shape: tuple[int, ...]) -> float:
        """Returns how many pixels away a pixel of the input has an effect on the result."""
        return sum(
            step.operation.reach(gpu, shape, step.params) for step in self.steps if step.operation.reach
        )

    @property
    def spreads(self) -> bool:
        """Whether a step may take a pixel's value to other pixels."""
        return any(step.operation.reach is not None for step in self.steps)


def plan(steps: Iterable[Params], space: str = "auto") -> Plan:
    """Plans a chain for images of which files or a caller say the space; ``space`` is that of :class:`Plan`."""
    given = tuple(steps)
    records = [(params, operation_of(params)) for params in given]
    found = [
        Step(params, operation, operation.traits_of(params), operation.name)
        for params, operation in records
        if not operation.identity(params)
    ]
    if len(found) > 1:
        counts = [step.name for step in found]
        found = [
            step._replace(name=f"{k + 1} {step.name}") if counts.count(step.name) > 1 else step
            for k, step in enumerate(found)
        ]
    # Steps that take any values get those that the first one after them wants: pixels are read once, as that.
    wants = [step.traits for step in found if step.traits.space == "light"]
    linear = bool(wants) if found else records[0][1].traits_of(given[0]).space == "light"
    return Plan(tuple(found), space, linear, bool(wants) and wants[0].premultiplied)


def run(
    gpu: Gpu,
    todo: Plan,
    source: Image,
    decoding: Decoding | None = None,
    target: Target | None = None,
    *,
    seen: Callable[[Params, Image], None] = lambda _params, _image: None,
) -> Image | Stored:
    """Does the steps of a plan.

    Parameters
    ----------
    source : Image
        Planes, or with a ``decoding`` pixels (height, width, channels) of a file; its ``space`` says what values are.
    target : Target, optional
        Where the result is going: the last step writes pixels for it, if the operation can.
    seen : callable
        It is given the parameters of each step and the planes that it made, unless they were never made.

    Returns
    -------
    Planes, or what the last step has stored for the target.
    """
    image = source
    for place, step in enumerate(todo.steps):
        with _named(gpu, step, todo):
            if decoding is None:
                image = _prepared(image, step.traits, todo.space)
            if step.operation.ends and target is not None and place == len(todo.steps) - 1:
                stored = step.operation.ends(gpu, image, step.params, decoding, target)
                return replace(stored, orientation=image.orientation)
            if decoding is not None:
                image, decoding = planes(image, decoding), None
            before = image.space
            result = step.operation.function(gpu, image, step.params)
            if result is not image and not step.traits.display:
                result.space = before
            if result is not image:
                result.owned = True
                result.orientation = result.orientation or image.orientation
            image = result
        seen(step.params, image)
    return image if decoding is None else planes(image, decoding)


def planes(pixels: Image, decoding: Decoding) -> Image:
    """Returns a file's pixels as planes in the space that they are in once they are decoded."""
    from .pixels.coding import unpack

    image = unpack(pixels, decoding)
    image.space, image.owned, image.orientation = pixels.space, True, pixels.orientation
    return image


def _prepared(image: Image, wants: Traits, space: str) -> Image:
    """Returns the image in the space that a step wants."""
    as_it_is = wants.space == "stored" or space == "encoded"
    colour = image.space.colour if as_it_is else LINEAR
    premultiplied = image.space.premultiplied if wants.space == "stored" else wants.premultiplied
    result = converted(image, colour, premultiplied=premultiplied)
    result.owned = image.owned or result is not image
    return result


@contextmanager
def _named(gpu: Gpu, step: Step, todo: Plan) -> Iterator[None]:
    """While it lasts, kernels in the report have the step's name before theirs, if there are several steps."""
    if gpu.report is None or len(todo.steps) == 1:
        yield
        return
    gpu.report.step = step.name
    try:
        yield
    finally:
        gpu.report.step = ""


def of_library(
    gpu: Gpu, chain: Chain | Sequence[Params], operand: Image | npt.ArrayLike, *, alpha: bool
) -> Any:
    """Does a chain for :meth:`gpuops.gpu.Gpu.run`."""
    from .image import Image
    from .operands import on_device, planes_of, shaped_like

    image = on_device(gpu, operand) if isinstance(operand, Image) else gpu.array(planes_of(operand))
    if not isinstance(operand, Image):
        image.alpha, image.owned = alpha, True
    result = run(gpu, plan(chain), image)
    assert not isinstance(result, Stored)
    if image.space.premultiplied != result.space.premultiplied and not result.space.display:
        result = converted(result, result.space.colour, premultiplied=image.space.premultiplied)
    return shaped_like(operand, result)
