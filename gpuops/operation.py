"""An operation as data: its name, its parameters and its function. All else is derived from these.

An operation is one module of :mod:`gpuops.ops` with its parameters, its function and its :class:`Operation`. The module
needs neither a device nor numpy before the function is called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from .errors import ParameterError
from .params.region import Region, region_option

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image


@dataclass(frozen=True)
class Number:
    """A parameter that is a number from ``low`` to ``high``, in ``unit`` if it has one; ``help`` is for people."""

    help: str
    low: float
    high: float
    unit: str = ""

    def checked(self, name: str, value: Any) -> float:
        """Returns the value as a float; raises ParameterError if it is no number or out of range."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{name} must be a number, not {value!r}") from None
        if not (isfinite(number) and self.low <= number <= self.high):
            unit = f" {self.unit}" if self.unit else ""
            raise ParameterError(f"{name} must be from {self.low:g} to {self.high:g}{unit}, not {number:g}")
        return number


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of several names."""

    help: str
    names: tuple[str, ...]

    def checked(self, name: str, value: Any) -> str:
        """Returns the value if it is one of the names; else raises ParameterError."""
        if value not in self.names:
            raise ParameterError(f"{name} must be one of {', '.join(self.names)}, not {value!r}")
        return str(value)


@dataclass(frozen=True)
class Rectangle:
    """A parameter that is a :class:`Region` of the image, or its text ``X,Y,W,H``."""

    help: str

    def checked(self, name: str, value: Any) -> Region:
        """Returns the region; raises ParameterError if the value describes none."""
        return value if isinstance(value, Region) else region_option(str(value))


Kind = Number | Choice | Rectangle


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
