"""The spectrum of a picture that comes by rows, written by rows: as numbers, or as a picture of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import FileError, ParameterError
from ..fourier import axes, record, spectrum
from ..image import COMPLEX_HALF, Image, Part
from ..params.fft import SpectrumParams
from ..pixels.coding import unpack
from ..tiles.rectangles import cut
from ..tiles.spool import Spool
from .read_ahead import rows_ahead
from .row_writer import RowWriter
from .spectra_by_rows import Sweeps

if TYPE_CHECKING:
    from .item import FileReading, Item

Array = npt.NDArray[Any]


def write_numbers(
    item: Item,
    strips: files.Strips,
    how: FileReading,
    sweeps: Sweeps,
    about: record.SpectrumRecord,
    program: str,
) -> None:
    """Writes the spectrum of a picture as numbers."""
    params, gpu = about.params, item.gpu
    with ExitStack() as stack:
        spool = sweeps.spool(stack)
        pool = stack.enter_context(ThreadPoolExecutor(2))  # which ends before the spool does

        def work(panel: Image, _plane: int, first: int) -> Array:
            return axes.of_columns(gpu, panel, first, sweeps.size, params).numpy()

        with item.naming(), gpu.phase("compute"):
            for _ in range(item.options.repeat):
                sweeps.fill(spool, pool, _planes(item, strips, how, sweeps.parts.rows, pool))
                sweeps.columns(spool, pool, about.size[0], work)
        rows = {name: _rows(item.path, spool, about, name) for name in about.names}
        with gpu.phase("encode"):
            item.output.save_data_rows(rows, about.attributes(program), sweeps.parts.rows)


def write_picture(
    item: Item,
    strips: files.Strips,
    how: FileReading,
    sweeps: Sweeps,
    params: SpectrumParams,
    view: str,
    depth: str,
) -> None:
    """Writes a picture of the spectrum of a picture's colours, in the ``depth``; floats are the numbers themselves."""
    half, gpu = sweeps.params, item.gpu
    rows, columns = sweeps.size
    middle = (rows // 2, columns // 2) if params.shift else (0, 0)
    with ExitStack() as stack:
        spool = sweeps.spool(stack)
        pool = stack.enter_context(ThreadPoolExecutor(2))  # which ends before the spool does
        sample: list[Array] = []
        every = spectrum.every(prod(spool.shape))

        def work(panel: Image, plane: int, first: int) -> Array:
            values = axes.of_columns(gpu, panel, first, sweeps.size, half)
            made = spectrum.viewed(gpu, values, view).numpy()
            sample.append(_sampled(made[0], plane, first, spool.shape, every))
            return made

        with item.naming(), gpu.phase("compute"):
            for _ in range(item.options.repeat):
                sample.clear()
                sweeps.fill(spool, pool, _planes(item, strips, how, sweeps.parts.rows, pool))
                sweeps.columns(spool, pool, strips.picture.height, work)
            is_picture = np.dtype(depth).kind != "f"
            levels = spectrum.levels(np.concatenate(sample), view) if is_picture else None
            with RowWriter(item.output, rows, pool) as writing:
                for at in spans(rows, rows - middle[0], max(1, sweeps.parts.rows // 2)):
                    half_view = gpu.array(_mirrored(spool, at))
                    image = spectrum.whole_view(gpu, half_view, columns, (0, middle[1]), view, levels)
                    count = at.stop - at.start
                    space, image = image.space, cut(image, (1, 0), (count, columns))
                    image.space = space
                    writing.put(item.output.encoded(image, depth, display=is_picture))
        writing.warn()


def sweeps_over(
    item: Item,
    strips: files.Strips,
    how: FileReading,
    params: SpectrumParams,
    planes: int,
    whole: float | None,
) -> tuple[files.Strips, Sweeps]:
    """Returns what is done by rows for so many ``planes``, and the rows: read anew, if memory has no room for a picture
    that is there. ``whole`` is as for :meth:`Sweeps.of`, which raises the same errors."""
    found = strips.picture
    beside = 2 if how.colour is not None else 0
    of = partial(
        Sweeps.of, item, (found.height, found.width, planes), found.pixels.nbytes // found.height, params,
        least=strips.least, beside=beside + found.channels - planes, whole=whole,
    )  # fmt: skip
    try:
        return strips, of(held=found.pixels.nbytes if strips.in_memory else 0)
    except FileError:
        anew = item.by_rows() if strips.in_memory else None
        if anew is None:
            raise
        return anew, of(least=anew.least)


def _planes(
    item: Item, strips: files.Strips, how: FileReading, rows: int, pool: ThreadPoolExecutor
) -> Iterator[Image]:
    """Gives the planes of a picture, some rows at a time."""
    for first, pixels in rows_ahead(item.gpu, pool, strips, rows):
        image = unpack(item.on_device(pixels, how), how.decoding)
        image.part = Part(first, strips.picture.height)
        yield image
        del image


def _rows(path: str, spool: Spool, about: record.SpectrumRecord, name: str) -> files.RowsOfArray:
    """Returns the rows of an array of a spectrum file: those of the spool, perhaps shifted, or their parts."""
    _, rows, columns = spool.shape
    shift = about.params.shift

    def blocks(count: int) -> Iterator[Array]:
        for plane in range(spool.shape[0]):
            for at in spans(rows, rows - rows // 2 if shift else 0, count):
                block = spool.rows(plane, at)
                if spool.dtype == COMPLEX_HALF:
                    block = block[name]
                    try:
                        record.check_halves(block)
                    except ParameterError as error:
                        raise FileError(f"{path}: {error}") from None
                if shift and not about.params.half:
                    block = np.roll(block, columns // 2, 1)
                yield block

    return files.RowsOfArray(about.shape, about.stored, blocks)


def spans(rows: int, first: int, count: int) -> Iterator[slice]:
    """Gives all of ``rows`` rows, ``count`` at most at a time, from ``first`` on; the first one follows the last."""
    for start, stop in ((first % rows, rows), (0, first % rows)):
        for at in range(start, stop, count):
            yield slice(at, min(at + count, stop))


def _sampled(made: Array, plane: int, first: int, shape: tuple[int, ...], every: int) -> Array:
    """Returns the sample of a panel's numbers by which black and white are chosen, as for the whole picture."""
    _, rows, columns = shape
    row = np.arange(len(made))
    # In each row the first number of the sample is where its place in the whole spectrum is a multiple of ``every``.
    before = -((plane * rows + row) * columns + first) % every
    if every == 1:
        return made.ravel()
    at = before[:, None] + np.arange(0, made.shape[1], every)
    inside = at < made.shape[1]
    found: Array = made[np.nonzero(inside)[0], at[inside]]
    return found


def _mirrored(spool: Spool, at: slice) -> Array:
    """Returns rows of half a view as rows 1, 2, … of one of odd height, whose last rows are their mirror images."""
    planes, rows, columns = spool.shape
    count = at.stop - at.start
    found = np.zeros((planes, 2 * count + 1, columns), np.float32)
    opposite = slice(rows - at.stop + 1, min(rows, rows - at.start + 1))
    for plane in range(planes):
        found[plane, 1 : count + 1] = spool.rows(plane, at).real
        found[plane, count + 1 : count + 1 + opposite.stop - opposite.start] = spool.rows(
            plane, opposite
        ).real
        if at.start == 0:  # row 0 is its own mirror image
            found[plane, -1] = found[plane, 1]
    return found
