"""What bloom's mip chain reads and writes, and figures that both ways to compute it need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ..image import Image
from ..records import dataclass

if TYPE_CHECKING:
    from ..params.bloom import BloomParams
    from ..params.tonemap import TonemapParams
    from ..pixels.coding import Decoding, Encoding


@dataclass(frozen=True)
class Ends:
    """The image that the chain reads and lays its glow over, and the image that receives the result.

    Both are planes, or with a decoding pixels.

    Without ``not_finite`` the result is the glow by itself. With a ``display``, whose exposure
    is known, it is tone-mapped.
    """

    source: Image
    result: Image
    not_finite: Image | None
    decoding: Decoding | None = None
    encoding: Encoding | None = None
    display: TonemapParams | None = None
    lost: Image | None = None
    repaired: Image | None = None

    @property
    def size(self) -> tuple[int, ...]:
        """Height and width."""
        return self.source.shape[:2] if self.decoding else self.source.shape[1:]

    @property
    def channels(self) -> int:
        """The number of planes, or of a pixel's channels."""
        return self.source.shape[2 if self.decoding else 0]

    @property
    def colours(self) -> int:
        """The same without alpha."""
        return self.channels - (self.decoding or self.source).alpha


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

    def down(self, count: int) -> None:
        """Adds levels until there are so many."""
        while len(self.levels) < count:
            first = self.from_image and len(self.levels) == 1
            self.levels.append(self.next_level(self.levels[-1], first=first))

    @abstractmethod
    def next_level(self, fine: Image, *, first: bool) -> Image:
        """Returns the level after this one; ``first``: that is the image itself."""

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


def halved(size: tuple[int, ...]) -> tuple[int, int]:
    """Returns the height and width of the next level."""
    return (size[0] + 1) // 2, (size[1] + 1) // 2
