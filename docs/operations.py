"""Writes operations.md, the reference of the operations that are declared once, from their declarations.

python docs/operations.py
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import cleandoc
from pathlib import Path

from gpuops.operation import Kind, Operation, kinds
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
    rows = [_row(name, kind, defaults[name]) for name, kind in kinds(found.params).items()]
    table = "\n".join(["| option | values | default | |", "|---|---|---|---|", *rows])
    said = cleandoc(found.params.__doc__ or "")
    module, call = (
        found.function.__module__,
        f"{found.function.__name__}(gpu, image, {found.params.__name__}(…))",
    )
    return f"## {found.name}: {summary}\n\n{said}\n\n{table}\n\nIn the library: `{call}` of `{module}`.\n"


def _row(name: str, kind: Kind, default: object) -> str:
    shown = "required" if default is MISSING else "" if default is None else f"`{_text(kind, default)}`"
    return f"| `--{name.replace('_', '-')}` | {kind.values} | {shown} | {kind.help} |"


def _text(kind: Kind, default: object) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return kind.text(default) if isinstance(default, tuple) else str(default)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
