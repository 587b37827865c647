"""Statements of a TIFF directory on its samples, beyond what the decoder tells.

Sources: TIFF revision 6.0, sections 3 (BaselineTIFF), 16 (CMYK Images) and 18 (Associated Alpha Handling); GDAL's
page on GeoTIFF, "Sparse files".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import samples
from .picture import Pixels
from .tiff_structure import Entry

#: The entries of a page's directory by their tags; none where it is damaged.
Tags = Mapping[int, Entry]

# The tag ExtraSamples.
_EXTRA_SAMPLES = 338
# Its values for alpha.
_ASSOCIATED, _UNASSOCIATED = 1, 2
# The tag InkSet, and its value for CMYK.
_INK_SET, _CMYK = 332, 1
# The tags of where strips and tiles are, each with that of their bytes.
_PLACES = ((273, 279), (324, 325))
# The values of PhotometricInterpretation of gray, 0 white or black.
_GRAY = (0, 1)


def extra_samples(tags: Tags) -> list[int] | None:
    """The tag ExtraSamples of a page, which tells of the channels behind the colours, or None where there is no tag.

    0: unspecified, 1: associated alpha, 2: unassociated alpha. Also None where the directory is damaged.
    """
    return tags[_EXTRA_SAMPLES].integers() if _EXTRA_SAMPLES in tags else None


def is_cmyk(tags: Tags, channels: int) -> bool:
    """Whether a page of inks has cyan, magenta, yellow and black, in this order, before its extra samples."""
    kind = tags[_INK_SET].integer() if _INK_SET in tags else _CMYK
    return kind == _CMYK and channels - len(extra_samples(tags) or ()) == 4


def alpha(tags: Tags, colours: int) -> tuple[int, bool]:
    """The index of a page's alpha behind so many colours (-1: none), and whether colours are multiplied by it."""
    for place, kind in enumerate(extra_samples(tags) or (), colours):
        if kind in (_ASSOCIATED, _UNASSOCIATED):
            return place, kind == _ASSOCIATED
    return -1, False


def is_sparse(tags: Tags) -> bool:
    """Whether some of a page's strips or tiles are not in the file: their place and size are 0, as GDAL has it."""
    for place, size in _PLACES:
        if place in tags and size in tags:
            pairs = zip(tags[place].integers(), tags[size].integers(), strict=False)
            return any(pair == (0, 0) for pair in pairs)
    return False


def of_stack(description: str) -> str:
    """What ImageJ's description tells of pictures that follow the one of a directory; "" where there are none."""
    found = re.match(r"ImageJ=.*\nimages=(\d{1,9})", description, re.DOTALL)
    return f"{found[1]} pictures" if found and int(found[1]) > 1 else ""


def colours(photometric: int, channels: int) -> int:
    """Returns how many of the decoded channels are colours: the decoder makes RGB of all that is not gray."""
    return 1 if photometric in _GRAY or channels < 3 else 3


def full_range(pixels: Pixels, bits: int) -> Pixels:
    """Spreads samples of a few bits, as the decoder gives them, over the whole range of their type.

    The decoder rounds down; but its leading bits are the samples.
    """
    width = 8 * pixels.dtype.itemsize
    return samples.full_range(pixels >> (width - bits), bits) if width // 2 < bits < width else pixels
