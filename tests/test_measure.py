"""All figures of two files' pictures: each is that of its own function, or of a peer, on the values that it wants."""

import math

import numpy as np
import pytest
from skimage import color, metrics

from gpuops import Gpu, ParameterError, files
from gpuops.files import Picture
from gpuops.metrics.flip import hdr_flip
from gpuops.metrics.measure import Both, SizeError, measure
from gpuops.metrics.variance import Variance
from gpuops.metrics.z_test import critical
from gpuops.params.comparing import Comparing
from gpuops.params.metrics import METRICS, option_of
from gpuops.params.thresholds import Thresholds

from .reference.colour import srgb_light
from .tolerance import COMPARE

EVERYTHING = Comparing(metrics=tuple(METRICS))


def two(rng: np.random.Generator, shape: tuple[int, int, int] = (192, 200, 3)) -> tuple[Picture, Picture]:
    a = rng.integers(0, 240, shape).astype(np.uint8)
    b = a.copy()
    part = b[20:90, 30:80]
    part += rng.integers(0, 12, part.shape).astype(np.uint8)
    return (Picture(a, alpha=shape[2] in (2, 4)), Picture(b, alpha=shape[2] in (2, 4)))


def figures(gpu: Gpu, a: Picture, b: Picture, how: Comparing = EVERYTHING) -> dict[str, float]:
    return measure(Both(gpu, b, a, how, known(a)), Thresholds()).figures


def known(picture: Picture) -> Variance:
    """A variance that explains some of the noise."""
    return Variance(Picture(np.full(picture.pixels.shape, 1e-5, np.float32), picture.alpha, linear=True))


def test_every_figure_has_its_values(gpu, rng) -> None:
    a, b = two(rng)
    found = figures(gpu, a, b)
    assert list(found) == list(METRICS)
    x, y = a.pixels / 255.0, b.pixels / 255.0
    assert found["max"] == pytest.approx(np.abs(x - y).max(), rel=1e-6)
    assert found["mean"] == pytest.approx(np.abs(x - y).mean(), rel=1e-6)
    assert found["rmse"] == pytest.approx(metrics.mean_squared_error(x, y) ** 0.5, rel=COMPARE["mse"])
    assert found["psnr"] == pytest.approx(metrics.peak_signal_noise_ratio(x, y, data_range=1), abs=1e-4)
    plain = metrics.structural_similarity(x, y, data_range=1, channel_axis=2)
    assert found["ssim-skimage"] == pytest.approx(plain, abs=COMPARE["ssim"])
    lab = [color.xyz2lab(color.rgb2xyz(v), "D65") for v in (x, y)]
    assert found["de2000"] == pytest.approx(color.deltaE_ciede2000(*lab).max(), rel=2e-3)
    assert found["de76"] == pytest.approx(color.deltaE_cie76(*lab).max(), rel=2e-3) and 0 < found["flip"] < 1
    assert 0 < found["hdr-flip"] < 1 and found["pixelmatch-window"] <= found["pixelmatch"]
    assert found["within-radius"] <= (a.pixels != b.pixels).any(axis=2).sum() and 0.5 < found["ms-ssim"] < 1
    assert 0.5 < found["ssim"] < 1
    assert found["z-test"] == pytest.approx(
        100 * (np.abs(x - y) <= critical(192 * 200) * 1e-5**0.5).all(2).mean()
    )


def test_light_and_its_signal_are_the_same_to_figures_of_light(gpu, rng) -> None:
    a, b = two(rng)
    light = [Picture(srgb_light(p.pixels / 255).astype(np.float32), linear=True) for p in (a, b)]
    coded, linear = figures(gpu, a, b), figures(gpu, light[0], light[1])
    for metric, declared in METRICS.items():
        if declared.wants == "light":
            assert linear[metric] == pytest.approx(coded[metric], rel=1e-4), metric
        elif declared.wants == "signal":
            assert linear[metric] == coded[metric], metric


def test_exposures_are_passed_on(gpu, rng) -> None:
    a, b = (rng.gamma(0.5, 3, (20, 30, 3)).astype(np.float32) for _ in range(2))
    pictures = Picture(a, linear=True), Picture(b, linear=True)
    planes = (np.moveaxis(v, -1, 0) for v in (a, b))
    found = figures(gpu, *pictures, Comparing(metrics=("hdr-flip",), exposures=(-2, 3)))
    assert found["hdr-flip"] == hdr_flip(gpu, *planes, exposures=(-2, 3)).mean
    assert found["hdr-flip"] != figures(gpu, *pictures, Comparing(metrics=("hdr-flip",)))["hdr-flip"]
    for wrong in ((1, 0), (0, 127), (math.nan, 1)):
        with pytest.raises(ParameterError, match="exposures must go up"):
            Comparing(exposures=wrong)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_gray_and_alpha(gpu, rng, channels) -> None:
    a, b = two(rng, (192, 200, channels))
    found = figures(gpu, a, b)
    assert set(found) == set(METRICS)
    opaque = [Picture(p.pixels[..., : channels - p.alpha].copy()) for p in (a, b)]
    without = figures(gpu, opaque[0], opaque[1])
    for metric, declared in METRICS.items():
        if declared.wants == "light":
            assert found[metric] == without[metric], metric
    dropped = figures(gpu, a, b, Comparing(metrics=("max", "mean"), alpha=False))
    assert dropped["mean"] == without["mean"]
    if channels > 1:
        only_alpha = a.pixels.copy()
        only_alpha[5, 5, -1] ^= 64
        changed = figures(gpu, a, Picture(only_alpha, alpha=True))
        assert changed["max"] == pytest.approx(64 / 255) and changed["flip"] == 0


def test_equal_pictures_have_the_best_figures(gpu, rng) -> None:
    a, _ = two(rng, (9, 9, 3))
    measured = measure(Both(gpu, a, a, EVERYTHING), Thresholds())
    assert measured.equal and measured.worst is None
    assert measured.figures == {metric: declared.best for metric, declared in METRICS.items()}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nothing_passes_beside_what_is_not_finite(gpu, rng, value) -> None:
    a = rng.random((192, 200, 3)).astype(np.float32)
    b = a.copy()
    b[7, 9, 1] = value
    first, second = Picture(a, linear=True), Picture(b, linear=True)
    limits = {m: -1e30 if d.higher else 1e30 for m, d in METRICS.items() if d.worst is None}
    measured = measure(Both(gpu, second, first, EVERYTHING, known(first)), Thresholds(limits=limits))
    missed = {limit.name for limit in measured.missed}
    wanted = {option_of(m) for m, d in METRICS.items() if d.worst is None}
    # Counts of pixels, which are many at most.
    counted = {"max-pixelmatch", "max-pixelmatch-window", "max-within-radius"}
    assert missed >= wanted - counted and measured.bad == 1


def test_what_is_left_out_counts_nothing(gpu, tmp_path, rng) -> None:
    a, b = two(rng)
    mask = np.full((192, 200, 1), 255, np.uint8)
    mask[20:90, 30:80] = 0
    files.write(tmp_path / "mask.png", Picture(mask))
    for how in (
        Comparing(metrics=tuple(METRICS), mask=str(tmp_path / "mask.png")),
        Comparing(metrics=tuple(METRICS), ignore=((30, 20, 50, 70),)),
    ):
        measured = measure(Both(gpu, b, a, how), Thresholds())
        assert measured.equal and measured.pixels == 192 * 200 - 70 * 50
        assert measured.note == "3500 of 38400 pixels are not compared"
    half = measure(
        Both(gpu, b, a, Comparing(metrics=("mean", "rmse"), ignore=((0, 0, 200, 55),))), Thresholds()
    )
    x, y = (p.pixels[55:] / 255.0 for p in (a, b))
    assert half.figures["mean"] == pytest.approx(np.abs(x - y).mean(), rel=1e-6)
    assert half.figures["rmse"] == pytest.approx(np.sqrt(((x - y) ** 2).mean()), rel=1e-6)


def test_what_cannot_be_compared(gpu, rng) -> None:
    a, _ = two(rng, (20, 30, 3))
    small, gray = Picture(a.pixels[1:]), Picture(a.pixels[..., :1])
    for other in (small, gray):
        with pytest.raises(SizeError):
            Both(gpu, other, a, Comparing())
    with pytest.raises(ParameterError, match="outside"):
        Both(gpu, a, a, Comparing(ignore=((30, 0, 1, 1),)))
    with pytest.raises(ParameterError, match="leave no pixel"):
        Both(gpu, a, a, Comparing(ignore=((0, 0, 99, 99),)))
    other = Picture(a.pixels ^ 1)
    measured = measure(Both(gpu, other, a, Comparing(metrics=("ms-ssim",))), Thresholds())
    assert "176" in measured.undefined["ms-ssim"]
    with pytest.raises(ParameterError, match="176"):
        measure(Both(gpu, other, a, Comparing()), Thresholds(limits={"ms-ssim": 0.5}))
    with pytest.raises(ParameterError, match="can never fail"):
        measure(Both(gpu, other, a, Comparing()), Thresholds(fail=1))
