"""Bloom by a kernel image where a picture's rows come in parts: the first sweep counts pixels that are not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..filters import convolve
from .by_rows import Coarse

if TYPE_CHECKING:
    from ..image import Image


class KernelGlow(Coarse):
    """A glow that has no coarse parts: all of it is made of the kernel's rows."""

    # Those of light, the glow and what a transform takes, and the result.
    bytes_per_value = 32.0

    @property
    def _weights(self) -> convolve.Weights:
        assert self.params.kernel is not None
        return convolve.kernel_from_file(self.gpu, self.params.kernel, normalise=True)

    @property
    def halo(self) -> int:
        return int(self._weights.shape[1] // 2)

    @property
    def fixed_bytes(self) -> float:
        """The bytes that the kernel and transforms of its size take beside copies of rows."""
        _, rows, columns = map(int, self._weights.shape)
        return convolve.fixed_bytes(self.gpu, self.shape, (rows, columns), "auto")

    def glow(self, light: Image) -> Image:
        weights = convolve.kernel_for(light, self._weights)
        return convolve.convolve(self.gpu, light, weights, mode=self.params.border)
