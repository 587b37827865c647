"""The contents of a picture file: pixels in their stored depth, their meaning, and the metadata beside them."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..notes import note
from ..pixels.colour import LINEAR, SRGB, Colour, of_primaries, tidied
from ..pixels.primaries import Primaries
from . import icc

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
#: The EXR attributes without which pixels look different, or are at another place.
_LOOKS = (CHROMATICITIES, "window", "PixelAspectRatio", "Orientation")


@dataclass(frozen=True)
class Metadata:
    """The data that is kept beside the pixels; every part may be missing.

    icc: the ICC profile. exif: an EXIF block (a TIFF structure, as in a PNG eXIf chunk, without thumbnail).
    xmp: an XMP packet. resolution: (x, y, unit), unit "in" or "cm".
    attributes: EXR header attributes (chromaticities, owner, comments ...), which only EXR can hold.
    colour: what the stored colours are, where they are neither sRGB nor linear Rec. 709 light.
    """

    icc: bytes | None = None
    exif: bytes | None = None
    xmp: bytes | None = None
    resolution: tuple[float, float, str] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    colour: Colour | None = None

    def to_json(self) -> dict[str, Any]:
        """The parts that a file of numbers can keep (all but the EXR attributes), as JSON values.

        The colour is an ICC profile, and beside it the primaries' chromaticities, exactly.
        """
        blocks = {name: getattr(self, name) for name in _BLOCKS}
        if self.colour is not None:
            blocks["colour"] = icc.profile_of(self.colour, gray=False)
        kept: dict[str, Any] = {name: b64encode(block).decode() for name, block in blocks.items() if block}
        if self.colour is not None and self.colour.chromaticities is not None:
            kept[CHROMATICITIES] = list(self.colour.chromaticities.numbers)
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

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Metadata:
        """The inverse of :meth:`to_json`. Raises ValueError, TypeError or KeyError for anything else."""
        blocks = {name: b64decode(value[name], validate=True) for name in _BLOCKS if name in value}
        x, y, unit = value.get("resolution") or (0, 0, "")
        profile, exif, xmp = (blocks.get(name) for name in _BLOCKS)
        resolution = (float(x), float(y), str(unit)) if unit in ("in", "cm") else None
        return cls(profile, exif, xmp, resolution, colour=_colour(value))

    @classmethod
    def of_numbers(cls, path: str, value: Any) -> Metadata:
        """Returns the picture's metadata in a file of numbers, :meth:`to_json` or None; notes if it is damaged."""
        try:
            return cls.from_json(value or {})
        except (ValueError, TypeError, KeyError, AttributeError):
            note(f"{path}: the picture's metadata in it is damaged and left out")
            return cls()


def _colour(value: Mapping[str, Any]) -> Colour | None:
    if "colour" not in value:
        return None
    found, _ = icc.colour_of(b64decode(value["colour"], validate=True))
    if CHROMATICITIES in value:
        primaries = Primaries.of(tuple(map(float, value[CHROMATICITIES])))
        return tidied(of_primaries(primaries, *found.curves, narrow=found.narrow))
    return found


def unread(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Pixels:
    """Returns an array without memory that stands for pixels which are not read yet."""
    return np.ndarray(shape, dtype, bytes(dtype.itemsize), strides=(0,) * len(shape))


def filled(array: Pixels, blocks: Iterable[Pixels]) -> Pixels:
    """Returns the array, whose rows are those of blocks from the top on."""
    at = 0
    for block in blocks:
        array[at : (at := at + len(block))] = block
    return array


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
    """

    pixels: Pixels
    alpha: bool = False
    linear: bool = False
    metadata: Metadata = field(default_factory=Metadata)
    associated: bool = False
    layer: str = ""
    layers: tuple[str, ...] = ()
    inks: Inks | None = None

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
        return replace(self, pixels=upright(self.pixels, turn), metadata=self.metadata.oriented(1))

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

    @property
    def window(self) -> tuple[int, ...]:
        """Where the pixels and the displayed window are: (x, y, displayed x, displayed y, its width, its height)."""
        size = self.width, self.height
        window: tuple[int, ...] = self.metadata.attributes.get("window", ())
        return window[:6] if window[6:] == size else (0, 0, 0, 0, *size)

    @property
    def place(self) -> str:
        """Where the pixels are, in words."""
        x, y, left, top, width, height = self.window
        return f"at {x},{y} of the window {width}×{height}" + (f" at {left},{top}" if left or top else "")


def stripped(picture: Picture) -> Picture:
    """The picture, upright; of its metadata only the colours and the EXR attributes of its shape are left."""
    metadata, pixels = picture.metadata, upright(picture.pixels, picture.metadata.orientation)
    names = _LOOKS if pixels.shape == picture.pixels.shape else (CHROMATICITIES,)
    kept = {name: value for name, value in metadata.attributes.items() if name in names}
    return replace(
        picture, pixels=pixels, metadata=Metadata(metadata.icc, attributes=kept, colour=metadata.colour)
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
