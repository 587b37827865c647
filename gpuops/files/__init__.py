"""Files: pictures, colour tables and numerical data from and to the host's memory. Nothing here needs OpenCL.

picture = read("in.exr")                    # pixels in the stored depth, with what they mean
fmt = check_output("out.png")               # before any work: can this be written at all?
write("out.png", replace(picture, pixels=...), overwrite=True)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .colours import can_say, is_understood
    from .data import (
        NamedArrays,
        RowsOfArray,
        is_data_format,
        is_numbers,
        open_data,
        open_numbers,
        read_contents,
        read_data,
        write_data,
        write_data_rows,
        write_data_stream,
    )
    from .formats import (
        EXTENSIONS,
        FORMATS,
        ONLY_READ,
        Format,
        format_named,
        format_of,
        is_of_picture,
        output_dtype,
    )
    from .locations import Identities
    from .lut import read_lut
    from .output import check_output, check_place, check_writer
    from .picture import CHROMATICITIES, Inks, Metadata, Picture, stripped, unread, upright
    from .pictures import format_in, read, read_smaller, read_stream, write, write_stream, writing
    from .strips import NeedsWholeFile, Strips, open_rows

__all__ = [
    "CHROMATICITIES", "EXTENSIONS", "FORMATS", "ONLY_READ", "Format", "Identities", "Inks", "Metadata",
    "NamedArrays", "NeedsWholeFile", "Picture", "RowsOfArray", "Strips", "can_say", "check_output", "check_place",
    "check_writer", "format_in", "format_named", "format_of", "is_data_format", "is_numbers", "is_of_picture",
    "is_understood", "open_data", "open_numbers", "open_rows", "output_dtype", "read", "read_contents", "read_data",
    "read_lut", "read_smaller", "read_stream", "stripped", "unread", "upright", "write", "write_data",
    "write_data_rows", "write_data_stream", "write_stream", "writing",
]  # fmt: skip

# The names of each module, which is imported on their first use: no run needs all of them, and many want to start soon.
_MODULES = {
    "colours": "can_say is_understood",
    "data": "NamedArrays RowsOfArray is_data_format is_numbers open_data open_numbers read_contents read_data "
    "write_data write_data_rows write_data_stream",
    "formats": "EXTENSIONS FORMATS ONLY_READ Format format_named format_of is_of_picture output_dtype",
    "lut": "read_lut",
    "locations": "Identities",
    "output": "check_output check_place check_writer",
    "picture": "CHROMATICITIES Inks Metadata Picture stripped unread upright",
    "pictures": "format_in read read_smaller read_stream write write_stream writing",
    "strips": "NeedsWholeFile Strips open_rows",
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    return value
