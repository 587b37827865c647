"""Schedule: how one work-group transforms its sequences. It is numbers only; the planner and the generator use it."""

from __future__ import annotations

from math import prod

from ...records import dataclass

# The largest radix whose butterfly is straight-line code: longer ones have too many lines for compilers and too many
# values for registers.
LARGEST_UNROLLED = 61
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
    pairs
        A complex value is a pair of neighbouring real numbers. ``unpack``: the input is such pairs, the output their
        spectrum; ``pack``: the reverse; ``convolve``: input and output are pairs, and in between the spectrum is
        multiplied. If columns are neighbours, one work-item takes row k and its opposite, row −k. "": no pairs.
    own_mirror
        Pairs are neighbours along the sequence: it is its own mirror image, and there is no opposite.
    whole
        ``unpack`` gives all of the spectrum, not half of it.
    halved
        Local memory has room for real parts alone: imaginary parts follow when the real parts are exchanged.
    computed
        Twiddles are computed rather than read from the table.
    share
        The number of results of a shared butterfly that one work-item computes, each with its mirror image; 0: no
        butterfly is shared.
    """

    radices: tuple[int, ...]
    items: int
    columns: int = 1
    length: int = 0
    along: bool = True
    joined: int = 1
    pairs: str = ""
    own_mirror: bool = False
    whole: bool = False
    halved: bool = False
    computed: bool = False
    share: int = 0

    @property
    def points(self) -> int:
        return prod(self.radices)

    @property
    def loaded(self) -> int:
        """The number of sequences that are loaded together: the joined ones, and behind them their opposites."""
        return self.joined * (2 if self.pairs and not self.own_mirror else 1)

    @property
    def sets(self) -> int:
        """The number of sets of work-items that share the loaded sequences. Of two sets, one has the opposites at the
        packed end; at the spectrum's end each has half of the pairs of a sequence and its opposite."""
        return 2 if self.pairs and self.joined > 1 and len(self.radices) > 1 else 1

    @property
    def carried(self) -> int:
        """Sequences that a work-item carries side by side."""
        return self.loaded // self.sets

    @property
    def group(self) -> int:
        """Work-items of a group."""
        return self.items * self.sets * self.columns

    @property
    def mirrored(self) -> int | None:
        """The stage at the spectrum's end. A work-item has butterfly t of a sequence and −t of its opposite there."""
        return {"": None, "pack": 0}.get(self.pairs, len(self.radices) - 1)

    def work(self, index: int) -> tuple[int, int]:
        """The number of pieces that a stage is divided into among work-items, and a sequence's values in each."""
        count, radix = self.points // self.radices[index], self.radices[index]
        if self.share and index == SHARED:
            return count * self.pieces, 2 * self.share + 1
        return (count // 2 + 1, 2 * radix) if self.own_mirror and index == self.mirrored else (count, radix)

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
        return (self.points + self.pad * self.radices[-1]) * self.columns * self.loaded

    @property
    def most(self) -> int:
        """The most values of a sequence that a work-item carries at a stage."""
        if self.items == 1:
            return max(self.work(index)[1] for index in range(len(self.radices)))
        return max(self._values)

    @property
    def held(self) -> int:
        """The registers that a work-item needs for its sequences, in complex values."""
        return self.most * self.carried
