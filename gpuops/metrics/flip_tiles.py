"""The launches of FLIP: where tiles differ, and the errors there; see flip_error.cl and flip_tiles.cl."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Define, Gpu, Kernel, Local
from ..image import Image

# The sides (across, down) of tiles: a CPU's are few and large, a GPU's are many and small.
_CPU_TILE, _GPU_TILE = (64, 64), (32, 32)
# Work-items of a group, at most.
_ITEMS = 256
# Groups of a compute unit: a CPU's share the tiles more evenly, a GPU's hide each other's waiting.
_GROUPS = 4
# Rows taken at a time at most, and bytes of local memory for them.
_LINES, _LINES_BYTES = 16, 24 << 10
# Rounds of a work-item's loops, at most, where work-items are the lanes: llvmpipe ends loops after 65535 altogether.
_ROUNDS = 50_000
#: Pixels of a block's side, as in flip_tiles.cl.
BLOCK = 16
# Planes that the filters along x make of both pictures, in scratch memory.
_PLANES = 14
# Contrast sensitivities: amplitudes and widths in degrees² of Gaussians a √(π/b) exp(−π² d²/b).
_LUMA, _RED_GREEN = (1.0, 0.0047), (1.0, 0.0053)
_BLUE_YELLOW = ((34.1, 0.04), (13.5, 0.025))
# The width of the feature detectors' Gaussian in degrees; σ is half of it.
_FEATURE_DEGREES = 0.082
# The share of a filter's sum that float32 loses in any case; taps beyond are left out.
_LOST = 2.5e-7

Weights = npt.NDArray[np.float64]
Blocks = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tone:
    """The tone curve (k0 x² + k1 x + k2) / (k3 x² + k4 x + k5), for each channel or divided by one luminance."""

    k: tuple[float, float, float, float, float, float]
    by_luminance: bool = False


@dataclass(frozen=True)
class FlipFilters:
    """The filters for a number of pixels per degree, from the centre outwards, and their radii."""

    few: int
    many: int
    feature: int
    weights: Weights

    @property
    def reach(self) -> int:
        """How far from a pixel its error depends on others."""
        return max(self.many, self.feature)


@lru_cache(16)
def filters_of(ppd: float) -> FlipFilters:
    """Returns the filters for a number of pixels per degree."""
    many = math.ceil(3 * math.sqrt(_BLUE_YELLOW[0][1] / (2 * math.pi**2)) * ppd)
    d = np.arange(-many, many + 1) / ppd

    def gauss(b: float) -> Weights:
        return np.asarray(np.exp(-(math.pi**2) * d * d / b))

    luma, red_green = (gauss(b) / gauss(b).sum() for _, b in (_LUMA, _RED_GREEN))
    two = [math.sqrt(a * math.sqrt(math.pi / b)) * gauss(b) for a, b in _BLUE_YELLOW]
    norm = math.hypot(*(g.sum() for g in two))
    outside = [1 - math.fsum(red_green[many - k : many + k + 1]) for k in range(many + 1)]
    few = next((k for k, lost in enumerate(outside) if lost <= _LOST), many)
    few = max(few, 1)
    sigma = 0.5 * _FEATURE_DEGREES * ppd
    feature = math.ceil(3 * sigma)
    x = np.arange(feature + 1.0)
    bell = np.exp(-x * x / (2 * sigma * sigma))
    edge, point = x * bell, (x * x / sigma**2 - 1) * bell
    positive = 2 * point[point > 0].sum()
    negative = point[0] + 2 * point[1:][point[1:] < 0].sum()
    halves = [
        _rounded(luma[many : many + few + 1]),
        _rounded(red_green[many : many + few + 1]),
        *(g[many:] / norm for g in two),
        _rounded(bell / (bell[0] + 2 * bell[1:].sum())),
        edge / edge.sum(),
        np.where(point > 0, point / positive, point / -negative),
    ]
    return FlipFilters(few, many, feature, np.concatenate(halves))


def _rounded(half: Weights) -> Weights:
    """Rounds half a symmetric filter to float32; the centre takes what is missing from a sum of 1."""
    rounded = half.astype(np.float32).astype(np.float64)
    rounded[0] = 1 - 2 * math.fsum(rounded[1:])
    return rounded


def tile_of(gpu: Gpu) -> tuple[int, int]:
    """Returns the sides (across, down) of tiles in pixels."""
    return _CPU_TILE if gpu.limits.lanes > 1 else _GPU_TILE


def error_map(
    gpu: Gpu,
    reference: Image,
    test: Image,
    ppd: float,
    tone: Tone | None,
    exposures: tuple[float, ...],
    blocks: Blocks | None,
    *,
    full: bool = False,
) -> tuple[npt.NDArray[np.float32], Image, Image]:
    """Computes FLIP of two Images of one shape, of one plane or three.

    Returns each tile's record (sum of errors, largest error, bits of its place, 0) in reading order, and for ``full``
    the error map, and the exposure map, which has values only with a tone curve.
    """
    planes, height, width = reference.shape
    plane = np.uint64(height * width if planes > 1 else 0)
    filters = filters_of(ppd)
    weights = gpu.kept(("flip weights", ppd), lambda: gpu.array(filters.weights.astype(np.float32)))
    across, down = tile_of(gpu)
    tiles = -(-width // across) * -(-height // down)
    listed, count = _differing(gpu, reference, test, (across, down), filters.reach, blocks)

    a_map = gpu.zeros if full else gpu.empty  # of which the kernel leaves out what is 0
    errors, records = a_map((1, height, width)), gpu.zeros((tiles, 4))
    best = a_map((1, height, width)) if tone else gpu.empty((1,))
    kernel, items = _kernel(gpu, filters, (across, down), tone)
    factors = gpu.array(np.exp2(np.array(exposures)).astype(np.float32))
    groups, values = scratch_of(gpu, ppd, (height, width))
    scratch = gpu.empty((groups, values))
    most = tiles * len(exposures) if gpu.limits.lanes > 1 else _turns(filters, (across, down), items)
    at_once = min(len(exposures), most)
    rounds = most // at_once
    numbers = (*(tone.k if tone else (0.0,) * 6), 0.0, 0.0)
    for number in range(0, len(exposures), at_once):
        now = min(at_once, len(exposures) - number)
        for first in range(0, tiles, groups * rounds):
            gpu.launch(
                kernel, (groups * items,), reference, test, listed, count, errors, best, records, scratch, weights,
                factors, width, height, plane, first, rounds, number, now, float(max(1, len(exposures) - 1)), numbers,
                Local(4 * items), Local(4 * items), Local(4 * items), local=(items,),
                traffic=now * (reference.nbytes + test.nbytes + errors.nbytes),
            )  # fmt: skip
    table = np.empty(records.shape, np.float32)
    records.numpy(out=table)
    return table, errors, best


def scratch_of(gpu: Gpu, ppd: float, size: tuple[int, int]) -> tuple[int, int]:
    """Returns how many groups :func:`error_map` has for maps of this (height, width), and values that each keeps."""
    (height, width), (across, down) = size, tile_of(gpu)
    tiles = -(-width // across) * -(-height // down)
    groups = min(tiles, gpu.limits.compute_units * _GROUPS)
    return groups, _PLANES * across * (down + 2 * filters_of(ppd).reach)


def _turns(filters: FlipFilters, tile: tuple[int, int], items: int) -> int:
    """Returns how often a group may compute a tile in a launch."""
    across, down = tile
    taps = 2 * (2 * filters.few + 2 * filters.many + 3 * filters.feature)
    results = -(-across * (down + 2 * filters.reach) // items) + -(-across * down // items)
    return max(1, _ROUNDS // (results * (taps + 8)))


def _kernel(gpu: Gpu, filters: FlipFilters, tile: tuple[int, int], tone: Tone | None) -> tuple[Kernel, int]:
    """Returns the kernel and the work-items of its groups."""
    lanes = gpu.limits.lanes
    alone = lanes > 1
    across, down = tile
    pitch = -(-(across + 2 * filters.reach) // lanes) * lanes
    lines = 1 if alone else min(_LINES, max(1, _LINES_BYTES // (6 * 4 * pitch)))
    defines: dict[str, Define] = {
        "WIDTH": lanes, "FINITE": True, "ALONE": alone, "ACROSS": across, "DOWN": down, "LINES": lines,
        "STRIP": lanes if alone else across, "FEW": filters.few, "MANY": filters.many, "FEATURE": filters.feature,
        "HALO": filters.reach, "TONE_CURVE": tone is not None, "BY_LUMINANCE": bool(tone and tone.by_luminance),
    }  # fmt: skip
    kernel = gpu.kernel(("lanes", "flip_error"), "flip_error", **defines)
    return kernel, 1 if alone else kernel.fit(_ITEMS)[0]


def _differing(
    gpu: Gpu, a: Image, b: Image, tile: tuple[int, int], reach: int, differing: Blocks | None
) -> tuple[Image, Image]:
    """Returns the list of windows of tiles that have a difference within reach, and their number, on the device."""
    planes, height, width = a.shape
    across, down = tile
    blocks, tiles = (-(-width // BLOCK), -(-height // BLOCK)), (-(-width // across), -(-height // down))
    if differing is not None and differing.shape != blocks[::-1]:
        raise ParameterError(
            f"{blocks[::-1]} blocks of {BLOCK} × {BLOCK} pixels are needed, not {differing.shape}"
        )
    if differing is not None:
        marks = gpu.array(differing.astype(np.uint32))
    else:
        marks = gpu.zeros((math.prod(blocks),), np.uint32)
        kernel = gpu.kernel("flip_tiles", "flip_marks")
        gpu.launch(
            kernel, (blocks[0], height), a, b, marks, width, height, np.uint64(height * width), planes,
            local=kernel.fit(16, 16), traffic=a.nbytes + b.nbytes,
        )  # fmt: skip
    listed, count = gpu.empty((math.prod(tiles), 4), np.int32), gpu.zeros((1,), np.uint32)
    kernel = gpu.kernel("flip_tiles", "flip_list")
    gpu.launch(
        kernel, tiles, marks, listed, count, width, height, across, down, reach, gpu.limits.lanes,
        local=kernel.fit(16, 16), traffic=marks.nbytes,
    )  # fmt: skip
    return listed, count
