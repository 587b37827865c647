"""The work of a chain on an input whose rows come and go: for pictures that memory, or the device, has no room for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import files, notes
from ..errors import FileError
from ..files.pictures import BY_ROWS
from ..files.streams import to_stream
from ..image import Image, Part
from ..params.files import STREAM
from ..pixels.coding import Losses
from ..plan import Plan
from ..tiles import flow
from .access import Pending

if TYPE_CHECKING:
    from .item import How, Item
    from .output import Finished, Output

# Bytes of memory that codecs take beside the rows that they read or write, at most (measured: 26 to 75 MB each).
_CODECS = 150 << 20
# Blocks of rows that are read, and that are written, in memory at a time.
_AT_ONCE = 3
# Bytes of the device's memory for each value, beside the file's own: planes, a step's result, the pixels to be written.
_ENDS = 12
# Pixels that kernels count by integers of 32 bits with a sign.
_MOST_PIXELS = 2**31 - 1


def obstacle(item: Item, todo: Plan, picture: files.Picture, *, writes: bool) -> str | None:
    """Returns the name of what needs the whole picture, if there is something; ``writes``: a step on the way writes."""
    return "write" if writes else flow.obstacle(item.gpu, todo, _shape(picture))


def is_too_large(item: Item, todo: Plan, picture: files.Picture) -> bool:
    """Says whether the device has no room for a picture as a whole."""
    limits, values = item.gpu.limits, picture.pixels.size
    beside = max((step.traits.bytes_per_value for step in todo.steps), default=0.0)
    return (
        4 * values > limits.max_alloc_bytes
        or picture.pixels.nbytes + (_ENDS + beside) * values > limits.global_bytes
        or picture.width * picture.height > _MOST_PIXELS
    )


def streamed(item: Item, todo: Plan, strips: files.Strips) -> None:
    """Reads the rows of an input, does the steps of a plan on them, and writes them."""
    gpu, picture = item.gpu, strips.picture
    for text in strips.said:
        notes.note(text)
    how = item.how(picture, linear=todo.linear, premultiply=todo.premultiplied)
    shape = _shape(picture, how)
    for step in todo.steps:
        step.operation.prepare(gpu, step.params, item.output if step is todo.steps[-1] else None)
    rows = min(flow.rows_at_a_time(gpu, todo, shape), _rows_in_memory(item, todo, strips, shape))
    target = item.output if item.options.fuse else None
    with ThreadPoolExecutor(2) as pool, item.naming(), gpu.phase("compute"):

        def blocks(*, count: bool = False) -> Iterator[Image]:
            first = 0
            for pixels in ahead(pool, strips.rows(rows), item):
                for start in range(0, len(pixels), rows):  # tiles may have more
                    image = item.on_device(pixels[start : start + rows], how, count=count)
                    image.part = Part(first, picture.height)
                    first += image.shape[0]
                    yield image

        with notes.to(lambda _text: None):  # the last sweep says all that there is to say
            todo = flow.settled(gpu, todo, blocks, how.decoding, shape)
            for _ in range(item.options.repeat - 1):
                for _ in flow.flow(gpu, todo, blocks(), how.decoding, shape, target):
                    gpu.finish()
        said: dict[str, None] = {}  # each block may say the same
        with (
            notes.to(said.setdefault),
            notes.summed(),
            Writing(item.output, picture.height, pool) as writing,
        ):
            for result in flow.flow(gpu, todo, blocks(count=todo.spreads), how.decoding, shape, target):
                writing.put(item.output.finished(result))
    for text in said:
        _note(item, text)
    writing.warn()
    item.warn_of_spread(todo.reach(gpu, shape) if todo.spreads else 0)


def _rows_in_memory(item: Item, todo: Plan, strips: files.Strips, shape: tuple[int, int, int]) -> int:
    """Returns how many rows may come and go at a time, as far as the host's memory is limited."""
    planes, height, width = shape
    memory, fmt, picture = item.options.memory, item.output.format, strips.picture
    if memory is None:
        return height
    shown = any(step.traits.display for step in todo.steps)
    made = planes * width * item.output.depth(display=shown).itemsize
    fixed = _CODECS
    if fmt.name not in BY_ROWS:
        fixed += 2 * height * made
    read = picture.pixels.nbytes // height
    most = (memory - fixed - _AT_ONCE * strips.least * read) // (_AT_ONCE * (read + made))
    if most < 1:
        needed = fixed + _AT_ONCE * ((strips.least + 1) * read + made)
        whole = "" if fmt.name in BY_ROWS else f", as {fmt} is written as a whole: PNG, TIFF and EXR are not"
        raise FileError(
            f"{item.path}: needs {needed / 1e6:.4g} MB of memory, and {memory / 1e6:.4g} MB are allowed{whole}: "
            f"raise --memory"
        )
    return int(most)


def _note(item: Item, text: str) -> None:
    """Passes on a note, which names a file, or comes from an operation, which knows none."""
    if any(text.startswith(f"{name}: ") for name in (item.path, item.output.path, "stdout")):
        notes.note(text)
    else:
        item.note(text)


def _shape(picture: files.Picture, how: How | None = None) -> tuple[int, int, int]:
    """Returns (planes, height, width)."""
    dropped = how is not None and how.drops_alpha
    return picture.channels - dropped, picture.height, picture.width


def ahead(
    pool: ThreadPoolExecutor, blocks: Iterator[np.ndarray[Any, Any]], item: Item
) -> Iterator[np.ndarray[Any, Any]]:
    """Gives blocks of rows of which a thread reads the next one meanwhile."""

    def read() -> Pending[np.ndarray[Any, Any] | None]:
        return Pending(pool, lambda: next(blocks, None))

    coming = read()
    while True:
        with item.gpu.phase("decode"):
            block = coming.result()
        if block is None:
            return
        coming = read()
        yield block


class Writing:
    """A result whose rows are written by a thread while the next ones are made: a context."""

    def __init__(self, output: Output, height: int, pool: ThreadPoolExecutor) -> None:
        self._output, self._height, self._pool = output, height, pool
        self._resources = ExitStack()
        self._last: Pending[None] | None = None
        self._lost = Losses()
        self._first: Finished | None = None

    def __enter__(self) -> Writing:
        return self

    def put(self, rows: Finished) -> None:
        """Writes rows, which follow those before."""
        if self._first is None:
            self._put = self._resources.enter_context(self._open(rows))
            self._first = rows._replace(pixels=rows.pixels[:0])
        self._lost = Losses(
            self._lost.clipped + rows.lost.clipped, self._lost.not_finite + rows.lost.not_finite
        )
        self._wait()
        self._last = Pending(self._pool, lambda: self._put(rows.pixels))

    def _open(self, rows: Finished) -> Any:
        output, (_, width, channels) = self._output, rows.pixels.shape
        path = output.path
        if path == STREAM:
            path = self._resources.enter_context(to_stream(sys.stdout.buffer, output.format.extension))
        header = rows.of.picture(files.unread((self._height, width, channels), rows.pixels.dtype))
        return files.writing(path, header, overwrite=output.options.overwrite)

    def _wait(self) -> None:
        if self._last is not None:
            with self._output.gpu.phase("encode"):
                self._last.result()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        if kind is None:
            try:
                self._wait()
            except BaseException:
                self._resources.__exit__(*sys.exc_info())
                raise
        with self._output.gpu.phase("encode"):
            return self._resources.__exit__(kind, error, trace)

    def warn(self) -> None:
        """Says what the result has lost."""
        assert self._first is not None
        self._output.warn(self._first._replace(lost=self._lost))
