"""Gain maps of ISO 21496-1 in files of items, AVIF and HEIC: the light of the brighter rendition, and a map for JPEG.

Sources: ISO 21496-1 (light is (base + offset) · 2^gain − offset of the alternate rendition, in linear light of one of
both spaces); ISO/IEC 23008-12 with its amendment 1 of 2024 (an image that is derived of both says the alternate's).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from ..params.moves import Move
from ..pixels.colour import Colour, tidied
from . import colours, gain_numbers, gain_samples, icc, jpeg_segments
from .gain_map import ISO, MOST, GainMap, coded
from .heif import GAIN_MAP, PrimaryItem
from .heif_items import DAMAGED, Items
from .jpeg_contents import WITH_GAIN_MAP
from .picture import Picture, Pixels

#: What a segment with a profile of one part begins with.
_ICC = jpeg_segments.ICC_PART + b"\1\1"
#: The code point that leaves primaries open.
_UNSPECIFIED = 2
#: The most pixels along a side of a JPEG file.
_LONGEST = 65500
#: The largest half float.
_LARGEST = 65504
#: What decodes the picture of a file's bytes, whose header is given, and gives its samples, upright.
Decoder = Callable[[PrimaryItem, bytes], Pixels]


class _Described(NamedTuple):
    """What a file says of a map: its numbers, also as they are stored, the alternate's space where it is another one,
    what is said of the map's own picture, and the bytes of a file that shows it."""

    block: bytes
    numbers: gain_numbers.IsoNumbers
    alternate: Colour | None
    header: PrimaryItem
    data: bytes


class OfItems:
    """The gain map of the primary picture in a file, as far as it is there and makes sense.

    ``data``: the file's bytes without what is derived of both, for the picture's decoder; None for the file itself.
    """

    def __init__(self, path: str) -> None:
        self._path, self._reason = path, ""
        self.data: bytes | None = None
        self._said: _Described | None = None
        self._codes: Pixels | None = None
        try:
            items = Items(Path(path).read_bytes())
            self.data = items.showing()
            self._said = _described(items)
        except (ValueError, struct.error, KeyError, IndexError) as error:
            self._reason = str(error) if type(error) is ValueError else DAMAGED

    @property
    def missing(self) -> bool:
        """Whether there is none, and no damage."""
        return self._said is None and not self._reason

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the picture and its light; of an HDR picture, whose map makes it darker, its own."""
        return WITH_GAIN_MAP[self._darker :]

    @property
    def _darker(self) -> bool:
        return self._said is not None and self._said.numbers.alternate <= self._said.numbers.base

    def decode(
        self, header: PrimaryItem, shape: tuple[int, ...], decoder: Decoder, layer: str | int | None
    ) -> PrimaryItem:
        """Decodes the map for a picture of a shape.

        Returns the picture's header, which names a gain map only where it is left out. Raises FileError where the light
        is asked for and cannot be had.
        """
        others = tuple(name for name in header.unused if name != GAIN_MAP)
        if self._said is not None and not self._darker:
            try:
                _check(*self._said.header.size, shape)
                codes = decoder(self._said.header, self._said.data)
                gray = self._said.numbers.alike and (codes[:, :, :1] == codes).all()
                self._codes = codes[:, :, : 1 if gray else 3]
                return replace(header, unused=others)
            except MemoryError:
                raise
            except Exception:  # the picture is there, whatever is wrong with its map
                self._reason = DAMAGED
        if self._reason and layer == WITH_GAIN_MAP[1]:
            raise FileError(
                f"{self._path}: its gain map {self._reason}; --layer {WITH_GAIN_MAP[0]} reads the picture without it"
            )
        named = f"{GAIN_MAP}, which {self._reason}" if self._reason else GAIN_MAP
        return replace(header, unused=(*others, named))

    def beside(self, picture: Picture, layer: str | int | None) -> Picture:
        """Returns a picture with the map beside it, or their light if that is the layer; itself without a map.

        Raises FileError for light of a picture of a space that is not known.
        """
        if self._codes is None or self._said is None:
            return picture
        wants_light, own = layer == WITH_GAIN_MAP[1], picture.colour
        alternate = self._said.alternate or own
        if wants_light:
            if own.cube is not None or own.scene or own.data or picture.pixels.dtype.kind != "u":
                raise FileError(
                    f"{self._path}: has a gain map for colours that are not known; leave out --layer"
                )
            pixels = light(picture, self._codes, self._said.numbers, alternate)
            metadata = picture.metadata.coloured(tidied(alternate.light))
            picture = replace(picture, pixels=pixels, linear=True, metadata=metadata)
        else:
            gain = _for_jpeg(self._codes, self._said, picture, alternate)
            picture = replace(picture, metadata=replace(picture.metadata, gain=gain))
        return replace(picture, layer=WITH_GAIN_MAP[wants_light], layers=WITH_GAIN_MAP)


def of_items(path: str, header: PrimaryItem) -> OfItems | None:
    """Returns the gain map of a file; None if it does not claim to have one of its primary picture."""
    gain = OfItems(path) if header.tone_mapped else None
    return None if gain is None or gain.missing else gain


def light(
    picture: Picture, codes: Pixels, numbers: gain_numbers.IsoNumbers, alternate: Colour
) -> NDArray[np.float16]:
    """Returns the light of a picture with a map of any size, as half floats; alpha stays.

    It is gray if both are, and else of the alternate's primaries.
    """
    height, width = picture.height, picture.width
    gray = picture.colours == codes.shape[2] == 1
    channels = numbers.channels[: 1 if gray else 3].astype(np.float32)
    least, most, gamma, own, other = channels.T
    made = np.empty((height, width, len(channels) + picture.alpha), np.float16)
    table, full = picture.colour.light_of_codes(picture.pixels.dtype.name), np.iinfo(codes.dtype).max
    turn = np.reshape(picture.colour.relative_to(alternate).matrix, (3, 3)).T.astype(np.float32)
    straight = gray or np.allclose(turn, np.eye(3), atol=1e-6)
    at = 0
    for rows in gain_samples.by_rows(codes, (width, height), Move.none(width, height), width, height):
        taken = slice(at, at + len(rows))
        at = taken.stop
        values = picture.pixels[taken, :, : picture.colours]
        base = np.concatenate(
            [table[min(i, len(table) - 1)][values[:, :, i : i + 1]] for i in range(values.shape[2])], 2
        )
        base = np.broadcast_to(base, (*base.shape[:2], len(channels)))
        gains = (rows / full).astype(np.float32) ** (1 / gamma)
        turned = base if straight or numbers.in_base else base @ turn
        result = ((turned + own) * np.exp2(least + (most - least) * gains) - other).clip(0, _LARGEST)
        if numbers.in_base and not straight:
            result = (result @ turn).clip(-_LARGEST, _LARGEST)
        made[taken, :, : len(channels)] = result
        if picture.alpha:
            made[taken, :, -1] = picture.pixels[taken, :, -1] / np.float32(np.iinfo(picture.pixels.dtype).max)
    return made


def _described(items: Items) -> _Described | None:
    """What is said of the primary picture's map; None if all maps are for others. Raises ValueError and others."""
    place = items.tone_map()
    if place is None:
        return None
    derived, gain = place
    payload = items.content(derived)
    if payload[:1] != b"\0":
        raise ValueError(f"is of a version that is not known ({payload[0] if payload else 'none'})")
    numbers = gain_numbers.of_iso(payload[1:])
    alternate = _alternate(items.header(derived), numbers.in_base)
    return _Described(payload[1:], numbers, alternate, items.header(gain), items.showing(gain))


def _alternate(header: PrimaryItem, in_base: bool) -> Colour | None:
    """The space that a derived image says, whose curve does not matter; None where it says none.

    Raises ValueError where it is not known, and light is of it.
    """
    if header.profile:
        stated = colours.of_profile(header.profile, gray=False)
    elif header.codes and header.codes[0] != _UNSPECIFIED:
        stated = colours.of_codes(header.codes[0], colours.SRGB_CODES[1], gray=False)
    else:
        return None
    if stated.colour is None and not in_base:
        raise ValueError("is for colours that are not known")
    return stated.colour


def _check(width: int, height: int, shape: tuple[int, ...]) -> None:
    """Raises ValueError for more pixels than a map of a picture of a shape has, or a JPEG file along a side."""
    if not 0 < width * height <= MOST * shape[0] * shape[1] or max(width, height) > _LONGEST:
        raise ValueError(DAMAGED)


def _for_jpeg(codes: Pixels, parts: _Described, picture: Picture, alternate: Colour) -> GainMap:
    """The map in a JPEG file: of 8 bits, with its numbers, and a profile if the alternate has other primaries."""
    if codes.dtype != np.uint8:
        codes = np.rint(codes / np.float64(257)).astype(np.uint8)
    segments = [(0xE2, ISO + parts.block)]
    if alternate.primaries != picture.colour.primaries:
        segments.append((0xE2, _ICC + icc.profile_of(alternate.srgb_signal, gray=False)))
    size = (picture.width, picture.height)
    return GainMap(coded(codes, *segments), size, ISO + bytes(4), parts.numbers.alternate)
