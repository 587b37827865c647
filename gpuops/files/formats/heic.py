"""HEIC, coded by pillow-heif, which stands on libheif, libde265 and x265. 16 bits are written as 10.

Decoders turn the picture by properties of its own, so EXIF's orientation is always 1.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note
from .. import apple_gain_map, colours, containers, pillow
from ..heif import GAIN_MAP, described, read_header
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
    """The primary picture, upright; layer is the number of a picture in the file."""
    heif = needed("pillow_heif", path, "HEIC")
    header = read_header(path)
    try:
        with parsing(path):
            file = heif.open_heif(path, convert_hdr_to_8bit=False, hdr_to_16bit=False)
            count = len(file)
            index = file.primary_index
            if layer is not None and layer not in WITH_GAIN_MAP:
                index = chosen(path, layer, count, "pictures")
            if count > 1 and layer is None:
                note(f"{path}: holds {count} pictures; the primary one is used")
            image = file[index]
            samples = np.array(np.asarray(image))
            maps = (
                image.info.get("aux", {}).get(apple_gain_map.NAME, ()) if index == file.primary_index else ()
            )
            codes = None
            with suppress(Exception):  # the picture is there, whatever is wrong with its map
                codes = np.atleast_3d(np.asarray(image.get_aux_image(maps[0]))) if maps else None
    except FileError:
        if not header.codec:
            raise
        of_other = f"holds a picture by {header.codec} in HEIF, of which HEVC is read"
        raise FileError(f"{path}: {of_other}; convert it first") from None
    info = dict(image.info)
    samples = samples if samples.ndim == 3 else samples[:, :, None]
    pixels = full_range(samples, int(info["bit_depth"]))
    if codes is None or codes.dtype != np.uint8:
        if layer in WITH_GAIN_MAP:
            raise FileError(f"{path}: has no layer {layer!r}: it has no gain map of Apple's kind")
        return described(path, pixels, header, info, turned=True)
    header = replace(header, unused=tuple(name for name in header.unused if name != GAIN_MAP))
    return apple_gain_map.beside(path, described(path, pixels, header, info, turned=True), codes, layer)


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
    image = needed("pillow_heif", path, "HEIC").open_heif(path)
    few = image.info["bit_depth"] <= 8 and not image.info.get("aux")  # light is of half floats
    shape = *reversed(image.size), len(image.mode.split(";")[0])
    return unread(shape, np.uint8 if few else np.uint16)


FORMAT = Format(
    "HEIC", (".heic", ".heif"), INTEGERS, _read, _write, unread=_unread,
    sniff=lambda head, _: containers.of_picture(head) == containers.HEIC, channels=(1, 3, 4), holds=IN_BOXES,
    coded=CodePoints(INTEGERS), codec=Codec(90, SUBSAMPLINGS), lossy=True, upright=True, layered=True,
    needs="pillow-heif",
)  # fmt: skip
