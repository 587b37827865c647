"""Tables of colours in float64: curves, and tetrahedral interpolation; and a small picture's mean light."""

import numpy as np

from gpuops.params.lut import LutParams
from gpuops.tone.contact_sheet import GREY
from gpuops.tone.lut import Lut

from . import colour


def tetrahedral(lut: Lut, v: np.ndarray) -> np.ndarray:
    """The colours (…, 3) that the table gives for colours (…, 3), pixel by pixel, in float64."""
    table, n = lut.table.astype(np.float64), lut.size
    low, high = np.array(lut.low), np.array(lut.high)
    result = np.empty(v.shape)
    for at in np.ndindex(v.shape[:-1]):
        x = np.clip((v[at] - low) / (high - low), 0, 1) * (n - 1)
        here = np.minimum(x.astype(int), n - 2)
        fraction = x - here
        result[at] = table[tuple(here[::-1])]
        for axis in np.argsort(-fraction):  # from the largest to the smallest, a step each
            before = table[tuple(here[::-1])]
            here[axis] += 1
            result[at] += fraction[axis] * (table[tuple(here[::-1])] - before)
    return result


def along_curves(lut: Lut, v: np.ndarray) -> np.ndarray:
    grids = (np.linspace(low, high, lut.size) for low, high in zip(lut.low, lut.high, strict=True))
    return np.stack([np.interp(v[..., c], grid, lut.table[:, c]) for c, grid in enumerate(grids)], -1)


def mapped(params: LutParams, light: np.ndarray) -> np.ndarray:
    """The result for light (3, …), in float64."""
    c = np.moveaxis(light.astype(np.float64), 0, -1)
    if params.input == "srgb":
        c = colour.srgb_signal(c)
    elif params.input == "reinhard":
        c = c / (1 + c)
    elif params.input == "log2":
        low, high = params.stops or (0, 1)
        c = (np.log2(np.maximum(c, 2.0**-200)) - low) / (high - low)
    if params.lut.shaper is not None:
        c = along_curves(params.lut.shaper, c)
    v = np.maximum((along_curves if params.lut.curves else tetrahedral)(params.lut, c), 0)
    if params.output == "srgb":
        v = colour.srgb_light(v)
    return np.moveaxis(v, -1, 0)


def shares(size: int, count: int) -> np.ndarray:
    """(count, size): how much of each sample of an axis is in each of ``count`` equal parts of it, of sum 1."""
    edges = np.arange(count + 1) * size / count
    low, high = (
        np.maximum(edges[:-1, None], np.arange(size)),
        np.minimum(edges[1:, None], np.arange(1, size + 1)),
    )
    return np.maximum(high - low, 0) * count / size


def reduced(pixels: np.ndarray, height: int, width: int, *, alpha: bool = False) -> np.ndarray:
    """Planar light as a display shows it over grey, averaged over areas."""
    light = np.clip(pixels.astype(np.float64), 0, 1)
    if alpha:
        light = GREY + light[-1] * (light[:-1] - GREY)
    return shares(pixels.shape[1], height) @ light @ shares(pixels.shape[2], width).T
