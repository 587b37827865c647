"""Noise before values are rounded to the codes of a file."""

from __future__ import annotations

from ..records import dataclass
from .kinds import Choice, Params, Whole

#: The kinds of noise. All have a triangular distribution of −1 … 1 codes.
NOISES = {"triangular": "white noise", "blue": "noise without low frequencies, which is seen less"}
#: The seeds.
SEEDS = (0, 2**32 - 1)


#: The kinds of both parameters.
NOISE = Choice(
    "The noise of --dither: white, or blue, which is seen less. Both are triangularly distributed.",
    tuple(NOISES),
)
SEED = Whole("Another seed gives another noise.", *SEEDS)


@dataclass(frozen=True)
class Dither(Params):
    """The noise that is added to colours before they are rounded.

    Attributes
    ----------
    noise : str
        One of :data:`NOISES`.
    seed : int
        Each gives another noise.
    """

    noise: str = NOISE.field("blue")
    seed: int = SEED.field(0)
