"""The errors of reading: whatever goes wrong becomes one line that names the file.

Source for pointers of Git LFS: its docs/spec.md: the first line of a pointer is ``version`` and the address of the
specification, the first one of which was at hawser.github.com; a pointer has fewer than 1024 bytes.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError
from ..process import standard_error

#: What libraries say, in lower case, of undamaged files of a kind that they cannot decode.
_KINDS = (
    "support", "implemented", "configured", "cannot handle", "sampleformat", "invalid bits", "pixel format",
)  # fmt: skip
#: How pointers of Git LFS begin: small texts that stand in a working tree for files that were not fetched.
_STARTS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")
#: What all pointers have fewer bytes than.
POINTER_BYTES = 1024


def trouble(name: str, verb: str, reason: str) -> FileError:
    """The error of a library that has not "read" or "opened" a file: because it is damaged, or of some kind."""
    if any(words in reason.lower() for words in _KINDS):
        return FileError(f"{name}: is of a kind that cannot be read ({reason}); convert it first")
    detail = f" ({reason})" if reason else ""
    return FileError(f"{name}: could not be {verb}: the file is cut off or damaged{detail}")


def check_size(name: str, width: int, height: int) -> None:
    """Raises FileError for a picture without pixels."""
    if min(width, height) < 1:
        raise FileError(f"{name}: has no pixels ({width} x {height})")


def check_plausible(name: str, width: int, height: int, needed: float) -> None:
    """Raises FileError for a file of less bytes than so many pixels need, however densely they are packed."""
    there = os.path.getsize(name)
    if needed > there:
        raise FileError(
            f"{name}: is damaged: it claims {width} x {height} pixels, which its {there} bytes cannot hold"
        )


def stored(name: str, kind: npt.DTypeLike, count: int, offset: int) -> npt.NDArray[Any]:
    """Samples as they lie in a file from a place on. Raises FileError where it ends before."""
    needed, there = count * np.dtype(kind).itemsize, os.path.getsize(name) - offset
    if there < needed:
        raise FileError(f"{name}: is cut off: its pixels need {needed} bytes, and there are {max(there, 0)}")
    return np.fromfile(name, kind, count, offset=offset)


@cache
def quiet_tifffile() -> Any:
    """Returns the library tifffile, whose remarks on files are not printed."""
    import tifffile

    logging.getLogger("tifffile").addHandler(logging.NullHandler())
    return tifffile


@contextmanager
def reading(name: str) -> Iterator[None]:
    """While it lasts, errors of the system become a FileError that names the file, such as that of opening a folder.

    What codecs print to standard error is dropped.
    """
    try:
        with standard_error.quiet():
            yield
    except FileNotFoundError:
        raise FileError(f"{name}: no such file") from None
    except UnicodeDecodeError:
        raise FileError(f"{name}: is damaged: a name in its header is no text") from None
    except MemoryError:
        raise FileError(f"{name}: does not fit in memory; use a smaller one") from None
    except OSError as error:
        if os.path.isdir(name):
            raise FileError(f"{name}: is a folder; name a file in it") from None
        raise FileError(f"{name}: could not be read ({error.strerror or error})") from None


@contextmanager
def parsing(name: str) -> Iterator[None]:
    """While it lasts, whatever a library's parser raises of a damaged file becomes a FileError."""
    try:
        yield
    except (FileError, MemoryError):
        raise
    except Exception as error:
        raise trouble(name, "read", str(error).split("\n")[0]) from None


def beginning(name: str, count: int) -> bytes:
    """The first ``count`` bytes of a file. Raises FileError if it is empty, or a pointer."""
    with open(name, "rb") as file:
        start = file.read(count)
    if not start:
        raise FileError(f"{name}: is empty (0 bytes)")
    refuse_pointer(name, start)
    return start


def refuse_pointer(name: str, start: bytes) -> None:
    """Raises FileError if a file begins as a pointer does."""
    if start.startswith(_STARTS):
        raise FileError(
            f"{name}: is a pointer of Git LFS and not the file itself: fetch it by 'git lfs pull' (in GitHub Actions: "
            "actions/checkout with lfs: true)"
        )


def digest_in_pointer(content: bytes) -> str:
    """Returns the SHA-256 of the file that a pointer of Git LFS stands for; empty if this is no whole pointer."""
    if len(content) >= POINTER_BYTES or not content.startswith(_STARTS):
        return ""
    digest = re.search(rb"^oid sha256:([0-9a-f]{64})\r?$", content, re.MULTILINE)
    return digest[1].decode() if digest else ""


def is_pointer(path: str) -> bool:
    """Says whether a file begins as a pointer of Git LFS does."""
    with open(path, "rb") as file:
        return file.read(POINTER_BYTES).startswith(_STARTS)


def chosen(path: str, layer: str | int, count: int, several: str = "frames", one: str = "picture") -> int:
    """The number that ``layer`` says, if a file of ``count`` frames, or other things called ``several``, has it."""
    if not str(layer).isdecimal() or int(layer) >= count:
        have = f"{several} 0 to {count - 1}" if count > 1 else f"one {one}, number 0"
        what = f"{several[:-1]} {layer}" if str(layer).isdecimal() else f"layer {layer!r}"
        raise FileError(f"{path}: has no {what}; it has {have}")
    return int(layer)


#: The extra that brings each module.
_EXTRAS = {"av": "video", "pillow_heif": "formats", "rawpy": "raw"}


def needed(module: str, path: str, what: str) -> Any:
    """The module, which reading or writing ``what`` needs; a FileError that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.replace("_", "-")
        raise FileError(f"{path}: {what} needs {package}: pip install 'clpix[{_EXTRAS[module]}]'") from None
