"""The tables of the docs are made with this: the JSON files beside it, and ``TABLES`` by name for tables.py."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import floor, log10
from pathlib import Path
from typing import Any

Row = dict[str, Any]

HERE = Path(__file__).parent
TABLES: dict[str, Callable[[], list[str]]] = {}
NONE = "–"


def table(make: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Registers a table by its function's name, with hyphens."""
    TABLES[make.__name__.replace("_", "-")] = make
    return make


def load(name: str) -> Row:
    """A JSON file: its context, and its entries as ``rows``, whatever they are called there."""
    found: Row = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return found | {"rows": found["rows"] if "rows" in found else found["measurements"]}


def rows_of(name: str) -> list[Row]:
    """Its entries."""
    rows: list[Row] = load(name)["rows"]
    return rows


def markdown(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines."""
    lines = [titles, ["---"] * len(titles), *rows]
    return ["|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|" for line in lines]


def digits(value: float | None, count: int = 3) -> str:
    """A number to so many digits, in full: 1131, 0.017."""
    if value is None:
        return NONE
    decimals = max(0, count - 1 - floor(log10(abs(value)))) if value else 0
    return f"{value:.{decimals}f}"
