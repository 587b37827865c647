"""The pages that --help and `clpix help` show: a command's own options first, in groups, and then those it shares."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from inspect import cleandoc
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from .commands import Strict

#: The most lines of a short page, on a terminal of 80 columns.
LINES = 45
# The most columns that the names of options take beside their texts.
_NAMES = 28
# The title of options that are in no group.
_OTHERS = "Options"

Groups = Mapping[str, Sequence[click.Option]]


class Detail(IntEnum):
    """How much a page says of each option of a group."""

    NAME = 0
    LINE = 1
    WHOLE = 2


def short(command: Strict, ctx: click.Context, width: int) -> str:
    """Returns the page that --help shows, of :data:`LINES` lines at most.

    Where that is too little, texts become a line for each option, those of the last group first; then all paragraphs
    but the first are left out; then groups become lists of names, again from the last one. The first group comes last.
    What room is left then goes to the groups in their order.
    """
    own, shared = grouped(command, ctx)
    about = cleandoc(command.help or "").split("\n\n")
    details = dict.fromkeys(own, Detail.WHOLE)

    def lines() -> list[str]:
        page = _head(command, ctx, width, about)
        name = " ".join(ctx.command_path.split()[1:])
        told = Detail.NAME in details.values()
        for title, group in own.items():
            if details[title] > Detail.NAME:
                texts = [_texts(one, ctx) for one in group]
                rows = _rows(texts, width, details[title])
                shortened = not told and rows != _rows(texts, width, Detail.WHOLE)
                told = told or shortened
                title += f" (`clpix help --all {name}` says more)" if shortened else ""
                page += [f"{title}:", *rows, ""]
        more = {title: group for title, group in own.items() if details[title] == Detail.NAME}
        for title, groups, words in (
            ("More options", more, f"--all {name}"),
            ("Shared options", shared, "options" if len(shared) > 2 else f"--all {name}"),
        ):
            if groups:
                names = [(title, " ".join(map(_name, group))) for title, group in groups.items()]
                rows = _rows(names, width, Detail.WHOLE)
                page += [f"{title} (`clpix help {words}` explains them):", *rows, ""]
        return page[:-1]

    first, *later = own or [""]
    steps = [
        *((title, Detail.LINE) for title in reversed(later)),
        (None, Detail.LINE),
        *((title, Detail.NAME) for title in reversed(later)),
        (first, Detail.LINE),
        (first, Detail.NAME),
    ]
    for title, detail in steps:
        if len(lines()) <= LINES:
            break
        if title is None:
            about = about[:1]
        else:
            details[title] = detail
    for title, detail in details.items():
        for more in range(Detail.WHOLE, detail, -1):
            details[title] = Detail(more)
            if len(lines()) <= LINES:
                break
            details[title] = detail
    return "\n".join(lines())


def whole(command: Strict, ctx: click.Context, width: int) -> str:
    """Returns the page with all texts."""
    own, shared = grouped(command, ctx)
    head = _head(command, ctx, width, cleandoc(command.help or "").split("\n\n"))
    return "\n".join([*head, *_sections({**own, **shared}, ctx, width)])


def shared(options: Iterable[click.Option], ctx: click.Context, width: int) -> str:
    """Returns the page of the options that commands share, with all texts."""
    groups = shared_groups(options)
    head = "Options that commands share. A command's --help lists those that it has."
    return "\n".join([*textwrap.wrap(head, width), "", *_sections(groups, ctx, width)])


def shared_groups(options: Iterable[click.Option]) -> Groups:
    """Returns the options that commands share by the titles of their groups."""
    from .shared import GROUPS  # the list of commands does without it

    by_name = {option.name: option for option in options}
    return {title: [by_name[name] for name in names if name in by_name] for title, names in GROUPS.items()}


def grouped(command: Strict, ctx: click.Context) -> tuple[Groups, Groups]:
    """Returns a command's own options and those it shares, both by the titles of their groups.

    What is in a group of the command's own is not in one of those that it shares.
    """
    from .shared import GROUPS

    given = {
        "help" if "--help" in param.opts else param.name or "": param
        for param in command.get_params(ctx)
        if isinstance(param, click.Option) and not param.hidden
    }
    groups = []
    for table in (command.groups, GROUPS):
        titles = {
            title: [given.pop(name) for name in names if name in given] for title, names in table.items()
        }
        groups.append({title: members for title, members in titles.items() if members})
    own, shared = groups
    if given:
        own[_OTHERS] = list(given.values())
    return own, shared


def _head(command: click.Command, ctx: click.Context, width: int, about: Iterable[str]) -> list[str]:
    usage = " ".join(["Usage:", *ctx.command_path.split(), *command.collect_usage_pieces(ctx)])
    lines = textwrap.wrap(usage, width, subsequent_indent=" " * 7)
    for paragraph in about:
        folded = textwrap.wrap(paragraph, width - 2, break_on_hyphens=False)
        lines += ["", *(f"  {line}" for line in folded)]
    return [*lines, "", *examples(getattr(command, "examples", ()), width)]


def examples(texts: Sequence[str], width: int) -> list[str]:
    """Returns the lines of a page's examples, with an empty one behind them."""
    if not texts:
        return []
    return ["Examples:", *(line for text in texts for line in folded(text, width)), ""]


def folded(text: str, width: int) -> list[str]:
    """Folds a command line where it is too long, so that it can still be copied; it is indented."""
    lines = textwrap.wrap(
        text,
        width - 2,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _sections(groups: Groups, ctx: click.Context, width: int) -> list[str]:
    lines: list[str] = []
    for title, group in groups.items():
        lines += [f"{title}:", *_rows([_texts(one, ctx) for one in group], width, Detail.WHOLE), ""]
    return lines[:-1]


def _name(option: click.Option) -> str:
    """The spelling of an option that says most."""
    name = max(option.opts, key=len)
    return f"--[no-]{name[2:]}" if option.secondary_opts == [f"--no-{name[2:]}"] else name


def _texts(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Returns the names of an option, with what stands for its value, and its text."""
    record = option.get_help_record(ctx)
    assert record is not None
    names, text = record
    if isinstance(option.type, click.Choice):
        listed = f"[{'|'.join(map(str, option.type.choices))}]"
        if len(names) > _NAMES and listed in names:
            names = names.replace(listed, max(option.opts, key=len).upper().rpartition("-")[2])
            text, bracket, default = text.partition("  [")
            named = ", ".join(map(str, option.type.choices))
            text = f"{text.rstrip('.')}: {named}.{bracket}{default}".lstrip(": ")
    return names, text


def _rows(pairs: Sequence[tuple[str, str]], width: int, detail: Detail) -> list[str]:
    """Returns lines of two columns; names that are too long for theirs have a line of their own."""
    column = max((len(names) for names, _ in pairs if len(names) <= _NAMES), default=0) + 4
    lines = []
    for names, text in pairs:
        pieces = _wrapped(text, width - column, detail)
        if len(names) > column - 4:
            lines.append(f"  {names}")
        else:
            lines.append(f"  {names:<{column - 2}}{pieces.pop(0)}".rstrip())
        lines += [" " * column + line for line in pieces]
    return lines


def _wrapped(text: str, width: int, detail: Detail) -> list[str]:
    lines = textwrap.wrap(text, width, break_on_hyphens=False) or [""]
    return [brief(text, width)] if detail == Detail.LINE and len(lines) > 1 else lines


def brief(text: str, width: int) -> str:
    """Returns a text's first sentence, or as many of its clauses as one line of ``width`` columns has room for.

    A list that is cut ends with an ellipsis.
    """
    sentence = text.partition(". ")[0].rstrip(".")
    if len(sentence) < width:
        return f"{sentence}."
    clauses = re.split(r"(?<=[,;:])\s|\s(?=\()", sentence)
    for count in range(len(clauses) - 1, 0, -1):
        left = " ".join(clauses[:count])
        listed = left.endswith(",") and min(len(one.split()) for one in clauses[count - 1 : count + 1]) == 1
        cut = f"{left} …" if listed else f"{left.rstrip(',;:')}."
        if width // 2 <= len(cut) <= width and cut.count("(") == cut.count(")"):
            return cut
    return textwrap.shorten(sentence, width, placeholder=" …")
