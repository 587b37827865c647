"""Convolution with any kernel image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..operation import Operation, Reach, Traits
from ..params.border import by_axis
from ..params.convolve import ConvolveParams

if TYPE_CHECKING:
    from ..filters.convolve import Weights
    from ..gpu import Gpu
    from ..image import Image

__all__ = ["OPERATION", "ConvolveParams"]


def _convolve(gpu: Gpu, image: Image, params: ConvolveParams) -> Image:
    """Convolves each plane with its plane of the kernel image."""
    from ..filters.convolve import convolve, kernel_for

    weights = kernel_for(image, _weights(gpu, params))
    return convolve(gpu, image, weights, mode=params.border, cval=params.cval, method=params.method)


def _weights(gpu: Gpu, params: ConvolveParams) -> Weights:
    from ..filters.convolve import kernel_from_file

    if params.kernel is None:
        raise ParameterError("convolve needs a kernel image")
    return kernel_from_file(gpu, params.kernel, normalise=params.normalise)


def _reach(gpu: Gpu, shape: tuple[int, int, int], params: ConvolveParams) -> Reach:
    _, rows, columns = _weights(gpu, params).shape
    # Transforms of parts are rounded otherwise than that of the whole.
    return Reach(rows // 2, max(rows, columns) // 2, by_axis(params.border)[0] == "wrap", exact=False)


def _fixed_bytes(gpu: Gpu, shape: tuple[int, int, int], params: ConvolveParams) -> float:
    from ..filters.convolve import fixed_bytes

    _, rows, columns = map(int, _weights(gpu, params).shape)
    return fixed_bytes(gpu, shape, (rows, columns), params.method)


OPERATION = Operation(
    "convolve",
    ConvolveParams,
    _convolve,
    traits=lambda params: Traits(
        premultiplied=True, kind="local", keeps_range=params.normalise, bytes_per_value=24.0
    ),
    reach=_reach,
    fixed_bytes=_fixed_bytes,
    prepare=lambda gpu, params, _target: _weights(gpu, params),
    examples=(
        "clpix convolve photo.png -o out.png --kernel kernel.png",
        "clpix convolve light.exr -o edges.exr --kernel kernel.png --no-normalise",
        "clpix convolve texture.png -o tiles.png --kernel kernel.png --border wrap",
    ),
    groups={"Convolution": ("kernel", "normalise", "border", "method")},
)
