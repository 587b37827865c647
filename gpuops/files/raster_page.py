"""A picture of a file that OpenImageIO has open: what it says of its pixels, and how they become a picture's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..notes import note
from ..pixels.colour import SRGB, unusual
from . import colours, containers, inks, tiff_page
from .alpha import straight
from .formats import Format
from .picture import Inks, Metadata, Picture, Pixels, unread, upright

if TYPE_CHECKING:
    from . import jpeg2000

#: The difference from 1 within which a pixel counts as square.
_ASPECT_TOLERANCE = 1e-4
#: OpenImageIO's name of TIFF's PhotometricInterpretation.
PHOTOMETRIC = "tiff:PhotometricInterpretation"
#: The interpretation of gray whose 0 is black.
MIN_IS_BLACK = 1
#: The interpretation of inks.
SEPARATED = 5


@dataclass(frozen=True)
class Page:
    """A picture of a file that is open, before its pixels are read.

    ``names`` of the file's pictures, and the ``index`` of this one. ``first``: nobody has chosen one, and it is read.
    """

    path: str
    fmt: Format
    extras: containers.Extras
    spec: Any
    names: tuple[str, ...]
    index: int
    first: bool
    header: jpeg2000.CodestreamHeader | None

    @property
    def has_gain_map(self) -> bool:
        """Whether the decoder applies a gain map, and gives half with alpha."""
        return self.fmt.name == "JPEG" and (self.spec.nchannels > 3 or str(self.spec.format) != "uint8")

    @cached_property
    def inks(self) -> Inks | None:
        """The inks of a CMYK file."""
        if not is_of_inks(self.spec):
            return None
        return inks.inks_of(self.path, icc_of(self.spec), str(self.spec.format))

    @property
    def is_for_pillow(self) -> bool:
        """Whether the decoder gives other pixels of a JPEG than it holds: with a gain map, or RGB of inks."""
        return self.has_gain_map or (self.fmt.name == "JPEG" and self._by_profile)

    @property
    def _by_profile(self) -> bool:
        return self.inks is not None and self.inks.profile is not None

    @property
    def nbytes(self) -> int:
        """Bytes of the pixels."""
        spec = self.spec
        floats = spec.image_pixels() * max(3, spec.nchannels - 1)
        return int(4 * floats if self._by_profile else spec.image_bytes())

    def picture(self, pixels: Pixels) -> Picture:
        """Returns the picture with these samples."""
        pixels = upright(pixels, self.extras.orientation)
        if self.header is not None:  # the decoder rounds the size up to whole steps of subsampled colours
            pixels = np.ascontiguousarray(pixels[: self.header.size[1], : self.header.size[0]])
        found, finished = self.described(pixels.shape, pixels.dtype)
        return replace(found, pixels=finished(pixels))

    def described(
        self, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[Picture, Callable[[Pixels], Pixels]]:
        """Returns a picture of samples of this shape without them, and what makes its pixels of them, row by row."""
        path, fmt, spec, extras = self.path, self.fmt, self.spec, self.extras
        unused = list(extras.unused)
        found_inks = self.inks if shape[2] >= inks.CMYK else None  # the decoder may have made RGB of a JPEG's
        if found_inks is None:
            visible, place, associated = _alpha(path, fmt, spec, self.header, self.index, shape[2])
        else:
            visible, place, associated = _alpha_of_inks(path, fmt, self.index)
        kept = _kept(path, shape[2], visible, place)
        alpha = len(kept) > visible
        icc = icc_of(spec) if extras.colours is None else extras.icc
        if self.header is not None:
            icc = self.header.profile or None
        found = extras.colours
        if self.inks is not None:
            icc, found = None, colours.Found(SRGB)
        if found is None:
            found = colours.of_profile(icc, gray=len(kept) < 3) if icc else colours.of_exif(extras.exif)
        if icc and icc[16:20] == b"CMYK":  # which is not kept beside RGB
            icc = None
        colour = found.told(path, light=dtype.kind == "f")
        size = resolution(spec)
        aspect = spec.get_float_attribute("PixelAspectRatio", 1)
        if not size and abs(aspect - 1) > _ASPECT_TOLERANCE:
            unused.append(f"pixel aspect ratio ({aspect:.4g})")
        elif not size and fmt.name == "TIFF" and (density := spec.get_float_attribute("XResolution", 1)) != 1:
            unused.append(f"resolution ({density:.6g} pixels to a unit that it does not name)")
        several = len(self.names) > 1
        if several and self.first and extras.layers:
            unused.append(f"gain map (--layer {self.names[1]} applies it)")
        elif several and self.first:
            note(f"{path}: holds {len(self.names)} pages; the first is used")
        elif fmt.name == "TIFF" and (
            more := tiff_page.of_stack(spec.get_string_attribute("ImageDescription"))
        ):
            note(f"{path}: holds {more} in one page; the first is used")
        if unused:
            note(f"{path}: is read without its {', '.join(unused)}")

        def finished(pixels: Pixels) -> Pixels:
            if kept != [*range(shape[2])]:
                pixels = np.ascontiguousarray(pixels[:, :, kept])
            pixels = straight(pixels) if associated else pixels
            return pixels if found_inks is None else inks.rgb(pixels, found_inks.profile)

        channels = len(kept) - (found_inks is not None)
        return Picture(
            unread((*shape[:2], channels), np.dtype(np.float32) if self._by_profile else dtype),
            alpha=alpha,
            linear=colour.linear,
            metadata=Metadata(icc, extras.exif, extras.xmp, size, colour=unusual(colour)),
            associated=associated and found_inks is None,  # inks under alpha 0 are no light of their own
            inks=self.inks,
            layer=self.names[self.index] if several else "",
            layers=self.names if several else (),
        ), finished


def _alpha(
    path: str, fmt: Format, spec: Any, header: jpeg2000.CodestreamHeader | None, page: int, channels: int
) -> tuple[int, int, bool]:
    """Returns the number of colours, the index of alpha (-1: none), and whether colours are multiplied by it."""
    if header is not None:
        place, associated, unsaid = header.alpha(channels)
        if unsaid:
            note(f"{path}: does not say what its channel {place + 1} is; it is taken as alpha")
        return 3 if channels >= 3 else 1, place, associated
    if fmt.name == "TIFF":
        visible = tiff_page.colours(spec.get_int_attribute(PHOTOMETRIC, MIN_IS_BLACK), channels)
        return visible, spec.alpha_channel, _is_associated(path, spec, page)
    # A JPEG has no alpha; but a decoder that applies a gain map adds one.
    return 3 if channels >= 3 else 1, spec.alpha_channel if fmt.name != "JPEG" else -1, False


def _alpha_of_inks(path: str, fmt: Format, page: int) -> tuple[int, int, bool]:
    """Returns the same as :func:`_alpha`, for inks."""
    return (inks.CMYK, *(tiff_page.alpha(path, page, inks.CMYK) if fmt.name == "TIFF" else (-1, False)))


def _kept(path: str, channels: int, colours: int, alpha: int) -> list[int]:
    """Gray or RGB, with alpha last where the file has it; further channels are named and left out."""
    kept = [*range(colours), *([alpha] if alpha >= colours else [])]
    if left := [str(channel + 1) for channel in range(channels) if channel not in kept]:
        which = f"channel {left[0]}" if len(left) == 1 else f"channels {', '.join(left)}"
        note(f"{path}: is read without its {which} of {channels}, not said to be colour or alpha")
    return kept


def _is_associated(path: str, spec: Any, page: int) -> bool:
    """Whether a TIFF file says that its colours are multiplied by alpha. Of RGB with a fourth channel and no word
    of it, that channel is taken as alpha and colours as they are, since nothing is lost so."""
    if spec.alpha_channel < 0 or spec.get_int_attribute("oiio:UnassociatedAlpha"):
        return False
    if tiff_page.extra_samples(path, page) is None:
        note(f"{path}: does not say what its channel {spec.alpha_channel + 1} is; it is taken as alpha")
        return False
    return True


def resolution(spec: Any) -> tuple[float, float, str] | None:
    x, y = spec.get_float_attribute("XResolution"), spec.get_float_attribute("YResolution")
    unit = {"in": "in", "inch": "in", "cm": "cm", "m": "m"}.get(spec.get_string_attribute("ResolutionUnit"))
    if unit == "m":  # pixels per metre
        x, y, unit = x / 100, y / 100, "cm"
    return (x, y or x, unit) if unit and x > 0 else None


def resolution_attributes(value: tuple[float, float, str]) -> dict[str, Any]:
    x, y, unit = value
    return {"XResolution": float(x), "YResolution": float(y), "ResolutionUnit": unit}


def alpha_attributes(channels: int) -> dict[str, Any]:
    """The attributes by which OpenImageIO writes straight alpha as the last one of 2 or 4 channels."""
    names = ("Y", "A") if channels == 2 else ("R", "G", "B", "A")
    return {"oiio:UnassociatedAlpha": 1, "alpha_channel": channels - 1, "channels": names}


def is_of_inks(spec: Any) -> bool:
    """Whether the file holds amounts of ink."""
    jpeg, photometric = spec.get_string_attribute("jpeg:ColorSpace"), spec.get_int_attribute(PHOTOMETRIC)
    return jpeg in ("CMYK", "YCbCrK") or photometric == SEPARATED


def icc_attribute(profile: bytes) -> dict[str, Any]:
    """The attribute by which OpenImageIO writes an ICC profile."""
    return {"ICCProfile": (f"uint8[{len(profile)}]", np.frombuffer(profile, np.uint8))}


def icc_of(spec: Any) -> bytes | None:
    profile = spec.getattribute("ICCProfile")
    return None if profile is None else np.asarray(profile, np.uint8).tobytes()
