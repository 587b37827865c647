"""What an EXR file holds beside the picture: its other channels and parts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import field
from typing import Any

from numpy.typing import NDArray

from ..params.moves import Frame
from ..records import dataclass

#: Rows of a block that every part has room for: those that EXR compresses together, mostly.
TOGETHER = 16
# Bytes of a block, if that is more.
_BLOCK = 1 << 24

Array = NDArray[Any]
#: ``(first, end, nbytes)`` → the rows first … end, in blocks of about so many bytes.
Blocks = Callable[[int, int, int], Generator[Array, None, None]]


@dataclass(frozen=True)
class ExrPart:
    """A part of an EXR file with channels that are not the picture's.

    name: the part's, "" where there is one part. names, kinds: of the channels, and their types in the file: half,
    float, uint. pixels: (height, width, channels); of whole numbers these. attributes, frame: as of Metadata. rows:
    gives them where they come as they are asked for; an array without memory stands for the pixels then.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    pixels: Array = field(repr=False)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    frame: Frame | None = None
    rows: Blocks | None = None

    @property
    def place(self) -> Frame:
        """Its frame."""
        return self.frame or Frame.of(*self.pixels.shape[:2])

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return self.pixels[:1].nbytes

    def blocks(
        self, first: int = 0, end: int | None = None, nbytes: int = _BLOCK
    ) -> Generator[Array, None, None]:
        """Gives the rows first … end, by default all, in blocks of about so many bytes."""
        end = len(self.pixels) if end is None else end
        if self.rows is None:
            yield self.pixels[first:end]
        else:
            yield from self.rows(first, end, nbytes)


@dataclass(frozen=True)
class Rest:
    """What an EXR file holds beside the picture: all parts in their order, the number of the picture's own one, and the
    names of the picture's channels; and how many bytes of rows may come at a time where they come so."""

    parts: tuple[ExrPart, ...]
    own: int
    picture: tuple[str, ...]
    at_once: int = _BLOCK

    @property
    def by_rows(self) -> bool:
        """Whether rows come as they are asked for."""
        return self.parts[self.own].rows is not None

    @property
    def nbytes(self) -> int:
        """Bytes of all channels."""
        return sum(part.pixels.nbytes for part in self.parts)

    @property
    def least(self) -> int:
        """Bytes of a block for which there has to be room, where rows come as they are asked for."""
        return TOGETHER * max(part.row for part in self.parts) if self.by_rows else 0

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of all channels."""
        several = len(self.parts) > 1
        return tuple(
            f"{part.name}.{name}" if several and not name.startswith(f"{part.name}.") else name
            for part in self.parts
            for name in part.names
        )
