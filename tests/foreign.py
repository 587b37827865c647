"""Files as other programs write them, built from the formats' specifications, byte by byte."""

import struct
import zlib
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
    data: bytes, width: int, height: int, channels: int, photometric: int, *, bits: int = 8, tags: Iterable[Tag] = ()
) -> bytes:  # fmt: skip
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


def dpx(
    values: Sequence[int], height: int, descriptor: int, bits: int, packing: int, order: str, *, aligned: bool = True
) -> bytes:  # fmt: skip
    """A DPX file of one element (SMPTE ST 268-1); order: of bytes, as of :mod:`struct`. Descriptor 6 is gray."""
    count = len(values) // height
    channels = {6: 1, 50: 3, 51: 4, 52: 4}[descriptor]
    data = b""
    for start in range(0, len(values), count):
        row = _dpx_row(list(values[start : start + count]), descriptor, bits, packing, order)
        data += row + bytes(-len(row) % 4 if aligned else 0)
    header = bytearray(2048)
    magic = b"SDPX" if order == ">" else b"XPDS"
    struct.pack_into(order + "4sI8sI", header, 0, magic, 2048, b"V2.0", 2048 + len(data))
    struct.pack_into(order + "HHII", header, 768, 0, 1, count // channels, height)
    struct.pack_into(order + "BBBBHHII", header, 800, descriptor, 0, 0, bits, packing, 0, 2048, 0)
    return bytes(header) + data


def _dpx_row(row: list[int], descriptor: int, bits: int, packing: int, order: str) -> bytes:
    if bits == 8:
        return bytes(row)
    if packing == 0 and bits != 16:  # a stream of bits, from the lowest one of each word on
        stream = sum(value << (i * bits) for i, value in enumerate(row))
        words = [stream >> 32 * i & 0xFFFFFFFF for i in range(-(-len(row) * bits // 32))]
    elif bits == 10:
        row += [0] * (-len(row) % 3)
        gap = 2 if packing == 1 else 0
        steps = (0, 10, 20) if descriptor == 6 else (20, 10, 0)
        triples = (row[i : i + 3] for i in range(0, len(row), 3))
        words = [sum(v << (s + gap) for v, s in zip(triple, steps, strict=True)) for triple in triples]
    else:
        shift = 4 if (bits, packing) == (12, 1) else 0
        return struct.pack(f"{order}{len(row)}H", *(value << shift for value in row))
    return struct.pack(f"{order}{len(words)}I", *words)


def hdr(axes: str, pixels: bytes, *lines: str) -> bytes:
    """A Radiance file of uncompressed pixels."""
    return "\n".join(("#?RADIANCE", *lines, "FORMAT=32-bit_rle_rgbe", "", axes, "")).encode() + pixels


def png(header: tuple[int, int, int, int], rows: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG file; header: width, height, bits, colour type; rows: with a filter type before each."""
    width, height, bits, kind = header
    inner = [(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)), *chunks]
    inner += [(b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in inner
    )


def exr(channels: Iterable[str], *attributes: tuple[str, str, bytes]) -> bytes:
    """An EXR file of 3 × 2 pixels, uncompressed floats, of which the first channel by name is 1, the next 2 …
    (openexr.com, OpenEXR file layout); attributes: name, type and data.
    """
    names, box = sorted(channels), struct.pack("<4i", 0, 0, 2, 1)
    entries = [
        ("channels", "chlist", b"".join(n.encode() + struct.pack("<x4i", 2, 0, 1, 1) for n in names) + b"\0"),
        ("compression", "compression", b"\0"), ("lineOrder", "lineOrder", b"\0"),
        ("dataWindow", "box2i", box), ("displayWindow", "box2i", box),
        ("pixelAspectRatio", "float", struct.pack("<f", 1)), ("screenWindowWidth", "float", struct.pack("<f", 1)),
        ("screenWindowCenter", "v2f", bytes(8)), *attributes,
    ]  # fmt: skip
    header = struct.pack("<II", 20000630, 2) + b"".join(
        f"{name}\0{kind}\0".encode() + struct.pack("<i", len(data)) + data for name, kind, data in entries
    )
    row = b"".join(struct.pack("<3f", *[1.0 + i] * 3) for i in range(len(names)))
    rows = [struct.pack("<ii", y, len(row)) + row for y in range(2)]
    start = len(header) + 1 + 16
    return header + b"\0" + struct.pack("<QQ", start, start + len(rows[0])) + b"".join(rows)
