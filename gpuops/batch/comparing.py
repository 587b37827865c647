"""Two files that are compared: as a whole, or by rows where memory, or the device, has no room for both."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import files
from ..metrics.both import Both
from ..metrics.compare import difference
from ..metrics.measure import Pair, measure, wanted
from ..metrics.rows.joined import needing_both, parts_of
from ..metrics.rows.pair import ByRows
from ..metrics.rows.room import fits
from ..metrics.variance import SUFFIX, beside
from .side_by_side import TOGETHER, TwoFiles

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..params.comparing import Comparing, MeasuredPair
    from ..params.thresholds import Thresholds
    from .access import Access
    from .job import Options
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
        with self._needing(thresholds):
            return measure(self.pair, thresholds)

    def _needing(self, thresholds: Thresholds) -> AbstractContextManager[None]:
        if not isinstance(self.pair, Both):
            return nullcontext()
        return needing_both(self.gpu, (self.reference, self.result), self.pair.how, thresholds)

    def write_difference(
        self, pool: ThreadPoolExecutor, output: Output, gain: float, thresholds: Thresholds
    ) -> None:
        """Writes the picture of the difference; threads of the pool read ahead if it is made by rows."""
        if isinstance(self.pair, Both):
            with self._needing(thresholds):
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
    options: Options,
    output: Output | None = None,
) -> Comparison:
    """Opens two files for figures, the reference first.

    ``accesses``: one for each file; they share the memory that is allowed, :data:`TOGETHER`. ``output``: where a
    picture of the difference is going. Threads of the pool read ahead while figures are measured.

    Raises FileError for files that cannot be read within the memory, ParameterError for pictures that cannot be
    compared.
    """
    with gpu.phase("decode"):
        found = [access.opened() for access in accesses]
        if not _by_rows(gpu, found, how, thresholds):
            reference, result = (
                access.whole(one, "this comparison") if isinstance(one, files.Strips) else one
                for access, one in zip(accesses, found, strict=True)
            )
            both = Both(gpu, result, reference, how, beside(accesses[0].path, how.layer))
            return Comparison(gpu, both, reference, result)
    variance = accesses[0].path + SUFFIX if "z-test" in wanted(how, thresholds) else ""
    rows = TwoFiles.of(found, how, options, variance, output)
    return Comparison(gpu, rows.pair(gpu, pool), *rows.pictures, rows)


def _by_rows(
    gpu: Gpu, found: Sequence[files.Picture | files.Strips], how: Comparing, thresholds: Thresholds
) -> bool:
    """Says whether pictures that were opened are compared by rows."""
    if any(isinstance(one, files.Strips) for one in found):
        return True
    reference, result = (one for one in found if isinstance(one, files.Picture))
    parts, _ = parts_of(gpu, (reference, result), how, thresholds, 1)
    return not fits(gpu, (reference, result), parts.values())
