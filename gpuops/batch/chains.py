"""The work of a chain on one input: its pixels, the steps, the result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from .. import notes, plan
from ..files.strips import Strips
from ..ops.write import WriteParams
from ..whole import needing
from . import streaming

if TYPE_CHECKING:
    from ..chain import Chain
    from ..files import Picture
    from ..image import Image
    from ..notes import Finding
    from ..operation import Params
    from ..plan import Plan
    from ..space import Stored
    from .item import Item
    from .output import Finished, Output


def work(item: Item, chain: Chain, asides: Sequence[str]) -> list[Finding]:
    """Reads the input, does the chain, and writes the result; ``asides`` are the paths of what is written before.

    Returns what the steps have found.
    """
    todo = plan.plan(chain, item.options.space, item.options.light)
    found = item.opened()
    rows, picture = (found, found.picture) if isinstance(found, Strips) else (None, found)
    todo = todo.settled(item.output)
    with item.naming():
        large = rows is not None or streaming.is_too_large(item, todo, picture)
        obstacle = streaming.obstacle(item, todo, picture) if large else None
    if large and obstacle is None and item.options.strip and picture.metadata.orientation != 1:
        obstacle = "turning it upright for --strip"
    if large and obstacle is None:
        streaming.streamed(item, todo, rows or Strips.of(picture), asides)
        return []
    if obstacle is not None:
        item.check_room(streaming.largest_bytes(item.gpu, todo, picture), obstacle)

    def words() -> str | None:
        step = streaming.obstacle(item, todo, picture)
        return None if step is None else f"{step} needs the whole picture"

    with needing(item.gpu, words, partial(streaming.device_bytes, item.gpu, todo, picture)):
        return _as_whole(item, todo, found, asides, obstacle or "this work")


def _as_whole(
    item: Item, todo: Plan, found: Picture | Strips, asides: Sequence[str], obstacle: str
) -> list[Finding]:
    """Does the chain on the whole picture, which ``obstacle`` needs. Nothing is written before all is computed."""
    gpu = item.gpu
    picture, how = item.read(found, linear=todo.linear, premultiply=todo.premultiplied, what=obstacle)
    pixels, decoding = item.on_device(picture.pixels, how, count=todo.spreads), how.decoding
    height, width, channels = pixels.shape
    item.output.check_dither(display=any(step.traits.display for step in todo.steps))
    for step in todo.steps:
        step.operation.prepare(gpu, step.params, item.output if step is todo.steps[-1] else None)
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
        with notes.findings_to(findings.append):
            return plan.run(gpu, todo, pixels, decoding, item.output.target, fuse=fuse, seen=seen)

    result = item.run(computed)
    item.warn_of_spread(todo.reach(gpu, (channels, height, width)) if todo.spreads else 0)
    for output, finished in (*before, (item.output, item.output.finished(result))):
        output.write(finished)
    if gpu.report is not None:
        gpu.report.results += [{"input": item.path, **finding.figures} for finding in findings]
    return findings
