"""Schedule: how one work-group transforms its sequences. Pure numbers, of planner and generator."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

# Radices: beyond, lines become too many for compilers and values for registers; for CPUs' compilers sooner.
LARGEST_UNROLLED, LARGEST_UNROLLED_ON_CPUS = 61, 13
SHARED = 1  # the stage of a larger prime, where work-items share butterflies


@dataclass(frozen=True)
class Schedule:
    """How one work-group transforms its sequences.

    Attributes
    ----------
    radices
        Of the stages, in the order of execution; their product is the number of points.
    items, columns
        Work-items that share a sequence; sequences of a group (each of as many lanes).
    length
        Bluestein: points of the transform that is made from a convolution of ``prod(radices)``; else 0.
    along
        Neighbouring work-items take neighbouring elements (rows) rather than neighbouring sequences.
    joined
        So many sequences are one work-item's, and transformed across each other at their packed end.
    twin
        Packed, a complex value is two real ones. ``unpack``: the input is packed, the output the spectrum; ``pack``:
        the reverse; ``convolve``: both are packed, and in between the spectrum is multiplied. Rows k and −k, of
        neighbouring columns packed, are one work-item's. "": nothing is packed.
    alone
        Neighbours along the sequence are packed: it is its own twin.
    whole
        ``unpack`` gives all of the spectrum, not half of it.
    halved
        Local memory has room for real parts alone: imaginary parts follow when those are through.
    computed
        Twiddles are computed rather than read from the table.
    share
        Of the results of a butterfly that work-items share, so many and their mirror images are one's; 0: none is
        shared.
    channels
        So many of interleaved bytes are transformed in turn: pixels are read once, and kept in registers.
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
    share: int = 0
    channels: int = 1

    @property
    def points(self) -> int:
        return prod(self.radices)

    @property
    def rows(self) -> int:
        """Sequences that are loaded together, twins behind the others."""
        return self.joined * (2 if self.twin and not self.alone else 1)

    @property
    def sets(self) -> int:
        """Of work-items that share ``rows``: at the packed end one has twins, at the other half of all pairs."""
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
        """What work-items share at a stage: so many pieces, of so many values of a sequence each."""
        count, radix = self.points // self.radices[index], self.radices[index]
        if self.share and index == SHARED:
            return count * self.pieces, 2 * self.share + 1
        return (count // 2 + 1, 2 * radix) if self.alone and index == self.mirrored else (count, radix)

    @property
    def pieces(self) -> int:
        """Of a shared butterfly."""
        return -(-(self.radices[SHARED] // 2) // self.share)

    @property
    def _values(self) -> list[int]:
        """That a work-item carries of a sequence at each stage."""
        stages = map(self.work, range(len(self.radices)))
        return [-(-count // self.items) * values for count, values in stages]

    @property
    def idle(self) -> float:
        """Values that all work-items have room for relative to those there are: 1 where none ever waits."""
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
        """Values of a sequence that a work-item carries."""
        if self.items == 1:
            return max(self.work(index)[1] for index in range(len(self.radices)))
        return max(self._values)

    @property
    def held(self) -> int:
        """Values of all its sequences, or what takes as many registers: bytes of pixels are kept beside them."""
        return self.most * self.carried * (2 if self.channels > 1 else 1)
