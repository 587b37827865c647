"""Bloom's mip chain: a way down half-size images, and up again, over an image or pixels.

On GPUs it goes through local memory, on CPUs it reads straight from global memory.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import DeviceError
from ..gpu import Argument, Define, GeneratedSource, Gpu, Kernel, Local, Sources
from ..image import Image
from ..params.bloom import BloomParams
from ..params.border import define
from ..pixels.coding import Decoding, Encoding
from ..pixels.pointwise import defined, own_of, words_of_four
from ..programs import in_largest_group
from ..tone import operators
from .mip_ends import Ends, MipChain, halved, knee
from .octaves import columns, levels

# Bytes of local memory that a device needs to read and write pixels directly.
_LOCAL = 32768
# Work-items of a group that a device needs for it.
_GROUP = 64
# Channels of a pixel that is read and written directly, at most.
MOST_CHANNELS = 4


class WideChain(MipChain):
    """The chain by direct reads from global memory, whose work-items make several pixels: for CPUs."""

    def total(self) -> None:
        self.down(len(self.shares))
        self.factor = self.shares[-1]

    def climb(self, count: int) -> None:
        """Each total is share · level + tent(the total below it)."""
        while len(self.levels) > count:
            coarse, fine = self.levels.pop(), self.levels[-1]
            self._up(coarse, fine, fine, self.shares[len(self.levels) - 1], self.factor)
            self.factor = 1.0

    def over(self) -> None:
        self.climb(2)
        fine, coarse = self.ends.source, self.levels[1]
        if self.ends.not_finite is None:
            self._up(coarse, fine, self.ends.result, 0.0, self.factor)
            return
        scale = self.params.strength * self.factor
        self._up(coarse, fine, self.ends.result, self.finest, scale, final=True)

    def next_level(self, fine: Image, *, first: bool) -> Image:
        planes, height, width = fine.shape
        coarse = fine.like((planes, *halved((height, width))))
        _, rows, columns = coarse.shape
        self._compute(
            "down_wide", (-(-columns // 8), rows, 1 if first else planes), fine, coarse, height, width,
            knee(self.params), self.params.karis * self.params.scale, whole=first, label="bloom down direct",
            FIRST=first,
        )  # fmt: skip
        return coarse

    def _up(
        self, coarse: Image, fine: Image, out: Image, own: float, scale: float, *, final: bool = False
    ) -> None:
        planes, height, width = fine.shape
        self._compute(
            "up_wide", (-(-width // 16), -(-height // 2), 1 if final else planes), coarse, fine, out,
            self.ends.not_finite, height, width, knee(self.params), float(own), float(scale), whole=final,
            label=f"bloom {'over' if final else 'up'} direct", FINAL=final,
        )  # fmt: skip

    def _compute(
        self, name: str, size: tuple[int, ...], *args: Argument, whole: bool, label: str, **defines: bool
    ) -> None:
        """Launches a kernel that takes pixels with all their channels (``whole``), or each plane by itself."""
        channels, colours = (self.ends.channels, self.ends.colours) if whole else (1, 1)
        self.gpu.compute(
            ("border", "bloom", "bloom_boxes", "bloom_wide"), name, size, *args, group=64, label=label, WIDE=True,
            CHANNELS=channels, COLOURS=colours, **define(self.params.border), **defines,
        )  # fmt: skip


def direct(gpu: Gpu, params: BloomParams) -> bool:
    """Says whether the chain's filters read their neighbours straight from global memory."""
    small = gpu.limits.is_cpu or gpu.limits.work_group < LEAST_ITEMS
    return params.reads == "direct" or (params.reads == "auto" and small)


def takes_pixels(gpu: Gpu, params: BloomParams, shape: tuple[int, ...]) -> bool:
    """Says whether the chain can read and write pixels of this shape (height, width, channels)."""
    limits, (height, width, channels) = gpu.limits, shape
    enough = limits.local_bytes >= _LOCAL and limits.work_group >= _GROUP
    whole = columns(params, height, width) == width
    return enough and channels <= MOST_CHANNELS and whole and not direct(gpu, params)


def over(ends: Ends, params: BloomParams) -> list[float]:
    """Lays the glow over an image: goes down the chain and up again. Returns the levels' shares of the light."""
    shares = levels(params, ends.size[0])
    chain = chain_of(ends, params, shares)
    chain.total()
    chain.over()
    return shares


def glow_of(light: Image, params: BloomParams) -> float:
    """Replaces a planar Image of finite light by its glow, without the light that stays in its own pixel.

    Returns the share of light that stays there. The width must be the one that :meth:`BloomParams.columns` gives.
    """
    return over(Ends(light, light, None), replace(params, strength=1.0, threshold=0.0))[0]


def chain_of(ends: Ends, params: BloomParams, shares: list[float], *, from_image: bool = True) -> MipChain:
    """Returns the chain as the device, or the parameters, want it."""
    kind = WideChain if direct(ends.source.gpu, params) else LocalChain
    return kind(ends, params, shares, from_image)


# -- Bloom's mip chain through local memory; the kernels at both ends also read and write a file's pixels --------

# Work-items of a group.
_ITEMS = 128
# Work-items of a group that reads or writes pixels.
_ITEMS_OF_ENDS = 64
# Work-items of any group, at least.
LEAST_ITEMS = 8
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


class LocalChain(MipChain):
    """The chain through local memory."""

    def total(self) -> None:
        sizes, last = _sizes(self.ends.size, len(self.shares)), len(self.shares) - 1
        if last:
            # The last levels, from `k` on, are one launch if there are two of them or more.
            most = min(self.gpu.limits.local_bytes, _LOCAL_SMALL)
            k = next(k for k in range(1, len(sizes)) if _bytes(sizes[k:]) <= most or k == last)
            self.down(k + 1)
            if k < last:
                _small(self.gpu, self.levels[k], self.shares[k:], self.params.border)
                return
        self.factor = self.shares[last]

    def climb(self, count: int) -> None:
        """Goes up by two levels at a time, but first by one where the number of levels is odd."""
        while len(self.levels) > count:
            k = len(self.levels) - 1
            steps = min(k + 1 - count, 1 + (k % 2 == 0))
            self._up(self.levels[k - steps :], self.shares[k - steps : k], self.factor)
            del self.levels[k - steps + 1 :]
            self.factor = 1.0

    def over(self) -> None:
        self.climb(3)
        between, strength = self.shares[1 : len(self.levels) - 1], self.params.strength
        if self.ends.not_finite is None:
            self._up(self.levels, [0.0, *between], self.factor)
            return
        shares = [self.finest, *(strength * share for share in between)]
        self._up(self.levels, shares, strength * self.factor, final=True)

    def next_level(self, fine: Image, *, first: bool) -> Image:
        gpu, ends, params = self.gpu, self.ends, self.params
        height, width = ends.size if first else fine.shape[1:]
        rows, columns = halved((height, width))
        coarse = gpu.empty((ends.channels, rows, columns))
        sources: tuple[str, ...] = ("reflected", "layout", "bloom", "bloom_boxes", "bloom_down")
        blocks, table, scale = 1 if first else ends.channels, None, 1.0
        defines = self._defines("FIRST", whole=first)
        if first and ends.decoding:
            sources = ("reflected", "lanes", "colour", "decode", *sources[1:])
            defines |= {"WIDTH": 1, "BOUNDED": fine.dtype != np.float32, **ends.decoding.defines(fine)}
            table, scale = ends.decoding.arguments(fine)
        defines |= {"READ_WORDS": _words(fine, width), **define(params.border)}
        quads = -(-width // 4)
        most = _ITEMS_OF_ENDS if first and ends.decoding else _ITEMS
        kernel, items = _kernel(gpu, sources, "down", quads, defines, most)
        tiles = -(-quads // (items - _ENDS))
        band = _band(gpu, rows, tiles * blocks, items, _GROUPS_FIRST if first else _GROUPS)
        gpu.launch(
            kernel, (tiles * items, -(-rows // band), blocks), fine, coarse, height, width, band, knee(params),
            params.karis * params.scale, table, scale, local=(items, 1, 1), label="bloom down local",
        )  # fmt: skip
        return coarse

    def _up(self, levels: list[Image], shares: list[float], scale: float, *, final: bool = False) -> None:
        """Replaces the first of two or three levels by their total, weighted by shares; the last one is a total."""
        gpu, ends, params = self.gpu, self.ends, self.params
        fine, between, coarse = levels[0], levels[1], levels[-1]
        out, blocks, (height, width) = fine, ends.channels, fine.shape[1:]
        if final:
            out, blocks, (height, width) = ends.result, 1, ends.size
        sources: Sources = ("reflected", "layout", "bloom", "bloom_up")
        defines = self._defines("FINAL", whole=final)
        arguments: list[Argument] = [None, 1.0, None, None, None, 1.0, operators.NO_PARAMETERS, 1.0]
        if final and ends.decoding and ends.encoding:
            sources, more, arguments = _reads_and_writes(gpu, ends, ends.decoding, ends.encoding)
            defines |= more
        defines |= {"READ_WORDS": _words(fine, width), "FOURS": width % 4 == 0, **define(params.border)}
        defines["LEVELS"] = len(shares)
        quads = -(-width // 4)
        most = _ITEMS_OF_ENDS if final and ends.decoding else _ITEMS
        kernel, items = _kernel(gpu, sources, "up", quads, defines, most)
        tiles = -(-quads // (items - _ENDS))
        pairs = height // 2 + 1
        band = _band(gpu, pairs, tiles * blocks, items, _GROUPS_OVER if final else _GROUPS)
        gpu.launch(
            kernel, (tiles * items, -(-pairs // band), blocks), coarse, between, fine, out, height, width, band,
            float(shares[0]), float(shares[-1]), float(scale), knee(params), ends.not_finite, *arguments,
            local=(items, 1, 1), label=f"bloom {'over' if final else 'up'} local",
            traffic=sum(level.nbytes for level in levels) + out.nbytes,
        )  # fmt: skip

    def _defines(self, end: str, *, whole: bool) -> dict[str, Define]:
        """The defines of a kernel that takes each plane by itself, or at an ``end`` pixels with all their channels."""
        if not whole:
            return {"CHANNELS": 1, "COLOURS": 1}
        channels, colours = self.ends.channels, self.ends.colours
        return {"CHANNELS": channels, "COLOURS": colours, end: True, "KNEE": self.params.threshold > 0}


def _sizes(size: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Returns a level's height and width, and those of the ones below it: so many in all."""
    sizes = [size]
    while len(sizes) < count:
        sizes.append(halved(sizes[-1]))
    return sizes


def _bytes(sizes: list[tuple[int, ...]]) -> int:
    """Bytes of local memory for a plane of each size."""
    return 4 * sum(height * width for height, width in sizes)


def _small(gpu: Gpu, level: Image, shares: list[float], border: str) -> None:
    """Replaces ``level`` by the total of it and of all coarser levels."""
    planes, height, width = level.shape
    sizes = _sizes((height, width), len(shares))
    kernel = gpu.kernel(("reflected", "bloom_small"), "small_levels", **define(border))
    (items,) = kernel.fit(_SMALL_ITEMS)
    weights = gpu.kept(("bloom shares", *shares), lambda: gpu.array(np.array(shares, np.float32)))
    gpu.launch(
        kernel, (planes * items,), level, weights, height, width, len(shares), Local(_bytes(sizes)), local=(items,),
        label="bloom small levels local", traffic=2 * level.nbytes,
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
    sources: tuple[str | GeneratedSource, ...] = (
        "reflected", "lanes", "colour", defined("reading", own_of(reading)), "decode", "layout",
        defined("writing", own_of(writing), own_of(reading)), "encode",
    )  # fmt: skip
    exposure, p = 1.0, operators.NO_PARAMETERS
    if display:
        assert display.exposure is not None
        exposure, p = 2.0**display.exposure, operators.vector(display)
        sources += ("tonemap_operators", "tonemap_light")
        clipped = display.operator in operators.CLIPPED
        more |= {"OPERATOR": operators.function_of(display.operator), "UP_TO_1": clipped}
    more |= {"UNPREMULTIPLY": writing["UNPREMULTIPLY"], "BOUNDED": ends.source.dtype != np.float32}
    table, scale = decoding.arguments(ends.source)
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
    native = {"NATIVE": True, "DENORMS_ARE_ZERO": True} if gpu.limits.native else {}
    while items > LEAST_ITEMS and (items // 2 - _ENDS >= columns or items > gpu.limits.work_group):
        items //= 2
    group = in_largest_group(
        lambda items: gpu.kernel(sources, name, **defines, **native, ITEMS=items), items, _ENDS + 2
    )
    if group is None:
        planes = defines["CHANNELS"]
        raise DeviceError(f"{planes} channels do not fit local memory: use direct reads (reads: direct)")
    return group


def _band(gpu: Gpu, rows: int, columns: int, items: int, groups: int = _GROUPS) -> int:
    """Returns the rows of a group, an even number, where ``columns`` groups stand side by side.

    ``groups`` is how many groups of _ITEMS a compute unit is to get.
    """
    bands = max(1, groups * _ITEMS // items * gpu.limits.compute_units // columns)
    return max(_LEAST_BAND, (-(-rows // bands) + 1) // 2 * 2)
