"""Counts lines of code, without blank ones, comments and docstrings: python tests/code_lines.py FOLDER..."""

from __future__ import annotations

import ast
import sys
import tokenize
from pathlib import Path

_NO_CODE = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}


def code_lines(path: Path) -> int:
    """Returns how many lines of a Python file are code."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    code = {
        line
        for token in tokens
        if tokenize.tok_name[token.type] not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(path.read_bytes())):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            code -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(code)


if __name__ == "__main__":
    counts = {name: sum(map(code_lines, Path(name).rglob("*.py"))) for name in sys.argv[1:]}
    for name, count in {**counts, "total": sum(counts.values())}.items():
        print(f"{count:7} {name}")
