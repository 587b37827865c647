"""Kinds of parameters with notations of their own: several numbers, sizes, rectangles, curves, files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from itertools import pairwise
from math import nan
from typing import Any

from ..errors import ParameterError
from .files import FileOperand
from .kinds import Given, Kind, Number, Option, Params
from .region import Region, region_option


@dataclass(eq=False)
class Numbers(Kind):
    """A parameter that is ``count`` numbers from ``low`` to ``high``, with commas between them; one stands for all.

    ``percent``: a number may be written in percent.
    """

    count: int
    low: float
    high: float
    percent: bool = False

    def checked(self, name: str, value: Any) -> tuple[float, ...]:
        if isinstance(value, str):
            value = value.split(",")
        given = value if isinstance(value, Iterable) else (value,)
        one = Number(self.help, self.low, self.high)
        numbers = [one.checked(name, self._fraction(part)) for part in given]
        if len(numbers) not in (1, self.count):
            raise ParameterError(f"{name} must be one number or {self.count}, not {len(numbers)}")
        return tuple(numbers * self.count if len(numbers) == 1 else numbers)

    def _fraction(self, part: Any) -> Any:
        """The number that a text in percent stands for; all else as it is."""
        if self.percent and isinstance(part, str) and part.strip().endswith("%"):
            return float(part.strip()[:-1]) / 100
        return part

    @property
    def values(self) -> str:
        percent = " (also in %)" if self.percent else ""
        return f"{self.count} of {self.low:g} … {self.high:g}{percent}, or one for all"

    @property
    def metavar(self) -> str:
        return ",".join("XYZW"[: self.count]) if self.count <= 4 else "X,…"

    def text(self, value: Any) -> str:
        return ",".join(map(repr, value))


@dataclass(eq=False)
class Size(Kind):
    """A parameter that is a width and a height in pixels, written ``WIDTHxHEIGHT``, or None.

    ``partial``: one of them may be left out, as in ``1920x`` or ``x1080``, and is None then. ``square``: a number alone
    is both.
    """

    most: int = 1 << 20
    partial: bool = False
    square: bool = False

    @property
    def metavar(self) -> str:
        return "N|WxH" if self.square else "WxH"

    def checked(self, name: str, value: Any) -> tuple[int | None, int | None]:
        if self.square and re.fullmatch(r"\d{1,9}", str(value), re.ASCII):
            value = int(value), int(value)
        if isinstance(value, str):
            match = re.fullmatch(r"(\d{0,9})x(\d{0,9})", value.lower().replace("×", "x"), re.ASCII)
            value = [int(side) if side else None for side in match.groups()] if match else ()
        sides = tuple(side if side is None else int(side) for side in value)
        known = [side for side in sides if side is not None]
        right = len(sides) == 2 and len(known) >= 2 - self.partial
        if not (right and all(1 <= side <= self.most for side in known)):
            also = ", or one of the two, such as 1920x or x1080" if self.partial else ""
            also += ", or one for both, such as 1200" if self.square else ""
            raise ParameterError(f"{name} must be WIDTHxHEIGHT, such as 1920x1080{also}; at most {self.most}")
        return sides[0], sides[1]

    @property
    def values(self) -> str:
        partial, square = ", `WIDTHx`, `xHEIGHT`" * self.partial, ", `N`" * self.square
        return f"`WIDTHxHEIGHT` pixels{partial}{square}"

    def text(self, value: Any) -> str:
        return "x".join("" if side is None else str(side) for side in value)


@dataclass(eq=False)
class Points(Kind):
    """A parameter that is points of a curve from left to right, written ``X,Y X,Y …``, or None.

    There are 2 to ``most`` of them. Coordinates are from −``high`` to ``high``, and x grows by ``apart`` at least.
    """

    metavar = '"X,Y X,Y…"'
    most: int = 16
    high: float = 1e5
    apart: float = 1e-6

    def checked(self, name: str, value: Any) -> tuple[tuple[float, float], ...]:
        pairs = [pair.split(",") for pair in value.split()] if isinstance(value, str) else value
        points = tuple((float(x), float(y)) for x, y in pairs)
        if not 2 <= len(points) <= self.most:
            raise ParameterError(f"{name} must have 2 to {self.most} points, not {len(points)}")
        if not all(abs(v) <= self.high for point in points for v in point):
            raise ParameterError(f"{name} must have points from {-self.high:g} to {self.high:g}")
        for before, after in pairwise(points):
            if not after[0] - before[0] >= self.apart:
                raise ParameterError(
                    f"{name} must have points from left to right, at least {self.apart:g} apart: "
                    f"{after[0]:g} follows {before[0]:g}"
                )
        return points

    @property
    def values(self) -> str:
        return f"2 … {self.most} points `X,Y`"

    def text(self, value: Any) -> str:
        return " ".join(f"{x!r},{y!r}" for x, y in value)


@dataclass(eq=False)
class Noted(Kind):
    """A parameter whose texts have a notation, such as ``N|WxH``."""

    notation: str

    @property
    def values(self) -> str:
        return ", ".join(f"`{part}`" for part in self.notation.split("|"))

    @property
    def metavar(self) -> str:
        return self.notation


@dataclass(eq=False)
class Repeated(Noted):
    """A parameter that is any number of texts: an option that may be repeated; in a recipe one text, spaces between."""

    multiple = True

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        texts = value if isinstance(value, list | tuple) else [value]
        return tuple(word for text in texts for word in str(text).split())

    def text(self, value: Any) -> str:
        return " ".join(value)


@dataclass(eq=False)
class Written(Noted):
    """A parameter with a notation of its own: ``read`` makes its value of a text, ``write`` a text of its value.

    Texts may be in upper or lower case unless they are a file's name.
    """

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    hidden: bool = field(default=True, kw_only=True)

    def checked(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return self.read(value if self.notation == "FILE" else value.lower())

    def collected(self, name: str, given: Given) -> Any:
        return str(given[name]) if name in given else MISSING

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {name: self.write(value)}


@dataclass(eq=False)
class NumberOr(Noted):
    """A parameter that is a number from ``low`` to ``high``, or what one of several ``words`` stands for."""

    low: float
    high: float
    words: Mapping[str, Any]
    hidden: bool = field(default=True, kw_only=True)

    def checked(self, name: str, value: Any) -> Any:
        word = value.lower() if isinstance(value, str) else ""
        if word in self.words or value in self.words.values():
            return self.words.get(word, value)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = nan
        if not self.low <= number <= self.high:
            forms, limits = self.notation.replace("|", " or "), f"numbers from {self.low:g} to {self.high:g}"
            raise ParameterError(f"{name} must be {forms}, with {limits}, not {value!r}")
        return number

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {name: next((word for word, of in self.words.items() if of == value), repr(value))}


@dataclass(eq=False)
class Rectangle(Noted):
    """A parameter that is a :class:`Region` of the image, or its text ``X,Y,W,H``."""

    notation: str = "X,Y,W,H"

    def checked(self, name: str, value: Any) -> Region:
        return value if isinstance(value, Region) else region_option(str(value))


@dataclass(eq=False)
class Text(Kind):
    """A parameter that is a text, such as a name in another program's words, or None."""

    values = "a name"
    metavar: str = "NAME"

    def checked(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ParameterError(f"{self.option or name} must be a name, not {value!r}")
        return value


@dataclass(eq=False)
class PerAxis(Kind):
    """A parameter of two numbers, (y, x), that one option says for both, and two more where ``apart``."""

    unit: str = "pixels"
    apart: bool = False

    def checked(self, name: str, value: Any) -> tuple[float, float]:
        y, x = value if isinstance(value, tuple | list) else (value, value)
        return float(y), float(x)

    def options(self, name: str, default: Any) -> list[Option]:
        texts = {name: self.help}
        if self.apart:
            texts |= {f"{name}_{axis}": f"The same along {axis} only." for axis in "xy"}
        return [Option(one, text, self.metavar, float) for one, text in texts.items()]

    def collected(self, name: str, given: Given) -> Any:
        known = [given.get(f"{name}_{axis}", given.get(name)) for axis in "yx"]
        return MISSING if known == [None, None] else tuple(0.0 if value is None else value for value in known)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        y, x = map(float, value)
        return {name: x} if x == y else {f"{name}_x": x, f"{name}_y": y}

    @property
    def values(self) -> str:
        return f"0 or more {self.unit}"

    @property
    def metavar(self) -> str:
        return "S" if self.apart else "R"


@dataclass(eq=False)
class File(Kind):
    """A parameter that is another file: a :class:`FileOperand`, its path and the digest of what is in it.

    ``alike``: it is a picture that is laid on the image. ``by_rows``: its rows suffice, where the image comes so.
    """

    values = "a file"
    metavar: str = "IMAGE"
    alike: bool = False
    by_rows: bool = False

    def checked(self, name: str, value: Any) -> Any:
        return FileOperand.of(value)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {name: value.written()}


@dataclass(eq=False)
class Files(File):
    """A parameter that is several other files, each a :class:`FileOperand`; their option is given once for each."""

    values = "files"
    multiple = True

    def checked(self, name: str, value: Any) -> Any:
        return tuple(map(FileOperand.of, value))

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {name: [file.written() for file in value]}
