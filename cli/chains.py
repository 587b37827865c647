"""The work of a chain on every input: what each command of an operation, and each recipe, comes down to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import click

from gpuops.chain import Chain
from gpuops.errors import ParameterError
from gpuops.operation import Params
from gpuops.ops.write import WriteParams
from gpuops.params.files import FileOperand
from gpuops.params.lut import LutParams

from . import naming, options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu
    from gpuops.image import Image
    from gpuops.space import Stored

    from .item import Item


def process_chain(shared: options.Shared, how: options.ChainOptions, chain: Chain, name: str) -> None:
    """Does the chain on every input; ``name``: what {op} stands for in an output's name."""
    from gpuops.files.output import atomic, check_place

    from .pipeline import process

    if how.explain:
        from .explain import explain

        click.echo(explain(shared, chain, fuse=how.fuse))
        return
    asides = _asides(shared, chain, name)
    if how.save_recipe is not None:
        check_place(how.save_recipe, overwrite=shared.overwrite, inputs=shared.inputs)
        text = chain.to_toml()

    def each(gpu: Gpu, item: Item) -> None:
        work(
            gpu, item, chain, {params: paths[item.output] for params, paths in asides.items()}, fuse=how.fuse
        )

    process(shared, name, each, also_read=files_of(chain))
    if how.save_recipe is not None:
        with (
            atomic(how.save_recipe, overwrite=shared.overwrite) as draft,
            open(draft, "w", encoding="utf-8") as file,
        ):
            file.write(text)


def _asides(shared: options.Shared, chain: Chain, name: str) -> dict[WriteParams, dict[str, str]]:
    """Where each step that writes puts its picture, by the output that it is for; what cannot be written is refused."""
    from .checks import check_output

    found: dict[WriteParams, dict[str, str]] = {}
    taken: set[str] = set()
    for params in chain:
        if not isinstance(params, WriteParams):
            continue
        if shared.repeat > 1:
            raise click.UsageError("what is written on the way is written once: leave out --repeat")
        paths = naming.outputs_for(shared.inputs, params.output, name)
        assert shared.output is not None
        outputs = naming.outputs_for(shared.inputs, shared.output, name)
        taken.update(map(os.path.realpath, outputs))
        for path in paths:
            if os.path.realpath(path) in taken:
                raise click.UsageError(f"{path} would be written twice: name another file")
            if path == naming.STREAM:
                raise click.UsageError("'write' needs a file's name; -o - is for the result")
            check_output(replace(shared, output=params.output), path, files_of(chain))
        taken.update(map(os.path.realpath, paths))
        found[params] = dict(zip(outputs, paths, strict=True))
    return found


def files_of(chain: Iterable[Params]) -> list[str]:
    """The files that a chain reads beside its inputs."""
    found = []
    for params in chain:
        for field in fields(params):
            value = getattr(params, field.name)
            file = value.lut if isinstance(value, LutParams) else value
            if isinstance(file, FileOperand):
                found.append(file.path)
    return found


def work(gpu: Gpu, item: Item, chain: Chain, asides: dict[WriteParams, str], *, fuse: bool) -> None:
    """One input: its pixels, the steps, its result."""
    with gpu.phase("import"):  # while the first input is being read
        from gpuops import plan

    todo = plan.plan(chain, item.shared.space)
    pixels, decoding = item.load_pixels(
        linear=todo.linear, premultiply=todo.premultiplied, count=todo.spreads
    )
    height, width, channels = pixels.shape
    for step in todo.steps:
        try:
            step.operation.prepare(gpu, step.params, item.target if step is todo.steps[-1] else None)
        except ParameterError as error:
            raise click.UsageError(str(error), click.get_current_context()) from None

    def seen(params: Params, image: Image) -> None:
        if isinstance(params, WriteParams):
            item.save_aside(image, asides[params])

    def computed() -> Image | Stored:
        target = item.target if fuse else None
        return plan.run(gpu, todo, pixels, decoding, target, fuse=fuse, seen=seen)

    result = item.run(computed)
    item.warn_of_spread(todo.reach(gpu, (channels, height, width)) if todo.spreads else 0)
    item.save_result(result)
