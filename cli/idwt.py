"""clpix idwt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .pipeline import Item


@click.command(short_help="wavelet coefficients → image")
@options.inputs
@options.output
@options.shared
def command(shared: options.Shared) -> None:
    """Turn the coefficients that `clpix dwt` wrote back into images.

    Wavelet, mode, size and depth are read from the file; --dtype changes the depth, --alpha drop leaves alpha out.
    """
    options.refuse("a coefficient file says itself what its values are", "space")
    options.refuse("a coefficient file has no layers", "layer")

    from gpuops.dwt import bands, stored, transform
    from gpuops.errors import FileError
    from gpuops.fft.spectrum import without_alpha

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        arrays, attributes = item.load_data()
        try:
            description = stored.unpack(arrays, attributes)
        except FileError as error:
            raise FileError(f"{item.path}: {error}") from None
        approximation, details = stored.load(gpu, arrays, description)
        params, shape = description.params, description.shape[1:]
        image = item.run(transform.recompose, approximation, details, params, shape)
        if params.integer:
            image = bands.from_levels(image, {"uint8": 255, "uint16": 65535}[description.dtype])
        if image.alpha and shared.alpha == "drop":
            image = without_alpha(image)
        item.save(image, description.dtype)

    process(shared, "idwt", work)
