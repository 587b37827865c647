"""What a page shows of one outcome: both pictures, or the part of them that fits, and the map of their differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any

import numpy as np

from ... import notes
from ...errors import GpuopsError
from ...files import Picture, Strips, read
from ...records import dataclass
from ..outcome import Outcome, line, number
from .graphics import Map, clean, floats, histogram, jpeg, largest_difference, palette, png, worst_tile

Heat = Callable[[Picture, Picture], Map]
Centre = tuple[int, int] | None

# The statuses whose pictures are in a report.
PICTURED = ("error", "missing", "new", "failed", "size", "warned")
# The sides of a pair, in the order in which they are shown.
SIDES = ("reference", "result")
# The least pixels of a part of a picture: so many are shown whatever they take.
_LEAST_PIXELS = 64 * 64
# The pixels of the part from which it is estimated how many bytes others will have.
_SAMPLE_PIXELS = 1 << 16
# Attempts to cut a part that has the bytes it may have.
_ATTEMPTS = 5
# The sizes of small pictures: in the list, beside a part, and for floats where no script runs.
THUMBNAIL, OVERVIEW, STANDIN = (72, 48), (224, 192), (512, 512)


@dataclass(frozen=True)
class Settings:
    """How a report is made.

    Attributes
    ----------
    title : str
    heat : callable, optional
        Gives the map of differences from result and reference, of the same size: (h, w) float32 within 0 … 1. Without
        one it is the largest difference of a pixel's channels.
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

    def has(self, x: int, y: int) -> bool:
        """Says whether a pixel is in the part."""
        return 0 <= x - self.x < self.part.width and 0 <= y - self.y < self.part.height


@dataclass(frozen=True)
class View:
    """What is shown of an outcome.

    ``heat`` is a PNG of the same part as the sides, in the palette's colours, of which the last is ``top``; ``mark`` is
    the threshold. ``counts`` is the histogram of the whole map. ``remarks`` are lines that people should read.
    ``thumbnail`` and ``whole`` are small JPEGs of the part, and of the whole picture if the part is not all of it.
    """

    sides: dict[str, Side] = field(default_factory=dict)
    heat: bytes = b""
    top: float = 0.0
    mark: float | None = None
    counts: list[int] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    thumbnail: bytes = b""
    whole: bytes = b""

    @property
    def aligned(self) -> bool:
        """Whether both pictures are there and of one size."""
        return len(self.sides) == 2 and len({(side.width, side.height) for side in self.sides.values()}) == 1

    def pictures(
        self, of_floats: Callable[[Picture], tuple[bytes, int, int]]
    ) -> Iterator[tuple[str, bytes, int, int]]:
        """Gives the name, bytes, width and height of each picture; ``of_floats``: those of a part of floats."""
        for which, side in self.sides.items():
            part = side.part
            stored = side.data, part.width, part.height
            yield which, *(stored if side.kind == "png" else of_floats(part))
        if self.heat:
            yield "heat", self.heat, part.width, part.height


def view(outcome: Outcome, settings: Settings, budget: float) -> View:
    """Reads an outcome's pictures and cuts of them what has at most ``budget`` bytes, around the worst tile."""
    remarks: list[str] = []
    pictures = _read(outcome, remarks) if outcome.status in PICTURED else {}
    if any(picture.metadata.colour is not None for picture in pictures.values()):
        remarks.append("Colours that are neither sRGB nor linear Rec. 709 light are shown as if they were.")
    sizes = {(picture.width, picture.height) for picture in pictures.values()}
    heat = None
    if len(pictures) == 2 and len(sizes) == 1:
        heat = _heat(pictures, settings, remarks)
    elif len(sizes) == 2:
        remarks.append("The pictures have different sizes: each is shown as it is, and there is no map.")
    centre = (outcome.worst.x, outcome.worst.y) if outcome.worst else None
    if heat is not None:
        centre = worst_tile(heat)
    cut = _fitting(pictures, heat, centre, settings.pixels, budget)
    remarks += _said_of_parts(cut.sides, centre)
    more: dict[str, Any] = {"remarks": remarks}
    if side := cut.sides.get("result") or cut.sides.get("reference"):
        more["thumbnail"] = jpeg(side.part, *THUMBNAIL)[0]
        if not side.whole and len(sizes) == 1:
            more["whole"] = jpeg(next(iter(pictures.values())), *OVERVIEW)[0]
    if heat is not None:
        more["mark"] = outcome.thresholds.get(settings.heat_threshold)
        more["counts"] = histogram(heat, cut.top)
    return replace(cut, **more)


def _read(outcome: Outcome, remarks: list[str]) -> dict[str, Picture]:
    pictures = {}
    for which in SIDES:
        of = getattr(outcome, which)
        if of is None:
            continue
        try:
            with notes.to(lambda _: None):  # the comparison has said it
                picture = read(of.path)
                pictures[which] = Strips.of(picture).on(picture.frame.shown).picture
        except GpuopsError as error:
            remarks.append(f"The {which} cannot be shown: {line(str(error))}")
    return pictures


def _heat(pictures: dict[str, Picture], settings: Settings, remarks: list[str]) -> Map | None:
    result, reference = pictures["result"], pictures["reference"]
    if settings.heat is None:
        return largest_difference(result, reference)
    try:
        return clean(settings.heat(result, reference))
    except GpuopsError as error:
        remarks.append(f"There is no map of {settings.heat_name}: {line(str(error))}")
        return None


def _fitting(
    pictures: dict[str, Picture], heat: Map | None, centre: Centre, most: int, budget: float
) -> View:
    """Cuts the largest part, of at most ``most`` pixels, that has nearly the bytes it may have."""
    best, pixels = None, float(min(most, _SAMPLE_PIXELS))
    for _ in range(_ATTEMPTS):
        cut = _cut(pictures, heat, centre, pixels)
        total = len(cut.heat) + sum(len(side.data) for side in cut.sides.values())
        if total > budget and pixels > _LEAST_PIXELS:
            pixels = max(0.85 * pixels * budget / total, _LEAST_PIXELS)
            if best is not None and pixels < best[0]:
                break
            continue
        best = pixels, cut
        if pixels >= most or total > 0.8 * budget or all(side.whole for side in cut.sides.values()):
            break
        pixels = min(0.9 * pixels * budget / total, most)
    return best[1] if best else cut


def _cut(pictures: dict[str, Picture], heat: Map | None, centre: Centre, pixels: float) -> View:
    sides = {}
    for which, picture in pictures.items():
        x, y, width, height = _window(picture.width, picture.height, centre, pixels)
        part = np.ascontiguousarray(picture.pixels[y : y + height, x : x + width])
        integer = part.dtype.kind == "u"
        data = png(part) if integer else floats(part)
        small = Picture(part, picture.alpha, picture.linear)
        kind = "png" if integer else part.dtype.name
        sides[which] = Side(small, x, y, picture.width, picture.height, kind, data)
    if heat is None:
        return View(sides)
    top = float(heat.max()) or 1.0
    x, y, width, height = _window(heat.shape[1], heat.shape[0], centre, pixels)
    levels = np.rint(heat[y : y + height, x : x + width] * (255 / top)).astype(np.uint8)
    return View(sides, png(levels[..., None], palette()), top)


def _window(width: int, height: int, centre: Centre, pixels: float) -> tuple[int, int, int, int]:
    """Returns x, y, width and height of the part of a picture around the centre that has at most so many pixels."""
    if width * height <= pixels:
        return 0, 0, width, height
    scale = math.sqrt(pixels / (width * height))
    # A strip is cut along its length only.
    rows = min(max(int(height * scale), min(height, 64)), height)
    columns = min(max(int(pixels / rows), 1), width)
    rows = min(max(int(pixels / columns), 1), height)
    x, y = centre or (width // 2, height // 2)
    left = min(max(x - columns // 2, 0), width - columns)
    return left, min(max(y - rows // 2, 0), height - rows), columns, rows


def _said_of_parts(sides: dict[str, Side], centre: Centre) -> list[str]:
    said = []
    for which, side in sides.items():
        if not side.whole:
            part = f"{side.part.width} × {side.part.height} of {side.width} × {side.height} pixels"
            around = "around the largest differences" if centre else "from its middle"
            said.append(f"The {which} is cut: {part} {around}, from x {number(side.x)}, y {number(side.y)}.")
    if len(said) == 2 and len({(side.x, side.y, side.part.pixels.shape[:2]) for side in sides.values()}) == 1:
        return [said[0].replace("The reference is cut", "Both pictures are cut")]
    return said
