"""Samples of JPEG files of 8 bits by libjpeg-turbo: all of them, or a smaller picture.

A smaller picture is made of the lowest 4, 2 or 1 frequencies each way of every block of 8 × 8 samples (ITU-T T.81
A.3.3; libjpeg's jidctred.c).
"""

from __future__ import annotations

from pathlib import Path

from . import jpeg_segments
from .picture import Pixels

#: The names of samples by their channels.
_COLOURS = {1: "GRAY", 3: "RGB"}
#: By how much pictures are made smaller; and the least side of those for which each makes another size.
DIVISORS, LEAST = (8, 4, 2), 8


def divisor(most: int, height: int, width: int) -> int:
    """Returns by how much a picture of this size is made smaller, if that may be ``most``; 1 for not at all."""
    if min(height, width) < LEAST:
        return 1
    return next((by for by in DIVISORS if by <= most), 1)


def decoded(path: str, height: int, width: int, channels: int, by: int = 1) -> Pixels | None:
    """The samples (height, width, channels) of a file whose header says this size, rounded up where it is made smaller.

    None where another decoder may know more: of a file that is damaged, of unusual samples, or without loss, whose
    samples simplejpeg would write beyond the smaller picture's end.
    """
    import simplejpeg

    size = -(-height // by), -(-width // by)
    if channels not in _COLOURS or not jpeg_segments.is_of_cosines(path):
        return None
    try:
        pixels: Pixels = simplejpeg.decode_jpeg(
            Path(path).read_bytes(), _COLOURS[channels], min_height=size[0], min_width=size[1]
        )
    except ValueError:
        return None
    return pixels if pixels.shape == (*size, channels) else None
