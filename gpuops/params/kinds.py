"""Parameters of operations: what values they may have, how they are written, and the frozen dataclasses that hold them.

A parameter is a field of a :class:`Params`, made by :func:`parameter` with a kind. From the kind follow the options of
the command, the keys of a recipe, the row of the reference page, and the check of a value.
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass
from itertools import pairwise
from math import isfinite
from typing import Any, TypeVar

from ..errors import ParameterError
from .files import FileOperand
from .region import Region, region_option

P = TypeVar("P", bound="Params")


@dataclass(frozen=True)
class Option:
    """One option of a command, and the key of a recipe, that says something of a parameter.

    Attributes
    ----------
    name : str
        With underscores; the command writes it with dashes.
    help, metavar : str
        The text for people, and what stands for a value.
    type : type or tuple of str
        float, int, str, bool (an option ``--NAME/--no-NAME``), or the names there are.
    default
        The value without the option, to be shown; None shows nothing.
    multiple : bool
        It may be repeated, and its values are a list.
    required : bool
    """

    name: str
    help: str
    metavar: str = ""
    type: Any = str
    default: Any = None
    multiple: bool = False
    required: bool = False


class Given(Mapping[str, Any]):
    """The options that somebody wrote, by name; ``spell`` says how they wrote one."""

    def __init__(
        self, values: Mapping[str, Any], spell: Callable[[str], str] = lambda name: name.replace("_", "-")
    ) -> None:
        self._values, self._spell = values, spell

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def refuse(self, reason: str, *names: str, even_auto: bool = False) -> None:
        """Raises ParameterError if one of these options was given though it can have no effect.

        An option that asks for ``auto`` asks for nothing, unless that is not its default: ``even_auto``.
        """
        for name in names:
            if name in self and (even_auto or self[name] != "auto"):
                raise ParameterError(f"{reason}: leave out {self._spell(name)}")

    def with_usual(self, values: Mapping[str, Any]) -> Given:
        """Returns the same with further values that count as given."""
        return Given({**self._values, **values}, self._spell)

    def spelled(self, name: str) -> str:
        """Returns how an option is written."""
        return self._spell(name)


class Kind(ABC):
    """What values a parameter may have: how they are written, checked and explained to people in ``help``."""

    help: str

    @abstractmethod
    def checked(self, name: str, value: Any) -> Any:
        """Returns the value, as its own type where it was a text; raises ParameterError if it is none of the kind."""

    @property
    @abstractmethod
    def values(self) -> str:
        """The values there are, for a table of the reference."""

    @property
    @abstractmethod
    def metavar(self) -> str:
        """What stands for a value in a command's help."""

    def text(self, value: Any) -> str:
        """Returns the value as an option's text, which :meth:`checked` reads back."""
        return str(value)

    def options(self, name: str, default: Any) -> list[Option]:
        """Returns the options that say the parameter ``name``."""
        required = default is MISSING
        shown = None if required or default is None else default
        return [Option(name, self.help, self.metavar, self.type, shown, required=required)]

    @property
    def type(self) -> Any:
        """The type of an option's value, as in :class:`Option`."""
        return str

    def collected(self, name: str, given: Given) -> Any:
        """Returns the value that the options say, or MISSING if none of them was given."""
        return given.get(name, MISSING)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        """Returns the options, as plain values, that say ``value``."""
        plain = isinstance(value, bool | int | float | str)
        return {} if value is None else {name: value if plain else self.text(value)}


@dataclass(frozen=True)
class Number(Kind):
    """A parameter that is a number from ``low`` to ``high``, in ``unit`` if it has one.

    ``optional``: it may be None, which stands for no number. ``hidden``: the default is none that people would give.
    """

    help: str
    low: float
    high: float
    unit: str = ""
    optional: bool = False
    hidden: bool = False

    def options(self, name: str, default: Any) -> list[Option]:
        return super().options(name, None if self.hidden else default)

    def checked(self, name: str, value: Any) -> float | None:
        if value is None and self.optional:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{name} must be a number, not {value!r}") from None
        if not (isfinite(number) and self.low <= number <= self.high):
            raise ParameterError(f"{name} must be from {self.values}, not {number:g}".replace("…", "to"))
        return number

    @property
    def type(self) -> Any:
        return float

    @property
    def values(self) -> str:
        return f"{self.low:g} … {self.high:g} {self.unit}".strip()

    @property
    def metavar(self) -> str:
        return self.unit.upper() or "X"

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {} if value is None else {name: float(value)}

    def text(self, value: Any) -> str:
        return repr(float(value))


@dataclass(frozen=True)
class Numbers(Kind):
    """A parameter that is ``count`` numbers from ``low`` to ``high``, with commas between them; one stands for all.

    ``percent``: a number may be written in percent. ``optional``: the parameter may be None.
    """

    help: str
    count: int
    low: float
    high: float
    percent: bool = False
    optional: bool = False

    def checked(self, name: str, value: Any) -> tuple[float, ...] | None:
        if value is None and self.optional:
            return None
        given = (
            value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else (value,)
        )
        one = Number(self.help, self.low, self.high)
        found = [one.checked(name, self._fraction(part)) or 0.0 for part in given]
        if len(found) not in (1, self.count):
            raise ParameterError(f"{name} must be one number or {self.count}, not {len(found)}")
        return tuple(found * self.count if len(found) == 1 else found)

    def _fraction(self, part: Any) -> Any:
        """The number that a text in percent stands for; all else as it is."""
        text = part.strip() if isinstance(part, str) else ""
        if not (self.percent and text.endswith("%")):
            return part
        try:
            return float(text[:-1]) / 100
        except ValueError:
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


@dataclass(frozen=True)
class Choice(Kind):
    """A parameter that is one of several names; or None, which stands for none of them, if it is ``optional``.

    ``hidden``: the command's help does not show the default.
    """

    help: str
    names: tuple[str, ...]
    optional: bool = False
    hidden: bool = False

    def options(self, name: str, default: Any) -> list[Option]:
        return super().options(name, None if self.hidden else default)

    def checked(self, name: str, value: Any) -> str | None:
        if value is None and self.optional:
            return None
        if value not in self.names:
            raise ParameterError(f"{name} must be one of {', '.join(self.names)}, not {value!r}")
        return str(value)

    @property
    def type(self) -> Any:
        return self.names

    @property
    def values(self) -> str:
        return ", ".join(f"`{name}`" for name in self.names)

    @property
    def metavar(self) -> str:
        return f"[{'|'.join(self.names)}]"


@dataclass(frozen=True)
class Flag(Kind):
    """A parameter that is true or false, or None if it is ``optional``: an option ``--NAME/--no-NAME``."""

    help: str
    optional: bool = False

    def checked(self, name: str, value: Any) -> bool | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, bool):
            raise ParameterError(f"{name} must be true or false, not {value!r}")
        return value

    @property
    def type(self) -> Any:
        return bool

    @property
    def values(self) -> str:
        return "on or off"

    @property
    def metavar(self) -> str:
        return ""


@dataclass(frozen=True)
class Size(Kind):
    """A parameter that is a width and a height in pixels, written ``WIDTHxHEIGHT``, or None.

    ``partial``: one of them may be left out, as in ``1920x`` or ``x1080``, and is None then.
    """

    help: str
    most: int = 1 << 20
    partial: bool = False

    def checked(self, name: str, value: Any) -> tuple[int | None, int | None] | None:
        if value is None:
            return None
        if isinstance(value, str):
            match = re.fullmatch(r"(\d{0,9})x(\d{0,9})", value.lower().replace("×", "x"), re.ASCII)
            value = [int(side) if side else None for side in match.groups()] if match else ()
        sides = tuple(side if side is None else int(side) for side in value)
        known = [side for side in sides if side is not None]
        right = len(sides) == 2 and len(known) >= 2 - self.partial
        if not (right and all(1 <= side <= self.most for side in known)):
            also = ", or one of the two, such as 1920x or x1080" if self.partial else ""
            raise ParameterError(f"{name} must be WIDTHxHEIGHT in pixels, such as 1920x1080{also}")
        return sides[0], sides[1]

    @property
    def values(self) -> str:
        return "`WIDTHxHEIGHT` pixels" + (", `WIDTHx`, `xHEIGHT`" if self.partial else "")

    @property
    def metavar(self) -> str:
        return "WxH"

    def text(self, value: Any) -> str:
        return "x".join("" if side is None else str(side) for side in value)


@dataclass(frozen=True)
class Points(Kind):
    """A parameter that is points of a curve from left to right, written ``X,Y X,Y …``, or None.

    There are 2 to ``most`` of them. Coordinates are from −``high`` to ``high``, and x grows by ``apart`` at least.
    """

    help: str
    most: int = 16
    high: float = 1e5
    apart: float = 1e-6

    def checked(self, name: str, value: Any) -> tuple[tuple[float, float], ...] | None:
        if value is None:
            return None
        try:
            pairs = [pair.split(",") for pair in value.split()] if isinstance(value, str) else value
            points = tuple((float(x), float(y)) for x, y in pairs)
        except (TypeError, ValueError):
            raise ParameterError(f'{name} must be points X,Y, such as "0,0 0.5,0.4 1,1"') from None
        if not 2 <= len(points) <= self.most:
            raise ParameterError(f"{name} must have 2 to {self.most} points, not {len(points)}")
        for point in points:
            if not all(abs(v) <= self.high for v in point):
                raise ParameterError(
                    f"{name} must have points from {-self.high:g} to {self.high:g}, not {point}"
                )
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

    @property
    def metavar(self) -> str:
        return '"X,Y X,Y…"'

    def text(self, value: Any) -> str:
        return " ".join(f"{x!r},{y!r}" for x, y in value)


@dataclass(frozen=True)
class Rectangle(Kind):
    """A parameter that is a :class:`Region` of the image, or its text ``X,Y,W,H``; or None if it is ``optional``."""

    help: str
    optional: bool = False

    def checked(self, name: str, value: Any) -> Region | None:
        if value is None and self.optional:
            return None
        return value if isinstance(value, Region) else region_option(str(value))

    def collected(self, name: str, given: Given) -> Any:
        return region_option(str(given[name])) if name in given else MISSING

    @property
    def values(self) -> str:
        return "`X,Y,W,H`"

    @property
    def metavar(self) -> str:
        return "X,Y,W,H"


@dataclass(frozen=True)
class Whole(Kind):
    """A parameter that is a whole number from ``low`` to ``high``."""

    help: str
    low: int
    high: int

    def checked(self, name: str, value: Any) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"{name} must be a whole number, not {value!r}") from None
        if number != float(value) or not self.low <= number <= self.high:
            raise ParameterError(f"{name} must be a whole number from {self.low} to {self.high}, not {value}")
        return number

    @property
    def type(self) -> Any:
        return int

    @property
    def values(self) -> str:
        return f"{self.low} … {self.high}"

    @property
    def metavar(self) -> str:
        return "N"


@dataclass(frozen=True)
class Written(Kind):
    """A parameter with a notation of its own: ``read`` makes its value of a text, ``write`` a text of its value."""

    help: str
    notation: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    hidden: bool = False

    def options(self, name: str, default: Any) -> list[Option]:
        return [Option(name, self.help, self.metavar, required=default is MISSING)]

    def checked(self, name: str, value: Any) -> Any:
        return self._read(value) if isinstance(value, str) else value

    def collected(self, name: str, given: Given) -> Any:
        return self._read(given[name]) if name in given else MISSING

    def _read(self, value: Any) -> Any:
        """Reads a text, in upper or lower case unless it is a file's name."""
        return self.read(str(value) if self.notation == "FILE" else str(value).lower())

    @property
    def values(self) -> str:
        return ", ".join(f"`{part}`" for part in self.notation.split("|"))

    @property
    def metavar(self) -> str:
        return self.notation

    def text(self, value: Any) -> str:
        return self.write(value)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {name: self.write(value)}


@dataclass(frozen=True)
class PerAxis(Kind):
    """A parameter of two numbers, (y, x), that one option says for both, and two more where ``apart``."""

    help: str
    unit: str = "pixels"
    apart: bool = False

    def checked(self, name: str, value: Any) -> tuple[float, float]:
        y, x = value if isinstance(value, tuple | list) else (value, value)
        return float(y), float(x)

    def options(self, name: str, default: Any) -> list[Option]:
        both = Option(name, self.help, self.metavar, float)
        axes = [
            Option(f"{name}_{axis}", f"The same along {axis} only.", self.metavar, float) for axis in "xy"
        ]
        return [both, *axes] if self.apart else [both]

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


@dataclass(frozen=True)
class File(Kind):
    """A parameter that is another file: a :class:`FileOperand`, its path and the digest of what is in it."""

    help: str
    metavar: str = "IMAGE"
    required: bool = False

    def options(self, name: str, default: Any) -> list[Option]:
        return [Option(name, self.help, self.metavar, required=self.required)]

    def checked(self, name: str, value: Any) -> FileOperand | None:
        return value if value is None or isinstance(value, FileOperand) else FileOperand.of(value)

    @property
    def values(self) -> str:
        return "a file"

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {} if value is None else {name: value.written()}


@dataclass(frozen=True)
class Group(Kind):
    """A parameter that is a dataclass whose fields have options of their own."""

    help: str
    of: type
    fields: tuple[
        tuple[str, str, str, str], ...
    ]  # of each: the field, its option, the option's metavar and help

    def checked(self, name: str, value: Any) -> Any:
        return value

    def options(self, name: str, default: Any) -> list[Option]:
        defaults = self.of()
        found = []
        for field, option, metavar, text in self.fields:
            value = getattr(defaults, field)
            found.append(Option(option, text, metavar, type(value), value))
        return found

    def collected(self, name: str, given: Given) -> Any:
        values = {field: given[option] for field, option, *_ in self.fields if option in given}
        return self.of(**values) if values else MISSING

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        defaults = self.of()
        pairs = (
            (option, getattr(value, field), getattr(defaults, field)) for field, option, *_ in self.fields
        )
        return {option: ours for option, ours, usual in pairs if ours != usual}

    @property
    def values(self) -> str:
        return ""

    @property
    def metavar(self) -> str:
        return ""


def parameter(default: Any, kind: Kind | None) -> Any:
    """A field of a :class:`Params`. Where the default is ``dataclasses.MISSING``, callers have to give a value.

    A field without a kind has no option: another field's options say it.
    """
    if default is not MISSING and type(default).__hash__ is None:
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata={"kind": kind})
    return dataclasses.field(default=default, metadata={"kind": kind})


def kinds(params: type[Params] | Params) -> dict[str, Kind]:
    """Returns each parameter's kind by its name, in the order of their declaration."""
    return {f.name: f.metadata["kind"] for f in dataclasses.fields(params) if f.metadata.get("kind")}


@dataclass(frozen=True)
class Params:
    """Parameters of an operation: they are checked when they are made, frozen, and equal if their values are equal."""

    def __post_init__(self) -> None:
        for name, kind in kinds(self).items():
            object.__setattr__(self, name, kind.checked(name.replace("_", "-"), getattr(self, name)))

    def check_given(self, given: Given) -> None:
        """Raises ParameterError where an option is missing, or can have no effect beside the others."""

    @classmethod
    def options(cls) -> list[Option]:
        """Returns the options of the operation's command, which are the keys of its step in a recipe."""
        defaults = {field.name: field.default for field in dataclasses.fields(cls)}
        return [option for name, kind in kinds(cls).items() for option in kind.options(name, defaults[name])]

    @classmethod
    def of_options(cls: type[P], given: Given) -> P:
        """Makes parameters of options. Raises ParameterError for what is wrong, missing, or without effect."""
        values = {name: kind.collected(name, given) for name, kind in kinds(cls).items()}
        params = cls(**{name: value for name, value in values.items() if value is not MISSING})
        params.check_given(given)
        return params

    def written(self) -> dict[str, Any]:
        """Returns the options, as plain values, of which :meth:`of_options` makes the same parameters."""
        usual = {f.name: f.default for f in dataclasses.fields(self)}
        found: dict[str, Any] = {}
        for name, kind in kinds(self).items():
            value = getattr(self, name)
            if usual[name] is MISSING or value != usual[name]:
                found |= kind.written(name, value, self)
        return found
