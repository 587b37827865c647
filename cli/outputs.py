"""The path of each result, in a file, a folder or by a template, and checks that refuse what is known to fail.

All is decided before any device is opened, and each check raises an error that says why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import click

from gpuops import files
from gpuops.errors import FileError, ParameterError
from gpuops.files import drafts, locations, streams
from gpuops.files.locations import Identities
from gpuops.params.files import STREAM

from .shared import DTYPES, FIELDS, OutputOption, Shared


def outputs_for(
    inputs: tuple[str, ...], output: str, op: str, below: tuple[str, ...] = (), frames: tuple[int, ...] = ()
) -> list[str]:
    """The output path of each input.

    A folder (an existing one, or a name that ends in a slash) keeps the inputs' names; a template fills in
    {stem} {name} {ext} {dir} {op} {index} {frame}. ``below``: the folder of each input below a folder that was named,
    which an output folder keeps, and which is {dir}. ``frames``: the frame of each input, which is {frame}; names
    without that field get it before their extension, as in out-0001.png, in place of a video's. Raises ParameterError
    where two inputs would share an output.
    """
    fields = {field for field in FIELDS if "{" + field + "}" in output}
    if "frame" in fields and not frames:
        raise ParameterError(f"{output}: {{frame}} is the number that --frames gives: add --frames all")
    if output == STREAM:
        if len(inputs) > 1:
            raise ParameterError(
                "several inputs cannot share stdout: give -o a folder or a template such as out/{stem}.png"
            )
        return [STREAM]
    below, numbers = below or ("",) * len(inputs), frames or (0,) * len(inputs)
    numbered = bool(frames) and not fields & {"frame", "index"}
    _check_fields(output)
    if fields:
        places_of = zip(inputs, below, numbers, strict=True)
        paths = [_fill(output, path, folder, op, i, n) for i, (path, folder, n) in enumerate(places_of, 1)]
    elif os.path.isdir(output) or output.endswith(("/", os.sep)):
        paths = [
            os.path.join(output, folder, "stdin.png" if path == STREAM else locations.name_of(path))
            for path, folder in zip(inputs, below, strict=True)
        ]
    elif len(inputs) > 1 and not numbered:
        above = str(Path(output).parent)
        folder = Path(output).stem if above == os.curdir else above
        named = ", ".join(inputs[:2]) + (", …" if len(inputs) > 2 else "")
        raise ParameterError(
            f"{len(inputs)} inputs and one output {output!r}: give -o a folder, such as {folder}/, "
            f"or a template such as out/{{stem}}.png (the inputs are {named})"
        )
    else:
        paths = [output] * len(inputs)
    if numbered:
        pairs = zip(map(Path, paths), numbers, strict=True)
        paths = [str(path.with_name(f"{path.stem}-{n:04d}{_suffix(path)}")) for path, n in pairs]
    return _apart(paths, inputs, below)


def outputs_of(shared: Shared, op: str, output: str | None = None) -> list[str]:
    """Returns :func:`outputs_for` all inputs, by -o or another pattern ``output``."""
    pattern = shared.output if output is None else output
    assert pattern is not None
    return outputs_for(shared.inputs, pattern, op, shared.below, shared.frame_of)


def _suffix(path: Path) -> str:
    """Returns the extension of a frame's file: .png in place of a video's."""
    from gpuops.files.formats import is_of_video

    return ".png" if is_of_video(path) else path.suffix


def _apart(paths: list[str], inputs: tuple[str, ...], below: tuple[str, ...]) -> list[str]:
    """Returns the paths. Raises ParameterError if two are the same."""
    known, sources = Identities(), dict[str, str]()
    for path, source in zip(paths, inputs, strict=True):
        if (before := known.add(path)) is not None:
            fields = "{dir} or {index}" if any(below) else "{index}"
            raise ParameterError(f"{sources[before]} and {source} would both be {path}: use {fields} in -o")
        sources[path] = source
    return paths


def _check_fields(output: str) -> None:
    """Refuses misspelt fields such as {steam} for {stem}: only an existing folder may have such a name."""
    fields = ["{" + field + "}" for field in FIELDS]
    for match in re.finditer(r"\{(\w+)[^\w{}]?[^{}]*\}", output):
        within = output[: output.find("/", match.end())] if "/" in output[match.end() :] else ""
        if match[0] not in fields and not (within and os.path.isdir(within)):
            raise ParameterError(f"{output}: unknown field {match[0]}; there are {' '.join(fields)}")


def _fill(template: str, path: str, below: str, op: str, index: int, frame: int) -> str:
    name = Path("stdin" if path == STREAM else locations.name_of(path.rstrip("/")))
    values = {
        "stem": name.stem,
        "name": name.name,
        "ext": name.suffix.lstrip("."),
        "dir": below or os.curdir,
        "op": op,
        "index": f"{index:04d}",
        "frame": f"{frame:04d}",
    }
    # str.format is not used, as a brace in a folder's name is no mistake.
    filled = re.sub("{(" + "|".join(values) + ")}", lambda match: values[match[1]], template)
    if locations.is_address(filled):  # where "." is a name like others
        return filled.replace("/./", "/")
    return filled


@contextmanager
def without_empty_folders(outputs: Iterable[str]) -> Iterator[None]:
    """Removes the outputs' folders that were made within this context and are empty at its end."""
    folders = {Path(output).parent for output in outputs if not locations.is_address(output)}
    folders |= {above for folder in folders for above in folder.parents}
    new = [folder for folder in folders if not folder.exists()]
    try:
        yield
    finally:
        for folder in sorted(new, key=lambda folder: len(folder.parts), reverse=True):
            with suppress(OSError):
                folder.rmdir()


def levels_of(below: str) -> int:
    """Returns how many folders may have to be made for an output that is ``below`` its folder."""
    return 1 + len(Path(below).parts)


def make_folder(path: str, levels: int = 1) -> None:
    """Creates the folder that an output given as ``folder/`` or a template names; only its last levels."""
    if os.path.isdir(os.path.dirname(path)):
        return
    folder = Path(path).parent
    try:
        for made in reversed([folder, *folder.parents][:levels]):
            made.mkdir(exist_ok=True)
    except FileExistsError:  # it is a file, which the check of the output says
        pass
    except FileNotFoundError:
        raise FileError(f"{path}: the folder {made.parent} does not exist; create it first") from None
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be created ({error.strerror})") from error


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
        drafts.check_scratch(shared.scratch)


def check_output(shared: Shared, output: str, inputs: Identities, levels: int = 1) -> None:
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
        make_folder(output, levels)
    place()


def check_apart(inputs: Identities, outputs: Iterable[str]) -> None:
    """Refuses a file that an option writes, such as a journal, if it is an input, an output, or another option's."""
    context = click.get_current_context()
    written = Identities(outputs)
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
