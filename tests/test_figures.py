"""All figures of two files' pictures, by their records: each is that of a reference, on the values that it wants."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import maximum_filter, uniform_filter
from skimage import metrics

from gpuops import Gpu, ParameterError, files
from gpuops.figures import FIGURES
from gpuops.files import Picture
from gpuops.metrics.flip import hdr_flip
from gpuops.metrics.measure import Pair, SizeError, measure
from gpuops.metrics.variance import Variance, critical
from gpuops.params.comparing import Comparing
from gpuops.params.thresholds import Thresholds

from .reference import flip, metrics_delta_e, metrics_pixelmatch, metrics_ssim, metrics_ssimulacra2
from .reference.colour import srgb_light
from .reference.metrics import luminance, skimage_ssim
from .test_pu21 import reference as pu21
from .tolerance import FIGURES as TOLERANCE

EVERYTHING = Comparing(metrics=tuple(FIGURES), window=9, radius=2, tolerance=2.5 / 255)
VARIANCE = 1e-5
Array = npt.NDArray[np.float64]


def two(rng: np.random.Generator, shape: tuple[int, int, int] = (192, 200, 3)) -> tuple[Picture, Picture]:
    a = rng.integers(0, 240, shape).astype(np.uint8)
    b = a.copy()
    part = b[20:90, 30:80]
    part += rng.integers(0, 12, part.shape).astype(np.uint8)
    part[::7] = 255 - part[::7]
    return (Picture(a, alpha=shape[2] in (2, 4)), Picture(b, alpha=shape[2] in (2, 4)))


def figures(gpu: Gpu, a: Picture, b: Picture, how: Comparing = EVERYTHING) -> dict[str, float]:
    return measure(Pair.of(gpu, b, a, how, known(a)), Thresholds()).figures


def known(picture: Picture) -> Variance:
    """A variance that explains some of the noise."""
    return Variance(Picture(np.full(picture.pixels.shape, VARIANCE, np.float32), picture.alpha, linear=True))


def different(x: Array, y: Array) -> npt.NDArray[np.bool_]:
    """Where pixelmatch's δ is above its threshold of 0.1; none of these pixels is a smooth edge's, as all is noise."""
    x, y = (np.moveaxis(np.concatenate([v, np.ones_like(v[:1])]), 0, 2) * 255 for v in (x, y))
    return metrics_pixelmatch.delta(x, y, 0.0) > 35215 * 0.1**2


def alone(x: Array, y: Array) -> npt.NDArray[np.bool_]:
    """Where no pixel of the other picture within two pixels is alike in every channel."""
    found = np.zeros(x.shape[1:], bool)
    for one, other in ((x, y), (y, x)):
        padded = np.pad(other, ((0, 0), (2, 2), (2, 2)), constant_values=9)
        shifted = (padded[:, r : r + x.shape[1], c : c + x.shape[2]] for r in range(5) for c in range(5))
        found |= np.all([np.abs(one - of).max(0) > 2.5 / 255 for of in shifted], 0)
    return found


def of_luminance(x: Array, y: Array) -> float:
    return skimage_ssim(*(pu21(203 * luminance(v)[None]) for v in map(srgb_light, (x, y))), 256)


#: Of two pictures (channels, rows, columns) of the signal 0 … 1, in double precision.
REFERENCES: dict[str, Callable[[Array, Array], float]] = {
    "max": lambda x, y: np.abs(x - y).max(),
    "mean": lambda x, y: np.abs(x - y).mean(),
    "rmse": lambda x, y: metrics.mean_squared_error(x, y) ** 0.5,
    "psnr": lambda x, y: metrics.peak_signal_noise_ratio(x, y, data_range=1),
    "ssim": lambda x, y: skimage_ssim(x, y, 1),
    "ssim-skimage": lambda x, y: metrics.structural_similarity(x, y, data_range=1, channel_axis=0),
    "ms-ssim": lambda x, y: metrics_ssim.multiscale(x, y, 1.0),
    "flip": lambda x, y: flip.flip(srgb_light(x), srgb_light(y)).mean(),
    "hdr-flip": lambda x, y: flip.hdr_flip(
        srgb_light(x), srgb_light(y), flip.exposures(srgb_light(x), "aces"), "aces"
    )[0].mean(),
    "de76": lambda x, y: metrics_delta_e.of_light("76", srgb_light(x), srgb_light(y)).max(),
    "de2000": lambda x, y: metrics_delta_e.of_light("2000", srgb_light(x), srgb_light(y)).max(),
    "mean-de2000": lambda x, y: metrics_delta_e.of_light("2000", srgb_light(x), srgb_light(y)).mean(),
    "de-itp": lambda x, y: metrics_delta_e.of_light("itp", srgb_light(x), srgb_light(y)).max(),
    "ssimulacra2": lambda x, y: metrics_ssimulacra2.score(srgb_light(x), srgb_light(y)),
    "pixelmatch": lambda x, y: different(x, y).sum(),
    "pixelmatch-window": lambda x, y: maximum_filter(
        np.rint(81 * uniform_filter(different(x, y).astype(float), 9))[4:-4, 4:-4], 1
    ).max(),
    "within-radius": lambda x, y: alone(x, y).sum(),
    "z-test": lambda x, y: 100 * (np.abs(x - y) <= critical(x[0].size) * VARIANCE**0.5).all(0).mean(),
    "pu-psnr": lambda x, y: metrics.peak_signal_noise_ratio(
        pu21(203 * srgb_light(x)), pu21(203 * srgb_light(y)), data_range=256
    ),
    "pu-ssim": of_luminance,
}


def test_every_figure_is_that_of_its_reference(gpu, rng) -> None:
    a, b = two(rng)
    found = figures(gpu, a, b)
    assert list(found) == list(FIGURES) and set(REFERENCES) == set(FIGURES)
    x, y = (np.moveaxis(p.pixels / 255.0, 2, 0) for p in (a, b))
    for name, reference in REFERENCES.items():
        assert found[name] == pytest.approx(float(reference(x, y)), **TOLERANCE.get(name, {"rel": 0})), name
    assert found["pixelmatch"] > 0 and found["within-radius"] > 0 and 0 < found["z-test"] < 100


def test_the_page_tells_of_every_figure() -> None:
    script = Path(__file__).parents[1] / "docs" / "figures.py"
    page = runpy.run_path(str(script))
    assert page["PAGE"].read_text("utf-8") == page["page"]()


def test_light_and_its_signal_are_the_same_to_figures_of_light(gpu, rng) -> None:
    a, b = two(rng)
    light = [Picture(srgb_light(p.pixels / 255).astype(np.float32), linear=True) for p in (a, b)]
    coded, linear = figures(gpu, a, b), figures(gpu, light[0], light[1])
    for name, figure in FIGURES.items():
        if figure.wants == "light":
            assert linear[name] == pytest.approx(coded[name], rel=1e-4), name
        elif figure.wants == "codes":
            assert linear[name] == coded[name], name


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
    assert set(found) == set(FIGURES)
    opaque = [Picture(p.pixels[..., : p.colours].copy()) for p in (a, b)]
    without = figures(gpu, opaque[0], opaque[1])
    for name, figure in FIGURES.items():
        if figure.wants == "light":
            assert found[name] == without[name], name
    dropped = figures(gpu, a, b, Comparing(metrics=("max", "mean"), alpha=False))
    assert dropped["mean"] == without["mean"]
    if channels > 1:
        only_alpha = a.pixels.copy()
        only_alpha[5, 5, -1] ^= 64
        changed = figures(gpu, a, Picture(only_alpha, alpha=True))
        assert changed["max"] == pytest.approx(64 / 255)
        assert changed["flip"] == 0


def test_equal_pictures_have_the_best_figures(gpu, rng) -> None:
    """Also those that are not defined for so small pictures."""
    a, _ = two(rng, (9, 9, 3))
    measured = measure(Pair.of(gpu, a, Picture(a.pixels.copy()), EVERYTHING), Thresholds())
    assert measured.equal and measured.worst is None
    assert measured.figures == {name: figure.best for name, figure in FIGURES.items()}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nothing_passes_beside_what_is_not_finite(gpu, rng, value) -> None:
    a = rng.random((192, 200, 3)).astype(np.float32)
    b = a.copy()
    b[7, 9, 1] = value
    first, second = Picture(a, linear=True), Picture(b, linear=True)
    endless = {n: f for n, f in FIGURES.items() if f.worst is None or f.worst == "range"}
    limits = {name: -1e30 if figure.higher else 1e30 for name, figure in endless.items()}
    measured = measure(Pair.of(gpu, second, first, EVERYTHING, known(first)), Thresholds(limits=limits))
    assert {limit.name for limit in measured.missed} >= {figure.option for figure in endless.values()}
    assert measured.bad == 1


def test_what_is_left_out_counts_nothing(gpu, tmp_path, rng) -> None:
    a, b = two(rng)
    mask = np.full((192, 200, 1), 255, np.uint8)
    mask[20:90, 30:80] = 0
    files.write(tmp_path / "mask.png", Picture(mask))
    for how in (
        Comparing(metrics=tuple(FIGURES), mask=str(tmp_path / "mask.png")),
        Comparing(metrics=tuple(FIGURES), ignore=((30, 20, 50, 70),)),
    ):
        measured = measure(Pair.of(gpu, b, a, how), Thresholds())
        assert measured.equal
        assert measured.pixels == 192 * 200 - 70 * 50
        assert measured.note == "3500 of 38400 pixels are not compared"
    how = Comparing(metrics=("mean", "rmse", "mean-de2000"), ignore=((0, 0, 200, 55),))
    half = measure(Pair.of(gpu, b, a, how), Thresholds()).figures
    x, y = (np.moveaxis(p.pixels[55:] / 255.0, 2, 0) for p in (a, b))
    for name in how.metrics:
        assert half[name] == pytest.approx(float(REFERENCES[name](x, y)), rel=1e-5), name


def test_what_cannot_be_compared(gpu, rng) -> None:
    a, _ = two(rng, (20, 30, 3))
    small, gray = Picture(a.pixels[1:]), Picture(a.pixels[..., :1])
    for other in (small, gray):
        with pytest.raises(SizeError):
            Pair.of(gpu, other, a, Comparing())
    with pytest.raises(ParameterError, match="outside"):
        Pair.of(gpu, a, a, Comparing(ignore=((30, 0, 1, 1),)))
    with pytest.raises(ParameterError, match="leave no pixel"):
        Pair.of(gpu, a, a, Comparing(ignore=((0, 0, 99, 99),)))
    other = Picture(a.pixels ^ 1)
    measured = measure(Pair.of(gpu, other, a, Comparing(metrics=("ms-ssim",))), Thresholds())
    assert "176" in measured.undefined["ms-ssim"]
    with pytest.raises(ParameterError, match="176"):
        measure(Pair.of(gpu, other, a, Comparing()), Thresholds(limits={"ms-ssim": 0.5}))
    with pytest.raises(ParameterError, match="can never fail"):
        measure(Pair.of(gpu, other, a, Comparing()), Thresholds(fail=1))
