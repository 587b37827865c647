"""Camera raw, developed by rawpy (LibRaw) to light: demosaicked, with the camera's white balance, and nothing else.

The light has Rec. 2020's primaries, so that fewer of a sensor's colours are clipped than at Rec. 709's; 1 is where the
sensor saturates. No brightness is adapted and no curve is applied. Pictures are turned upright.
"""

from __future__ import annotations

import struct
from pathlib import PurePath

import numpy as np

from ..errors import FileError
from ..notes import note
from ..pixels.targets import named
from .containers import read_extras
from .extras import needed
from .formats import Format, by_name
from .picture import Metadata, Picture
from .reading import parsing

#: The tag that every DNG file has (Adobe, Digital Negative Specification).
_DNG_VERSION = 50706
#: The largest value of LibRaw's 16 bits.
_MOST = 65535


def is_raw(path: str) -> bool:
    """Whether a TIFF file is a camera's: by the extension that cameras use, or by DNG's version."""
    if PurePath(path).suffix.lower() in by_name("camera raw").extensions:
        return True
    from .tiff_structure import MalformedError, entries_of_page

    try:
        with open(path, "rb") as file:
            return _DNG_VERSION in entries_of_page(file, 0)
    except (MalformedError, struct.error):
        return False


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    if layer is not None:
        raise FileError(f"{path}: has no layer {layer!r}; it has no layers")
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
    extras = read_extras(path, "TIFF")  # those of a file of another structure are none
    lost = [name for name, data in (("EXIF", extras.exif), ("XMP", extras.xmp)) if data]
    if lost:
        note(f"{path}: is read without its {' and '.join(lost)}")
    pixels = np.multiply(codes, np.float32(1 / _MOST), dtype=np.float32)
    colour = named("linear-rec2020")
    return Picture(np.ascontiguousarray(pixels), linear=True, metadata=Metadata(colour=colour))
