"""Writes operations.md, the reference of the operations that are declared once, from their declarations.

python docs/operations.py
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from gpuops.operation import Kind, Operation, Option, kinds
from gpuops.ops import OPERATIONS, operation

PAGE = Path(__file__).with_suffix(".md")
HEAD = """# Operations

Each of these is a command, `clpix NAME INPUT... -o OUTPUT`, with the options that all commands share, and a function
of the library. This page is written from their declarations by `python docs/operations.py`.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *(_section(operation(name), summary) for name, summary in OPERATIONS.items())])


def _section(found: Operation, summary: str) -> str:
    defaults = {field.name: field.default for field in fields(found.params)}
    rows = [
        _row(option, kind, name)
        for name, kind in kinds(found.params).items()
        for option in kind.options(name, defaults[name])
    ]
    table = "\n".join(["| option | values | meaning |", "|---|---|---|", *rows])
    shown = "\n".join(["```sh", *found.examples, "```"])
    call = f"gpu.run(Chain({found.params.__name__}(…)), image)"
    parts = (
        f"## {found.name}: {summary}",
        found.about,
        shown,
        table,
        f"In the library: `{call}`, `gpuops.ops.{found.name}`.\n",
    )
    return "\n\n".join(parts)


def _row(option: Option, kind: Kind, name: str) -> str:
    choices = option.type if isinstance(option.type, tuple) else option.metavar.split("|")
    own = option.name.startswith(name) and not isinstance(option.type, tuple)
    values = kind.values if own else ", ".join(f"`{choice}`" for choice in choices)
    said = "required" if option.required else _default(kind, option.default)
    about = " ".join([*option.help.replace("|", "\\|").split(), *([f"[{said}]"] if said else [])])
    return f"| `--{option.name.replace('_', '-')}` | {values} | {about} |"


def _default(kind: Kind, default: object) -> str:
    if default is None or default is False:
        return ""
    text = "on" if default is True else kind.text(default) if isinstance(default, tuple) else str(default)
    return f"default: {text}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
