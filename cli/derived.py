"""Commands derived from what operations declare."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from gpuops.operation import Choice, Flag, Kind, Number, kinds
from gpuops.ops import OPERATIONS
from gpuops.ops import operation as declared

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .item import Item


@cache
def command(name: str) -> click.Command:
    """The command of one of :data:`OPERATIONS`, with an option for each of its parameters."""
    operation = declared(name)

    def run(shared: options.Shared, **values: Any) -> None:
        from .pipeline import process

        params = operation.params(**values)
        identity = operation.identity(params)
        # Where nothing is done, colours hidden under alpha 0 need not be lost to premultiplication.
        premultiply = operation.premultiplies(params) and not identity
        stored = operation.works_on_stored(params)

        def work(gpu: Gpu, item: Item) -> None:
            image = item.load(linear=not stored, premultiply=premultiply, count=True)
            item.warn_of_spread(0 if identity else operation.reach(gpu, image, params))
            item.save(item.run(operation.function, gpu, image, params))

        process(shared, operation.name, work)

    run.__doc__ = operation.params.__doc__
    made: Any = run
    defaults = {field.name: field.default for field in fields(operation.params)}
    for parameter, kind in reversed(kinds(operation.params).items()):
        made = _option(parameter, kind, defaults[parameter])(made)
    summary = options.command(short_help=OPERATIONS[name])
    for decorator in (options.shared, options.output, options.inputs, summary):
        made = decorator(made)
    found: click.Command = made
    return found


def _option(name: str, kind: Kind, default: Any) -> Any:
    option = f"--{name.replace('_', '-')}"
    given: dict[str, Any] = {"help": kind.help}
    if default is MISSING:
        given["required"] = True
    else:
        given |= {"default": default, "show_default": default is not None}
    if isinstance(kind, Flag):
        return click.option(f"{option}/--no-{name.replace('_', '-')}", name, **given)
    if isinstance(kind, Choice):
        return click.option(option, name, type=options.Choice(kind.names), **given)
    if isinstance(default, tuple):
        given["default"] = kind.text(default)
    if isinstance(kind, Number):
        given["type"] = float
    return click.option(option, name, metavar=kind.metavar, **given)
