"""Error maps as pictures in the colours of magma, on the device."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..image import Image
from ..operands import on_device

if TYPE_CHECKING:
    from ..gpu import Gpu

# The 256 colours of magma in sRGB, 8 bits a channel in hexadecimal digits: black, purple, orange, pale yellow. N. Smith
# and S. van der Walt made them for Matplotlib and gave them into the public domain (CC0, lib/matplotlib/_cm_listed.py).
_MAGMA = bytes.fromhex(files(__package__).joinpath("magma.txt").read_text())


def heat(gpu: Gpu, errors: Image | npt.ArrayLike) -> Image:
    """Makes a picture of an error map, such as :func:`gpuops.metrics.flip.flip` returns.

    Parameters
    ----------
    errors : Image or array ([1,] height, width)
        Errors 0 … 1; others are clamped.

    Returns
    -------
    Image (3, height, width) of sRGB-encoded values: the colour of magma with the number round(255 · error). NaN is
    white, which magma does not have.

    Raises
    ------
    ParameterError
        More than one plane.
    """
    image = on_device(gpu, errors)
    planes, height, width = image.shape
    if planes != 1:
        raise ParameterError(f"an error map has one plane, not {planes}")
    colours = np.frombuffer(_MAGMA, np.uint8).astype(np.float32) / np.float32(255)
    table = gpu.kept("magma", lambda: gpu.array(colours))
    result = gpu.empty((3, height, width))
    result.linear = False
    kernel = gpu.kernel("flip_picture", "flip_heat")
    gpu.launch(
        kernel, (height * width, 3), image, table, result, height * width, local=kernel.fit(256, 1),
        traffic=image.nbytes + result.nbytes,
    )  # fmt: skip
    return result
