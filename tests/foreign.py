"""Files as other programs write them, built from the formats' specifications, byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction

SHORT, LONG, RATIONAL = 3, 4, 5
Tag = tuple[int, int, Sequence[float]]


def packed(values: Iterable[int], bits: int) -> bytes:
    """Whole numbers of some bits each, the most significant bit first, filled up to a byte."""
    text = "".join(f"{value:0{bits}b}" for value in values)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))


def tiff(
    data: bytes,
    width: int,
    height: int,
    channels: int,
    photometric: int,
    *,
    bits: int = 8,
    tags: Iterable[Tag] = (),
) -> bytes:
    """A little-endian TIFF file of one strip (TIFF 6.0, section 2)."""
    entries: list[Tag] = [
        (256, LONG, [width]), (257, LONG, [height]), (258, SHORT, [bits] * channels), (259, SHORT, [1]),
        (262, SHORT, [photometric]), (273, LONG, [0]), (277, SHORT, [channels]), (278, LONG, [height]),
        (279, LONG, [len(data)]),
    ]  # fmt: skip
    given = {tag[0]: tag for tag in entries} | {tag[0]: tag for tag in tags}
    start = 8 + 2 + 12 * len(given) + 4
    long_values = b""
    directory = []
    for number, kind, values in sorted(given.values()):
        value = _tiff_values(kind, values)
        if number == 273:
            directory.append((number, kind, None))
        elif len(value) > 4:
            directory.append((number, kind, (len(values), struct.pack("<I", start + len(long_values)))))
            long_values += value + bytes(len(value) % 2)
        else:
            directory.append((number, kind, (len(values), value.ljust(4, b"\0"))))
    at_data = (1, struct.pack("<I", start + len(long_values)))
    table = b"".join(
        struct.pack("<HHI", number, kind, count) + value
        for number, kind, (count, value) in ((n, k, v or at_data) for n, k, v in directory)
    )
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(given)) + table + bytes(4) + long_values + data


def _tiff_values(kind: int, values: Sequence[float]) -> bytes:
    if kind == RATIONAL:
        fractions = [Fraction(value).limit_denominator(10**6) for value in values]
        return b"".join(struct.pack("<II", f.numerator, f.denominator) for f in fractions)
    return struct.pack(f"<{len(values)}{'H' if kind == SHORT else 'I'}", *map(int, values))
