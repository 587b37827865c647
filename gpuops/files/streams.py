"""Access to streams and oddly named files through files whose names are text, as the libraries for formats need.

Standard input and output become temporary files; a file whose name is not UTF-8 is read through a link. Messages
call them by their own names.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from .. import notes
from ..errors import FileError
from .drafts import draft_folder

#: The name of standard input in messages.
INPUT = "standard input"
# The name of standard output in messages.
_OUTPUT = "standard output"
# Bytes that are copied at a time.
_BLOCK = 1 << 20


@contextmanager
def from_stream(stream: BinaryIO) -> Iterator[str]:
    """The path of a file with all that the stream holds, which messages name."""
    with copied(stream) as path, called(path, INPUT):
        yield path


@contextmanager
def copied(stream: BinaryIO) -> Iterator[str]:
    """The path of a file with all that the stream holds."""
    with draft_folder() as folder:
        path = os.path.join(folder, INPUT)
        try:
            with open(path, "wb") as file:
                shutil.copyfileobj(stream, file, _BLOCK)
        except OSError as error:
            raise FileError(f"{INPUT}: could not be read ({error.strerror or error})") from None
        yield path


@contextmanager
def with_text_name(path: str) -> Iterator[str]:
    """The path itself, or that of a link to the file if its bytes are no text."""
    if is_text(path):
        yield path
        return
    with draft_folder() as folder:
        link = os.path.join(folder, "file")
        os.symlink(os.path.abspath(path), link)
        with called(link, path):
            yield link


def is_text(path: str) -> bool:
    """Whether a name's bytes are UTF-8."""
    return path.encode(errors="ignore").decode() == path


def printable(text: str) -> str:
    """Returns text that any encoding of Unicode can hold, also for file names whose bytes are not text."""
    return text.encode("utf-8", "backslashreplace").decode()


@contextmanager
def to_stream(stream: BinaryIO, extension: str) -> Iterator[str]:
    """The path of a file to be written, which then goes to the stream."""
    with draft_folder() as folder:
        path = os.path.join(folder, _OUTPUT + extension)
        with called(path, _OUTPUT):
            yield path
        try:
            with open(path, "rb") as file:
                shutil.copyfileobj(file, stream, _BLOCK)
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FileError(f"{_OUTPUT}: could not be written ({error.strerror or error})") from None


@contextmanager
def called(path: str, name: str) -> Iterator[None]:
    """Makes errors and notes that name a temporary file name what it stands for instead."""
    texts: list[str] = []
    try:
        with notes.to(texts.append):
            yield
    except FileError as error:
        raise FileError(str(error).replace(path, name)) from None
    for text in texts:
        notes.note(type(text)(text.replace(path, name)))
