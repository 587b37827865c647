"""Spectra and coefficients that an output gets, with the picture's metadata for its way back."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

from .. import files
from ..files.picture import GAIN_MAP_OF_INPUT
from ..files.streams import to_stream
from ..params.files import STREAM
from .output import Output


def save(
    output: Output, arrays: dict[str, Any], attributes: dict[str, Any], *, compress: bool = False
) -> None:
    """Writes arrays, with their attributes and the picture's metadata; ``compress``: they have many zeros."""
    attributes = _with_metadata(output, attributes)

    def write(path: str) -> None:
        overwrite = output.options.overwrite
        files.write_data(path, arrays, attributes, overwrite=overwrite, compress=compress)

    output.write_by(write, sum(array.nbytes for array in arrays.values()))


def save_rows(
    output: Output, arrays: dict[str, files.RowsOfArray], attributes: dict[str, Any], count: int
) -> None:
    """Does as :func:`save`, ``count`` rows at a time; the file is there on return."""
    attributes = _with_metadata(output, attributes)
    with ExitStack() as stack:
        path, overwrite = output.path, output.options.overwrite
        if path == STREAM:
            path = stack.enter_context(to_stream(sys.stdout.buffer, output.format.extension))
        files.write_data_rows(path, arrays, attributes, count, overwrite=overwrite)


def _with_metadata(output: Output, attributes: dict[str, Any]) -> dict[str, Any]:
    origin = output.origin
    names = ["EXR header attributes"] * bool(origin.metadata.of_pictures)
    if names := names + [GAIN_MAP_OF_INPUT] * bool(origin.metadata.gain):
        output.note(f"a file of numbers cannot hold the {', '.join(names)}")
    return attributes | {"metadata": origin.kept.to_json(), "associated": origin.associated}
