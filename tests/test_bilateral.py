"""The bilateral filter against its definition in double precision."""

import numpy as np
import pytest
import skimage.restoration

from gpuops import Gpu, Image, ParameterError
from gpuops.filters.bilateral import bilateral, denoise_bilateral
from gpuops.params.bilateral import BilateralParams
from gpuops.params.border import BORDERS

from .choices import each
from .reference.filters import bilateral as reference
from .reference.images import on
from .tolerance import BILATERAL as TOLERANCE
from .tolerance import ROUNDING

SHAPES = [
    (1, 1),
    (1, 7),
    (9, 1),
    (17, 31),
    (33, 129),
    (70, 150),
]  # tiles are 128 × 32 on CPUs and 32 × 32 on GPUs


def check(gpu: Gpu, x: np.ndarray, params: BilateralParams, alpha: bool = False) -> None:
    got = bilateral(gpu, on(gpu, x, alpha), params)
    assert got.alpha == alpha
    expected = reference(x.astype(np.float32), params, alpha)
    contrast = np.ptp([*x[np.isfinite(x)], params.cval])
    np.testing.assert_allclose(got.numpy(), expected, rtol=ROUNDING, atol=TOLERANCE["definition"] * contrast)


@pytest.mark.parametrize("shape", SHAPES)
def test_is_its_definition(planned, rng, shape) -> None:
    for planes, alpha in ((1, False), (2, True), (3, False), (4, True)):
        check(planned, rng.random((planes, *shape)), BilateralParams(0.3, 1.3), alpha)


@pytest.mark.parametrize("border", list(BORDERS))
def test_borders(planned, rng, border) -> None:
    params = BilateralParams(0.3, 1.3, border=border, cval=0.25)
    for shape in SHAPES[::2]:
        check(planned, rng.random((1, *shape)), params)


@each(window=["square", "round"], win_size=[1, 3, 9, 15, 31])
def test_windows(planned, rng, win_size, window) -> None:
    params = BilateralParams(0.2, 4.0, win_size, window)
    for planes in (1, 3):
        check(planned, rng.random((planes, 41, 67)), params)


@pytest.mark.parametrize("planes", [1, 3])
def test_wide_windows(planned, rng, planes) -> None:
    """On GPUs three planes with this margin are more than local memory holds."""
    check(planned, rng.random((planes, 25, 50)), BilateralParams(0.4, 11.0, 65))


def test_values_of_any_scale(planned, rng) -> None:
    x = rng.random((3, 20, 30))
    for scale in (1e-6, 255.0, 65535.0, 1e12):
        check(planned, x * scale, BilateralParams(0.2 * scale, 2.0))
        check(planned, (x + 50) * scale, BilateralParams(0.2 * scale, 2.0))


@pytest.mark.parametrize("sigmas", [(1e-20, 3.0), (1e-9, 3.0), (0.3, 1e-3), (0.3, 1e-40)])
def test_tiny_sigmas_keep_the_image(planned, rng, sigmas) -> None:
    x = rng.random((3, 40, 50), dtype=np.float32)
    got = bilateral(planned, planned.array(x), BilateralParams(*sigmas)).numpy()
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("params", [(0.0, 2.0), (0.3, 0.0), (0.3, 2.0, 1)])
def test_nothing_to_do_is_exactly_the_input(gpu, rng, params) -> None:
    image = gpu.array(rng.random((1, 8, 8), dtype=np.float32))
    assert bilateral(gpu, image, BilateralParams(*params)) is image


def test_constants_stay_exactly(planned) -> None:
    for value in (0.0, 0.1, -7e30, 3e38):
        x = np.full((3, 37, 45), value, np.float32)
        np.testing.assert_array_equal(
            bilateral(planned, planned.array(x), BilateralParams(0.1, 2.0)).numpy(), x
        )


@each(value=[np.nan, np.inf, -np.inf], where=[0, 2, 3])
def test_what_is_not_finite_stays_where_it_is(planned, rng, where, value) -> None:
    x = rng.random((4, 30, 40))
    x[where, [3, 15, 15, 29], [0, 20, 21, 39]] = value
    check(planned, x, BilateralParams(0.5, 1.5), alpha=True)


def test_is_skimages(gpu, rng) -> None:
    """Weights by distance are even, since skimage 0.26 mixes them up (its table has a row and a column too many). It
    divides the distance of three colours by three, so its sigma is a third. Its weights by colour have 100,000 bins."""
    x = rng.random((24, 31, 3))
    options = {"win_size": 7, "sigma_spatial": 1e4, "cval": 0.2}
    for mode, theirs in (("constant", "constant"), ("reflect", "symmetric"), ("nearest", "edge")):
        for pixels, axis, channels in ((x, -1, 3), (x[..., 0], None, 1)):
            expected = skimage.restoration.denoise_bilateral(
                pixels, sigma_color=0.3 / channels, bins=100_000, mode=theirs, channel_axis=axis, **options
            )
            got = denoise_bilateral(gpu, pixels, sigma_color=0.3, mode=mode, channel_axis=axis, **options)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE["skimage"])


def test_images_and_arrays(gpu, rng) -> None:
    x = rng.random((3, 20, 30), dtype=np.float32)
    image = denoise_bilateral(gpu, gpu.array(x), sigma_color=0.2)
    assert isinstance(image, Image)
    np.testing.assert_array_equal(denoise_bilateral(gpu, x, sigma_color=0.2, channel_axis=0), image.numpy())
    with pytest.raises(ParameterError, match="planes"):
        denoise_bilateral(gpu, gpu.array(x), sigma_color=0.2, channel_axis=0)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="no axis 3"):
        denoise_bilateral(gpu, x, sigma_color=0.2, channel_axis=3)
    for bad in (x, x[0, 0], np.zeros((0, 4)), np.zeros((4, 4), complex)):
        with pytest.raises(ParameterError):
            denoise_bilateral(gpu, bad, sigma_color=0.2)


@pytest.mark.parametrize("bad", [
    {"sigma_color": -1.0}, {"sigma_color": float("nan")}, {"sigma_color": 1e-21},
    {"sigma_spatial": float("inf")}, {"sigma_spatial": 50.0}, {"win_size": 4}, {"win_size": 257},
    {"win_size": 5.5}, {"window": "oval"}, {"border": "sideways"},
])  # fmt: skip
def test_parameters_without_meaning_are_refused(bad) -> None:
    with pytest.raises(ParameterError):
        BilateralParams(**{"sigma_color": 0.1} | bad)
