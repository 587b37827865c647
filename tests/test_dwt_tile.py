"""Levels of the wavelet transform by tiles, as GPUs take small ones, beside the ways of large levels and of CPUs."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from gpuops import Gpu
from gpuops.params.dwt import MODES
from gpuops.profile import Report
from gpuops.wavelets import dwt2, idwt2
from gpuops.wavelets import tiled_level as tile

from . import test_dwt as of_dwt
from .choices import each

# The work-items of a group and the compute units give tiles each of the sides; a group lifts its rows in one round
# or several, or has fewer work-items than its rows have samples.
CLAIMS = [(1024, 1), (256, 4), (256, 1000), (16, 1000)]
WAVELETS = cycle(["haar", "bior2.2", "bior4.4", "dd13/7", "vc2-fidelity"])  # the last one reaches farthest
CASES = list(zip((mode for mode in MODES if mode != "vc2"), WAVELETS, strict=False))


def limited(gpu: Gpu, work_group: int, units: int) -> Gpu:
    """The device with other limits, of which sizes are never more than it has."""
    real = gpu.limits
    gpu.limits = replace(
        real,
        is_cpu=False,
        lanes=1,
        work_group=min(work_group, real.work_group),
        local_bytes=min(32768, real.local_bytes),
        compute_units=units,
    )
    return gpu


@pytest.fixture(scope="module")
def tiled() -> Iterator[list[Gpu]]:
    """GPUs that take tiles."""
    with ExitStack() as stack:
        yield [limited(stack.enter_context(Gpu()), *claims) for claims in CLAIMS]


@pytest.fixture(scope="module")
def banded() -> Iterator[Gpu]:
    """A GPU that takes bands of rows, while tiles do not pay."""
    with Gpu() as gpu:
        yield limited(gpu, 256, 4)


def there_and_back(gpu: Gpu, x: np.ndarray, name: str, mode: str) -> list[np.ndarray]:
    """Four bands, and the image of others."""
    low, details = dwt2(gpu, x, name, mode)
    given = low[..., ::-1, :], tuple(band[..., ::-1] for band in details)
    return [low, *details, idwt2(gpu, given, name, mode, shape=x.shape[-2:])]


@pytest.mark.cases(2)
@each(mode__name=CASES)
def test_all_ways_agree(gpu, tiled, banded, rng, monkeypatch, mode, name) -> None:
    least = 2 if "reflect" in mode else 1
    shapes = [(2, *rng.integers(least, 68, 2)), rng.integers(least, 68, 2), (least, 6), (67, least)]
    for shape in shapes:
        for dtype in (np.float32, np.float64) if gpu.limits.double else (np.float32,):
            x = rng.standard_normal(shape).astype(dtype)
            with monkeypatch.context() as patch:
                patch.setattr(tile, "pays", lambda *_, **__: False)
                expected = there_and_back(banded, x, name, mode)
            for one in tiled:
                for part, other in zip(there_and_back(one, x, name, mode), expected, strict=True):
                    np.testing.assert_array_equal(part, other)
            scale = max(np.abs(part).max(initial=0) for part in expected)
            for part, other in zip(there_and_back(gpu, x, name, mode), expected, strict=True):
                np.testing.assert_allclose(part, other, rtol=0, atol=of_dwt.tolerance_of(dtype) * scale)


def test_small_levels_are_one_launch(opened, rng, monkeypatch) -> None:
    x = rng.standard_normal((3, 40, 64)).astype(np.float32)
    for small, launches in ((x.nbytes, [1, 1]), (x.nbytes - 1, [2, 2])):
        monkeypatch.setattr(tile, "_SMALL", small)
        monkeypatch.setattr(tile, "_SMALL_INVERSE", small)
        report = Report()
        gpu = limited(opened(report=report), 256, 4)
        idwt2(gpu, dwt2(gpu, x, "bior4.4", "mirror"), "bior4.4", "mirror")
        counts = [
            sum(len(k.ms) for k in report.kernels() if k.label.startswith(way)) for way in ("dwt", "idwt")
        ]
        assert counts == launches


def test_tiles_are_as_large_as_groups_and_their_memory_allow(opened, rng) -> None:
    x = rng.standard_normal((90, 90)).astype(np.float32)
    least = limited(opened(), 256, 1)
    # Neither a tile nor a group of the other method fits.
    least.limits = replace(least.limits, local_bytes=1024)
    for gpu in (least, limited(opened(), 1, 1)):
        of_dwt.assert_close(dwt2(gpu, x, "bior4.4"), dwt2(opened(), x, "bior4.4"))
