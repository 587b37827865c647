"""Deconvolution against skimage.restoration in double, and Richardson and Lucy's formula by scipy."""

import re
from typing import Any

import numpy as np
import pytest
import scipy.signal
from scipy import ndimage
from skimage import restoration

from gpuops import Gpu, ParameterError
from gpuops.filters import point_spread
from gpuops.fourier import next_fast_len
from gpuops.ops.deconvolve import OPERATION as deconvolve
from gpuops.ops.deconvolve import DeconvolveParams
from gpuops.tiles import planes

from . import tolerance
from .choices import each
from .operation_cases import CASES

TOLERANCE = tolerance.DECONVOLVE["definition"]
IDENTITIES = [
    DeconvolveParams(sigma=0),
    DeconvolveParams("richardson-lucy", "disc", radius=0.5),
    DeconvolveParams(kind="motion", length=0, angle=20),
    DeconvolveParams("richardson-lucy", sigma=2, iterations=0),
]


def spread(p: DeconvolveParams) -> np.ndarray:
    """The point spread function; those of disc and motion are tested in tests/test_blur.py."""
    if p.kind != "gaussian":
        return point_spread.weights(p.blur())
    radius = int(4.5 * (p.sigma or 0) + 0.5)
    point = np.pad([[1.0]], radius)
    return ndimage.gaussian_filter(point, p.sigma, truncate=4.5)


def mirrored(n: int, size: int) -> np.ndarray:
    """The indices of n samples that go on mirrored on both sides, up to ``size``, the first of them in front."""
    after = (n + size) // 2 - n
    return np.roll(np.pad(np.arange(n), (size - n - after, after), "symmetric"), -(size - n - after))


def wiener(x: np.ndarray, p: DeconvolveParams) -> np.ndarray:
    """skimage's filter, of the image amid its mirror images, which are blurred."""
    psf, (rows, columns) = spread(p), x.shape
    size = next_fast_len(rows + 4 * len(psf)), 2 * next_fast_len(-(-(columns + 4 * psf.shape[1]) // 2))
    around = x[np.ix_(mirrored(rows, size[0]), mirrored(columns, size[1]))]
    around = ndimage.convolve(around, psf, mode="wrap")
    around[:rows, :columns] = x
    reg = np.ones((1, 1)) if p.reg == "constant" else None
    return restoration.wiener(around, psf, p.balance, reg, clip=False)[:rows, :columns]


def richardson_lucy(x: np.ndarray, p: DeconvolveParams) -> np.ndarray:
    psf = spread(p)
    widths = [(n // 2, n // 2) for n in psf.shape]

    def blur(x: np.ndarray) -> np.ndarray:
        return scipy.signal.convolve(np.pad(x, widths, "symmetric"), psf, "valid", "direct")

    estimate, x = np.ones_like(x), np.maximum(x, 0)
    for _ in range(int(p.iterations)):
        soft = blur(estimate)
        above = soft > p.filter_epsilon
        estimate *= blur(np.where(above, x / np.where(above, soft, 1), 0))
    return estimate


def reference(x: np.ndarray, colours: int, p: DeconvolveParams) -> np.ndarray:
    method = wiener if p.method == "wiener" else richardson_lucy
    return np.concatenate([[method(plane, p) for plane in x[:colours]], x[colours:]])


def run(gpu: Gpu, x: np.ndarray, params: DeconvolveParams) -> np.ndarray:
    return deconvolve(gpu, gpu.array(x.astype(np.float32)), params).numpy()


@pytest.mark.parametrize("params", [
    DeconvolveParams(sigma=1.5, balance=0.01),
    DeconvolveParams(kind="disc", radius=2, balance=0.1),
    DeconvolveParams(kind="motion", length=5, angle=30, balance=0.1, reg="constant"),
])  # fmt: skip
def test_wiener_is_skimages_within_the_image(gpu, rng, params) -> None:
    """At its edges an image is its own neighbour there."""
    x, inside = rng.random((140, 151)), np.s_[50:-50, 50:-50]
    reg = np.ones((1, 1)) if params.reg == "constant" else None
    expected = restoration.wiener(x, spread(params), params.balance, reg, clip=False)
    got, allowed = run(gpu, x[None], params)[0], tolerance.DECONVOLVE["skimage's wiener"]
    np.testing.assert_allclose(got[inside], expected[inside], rtol=0, atol=allowed)


@pytest.mark.parametrize("params", [
    DeconvolveParams("richardson-lucy", sigma=1.5, iterations=6),
    DeconvolveParams("richardson-lucy", sigma=6, iterations=3),  # on a coarse grid
    DeconvolveParams("richardson-lucy", "disc", radius=3.3, iterations=6),
    DeconvolveParams("richardson-lucy", "motion", length=7, iterations=6),
    DeconvolveParams("richardson-lucy", "motion", length=7, angle=90, iterations=6, filter_epsilon=0.6),
])  # fmt: skip
def test_richardson_lucy_is_skimages(gpu, rng, params) -> None:
    x = rng.random((40, 50))
    wide = np.pad(x, 150, "symmetric")
    expected = restoration.richardson_lucy(
        wide, spread(params), int(params.iterations), clip=False, filter_epsilon=params.filter_epsilon or None
    )
    allowed = tolerance.DECONVOLVE["skimage's richardson-lucy"]
    np.testing.assert_allclose(run(gpu, x[None], params)[0], expected[150:190, 150:200], rtol=allowed)


BLURS: list[dict[str, Any]] = [
    {"sigma": 2.0},
    {"kind": "disc", "radius": 5.0},
    {"kind": "motion", "length": 15.0, "angle": 30.0},
]


@each(blur=BLURS, method=["wiener", "richardson-lucy"])
def test_it_restores(gpu, rng, blur, method) -> None:
    """Within the image and at its edges, beyond which the scene is not mirrored, in spite of rounding to 8 bits."""
    params = DeconvolveParams(method, **blur)
    scene = ndimage.gaussian_filter(rng.random((300, 300)), 6)
    scene = (scene > np.median(scene)) * 0.5 + np.linspace(0, 0.5, 300)
    blurred = scipy.signal.fftconvolve(scene, spread(params), "same")
    inside = np.s_[50:250, 60:240]
    restored = run(gpu, np.round(blurred[inside] * 255)[None] / 255, params)[0]
    edge = np.ones_like(restored, bool)
    edge[15:-15, 15:-15] = False
    for part, most in ((edge, 0.95), (~edge, 0.87)):
        before, after = (
            np.sqrt(((y - scene[inside])[part] ** 2).mean()) for y in (blurred[inside], restored)
        )
        assert after < most * before


def test_light_stays(gpu, rng) -> None:
    """Both methods keep a constant, and Richardson and Lucy's all light, none of it negative."""
    for params in CASES["deconvolve"]:
        kept = 1 / (1 + params.balance) if params.reg == "constant" else 1.0
        if not params.filter_epsilon:
            np.testing.assert_allclose(run(gpu, np.full((1, 20, 30), 7.0), params), 7 * kept, rtol=TOLERANCE)
    x = rng.gamma(0.2, 2, (1, 40, 50)) - 0.1
    restored = run(gpu, x, CASES["deconvolve"][3])
    assert restored.min() >= 0
    assert restored.sum(dtype=float) == pytest.approx(np.maximum(x, 0).sum(), rel=tolerance.ROUNDINGS)


def test_richardson_lucy_beside_a_sun(gpu, rng) -> None:
    """Errors are relative to the pixel, however bright another one is."""
    x = rng.uniform(1e-3, 2e-3, (1, 40, 60))
    x[0, 20, 10] = 1e6
    for params in CASES["deconvolve"][3], CASES["deconvolve"][5]:
        expected = reference(x.astype(np.float32).astype(float), 1, params)
        np.testing.assert_allclose(run(gpu, x, params), expected, rtol=TOLERANCE)


def test_black(gpu) -> None:
    for params in CASES["deconvolve"]:
        assert not run(gpu, np.zeros((1, 9, 11)), params).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite(gpu, bad) -> None:
    """They spoil their own channel, as far as the reach says."""
    x = np.ones((2, 30, 90))
    x[0, 10, 20] = bad
    wiener = run(gpu, x, CASES["deconvolve"][0])
    assert not np.isfinite(wiener[0]).any() and np.isfinite(wiener[1]).all()
    params = DeconvolveParams("richardson-lucy", "motion", length=5, iterations=3)
    spoilt = ~np.isfinite(run(gpu, x, params))
    assert deconvolve.reach_of(gpu, x.shape, params)[:2] == (0, 10)
    assert spoilt[0, 10, 18:23].all() and not spoilt[0, 10, :10].any() and not spoilt[0, 10, 31:].any()
    assert spoilt.sum() == spoilt[0, 10].sum() == (21 if np.isnan(bad) else 13)


def test_large_images_go_plane_by_plane(gpu, rng, monkeypatch) -> None:
    x = gpu.array(rng.random((4, 23, 31)).astype(np.float32))
    x.alpha = True
    together = [deconvolve(gpu, x, params).numpy() for params in CASES["deconvolve"]]
    monkeypatch.setattr(planes, "_AT_ONCE", 0)
    for params, expected in zip(CASES["deconvolve"], together, strict=True):
        same = tolerance.ROUNDINGS
        np.testing.assert_allclose(deconvolve(gpu, x, params).numpy(), expected, rtol=same, atol=same)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "kind gaussian needs --sigma"),
        ({"kind": "disc", "radius": 2, "sigma": 1}, "sigma belongs to kind gaussian, not to kind disc"),
        (
            {"sigma": 1, "filter_epsilon": 3},
            "filter-epsilon belongs to method richardson-lucy, not to method wiener",
        ),
        (
            {"sigma": 1, "method": "richardson-lucy", "balance": 1},
            "balance belongs to method wiener, not to method richardson-lucy",
        ),
        (
            {"sigma": 1, "method": "richardson-lucy", "iterations": 1001},
            "iterations must be a whole number from 0 to 1000, not 1001",
        ),
        ({"sigma": -1}, "sigma must be from 0 to 30 pixels, not -1"),
    ],
)
def test_refused_parameters(clpix, tmp_path, given, message) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        DeconvolveParams(**given)
    words = [word for k, v in given.items() for word in (f"--{k.replace('_', '-')}", str(v))]
    ran = clpix("deconvolve", tmp_path / "in.png", *words, "-o", tmp_path / "out.png")
    assert ran.code == 2 and len(ran.err.splitlines()) == 1 and message in ran.err
