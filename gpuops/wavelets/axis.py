"""One axis of the transform on device images: (planes, height, width) float32, float64 or int32."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import prod

import numpy as np

from ..errors import ParameterError
from ..gpu import GeneratedSource, Gpu, Kernel, Local
from ..image import Image
from ..params.dwt import DwtParams
from . import extension, laan
from .lifting import lifting, tables
from .wavelets import WAVELETS, Wavelet

_SOURCES = ("border", "dwt_extension", "dwt_steps", "dwt")
# The constants of kernels whose filters are data: the longest has 102 taps (coif17), in 52 pairs under
# periodization.
_CONSTANTS = GeneratedSource(
    "dwt_filters", "#define LEFT 0\n#define RIGHT 51\n#define LOW_SCALE 1\n#define HIGH_SCALE 1"
)


def expansive(params: DwtParams) -> bool:
    """Whether the mode gives more coefficients than samples."""
    return not params.critical and params.mode != "periodization"


def lengths(params: DwtParams, n: int) -> tuple[int, int]:
    """The numbers of low and high coefficients of n samples."""
    if params.critical:
        return (n + 1) // 2, n // 2
    if params.mode == "periodization":
        return (n + 1) // 2, (n + 1) // 2
    count = (n + WAVELETS[params.wavelet].length - 1) // 2
    return count, count


def samples(params: DwtParams, lows: int, highs: int) -> int:
    """The number of samples that coefficients give: an odd length comes back one longer, unless the mode is mirror or
    vc2."""
    if params.critical:
        return lows + highs
    return 2 * lows - (WAVELETS[params.wavelet].length - 2 if expansive(params) else 0)


def resized(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    """``shape`` with another length along an axis."""
    return (*shape[:axis], n, *shape[axis + 1 :])


def check_length(params: DwtParams, n: int) -> None:
    """Raises ParameterError where a mode has nothing to reflect."""
    if n == 1 and params.mode in ("reflect", "antireflect"):
        raise ParameterError(
            f"mode {params.mode} needs two samples or more along each axis: use symmetric or mirror"
        )


def analyse(image: Image, params: DwtParams, axis: int) -> tuple[Image, Image]:
    """The low and the high half of an image along ``axis`` (1: vertically, 2: horizontally)."""
    check_length(params, image.shape[axis])
    low, high = (image.like(resized(image.shape, axis, n)) for n in lengths(params, image.shape[axis]))
    _transform(image, low, high, params, axis, inverse=False)
    return low, high


def synthesise(low: Image, high: Image, params: DwtParams, axis: int, n: int) -> Image:
    """The ``n`` samples along ``axis`` that the two halves stand for."""
    image = low.like(resized(low.shape, axis, n))
    _transform(image, low, high, params, axis, inverse=True)
    return image


def _transform(image: Image, low: Image, high: Image, params: DwtParams, axis: int, *, inverse: bool) -> None:
    """The image becomes its two halves, or they become the image."""
    if params.method == "laan":
        laan.lift(image, low, high, params, axis, inverse=inverse)
        return
    if not image.nbytes:
        return
    gpu, wavelet, dtype, mode = image.gpu, WAVELETS[params.wavelet], image.dtype, params.mode
    name, buffers = ("synthesise", (low, high, image)) if inverse else ("analyse", (image, low, high))
    n, lows, highs = image.shape[axis], low.shape[axis], high.shape[axis]
    rows, integer = axis == 2, dtype.kind == "i"
    if mode == "mirror" and n == 1 and wavelet.rows_first:
        mode = "vc2"  # some of VC-2's wavelets give a mirrored sample a detail, which is not stored
    first = (1 - wavelet.length // 2) // 2 if expansive(params) else 0
    taps: tuple[Image | int, ...] = ()
    sample = extension.TYPES[dtype.name]
    if params.method == "lifting":
        plan = lifting(wavelet, inverse=inverse, held=mode == "vc2")
        constants, halo = tables(plan, sample), plan.left + plan.right
    else:
        first, taps = _filters(gpu, wavelet, dtype, inverse, expansive(params))
        constants, halo = _CONSTANTS, int(taps[1]) - 1
    outer, inner = (prod(image.shape[:2]), 1) if rows else (image.shape[0], image.shape[2])
    build = partial(
        gpu.kernel, (constants, *_SOURCES), name, S=sample, ROWS=rows, INTEGER=integer, INVERSE=inverse,
        ACCURACY=wavelet.accuracy if integer and rows and wavelet.accuracy else None,
        **extension.defines(wavelet, mode, inverse=inverse),
    )  # fmt: skip
    made = (n + 1) // 2 if inverse else lows
    if params.tile == "private" or (params.tile == "auto" and gpu.limits.is_cpu):
        run = 128 if rows else 32 if taps else 16  # filters have wider halos
        kernel, size, local = _private(build, sample, rows, run, -(-made // run), outer, inner)
        tile: tuple[Local, ...] = ()
    else:
        kernel, run, columns, items = _shared(gpu, build, sample, rows)
        tiles = -(-made // run) * items
        size = (tiles * outer,) if rows else (inner, tiles, outer)
        local = (items,) if rows else (columns, items, 1)
        tile = (Local(2 * (run + halo) * columns * (8 if sample == "double" else 4)),)
    gpu.launch(
        kernel, size, *buffers, outer, n, inner, lows, highs, first, *taps, *tile, local=local,
        label=f"{'i' if inverse else ''}dwt {'yx'[rows]} {wavelet.name} {params.method}",
    )  # fmt: skip


def _filters(
    gpu: Gpu, wavelet: Wavelet, dtype: np.dtype[np.generic], inverse: bool, expanded: bool
) -> tuple[int, tuple[Image, int]]:
    """The pair that the tile begins with, and the filters on the device, kept there, with their number."""
    start, matrices = _polyphase(wavelet, inverse=inverse, expansive=expanded)
    key = ("dwt filters", wavelet.name, dtype, inverse, expanded)
    # Forwards the tile begins at pair k + first, backwards at k − first.
    return -start if inverse else start, (
        gpu.kept(key, lambda: gpu.array(np.array(matrices, dtype))),
        len(matrices),
    )


@cache
def _polyphase(
    wavelet: Wavelet, *, inverse: bool, expansive: bool
) -> tuple[int, tuple[tuple[float, ...], ...]]:
    """The filters as clkernels/wavelets/dwt.cl takes them, as matrices that make pairs of pairs:

        (a, b)[k] = Σ_u M[u] · (even, odd)[k + first + u]

    Returns first, and all M row by row. For the analysis (even, odd) are samples and (a, b) = (low, high), for the
    synthesis the other way round:

        low[k] = Σ_j dec_lo[j] x[2k + o − j]      x[2k + r] = Σ_u rec_lo[o + r − 2u] low[k + u] + rec_hi[…] high[k + u]

    The alignments o are PyWavelets': for the analysis 1, under periodization L/2; for the synthesis L − 2 and L/2 − 1.
    """
    length = wavelet.length
    low, high = wavelet.reconstruct if inverse else wavelet.decompose
    if inverse:
        offset = length - 2 if expansive else length // 2 - 1
        first, last = -((length - 1 - offset) // 2), (offset + 1) // 2
    else:
        offset = 1 if expansive else length // 2
        first, last = (offset - length + 1) >> 1, offset >> 1

    def tap(filter: tuple[float, ...], j: int) -> float:
        return filter[j] if 0 <= j < length else 0.0

    # The tap of even sample k + u is o − 2u, and that of the odd one is before it.
    taps = (
        [(low, 0), (high, 0), (low, 1), (high, 1)]
        if inverse
        else [(low, 0), (low, -1), (high, 0), (high, -1)]
    )
    places = range(offset - 2 * first, offset - 2 * last - 1, -2)
    return first, tuple(tuple(tap(filter, j + beside) for filter, beside in taps) for j in places)


def _private(
    build: Callable[..., Kernel], sample: str, rows: bool, run: int, tiles: int, outer: int, inner: int
) -> tuple[Kernel, tuple[int, ...], tuple[int, ...]]:
    """A kernel whose work-items each take a tile of ``run`` pairs, its global size and its groups'.

    Columns: 16 neighbours abreast, short tiles. Rows: 8 neighbours at once, long tiles.
    """
    if rows:
        lanes = {"LANES": 8, "LANES2": 16, "SUMS": "long8", "WS": f"{sample}8"}
        kernel = build(V=sample, WIDTH=1, PAIRS=run, **lanes)
        return kernel, (tiles * outer,), kernel.fit(8)
    vector = f"{sample}16"
    kernel = build(V=vector, WIDTH=16, SUMS="long16", WS=vector, PAIRS=run)
    return kernel, (-(-inner // 16), tiles, outer), kernel.fit(16, 1, 1)


def _shared(gpu: Gpu, build: Callable[..., Kernel], sample: str, rows: bool) -> tuple[Kernel, int, int, int]:
    """A kernel whose groups each take a tile (of columns a tile of each of 16), its work-items a few pairs.

    With it go the pairs of a tile, its columns, and the work-items along the axis.
    """
    columns, items, each = (1, 128, 2) if rows else (16, 16, 4)
    while True:
        kernel = build(V=sample, WIDTH=1, SUMS="long", WS=sample, PAIRS=each * items, LOCAL=True)
        if items * columns <= min(kernel.work_group, gpu.limits.work_group) or items == 1:
            return kernel, each * items, columns, items
        items //= 2
