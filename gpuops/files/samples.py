"""What samples stand for: any number of bits, straight or associated alpha, light within a format's range, or inks.

Pictures have straight alpha here, and EXR and some TIFF files associated alpha, by which colours are multiplied.
CMYK pictures become RGB: by their ICC profile, or by a formula where there is none. A profile's tables give sRGB
signals as floats, so that colours beyond sRGB are kept.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..notes import note
from ..pixels.curves import srgb_signal
from ..pixels.primaries import D50_XYZ, ColourError, to_rec709
from . import icc, threads
from .picture import Inks, Picture, Pixels, filled, in_blocks

Float = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
# The share of the brightest value below which negative values are only rounding.
_ROUNDING = 1e-6
#: The samples of a pixel: cyan, magenta, yellow and black.
CMYK = 4
#: Pixels that are converted at a time.
_AT_ONCE = 1 << 15
#: Linear Rec. 709 light of CIE XYZ under D50.
_TO_LIGHT = np.reshape(to_rec709(np.eye(3), D50_XYZ), (3, 3))


def full_range(samples: Pixels, bits: int) -> Pixels:
    """Spreads samples v, 0 to 2^bits − 1, over the whole range of 8 bits (of 16 if there are more than 8)."""
    return spread(samples, 2**bits - 1)


def spread(samples: Pixels, largest: int) -> Pixels:
    """Spreads samples v, 0 to ``largest``, over the whole range of 8 bits (of 16 if it is more than 255).

    That is round(v · most / largest), where most is 255 or 65535. Larger samples, which are damage, become the most.
    """
    kind, most = (np.dtype(np.uint8), 255) if largest < 256 else (np.dtype(np.uint16), 65535)
    if most == largest:
        return samples.astype(kind, copy=False)
    table: Pixels = np.rint(np.arange(largest + 1) * (most / largest)).astype(kind)
    return np.take(table, samples, mode="clip")


def straight(pixels: Pixels) -> Pixels:
    """Colour divided by alpha, in the same dtype. Where alpha is 0 colour stays: it is light of its own."""
    alpha = pixels[:, :, -1:].astype(np.float32)
    partial = (alpha != 0) & (alpha != _one(pixels))
    if not partial.any():
        return pixels
    divisor = np.where(partial, alpha / _one(pixels), np.float32(1))
    # A reciprocal's rounding would add to the quotient's: floats would come back two units off, rather than one.
    with np.errstate(over="ignore", invalid="ignore"):  # infinities and NaN stay
        return _with_colour(pixels, np.divide(pixels[:, :, :-1], divisor, dtype=np.float32))


def associated(picture: Picture) -> Pixels:
    """Colour times alpha. Where alpha is 0 colour becomes 0, unless the file had associated alpha."""
    pixels = picture.pixels
    scale = pixels[:, :, -1:].astype(np.float32) / _one(pixels)
    if picture.associated:
        scale[scale == 0] = 1
    if (scale == 1).all():
        return pixels
    with np.errstate(over="ignore", invalid="ignore"):
        result = _with_colour(pixels, pixels[:, :, :-1] * scale)
    np.copyto(result[:, :, :-1], 0, where=scale == 0)  # also infinities and NaN become 0
    return result


def _one(pixels: Pixels) -> np.float32:
    """The value of full alpha."""
    return np.float32(np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1)


def _with_colour(pixels: Pixels, colour: Float) -> Pixels:
    """The pixels with other colours, rounded and held within the range of their dtype."""
    out = pixels.copy()
    if pixels.dtype.kind == "u":
        np.rint(colour, out=colour)
        np.clip(colour, 0, np.iinfo(pixels.dtype).max, out=colour)
    elif pixels.dtype == np.float16:  # a tiny alpha would carry colour beyond half's range, to infinity
        limit = np.float32(np.finfo(np.float16).max)
        finite = np.isfinite(pixels[:, :, :-1])
        np.clip(colour, -limit, limit, out=colour, where=finite)
    out[:, :, :-1] = colour
    return out


def within(pixels: Pixels, largest: float) -> tuple[Pixels, list[str]]:
    """Floats limited to 0 … ``largest``, and a remark on each kind of values that have been changed.

    Values that are negative, but far below the rounding of the brightest one, become 0 without a word.
    """
    kept = np.clip(np.where(np.isnan(pixels), 0, pixels), 0, largest)
    if np.array_equal(kept, pixels):
        return pixels, []
    brightest = pixels.max(initial=0, where=np.isfinite(pixels))
    remarks = ["holds no negative values; they become 0"] * bool((pixels < -_ROUNDING * brightest).any())
    if np.isnan(pixels).any():
        remarks.append("holds no NaN; it becomes 0")
    if (pixels > largest).any():
        remarks.append(f"holds no values above {largest:.4g}; they become that")
    return kept, remarks


def coloured(pixels: Pixels) -> Pixels:
    """RGB of gray, with alpha where there is some."""
    if pixels.shape[2] > 2:
        return pixels
    return np.concatenate((pixels[:, :, :1],) * 3 + (pixels[:, :, 1:],), axis=2)


# Inks ----------------------------------------------------------------------------------------------


def inks_of(path: str, profile: bytes | None, depth: str) -> Inks:
    """What is known of a CMYK file's inks. Where no profile tells their colours, a note says so."""
    trouble = "without an ICC profile"
    if profile:
        try:
            icc.check_for_inks(profile)
            return Inks(depth, profile)
        except ColourError as error:
            trouble = f"and its ICC profile {error}"
    note(f"{path}: is CMYK {trouble}; colours are taken as (1 − ink)(1 − black) of sRGB")
    return Inks(depth)


def rgb_of_inks(pixels: Pixels, profile: bytes | None) -> Pixels:
    """RGB of inks (rows, columns, 4) of 8 or 16 bits, of which 0 is none, and of alpha that may be behind them.

    By a profile it is float32: sRGB signals, negative and above 1 where colours are beyond sRGB, and alpha as a
    fraction. Without one samples stay what they are.
    """
    colours = pixels.shape[2] - 1  # one less than inks, with alpha or without
    result = np.empty((*pixels.shape[:2], colours), pixels.dtype if profile is None else np.float32)
    rows = max(1, _AT_ONCE // pixels.shape[1])
    convert = _by_formula if profile is None else partial(_by_profile, profile=profile)
    return filled(result, threads.in_order(convert, in_blocks(pixels, rows)))


def _by_profile(pixels: Pixels, profile: bytes) -> Pixels:
    fractions = pixels / np.iinfo(pixels.dtype).max
    xyz = icc.evaluated(profile, np.ascontiguousarray(fractions[..., :CMYK]), "cmyk")
    signal = srgb_signal((xyz @ _TO_LIGHT.T).astype(np.float32))
    return np.concatenate((signal, fractions[..., CMYK:].astype(np.float32)), axis=2)


def _by_formula(pixels: Pixels) -> Pixels:
    most = np.iinfo(pixels.dtype).max
    left = (most - pixels[..., :CMYK]).astype(np.uint32)
    colours = ((left[..., :3] * left[..., 3:] + most // 2) // most).astype(pixels.dtype)
    return np.concatenate((colours, pixels[..., CMYK:]), axis=2)
