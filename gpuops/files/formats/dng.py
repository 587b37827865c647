"""Camera raw, developed by rawpy (LibRaw) to light: demosaicked, with the camera's white balance, and nothing else.

The light has Rec. 2020's primaries, so that fewer of a sensor's colours are clipped than at Rec. 709's; 1 is where the
sensor saturates. No brightness is adapted and no curve is applied. Pictures are turned upright.
"""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import PurePath

import numpy as np

from ...notes import note
from ...pixels.spaces import named
from .. import containers, exif
from ..picture import Metadata, Picture
from ..raw_exif import FUJIFILM, of_camera
from ..read_errors import needed, parsing
from ..tiff_parts import tags_of_page
from .record import Format, LayerId

#: The tag that every DNG file has (Adobe, Digital Negative Specification).
_DNG_VERSION = 50706
#: How files begin that are not TIFF's.
_MAGIC = (FUJIFILM, *exif.CAMERAS)
#: Tags of directory 0 that are of the photograph: description, camera, orientation, program, date, people, parts.
_OF_PHOTOGRAPHS = (
    exif.DESCRIPTION, 0x010F, 0x0110, exif.ORIENTATION, 0x0131, 0x0132, 0x013B, 0x8298, exif.EXIF_IFD, exif.GPS_IFD,
)  # fmt: skip
#: The largest value of LibRaw's 16 bits.
_MOST = 65535


def of_photograph(block: bytes) -> bytes | None:
    """What an EXIF block says of the photograph, without the maker's note, which stands for the camera's own bytes."""
    with suppress(exif.MalformedError):
        structure = exif.Structure(io.BytesIO(block))
        directory, _ = structure.tree(structure.first, exif.POINTERS)
        kept = {tag: value for tag, value in directory.items() if tag in _OF_PHOTOGRAPHS}
        if isinstance(part := kept.get(exif.EXIF_IFD), dict):
            part.pop(exif.MAKER_NOTE, None)
        return b"II*\0\x08\0\0\0" + exif.laid_out(kept, 8)
    return None


def is_in_tiff(head: bytes, path: str) -> bool:
    """Whether a TIFF file is a camera's: by Canon's sign, by the extension that cameras use, or by DNG's version."""
    known = head[8:10] == b"CR" or PurePath(path).suffix.lower() in FORMAT.extensions
    return known or _DNG_VERSION in tags_of_page(path, 0)


def _sniff(head: bytes, path: str) -> bool:
    if head.startswith(exif.MAGIC):
        return is_in_tiff(head, path)
    return head.startswith(_MAGIC) or containers.of_picture(head) == containers.RAW


def _read(path: str, layer: LayerId) -> Picture:
    rawpy = needed("rawpy", path, "camera raw")
    with parsing(path), rawpy.imread(path) as raw:
        codes = raw.postprocess(
            gamma=(1, 1),
            no_auto_bright=True,
            adjust_maximum_thr=0,
            use_camera_wb=True,
            output_bps=16,
            output_color=rawpy.ColorSpace.Rec2020,
        )
    extras = containers.read(path, of_camera)
    block = of_photograph(extras.exif) if extras.exif else None
    lost = ["EXIF"] * (block is None) + ["XMP"] * (extras.xmp is not None)
    if lost:
        note(f"{path}: is read without its {' and '.join(lost)}")
    pixels = np.multiply(codes, np.float32(1 / _MOST), dtype=np.float32)
    metadata = Metadata(exif=block, colour=named("linear-rec2020"))
    return Picture(np.ascontiguousarray(pixels), linear=True, metadata=metadata.oriented(1))


FORMAT = Format(
    "camera raw", (".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2", ".pef", ".srw"),
    ("float32",), _read, sniff=_sniff, channels=(3,), needs="rawpy",
)  # fmt: skip
