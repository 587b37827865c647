"""A file's contents and the statistics of its values, as text for a person and as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..bench.report_formats import columns
from ..errors import json_values
from ..files import Format, Metadata, NamedArrays, Picture, exif, icc
from ..files.streams import printable
from ..metrics.reduction import BINS_PER_STOP, LOWEST_STOP
from ..metrics.statistics import Statistics
from ..pixels.colour import Colour
from .file_statistics import CHANNELS, Measured

#: The percentiles in the tables.
PERCENTS = (1, 10, 50, 90, 99)
#: The kinds of values, as headings name them.
_VALUES = {
    "linear": "linear light",
    "encoded": "stored values, sRGB-encoded",
    "stored": "stored values",
    "magnitude": "magnitudes",
}
#: The depths of pixels, as tables name them.
_DEPTHS = {"uint8": "8 bits", "uint16": "16 bits", "float16": "half", "float32": "float"}
#: Columns of a table, at most.
_BESIDE = 6
#: Characters of the longest bar.
_BAR = 50
#: Characters of an attribute's value, at most.
_LONGEST = 100


# -- what a file is ------------------------------------------------------------------------------------------


def as_json(
    path: str,
    fmt: Format,
    content: Picture | NamedArrays,
    measured: Mapping[str, Measured],
    *,
    histogram: bool = False,
) -> Any:
    """Returns the whole description; ``measured`` is keyed by arrays' names, a picture's by ""."""

    def statistics(name: str) -> dict[str, Any]:
        return {"statistics": _measured(measured[name], histogram)} if name in measured else {}

    metadata = _metadata(content.metadata, _profile(content))
    if isinstance(content, NamedArrays):
        arrays = {
            name: {"shape": array.shape, "dtype": array.dtype.name, **statistics(name)}
            for name, array in content.arrays.items()
        }
        body: dict[str, Any] = {"kind": "numbers", "arrays": arrays, "attributes": content.attributes}
        body |= {"colour": _colour(content.metadata.colour), "metadata": metadata}
    else:
        body = {
            "kind": "picture",
            "width": content.width,
            "height": content.height,
            "channels": CHANNELS[content.channels],
            "alpha": content.alpha,
            "associated": content.associated,
            "dtype": content.depth.name,
            "inks": "CMYK" if content.inks else None,
            "space": "linear" if content.linear else "encoded",
            "colour": _colour(content.colour),
            "layer": content.layer,
            "layers": content.layers,
            "metadata": metadata,
            **statistics(""),
        }
    return json_values({"path": printable(path), "format": str(fmt), **body}, lambda _: None)


def _colour(colour: Colour | None) -> dict[str, Any] | None:
    """Returns the names of the transfer and the primaries, and whether the range of codes is narrow (limited)."""
    if colour is None:
        return None
    return {"transfer": colour.transfer, "primaries": colour.primaries, "narrow_range": colour.narrow}


def _coloured(colour: Colour, *, gray: bool) -> str:
    """Returns the colour space in words; primaries are only named where they are not Rec. 709's."""
    primaries = "" if gray or colour.is_rec709 else f", {colour.primaries} primaries"
    transfer = "linear light" if colour.linear else f"{colour.transfer}-encoded"
    return f"{transfer}{primaries}{', narrow range' if colour.narrow else ''}"


def _profile(content: Picture | NamedArrays) -> bytes | None:
    """Returns a file's ICC profile. That of a file with inks is kept with the inks."""
    of_inks = content.inks if isinstance(content, Picture) else None
    return of_inks.profile if of_inks else content.metadata.icc


def _metadata(metadata: Metadata, profile: bytes | None) -> dict[str, Any]:
    """Returns the blocks' sizes in bytes (None for no block), the profile's name, resolution and EXR attributes."""
    blocks = {"icc": profile, "exif": metadata.exif, "xmp": metadata.xmp}
    return {
        "icc_description": icc.description(profile) if profile else None,
        **{name: len(block) if block else None for name, block in blocks.items()},
        "orientation": exif.orientation(metadata.exif) if metadata.exif else None,
        "resolution": metadata.resolution,
        "attributes": {name: _value(value) for name, value in metadata.attributes.items()},
    }


def _value(attribute: Any) -> Any:
    """Returns an EXR attribute's value without its type. Only the data window comes without a type."""
    typed = isinstance(attribute, tuple) and len(attribute) == 2 and isinstance(attribute[0], str)
    return attribute[1] if typed else attribute


def as_text(path: str, fmt: Format, content: Picture | NamedArrays) -> Iterator[str]:
    """Returns lines that describe a file."""
    if isinstance(content, NamedArrays):
        yield f"{path}: {fmt}, {_kind(content)}"
        rows = [
            (name, " × ".join(map(str, array.shape)) or "one value", array.dtype.name)
            for name, array in content.arrays.items()
        ]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
        for name, shape, dtype in rows:
            yield f"  {f'{name:<{widths[0]}}  ' if widths[0] else ''}{shape:<{widths[1]}}  {dtype}"
        for name, value in content.attributes.items():
            yield f"  {name}: {_shortened(value)}"
        if colour := content.metadata.colour:
            yield f"  of values that are {_coloured(colour, gray=False)}"
    else:
        colours = "CMYK" if content.inks else "RGB" if content.channels > 2 else "gray"
        alpha = " with associated alpha" if content.associated else " with alpha" if content.alpha else ""
        yield (
            f"{path}: {fmt}, {content.width} × {content.height}, {colours}{alpha}, "
            f"{_DEPTHS[content.depth.name]}, {_meaning(content)}"
        )
        if content.layers:
            others = ", ".join(name or "(unnamed)" for name in content.layers)
            yield f"  layers {others}; this is {content.layer or '(unnamed)'}"
    metadata = content.metadata
    if metadata.resolution:
        x, y, unit = metadata.resolution
        yield f"  resolution {x:g} × {y:g} pixels per {'inch' if unit == 'in' else unit}"
    for name, block in (("ICC profile", _profile(content)), ("EXIF", metadata.exif), ("XMP", metadata.xmp)):
        if block:
            turned = exif.orientation(block) if name == "EXIF" else 1
            called = icc.description(block) if name == "ICC profile" else ""
            title = f"{name} “{_shortened(called)}”" if called else name
            yield f"  {title}, {len(block)} bytes{f', orientation {turned}' if turned != 1 else ''}"
    for name, value in metadata.attributes.items():
        yield f"  {name}: {_shortened(_value(value))}"


def _meaning(content: Picture) -> str:
    """Returns what a picture's values are, in words."""
    if content.inks:
        return "as its profile says" if content.inks.profile else "without a profile"
    return _coloured(content.colour, gray=content.channels < 3)


def _kind(content: NamedArrays) -> str:
    if content.attributes.get("kind") == "spectrum":
        return "a spectrum"
    return "wavelet coefficients" if content.attributes.get("transform") == "dwt" else "numbers"


def _shortened(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# -- statistics ----------------------------------------------------------------------------------------------


def figures(s: Statistics) -> dict[str, Any]:
    """Returns statistics by their names."""
    percentiles = {percent: s.percentile(percent) for percent in PERCENTS}
    low, high = percentiles[PERCENTS[0]], percentiles[PERCENTS[-1]]
    return {
        "count": s.count,
        "finite": s.finite,
        "nan": s.nan,
        "infinite": s.infinite,
        "negative": s.negative,
        "zero": s.finite - s.positive - s.negative,
        "minimum": s.minimum,
        "maximum": s.maximum,
        "mean": s.mean,
        "log_mean": s.log_mean,
        "percentiles": percentiles,
        "dynamic_range": math.log2(high / low) if low > 0 else math.nan,
        "sum": s.sum,
        "log2_sum": s.log2_sum if s.positive else math.nan,
    }


def _measured(measured: Measured, histogram: bool) -> dict[str, Any]:
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
        found = [figures(s) for _, s in part]
        for values in found:
            values |= {str(percent): value for percent, value in values.pop("percentiles").items()}
        rows = [(label, *(_figure(values[key]) for values in found)) for key, label in _ROWS.items()]
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
