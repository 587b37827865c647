"""Checks that refuse, before any device is opened, what is known to fail: each raises an error that says why."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

import click

from gpuops import files
from gpuops.errors import FileError, ParameterError
from gpuops.files import locations, streams
from gpuops.params.files import STREAM

from . import naming
from .shared import DTYPES, Shared
from .types import OutputOption


def check_stream(shared: Shared) -> None:
    """Checks the conditions that -o - sets for the other options."""
    if shared.format is None:
        raise ParameterError("'-' needs --format, such as --format png")
    try:
        files.format_named(shared.format)
    except FileError as error:
        raise ParameterError(f"--format: {error}") from None


def check_stdin(*paths: str) -> None:
    """Refuses standard input that is given more than once."""
    if paths.count(STREAM) > 1:
        raise ParameterError("'-' is standard input, which can be read once: name it once")


def check_dump(shared: Shared) -> None:
    """Refuses a --dump-kernels that neither is a folder nor can become one."""
    path = shared.dump_kernels
    if path is not None and os.path.lexists(path) and not os.path.isdir(path):
        raise FileError(f"--dump-kernels: {path} is a file; name a folder")


def check_storage(shared: Shared, output: str) -> None:
    """Refuses a quality, subsampling, compression or gain map that the output's format does not know."""
    how = shared.of_job()
    how.format_of(output).check(how.storage, output)


def check_scratch(shared: Shared) -> None:
    """Refuses a --scratch that is no folder to write to; a cluster's workers have folders of their own."""
    if shared.scratch is not None and shared.cluster is None:
        from gpuops.files.scratch import check

        check(shared.scratch)


def check_output(shared: Shared, output: str, inputs: files.Identities, levels: int = 1) -> None:
    """Refuses an output that cannot be written in this way, and makes the folder that was named for several.

    ``inputs`` are files that no output may overwrite. ``levels``: how many of its folders may have to be made.
    """
    if output == STREAM:
        check_format(shared, output)
        return
    place = partial(files.check_place, output, overwrite=shared.overwrite, inputs=inputs)
    if os.path.exists(output):
        place()  # an output that is not a file needs no extension
    elif output == shared.output and shared.inputs and not os.path.splitext(output)[1]:
        raise FileError(
            f"{output}: the name has no extension: add one, such as {output}.png, or write {output}/ for a folder"
        )
    check_format(shared, output)
    if not streams.is_text(os.path.dirname(os.path.realpath(output))):  # libraries cannot open such names
        raise FileError(f"{output}: the folder's name is not UTF-8; choose another one")
    if (len(shared.inputs) > 1 or output != shared.output) and not locations.is_address(output):
        naming.make_folder(output, levels)
    place()


def check_apart(inputs: files.Identities, outputs: Iterable[str]) -> None:
    """Refuses a file that an option writes, such as a journal, if it is an input, an output, or another option's."""
    context = click.get_current_context()
    written = files.Identities(outputs)
    for option in context.command.params:
        path = context.params.get(option.name or "") if isinstance(option, OutputOption) else None
        if path is None:
            continue
        name = f"{option.opts[-1]} {path}"
        if path in inputs:
            raise FileError(f"{name}: is also an input, which is never overwritten; name another file")
        if written.add(path) is not None:
            raise ParameterError(f"{name}: is also written as another output; name another file")


def check_format(shared: Shared, output: str) -> None:
    """Refuses an output's format that cannot be written here, or not with the --dtype."""
    fmt = shared.of_job().format_of(output)
    files.check_writer(output, fmt)
    check_depth(shared, fmt)


def check_depth(shared: Shared, fmt: files.Format) -> None:
    """Refuses a --dtype that the output's format does not have."""
    from gpuops.files.formats import DEPTHS

    wanted = DTYPES[shared.dtype]
    if wanted is not None and wanted not in fmt.dtypes:
        names = [name for name, dtype in DTYPES.items() if dtype in fmt.dtypes]
        raise ParameterError(f"{fmt} holds no {DEPTHS[wanted]}: use --dtype {' or '.join(names)}")
