"""Bloom's mip chain: its levels, and the launches that go down and up again.

On GPUs they go through local memory, and the kernels at both ends also read and write a file's pixels; on CPUs they
read straight from global memory (bloom_wide.cl).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DeviceError
from ..gpu import Local, Source
from ..image import Image
from ..params.border import define
from ..pixels.coding import Decoding, Encoding, words_of_four
from ..pixels.pointwise import defined, own_of
from ..tone.operators import NO_PARAMETERS, Vector

if TYPE_CHECKING:
    from ..gpu import Argument, Define, Gpu, Kernel, Sources
    from ..ops.bloom import BloomParams

# Work-items of a group.
_ITEMS = 128
# Work-items of a group that reads or writes pixels.
_ITEMS_OF_ENDS = 64
# Work-items of any group, at least.
_LEAST_ITEMS = 8
# Samples of a plane beyond which tiles take longer than a walk down the columns.
_LARGE = 1 << 20
# A tile's rows and columns and its group's work-items; the first that local memory has room for is taken.
_TILES = ((8, 14, 256), (4, 6, 64), (1, 1, 8))
# Work-items of a group that only hold values for their neighbours.
_ENDS = 2
# Work-items of the group that takes the last levels, at most.
_SMALL_ITEMS = 1024
# Bytes of that group's local memory, at most.
_LOCAL_SMALL = 1 << 14
# Groups of a compute unit in the first launch: as many as it has registers for at once.
_GROUPS_FIRST = 4
# Groups of a compute unit in the last launch, likewise.
_GROUPS_OVER = 3
# Groups of a compute unit in between: bands stay so tall that the rows that are read twice cost little.
_GROUPS = 8
# Rows of a group, at least.
_LEAST_BAND = 4
# Bytes of local memory that a device needs to read and write pixels directly.
_LOCAL = 32768
# Work-items of a group that a device needs for it.
_GROUP = 64
# Channels of a pixel that is read and written directly, at most.
MOST_CHANNELS = 4


@dataclass(frozen=True)
class Display:
    """An operator (as in tonemap_operators.cl) for the result, the exposure's factor before it and its vector p.

    ``up_to_1``: no result is above 1.
    """

    operator: str
    exposure: float
    p: Vector
    up_to_1: bool = False


@dataclass(frozen=True)
class Ends:
    """The image that the chain reads and lays its glow over, and the image that receives the result.

    Both are planes, or with a decoding pixels.

    Without ``not_finite`` the result is the glow by itself.
    """

    source: Image
    result: Image
    not_finite: Image | None
    decoding: Decoding | None = None
    encoding: Encoding | None = None
    display: Display | None = None
    lost: Image | None = None
    repaired: Image | None = None
    channels: int = field(init=False)
    colours: int = field(init=False)
    size: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        of_pixels = self.decoding is not None
        shape, alpha = self.source.shape, self.decoding.alpha if self.decoding else self.source.alpha
        channels = shape[2] if of_pixels else shape[0]
        object.__setattr__(self, "channels", channels)
        object.__setattr__(self, "colours", channels - alpha)
        object.__setattr__(self, "size", shape[:2] if of_pixels else shape[1:])


def direct(gpu: Gpu, params: BloomParams) -> bool:
    """Says whether the chain's filters read their neighbours straight from global memory."""
    small = gpu.limits.is_cpu or gpu.limits.work_group < _LEAST_ITEMS
    return params.memory == "direct" or (params.memory == "auto" and small)


def takes_pixels(gpu: Gpu, params: BloomParams, shape: tuple[int, ...]) -> bool:
    """Says whether :func:`over_pixels` can be used for pixels of this shape (height, width, channels)."""
    limits, (height, width, channels) = gpu.limits, shape
    enough = limits.local_bytes >= _LOCAL and limits.work_group >= _GROUP
    whole = params.columns(height, width) == width
    return enough and channels <= MOST_CHANNELS and whole and not direct(gpu, params)


def over(gpu: Gpu, image: Image, result: Image, params: BloomParams, not_finite: Image) -> None:
    """Lays the glow over a planar Image; ``result`` may be the same Image. ``not_finite`` counts pixels."""
    ends = Ends(image, result, not_finite)
    _way(gpu, params)(gpu, ends, params)


def glow_of(gpu: Gpu, light: Image, params: BloomParams) -> float:
    """Replaces a planar Image of finite light by its glow, without the light that stays in its own pixel.

    Returns the share of light that stays there. The width must be the one that :meth:`BloomParams.columns` gives.
    """
    params = replace(params, strength=1.0, threshold=0.0)
    _way(gpu, params)(gpu, Ends(light, light, None), params)
    return params.levels(light.shape[1])[0]


def _way(gpu: Gpu, params: BloomParams) -> Callable[[Gpu, Ends, BloomParams], None]:
    return _wide if direct(gpu, params) else _local


def over_pixels(
    gpu: Gpu,
    pixels: Image,
    params: BloomParams,
    decoding: Decoding,
    encoding: Encoding,
    display: Display | None,
    not_finite: Image,
    repaired: Image,
) -> tuple[Image, Image]:
    """Makes pixels with their glow from pixels (height, width, channels), tone-mapped if there is a display.

    Returns them and the counters of encode.cl. ``repaired`` counts pixels as tonemap.cl does.
    """
    result, lost = gpu.empty(pixels.shape, encoding.dtype), gpu.zeros((2,), np.uint32)
    _local(gpu, Ends(pixels, result, not_finite, decoding, encoding, display, lost, repaired), params)
    return result, lost


def _knee(params: BloomParams) -> tuple[float, float]:
    """The threshold and the half-width of its knee, in the image's own units."""
    threshold = params.threshold / params.scale
    return threshold, threshold * params.knee


def _finest(ends: Ends, params: BloomParams, shares: list[float]) -> float:
    """Returns the share of the image's own light that the result adds."""
    return params.strength * (shares[0] - (params.blend == "energy"))


def _halved(size: tuple[int, int]) -> tuple[int, int]:
    return (size[0] + 1) // 2, (size[1] + 1) // 2


# -- through local memory ---------------------------------------------------------------------------------------


def _local(gpu: Gpu, ends: Ends, params: BloomParams) -> None:
    shares = params.levels(ends.size[0])
    sizes = [ends.size]
    while len(sizes) < len(shares):
        sizes.append(_halved(sizes[-1]))
    # The last levels, from `k` on, are one launch if there are two of them or more.
    most = min(gpu.limits.local_bytes, _LOCAL_SMALL)
    k = next(k for k in range(1, len(sizes)) if _bytes(sizes[k:]) <= most or k == len(sizes) - 1)
    levels = [ends.source]
    while len(levels) <= k:
        fine = levels[-1]
        if len(levels) == 1 or fine.shape[1] * fine.shape[2] > _LARGE:
            levels.append(_down(gpu, ends, params, fine, sizes[len(levels)], first=len(levels) == 1))
        else:
            levels += _halve(gpu, fine, sizes[len(levels) : min(len(levels) + 2, k + 1)], params.border)
    scale = shares[k]
    if k < len(sizes) - 1:
        _small(gpu, levels[k], shares[k:], params.border)
        scale = 1.0
    # It goes up by two levels at a time, but first by one where the number of levels is odd.
    while k > 2:
        steps = 1 + (k % 2 == 0)
        _up(gpu, ends, params, levels[k - steps : k + 1], shares[k - steps : k], scale)
        k, scale = k - steps, 1.0
    if ends.not_finite is None:
        _up(gpu, ends, params, levels[: k + 1], [0.0, *shares[1:k]], scale)
        return
    own = _finest(ends, params, shares)
    own_shares = [own, *(params.strength * share for share in shares[1:k])]
    _up(gpu, ends, params, levels[: k + 1], own_shares, params.strength * scale, final=True)


def _bytes(sizes: list[tuple[int, int]]) -> int:
    """Bytes of local memory for a plane of each size."""
    return 4 * sum(height * width for height, width in sizes)


def _down(
    gpu: Gpu, ends: Ends, params: BloomParams, fine: Image, size: tuple[int, int], *, first: bool
) -> Image:
    """The next level, of ``size``."""
    rows, columns = size
    coarse = gpu.empty((ends.channels, rows, columns))
    sources: tuple[str, ...] = ("reflected", "layout", "bloom", "bloom_boxes", "bloom_down")
    defines: dict[str, Define] = {"CHANNELS": 1, "COLOURS": 1}
    blocks, table, scale, height, width = ends.channels, None, 1.0, *fine.shape[1:]
    if first:
        blocks, (height, width) = 1, ends.size
        defines = {
            "CHANNELS": ends.channels,
            "COLOURS": ends.colours,
            "FIRST": True,
            "KNEE": params.threshold > 0,
        }
        if ends.decoding:
            sources = ("reflected", "lanes", "colour", "decode", *sources[1:])
            defines |= {"WIDTH": 1, "BOUNDED": fine.dtype != np.float32, **ends.decoding.defines(fine)}
            table, scale = ends.decoding.arguments(fine)
    defines |= {"READ_WORDS": _words(fine, width), **define(params.border)}
    quads = -(-width // 4)
    kernel, items = _kernel(
        gpu, sources, "down", quads, defines, _ITEMS_OF_ENDS if first and ends.decoding else _ITEMS
    )
    tiles = -(-quads // (items - _ENDS))
    band = _band(gpu, rows, tiles * blocks, items, _GROUPS_FIRST if first else _GROUPS)
    gpu.launch(
        kernel, (tiles * items, -(-rows // band), blocks), fine, coarse, height, width, band, _knee(params),
        params.karis * params.scale, table, scale, local=(items, 1, 1), label="bloom down local",
        traffic=fine.nbytes + coarse.nbytes,
    )  # fmt: skip
    return coarse


def _halve(gpu: Gpu, fine: Image, sizes: list[tuple[int, int]], border: str) -> list[Image]:
    """The next level or the next two, of ``sizes``."""
    channels, height, width = fine.shape
    levels = [gpu.empty((channels, *size)) for size in sizes]
    for rows, columns, items in _TILES:
        defines = {"LEVELS": len(sizes), "TILE_ROWS": rows, "TILE_COLUMNS": columns, "ITEMS": items}
        kernel = gpu.kernel(
            ("reflected", "bloom_step", "bloom_halve"),
            "halve",
            EVEN=width % 2 == 0,
            **defines,
            **define(border),
        )
        if kernel.fit(items) == (items,) and kernel.local_bytes <= gpu.limits.local_bytes:
            break
    else:
        raise DeviceError("local memory has no room for any tile: use direct reads (memory: direct)")
    last = sizes[-1]
    gpu.launch(
        kernel, (-(-last[1] // columns) * items, -(-last[0] // rows), channels), fine, levels[0], levels[-1], height,
        width, local=(items, 1, 1), label="bloom halve",
        traffic=fine.nbytes + sum(level.nbytes for level in levels),
    )  # fmt: skip
    return levels


def _small(gpu: Gpu, level: Image, shares: list[float], border: str) -> None:
    """Replaces ``level`` by the total of it and of all coarser levels."""
    planes, height, width = level.shape
    sizes = [(height, width)]
    while len(sizes) < len(shares):
        sizes.append(_halved(sizes[-1]))
    kernel = gpu.kernel(("reflected", "bloom_step", "bloom_small"), "small_levels", **define(border))
    (items,) = kernel.fit(_SMALL_ITEMS)
    weights = gpu.kept(("bloom shares", *shares), lambda: gpu.array(np.array(shares, np.float32)))
    gpu.launch(
        kernel, (planes * items,), level, weights, height, width, len(shares), Local(_bytes(sizes)), local=(items,),
        label="bloom small levels local", traffic=2 * level.nbytes,
    )  # fmt: skip


def _up(
    gpu: Gpu,
    ends: Ends,
    params: BloomParams,
    levels: list[Image],
    shares: list[float],
    scale: float,
    *,
    final: bool = False,
) -> None:
    """Replaces the first of two or three levels by their total, weighted by their shares; the last one is a total."""
    fine, between, coarse = levels[0], levels[1], levels[-1]
    out, blocks, (height, width) = fine, ends.channels, fine.shape[1:] if not final else ends.size
    sources: Sources = ("reflected", "layout", "bloom", "bloom_up")
    defines: dict[str, Define] = {"CHANNELS": 1, "COLOURS": 1}
    arguments: list[Argument] = [None, 1.0, None, None, None, 1.0, NO_PARAMETERS, 1.0]
    if final:
        out, blocks = ends.result, 1
        defines = {
            "CHANNELS": ends.channels,
            "COLOURS": ends.colours,
            "FINAL": True,
            "KNEE": params.threshold > 0,
        }
        if ends.decoding and ends.encoding:
            sources, more, arguments = _reads_and_writes(gpu, ends, ends.decoding, ends.encoding)
            defines |= more
    defines |= {"READ_WORDS": _words(fine, width), "FOURS": width % 4 == 0, **define(params.border)}
    defines["LEVELS"] = len(shares)
    quads = -(-width // 4)
    kernel, items = _kernel(
        gpu, sources, "up", quads, defines, _ITEMS_OF_ENDS if final and ends.decoding else _ITEMS
    )
    tiles = -(-quads // (items - _ENDS))
    pairs = height // 2 + 1
    band = _band(gpu, pairs, tiles * blocks, items, _GROUPS_OVER if final else _GROUPS)
    gpu.launch(
        kernel, (tiles * items, -(-pairs // band), blocks), coarse, between, fine, out, height, width, band,
        float(shares[0]), float(shares[-1]), float(scale), _knee(params), ends.not_finite, *arguments,
        local=(items, 1, 1), label=f"bloom {'over' if final else 'up'} local",
        traffic=sum(level.nbytes for level in levels) + out.nbytes,
    )  # fmt: skip


def _reads_and_writes(
    gpu: Gpu, ends: Ends, decoding: Decoding, encoding: Encoding
) -> tuple[Sources, dict[str, Define], list[Argument]]:
    """The sources, defines and arguments of a kernel that reads pixels and writes pixels of another depth."""
    reading = decoding.defines(ends.source)
    writing = encoding.defines(ends.channels, alpha=decoding.alpha)
    codes, display = encoding.codes(gpu), ends.display
    more: dict[str, Define] = {
        "WIDTH": 1,
        "CODES": codes.shape[0] if codes else None,
        "CODES_SPACE": "__local",
    }
    sources: tuple[str | Source, ...] = (
        "reflected", "lanes", "colour", defined("reading", own_of(reading)), "decode", "layout",
        defined("writing", own_of(writing), own_of(reading)), "encode",
    )  # fmt: skip
    if display:
        sources += ("tonemap_operators", "tonemap_light")
        more |= {"OPERATOR": display.operator, "UP_TO_1": display.up_to_1}
    more |= {"UNPREMULTIPLY": writing["UNPREMULTIPLY"], "BOUNDED": ends.source.dtype != np.float32}
    table, scale = decoding.arguments(ends.source)
    exposure, p = (display.exposure, display.p) if display else (1.0, NO_PARAMETERS)
    most = min(2.0**60 / exposure, float(np.finfo(np.float32).max))  # BRIGHTEST in tonemap_light.cl
    arguments: list[Argument] = [table, scale, codes, ends.lost, ends.repaired, exposure, p, most]
    return (*sources, "bloom", "bloom_up"), more, arguments


def _words(image: Image, width: int) -> int | None:
    """READ_WORDS in layout.cl for rows of ``width``; None where four neighbours are not aligned to any word."""
    return words_of_four(image) if width % 4 == 0 else None


def _kernel(
    gpu: Gpu, sources: Sources, name: str, columns: int, defines: dict[str, Define], items: int
) -> tuple[Kernel, int]:
    """Returns the kernel and its group's work-items, ``items`` at most.

    They are fewer where the device or its local memory does not allow so many, or where ``columns`` needs fewer.
    """
    native = {} if gpu.limits.is_cpu else {"NATIVE": True, "DENORMS_ARE_ZERO": True}
    while items > _LEAST_ITEMS and (items // 2 - _ENDS >= columns or items > gpu.limits.work_group):
        items //= 2
    while True:
        kernel = gpu.kernel(sources, name, **defines, **native, ITEMS=items)
        if kernel.fit(items) == (items,) and kernel.local_bytes <= gpu.limits.local_bytes:
            return kernel, items
        items //= 2
        if items - _ENDS < 2:
            planes = defines["CHANNELS"]
            raise DeviceError(
                f"{planes} channels at once do not fit local memory: use direct reads (memory: direct)"
            )


def _band(gpu: Gpu, rows: int, columns: int, items: int, groups: int = _GROUPS) -> int:
    """Returns the rows of a group, an even number, where ``columns`` groups stand side by side.

    ``groups`` is how many groups of _ITEMS a compute unit is to get.
    """
    bands = max(1, groups * _ITEMS // items * gpu.limits.compute_units // columns)
    return max(_LEAST_BAND, (-(-rows // bands) + 1) // 2 * 2)


# -- straight from global memory --------------------------------------------------------------------------------


def _wide(gpu: Gpu, ends: Ends, params: BloomParams) -> None:
    shares = params.levels(ends.size[0])
    chain = [ends.source]
    while len(chain) < len(shares):
        chain.append(_down_wide(gpu, chain[-1], ends, params, first=len(chain) == 1))
    # From the coarsest up: sum = share·level + tent(sum below it).
    scale = shares[-1]
    total = chain.pop()
    while len(chain) > 1:
        level = chain.pop()
        _up_wide(gpu, total, level, level, ends, params, own=shares[len(chain)], scale=scale)
        total, scale = level, 1.0
    if ends.not_finite is None:
        _up_wide(gpu, total, ends.source, ends.result, ends, params, own=0.0, scale=scale)
        return
    own, scale = _finest(ends, params, shares), params.strength * scale
    _up_wide(gpu, total, ends.source, ends.result, ends, params, own=own, scale=scale, final=True)


def _down_wide(gpu: Gpu, fine: Image, ends: Ends, params: BloomParams, *, first: bool) -> Image:
    planes, height, width = fine.shape
    coarse = fine.like((planes, (height + 1) // 2, (width + 1) // 2))
    _, rows, columns = coarse.shape
    defines = _wide_defines(ends, params.border, whole=first)
    kernel = gpu.kernel(("border", "bloom", "bloom_boxes", "bloom_wide"), "down_wide", FIRST=first, **defines)
    size, local = (-(-columns // 8), rows, 1 if first else planes), kernel.fit(64, 1, 1)
    gpu.launch(
        kernel, size, fine, coarse, height, width, _knee(params), params.karis * params.scale, local=local,
        label="bloom down direct", traffic=fine.nbytes + coarse.nbytes,
    )  # fmt: skip
    return coarse


def _up_wide(
    gpu: Gpu,
    coarse: Image,
    fine: Image,
    out: Image,
    ends: Ends,
    params: BloomParams,
    *,
    own: float,
    scale: float,
    final: bool = False,
) -> None:
    planes, height, width = fine.shape
    defines = _wide_defines(ends, params.border, whole=final)
    kernel = gpu.kernel(("border", "bloom", "bloom_boxes", "bloom_wide"), "up_wide", FINAL=final, **defines)
    size, local = (-(-width // 16), -(-height // 2), 1 if final else planes), kernel.fit(64, 1, 1)
    gpu.launch(
        kernel, size, coarse, fine, out, ends.not_finite, height, width, _knee(params), float(own), float(scale),
        local=local, label=f"bloom {'over' if final else 'up'} direct",
        traffic=coarse.nbytes + fine.nbytes + out.nbytes,
    )  # fmt: skip


def _wide_defines(ends: Ends, border: str, *, whole: bool) -> dict[str, Define]:
    """The defines of a kernel that takes pixels with all their channels (``whole``), or each plane by itself."""
    defines = (ends.channels, ends.colours) if whole else (1, 1)
    return {**define(border), "WIDE": True, "CHANNELS": defines[0], "COLOURS": defines[1]}
