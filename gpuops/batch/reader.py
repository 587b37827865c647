"""Reading of inputs: a path that is no readable file is refused, with a hint."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from .. import files
from ..errors import FileError
from ..files import locations
from ..params.files import STREAM


def check_source(path: str) -> None:
    """Refuses an input of a batch that cannot be read. The input may be at an address."""
    if locations.is_address(path):
        locations.check(path)
    else:
        check_input(path)


def check_input(path: str, *, alone: bool = False) -> None:
    """Refuses an input that cannot be read as a file. ``alone``: the command has no way to take a folder."""
    if path == STREAM:
        return
    if not path:
        raise FileError("an input's name is empty: a variable of the shell may be unset")
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if locations.is_address(path):
            raise FileError(f"{path}: is an address; download the file and name that") from None
        if any(character in path for character in "*?["):
            raise FileError(f"{path}: no file matches this pattern") from None
        raise FileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        kinds = {os.path.splitext(name)[1].lower() for name in _names_in(path)}.intersection(files.EXTENSIONS)
        also = "" if alone else ", or give --recursive"
        example = os.path.join(path, f"*{min(kinds, default='.png')}")
        raise FileError(f"{path}: is a folder; name the files in it, such as {example}{also}")
    if not stat.S_ISREG(mode):  # it may be readable only once, and files are inspected before they are read
        raise FileError(f"{path}: is no regular file; give '-' for it and redirect standard input")


def _names_in(folder: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []
