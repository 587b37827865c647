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
    there = (
        set(pictures_in(results)) if wanted is None else {n for n in wanted if (Path(results) / n).is_file()}
    )
    known = set(references.names())
    if wanted is not None:
        known &= set(wanted)
    nearest: dict[str, tuple[str, str] | None] = {}
    unread: dict[str, str] = {}
    for name in sorted(known):
        try:
            nearest[name] = references.nearest(name, places)
        except FileError as error:
            unread[name] = str(error)

    def result(name: str) -> PairedPicture:
        path = str(Path(results) / name)
        return PairedPicture(path, name, sha256_of(path))

    def reference(name: str) -> PairedPicture | None:
        at = nearest.get(name)
        return at and PairedPicture(at[0], name, sha256_of(at[0]), at[1])

    new = sorted(there - known)
    lost = {of.sha256: of.name for of in map(reference, sorted(known - there) if new else ()) if of}
    renamed = {name: before for name in new if (before := lost.pop(result(name).sha256, None)) is not None}
    for name in sorted((there | known).difference(renamed.values())):
        if name in unread:
            yield Outcome(name, "error", message=unread[name])
        elif before := renamed.get(name):
            said = f"it has the bytes of the reference {before}, of which there is no result"
            yield Outcome(name, "renamed", result(name), reference(before), message=said)
        elif name not in there:
            said = "there is a reference and no result"
            yield Outcome(name, "missing", None, reference(name), message=said)
        elif (at := nearest.get(name)) is None:
            yield Outcome(name, "new", result(name), message="there is no reference")
        else:
            yield FilePair(name, str(Path(results) / name), *at, references.variance_of(name, at[1]))
