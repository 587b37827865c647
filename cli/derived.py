"""Commands derived from what operations declare."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import click

from gpuops.operation import Choice, Kind, Operation, kinds

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .item import Item


def command(operation: Operation, short_help: str) -> click.Command:
    """The command of an operation, with an option for each of its parameters."""

    def run(shared: options.Shared, **values: Any) -> None:
        from .pipeline import process

        params = operation.params(**values)
        identity = operation.identity(params)

        def work(gpu: Gpu, item: Item) -> None:
            # Where nothing is done, colours hidden under alpha 0 need not be lost to premultiplication.
            image = item.load(linear=True, premultiply=operation.premultiply and not identity, count=True)
            item.warn_of_spread(0 if identity else operation.reach(gpu, image, params))
            item.save(item.run(operation.function, gpu, image, params))

        process(shared, operation.name, work)

    run.__doc__ = operation.params.__doc__
    declared: Any = run
    defaults = {field.name: field.default for field in fields(operation.params)}
    for name, kind in reversed(kinds(operation.params).items()):
        declared = _option(name, kind, defaults[name])(declared)
    for decorator in (options.shared, options.output, options.inputs, options.command(short_help=short_help)):
        declared = decorator(declared)
    found: click.Command = declared
    return found


def _option(name: str, kind: Kind, default: Any) -> Any:
    given: dict[str, Any] = (
        {"required": True} if default is MISSING else {"default": default, "show_default": True}
    )
    if isinstance(kind, Choice):
        given |= {"type": options.Choice(kind.names)}
    else:
        given |= {"type": float, "metavar": kind.unit.upper() or "X"}
    return click.option(f"--{name.replace('_', '-')}", name, help=kind.help, **given)
