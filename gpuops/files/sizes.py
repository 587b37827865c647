"""The bytes that a picture's pixels take, as the header of its file says, before anything is decoded."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import BinaryIO

from ..errors import FileError
from . import by_pillow, oiio
from .boxes import boxes
from .formats import Format

# Pillow's names of the formats that it opens without decoding them.
_PILLOW = {"AVIF": "AVIF", "BMP": "BMP", "DDS": "DDS", "GIF": "GIF", "PSD": "PSD", "WebP": "WEBP"}
# Bytes of a pixel in Pillow's modes that have other than one for each band: palettes become RGB or RGBA.
_PILLOW_BYTES = {"P": 4, "PA": 4, "I;16": 2, "I": 4, "F": 4}
# Formats that OpenImageIO opens without decoding them.
_OIIO = ("Radiance HDR", "DPX", "TGA")
# Formats whose pixels take as many bytes as their files.
_PLAIN = ("PFM", "FITS", "PAM", "SPE")
# JPEG XL's aspect ratios, by their codes.
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))


def nbytes_in(path: str, fmt: Format) -> int | None:
    """Returns how many bytes the picture in a file takes at least; None if its header does not tell, or is damaged."""
    try:
        if fmt.name in _OIIO:
            with oiio.Reader(path) as reader:
                return int(reader.spec().image_bytes())
        if fmt.name in _PILLOW or (fmt.needs == "imageio" and fmt.name not in _PLAIN):
            with suppress(FileError):
                return _by_pillow(path, _PILLOW.get(fmt.name))
            return 2 * os.path.getsize(path)  # of uncompressed kinds that Pillow does not know
        if fmt.name in _PLAIN:
            return os.path.getsize(path)
        return _OTHERS[fmt.name](path) if fmt.name in _OTHERS else None
    except Exception:  # the reader of the file will say what is wrong
        return None


def _by_pillow(path: str, kind: str | None) -> int:
    with by_pillow.opened(path, kind) as image:
        pictures = int(getattr(image, "n_frames", 1))
        count = image.width * image.height * _PILLOW_BYTES.get(image.mode, len(image.getbands()))
    if kind == "AVIF":
        from . import heif

        count *= 1 if heif.read_header(path).bits <= 8 else 2 * pictures  # which are decoded together
    return int(count)


def _of_netpbm(path: str) -> int:
    from . import netpbm

    with open(path, "rb") as file:
        width, height, channels, most, _ = netpbm.header(path, file.read(netpbm.LONGEST))
    return width * height * channels * (1 if most < 256 else 2)


def _of_jpeg2000(path: str) -> int:
    from . import jpeg2000

    header = jpeg2000.read_header(path)
    pixels = prod(size - offset for size, offset in zip(header.size, header.offset, strict=True))
    return pixels * len(header.components) * (1 if header.bits <= 8 else 2)


def _of_heic(path: str) -> int | None:
    from .extras import needed

    image = needed("pillow_heif", path, "HEIC").open_heif(path)
    return int(prod(image.size) * len(image.mode.split(";")[0]) * (1 if image.info["bit_depth"] <= 8 else 2))


def _of_jpegxl(path: str) -> int:
    """Returns the bytes of RGB. Source: ISO/IEC 18181-1, SizeHeader and ImageMetadata, from the lowest bit on."""
    with open(path, "rb") as file:
        if file.read(2) != b"\xff\x0a":
            file.seek(_codestream(file) + 2)
        bits = int.from_bytes(file.read(16), "little")

    def take(count: int) -> int:
        nonlocal bits
        value = bits & ((1 << count) - 1)
        bits >>= count
        return value

    small = take(1)

    def side() -> int:
        return 8 * (1 + take(5)) if small else 1 + take((9, 13, 18, 30)[take(2)])

    height = side()
    ratio = take(3)
    width = height * _RATIOS[ratio - 1][0] // _RATIOS[ratio - 1][1] if ratio else side()
    depth, usual = 8, take(1)
    longer = not usual and take(1) and take(6) >> 3  # further fields, of which some have no fixed length
    if not usual and not longer:
        depth = (32, 16, 24, 0)[take(2)] if take(1) else (8, 10, 12, 16)[take(2)]
    return 3 * width * height * (1 if depth <= 8 else 2 if depth <= 16 else 4)


def _codestream(file: BinaryIO) -> int:
    """Returns where the codestream begins in a file of boxes; a partial one has its number before it."""
    for kind, start, _ in boxes(file, 0, file.seek(0, os.SEEK_END)):
        if kind in (b"jxlc", b"jxlp"):
            return start + 4 * (kind == b"jxlp")
    raise ValueError("there is no codestream")


_OTHERS: dict[str, Callable[[str], int | None]] = {
    "PNM": _of_netpbm, "JPEG 2000": _of_jpeg2000, "JPEG XL": _of_jpegxl, "HEIC": _of_heic,
}  # fmt: skip
