"""References: a folder of pictures, and beside it the pictures of platforms and devices that have their own.

``references/blur/a.png`` is a base. ``references/@linux/blur/a.png`` takes its place where ``linux`` is among the names
of where a suite runs: the device's, the OpenCL platform's, the operating system's, the nearest first. The pictures in
the folder ``references/blur/a.png.also`` are valid, too: a result passes that is like any of them. A file ``.json`` in
place of the folder is an index: see :mod:`gpuops.regress.index`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader, FileIO
from itertools import chain, count
from pathlib import Path, PurePath
from typing import IO, NamedTuple

from ..errors import FileError, ParameterError
from ..files import is_of_picture
from ..files.drafts import USUAL, draft_file
from ..files.read_errors import digest_in_pointer
from ..metrics.variance import SUFFIX, is_variance
from ..params.files import digest_of

# Marks the folder of a platform's or a device's own references.
MARK = "@"
BASE = "base"
# What the name of the folder of a picture's further references ends with.
ALSO = ".also"
# The most references of one picture in one place.
MOST = 8
# In place of a number among them: the base's will do.
_AS_BASE = -1
# What is read of a file at a time.
_CHUNK = 1 << 20


class Change(NamedTuple):
    """What becomes of a name's references.

    ``source``: the file that becomes one; None removes all of them, or those of a ``place`` that is not the base.
    ``over``: the digest of the one that it takes the place of, among several; empty for the first. ``also``: it becomes
    a further one. ``old``: another name, all of whose references become this one's in place of ``source``.
    """

    source: str | None
    place: str = BASE
    over: str = ""
    also: bool = False
    old: str = ""


class References:
    """A folder of references: the pictures of names, for each of them those of the base and maybe of further places."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        # By name and place, what stands for each valid picture, the first before the further ones: its path, or its
        # digest in a store.
        self._held = self._existing()

    def _existing(self) -> dict[str, dict[str, list[str]]]:
        held: dict[str, dict[str, list[str]]] = {}
        # In the order of names a picture comes before its folder of further ones.
        for name in sorted(pictures_in(self.path)) if self.path.exists() else ():
            place, _, rest = name.partition("/")
            own = place.startswith(MARK) and rest
            inside = rest if own else name
            of = further_of(inside)
            if of and is_variance(name):
                continue
            places = held.setdefault(of or inside, {})
            places.setdefault(place.removeprefix(MARK) if own else BASE, []).append(str(self.path / name))
        return held

    def _path(self, held: str, _name: str) -> str:
        """Returns the path of a name's picture."""
        return held

    def _digest(self, held: str) -> str:
        """Returns the SHA-256 of a picture."""
        return sha256_of(held)

    def _put(self, name: str, place: str, source: str, before: str | None) -> str:
        """Makes a file a reference of a name, in place of ``before`` if there is one. Returns what stands for it."""
        path = self._target(name, place, before)
        put(source, path)
        return str(path)

    def _target(self, name: str, place: str, before: str | None = None) -> Path:
        """Returns the path of a new reference: that of ``before``, the usual one, or a number among further ones."""
        file = self._file(name, place)
        if before is not None and Path(before).suffix == file.suffix:
            return Path(before)
        further = (_further(file) / f"{number}{file.suffix}" for number in count(2))
        return next(path for path in chain([file], further) if not os.path.lexists(path))

    def _file(self, name: str, place: str) -> Path:
        return self.path / ("" if place == BASE else f"{MARK}{place}") / name

    def _moved(self, held: str, place: str, old: str, name: str) -> str:
        """Makes a reference of the name ``old`` one of another name, and returns what stands for it."""
        path, file = self._file(name, place), Path(held)
        if file != self._file(old, place):
            path = _further(path) / file.name
        put(held, path)
        return str(path)

    def _check_links(self, changes: Mapping[str, Change]) -> None:
        """Raises FileError if a picture would be written outside."""
        root = self.path.resolve()
        inside: set[Path] = set()
        for name, change in changes.items():
            places = self._held.get(change.old, {}) if change.old else [change.place]
            for file in (self._file(name, place) for place in places or [BASE]):
                for folder in {file.parent, _further(file)} - inside:
                    if not folder.resolve().is_relative_to(root):
                        raise FileError(f"{file}: a link leads out of {self.path}; nothing is written there")
                inside.add(file.parent)

    def _end(self, removed: Iterable[str]) -> None:
        """Ends a change that has removed pictures: what took their place is there already."""
        kept = {held for places in self._held.values() for several in places.values() for held in several}
        for path in set(removed) - kept:
            os.unlink(path)
            if further_of(Path(path).as_posix()):
                with suppress(OSError):  # others are in it
                    os.rmdir(os.path.dirname(path))

    @property
    def places(self) -> list[str]:
        """The base, and the platforms and devices that have references of their own."""
        return list(dict.fromkeys([BASE, *(place for places in self._held.values() for place in places)]))

    def names(self) -> list[str]:
        """Returns the names of all pictures that have a reference, in order, without those of variances."""
        return sorted(name for name in self._held if not is_variance(name))

    def valid(self, name: str, places: Sequence[str]) -> list[tuple[str, str]]:
        """Returns the references of the first of ``places`` that has some, or of the base: their paths and names.

        They are called as the place is, and from the second one on with a number: ``linux``, ``linux:2``.
        """
        held = self._held.get(name, {})
        place = next((place for place in (*places, BASE) if place in held), None)
        several = [] if place is None else held[place]
        labels = (place if number == 1 else f"{place}:{number}" for number in count(1))
        return [(self._path(one, name), str(label)) for one, label in zip(several, labels, strict=False)]

    def nearest(self, name: str, places: Sequence[str]) -> tuple[str, str] | None:
        """Returns the first of :meth:`valid`; None if there is none."""
        return next(iter(self.valid(name, places)), None)

    def digests(self, name: str, place: str) -> list[str]:
        """Returns the SHA-256 of each reference of a name in a place, without fetching it."""
        return [self._digest(held) for held in self._held.get(name, {}).get(place, ())]

    def variance_of(self, name: str, label: str) -> str:
        """Returns the path of the variance beside a name's reference of that name, empty if there is none."""
        held = self._held.get(f"{name}{SUFFIX}", {}).get(label)
        return self._path(held[0], SUFFIX) if held else ""

    def accept(self, results: Mapping[str, str], place: str = BASE) -> list[str]:
        """Makes files the references of names, the first ones where there are several: see :meth:`change`."""
        return self.change({name: Change(source, place) for name, source in results.items()})

    def change(self, changes: Mapping[str, Change]) -> list[str]:
        """Changes the references of names, and returns the names that changed: each is old or new, never half.

        What is removed goes at the end, when all that takes its place is there. With a picture goes its variance.
        Raises FileError, before anything is changed, where :meth:`check` does.
        """
        at = self.check(changes)
        removed: list[str] = []
        changed = [name for name, change in changes.items() if self._change(name, change, at[name], removed)]
        if changed:
            self._end(removed)
        return changed

    def check(self, changes: Mapping[str, Change]) -> dict[str, int | None]:
        """Returns where among the references of each name its result goes: see :meth:`_at`.

        Raises FileError for a change that cannot be made.
        """
        self._check_links(changes)
        return {name: self._at(name, change) for name, change in changes.items()}

    def _change(self, name: str, change: Change, at: int | None, removed: list[str]) -> bool:
        if change.source is None:
            places = self.places if change.place == BASE else [change.place]
            gone = self._pop(name, places)
            removed += [*gone, *self._pop(f"{name}{SUFFIX}", places)]
            return bool(gone)
        if change.old and change.old in self._held:
            for suffix in ("", SUFFIX):
                for place, several in self._held.pop(f"{change.old}{suffix}", {}).items():
                    moved = [
                        self._moved(held, place, f"{change.old}{suffix}", f"{name}{suffix}")
                        for held in several
                    ]
                    self._held.setdefault(f"{name}{suffix}", {})[place] = moved
                    removed += several
            return True
        if at is None:
            return False
        if at == _AS_BASE:
            gone = self._pop(name, [change.place])
            removed += gone
            return bool(gone)
        several = self._held.setdefault(name, {}).setdefault(change.place, [])
        before = several[at] if at < len(several) else None
        several[at:] = [self._put(name, change.place, change.source, before), *several[at + 1 :]]
        removed += [before] if before is not None else []
        return True

    def _at(self, name: str, change: Change) -> int | None:
        """Returns which of the references of its place a result replaces, or their number if it is a further one.

        None: it is one of them, or no result. ``_AS_BASE``: it is what the base is, so that the place needs none.
        Raises FileError if there is no room, or if what it replaces has changed.
        """
        if change.source is None or (change.old and change.old in self._held):
            return None
        digest, own = sha256_of(change.source), self.digests(name, change.place)
        if digest in own:
            return None
        if change.place != BASE and len(own) < 2 and digest in self.digests(name, BASE):
            return _AS_BASE
        if change.also and len(own) == MOST:
            raise FileError(f"{name}: has {MOST} references already, which is the most; remove one")
        if change.also or len(own) < 2 or not change.over:
            return len(own) if change.also else 0
        if change.over not in own:
            raise FileError(
                f"{name}: the reference has changed since the run that saw it; run the suite again"
            )
        return own.index(change.over)

    def _pop(self, name: str, places: Iterable[str]) -> list[str]:
        """Forgets the references of a name in some places, and returns what stood for them."""
        held = self._held.get(name, {})
        gone = [one for place in places for one in held.pop(place, ())]
        if not held:
            self._held.pop(name, None)
        return gone


def further_of(name: str) -> str:
    """Returns the name of the picture of which a file is a further reference, by its folder; empty if of none."""
    folder = name.rpartition("/")[0]
    of = folder.removesuffix(ALSO)
    return of if of != folder and is_of_picture(of) else ""


def _further(file: Path) -> Path:
    """Returns the folder of the further references of a picture."""
    return file.with_name(f"{file.name}{ALSO}")


def fault_of_name(name: str) -> str:
    """Returns what is wrong with a picture's name within a folder, which may come from anybody's report, or ""."""
    path = PurePath(name)
    if path.anchor or "\0" in name or any(part.startswith(".") for part in path.parts):
        return f"{name!r} is no name within a folder of references"
    if any(part.endswith(ALSO) and is_of_picture(part.removesuffix(ALSO)) for part in path.parts[:-1]):
        return f"{name!r} is in a folder of further references, which no result is in"
    return "" if is_of_picture(path) else f"{name!r} has no picture's extension"


def slug(name: str) -> str:
    """Returns a device's or a platform's name as a folder has it: ``NVIDIA H200`` is ``nvidia-h200``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def places_of(device: str | None, platform: str | None) -> tuple[str, ...]:
    """Returns the names of the device, the OpenCL platform and the system that a suite runs on, the nearest first."""
    names = (device, platform, {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform))
    return tuple(dict.fromkeys(slug(name) for name in names if name))


def sha256_of(path: str | Path) -> str:
    """Returns the digest of a file's bytes; that of a pointer of Git LFS is the one of the file that it stands for.

    Raises FileError if it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return _digest_in(file)
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None


def _digest_in(file: FileIO | BufferedReader) -> str:
    start = file.read(_CHUNK)
    return digest_in_pointer(start) or digest_of(chain([start], iter(partial(file.read, _CHUNK), b"")))


def digests_if_unlike(a: str | Path, b: str | Path) -> tuple[str, str] | None:
    """Returns the digests of two files' bytes; None if these are equal, or one points to the other by Git LFS.

    Raises FileError if one cannot be read.
    """
    try:
        with open(a, "rb", 0) as first, open(b, "rb", 0) as second:
            sizes = [os.fstat(file.fileno()).st_size for file in (first, second)]
            if sizes[0] == sizes[1] and _same_bytes(first, second):
                return None
            first.seek(0)
            second.seek(0)
            digests = _digest_in(first), _digest_in(second)
    except OSError as error:
        raise FileError(f"{error.filename or a}: could not be read ({error.strerror})") from None
    return None if digests[0] == digests[1] else digests


def _same_bytes(first: FileIO, second: FileIO) -> bool:
    while part := first.read(_CHUNK):
        if part != second.read(_CHUNK):
            return False
    return True


def pictures_in(folder: str | Path) -> Iterator[str]:
    """Gives the names of the pictures in a folder and its folders, in no order, with ``/`` between them.

    Hidden files and folders are passed over. Raises ParameterError if there is no such folder.
    """
    root = os.fspath(folder)
    if not os.path.isdir(root):
        raise ParameterError(f"{root}: there is no such folder")
    for parent, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = os.path.relpath(parent, root).replace(os.sep, "/")
        for name in files:
            if not name.startswith(".") and is_of_picture(name):
                yield name if inside == "." else f"{inside}/{name}"


def put(source: str, target: Path) -> None:
    """Copies a file's bytes to ``target``: see :func:`replacing`."""
    with replacing(target) as file, open(source, "rb") as read:
        shutil.copyfileobj(read, file, _CHUNK)


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Gives a file that in the end takes the place of ``target``, whole or not at all, even if the power fails.

    Raises FileError if it cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_file(target.parent, target.suffix, USUAL) as draft:
            with open(draft, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
    except OSError as error:
        raise FileError(f"{target}: could not be written ({error.strerror or error})") from None
