"""The command ``clpix ifft``."""

from __future__ import annotations

import click

from gpuops.params import fft as choices

from . import options


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

    from gpuops.batch.spectra import OfSpectrum

    from .pipeline import process

    process(shared, "ifft", OfSpectrum(how), pictures=False)
