"""Straight alpha, which pictures have here, from and to the associated alpha of EXR and some TIFF files."""

from __future__ import annotations

import numpy as np

from .picture import Picture, Pixels


def straight(pixels: Pixels) -> Pixels:
    """Colour divided by alpha, in the same dtype. Where alpha is 0 colour stays: it is light of its own."""
    alpha = pixels[:, :, -1:].astype(np.float32)
    partial = (alpha != 0) & (alpha != _one(pixels))
    if not partial.any():
        return pixels
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.divide(_one(pixels), alpha, out=np.ones_like(alpha), where=partial)
    return _scaled(pixels, scale)


def associated(picture: Picture) -> Pixels:
    """Colour times alpha. Where alpha is 0 colour becomes 0, unless the picture came so associated."""
    pixels = picture.pixels
    scale = pixels[:, :, -1:].astype(np.float32) / _one(pixels)
    if picture.associated:
        scale[scale == 0] = 1
    if (scale == 1).all():
        return pixels
    result = _scaled(pixels, scale)
    np.copyto(result[:, :, :-1], 0, where=scale == 0)  # also of what is infinite or no number
    return result


def _one(pixels: Pixels) -> np.float32:
    """The value of full alpha."""
    return np.float32(np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1)


def _scaled(pixels: Pixels, scale: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Pixels:
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinite or no number stays so
        colour = pixels[:, :, :-1] * scale  # float32
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
