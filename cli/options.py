"""Options that commands share, as decorators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields
from inspect import isroutine
from typing import Any

import click
from click.core import ParameterSource

from . import commands
from .shared import DITHER, GROUPS, STORAGE, ChoiceType, Shared, TextType

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
            raise click.UsageError(f"{reason}: leave out {spelled(option, value)}")


def spelled(option: click.Parameter, value: Any) -> str:
    """Returns an option as it was written: a flag that was turned off has another spelling."""
    off = value is False and option.secondary_opts
    return commands.longest(option.secondary_opts if off else option.opts)


def added(command: Callable[..., Any], *options: Callable[[Any], Any]) -> Any:
    """Adds options to a command, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def names(kind: type) -> tuple[str, ...]:
    """Returns the names of the options that a ``kind`` of values declares."""
    return tuple(field.name for field in fields(kind))


def gathered(
    name: str, kind: Callable[..., Any], names: Iterable[str], options: Iterable[Callable[[Any], Any]]
) -> Callable[[Any], Any]:
    """Adds options to a command, which receives the values of these ``names`` as one argument: what ``kind`` makes."""
    known = tuple(names)

    def decorated(command: Callable[..., Any]) -> Any:
        @functools.wraps(command)
        def with_one(**values: Any) -> Any:
            taken = {one: values.pop(one) for one in known if one in values}
            return command(**{name: kind(**taken)}, **values)

        return added(with_one, *options)

    return decorated


def collected(name: str, kind: type, *wanted: str) -> Callable[[Any], Any]:
    """Adds options to a command, which receives their values as one argument ``name`` of a ``kind`` of dataclass.

    They are those that the ``kind`` declares, or the ``wanted`` ones of these.
    """
    return gathered(name, kind, names(kind), [declared(one, kind) for one in wanted or names(kind)])


def declared(name: str, kind: type = Shared, more: str = "", **how: Any) -> Callable[[Any], Any]:
    """Returns the option of a name, as a ``kind`` of values declares it; ``more`` of its help, and ``how`` else.

    A field that declares no option is that of the same name among those that commands share.
    """
    field = next(field for field in fields(kind) if field.name == name)
    if not field.metadata:
        return declared(name, more=more, **how)
    known = {"default": field.default, **field.metadata, **how}
    return click_option(name, **{**known, "help": known["help"] + more})


def click_option(name: str, spellings: Sequence[str] = (), **how: Any) -> Callable[[Any], Any]:
    """Returns click's option of a name. Its ``type`` may be the names that a value may be, or a function of a text.

    The default True or False is that of a flag; one of the type bool can be turned off, too.
    """
    dashed, kind = name.replace("_", "-"), how.get("type", str)
    spellings = spellings or (f"--{dashed}/--no-{dashed}" if kind is bool else f"--{dashed}",)
    if how.get("required"):
        how.pop("default", None)  # click takes None for a value that was given
    if isinstance(how.get("default"), bool):
        how["is_flag"] = True
    elif isinstance(kind, Collection):
        how |= {"type": ChoiceType(kind), "metavar": None}
    elif (kind is str or isroutine(kind)) and not (how.get("count") or "/" in spellings[-1]):
        how["type"] = TextType(kind)
    return click.option(*spellings, name, **how)


#: Declares an argument of a command, such as a file.
argument = functools.partial(click.argument, type=TextType())


def adding(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns what adds options to a command."""
    return lambda command: added(command, *options)


def inputs(command: Any, *, required: bool = False) -> Any:
    """Adds the argument INPUT... (``-`` is stdin). There may be none on the command line if lists name them."""
    return argument("inputs", nargs=-1, required=required, metavar="INPUT...")(command)


#: Adds the options of chains, which the command receives with the shared ones.
chain = adding(*map(declared, (*GROUPS["Chain"], "table")))
#: Adds the options of noise in outputs. An operation that has such options itself keeps its own.
dithering = adding(*map(declared, DITHER))
# The names of the options that every image command has.
_SHARED = (
    "device", "dtype", *GROUPS["Colour"], *STORAGE, "alpha", "layer", "dump_kernels", "progress", "timing",
    "timing_file", "repeat", "verbose", "quiet", "memory", "device_memory",
)  # fmt: skip
#: Adds the options of every image command, which receives them as one ``shared`` argument.
shared = collected("shared", Shared, *_SHARED)


def _listed(**values: Any) -> Shared:
    from .inputs import listed

    return listed(Shared(**values))


def pictures(command: Any, *, required: bool = True) -> Any:
    """Adds what every command has that makes an output of each input, as one ``shared`` argument with every file.

    If -o is not ``required`` by click, the command asks for it itself.
    """
    how = {"required": True} if required else {"more": "  [required]"}
    others = ("overwrite", "format", *_SHARED, "drop_layers", "frames", *GROUPS["Many inputs"], "scratch")
    all_options = [inputs, declared("output", **how), *map(declared, others)]
    return gathered("shared", _listed, names(Shared), all_options)(command)


def all_shared() -> list[click.Option]:
    """Returns every option that commands share, without --help."""

    everything = added(lambda **_values: None, command("all"), pictures, dithering, chain)
    return [param for param in everything.params if isinstance(param, click.Option)]
