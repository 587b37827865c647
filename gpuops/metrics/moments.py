"""How the kernels that stand on moments.cl divide images among groups: strips of columns, cut into bands of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..gpu import Kernel, Local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..gpu import Define, Gpu
    from ..image import Image

# Means of a, b, a² + b² and (a − b)², as in moments.cl.
_QUANTITIES = 4
# Columns of a strip, at most: what a group keeps of them takes less than 32 KB.
_STRIP = 128
# Rows of a band: another window's rows are read beside them.
_BAND = 64


def kernel_of(gpu: Gpu, sources: Sequence[str], name: str, taps: int, **defines: Define) -> Kernel:
    """Returns a kernel of files that stand after moments.cl, for windows of ``taps`` × ``taps`` values."""
    return gpu.kernel(
        ("lanes", "sums", "moments", *sources), name, TAPS=taps, WIDTH=gpu.limits.lanes, **defines
    )


def table_of(gpu: Gpu, weights: Sequence[float]) -> Image:
    """Returns the weights of an axis twice, as kernels want them."""
    return gpu.kept(("moments", tuple(weights)), lambda: gpu.array(np.array([*weights] * 2, np.float32)))


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
    def of(cls, gpu: Gpu, kernel: Kernel, taps: int, planes: int, rows: int, columns: int) -> MomentGroups:
        """A CPU's groups have one work-item, whose vectors take the whole strip; others have one for each column."""
        lanes = gpu.limits.lanes
        items = kernel.fit(_STRIP)[0] if lanes == 1 else 1
        strip = items if lanes == 1 else _STRIP
        length = -(-(strip + taps - 1) // lanes) * lanes
        bands, strips = -(-rows // _BAND), -(-columns // strip)
        quantities = 4 * _QUANTITIES  # bytes of a column
        return cls(
            groups=(bands, strips),
            size=(strips * items, bands, planes),
            local=(items, 1, 1),
            numbers=(strip, length, _BAND),
            memory=(Local(2 * quantities * length), Local(taps * quantities * strip), Local(8 * items)),
        )
