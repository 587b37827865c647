"""Bloom and starbursts in float64, written from their definitions."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import ndimage

from gpuops.glow import starburst
from gpuops.glow.octaves import columns, levels, octaves
from gpuops.ops.bloom import BloomParams
from gpuops.params.bloom import Aperture
from gpuops.pixels.coding import Decoding, Encoding

from . import borders, colour, tone
from .images import decoded

Array = np.ndarray


def weigh(x: np.ndarray, threshold: float, knee: float, colours: int) -> np.ndarray:
    """The light of pixels (planes, height, width)."""
    finite = np.isfinite(x).all(axis=0)
    x = np.where(finite, x, 0.0)
    if threshold == 0:
        return x
    bright = np.maximum(x[:colours].max(axis=0), 0.0)
    k = threshold * knee
    soft = np.clip(bright - threshold + k, 0, 2 * k) ** 2 / (4 * k) if k else np.zeros_like(bright)
    share = np.maximum(np.maximum(soft, bright - threshold), 0) / np.maximum(bright, 1e-20)
    return x * share


def halve(x: np.ndarray, karis: float, colours: int, border: str = "reflect") -> np.ndarray:
    """Thirteen bilinear taps: five boxes of four taps each, the middle one with weight 1/2, the others 1/8."""
    _, height, width = x.shape
    p = borders.pad(x, ((0, 0), (2, 5), (2, 5)), border)
    means = (p[:, :-1, :-1] + p[:, 1:, :-1] + p[:, :-1, 1:] + p[:, 1:, 1:]) / 4
    rows, columns = (height + 1) // 2, (width + 1) // 2
    total, weights = np.zeros((len(x), rows, columns)), np.zeros((rows, columns))
    boxes = [((-1, 1), (-1, 1), 0.5)] + [
        (ys, xs, 0.125) for ys in ((-2, 0), (0, 2)) for xs in ((-2, 0), (0, 2))
    ]
    luma = [0.2126, 0.7152, 0.0722] if colours == 3 else np.full(colours, 1 / colours)
    for ys, xs, share in boxes:
        taps = [
            means[:, 2 + dy : 2 + dy + 2 * rows : 2, 2 + dx : 2 + dx + 2 * columns : 2]
            for dy in ys
            for dx in xs
        ]
        box = sum(taps) / 4
        weight = share / (1 + karis * np.maximum(np.tensordot(luma, box[:colours], 1), 0))
        total += weight * box
        weights += weight
    return total / weights


def double(x: np.ndarray, height: int, width: int, border: str = "reflect") -> np.ndarray:
    """The tent, then bilinear interpolation at pixel centres."""
    p = borders.pad(x, ((0, 0), (2, 2), (2, 2)), border)
    for axis in (1, 2):
        p = ndimage.correlate1d(p, [0.25, 0.5, 0.25], axis=axis)
    for axis, n in ((1, height), (2, width)):
        at = (np.arange(n) + 0.5) / 2 - 0.5
        below = np.floor(at).astype(int)
        part = (at - below).reshape((-1, 1) if axis == 1 else (1, -1))
        p = np.take(p, below + 2, axis) * (1 - part) + np.take(p, below + 3, axis) * part
    return p


def bloom(x: np.ndarray, params: BloomParams, alpha: bool = False) -> np.ndarray:
    x = x.astype(np.float64)
    colours = len(x) - alpha
    light = weigh(x, params.threshold / params.scale, params.knee, colours)
    shares, width = levels(params, x.shape[1]), x.shape[2]
    chain = [stretched(light, columns(params, *x.shape[1:]))]
    for level in range(1, len(shares)):
        karis = params.karis * params.scale * (level == 1)
        chain.append(halve(chain[-1], karis, colours, params.border))
    glow = np.zeros_like(chain[-1])
    for level in range(len(shares) - 1, 0, -1):
        glow = double(glow + shares[level] * chain[level], *chain[level - 1].shape[1:], params.border)
    return over(x, light, shares[0] * light + stretched(glow, width), params, alpha)


def stretched(x: np.ndarray, width: int) -> np.ndarray:
    """Rows of another width, each sample the mean of what it covers."""
    return np.repeat(x, width, -1).reshape(*x.shape[:-1], width, x.shape[-1]).mean(-1)


def over(x: np.ndarray, light: np.ndarray, glow: np.ndarray, params: BloomParams, alpha: bool) -> np.ndarray:
    added = params.strength * (glow - light if params.blend == "energy" else glow)
    x = np.nan_to_num(x, nan=0.0, posinf=65504.0, neginf=-65504.0)
    if alpha:
        added[-1] = np.clip(added[-1], 0, np.maximum(1 - x[-1], 0))
    return x + added


def bloom_stages(
    pixels: np.ndarray,
    params: BloomParams,
    decoding: Decoding,
    encoding: Encoding,
    operator: str | None = None,
    *,
    metered: bool = False,
    glowing: Callable[..., np.ndarray] = bloom,
) -> tuple[np.ndarray, int, int]:
    """bloom_pixels, one operation after the other, before values are rounded; pixels not finite, and negative ones.

    The operator gets straight colours, as if the bloom had been written to a file and read.
    """
    v, alpha = decoded(pixels, replace(decoding, premultiply=False)), decoding.alpha
    colours = len(v) - alpha
    if metered:
        y = np.tensordot(tone.REC709, v[:3], 1) if colours == 3 else v[0]
        stops = np.log2(0.18 / y[np.isfinite(y) & (y > 0)])
        params = replace(params, exposure=float(stops.mean()))
    if alpha and decoding.premultiply:
        v[:colours] *= v[-1]
    broken, negative = int((~np.isfinite(v).all(0)).sum()), 0
    v = glowing(v, params, alpha)
    if alpha and encoding.unpremultiply:
        v[:colours] = np.divide(v[:colours], v[-1], out=v[:colours].copy(), where=v[-1] > 0)
    if operator:
        negative = int((v[:colours] < 0).any(0).sum())
        light = np.maximum(v[:colours], 0) * params.scale
        three = np.repeat(light, 3, 0) if colours == 1 else light
        shown = tone.OPERATORS[operator](three, 11.2)
        v[:colours] = tone.luminance(shown) if colours == 1 else shown
    if encoding.encode:
        v[:colours] = np.copysign(colour.srgb_signal(np.abs(v[:colours])), v[:colours])
    return np.moveaxis(v, 0, -1), broken, negative


def bloom_of_gaussians(x: np.ndarray, params: BloomParams, alpha: bool = False) -> np.ndarray:
    """The method ``gaussians``, by scipy."""
    x = x.astype(np.float64)
    light = weigh(x, params.threshold / params.scale, params.knee, len(x) - alpha)
    glow = sum(
        share * ndimage.gaussian_filter(light, (0, s, s), truncate=6, mode=borders.modes(params.border))
        for s, share in octaves(params, x.shape[1])
    )
    return over(x, light, glow, params, alpha)


def polygon_transform(blades: int, x: Array, y: Array) -> Array:
    """The Fourier transform of a polygon with the area π and a blade in the direction of x, divided by π: Green's
    theorem, edge by edge."""
    corners = np.exp(1j * np.pi * (2 * np.arange(blades) + 1) / blades)
    corners *= math.sqrt(math.pi / (blades / 2 * math.sin(2 * math.pi / blades)))
    total = np.zeros(np.broadcast(x, y).shape, complex)
    for a, b in zip(corners, np.roll(corners, -1), strict=True):
        d, middle = b - a, (a + b) / 2
        share = np.sinc((x * d.real + y * d.imag) / 2 / np.pi)
        total += (x * d.imag - y * d.real) * share * np.exp(-1j * (x * middle.real + y * middle.imag))
    square = x * x + y * y
    return np.where(square > 0, 1j * total / np.maximum(square, 1e-30) / np.pi, 1)


def burst(aperture: Aperture, reach: float, unit: float, every: int) -> Array:
    """The kernel (4, n, n) of a polygon, every so many wavelengths. ``unit``: v of a pixel."""
    half, per = math.ceil(reach), math.ceil(unit / 0.75)
    at = (np.arange((2 * half + 1) * per) + 0.5) / per - 0.5 - half
    x, y = at, -at[:, None]
    turned = (x + 1j * y) * np.exp(-1j * math.radians(aperture.angle)) * unit
    light = 0
    for *rgb, s in starburst._responses()[::every]:
        pattern = abs(polygon_transform(aperture.blades, turned.real * s, turned.imag * s)) ** 2
        light = light + np.array(rgb)[:, None, None] * (s * s * pattern)
    y709 = np.tensordot([0.2126, 0.7152, 0.0722], light, 1)
    light = y709 + (light - y709) * y709 / (y709 - np.minimum(light.min(0), 0))
    light = np.concatenate([light, y709[None]]) * np.maximum(1 - (x * x + y * y) / reach**2, 0) ** 2
    kernel = light.reshape(4, 2 * half + 1, per, 2 * half + 1, per).mean((2, 4))
    return kernel / kernel.sum((1, 2), keepdims=True)
