"""The statistics of a file's values, as text for a person and as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..bench.report_formats import columns
from ..metrics.reduction import BINS_PER_STOP, LOWEST_STOP
from ..metrics.statistics import Statistics
from .file_statistics import Measured

#: The percentiles in the tables.
PERCENTS = (1, 10, 50, 90, 99)
#: The kinds of values, as headings name them.
_VALUES = {
    "linear": "linear light",
    "encoded": "stored values, sRGB-encoded",
    "stored": "stored values",
    "magnitude": "magnitudes",
}
#: Columns of a table, at most.
_BESIDE = 6
#: Characters of the longest bar.
_BAR = 50


def figures(s: Statistics) -> dict[str, Any]:
    """Returns statistics by their names."""
    percentiles = {percent: s.percentile(percent) for percent in PERCENTS}
    low, high = percentiles[PERCENTS[0]], percentiles[PERCENTS[-1]]
    return {
        **{name: getattr(s, name) for name in ("count", "finite", "nan", "infinite", "negative")},
        "zero": s.finite - s.positive - s.negative,
        **{name: getattr(s, name) for name in ("minimum", "maximum", "mean", "log_mean")},
        "percentiles": percentiles,
        "dynamic_range": math.log2(high / low) if low > 0 else math.nan,
        "sum": s.sum,
        "log2_sum": s.log2_sum if s.positive else math.nan,
    }


def flat_figures(s: Statistics) -> dict[str, Any]:
    """Returns statistics by their names, percentiles by their numbers."""
    values = figures(s)
    return values | {str(percent): value for percent, value in values.pop("percentiles").items()}


def as_json(measured: Measured, *, histogram: bool = False) -> dict[str, Any]:
    """Returns all statistics of a picture, or of an array, as plain values."""
    bins = {"lowest_stop": LOWEST_STOP, "bins_per_stop": BINS_PER_STOP}

    def all_of(s: Statistics) -> dict[str, Any]:
        return figures(s) | ({"histogram": {**bins, "counts": s.histogram}} if histogram else {})

    return {
        "values": measured.values,
        "luminance": all_of(measured.luminance) if measured.luminance else None,
        "channels": {name: all_of(s) for name, s in measured.channels.items()},
    }


#: The rows of the table, and their headings.
_ROWS = {
    "count": "values",
    "nan": "NaN",
    "infinite": "infinite",
    "negative": "negative",
    "zero": "zero or subnormal",
    "minimum": "minimum",
    "maximum": "maximum",
    "mean": "mean",
    "sum": "sum",
    "log_mean": "log mean *",
    **{str(percent): f"{percent} % below *" for percent in PERCENTS},
    "dynamic_range": f"stops between {PERCENTS[0]} and {PERCENTS[-1]} %",
    "log2_sum": "sum of log2 *",
}
#: The meaning of the tables' asterisks.
NOTE = f"  * of the positive values; percentiles are within 1/{BINS_PER_STOP} of a stop"


def table(measured: Measured, name: str = "") -> Iterator[str]:
    """Yields lines of a table with a column for luminance and one for each channel; many columns are split."""
    what = f"{name}: {_VALUES[measured.values]}" if name else _VALUES[measured.values]
    sets = list(measured.all.items())
    for first in range(0, len(sets), _BESIDE):
        part = sets[first : first + _BESIDE]
        numbers = [flat_figures(s) for _, s in part]
        rows = [(label, *(_figure(values[key]) for values in numbers)) for key, label in _ROWS.items()]
        yield from (f"  {line}" for line in columns((what, *(title for title, _ in part)), rows))


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else str(value) if isinstance(value, int) else f"{value:.6g}"


def chart(measured: Measured) -> Iterator[str]:
    """Returns a bar for each stop from the darkest to the brightest positive value, of luminance if there is one."""
    sets = {"luminance": measured.luminance} if measured.luminance else measured.channels
    for name, s in sets.items():
        stops = s.histogram.reshape(-1, BINS_PER_STOP).sum(axis=1, dtype=np.int64)
        lit = np.flatnonzero(stops)
        if not len(lit):
            yield f"  {name}: no positive values"
            continue
        yield f"  {name}, from 2^stop on: share of the positive values"
        for stop in range(lit[0], lit[-1] + 1):
            bar = "█" * round(_BAR * stops[stop] / stops.max())
            yield f"  {stop + LOWEST_STOP:>4} {stops[stop] / stops.sum():8.3%} {bar}".rstrip()
