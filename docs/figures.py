"""Writes the tables of figures in compare.md from their records.

python docs/figures.py
"""

from __future__ import annotations

import re
from pathlib import Path

from gpuops.figures import FIGURES

PAGE = Path(__file__).with_name("compare.md")
VALUES = {"stored": "stored values", "light": "light", "codes": "8 bits of sRGB"}


def page() -> str:
    """The page with its tables written anew."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("figures", _figures()), ("by rows", _by_rows())):
        mark = f"<!-- {name} -->"
        text = re.sub(f"(?<={mark}\n).*?(?=\n{mark})", lambda _: table, text, flags=re.DOTALL)  # noqa: B023
    return text


def _figures() -> str:
    rows = [
        f"| `{figure.name}` | `--{figure.option}` | {VALUES[figure.wants]} | {figure.about} |"
        for figure in FIGURES.values()
    ]
    return "\n".join(["| `--metric` | threshold | compares | what it is |", "|---|---|---|---|", *rows])


def _by_rows() -> str:
    exact = {f"`{figure.name}`" for figure in FIGURES.values() if figure.exact} | {"`max`"}
    names = [f"`{name}`" for name in FIGURES]
    same, sums = ([name for name in names if (name in exact) == which] for which in (True, False))
    return "\n".join(
        [
            "| figures and options | by rows |",
            "|---|---|",
            f"| {', '.join(same)}, counts, the worst pixel, verdicts | the same numbers |",
            f"| {', '.join(sums)} | the same, except for the order of sums: within 1e-6, and mostly about 1e-15 |",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
