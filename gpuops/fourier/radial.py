"""The radial profile of a spectrum: the mean over all directions, for each distance from frequency 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..params.fft import ODD
from ..records import dataclass

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class RadialProfile:
    """The means of the colours' values, ``means`` (colours, radii), over places that have the same rounded distance.

    The distance is the frequency in cycles per pixel times the longer side's ``points``: on a square, places of the
    spectrum. ``radii`` are those that have places, and ``samples`` says how many.
    """

    points: int
    radii: Array
    samples: Array
    means: Array

    def rows(self) -> Iterator[tuple[str, int, float, int, float]]:
        """Gives colour, radius, frequency in cycles per pixel, number of samples and mean."""
        names = ("red", "green", "blue") if len(self.means) == 3 else ("gray",)
        for name, means in zip(names, self.means, strict=True):
            for radius, samples, mean in zip(self.radii, self.samples, means, strict=True):
                yield name, int(radius), int(radius) / self.points, int(samples), float(mean)


def radial_profile(half: Array, columns: int, view: str) -> RadialProfile:
    """The profile of a ``view`` of a real image's spectrum.

    ``half`` is (colours, rows, columns // 2 + 1), with frequency 0 at the first place. The others of ``columns`` are
    its mirror images, with the other sign where the view is odd. Sums are in double precision.
    """
    colours, rows, kept = half.shape
    points = max(rows, columns)
    down, across = np.fft.fftfreq(rows)[:, None], np.arange(kept) / columns
    radius = np.rint(np.hypot(down, across) * points).astype(np.intp)
    alone = (np.arange(kept) == 0) | (
        2 * np.arange(kept) == columns
    )  # columns that hold their own mirror images
    counted = np.broadcast_to(np.where(alone, 1, 2), radius.shape).ravel()
    weight = np.where(alone, 1.0, 0.0 if view in ODD else 2.0)
    samples = np.bincount(radius.ravel(), counted)
    radii = np.flatnonzero(samples)
    sums = [np.bincount(radius.ravel(), (weight * half[c].astype(float)).ravel()) for c in range(colours)]
    return RadialProfile(points, radii, samples[radii], np.array(sums)[:, radii] / samples[radii])
