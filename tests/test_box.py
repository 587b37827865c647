"""Means over boxes against scipy.ndimage.uniform_filter in double precision."""

import numpy as np
import pytest
import scipy.ndimage

from gpuops.filters.box import Box, box
from gpuops.params.border import BORDERS

from .choices import some
from .reference import borders
from .tolerance import BOX as TOLERANCE

# On CPUs tiles are of 512 columns and blocks of 2·radius + 1 rows; radii of 0, beyond the image, and of one axis.
CASES = [
    ((1, 1, 1), (3, 2)), ((2, 1, 9), (1, 1)), ((1, 40, 530), (5, 9)), ((1, 131, 600), (30, 30)),
    ((3, 90, 77), (0, 40)), ((2, 90, 77), (70, 0)), ((1, 300, 40), (33, 1)),
]  # fmt: skip


def expected(x: np.ndarray, mean: Box) -> np.ndarray:
    y, x_radius = mean.radii
    size = (0, 2 * y + 1, 2 * x_radius + 1)
    return scipy.ndimage.uniform_filter(
        x.astype(float), size, mode=borders.modes(mean.border), cval=mean.cval
    )


@some(border=list(BORDERS), shape__radii=CASES)
def test_is_scipys(planned, rng, shape, radii, border) -> None:
    x, mean = rng.random(shape, dtype=np.float32), Box(radii, border, 0.3)
    got = box(planned, planned.array(x), mean).numpy()
    np.testing.assert_allclose(got, expected(x, mean), atol=TOLERANCE)


@pytest.mark.exhaustive
@pytest.mark.parametrize("radii", [(2048, 0), (0, 2048), (900, 700)])
def test_wide_boxes(planned, rng, radii) -> None:
    shape = (1, *(4100 if radius == 2048 else 70 for radius in radii))
    x, mean = rng.random(shape, dtype=np.float32), Box(radii)
    got = box(planned, planned.array(x), mean).numpy()
    np.testing.assert_allclose(got, expected(x, mean), atol=TOLERANCE)


def test_plane_by_plane(planned, rng, monkeypatch) -> None:
    monkeypatch.setattr("gpuops.tiles.planes._AT_ONCE", 1 << 12)
    x, mean = rng.random((3, 50, 60), dtype=np.float32), Box((300, 20), "mirror")
    monkeypatch.setattr("gpuops.filters.box._CACHED", 0)
    np.testing.assert_allclose(
        box(planned, planned.array(x), mean).numpy(), expected(x, mean), atol=TOLERANCE
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_within_the_box(planned, rng, value) -> None:
    x = rng.random((1, 70, 150), dtype=np.float32)
    x[0, 40, 60] = value
    for radii in ((3, 5), (20, 30), (0, 9), (9, 0)):
        got = box(planned, planned.array(x), Box(radii)).numpy()[0]
        support = np.zeros((70, 150), bool)
        support[40 - radii[0] : 41 + radii[0], 60 - radii[1] : 61 + radii[1]] = True
        np.testing.assert_array_equal(~np.isfinite(got), support)
        plain = expected(np.where(np.isfinite(x), x, 0), Box(radii))[0]
        np.testing.assert_allclose(got[~support], plain[~support], atol=TOLERANCE)


def test_a_large_value_leaves_no_trace_beyond_the_box(planned, rng) -> None:
    x = rng.random((1, 70, 150), dtype=np.float32)
    x[0, 35, 70] = 1e12
    got = box(planned, planned.array(x), Box((4, 6))).numpy()[0]
    x[0, 35, 70] = 0
    wanted = expected(x, Box((4, 6)))[0]
    wanted[31:40, 64:77] = got[31:40, 64:77]
    np.testing.assert_allclose(got, wanted, atol=TOLERANCE)
