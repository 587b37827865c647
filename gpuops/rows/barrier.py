"""A barrier: a source of rows that keeps all rows before it gives the first one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ..space import LIGHT, Space, Stored
from .schedule import Shape, rows_at_once
from .threads import Writing

if TYPE_CHECKING:
    from ..image import Image
    from .schedule import RowSchedule
    from .spool import Spool


@dataclass
class Barrier(ABC):
    """A segment's end, which keeps planes in a spool.

    Attributes
    ----------
    segment : RowSchedule
        What comes before the barrier, which is its end.
    spool : Spool
    pool : Executor
        Its threads read and write the spool.
    """

    segment: RowSchedule
    spool: Spool
    pool: Executor
    _alpha: bool = False
    _space: Space = LIGHT
    _orientation: int | None = None
    shape: Shape = field(init=False)
    #: There is nothing to decode: it gives planes.
    decoding: ClassVar[None] = None

    @abstractmethod
    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Keeps planes, each Image with its ``part``."""

    @abstractmethod
    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives blocks of planes, as a :class:`gpuops.rows.source.RowSource` does."""

    def _places(self, at_once: int, wanted: tuple[int, int]) -> list[slice]:
        """Returns the rows of blocks of ``at_once`` bytes of planes that are ``wanted``."""
        count, (first, end) = rows_at_once(self.shape, at_once), wanted
        return [slice(at, min(at + count, end)) for at in range(max(first, 0), end, count)]

    def _keep(self, images: Iterable[Image | Stored]) -> None:
        """Puts planes into the spool."""
        writing = Writing(self.pool)
        for image in images:
            assert not isinstance(image, Stored) and image.part is not None
            self._note(image)
            writing.put(partial(self.spool.put_block, image.part.first, image.numpy()))
        writing.wait()

    def _note(self, image: Image) -> None:
        """Keeps what planes are, beside their values."""
        self._alpha, self._space, self._orientation = image.alpha, image.space, image.orientation

    def _labelled(self, image: Image) -> Image:
        """Returns planes as what they were before."""
        image.alpha, image.space, image.orientation = self._alpha, self._space, self._orientation
        return image
