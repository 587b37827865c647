"""AVIF: 8 bits by Pillow, 10 and 12 bits by imagecodecs, which both stand on libavif.

16 bits are written as 12, and as the 10 of ITU-R BT.2100 where the transfer is PQ or HLG, with the colours' code
points. Decoders turn the picture by properties of its own, so EXIF's orientation is always 1.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note
from ...pixels.spaces import is_hdr
from .. import colours, containers, iso_gain_map, pillow, threads
from ..heif import PrimaryItem, described, read_header
from ..picture import Picture, Pixels, unread, upright
from ..read_errors import chosen, parsing
from ..samples import full_range
from .record import IN_BOXES, INTEGERS, SUBSAMPLINGS, Codec, CodePoints, Format, LayerId, Storage

#: The quality of 10 and 12 bits, of 100, at which the error is about one step of 10 bits.
_DEEP_QUALITY = 95
#: The encoder's speed of 10: slower ones save 3 % at five times the time and more.
_SPEED = 8
#: The code points of the matrices from RGB to YCbCr: by primaries, and for all other primaries.
_MATRICES, _OTHER_MATRIX = {9: 9, 1: 1}, 1


def _read(path: str, layer: LayerId) -> Picture:
    """The first frame, or the one of a number; or the light of a file with a gain map."""
    header = read_header(path)
    gain = iso_gain_map.of_items(path, header)
    data = gain.data if gain else None
    with pillow.opened(path, "AVIF", data) as image:
        count = int(image.n_frames)
        gain = gain if count == 1 else None
        usual = layer is None or (gain is not None and layer in gain.layers)
        index = 0 if usual else chosen(path, layer or 0, count)
        if count > 1 and usual:
            note(f"{path}: is read without its animation")
        image.seek(index)
        pixels = _samples(path, header, image, index, data)
        info = dict(image.info)
    if gain is not None:
        header = gain.decode(header, pixels.shape, partial(_map, path), layer)
    picture = described(path, pixels, header, info, turned=False).numbered(index, count)
    return picture if gain is None else gain.beside(picture, layer)


def _map(path: str, header: PrimaryItem, data: bytes) -> Pixels:
    """The codes of a gain map, which is the primary picture of a file's bytes, upright."""
    with pillow.opened(path, "AVIF", data) as image:
        if image.width * image.height > header.size[0] * header.size[1]:
            raise ValueError("is larger than is said")
        pixels = _samples(path, header, image, 0, data)
        return upright(pixels, image.getexif().get(0x0112, 1))


def _samples(path: str, header: PrimaryItem, image: Any, index: int, data: bytes | None) -> Pixels:
    """One of the pictures of Pillow's image of a file, or of bytes in place of the file's."""
    return pillow.samples(image) if header.bits == 8 else _deep(path, header, image, index, data)


def _deep(path: str, header: PrimaryItem, image: Any, index: int, data: bytes | None) -> Pixels:
    """The same of more than 8 bits. All of them are decoded together.

    Of one alone, imagecodecs to 2026.3 writes all into the memory of that one.
    """
    import imagecodecs

    from ...process import memory

    count = int(image.n_frames)
    nbytes = 2 * count * image.width * image.height * len(image.getbands())
    if nbytes > memory.of_machine():
        raise FileError(
            f"{path}: its {count} pictures of {header.bits} bits take {nbytes / 1e9:.4g} GB of memory together, which "
            "this machine lacks; convert it to a video first"
        )
    with parsing(path):
        samples = imagecodecs.avif_decode(data or Path(path).read_bytes(), numthreads=threads.count())
        samples = samples.reshape(count, image.height, image.width, -1)[index]
        bits = header.bits if samples.dtype == np.uint16 else 8
        return full_range(np.ascontiguousarray(samples), bits)


def _write(path: str, picture: Picture, storage: Storage) -> None:
    sampling = "4:0:0" if picture.channels == 1 else storage.subsampling or "4:4:4"
    if picture.pixels.dtype == np.uint16:
        _write_deep(path, picture, storage.quality or _DEEP_QUALITY, sampling)
        return
    options = {"quality": FORMAT.quality(storage), "subsampling": sampling}
    pillow.write(path, "AVIF", picture.pixels, **options, **pillow.kept(picture.metadata))


def _write_deep(path: str, picture: Picture, quality: int, sampling: str) -> None:
    import inspect

    import imagecodecs

    if "primaries" not in inspect.signature(imagecodecs.avif_encode).parameters:
        raise FileError(
            f"{path}: AVIF of more than 8 bits needs imagecodecs 2025.11, which needs Python 3.11; "
            "choose another format"
        )
    colour = picture.colour
    bits = 10 if is_hdr(colour) else 12
    most = 2**bits - 1
    samples = np.rint(picture.pixels * np.float64(most / 65535)).astype(np.uint16)
    codes = colours.codes_for(FORMAT, colour, picture.pixels.dtype, gray=False) or colours.SRGB_CODES
    data = imagecodecs.avif_encode(
        samples if picture.channels > 1 else samples[:, :, 0],
        level=quality,
        speed=_SPEED,
        bitspersample=bits,
        pixelformat=imagecodecs.AVIF.PIXEL_FORMAT["YUV" + sampling.replace(":", "")],
        primaries=codes[0],
        transfer=codes[1],
        matrix=_MATRICES.get(codes[0], _OTHER_MATRIX),
        numthreads=threads.count(),
    )
    Path(path).write_bytes(data)


def _unread(path: str) -> Pixels:
    header = read_header(path)
    gain = iso_gain_map.of_items(path, header)
    with pillow.opened(path, "AVIF", gain.data if gain else None) as image:
        together = 1 if header.bits <= 8 else int(image.n_frames)  # which are decoded together
        few = header.bits <= 8 and gain is None  # light is of half floats
        shape = (image.height * together, image.width, len(image.getbands()))
        return unread(shape, np.uint8 if few else np.uint16)


FORMAT = Format(
    "AVIF", (".avif",), INTEGERS, _read, _write, unread=_unread,
    sniff=lambda head, _: containers.of_picture(head) == containers.AVIF, channels=(1, 3, 4), holds=IN_BOXES,
    deep_holds=frozenset(), largest=65536, coded=CodePoints(("uint16",)), codec=Codec(90, SUBSAMPLINGS),
    lossy=True, upright=True, layered=True, pillow="AVIF",
)  # fmt: skip
