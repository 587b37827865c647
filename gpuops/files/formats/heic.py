"""HEIC, coded by pillow-heif, which stands on libheif, libde265 and x265. 16 bits are written as 10.

Decoders turn the picture by properties of its own, so EXIF's orientation is always 1.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note
from .. import apple_gain_map, colours, containers, iso_gain_map, pillow
from ..heif import GAIN_MAP, PrimaryItem, described, read_header
from ..jpeg_contents import WITH_GAIN_MAP
from ..picture import Picture, Pixels, unread
from ..read_errors import chosen, needed, parsing
from ..samples import full_range
from .record import IN_BOXES, INTEGERS, SUBSAMPLINGS, Codec, CodePoints, Format, LayerId, Storage

#: The options of writing: brightness and colours by BT.601's matrix, as JPEG has it.
_OPTIONS: dict[str, Any] = {"matrix_coefficients": 6, "full_range_flag": 1}
#: The quality of 10 bits.
_DEEP_QUALITY = 95
#: pillow-heif's modes by the number of channels.
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def _read(path: str, layer: LayerId) -> Picture:
    """The primary picture, upright; layer is the number of a picture in the file, or says whether a gain map counts."""
    heif = needed("pillow_heif", path, "HEIC")
    header = read_header(path)
    gain = iso_gain_map.of_items(path, header)
    try:
        with parsing(path):
            file = _opened(heif, path if gain is None or gain.data is None else BytesIO(gain.data))
            count = len(file)
            index = file.primary_index
            if layer is not None and layer not in WITH_GAIN_MAP:
                index = chosen(path, layer, count, "pictures")
            if count > 1 and layer is None:
                note(f"{path}: holds {count} pictures; the primary one is used")
            image = file[index]
            pixels = _samples(image)
    except FileError:
        if not header.codec:
            raise
        of_other = f"holds a picture by {header.codec} in HEIF, of which HEVC is read"
        raise FileError(f"{path}: {of_other}; convert it first") from None
    info = dict(image.info)
    own = index == file.primary_index
    codes = _apples(image) if own and gain is None else None
    if layer in WITH_GAIN_MAP and codes is None and (gain is None or layer not in gain.layers):
        raise FileError(f"{path}: has no layer {layer!r}: it has no gain map of a kind that makes it")
    if gain is not None and own:
        header = gain.decode(header, pixels.shape, partial(_map, heif), layer)
        return gain.beside(described(path, pixels, header, info, turned=True), layer)
    if codes is None:
        return described(path, pixels, header, info, turned=True)
    header = replace(header, unused=tuple(name for name in header.unused if name != GAIN_MAP))
    return apple_gain_map.beside(path, described(path, pixels, header, info, turned=True), codes, layer)


def _opened(heif: Any, source: str | BytesIO) -> Any:
    return heif.open_heif(source, convert_hdr_to_8bit=False, hdr_to_16bit=False)


def _samples(image: Any) -> Pixels:
    """The samples of a picture (height, width, channels), upright."""
    samples = np.array(np.asarray(image))
    return full_range(np.atleast_3d(samples), int(image.info["bit_depth"]))


def _map(heif: Any, header: PrimaryItem, data: bytes) -> Pixels:
    """The codes of a gain map, which is the primary picture of a file's bytes, upright."""
    file = _opened(heif, BytesIO(data))
    image = file[file.primary_index]
    if image.size[0] * image.size[1] > header.size[0] * header.size[1]:
        raise ValueError("is larger than is said")
    return _samples(image)


def _apples(image: Any) -> Pixels | None:
    """The codes of a gain map of Apple's kind beside a picture; None if there is none, or it is damaged."""
    with suppress(Exception):  # the picture is there, whatever is wrong with its map
        maps = image.info.get("aux", {}).get(apple_gain_map.NAME, ())
        codes = np.atleast_3d(np.asarray(image.get_aux_image(maps[0])))
        return codes if codes.dtype == np.uint8 else None
    return None


def _write(path: str, picture: Picture, storage: Storage) -> None:
    heif = needed("pillow_heif", path, "HEIC")
    pixels, metadata = picture.pixels, picture.metadata
    options = _OPTIONS | {
        "quality": FORMAT.quality(storage),
        "chroma": int((storage.subsampling or "4:4:4").replace(":", "")),
    }
    mode = _MODES[picture.channels]
    if pixels.dtype == np.uint16:
        options["quality"] = storage.quality or _DEEP_QUALITY
        mode += ";16"
        # it cuts the low 6 bits off: the nearest of 10 bits first
        pixels = np.rint(pixels * np.float64(1023 / 65535)).astype(np.uint16) << 6
    codes = colours.codes_for(FORMAT, picture.colour, pixels.dtype, gray=False) or colours.SRGB_CODES
    options["color_primaries"], options["transfer_characteristics"] = codes[:2]
    options |= pillow.kept(metadata)
    image = heif.from_bytes(mode, (picture.width, picture.height), np.ascontiguousarray(pixels).tobytes())
    with open(path, "wb") as file:
        image.save(file, **options)


def _unread(path: str) -> Pixels:
    gain = iso_gain_map.of_items(path, read_header(path))
    source = path if gain is None or gain.data is None else BytesIO(gain.data)
    image = needed("pillow_heif", path, "HEIC").open_heif(source)
    # light is of half floats
    few = image.info["bit_depth"] <= 8 and not image.info.get("aux") and gain is None
    shape = *reversed(image.size), len(image.mode.split(";")[0])
    return unread(shape, np.uint8 if few else np.uint16)


FORMAT = Format(
    "HEIC", (".heic", ".heif"), INTEGERS, _read, _write, unread=_unread,
    sniff=lambda head, _: containers.of_picture(head) == containers.HEIC, channels=(1, 3, 4), holds=IN_BOXES,
    coded=CodePoints(INTEGERS), codec=Codec(90, SUBSAMPLINGS), lossy=True, upright=True, layered=True,
    needs="pillow-heif",
)  # fmt: skip
