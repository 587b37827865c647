"""Unsharp mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Choice, Number, Operation, Params, Reach, Traits
from ..records import dataclass
from .blur import BlurParams

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image


@dataclass(frozen=True)
class SharpenParams(Params):
    """Sharpen images by an unsharp mask, in linear light and with premultiplied alpha.

    The difference between an image and its Gaussian blur is added, times --amount, where it exceeds --threshold. Light
    never falls below black by that, and alpha stays as it is. --amount 0 and --sigma 0 give the input exactly.
    """

    sigma: float = Number("Standard deviation of the Gaussian.", 0, 1e5, "pixels").field(1.0)
    amount: float = Number("The share of the difference that is added.", 0, 1000).field(1.0)
    threshold: float = Number("Differences of light up to this are left alone.", 0, 1e5).field(0.0)
    of: str = Choice("Sharpen luminance, so that hues stay, or each colour.", ("luminance", "colours")).field(
        "luminance"
    )
    border: str = Choice(
        "What is beyond the edges. wrap-x, for panoramas, is the opposite side.", ("reflect", "wrap-x")
    ).field("reflect")


def sharpen(gpu: Gpu, image: Image, params: SharpenParams) -> Image:
    """Sharpens the colours of a planar float32 Image, premultiplied where it has alpha; alpha is copied."""
    from ..filters.blur import blur
    from ..pixels.primaries import REC709_LUMINANCE

    soft = blur(gpu, image, _gaussian(params))  # which becomes the result
    planes, height, width = image.shape
    luminance = params.of == "luminance" and image.colours == 3
    gpu.compute(
        "sharpen", "sharpen", (width, height), image, soft, width, height, params.amount, params.threshold,
        (*REC709_LUMINANCE, 0.0), group=64, label="sharpen", traffic=3 * image.nbytes, PLANES=planes,
        COLOURS=image.colours, LUMINANCE=luminance,
    )  # fmt: skip
    return soft


def _gaussian(params: SharpenParams) -> BlurParams:
    return BlurParams(sigma=(params.sigma, params.sigma), border=params.border)


def _reach(gpu: Gpu, shape: tuple[int, int, int], params: SharpenParams) -> Reach:
    from ..filters.blur import reach

    return reach(gpu, shape, _gaussian(params))


OPERATION = Operation(
    "sharpen",
    SharpenParams,
    sharpen,
    traits=Traits(premultiplied=True, kind="local", keeps_range=True),
    identity=lambda p: not (p.amount and p.sigma),
    reach=_reach,
    examples=(
        "clpix sharpen photo.jpg -o crisp.jpg",
        "clpix sharpen photo.png -o crisp.png --sigma 2 --amount 0.7 --threshold 0.02",
        "clpix resize photo.jpg --size 320x then sharpen --sigma 0.7 -o small.jpg",
    ),
    groups={"Unsharp mask": ("sigma", "amount", "threshold", "of", "border")},
)
