"""The statistics of files' values: as a whole, or by rows where memory has no room for it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from .. import files, notes
from ..errors import FileError, byte_count
from ..gpu import Gpu
from ..metrics.statistics import Statistics, all_statistics, channel_statistics
from ..pixels.coding import Decoding
from ..pixels.colour import SRGB
from ..pixels.light import readable
from ..rows.budget import BLOCKS, Budget, codecs
from ..rows.threads import rows_ahead
from ..tiles.memory import MOST_PIXELS, no_room
from .contents import CHANNELS
from .options import Options

# The types whose values float32 holds.
_FLOATS = ("bool", "int8", "uint8", "int16", "uint16", "float16", "float32", "complex64")
# Bytes of rows from which on more at a time are no faster.
_ENOUGH = 1 << 24
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


def measured(gpu: Gpu, path: str, content: files.Picture | files.Strips, options: Options) -> Measured:
    """Returns the statistics of a picture, by rows if they come so or the device has no room for all of them."""
    if isinstance(content, files.Picture):
        if _rows_in(gpu, content) >= content.height:
            return _of_picture(gpu, content, options)
        content = files.Strips.of(content)
    rows = _rows_at_a_time(gpu, content.picture)
    if options.memory is not None and not content.in_memory:
        rows = min(rows, _in_memory(Budget(path, options.memory), content))
    with ThreadPoolExecutor(1) as pool:
        parts = rows_ahead(gpu, pool, content, rows)
        pictures = (replace(content.picture, pixels=pixels) for _, pixels in parts)
        return reduce(add, (_of_picture(gpu, part, options) for part in pictures))


def _in_memory(budget: Budget, content: files.Strips) -> int:
    """Returns how many rows the host's memory has room for."""
    nbytes = content.picture.pixels.nbytes
    each = BLOCKS * nbytes // content.picture.height
    return budget.rows(codecs(1) + content.least * each, each, 1, budget.whole(nbytes))


def _of_picture(gpu: Gpu, content: files.Picture, options: Options) -> Measured:
    """Measures linear Rec. 709 light, encoded values if the options say so, or data, and alpha unless it is dropped."""
    space, alpha, data = options.space, options.alpha, content.colour.data
    if data or (space == "encoded" and not content.linear):
        values = "encoded" if content.colour == SRGB else "stored"
        pixels = content.pixels if alpha or not content.alpha else content.pixels[..., :-1]
        decoding = Decoding(alpha and content.alpha, scale=1.0 if data else None)
        luminance, each = all_statistics(gpu, pixels, decoding=decoding)
    else:
        values = "linear"
        image, decoding = readable(gpu, content, linear=True, alpha=alpha)
        luminance, each = all_statistics(gpu, image, decoding=decoding)
    return Measured(values, dict(zip(CHANNELS[len(each)], each, strict=True)), luminance)


def _rows_at_a_time(gpu: Gpu, content: files.Picture) -> int:
    """Returns how many rows of a picture to measure at a time, where not all are measured at once.

    Raises DeviceError if the device has no room for any.
    """
    row = content.pixels.nbytes // content.height
    most = _rows_in(gpu, content) // _SPARE
    if most < 1:
        raise no_room(gpu, f"a row of {content.width} pixels needs", _TABLES + _SPARE * row)
    return min(most, max(1, _ENOUGH // row))


def _rows_in(gpu: Gpu, content: files.Picture) -> int:
    """Returns how many rows of a picture the device has room for."""
    row, width, limits = content.pixels.nbytes // content.height, content.width, gpu.limits
    largest = row
    if content.metadata.colour is not None:  # light is made of it first
        largest = max(row, 4 * width * content.channels)
        row += largest
    return min(
        (limits.global_bytes - _TABLES) // row, limits.max_alloc_bytes // largest, MOST_PIXELS // width
    )


def numbers(gpu: Gpu, path: str, content: files.NamedArrays) -> dict[str, Measured]:
    """Returns statistics of each array's planes, as they are stored; arrays without any numbers are left out."""
    if not content.kept:
        needed = sum(array.size * array.itemsize for array in content.arrays.values())
        raise FileError(
            f"{path}: measuring its arrays takes {byte_count(needed, up=True)} of memory: raise --memory"
        )
    result = {}
    for name, array in content.arrays.items():
        if array.size == 0 or array.dtype.kind not in "buifc":
            continue
        if array.dtype.name not in _FLOATS:
            which = f"{name!r} is" if name else "is"
            notes.note(f"{path}: {which} {array.dtype} and measured as float")
        planes = content.planes(name)
        complex_ = np.iscomplexobj(planes)
        with np.errstate(over="ignore"):  # values beyond float's range become infinite
            values = (np.abs(planes) if complex_ else planes).astype(np.float32)
        channels = channel_statistics(gpu, values)
        result[name] = Measured(
            "magnitude" if complex_ else "stored", {str(i): s for i, s in enumerate(channels)}
        )
    return result
