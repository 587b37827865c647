"""Convolution with any kernel image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..operation import Choice, File, Flag, Operation, Params, Traits, parameter
from ..params.border import BORDER, by_axis, set_border
from ..params.files import FileOperand, check_picture

if TYPE_CHECKING:
    from ..filters.convolve import Weights
    from ..gpu import Gpu
    from ..image import Image

METHODS = ("auto", "local", "direct", "fft")


@dataclass(frozen=True)
class ConvolveParams(Params):
    """Convolve images with a kernel image, in linear light and with premultiplied alpha.

    The kernel's values are linear light too (integer files are decoded from sRGB); its centre is the pixel
    (height // 2, width // 2), and one bright pixel in the input becomes the kernel as it looks.

    Attributes
    ----------
    kernel : FileOperand, optional
        The kernel image. Functions of :mod:`gpuops.filters.convolve` are given their weights apart.
    normalise : bool
        Whether each channel of the kernel is scaled to the sum 1.
    border, cval
        The values outside the image: a name of :data:`gpuops.params.border.BORDERS`, and the constant's value.
    method : str
        ``local`` uses tiles in local memory, ``direct`` vectors from global memory, ``fft`` a product of spectra.
        ``auto`` is fft for large kernels; for smaller ones direct on CPUs and local elsewhere.
    """

    kernel: FileOperand | None = parameter(
        None,
        File(
            "The kernel. A gray one is for all channels, a coloured one has its own for each.", required=True
        ),
    )
    normalise: bool = parameter(
        True, Flag("Scale each channel of the kernel to the sum 1, so that brightness stays.")
    )
    border: str = parameter("reflect", BORDER)
    cval: float = parameter(0.0, None)
    method: str = parameter(
        "auto",
        Choice(
            "How to convolve: tiles in local memory, direct reads, or transforms. auto chooses by the kernel's size "
            "and the device.",
            METHODS,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        set_border(self)
        if not math.isfinite(self.cval):
            raise ParameterError(f"the border's constant must be finite, not {self.cval}")


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


def _reach(gpu: Gpu, shape: tuple[int, ...], params: ConvolveParams) -> float:
    return float(max(_weights(gpu, params).shape[1:]) // 2)


def _halo(gpu: Gpu, _shape: tuple[int, int, int], params: ConvolveParams) -> float:
    return float(_weights(gpu, params).shape[1] // 2)


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
    halo=_halo,
    around=lambda params: by_axis(params.border)[0] == "wrap",
    fixed_bytes=_fixed_bytes,
    check=lambda params: check_picture(params.kernel),
    prepare=lambda gpu, params, _target: _weights(gpu, params),
    examples=(
        "clpix convolve photo.png -o out.png --kernel kernel.png",
        "clpix convolve light.exr -o edges.exr --kernel kernel.png --no-normalise",
        "clpix convolve texture.png -o tiles.png --kernel kernel.png --border wrap",
    ),
    groups={"Convolution": ("kernel", "normalise", "border", "method")},
)
