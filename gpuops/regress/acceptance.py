"""Results that a run has seen become references: exactly the bytes that it saw.

A report may be anybody's, such as the artifact of a CI job: its names must lie within the folder of references, and its
results must be pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .. import files, notes
from ..errors import FileError, ParameterError
from .manifest import matching
from .outcome import PairedPicture, Run
from .references import BASE, References, fault_of_name, sha256_of

# The verdicts that accepting makes good.
_OPEN = ("failed", "size", "warned", "new", "renamed")
# oxipng's effort, of 0 … 6: at higher ones references are 1 % smaller, and take several times as long.
_LEVEL = 3


def choose(run: Run, names: Iterable[str] = (), *, remove_missing: bool = False) -> dict[str, str | None]:
    """Returns what to accept, by name: the paths of results that are new or differ, or of those that patterns match.

    ``remove_missing``: also the references without a result, each with None. Raises ParameterError for a pattern that
    nothing of that matches.
    """
    there: dict[str, str | None] = {
        o.name: o.result.path for o in run.outcomes if o.result is not None and o.status in _OPEN
    }
    if remove_missing:
        there |= {name: None for name in missing(run) if name not in there}
    chosen = matching(there, names, "no result that is new or differs is called")
    if not chosen:
        raise ParameterError("there is nothing to accept: no result is new or differs")
    return {name: there[name] for name in chosen}


def missing(run: Run) -> dict[str, PairedPicture]:
    """Returns the references without a result, by name; a renamed result leaves its old name without one."""
    return {
        o.reference.name: o.reference
        for o in run.outcomes
        if o.reference is not None and o.status in ("missing", "renamed")
    }


def check(run: Run, chosen: Mapping[str, str | None], references: References) -> None:
    """Raises FileError if something cannot be accepted.

    That is a name that is none within a folder, a result that is gone, no longer what the run saw, or no picture, and a
    reference to remove that has changed.
    """
    seen = {o.name: o.result.sha256 for o in run.outcomes if o.result is not None}
    before = missing(run)
    for name, path in chosen.items():
        if fault := fault_of_name(name):
            raise FileError(f"the report's {fault}; nothing is accepted")
        if path is None:
            at = references.nearest(name, (before[name].of,))
            if at is not None and sha256_of(at[0]) != before[name].sha256:
                raise FileError(f"{at[0]}: has changed since the run that saw it; run the suite again")
        else:
            _check_result(path, seen[name])


def accept(
    run: Run,
    chosen: Mapping[str, str | None],
    references: References,
    place: str | None = None,
    *,
    recompress: bool = False,
) -> list[str]:
    """Makes the chosen results references, removes those of names with None, and returns the names that changed.

    ``place``: the device or platform that they are for, or None for the base. ``recompress``: PNG files take less
    room, and are no longer the same bytes. Raises FileError, before anything is changed, where :func:`check` does.
    """
    check(run, chosen, references)
    if not recompress:
        return references.accept(chosen, place or BASE)
    with TemporaryDirectory() as folder:
        smaller = {name: path and _recompressed(path, Path(folder, name)) for name, path in chosen.items()}
        return references.accept(smaller, place or BASE)


def _check_result(path: str, digest: str) -> None:
    if not Path(path).is_file():
        raise FileError(f"{path}: is not there any more; run the suite again")
    if sha256_of(path) != digest:
        raise FileError(f"{path}: has changed since the run that saw it; run the suite again")
    with notes.silence():
        files.read_contents(path)


def _recompressed(path: str, draft: Path) -> str:
    """Returns ``draft``, which then holds the same pixels in fewer bytes, or ``path`` if that is no PNG file or small.

    Depth, channels and all metadata stay. Raises ParameterError if oxipng is not installed.
    """
    if Path(path).suffix.lower() != ".png":
        return path
    try:
        import oxipng  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ParameterError("--recompress needs oxipng: pip install 'clpix[regress]'") from None
    draft.parent.mkdir(parents=True, exist_ok=True)
    reductions = ("bit_depth", "color_type", "palette", "grayscale")
    kept: dict[str, Any] = {f"{what}_reduction": False for what in reductions}
    oxipng.optimize(path, draft, level=_LEVEL, **kept)
    smaller = os.path.getsize(draft) < os.path.getsize(path)
    return str(draft) if smaller and _same(path, draft) else path


def _same(path: str, draft: Path) -> bool:
    """Says whether two files hold the same values; a pixel that is transparent counts, too."""
    before, after = files.read(path).pixels, files.read(draft).pixels
    return before.dtype == after.dtype and np.array_equal(before, after)
