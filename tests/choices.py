"""Which cases of a test run by default, and what tests need that may be absent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import product
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


def few(count: int, **choice: Iterable[Any]) -> pytest.MarkDecorator:
    """Parametrises a test by the values of one choice, of which those are exhaustive that follow the first ones."""
    (values,) = map(list, choice.values())
    every = [(k,) for k in range(len(values))]
    return _cases(choice, every, frozenset(every[count:]))


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
