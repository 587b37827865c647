"""What can be known to fail is refused before any device is opened: each check raises what says why."""

from __future__ import annotations

import os
import stat

from gpuops import files
from gpuops.errors import FileError, ParameterError
from gpuops.files import streams

from . import naming
from .options import DTYPES, Shared

DEPTHS = {
    "uint8": "8-bit integers",
    "uint16": "16-bit integers",
    "float16": "half floats",
    "float32": "floats",
}


def check_stream(shared: Shared) -> None:
    """What -o - asks of the other options."""
    if shared.format is None:
        raise ParameterError("'-' needs --format, such as --format png")
    try:
        files.format_named(shared.format)
    except FileError as error:
        raise ParameterError(f"--format: {error}") from None


def writes_data(shared: Shared, output: str) -> bool:
    """Whether the format of an output holds numbers (spectra, coefficients) rather than a picture alone."""
    return files.is_data_format(f"stdout.{shared.format}" if output == naming.STREAM else output)


def check_output(shared: Shared, output: str) -> None:
    """Refuses a --dtype that the output's format does not have, and a folder that libraries cannot name."""
    folder = os.path.dirname(os.path.realpath(output))
    if output != naming.STREAM and not streams.is_text(folder):
        raise FileError(f"{output}: the folder's name is not UTF-8; choose another one")
    fmt = files.format_named(shared.format or "") if output == naming.STREAM else files.format_of(output)
    wanted = DTYPES[shared.dtype]
    if wanted is not None and wanted not in fmt.dtypes:
        names = [name for name, dtype in DTYPES.items() if dtype in fmt.dtypes]
        raise ParameterError(f"{fmt} holds no {DEPTHS[wanted]}: use --dtype {' or '.join(names)}")


def check_task(shared: Shared, path: str, output: str, also_read: tuple[str, ...]) -> None:
    if path != naming.STREAM:
        check_input(path)
    if output != naming.STREAM:
        if len(shared.inputs) > 1 or output != shared.output:
            naming.make_folder(output)
        files.check_output(output, overwrite=shared.overwrite, inputs=(*shared.inputs, *also_read))


def check_input(path: str) -> None:
    """Refuses what cannot be read as a file."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: is a folder; name the images in it, such as {os.path.join(path, '*.png')}")
    if not stat.S_ISREG(mode):  # it may be readable once only, and files are looked at before they are read
        raise FileError(f"{path}: is no regular file; give '-' for it and redirect standard input")
