"""Two files that are compared: as a whole, or by rows where memory, or the device, has no room for both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import files
from ..metrics import variance as variances
from ..metrics.compare import difference
from ..metrics.pair import Pair
from ..metrics.rows.room import HostRows, fits
from ..rows.budget import Budget, TooLittleMemory
from .row_writer import RowWriter
from .side_by_side import TOGETHER, TwoFiles

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..metrics.band import Band
    from ..params.comparing import Comparing
    from ..params.thresholds import Thresholds
    from .access import Access
    from .output import Output

__all__ = ["TOGETHER", "opened", "write_difference"]


def opened(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    accesses: Sequence[Access],
    how: Comparing,
    thresholds: Thresholds,
    output: Output | None = None,
    variance: str | None = None,
) -> Pair:
    """Opens two files for figures, the reference first.

    ``accesses``: one for each file; they share the memory that is allowed, :data:`TOGETHER`. ``output``: where a
    picture of the difference is going. ``variance``: the file of the reference's variance; "" if it has none, and by
    default the one beside it. Threads of the pool read ahead while figures are measured.

    Raises FileError for files that cannot be read within the memory, ParameterError for pictures that cannot be
    compared.
    """
    budget = replace(accesses[0].budget, name=" and ".join(access.budget.name for access in accesses))
    path = accesses[0].path + variances.SUFFIX if variance is None else variance
    with gpu.phase("decode"):
        found = _all_opened(gpu, accesses, budget, how, thresholds, output is not None)
        pictures = [one for one in found if isinstance(one, files.Picture)]
        if len(pictures) == TOGETHER:
            known = variances.read(path, how.layer) if os.path.isfile(path) else None
            pair = Pair.of(gpu, pictures[1], pictures[0], how, known)
            if fits(gpu, pictures, pair.on_bands(thresholds)):
                return pair
    needed = path if "z-test" in (*how.metrics, *thresholds.limits) else ""
    return TwoFiles.of(found, how, budget, needed, output).pair(gpu, pool)


def _all_opened(
    gpu: Gpu,
    accesses: Sequence[Access],
    budget: Budget,
    how: Comparing,
    thresholds: Thresholds,
    written: bool,
) -> list[files.Picture | files.Strips]:
    """Opens all files. Raises FileError with the memory that they need together if one of them has no room."""
    found: list[files.Picture | files.Strips] = []
    refused: list[TooLittleMemory] = []
    for access in accesses:
        try:
            found.append(access.opened())
        except TooLittleMemory as error:
            refused.append(error)
    if not refused:
        return found
    whole = least = max(one.needed for one in refused)
    by_rows = None
    for one in found:
        rows = one if isinstance(one, files.Strips) else files.Strips.of(one)
        picture, nbytes = rows.picture, rows.picture.pixels.nbytes
        whole = max(whole, budget.whole(nbytes))
        if not rows.in_memory:  # the other one has its size, or there is nothing to compare
            figures = Pair(gpu, how, picture, picture).on_bands(thresholds)
            together = nbytes + int(least / budget.whole(1))
            of_both = HostRows.of(picture, together, figures, least=rows.least, written=written)
            by_rows = max(least, of_both.needed)
    raise refused[0].budget.refused(whole, by_rows, what=refused[0].what)


def write_difference(pair: Pair, pool: ThreadPoolExecutor, output: Output, gain: float) -> None:
    """Writes the picture of the difference; threads of the pool read ahead if it is made by rows."""

    def made(band: Band) -> Image:
        return difference(pair.gpu, *band.cut(0, 0).stored, gain)

    if pair.whole:
        output.save(made(next(pair.bands(()))), "uint8", display=True)
        return
    with RowWriter(output, pair.reference.height, pool) as writing:
        for band in pair.bands(()):
            writing.put(output.encoded(made(band), "uint8", display=True))
    writing.warn()
