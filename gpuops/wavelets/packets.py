"""Wavelet packets: not only the approximation is transformed again, but each band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..params.dwt import MAX_LEVELS, DwtParams
from . import axis, transform
from .arrays import LAST, axes_back, axes_last, dtype_of, result, samples
from .bands import in_precision

if TYPE_CHECKING:
    from ..gpu import Gpu


def wpdec2(
    gpu: Gpu,
    data: Image | npt.ArrayLike,
    wavelet: str,
    mode: str = "symmetric",
    level: int = 1,
    axes: Sequence[int] = LAST,
    *,
    method: str = "auto",
    integer: bool = False,
) -> dict[str, Any]:
    """The 4^level bands of ``pywt.WaveletPacket2D`` at a level, by paths of letters a, h, v and d: "ah" is cH of cA.

    Parameters and errors as :func:`gpuops.wavelets.wavedec2`; level 0 is the data itself, its path "".
    """
    params = DwtParams(wavelet, mode, level, method, integer)
    data = axes_last(data, axes)
    dtype = dtype_of(gpu, [data], integer)
    image = samples(gpu, data, dtype)
    packets = {"": in_precision(image, transform.working(gpu, image.dtype, params))}
    for _ in range(level):
        parents, packets = packets, {}
        for path, parent in parents.items():
            approximation, details = transform.forward(parent, params)
            packets |= {
                path + letter: band for letter, band in zip("ahvd", (approximation, *details), strict=True)
            }
    return {
        path: axes_back(result(data, in_precision(band, image.dtype), dtype), axes)
        for path, band in packets.items()
    }


def wprec2(
    gpu: Gpu,
    packets: Mapping[str, Any],
    wavelet: str,
    mode: str = "symmetric",
    axes: Sequence[int] = LAST,
    *,
    shape: tuple[int, int],
    method: str = "auto",
    integer: bool = False,
) -> Any:
    """The inverse of :func:`wpdec2`: the data of (height, width) ``shape``. Bands that are left out are zeros.

    Paths may differ in length: a band's own bands are only used if that band is missing. Raises ParameterError for
    bands of a wrong size, and if there is no band at all.
    """
    packets = {path: axes_last(band, axes) for path, band in packets.items()}
    dtype = dtype_of(gpu, list(packets.values()), integer)
    params = DwtParams(wavelet, mode, 1, method, integer)
    above = {path[:length] for path in packets for length in range(len(path))}
    if wrong := [path for path in packets if set(path) - set("ahvd") or len(path) > MAX_LEVELS]:
        raise ParameterError(f"{wrong[0]!r} is no path of a wavelet packet: use letters of a, h, v and d")

    def band(path: str, shape: tuple[int, ...]) -> Image | None:
        if path in packets:
            image = samples(gpu, packets[path], dtype, band=True)
            if image.shape[1:] != shape:
                raise ParameterError(
                    f"the packet {path!r} must be {shape[0]}×{shape[1]}, not {image.shape[1]}×{image.shape[2]}"
                )
            return image
        if path not in above:
            return None
        (low_y, high_y), (low_x, high_x) = (axis.lengths(params, n) for n in shape)
        sizes = {"a": (low_y, low_x), "h": (high_y, low_x), "v": (low_y, high_x), "d": (high_y, high_x)}
        a, h, v, d = (band(path + letter, size) for letter, size in sizes.items())
        if all(child is None for child in (a, h, v, d)):
            return None
        return transform.recompose(a, [(h, v, d)], params, shape)

    whole = band("", tuple(shape))
    if whole is None:
        raise ParameterError("there must be one packet at least")
    return axes_back(result(next(iter(packets.values())), whole, dtype), axes)
