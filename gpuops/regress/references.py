"""References: a folder of pictures, and beside it the pictures of platforms and devices that have their own.

``references/blur/a.png`` is a base. ``references/@linux/blur/a.png`` takes its place where ``linux`` is among the names
of where a suite runs: the device's, the OpenCL platform's, the operating system's, the nearest first. A file ``.json``
in place of the folder is an index: it says for each name the SHA-256 of its picture, which lies under that in a store,
another folder or any address that fsspec knows.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Protocol

from ..errors import FileError, ParameterError
from ..files import is_of_picture
from ..files.drafts import USUAL, draft_file
from ..files.locations import reached
from ..metrics.variance import SUFFIX, is_variance

# Marks the folder of a platform's or a device's own references.
MARK = "@"
BASE = "base"
# The version of the index.
_SCHEMA = 1
# What is read of a file at a time.
_CHUNK = 1 << 20


class References(Protocol):
    """Where references are."""

    @property
    def has_places(self) -> bool:
        """Says whether a platform or a device has references of its own: else none has to be asked for its name."""

    def names(self) -> list[str]:
        """Returns the names of all pictures that have a reference, in order, without those of variances."""

    def nearest(self, name: str, places: Sequence[str]) -> tuple[str, str] | None:
        """Returns the path of the reference of the first of ``places`` that has one, or the base, and which it is."""

    def variance_of(self, name: str, place: str) -> str:
        """Returns the path of the variance beside a name's reference of that place, empty if there is none."""

    def accept(self, results: Mapping[str, str | None], place: str = BASE) -> list[str]:
        """Makes files the references of names, and returns the names that changed: each is old or new, never half.

        A name with None loses its reference: that of the place, or with the base those of all places.
        """


def references(path: str) -> References:
    """Returns the references in a folder, or those of an index, a file that ends with .json."""
    return Index(path) if path.endswith(".json") else Folder(path)


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
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while part := file.read(_CHUNK):
                digest.update(part)
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None
    return digest.hexdigest()


def equal_bytes(a: str | Path, b: str | Path) -> bool:
    """Says whether two files have the same bytes. Raises FileError if one cannot be read."""
    try:
        with open(a, "rb", 0) as first, open(b, "rb", 0) as second:
            if os.fstat(first.fileno()).st_size != os.fstat(second.fileno()).st_size:
                return False
            while part := first.read(_CHUNK):
                if part != second.read(_CHUNK):
                    return False
            return True
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
            while part := read.read(_CHUNK):
                write.write(part)
            write.flush()
            os.fsync(write.fileno())
        os.replace(draft, target)


class Folder:
    """A folder of references."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    @property
    def has_places(self) -> bool:
        return any(self.path.glob(f"{MARK}*/"))

    def names(self) -> list[str]:
        if not self.path.exists():
            return []
        found = set()
        for name in pictures_in(self.path):
            place, _, rest = name.partition("/")
            found.add(rest if place.startswith(MARK) and rest else name)
        return sorted(name for name in found if not is_variance(name))

    def nearest(self, name: str, places: Sequence[str]) -> tuple[str, str] | None:
        for place in places:
            path = self.path / f"{MARK}{place}" / name
            if path.is_file():
                return str(path), place
        path = self.path / name
        return (str(path), BASE) if path.is_file() else None

    def variance_of(self, name: str, place: str) -> str:
        path = self.path / ("" if place == BASE else f"{MARK}{place}") / f"{name}{SUFFIX}"
        return str(path) if path.is_file() else ""

    def accept(self, results: Mapping[str, str | None], place: str = BASE) -> list[str]:
        changed, folder = [], self.path if place == BASE else self.path / f"{MARK}{place}"
        for name in results:
            if not (folder / name).parent.resolve().is_relative_to(self.path.resolve()):
                raise FileError(f"{folder / name}: a link leads out of {self.path}; nothing is written there")
        for name, source in results.items():
            base, own = self.path / name, folder / name
            if source is None:
                if self._remove(name, own, everywhere=place == BASE):
                    changed.append(name)
            elif place != BASE and base.is_file() and equal_bytes(source, base):
                if own.is_file():  # it is what the base is: no copy is needed
                    own.unlink()
                    changed.append(name)
            elif not own.is_file() or not equal_bytes(source, own):
                put(source, own)
                changed.append(name)
        return changed

    def _remove(self, name: str, own: Path, *, everywhere: bool) -> bool:
        """Removes a name's reference and its variance, or those of all places. Says whether there was one."""
        paths = [own, *(folder / name for folder in self.path.glob(f"{MARK}*/") if everywhere)]
        there = [path for path in paths if path.is_file()]
        for path in there:
            path.unlink()
            path.with_name(f"{path.name}{SUFFIX}").unlink(missing_ok=True)
        return bool(there)


class Index:
    """An index of references that lie in a store under their digests."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._read = _read_index(self.path)
        self.store = _Store(self._read["store"], self.path.parent)

    @property
    def _pictures(self) -> dict[str, dict[str, str]]:
        pictures: dict[str, dict[str, str]] = self._read["pictures"]
        return pictures

    @property
    def has_places(self) -> bool:
        return any(place != BASE for digests in self._pictures.values() for place in digests)

    def names(self) -> list[str]:
        return sorted(name for name in self._pictures if not is_variance(name))

    def nearest(self, name: str, places: Sequence[str]) -> tuple[str, str] | None:
        digests = self._pictures.get(name, {})
        for place in (*places, BASE):
            if place in digests:
                return self.store.fetch(digests[place], Path(name).suffix), place
        return None

    def variance_of(self, name: str, place: str) -> str:
        digest = self._pictures.get(f"{name}{SUFFIX}", {}).get(place)
        return self.store.fetch(digest, Path(SUFFIX).suffix) if digest else ""

    def accept(self, results: Mapping[str, str | None], place: str = BASE) -> list[str]:
        pictures = {name: dict(digests) for name, digests in self._pictures.items()}
        changed = []
        for name, source in results.items():
            if source is None:
                for one in (name, f"{name}{SUFFIX}"):
                    digests = pictures.pop(one, {})
                    if place != BASE and (left := {at: digests[at] for at in digests if at != place}):
                        pictures[one] = left
                changed += [name] * (pictures.get(name, {}) != self._pictures.get(name, {}))
                continue
            digest, digests = sha256_of(source), pictures.setdefault(name, {})
            before = dict(digests)
            if place != BASE and digests.get(BASE) == digest:
                digests.pop(place, None)  # it is what the base is
            else:
                digests[place] = digest
            if digests != before:
                self.store.add(source, digest, Path(name).suffix)
                changed.append(name)
        if changed:
            self._read["pictures"] = dict(sorted(pictures.items()))
            text = json.dumps({"schema": _SCHEMA, **self._read}, indent=1, ensure_ascii=False) + "\n"
            with draft_file(self.path.parent, ".json", USUAL) as draft:
                Path(draft).write_text(text, encoding="utf-8")
                os.replace(draft, self.path)
        return changed


def make_index(path: str, store: str) -> Index:
    """Writes the index of a store that has nothing yet."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"schema": _SCHEMA, "store": store, "pictures": {}}, indent=1) + "\n"
    Path(path).write_text(text, encoding="utf-8")
    return Index(path)


def _read_index(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ParameterError(f"{path}: could not be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: is no JSON ({error})") from None
    if not isinstance(found, dict) or not isinstance(found.get("pictures"), dict) or "store" not in found:
        raise ParameterError(
            f"{path}: is no index of references, which has the keys schema, store and pictures"
        )
    if found.pop("schema", None) != _SCHEMA:
        raise ParameterError(f"{path}: is an index of another version; this clpix reads version {_SCHEMA}")
    for name, digests in found["pictures"].items():
        if fault := fault_of_name(name):
            raise ParameterError(f"{path}: {fault}")
        if not isinstance(digests, dict) or not all(map(_is_digest, digests.values())):
            raise ParameterError(
                f"{path}: {name} must have a table of SHA-256 digests, of 64 hex digits each"
            )
    return found


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


class _Store:
    """Files under their digests, in a folder or at an address; those of an address are kept on this machine."""

    def __init__(self, where: str, beside: Path) -> None:
        self._where = where
        self._folder = None if "://" in where else beside / where

    def fetch(self, digest: str, extension: str) -> str:
        """Returns the path of a file on this machine. Raises FileError if the store lacks it, or has other bytes."""
        name = f"{digest[:2]}/{digest}{extension}"
        path = (self._folder or _kept()) / name
        if self._folder is None and not (path.is_file() and sha256_of(path) == digest):
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft_file(path.parent, extension) as draft:
                with reached(f"{self._where}/{name}") as (files, address):
                    files.get_file(address, draft)
                self._check(draft, digest, f"{self._where}/{name}")
                os.replace(draft, path)
        elif not path.is_file():
            raise FileError(f"{path}: the store lacks this reference; fetch it, or accept the result again")
        else:
            self._check(path, digest, str(path))
        return str(path)

    @staticmethod
    def _check(path: str | Path, digest: str, name: str) -> None:
        if sha256_of(path) != digest:
            raise FileError(f"{name}: its bytes are not those that the index names; fetch it anew")

    def add(self, source: str, digest: str, extension: str) -> None:
        """Puts a file into the store."""
        name = f"{digest[:2]}/{digest}{extension}"
        if self._folder is not None:
            path = self._folder / name
            if not path.is_file() or sha256_of(path) != digest:
                put(source, path)
            return
        with reached(f"{self._where}/{name}", "written") as (files, address):
            if not files.exists(address):
                files.makedirs(address.rpartition("/")[0], exist_ok=True)
                files.put_file(source, address)


def _kept() -> Path:
    from ..device.store import cache_folder

    return Path(cache_folder()) / "references"
