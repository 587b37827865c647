"""Sources of a picture's rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from ..image import Image, Part
from .schedule import Shape, rows_at_once
from .threads import rows_ahead

if TYPE_CHECKING:
    from ..files import Strips
    from ..gpu import Gpu
    from ..pixels.coding import Decoding

Array = npt.NDArray[Any]


class RowSource(Protocol):
    """The rows of a picture, which may be asked for several times."""

    @property
    def decoding(self) -> Decoding | None:
        """How the pixels are to be read; None: they are planes."""

    def __call__(self, at_once: int, wanted: tuple[int, int], /) -> Generator[Image, None, None]:
        """Gives blocks of ``at_once`` bytes of planes, which have all rows (first, end) that are ``wanted``."""


@dataclass
class WholePicture:
    """A picture on the device, which is one block; an Image without a ``part``."""

    image: Image
    decoding: Decoding | None

    def __call__(self, _at_once: int, _wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives the picture."""
        yield self.image


@dataclass
class RowsOfFile:
    """The rows of a file, which are read by a thread of the ``pool``, a block ahead.

    Attributes
    ----------
    gpu : Gpu
    strips : Strips
    shape : (planes, height, width)
    decoding : Decoding
    load : callable
        ``(pixels)`` → these rows of the file on the device.
    pool : Executor
    look : callable, optional
        ``(pixels, first)``: looks at the rows from ``first`` on as they come.
    """

    gpu: Gpu
    strips: Strips
    shape: Shape
    decoding: Decoding
    load: Callable[[Array], Image]
    pool: Executor
    look: Callable[[Array, int], object] = lambda _pixels, _first: None

    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives blocks of pixels."""
        rows, height = rows_at_once(self.shape, at_once), self.shape[1]
        with closing(rows_ahead(self.gpu, self.pool, self.strips, rows)) as blocks:
            for first, block in blocks:
                end = first + len(block)
                if end <= wanted[0]:
                    continue
                self.look(block, first)
                image = self.load(block)
                image.part = Part(first, height)
                yield image
                if end >= wanted[1]:
                    return
