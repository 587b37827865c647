"""The command ``clpix help``, and man pages from the same records as --help, in groff's man macros."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path

import click

from . import commands, help_page, options
from .exits import VERDICTS

# The word that stands for the options that commands share.
_SHARED = "options"
# Columns of a usage line: click folds none.
_WIDE = 10_000
# Columns of an example, which stands indented in a terminal of 80.
_EXAMPLE = 66
# What groff would take for something else, or show as another character, and how it is written.
_CHARACTERS = {
    "\\": r"\(rs",
    "-": r"\-",
    "'": r"\(aq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
    '"': r"\(dq",
}
# What exit codes mean.
_EXIT = {
    "0": "All is done.",
    "1": "An input failed, or the work did.",
    "2": "The command line is wrong, or an option has no meaning here.",
    "3": "There is no usable OpenCL device.",
    "129, 130, 131, 143": "The command was interrupted (128 + the signal). Finished results are kept, and nothing is "
    "half written.",
}
# The same of commands whose exit code is a verdict.
_VERDICT = {
    **_EXIT,
    "0": "The pictures are alike within the thresholds.",
    "1": "They differ.",
    "2": "They could not be compared.",
}


def _words(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Returns the words that may follow, for a shell that completes."""
    program = ctx.find_root().command
    assert isinstance(program, click.Group)
    return [name for name in (*program.list_commands(ctx), _SHARED) if name.startswith(incomplete)]


@click.command(
    cls=commands.Strict,
    examples=("clpix help blur", "clpix help --all bench fft", "clpix help options", "clpix help --man man1"),
)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_words)
@click.option("--all", "whole", is_flag=True, help="Explain every option.")
@click.option(
    "--man",
    "folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write the man pages of all commands into this folder, such as ~/.local/share/man/man1.",
)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], whole: bool, folder: str | None) -> None:
    """Show what a command does, as its --help; `clpix help options` explains the options that commands share."""
    if folder is not None:
        if words or whole:
            ctx.fail("--man writes the pages of all commands: leave out all else")
        click.echo(f"{folder}: {write(ctx.find_root(), Path(folder))} man pages")
        return
    width = ctx.make_formatter().width
    if words == (_SHARED,):
        click.echo(help_page.shared(options.all_shared(), ctx, width))
        return
    assert ctx.parent is not None
    target = _command_at(ctx.parent, words)
    if not whole:
        click.echo(target.get_help())
        return
    pages = []
    for path, one in commands.leaves(target.command, target):
        with click.Context(one, target.parent, " ".join((target.info_name or "", *path)).strip()) as context:
            assert isinstance(one, commands.Strict)
            pages.append(help_page.whole(one, context, width))
    click.echo("\n\n\n".join(pages))


def _command_at(ctx: click.Context, words: tuple[str, ...]) -> click.Context:
    """Returns a context of the command that words call."""
    for word in words:
        group = ctx.command
        if not isinstance(group, commands.CommandGroup):
            ctx.fail(f"{ctx.command_path} has no subcommands: leave out {word!r}")
        _, command, _ = commands.CommandGroup.resolve_command(group, ctx, [word])
        assert command is not None
        ctx = click.Context(command, ctx, word)
    return ctx


def write(root: click.Context, folder: Path) -> int:
    """Writes the pages of all commands into a folder, which is made if it is not there, and returns their number."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = dict(pages(root))
    for name, text in texts.items():
        (folder / f"{name}.1").write_text(text, encoding="ascii")
    return len(texts)


def pages(root: click.Context) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each page: the program's, those of groups, and those of commands."""
    top = click.Context(
        root.command, info_name="clpix", terminal_width=_WIDE, help_option_names=root.help_option_names
    )
    for ctx in _contexts(top):
        yield _name(ctx), _page(ctx)


def escaped(text: str) -> str:
    """Returns text that groff shows as it is: no character of it is a request, and all are ASCII."""
    return _guarded(_characters(" ".join(text.split())))


def _characters(text: str) -> str:
    return "".join(_CHARACTERS.get(c, c if c.isascii() else f"\\[u{ord(c):04X}]") for c in text)


def _guarded(written: str) -> str:
    """Returns a line that may begin with a dot."""
    return f"\\&{written}" if written.startswith(".") else written


def _contexts(ctx: click.Context) -> Iterator[click.Context]:
    """Yields the context of a command, and those of all below it that are not hidden."""
    yield ctx
    for below in _below(ctx):
        if not below.command.hidden:
            yield from _contexts(below)


def _below(ctx: click.Context) -> Iterator[click.Context]:
    """Yields the contexts of a group's commands."""
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, name)
            assert command is not None
            yield click.Context(command, ctx, name, terminal_width=_WIDE)


def _name(ctx: click.Context) -> str:
    """The name of a page, such as clpix-blur."""
    return "-".join(ctx.command_path.split())


def _page(ctx: click.Context) -> str:
    name, command = _name(ctx), ctx.command
    below = [one for one in _below(ctx) if not one.command.hidden]
    meanings = _VERDICT if set(VERDICTS) & set(ctx.command_path.split()) else _EXIT
    sections = {
        "NAME": [rf"{escaped(name)} \- {escaped(_summary(ctx))}"],
        "SYNOPSIS": _synopsis(ctx),
        "DESCRIPTION": _paragraphs(cleandoc(command.help or "")),
        "COMMANDS": _items((f"{_bold(_name(one))}(1)", _summary(one)) for one in below),
        "OPTIONS": _options(ctx),
        "EXAMPLES": _examples(getattr(command, "examples", ())),
        "EXIT STATUS": _items((_bold(code), text) for code, text in meanings.items()),
        "SEE ALSO": _see_also(ctx, below),
    }
    lines = [f'.TH "{escaped(name.upper())}" "1" "" "clpix {version("clpix")}" "clpix"', ".nh", ".ad l"]
    for title, content in sections.items():
        if (body := list(content)) or title != "COMMANDS":
            lines += [f".SH {title}", *body]
    return "\n".join([*lines, ""])


def _summary(ctx: click.Context) -> str:
    """What a command does, in a line."""
    if ctx.parent is None:
        return cleandoc(ctx.command.help or "").partition("\n")[0].rstrip(".")
    return ctx.command.short_help or ctx.command.get_short_help_str(_WIDE)


def _synopsis(ctx: click.Context) -> Iterator[str]:
    """Yields the lines of how a command is called, with its name in bold."""
    for line in ctx.command.get_usage(ctx).splitlines():
        call = line.removeprefix("Usage:").strip()
        yield f"{_bold(ctx.command_path)} {_breakable(call.removeprefix(ctx.command_path).strip())}"
        yield ".br"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield from (".PP", _prose(paragraph))


def _options(ctx: click.Context) -> Iterator[str]:
    """Yields a section for each group of options: the command's own first, and then those that it shares."""
    groups: dict[str, list[click.Option]] = {}
    for one in (*(below for below in _below(ctx) if below.command.hidden), ctx):
        assert isinstance(one.command, commands.Strict)
        for kind in help_page.grouped(one.command, one):
            for title, members in kind.items():
                groups.setdefault(title, []).extend(members)
    if ctx.parent is None:  # its page explains what commands share
        for title, members in help_page.shared_groups(options.all_shared()).items():
            groups[title] = [*members, *groups.get(title, ())]
    for title, members in groups.items():
        yield f'.SS "{escaped(title)}"'
        once = {tuple(option.opts): option for option in members}.values()
        records = filter(None, (option.get_help_record(ctx) for option in once))
        yield from _items((_names(names), text) for names, text in records)


def _examples(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from (".PP", ".RS 4", ".EX")
        for one in help_page.folded(line, _EXAMPLE):
            yield " " * (len(one) - len(one.lstrip())) + escaped(one)
        yield from (".EE", ".RE")


def _see_also(ctx: click.Context, below: Iterable[click.Context]) -> Iterator[str]:
    above = []
    while ctx.parent is not None:
        ctx = ctx.parent
        above.append(ctx)
    yield ",\n".join(f"{_bold(_name(one))}(1)" for one in [*above, *below])


def _items(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yields the lines of tags and the prose behind each."""
    for tag, text in pairs:
        yield from (".TP", tag, _prose(text))


def _bold(text: str) -> str:
    return rf"\fB{escaped(text)}\fP"


def _breakable(text: str) -> str:
    """Escapes text that may be folded between alternatives."""
    return escaped(text).replace("|", r"|\:")


def _names(text: str) -> str:
    """Escapes the spellings of an option, in bold, and what stands for its value."""
    words = (
        _bold(word.rstrip(",")) + ("," if word.endswith(",") else "")
        if word.startswith("-")
        else _breakable(word)
        for word in text.split()
    )
    return " ".join(words)


def _prose(text: str) -> str:
    """Escapes text, with what stands between backticks in bold."""
    parts = re.split(r"`([^`]+)`", " ".join(text.split()))
    return _guarded("".join(_bold(part) if i % 2 else _characters(part) for i, part in enumerate(parts)))
