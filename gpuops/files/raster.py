"""Pictures of files that OpenImageIO reads: what it says of their pixels, and how they become a picture's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import FileError
from ..notes import note
from ..pixels.colour import SRGB
from . import colours, containers, oiio, pillow, samples
from .formats.record import LayerId
from .picture import Inks, Picture, Pixels, unread, upright
from .strips import COPIES, NeedsWholeFile, RowsOf

#: The difference from 1 within which a pixel counts as square.
_ASPECT_TOLERANCE = 1e-4
#: Floats made of 8-bit inks take at most this many times the bytes of these.
_MOST_OF_INKS = 4


@dataclass(frozen=True)
class Page:
    """A picture of a file that is open, before its pixels are read. Formats have pages of their own where they differ.

    ``layer``: the chosen one, None where nobody has chosen. ``names`` of the file's pictures, and the ``index`` of this
    one. Raises FileError where the file has none of such a name.
    """

    #: What reads its file.
    reader: ClassVar[type[oiio.Reader]] = oiio.Reader

    path: str
    extras: containers.Extras
    spec: Any
    layer: LayerId = None
    names: tuple[str, ...] = ("0",)
    index: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", number(self.path, self.layer, self.names))

    @cached_property
    def inks(self) -> Inks | None:
        """The inks of a CMYK file."""
        if not oiio.is_of_inks(self.spec):
            return None
        return samples.inks_of(self.path, oiio.icc_of(self.spec), str(self.spec.format))

    @property
    def by_profile(self) -> bool:
        """Whether colours are made of inks by a profile."""
        return self.inks is not None and self.inks.profile is not None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the samples, as they are given."""
        kind = str(self.spec.format)
        return np.dtype(oiio.DTYPES.get(kind, kind))

    @property
    def unread(self) -> Pixels:
        """Stands for the pixels."""
        spec = self.spec
        if self.by_profile:
            return unread((spec.height, spec.width, max(3, spec.nchannels - 1)), np.float32)
        return unread((spec.height, spec.width, spec.nchannels), self.dtype)

    @property
    def icc(self) -> bytes | None:
        """The ICC profile."""
        return oiio.icc_of(self.spec) if self.extras.colours is None else self.extras.icc

    def obstacle(self) -> str:
        """Why its rows cannot be had one after the other: "is interlaced"."""
        return ""

    def alpha(self, channels: int) -> tuple[int, int, bool]:
        """The number of colours, the index of alpha (-1: none), and whether colours are multiplied by it."""
        return 3 if channels >= 3 else 1, self.spec.alpha_channel, False

    def alpha_of_inks(self) -> tuple[int, bool]:
        """The index of alpha behind inks (-1: none), and whether they are multiplied by it."""
        return -1, False

    def said_of_several(self) -> list[str]:
        """What is left out of a file of several pictures, of which nobody has chosen one; notes the rest."""
        note(f"{self.path}: holds {len(self.names)} pages; the first is used")
        return []

    def said_of_one(self) -> list[str]:
        """The same of other pages."""
        return []

    def size_without_unit(self) -> list[str]:
        """What is said of a pixel's size where no resolution is."""
        aspect = self.spec.get_float_attribute("PixelAspectRatio", 1)
        return [f"pixel aspect ratio ({aspect:.4g})"] if abs(aspect - 1) > _ASPECT_TOLERANCE else []

    def check(self) -> None:
        """Refuses samples that have no place in a picture."""

    def rows(self, path: str, count: int) -> Iterator[Pixels]:
        """The samples by rows; ``path`` is that of the same file."""
        with self.reader(path, raw=self.inks is not None) as file:
            yield from file.blocks(count, index=self.index)

    @property
    def together(self) -> int:
        """Rows that come together at least."""
        return int(max(1, self.spec.tile_height))

    def picture(self, pixels: Pixels) -> Picture:
        """Returns the picture with these samples."""
        pixels = upright(pixels, self.extras.orientation)
        picture, finished = self.described(pixels.shape, pixels.dtype)
        return replace(picture, pixels=finished(pixels))

    def described(
        self, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[Picture, Callable[[Pixels], Pixels]]:
        """Returns a picture of samples of this shape without them, and what makes its pixels of them, row by row."""
        path, spec, extras = self.path, self.spec, self.extras
        unused = list(extras.unused)
        pixel_inks = (
            self.inks if shape[2] >= samples.CMYK else None
        )  # the decoder may have made RGB of a JPEG's
        if pixel_inks is None:
            visible, place, associated = self.alpha(shape[2])
        else:
            visible, place, associated = samples.CMYK, *self.alpha_of_inks()
        kept = _kept(path, shape[2], visible, place)
        icc, stated, size = self.icc, extras.colours, oiio.resolution(spec)
        if self.inks is not None:
            icc, stated = None, colours.StatedColour(SRGB)
        elif icc and icc[16:20] == b"CMYK":  # which is not kept beside RGB
            stated, icc = stated or colours.of_profile(icc, gray=len(kept) < 3), None
        channels = len(kept) - (pixel_inks is not None)
        pixels = unread((*shape[:2], channels), np.dtype(np.float32) if self.by_profile else dtype)
        picture = colours.picture(
            path, pixels, icc, extras.exif, extras.xmp, size, stated=stated, light=extras.light, gain=extras.gain,
            texts=extras.texts,
        )  # fmt: skip
        if not size:
            unused += self.size_without_unit()
        several = len(self.names) > 1
        unused += self.said_of_several() if several and self.layer is None else self.said_of_one()
        if unused:
            note(f"{path}: is read without its {', '.join(unused)}")

        def finished(pixels: Pixels) -> Pixels:
            if kept != [*range(shape[2])]:
                pixels = np.ascontiguousarray(pixels[:, :, kept])
            pixels = samples.straight(pixels) if associated else pixels
            return pixels if pixel_inks is None else samples.rgb_of_inks(pixels, pixel_inks.profile)

        return replace(
            picture,
            associated=associated and pixel_inks is None,  # inks under alpha 0 are no light of their own
            inks=self.inks,
            layer=self.names[self.index] if several else "",
            layers=self.names if several else (),
        ), finished


def by_rows(
    path: str,
    opened: Callable[[oiio.Reader], Page],
    most: int,
    *,
    small: bool = True,
    reader: type[oiio.Reader] = oiio.Reader,
) -> tuple[Picture, RowsOf, int] | None:
    """What ``read_rows`` of a format gives. ``small``: the file is not asked more where few bytes are decoded of it."""
    with reader(path) as file:
        if small and file.spec().image_bytes() * COPIES * _MOST_OF_INKS <= most:
            return None
        page = opened(file)
        spec = page.spec
        if page.unread.nbytes * COPIES <= most:
            return None
        file.check_plausible(spec)
        if reason := page.obstacle():
            raise NeedsWholeFile(reason, page.unread)
        page.check()
        picture, finished = page.described((spec.height, spec.width, spec.nchannels), page.dtype)

    return picture, lambda path, count: map(finished, page.rows(path, count)), page.together


def frame(path: str, kind: str, layer: str | int, extras: containers.Extras) -> Picture:
    """A frame of an animation, with the colours of the file; ``kind`` is Pillow's name of the format."""
    pixels, count = pillow.frame(path, kind, layer)
    icc = extras.icc
    if extras.colours is None:
        with oiio.Reader(path) as file:
            icc = oiio.icc_of(file.spec())
    picture = colours.picture(
        path,
        pixels,
        icc,
        extras.exif,
        extras.xmp,
        stated=extras.colours,
        light=extras.light,
        texts=extras.texts,
    )
    return replace(picture, layer=str(layer), layers=tuple(map(str, range(count))))


def number(path: str, layer: LayerId, names: tuple[str, ...] = ("0",)) -> int:
    """The number of a layer among the names; a FileError where there is none of such a name."""
    if layer is None:
        return 0
    if str(layer) not in names:
        several = f"pages 0 to {names[-1]}" if names[0] == "0" else f"layers {' and '.join(names)}"
        raise FileError(f"{path}: has no layer {layer!r}; it has {several if names[1:] else 'no layers'}")
    return names.index(str(layer))


def _kept(path: str, channels: int, colours: int, alpha: int) -> list[int]:
    """Gray or RGB, with alpha last where the file has it; further channels are named and left out."""
    kept = [*range(colours), *([alpha] if alpha >= colours else [])]
    if left := [str(channel + 1) for channel in range(channels) if channel not in kept]:
        which = f"channel {left[0]}" if len(left) == 1 else f"channels {', '.join(left)}"
        note(f"{path}: is read without its {which} of {channels}, not said to be colour or alpha")
    return kept
