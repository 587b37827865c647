"""Statistics of a file's values, measured on the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..files import NamedArrays, Picture
from ..gpu import Gpu
from ..notes import note
from ..pixels.coding import Decoding
from ..pixels.colour import SRGB
from ..pixels.light import readable
from ..tiles.memory import MOST_PIXELS, no_room
from .statistics import Statistics, all_statistics, channel_statistics

# The names of channels, by their number.
CHANNELS = {1: ("Y",), 2: ("Y", "A"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "A")}
# The types whose values float32 holds.
_FLOATS = ("bool", "int8", "uint8", "int16", "uint16", "float16", "float32", "complex64")
# Bytes of rows from which on more at a time are no faster.
_ENOUGH = 1 << 25
# Bytes of tables, sums and histograms that the device has beside rows.
_TABLES = 1 << 19
# The share of the rows that the device has room for which come at a time: the pool rounds up, and sums need a little.
_SPARE = 2


@dataclass(frozen=True)
class Measured:
    """Statistics of a picture, or of an array.

    Attributes
    ----------
    values
        What was measured: "linear" light, sRGB-"encoded" or other "stored" values, or complex numbers' "magnitude".
    channels
        By channels' names, or planes' numbers.
    luminance
        Of gray or RGB; gray's is that of its one channel.
    """

    values: str
    channels: Mapping[str, Statistics]
    luminance: Statistics | None = None

    @property
    def all(self) -> dict[str, Statistics]:
        """Returns the channels, and luminance where it is not one of them."""
        if self.luminance is None or "Y" in self.channels:
            return dict(self.channels)
        return {"luminance": self.luminance, **self.channels}

    def __add__(self, other: Measured) -> Measured:
        """Returns the statistics of two pictures of one kind together, such as rows and those below."""
        luminance = None
        if self.luminance is not None and other.luminance is not None:
            luminance = self.luminance + other.luminance
        return Measured(
            self.values, {name: of + other.channels[name] for name, of in self.channels.items()}, luminance
        )


def picture(gpu: Gpu, content: Picture, space: str = "auto", *, alpha: bool = True) -> Measured:
    """Measures linear Rec. 709 light, or encoded values if ``space`` says so, and alpha if ``alpha`` is set."""
    if space == "encoded" and not content.linear:
        values = "encoded" if content.colour == SRGB else "stored"
        pixels = content.pixels if alpha or not content.alpha else content.pixels[..., :-1]
        luminance, each = all_statistics(gpu, pixels, decoding=Decoding(alpha and content.alpha))
    else:
        values = "linear"
        image, decoding = readable(gpu, content, linear=True, alpha=alpha)
        luminance, each = all_statistics(gpu, image, decoding=decoding)
    return Measured(values, dict(zip(CHANNELS[len(each)], each, strict=True)), luminance)


def fits(gpu: Gpu, content: Picture) -> bool:
    """Says whether the device has room for all of a picture."""
    return _rows(gpu, content) >= content.height


def rows_at_a_time(gpu: Gpu, content: Picture) -> int:
    """Returns how many rows of a picture to measure at a time, where not all are measured at once.

    Raises DeviceError if the device has no room for any.
    """
    row = content.pixels.nbytes // content.height
    most = _rows(gpu, content) // _SPARE
    if most < 1:
        raise no_room(gpu, f"a row of {content.width} pixels needs", _TABLES + _SPARE * row)
    return min(most, max(1, _ENOUGH // row))


def _rows(gpu: Gpu, content: Picture) -> int:
    """Returns how many rows of a picture the device has room for."""
    row, width, limits = content.pixels.nbytes // content.height, content.width, gpu.limits
    largest = row
    if content.metadata.colour is not None:  # light is made of it first
        largest = max(row, 4 * width * content.channels)
        row += largest
    return min(
        (limits.global_bytes - _TABLES) // row, limits.max_alloc_bytes // largest, MOST_PIXELS // width
    )


def numbers(gpu: Gpu, path: str, content: NamedArrays) -> dict[str, Measured]:
    """Returns statistics of each array's planes, as they are stored; arrays without any numbers are left out."""
    result = {}
    for name, array in content.arrays.items():
        if array.size == 0 or array.dtype.kind not in "buifc":
            continue
        if array.dtype.name not in _FLOATS:
            which = f"{name!r} is" if name else "is"
            note(f"{path}: {which} {array.dtype} and measured as float")
        planes = content.planes(name)
        complex_ = np.iscomplexobj(planes)
        with np.errstate(over="ignore"):  # values beyond float's range become infinite
            values = (np.abs(planes) if complex_ else planes).astype(np.float32)
        found = channel_statistics(gpu, values)
        result[name] = Measured(
            "magnitude" if complex_ else "stored", {str(i): s for i, s in enumerate(found)}
        )
    return result
