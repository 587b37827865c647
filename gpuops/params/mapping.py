"""Parameters that are numbers by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from ..errors import ParameterError
from .kinds import Given, Kind, Params


class FrozenMapping(Mapping[str, float]):
    """Numbers by name that cannot be changed; it can be hashed and pickled."""

    def __init__(self, values: Mapping[str, float] | None = None) -> None:
        self._items = tuple((values or {}).items())

    def __getitem__(self, name: str) -> float:
        return dict(self._items)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items))

    def __repr__(self) -> str:
        return repr(dict(self._items))


@dataclass(eq=False)
class NamedNumbers(Kind):
    """The kind: an option ``--OPTION NAME=NUMBER`` that may be repeated; in a recipe a table of numbers."""

    values, metavar, multiple = "`NAME=V`", "NAME=V", True

    def checked(self, name: str, value: Any) -> FrozenMapping:
        return FrozenMapping(value)

    def collected(self, name: str, given: Given) -> Any:
        found = given.get(self.option, MISSING)
        if found is MISSING or isinstance(found, Mapping):
            return found
        numbers: dict[str, float] = {}
        for text in found:
            key, number = _named(str(text).lower())
            if key in numbers:
                raise ParameterError(f"{given.spelled(self.option)} {key} is given twice: give it once")
            numbers[key] = number
        return numbers

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        return {self.option: dict(value)}


def _named(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        if equals:
            return name.strip(), float(value)
    except ValueError:
        pass
    raise ParameterError(f"a parameter is NAME=NUMBER, such as contrast=1.5, not {text!r}")
