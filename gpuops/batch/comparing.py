"""Two files that are compared: as a whole, or by rows where memory, or the device, has no room for both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import files
from ..metrics import variance as variances
from ..metrics.both import Both
from ..metrics.compare import difference
from ..metrics.measure import Pair, measure, wanted
from ..metrics.rows.joined import parts_of
from ..metrics.rows.pair import ByRows
from ..metrics.rows.room import HostRows, fits
from ..rows.budget import Budget, TooLittleMemory
from .side_by_side import TOGETHER, TwoFiles

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.comparing import Comparing, MeasuredPair
    from ..params.thresholds import Thresholds
    from .access import Access
    from .output import Output

__all__ = ["TOGETHER", "Comparison", "opened"]


@dataclass(frozen=True)
class Comparison:
    """Two files, ready to be measured.

    Attributes
    ----------
    pair : Pair
        What :func:`gpuops.metrics.measure.measure` takes.
    reference, result : Picture
        The pictures; those that come by rows without their pixels.
    """

    gpu: Gpu
    pair: Pair
    reference: files.Picture
    result: files.Picture
    _files: TwoFiles | None = None

    def measured(self, thresholds: Thresholds) -> MeasuredPair:
        """Returns the figures and the verdict."""
        return measure(self.pair, thresholds)

    def write_difference(self, pool: ThreadPoolExecutor, output: Output, gain: float) -> None:
        """Writes the picture of the difference; threads of the pool read ahead if it is made by rows."""
        if isinstance(self.pair, Both):
            output.save(difference(self.gpu, *self.pair.stored, gain), "uint8", display=True)
        else:
            assert self._files is not None and isinstance(self.pair, ByRows)
            self._files.write_difference(self.gpu, pool, self.pair, gain)


def opened(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    accesses: Sequence[Access],
    how: Comparing,
    thresholds: Thresholds,
    output: Output | None = None,
    variance: str | None = None,
) -> Comparison:
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
        if not _by_rows(gpu, found, how, thresholds):
            reference, result = (one for one in found if isinstance(one, files.Picture))
            known = variances.read(path, how.layer) if os.path.isfile(path) else None
            both = Both(gpu, result, reference, how, known)
            return Comparison(gpu, both, reference, result)
    rows = TwoFiles.of(found, how, budget, path if "z-test" in wanted(how, thresholds) else "", output)
    return Comparison(gpu, rows.pair(gpu, pool), *rows.pictures, rows)


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
            parts = parts_of(gpu, (picture, picture), how, thresholds, 1)[0].values()
            together = nbytes + int(least / budget.whole(1))
            of_both = HostRows.of(picture, together, parts, least=rows.least, written=written)
            by_rows = max(least, of_both.needed)
    raise refused[0].budget.refused(whole, by_rows, what=refused[0].what)


def _by_rows(
    gpu: Gpu, found: Sequence[files.Picture | files.Strips], how: Comparing, thresholds: Thresholds
) -> bool:
    """Says whether pictures that were opened are compared by rows."""
    if any(isinstance(one, files.Strips) for one in found):
        return True
    reference, result = (one for one in found if isinstance(one, files.Picture))
    parts, _ = parts_of(gpu, (reference, result), how, thresholds, 1)
    return not fits(gpu, (reference, result), parts.values())
