"""Files by what the system knows them by: several paths may lead to one file."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from contextlib import suppress

from . import locations
from .drafts import draft_file
from .locations import Path_


class Identities:
    """Files, each under the path by which it was first named.

    Links, hard links, addresses of this machine's files, and names that differ in case where the disk ignores that,
    lead to the same file, whether it is there already or is still to be written.
    """

    def __init__(self, paths: Iterable[Path_] = ()) -> None:
        self._names: dict[Hashable, str] = {}
        self._folders: dict[str, str] = {}
        for path in paths:
            self.add(path)

    def __contains__(self, path: Path_) -> bool:
        return self.known(path) is not None

    def known(self, path: Path_) -> str | None:
        """Returns the path by which a file was first named; None if it was not."""
        return next((self._names[key] for key in self._keys(path) if key in self._names), None)

    def add(self, path: Path_) -> str | None:
        """Adds a file. Returns the path by which it was named before, or None."""
        before = self.known(path)
        if before is None:
            self._names |= dict.fromkeys(self._keys(path), os.fspath(path))
        return before

    def _keys(self, path: Path_) -> list[Hashable]:
        """Returns what a file is known by: its number if it is there, and its place."""
        local = locations.on_this_machine(path)
        if local is None:
            return [os.fspath(path)]
        try:
            status = os.stat(local)
        except (OSError, ValueError):
            place = self._place(local)
            folded = place.casefold(), "whatever the case"
            differs = place not in self._names and folded in self._names
            if differs and not _ignores_case(os.path.dirname(place)):
                return [place]
            return [place, folded]
        return [(status.st_dev, status.st_ino)]

    def _place(self, path: str) -> str:
        """Returns the absolute path of a file that is not there yet."""
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)


def _ignores_case(folder: str) -> bool:
    """Says whether names that differ only in case are one file in a folder, which may still have to be made."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    with suppress(OSError), draft_file(folder) as draft:
        return os.path.exists(os.path.join(folder, os.path.basename(draft).swapcase()))
    return False
