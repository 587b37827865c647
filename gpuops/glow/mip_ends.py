"""What bloom's mip chain reads and writes, and figures that both ways to compute it need."""

from __future__ import annotations

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


def knee(params: BloomParams) -> tuple[float, float]:
    """The threshold and the half-width of its knee, in the image's own units."""
    threshold = params.threshold / params.scale
    return threshold, threshold * params.knee


def finest(params: BloomParams, shares: list[float]) -> float:
    """Returns the share of the image's own light that the result adds."""
    return params.strength * (shares[0] - (params.blend == "energy"))


def halved(size: tuple[int, int]) -> tuple[int, int]:
    """Returns the height and width of the next level."""
    return (size[0] + 1) // 2, (size[1] + 1) // 2
