"""Van der Laan, Jalba and Roerdink's method: a kernel for each lifting step, out of place, halves apart.

For comparison. W. J. van der Laan, A. C. Jalba and J. B. T. M. Roerdink, "Accelerating Wavelet Lifting on Graphics
Hardware Using CUDA", IEEE TPDS 22 (2011).
"""

from __future__ import annotations

from ..image import Image
from ..params.dwt import DwtParams
from . import blocked
from .steps import Half, Line, run
from .wavelets import WAVELETS, Wavelet


def analyse(image: Image, low: Image, high: Image, wavelet: Wavelet, mode: str, axis: int) -> None:
    """``image`` → its halves along ``axis``. The first two steps read the image, the others work on the halves."""
    line = Line(wavelet, mode, axis, image.shape[axis], image.shape[3 - axis], False, "laan")
    bands = line.bands(low, high)
    run(line, line.signal(image), bands, bands)


def synthesise(low: Image, high: Image, image: Image, wavelet: Wavelet, mode: str, axis: int) -> None:
    """The halves → ``image``, which the last two steps write; those before work on copies of the halves."""
    line = Line(wavelet, mode, axis, image.shape[axis], image.shape[3 - axis], True, "laan")
    end = line.signal(image)
    # In between without a scale, as the signal is.
    between = (
        {odd: Half(half.like()) for odd, half in ((False, low), (True, high))}
        if len(wavelet.steps) > 2
        else end
    )
    run(line, line.bands(low, high), between, end)


def decompose(image: Image, params: DwtParams, levels: int) -> None:
    """All levels of an Image (planes, height, width), which the :mod:`.blocked` layout overwrites.

    Needs as much memory again: columns go from the image to it, rows back. Raises ParameterError as
    :func:`.blocked.regions`.
    """
    shapes = blocked.regions(image.shape[1:], params, levels)
    scratch = image.like()
    for height, width in shapes:
        down = Line(WAVELETS[params.wavelet], params.mode, 1, height, width, False, "laan")
        run(down, down.signal(image), down.apart(scratch), down.apart(scratch))
        along = Line(WAVELETS[params.wavelet], params.mode, 2, width, height, False, "laan")
        run(along, along.signal(scratch), along.apart(image), along.apart(image))
