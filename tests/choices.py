"""Few of many cases: those in which any two choices meet, and those that the default run has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

import pytest


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


def some(cases: Iterable[Any], every: int, arguments: int = 1) -> list[Any]:
    """The cases, of which all but one of so many are marked as exhaustive; each has so many arguments."""
    return [
        case
        if k % every == 0
        else pytest.param(*([case] if arguments == 1 else case), marks=pytest.mark.exhaustive)
        for k, case in enumerate(cases)
    ]
