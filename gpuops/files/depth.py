"""Conversion of samples of any number of bits to 8 or 16 bits."""

from __future__ import annotations

import numpy as np

from .picture import Pixels


def full_range(samples: Pixels, bits: int) -> Pixels:
    """Spreads samples v, 0 to 2^bits − 1, over the whole range of 8 bits (of 16 if there are more than 8)."""
    return spread(samples, 2**bits - 1)


def spread(samples: Pixels, largest: int) -> Pixels:
    """Spreads samples v, 0 to ``largest``, over the whole range of 8 bits (of 16 if it is more than 255).

    That is round(v · most / largest), where most is 255 or 65535.
    """
    kind, most = (np.dtype(np.uint8), 255) if largest < 256 else (np.dtype(np.uint16), 65535)
    if most == largest:
        return samples.astype(kind, copy=False)
    table: Pixels = np.rint(np.arange(largest + 1) * (most / largest)).astype(kind)
    return np.take(table, samples)
