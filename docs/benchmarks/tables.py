"""Writes the measured tables of the docs from the JSON files beside this one, so that no figure is copied by hand.

    python docs/benchmarks/tables.py            # rewrites what differs
    python docs/benchmarks/tables.py --check    # names what differs, exit code 1

A table stands in a page between ``<!-- table: NAME -->`` and ``<!-- end -->``; TABLES has the names.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import figures_of_batches  # noqa: F401
import figures_of_pictures  # noqa: F401
import figures_of_programs  # noqa: F401
import figures_of_transforms  # noqa: F401
from figures import TABLES

DOCS = Path(__file__).parents[1]
_BLOCK = re.compile(r"(<!-- table: (\S+) -->\n\n?)(.*?)(\n?<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """All pages that may have tables."""
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def written(text: str) -> str:
    """A page with its tables made anew."""

    def block(match: re.Match[str]) -> str:
        if match[2] not in TABLES:
            sys.exit(f"no table {match[2]}: there are {', '.join(sorted(TABLES))}")
        return f"<!-- table: {match[2]} -->\n\n" + "\n".join(TABLES[match[2]]()) + "\n\n<!-- end -->"

    return _BLOCK.sub(block, text)


def main() -> None:
    """Rewrites the pages, or says which differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    differing = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = written(text)
        if new != text:
            differing.append(str(page.relative_to(DOCS.parent)))
            if not check:
                page.write_text(new, encoding="utf-8")
    if differing:
        print(f"{'differ from the JSON' if check else 'rewritten'}: {', '.join(differing)}")
    sys.exit(bool(differing) if check else 0)


if __name__ == "__main__":
    main()
