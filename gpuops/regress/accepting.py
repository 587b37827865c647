"""Results that a run has seen become references: exactly the bytes that it saw."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import FileError, ParameterError
from ..params.toml import nearest
from .outcome import Run
from .references import BASE, References, sha256_of

# The verdicts that accepting makes good.
_OPEN = ("failed", "size", "warned", "new", "renamed")


def choose(run: Run, names: Iterable[str] = ()) -> dict[str, str]:
    """Returns the paths of results to accept, by name: those that are new or differ, or those that patterns match.

    Raises ParameterError for a pattern that no result matches.
    """
    there = {o.name: o.result for o in run.outcomes if o.result is not None and o.status in _OPEN}
    names = tuple(names)
    for pattern in names:
        if not any(fnmatchcase(name, pattern) for name in there):
            raise ParameterError(
                f"no result that is new or differs is called {pattern!r}{nearest(pattern, there)}"
            )
    chosen = {n: r.path for n, r in there.items() if not names or any(fnmatchcase(n, p) for p in names)}
    if not chosen:
        raise ParameterError("there is nothing to accept: no result is new or differs")
    return chosen


def accept(
    run: Run,
    chosen: dict[str, str],
    references: References,
    place: str | None = None,
    *,
    recompress: bool = False,
) -> list[str]:
    """Makes the chosen results references, and returns the names that changed.

    ``place``: the device or platform that they are for, or None for the base. ``recompress``: PNG files take less
    room, and are no longer the same bytes. Raises FileError, before anything is changed, if a result is gone or no
    longer what the run saw.
    """
    seen = {o.name: o.result.sha256 for o in run.outcomes if o.result is not None}
    for name, path in chosen.items():
        if sha256_of(path) != seen[name]:
            raise FileError(f"{path}: has changed since the run that saw it; run the suite again")
    if not recompress:
        return references.accept(chosen, place or BASE)
    from .recompress import recompressed

    with TemporaryDirectory() as folder:
        smaller = {name: recompressed(path, Path(folder, name)) for name, path in chosen.items()}
        return references.accept(smaller, place or BASE)
