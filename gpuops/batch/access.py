"""How a job gets at its files: when it asks for them, or by threads that read ahead and write behind."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from .. import files, notes
from ..errors import FileError
from ..files import locations, output
from ..files.formats.png import Undo, undone_by
from ..files.streams import INPUT, called, copied
from ..files.threads import Ahead
from ..operation import operation_of
from ..params.files import STREAM
from ..profile import Span
from ..rows.budget import EARLY, LARGE, Budget, TooLittleMemory
from ..rows.threads import Pending
from .options import Options

T = TypeVar("T")
# The kinds of threads, as traces name them.
READER, WRITER = "reader", "writer"


class Access:
    """The files of a job, which are read and written when they are asked for.

    ``budget``: the memory that the options allow; ``among`` so many inputs, which share it. ``rows``: a large picture
    is opened by rows though there is room for it, unless the options allow a number of bytes or repeat the work.
    """

    def __init__(self, path: str, options: Options, *, among: int = 1, rows: bool = False) -> None:
        self.path = path
        self.budget = Budget(self._name, options.memory, among)
        self._most = self.budget.nbytes // among
        self._by_rows = rows and options.memory is None and options.repeat == 1
        if self._by_rows:
            self._most = min(self._most, int(self.budget.whole(LARGE)))
        self._layer, self._meant, self._layers = options.layer, options.meant, options.layers
        self._smaller_for = options.smaller_for
        self._kept = ExitStack()
        self._copy: str | None = None

    def opened(self, undo: Undo | None = None) -> files.Strips:
        """Returns the picture in the input, of which only rows come if it takes too much memory as a whole.

        A decoder may make it smaller for the first step. ``undo`` undoes PNG's filters if the input is read now.
        """
        if (smaller := self._smaller()) is not None:
            return files.Strips.of(smaller)
        with undone_by(undo):
            strips = self.rows()
            return files.Strips.of(self._whole()) if strips is None else strips

    def _smaller(self) -> files.Picture | None:
        """Returns the picture as its decoder makes it smaller; None where it does not."""
        params = self._smaller_for
        if params is None or (shrinks := operation_of(params).shrinks) is None:
            return None
        check_source(self.path)
        with self._here() as path:
            most = self.budget.nbytes // self.budget.among
            picture = files.read_smaller(path, partial(shrinks, params), most)
        if picture is None:
            return None
        self._release()
        return self._meant(picture)

    def rows(self) -> files.Strips | None:
        """Returns the rows of the picture in the input if it takes too much memory as a whole, else None."""
        check_source(self.path)
        budget = self.budget
        try:
            return self._opened_rows(self._most, strict=budget.memory is not None)
        except files.NeedsWholeFile as reason:
            budget.check_whole(reason.pixels.nbytes, str(reason), reason.pixels)
            return None

    def _opened_rows(self, most: int, *, strict: bool = False) -> files.Strips | None:
        """Returns the rows of the input as :func:`gpuops.files.open_rows` does."""
        with self._here() as path:
            strips = files.open_rows(path, self._layer, most, strict=strict, layers=self._layers)
            if strips is None:
                return None
            picture = self._meant(strips.picture)
            if (rest := picture.metadata.rest) is not None:
                rest = replace(rest, at_once=self.budget.beside(rest.least))
                picture = replace(picture, metadata=replace(picture.metadata, rest=rest))
            strips = replace(strips, picture=picture)
            return strips if path == self.path else self._named(strips, path)

    def refused(self, error: TooLittleMemory, unread: files.Pixels) -> files.Strips:
        """Returns an input that is read as a whole, and has no room, for work that says what it takes beside.

        Whoever asks for its rows gets the error.
        """
        self.budget = replace(self.budget, least=error.needed, reads=error.what)

        def rows(count: int) -> Iterator[files.Pixels]:
            raise error

        alpha, linear = unread.shape[2] in (2, 4), unread.dtype.kind == "f"
        return files.Strips(files.Picture(unread, alpha=alpha, linear=linear), rows, held=unread.nbytes)

    def whole(
        self, of_rows: files.Strips, what: str = "this work", undo: Undo | None = None
    ) -> files.Picture:
        """Returns the whole of a picture that was opened by rows, since ``what`` needs all of it; ``undo`` as before.

        Raises FileError if it takes more memory than was allowed.
        """
        rest = of_rows.picture.metadata.rest
        nbytes = of_rows.picture.pixels.nbytes + (rest.nbytes if rest else 0)
        self.budget.check_whole(nbytes, f"{what} needs the whole picture")
        with undone_by(undo):
            return self._whole()

    def by_rows(self) -> files.Strips | None:
        """Returns the rows of a picture that was read as a whole, if it can be read by rows, too."""
        if self.path == STREAM:
            return None
        with notes.to(lambda _text: None), suppress(files.NeedsWholeFile):
            return self._opened_rows(0)
        return None

    def check_second(self, whole: str = "") -> None:
        """Raises FileError if the file, a second picture, has to be read as a whole, and takes more than allowed.

        ``whole``: what the file is, such as "kernel", if it is read as a whole whatever its format; "table": a text.
        """
        budget = self.budget
        if budget.memory is None or self.path == STREAM:
            return
        try:
            if whole == "table":
                nbytes = 2 * os.path.getsize(self.path)  # its lines and numbers take five times its bytes
            else:
                strips = files.open_rows(self.path, None, budget.memory, strict=True)
                nbytes = strips.picture.pixels.nbytes if strips is not None and whole else 0
        except files.NeedsWholeFile as reason:
            budget.check_whole(reason.pixels.nbytes, str(reason))
            return
        except (FileError, OSError):
            return  # it is no picture, or whoever reads it says what is wrong
        budget.check_whole(nbytes, f"the {whole} is read as a whole")

    def opened_numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the arrays and attributes in the input, a file of numbers; only the arrays' rows
        (:class:`gpuops.files.RowsOfArray`), if they take too much memory as a whole."""
        check_source(self.path)
        with self._here() as path:
            numbers = files.open_numbers(path, self.budget.nbytes)
        if numbers is not None:
            return numbers
        with self._here() as path:
            arrays, attributes = files.read_data(path)
        self._release()
        return arrays, attributes

    @property
    def format(self) -> files.Format:
        """The format of the input's content."""
        with self._here() as path:
            return files.format_in(path)

    def copy(self, target: str, *, overwrite: bool) -> None:
        """Writes the input's bytes, whole or not at all."""
        with self._here() as path, output.atomic(target, overwrite=overwrite) as temporary:
            shutil.copyfile(path, temporary)

    def write(self, work: Callable[[], None], _size: int) -> None:
        """Does work that writes a result, of ``_size`` bytes in memory."""
        work()

    def finish(self) -> None:
        """Ends the access, once nothing more is read."""
        self._release()

    def _whole(self) -> files.Picture:
        with self._here() as path:
            picture = files.read(path, layer=self._layer, layers=self._layers)
        self._release()
        return self._meant(picture)

    @contextmanager
    def _here(self) -> Iterator[str]:
        """Gives the input's path: that of a copy, if it is at an address or a stream, which messages name."""
        if self.path != STREAM and not locations.is_address(self.path):
            yield self.path
            return
        if self._copy is None:
            self._copy = self._kept.enter_context(self._fetched())
        with called(self._copy, self._name):
            yield self._copy

    def _fetched(self) -> AbstractContextManager[str]:
        if self.path == STREAM:
            return copied(sys.stdin.buffer)
        return locations.fetched(self.path)

    @property
    def _name(self) -> str:
        return INPUT if self.path == STREAM else self.path

    def _named(self, strips: files.Strips, copy: str) -> files.Strips:
        """Returns the rows of a copy, with messages that name the input in its place."""

        def rows(count: int) -> Iterator[files.Pixels]:
            try:
                yield from strips.rows(count)
            except FileError as error:
                raise FileError(str(error).replace(copy, self._name)) from None

        return replace(strips, rows=rows, said=tuple(text.replace(copy, self._name) for text in strips.said))

    def _release(self) -> None:
        """Removes the copy of an input at an address or of a stream."""
        self._kept.close()
        self._copy = None


class Threaded(Access):
    """The files of a job. Threads read the input from now on, and write results while the job goes on.

    Standard input, which may wait for its data, is read when it is asked for. ``undo`` undoes PNG's filters.
    """

    def __init__(
        self,
        threads: Executor,
        path: str,
        options: Options,
        *,
        numbers: bool = False,
        undo: Undo | None = None,
        among: int = 1,
        rows: bool = False,
    ) -> None:
        super().__init__(path, options, among=among, rows=rows)
        self._threads = threads
        self._undo = undo
        self._written: list[Pending[None]] = []
        self._reading: Pending[Any] | None = None
        self._was_read: list[Span] = []
        self._early: Ahead[files.Pixels] | None = None
        #: Bytes of the pixels or arrays that were read, once they are known.
        self.read: int | None = None
        #: The number of pixels in a picture that was read.
        self.pixels = 0
        if path != STREAM:
            self._reading = Pending(threads, self._read_numbers if numbers else self._open)

    def _open(self) -> files.Strips:
        strips = super().opened(self._undo)
        if self._by_rows and not strips.in_memory:
            from ..rows.blocks import usual_rows

            strips, self._early = strips.begun(usual_rows(strips.picture.pixels.shape), EARLY)
        self.read = strips.picture.pixels.nbytes if strips.in_memory else 0
        size = strips.picture.shrunk or strips.picture
        self.pixels = size.width * size.height
        return strips

    def _read_numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays, attributes = super().opened_numbers()
        whole = (array for array in arrays.values() if not isinstance(array, files.RowsOfArray))
        self.read = sum(array.nbytes for array in whole)
        return arrays, attributes

    def _result(self, read: Callable[[], T]) -> T:
        """Returns what a thread has read, whose memory belongs to the caller from now on, or reads it."""
        pending, self._reading = self._reading, None
        if pending is None:
            return read()
        try:
            return cast("T", pending.result())
        finally:
            self._was_read = [Span(READER, *pending.span)] if pending.span else []

    def opened(self, undo: Undo | None = None) -> files.Strips:
        return self._result(self._open)

    def opened_numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._result(self._read_numbers)

    def whole(
        self, of_rows: files.Strips, what: str = "this work", undo: Undo | None = None
    ) -> files.Picture:
        self._end_early()
        return super().whole(of_rows, what, undo)

    def _end_early(self) -> None:
        """Reads no more rows before somebody asks for them."""
        early, self._early = self._early, None
        if early is not None:
            early.close()

    def write(self, work: Callable[[], None], size: int) -> None:
        self._written.append(Pending(self._threads, work, size))

    @property
    def held(self) -> int:
        """Bytes of results that are being written."""
        return sum(pending.size for pending in self._written if not pending.done)

    @property
    def done(self) -> bool:
        """Whether everything is written."""
        return all(pending.done for pending in self._written)

    def spans(self) -> list[Span]:
        """Returns what threads have done so far."""
        written = [Span(WRITER, *pending.span) for pending in self._written if pending.span]
        return self._was_read + written

    def finish(self) -> None:
        """Waits until everything is written. Raises the first error, if there is one."""
        errors = []
        for pending in self._written:
            try:
                pending.result()
            except Exception as error:
                errors.append(error)
        self._end_early()
        super().finish()
        if errors:
            raise errors[0]


def check_source(path: str) -> None:
    """Refuses an input of a batch that cannot be read. The input may be at an address."""
    if locations.is_address(path):
        locations.check(path)
    else:
        check_input(path)


def check_input(path: str, *, alone: bool = False) -> None:
    """Refuses an input that cannot be read as a file. ``alone``: the command has no way to take a folder."""
    if path == STREAM:
        return
    if not path:
        raise FileError("an input's name is empty: a variable of the shell may be unset")
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if locations.is_address(path):
            raise FileError(f"{path}: is an address; download the file and name that") from None
        if any(character in path for character in "*?["):
            raise FileError(f"{path}: no file matches this pattern") from None
        raise FileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{path}: could not be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        kinds = {os.path.splitext(name)[1].lower() for name in _names_in(path)}.intersection(files.EXTENSIONS)
        also = "" if alone else ", or give --recursive"
        example = os.path.join(path, f"*{min(kinds, default='.png')}")
        raise FileError(f"{path}: is a folder; name the files in it, such as {example}{also}")
    if not stat.S_ISREG(mode):  # it may be readable only once, and files are inspected before they are read
        raise FileError(f"{path}: is no regular file; give '-' for it and redirect standard input")


def _names_in(folder: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []
