"""Dataclasses whose methods are not compiled one by one: of a hundred classes that takes a tenth of a small command.

Only ``__init__`` is compiled for each. What compares, hashes, shows and guards objects is the same function for all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        eq: bool = True,
        kw_only: bool = False,
        **how: Any,
    ) -> Any:
        """Does as :func:`dataclasses.dataclass`; a frozen object takes each of its fields once."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, kw_only=kw_only, **how)
        if how:
            return dataclasses.dataclass(cls, frozen=frozen, eq=eq, kw_only=kw_only, **how)
        own = dict(vars(cls))
        made = dataclasses.dataclass(cls, eq=False, repr=False, kw_only=kw_only)
        methods: dict[str, Any] = {"__repr__": _shown}
        if eq:
            made.__compared__ = _getter([field.name for field in dataclasses.fields(made) if field.compare])
            methods |= {"__eq__": _equals, "__hash__": _hashed if frozen else None}
        if frozen:
            methods |= {"__setattr__": _set_once, "__delattr__": _keep}
        for name, method in methods.items():
            if own.get(name) is None:  # a class that defines how to compare has no hash by itself
                setattr(made, name, method)
        return made


def _getter(names: list[str]) -> staticmethod[[object], Any]:
    """Returns what gives the values of attributes, to compare them."""
    getter: Callable[[object], Any] = attrgetter(*names) if names else lambda _object: ()
    return staticmethod(getter)


def _shown(self: Any) -> str:
    shown = (field.name for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _equals(self: Any, other: object) -> Any:
    compared = self.__compared__
    return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented


def _hashed(self: Any) -> int:
    return hash(self.__compared__(self))


def _is_guarded(self: Any, name: str) -> bool:
    """Says whether an attribute is a field; a class below that is no dataclass itself may have others."""
    return name in self.__dataclass_fields__ or "__dataclass_fields__" in vars(type(self))


def _set_once(self: Any, name: str, value: object) -> None:
    known = name in self.__dict__ or name not in self.__dataclass_fields__
    if known and _is_guarded(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = value


def _keep(self: Any, name: str) -> None:
    if _is_guarded(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)
