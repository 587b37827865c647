"""clpix convolve."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import click

from gpuops.ops.convolve import METHODS

from . import options

if TYPE_CHECKING:
    from gpuops.filters.convolve import Weights
    from gpuops.gpu import Gpu
    from gpuops.image import Image

    from .item import Item


@options.command(short_help="Convolution with any kernel image")
@options.inputs
@options.output
@options.shared
@click.option(
    "--kernel", required=True, metavar="IMAGE", help="The kernel: gray for all channels, or a colour each."
)
@click.option(
    "--normalise/--no-normalise",
    default=True,
    show_default=True,
    help="Scale each channel of the kernel to the sum 1, so that brightness stays.",
)
@click.option(
    "--border",
    type=options.Word(),
    default="reflect",
    show_default=True,
    metavar="MODE",
    help="reflect, mirror, nearest, wrap, constant or constant:V, as in scipy.ndimage (OpenCV's names work too); "
    "wrap-x, for panoramas: wrap along rows, reflect down columns.",
)
@click.option(
    "--method",
    type=options.Choice(METHODS),
    default="auto",
    show_default=True,
    help="Tiles in local memory, direct reads, or transforms; auto goes by the kernel's size and the device.",
)
def command(shared: options.Shared, kernel: str, normalise: bool, border: str, method: str) -> None:
    """Convolve images with a kernel image, in linear light and with premultiplied alpha.

    The kernel's values are linear light too (integer files are decoded from sRGB); its centre is the pixel
    (height // 2, width // 2), and one bright pixel in the input becomes the kernel as it looks.
    """
    from gpuops.filters.convolve import convolve, kernel_for, kernel_from_picture
    from gpuops.ops.convolve import ConvolveParams
    from gpuops.params.border import border_option

    from .checks import check_stdin
    from .pipeline import process
    from .reader import read_picture

    mode, cval = border_option(border)
    params = ConvolveParams(mode, cval, method)
    check_stdin(kernel, *shared.inputs)
    picture = read_picture(kernel)

    @cache
    def weights(gpu: Gpu) -> Weights:
        return kernel_from_picture(gpu, picture, normalise=normalise)

    def run(gpu: Gpu, image: Image, weights: Weights) -> Image:
        shape = kernel_for(image, weights)
        return convolve(gpu, image, shape, mode=params.border, cval=params.cval, method=params.method)

    def work(gpu: Gpu, item: Item) -> None:
        image = item.load(linear=True, premultiply=True, count=True)
        result = item.run(run, gpu, image, weights(gpu))
        item.warn_of_spread(max(weights(gpu).shape[1:]) // 2)
        item.save(result)

    process(shared, "convolve", work, also_read=[kernel] if kernel else [])
