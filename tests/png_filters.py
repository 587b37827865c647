"""PNG's filters as its specification writes them, byte by byte, and files whose rows have chosen ones."""

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def filtered(pixels: np.ndarray, kinds: Sequence[int]) -> np.ndarray:
    """Returns rows of filter types and filtered bytes: W3C Portable Network Graphics (Third Edition), section 9.2."""
    height, width, channels = pixels.shape
    stored = pixels.astype(pixels.dtype.newbyteorder(">")).tobytes()
    step = channels * pixels.dtype.itemsize
    length = width * step
    raw = [stored[y * length : (y + 1) * length] for y in range(height)]
    out = bytearray()
    for y, kind in enumerate(kinds):
        out.append(kind)
        for i, x in enumerate(raw[y]):
            a = raw[y][i - step] if i >= step else 0
            b = raw[y - 1][i] if y else 0
            c = raw[y - 1][i - step] if y and i >= step else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out.append((x - (0, a, b, (a + b) // 2, nearest)[kind]) % 256)
    return np.frombuffer(bytes(out), np.uint8)


def write(path: Path, pixels: np.ndarray, kinds: Sequence[int], parts: int = 1) -> None:
    """Writes a PNG file whose rows have these filters, in some IDAT chunks."""
    height, width, channels = pixels.shape
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.dtype.itemsize, colour, 0, 0, 0)
    data = zlib.compress(filtered(pixels, kinds).tobytes())
    size = -(-len(data) // parts)
    chunks = [(b"IHDR", header)]
    chunks += [(b"IDAT", data[at : at + size]) for at in range(0, len(data), size)]
    with path.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, content in [*chunks, (b"IEND", b"")]:
            file.write(struct.pack(">I4s", len(content), kind) + content)
            file.write(struct.pack(">I", zlib.crc32(kind + content)))
