"""Options that commands share, as decorators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from . import commands
from .shared import DITHER, GROUPS, STORAGE, ChainOptions, Shared

Command = TypeVar("Command", bound=Callable[..., Any])


# The declaration of a command: click.command, with the kind of commands that takes nothing in silence.
command = functools.partial(click.command, cls=commands.Command)


def given(name: str) -> bool:
    """Says whether an option stands on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse(reason: str, *names: str) -> None:
    """Raises a usage error if one of these options was given though it can have no effect: to accept it would mislead.

    An option that is left to ``auto``, its default, asks for nothing. An option that other options' values leave
    without effect (the border of a blur by 0) is accepted: scripts vary values.
    """
    context = click.get_current_context()
    for option in context.command.params:
        if option.name not in names or not given(option.name):
            continue
        value = context.params[option.name]
        if value != "auto" or option.default != "auto":
            spellings = option.secondary_opts if value is False and option.secondary_opts else option.opts
            raise click.UsageError(f"{reason}: leave out {max(spellings, key=len)}")


def added(command: Callable[..., Any], *options: Callable[[Any], Any]) -> Any:
    """Adds options to a command, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def collected(name: str, kind: type, *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Adds options to a command, which receives their values as one argument ``name`` of a ``kind`` of dataclass.

    Without ``options`` they are those that the ``kind`` declares.
    """
    options = options or tuple(declared(field.name, kind) for field in fields(kind))

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def with_one(**values: Any) -> Any:
            taken = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
            return command(**{name: kind(**taken)}, **values)

        return cast("Command", added(with_one, *options))

    return decorated


def declared(name: str, kind: type = Shared, more: str = "", **how: Any) -> Callable[[Any], Any]:
    """Returns the option of a name, as a ``kind`` of values declares it; ``more`` of its help, and ``how`` else."""
    field = next(field for field in fields(kind) if field.name == name)
    known: dict[str, Any] = {**field.metadata, "default": field.default, **how}
    spellings = known.pop("spellings") or (f"--{name.replace('_', '-')}",)
    known["help"] += more
    if isinstance(field.default, bool):
        known["is_flag"] = True
    return click.option(*spellings, name, **known)


def inputs(command: Command, *, required: bool = False) -> Command:
    """Adds the argument INPUT... (``-`` is stdin). With :func:`batch` there may be none on the command line."""
    return click.argument("inputs", nargs=-1, required=required, metavar="INPUT...")(command)


def output(command: Command, *, required: bool = True) -> Command:
    """Adds -o, --overwrite and --format. If -o is not ``required`` by click, the command asks for it itself."""
    how = {"required": True} if required else {"more": "  [required]"}
    return cast("Command", added(command, declared("output", **how), *map(declared, ("overwrite", "format"))))


def chain(command: Command) -> Command:
    """Adds the options of chains, which the command receives as one ``chain`` argument."""
    return collected("chain", ChainOptions)(command)


device, memory, device_memory = map(declared, ("device", "memory", "device_memory"))


def dithering(command: Command) -> Command:
    """Adds the options of noise in outputs. An operation that has such options itself keeps its own."""
    return cast("Command", added(command, *map(declared, DITHER)))


def batch(command: Command) -> Command:
    """Adds the options of commands that take many inputs; their ``shared`` has every file as an input then."""

    @functools.wraps(command)
    def with_all(shared: Shared, **values: Any) -> Any:
        from .inputs import listed

        return command(shared=listed(shared), **values)

    names = ("frames", *GROUPS["Many inputs"], "memory", "device_memory", "scratch")
    return cast("Command", added(with_all, *map(declared, names)))


def shared(command: Command) -> Command:
    """Adds the options of every image command, which receives them as one ``shared`` argument."""
    names = (
        "device", "dtype", *GROUPS["Colour"], *STORAGE, "alpha", "layer", "dump_kernels", "progress", "timing",
        "timing_file", "repeat", "verbose", "quiet",
    )  # fmt: skip
    return collected("shared", Shared, *map(declared, names))(command)


def all_shared() -> list[click.Option]:
    """Returns every option that commands share, without --help."""

    @command("all")
    @chain
    @dithering
    @batch
    @shared
    @output
    def everything() -> None:
        pass

    return [param for param in everything.params if isinstance(param, click.Option)]
