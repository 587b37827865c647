"""Both axes of a separable convolution in one kernel, of planes or of a file's pixels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..gpu import LATER, Local
from ..image import Image
from ..params.border import define
from ..programs import in_largest_group
from ..tiles.planes import in_turn
from .layout import FOUR, LANES, WIDTH, Layout

if TYPE_CHECKING:
    from ..gpu import BoundLaunch, Define, Gpu, Kernel, Later
    from ..pixels.coding import Decoding, Encoding
    from .separable import Taps

    # Enqueues by ``gpu.launch``, or prepares by ``gpu.bind``, the launch that makes a number of planes. It takes the
    # input, the result, that number, and the input's first plane.
    Launch = Callable[[Callable[..., Any], Image | Later, Image | Later, int, int], Any]

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


@dataclass(frozen=True)
class _Conversion:
    """The defines and arguments of decode.cl and encode.cl, by which values become light and back; planes need none."""

    layout: Layout
    defines: dict[str, Define] = field(default_factory=dict)
    lights: Image | None = None
    scale: float = 1.0
    codes: Image | None = None
    lost: Image | None = None


def takes(gpu: Gpu, taps: Taps, *, direct: bool) -> bool:
    """Says whether one kernel for both axes is worth while; ``direct``: its work-items share nothing."""
    if direct:  # llvmpipe, with one lane, is left out: its loops end after 65535 rounds
        return gpu.limits.vectors
    return max(taps.radii) <= NEAR


def convolved(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, direct: bool, overwrite_input: bool
) -> Image | None:
    """Returns the convolved planes, by a CPU's kernel if ``direct``; ``weights`` of each axis are on the device.

    Returns None where local memory is too small.
    """
    launch = _of_planes(gpu, image, taps, weights, direct=direct)
    return _to_part(image, launch, overwrite_input=overwrite_input) if launch else None


def prepared(
    gpu: Gpu, like: Image, taps: Taps, weights: dict[int, Image], *, direct: bool
) -> BoundLaunch | None:
    """Returns the launch that convolves an Image like ``like``, for the Image and its result; None as above."""
    launch = _of_planes(gpu, like, taps, weights, direct=direct)
    step: BoundLaunch | None = launch(gpu.bind, LATER, LATER, like.shape[0], 0) if launch else None
    return step


def _of_planes(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, direct: bool
) -> Launch | None:
    if not direct:
        return _local(gpu, image, taps, weights)
    return _direct(gpu, image, taps, weights, _Conversion(Layout.of(image, image.alpha, pixels=False)))


def convolved_pixels(
    gpu: Gpu, pixels: Image, taps: Taps, weights: dict[int, Image], decoding: Decoding, encoding: Encoding
) -> tuple[Image, Image] | None:
    """Returns pixels (height, width, channels) of the input's type, and counters as in encode.cl, by a CPU's kernel.

    The rest is as for :func:`convolved`.
    """
    layout = Layout.of(pixels, decoding.alpha, pixels=True)
    defines = decoding.defines(pixels) | encoding.defines(layout.channels, alpha=layout.alpha)
    if defines["LINEARISE"] or defines["ENCODE"]:
        return None  # decoding by formula, value by value, takes longer than all the rest
    defines |= layout.defines(pixels.dtype, LANES)
    lost = gpu.zeros((2,), np.uint32)
    how = _Conversion(layout, defines, *decoding.arguments(pixels), encoding.codes(gpu), lost)
    launch = _direct(gpu, pixels, taps, weights, how)
    if not launch:
        return None
    result = pixels.like()
    launch(gpu.launch, pixels, result, 1, 0)
    return result, lost


def _direct(gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], how: _Conversion) -> Launch | None:
    channels, pixels, (radius_y, radius_x) = how.layout.channels, how.layout.pixels, taps.radii
    height, width = image.shape[:2] if pixels else image.shape[1:]

    def held(strip: int) -> tuple[Local, Local]:
        """The local memory of a work-item: see both_axes_wide.cl."""
        margin = radius_x * channels
        columns = -(-margin // LANES) + -(-(strip * channels + margin) // LANES)
        vectors = columns * (2 * radius_y + LANES), columns * LANES + 3 * channels
        return Local(vectors[0] * LANES * 4), Local(vectors[1] * LANES * 4)

    # As many columns as there is room for, but more than half of them must be results.
    widest = _VALUES // channels // LANES * LANES
    fits = (
        n
        for n in range(widest, 2 * radius_x, -LANES)
        if sum(x.nbytes for x in held(n)) <= gpu.limits.local_bytes
    )
    strip = next(fits, 0)
    if not strip:
        return None
    sources = ("border", "lanes", *(("colour", "decode", "encode") if pixels else ()))
    sources += ("load_sixteen", "store_sixteen", "block_columns", "both_axes_wide")
    kernel = gpu.kernel(sources, "both_wide", **{**define(taps.border), **how.defines, "WIDTH": WIDTH})
    strips, (least, most) = -(-width // strip), _BANDS
    plane = 2 * height * width * channels * image.dtype.itemsize

    def launch(
        way: Callable[..., Any], source: Image | Later, result: Image | Later, planes: int, first: int
    ) -> Any:
        share = strips * planes * height // (_SHARES * gpu.limits.compute_units)
        band = min(most, max(least, share // LANES * LANES))
        return way(
            kernel, (strips, -(-height // band), planes), source, weights[0], weights[1], result,
            np.uint64(first * height * width), height, width, strip, band, radius_y, radius_x, float(taps.cval),
            how.lights, how.scale, how.codes, how.lost, *held(strip),
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

    found = in_largest_group(build, _ITEMS)
    if found is None:
        return None
    kernel, items = found
    tiles = -(-width // (items * FOUR))

    def launch(
        way: Callable[..., Any], source: Image | Later, result: Image | Later, planes: int, first: int
    ) -> Any:
        bands = max(1, _GROUPS * gpu.limits.compute_units // (tiles * planes))
        band = min(max(_LEAST_BAND, -(-height // bands)), gpu.limits.band)
        return way(
            kernel, (tiles * items, -(-height // band), planes), source, weights[0], weights[1], result,
            np.uint64(first * height * width), height, width, band, float(taps.cval),
            local=(items, 1, 1), label=f"{taps.name} xy local", traffic=8 * planes * height * width,
        )  # fmt: skip

    return launch


def _to_part(image: Image, launch: Launch, *, overwrite_input: bool) -> Image:
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
