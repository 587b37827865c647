"""Parameters of bloom, and the shape of its glow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import ParameterError
from .starburst import Aperture

# The ways to compute the glow.
METHODS = ("mip", "gaussians", "fft")
# The ways to lay the glow over the image.
BLENDS = ("energy", "add")
# The kinds of memory through which the filters read neighbours.
MEMORY = ("auto", "local", "direct")
# The borders that bloom knows.
BORDERS = ("reflect", "wrap-x")
# The number of Gaussians in the glow; each is half as wide as the one before.
OCTAVES = 8
# The default share of the light that the glow gets.
STRENGTH = 0.1
# The default radius, as a fraction of the image height.
RADIUS = 0.1


@dataclass(frozen=True)
class BloomParams:
    """A glow around bright light.

    The glow is a sum of OCTAVES Gaussians with σ = radius·height, half of that, a quarter, …, each with the same
    share of the light, so that the glow falls with the distance r about as 1/r², as glare in lenses and eyes does
    (Stiles and Holladay; Spencer et al., Physically-Based Glare Effects, SIGGRAPH 1995). Measured in image heights
    it does not depend on the resolution; light that would spread by less than a pixel stays in its pixel.

    Attributes
    ----------
    threshold : float
        Light at or below this value (linear, after exposure, brightest channel) does not glow; with 0 all light does.
    exposure : float
        The exposure in stops that threshold and karis refer to. It does not change the image itself.
    knee : float
        Half-width of the soft transition around the threshold as a fraction of it, 0 (hard) … 1.
    strength : float
        Share of the light that the glow gets; 0 gives exactly the input.
    radius : float
        A fraction of the image height, 0 … 1. It is σ of the widest Gaussian; within a starburst's radius lies 99 % of
        the green light of a round aperture. A kernel image does not use it.
    blend : str
        ``energy``: light that glows leaves its place, so that the sum of light stays. ``add``: the glow is added.
    method : str
        ``mip`` goes down and up a chain of half-size images, whose levels are nearly Gaussians. ``gaussians`` computes
        the sum exactly and slowly. ``fft`` takes a kernel image in place of the Gaussians, or a starburst.
    karis : bool
        Whether ``mip`` weighs by 1/(1 + luma) on the way to the first half-size image, so that single hot pixels glow
        four times less and flicker less from frame to frame.
    border : str
        The values outside the image: ``reflect`` mirrors it; with ``wrap-x`` its left and right edges are neighbours,
        as in a full panorama. Starbursts have darkness where others mirror.
    memory : str
        ``local`` reads the filters' neighbours through local memory, ``direct`` from global memory. ``auto`` is direct
        on CPUs and local elsewhere.
    aperture : Aperture
        The aperture of the lens whose diffraction makes the starburst, :mod:`gpuops.glow.starburst`, for
        ``method="fft"`` without a kernel image.
    """

    threshold: float = 0.0
    knee: float = 0.5
    strength: float = STRENGTH
    radius: float = RADIUS
    blend: str = "energy"
    method: str = "mip"
    karis: bool = True
    memory: str = "auto"
    border: str = "reflect"
    exposure: float = 0.0
    aperture: Aperture = field(default_factory=Aperture)

    def __post_init__(self) -> None:
        for name, choices in (
            ("blend", BLENDS),
            ("method", METHODS),
            ("memory", MEMORY),
            ("border", BORDERS),
        ):
            if getattr(self, name) not in choices:
                raise ParameterError(
                    f"unknown {name} {getattr(self, name)!r}: use one of {', '.join(choices)}"
                )
        most = 1.0 if self.blend == "energy" else 100.0
        for name, low, high, unit in (
            ("exposure", -60.0, 60.0, "a number of stops"),
            ("threshold", 0.0, 1e6, "a linear value after exposure"),
            ("knee", 0.0, 1.0, "a fraction of the threshold"),
            ("strength", 0.0, most, f"a share of the light with the blend {self.blend}"),
            ("radius", 0.0, 1.0, "a fraction of the image height"),
        ):
            value = getattr(self, name)
            if not low <= value <= high:  # NaN is not inside either
                raise ParameterError(f"{name} must be {unit}, {low:g} … {high:g}, not {value}")

    @property
    def scale(self) -> float:
        """The exposure as a factor."""
        return float(2.0**self.exposure)

    def octaves(self, height: int) -> list[tuple[float, float]]:
        """(σ in pixels, share of the light) of each Gaussian, the widest first."""
        return [(self.radius * height * 0.5**octave, 1.0 / OCTAVES) for octave in range(OCTAVES)]

    def levels(self, height: int) -> list[float]:
        """Share of each level of the mip chain, level 0 (the image itself) first; two levels or more.

        A level's way down and up has the variance :func:`variance` along each axis; a Gaussian is shared out
        between the two levels around it such that its variance comes out exactly.
        """
        shares = [0.0, 0.0]
        for sigma, share in self.octaves(height):
            level = int(math.log(sigma * sigma / 1.5 + 1.0, 4.0))
            below, above = variance(level), variance(level + 1)
            part = min(max((sigma * sigma - below) / (above - below), 0.0), 1.0)
            shares.extend([0.0] * (level + 2 - len(shares)))
            shares[level] += share * (1.0 - part)
            shares[level + 1] += share * part
        while len(shares) > 2 and shares[-1] == 0.0:
            shares.pop()
        return shares

    def columns(self, height: int, width: int) -> int:
        """Returns the number of columns of the mip chain's level 0, for an image of this size.

        Rows that wrap around must be halved without a remainder, level after level: their number of samples is a
        multiple of 2 to the number of halvings, or a smaller power of two, as one sample stays one. Other numbers
        become the nearest of these, which makes the glow slightly wider or narrower along rows.
        """
        cell = 1 << (len(self.levels(height)) - 1)
        if self.border != "wrap-x":
            return width
        return max(1, round(width / cell)) * cell if width >= cell else 1 << round(math.log2(width))


def variance(level: int) -> float:
    """σ² in pixels² that ``level`` halvings and doublings give an impulse, along each axis.

    A halving adds 1.75 of its input's pixels² (a box of 4 adds 1.25, moving half of it by ±1 adds 0.5), a doubling 2.75
    of its output's (interpolation 0.75, the tent 2), and a pixel grows fourfold in area from level to level:
    Σ 4.5·4^i = 1.5·(4^level − 1).
    """
    return 1.5 * (4.0**level - 1.0)
