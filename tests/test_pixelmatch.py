"""Counts of different pixels against those of pixelmatch itself."""

import json
import math
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, ParameterError
from gpuops.metrics.pixelmatch import pixelmatch

from .reference import metrics_pixelmatch as reference

PICTURES = reference.pictures()
COUNTS = list(zip(reference.cases(), json.loads(reference.COUNTS.read_text()), strict=True))


def check(gpu: Gpu, name: str, thresholds: tuple[float, ...] = reference.THRESHOLDS) -> None:
    """Asserts that all counts of a pair of pictures are pixelmatch's, both ways round."""
    pair = tuple(gpu.array(picture) for picture in PICTURES[name])
    for case, count in COUNTS:
        if case["name"] == name and case["options"]["threshold"] in thresholds:
            options = case["options"]
            wanted: dict[str, Any] = {
                "threshold": options["threshold"],
                "include_aa": options["includeAA"],
                "background": "checkerboard" if options["checkerboard"] else "white",
            }
            assert pixelmatch(gpu, *pair, **wanted).different == count, case
            figures, mask = pixelmatch(gpu, *reversed(pair), full=True, **wanted)
            assert (figures.different, figures.pixels) == (count, math.prod(pair[0].shape[:2])), case
            kinds = np.bincount(mask.numpy().ravel(), minlength=3)
            assert (kinds[1], kinds[2]) == (count, figures.antialiased)


@pytest.mark.parametrize("name", PICTURES)
def test_counts_are_those_of_pixelmatch(gpu, name) -> None:
    check(gpu, name)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (13, 17), (64, 33), (257, 131)], ids=str)
def test_differences_are_those_of_the_formula(gpu, rng, shape) -> None:
    a = rng.integers(0, 256, (*shape, 4), np.uint8)
    b = np.clip(a + rng.integers(-40, 41, a.shape) * (rng.random((*shape, 1)) < 0.4), 0, 255).astype(np.uint8)
    different = reference.delta(a, b, 255.0) > 35215 * 0.07**2
    figures, mask = pixelmatch(gpu, a, b, threshold=0.07, include_aa=True, background="white", full=True)
    np.testing.assert_array_equal(mask.numpy(), different)
    assert (figures.different, figures.antialiased) == (different.sum(), 0)


def test_thresholds_are_exact(gpu) -> None:
    """Levels around the threshold: δ of grays is 0.5053 · (difference)², as far as double tells."""
    a = np.zeros((1, 256, 4), np.uint8)
    a[..., 3] = 255
    b = a.copy()
    b[0, :, :3] = np.arange(256)[:, None]
    delta = reference.delta(a, b, 255.0)[0]
    for level in (1, 17, 128, 254):
        for threshold, expected in (
            (math.sqrt(delta[level] * (1 - 1e-13) / 35215), 256 - level),
            (math.sqrt(delta[level] * (1 + 1e-13) / 35215), 255 - level),
        ):
            assert pixelmatch(gpu, a, b, threshold=threshold, include_aa=True).different == expected


@pytest.mark.parametrize(("a", "options", "message"), [
    (np.zeros((3, 4, 3), np.uint8), {}, "RGBA of uint8 is needed, not uint8 of shape"),
    (np.zeros((3, 4, 4), np.float32), {}, "RGBA of uint8 is needed, not float32"),
    (np.zeros((3, 5, 4), np.uint8), {}, "shapes differ"),
    (np.zeros((3, 4, 4), np.uint8), {"threshold": math.nan}, "threshold must be 0"),
    (np.zeros((3, 4, 4), np.uint8), {"threshold": 1.5}, "threshold must be 0"),
    (np.zeros((3, 4, 4), np.uint8), {"background": "black"}, "background"),
])  # fmt: skip
def test_bad_input(gpu, a, options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        pixelmatch(gpu, a, np.zeros((3, 4, 4), np.uint8), **options)
