"""What samples stand for: any number of bits, straight or associated alpha, and light within a format's range.

Pictures have straight alpha here, and EXR and some TIFF files associated alpha, by which colours are multiplied.
"""

from __future__ import annotations

import numpy as np

from .picture import Picture, Pixels

Float = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
# The share of the brightest value below which negative values are only rounding.
_ROUNDING = 1e-6


def full_range(samples: Pixels, bits: int) -> Pixels:
    """Spreads samples v, 0 to 2^bits − 1, over the whole range of 8 bits (of 16 if there are more than 8)."""
    return spread(samples, 2**bits - 1)


def spread(samples: Pixels, largest: int) -> Pixels:
    """Spreads samples v, 0 to ``largest``, over the whole range of 8 bits (of 16 if it is more than 255).

    That is round(v · most / largest), where most is 255 or 65535.
    """
    kind, most = (np.dtype(np.uint8), 255) if largest < 256 else (np.dtype(np.uint16), 65535)
    if most == largest:
        return samples.astype(kind, copy=False)
    table: Pixels = np.rint(np.arange(largest + 1) * (most / largest)).astype(kind)
    return np.take(table, samples)


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
