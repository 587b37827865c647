"""Blocks of rows that a thread reads before they are asked for."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Executor
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from ..errors import FileError
from .access import Pending

if TYPE_CHECKING:
    from .. import files
    from ..gpu import Gpu

Block = TypeVar("Block")


def rows_ahead(
    gpu: Gpu, pool: Executor, strips: files.Strips, count: int
) -> Generator[tuple[int, files.Pixels], None, None]:
    """Gives ``count`` rows of a picture at a time, with the number of the first one, as :func:`read_ahead` does."""
    first = 0
    with closing(read_ahead(gpu, pool, strips.rows(count))) as blocks:
        for block in blocks:
            for start in range(0, len(block), count):  # tiles may have more
                rows = block[start : start + count]
                yield first, rows
                first += len(rows)


def read_ahead(gpu: Gpu, pool: Executor, blocks: Iterator[Block]) -> Generator[Block, None, None]:
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
