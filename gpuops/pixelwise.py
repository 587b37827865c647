"""How kernels that treat pixels one by one take and give them: as planes or as a file's pixels, of any type.

GPUs take four neighbours a work-item, as whole words; CPUs eight, as vectors: take_quads.cl and take_lanes.cl, and
their ways back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .gpu import Source
from .pixels import Decoding, Encoding, words_of_four

if TYPE_CHECKING:
    from .gpu import Argument, Define, Gpu
    from .image import Image

_SHARED = ("CHANNELS", "COLOURS", "UNPREMULTIPLY")  # what reading and writing agree on


@dataclass(frozen=True)
class Reading:
    """Of a kernel that takes pixels: its sources, the defines of its build, those of reading alone, its arguments."""

    sources: tuple[str | Source, ...]
    defines: dict[str, Define]
    own: dict[str, Define]
    arguments: tuple[Argument, ...]
    lanes: int
    nbytes: int

    @property
    def by_formula(self) -> bool:
        """Whether pixels, which may be anything, go through a power."""
        return bool(self.own.get("LINEARISE") or self.own.get("ENCODE"))

    @property
    def at_once(self) -> int:
        """Pixels that a work-item takes at a time."""
        return 8 if self.lanes > 1 else 4


def reading(
    gpu: Gpu,
    image: Image,
    decoding: Decoding | None,
    *,
    colours_only: bool = False,
    lanes: int | None = None,
    rows: bool = False,
) -> Reading:
    """``image``: planes (channels, height, width) float32, or with ``decoding`` pixels (height, width, channels).

    ``colours_only``: alpha is not wanted. Of planes it is not read then. ``lanes``: others than the device prefers.
    ``rows``: the kernel takes each row by itself, and not all pixels as one.
    """
    lanes = gpu.limits.lanes if lanes is None else lanes
    shared: dict[str, Define] = {"WIDTH": lanes}
    own: dict[str, Define] = {}
    arguments: tuple[Argument, ...] = (None, 1.0)
    if decoding is None:
        channels = image.colours if colours_only else image.shape[0]
        shared |= {"CHANNELS": channels, "COLOURS": image.colours}
        height, width = image.shape[1:]
        words = 4 if height * width % 4 == 0 else None
    else:
        own = own_of(decoding.defines(image))
        shared |= {"CHANNELS": image.shape[2], "COLOURS": image.shape[2] - decoding.alpha}
        arguments = decoding.arguments(image)
        height, width = image.shape[:2]
        words = words_of_four(image)
    if rows and width % 4:
        words = None
    if lanes == 1:
        own["READ_WORDS"] = words
    before: tuple[str | Source, ...] = ("lanes", "colour", defined("reading", own))
    if lanes > 1:
        sources = (*before, "take_lanes")
    else:
        sources = (*before, *(("decode",) if decoding else ()), "layout", "take_quads")
    nbytes = image.nbytes
    if decoding is None and colours_only:
        nbytes = nbytes // image.shape[0] * image.colours
    return Reading(sources, shared, own, arguments, lanes, nbytes)


def writing(
    gpu: Gpu, size: int, after: Reading, encoding: Encoding | None, *, alpha: bool
) -> tuple[tuple[str | Source, ...], dict[str, Define], Image | None]:
    """Sources after those of reading, defines of the build, and the codes of sRGB, for a result of ``size`` pixels."""
    channels = after.defines["CHANNELS"]
    assert isinstance(channels, int)
    way = "give_lanes" if after.lanes > 1 else "give_quads"
    if encoding is None:
        own: dict[str, Define] = {"WRITE_WORDS": size % 4 == 0} if after.lanes == 1 else {}
        return (defined("writing", own, after.own), way), {}, None
    own = own_of(encoding.defines(channels, alpha=alpha))
    codes = encoding.codes(gpu)
    # A GPU's group keeps the table at hand.
    local = codes is not None and not gpu.limits.is_cpu
    shared: dict[str, Define] = {
        "CODES": codes.shape[0] if codes is not None and local else None,
        "CODES_SPACE": "__local" if local else None,
    }
    sources: tuple[str | Source, ...] = (defined("writing", own, after.own), "encode")
    return (*sources, *(("interleaved",) if after.lanes > 1 else ()), way), shared, codes


def own_of(defines: dict[str, Define]) -> dict[str, Define]:
    """Of the defines of a decoding or an encoding, those that the other has not in common with it."""
    return {key: value for key, value in defines.items() if key not in _SHARED}


def defined(name: str, defines: dict[str, Define], before: dict[str, Define] | None = None) -> Source:
    """Defines that count from here on, in place of those before: decode.cl and encode.cl give theirs the same names."""
    gone = [f"#undef {key}" for key in before or {}]
    now = [
        f"#define {key} {'' if value is True else value}".rstrip()
        for key, value in defines.items()
        if value not in (None, False)
    ]
    return Source(name, "\n".join([*gone, *now]))
