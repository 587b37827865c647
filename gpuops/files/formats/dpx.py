"""DPX pictures: the header at fixed places, and one image element of gray, RGB or RGB with alpha.

Source: SMPTE ST 268-1. Samples of 10 bits lie three in a word of 32 bits, the first one in the highest bits (of gray
in the lowest), or are packed without gaps from the lowest bit on; those of 12 bits are packed so, or have 16 bits
each. Rows begin at words; but many programs leave rows of 16-bit samples without padding, and some all rows: their
files are shorter, which tells them apart. Transfer functions and reference levels are not applied; that values are
linear light is told.
"""

from __future__ import annotations

import os
import struct

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError
from ...notes import note
from .. import oiio
from ..picture import Picture, Pixels, upright
from ..read_errors import beginning, check_size
from ..samples import full_range
from .record import INTEGERS, Format, LayerId, Storage

#: Bytes of the header that is written.
_SIZE = 2048
#: Bytes of the header that every file has.
_LEAST = 1664
#: The value of a field that is not set.
_UNDEFINED = 0xFFFFFFFF
#: Rows that are unpacked at a time, as samples take 8 bytes meanwhile.
_STRIP_ROWS = 256
#: The descriptors of gray, and of alpha, blue, green and red.
_GRAY, _ABGR = 6, 52
#: Channels of each descriptor, also of red, green and blue, and of these with alpha.
_CHANNELS = {_GRAY: 1, 50: 3, 51: 4, _ABGR: 4}
#: The descriptor that is written, by the number of channels.
_DESCRIPTORS = {1: _GRAY, 3: 50, 4: 51}
#: The packings without padding bits, and with padding in the low and in the high bits.
_PACKED, _FILLED_LOW, _FILLED_HIGH = 0, 1, 2
#: DPX's orientations as EXIF numbers them; from 4 on rows and columns are exchanged.
_ORIENTATIONS = (1, 2, 4, 3)
#: The transfer characteristic of linear light.
_LINEAR = 2
#: Transfer characteristics that are not applied, as messages name them.
_UNUSED_TRANSFERS = {1: "Printing density", 3: "Logarithmic"}
#: The header's texts, as offset and length; they are empty where the rest is undefined.
_TEXTS = (
    (36, 628), (664, 104), (820, 32), (892, 32), (964, 32), (1036, 32), (1108, 32), (1180, 32), (1252, 32),
    (1324, 84), (1432, 188), (1636, 28), (1664, 48), (1732, 188), (1972, 76),
)  # fmt: skip


def _read(path: str, layer: LayerId) -> Picture:
    header = beginning(path, _SIZE)
    if len(header) < _LEAST:
        raise FileError(f"{path}: is cut off: its header is not complete")
    order = ">" if header.startswith(b"SDPX") else "<"
    turned, elements, width, height = struct.unpack_from(order + "HHII", header, 768)
    (signed,) = struct.unpack_from(order + "I", header, 780)
    kind, transfer, bits, packing, encoding, offset, padding = struct.unpack_from(
        order + "BBxBHHII", header, 800
    )
    if elements != 1 or kind not in _CHANNELS or encoding or signed:
        raise FileError(f"{path}: {_refusal(elements, kind, encoding)}; convert it to gray or RGB first")
    if bits not in (8, 10, 12, 16) or packing > _FILLED_HIGH:
        raise FileError(
            f"{path}: holds {bits}-bit samples (packing {packing}); convert it to 8 or 16 bits first"
        )
    if turned >= len(_ORIENTATIONS):
        raise FileError(f"{path}: is stored by columns; turn it first")
    check_size(path, width, height)
    if offset in (0, _UNDEFINED):
        (offset,) = struct.unpack_from(order + "I", header, 4)
    count = width * _CHANNELS[kind]
    size = _row_bytes(count, bits, packing)
    rows = _rows(path, offset, height, size, 0 if padding == _UNDEFINED else padding)
    samples = np.empty((height, count), np.uint8 if bits == 8 else np.uint16)
    for start in range(0, height, _STRIP_ROWS):
        strip = _whole_words(rows[start : start + _STRIP_ROWS], size)
        unpacked = _unpacked(strip, count, bits, packing, order, reverse=kind == _GRAY)
        samples[start : start + _STRIP_ROWS] = full_range(unpacked, bits)
    pixels = samples.reshape(height, width, -1)
    if kind == _ABGR:
        pixels = pixels[:, :, ::-1]
    _name_the_unused(path, header, order, transfer)
    upright_pixels = upright(pixels, _ORIENTATIONS[turned])
    return Picture(upright_pixels, alpha=pixels.shape[2] == 4, linear=transfer == _LINEAR)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    """Writes 8 or 16 bits, big-endian; the header states the layout, and linear light if the pixels are that."""
    bits = 8 * picture.pixels.dtype.itemsize
    rows = np.ascontiguousarray(picture.pixels, picture.pixels.dtype.newbyteorder(">")).view(np.uint8)
    rows = rows.reshape(picture.height, -1)
    padded = _whole_words(rows, rows.shape[1]) if bits == 8 else rows
    header = bytearray(b"\xff" * _SIZE)
    for start, length in _TEXTS:
        header[start : start + length] = bytes(length)
    struct.pack_into(
        ">4sI8sIIIII", header, 0, b"SDPX", _SIZE, b"V2.0", _SIZE + padded.size, 1, _LEAST, 384, 0
    )
    struct.pack_into(">5s", header, 160, b"clpix")
    struct.pack_into(">HHII", header, 768, 0, 1, picture.width, picture.height)
    struct.pack_into(">II", header, 780, 0, 0)
    struct.pack_into(">I", header, 792, 2**bits - 1)
    layout = (_DESCRIPTORS[picture.channels], _LINEAR if picture.linear else 0, 0, bits, 0, 0, _SIZE, 0, 0)
    struct.pack_into(">BBBBHHIII", header, 800, *layout)
    struct.pack_into(">II", header, 1628, 1, 1)  # pixel aspect ratio
    with open(path, "wb") as file:
        file.write(header)
        padded.tofile(file)


def _refusal(elements: int, kind: int, encoding: int) -> str:
    if elements != 1:
        return f"holds {elements} image elements"
    if kind not in _CHANNELS:
        return f"holds components of kind {kind}"
    return "holds run-length encoded samples" if encoding else "holds signed samples"


def _row_bytes(count: int, bits: int, packing: int) -> int:
    """The bytes of a row of samples. Rows of words end at a word; after other rows a word may be filled up."""
    if bits in (8, 16) or (bits == 12 and packing != _PACKED):
        return count * (-(-bits // 8))
    return 4 * (-(-count // 3) if packing != _PACKED else -(-count * bits // 32))


def _aligned(size: int) -> int:
    return -(-size // 4) * 4


def _rows(path: str, offset: int, height: int, size: int, padding: int) -> NDArray[np.uint8]:
    """The bytes of all rows with what follows each, (height, bytes)."""
    there = os.path.getsize(path) - offset
    stride = _aligned(size) + padding
    if there < (height - 1) * stride + size:
        stride = size + padding
    if there < (height - 1) * stride + size:
        raise FileError(f"{path}: is cut off: its pixels need more than its {max(there, 0)} bytes")
    data = np.fromfile(path, np.uint8, height * stride, offset=offset)
    data.resize(height * stride, refcheck=False)  # nothing may follow the last row
    return data.reshape(height, stride)


def _whole_words(rows: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """The first `size` bytes of each row, filled up to a word."""
    words = np.zeros((len(rows), _aligned(size)), np.uint8)
    words[:, :size] = rows[:, :size]
    return words


def _unpacked(
    rows: NDArray[np.uint8], count: int, bits: int, packing: int, order: str, *, reverse: bool
) -> Pixels:
    """The samples of each row, (height, count)."""
    if bits == 8:
        return rows[:, :count]
    if bits == 16 or (bits == 12 and packing != _PACKED):
        halves = rows.view(order + "u2")[:, :count].astype(np.uint16)
        samples: Pixels = halves >> 4 if (bits, packing) == (12, _FILLED_LOW) else halves & (2**bits - 1)
        return samples
    words = rows.view(order + "u4").astype(np.uint32)
    mask = 2**bits - 1
    if packing == _PACKED:
        first = np.arange(count) * bits
        index, shift = first // 32, (first % 32).astype(np.uint64)
        following = np.concatenate((words[:, 1:], np.zeros_like(words[:, :1])), axis=1)
        both = words | following.astype(np.uint64) << np.uint64(32)
        return (both[:, index] >> shift).astype(np.uint16) & np.uint16(mask)
    shifts = (20, 10, 0) if packing == _FILLED_HIGH else (22, 12, 2)
    samples = np.empty((len(rows), 3 * words.shape[1]), np.uint16)
    for i, places in enumerate(shifts[::-1] if reverse else shifts):
        samples[:, i::3] = words >> np.uint32(places) & np.uint32(mask)
    return samples[:, :count]


def _name_the_unused(path: str, header: bytes, order: str, transfer: int) -> None:
    """Notes the statements of the header that a picture here does not keep."""
    texts = {"Copyright": header[460:660], "project": header[260:460]}
    names = [name for name, text in texts.items() if text.partition(b"\0")[0].strip(b"\xff ")]
    if len(header) >= 1924 and struct.unpack_from(order + "I", header, 1920)[0] not in (0, _UNDEFINED):
        names.append("time code")
    across, down = struct.unpack_from(order + "II", header, 1628)
    if across != down and _UNDEFINED not in (across, down) and across and down:
        names.append(f"pixel aspect ratio ({across / down:.4g})")
    if transfer in _UNUSED_TRANSFERS:
        names.append(f"transfer ({_UNUSED_TRANSFERS[transfer]})")
    if names:
        note(f"{path}: is read without its {', '.join(names)}")


FORMAT = Format(
    "DPX", (".dpx",), INTEGERS, _read, _write, unread=oiio.unread_in, magic=(b"SDPX", b"XPDS"),
    channels=(1, 3, 4), says="light",
)  # fmt: skip
