"""What a TIFF directory says of its samples, beyond what the decoder tells.

Source: TIFF revision 6.0, sections 3 (BaselineTIFF) and 18 (Associated Alpha Handling).
"""

from __future__ import annotations

import struct

import numpy as np

from . import exif
from .picture import Pixels

_EXTRA_SAMPLES = 338
_GRAY = (0, 1)  # PhotometricInterpretation of gray, 0 white or black


def extra_samples(path: str, page: int) -> tuple[int, ...] | None:
    """What the tag ExtraSamples of a page says of the channels behind the colours, or None where there is no tag.

    0: unspecified, 1: associated alpha, 2: unassociated alpha. Also None where the directory is damaged.
    """
    try:
        with open(path, "rb") as file:
            entry = exif.entries_of_page(file, page).get(_EXTRA_SAMPLES)
    except (exif.MalformedError, struct.error):
        return None
    return tuple(entry.integers()) if entry else None


def colours(photometric: int, channels: int) -> int:
    """How many of the decoded channels are colours: the decoder makes RGB of all that is not gray."""
    return 1 if photometric in _GRAY or channels < 3 else 3


def full_range(pixels: Pixels, bits: int) -> Pixels:
    """Samples of fewer bits than their type has, over the type's whole range: v → round(v · most / (2^bits − 1)).

    The decoder rounds down, but the leading bits are the samples.
    """
    kind = pixels.dtype
    width = 8 * kind.itemsize
    if not width // 2 < bits < width:
        return pixels
    table: Pixels = np.rint(np.arange(2**bits) * (np.iinfo(kind).max / (2**bits - 1))).astype(kind)
    return np.take(table, pixels >> (width - bits))
