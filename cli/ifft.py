"""clpix ifft."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpuops.params import fft as choices

from . import options

if TYPE_CHECKING:
    from gpuops.gpu import Gpu

    from .item import Item


@options.command(short_help="spectrum → image")
@options.inputs
@options.output
@options.shared
@click.option(
    "--method", type=options.Choice(choices.METHODS), default="auto", show_default=True, help="Which kernels."
)
@click.option(
    "--radix", type=options.Choice(choices.RADICES), default="auto", show_default=True, help="The largest."
)
@click.option("--twiddle", type=options.Choice(choices.TWIDDLES), default="auto", show_default=True)
def command(shared: options.Shared, method: str, radix: str, twiddle: str) -> None:
    """Images from the spectra that `clpix fft` wrote as .exr, .npz or .tif.

    All it needs is read from the file; the image gets the depth of the original, and its metadata.
    """
    options.refuse("a spectrum file says itself what its values are", "space")
    options.refuse("a spectrum file has no layers", "layer")
    how = choices.FftParams(method=method, radix=radix, twiddle=twiddle)

    from .pipeline import process

    def work(gpu: Gpu, item: Item) -> None:
        from dataclasses import replace

        from gpuops.fft import record, spectrum

        about, values = record.parse(item.path, *item.load_data())
        params = replace(about.params, how=how)
        image = item.run(spectrum.image_of, gpu, values, about.size, about.transform, params)
        image.alpha, image.linear = about.alpha, about.linear
        if image.alpha and shared.alpha == "drop":
            image = image.without_alpha()
        item.save(image, about.dtype)

    process(shared, "ifft", work, pictures=False)
