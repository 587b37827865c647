"""What fft_wide.cl needs of a schedule: definitions, which suit all lengths, and tables, which have the length."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from .radices import LARGEST_PRIME, largest_prime
from .schedule import Schedule

# Radices whose butterflies are straight-line code. Larger primes are in loops, as compilers take long for their lines;
# in loops 11 and 13 would take half again as long (measured).
_STRAIGHT = (2, 3, 4, 5, 6, 7, 8, 11, 13)


def looped(s: Schedule) -> tuple[int, ...]:
    """The primes whose butterflies are loops."""
    return tuple(r for r in s.radices if r > _STRAIGHT[-1] and largest_prime(r) == r)


def straight(s: Schedule) -> list[int]:
    """The radices of the program: those of all schedules, and composite ones that the parameters name."""
    return sorted({*_STRAIGHT, *s.radices} - {1, *looped(s)})


def definitions(s: Schedule) -> str:
    """OpenCL C that stands before fft_wide.cl."""
    lines = [f"LOADED {s.loaded}", f"WHOLE {int(s.whole)}", f"LARGEST_PRIME {LARGEST_PRIME}"]
    pairs = {"UNPACK": s.pairs == "unpack", "PACK": s.pairs == "pack", "MULTIPLY": s.pairs == "convolve"}
    given = {**pairs, "FILTER": s.length, "COMPUTED": s.computed}
    lines += [name for name, there in given.items() if there]
    lines.append(" ".join(["EACH_RADIX", *(f"STAGE({radix})" for radix in straight(s))]))
    return "".join(f"#define {line}\n" for line in lines)


def stages(s: Schedule) -> npt.NDArray[np.int32]:
    """The rows of fft_wide.cl's stages; after a convolution's product they return, backwards. The roots of primes in
    loops are at the end of :func:`.tables.constants`."""
    place = s.points * (1 + (s.length > 0) + 2 * bool(s.pairs))
    rows = []
    for index, radix in enumerate(s.radices):
        rows.append((radix, prod(s.radices[:index]), place, 0))
        place += radix * (radix in looped(s))
    if s.length or s.pairs == "convolve":
        rows += [(*row[:3], 1) for row in reversed(rows)]
    return np.array(rows, np.int32)


def places(s: Schedule) -> npt.NDArray[np.int32]:
    """The place of each sample: its number with the digits reversed, of which the last stage's is the fastest."""
    return np.arange(s.points, dtype=np.int32).reshape(s.radices[::-1]).T.ravel()
