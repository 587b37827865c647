"""The budget of a job: what it may take of the host's memory, what ways to do it take, and the line where that is more.

A way to do a job takes bytes that are fixed, and bytes for each row, or column, that is in memory at a time. It is
possible with as many bytes as one of these takes. A job that no way has room for is refused, and the line names the
least that would do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import FileError, are_allowed, byte_count
from ..files.formats import Format, by_rows
from ..files.picture import Pixels
from ..files.strips import COPIES
from ..process.memory import of_machine

# Bytes that a codec takes beside the rows that it reads or writes, at most (measured: 26 to 75 MB).
_CODEC = 75 << 20
# Arrays of numbers that are read as a whole, and what is made of them, take this many times their bytes.
_ARRAYS = 2

#: The share of memory, as 1 / n, that a block of rows of other channels takes, how many of them there are, and the
#: memory of which it is a share where nobody has given a number.
_PART, BESIDE, _LARGE = 32, 6, 1 << 33

#: Bytes of a picture's pixels from which on it goes by rows though there is room for it.
LARGE = 1 << 24
#: Bytes of its rows that are read while the device is opened, and ahead of its work.
EARLY = 1 << 23
#: Blocks of rows in memory at a time: one is read, one is worked on, one is written.
BLOCKS = 3
#: The same of panels of columns, or of rows of spectra, and a copy of one.
PANELS = 4
#: The share, as 1 / n, of memory that spools leave for all else; and of the machine's, for pictures on their way.
SHARE = 4


def codecs(count: int) -> int:
    """Returns the bytes that the codecs of so many files take beside their rows."""
    return _CODEC * count


def with_spools(nbytes: float) -> int:
    """Returns the bytes of memory in which spools of ``nbytes`` leave enough for all else."""
    return math.ceil(nbytes * SHARE / (SHARE - 1))


def with_beside(nbytes: float, least: int) -> int:
    """Returns the bytes of memory in which :meth:`Budget.beside` leaves ``nbytes`` for all else."""
    if least:
        nbytes = max(nbytes + BESIDE * least, nbytes * _PART / (_PART - BESIDE))
    return math.ceil(nbytes)


def usual_memory(there: int | None = None) -> int:
    """Returns the bytes that pictures on their way may take together, unless a caller says how many.

    ``there``: those that the process has; by default all of the machine's.
    """
    return (there or of_machine()) // SHARE


def written_whole(outputs: Iterable[Format]) -> str:
    """Returns the words for those formats among outputs' that are written as a whole, or "" if there are none."""
    names = ", ".join(str(fmt) for fmt in outputs if not fmt.write_rows)
    return f", as {names} is written as a whole: {by_rows()} are not" if names else ""


class TooLittleMemory(FileError):
    """A job that has too little of the host's memory.

    Attributes
    ----------
    budget : Budget
    what : str
        What needs it, as for :meth:`Budget.refused`.
    needed : float
        The bytes that would do.
    unread : ndarray, optional
        Stands for the pixels of an input that is read as a whole, and has no room.
    """

    budget: Budget
    what: str
    needed: float
    unread: Pixels | None


@dataclass(frozen=True)
class Budget:
    """The host's memory that a job may take.

    Attributes
    ----------
    name : str
        What messages call the input.
    memory : int, optional
        The bytes that somebody has allowed. Without a number it is half of the machine's memory, and what has to be
        done as a whole is not refused.
    among : int
        How many inputs share it.
    least, reads : float, str
        The bytes that reading the input takes, in whatever way the job is done, and the beginning of the line that says
        so, as for :meth:`refused`.
    """

    name: str
    memory: int | None = None
    among: int = 1
    least: float = 0.0
    reads: str = ""

    @property
    def nbytes(self) -> int:
        """The bytes that the job may take."""
        return self.memory or of_machine() // 2

    def whole(self, nbytes: float) -> float:
        """Returns the bytes that inputs take as a whole, if the largest one is a picture of ``nbytes``."""
        return COPIES * self.among * nbytes

    def has_room(self, needed: float) -> bool:
        """Says whether a way that takes so many bytes is possible."""
        return needed <= self.nbytes

    def check_whole(self, nbytes: float, why: str, unread: Pixels | None = None) -> None:
        """Raises FileError if a number was given, and a picture of ``nbytes`` has no room as a whole; ``why`` it has to
        be whole, such as "rotate needs the whole picture"; ``unread``: as for :class:`TooLittleMemory`."""
        if self.memory is not None and not self.has_room(self.whole(nbytes)):
            files = f" for {self.among} files" if self.among > 1 else ""
            error = self.refused(self.whole(nbytes), what=f"{why}, which takes {{}} of memory{files}")
            error.unread = unread
            raise error

    def beside(self, least: int) -> int:
        """Returns how many bytes of rows of other channels may come at a time, ``least`` at least."""
        return max(least, min(self.nbytes, self.memory or _LARGE) // _PART)

    def arrays(self, sizes: Iterable[int]) -> int:
        """Returns the bytes that arrays of these sizes, and what is made of them, take as a whole."""
        return _ARRAYS * sum(sizes)

    def rows(self, fixed: int, each: int, unit: int, whole: float) -> int:
        """Returns how many rows of ``each`` bytes have room beside ``fixed`` ones.

        Raises FileError if they are not ``unit`` ones, which says this or what the ``whole`` takes.
        """
        least = fixed + unit * each
        if not self.has_room(least):
            raise self.refused(whole, least)
        return (self.nbytes - fixed) // each

    def refused(
        self,
        *ways: float | None,
        what: str = "needs {} of memory",
        why: str = "",
        scratch: float = 0.0,
        beside: float = math.inf,
    ) -> TooLittleMemory:
        """Returns the error that the job has too little memory.

        Parameters
        ----------
        ways : float or None
            The bytes that each way to do the job takes; None for one that is not possible with any number.
        what : str
            The beginning of the line; ``{}`` stands for the bytes that would do.
        why : str
            The reason, behind the bytes that are allowed.
        scratch, beside : float
            The bytes that may lie in a scratch folder, which helps if there is room for those ``beside`` them.
        """
        least = min(way for way in ways if way is not None)
        if least <= self.least:
            least, what = self.least, self.reads
        hint = f"raise --memory to {_size(least)}"
        if scratch and self.has_room(max(self.least, beside)):
            hint += f", or give --scratch DIR for {byte_count(scratch, up=True)}"
        needs = what.format(byte_count(least, up=True))
        error = TooLittleMemory(f"{self.name}: {needs}, and {are_allowed(self.nbytes)}{why}: {hint}")
        error.budget, error.what, error.needed, error.unread = self, what, least, None
        return error


def _size(nbytes: float) -> str:
    """Returns so many bytes, or little more, as a value of --memory."""
    power, unit = (20, "M") if nbytes > 10 << 20 else (10, "K")
    return f"{math.ceil(nbytes / (1 << power))}{unit}"
