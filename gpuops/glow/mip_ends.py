"""What bloom's mip chain reads and writes, and figures that both ways to compute it need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..image import Image
from ..tone.operators import Vector

if TYPE_CHECKING:
    from ..params.bloom import BloomParams
    from ..pixels.coding import Decoding, Encoding


@dataclass(frozen=True)
class Display:
    """An operator (as in tonemap_operators.cl) for the result, the exposure's factor before it and its vector p.

    ``up_to_1``: no result is above 1.
    """

    operator: str
    exposure: float
    p: Vector
    up_to_1: bool = False


@dataclass(frozen=True)
class Ends:
    """The image that the chain reads and lays its glow over, and the image that receives the result.

    Both are planes, or with a decoding pixels.

    Without ``not_finite`` the result is the glow by itself.
    """

    source: Image
    result: Image
    not_finite: Image | None
    decoding: Decoding | None = None
    encoding: Encoding | None = None
    display: Display | None = None
    lost: Image | None = None
    repaired: Image | None = None
    channels: int = field(init=False)
    colours: int = field(init=False)
    size: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        of_pixels = self.decoding is not None
        shape, alpha = self.source.shape, self.decoding.alpha if self.decoding else self.source.alpha
        channels = shape[2] if of_pixels else shape[0]
        object.__setattr__(self, "channels", channels)
        object.__setattr__(self, "colours", channels - alpha)
        object.__setattr__(self, "size", shape[:2] if of_pixels else shape[1:])


@dataclass
class MipChain(ABC):
    """The levels of a mip chain: on the way down half-size images, and on the way up totals of them.

    Attributes
    ----------
    shares : list of float
        Of the light, for each level from the first of ``levels`` on.
    from_image : bool
        The first level is the image itself, and not one that light has come down to.
    factor : float
        What the last level, once it is a total, is to be multiplied by.
    """

    ends: Ends
    params: BloomParams
    shares: list[float]
    from_image: bool = True
    factor: float = 1.0

    def __post_init__(self) -> None:
        self.gpu = self.ends.source.gpu
        self.levels = [self.ends.source]

    @abstractmethod
    def down(self, count: int) -> None:
        """Adds levels until there are so many."""

    @abstractmethod
    def total(self) -> None:
        """Adds levels, of which the last is a total: of it, and of all that are coarser."""

    @abstractmethod
    def climb(self, count: int) -> None:
        """Makes totals of levels until there are so many."""

    @abstractmethod
    def over(self) -> None:
        """Makes the result of the levels, of which the last is a total."""

    @property
    def finest(self) -> float:
        """The share of the image's own light that the result adds."""
        return self.params.strength * (self.shares[0] - (self.params.blend == "energy"))


def knee(params: BloomParams) -> tuple[float, float]:
    """The threshold and the half-width of its knee, in the image's own units."""
    threshold = params.threshold / params.scale
    return threshold, threshold * params.knee


def halved(size: tuple[int, int]) -> tuple[int, int]:
    """Returns the height and width of the next level."""
    return (size[0] + 1) // 2, (size[1] + 1) // 2
