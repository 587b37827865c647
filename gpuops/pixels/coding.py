"""A file's interleaved pixels (height, width, channels) and planar light (channels, height, width), on the device.

On the host there are pixels of the file's own depth only; they are converted on the device, by kernels of their own or
by those of an operation that reads and writes pixels itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import PIXEL_TYPE_NAMES, PIXEL_TYPES, Image
from ..params.dither import Dither
from .curves import SRGB_CURVE
from .pointwise import each

if TYPE_CHECKING:
    from ..gpu import Define, Gpu

Array = npt.NDArray[np.generic]

# What reports call the launch that unpacks pixels of a type.
_UNPACK = {dtype: f"unpack {dtype}" for dtype in PIXEL_TYPES}


class Losses(NamedTuple):
    """The numbers of values that a conversion to a narrower type clipped, and that were not finite."""

    clipped: int = 0
    not_finite: int = 0


@dataclass(frozen=True)
class Decoding:
    """The conversion from pixels to light.

    Attributes
    ----------
    alpha : bool
        The last channel is straight (unassociated) alpha.
    linearise, encode : bool
        Decode colours from sRGB (IEC 61966-2-1) to linear light, or encode them; alpha stays.
    premultiply : bool
        Multiply colours by alpha, after decoding.
    scale : float, optional
        The factor that values are multiplied by first. The default is 1 / their largest value for integers, else 1.
    """

    alpha: bool = False
    linearise: bool = False
    encode: bool = False
    premultiply: bool = False
    scale: float | None = None

    def defines(self, pixels: Image) -> dict[str, Define]:
        """Returns decode.cl's defines for ``pixels`` (height, width, channels)."""
        channels, by_table = pixels.shape[2], self._by_table(pixels)
        return {
            "PIXEL": PIXEL_TYPES[pixels.dtype], "CHANNELS": channels, "COLOURS": channels - self.alpha,
            "HALF": pixels.dtype == np.float16, "TABLE": by_table, "LINEARISE": self.linearise and not by_table,
            "ENCODE": self.encode, "UNSCALED": self._scale(pixels) == 1.0,
            "PREMULTIPLY": self.alpha and self.premultiply,
        }  # fmt: skip

    def arguments(self, pixels: Image) -> tuple[Image | None, float]:
        """Returns the table and the scale that decode.cl takes."""
        gpu, table = pixels.gpu, None
        if self._by_table(pixels):
            dtype = pixels.dtype
            table = gpu.kept(("light", dtype), lambda: gpu.array(_light_of_codes(dtype)))
        return table, self._scale(pixels)

    def of_codes(self, pixels: Image) -> npt.NDArray[np.float32] | None:
        """Returns the values (channels, 256) of the codes of 8 bits; None if a value is not of one code alone."""
        by_formula = self.encode or (self.linearise and not self._by_table(pixels))
        if pixels.dtype != np.uint8 or by_formula or (self.alpha and self.premultiply):
            return None
        values = np.tile(
            np.arange(256, dtype=np.float32) * np.float32(self._scale(pixels)), (pixels.shape[2], 1)
        )
        if self.linearise:
            values[: pixels.shape[2] - self.alpha] = _light_of_codes(pixels.dtype)
        return values

    def _scale(self, pixels: Image) -> float:
        return 1.0 / _largest(pixels.dtype) if self.scale is None else self.scale

    def _by_table(self, pixels: Image) -> bool:
        return self.linearise and pixels.dtype.kind == "u" and self.scale is None


@dataclass(frozen=True)
class Encoding:
    """The conversion from light to pixels of ``dtype``.

    Integers are rounded to nearest and clipped to [0, 1] × their maximum; NaN becomes 0. Half clips finite values
    to ±65504; float keeps everything. ``encode`` applies the sRGB curve to the colours first,
    ``linearise`` its inverse; ``unpremultiply`` divides them by alpha before either (where alpha is 0 the
    premultiplied colour stands). ``dither`` adds noise to colours before they are rounded to integers, in :func:`each`
    alone; values within 2**-18 of their range of a code become that code. ``scale``: what integers are multiplied by in
    place of their maximum, in :func:`each` alone.
    """

    dtype: np.dtype[np.generic]
    encode: bool = False
    linearise: bool = False
    unpremultiply: bool = False
    dither: Dither | None = None
    scale: float | None = None

    def defines(self, channels: int, *, alpha: bool) -> dict[str, Define]:
        """Returns the defines of encode.cl."""
        by_table = self._by_table
        return {
            "PIXEL": PIXEL_TYPES[self.dtype], "MAXIMUM": _largest(self.dtype) if self.dtype.kind == "u" else None,
            "LEVEL_OF_1": self._level_of_1, "CHANNELS": channels,
            "COLOURS": channels - alpha, "HALF": self.dtype == np.float16, "CODE_TABLE": by_table,
            "TO_SRGB": self.encode and not by_table, "TO_LINEAR": self.linearise,
            "UNPREMULTIPLY": alpha and self.unpremultiply,
        }  # fmt: skip

    @property
    def _level_of_1(self) -> str | None:
        """The scale of integers as a literal of single precision."""
        return None if self.scale is None or self.dtype.kind != "u" else f"{float(np.float32(self.scale))!r}f"

    def undoes(self, decoding: Decoding, dtype: npt.DTypeLike) -> bool:
        """Says whether this encoding gives pixels of ``dtype`` back as they were before ``decoding``."""
        same = (self.encode, self.linearise) == (decoding.linearise, decoding.encode)
        return same and self.dtype == dtype and decoding.scale is None and not decoding.premultiply

    def codes(self, gpu: Gpu) -> Image | None:
        """Returns the table that encode.cl takes, if it takes one."""
        return gpu.kept("codes", lambda: gpu.array(_codes_of_light())) if self._by_table else None

    @property
    def _by_table(self) -> bool:
        return self.encode and self.dtype == np.uint8 and self.dither is None


def unpack(pixels: Image, decoding: Decoding) -> Image:
    """Pixels (height, width, channels) on the device → planar float32 Image."""
    image, _ = each(pixels.gpu, pixels, decoding=decoding, label=_UNPACK[pixels.dtype])
    image.linear = decoding.linearise
    return image


def pack(image: Image, encoding: Encoding) -> tuple[Image, Image]:
    """Returns an Image's pixels (height, width, channels) on the device, and counters as in encode.cl."""
    image.check_planar()
    pixels, lost = each(image.gpu, image, encoding=encoding, label=f"pack {encoding.dtype}")
    assert lost is not None
    return pixels, lost


def losses(lost: Image) -> Losses:
    """Reads the counters of :func:`pack`."""
    return Losses(*lost.numpy().tolist())


def with_losses(pixels: Image, lost: Image) -> tuple[Array, Losses]:
    """Reads pixels and the counters of :func:`pack` at once: it takes a while to begin a transfer, and to await it."""
    values, counts = np.empty(pixels.shape, pixels.dtype), np.empty(lost.shape, lost.dtype)
    pixels.gpu.read([pixels, lost], [values, counts])
    return values, Losses(*counts.tolist())


def on_device(gpu: Gpu, pixels: Array) -> Image:
    """Copies pixels (height, width, channels) of uint8, uint16, float16 or float32 to the device as they are."""
    if pixels.ndim != 3 or pixels.dtype.newbyteorder("=") not in PIXEL_TYPES:
        raise ParameterError(
            f"pixels must be (height, width, channels) of {', '.join(PIXEL_TYPE_NAMES)}, "
            f"not {pixels.shape} {pixels.dtype}"
        )
    return gpu.array(pixels)


def upload(
    gpu: Gpu,
    pixels: Array,
    *,
    alpha: bool = False,
    linearise: bool = False,
    encode: bool = False,
    premultiply: bool = False,
    scale: float | None = None,
) -> Image:
    """Pixels of uint8, uint16, float16 or float32 → planar float32 Image; as :class:`Decoding` says."""
    return unpack(on_device(gpu, pixels), Decoding(alpha, linearise, encode, premultiply, scale))


def download(
    image: Image,
    dtype: npt.DTypeLike,
    *,
    encode: bool = False,
    linearise: bool = False,
    unpremultiply: bool = False,
) -> tuple[Array, Losses]:
    """Returns pixels of ``dtype`` of a planar float32 Image, as :class:`Encoding` says, and what did not fit."""
    return with_losses(*pack(image, Encoding(np.dtype(dtype), encode, linearise, unpremultiply)))


def _largest(dtype: np.dtype[np.generic]) -> int:
    return (1 << 8 * dtype.itemsize) - 1 if dtype.kind == "u" else 1


@cache
def _light_of_codes(dtype: np.dtype[np.generic]) -> npt.NDArray[np.float32]:
    """Linear light of every code, computed in float64 (IEC 61966-2-1)."""
    maximum = _largest(dtype)
    return SRGB_CURVE.light(np.arange(maximum + 1) / maximum).astype(np.float32)


@cache
def _codes_of_light() -> npt.NDArray[np.uint32]:
    """The table of srgb_code in colour.cl."""
    first, full = (int(np.float32(v).view(np.uint32)) for v in (2.0**-13, 1.0045))
    starts = np.arange(first, full + 1, 1 << 16)
    # The light at which codes step up to 1 … 255.
    steps = SRGB_CURVE.light((np.arange(1, 256) - 0.5) / 255).astype(np.float32)
    codes = np.searchsorted(steps, starts.astype(np.uint32).view(np.float32), side="right")
    table = (codes << 16) - (starts - first)
    bucket, place = np.divmod(steps.view(np.uint32).astype(np.int64) - first, 1 << 16)
    inside = place > 0  # the others are at their bucket's start
    table[bucket[inside]] += (1 << 16) - place[inside]
    return np.append(table, -(len(table) << 16)).astype(np.uint32)
