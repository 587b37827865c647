"""Parameters of operations: what values they may have, how they are written, and the frozen dataclasses that hold them.

A parameter is a field of a :class:`Params`, made by :meth:`Kind.field`. From its kind follow the options of the
command, the keys of a recipe, the row of the reference page, and the check of a value. A field without a kind has no
option: another field's options say it.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass
from math import isfinite, log2
from typing import Any, ClassVar, NamedTuple, TypeVar

from ..errors import ParameterError, check_name
from .moves import Frame, Shrunk

P = TypeVar("P", bound="Params")
#: The kinds of each class of parameters that was asked for them.
_KINDS: dict[type[Params], Mapping[str, Kind]] = {}


class Option(NamedTuple):
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


class Given(dict[str, Any]):
    """The options that somebody wrote, by name; ``spelled`` says how they wrote one."""

    def __init__(
        self, values: Mapping[str, Any], spelled: Callable[[str], str] = lambda name: name.replace("_", "-")
    ) -> None:
        super().__init__(values)
        self.spelled = spelled

    def refuse(self, reason: str, *names: str, even_auto: bool = False) -> None:
        """Raises ParameterError if one of these options was given though it can have no effect.

        An option that asks for ``auto`` asks for nothing, unless that is not its default: ``even_auto``.
        """
        for name in names:
            if name in self and (even_auto or self[name] != "auto"):
                raise ParameterError(f"{reason}: leave out {self.spelled(name)}")

    def with_usual(self, values: Mapping[str, Any]) -> Given:
        """Returns the same with further values that count as given."""
        return Given({**self, **values}, self.spelled)


@dataclass(eq=False)
class Kind(ABC):
    """The kind of a parameter: which values it may have, and how they are written, checked and explained in ``help``.

    A parameter whose default is None may be None. Kinds are never compared, so they have no methods for it: making
    these would take most of a module's import.
    """

    help: str
    _: KW_ONLY
    #: Whether the command's help does not show the default, as it is none that people would give.
    hidden: bool = False
    #: The option's name where it is not the parameter's, which Python may not allow.
    option: str = ""
    #: Whether the option has to be given although the parameter has a default.
    required: bool = False

    #: The type of an option's value, and whether it may be repeated, as in :class:`Option`.
    type: ClassVar[Any] = str
    multiple: ClassVar[bool] = False

    def field(self, default: Any = MISSING) -> Any:
        """A parameter of this kind: a field of a :class:`Params`. Without a default callers have to give a value."""
        return dataclasses.field(default=default, metadata={"kind": self})

    def check(self, name: str, value: Any) -> Any:
        """Returns the value, as its own type where it was a text; raises ParameterError if it is none of the kind."""
        try:
            return self.checked(name, value)
        except ParameterError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"{name} cannot be {value!r}: give {self.values}") from error

    def checked(self, name: str, value: Any) -> Any:
        """Does the same, and may raise TypeError, ValueError or OverflowError as well."""
        return value

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
        required = self.required or default is MISSING
        shown = None if required or self.hidden or self.multiple else default
        name = self.option or name
        return [Option(name, self.help, self.metavar, self.type, shown, self.multiple, required)]

    def collected(self, name: str, given: Given) -> Any:
        """Returns the value that the options say, or MISSING if none of them was given."""
        return given.get(self.option or name, MISSING)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        """Returns the options, as plain values, that say ``value``."""
        plain = isinstance(value, bool | int | float | str)
        return {} if value is None else {self.option or name: value if plain else self.text(value)}


def interval(low: float, high: float) -> str:
    """Returns the text of the numbers from ``low`` to ``high``. A ``high`` beyond a billion is a power of two."""
    return f"{low:g} … {f'2^{log2(high):g}' if high > 1e9 else f'{high:g}'}"


@dataclass(eq=False)
class Number(Kind):
    """A parameter that is a number from ``low`` to ``high``, in ``unit`` if it has one.

    ``symbol``: what stands for it in a command's help, in place of the unit.
    """

    type = float
    low: float
    high: float
    unit: str = ""
    symbol: str = ""

    def checked(self, name: str, value: Any) -> float:
        number = float(value)
        if not (isfinite(number) and self.low <= number <= self.high):
            raise ParameterError(f"{name} must be from {self.values}, not {number:g}".replace("…", "to"))
        return number

    @property
    def values(self) -> str:
        return f"{interval(self.low, self.high)} {self.unit}".strip()

    @property
    def metavar(self) -> str:
        return self.symbol or self.unit.upper() or "X"


@dataclass(eq=False)
class Choice(Kind):
    """A parameter that is one of several names."""

    names: tuple[str, ...]

    def checked(self, name: str, value: Any) -> str:
        check_name(name, value, self.names)
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


def d3d11(what: str) -> Choice:
    """A parameter that asks for what the Direct3D 11 HDR sample does."""
    return Choice(f"Make exactly the {what} of the Direct3D 11 HDR sample.", ("d3d11",))


@dataclass(eq=False)
class Flag(Kind):
    """A parameter that is true or false: an option ``--NAME/--no-NAME``."""

    type = bool
    values = "on or off"
    metavar = ""

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ParameterError(f"{name} must be true or false, not {value!r}")
        return value


@dataclass(eq=False)
class Whole(Kind):
    """A parameter that is a whole number from ``low`` to ``high``."""

    type = int
    metavar = "N"
    low: int
    high: int

    def checked(self, name: str, value: Any) -> int:
        number = int(value)
        if number != float(value) or not self.low <= number <= self.high:
            raise ParameterError(f"{name} must be a whole number from {self.low} to {self.high}, not {value}")
        return number

    @property
    def values(self) -> str:
        return f"{self.low} … {self.high}"


def kinds(params: type[Params]) -> Mapping[str, Kind]:
    """Returns each parameter's kind by its name, in the order of their declaration."""
    if params not in _KINDS:
        fields = dataclasses.fields(params)
        _KINDS[params] = {field.name: field.metadata["kind"] for field in fields if field.metadata}
    return _KINDS[params]


@dataclass(frozen=True)
class Params:
    """Parameters of an operation: they are checked when they are made, frozen, and equal if their values are equal.

    ``frame``: where the pixels of the picture that is worked on are, if that is not all of what is displayed. Whoever
    knows the picture sets it. ``shrunk``: how the picture was made smaller as it was read.
    """

    frame: Frame | None = dataclasses.field(default=None, kw_only=True, repr=False)
    shrunk: Shrunk | None = dataclasses.field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        for name, kind in kinds(type(self)).items():
            value = getattr(self, name)
            if value is not getattr(type(self), name, MISSING):  # a default is right
                object.__setattr__(self, name, kind.check(name.replace("_", "-"), value))

    def framed(self: P, frame: Frame) -> P:
        """Returns the parameters for a picture in a frame."""
        known = None if frame.usual else frame
        return self if self.frame == known else dataclasses.replace(self, frame=known)

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
        options: dict[str, Any] = {}
        for name, kind in kinds(type(self)).items():
            value = getattr(self, name)
            if usual[name] is MISSING or value != usual[name]:
                options |= kind.written(name, value, self)
        return options
