"""The inverse transform of a spectrum by rows: the picture is written by rows, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import files
from ..fourier import axes, record
from ..image import COMPLEX_HALF, Image
from ..params.fft import SpectrumParams
from ..pixels.coding import losses, pack
from ..rows.spool import Spool
from ..rows.threads import read_ahead
from .row_writer import RowWriter
from .spectra_by_rows import Sweeps

if TYPE_CHECKING:
    from .item import Item

Array = npt.NDArray[Any]


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

    with ExitStack() as stack:
        spool = sweeps.spool(stack)
        pool = stack.enter_context(ThreadPoolExecutor(2))  # which ends before the spool does
        with item.naming(), gpu.phase("compute"):
            for _ in range(item.options.repeat):
                _fill(item, arrays, about, spool, pool, step)
                sweeps.columns(spool, pool, about.transform[0], work)
            with RowWriter(output, height, pool) as writing:
                for first in range(0, height, step):
                    at = slice(first, min(first + step, height))
                    values = gpu.array(spool.block(at))
                    image = axes.rows_back(
                        gpu, values, about.transform[1], width, params, first=first, height=height
                    )
                    image.alpha = alpha
                    pixels, lost = pack(image, encoding)
                    del values, image
                    writing.put(
                        output.of_pixels(
                            pixels.numpy(), losses(lost), about.dtype, linear=about.linear, alpha=alpha
                        )
                    )
        writing.warn()


def _fill(
    item: Item,
    arrays: Mapping[str, files.RowsOfArray],
    about: record.SpectrumRecord,
    spool: Spool,
    pool: ThreadPoolExecutor,
    count: int,
) -> None:
    """Copies a spectrum to a spool, with frequency 0 first."""
    planes, rows, columns = spool.shape
    shift = about.params.shift
    plane = row = 0
    for block in read_ahead(item.gpu, pool, _joined(item.path, arrays, about, count)):
        if shift and not about.params.half:
            block = np.roll(block, -(columns // 2), 1)
        first = (row - (rows // 2 if shift else 0)) % rows
        beyond = max(0, first + len(block) - rows)
        spool.put_rows(plane, first, block[: len(block) - beyond])
        if beyond:
            spool.put_rows(plane, 0, block[len(block) - beyond :])
        row += len(block)
        if row == rows:
            plane, row = plane + 1, 0
            if plane == planes:
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
