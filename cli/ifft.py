"""The command ``clpix ifft``."""

from __future__ import annotations

from gpuops.params.fft import FftParams

from . import options
from .fft import Ways
from .shared import Shared


@options.command(
    examples=(
        "clpix ifft spectrum.npz -o photo-again.png",
        "clpix ifft spectrum.npz -o photo-again.tif --dtype uint16",
        "clpix ifft spectra/*.npz -o 'pictures/{stem}.png'",
    ),
    groups={"Kernels": ("method", "radix", "twiddle")},
)
@options.pictures
@options.collected("how", Ways)
def command(shared: Shared, how: Ways) -> None:
    """Make images from the spectra that `clpix fft` wrote as .exr, .npz or .tif.

    The file has all that is needed. The image gets the depth and the metadata of the original.
    """
    options.refuse("a spectrum file says itself what its values are", "space")
    options.refuse("a spectrum file has no layers", "layer")
    options.refuse("a spectrum is of stored values", "working")
    from gpuops.batch.spectra import OfSpectrum

    from .pipeline import process

    process(shared, "ifft", OfSpectrum(FftParams(**vars(how))))
