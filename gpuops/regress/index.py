"""An index of references, in place of a folder: a JSON file that says for each name the SHA-256 of its picture.

The picture lies under its digest in a store, another folder or any address that fsspec knows. A picture that has
several valid references in a place has a list of digests there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import FileError, ParameterError
from ..files.drafts import draft_file
from ..files.locations import reached
from ..files.read_errors import is_pointer
from ..process import locks
from .references import MOST, Change, References, fault_of_name, put, replacing, sha256_of

# The version of the index.
_SCHEMA = 1


class Index(References):
    """An index of references, in place of a folder: they lie under their digests in a store, a folder or an address.

    Those of an address are kept on this machine.
    """

    def _existing(self) -> dict[str, dict[str, list[str]]]:
        self._read = _read_index(self.path)
        self._where: str = self._read["store"]
        self._folder = None if "://" in self._where else self.path.parent / self._where
        return {
            name: {place: [held] if isinstance(held, str) else held for place, held in places.items()}
            for name, places in self._read["pictures"].items()
        }

    def change(self, changes: Mapping[str, Change]) -> list[str]:
        """Changes the index as it is now, which other processes may have changed since it was read."""
        with _alone(self.path):
            self._held = self._existing()
            return super().change(changes)

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
            if is_pointer(draft) or sha256_of(draft) != held:
                raise FileError(f"{self._where}/{stored}: {other}")
            os.replace(draft, path)
        return str(path)

    def _digest(self, held: str) -> str:
        return held

    def _put(self, name: str, _place: str, source: str, _before: str | None) -> str:
        digest = sha256_of(source)
        stored = _stored(digest, name)
        if self._folder is not None:
            path = self._folder / stored
            if not path.is_file() or sha256_of(path) != digest:
                put(source, path)
            return digest
        with reached(f"{self._where}/{stored}", "written") as (files, address):
            # One of another size is what an interrupted transfer has left.
            if not files.exists(address) or files.size(address) != os.path.getsize(source):
                files.makedirs(address.rpartition("/")[0], exist_ok=True)
                files.put_file(source, address)
        return digest

    def _moved(self, held: str, place: str, old: str, name: str) -> str:
        if Path(old).suffix != Path(name).suffix:  # which the store's names have
            return self._put(name, place, self._path(held, old), None)
        return held

    def _check_links(self, _changes: Mapping[str, Change]) -> None:
        """Does nothing: what lies in a store has no other name than its digest."""

    def _end(self, _removed: Iterable[str]) -> None:
        pictures = {
            name: {place: held[0] if len(held) == 1 else held for place, held in places.items()}
            for name, places in sorted(self._held.items())
        }
        values = {"schema": _SCHEMA, **self._read, "pictures": pictures}
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        with replacing(self.path) as file:
            file.write(text.encode())


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """While it lasts, no other process changes an index: each locks it, where the disk knows locks."""
    while True:
        with ExitStack() as stack:
            if locks.RENAMED_WHILE_OPEN:
                with suppress(OSError):
                    lock = locks.opened(str(path))
                    stack.callback(os.close, lock)
                    locks.hold(lock, wait=True)
                    if not os.path.samestat(os.fstat(lock), os.stat(path)):
                        continue  # another process has put a new one in its place meanwhile
            yield
            return


def references(path: str) -> References:
    """Returns the references in a folder, or those of an index, a file that ends with .json."""
    return Index(path) if path.endswith(".json") else References(path)


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
    for name, places in index["pictures"].items():
        if fault := fault_of_name(name):
            raise ParameterError(f"{path}: {fault}")
        if not isinstance(places, dict) or not all(map(_are_digests, places.values())):
            raise ParameterError(
                f"{path}: {name} must have a table of SHA-256 digests, of 64 hex digits, or of lists of {MOST} at most"
            )
    return index


def _are_digests(value: object) -> bool:
    several = value if isinstance(value, list) else [value]
    return 0 < len(several) <= MOST and all(map(_is_digest, several))


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _stored(digest: str, name: str) -> str:
    """Returns the name within a store of a picture with a digest."""
    return f"{digest[:2]}/{digest}{Path(name).suffix}"


def _kept() -> Path:
    from ..device.cache import cache_folder

    return Path(cache_folder()) / "references"
