"""Both axes of a separable convolution in one kernel, of planes or of a file's pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..gpu import Argument, Define, Gpu, Kernel, Later, Local
from ..image import Image
from ..params.border import define
from ..programs import in_largest_group
from ..tiles.planes import in_turn
from .layout import FOUR, LANES, WIDTH, Layout

if TYPE_CHECKING:
    from ..pixels.coding import Decoding, Encoding
    from .separable import Taps

    Operand = Image | Later
    Way = Callable[..., Any]
    Launch = Callable[[Way, Operand, Operand, int, int], Any]

# The largest radius, except on CPUs.
NEAR = 19
# Channels of a pixel, at most.
CHANNELS = 4
# Values of a work-item's row on CPUs, at most.
_VALUES = 768
# Rows of a work-item on CPUs, at least and at most; both are multiples of 16.
_BANDS = (32, 256)
# Work-items of a compute unit on CPUs, where there are enough rows.
_SHARES = 8
# Work-items of a group on other devices, at most.
_ITEMS = 128
# Rows that a group takes at a time.
_ROWS = 4
# Groups that a compute unit runs at once.
_GROUPS = 3
# Rows of a group, at least.
_LEAST_BAND = 8


def takes(gpu: Gpu, taps: Taps, *, direct: bool) -> bool:
    """Says whether one kernel for both axes is worth while; ``direct``: its work-items share nothing."""
    if direct:  # llvmpipe, with one lane, is left out: its loops end after 65535 rounds
        return gpu.limits.vectors
    return max(taps.radii) <= NEAR


def of_planes(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, direct: bool
) -> Launch | None:
    """Returns the launch that convolves planes such as these, by a CPU's kernel if ``direct``.

    ``weights`` of each axis are on the device. Returns None where local memory is too small.
    """
    if not direct:
        return _local(gpu, image, taps, weights)
    layout = Layout.of(image, image.alpha, pixels=False)
    return _direct(gpu, image, taps, weights, layout, {}, (None, 1.0, None, None))


def convolved_pixels(
    gpu: Gpu, pixels: Image, taps: Taps, weights: dict[int, Image], decoding: Decoding, encoding: Encoding,
    rows: tuple[int, int],
) -> tuple[Image, Image] | None:  # fmt: skip
    """Returns pixels (height, width, channels) of the input's type, and counters as in encode.cl, by a CPU's kernel.

    ``rows`` are the first and the end of the pixels' rows that the result has.
    Returns None where local memory is too small.
    """
    layout = Layout.of(pixels, decoding.alpha, pixels=True)
    defines = decoding.defines(pixels) | encoding.defines(layout.channels, alpha=layout.alpha)
    if defines["LINEARISE"] or defines["ENCODE"]:
        return None  # decoding by formula, value by value, takes longer than all the rest
    defines |= layout.defines(pixels.dtype, LANES)
    lost = gpu.zeros((2,), np.uint32)
    conversion = *decoding.arguments(pixels), encoding.codes(gpu), lost
    launch = _direct(gpu, pixels, taps, weights, layout, defines, conversion, rows)
    if not launch:
        return None
    result = pixels.like((rows[1] - rows[0], *pixels.shape[1:]))
    launch(gpu.launch, pixels, result, 1, 0)
    return result, lost


def _direct(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], layout: Layout, defines: dict[str, Define],
    conversion: tuple[Argument, ...], rows: tuple[int, int] | None = None,
) -> Launch | None:  # fmt: skip
    """Returns a CPU's launch, which makes ``rows`` from the first to the end, or all.

    ``defines`` and ``conversion`` are those of decode.cl and encode.cl, by which values become light and back: the
    tables of light and of codes, the scale and the counters. Planes need none.
    """
    channels, pixels, (radius_y, radius_x) = layout.channels, layout.pixels, taps.radii
    height, width = image.shape[:2] if pixels else image.shape[1:]
    top, count = (0, height) if rows is None else (rows[0], rows[1] - rows[0])

    def held(strip: int) -> tuple[Local, Local]:
        """The local memory of a work-item: see both_axes_wide.cl."""
        margin = radius_x * channels
        columns = -(-margin // LANES) + -(-(strip * channels + margin) // LANES)
        vectors = columns * (2 * radius_y + LANES), columns * LANES + 3 * channels
        return Local(vectors[0] * LANES * 4), Local(vectors[1] * LANES * 4)

    # As many columns as there is room for, but more than half of them must be results.
    widest = _VALUES // channels // LANES * LANES
    widths, most = range(widest, 2 * radius_x, -LANES), gpu.limits.local_bytes
    strip = next((n for n in widths if sum(memory.nbytes for memory in held(n)) <= most), 0)
    if not strip:
        return None
    sources = ("border", "lanes", *(("colour", "decode", "encode") if pixels else ()))
    sources += ("load_sixteen", "store_sixteen", "block_columns", "both_axes_wide")
    kernel = gpu.kernel(sources, "both_wide", **{**define(taps.border), **defines, "WIDTH": WIDTH})
    strips, (least, most) = -(-width // strip), _BANDS
    plane = (height + count) * width * channels * image.dtype.itemsize

    def launch(way: Way, source: Operand, result: Operand, planes: int, first: int) -> Any:
        share = strips * planes * count // (_SHARES * gpu.limits.compute_units)
        band = min(most, max(least, -(-share // LANES) * LANES))
        return way(
            kernel, (strips, -(-count // band), planes), source, weights[0], weights[1], result,
            np.uint64(first * height * width), height, width, top, count, strip, band, radius_y, radius_x,
            float(taps.cval), *conversion, *held(strip),
            local=(1, 1, 1), label=f"{taps.name} xy direct", traffic=plane * planes,
        )  # fmt: skip

    return launch


def _local(gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image]) -> Launch | None:
    height, width = image.shape[1:]
    (radius_y, radius_x), defines = taps.radii, define(taps.border)

    def build(items: int) -> Kernel:
        return gpu.kernel(
            ("border", "fours", "both_axes"), "both_local", ALIGNED=width % FOUR == 0, RADIUS_Y=radius_y,
            RADIUS_X=radius_x, ROWS=_ROWS, ITEMS=items, **defines,
        )  # fmt: skip

    group = in_largest_group(build, _ITEMS)
    if group is None:
        return None
    kernel, items = group
    tiles = -(-width // (items * FOUR))

    def launch(way: Way, source: Operand, result: Operand, planes: int, first: int) -> Any:
        bands = max(1, _GROUPS * gpu.limits.compute_units // (tiles * planes))
        band = min(max(_LEAST_BAND, -(-height // bands)), gpu.limits.band)
        return way(
            kernel, (tiles * items, -(-height // band), planes), source, weights[0], weights[1], result,
            np.uint64(first * height * width), height, width, band, float(taps.cval),
            local=(items, 1, 1), label=f"{taps.name} xy local", traffic=8 * planes * height * width,
        )  # fmt: skip

    return launch


def convolved(image: Image, launch: Launch, *, overwrite_input: bool) -> Image:
    """Returns the planes that ``launch`` makes; with ``overwrite_input`` plane by plane, in the input's memory."""
    if not overwrite_input:
        result = image.like()
        launch(image.gpu.launch, image, result, image.shape[0], 0)
        return result
    for at in in_turn(image.shape[0], image.nbytes):
        part = image.like((at.stop - at.start, *image.shape[1:]))
        launch(image.gpu.launch, image, part, at.stop - at.start, at.start)
        image.put(at, part)
    return image
