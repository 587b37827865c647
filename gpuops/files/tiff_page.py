"""Statements of a TIFF directory on its samples, beyond what the decoder tells.

Source: TIFF revision 6.0, sections 3 (BaselineTIFF) and 18 (Associated Alpha Handling).
"""

from __future__ import annotations

import struct

from . import depth
from .picture import Pixels

# The tag ExtraSamples.
_EXTRA_SAMPLES = 338
# The values of PhotometricInterpretation of gray, 0 white or black.
_GRAY = (0, 1)


def extra_samples(path: str, page: int) -> tuple[int, ...] | None:
    """The tag ExtraSamples of a page, which tells of the channels behind the colours, or None where there is no tag.

    0: unspecified, 1: associated alpha, 2: unassociated alpha. Also None where the directory is damaged.
    """
    from . import tiff_structure

    try:
        with open(path, "rb") as file:
            entry = tiff_structure.entries_of_page(file, page).get(_EXTRA_SAMPLES)
    except (tiff_structure.MalformedError, struct.error):
        return None
    return tuple(entry.integers()) if entry else None


def colours(photometric: int, channels: int) -> int:
    """Returns how many of the decoded channels are colours: the decoder makes RGB of all that is not gray."""
    return 1 if photometric in _GRAY or channels < 3 else 3


def full_range(pixels: Pixels, bits: int) -> Pixels:
    """Spreads samples of a few bits, as the decoder gives them, over the whole range of their type.

    The decoder rounds down; but its leading bits are the samples.
    """
    width = 8 * pixels.dtype.itemsize
    return depth.full_range(pixels >> (width - bits), bits) if width // 2 < bits < width else pixels
