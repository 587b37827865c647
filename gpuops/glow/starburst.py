"""Starbursts: the light that a lens's aperture diffracts, as a convolution kernel for bloom.

Far behind an aperture A, light of the wavelength λ lies as |F A|², the square of its Fourier transform (Fraunhofer),
at a scale that grows with λ: the kernel is the sum of that pattern over the visible wavelengths, each as wide as its
λ and as bright as the eye's response. After Ritschel et al., "Temporal Glare", Eurographics 2009, and Hullin et al.,
"Physically-Based Real-Time Lens Flare Rendering", SIGGRAPH 2011, which also scale one transform by the wavelength.

Lengths are in units of v = 2π·a·x/λf: a round aperture of radius a throws (2·J1(v)/v)², dark first at v = 3.83; beyond
v there is 2/πv of its light. Other apertures are drawn with the round one's area, so that their cores are alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import fourier as fft
from ..errors import DeviceError, TooLongError
from ..fourier.engine.radices import next_fast_size
from ..gpu import Gpu
from ..image import Image
from ..params.bloom import Aperture

Array = npt.NDArray[np.float32]
Exact = npt.NDArray[np.float64]

# The wavelength in nm for which v is defined.
GREEN = 550.0
# The share of a round aperture's green light that lies within RADIUS.
HELD = 0.99
# The value of v within which that share lies.
RADIUS = 2 / (math.pi * (1 - HELD))
# The number of radii from the middle to where the rays have faded out; 99.9 % of the light is within.
REACH = 10

# Wavelengths in nm: so many that the shifted rings of neighbouring ones leave no beads along the rays.
_NM = np.linspace(390.0, 710.0, 400)
# The matrix from CIE XYZ to linear Rec. 709.
_REC709 = np.array(((3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.2040, 1.0570)))

# The largest v at which the pattern is needed: that of the shortest wavelength at the rim.
_FARTHEST = REACH * RADIUS * GREEN / _NM[0]
# The radius, in samples, of the aperture that is transformed; the transform's outer frequencies are not used.
_SIZE = _FARTHEST / (0.6 * math.pi)
# Rows and columns of the samples that are transformed.
_LENGTH = 4096
# The σ, in samples, of the aperture's soft edge, which leaves hardly any frequencies beyond the transform's.
_SOFT = 0.75
# The step in v of polar samples along a ray, where rings are π apart.
_STEP = 0.25
# The step in v of polar samples along the arc at the rim.
_ARC = 0.7
# The step in v of samples within a pixel, at most.
_FINEST = 0.75
# Spectra of a plane that are there while it is convolved, beside the kernel's.
_AT_WORK = 2


class _Spread(NamedTuple):
    """A transfer function for each plane of a kernel, and the share of each pixel's glow that stays in the frame."""

    taps: int
    size: tuple[int, int]
    transfers: list[Image]
    border: str
    inside: Image


def glow(gpu: Gpu, light: Image, aperture: Aperture, radius: float, *, around: bool = False) -> Image:
    """Returns the starbursts of an image's light, in any number of planes; those of gray light and of alpha are gray.

    Light that would leave the frame stays in its pixel: constants stay constant, sums stay the same, and no ray comes
    back from the border.

    Parameters
    ----------
    radius : float
        As for :func:`starburst`, but as a fraction of the image's height. The rays have faded out one height away.
    around : bool
        Rows go round: light that leaves the frame to the left comes back from the right.

    Raises
    ------
    DeviceError
        Local memory is too small for the transforms' rows.
    """
    planes, height, width = light.shape
    gray, border = light.colours != 3, "wrap-x-constant" if around else "constant"
    kept: dict[object, _Spread] = gpu.kept("starburst", dict)  # the last one only: it is large
    key = (aperture, radius, height, width, gray, light.alpha, around)
    spread = kept.get(key)
    if spread is None:
        kept.clear()
        kernel = starburst(gpu, aperture, radius * height, height)
        weights = kernel[3:] if gray else kernel[: 3 + light.alpha]
        spread = kept[key] = _spread(gpu, weights, (height, width), border)
    result = _gathered(gpu, light, spread)
    gpu.compute(
        "starburst", "stay", (height * width, planes), light, spread.inside, result, height * width, planes,
        len(spread.transfers), group=256, label="starburst stay",
        traffic=2 * result.nbytes + light.nbytes + spread.inside.nbytes,
    )  # fmt: skip
    return result


def starburst(gpu: Gpu, aperture: Aperture, radius: float, reach: float = math.inf) -> Array:
    """Returns the kernel of an aperture, for a glow in linear Rec. 709.

    Every plane sums to 1: the glow of white light is white as a whole, bluish within and reddish without. Colours
    beyond Rec. 709 are moved towards the gray of their luminance.

    Parameters
    ----------
    radius : float
        In pixels: 99 % of the green light of a round aperture of the same area lies within. The first dark ring is at
        0.06 of it.
    reach : float
        In pixels: the rays have faded out there, or at ten times the radius where that is less.

    Returns
    -------
    float32 (4, n, n), n odd: red, green, blue, and luminance for other light. Nowhere negative. The pixel
    in the middle is the origin.
    """
    # A kernel narrower than a pixel is made of one that is a pixel wide: the light outside of the middle pixel is
    # proportional to the radius, and the rest stays in the middle.
    share, radius = min(radius, 1.0), max(radius, 1.0)
    reach = _reach(radius, reach)
    half = math.ceil(reach)
    polar = gpu.kept(("starburst", aperture.blades, aperture.roundness), lambda: _polar(gpu, aperture))
    angles, distances, _ = polar.shape
    unit = RADIUS / radius
    pixels = gpu.empty((4, 2 * half + 1, 2 * half + 1))
    gpu.compute(
        "starburst", "pixels", (2 * half + 1, half + 1), polar, pixels, half, math.ceil(unit / _FINEST), angles,
        distances, _sector(aperture), math.radians(aperture.angle % 360), unit / _STEP, float(reach), group=(16, 16),
        label="starburst pixels", traffic=pixels.nbytes,
    )  # fmt: skip
    kernel: Array = pixels.numpy().astype(np.float32, copy=False)
    kernel *= (share / kernel.sum((1, 2), keepdims=True, dtype=np.float64)).astype(np.float32)
    kernel[:, half, half] += np.float32(1 - share)
    return kernel


def nbytes(shape: tuple[int, int, int], radius: float) -> float:
    """Returns the bytes of the transforms that :func:`glow` takes, for planes (planes, height, width)."""
    planes, height, width = shape
    taps = 2 * math.ceil(_reach(radius * height, height)) + 1
    rows, columns = _size(taps, (height, width))
    return float((planes + _AT_WORK) * 8 * rows * (columns // 2 + 1))


def _reach(radius: float, most: float) -> float:
    """Returns how many pixels away from the middle the rays have faded out."""
    return max(min(most, REACH * max(radius, 1.0)), 1.0)


def _size(taps: int, frame: tuple[int, int]) -> tuple[int, int]:
    """Returns the rows and columns that are transformed."""
    return next_fast_size(frame[0] + taps - 1, frame[1] + taps - 1)


def _spread(gpu: Gpu, kernel: Array, frame: tuple[int, int], border: str) -> _Spread:
    taps = kernel.shape[1]
    size = _size(taps, frame)
    transfers = [fft.transfer_function(gpu, gpu.array(plane[None]), size) for plane in kernel]
    ones = gpu.array(np.ones((len(kernel), *frame), np.float32))
    spread = _Spread(taps, size, transfers, border, ones)
    return spread._replace(inside=_gathered(gpu, ones, spread))


def _gathered(gpu: Gpu, light: Image, spread: _Spread) -> Image:
    """Returns the light convolved with the kernel; beyond the frame it is dark, but for rows that go round."""
    result, taps = light.like(), (spread.taps, spread.taps)
    for plane in range(light.shape[0]):
        at = slice(plane, plane + 1)
        transfer = spread.transfers[plane % len(spread.transfers)]
        try:
            part = fft.convolution(gpu, light.planes(at), transfer, taps, spread.size, spread.border, 0.0)
        except TooLongError as error:
            message = f"the starburst's transforms, {spread.size[1]} points a row, do not fit local memory"
            raise DeviceError(f"{message}: use a smaller radius or image") from error
        result.put(at, part)
    return result


# -- the aperture -------------------------------------------------------------------------------------------------


def _edge(aperture: Aperture, x: Exact, along: Exact) -> Exact:
    """Returns the signed distance from a blade's edge, negative inside; the corners are 1 away from the centre.

    ``x`` is the distance from the centre, ``along`` its part in the direction of the blade. With c = cos(π/N) the edge
    is F = (1 − R)(along − c) + R(x² − 1)/2 = 0: a line at R = 0, the circle at R = 1, an arc of a circle between, and
    always through both corners. |∇F| is the same, G, all over the edge, so that the distance is 2F/(|∇F| + G).
    """
    r, b, c = aperture.roundness, 1 - aperture.roundness, math.cos(math.pi / aperture.blades)
    f: Exact = b * (along - c) + r / 2 * (x * x - 1)
    g2 = r * r + 2 * r * b * c + b * b
    distance: Exact = 2 * f / (np.sqrt(np.maximum(g2 + 2 * r * f, 0)) + math.sqrt(g2))
    return distance


def _corner(aperture: Aperture) -> float:
    """Returns the distance of the corners from the centre if the area is π."""
    r, b, c = aperture.roundness, 1 - aperture.roundness, math.cos(math.pi / aperture.blades)
    angles = (np.arange(1000) + 0.5) / 1000 * math.pi / aperture.blades
    along = b * np.cos(angles)
    edge = (r + 2 * b * c) / (along + np.sqrt(along * along + r * r + 2 * r * b * c))  # where _edge is 0
    return float(1 / np.sqrt(np.mean(edge * edge)))


def _drawn(aperture: Aperture) -> Array:
    """Draws the aperture of radius _SIZE with a soft edge, a Gaussian's integral, so that its effect can be undone."""
    corner = _SIZE * _corner(aperture)
    n = math.ceil(corner + 6 * _SOFT)
    x = np.arange(-n, n + 1) / corner
    distance, angle = np.hypot(x, x[:, None]), np.arctan2(x[:, None], x)
    blade = 2 * math.pi / aperture.blades
    angle = np.abs((angle + blade / 2) % blade - blade / 2)  # from the nearest blade's direction
    soft = np.linspace(-6, 6, 1201)
    inside = np.array([0.5 * math.erfc(s / math.sqrt(2)) for s in soft])
    result = np.ones(distance.shape, np.float32)
    for turn in (0.0, blade):  # the nearest blade and, at corners, its neighbour
        edge = _edge(aperture, distance, distance * np.cos(turn - angle))
        if not (turn and aperture.roundness == 1):  # a circle is all one blade
            result *= np.interp(edge * (corner / _SOFT), soft, inside).astype(np.float32)
    return result


# -- its pattern, in polar coordinates ------------------------------------------------------------------------------


def _sector(aperture: Aperture) -> float:
    """Returns the angle from a ray to the next axis of symmetry, where the pattern mirrors itself."""
    rays = aperture.blades if aperture.blades % 2 == 0 else 2 * aperture.blades
    return math.pi / rays


def _polar(gpu: Gpu, aperture: Aperture) -> Image:
    """Returns light of all wavelengths: (angles from a ray over a sector, distances by _STEP, rgb and luminance)."""
    pattern = _pattern(gpu, aperture)
    _, angles, wide = pattern.shape
    distances = math.ceil(REACH * RADIUS / _STEP) + 1
    responses = gpu.array(_responses().astype(np.float32))
    result = gpu.empty((angles, distances, 4))
    gpu.compute(
        "starburst", "colours", (distances, angles), pattern, responses, result, len(_NM), wide, angles, distances,
        group=64, label="starburst colours",
    )  # fmt: skip
    return result


def _pattern(gpu: Gpu, aperture: Aperture) -> Image:
    """Returns |F A|² for one wavelength: (1, angles, distances), 1 in the middle."""
    drawn = _drawn(aperture)
    drawn /= drawn.sum(dtype=np.float64)
    spectrum = fft.transfer_function(gpu, gpu.array(drawn[None]), (_LENGTH, _LENGTH))
    sector, distances = _sector(aperture), math.ceil(_FARTHEST / _STEP) + 2
    angles = math.ceil(sector * REACH * RADIUS / _ARC) + 1
    result = gpu.empty((1, angles, distances))
    gpu.compute(
        "starburst", "pattern", (distances, angles), spectrum, result, _LENGTH, angles, distances, sector, _STEP,
        _LENGTH / (2 * math.pi * _SIZE), _SOFT / _SIZE, group=64, label="starburst pattern",
    )  # fmt: skip
    return result


# -- light of all wavelengths -----------------------------------------------------------------------------------------


def _responses() -> Exact:
    """Returns (wavelengths, 4): how much each gives to red, green and blue, and GREEN / λ. A flat spectrum is white."""
    responses = _REC709 @ xyz(_NM)
    responses /= responses.sum(1, keepdims=True)
    return np.column_stack((responses.T, GREEN / _NM))


def xyz(nm: Exact) -> Exact:
    """Returns the CIE 1931 colour matching functions (3, wavelengths), by Wyman, Sloan, Shirley, "Simple Analytic
    Approximations to the CIE XYZ Color Matching Functions", JCGT 2(2), 2013: the multi-lobe fit."""

    def lobe(height: float, mean: float, below: float, above: float) -> Exact:
        result: Exact = height * np.exp(-0.5 * ((nm - mean) / np.where(nm < mean, below, above)) ** 2)
        return result

    return np.stack(
        (
            lobe(1.056, 599.8, 37.9, 31.0) + lobe(0.362, 442.0, 16.0, 26.7) + lobe(-0.065, 501.1, 20.4, 26.2),
            lobe(0.821, 568.8, 46.9, 40.5) + lobe(0.286, 530.9, 16.3, 31.1),
            lobe(1.217, 437.0, 11.8, 36.0) + lobe(0.681, 459.0, 26.0, 13.8),
        )
    )
