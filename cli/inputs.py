"""The inputs of a batch: files, folders with what is in them, and lists of names."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace

import click

from gpuops import files, notes
from gpuops.errors import FileError, ParameterError
from gpuops.files import locations
from gpuops.params.files import STREAM, read_bytes

from .messages import complain, missing
from .shared import Shared

# What stands before the name of a file with names in lines.
_LIST = "@"


def listed(shared: Shared) -> Shared:
    """Returns the options with every single file as an input, and the folder below the named one that it is in."""
    named = list(_named(shared))
    if not named:
        if shared.from0 is not None or shared.inputs:
            raise ParameterError("the lists of inputs are empty")
        raise missing(click.get_current_context(), "inputs")
    if any(map(locations.is_address, (*named, shared.output or ""))):
        locations.forget()
    if shared.from0 == STREAM and STREAM in named:
        raise ParameterError("'-' is standard input, which can be read once: name it once")
    pairs = [pair for path in named for pair in _within(path, shared)]
    lists = [path[1:] for path in shared.inputs if path.startswith(_LIST)]
    lists += [] if shared.from0 in (None, STREAM) else [str(shared.from0)]
    inputs, below = tuple(path for path, _ in pairs), tuple(folder for _, folder in pairs)
    options = replace(shared, inputs=inputs, lists=tuple(lists), below=below)
    return options if shared.frames is None else by_frames(options, shared.frames)


def by_frames(shared: Shared, wanted: str) -> Shared:
    """Returns the options with an input for each frame that is wanted: all, N, or from N on before M."""
    match = re.fullmatch(r"all|(\d+)|(\d*):(\d*)", wanted)
    if match is None:
        raise ParameterError(
            f"--frames {wanted}: give all, a number from 0 on, or N:M for those from N on before M"
        )
    if shared.layer is not None:
        raise ParameterError("--frames and --layer both say what of a file is taken: leave out one")
    from gpuops.files import animations

    frames: list[tuple[str, str, int, str | None]] = []
    failed = 0
    for path, below in zip(shared.inputs, shared.below, strict=True):
        if path == STREAM or locations.is_address(path):
            raise ParameterError(f"--frames needs files on this machine, not {path}")
        try:
            with notes.to(lambda _text: None) if shared.quiet else nullcontext():
                count = animations.count(path)
                filled = animations.pages(path, count)
            frames += [
                (path, below, frame, animations.layer_of(path, frame, count))
                for frame in _chosen(path, count, filled, wanted, *match.groups())
            ]
        except FileError as error:
            if len(shared.inputs) == 1:
                raise
            failed += 1
            complain("error", error)
    if not frames:
        raise FileError(f"{failed} of {failed} inputs failed")
    inputs, folders, numbers, layers = zip(*frames, strict=True)
    return replace(shared, inputs=inputs, below=folders, frame_of=numbers, layer_of=layers, failed=failed)


def _chosen(
    path: str,
    count: int,
    filled: Sequence[int],
    wanted: str,
    one: str | None,
    first: str | None,
    last: str | None,
) -> Sequence[int]:
    """Returns the frames that are wanted of a file with so many; of several those that are ``filled``, if any is."""
    from gpuops.files.read_errors import chosen

    if one is not None:
        return range(chosen(path, one, count), int(one) + 1)
    if frames := range(count)[int(first or 0) : int(last) if last else None]:
        return [frame for frame in filled if frame in frames] or frames
    raise FileError(f"{path}: has no frames {wanted}; it has {count}, counted from 0")


def _named(shared: Shared) -> Iterator[str]:
    """The names on the command line and in lists."""
    for path in shared.inputs:
        if path.startswith(_LIST):
            yield from _lines(path[1:])
        else:
            yield path
    if shared.from0 is not None:
        yield from filter(None, _text(shared.from0).split("\0"))


def _lines(path: str) -> Iterator[str]:
    """The names in the lines of a file; empty lines are none."""
    if not path:
        raise ParameterError("@ stands before the name of a file with names in lines, such as @list.txt")
    yield from (line.rstrip("\r") for line in _text(path).split("\n") if line.rstrip("\r"))


def _text(path: str) -> str:
    """Returns the text of a list, without a byte order mark. Bytes that are no text are kept as they are."""
    content = sys.stdin.buffer.read() if path == STREAM else read_bytes(path)
    return os.fsdecode(content.removeprefix(codecs.BOM_UTF8))


def _within(path: str, shared: Shared) -> Iterable[tuple[str, str]]:
    """The pictures in a folder and those below it, in the order of their names; or the path itself.

    An address may be a pattern.
    """
    if locations.is_address(path) and not os.path.exists(path):
        if shared.recursive:
            return locations.within(path, _static(shared.output))
        return [(address, "") for address in locations.matching(path)]
    if path == STREAM or not shared.recursive or not os.path.isdir(path):
        return [(path, "")]
    pairs = list(_walk(path, _folder_of(shared.output)))
    if not pairs:
        raise FileError(f"{path}: there are no files in this folder that could be read")
    return pairs


def _walk(top: str, without: str) -> Iterator[tuple[str, str]]:
    """Pictures below a folder, but those in ``without``, where results go; hidden files and folders are left out."""

    def failed(error: OSError) -> None:
        raise FileError(f"{error.filename}: the folder cannot be read ({error.strerror})") from None

    for folder, below, names in os.walk(top, onerror=failed):
        below[:] = sorted(
            name
            for name in below
            if not name.startswith(".") and os.path.realpath(os.path.join(folder, name)) != without
        )
        relative = os.path.relpath(folder, top)
        for name in sorted(names):
            if not name.startswith(".") and files.is_of_picture(name):
                yield os.path.join(folder, name), "" if relative == os.curdir else relative


def _static(output: str | None) -> str:
    """Returns the part of -o before its first field: all results' names begin with it."""
    return (output or "").split("{")[0]


def _folder_of(output: str | None) -> str:
    """Returns the folder that all results are in or below."""
    static = _static(output)
    return os.path.realpath(static if os.path.isdir(static) else os.path.dirname(static) or os.curdir)
