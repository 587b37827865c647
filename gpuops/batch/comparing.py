"""Two files that are compared: as a whole, or by rows where memory, or the device, has no room for both."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from .. import files
from ..metrics.compare import difference
from ..metrics.pair import Pair
from ..metrics.variance import SUFFIX, beside
from .row_writer import RowWriter
from .side_by_side import TOGETHER, TwoFiles

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..metrics.band import Band
    from ..params.comparing import Comparing
    from ..params.thresholds import Thresholds
    from .access import Access
    from .job import Options
    from .output import Output

__all__ = ["TOGETHER", "opened", "write_difference"]


def opened(
    gpu: Gpu,
    pool: ThreadPoolExecutor,
    accesses: Sequence[Access],
    how: Comparing,
    thresholds: Thresholds,
    options: Options,
    output: Output | None = None,
) -> Pair:
    """Opens two files for figures, the reference first.

    ``accesses``: one for each file; they share the memory that is allowed, :data:`TOGETHER`. ``output``: where a
    picture of the difference is going. Threads of the pool read ahead while figures are measured.

    Raises FileError for files that cannot be read within the memory, ParameterError for pictures that cannot be
    compared.
    """
    with gpu.phase("decode"):
        found = [access.opened() for access in accesses]
        pictures = [one for one in found if isinstance(one, files.Picture)]
        if len(pictures) == TOGETHER:
            pair = Pair.of(gpu, pictures[1], pictures[0], how, beside(accesses[0].path, how.layer))
            if pair.fits(thresholds):
                return pair
    variance = accesses[0].path + SUFFIX if "z-test" in (*how.metrics, *thresholds.limits) else ""
    return TwoFiles.of(found, how, options, variance, output).pair(gpu, pool)


def write_difference(
    pair: Pair, pool: ThreadPoolExecutor, output: Output, gain: float, thresholds: Thresholds
) -> None:
    """Writes the picture of the difference; threads of the pool read ahead if it is made by rows."""

    def made(band: Band) -> Image:
        return difference(pair.gpu, *band.cut(0, 0).stored, gain)

    if pair.whole:
        with pair.needing(thresholds):
            output.save(made(next(pair.bands(()))), "uint8", display=True)
        return
    with RowWriter(output, pair.reference.height, pool) as writing:
        for band in pair.bands(()):
            writing.put(output.encoded(made(band), "uint8", display=True))
    writing.warn()
