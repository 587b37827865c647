"""The command ``clpix idwt``."""

from __future__ import annotations

from . import options
from .shared import Shared


@options.command(
    examples=(
        "clpix idwt coefficients.npz -o photo-again.png",
        "clpix idwt coefficients.npz -o photo-again.tif --dtype uint16",
        "clpix idwt coefficients/*.npz -o 'pictures/{stem}.png'",
    ),
)
@options.pictures
def command(shared: Shared) -> None:
    """Turn the coefficients that `clpix dwt` wrote back into images.

    Wavelet, mode, size and depth are read from the file; --dtype changes the depth, --alpha drop leaves alpha out.
    """
    options.refuse("a coefficient file says itself what its values are", "space")
    options.refuse("a coefficient file has no layers", "layer")
    options.refuse("coefficients are of stored values", "working")

    from gpuops.batch.coefficients import OfCoefficients

    from .pipeline import process

    process(shared, "idwt", OfCoefficients())
