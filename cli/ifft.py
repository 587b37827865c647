"""The command ``clpix ifft``."""

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

        from gpuops.fourier import record, spectrum
        from gpuops.notes import note
        from gpuops.pixels.coding import losses

        about, values = record.parse(item.path, *item.load_data())
        params = replace(about.params, how=how)
        if params.precision == "half" and how.method == "global":
            note(
                f"{item.path}: --method global rounds to half precision after every stage: the image comes back only "
                "nearly, even one of 8 bits"
            )
        alpha = about.alpha and shared.alpha == "keep"
        if alpha != about.alpha:
            values = values[:-1]
        encoding = item.encoding_of(about.dtype, linear=about.linear)
        pixels, lost = item.run(
            spectrum.pixels_of, gpu, values, about.size, about.transform, params, encoding, alpha
        )
        item.save_host(pixels.numpy(), losses(lost), about.dtype, linear=about.linear, alpha=alpha)

    process(shared, "ifft", work, pictures=False)
