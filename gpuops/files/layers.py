"""What an EXR file holds beside the picture: its other channels and parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ..params.moves import Frame


@dataclass(frozen=True)
class ExrPart:
    """A part of an EXR file with channels that are not the picture's.

    name: the part's, "" where there is one part. names, kinds: of the channels, and their types in the file: half,
    float, uint. pixels: (height, width, channels); of whole numbers these. attributes, frame: as of Metadata.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    pixels: NDArray[Any] = field(repr=False)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    frame: Frame | None = None

    @property
    def place(self) -> Frame:
        """Its frame."""
        return self.frame or Frame.of(*self.pixels.shape[:2])


@dataclass(frozen=True)
class Rest:
    """What an EXR file holds beside the picture: all parts in their order, the number of the picture's own one, and the
    names of the picture's channels."""

    parts: tuple[ExrPart, ...]
    own: int
    picture: tuple[str, ...]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of all channels."""
        several = len(self.parts) > 1
        return tuple(
            f"{part.name}.{name}" if several and not name.startswith(f"{part.name}.") else name
            for part in self.parts
            for name in part.names
        )
