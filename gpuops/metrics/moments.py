"""How the kernels that stand on moments.cl divide images among groups: strips of columns, cut into bands of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..gpu import Define, Gpu, Kernel, Local
from ..image import Image
from ..records import dataclass

# Lines of a set, as in moments.cl.
_LINES = 6
# Columns that a group reads, at most: what it keeps of them takes less than 32 KB.
_COLUMNS = 128
# Rows of a band: another window's rows are read beside them.
_BAND = 64


def kernel_of(gpu: Gpu, sources: Sequence[str], name: str, taps: int, **defines: Define) -> Kernel:
    """Returns a kernel of files that stand after moments.cl, for windows of ``taps`` × ``taps`` values."""
    return gpu.kernel(
        ("lanes", "sums", "moments", *sources), name, TAPS=taps, WIDTH=gpu.limits.lanes, **defines
    )


def table_of(gpu: Gpu, weights: Sequence[float]) -> Image:
    """Returns the weights of an axis as float32, of which the one in the middle makes their sum 1."""

    def table() -> Image:
        taps = np.array(weights, np.float32)
        taps[taps.size // 2] += 1 - taps.sum(dtype=np.float64)
        return gpu.array(taps)

    return gpu.kept(("moments", tuple(weights)), table)


def totals(gpu: Gpu, groups: Sequence[Image]) -> list[npt.NDArray[np.float64]]:
    """Returns sums of all groups, in double precision, of the sums (planes, groups, n, 2) of each with rounding errors.

    All are read at once.
    """
    arrays = [np.empty(each.shape, np.float32) for each in groups]
    gpu.read(groups, arrays)
    return [each.sum((1, 3), np.float64) for each in arrays]


@dataclass(frozen=True)
class MomentGroups:
    """How groups share ``rows`` × ``columns`` results of each plane.

    Attributes
    ----------
    groups
        Numbers of bands and strips.
    size, local
        Of the launch.
    numbers
        The arguments ``strip``, ``length`` and ``band``.
    memory
        The last arguments: the kernel's local memory.
    """

    groups: tuple[int, int]
    size: tuple[int, int, int]
    local: tuple[int, int, int]
    numbers: tuple[int, int, int]
    memory: tuple[Local, Local, Local]

    @classmethod
    def of(
        cls, gpu: Gpu, kernel: Kernel, taps: int, planes: int, rows: int, columns: int, *, low: bool = False
    ) -> MomentGroups:
        """A CPU's groups have one work-item, whose vectors take the whole strip; others have one for each column.

        ``low``: whether values are sums of two floats.
        """
        lanes = gpu.limits.lanes
        columns_read = kernel.fit(_COLUMNS)[0] if lanes == 1 else _COLUMNS
        items = columns_read if lanes == 1 else 1
        strip = max(columns_read - taps + 1, (columns_read + 1) // 2)
        length = (-(-(strip + taps - 1) // lanes) + 1) * lanes  # steps go to the column after the last one
        bands, strips = -(-rows // _BAND), -(-columns // strip)
        return cls(
            groups=(bands, strips),
            size=(strips * items, bands, planes),
            local=(items, 1, 1),
            numbers=(strip, length, _BAND),
            memory=(
                Local(4 * 2 * _LINES * length),
                Local(4 * (4 if low else 2) * taps * length),
                Local(8 * items),
            ),
        )
