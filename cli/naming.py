"""The path of each result, in a file, a folder or by a template, decided and checked before any work is done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gpuops.errors import FileError, ParameterError
from gpuops.files import locations
from gpuops.files.identities import Identities
from gpuops.params.files import STREAM

if TYPE_CHECKING:
    from .shared import Shared

# The fields of a pattern for names of outputs.
FIELDS = ("stem", "name", "ext", "dir", "op", "index", "frame")


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
            raise ParameterError(
                f"{sources[before]} and {source} would both become {path}: use {fields} in -o"
            )
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


def levels(below: str) -> int:
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
