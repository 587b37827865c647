"""The tags of videos: colour spaces as code points, and the display on which HDR was mastered.

Sources: ITU-T H.273 (07/2024), tables 2 to 4; ITU-R BT.601, BT.709, BT.2020, BT.2100; SMPTE EG 432-1, ST 2086.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

#: The codes of matrices (H.273, table 4) by swscale's names; those of BT.601 have one matrix.
MATRICES = {1: "ITU709", 5: "ITU601", 6: "ITU601", 9: "BT2020"}
#: The code that leaves something open.
UNSAID = 2
#: The code of BT.2020, among primaries and matrices alike.
WIDE = 9
#: The codes of the range.
LIMITED, FULL = 1, 2
#: The primaries and curves that are taken for sRGB's: those of SDR video.
_SDR_PRIMARIES, _SDR_CURVES = (1, 5, 6, UNSAID), (1, 6, 13, UNSAID)
#: The spaces of videos that are not sRGB, by the codes of their primaries and their curve.
_SPACES = {
    (9, 16): "rec2100-pq",
    (9, 18): "rec2100-hlg",
    **dict.fromkeys(((9, 1), (9, 6), (9, 14), (9, 15)), "rec2020"),
    **dict.fromkeys(((12, 1), (12, 13)), "display-p3"),
}
#: The spaces of HDR.
HDR = ("rec2100-pq", "rec2100-hlg")
#: The rows from which on video that says nothing is high definition, whose matrix is BT.709's.
_HIGH = 720

#: Steps of chromaticities and of brightness in ST 2086 (in cd/m²), as codecs write them.
_CHROMATICITY, _BRIGHTNESS = 50000, 10000


class Tags(NamedTuple):
    """The codes of a video's primaries, curve and matrix."""

    primaries: int
    curve: int
    matrix: int


#: The tags of each space that a video can be written in.
WRITTEN = {
    "srgb": Tags(1, 13, 1),
    "display-p3": Tags(12, 13, 1),
    "rec2020": Tags(9, 14, 9),
    "rec2100-pq": Tags(9, 16, 9),
    "rec2100-hlg": Tags(9, 18, 9),
}
#: The tags of SDR that was made of another space, whose values are sRGB's as those of all SDR of BT.709.
USUAL = Tags(1, 1, 1)


def space_of(primaries: int, curve: int) -> str | None:
    """Returns the name of a space by its codes; None stands for sRGB. Raises ValueError for others."""
    if (primaries, curve) in _SPACES:
        return _SPACES[primaries, curve]
    if primaries in _SDR_PRIMARIES and curve in _SDR_CURVES:
        return None
    raise ValueError(
        f"has the primaries {primaries} and the curve {curve} of H.273; known are SDR of BT.601, BT.709, BT.2020 and "
        "Display P3, and PQ and HLG of BT.2100"
    )


def matrix_of(code: int, space: str | None, height: int) -> int:
    """Returns the code of a matrix that a video says, or that is usual where it says none. Raises ValueError."""
    is_wide = space is not None and WRITTEN[space].primaries == WIDE
    if code == UNSAID:
        return WIDE if is_wide else 1 if space is not None or height >= _HIGH else 6
    if code not in MATRICES or (code == WIDE and space is None):
        raise ValueError(f"has the matrix {code} of H.273; known are those of BT.601, BT.709 and BT.2100")
    return code


def mastering(display: bytes) -> str | None:
    """Returns x265's text of the display on which a video was mastered, None where its data are not complete.

    ``display``: FFmpeg's AVMasteringDisplayMetadata: x and y of red, green, blue and white, the least and the most
    brightness, all as fractions, and two words that say whether there are chromaticities and brightness.
    """
    if len(display) < struct.calcsize("=22i"):
        return None
    *pairs, has_chromaticities, has_brightness = struct.unpack_from("=22i", display)
    if not has_chromaticities or not has_brightness or not all(pairs[1::2]):
        return None
    numbers = [above / below for above, below in zip(pairs[::2], pairs[1::2], strict=True)]
    red, green, blue, white = (
        f"({round(x * _CHROMATICITY)},{round(y * _CHROMATICITY)})"
        for x, y in zip(numbers[:8:2], numbers[1:8:2], strict=True)
    )
    least, most = (round(number * _BRIGHTNESS) for number in numbers[8:])
    return f"G{green}B{blue}R{red}WP{white}L({most},{least})"
