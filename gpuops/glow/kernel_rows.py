"""Bloom by a kernel image where a picture's rows come in parts: the first sweep counts pixels that are not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..filters import convolve
from .bloom import composite, light_of
from .by_rows import Coarse, Shape

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..ops.bloom import BloomParams

# Bytes for each value of a part that are there at a time: light, the glow and what a transform takes, and the result.
_BYTES_PER_VALUE = 32.0


def halo(gpu: Gpu, _shape: Shape, params: BloomParams) -> int:
    """Returns how many rows above and below a row of the result depends on."""
    return int(_weights(gpu, params).shape[1] // 2)


def fixed_bytes(gpu: Gpu, shape: Shape, params: BloomParams) -> float:
    """Returns the bytes that the kernel and transforms of its size take beside copies of rows."""
    _, rows, columns = map(int, _weights(gpu, params).shape)
    return convolve.fixed_bytes(gpu, shape, (rows, columns), "auto")


def coarse_of(gpu: Gpu, shape: Shape, params: BloomParams) -> Coarse:
    """Returns what is to be known of a picture."""
    return KernelGlow(gpu, shape, params)


class KernelGlow(Coarse):
    """A glow that has no coarse parts: all of it is made of the kernel's rows."""

    bytes_per_value = _BYTES_PER_VALUE

    def __init__(self, gpu: Gpu, shape: Shape, params: BloomParams) -> None:
        super().__init__(shape, params, halo(gpu, shape, params), fixed_bytes(gpu, shape, params))

    def over(self, image: Image) -> Image:
        gpu, result = image.gpu, image if image.owned else image.like()
        weights = convolve.kernel_for(image, _weights(gpu, self.params))
        glow = convolve.convolve(gpu, light_of(gpu, image, self.params), weights, mode=self.params.border)
        not_finite = gpu.zeros((1,), np.uint32)  # it counts rows twice that two parts have
        composite(gpu, image, glow, result, self.params, not_finite, 0.0)
        return result


def _weights(gpu: Gpu, params: BloomParams) -> convolve.Weights:
    assert params.kernel is not None
    return convolve.kernel_from_file(gpu, params.kernel, normalise=True)
