"""Transforms, forward and inverse, that the device or memory has no room for: one axis after the other.

A first sweep transforms rows as they come, and a spool keeps them. A second sweep takes panels of columns from the
spool, transforms them, and puts them back. Then rows leave the spool: as numbers, or as a picture of them. An inverse
transform takes rows of a spectrum to the spool, transforms columns, and transforms rows as they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import FileError, ParameterError
from ..fourier import axes, record, spectrum
from ..fourier.axes import Parts, Shape, Size
from ..image import COMPLEX_HALF, Image, Part
from ..params.fft import SpectrumParams
from ..pixels.coding import losses, pack, unpack
from ..records import dataclass
from ..rows.budget import PANELS, SHARE, codecs, with_spools
from ..rows.spool import Spool, new_spool
from ..rows.threads import Writing, in_panels, read_ahead, rows_ahead
from ..tiles.rectangles import cut
from . import number_files
from .row_writer import RowWriter

if TYPE_CHECKING:
    from .item import FileReading, Item

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Sweeps:
    """The sweeps over a picture, or over a spectrum.

    Attributes
    ----------
    item : Item
    pixels : (height, width, channels)
        The picture's.
    params : SpectrumParams
    parts : Parts
        How much of each axis is worked on at a time.
    in_memory : bool
        Whether memory has room for the spectrum.
    """

    item: Item
    pixels: Shape
    params: SpectrumParams
    parts: Parts
    in_memory: bool

    @classmethod
    def of(
        cls,
        item: Item,
        pixels: Shape,
        row: int,
        params: SpectrumParams,
        *,
        least: int = 1,
        beside: int = 0,
        held: int = 0,
        whole: float | None = None,
    ) -> Sweeps:
        """Chooses the parts.

        Parameters
        ----------
        row
            Bytes of a row of the picture's file.
        least
            Rows of the file that come together.
        beside
            Planes that a conversion takes beside its rows.
        held
            Bytes of memory that are in use all the time.
        whole
            Bytes of memory with which the work would be done as a whole; None: with no number.

        Raises FileError if memory has no room for a row of the file and of the spectrum, or for a column, or for the
        spectrum, where there is no folder for that.
        """
        room = axes.parts(item.gpu, pixels, row, params, planes_beside=beside)
        size, itemsize = axes.padded(pixels, params), axes.stored(params).itemsize
        width, budget = axes.width(size, params), item.budget
        fixed = held + codecs(2) + PANELS * least * row
        of_row, of_column = PANELS * (row + pixels[2] * width * itemsize), PANELS * size[0] * itemsize
        spectrum = pixels[2] * size[0] * width * itemsize
        beside, with_spectrum = fixed + SHARE * max(of_row, of_column), fixed + with_spools(spectrum)
        needed = beside if item.options.scratch is not None else max(beside, with_spectrum)
        if not budget.has_room(needed):
            raise budget.refused(needed, whole, scratch=spectrum, beside=beside)
        memory = (budget.nbytes - fixed) // SHARE
        parts = Parts(min(room.rows, memory // of_row), min(room.columns, memory // of_column))
        return cls(item, pixels, params, parts, budget.has_room(with_spectrum))

    @property
    def size(self) -> Size:
        """The transform's (rows, columns)."""
        return axes.padded(self.pixels, self.params)

    @contextmanager
    def done(
        self,
        fill: Callable[[Spool, ThreadPoolExecutor], None],
        present: int,
        work: Callable[[Image, int, int], Array],
    ) -> Iterator[tuple[Spool, ThreadPoolExecutor]]:
        """Gives a spool in which columns are transformed, and the threads that read and write it.

        Parameters
        ----------
        fill
            Puts rows into the spool.
        present
            The rows that a panel of columns has then.
        work
            As for :func:`gpuops.rows.threads.in_panels`.
        """
        item, gpu = self.item, self.item.gpu
        shape = self.pixels[2], self.size[0], axes.width(self.size, self.params)

        with ExitStack() as stack:
            folder = None if self.in_memory else item.options.scratch
            spool = new_spool(stack, folder, shape, axes.stored(self.params), self.parts.columns)
            pool = stack.enter_context(ThreadPoolExecutor(2))  # which ends before the spool does
            with item.naming(), gpu.phase("compute"):
                for _ in range(item.options.repeat):
                    fill(spool, pool)
                    in_panels(gpu, spool, pool, shape[0], present, work)
                yield spool, pool


def write_numbers(
    strips: files.Strips, how: FileReading, sweeps: Sweeps, about: record.SpectrumRecord, program: str
) -> None:
    """Writes the spectrum of a picture as numbers."""
    item, gpu = sweeps.item, sweeps.item.gpu

    def work(panel: Image, _plane: int, first: int) -> Array:
        return axes.of_columns(gpu, panel, first, sweeps.size, about.params).numpy()

    with (
        sweeps.done(partial(_fill_with_rows, strips, how, sweeps), about.size[0], work) as (spool, _),
        gpu.phase("encode"),
    ):
        rows = {name: _rows(item.path, spool, about, name) for name in about.names}
        number_files.save_rows(item.output, rows, about.attributes(program), sweeps.parts.rows)


def write_picture(
    strips: files.Strips, how: FileReading, sweeps: Sweeps, params: SpectrumParams, view: str, depth: str
) -> None:
    """Writes a picture of the spectrum of a picture's colours, in the ``depth``; floats are the numbers themselves."""
    gpu, output = sweeps.item.gpu, sweeps.item.output
    rows, columns = sweeps.size
    middle = (rows // 2, columns // 2) if params.shift else (0, 0)
    shape = sweeps.pixels[2], rows, axes.width(sweeps.size, sweeps.params)
    every = spectrum.every(prod(shape))
    sample: list[Array] = []

    def fill(spool: Spool, pool: ThreadPoolExecutor) -> None:
        sample.clear()
        _fill_with_rows(strips, how, sweeps, spool, pool)

    def work(panel: Image, plane: int, first: int) -> Array:
        values = axes.of_columns(gpu, panel, first, sweeps.size, sweeps.params)
        made = spectrum.viewed(gpu, values, view).numpy()
        sample.append(_sampled(made[0], plane, first, shape, every))
        return made

    with sweeps.done(fill, strips.picture.height, work) as (spool, pool):
        is_picture = np.dtype(depth).kind != "f"
        levels = spectrum.levels(np.concatenate(sample), view) if is_picture else None
        with RowWriter(output, rows, pool) as writing:
            for at in spans(rows, rows - middle[0], max(1, sweeps.parts.rows // 2)):
                half_view = gpu.array(_mirrored(spool, at))
                image = spectrum.whole_view(gpu, half_view, columns, (0, middle[1]), view, levels)
                space, image = image.space, cut(image, (1, 0), (at.stop - at.start, columns))
                image.space = space
                writing.put(output.encoded(image, depth, display=is_picture))
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
    image = strips.picture
    beside = 2 if how.colour is not None else 0
    of = partial(
        Sweeps.of, item, (image.height, image.width, planes), image.pixels.nbytes // image.height, params,
        least=strips.least, beside=beside + image.channels - planes, whole=whole,
    )  # fmt: skip
    try:
        return strips, of(held=strips.held)
    except FileError:
        anew = item.by_rows() if strips.in_memory else None
        if anew is None:
            raise
        return anew, of(least=anew.least)


def _fill_with_rows(
    strips: files.Strips, how: FileReading, sweeps: Sweeps, spool: Spool, pool: ThreadPoolExecutor
) -> None:
    """Transforms the rows of a picture into a spool."""
    item, writing = sweeps.item, Writing(pool)
    for first, pixels in rows_ahead(item.gpu, pool, strips, sweeps.parts.rows):
        image = unpack(item.on_device(pixels, how), how.decoding)
        image.part = Part(first, strips.picture.height)
        values = axes.of_rows(item.gpu, image, sweeps.size, sweeps.params)
        del image
        writing.put(partial(spool.put_block, first, values.numpy()[: spool.shape[0]]))
        del values
    writing.wait()


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
    sample: Array = made[np.nonzero(inside)[0], at[inside]]
    return sample


def _mirrored(spool: Spool, at: slice) -> Array:
    """Returns rows of half a view as rows 1, 2, … of one of odd height, whose last rows are their mirror images."""
    planes, rows, columns = spool.shape
    count = at.stop - at.start
    block = np.zeros((planes, 2 * count + 1, columns), np.float32)
    opposite = slice(rows - at.stop + 1, min(rows, rows - at.start + 1))
    for plane in range(planes):
        block[plane, 1 : count + 1] = spool.rows(plane, at).real
        block[plane, count + 1 : count + 1 + opposite.stop - opposite.start] = spool.rows(
            plane, opposite
        ).real
        if at.start == 0:  # row 0 is its own mirror image
            block[plane, -1] = block[plane, 1]
    return block


def write_image(
    item: Item,
    arrays: Mapping[str, files.RowsOfArray],
    about: record.SpectrumRecord,
    params: SpectrumParams,
    *,
    alpha: bool,
    held: int,
    whole: float | None,
) -> None:
    """Writes the picture of a spectrum. ``held`` and ``whole`` are as for :meth:`Sweeps.of`."""
    gpu, output = item.gpu, item.output
    height, width = about.size
    planes = about.planes - (about.alpha and not alpha)
    encoding = output.encoding_of(about.dtype, linear=about.linear)
    sweeps = Sweeps.of(
        item,
        (height, width, planes),
        width * planes * encoding.dtype.itemsize,
        params,
        held=held,
        whole=whole,
    )
    step = sweeps.parts.rows

    def work(panel: Image, _plane: int, _first: int) -> Array:
        return axes.columns_back(gpu, panel, height, params).numpy()

    fill = partial(_fill_with_spectrum, item, arrays, about, step)
    with (
        sweeps.done(fill, about.transform[0], work) as (spool, pool),
        RowWriter(output, height, pool) as writing,
    ):
        for first in range(0, height, step):
            values = gpu.array(spool.block(slice(first, min(first + step, height))))
            image = axes.rows_back(gpu, values, about.transform[1], width, params, first=first, height=height)
            image.alpha = alpha
            pixels, lost = pack(image, encoding)
            del values, image
            writing.put(
                output.of_pixels(pixels.numpy(), losses(lost), about.dtype, linear=about.linear, alpha=alpha)
            )
    writing.warn()


def _fill_with_spectrum(
    item: Item,
    arrays: Mapping[str, files.RowsOfArray],
    about: record.SpectrumRecord,
    count: int,
    spool: Spool,
    pool: ThreadPoolExecutor,
) -> None:
    """Copies a spectrum to a spool, with frequency 0 first."""
    planes, rows, columns = spool.shape
    shift = about.params.shift
    at = 0
    for block in read_ahead(item.gpu, pool, _joined(item.path, arrays, about, count)):
        if shift and not about.params.half:
            block = np.roll(block, -(columns // 2), 1)
        plane, row = divmod(at, rows)
        first = (row - (rows // 2 if shift else 0)) % rows
        beyond = max(0, first + len(block) - rows)
        spool.put_rows(plane, first, block[: len(block) - beyond])
        if beyond:
            spool.put_rows(plane, 0, block[len(block) - beyond :])
        at += len(block)
        if at == planes * rows:
            return


def _joined(
    path: str, arrays: Mapping[str, files.RowsOfArray], about: record.SpectrumRecord, count: int
) -> Iterator[Array]:
    """Gives the rows of a spectrum file, whose real and imaginary parts may be apart. Raises FileError for values that
    are not finite."""
    for parts in zip(*(arrays[name].blocks(count) for name in about.names), strict=True):
        for part in parts:
            record.check_finite(path, part)
        if len(parts) == 1:
            yield parts[0]
        else:
            block = np.empty(parts[0].shape, COMPLEX_HALF)
            block["real"], block["imag"] = parts
            yield block
