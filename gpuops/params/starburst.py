"""Parameters of a starburst: the aperture that makes it."""

from __future__ import annotations

from dataclasses import dataclass

from .kinds import Number, Params, Whole

#: The kinds of an aperture's numbers, which are options of bloom.
BLADES = Whole("Blades of the aperture: N rays if even, 2N if odd.", 3, 32)
ANGLE = Number("Direction of a ray, counter-clockwise from the x axis.", -1e6, 1e6, "degrees", "DEG")
ROUNDNESS = Number("The aperture's shape: 0 a polygon, 1 a circle; between, rays widen.", 0, 1, symbol="R")


@dataclass(frozen=True)
class Aperture(Params):
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

    blades: int = BLADES.field(6)
    angle: float = ANGLE.field(90.0)  # up
    roundness: float = ROUNDNESS.field(0.0)
