"""Places of files: paths of this machine, and addresses such as s3://bucket/a.png.

What is asked here of a path is asked of the system at once; only an address needs :mod:`gpuops.files.addresses`.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from ..process import temporary

Path_ = str | os.PathLike[str]
# What stands between an address's protocol and the rest.
_MARK = "://"
# The protocols of this machine's own files.
_LOCAL = ("file://", "local://")


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
    if not is_address(path):
        return os.path.exists(path)
    from . import addresses

    return addresses.status(path) is not None


def status(path: str) -> Status:
    """Returns the status of a file. Raises OSError if there is none, and FileError if an address cannot be asked."""
    if not is_address(path):
        found = os.stat(path)
        return Status(found.st_size, found.st_mtime_ns)
    from . import addresses

    at = addresses.status(path)
    if at is None:
        raise FileNotFoundError(path)
    return at


def absolute(path: str) -> str:
    """Returns a path that is the same from every folder."""
    return path if is_address(path) else os.path.abspath(path)


def name_of(path: str) -> str:
    """Returns the last part of a path; what a web server is asked beside that is none."""
    if path.startswith(("http://", "https://")):
        path = path.partition("?")[0].partition("#")[0]
    return os.path.basename(path)


def folder_of_drafts(path: Path_) -> str:
    """Returns the folder that holds a file while it is being written."""
    if is_address(path):
        return os.path.realpath(temporary.folder())
    return os.path.dirname(os.path.realpath(path))
