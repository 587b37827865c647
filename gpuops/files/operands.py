"""The content of files that parameters name beside the input: kernel images and colour tables, read once."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING

from ..params.files import FileOperand
from .lut import read_lut
from .pictures import read, read_stream

if TYPE_CHECKING:
    from ..tone.lut import Lut
    from .picture import Picture

# How many files' contents are kept for the next picture of a batch.
_KEPT = 4


@lru_cache(_KEPT)
def picture(operand: FileOperand) -> Picture:
    """Returns the picture in the file. Raises FileError where it cannot be read, or has changed."""
    content = operand.content()
    return read_stream(io.BytesIO(content)) if operand.is_stream else read(operand.path)


@lru_cache(_KEPT)
def lut(operand: FileOperand) -> Lut:
    """Returns the colour table in the file. Raises FileError where it cannot be read, or has changed."""
    operand.content()
    return read_lut(operand.path)
