"""Files: pictures, colour tables and numerical data from and to the host's memory. Nothing here needs OpenCL.

picture = read("in.exr")                    # pixels in the stored depth, with what they mean
fmt = check_output("out.png")               # before any work: can this be written at all?
write("out.png", replace(picture, pixels=...), overwrite=True)
"""

from __future__ import annotations

from .colours import can_say, is_understood
from .contents import Numbers, read_contents
from .data import (
    is_data_format,
    read_data,
    read_data_stream,
    write_data,
    write_data_stream,
)
from .formats import (
    EXTENSIONS,
    FORMATS,
    Format,
    format_named,
    format_of,
    is_display_format,
    output_dtype,
)
from .lut import read_lut
from .output import check_output, check_place
from .picture import CHROMATICITIES, Metadata, Picture, upright
from .pictures import format_in, read, read_stream, write, write_stream

__all__ = [
    "CHROMATICITIES",
    "EXTENSIONS",
    "FORMATS",
    "Format",
    "Metadata",
    "Numbers",
    "Picture",
    "can_say",
    "check_output",
    "check_place",
    "format_in",
    "format_named",
    "format_of",
    "is_data_format",
    "is_display_format",
    "is_understood",
    "output_dtype",
    "read",
    "read_contents",
    "read_data",
    "read_data_stream",
    "read_lut",
    "read_stream",
    "upright",
    "write",
    "write_data",
    "write_data_stream",
    "write_stream",
]
