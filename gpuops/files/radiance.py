"""Radiance pictures: what OpenImageIO does not decode, or not to the last bit.

A pixel is (r, g, b, e), which means (r, g, b) · 2^(e − 136), and black where e is 0. Rows are stored plainly, or each
component of a row in runs. Before 1991 equal pixels were stored in runs: (1, 1, 1, n) repeats the pixel before it
n times, and the next one, if it is such too, 256 n times.
Source: Greg Ward, Real Pixels (Graphics Gems II); Radiance's file formats (picture files).
"""

from __future__ import annotations

import numpy as np

from ..errors import FileError
from .picture import Pixels

_LONGEST_LINE = 1 << 12
_SHORTEST_ROW, _LONGEST_ROW = 8, 0x7FFF  # pixels of rows that may be stored by components
_BIAS = 136


def read_by_pixels(path: str) -> Pixels | None:
    """A picture whose rows are not stored by components, (rows, pixels, 3) as they lie in the file; else None."""
    with open(path, "rb") as file:
        while file.readline(_LONGEST_LINE).strip():
            pass
        axes = file.readline(_LONGEST_LINE).split()
        if len(axes) != 4 or not (axes[1].isdigit() and axes[3].isdigit()):
            return None
        rows, length = int(axes[1]), int(axes[3])
        start = file.tell()
        head = file.read(4)
        if _SHORTEST_ROW <= length <= _LONGEST_ROW and head[:2] == b"\2\2" and head[2:3] < b"\x80":
            return None
        file.seek(start)
        data = np.frombuffer(file.read(4 * rows * length), np.uint8)
    stored = data[: data.size // 4 * 4].reshape(-1, 4)
    runs = (stored[:, :3] == 1).all(1)
    if runs.any():
        stored = _without_runs(stored, runs, rows * length)
    if len(stored) != rows * length:
        raise FileError(f"{path}: could not be read: the file is cut off or damaged (too few pixels)")
    return _values(stored).reshape(rows, length, 3)


def _without_runs(stored: Pixels, runs: Pixels, most: int) -> Pixels:
    """Each pixel as often as the runs after it say; `most` pixels at most."""
    index = np.arange(len(stored))
    pixel = np.maximum.accumulate(np.where(runs, -1, index))  # the last one that is none of a run
    place = np.minimum(index - pixel - 1, 3)  # of a run among those that follow each other
    times = np.where(runs, stored[:, 3].astype(np.int64) << 8 * np.maximum(place, 0), 1)
    times[pixel < 0] = 0
    ends = np.cumsum(times)
    times = np.clip(most - (ends - times), 0, times)
    repeated: Pixels = np.repeat(stored[pixel], times, axis=0)
    return repeated


def _values(stored: Pixels) -> Pixels:
    exponent = stored[:, 3:].astype(np.int32) - _BIAS
    values: Pixels = np.ldexp(stored[:, :3].astype(np.float32), exponent)
    values[stored[:, 3] == 0] = 0
    return values


def exact(pixels: Pixels) -> Pixels:
    """Decoded values with their 8 significant bits alone: some of the decoder's powers of 2 end with a wrong bit."""
    bits = pixels.view(np.uint32)
    rounded = bits + np.uint32(0x8000) & np.uint32(0xFFFF0000)
    np.copyto(bits, rounded, where=pixels >= np.finfo(np.float32).tiny)
    return pixels
