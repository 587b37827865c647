"""Light for formats that have a largest value, and none below 0."""

from __future__ import annotations

import numpy as np

from .picture import Pixels

# The share of the brightest value below which negative values are only rounding.
_ROUNDING = 1e-6


def within(pixels: Pixels, largest: float) -> tuple[Pixels, list[str]]:
    """Floats limited to 0 … ``largest``, and a remark on each kind of values that have been changed.

    Values that are negative, but far below the rounding of the brightest one, become 0 without a word.
    """
    kept = np.clip(np.where(np.isnan(pixels), 0, pixels), 0, largest)
    if np.array_equal(kept, pixels):
        return pixels, []
    brightest = pixels.max(initial=0, where=np.isfinite(pixels))
    remarks = ["holds no negative values; they become 0"] * bool((pixels < -_ROUNDING * brightest).any())
    if np.isnan(pixels).any():
        remarks.append("holds no NaN; it becomes 0")
    if (pixels > largest).any():
        remarks.append(f"holds no values above {largest:.4g}; they become that")
    return kept, remarks
