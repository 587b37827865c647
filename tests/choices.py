"""Which cases of a test run by default, and what tests need that may be absent."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import combinations, product
from typing import Any

import pytest

from gpuops.files import Format


def each(**choices: Iterable[Any]) -> pytest.MarkDecorator:
    """Parametrises a test so that every value of every choice occurs: ``@each(mode=MODES, shape__size=CASES)``.

    There are as many cases as the longest list has values. Two underscores part names whose values belong together.
    """
    lists = [list(values) for values in choices.values()]
    return _cases(choices, _places(lists), frozenset())


def some(**choices: Iterable[Any]) -> pytest.MarkDecorator:
    """Parametrises a test by the product of choices, of which those are exhaustive that :func:`each` leaves out."""
    lists = [list(values) for values in choices.values()]
    every = list(product(*(range(len(values)) for values in lists)))
    return _cases(choices, every, frozenset(every).difference(_places(lists)))


def thinned(cases: Iterable[Any], every: int, arguments: int = 1) -> list[Any]:
    """The cases, of which all but one of so many are exhaustive; each has so many arguments."""
    return [
        case
        if k % every == 0
        else pytest.param(*([case] if arguments == 1 else case), marks=pytest.mark.exhaustive)
        for k, case in enumerate(cases)
    ]


def pairs(*choices: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Cases, each with one of every collection of choices; any two of different collections meet in a case."""
    places = [list(values) for values in choices]

    def met(case: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
        return set(combinations(enumerate(case), 2))

    every = list(product(*(range(len(values)) for values in places)))
    todo, found = set().union(*map(met, every)), []
    while todo:
        found.append(max(every, key=lambda case: len(todo & met(case))))
        todo -= met(found[-1])
    return [tuple(values[i] for values, i in zip(places, case, strict=True)) for case in found]


def in_turns(
    names: Sequence[str],
    cases: Iterable[Sequence[Any]],
    plans: tuple[str, str] = ("cpu", "gpu"),
    fixture: str = "planned",
) -> pytest.MarkDecorator:
    """Parametrises a test by cases, which a fixture plans for a CPU and for a GPU in turn."""
    turns = [(plans[k % 2], *case) for k, case in enumerate(cases)]
    ids = ["-".join(map(_text, case))[:90] for case in turns]
    return pytest.mark.parametrize((fixture, *names), turns, indirect=[fixture], ids=ids)


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    """Skips a test where a package is absent, and says which extra brings it."""
    return pytest.mark.skipif(find_spec(package) is None, reason=f"needs the extra {extra}")


def of_formats(formats: Iterable[Format]) -> list[Any]:
    """Formats as parameters, of which those are skipped whose package is absent."""
    extras = {"pillow-heif": "formats", "rawpy": "raw"}
    return [
        pytest.param(fmt, marks=needs(fmt.needs.replace("-", "_"), extras[fmt.needs])) if fmt.needs else fmt
        for fmt in formats
    ]


Places = Sequence[tuple[int, ...]]


def _places(lists: Sequence[Sequence[Any]]) -> Places:
    longest = max(map(len, lists))
    return [tuple(k % len(values) for values in lists) for k in range(longest)]


def _cases(
    choices: dict[str, Iterable[Any]], places: Places, exhaustive: frozenset[tuple[int, ...]]
) -> pytest.MarkDecorator:
    names = [name.split("__") for name in choices]
    lists = [list(values) for values in choices.values()]
    cases = []
    for at in places:
        marks = [pytest.mark.exhaustive] if at in exhaustive else []
        given: list[Any] = []
        for own, values, k in zip(names, lists, at, strict=True):
            value = values[k]
            if hasattr(value, "marks"):
                marks += value.marks
                value = value.values if len(own) > 1 else value.values[0]
            given += value if len(own) > 1 else [value]
        cases.append(pytest.param(*given, marks=marks, id="-".join(map(_text, given))[:80]))
    return pytest.mark.parametrize([name for own in names for name in own], cases)


def _text(value: Any) -> str:
    """A word for a value in the name of a case."""
    if isinstance(value, list | tuple):
        return " ".join(map(_text, value))
    return getattr(value, "__name__", None) or ("bytes" if isinstance(value, bytes) else str(value))
