"""The contents of a picture file: pixels in their stored depth, their meaning, and the metadata beside them."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..notes import note
from ..params.moves import Frame, Move, Shrunk
from ..pixels.colour import DATA, LINEAR, SRGB, Colour, of_primaries, tidied, unusual
from ..pixels.primaries import Primaries
from . import icc
from .hdr_light import HdrLight
from .layers import Rest
from .texts import TextChunk

if TYPE_CHECKING:
    from .fits_integers import Integers
    from .gain_map import GainMap

Pixels = NDArray[Any]

#: The depths a picture may have. Anything else in a file is converted, or refused, while reading.
DTYPES = ("uint8", "uint16", "float16", "float32")
# The same as numpy's types, which it names slowly.
_DTYPES = frozenset(map(np.dtype, DTYPES))

#: The kinds of metadata that are bytes.
_BLOCKS = ("icc", "exif", "xmp")
#: An orientation in an XMP packet: an attribute or an element of the namespace that is usually called tiff.
_XMP_ORIENTATION = re.compile(rb"""(tiff:Orientation(?:\s*=\s*["']|>\s*))[1-8]""")
#: An EXR attribute: x and y of red, green, blue and white.
CHROMATICITIES = "chromaticities"
#: An EXR attribute: how many times as wide as high a pixel is.
_ASPECT = "PixelAspectRatio"
#: What messages call factors of light, which nothing but a JPEG file keeps.
GAIN_MAP_OF_INPUT = "gain map of the input (--layer hdr applies it)"
#: The EXR attributes without which pixels look different.
_LOOKS = (CHROMATICITIES, _ASPECT, "Orientation")


@dataclass(frozen=True)
class Metadata:
    """The data that is kept beside the pixels; every part may be missing.

    icc: the ICC profile. exif: an EXIF block (a TIFF structure, as in a PNG eXIf chunk, without thumbnail).
    xmp: an XMP packet. resolution: (x, y, unit), unit "in" or "cm".
    attributes: EXR header attributes (chromaticities, owner, comments ...), which only EXR can hold.
    colour: what the stored colours are, where they are neither sRGB nor linear Rec. 709 light.
    frame: where the pixels are in what is displayed, if that is not all of it.
    cards: those of a FITS header that describe the picture, of 80 characters each.
    spacing: (x, y) pixels to a unit that another part of the metadata names, or nobody.
    rest: channels of an EXR file that are not the picture's.
    light: what is said of the light of PQ and HLG. gain: factors of more light, which only JPEG can hold.
    texts: chunks of texts, which only PNG can hold.
    integers: how a FITS file stores the values, if they are whole numbers.
    """

    icc: bytes | None = None
    exif: bytes | None = None
    xmp: bytes | None = None
    resolution: tuple[float, float, str] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    colour: Colour | None = None
    frame: Frame | None = None
    cards: tuple[str, ...] = ()
    spacing: tuple[float, float] | None = None
    rest: Rest | None = None
    light: HdrLight | None = None
    gain: GainMap | None = None
    texts: tuple[TextChunk, ...] = ()
    integers: Integers | None = None

    def to_json(self) -> dict[str, Any]:
        """The parts that a file of numbers can keep (all but the EXR attributes), as JSON values.

        The colour is an ICC profile, and beside it the primaries' chromaticities, exactly.
        """
        blocks = {name: getattr(self, name) for name in _BLOCKS}
        if self.colour is not None and not self.colour.data:
            blocks["colour"] = icc.profile_of(self.colour, gray=False)
        kept: dict[str, Any] = {name: b64encode(block).decode() for name, block in blocks.items() if block}
        if self.colour is not None and self.colour.chromaticities is not None:
            kept[CHROMATICITIES] = list(self.colour.chromaticities.numbers)
        kept |= {"frame": list(self.frame)} if self.frame else {}
        kept |= {"cards": list(self.cards)} if self.cards else {}
        kept |= {"spacing": list(self.spacing)} if self.spacing else {}
        kept |= {"light": self.light.to_json()} if self.light else {}
        kept |= {"texts": [text.to_json() for text in self.texts]} if self.texts else {}
        kept |= {"data": True} if self.colour is not None and self.colour.data else {}
        return kept | ({"resolution": list(self.resolution)} if self.resolution else {})

    @property
    def orientation(self) -> int:
        """EXIF's orientation, 1 (upright) to 8, by which pixels are to be turned when they are shown."""
        if not self.exif:
            return 1
        from .exif import orientation

        return orientation(self.exif)

    def oriented(self, orientation: int) -> Metadata:
        """Returns the metadata with this orientation; itself where it says nothing else.

        XMP may repeat what EXIF says. Where neither has an orientation, as of upright pictures, none is added.
        """
        if orientation == self.orientation:
            return self
        from .exif import oriented

        return replace(
            self,
            exif=oriented(self.exif, orientation) if self.exif else None,
            xmp=_XMP_ORIENTATION.sub(rb"\g<1>%d" % orientation, self.xmp) if self.xmp else None,
        )

    def moved(self, move: Move, before: Frame, frame: Frame) -> tuple[Metadata, list[str]]:
        """Returns the metadata of the moved picture, which was in a frame, and is in another one then; and names of
        what cannot follow."""
        known, resolution, attributes = None if frame.usual else frame, self.resolution, self.attributes
        gain = self.gain and self.gain.moved(move)
        if move == Move.none(before.width, before.height):
            return self if (known, gain) == (self.frame, None) else replace(self, frame=known, gain=gain), []
        exif, lost = self.exif, list[str]()
        if exif:
            from .positions import moved

            exif, lost = moved(exif, move)
        cards = self.cards
        if cards:
            from .wcs import moved as moved_cards

            cards, gone = moved_cards(cards, move, before.height)
            lost = [*lost, *gone]
        across, down = abs(move.a) + abs(move.b), abs(move.c) + abs(move.d)
        straight = move.transposes or move.b == 0 == move.c
        if resolution is not None:
            x, y, unit = resolution
            if x != y and not straight:
                resolution, lost = None, [*lost, "resolution, which is not the same each way"]
            elif move.transposes:
                resolution = y, x, unit
            elif x != y:  # as a pixel's shape changes
                resolution = x, y * down / across, unit
        spacing = self.spacing
        if spacing is not None:
            x, y = spacing[::-1] if move.transposes else spacing
            spacing = (x * across, y * down) if straight else spacing if x == y else None
        if _ASPECT in attributes:
            kind, aspect = attributes[_ASPECT]
            aspect = (1 / aspect if move.transposes else aspect) * down / across
            rest = {name: value for name, value in attributes.items() if name != _ASPECT}
            attributes = rest | {_ASPECT: (kind, aspect)} if straight else rest
            lost += [] if straight else ["pixels' aspect ratio"]
        moved_ = replace(
            self,
            exif=exif,
            resolution=resolution,
            attributes=attributes,
            frame=known,
            cards=cards,
            spacing=spacing,
            gain=gain,
        )
        return moved_, lost

    @property
    def of_pictures(self) -> dict[str, Any]:
        """The EXR attributes without those that describe the stored colours."""
        return {name: value for name, value in self.attributes.items() if name != CHROMATICITIES}

    def coloured(self, colour: Colour | None) -> Metadata:
        """Returns the metadata of colours in another space, of which nothing is stated but by ``colour``.

        Without a profile and chromaticities; EXIF says whether it is sRGB. None: whoever asks says the colour.
        """
        from .exif import coloured

        exif = coloured(self.exif, srgb=colour == SRGB) if self.exif else None
        known = None if colour is None else unusual(colour)
        changed = self.changed()
        return replace(changed, icc=None, colour=known, exif=exif, attributes=self.of_pictures)

    def changed(self) -> Metadata:
        """Returns the metadata of pixels with other values."""
        light = self.light and self.light._replace(anew=True)
        gain = self.gain and replace(self.gain, changed=True)
        return replace(self, light=light, gain=gain, integers=None)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Metadata:
        """The inverse of :meth:`to_json`. Raises ValueError, TypeError or KeyError for anything else."""
        blocks = {name: b64decode(value[name], validate=True) for name in _BLOCKS if name in value}
        x, y, unit = value.get("resolution") or (0, 0, "")
        profile, exif, xmp = (blocks.get(name) for name in _BLOCKS)
        resolution = (float(x), float(y), str(unit)) if unit in ("in", "cm") else None
        frame = Frame(*map(int, value["frame"])) if value.get("frame") else None
        cards = tuple(str(card)[:80].ljust(80) for card in value.get("cards", ()))
        across, down = value.get("spacing") or (0, 0)
        spacing = (float(across), float(down)) if across and down else None
        light = HdrLight.from_json(value["light"]) if value.get("light") else None
        texts = tuple(map(TextChunk.from_json, value.get("texts", ())))
        known = cls(profile, exif, xmp, resolution, {}, _colour(value), frame, cards, spacing)
        return replace(known, light=light, texts=texts)

    @classmethod
    def of_numbers(cls, path: str, value: Any) -> Metadata:
        """Returns the picture's metadata in a file of numbers, :meth:`to_json` or None; notes if it is damaged."""
        try:
            return cls.from_json(value or {})
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            note(f"{path}: the picture's metadata in it is damaged and left out")
            return cls()


def _colour(value: Mapping[str, Any]) -> Colour | None:
    if "colour" not in value:
        return DATA if value.get("data") is True else None
    colour, _ = icc.colour_of(b64decode(value["colour"], validate=True))
    if CHROMATICITIES in value:
        primaries = Primaries.of(tuple(map(float, value[CHROMATICITIES])))
        return tidied(of_primaries(primaries, *colour.curves, narrow=colour.narrow))
    return colour


def unread(shape: tuple[int, ...], dtype: Any = np.uint8) -> Pixels:
    """Returns an array without memory that stands for pixels which are not read yet."""
    return np.ndarray(shape, dtype, bytes(np.dtype(dtype).itemsize), strides=(0,) * len(shape))


def filled(array: Pixels, blocks: Iterable[Pixels]) -> Pixels:
    """Returns the array, whose rows are those of blocks from the top on."""
    at = 0
    for block in blocks:
        array[at : (at := at + len(block))] = block
    return array


def in_blocks(array: Pixels, count: int) -> Iterator[Pixels]:
    """Gives the rows of an array, so many at a time."""
    return (array[start : start + count] for start in range(0, len(array), count))


@dataclass(frozen=True)
class Inks:
    """The cyan, magenta, yellow and black that a file holds in place of the picture's red, green and blue.

    depth: the type of the file's samples. profile: the ICC profile that made floats of them, None where a formula has
    made samples of the same type.
    """

    depth: str
    profile: bytes | None = None


@dataclass(frozen=True)
class Picture:
    """An image of a file: `pixels` (height, width, channels), C-contiguous, in one of DTYPES.

    alpha: the last channel is straight (unassociated) alpha.
    linear: values are light (EXR, HDR, PFM, and what says so), not encoded ones (integer files, mostly).
    associated: the file had associated alpha, as EXR does by convention. Then colour where alpha is 0 is
        light of its own, and a format of associated alpha gets it back unchanged; otherwise such colour is
        hidden, and becomes 0 there.
    layer, layers: the layer that was read, and the names of all (EXR layers, TIFF pages, NPZ arrays).
    inks: what pixels were made of, where the file is CMYK.
    assumed: the file does not say what its values are.
    shrunk: how the decoder has made it smaller; metadata are those of the file's picture.
    """

    pixels: Pixels
    alpha: bool = False
    linear: bool = False
    metadata: Metadata = field(default_factory=Metadata)
    associated: bool = False
    layer: str = ""
    layers: tuple[str, ...] = ()
    inks: Inks | None = None
    assumed: bool = False
    shrunk: Shrunk | None = None

    def __post_init__(self) -> None:
        p = self.pixels
        if p.ndim != 3 or not 1 <= p.shape[2] <= 4 or min(p.shape) < 1:
            raise ParameterError(f"pixels must be (height, width, 1 to 4 channels), not of shape {p.shape}")
        if p.dtype.newbyteorder("=") not in _DTYPES:
            raise ParameterError(f"pixels must be {', '.join(DTYPES)}, not {p.dtype.name}")
        if self.alpha != (p.shape[2] in (2, 4)):
            raise ParameterError(f"{p.shape[2]} channels {'cannot have' if self.alpha else 'need'} alpha")
        if not p.dtype.isnative:
            object.__setattr__(self, "pixels", p.astype(p.dtype.newbyteorder("=")))

    @property
    def colour(self) -> Colour:
        """The space of the stored colours."""
        return self.metadata.colour or (LINEAR if self.linear else SRGB)

    @property
    def colours(self) -> int:
        """The number of channels without alpha."""
        return self.channels - self.alpha

    @property
    def depth(self) -> np.dtype[Any]:
        """The type of the file's samples, and of results: that of the pixels, unless these come from inks."""
        return self.pixels.dtype if self.inks is None else np.dtype(self.inks.depth)

    def upright(self) -> Picture:
        """The picture, turned as its orientation says, which is 1 then."""
        turn = self.metadata.orientation
        if turn == 1:
            return self
        frame = self.frame
        move = Move.turn(turn, frame.width, frame.height)
        metadata, _ = self.metadata.moved(move, frame, frame.moved(move))
        return replace(self, pixels=upright(self.pixels, turn), metadata=metadata.oriented(1))

    def meant(self, colour: Colour) -> Picture:
        """The picture, whose values are in a space, whatever the file says."""
        metadata = replace(self.metadata.coloured(colour), integers=self.metadata.integers)
        return replace(self, linear=colour.linear, metadata=metadata, assumed=False)

    def numbered(self, index: int | str, count: int) -> Picture:
        """The picture as the one of this number among ``count`` in its file, if these are several."""
        if count < 2:
            return self
        return replace(self, layer=str(index), layers=tuple(map(str, range(count))))

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def channels(self) -> int:
        return int(self.pixels.shape[2])

    @cached_property
    def frame(self) -> Frame:
        """Where the pixels are in what is displayed. A frame for another number of pixels says nothing."""
        frame = self.metadata.frame
        fits = frame is not None and (frame.columns, frame.rows) == (self.width, self.height)
        return frame if frame is not None and fits else Frame.of(self.height, self.width)


def stripped(picture: Picture) -> Picture:
    """The picture, upright; of its metadata only its frame, its colours and light, and the shape of pixels are left."""
    turned = picture.upright()
    metadata = turned.metadata
    kept = {name: value for name, value in metadata.attributes.items() if name in _LOOKS}
    return replace(
        turned,
        metadata=Metadata(
            metadata.icc,
            attributes=kept,
            colour=metadata.colour,
            frame=metadata.frame,
            rest=metadata.rest,
            light=metadata.light,
            gain=metadata.gain and metadata.gain.stripped(),
            integers=metadata.integers,
        ),
    )


def upright(pixels: Pixels, orientation: int) -> Pixels:
    """The pixels with rows from the top and columns from the left.

    The orientation is numbered as in EXIF; 0, which is unknown, is as 1.
    """
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)
