"""Outputs, which are checked before any work is done, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..errors import FileError
from . import locations
from .drafts import PRIVATE, USUAL, beginning, draft_file
from .formats import Format, format_of
from .locations import EXISTS, Identities, Path_
from .read_errors import needed

# What systems answer on disks that know no hard links.
_NO_LINKS = (
    errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK,
)  # fmt: skip


def check_output(path: Path_, *, overwrite: bool = False, inputs: Identities | None = None) -> Format:
    """The format of an output that can be written; a FileError that says what to do where it cannot."""
    fmt = format_of(path)
    check_place(path, overwrite=overwrite, inputs=inputs)
    check_writer(path, fmt)
    return fmt


def check_writer(path: Path_, fmt: Format) -> None:
    """Raises FileError if writing this format needs a package that is not installed."""
    if fmt.needs:
        needed(fmt.needs.replace("-", "_"), os.fspath(path), fmt.name)


def check_place(path: Path_, *, overwrite: bool = False, inputs: Identities | None = None) -> None:
    """Does the checks of check_output except that of the format."""
    name = os.fspath(path)
    if inputs is not None and path in inputs:
        raise FileError(f"{name}: is also an input, which is never overwritten; name another output")
    if locations.is_address(path):
        locations.check_place(name, overwrite=overwrite)
    else:
        _place(name, overwrite=overwrite)


def _place(path: str, *, overwrite: bool) -> tuple[str, int | None]:
    """The absolute path of an output on this machine, behind a link, and the permissions of a file that it replaces.

    ``..`` stays, since it may be behind a link to a folder. Raises FileError if the path leads to no such place.
    """
    entry = mode = _mode(path, os.lstat)
    is_link = entry is not None and stat.S_ISLNK(entry)
    if is_link:
        mode = _mode(path, os.stat)
    if mode is not None and stat.S_ISDIR(mode):
        raise FileError(f"{path}: is a folder; name a file in it")
    if mode is not None and not stat.S_ISREG(mode):
        raise FileError(f"{path}: is not a regular file; name another output")
    if not overwrite and entry is not None:
        raise FileError(f"{path}: {EXISTS}")
    folder = os.path.dirname(path) or os.curdir
    if not os.access(os.path.join(folder, os.curdir), os.W_OK | os.X_OK):
        raise FileError(f"{path}: {_fault_of(folder)}")
    if not os.path.isabs(path):
        path = os.path.join(os.getcwd(), path)
    return os.path.realpath(path) if is_link else path, None if mode is None else mode & 0o777


def _mode(path: str, ask: Callable[[str], os.stat_result]) -> int | None:
    """Returns the mode of what is at a path, by os.stat or os.lstat; None if there is nothing."""
    with suppress(OSError, ValueError):
        return ask(path).st_mode
    return None


def _fault_of(folder: str) -> str:
    """Returns the reason why no file can be written into a folder."""
    if os.path.isdir(folder):
        return f"the folder {folder} is not writable; choose another one"
    if os.path.exists(folder):
        return f"{folder} is a file, in which there can be none; name a folder"
    return f"the folder {folder} does not exist; create it first"


@contextmanager
def atomic(path: Path_, *, overwrite: bool = False, tells_errors: bool = False) -> Iterator[str]:
    """Gives a temporary path beside `path` to write to, and moves it there when the block ends well.

    Whatever goes wrong, Ctrl-C included, nothing is left behind; after a kill that nothing can catch, the next
    process that writes into the folder removes what was left. Without overwrite the move is a hard link,
    which fails where a file has appeared meanwhile, so that no race can destroy anything. What goes to an address is
    written here, and sent there as a whole. ``tells_errors``: writing raises each error, as Python's files do;
    otherwise it is checked in the end whether the disk is full.
    """
    name, is_address = os.fspath(path), locations.is_address(path)
    try:
        # A link to a file stays a link.
        target, replaced = ("", None) if is_address else _place(name, overwrite=overwrite)
        folder = locations.folder_of_drafts(path) if is_address else os.path.dirname(target)
        with draft_file(
            folder, os.path.splitext(name)[1], USUAL if replaced is None else PRIVATE
        ) as temporary:
            try:
                yield temporary
                if not tells_errors:
                    _check_space(temporary)
                if is_address:
                    locations.send(temporary, name, overwrite=overwrite)
                else:
                    if replaced is not None:
                        os.chmod(temporary, replaced)
                    place = os.path.join(os.path.dirname(temporary), os.path.basename(target))
                    _move(temporary, place, overwrite=overwrite)
            except OSError as error:
                raise FileError(_trouble(path, _cause(error, temporary), temporary)) from None
    except OSError as error:  # there was no room even for an empty file
        raise FileError(_trouble(path, error)) from None
    except MemoryError:
        raise FileError(f"{os.fspath(path)}: not enough memory to write it; free some") from None


def write_text(path: Path_, text: str, *, overwrite: bool = False) -> None:
    """Writes a file of text, whole or not at all; names whose bytes are not text stay as they are."""
    with (
        atomic(path, overwrite=overwrite) as temporary,
        open(temporary, "w", encoding="utf-8", errors="surrogateescape", newline="") as file,
    ):
        file.write(text)


def _move(temporary: str, target: str, *, overwrite: bool) -> None:
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)
    except OSError as error:
        # Interruptions remove drafts: one that is gone must not leave an empty file.
        if error.errno not in _NO_LINKS:
            raise
        with beginning:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL))  # takes the name, which is then filled
            try:
                os.replace(temporary, target)
            except OSError:
                os.unlink(target)
                raise


def _check_space(path: str) -> None:
    """Raises OSError when the disk is full.

    Codecs that write through C's stdio may lose the error of their last buffer; a disk that still takes
    64 KiB more has taken that buffer too.
    """
    size = os.path.getsize(path)
    with open(path, "r+b", buffering=0) as file:
        file.seek(size)
        written = file.write(bytes(65536))
        file.truncate(size)
    if written < 65536:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _cause(error: OSError, temporary: str) -> OSError:
    """Returns the error of a full disk in place of a codec's own, which says nothing of it."""
    if error.errno is None:
        try:
            _check_space(temporary)
        except OSError as cause:
            return cause
    return error


def _trouble(path: Path_, error: OSError, temporary: str = "") -> str:
    reason = error.strerror or str(error).replace(temporary or "\0", "it")
    advice = {
        errno.ENOSPC: "the disk is full; free some space or choose another one",
        errno.EDQUOT: "the disk quota is used up; free some space or choose another disk",
        errno.EEXIST: EXISTS,
        errno.EROFS: "the disk is read-only; choose another folder",
        errno.EACCES: "the folder is not writable; choose another one",
        errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    }
    return f"{os.fspath(path)}: {advice.get(error.errno or 0, f'could not be written ({reason})')}"
