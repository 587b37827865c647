"""References: a folder of pictures, and beside it the pictures of platforms and devices that have their own.

``references/blur/a.png`` is a base. ``references/@linux/blur/a.png`` takes its place where ``linux`` is among the names
of where a suite runs: the device's, the OpenCL platform's, the operating system's, the nearest first. A file ``.json``
in place of the folder is an index: it says for each name the SHA-256 of its picture, which lies under that in a store,
another folder or any address that fsspec knows.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import IO, Any

from ..errors import FileError, ParameterError
from ..files import is_of_picture
from ..files.drafts import USUAL, draft_file
from ..files.locations import reached
from ..metrics.variance import SUFFIX, is_variance
from ..params.files import digest_of

# Marks the folder of a platform's or a device's own references.
MARK = "@"
BASE = "base"
# The version of the index.
_SCHEMA = 1
# What is read of a file at a time.
_CHUNK = 1 << 20


class References:
    """A folder of references: the pictures of names, for each of them the base and maybe those of further places."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        # By name and place, what stands for a picture: its path, or its digest in a store.
        self._held = self._existing()

    def _existing(self) -> dict[str, dict[str, str]]:
        held: dict[str, dict[str, str]] = {}
        for name in pictures_in(self.path) if self.path.exists() else ():
            place, _, rest = name.partition("/")
            own = place.startswith(MARK) and rest
            of = held.setdefault(rest if own else name, {})
            of[place.removeprefix(MARK) if own else BASE] = str(self.path / name)
        return held

    def _path(self, held: str, _name: str) -> str:
        """Returns the path of a name's picture."""
        return held

    def _digest(self, held: str) -> str:
        """Returns the SHA-256 of a picture."""
        return sha256_of(held)

    def _put(self, name: str, place: str, source: str) -> str:
        """Makes a file the reference of a name, and returns what stands for it."""
        path = self._file(name, place)
        put(source, path)
        return str(path)

    def _file(self, name: str, place: str) -> Path:
        return self.path / ("" if place == BASE else f"{MARK}{place}") / name

    def _check_links(self, names: Iterable[str], place: str) -> None:
        """Raises FileError if a picture of a name would be written outside."""
        for path in (self._file(name, place) for name in names):
            if not path.parent.resolve().is_relative_to(self.path.resolve()):
                raise FileError(f"{path}: a link leads out of {self.path}; nothing is written there")

    def _end(self, removed: Iterable[str]) -> None:
        """Ends a change that has removed pictures."""
        for path in removed:
            os.unlink(path)

    @property
    def places(self) -> list[str]:
        """The base, and the platforms and devices that have references of their own."""
        return list(dict.fromkeys([BASE, *(place for places in self._held.values() for place in places)]))

    def names(self) -> list[str]:
        """Returns the names of all pictures that have a reference, in order, without those of variances."""
        return sorted(name for name in self._held if not is_variance(name))

    def nearest(self, name: str, places: Sequence[str]) -> tuple[str, str] | None:
        """Returns the path of the reference of the first of ``places`` that has one, or the base, and which it is."""
        held = self._held.get(name, {})
        place = next((place for place in (*places, BASE) if place in held), None)
        return None if place is None else (self._path(held[place], name), place)

    def variance_of(self, name: str, place: str) -> str:
        """Returns the path of the variance beside a name's reference of that place, empty if there is none."""
        held = self._held.get(f"{name}{SUFFIX}", {}).get(place)
        return self._path(held, SUFFIX) if held else ""

    def accept(self, results: Mapping[str, str | None], place: str = BASE) -> list[str]:
        """Makes files the references of names, and returns the names that changed: each is old or new, never half.

        A name with None loses its reference and its variance: those of the place, or with the base those of all places.
        """
        self._check_links(results, place)
        changed: list[str] = []
        removed: list[str] = []

        def remove(name: str, places: Iterable[str]) -> bool:
            held = self._held.get(name, {})
            gone = [held.pop(at) for at in places if at in held]
            removed.extend(gone)
            if not held:
                self._held.pop(name, None)
            return bool(gone)

        for name, source in results.items():
            held = self._held.get(name, {})
            digest = source and sha256_of(source)
            if source is None:
                places = self.places if place == BASE else [place]
                differs = remove(name, places)
                remove(f"{name}{SUFFIX}", places)
            elif place != BASE and BASE in held and self._digest(held[BASE]) == digest:
                differs = remove(name, [place])  # it is what the base is: no copy is needed
            elif differs := place not in held or self._digest(held[place]) != digest:
                self._held.setdefault(name, {})[place] = self._put(name, place, source)
            changed += [name] * differs
        if changed:
            self._end(removed)
        return changed


def references(path: str) -> References:
    """Returns the references in a folder, or those of an index, a file that ends with .json."""
    return Index(path) if path.endswith(".json") else References(path)


def fault_of_name(name: str) -> str:
    """Returns what is wrong with a picture's name within a folder, which may come from anybody's report, or ""."""
    path = PurePath(name)
    if path.anchor or "\0" in name or any(part.startswith(".") for part in path.parts):
        return f"{name!r} is no name within a folder of references"
    return "" if is_of_picture(path) else f"{name!r} has no picture's extension"


def slug(name: str) -> str:
    """Returns a device's or a platform's name as a folder has it: ``NVIDIA H200`` is ``nvidia-h200``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def places_of(device: str | None, platform: str | None) -> tuple[str, ...]:
    """Returns the names of the device, the OpenCL platform and the system that a suite runs on, the nearest first."""
    names = (device, platform, {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform))
    return tuple(dict.fromkeys(slug(name) for name in names if name))


def sha256_of(path: str | Path) -> str:
    """Returns the digest of a file's bytes. Raises FileError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return _digest_of(file)
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None


def _digest_of(file: IO[bytes]) -> str:
    return digest_of(iter(partial(file.read, _CHUNK), b""))


def digests_if_unlike(a: str | Path, b: str | Path) -> tuple[str, str] | None:
    """Returns the digests of two files' bytes; None if these are equal. Raises FileError if one cannot be read."""
    try:
        with open(a, "rb", 0) as first, open(b, "rb", 0) as second:
            if os.fstat(first.fileno()).st_size == os.fstat(second.fileno()).st_size:
                while (part := first.read(_CHUNK)) == second.read(_CHUNK):
                    if not part:
                        return None
                first.seek(0)
                second.seek(0)
            return _digest_of(first), _digest_of(second)
    except OSError as error:
        raise FileError(f"{error.filename or a}: could not be read ({error.strerror})") from None


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
    """Copies a file's bytes to ``target``, which appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with draft_file(target.parent, target.suffix, USUAL) as draft:
        with open(source, "rb") as read, open(draft, "wb") as write:
            shutil.copyfileobj(read, write, _CHUNK)
            write.flush()
            os.fsync(write.fileno())
        os.replace(draft, target)


class Index(References):
    """An index of references, in place of a folder: they lie under their digests in a store, a folder or an address.

    Those of an address are kept on this machine.
    """

    def _existing(self) -> dict[str, dict[str, str]]:
        self._read = _read_index(self.path)
        self._where: str = self._read["store"]
        self._folder = None if "://" in self._where else self.path.parent / self._where
        pictures: dict[str, dict[str, str]] = self._read["pictures"]
        return pictures

    def _path(self, held: str, name: str) -> str:
        """Raises FileError if the store lacks it, or has other bytes."""
        stored = _stored(held, name)
        path = (self._folder or _kept()) / stored
        other = "its bytes are not those that the index names; fetch it anew"
        if path.is_file() and sha256_of(path) == held:
            return str(path)
        if self._folder is not None:
            lost = "the store lacks this reference; fetch it, or accept the result again"
            raise FileError(f"{path}: {other if path.is_file() else lost}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft_file(path.parent, path.suffix) as draft:
            with reached(f"{self._where}/{stored}") as (files, address):
                files.get_file(address, draft)
            if sha256_of(draft) != held:
                raise FileError(f"{self._where}/{stored}: {other}")
            os.replace(draft, path)
        return str(path)

    def _digest(self, held: str) -> str:
        return held

    def _put(self, name: str, _place: str, source: str) -> str:
        digest = sha256_of(source)
        stored = _stored(digest, name)
        if self._folder is not None:
            path = self._folder / stored
            if not path.is_file() or sha256_of(path) != digest:
                put(source, path)
            return digest
        with reached(f"{self._where}/{stored}", "written") as (files, address):
            if not files.exists(address):
                files.makedirs(address.rpartition("/")[0], exist_ok=True)
                files.put_file(source, address)
        return digest

    def _check_links(self, names: Iterable[str], place: str) -> None:
        """Does nothing: what lies in a store has no other name than its digest."""

    def _end(self, _removed: Iterable[str]) -> None:
        values = {"schema": _SCHEMA, **self._read, "pictures": dict(sorted(self._held.items()))}
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        with draft_file(self.path.parent, ".json", USUAL) as draft:
            Path(draft).write_text(text, encoding="utf-8")
            os.replace(draft, self.path)


def _read_index(path: Path) -> dict[str, Any]:
    try:
        index = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ParameterError(f"{path}: could not be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: is no JSON ({error})") from None
    kinds = {"pictures": dict, "store": str}
    if not (isinstance(index, dict) and all(isinstance(index.get(key), kind) for key, kind in kinds.items())):
        raise ParameterError(f"{path}: is no index, which has the keys schema, store and pictures")
    if index.pop("schema", None) != _SCHEMA:
        raise ParameterError(f"{path}: is an index of another version; this clpix reads version {_SCHEMA}")
    for name, digests in index["pictures"].items():
        if fault := fault_of_name(name):
            raise ParameterError(f"{path}: {fault}")
        if not isinstance(digests, dict) or not all(map(_is_digest, digests.values())):
            raise ParameterError(f"{path}: {name} must have a table of SHA-256 digests, of 64 hex digits")
    return index


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _stored(digest: str, name: str) -> str:
    """Returns the name within a store of a picture with a digest."""
    return f"{digest[:2]}/{digest}{Path(name).suffix}"


def _kept() -> Path:
    from ..device.cache import cache_folder

    return Path(cache_folder()) / "references"
