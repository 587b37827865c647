"""Reading colour tables (LUTs).

.cube    Adobe's Cube LUT Specification 1.0 (2013): TITLE, LUT_3D_SIZE or LUT_1D_SIZE, DOMAIN_MIN, DOMAIN_MAX, then
         three numbers a line for each entry, red's index running fastest. As Resolve extends it: LUT_3D_INPUT_RANGE
         and LUT_1D_INPUT_RANGE give the domain of all three channels at once; of both sizes, the curves come first.
.spi3d   Sony Pictures Imageworks: "SPILUT 1.0", "3 3", three sizes, then lines of an entry's indices (red, green, blue)
         and its three numbers, in any order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from ..errors import FileError, ParameterError
from ..tone.lut import SIZES, Lut, Table, Triple
from .read_errors import beginning, reading

# Bytes that tell text from other files.
_BEGINNING = 4096
# The dimensions of the table whose size a keyword gives.
_SIZES = {"LUT_1D_SIZE": 1, "LUT_3D_SIZE": 3}
# The dimensions of the table whose range a keyword gives.
_RANGES = {"LUT_1D_INPUT_RANGE": 1, "LUT_3D_INPUT_RANGE": 3}


def read_lut(path: str | os.PathLike[str]) -> Lut:
    """The table in a .cube or .spi3d file; which of them is told by the content.

    Raises
    ------
    FileError
        No such file, or it is empty, no text, incomplete, or contradicts itself: one line that says where.
    """
    text = _Text(os.fspath(path))
    try:
        _, (first, *_) = next(text.words(), (0, [""]))
        return _spi3d(text) if first == "SPILUT" else _cube(text)
    except ParameterError as error:
        raise FileError(f"{text.name}: {error}") from None


class _Text:
    """A text file's lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        with reading(name):
            if b"\0" in beginning(name, _BEGINNING) or b"\0" in (content := Path(name).read_bytes()):
                raise FileError(f"{name}: is no text, and so no .cube or .spi3d table")
        self.lines = content.decode("utf-8-sig", "replace").splitlines()

    def words(self, start: int = 0) -> Iterator[tuple[int, list[str]]]:
        """The lines from index ``start`` on that have words beside remarks, as their indices and words."""
        for at in range(start, len(self.lines)):
            if words := self.lines[at].partition("#")[0].split():
                yield at, words

    def error(self, at: int, message: str) -> FileError:
        return FileError(f"{self.name}: line {at + 1}: {message}")

    def whole_number(self, at: int, word: str, least: int, most: int) -> int:
        try:
            value = int(word)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise self.error(
                at, f"the table's size is a whole number from {least} to {most}, not {_short(word)}"
            )
        return value

    def numbers(self, at: int, words: list[str], count: int) -> tuple[float, ...]:
        if len(words) != count or not all(map(_is_number, words)):
            raise self.error(at, f"{count} numbers are expected, not {_short(' '.join(words))}")
        return tuple(map(float, words))

    def rows(self, start: int, columns: int, count: int) -> Table:
        """All lines from index ``start`` on: ``count`` rows of finite numbers."""
        if next(self.words(start), None) is None:
            raise FileError(f"{self.name}: has no entries, and needs {count} for its size")
        try:
            rows: Table = np.loadtxt(self.lines[start:], np.float32, ndmin=2)
        except ValueError:  # its message counts lines differently than a person would
            rows = np.empty((0, 0), np.float32)
        if rows.shape[1] != columns:
            for at, words in self.words(start):
                self.numbers(at, words, columns)
            raise FileError(f"{self.name}: is damaged: its numbers could not be read")
        if len(rows) != count:
            raise FileError(f"{self.name}: has {len(rows)} entries, and needs {count} for its size")
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            at = self.line_of(start, int(finite.argmin()))
            raise self.error(at, f"{_short(self.lines[at].strip())} is not finite")
        return rows

    def line_of(self, start: int, row: int) -> int:
        """The index of the line that row ``row`` of ``rows`` was."""
        return next(islice(self.words(start), row, None))[0]


def _cube(text: _Text) -> Lut:
    lines: dict[str, int] = {}  # keyword: the index of its line
    sizes: dict[int, int] = {}  # by the number of dimensions
    domains: dict[int, tuple[Triple, Triple]] = {}
    domain: dict[str, Triple] = {"DOMAIN_MIN": (0.0, 0.0, 0.0), "DOMAIN_MAX": (1.0, 1.0, 1.0)}
    title, end = "", len(text.lines)
    for at, (keyword, *values) in text.words():
        if _is_number(keyword) or keyword[0] in "+-.0123456789":
            end = at
            break
        if keyword in lines:
            raise text.error(at, f"{keyword} stands in line {lines[keyword] + 1} already")
        lines[keyword] = at
        if keyword == "TITLE":
            title = text.lines[at].partition(keyword)[2].strip().strip('"')
        elif keyword in _SIZES:
            dimensions = _SIZES[keyword]
            sizes[dimensions] = text.whole_number(at, " ".join(values), *SIZES[dimensions])
        elif keyword in domain:
            x, y, z = text.numbers(at, values, 3)
            domain[keyword] = x, y, z
        elif keyword in _RANGES:
            least, most = text.numbers(at, values, 2)
            domains[_RANGES[keyword]] = (least,) * 3, (most,) * 3
        else:
            raise text.error(at, f"{_short(keyword)} is no keyword of .cube files")
    if not sizes:
        raise FileError(f"{text.name}: has no LUT_3D_SIZE, and so is no .cube table (nor .spi3d)")
    one = len(sizes) == 1
    for keyword, at in lines.items():
        if keyword in domain and (domains or not one):
            raise text.error(at, f"whose domain is it? {keyword} is for files of one table without a range")
        if keyword in _RANGES and _RANGES[keyword] not in sizes:
            raise text.error(at, f"{keyword} without a table that it could be for")
    curves = sizes.get(1, 0)
    rows = text.rows(end, 3, curves + sizes.get(3, 0) ** 3)
    tables = {1: rows[:curves], 3: rows[curves:].reshape((sizes.get(3, 0),) * 3 + (3,))}
    luts = [
        Lut(tables[d], *domains.get(d, (domain["DOMAIN_MIN"], domain["DOMAIN_MAX"])), title)
        for d in sorted(sizes)
    ]
    return luts[0] if one else replace(luts[1], shaper=luts[0])


def _spi3d(text: _Text) -> Lut:
    header = list(zip(range(3), text.words(), strict=False))
    wanted = ["SPILUT", "1.0"], ["3", "3"]
    for (_, (at, words)), expected in zip(header, wanted, strict=False):
        if words != expected:
            raise text.error(at, f"{' '.join(expected)!r} is expected, not {_short(' '.join(words))}")
    if len(header) < 3:
        raise FileError(f"{text.name}: is cut off: it has no size")
    at, sizes = header[2][1]
    size = text.whole_number(at, sizes[0], *SIZES[3])
    if sizes != [sizes[0]] * 3:
        raise text.error(at, f"the table's size is three times the same, not {_short(' '.join(sizes))}")
    rows = text.rows(at + 1, 6, size**3)
    indices = rows[:, :3]
    bad = ((indices < 0) | (indices >= size) | (indices != np.rint(indices))).any(axis=1)
    if bad.any():
        raise text.error(
            text.line_of(at + 1, int(bad.argmax())), f"indices are whole numbers below {size} here"
        )
    red, green, blue = indices.astype(np.int64).T
    places = (blue * size + green) * size + red
    _, first = np.unique(places, return_index=True)
    if len(first) < len(places):
        repeated = np.ones(len(places), bool)
        repeated[first] = False
        raise text.error(text.line_of(at + 1, int(repeated.argmax())), "the entry is there already")
    table = np.empty((size**3, 3), np.float32)
    table[places] = rows[:, 3:]
    return Lut(table.reshape(size, size, size, 3))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word  # only Python allows it in numbers


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
