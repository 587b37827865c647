"""The parameters of convolution with a kernel image."""

from __future__ import annotations

from ..records import dataclass
from .border import BORDER, set_border
from .files import FileOperand
from .kinds import Choice, Flag, Params
from .notations import File

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

    kernel: FileOperand | None = File(
        "The kernel. A gray one is for all channels, a coloured one has its own for each.", required=True
    ).field(None)
    normalise: bool = Flag("Scale each channel of the kernel to the sum 1: brightness stays.").field(True)
    border: str = BORDER.field("reflect")
    cval: float = 0.0
    method: str = Choice(
        "How to convolve: tiles in local memory, direct reads, or transforms. auto chooses by the kernel's size "
        "and the device.",
        METHODS,
    ).field("auto")

    def __post_init__(self) -> None:
        super().__post_init__()
        set_border(self)
