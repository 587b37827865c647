"""TOML that people write: errors name the line, and unknown names the nearest one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from ..errors import ParameterError


def loads(text: str, path: str, schema: int, kind: str) -> dict[str, Any]:
    """Returns the tables of a text, without the key ``schema``, which is the version of the notation.

    ``schema`` is the newest version that can be read, ``kind`` what the text is. Raises ParameterError for a text that
    is no TOML, or of a newer version.
    """
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef, import-not-found, unused-ignore]
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: brackets in brackets
        raise ParameterError(f"{path}: is no TOML ({error})") from None
    if (large := _too_large(tables)) is not None:
        raise ParameterError(f"{path}: an integer of {len(str(large))} digits is beyond the 64 bits of TOML")
    version = tables.pop("schema", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ParameterError(f"{path}: has no line 'schema = {schema}', which tells the version of a {kind}")
    if version > schema:
        raise ParameterError(f"{path}: schema {version} needs a newer clpix: this one knows {schema} at most")
    return tables


def _too_large(value: object) -> int | None:
    """Returns an integer of more than 64 bits that stands in a value; Python's reader takes any."""
    if isinstance(value, dict | list):
        inside = map(_too_large, value.values() if isinstance(value, dict) else value)
        return next((number for number in inside if number is not None), None)
    return value if isinstance(value, int) and not -(2**63) <= value < 2**63 else None


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message on an unknown name: what was meant, or what there is."""
    known = list(known)
    close = get_close_matches(name, known, 1)
    return f": did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


class Lines:
    """Says in which line of a text a key stands: the beginning of a message.

    ``array``: the name of an array of tables, such as ``step`` of ``[[step]]``.
    """

    def __init__(self, text: str, path: str, array: str) -> None:
        self._lines = text.splitlines()
        self._path = path
        head = re.compile(rf"\s*\[\[\s*{array}\s*\]\]")
        heads = [at for at, line in enumerate(self._lines) if head.match(line)]
        self._entries = list(pairwise([*heads, len(self._lines)]))

    def of(self, key: str) -> str:
        """Returns the place of a key or a table of the whole text."""
        pattern = rf"\s*(\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[=.\]]"
        return self._place(self._find(pattern, 0, len(self._lines)))

    def of_entry(self, number: int, key: str | None = None) -> str:
        """Returns the place of an entry of the array, or of a key in it."""
        first, end = self._entries[number] if number < len(self._entries) else (0, 0)
        at = None if key is None else self._find(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", first, end)
        return self._place(first if at is None else at)

    def _find(self, pattern: str, first: int, end: int) -> int | None:
        return next((at for at in range(first, end) if re.match(pattern, self._lines[at])), None)

    def _place(self, at: int | None) -> str:
        return f"{self._path}: " if at is None else f"{self._path}, line {at + 1}: "
