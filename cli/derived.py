"""Commands derived from what operations declare, and chains of them, joined by the word ``then``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import click
from click.core import ParameterSource

from gpuops.chain import Chain
from gpuops.errors import ParameterError
from gpuops.operation import Given, Operation, Option, Params
from gpuops.ops import OPERATIONS, STEPS
from gpuops.ops import operation as declared
from gpuops.params.toml import nearest

from . import commands, messages, options
from .shared import DITHER, Shared

#: The word between the parts of a chain.
THEN = "then"
#: Commands that have more options than their operation: the module that has these.
_EXTRAS = {"tonemap": "looks", "bloom": "glows", "ocio": "listing"}


class Derived(commands.DeviceCommand):
    """The command of an operation. Behind its own arguments other operations may follow, each after ``then``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first, *later = _parts(args)
        rest = super().parse_args(ctx, first)
        if not ctx.resilient_parsing:
            for name in DITHER:  # an operation may lack them, and a later part have them
                ctx.params.setdefault(name, getattr(Shared, name))
            ctx.meta[THEN] = [_later(ctx, part) for part in later]
            for context in ctx.meta[THEN]:
                _take_shared(ctx, context)
            if not ctx.params["output"]:
                raise messages.missing(ctx, "output")
        return rest


def _parts(args: Sequence[str]) -> list[list[str]]:
    """Splits arguments at ``then``."""
    ends = [i for i, arg in enumerate(args) if arg == THEN]
    return [list(args[a:b]) for a, b in zip([0, *(i + 1 for i in ends)], [*ends, len(args)], strict=True)]


def _later(ctx: click.Context, part: list[str]) -> click.Context:
    """Parses a part behind a ``then``, in a context of its own."""
    if not part or part[0].startswith("-"):
        ctx.fail("an operation follows 'then', such as: then blur --sigma 2 (a file of that name is ./then)")
    name, *args = part
    if name == "write":
        if args[:1] in (["-o"], ["--output"]):
            ctx.fail(f"write is followed by its file: leave out {args[0]} behind it")
        writer: click.Context = _write().make_context(name, args, parent=ctx.parent)
        return writer
    if name not in OPERATIONS:
        program = ctx.find_root().command
        if isinstance(program, click.Group) and name in program.list_commands(ctx):
            ctx.fail(f"{name} does not make a picture of a picture: it cannot stand in a chain")
        ctx.fail(f"no operation {name!r}{nearest(name, STEPS)}")
    context = _part(name).make_context(name, args, parent=ctx.parent)
    if context.params.get("inputs"):
        context.fail(f"inputs stand before the first 'then': move {context.params['inputs'][0]} there")
    return context


def _take_shared(ctx: click.Context, part: click.Context) -> None:
    """Takes the shared options that a later part has as if the first part had them."""
    own = {option.name for option in declared(part.info_name or "").params.options()} | {"inputs"}
    for name, value in part.params.items():
        if name in own or part.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if name not in ctx.params:
            part.fail(f"{_spelled(part, name)} stands alone: it has no place in a chain")
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            part.fail(f"{_spelled(part, name)} is given in two parts: give it once")
        ctx.params[name] = value
        ctx.set_parameter_source(name, ParameterSource.COMMANDLINE)


@cache
def _write() -> click.Command:
    """The part of a chain that writes what it has come to: … then write FILE then …"""
    about = options.command("write", help="Write what a chain has come to: … then write FILE then …")
    own = (option for option in declared("write").params.options() if option.name != "output")
    part: click.Command = options.added(
        lambda **_values: None, about, with_options(own), options.argument("output", metavar="FILE")
    )
    return part


@cache
def _part(name: str) -> click.Command:
    """The command of an operation as a later part of a chain, which needs neither inputs nor an output."""
    whole = command(name)
    return commands.Strict(name, params=whole.params, callback=whole.callback, help=whole.help)


@cache
def command(name: str) -> click.Command:
    """The command of one of :data:`OPERATIONS`, with an option for each of its parameters."""
    operation = declared(name)
    extras = import_module(f".{_EXTRAS[name]}", __package__) if name in _EXTRAS else None

    def run(shared: Shared, looks: Any = None, **_values: Any) -> None:
        from .chains import check_files, files_of, process_chain
        from .pipeline import process

        context = click.get_current_context()
        parts = [context, *context.meta.get(THEN, ())]
        if looks is not None and looks.asked:
            if len(parts) > 1 or shared.save_recipe or shared.explain:
                context.fail("--contact-sheet and --plot-curve stand alone: they have no place in a chain")
            with _usage(context):
                params, asked = looks.read(_written(operation, context))
            check_files(shared, [params])
            process(shared, name, looks.work(shared, params, asked), also_read=files_of([params]))
            return
        if looks is not None:
            looks.refuse_needless()
        steps = [_params(declared(part.info_name or ""), part) for part in parts]
        if (files := operation.gathers) is not None:  # inputs behind the first one come before further files
            gathered: dict[str, Any] = {files: (*shared.inputs[1:], *getattr(steps[0], files))}
            steps[0] = replace(steps[0], **gathered)
            shared = replace(shared, inputs=shared.inputs[:1], below=shared.below[:1])
        process_chain(shared, Chain(*steps), "-".join(part.info_name or "" for part in parts))

    run.__doc__ = operation.about
    own = operation.params.options()
    groups = {**operation.groups, **(extras.GROUPS if extras is not None else {})}
    more = [] if extras is None else [extras.options]
    if not any(option.name == "dither" for option in own):
        more.append(options.dithering)
    result: click.Command = options.added(
        run,
        options.command(cls=Derived, examples=operation.examples, groups=groups),
        partial(options.pictures, required=False),
        options.chain,
        *more,
        with_options(own),
    )
    return result


def _params(operation: Operation, context: click.Context) -> Params:
    """Makes an operation's parameters of a command line; what is wrong with them is a usage error of that command."""
    if operation.name == "write":
        return operation.params(**context.params)
    with _usage(context):
        return operation.params.of_options(_written(operation, context))


@contextmanager
def _usage(context: click.Context) -> Iterator[None]:
    """Turns a ParameterError into a usage error. An input that is a folder is the error to be told first."""
    try:
        yield
    except ParameterError as error:
        from gpuops.batch.access import check_input

        if not context.params.get("recursive"):
            for path in filter(os.path.isdir, context.params.get("inputs", ())):
                check_input(path)
        raise click.UsageError(str(error), context) from None


def _written(operation: Operation, context: click.Context) -> Given:
    """Returns the options of an operation that stand on the command line."""
    given = {}
    for option in operation.params.options():
        if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            given[option.name] = list(value) if option.multiple else value
    return Given(given, partial(_spelled, context))


def _spelled(context: click.Context, name: str) -> str:
    """Returns an option as it was written: a flag that was turned off has another spelling."""
    for option in context.command.params:
        if option.name == name:
            return options.spelled(option, context.params.get(name))
    return f"--{name.replace('_', '-')}"


def with_options(own: Iterable[Option]) -> Callable[[Any], Any]:
    """Adds options of an operation to a command."""
    return options.adding(*map(_click_option, own))


def collected(name: str, params: type[Params], called: Mapping[str, str]) -> Callable[[Any], Any]:
    """Adds some options of an operation to a command, which receives their values as attributes of one argument.

    ``called``: what each of them is called in the command, by its name in the operation.
    """
    own = (option._replace(name=called[option.name]) for option in params.options() if option.name in called)
    known = {option.name: _click_option(option) for option in own}
    return options.gathered(name, SimpleNamespace, known, known.values())


def _click_option(option: Option) -> Any:
    """Returns the click option for one of an operation's."""
    shown = option.default is not None and option.type is not bool
    return options.click_option(**option._asdict(), show_default=shown)
