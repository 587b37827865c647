"""Commands that ignore no option: they refuse options that click would accept, or complain about wrongly."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from gpuops import notes

from .messages import near, say

# The most commands that a message names as having an option.
_FEW = 4
# Click's words on a number that is malformed or out of range, and plainer ones.
_PLAIN = (
    (r"is not a valid integer( range)?", "is no whole number"),
    (r"is not a valid float( range)?", "is no number"),
    (r"is not in the range (\S+)<=x<=(\S+?)\.", r"is not of \1 … \2"),
    (r"is not in the range x>=(\S+?)\.", r"is not \1 or more"),
)


class Strict(click.Command):
    """Refuses options given twice, values that are options, and unknown options, for which it suggests known ones.

    ``examples`` are command lines, and ``groups`` are names of the command's own options by titles, the most important
    group first. Its help shows both.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.examples, self.groups = tuple(examples), dict(groups or {})

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from .help_page import short

        formatter.write(short(self, ctx, formatter.width))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._check(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            text = error.message
            for pattern, plain in _PLAIN:
                text = re.sub(pattern, plain, text)
            if text == error.message:
                raise
            raise click.BadParameter(text, error.ctx, error.param, error.param_hint) from None

    def _check(self, ctx: click.Context, args: Sequence[str]) -> None:
        """Parses once before click does, to look at what it found."""
        names = option_names(self, ctx)
        self._refuse_single_dashes(ctx, args, names)
        try:
            values, _, order = self.make_parser(ctx).parse_args([*args])
        except click.NoSuchOption as error:
            raise click.UsageError(unknown_option(error.option_name, self, ctx), ctx) from None
        for option in dict.fromkeys(param for param in order if isinstance(param, click.Option)):
            value = values[option.name or ""]
            texts = value if option.multiple else [value]
            if "" in texts:
                ctx.fail(f"{longest(option.opts)} is empty: a variable of the shell may be unset")
            swallowed = names.intersection(texts)
            if swallowed:
                ctx.fail(f"{longest(option.opts)} needs a value, but {swallowed.pop()} follows, an option")
            times = order.count(option)
            if times > 1 and not (option.multiple or option.count or option.name in ("help", "version")):
                spellings = filter(None, (option.opts, option.secondary_opts))
                ctx.fail(f"{' or '.join(map(longest, spellings))} is given {times} times: give it once")

    @staticmethod
    def _refuse_single_dashes(ctx: click.Context, args: Iterable[str], names: Iterable[str]) -> None:
        """Refuses -output, which click takes for -o with the value "utput", and -o=x, whose value would be "=x"."""
        for arg in args:
            if arg == "--":
                return
            name, equals, value = arg.partition("=")
            if len(name) > 2 and name[1] != "-" and f"-{name}" in names:
                ctx.fail(f"{name} has one dash: write -{name}")
            if len(name) == 2 and equals and name in names:
                ctx.fail(f"{arg} has an equals sign, which only two dashes go with: write {name} {value}")


class DeviceCommand(Strict):
    """A command that is going to need a device, whose libraries are loaded from its beginning on.

    One that has --stats needs it with this option alone.
    """

    def invoke(self, ctx: click.Context) -> Any:
        from gpuops.device import loading

        if sys.stderr.isatty() and not ctx.params.get("quiet"):
            notes.on_wait = lambda text: say(f"clpix: {text}")
        if ctx.params.get("stats", True):
            loading.begin(ctx.params.get("device"))
        return super().invoke(ctx)


class Command(DeviceCommand):
    """A command of clpix, which stands alone: it has no place in a chain."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "then" in args and not ctx.resilient_parsing:
            ctx.fail(f"{ctx.info_name} cannot stand in a chain with 'then' (a file of that name is ./then)")
        return super().parse_args(ctx, args)


class CommandGroup(Strict, click.Group):
    """A group of such commands."""

    command_class = Command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        click.Command.format_help(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from .help_page import examples

        formatter.write("\n" + "\n".join(examples(self.examples, formatter.width)[:-1]) + "\n")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if ctx.resilient_parsing:  # a shell completes
            return super().resolve_command(ctx, args)
        if args and args[0] == "then":
            ctx.fail(
                "'then' stands between two operations, such as: blur in.png --sigma 2 then sharpen -o out.png"
            )
        if args and args[0] not in known and not args[0].startswith("-"):
            close = near(args[0], known)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            ctx.fail(f"no command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)


def option_names(command: click.Command, ctx: click.Context) -> set[str]:
    """All spellings of a command's options, --help included."""
    options = (param for param in command.get_params(ctx) if isinstance(param, click.Option))
    return {name for option in options for name in (*option.opts, *option.secondary_opts)}


def unknown_option(name: str, command: click.Command, ctx: click.Context) -> str:
    """Returns the message about an option that a command lacks: similar ones, or other commands that have it."""
    said = f"there is no option {name}"
    close = near(name, option_names(command, ctx))
    if close:
        return f"{said}: did you mean {' or '.join(close)}?"
    root = ctx.find_root()
    known = leaves(root.command, root)
    having = [" ".join(path) for path, other in known if name in option_names(other, root)]
    if not having:
        return said
    *others, last = [*having[:_FEW], "others"] if len(having) > _FEW else having
    where = "before the command" if isinstance(command, click.Group) else "here"
    owners = f"{', '.join(others)} and {last} have" if others else f"{last} has"
    return f"{said} {where}: {owners} it"


def leaves(
    command: click.Command, ctx: click.Context, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    """Returns this command and those below it, except groups, by the words that call them."""
    if not isinstance(command, click.Group):
        return [(path, command)]
    below = ((name, command.get_command(ctx, name)) for name in command.list_commands(ctx))
    return [leaf for name, other in below if other for leaf in leaves(other, ctx, (*path, name))]


def longest(names: Iterable[str]) -> str:
    """The name that says most."""
    return max(names, key=len)
