"""Both axes of a separable convolution in one kernel: launches of both.cl and both_wide.cl."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .grids import FOUR, Layout
from .image import Image
from .planes import in_turn

if TYPE_CHECKING:
    from .gpu import Define, Gpu, Kernel
    from .pixels import Decoding, Encoding
    from .separable import Taps

REACH, NEAR = 48, 19  # the largest radius: of CPUs, of others
CHANNELS = 4  # of pixels, at most
_STRIP, _BAND = 512, 64  # of a work-item on CPUs: columns and rows
_ITEMS, _ROWS, _NARROWEST = (
    128,
    4,
    32,
)  # elsewhere: of a group, at most; rows at a time; columns of pixels, at least
# Groups of a compute unit, which run at once: of planes, and of pixels, which are smaller; rows of a group, at least.
_GROUPS, _LEAST_BAND = (3, 4), 8
_COPIED = 256  # values of a table of light that is copied to local memory, at most


def direct(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, overwrite_input: bool = False
) -> Image:
    """The convolved planes, on CPUs. ``weights`` of each axis are on the device, here as below."""
    _, height, width = image.shape
    kernel = gpu.kernel(
        ("border", "both_wide"), "both_direct", **_border(taps), STRIP=_STRIP, BAND=_BAND, REACH=REACH
    )

    def launch(part: Image, first: int) -> None:
        gpu.launch(
            kernel, (-(-width // _STRIP), -(-height // _BAND), part.shape[0]), image, weights[0], weights[1], part,
            np.uint64(first * height * width), height, width, *taps.radii, float(taps.cval),
            local=(1, 1, 1), label=f"{taps.name} xy direct", traffic=2 * part.nbytes,
        )  # fmt: skip

    return _to_part(image, launch, overwrite_input=overwrite_input)


def local(
    gpu: Gpu, image: Image, taps: Taps, weights: dict[int, Image], *, overwrite_input: bool = False
) -> Image:
    """The convolved planes, on GPUs."""
    defines: dict[str, Define] = {"ALIGNED": image.shape[2] % FOUR == 0}
    kernel, items = _in_groups(gpu, taps, ("border", "fours", "both"), defines, channels=1, least=1)

    def launch(part: Image, first: int) -> None:
        layout = Layout.of(part, part.alpha, pixels=False)
        _local(gpu, kernel, items, layout, taps, weights, image, part, first, (None, 1.0, None, None))

    return _to_part(image, launch, overwrite_input=overwrite_input)


def local_pixels(
    gpu: Gpu,
    pixels: Image,
    taps: Taps,
    weights: dict[int, Image],
    decoding: Decoding,
    encoding: Encoding,
) -> tuple[Image, Image] | None:
    """Pixels (height, width, channels) of the same type, on GPUs, and counters as in encode.cl.

    None where local memory or groups are too small for them.
    """
    layout = Layout.of(pixels, decoding.alpha, pixels=True)
    (lights, scale), codes = decoding.arguments(pixels), encoding.codes(gpu)
    copied = lights is not None and lights.shape[0] <= _COPIED
    defines = decoding.defines(pixels, "__local" if copied else "__global")
    defines |= encoding.defines(layout.channels, alpha=layout.alpha) | layout.defines(pixels.dtype, FOUR)
    defines |= {
        "ALIGNED": pixels.shape[1] * layout.channels % FOUR == 0,
        "LIGHTS": lights.shape[0] if lights and copied else None,
        "CODES": codes.shape[0] if codes else None,
        "CODES_SPACE": "__local" if codes else None,
    }
    sources = ("border", "lanes", "colour", "decode", "encode", "fours", "both")
    kernel, items = _in_groups(gpu, taps, sources, defines, layout.channels, _NARROWEST // FOUR)
    if not items:
        return None
    result, lost = pixels.like(), gpu.zeros((2,), np.uint32)
    _local(gpu, kernel, items, layout, taps, weights, pixels, result, 0, (lights, scale, codes, lost))
    return result, lost


def _in_groups(
    gpu: Gpu, taps: Taps, sources: tuple[str, ...], defines: dict[str, Define], channels: int, least: int
) -> tuple[Kernel, int]:
    """both.cl's kernel and its group, which has ``least`` work-items of a channel or more; 0 where none is possible."""
    of_channel = 1 << (_ITEMS // channels).bit_length() - 1
    while True:
        items = of_channel * channels
        (radius_y, radius_x), more = taps.radii, _border(taps) | defines
        kernel = gpu.kernel(
            sources, "both_local", RADIUS_Y=radius_y, RADIUS_X=radius_x, ITEMS=items, ROWS=_ROWS, **more
        )
        if kernel.fit(items) == (items,) and kernel.local_bytes <= gpu.limits.local_bytes:
            return kernel, items
        of_channel //= 2
        if of_channel < least:
            return kernel, 0


def _local(
    gpu: Gpu,
    kernel: Kernel,
    items: int,
    layout: Layout,
    taps: Taps,
    weights: dict[int, Image],
    image: Image,
    result: Image,
    first: int,
    conversion: tuple[Image | None, float, Image | None, Image | None],
) -> None:
    """``conversion``: decode.cl's table and scale, encode.cl's table and counters."""
    height, width = result.shape[:2] if layout.pixels else result.shape[1:]
    tiles = -(-width * layout.channels // (items * FOUR))
    at_once = _GROUPS[layout.pixels] * gpu.limits.compute_units
    bands = max(1, at_once // (tiles * (1 if layout.pixels else image.shape[0])))
    band = max(_LEAST_BAND, -(-height // bands))
    gpu.launch(
        kernel, (tiles * items, -(-height // band), layout.planes), image, weights[0], weights[1], result,
        np.uint64(first * height * width), height, width, band, float(taps.cval), *conversion,
        local=(items, 1, 1), label=f"{taps.name} xy local", traffic=2 * result.nbytes,
    )  # fmt: skip


def _border(taps: Taps) -> dict[str, Define]:
    return {f"BORDER_{taps.border.upper()}": True}


def _to_part(image: Image, launch: Callable[[Image, int], None], *, overwrite_input: bool) -> Image:
    """What ``launch`` makes of the input's planes from a number on, plane by plane where it is to take its memory."""
    if not overwrite_input:
        result = image.like()
        launch(result, 0)
        return result
    for at in in_turn(image.shape[0], image.nbytes):
        part = image.like((at.stop - at.start, *image.shape[1:]))
        launch(part, at.start)
        image.put(at, part)
    return image
