"""Blocks of rows that a thread reads before they are asked for."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ..errors import FileError
from .access import Pending

if TYPE_CHECKING:
    from ..gpu import Gpu

Block = TypeVar("Block")


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
