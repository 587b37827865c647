"""Conversion between straight alpha, which pictures have here, and the associated alpha of EXR and some TIFF files."""

from __future__ import annotations

import numpy as np

from .picture import Picture, Pixels

Float = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


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
