"""Small kernels on whole images and bands: clkernels/dwt_bands.cl."""

from __future__ import annotations

from math import prod

from ..gpu import Kernel
from ..image import Image


def kernel(image: Image, name: str, *, encode: bool = False) -> Kernel:
    """A kernel of dwt_bands.cl for the samples that ``image`` has; ``encode``: with the sRGB curve."""
    sample = "int" if image.dtype.kind == "i" else "float"
    if encode:
        return image.gpu.kernel(("lanes", "colour", "dwt_bands"), name, BAND=sample, WIDTH=1, ENCODE=True)
    return image.gpu.kernel("dwt_bands", name, BAND=sample)


def to_levels(image: Image, maximum: int) -> Image:
    """Values in [0, 1] as whole levels 0 … maximum."""
    return _convert("to_levels", image, image.like(dtype="int32"), maximum)


def from_levels(image: Image, maximum: int) -> Image:
    """Whole levels 0 … maximum as values in [0, 1]."""
    return _convert("from_levels", image, image.like(dtype="float32"), maximum)


def _convert(name: str, image: Image, result: Image, maximum: int) -> Image:
    size = prod(image.shape)
    step = kernel(image, name)
    image.gpu.launch(
        step, (size,), image, result, size, float(maximum), local=step.fit(256), label=f"dwt {name}",
        traffic=image.nbytes + result.nbytes,
    )  # fmt: skip
    return result
