"""Reading and writing for kernels that treat pixels one by one: as planes or as a file's pixels, of any type.

A GPU's work-item takes four neighbours, as whole words (take_quads.cl, give_quads.cl); a CPU's takes eight, as vectors
(take_lanes.cl, give_lanes.cl).

What is read may go through stages: functions of a pixel, each in a source of its own. So operations that change pixels
one by one need no launch, but are done by the one that reads their result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..programs import GeneratedSource
from ..records import dataclass
from . import blue_noise

if TYPE_CHECKING:
    from ..gpu import Argument, Define, Gpu
    from ..image import Image
    from .coding import Decoding, Encoding

# Groups of a compute unit: those that end early make room for others.
_GROUPS = 24
# Rounds of a work-item, at most.
_TIMES = 1 << 10
# Numbers of stages that are an argument of a kernel by value: any device takes 1024 bytes of arguments.
_BY_VALUE = 192
# Channels of a pixel that take_lanes.cl can gather, at most.
_MOST_IN_LANES = 4
# Defines that reading and writing have in common.
_SHARED = ("CHANNELS", "COLOURS", "UNPREMULTIPLY")


@dataclass(frozen=True)
class Stage:
    """A function of a pixel that kernels apply to what they read.

    Attributes
    ----------
    source : str
        The file of OpenCL C that has it: ``f(FLOAT v[CHANNELS], NUMBERS const float *numbers, int parts)`` changes
        the channels of a pixel, or of a vector of them. NUMBERS is the address space of its numbers.
    function : str
        Its name.
    numbers : tuple of float
        What it is given.
    parts : tuple of str
        The names of the parts that it is to do; the file has them as flags. The others are not compiled.
    exact : bool
        It needs a library's powers, not a GPU's own.
    indexed : bool
        It takes numbers by an index that it computes.
    """

    source: str
    function: str
    numbers: tuple[float, ...] = ()
    parts: tuple[str, ...] = ()
    exact: bool = False
    indexed: bool = False


@dataclass(frozen=True)
class Reading:
    """The sources of a kernel that reads pixels, its build's defines, those of reading alone, and its arguments.

    ``channels`` are those of a pixel that is read, ``colours`` are those without alpha.
    """

    sources: tuple[str | GeneratedSource, ...]
    defines: dict[str, Define]
    own: dict[str, Define]
    arguments: tuple[Argument, ...]
    lanes: int
    nbytes: int
    exact: bool
    channels: int
    colours: int

    @property
    def by_formula(self) -> bool:
        """Whether pixels, which may have any value, go through a power."""
        return self.exact or bool(self.own.get("LINEARISE") or self.own.get("ENCODE"))

    @property
    def at_once(self) -> int:
        """The number of pixels that a work-item takes at a time."""
        return 8 if self.lanes > 1 else 4

    def times(self, gpu: Gpu, size: int, group: int) -> tuple[int, int]:
        """Returns how many work-items take ``size`` pixels in groups of so many, and how often each takes some."""
        items = -(-size // self.at_once)
        times = min(max(1, items // (gpu.limits.compute_units * group * _GROUPS)), _TIMES)
        return -(-items // times), times


def words_of_four(pixels: Image) -> int:
    """Returns how many 32-bit words of four neighbours can be read at a time: READ_WORDS in layout.cl."""
    words = pixels.shape[2] * pixels.dtype.itemsize
    return 4 if words % 4 == 0 else 2 if words % 2 == 0 else 1


def reading(
    gpu: Gpu,
    image: Image,
    decoding: Decoding | None,
    *,
    stages: Sequence[Stage] = (),
    colours_only: bool = False,
    lanes: int | None = None,
    rows: bool = False,
) -> Reading:
    """Returns how to read ``image``: float32 planes (channels, height, width), or with ``decoding`` a file's pixels.

    Pixels are (height, width, channels). What is read goes through the ``stages``. ``colours_only``: alpha is not
    wanted, and its plane is not read unless a stage may need it. ``lanes``: in place of those that the device prefers.
    ``rows``: the kernel takes each row by itself, and not all pixels as one row.
    """
    colours_only = colours_only and not stages
    lanes = gpu.limits.lanes if lanes is None else lanes
    own: dict[str, Define] = {}
    table, scale = None, 1.0
    if decoding is None:
        channels = image.colours if colours_only else image.shape[0]
        colours, height, width = image.colours, *image.shape[1:]
        words = 4 if height * width % 4 == 0 else None
    else:
        own = own_of(decoding.defines(image))
        table, scale = decoding.arguments(image)
        height, width, channels = image.shape
        colours, words = channels - decoding.alpha, words_of_four(image)
    if rows and width % 4:
        words = None
    if lanes == 1:
        own["READ_WORDS"] = words
    numbers: Argument = None
    by_value = False
    if stages:
        own["STAGES"] = True
        numbers = np.array([n for stage in stages for n in stage.numbers] or [0], np.float32)
        by_value = len(numbers) <= _BY_VALUE and not any(stage.indexed for stage in stages)
        if not by_value:
            numbers = gpu.array(numbers)
    decode = ("decode",) if decoding else ()
    take = ("take_lanes",) if lanes > 1 else (*decode, "layout", "take_quads")
    sources = "lanes", "colour", defined("reading", own), *_joined(stages, by_value), *take
    nbytes = image.nbytes
    if decoding is None and colours_only:
        nbytes = nbytes // image.shape[0] * image.colours
    exact = any(stage.exact for stage in stages)
    shared: dict[str, Define] = {"WIDTH": lanes, "CHANNELS": channels, "COLOURS": colours}
    arguments = table, scale, numbers
    return Reading(sources, shared, own, arguments, lanes, nbytes, exact, channels, colours)


def _joined(stages: Sequence[Stage], by_value: bool) -> tuple[str | GeneratedSource, ...]:
    """Returns the sources of the stages, and ``staged``, the function that does one after the other.

    ``Numbers`` is what a kernel is given for them: a buffer in constant memory, or ``by_value`` the numbers themselves,
    which GPUs use without loading them first.
    """
    if not stages:
        return (GeneratedSource("numbers", "typedef __constant const float *Numbers;"),)
    calls, place = [], 0
    at = "numbers.of + " if by_value else "numbers + "
    for stage in stages:
        calls.append(f"    {stage.function}(v, {at}{place}, {' | '.join(stage.parts) or 0});")
        place += len(stage.numbers)
    kind = f"struct {{ float of[{max(place, 1)}]; }}" if by_value else "__constant const float *"
    text = "\n".join(["static inline void staged(FLOAT v[CHANNELS], Numbers numbers) {", *calls, "}"])
    return (
        GeneratedSource(
            "numbers", f"typedef {kind} Numbers;\n#define NUMBERS {'' if by_value else '__constant'}"
        ),
        *dict.fromkeys(stage.source for stage in stages),
        GeneratedSource("stages", text),
    )


def writing(
    gpu: Gpu, size: int, after: Reading, encoding: Encoding | None, *, alpha: bool
) -> tuple[tuple[str | GeneratedSource, ...], dict[str, Define], Image | None]:
    """Returns how to write a result of ``size`` pixels after a ``Reading``.

    These are the sources that follow, more defines of the build, and the table of sRGB codes if there is one.
    """
    way = "give_lanes" if after.lanes > 1 else "give_quads"
    if encoding is None:
        own: dict[str, Define] = {"WRITE_WORDS": size % 4 == 0} if after.lanes == 1 else {}
        return (defined("writing", own, after.own), way), {}, None
    own = own_of(encoding.defines(after.channels, alpha=alpha))
    codes = encoding.codes(gpu)
    # On GPUs each group keeps the table in local memory.
    local = codes is not None and not gpu.limits.is_cpu
    shared: dict[str, Define] = {
        "CODES": codes.shape[0] if codes is not None and local else None,
        "CODES_SPACE": "__local" if local else None,
    }
    sources: tuple[str | GeneratedSource, ...] = (defined("writing", own, after.own), "encode")
    return (*sources, *(("interleaved",) if after.lanes > 1 else ()), way), shared, codes


def own_of(defines: dict[str, Define]) -> dict[str, Define]:
    """Returns those defines of a decoding or an encoding that the two do not share."""
    return {key: value for key, value in defines.items() if key not in _SHARED}


def defined(
    name: str, defines: dict[str, Define], before: dict[str, Define] | None = None
) -> GeneratedSource:
    """A source that replaces the defines ``before``: those of decode.cl and encode.cl have the same names."""
    gone = [f"#undef {key}" for key in before or {}]
    now = [
        f"#define {key} {'' if value is True else value}".rstrip()
        for key, value in defines.items()
        if value not in (None, False)
    ]
    return GeneratedSource(name, "\n".join([*gone, *now]))


def each(
    gpu: Gpu,
    image: Image,
    stages: Sequence[Stage] = (),
    decoding: Decoding | None = None,
    encoding: Encoding | None = None,
    *,
    label: str | None = None,
) -> tuple[Image, Image | None]:
    """Does stages in one launch, from planes or pixels to planes or pixels; the Image given stays as it is.

    With an ``encoding`` there are also the counters of values that did not fit: see
    :func:`gpuops.pixels.coding.losses`. ``label``: what reports call the launch, in place of the stages' names.
    """
    dither = encoding.dither if encoding is not None and encoding.dtype.kind == "u" else None
    if encoding is not None and encoding.unpremultiply:
        stages = (*stages, Stage("convert", "straightened"))
    if encoding is not None and dither is not None:  # noise is added to the signal
        parts = ("LIGHT_TO_SRGB",) * encoding.encode + ("SRGB_TO_LIGHT",) * encoding.linearise
        stages = (*stages, *(Stage("convert", "converted", (), (part,), exact=True) for part in parts))
        encoding = replace(encoding, encode=False, linearise=False)
    # Vectors are gathered from pixels of up to four channels.
    many = decoding is not None and image.shape[2] > _MOST_IN_LANES
    ways = reading(gpu, image, decoding, stages=stages, lanes=1 if many else None)
    channels, colours = ways.channels, ways.colours
    height, width = image.shape[:2] if decoding else image.shape[1:]
    size, alpha = height * width, channels > colours
    sources, defines, codes = writing(gpu, size, ways, encoding, alpha=alpha)
    exact = ways.by_formula or bool(encoding and (encoding.linearise or (encoding.encode and codes is None)))
    native = gpu.limits.native and not exact
    noise = blue_noise.on_device(gpu, dither.seed) if dither and dither.noise == "blue" else None
    kernel = gpu.kernel(
        (*ways.sources, *sources, *(("dither",) if dither else ()), "each"), "each", DITHER=dither is not None,
        BLUE=None if noise is None else blue_noise.SIZE, NATIVE=native, FINITE=not native and not exact,
        DENORMS_ARE_ZERO=native, ANY_LIGHT=encoding is not None, **ways.defines, **defines,
    )  # fmt: skip
    lost = None
    if encoding is None:
        result = gpu.empty((channels, height, width))
        result.alpha, result.space, result.orientation = alpha, image.space, image.orientation
        result.part = image.part
    else:
        result, lost = gpu.empty((height, width, channels), encoding.dtype), gpu.zeros((2,), np.uint32)
    local = kernel.fit(1 if gpu.limits.is_cpu else 256)
    items, times = ways.times(gpu, size, local[0])
    before = (image.part.first if image.part else 0) * width % 2**32
    gpu.launch(
        kernel, (items,), image, result, size, times, *ways.arguments, codes, lost, width, np.uint32(before),
        np.uint32(dither.seed if dither else 0), noise, local=local,
        label=label or " + ".join(stage.source for stage in stages) or "each", traffic=ways.nbytes + result.nbytes,
    )  # fmt: skip
    return result, lost
