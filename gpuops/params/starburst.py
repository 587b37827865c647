"""Parameters of a starburst: the aperture that makes it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ParameterError

# The largest number of blades.
MAX_BLADES = 32
# The default number of blades.
BLADES = 6
# The default direction of a ray in degrees: it points up.
ANGLE = 90.0


@dataclass(frozen=True)
class Aperture:
    """The opening that a lens's iris leaves, whose diffraction makes the rays around bright light.

    A blade with a straight edge throws light to both of its sides, at right angles to the edge. So an even number of
    blades makes as many rays, as opposite blades' rays coincide, and an odd number twice as many.

    Attributes
    ----------
    blades : int
        The number of the polygon's corners, 3 … 32.
    angle : float
        The direction of one ray in degrees, counter-clockwise from a row's direction.
    roundness : float
        0 has straight blades, a polygon; 1 is a circle, without rays. Between them every edge is the arc of a circle
        through two of the polygon's corners, which turns a ray into a fan.
    """

    blades: int = BLADES
    angle: float = ANGLE
    roundness: float = 0.0

    def __post_init__(self) -> None:
        if not 3 <= self.blades <= MAX_BLADES or self.blades != int(self.blades):
            raise ParameterError(f"an aperture has 3 … {MAX_BLADES} blades, not {self.blades}")
        if not math.isfinite(self.angle):
            raise ParameterError(f"the blades' angle must be a finite number of degrees, not {self.angle}")
        if not 0.0 <= self.roundness <= 1.0:  # NaN is not inside either
            raise ParameterError(
                f"roundness must be a number from 0, a polygon, to 1, a circle, not {self.roundness}"
            )
