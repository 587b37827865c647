"""A sweep over the panels of a spool: each is replaced by what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy.typing as npt

from .spool import Spool
from .threads import Pending, Writing

Array = npt.NDArray[Any]


def in_panels(
    spool: Spool,
    pool: Executor,
    planes: int,
    present: int,
    work: Callable[[Array, int, int], Array],
) -> None:
    """Replaces the panels of the first ``planes`` of a spool by the results of ``work``.

    ``work`` is given a panel (rows, columns), its plane, and its first column. ``present``: the rows of a panel. A
    thread reads the next panel meanwhile, and another one writes the one before.
    """
    places = [(plane, at) for plane in range(planes) for at in spool.panels]
    writing = Writing(pool)

    def read(number: int) -> Pending[Array] | None:
        if number == len(places):
            return None
        plane, at = places[number]
        return Pending(pool, lambda: spool.panel(plane, at, present))

    coming = read(0)
    for number, (plane, at) in enumerate(places):
        assert coming is not None
        panel = coming.result()
        coming = read(number + 1)
        made = work(panel, plane, at.start)
        del panel
        writing.put(lambda plane=plane, at=at, made=made: spool.put_panel(plane, at, made))  # type: ignore[misc]
    writing.wait()
