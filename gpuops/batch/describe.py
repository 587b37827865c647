"""A file's contents and the statistics of its values, as text for a person and as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import plan
from ..bench.report_formats import columns
from ..errors import byte_count, json_values, visible
from ..files import Format, Metadata, NamedArrays, Picture, exif, icc, photograph
from ..files.streams import printable
from ..gpu import Gpu
from ..metrics.reduction import BINS_PER_STOP, LOWEST_STOP
from ..metrics.statistics import Statistics
from ..params.files import STREAM
from ..pixels.colour import Colour
from ..plan import Plan, Step
from ..rows.schedule import RowSchedule, ScheduledStep
from .access import Access
from .chains import prepare
from .file_statistics import CHANNELS, Measured
from .item import Item
from .job import Job
from .memory import device_bytes

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
    if colour.data:
        return {"transfer": "data", "primaries": None, "narrow_range": False}
    return {"transfer": colour.transfer, "primaries": colour.primaries, "narrow_range": colour.narrow}


def _coloured(colour: Colour, *, gray: bool) -> str:
    """Returns the colour space in words; primaries are only named where they are not Rec. 709's."""
    if colour.data:
        return "data"
    primaries = "" if gray or colour.is_rec709 else f", {colour.primaries} primaries"
    transfer = "linear light" if colour.linear else f"{colour.transfer}-encoded"
    return f"{transfer}{primaries}{', narrow range' if colour.narrow else ''}"


def _profile(content: Picture | NamedArrays) -> bytes | None:
    """Returns a file's ICC profile. That of a file with inks is kept with the inks."""
    of_inks = content.inks if isinstance(content, Picture) else None
    return of_inks.profile if of_inks else content.metadata.icc


def _metadata(metadata: Metadata, profile: bytes | None) -> dict[str, Any]:
    """Returns the blocks' sizes in bytes (None for no block), the profile's name, resolution, windows (x and y of the
    pixels; x, y, width and height of what is displayed) and EXR attributes."""
    blocks = {"icc": profile, "exif": metadata.exif, "xmp": metadata.xmp}
    return {
        "icc_description": icc.description(profile) if profile else None,
        **{name: len(block) if block else None for name, block in blocks.items()},
        "orientation": exif.orientation(metadata.exif) if metadata.exif else None,
        "exif_tags": photograph.tags(metadata.exif) if metadata.exif else {},
        "resolution": metadata.resolution,
        "windows": None if metadata.frame is None else metadata.frame.window,
        "attributes": {name: value for name, (_, value) in metadata.attributes.items()},
        "light": None if metadata.light is None else metadata.light.to_json(),
        "gain_map": None if metadata.gain is None else metadata.gain.to_json(),
        "texts": [[printable(text.key), printable(text.value)] for text in metadata.texts],
        "cards": [printable(card.rstrip()) for card in metadata.cards],
    }


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
    if metadata.exif and (taken := photograph.in_words(photograph.tags(metadata.exif))):
        yield f"  taken {_shortened(taken)}"
    if metadata.frame:
        yield f"  pixels {metadata.frame}"
    for text in metadata.texts:
        yield f"  {printable(text.key)}: {_shortened(printable(text.value))}"
    if metadata.light:
        yield f"  {metadata.light}"
    if metadata.gain:
        yield f"  {metadata.gain}"
    for name, (_, value) in metadata.attributes.items():
        yield f"  {name}: {_shortened(value)}"
    for card in metadata.cards:
        yield f"  {printable(card.rstrip())}"


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


# -- An explanation of a chain: its steps, the values that each works on, what is fused, and the memory that it takes


def explain(gpu: Gpu, job: Job) -> str:
    """Returns the explanation of a chain, for the picture in a file.

    Raises what the job would raise before it computes anything.
    """
    chain, source, target, options = job.chain, job.source, job.target, job.options
    assert chain is not None
    access = Access(source, options)
    picture = access.opened().picture
    todo = plan.plan(chain, options.space, options.light)
    item = Item(gpu, target, options, access)
    item.how(picture, linear=todo.linear, premultiply=todo.premultiplied)
    height, width, channels = picture.pixels.shape
    lines = [
        f"input   {source}: {width} × {height}, {channels} channels of {picture.pixels.dtype.name}",
        f"read as {_values(todo)}",
    ]
    orientation, shape = picture.metadata.orientation, (channels, height, width)
    with item.naming():
        schedule = RowSchedule.of(gpu, todo, shape, orientation, picture.frame)
    todo = schedule.plan
    launches = plan.launches(todo)
    prepare(item, todo)
    for at in schedule.steps:
        fused = _fused(at.step, launches) if options.fuse else ""
        lines.append(f"{at.step.name:<12}{_step(at)}{fused}")
    memory = device_bytes(schedule, picture)
    there = f"{byte_count(gpu.limits.global_bytes)} on {gpu.info.name}"
    lines.append(f"memory  {byte_count(memory)} of {there}")
    idle = len(chain) - len(todo.steps)
    if idle:
        lines.append(f"{idle} of {len(chain)} steps change nothing and are left out")
    lines.append(f"output  {target}, {options.format if target == STREAM else options.format_of(target)}")
    access.finish()
    return "\n".join(map(visible, lines))


def _values(todo: Plan) -> str:
    is_light = todo.space == "linear" or (todo.linear and todo.space != "encoded")
    return (
        f"{'light' if is_light else 'stored values'}, {'premultiplied' if todo.premultiplied else 'straight'}"
    )


def _step(at: ScheduledStep) -> str:
    step, traits = at.step, at.step.traits
    reach = at.reach.spoiled
    words = [traits.kind, "light" if traits.space == "light" else "stored values"]
    if traits.space != "stored":
        words.append("premultiplied" if traits.premultiplied else "straight")
    if reach:
        words.append(f"halo {reach:g} pixels" if math.isfinite(reach) else "halo: the whole image")
    if traits.statistics:
        whose = " of all inputs" if step.operation.together(step.params) else ""
        words.append(f"first measures {', '.join(traits.statistics)}{whose}")
    if at.spectral is not None:
        kept = byte_count(8 * math.prod(at.spectral.spooled(at.shape)), up=True)
        words.append(f"by rows {kept} of spectra are kept")
    elif at.slabbed is not None:
        kept = byte_count(4 * math.prod(at.shape) + at.slabbed.beside, up=True)
        words.append(f"by rows {kept} of planes and coefficients are kept")
    if traits.display:
        words.append("gives a display's values")
    return ", ".join(words)


def _fused(step: Step, launches: list[tuple[Step, ...]]) -> str:
    """Says which launches a step shares with its neighbours, and with reading and writing the files."""
    group = next(group for group in launches if step in group)
    last = group[-1].operation
    if step is not group[-1]:
        return f"; at once with {group[-1].name}"
    writes = group is launches[-1] and (last.ends or last.stage)
    if group is launches[0] and (last.stage or (last.ends and writes)):
        return "; reads and writes the files' pixels" if writes else "; reads the file's pixels"
    return "; writes the file's pixels" if writes else ""
