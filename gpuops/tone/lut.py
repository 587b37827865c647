"""Colour tables (LUTs): tone mapping by a table in place of an operator. Nothing here needs OpenCL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Define, Gpu
    from ..image import Image
    from ..params.lut import LutParams
    from ..pixels.coding import Decoding, Encoding

Table = npt.NDArray[np.float32]
Triple = tuple[float, float, float]

# The least and the largest size of tables of one and of three dimensions, as the specification says.
SIZES = {1: (2, 65536), 3: (2, 256)}


@dataclass(frozen=True, eq=False)
class Lut:
    """A colour table, to be interpolated between its entries.

    Attributes
    ----------
    table : float32 array
        (n, n, n, 3): table[blue, green, red] is the colour for these indices. Or (n, 3): a curve for each channel;
        table[i] has the new red, green and blue for the index i.
    low, high : three floats each
        The domain: the values that the first and the last index of red, green and blue stand for. Colours beyond are
        clamped.
    title : str
    shaper : Lut, optional
        Curves that colours go through first, before a table of colours.

    Raises
    ------
    ParameterError
        Another shape; fewer than two entries along an axis, or more than 256 (65536 for curves); values that are not
        finite; a domain that does not go up; a shaper that is no curves, or before curves.
    """

    table: Table
    low: Triple = (0.0, 0.0, 0.0)
    high: Triple = (1.0, 1.0, 1.0)
    title: str = ""
    shaper: Lut | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", np.array(self.table, np.float32, order="C"))
        self.table.setflags(write=False)
        shape, sides = self.table.shape, self.table.shape[:-1]
        if len(sides) not in SIZES or shape[-1] != 3 or len(set(sides)) > 1:
            raise ParameterError(f"a colour table is (n, n, n, 3), or (n, 3) for curves, not {shape}")
        least, most = SIZES[len(sides)]
        if not least <= self.size <= most:
            raise ParameterError(f"a colour table has {least} … {most} entries an axis, not {self.size}")
        if not np.isfinite(self.table).all():
            raise ParameterError("a colour table with values that are not finite")
        if not all(abs(limit) < 2.0**60 for limit in (*self.low, *self.high)):  # false for NaN, too
            raise ParameterError("a colour table's domain must be finite")
        if not all(high - low > 2.0**-60 for low, high in zip(self.low, self.high, strict=True)):
            raise ParameterError(f"a colour table's domain must go up, not from {self.low} to {self.high}")
        if self.shaper is not None and (self.curves or self.shaper.shaper or not self.shaper.curves):
            raise ParameterError("a shaper is curves, before a table of colours")

    @property
    def size(self) -> int:
        """The number of entries along an axis."""
        return len(self.table)

    @property
    def curves(self) -> bool:
        """Whether the table is a curve for each channel rather than a table of colours."""
        return self.table.ndim == 2


def stages(params: LutParams) -> Table:
    """Returns the shaper, if there is one, and the table as clkernels/tone/lut.cl takes them: float32 (entries, 4)."""
    start, end = params.stops or (0.0, 1.0)
    parts = []
    for lut in filter(None, (params.table.shaper, params.table)):
        low, high = (np.array(limit) * (end - start) + start for limit in (lut.low, lut.high))
        start, end = 0.0, 1.0
        part = np.zeros((2 + lut.table.size // 3, 4), np.float32)
        part[0] = *(lut.size - 1) / (high - low), lut.size
        part[1, :3] = -low * (lut.size - 1) / (high - low)
        part[2:, :3] = lut.table.reshape(-1, 3)
        parts.append(part)
    return np.concatenate(parts)


def in_signals(
    params: LutParams,
    transfer: str,
    decoding: Decoding | None,
    encoding: Encoding | None,
    *,
    as_it_is: bool,
    colours: int,
) -> tuple[LutParams, str, Decoding | None, Encoding | None]:
    """Returns the same tone mapping without needless conversions to light and back.

    They are needless where a table takes the signal that a file holds, or gives the one that is wanted. ``as_it_is``:
    light is not changed before the table.
    """
    as_stored = decoding is not None and decoding.linearise and not decoding.premultiply
    if params.input == "srgb" and decoding and as_stored and as_it_is:
        params, decoding = replace(params, input="linear"), replace(decoding, linearise=False)
    if params.output == "srgb" and colours == 3:  # gray is the luminance of light
        if transfer == "srgb":
            params, transfer = replace(params, output="linear"), "linear"
        elif transfer == "linear" and encoding and encoding.encode and not encoding.unpremultiply:
            params, encoding = replace(params, output="linear"), replace(encoding, encode=False)
    return params, transfer, decoding, encoding


def on_device(gpu: Gpu, params: LutParams) -> Image:
    """Returns :func:`stages` on the device, where they are kept."""
    return gpu.kept(("lut", params), lambda: gpu.array(stages(params)))


def defines(params: LutParams) -> dict[str, Define]:
    """Returns the defines that choose the branches of clkernels/tone/lut.cl."""
    return {
        "LUT": True, "LUT_CURVES": params.table.curves or params.table.shaper is not None,
        "LUT_CUBE": not params.table.curves, "LUT_SRGB": params.input == "srgb",
        "LUT_REINHARD": params.input == "reinhard", "LUT_LOG2": params.input == "log2",
        "LUT_DECODE": params.output == "srgb",
    }  # fmt: skip
