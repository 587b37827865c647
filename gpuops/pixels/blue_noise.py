"""Blue noise: a texture without pattern, whose neighbouring values differ, so that it is hardly seen as dither."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

# Rows and columns of the texture, which repeats.
SIZE = 64
# The distance in pixels to which a sample keeps others away, as Ulichney recommends.
_SIGMA = 1.5
# The first pattern has one sample in so many pixels.
_FIRST = 10

Values = npt.NDArray[np.float64]


@cache
def ranks(seed: int, size: int = SIZE) -> npt.NDArray[np.int64]:
    """Returns the ranks 0 … size² − 1, each once, (size, size): samples below any rank are spread evenly.

    Source: R. Ulichney, *The void-and-cluster method for dither array generation*, SPIE 1913, 1993; here on a torus.
    """
    distance = np.minimum(np.arange(size), size - np.arange(size))
    bell = np.exp(-0.5 * (distance / _SIGMA) ** 2)
    around = np.outer(bell, bell)
    chosen = np.random.default_rng(seed).permutation(size * size)[: max(1, size * size // _FIRST)]
    pattern = np.zeros(size * size, bool)
    pattern[chosen] = True
    energy = np.asarray(sum(_at(around, int(k)) for k in chosen))

    def change(sign: int) -> int:
        """Puts a sample into the largest void (1), or takes that of the tightest cluster away (−1): returns which."""
        nonlocal energy
        if sign > 0:
            k = int(np.argmin(np.where(pattern, np.inf, energy)))
        else:
            k = int(np.argmax(np.where(pattern, energy, -np.inf)))
        pattern[k] = sign > 0
        energy = energy + sign * _at(around, k)
        return k

    # The sample of the tightest cluster moves to the largest void, until it would return to its own place.
    while change(-1) != change(1):
        pass
    first, first_energy = pattern.copy(), energy
    result = np.empty(size * size, np.int64)
    for rank in range(int(first.sum()) - 1, -1, -1):
        result[change(-1)] = rank
    pattern[:], energy = first, first_energy
    for rank in range(int(first.sum()), size * size):
        result[change(1)] = rank
    return result.reshape(size, size)


def triangular(seed: int) -> npt.NDArray[np.float32]:
    """Returns the texture as noise of −1 … 1 with a triangular distribution, (SIZE, SIZE).

    It dithers values that are rounded to steps of 1 without bias, and with the same variance everywhere.
    """
    uniform = (2 * ranks(seed) + 1) / (SIZE * SIZE) - 1  # −1 … 1
    return np.asarray(np.sign(uniform) * (1 - np.sqrt(1 - np.abs(uniform))), np.float32)


def on_device(gpu: Gpu, seed: int) -> Image:
    """Returns :func:`triangular` on a device, which keeps it."""
    return gpu.kept(("blue noise", seed), lambda: gpu.array(triangular(seed)))


def _at(around: Values, k: int) -> Values:
    """Returns the bell around sample k, as a vector."""
    return np.roll(around, divmod(k, len(around)), (0, 1)).ravel()
