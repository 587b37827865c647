"""One picture as several devices made it: who agrees with whom, and where the first difference is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .. import files
from ..errors import GpuopsError
from ..params.comparing import Comparing
from ..params.thresholds import Thresholds
from ..records import dataclass
from .outcome import values

if TYPE_CHECKING:
    from ..gpu import Gpu

# The width of a tile in pixels; reports name the first tile that differs.
TILE = 64
# The difference that devices may have without thresholds: one level of 16 bits.
LEVEL = 1 / 65535


@dataclass(frozen=True)
class Difference:
    """The first pixel in reading order in which two devices differ by more than allowed.

    ``tile``: the column and row of its tile, of TILE pixels each way. ``values``: those of both devices, as stored.
    """

    x: int
    y: int
    values: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def tile(self) -> tuple[int, int]:
        return self.x // TILE, self.y // TILE


@dataclass(frozen=True)
class Agreement:
    """How far the devices that made one picture agree.

    Attributes
    ----------
    largest : dict
        The largest error of each pair of devices, as a fraction of the full range; infinite where sizes differ.
    clusters : tuple of tuples
        Groups of devices of which each agrees with another of its group; one group if all agree.
    first : dict
        By pair, the first difference of those that do not agree.
    errors : dict
        What devices failed to make the picture, or to be compared, and why.
    """

    name: str
    largest: dict[tuple[str, str], float]
    clusters: tuple[tuple[str, ...], ...]
    first: dict[tuple[str, str], Difference]
    errors: dict[str, str]

    @property
    def good(self) -> bool:
        """Whether all devices made the picture, and agree."""
        return len(self.clusters) <= 1 and not self.errors


def agreement(
    gpu: Gpu,
    name: str,
    made: Mapping[str, str],
    thresholds: Thresholds | None = None,
    how: Comparing | None = None,
    errors: Mapping[str, str] | None = None,
) -> Agreement:
    """Compares what devices made of one picture.

    ``made``: the file of each device, by its name. ``thresholds``: within which two devices agree; without any, no
    value may differ by more than one level of 16 bits. ``errors``: of devices that made none.
    """
    from ..metrics.measure import Pair, measure

    thresholds = thresholds if thresholds is not None and thresholds.table else Thresholds(hardfail=LEVEL)
    how = how or Comparing(metrics=("max",))
    pictures: dict[str, files.Picture] = {}
    failed = dict(errors or {})
    for device, path in made.items():
        try:
            pictures[device] = files.read(path, layer=how.layer)
        except GpuopsError as error:
            failed[device] = str(error)
    largest: dict[tuple[str, str], float] = {}
    first: dict[tuple[str, str], Difference] = {}
    cluster_of: dict[str, tuple[str, ...]] = {device: (device,) for device in pictures}
    for a, b in combinations(pictures, 2):
        try:
            pair = Pair.of(gpu, pictures[b], pictures[a], how)
            measured = measure(pair, thresholds)
        except GpuopsError as error:
            largest[a, b] = math.inf
            failed.setdefault(b, f"beside {a}: {error}")
            continue
        largest[a, b] = measured.figures["max"]
        if measured.missed:
            first[a, b] = _first(pair.reference, pair.result)
        else:
            joined = {*cluster_of[a], *cluster_of[b]}
            cluster_of |= dict.fromkeys(joined, tuple(device for device in pictures if device in joined))
    return Agreement(name, largest, tuple(dict.fromkeys(cluster_of.values())), first, failed)


def _first(a: files.Picture, b: files.Picture) -> Difference:
    differs = (a.pixels != b.pixels) & ~(np.isnan(a.pixels) & np.isnan(b.pixels))
    y, x = np.unravel_index(int(differs.any(axis=-1).argmax()), differs.shape[:2])
    one, other = (tuple(float(v) for v in picture.pixels[y, x]) for picture in (a, b))
    return Difference(a.frame.x + int(x), a.frame.y + int(y), (one, other))


def table(pictures: list[Agreement], devices: list[str]) -> list[str]:
    """Returns lines: for each pair of devices the largest error of all pictures, and below it what does not agree."""
    width = max((len(device) for device in devices), default=0)
    lines = []
    for at, device in enumerate(devices):
        pairs = [(other, device) for other in devices[:at]]
        errors = [max((one.largest.get(pair, 0.0) for one in pictures), default=0.0) for pair in pairs]
        lines.append("  ".join([f"{device:<{width}}", *(f"{error:9.2g}" for error in errors), "        –"]))
    for one in pictures:
        for device, error in one.errors.items():
            lines.append(f"{one.name}: {device}: {error}")
        if len(one.clusters) > 1:
            lines.append(f"{one.name}: " + " | ".join(", ".join(cluster) for cluster in one.clusters))
        for (a, b), first in one.first.items():
            place = f"tile {first.tile[0]},{first.tile[1]}, pixel {first.x},{first.y}"
            both = " and ".join(map(values, first.values))
            lines.append(f"{one.name}: {a} and {b} differ first in {place}: {both}")
    return lines
