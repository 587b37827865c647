"""The command ``clpix idwt``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .item import Item


@options.command(short_help="wavelet coefficients → image")
@options.inputs
@options.output
@options.device_memory
@options.shared
def command(shared: options.Shared) -> None:
    """Turn the coefficients that `clpix dwt` wrote back into images.

    Wavelet, mode, size and depth are read from the file; --dtype changes the depth, --alpha drop leaves alpha out.
    """
    options.refuse("a coefficient file says itself what its values are", "space")
    options.refuse("a coefficient file has no layers", "layer")

    from gpuops.errors import FileError
    from gpuops.wavelets import split, stored

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        arrays, attributes = item.load_data()
        try:
            description = stored.unpack(arrays, attributes)
        except FileError as error:
            raise FileError(f"{item.path}: {error}") from None
        if not split.fits(gpu, description.shape, description.sample):
            alpha = description.alpha and shared.alpha == "keep"
            encoding = item.encoding_of(description.dtype, linear=description.linear)
            pixels_of = partial(stored.pixels_of, alpha=alpha)
            sink = item.run(pixels_of, gpu, arrays, description, encoding)
            linear = description.linear
            item.save_host(sink.pixels, sink.losses, description.dtype, linear=linear, alpha=alpha)
            return
        image = item.run(stored.image_of, gpu, arrays, description)
        if image.alpha and shared.alpha == "drop":
            image = image.without_alpha()
        item.save(image, description.dtype)

    process(shared, "idwt", work, pictures=False)
