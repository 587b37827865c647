"""PU21: light of any brightness as values for metrics of a display's signal. PSNR and SSIM then have the range 256."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import Gpu
from ..image import Image
from ..operands import check_colours, on_device, shaped_like, two_ended
from ..pixels.curves import REFERENCE_WHITE
from ..pixels.pointwise import Stage, each
from .compare import mean_squared_error, psnr
from .ssim import structural_similarity

if TYPE_CHECKING:
    from .band import Band
    from .pair import Pair

#: The data range of PU21 values: that of 100 cd/m², the white of a display.
PEAK = 256.0


def stage(white: float = REFERENCE_WHITE, *, luminance: bool = False) -> Stage:
    """Returns PU21 as a function of a pixel, for kernels that read it; the parameters are those of :func:`pu21`."""
    if not (math.isfinite(white) and white > 0):
        raise ParameterError(f"white must be a positive number of cd/m², not {white}")
    return Stage("pu21", "pu21", (white,), ("PU21_LUMINANCE",) if luminance else ())


@two_ended
def pu21(
    gpu: Gpu, image: Image | npt.ArrayLike, *, white: float = REFERENCE_WHITE, luminance: bool = False
) -> Image | npt.NDArray[np.generic]:
    """Returns PU21 values of linear Rec. 709 light: 0 … 595 for 0.005 … 10000 cd/m², and 256 for 100.

    ``peak_signal_noise_ratio`` and ``structural_similarity`` of such values take ``data_range=256``; the authors use
    PSNR of the colours and SSIM of the luminance.

    Parameters
    ----------
    image : Image or array (channels, rows, columns)
        Gray or RGB; an Image may have alpha, which stays.
    white : float
        The luminance of light 1 in cd/m²; 1 if the values are cd/m² already.
    luminance : bool
        Whether the result is one plane, of the luminance: (1, rows, columns).

    Raises
    ------
    ParameterError
        Neither gray nor RGB, or a white that is not positive.

    Notes
    -----
    NaN and infinities stay, so that metrics see them. Darker light counts as 0.005 cd/m², and brighter as 10000.
    """
    one = on_device(gpu, image)
    check_colours(one.colours, one.shape[0], "PU21")
    result, _ = each(gpu, one, [stage(white, luminance=luminance)])
    result.linear = False
    if not luminance:
        return shaped_like(image, result)
    plane = result.planes(slice(0, 1))
    return plane if isinstance(image, Image) else plane.numpy()


def squared_error(band: Band) -> float:
    """Returns the mean squared error of PU21 values in a band."""
    return mean_squared_error(band.gpu, *_of_band(band))


def psnr_of(mse: float, _pair: Pair) -> float:
    """Returns the PSNR that belongs to a mean squared error."""
    return psnr(mse, PEAK)


def similarity(band: Band) -> float:
    """Returns the structural similarity of the luminances of a band's PU21 values."""
    return structural_similarity(band.gpu, *_of_band(band, luminance=True), data_range=PEAK)


def _of_band(band: Band, *, luminance: bool = False) -> Iterator[Image]:
    return (pu21(band.gpu, light, white=band.how.white, luminance=luminance) for light in band.light)
