"""Checks that refuse, before any device is opened, what is known to fail: each raises an error that says why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from gpuops import files
from gpuops.errors import FileError, ParameterError
from gpuops.files import streams

from . import naming
from .options import DTYPES, Shared

# The depths of pixels, as messages name them.
DEPTHS = {
    "uint8": "8-bit integers",
    "uint16": "16-bit integers",
    "float16": "half floats",
    "float32": "floats",
}


def check_stream(shared: Shared) -> None:
    """Checks the conditions that -o - sets for the other options."""
    if shared.format is None:
        raise ParameterError("'-' needs --format, such as --format png")
    try:
        files.format_named(shared.format)
    except FileError as error:
        raise ParameterError(f"--format: {error}") from None


def writes_data(shared: Shared, output: str) -> bool:
    """Says whether an output's format holds numbers (spectra, coefficients) rather than just a picture."""
    return files.is_data_format(f"stdout.{shared.format}" if output == naming.STREAM else output)


def check_stdin(*paths: str) -> None:
    """Refuses standard input that is given more than once."""
    if paths.count(naming.STREAM) > 1:
        raise ParameterError("'-' is standard input, which can be read once: name it once")


def check_dump(shared: Shared) -> None:
    """Refuses a --dump-kernels that neither is a folder nor can become one."""
    path = shared.dump_kernels
    if path is not None and os.path.lexists(path) and not os.path.isdir(path):
        raise FileError(f"--dump-kernels: {path} is a file; name a folder")


def check_output(shared: Shared, output: str, also_read: Iterable[str] = ()) -> None:
    """Refuses an output that cannot be written in this way, and makes the folder that was named for several.

    ``also_read`` are files beside the inputs, which no output may overwrite either.
    """
    if output == naming.STREAM:
        check_depth(shared, files.format_named(shared.format or ""))
        return
    place = partial(
        files.check_place, output, overwrite=shared.overwrite, inputs=(*shared.inputs, *also_read)
    )
    if os.path.exists(output):
        place()  # an output that is not a file needs no extension
    elif output == shared.output and shared.inputs and not os.path.splitext(output)[1]:
        raise FileError(
            f"{output}: the name has no extension: add one, such as {output}.png, or write {output}/ for a folder"
        )
    check_depth(shared, files.format_of(output))
    if not streams.is_text(os.path.dirname(os.path.realpath(output))):  # libraries cannot open such names
        raise FileError(f"{output}: the folder's name is not UTF-8; choose another one")
    if len(shared.inputs) > 1 or output != shared.output:
        naming.make_folder(output)
    place()


def check_depth(shared: Shared, fmt: files.Format) -> None:
    """Refuses a --dtype that the output's format does not have."""
    wanted = DTYPES[shared.dtype]
    if wanted is not None and wanted not in fmt.dtypes:
        names = [name for name, dtype in DTYPES.items() if dtype in fmt.dtypes]
        raise ParameterError(f"{fmt} holds no {DEPTHS[wanted]}: use --dtype {' or '.join(names)}")


def check_input(path: str) -> None:
    """Refuses an input that cannot be read as a file."""
    if path == naming.STREAM:
        return
    if not path:
        raise FileError("an input's name is empty: a variable of the shell may be unset")
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if "://" in path:
            raise FileError(f"{path}: is an address; download the file and name that") from None
        if any(character in path for character in "*?["):
            raise FileError(f"{path}: no file matches this pattern") from None
        raise FileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        kinds = {os.path.splitext(name)[1].lower() for name in _names_in(path)}.intersection(files.EXTENSIONS)
        example = os.path.join(path, f"*{min(kinds, default='.png')}")
        raise FileError(f"{path}: is a folder; name the files in it, such as {example}")
    if not stat.S_ISREG(mode):  # it may be readable only once, and files are inspected before they are read
        raise FileError(f"{path}: is no regular file; give '-' for it and redirect standard input")


def _names_in(folder: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []
