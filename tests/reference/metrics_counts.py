"""The counts of differences by numpy in float64; only the difference itself is rounded to float32."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuops.metrics.counts import Threshold


def figures(
    a: np.ndarray, b: np.ndarray, thresholds: Sequence[Threshold], shown: np.ndarray | None = None
) -> dict[str, Any]:
    """The fields of Counts of two (channels, rows, columns) of float32, where ``shown`` is not 0."""
    shown = np.ones(a.shape[1:], bool) if shown is None else shown != 0
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(a - b).astype(np.float64)
        wide = np.abs(a.astype(np.float64) - b)
        relative = wide / np.where(
            a == b, 1, (np.abs(a.astype(np.float64)) + np.abs(b.astype(np.float64))) / 2
        )
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | ~shown
    infinite = ~same & ~(np.isfinite(a) & np.isfinite(b))
    finite = ~same & ~infinite
    bad = [
        (finite & (error > np.float32(t.absolute)) & (relative > np.float32(t.relative))).any(0)
        for t in thresholds
    ]
    unlike = infinite & (np.isfinite(a) | np.isfinite(b)) & ~(np.isnan(a) | np.isnan(b))
    largest = np.where(same, 0, np.where(infinite, np.inf, error))
    row, column = np.unravel_index(largest.max(0).argmax(), shown.shape)
    channel = int(largest[:, row, column].argmax())
    values = int(shown.sum()) * len(a)
    mean = wide[finite].sum() / max(values, 1)
    rms = np.sqrt((wide[finite] ** 2).sum() / max(values, 1))
    return {
        "pixels": int(shown.sum()),
        "values": values,
        "differing": int((~same).sum()),
        "max": largest.max(),
        "worst": (int(row), int(column), channel, a[channel, row, column], b[channel, row, column]),
        "mean": np.inf if infinite.any() else mean,
        "rms": np.inf if infinite.any() else rms,
        "bad": tuple(int((one | infinite.any(0)).sum()) for one in bad),
        "finite_bad": tuple(int(one.sum()) for one in bad),
        "infinity_bad": tuple(int((unlike.any(0) & ~one).sum()) for one in bad),
        "finite_max": np.where(finite, error, 0).max(),
        "finite_mean": mean,
        "finite_rms": rms,
        "infinite_pixels": int(infinite.any(0).sum()),
        "infinite_values": int(infinite.sum()),
        "opposite_infinities": int((infinite & np.isinf(a) & np.isinf(b)).sum()),
    }
