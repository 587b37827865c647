"""Results beside their references: which belong together, which are new, missing or renamed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError
from .outcome import Outcome, PairedPicture
from .references import References, pictures_in, sha256_of


@dataclass(frozen=True)
class FilePair:
    """The files of a result and of its reference; ``of`` says which reference that is.

    ``variance``: the file of the reference's variance, empty if there is none.
    """

    name: str
    result: str
    reference: str
    of: str
    variance: str = ""


def pairs(
    results: str | Path, references: References, places: Sequence[str], wanted: Collection[str] | None = None
) -> Iterator[FilePair | Outcome]:
    """Gives the pairs of a folder's pictures, and the verdict on those that have no other half, in the order of names.

    ``places``: see :meth:`References.nearest`. ``wanted``: the only names that count. A new picture that has the bytes
    of a missing one's reference is that one, renamed.
    """
    there = set(pictures_in(results)) if wanted is None else _existing(results, wanted)
    known = set(references.names())
    if wanted is not None:
        known &= set(wanted)
    alone, missing = there - known, known - there
    found: dict[str, tuple[str, str] | None] = {}
    unread: dict[str, str] = {}
    for name in sorted(known):
        try:
            found[name] = references.nearest(name, places)
        except FileError as error:
            unread[name] = str(error)
    lost = {sha256_of(at[0]): name for name in sorted(missing) if (at := found.get(name))} if alone else {}
    renamed: dict[str, str] = {}
    for name in sorted(alone):
        if (
            before := lost.get(sha256_of(Path(results) / name))
        ) is not None and before not in renamed.values():
            renamed[name] = before
    for name in sorted(there | known):
        path, reference = str(Path(results) / name), found.get(name)
        if name in unread:
            yield Outcome(name, "error", message=unread[name])
        elif name in renamed:
            before = renamed[name]
            at = found[before]
            assert at is not None
            yield Outcome(
                name,
                "renamed",
                PairedPicture(path, name, sha256_of(path)),
                PairedPicture(at[0], before, sha256_of(at[0]), at[1]),
                message=f"it has the bytes of the reference {before}, of which there is no result",
            )
        elif name not in there:
            if name not in renamed.values():
                other = (
                    PairedPicture(reference[0], name, sha256_of(reference[0]), reference[1])
                    if reference
                    else None
                )
                yield Outcome(name, "missing", None, other, message="there is a reference and no result")
        elif reference is None:
            yield Outcome(
                name, "new", PairedPicture(path, name, sha256_of(path)), message="there is no reference"
            )
        else:
            yield FilePair(name, path, *reference, references.variance_of(name, reference[1]))


def _existing(results: str | Path, names: Collection[str]) -> set[str]:
    return {name for name in names if (Path(results) / name).is_file()}
