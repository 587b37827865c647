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
from .outcome import Outcome, PairedPicture, Run, line
from .references import BASE, Change, References, fault_of_name, sha256_of, slug

# The verdicts that accepting makes good.
_OPEN = ("failed", "size", "warned", "new", "renamed")
# oxipng's effort, of 0 … 6: at higher ones references are 1 % smaller, and take several times as long.
_LEVEL = 3


def choose(
    run: Run,
    names: Iterable[str] = (),
    *,
    place: str | None = None,
    also: bool = False,
    remove_missing: bool = False,
) -> dict[str, Change]:
    """Returns what to accept, by name: the results that are new or differ, or those of them that patterns match.

    A result takes the place of the reference that it was compared with, or with ``place`` of that device's or
    platform's, and with ``also`` of none. All references of a picture that was renamed get its new name.
    ``remove_missing``: the references without a result go, too.

    Raises ParameterError for a pattern that nothing of that matches, and if the run does not say what is missing.
    """
    there = {o.name: replacement(o, place, also=also) for o in run.outcomes if o.result and o.status in _OPEN}
    if remove_missing:
        if selection := run.context.get("selection"):
            raise ParameterError(
                f"the run was of some cases ({line(str(selection))}): run all of them before --remove-missing"
            )
        if not names and all(outcome.result is None for outcome in run.outcomes):
            raise ParameterError(
                "no picture has a result, so that all references would go; name those to remove"
            )
        there |= {name: Change(None, place or BASE) for name in missing(run)}
    chosen = matching(there, names, "no result that is new or differs is called")
    if not chosen:
        raise ParameterError("there is nothing to accept: no result is new or differs")
    return {name: there[name] for name in chosen}


def replacement(outcome: Outcome, place: str | None = None, *, also: bool = False) -> Change:
    """Returns the change that accepts an outcome's result: see :func:`choose`."""
    result, before = outcome.result, outcome.reference
    assert result is not None
    if before is None or outcome.status == "renamed":
        old = before.name if before is not None and place is None else ""
        return Change(result.path, place or BASE, also=also, old=old)
    compared = before.of.partition(":")[0]
    over = before.sha256 if place in (None, compared) else ""
    return Change(result.path, place or compared, over, also)


def missing(run: Run) -> dict[str, PairedPicture]:
    """Returns the references without a result, by name: also those of no case, in a run of all of a suite's cases."""
    return {
        o.name: o.reference
        for o in run.outcomes
        if o.reference is not None and o.result is None and o.status in ("missing", "skipped")
    }


def check(run: Run, chosen: Mapping[str, Change], references: References) -> None:
    """Raises FileError if something cannot be accepted.

    That is a name that is none within a folder, a result that is gone, no longer what the run saw, or no picture, and a
    reference to remove or to rename that has changed, or has a result now.
    """
    seen = {o.name: o for o in run.outcomes}
    for name, change in chosen.items():
        result, before = seen[name].result, seen[name].reference
        for one in filter(None, (name, change.old)):
            if fault := fault_of_name(one):
                raise FileError(f"the report's {fault}; nothing is accepted")
        if not change.place or change.place != slug(change.place):
            raise FileError(
                f"the report's {change.place!r} is no name of a device or platform; nothing is accepted"
            )
        if result is not None:
            _check_result(result)
        if before is not None and (result is None or change.old):
            place = before.of.partition(":")[0]
            now = references.digests(before.name, place)
            if now and before.sha256 not in now:
                where = references.path / before.name
                raise FileError(f"{where}: has changed since the run that saw it; run the suite again")
            later = Path(str(run.context.get("results", "")), before.name)
            # A suite's folder may have results of cases that are no more.
            if "results" in run.context and "suite" not in run.context and later.is_file():
                raise FileError(f"{later}: is there now; compare the folders again")
    references.check(chosen)


def accept(
    run: Run, chosen: Mapping[str, Change], references: References, *, recompress: bool = False
) -> list[str]:
    """Makes what was chosen of a run, and returns the names whose references changed.

    ``recompress``: PNG files take less room, and are no longer the same bytes. Raises FileError, before anything is
    changed, where :func:`check` does.
    """
    check(run, chosen, references)
    if not recompress:
        return references.change(chosen)
    with TemporaryDirectory() as folder:
        smaller = {
            name: change._replace(source=change.source and _recompressed(change.source, Path(folder, name)))
            for name, change in chosen.items()
        }
        return references.change(smaller)


def _check_result(result: PairedPicture) -> None:
    path = result.path
    if not Path(path).is_file():
        raise FileError(f"{path}: is not there any more; run the suite again")
    if sha256_of(path) != result.sha256:
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
