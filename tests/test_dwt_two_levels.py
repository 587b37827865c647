"""Two levels of the wavelet transform in one pass, as GPUs take those of large images, beside two."""

from dataclasses import replace

import numpy as np
import pytest

from gpuops import Gpu
from gpuops.params.dwt import DwtParams
from gpuops.profile import Report
from gpuops.wavelets import transform, two_levels, wavedec2

from .choices import each

# Bands and tiles end within the image, beyond its last row, and at its edge; there are few rows, or an odd number.
SHAPES = [(1, 64, 64), (1, 65, 128), (2, 70, 200), (1, 33, 40), (1, 7, 24), (3, 1, 72)]
MODES = ["mirror", "periodization", "symmetric", "zero", "antisymmetric", "constant", "periodic", "reflect"]
NAMES = ["haar", "bior2.2", "bior4.4"]


@pytest.fixture
def gpu(opened, monkeypatch) -> Gpu:
    """The device under test as a GPU, to which small images are large and all steps short; small groups."""
    monkeypatch.setattr(two_levels, "_LEAST_SAMPLES", 0)
    monkeypatch.setattr(two_levels, "_MOST_REACH", {False: 9, True: 9})
    monkeypatch.setattr(two_levels, "_ITEMS", 16)
    monkeypatch.setattr(two_levels, "_LEAST", 2)
    gpu = opened(report=Report())
    gpu.limits = replace(gpu.limits, is_cpu=False, lanes=1, local_bytes=min(32768, gpu.limits.local_bytes))
    return gpu


def bands_of(gpu: Gpu, x: np.ndarray, params: DwtParams) -> list[np.ndarray]:
    """All bands on the host."""
    return [band.numpy() for band in transform.flat(*transform.decompose(gpu.array(x), params))]


def image_of(gpu: Gpu, bands: list[np.ndarray], params: DwtParams, shape: tuple[int, ...]) -> np.ndarray:
    """The image on the host."""
    return transform.recompose(
        *transform.nested([gpu.array(band) for band in bands]), params, shape[1:]
    ).numpy()


def count(gpu: Gpu) -> int:
    """Launches of two levels so far."""
    return sum(len(k.ms) for k in gpu.report.kernels() if "two levels" in k.label)


@pytest.mark.cases(1)
@each(name=NAMES)
def test_two_levels_in_one_pass_are_two(gpu, rng, monkeypatch, name) -> None:
    for shape in SHAPES:
        for mode in MODES:
            if "reflect" in mode and min(shape) < 2:
                continue
            params = DwtParams(name, mode, 2)
            x = rng.standard_normal(shape).astype(np.float32)
            with monkeypatch.context() as patch:
                patch.setattr(two_levels, "fitting", lambda *_, **__: None)
                expected = bands_of(gpu, x, params)
                back = image_of(gpu, expected, params, shape)
            for ours, theirs in zip(bands_of(gpu, x, params), expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(image_of(gpu, expected, params, shape), back)
    # The count is of the mode mirror, where rows suit vectors, forward and inverse.
    assert count(gpu) >= 2 * len(SHAPES)


def test_two_levels_are_taken_by_pairs(gpu, rng) -> None:
    x = rng.standard_normal((128, 128)).astype(np.float32)
    for levels, pairs in ((1, 0), (2, 1), (3, 1), (4, 2)):
        before = count(gpu)
        wavedec2(gpu, x, "haar", "mirror", levels)
        assert count(gpu) - before == pairs


def test_zeros_stand_for_bands_that_are_none(gpu, rng) -> None:
    x = rng.standard_normal((1, 64, 64)).astype(np.float32)
    params = DwtParams("haar", "mirror", 2)
    low, (coarse, fine) = transform.decompose(gpu.array(x), params)
    for given in ([(None, coarse[1], None), (None, None, None)], [(None,) * 3, (fine[0], None, fine[2])]):
        zeros = [tuple(gpu.zeros(b.shape) if a is None else a for a, b in zip(g, w, strict=True))
                 for g, w in zip(given, (coarse, fine), strict=True)]  # fmt: skip
        np.testing.assert_array_equal(
            transform.recompose(low, given, params).numpy(), transform.recompose(low, zeros, params).numpy()
        )
