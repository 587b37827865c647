"""The colour space of a file: what its profile, chunks or header attributes say, and whether a format can say it.

Source: PNG (Third Edition) 4.3 (which chunk counts), 11.3.2 (their contents).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..notes import note
from ..pixels.colour import LINEAR, SRGB, Colour, of_primaries, tidied, unusual
from ..pixels.curves import ADOBE_CURVE, LINEAR_CURVE, SRGB_CURVE, Hlg, Parametric, Pq
from ..pixels.primaries import NAMED, REC709, ColourError, Primaries
from . import cicp
from . import icc as icc_profiles
from .containers import LONGEST
from .formats import Format
from .picture import Metadata, Picture, Pixels

# PNG writes gamma and chromaticities as whole numbers of so many parts of one.
_GAMMA_UNIT = 100000
# The gamma of sRGB in these parts.
_SRGB_GAMMA = 45455
# The gamma of linear light in these parts.
_LINEAR_GAMMA = 100000
# The difference in these parts within which gammas are the same.
_GAMMA_TOLERANCE = 1000
# The code points of sRGB.
SRGB_CODES = bytes((1, 13, 0, 1))
# The code point that leaves primaries or transfer open.
_UNSPECIFIED = 2


@dataclass(frozen=True)
class StatedColour:
    """A file's statement of its colours.

    colour: the space, None if nothing is understood. wrong: faults of the statement, as texts. overrules: a profile
    beside it does not count.
    """

    colour: Colour | None = None
    wrong: tuple[str, ...] = ()
    overrules: bool = False

    def told(self, path: str, *, light: bool) -> Colour:
        """Notes the faults, and returns the space that the values are taken for; ``light``: they are floats."""
        taken = f"; colours are taken as {'linear Rec. 709 light' if light else 'sRGB'}"
        for text in self.wrong:
            note(f"{path}: {text}{taken if self.colour is None else ''}")
        return self.colour or (LINEAR if light else SRGB)


def of_profile(profile: bytes, *, gray: bool) -> StatedColour:
    """The statement of an ICC profile of a picture, which is gray or has colours."""
    if icc_profiles.is_for_gray(profile) and not gray:
        return StatedColour(wrong=("its ICC profile is for gray",))
    try:
        colour, besides = icc_profiles.colour_of(profile)
    except ColourError as error:
        return StatedColour(wrong=(f"its ICC profile {error}",))
    if gray and not icc_profiles.is_for_gray(profile):
        return StatedColour(wrong=("its ICC profile is for RGB",))
    used = "luminance is" if besides == "tint" else "matrix and curves are"
    wrong = (f"of its ICC profile the {used} used, and not its {besides}",) if besides else ()
    return StatedColour(colour, wrong)


def in_profile(profile: bytes) -> Colour | None:
    """The space of an ICC profile, None where its colours cannot be converted."""
    return of_profile(profile, gray=icc_profiles.is_for_gray(profile)).colour


def is_understood(profile: bytes) -> bool:
    """Whether an ICC profile is one whose colours can be converted."""
    return in_profile(profile) is not None


def of_exif(block: bytes | None) -> StatedColour:
    """The statement of an EXIF block of a picture without a profile: Adobe RGB, or nothing."""
    from .exif import is_adobe_rgb

    if block is None or not is_adobe_rgb(block):
        return StatedColour()
    return StatedColour(of_primaries(NAMED["Adobe RGB"], ADOBE_CURVE))


def of_chromaticities(numbers: tuple[float, ...], where: str) -> StatedColour:
    """Linear light of the primaries that a header gives: x and y of red, green, blue and white."""
    try:
        return StatedColour(tidied(of_primaries(Primaries.of(numbers), LINEAR_CURVE)))
    except ColourError:
        return StatedColour(wrong=(f"its {where} make no sense",))


def of_codes(primaries: int, transfer: int, *, gray: bool) -> StatedColour:
    """The statement of code points beside a profile, or none; 2 says nothing. Gray has no primaries."""
    if transfer == _UNSPECIFIED:
        return StatedColour()
    try:
        known = cicp.colour_of(bytes((1 if gray or primaries == _UNSPECIFIED else primaries, transfer, 0, 1)))
    except (ColourError, ValueError):
        return StatedColour(wrong=(f"its code points of colour ({primaries}, {transfer}) are not known",))
    return StatedColour(tidied(known))


def profile_in(chunk: bytes) -> bytes | None:
    """The profile in a PNG's iCCP chunk: name, compression method, deflated bytes. None where it is damaged."""
    return inflated(chunk.partition(b"\0")[2][1:]) or None


def inflated(data: bytes) -> bytes | None:
    """Metadata that a PNG's chunk has deflated; None where they are damaged."""
    try:
        return zlib.decompressobj().decompress(data, LONGEST)
    except zlib.error:
        return None


def of_png(chunks: Mapping[bytes, bytes], *, gray: bool) -> StatedColour:
    """The statement of a PNG's chunks cICP, iCCP, sRGB, gAMA and cHRM: the first of these that is understood counts."""
    wrong: list[str] = []
    icc: bytes | None = None
    if b"cICP" in chunks:
        try:
            return StatedColour(tidied(cicp.colour_of(chunks[b"cICP"])), overrules=True)
        except ColourError as error:
            wrong.append(f"its cICP chunk {error}")
    if b"iCCP" in chunks:
        icc = profile_in(chunks[b"iCCP"])
        stated = of_profile(icc, gray=gray) if icc else StatedColour(wrong=("its ICC profile is damaged",))
        wrong += stated.wrong
        if stated.colour is not None:
            return StatedColour(stated.colour, tuple(wrong))
    if b"sRGB" in chunks:
        return StatedColour(SRGB, tuple(wrong))
    try:
        colour = _of_gamma(chunks, gray=gray)
    except ColourError as error:
        return StatedColour(None, (*wrong, f"its {error}"))
    if colour is None or colour == SRGB:
        return StatedColour(colour, tuple(wrong))
    if icc:  # the profile is not understood, and the values are not taken as sRGB
        wrong[-1] += "; it is left out"
    return StatedColour(colour, tuple(wrong), overrules=True)


def _of_gamma(chunks: Mapping[bytes, bytes], *, gray: bool) -> Colour | None:
    curve = SRGB_CURVE
    if len(data := chunks.get(b"gAMA", b"")) == 4:
        gamma = int.from_bytes(data, "big")
        if not _GAMMA_UNIT <= 100 * gamma <= 10000 * _GAMMA_UNIT:
            raise ColourError(f"gamma ({gamma / _GAMMA_UNIT:.4g}) makes no sense")
        if abs(gamma - _LINEAR_GAMMA) <= _GAMMA_TOLERANCE:
            curve = LINEAR_CURVE
        elif abs(gamma - _SRGB_GAMMA) > _GAMMA_TOLERANCE:
            curve = Parametric(_GAMMA_UNIT / gamma)
    elif b"cHRM" not in chunks:
        return None
    primaries = REC709
    if len(data := chunks.get(b"cHRM", b"")) == 32 and not gray:
        white_first = [value / _GAMMA_UNIT for value in struct.unpack(">8I", data)]
        primaries = Primaries.of((*white_first[2:], *white_first[:2]))
    try:
        return tidied(of_primaries(primaries, curve))
    except ColourError:
        raise ColourError("chromaticities make no sense") from None


def picture(
    path: str,
    pixels: Pixels,
    icc: bytes | None,
    exif: bytes | None = None,
    xmp: bytes | None = None,
    resolution: tuple[float, float, str] | None = None,
    *,
    stated: StatedColour | None = None,
    **more: Any,
) -> Picture:
    """The picture of samples, the last of 2 or 4 of which is alpha, with what is beside them in a file.

    Its colours are those of the profile, if it has one, else of EXIF, unless ``stated`` says others. ``more``: further
    parts of the metadata.
    """
    if stated is None:
        stated = of_profile(icc, gray=pixels.shape[2] < 3) if icc else of_exif(exif)
    colour = stated.told(path, light=pixels.dtype.kind == "f")
    metadata = Metadata(icc, exif, xmp, resolution, colour=unusual(colour), **more)
    alpha, assumed = not pixels.shape[2] % 2, stated.colour is None
    return Picture(pixels, alpha, colour.linear, metadata, assumed=assumed)


# Writing -------------------------------------------------------------------------------------------


def usual(dtype: np.dtype[np.generic]) -> Colour:
    """The colour space that values of a type are taken for unless something else is said."""
    return LINEAR if dtype.kind == "f" else SRGB


def codes_for(fmt: Format, colour: Colour, dtype: np.dtype[np.generic], *, gray: bool) -> bytes | None:
    """The code points of a space for a file of a format and depth; None where such a file does not use them."""
    codes = None if colour.data else cicp.codes_of(colour)
    known = fmt.coded
    if codes is None or dtype.name not in known.depths or (colour.narrow and not known.narrow):
        return None
    if (gray and not known.gray) or codes[0] not in (known.primaries or codes):
        return None
    return codes if codes[1] in (known.transfers or codes) else None


def can_say(fmt: Format, colour: Colour, dtype: np.dtype[np.generic], *, gray: bool) -> bool:
    """Whether a file of a format and depth can say that its values are in a space that is not the usual one."""
    if fmt.primaries:
        return colour.linear and colour.primaries in fmt.primaries
    if codes_for(fmt, colour, dtype, gray=gray):
        return True
    if "icc" in fmt.keeps(dtype):
        return icc_profiles.can_describe(colour, gray=gray)
    return fmt.can_tell(colour)


def profile_for(colour: Colour, dtype: np.dtype[np.generic], *, gray: bool) -> bytes | None:
    """The profile of values in a space; None where they are in the usual one, or no profile can say it."""
    if colour == usual(dtype) or not icc_profiles.can_describe(colour, gray=gray):
        return None
    return icc_profiles.profile_of(colour, gray=gray)


def for_rgb(profile: bytes, dtype: np.dtype[np.generic]) -> bytes | None:
    """A profile, for gray the RGB profile of the same curve; None if readers assume these colours without a profile."""
    if not icc_profiles.is_for_gray(profile):
        return profile
    colour = of_profile(profile, gray=True).colour
    return profile if colour is None else profile_for(colour, dtype, gray=False)


def png_chunks(colour: Colour, profile: bytes | None, *, gray: bool) -> dict[bytes, bytes]:
    """The chunks that declare the space of integers; ``profile`` is the picture's own, if it has one.

    A gamma other than sRGB's stands beside a profile: alone, one near sRGB's would be taken for sRGB.
    """
    chunks: dict[bytes, bytes] = {}
    if colour.data:
        return chunks
    curve = colour.curves[0]
    gamma = curve.g if isinstance(curve, Parametric) and curve == Parametric(curve.g) else 0.0
    if (isinstance(curve, Pq | Hlg) or colour.narrow) and (codes := cicp.codes_of(colour)):
        chunks[b"cICP"] = codes
    elif colour == SRGB and profile is None:
        chunks |= {b"gAMA": struct.pack(">I", _SRGB_GAMMA), b"sRGB": b"\0"}  # 0 is the perceptual intent
    elif gamma and colour.is_rec709 and icc_profiles.can_describe(colour, gray=gray):
        chunks[b"gAMA"] = struct.pack(">I", round(_GAMMA_UNIT / gamma))
    if profile is None and colour != LINEAR and b"cICP" not in chunks:
        profile = profile_for(colour, np.dtype(np.uint8), gray=gray)
    if profile is not None:
        chunks[b"iCCP"] = b"ICC profile\0\0" + zlib.compress(profile)
    return chunks
