"""SSIMULACRA 2.1 against its formulas in float64."""

import math

import numpy as np
import pytest

from gpuops import Gpu, ParameterError
from gpuops.metrics import ssimulacra2 as kernels
from gpuops.metrics.ssimulacra2 import ssimulacra2

from .reference import metrics_ssim
from .reference import metrics_ssimulacra2 as reference
from .reference.colour import srgb_light
from .test_ssim import bright
from .tolerance import SSIMULACRA2 as TOLERANCE

# Two scales, of which the second is 4 × 4; odd and prime; ends of vectors of 8; two strips and two bands.
SIZES = [(8, 8), (8, 9), (15, 33), (17, 16), (31, 8), (61, 97), (67, 141)]


def noisy(
    rng: np.random.Generator, shape: tuple[int, int, int], sigma: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Returns two pictures, with negative and large values."""
    a = np.where(rng.random(shape) < 0.05, rng.normal(0, 3, shape), rng.random(shape) ** 2)
    return a.astype(np.float32), (a + rng.normal(0, sigma, shape)).astype(np.float32)


def check(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, int, int]) -> None:
    """Compares the norms of all scales, and the score."""
    a, b = noisy(rng, shape)
    expected = reference.norms(a, b)
    size = a.shape[1], a.shape[2]
    sums = kernels.sums_of_rows(gpu, gpu.array(a), gpu.array(b), slice(0, size[0]), size)
    found = kernels._norms(sums, size).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE["norm"])
    assert ssimulacra2(gpu, a, b) == pytest.approx(reference.score(a, b), abs=TOLERANCE["score"])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_formulas(gpu, rng, size) -> None:
    for planes in (1, 3):
        check(gpu, rng, (planes, *size))


@pytest.mark.parametrize("kind", ["pixel", "half"])
def test_light_far_above_white(gpu, kind) -> None:
    a, b = bright(kind)
    assert ssimulacra2(gpu, a, b) == pytest.approx(reference.score(a, b), abs=TOLERANCE["bright"])


@pytest.mark.parametrize("size", [(256, 300), (509, 263)], ids=str)
def test_six_scales(gpu, rng, size) -> None:
    a, b = noisy(rng, (3, *size))
    assert reference.norms(a, b).shape == (3, 12, 3)
    check(gpu, rng, (3, *size))


# The reference program's scores of the pair as PNG files, and of the pair the other way round (cloudinary/ssimulacra2
# of May 2025, which says "SSIMULACRA 2.1"). Its recursive filter and its colour management round in float32.
PROGRAM = {
    (8, 9): (74.90692733, 90.89417408),
    (17, 40): (78.14464188, 86.27937043),
    (61, 97): (38.61390955, 39.63072907),
    (96, 128): (22.81921948, 24.41038473),
    (257, 255): (-22.70173611, -23.37609938),
}


@pytest.mark.parametrize("size", PROGRAM, ids=str)
def test_scores_are_those_of_the_reference_program(gpu, size) -> None:
    a, b = (srgb_light(v) for v in metrics_ssim.pair(*size))
    for pair, expected in zip(((a, b), (b, a)), PROGRAM[size], strict=True):
        score = ssimulacra2(gpu, *pair)
        assert score == pytest.approx(expected, abs=TOLERANCE["program"])
        assert score == pytest.approx(reference.score(*pair), abs=TOLERANCE["score"])


def test_the_window_is_that_of_the_recursive_gaussian() -> None:
    np.testing.assert_allclose(kernels._WINDOW, reference.taps(), rtol=0, atol=1e-15)
    assert len(kernels._WEIGHTS) == 108


@pytest.mark.parametrize("sigma", [1e-2, 1e-3, 1e-4])
def test_small_errors_are_not_lost_to_rounding(gpu, rng, sigma) -> None:
    a = (0.4 + 0.05 * rng.random((3, 64, 70))).astype(np.float32)
    b = (a + rng.normal(0, sigma, a.shape)).astype(np.float32)
    expected = reference.score(a, b)
    assert expected < 100 and ssimulacra2(gpu, a, b) == pytest.approx(expected, abs=TOLERANCE["score"])


def test_equal_pictures_have_exactly_100_with_nan_and_infinity_in_them(gpu, rng) -> None:
    a = noisy(rng, (3, 67, 141))[0]
    a[0, 0, 0], a[0, 5, 6], a[2, 66, 140], a[1, 7, 8] = np.nan, np.inf, -np.inf, np.nan
    assert ssimulacra2(gpu, a, a.copy()) == 100
    black = np.zeros((1, 8, 8), np.float32)
    assert ssimulacra2(gpu, black, black) == 100


def test_what_is_not_finite_against_another_value_gives_nan(gpu, rng) -> None:
    a = noisy(rng, (3, 67, 141))[0]
    for one, other in ((np.nan, 0.5), (0.5, np.nan), (0.5, -np.inf), (np.inf, 0.5), (np.inf, -np.inf)):
        for place in ((0, 0, 0), (2, 64, 128)):
            first, second = a.copy(), a.copy()
            first[place], second[place] = one, other
            assert math.isnan(ssimulacra2(gpu, first, second))
    second = a.copy()
    second[0, 3, 4] = 1e38
    assert not ssimulacra2(gpu, a, second) > -1e6


def test_images_on_the_device_and_runs_give_the_same_bits(gpu, rng) -> None:
    a, b = noisy(rng, (3, 201, 307))
    first, second = gpu.array(a), gpu.array(b)
    assert ssimulacra2(gpu, first, second) == ssimulacra2(gpu, a, b) == ssimulacra2(gpu, first, second)


def test_operands_without_meaning(gpu) -> None:
    a = np.zeros((3, 20, 20), np.float32)
    with pytest.raises(ParameterError, match="8×8 pixels or more, not 20×7: use another metric"):
        ssimulacra2(gpu, a[:, :7], a[:, :7])
    with pytest.raises(ParameterError, match="8×8 pixels or more, not 1×1"):
        ssimulacra2(gpu, a[:, :1, :1], a[:, :1, :1])
    with pytest.raises(ParameterError, match="gray or RGB pictures, not 2 planes: leave alpha out"):
        ssimulacra2(gpu, a[:2], a[:2])
    with pytest.raises(ParameterError, match="linear light as floats, not uint8: decode first"):
        ssimulacra2(gpu, a, a.astype(np.uint8))
    for make in (np.asarray, gpu.array):
        with pytest.raises(ParameterError, match="shapes differ"):
            ssimulacra2(gpu, make(a), make(a[:, :, 1:]))
