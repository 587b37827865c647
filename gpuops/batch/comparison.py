"""Two files that are compared: as a whole, or by rows where memory, or the device, has no room for both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import files
from ..gpu import Gpu
from ..image import Image
from ..metrics import variance as variances
from ..metrics.band import Band
from ..metrics.compare import difference
from ..metrics.pair import Pair
from ..metrics.room import fits, host_rows
from ..notes import note
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from ..rows.budget import Budget, TooLittleMemory, written_whole
from .access import Access
from .options import Options
from .row_writer import RowWriter

if TYPE_CHECKING:
    from .output import Output

# Rows that are read at a time if only a mask is read.
_ROWS = 256
#: How many files share the memory that is allowed.
TOGETHER = 2


def opened(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    accesses: Sequence[Access],
    how: Comparing,
    thresholds: Thresholds,
    output: Output | None = None,
) -> Pair:
    """Opens two files for figures, the reference first, and the variance beside it, if there is one.

    ``accesses``: one for each file; they share the memory that is allowed, :data:`TOGETHER`. The rest is as for
    :func:`paired`. Raises FileError for files that cannot be read within the memory.
    """
    budget = replace(accesses[0].budget, name=" and ".join(access.budget.name for access in accesses))
    with gpu.phase("decode"):
        inputs = _all_opened(gpu, accesses, budget, how, thresholds, output is not None)
        variance = accesses[0].path + variances.SUFFIX
        return paired(gpu, pool, inputs, budget, how, thresholds, variance, output)


def paired(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    inputs: Sequence[files.Strips],
    budget: Budget,
    how: Comparing,
    thresholds: Thresholds,
    variance: str,
    output: Output | None = None,
) -> Pair:
    """Returns two files that are opened, the reference first, for figures.

    ``variance``: the file of the reference's variance, which need not exist. ``output``: where a picture of the
    difference is going. Threads of the pool read ahead while figures are measured.

    Raises FileError for files that have no room in the memory, ParameterError for pictures that cannot be compared.
    """
    pictures = [one.picture for one in inputs if one.in_memory]

    def access(path: str, layer: str | None = None) -> Access:
        return Access(path, Options(layer=layer, memory=budget.memory), among=budget.among)

    mask = None if how.mask is None else access(how.mask).rows()
    if len(pictures) == TOGETHER:
        if mask is None:
            known = variances.read(variance, how.layer) if variance and os.path.isfile(variance) else None
            pair = Pair.of(gpu, pictures[1], pictures[0], how, known)
            if fits(gpu, pictures, pair.on_bands(thresholds)):
                return pair
        budget = replace(budget, memory=None)  # they are in memory already

    def rows_of(path: str, layer: str | None = None) -> files.Strips:
        file = access(path, layer)
        strips = file.by_rows() or file.opened()
        return strips if len(pictures) == TOGETHER else strips.tell()  # it was read, and told, above

    reference, result = (one.tell() for one in inputs)
    of_variance = None
    if "z-test" in (*how.metrics, *thresholds.limits) and os.path.isfile(variance):
        rows = rows_of(variance, how.layer)
        of_variance = variances.of_picture(variance, rows.picture), rows
    if how.mask is not None:
        mask = rows_of(how.mask) if mask is None else mask.tell()
    written = output is not None
    pair = Pair(gpu, how, (reference, result), mask, of_variance, budget, pool, written)
    if output is not None and budget.memory is not None and (why := written_whole([output.format])):
        raise budget.refused(pair.whole_bytes, why=why)
    return pair


def _all_opened(
    gpu: Gpu,
    accesses: Sequence[Access],
    budget: Budget,
    how: Comparing,
    thresholds: Thresholds,
    written: bool,
) -> list[files.Strips]:
    """Opens all files. Raises FileError with the memory that they need together if one of them has no room."""
    inputs: list[files.Strips] = []
    refused: list[TooLittleMemory] = []
    for access in accesses:
        try:
            inputs.append(access.opened())
            if inputs[-1].picture.metadata.gain and how.layer is None:
                note(f"{access.path}: is compared without its gain map (--layer hdr applies it)")
        except TooLittleMemory as error:
            refused.append(error)
    if not refused:
        if all(one.in_memory for one in inputs):
            return inputs
        return [_by_rows(one, access) for one, access in zip(inputs, accesses, strict=True)]
    whole = least = max(one.needed for one in refused)
    by_rows = None
    for rows in inputs:
        picture = rows.picture
        whole = max(whole, budget.whole(picture.pixels.nbytes))
        if not rows.in_memory:  # the other one has its size, or there is nothing to compare
            alone = replace(how, mask=None, ignore=())
            figures = Pair(gpu, alone, (rows, rows)).on_bands(thresholds)
            of_both = host_rows(picture, [rows], figures, written=written, more=int(least / budget.whole(1)))
            by_rows = max(least, of_both.fixed_bytes + of_both.unit * of_both.bytes_per_row)
    raise refused[0].budget.refused(whole, by_rows, what=refused[0].what)


def _by_rows(file: files.Strips, access: Access) -> files.Strips:
    """Returns the rows of a file beside one that has no room, so that the memory which is needed does not depend on how
    much is allowed."""
    rows = access.by_rows() if file.in_memory else None
    return file if rows is None else replace(rows, said=())  # which was said when it was read


def write_difference(pair: Pair, pool: ThreadPoolExecutor, output: Output, gain: float) -> None:
    """Writes the picture of the difference; threads of the pool read ahead if it is made by rows."""

    def made(band: Band) -> Image:
        return difference(pair.gpu, *band.cut(0, 0).stored, gain)

    if pair.whole:
        output.write(output.encoded(made(next(pair.bands(()))), "uint8", display=True))
        return
    with RowWriter(output, pair.reference.height, pool) as writing:
        for band in pair.bands(()):
            writing.put(output.encoded(made(band), "uint8", display=True))
    writing.warn()
