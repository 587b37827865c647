"""The work of a chain on one input: its pixels, the steps, the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from .. import notes, plan
from ..chain import Chain
from ..files import operands
from ..files.strips import Strips
from ..image import Image, Part
from ..operation import operation_of
from ..ops.write import WriteParams
from ..tiles.flow import settled
from ..tiles.place import needed
from ..whole import needing
from . import streaming

if TYPE_CHECKING:
    from ..files import Picture
    from ..notes import Finding
    from ..operation import Params
    from ..plan import Plan, Step
    from ..space import Stored
    from .finished import Finished
    from .item import Item
    from .output import Output


def work(item: Item, chain: Chain, asides: Sequence[str]) -> list[Finding]:
    """Reads the input, does the chain, and writes the result; ``asides`` are the paths of what is written before.

    Returns what the steps have found.
    """
    findings: list[Finding] = []

    def streamed(todo: Plan, rows: Strips) -> None:
        with notes.findings_to(findings.append):
            streaming.streamed(item, todo, rows, asides)

    def as_whole(todo: Plan, found: Picture | Strips, obstacle: str) -> None:
        findings.extend(_as_whole(item, todo, found, asides, obstacle))

    _in_room(item, chain, streamed, as_whole)
    if item.gpu.report is not None:
        item.gpu.report.results += [{"input": item.path, **finding.figures} for finding in findings]
    return findings


@dataclass(frozen=True)
class Measuring:
    """Work that measures an input for the last step of a chain, and writes nothing.

    The parameters of that step depend on all inputs together: :class:`~gpuops.operation.Together`.
    """

    chain: Chain

    def __call__(self, item: Item) -> Params:
        """Returns the step's parameters with what was measured."""
        *before, last = self.chain
        together = operation_of(last).together(last)
        assert together is not None
        steps = (params for params in before if not operation_of(params).writes)
        found: list[Params] = []

        def enough(step: Step) -> bool:
            return isinstance(step.params, type(last)) and together.known(step.params)

        def streamed(todo: Plan, rows: Strips) -> None:
            found.append(streaming.measured(item, todo, rows, enough).steps[-1].params)

        def as_whole(todo: Plan, picture: Picture | Strips, obstacle: str) -> None:
            found.append(_measured_as_whole(item, todo, picture, obstacle, enough))

        with notes.to(lambda _text: None):  # the work says all that there is to say
            _in_room(item, Chain(*steps, together.alone), streamed, as_whole)
        return found[0]


def _in_room(
    item: Item,
    chain: Chain,
    streamed: Callable[[Plan, Strips], None],
    as_whole: Callable[[Plan, Picture | Strips, str], None],
) -> None:
    """Opens the input, and works on it as a whole, or by rows where there is no room for it."""
    todo = plan.plan(chain, item.options.space, item.options.light)
    found = item.opened()
    rows, picture = (found, found.picture) if isinstance(found, Strips) else (None, found)
    item.how(
        picture, linear=todo.linear, premultiply=todo.premultiplied
    )  # the output knows the input from now on
    item.output = replace(item.output, keeps_range=todo.keeps_range)
    todo = todo.settled(item.output)
    with item.naming():
        operands.check_places(picture, ((step.params, step.traits.kind) for step in todo.steps))
        large = rows is not None or streaming.is_too_large(item, todo, picture)
        obstacle = streaming.obstacle(item, todo, picture) if large else None
    if large and obstacle is None:
        streamed(todo, rows or Strips.of(picture))
        return
    if obstacle is not None:
        largest = streaming.largest_bytes(item.gpu, todo, picture)
        item.budget.check_whole(largest, f"{obstacle} needs the whole picture")

    def words() -> str | None:
        step = streaming.obstacle(item, todo, picture)
        return None if step is None else f"{step} needs the whole picture"

    with needing(item.gpu, words, partial(streaming.device_bytes, item.gpu, todo, picture)):
        as_whole(todo, found, obstacle or "this work")


def _measured_as_whole(
    item: Item, todo: Plan, found: Picture | Strips, obstacle: str, enough: Callable[[Step], bool]
) -> Params:
    """Does all steps but the last one on the whole picture, and measures the result for the last one."""
    gpu = item.gpu
    picture, how = item.read(found, linear=todo.linear, premultiply=todo.premultiplied, what=obstacle)
    *before, last = todo.steps
    for step in before:
        step.operation.prepare(gpu, step.params, None)

    def measured() -> Params:
        pixels = item.on_device(picture.pixels, how)
        image = plan.run(
            gpu, todo._replace(steps=tuple(before)), pixels, how.decoding, fuse=item.options.fuse
        )
        assert isinstance(image, Image)
        planes, height, width = image.shape
        image.part = Part(0, height)
        alone = todo._replace(steps=(last,))
        found = settled(gpu, alone, lambda *_: [image], None, (planes, height, width), enough=enough)
        return found.steps[-1].params

    return item.run(measured)


def _as_whole(
    item: Item, todo: Plan, found: Picture | Strips, asides: Sequence[str], obstacle: str
) -> list[Finding]:
    """Does the chain on the whole picture, which ``obstacle`` needs. Nothing is written before all is computed."""
    gpu = item.gpu
    picture, how = item.read(found, linear=todo.linear, premultiply=todo.premultiplied, what=obstacle)
    pixels, decoding = item.on_device(picture.pixels, how), how.decoding
    height, width, channels = pixels.shape
    streaming.prepare(item, todo)
    spreads = todo.spreads and picture.pixels.dtype.kind == "f"  # integers are finite
    if spreads:
        with item.naming():
            place = needed(gpu, todo, (channels, height, width), picture.metadata.orientation)
        item.look_at(picture.pixels, how, place)
    paths = iter(asides)
    before: list[tuple[Output, Finished]] = []

    def seen(params: Params, image: Image) -> None:
        if isinstance(params, WriteParams):
            output = item.output.aside(next(paths), params.storage)
            before.append((output, output.finished(image)))

    findings: list[Finding] = []

    def computed() -> Image | Stored:
        findings.clear()  # every run finds the same
        fuse = item.options.fuse
        with notes.findings_to(findings.append), notes.summed():
            return plan.run(gpu, todo, pixels, decoding, item.output.target, fuse=fuse, seen=seen)

    result = item.run(computed)
    item.warn_of_spread(todo.reach(gpu, (channels, height, width)) if spreads else 0)
    for output, finished in (*before, (item.output, item.output.finished(result))):
        output.write(finished)
    return findings
