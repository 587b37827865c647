"""Rows of the result of a step that works on all of its input, in slabs of an image that a spool keeps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..image import Image, Part
from ..plan import prepared
from ..space import Stored
from ..tiles.spooled import SpooledImage
from .barrier import Barrier
from .schedule import Shape
from .threads import read_ahead

if TYPE_CHECKING:
    from .spool import Spool


@dataclass
class Collection(Barrier):
    """The rows of a step's result.

    Attributes
    ----------
    spool : Spool
        The step's input, and then its result: planes, in one panel.
    memory : int
        Bytes of the device's memory that the step may take.
    kept_in : callable
        ``(shape, dtype, stack)`` → a spool for an image on the way, which goes with the stack.

    The rest is as for :class:`Barrier`.
    """

    memory: int = 0
    kept_in: Callable[[Shape, np.dtype[Any], ExitStack], Spool] | None = None

    def __post_init__(self) -> None:
        end = self.segment.end
        assert end is not None and end.slabbed is not None
        self.gpu, self.shape, self._step, self._slabbed = self.segment.gpu, end.result, end.step, end.slabbed

    def fill(self, images: Iterable[Image | Stored]) -> None:
        """Keeps planes, each Image with its ``part``, and does the step."""
        wanted = self._step.traits

        def planes() -> Generator[Image, None, None]:
            for image in images:
                assert isinstance(image, Image)
                yield prepared(self.gpu, image, wanted, self.segment.plan)

        self._keep(planes())
        with ExitStack() as stack:

            def made(shape: tuple[int, ...], dtype: np.dtype[Any]) -> SpooledImage:
                assert self.kept_in is not None
                planes, height, width = shape
                return SpooledImage(self.gpu, self.kept_in((planes, height, width), dtype, stack))

            image = SpooledImage(self.gpu, self.spool, alpha=self._alpha)
            self._slabbed.work(image, self.memory, made)

    def __call__(self, at_once: int, wanted: tuple[int, int]) -> Generator[Image, None, None]:
        """Gives blocks of planes."""
        places = self._places(at_once, wanted)
        with closing(read_ahead(self.gpu, self.pool, map(self.spool.block, places))) as ahead:
            for at, rows in zip(places, ahead, strict=True):
                image = self._labelled(self.gpu.array(rows))
                image.part, image.owned = Part(at.start, self.shape[1]), True
                yield image
                del image  # whose memory is free while the next are made
