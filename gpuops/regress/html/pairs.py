"""What a page shows of one outcome: both pictures, or the part of them that fits, and the map of their differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import notes
from ...errors import GpuopsError
from ...files import Picture, read
from ..outcome import Outcome
from ..text import line, number
from . import encode
from .heat import Map, clean, histogram, largest_difference, palette, worst_tile

Heat = Callable[[NDArray[Any], NDArray[Any]], Map]

# The statuses whose pictures are in a report.
PICTURED = ("error", "missing", "new", "failed", "warned")
# The sides of a pair, in the order in which they are shown.
SIDES = ("reference", "result")
# The least pixels of a part of a picture: so many are shown whatever they take.
_LEAST_PIXELS = 64 * 64
# Attempts to cut a part that has the bytes it may have.
_ATTEMPTS = 4
# The sizes of a list's small pictures, and of those that stand for floats where no script runs.
THUMBNAIL, STANDIN = (72, 48), (512, 512)


@dataclass(frozen=True)
class Settings:
    """How a report is made.

    Attributes
    ----------
    title : str
    heat : callable, optional
        Gives the map of differences from the pixels of result and reference, (h, w, channels) of the same h and w, in
        their stored depth: (h, w) float32 within 0 … 1. Without one it is the largest difference of a pixel's channels.
    heat_name, heat_threshold : str
        What the map shows, and the name of the threshold of outcomes that is a value of the map.
    aim : int
        The bytes that a report should have: pictures are cut so that it does, down to ``least`` bytes for an outcome.
    least : int
    cap : int
        The bytes at which a page ends and another one begins.
    pixels : int
        The most pixels of a picture that are shown.
    """

    title: str = "clpix regress"
    heat: Heat | None = None
    heat_name: str = "largest difference of a channel"
    heat_threshold: str = "max"
    aim: int = 14_000_000
    least: int = 150_000
    cap: int = 50_000_000
    pixels: int = 1 << 20


@dataclass(frozen=True)
class Side:
    """A part of a picture that begins at (x, y), with its encoded bytes: ``png``, or floats of a dtype's name."""

    part: Picture
    x: int
    y: int
    width: int
    height: int
    kind: str
    data: bytes

    @property
    def whole(self) -> bool:
        """Whether the part is all of it."""
        return (self.part.width, self.part.height) == (self.width, self.height)


@dataclass(frozen=True)
class View:
    """What is shown of an outcome.

    ``heat`` is a PNG of the same part as the sides, in the palette's colours, of which the last is ``top``; ``mark`` is
    the threshold. ``counts`` is the histogram of the whole map. ``remarks`` are lines that people should read.
    """

    sides: dict[str, Side] = field(default_factory=dict)
    heat: bytes = b""
    top: float = 0.0
    mark: float | None = None
    counts: list[int] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    thumbnail: bytes = b""


def view(outcome: Outcome, settings: Settings, budget: float) -> View:
    """Reads an outcome's pictures and cuts of them what has at most ``budget`` bytes, around the worst tile."""
    remarks: list[str] = []
    pictures = _read(outcome, remarks)
    sizes = {(picture.width, picture.height) for picture in pictures.values()}
    heat = None
    if len(pictures) == 2 and len(sizes) == 1:
        heat = _heat(pictures, settings, remarks)
    elif len(sizes) == 2:
        remarks.append("The pictures have different sizes: each is shown as it is, and there is no map.")
    centre = (
        worst_tile(heat)
        if heat is not None
        else (outcome.worst.x, outcome.worst.y)
        if outcome.worst
        else None
    )
    found = View()
    pixels: float = settings.pixels
    for _ in range(_ATTEMPTS):
        found = _cut(pictures, heat, centre, pixels)
        total = sum(len(side.data) for side in found.sides.values()) + len(found.heat)
        shown = max((side.part.width * side.part.height for side in found.sides.values()), default=0)
        if total <= budget or shown <= _LEAST_PIXELS:
            break
        # A little less than in proportion, since small parts are about what differs, and pack worse.
        pixels = max(0.85 * shown * budget / total, _LEAST_PIXELS)
    remarks += _said_of_parts(found.sides, centre)
    if heat is None:
        return replace(found, remarks=remarks, thumbnail=_thumbnail(found.sides))
    top = float(heat.max()) or 1.0
    mark = outcome.thresholds.get(settings.heat_threshold)
    return replace(
        found,
        top=top,
        mark=mark,
        counts=histogram(heat, top),
        remarks=remarks,
        thumbnail=_thumbnail(found.sides),
    )


def _read(outcome: Outcome, remarks: list[str]) -> dict[str, Picture]:
    pictures = {}
    for which in SIDES:
        of = getattr(outcome, which)
        if of is None:
            continue
        try:
            with notes.to(lambda _: None):  # the comparison has said it
                pictures[which] = read(of.path)
        except GpuopsError as error:
            remarks.append(f"The {which} cannot be shown: {line(str(error))}")
    return pictures


def _heat(pictures: dict[str, Picture], settings: Settings, remarks: list[str]) -> Map | None:
    result, reference = pictures["result"], pictures["reference"]
    if settings.heat is None:
        return largest_difference(result, reference)
    try:
        return clean(settings.heat(result.pixels, reference.pixels))
    except GpuopsError as error:
        remarks.append(f"There is no map of {settings.heat_name}: {line(str(error))}")
        return None


def _cut(
    pictures: dict[str, Picture], heat: Map | None, centre: tuple[int, int] | None, pixels: float
) -> View:
    sides = {}
    for which, picture in pictures.items():
        x, y, width, height = _window(picture.width, picture.height, centre, pixels)
        part = np.ascontiguousarray(picture.pixels[y : y + height, x : x + width])
        integer = part.dtype.kind == "u"
        data = encode.png(part) if integer else encode.floats(part)
        small = Picture(part, picture.alpha, picture.linear)
        kind = "png" if integer else part.dtype.name
        sides[which] = Side(small, x, y, picture.width, picture.height, kind, data)
    if heat is None:
        return View(sides)
    top = float(heat.max()) or 1.0
    x, y, width, height = _window(heat.shape[1], heat.shape[0], centre, pixels)
    levels = np.rint(heat[y : y + height, x : x + width] * (255 / top)).astype(np.uint8)
    return View(sides, encode.png(levels[..., None], palette()))


def _window(
    width: int, height: int, centre: tuple[int, int] | None, pixels: float
) -> tuple[int, int, int, int]:
    """Returns x, y, width and height of the part of a picture around the centre that has at most so many pixels."""
    if width * height <= pixels:
        return 0, 0, width, height
    scale = math.sqrt(pixels / (width * height))
    # A picture that is far longer than wide keeps its width.
    columns = min(max(int(width * scale), min(width, 64)), width)
    rows = min(max(int(pixels / columns), 1), height)
    x, y = centre or (width // 2, height // 2)
    left = min(max(x - columns // 2, 0), width - columns)
    return left, min(max(y - rows // 2, 0), height - rows), columns, rows


def _said_of_parts(sides: dict[str, Side], centre: tuple[int, int] | None) -> list[str]:
    said = []
    for which, side in sides.items():
        if not side.whole:
            part = f"{side.part.width} × {side.part.height} of {side.width} × {side.height} pixels"
            around = "around the largest differences" if centre else "from its middle"
            said.append(f"The {which} is cut: {part} {around}, from x {number(side.x)}, y {number(side.y)}.")
    if len(said) == 2 and len({(side.x, side.y, side.part.pixels.shape[:2]) for side in sides.values()}) == 1:
        return [said[0].replace("The reference is cut", "Both pictures are cut")]
    return said


def _thumbnail(sides: dict[str, Side]) -> bytes:
    side = sides.get("result") or sides.get("reference")
    return encode.jpeg(side.part, *THUMBNAIL)[0] if side else b""
