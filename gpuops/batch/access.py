"""How a job gets at its files: when it asks for them, or by threads that read ahead and write behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import files, notes
from ..errors import FileError
from ..files import locations, png_rows
from ..files.png_rows import Undo
from ..files.streams import INPUT, called, copied
from ..params.files import STREAM
from ..profile import Span
from ..rows.budget import Budget
from ..rows.threads import Pending
from .reader import check_source

if TYPE_CHECKING:
    from .options import Options

# The kinds of threads, as traces name them.
READER, WRITER = "reader", "writer"
# Rows of an array that are read at a time.
_ROWS = 256


class Access:
    """The files of a job, which are read and written when they are asked for.

    ``budget``: the memory that the options allow; ``among`` so many inputs, which share it.
    """

    def __init__(self, path: str, options: Options, *, among: int = 1) -> None:
        self.path = path
        self.budget = Budget(self._name, options.memory, among)
        self._layer = options.layer
        self._kept = ExitStack()
        self._copy: str | None = None

    def opened(self, undo: Undo | None = None) -> files.Picture | files.Strips:
        """Returns the picture in the input; only its rows, if it takes too much memory as a whole.

        ``undo`` undoes PNG's filters if the input is read now.
        """
        if (found := self.rows()) is not None:
            return found
        with png_rows.undone_by(undo):
            return self._whole()

    def rows(self) -> files.Strips | None:
        """Returns the rows of the picture in the input if it takes too much memory as a whole, else None."""
        check_source(self.path)
        budget = self.budget
        with self._here() as path:
            try:
                found = files.open_rows(
                    path, self._layer, budget.nbytes // budget.among, strict=budget.memory is not None
                )
            except files.NeedsWholeFile as reason:
                budget.check_whole(reason.nbytes, str(reason))
                return None
            return found if found is None or path == self.path else self._named(found, path)

    def whole(self, of_rows: files.Strips, what: str = "this work") -> files.Picture:
        """Returns the whole of a picture that was opened by rows, since ``what`` needs all of it.

        Raises FileError if it takes more memory than was allowed.
        """
        self.budget.check_whole(of_rows.picture.pixels.nbytes, f"{what} needs the whole picture")
        return self._whole()

    def by_rows(self) -> files.Strips | None:
        """Returns the rows of a picture that was read as a whole, if it can be read by rows, too."""
        if self.path == STREAM:
            return None
        with self._here() as path, notes.to(lambda _text: None), suppress(files.NeedsWholeFile):
            found = files.open_rows(path, self._layer, 0)
            return found if found is None or path == self.path else self._named(found, path)
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
                found = files.open_rows(self.path, None, budget.memory, strict=True)
                nbytes = found.picture.pixels.nbytes if found is not None and whole else 0
        except files.NeedsWholeFile as reason:
            budget.check_whole(reason.nbytes, str(reason))
            return
        except (FileError, OSError):
            return  # it is no picture, or whoever reads it says what is wrong
        budget.check_whole(nbytes, f"the {whole} is read as a whole")

    def opened_numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the arrays and attributes in the input, a file of numbers; only the arrays' rows
        (:class:`gpuops.files.RowsOfArray`), if they take too much memory as a whole."""
        check_source(self.path)
        with self._here() as path:
            found = files.open_numbers(path, self.budget.nbytes)
        if found is not None:
            return found
        with self._here() as path:
            arrays, attributes = files.read_data(path)
        self._release()
        return arrays, attributes

    def numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the arrays and attributes in the input, a file of numbers, as a whole.

        Raises FileError if they take more memory than was allowed.
        """
        arrays, attributes = self.opened_numbers()
        self.budget.check_arrays(array.nbytes for array in arrays.values())
        whole = {
            name: array.whole(_ROWS) if isinstance(array, files.RowsOfArray) else array
            for name, array in arrays.items()
        }
        self._release()
        return whole, attributes

    def write(self, work: Callable[[], None], _size: int) -> None:
        """Does work that writes a result, of ``_size`` bytes in memory."""
        work()

    def finish(self) -> None:
        """Ends the access, once nothing more is read."""
        self._release()

    def _whole(self) -> files.Picture:
        with self._here() as path:
            found = files.read(path, layer=self._layer)
        self._release()
        return found

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

    def _named(self, found: files.Strips, copy: str) -> files.Strips:
        """Returns the rows of a copy, with messages that name the input in its place."""

        def rows(count: int) -> Iterator[files.Pixels]:
            try:
                yield from found.rows(count)
            except FileError as error:
                raise FileError(str(error).replace(copy, self._name)) from None

        return replace(found, rows=rows, said=tuple(text.replace(copy, self._name) for text in found.said))

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
    ) -> None:
        super().__init__(path, options, among=among)
        self._threads = threads
        self._undo = undo
        self._written: list[Pending[None]] = []
        self._reading: Pending[Any] | None = None
        self._picture: Pending[files.Picture | files.Strips] | None = None
        self._numbers: Pending[tuple[dict[str, Any], dict[str, Any]]] | None = None
        #: Bytes of the pixels or arrays that were read, once they are known.
        self.read: int | None = None
        #: The number of pixels in a picture that was read.
        self.pixels = 0
        if path != STREAM:
            if numbers:
                self._numbers = Pending(threads, self._read_numbers)
            else:
                self._picture = Pending(threads, self._open)
            self._reading = self._numbers or self._picture

    def _open(self) -> files.Picture | files.Strips:
        found = super().opened(self._undo)
        picture = found.picture if isinstance(found, files.Strips) else found
        self.read = 0 if isinstance(found, files.Strips) else picture.pixels.nbytes
        self.pixels = picture.width * picture.height
        return found

    def _read_numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays, attributes = super().opened_numbers()
        whole = (array for array in arrays.values() if not isinstance(array, files.RowsOfArray))
        self.read = sum(array.nbytes for array in whole)
        return arrays, attributes

    def opened(self, undo: Undo | None = None) -> files.Picture | files.Strips:
        pending, self._picture = self._picture, None  # its memory belongs to the caller from now on
        return self._open() if pending is None else pending.result()

    def opened_numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        pending, self._numbers = self._numbers, None
        return self._read_numbers() if pending is None else pending.result()

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
        known = ((READER, self._reading), *((WRITER, pending) for pending in self._written))
        return [Span(kind, *pending.span) for kind, pending in known if pending is not None and pending.span]

    def finish(self) -> None:
        """Waits until everything is written. Raises the first error, if there is one."""
        errors = []
        for pending in self._written:
            try:
                pending.result()
            except Exception as error:
                errors.append(error)
        super().finish()
        if errors:
            raise errors[0]
