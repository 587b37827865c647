"""Where files are: paths of this machine, and addresses, such as s3://bucket/a.png, that fsspec knows how to reach.

What is asked of a path is asked of the system at once. What is read at an address is first copied to this machine, and
what is written goes there when it is whole.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

from ..errors import FileError, GpuopsError, ParameterError, one_line
from ..process import temporary
from .drafts import draft_file

Path_ = str | os.PathLike[str]
# What stands between an address's protocol and the rest.
_MARK = "://"
# The protocols of this machine's own files.
_LOCAL = ("file://", "local://")
# The protocols whose files can only be read.
_READ_ONLY = ("http://", "https://")
# The characters of patterns.
_MAGIC = "*?["
# What file systems call the time of the last change, the most exact one first.
_TIMES = ("LastModified", "mtime", "last_modified", "updated", "modified", "created")
# For this many files in one folder or more, the folder is listed instead of looking up each file.
_MANY = 8
# What is said of an output that is there.
EXISTS = "exists already; name another output, or allow overwriting it with --overwrite"
# The message for a folder.
_FOLDER = "{}: is a folder; name the files in it, or give --recursive"

# Bytes that are compared at a time.
_BLOCK = 1 << 22
# The status of each address that a list of a folder has answered for; None: there is no file.
_seen: dict[str, Status | None] = {}
# Why a pattern or a folder stands for no files; it is an input that fails, and not all of them.
_failed: dict[str, FileError] = {}


class Status(NamedTuple):
    """A file's bytes, and the time of its last change in nanoseconds, which is 0 where nobody knows."""

    size: int
    mtime_ns: int


def is_address(path: Path_) -> bool:
    """Says whether a path is an address."""
    return _MARK in os.fspath(path)


def on_this_machine(path: Path_) -> str | None:
    """Returns the path of a file, also of an address that leads to one, such as file:///a.png; None of others."""
    name = os.fspath(path)
    if _MARK not in name:
        return name
    last = name.rpartition("::")[2]  # a.png of zip://a.png::file:///b.zip lies in b.zip
    return os.path.expanduser(last.partition(_MARK)[2]) if last.startswith(_LOCAL) else None


def exists(path: str) -> bool:
    """Says whether there is a file. Raises FileError if an address cannot be asked."""
    return _status_at(path) is not None if is_address(path) else os.path.exists(path)


def status(path: str) -> Status:
    """Returns the status of a file. Raises OSError if there is none, and FileError if an address cannot be asked."""
    if not is_address(path):
        info = os.stat(path)
        return Status(info.st_size, info.st_mtime_ns)
    at = _status_at(path)
    if at is None:
        raise FileNotFoundError(path)
    return at


def absolute(path: str) -> str:
    """Returns a path that is the same from every folder."""
    return path if is_address(path) else os.path.abspath(path)


def name_of(path: str) -> str:
    """Returns the last part of a path; what a web server is asked beside that is none."""
    if path.startswith(_READ_ONLY):
        path = path.partition("?")[0].partition("#")[0]
    return os.path.basename(path)


def folder_of_drafts(path: Path_) -> str:
    """Returns the folder that holds a file while it is being written."""
    if is_address(path):
        return os.path.realpath(temporary.folder())
    return os.path.dirname(os.path.realpath(path))


@contextmanager
def reached(address: str, done: str = "read") -> Iterator[tuple[Any, str]]:
    """Gives the file system of an address, as fsspec has it, and the path there.

    What goes wrong while it is being ``done`` becomes an error of one line that names the address.
    """
    try:
        import fsspec
    except ImportError:
        raise ParameterError(f"{address}: an address needs fsspec: pip install 'clpix[s3]'") from None
    try:
        files, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        missing = "pip install 'clpix[s3]'" if address.startswith("s3") else one_line(error)
        raise ParameterError(f"{address}: this kind of address needs a package: {missing}") from None
    except ValueError as error:
        raise ParameterError(f"{address}: is no address that fsspec knows ({one_line(error)})") from None
    except Exception as error:  # some connect at once
        raise FileError(f"{address}: could not be reached ({one_line(error)})") from None
    try:
        yield files, path
    except GpuopsError:
        raise
    except FileExistsError:
        raise FileError(f"{address}: {EXISTS}") from None
    except FileNotFoundError:
        missing = (
            "there is no such object" if done == "read" else "its bucket does not exist; create it first"
        )
        raise FileError(f"{address}: {missing}") from None
    except PermissionError:
        raise FileError(f"{address}: may not be {done} with these credentials") from None
    except Exception as error:  # libraries for networks have errors of many kinds
        raise FileError(f"{address}: could not be {done} ({one_line(error)})") from None


@contextmanager
def fetched(address: str) -> Iterator[str]:
    """Gives the path of a copy of a file at an address, as long as the context lasts."""
    with draft_file(temporary.folder(), extension(address)) as copy:
        with reached(address) as (files, path):
            try:
                files.get_file(path, copy)
            except (FileNotFoundError, FileExistsError, IsADirectoryError):
                if files.isdir(path):
                    raise FileError(_FOLDER.format(address)) from None
                raise FileNotFoundError from None
        yield copy


def send(copy: str, address: str, *, overwrite: bool) -> None:
    """Puts a file at an address. Without ``overwrite`` nothing is replaced, as far as the file system can promise."""
    _seen.pop(address, None)
    with reached(address, "written") as (files, path):
        if overwrite:
            files.put_file(copy, path)
        elif _can_create(files):
            try:
                files.put_file(copy, path, mode="create")
            except FileExistsError:
                # A request whose answer is lost is sent again, and finds what it has created itself.
                if not _holds(files, path, copy):
                    raise
        elif files.exists(path):
            raise FileExistsError
        else:
            files.put_file(copy, path)


def _can_create(files: Any) -> bool:
    """Says whether a file system looks by itself, as it writes, that nothing is there."""
    return "mode" in inspect.signature(getattr(files, "_put_file", files.put_file)).parameters


def _holds(files: Any, path: str, copy: str) -> bool:
    """Says whether an object has the bytes of a file."""
    with open(copy, "rb") as one:
        if files.size(path) != os.fstat(one.fileno()).st_size:
            return False
        with files.open(path, "rb") as other:
            while block := one.read(_BLOCK):
                if other.read(len(block)) != block:
                    return False
    return True


def check_place(address: str, *, overwrite: bool) -> None:
    """Refuses an address that cannot be written to."""
    if address.startswith(_READ_ONLY):
        raise FileError(f"{address}: can only be read; name an output in a bucket or a folder")
    if not overwrite and _status_at(address) is not None:
        raise FileError(f"{address}: {EXISTS}")


def check(address: str) -> None:
    """Refuses an address that cannot be read, as far as is known. Whether there is a file shows when it is read."""
    if address in _failed:
        raise _failed[address]
    if address.endswith("/"):
        raise FileError(_FOLDER.format(address))
    with reached(address):
        pass


def extension(address: str) -> str:
    """Returns the extension of the name at an address."""
    return os.path.splitext(name_of(address))[1]


# -- what is there -------------------------------------------------------------------------------------------------


def _status_at(address: str) -> Status | None:
    """Returns the status of a file; None if there is none."""
    if address in _seen:
        return _seen[address]
    with reached(address) as (files, path):
        with suppress(FileNotFoundError):
            return _status(files.info(path))
        return None


def _status(info: Mapping[str, Any]) -> Status:
    time = next((info[name] for name in _TIMES if info.get(name)), 0)
    if isinstance(time, str):
        time = datetime.fromisoformat(time.replace("Z", "+00:00"))
    seconds = time.timestamp() if isinstance(time, datetime) else float(time)
    return Status(int(info.get("size") or 0), round(seconds * 1e6) * 1000)


def matching(pattern: str) -> list[str]:
    """Returns the addresses of the files that a pattern stands for, or the address itself if it is no pattern."""
    if pattern.startswith(_READ_ONLY) or not any(character in pattern for character in _MAGIC):
        return [pattern]
    try:
        with reached(pattern) as (files, path):
            files.invalidate_cache()
            if files.isfile(path):
                return [pattern]
            addresses = _noted(files, files.glob(path, detail=True))
        if not addresses:
            raise FileError(f"{pattern}: no file matches this pattern")
    except FileError as error:
        return [_fails(pattern, error)]
    return sorted(addresses)


def within(folder: str, without: str = "") -> list[tuple[str, str]]:
    """Returns the addresses of pictures in a folder and below, and the folder of each below that one.

    Left out are hidden files, and those in the folder ``without``, where results go. For the address of a file the
    result is that address, also where the folder cannot be read.
    """
    try:
        with reached(folder) as (files, path):
            files.invalidate_cache()
            addresses = _noted(files, files.find(path, detail=True))
            top = files.unstrip_protocol(path).rstrip("/")
    except FileError as error:
        return [(_fails(folder, error), "")]
    if top in addresses:
        return [(folder, "")]
    from .formats import is_of_picture

    results = without.rpartition("/")[0] + "/"
    pairs = []
    for address in sorted(addresses):
        below, _, name = address[len(top) + 1 :].rpartition("/")
        hidden = any(part.startswith(".") for part in (*below.split("/"), name))
        own = len(results) > len(top) + 1 and address.startswith(results)
        if not hidden and not own and is_of_picture(name):
            pairs.append((address, below))
    empty = FileError(f"{folder}: there are no files in this folder that could be read")
    return pairs or [(_fails(folder, empty), "")]


def _fails(address: str, error: FileError) -> str:
    """Keeps why an address stands for no files, for :func:`check`. Returns it as an input that has a name."""
    address = address.rstrip("/")
    _failed[address] = error
    return address


def look_at(paths: Iterable[str]) -> None:
    """Looks up many files by listing their folders; that then needs no further request."""
    by_folder = Counter(path.rpartition("/")[0] for path in paths)
    asked = {folder for folder, count in by_folder.items() if count >= _MANY and "://" in folder}
    for folder in tuple(asked):
        try:
            with reached(folder) as (files, path), suppress(FileNotFoundError):  # there may be nothing yet
                files.invalidate_cache()
                _noted(files, {info["name"]: info for info in files.ls(path, detail=True)})
        except FileError:  # which is told with each file
            asked.discard(folder)
    for path in paths:
        if path.rpartition("/")[0] in asked:
            _seen.setdefault(path, None)


def _noted(files: Any, infos: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the addresses of the files in a list of a folder, and keeps their statuses."""
    statuses = {
        files.unstrip_protocol(name): _status(info) for name, info in infos.items() if info["type"] == "file"
    }
    _seen.update(statuses)
    return list(statuses)


def forget() -> None:
    """Forgets what lists have said, before it may have changed."""
    _seen.clear()
    _failed.clear()


# -- files by what the system knows them by --------------------------------------------------------------------------


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
        local = on_this_machine(path)
        if local is None:
            return [os.fspath(path)]
        with suppress(OSError, ValueError):
            status = os.stat(local)
            return [(status.st_dev, status.st_ino)]
        folder, name = os.path.split(local)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        is_link = os.path.islink(local)
        place = os.path.realpath(local) if is_link else os.path.join(self._folders[folder], name)
        folded = place.casefold(), "whatever the case"
        differs = place not in self._names and folded in self._names
        return [place] if differs and not _ignores_case(os.path.dirname(place)) else [place, folded]


def _ignores_case(folder: str) -> bool:
    """Says whether names that differ only in case are one file in a folder, which may still have to be made."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    with suppress(OSError), draft_file(folder) as draft:
        return os.path.exists(os.path.join(folder, os.path.basename(draft).swapcase()))
    return False
