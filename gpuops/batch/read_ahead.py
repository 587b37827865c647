"""Blocks of rows that a thread reads before they are asked for."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import FileError
from .access import Pending

if TYPE_CHECKING:
    from ..files.picture import Pixels
    from ..gpu import Gpu


def read_ahead(gpu: Gpu, pool: Executor, blocks: Iterator[Pixels]) -> Generator[Pixels, None, None]:
    """Gives blocks of rows of which a thread reads the next one meanwhile."""
    coming = Pending(pool, lambda: next(blocks, None))
    try:
        while True:
            with gpu.phase("decode"):
                block = coming.result()
            if block is None:
                return
            coming = Pending(pool, lambda: next(blocks, None))
            yield block
    except GeneratorExit:  # no more rows are needed
        with suppress(FileError):
            coming.result()
        raise
