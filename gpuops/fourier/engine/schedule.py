"""Schedule: how one work-group transforms its sequences. It is numbers only; the planner and the generator use it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

# The largest radices whose butterflies are straight-line code, on GPUs and on CPUs: longer ones have too many lines for
# compilers (CPUs' compilers sooner) and too many values for registers.
LARGEST_UNROLLED, LARGEST_UNROLLED_ON_CPUS = 61, 13
SHARED = 1  # the index of the stage at which work-items share butterflies, which are those of a larger prime


@dataclass(frozen=True)
class Schedule:
    """The way in which one work-group transforms its sequences.

    Attributes
    ----------
    radices
        The radix of each stage, in the order of execution; their product is the number of points.
    items, columns
        The number of work-items that share a sequence, and of columns of a group (each is as many sequences as there
        are lanes).
    length
        Bluestein: points of the transform that is made from a convolution of ``prod(radices)``; else 0.
    along
        Neighbouring work-items take neighbouring elements (rows) rather than neighbouring sequences.
    joined
        The number of sequences that one work-item takes and transforms across each other at their packed end.
    twin
        Packed, a complex value is two real ones. ``unpack``: the input is packed, the output the spectrum; ``pack``:
        the reverse; ``convolve``: both are packed, and in between the spectrum is multiplied. Neighbouring columns are
        packed, and one work-item takes rows k and −k. "": nothing is packed.
    alone
        Neighbours along the sequence are packed: the sequence is its own twin.
    whole
        ``unpack`` gives all of the spectrum, not half of it.
    halved
        Local memory has room for real parts alone: imaginary parts follow when the real parts are exchanged.
    computed
        Twiddles are computed rather than read from the table.
    vectors
        The kernel is for vectors of a CPU: a work-item has whole sequences, as lanes.
    share
        The number of results of a shared butterfly that one work-item computes, each with its mirror image; 0: no
        butterfly is shared.
    channels
        The number of channels of interleaved bytes that are transformed in turn: pixels are read once, and kept in
        registers.
    """

    radices: tuple[int, ...]
    items: int
    columns: int = 1
    length: int = 0
    along: bool = True
    joined: int = 1
    twin: str = ""
    alone: bool = False
    whole: bool = False
    halved: bool = False
    computed: bool = False
    vectors: bool = False
    share: int = 0
    channels: int = 1

    @property
    def points(self) -> int:
        return prod(self.radices)

    @property
    def largest_unrolled(self) -> int:
        """The largest radix whose butterfly is straight-line code."""
        return LARGEST_UNROLLED_ON_CPUS if self.vectors else LARGEST_UNROLLED

    @property
    def rows(self) -> int:
        """The number of sequences that are loaded together, twins behind the others."""
        return self.joined * (2 if self.twin and not self.alone else 1)

    @property
    def sets(self) -> int:
        """The number of sets of work-items that share ``rows``: of two, one has the twins at the packed end; at the
        other end each has half of all pairs."""
        return 2 if self.twin and self.joined > 1 and len(self.radices) > 1 else 1

    @property
    def carried(self) -> int:
        """Sequences that a work-item carries side by side."""
        return self.rows // self.sets

    @property
    def group(self) -> int:
        """Work-items of a group."""
        return self.items * self.sets * self.columns

    @property
    def mirrored(self) -> int | None:
        """The stage, at the spectrum's end, at which twins take butterflies t and −t: q meets −q in one work-item."""
        return {"": None, "pack": 0}.get(self.twin, len(self.radices) - 1)

    def work(self, index: int) -> tuple[int, int]:
        """The number of pieces that work-items share at a stage, and the number of a sequence's values in each."""
        count, radix = self.points // self.radices[index], self.radices[index]
        if self.share and index == SHARED:
            return count * self.pieces, 2 * self.share + 1
        return (count // 2 + 1, 2 * radix) if self.alone and index == self.mirrored else (count, radix)

    @property
    def pieces(self) -> int:
        """The number of pieces of a shared butterfly."""
        return -(-(self.radices[SHARED] // 2) // self.share)

    @property
    def _values(self) -> list[int]:
        """The number of values of a sequence that a work-item carries at each stage."""
        stages = map(self.work, range(len(self.radices)))
        return [-(-count // self.items) * values for count, values in stages]

    @property
    def idle(self) -> float:
        """The values that all work-items have room for, relative to those there are: 1 where no work-item ever
        waits."""
        return sum(self._values) * self.items / (self.points * len(self.radices))

    @property
    def pad(self) -> int:
        """Elements left out behind each of the last stage's runs: an odd distance, against bank conflicts."""
        return int(self.items > 1 and len(self.radices) > 1 and self.points // self.radices[-1] % 2 == 0)

    @property
    def places(self) -> int:
        """Elements of local memory."""
        if len(self.radices) == 1:
            return 0
        return (self.points + self.pad * self.radices[-1]) * self.columns * self.rows

    @property
    def most(self) -> int:
        """The most values of a sequence that a work-item carries at a stage."""
        if self.items == 1:
            return max(self.work(index)[1] for index in range(len(self.radices)))
        return max(self._values)

    @property
    def held(self) -> int:
        """The registers that a work-item needs, in complex values: those of its sequences, and as much again for pixels
        whose channels it takes in turn."""
        return self.most * self.carried * (2 if self.channels > 1 else 1)
