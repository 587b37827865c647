"""The work of a chain on one input: its pixels, the steps, the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import plan
from ..files.strips import Strips
from ..ops.write import WriteParams
from . import streaming

if TYPE_CHECKING:
    from ..chain import Chain
    from ..image import Image
    from ..operation import Params
    from ..space import Stored
    from .item import Item


def work(item: Item, chain: Chain, asides: Sequence[str]) -> None:
    """Reads the input, does the chain, and writes the result; ``asides`` are the paths of what is written before."""
    gpu = item.gpu
    todo = plan.plan(chain, item.options.space)
    found = item.opened()
    rows, picture = (found, found.picture) if isinstance(found, Strips) else (None, found)
    with item.naming():
        large = rows is not None or streaming.is_too_large(item, todo, picture)
        by_rows = large and streaming.obstacle(item, todo, picture) is None
    if by_rows:
        streaming.streamed(item, todo, rows or Strips.of(picture), asides)
        return
    picture, how = item.read(found, linear=todo.linear, premultiply=todo.premultiplied)
    pixels, decoding = item.on_device(picture.pixels, how, count=todo.spreads), how.decoding
    height, width, channels = pixels.shape
    for step in todo.steps:
        step.operation.prepare(gpu, step.params, item.output if step is todo.steps[-1] else None)
    paths = iter(asides)

    def seen(params: Params, image: Image) -> None:
        if isinstance(params, WriteParams):
            replace(item.output, path=next(paths)).save_result(image)

    def computed() -> Image | Stored:
        fuse = item.options.fuse
        target = item.output if fuse else None
        return plan.run(gpu, todo, pixels, decoding, target, fuse=fuse, seen=seen)

    result = item.run(computed)
    item.warn_of_spread(todo.reach(gpu, (channels, height, width)) if todo.spreads else 0)
    item.output.save_result(result)
