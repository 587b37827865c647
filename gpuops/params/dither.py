"""Noise before values are rounded to the codes of a file."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ParameterError, check_name

#: The kinds of noise. All have a triangular distribution of −1 … 1 codes.
NOISES = {"triangular": "white noise", "blue": "noise without low frequencies, which is seen less"}
#: The seeds.
SEEDS = (0, 2**32 - 1)


@dataclass(frozen=True)
class Dither:
    """The noise that is added to colours before they are rounded.

    Attributes
    ----------
    noise : str
        One of :data:`NOISES`.
    seed : int
        Each gives another noise.
    """

    noise: str = "blue"
    seed: int = 0

    def __post_init__(self) -> None:
        check_name("noise", self.noise, NOISES)
        if not SEEDS[0] <= self.seed <= SEEDS[1]:
            raise ParameterError(f"seed must be from {SEEDS[0]} to {SEEDS[1]}, not {self.seed}")
