"""Dataclasses of records, beside those of the standard library."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property
from typing import Any

import pytest

from gpuops import records


def _classes(dataclass: Any) -> list[Any]:
    @dataclass(frozen=True)
    class Point:
        """Frozen, with a default, a field that is not compared, and one that is not shown."""

        x: int
        y: float = 2.0
        label: str = field(default="", compare=False)
        secret: int = field(default=7, repr=False)
        names: tuple[str, ...] = field(default_factory=tuple)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x")

        @cached_property
        def twice(self) -> float:
            return 2 * self.x

    @dataclass(frozen=True)
    class Solid(Point):
        z: int = 3

    class Plain(Point):
        """A subclass that is none of its own."""

    @dataclass
    class Counter:
        count: int = 0
        seen: list[int] = field(default_factory=list)

    @dataclass(frozen=True, eq=False)
    class Thing:
        name: str

    @dataclass(frozen=True)
    class Nothing:
        pass

    @dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Named:
        a: int
        b: int = 1

    @dataclass(frozen=True, kw_only=True)
    class More(Point):
        q: int

    return [Point, Solid, Plain, Counter, Thing, Nothing, Own, Named, More]


OURS, THEIRS = _classes(records.dataclass), _classes(dataclasses.dataclass)
VALUES: dict[str, list[dict[str, Any]]] = {
    "Point": [
        {"x": 1},
        {"x": 1, "label": "l"},
        {"x": 1, "secret": 8},
        {"x": 1, "y": 3.0},
        {"x": 1, "names": ("a",)},
    ],
    "Solid": [{"x": 1}, {"x": 1, "z": 4}, {"x": 1, "label": "l"}],
    "Plain": [{"x": 1}, {"x": 2}],
    "Counter": [{}, {"count": 1}, {"seen": [1]}],
    "Thing": [{"name": "a"}, {"name": "a"}],
    "Nothing": [{}, {}],
    "Own": [{"x": 1}, {"x": 2}],
    "More": [{"x": 1, "q": 2}, {"x": 1, "q": 3}, {"x": 2, "q": 2}],
    "Named": [{"a": 1}, {"a": 1, "b": 2}],
}


@pytest.mark.parametrize(
    ("ours", "theirs"), [*zip(OURS, THEIRS, strict=True)], ids=[cls.__name__ for cls in OURS]
)
def test_records_behave_as_dataclasses(ours, theirs) -> None:
    def outcomes(cls: Any) -> list[Any]:
        made = [cls(**values) for values in VALUES[cls.__name__]]
        seen: list[Any] = [(f.name, f.compare, f.repr, f.init) for f in fields(cls)]
        for one in made:
            seen += [repr(one).rpartition(".")[2], dataclasses.asdict(one), one == 1, copy.copy(one) == one]
            seen += [one == other for other in made] + [one != other for other in made]
            seen += [replace(one) == one, hasattr(one, "__dict__"), cls.__match_args__]
            try:
                hash(one)
                seen.append([hash(one) == hash(other) for other in made if one == other])
            except TypeError:
                seen.append("has no hash")
            for name in (*(f.name for f in fields(cls)), "another"):
                for change, given in ((setattr, (1,)), (delattr, ())):
                    try:
                        change(copy.copy(one), name, *given)  # type: ignore[operator]
                        seen.append(name)
                    except (
                        AttributeError,
                        TypeError,
                    ) as error:  # a TypeError is a fault of slots' before Python 3.12
                        seen.append(isinstance(error, FrozenInstanceError) or type(error).__name__)
        return seen

    assert outcomes(ours) == outcomes(theirs)


def test_bad_values_and_caches() -> None:
    point = OURS[0](3)
    assert point.twice == 6 and point.__dict__["twice"] == 6
    for cls in (OURS[0], OURS[1]):
        with pytest.raises(ValueError, match="x"):
            cls(-1)
        with pytest.raises(TypeError):
            cls()
    assert OURS[0](1) != OURS[1](1)


def test_pickles() -> None:
    """A process that reads one has made none itself."""
    from gpuops.params.region import Region

    region = Region(1, 2, 3, 4)
    assert pickle.loads(pickle.dumps(region)) == region and hash(pickle.loads(pickle.dumps(region))) == hash(
        region
    )
