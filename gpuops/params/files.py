"""Files that parameters name beside the input, such as a kernel image or a colour table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import FileError, ParameterError

#: The name of standard input.
STREAM = "-"
# Bytes that are read at a time.
_BLOCK = 1 << 20
_streamed: dict[str, bytes] = {}  # what was read from standard input, by its digest: it can be read once only


class FileOperand:
    """A file, and the SHA-256 digest of what was in it when the digest was first asked for.

    It is what travels in a recipe or to another process; the content is read where the work is done, and is refused
    there if it has changed; that of standard input travels along. Operands are equal if their paths and digests are.
    """

    __slots__ = ("_digest", "path")

    def __init__(self, path: str, digest: str | None = None) -> None:
        self.path, self._digest = path, digest

    @classmethod
    def of(cls, value: Any) -> FileOperand:
        """Makes an operand of a path, or of a recipe's table with ``path`` and ``sha256``."""
        if isinstance(value, FileOperand):
            return value
        if isinstance(value, Mapping):
            if set(value) != {"path", "sha256"}:
                raise ParameterError("a file is a path, or a table of path and sha256")
            return cls(str(value["path"]), str(value["sha256"]))
        return cls(str(value))

    @property
    def digest(self) -> str:
        """The digest. Raises FileError where the file cannot be read."""
        if self._digest is None and self.is_stream:
            import sys

            content = sys.stdin.buffer.read()
            self._digest = digest_of([content])
            _streamed[self._digest] = content
        elif self._digest is None:
            self._digest = digest_of(_blocks(self.path))
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileOperand) and (self.path, self.digest) == (other.path, other.digest)

    def __hash__(self) -> int:
        return hash((self.path, self.digest))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self.is_stream:
            return _of_stream, (self.streamed, self.digest)
        return FileOperand, (os.path.abspath(self.path), self.digest)

    def __repr__(self) -> str:
        return f"FileOperand({self.path!r})"

    def check(self) -> None:
        """Raises FileError where the file cannot be read or is no longer the same."""
        if self.digest not in _streamed and digest_of(_blocks(self.path)) != self.digest:
            raise FileError(f"{self.path}: has changed since its name was given: start anew")

    @property
    def streamed(self) -> bytes:
        """The bytes of standard input."""
        return _streamed[self.digest]

    @property
    def is_stream(self) -> bool:
        """Whether the file is standard input."""
        return self.path == STREAM

    def written(self) -> dict[str, str]:
        """Returns the operand as a recipe has it."""
        return {"path": self.path, "sha256": self.digest}

    def __str__(self) -> str:
        return self.path


def _of_stream(content: bytes, digest: str) -> FileOperand:
    """Makes the operand of what another process has read from standard input."""
    _streamed[digest] = content
    return FileOperand(STREAM, digest)


def read_bytes(path: str) -> bytes:
    """Returns what is in a file. Raises FileError, which names it."""
    return b"".join(_blocks(path))


def _blocks(path: str) -> Iterator[bytes]:
    """Gives what is in a file, a part at a time. Raises FileError."""
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                if block.startswith(b"version "):
                    from ..files.read_errors import refuse_pointer

                    refuse_pointer(path, block)
                yield block
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder; name a file in it") from None
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None


def read_text(path: str, kind: str) -> str:
    """Returns a text of TOML that people write, such as a recipe; it may begin with a byte order mark.

    Raises FileError, and ParameterError for what is no text of UTF-8; ``kind`` is what it should have been.
    """
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(f"{path}: is no {kind}, which is a text of TOML") from None


def digest_of(blocks: Iterable[bytes]) -> str:
    """Returns the SHA-256 digest of bytes that come in parts."""
    import hashlib  # which takes a while, and few commands need it

    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()
