"""An operation as data: its name, its parameters and its function. All else is derived from these.

An operation is one module of :mod:`gpuops.ops` with its parameters, its function and its :class:`Operation`. The module
needs neither a device nor numpy before the function is called.
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from .errors import ParameterError
from .params.region import Region, region_option

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image


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


@dataclass(frozen=True)
class Number(Kind):
    """A parameter that is a number from ``low`` to ``high``, in ``unit`` if it has one.

    ``optional``: it may be None, which stands for no number.
    """

    help: str
    low: float
    high: float
    unit: str = ""
    optional: bool = False

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
    def values(self) -> str:
        return f"{self.low:g} … {self.high:g} {self.unit}".strip()

    @property
    def metavar(self) -> str:
        return self.unit.upper() or "X"

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
    """A parameter that is one of several names."""

    help: str
    names: tuple[str, ...]

    def checked(self, name: str, value: Any) -> str:
        if value not in self.names:
            raise ParameterError(f"{name} must be one of {', '.join(self.names)}, not {value!r}")
        return str(value)

    @property
    def values(self) -> str:
        return ", ".join(f"`{name}`" for name in self.names)

    @property
    def metavar(self) -> str:
        return f"[{'|'.join(self.names)}]"


@dataclass(frozen=True)
class Flag(Kind):
    """A parameter that is true or false: an option ``--NAME/--no-NAME``."""

    help: str

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ParameterError(f"{name} must be true or false, not {value!r}")
        return value

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
class Rectangle(Kind):
    """A parameter that is a :class:`Region` of the image, or its text ``X,Y,W,H``."""

    help: str

    def checked(self, name: str, value: Any) -> Region:
        return value if isinstance(value, Region) else region_option(str(value))

    @property
    def values(self) -> str:
        return "`X,Y,W,H`"

    @property
    def metavar(self) -> str:
        return "X,Y,W,H"


def parameter(default: Any, kind: Kind) -> Any:
    """A field of a :class:`Params`. Where the default is ``dataclasses.MISSING``, callers have to give a value."""
    return dataclasses.field(default=default, metadata={"kind": kind})


def kinds(params: type[Params] | Params) -> dict[str, Kind]:
    """Returns each parameter's kind by its name, in the order of their declaration."""
    return {field.name: field.metadata["kind"] for field in dataclasses.fields(params)}


@dataclass(frozen=True)
class Params:
    """Parameters of an operation: they are checked when they are made, frozen, and equal if their values are equal."""

    def __post_init__(self) -> None:
        for name, kind in kinds(self).items():
            object.__setattr__(self, name, kind.checked(name.replace("_", "-"), getattr(self, name)))


@dataclass(frozen=True)
class Operation:
    """The description of an operation.

    Attributes
    ----------
    name : str
        The name of its command, and of its step in a chain.
    params : type
        Its :class:`Params`, whose docstring becomes its help.
    function : callable
        ``(gpu, image, params) → image``: planar float32 (channel, row, column).
    stored : bool
        It works on values as they are stored, rather than on light.
    premultiply : bool
        Whether colours are multiplied by alpha first.
    identity : callable, optional
        ``(params)`` → whether the result is the input itself. Without this function it never is.
    reach : callable, optional
        ``(gpu, image, params)`` → how many pixels away a pixel of the input has an effect; 0 without this function.
    """

    name: str
    params: type[Params]
    function: Callable[[Gpu, Image, Any], Image]
    stored: bool = False
    premultiply: bool = False
    identity: Callable[[Any], bool] = lambda _params: False
    reach: Callable[[Gpu, Image, Any], float] = lambda _gpu, _image, _params: 0
