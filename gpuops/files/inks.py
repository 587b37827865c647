"""CMYK pictures become RGB: by their ICC profile, or by a formula where there is none.

A profile's tables give sRGB signals as floats, so that colours beyond sRGB are kept.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..notes import note
from ..pixels.curves import srgb_signal
from ..pixels.primaries import D50_XYZ, ColourError, to_rec709
from . import icc, icc_tables, threads
from .picture import Inks, Pixels, filled

#: The samples of a pixel: cyan, magenta, yellow and black.
CMYK = 4
#: Pixels that are converted at a time.
_AT_ONCE = 1 << 15
#: Linear Rec. 709 light of CIE XYZ under D50.
_TO_LIGHT = np.reshape(to_rec709(np.eye(3), D50_XYZ), (3, 3))


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


def rgb(pixels: Pixels, profile: bytes | None) -> Pixels:
    """RGB of inks (rows, columns, 4) of 8 or 16 bits, of which 0 is none, and of alpha that may be behind them.

    By a profile it is float32: sRGB signals, negative and above 1 where colours are beyond sRGB, and alpha as a
    fraction. Without one samples stay what they are.
    """
    colours = pixels.shape[2] - 1  # one less than inks, with alpha or without
    result = np.empty((*pixels.shape[:2], colours), pixels.dtype if profile is None else np.float32)
    rows = max(1, _AT_ONCE // pixels.shape[1])
    convert = _by_formula if profile is None else partial(_by_profile, profile=profile)
    parts = (pixels[i : i + rows] for i in range(0, len(pixels), rows))
    return filled(result, threads.in_order(convert, parts))


def _by_profile(pixels: Pixels, profile: bytes) -> Pixels:
    fractions = pixels / np.iinfo(pixels.dtype).max
    found = icc_tables.evaluated(profile, np.ascontiguousarray(fractions[..., :CMYK]), "cmyk")
    signal = srgb_signal((found @ _TO_LIGHT.T).astype(np.float32))
    return np.concatenate((signal, fractions[..., CMYK:].astype(np.float32)), axis=2)


def _by_formula(pixels: Pixels) -> Pixels:
    most = np.iinfo(pixels.dtype).max
    left = (most - pixels[..., :CMYK]).astype(np.uint32)
    colours = ((left[..., :3] * left[..., 3:] + most // 2) // most).astype(pixels.dtype)
    return np.concatenate((colours, pixels[..., CMYK:]), axis=2)
