"""The texts of PNG files, which stay as they are. Source: PNG, third edition, 11.3.3 (tEXt, zTXt, iTXt)."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from contextlib import suppress
from typing import Any, NamedTuple

#: Bytes of a text that are decompressed at most.
_MOST = 1 << 20


class TextChunk(NamedTuple):
    """A chunk with a text: its kind, and its data."""

    kind: bytes
    data: bytes

    @property
    def key(self) -> str:
        """What the text is: "Title", "Author" …, of 79 characters at most."""
        return self.data[:80].partition(b"\0")[0][:79].decode("latin-1")

    @property
    def value(self) -> str:
        """The text; "" where it is damaged."""
        rest = self.data.partition(b"\0")[2]
        with suppress(zlib.error, IndexError, ValueError):
            if self.kind == b"tEXt":
                return rest.decode("latin-1")
            if self.kind == b"zTXt":
                return _inflated(rest[1:]).decode("latin-1")
            flags, (_language, _translated, text) = rest[:2], rest[2:].split(b"\0", 2)
            return (_inflated(text) if flags[0] else text).decode("utf-8")
        return ""

    def to_json(self) -> list[str]:
        return [self.kind.decode("ascii"), b64encode(self.data).decode()]

    @classmethod
    def from_json(cls, value: Any) -> TextChunk:
        """The inverse of :meth:`to_json`. Raises ValueError, TypeError or KeyError for anything else."""
        kind, data = value
        if kind not in ("tEXt", "zTXt", "iTXt"):
            raise ValueError("is no chunk of a text")
        return cls(kind.encode(), b64decode(data, validate=True))


def _inflated(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, _MOST)
