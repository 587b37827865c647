"""Fourier transforms, following scipy.fft, and what images need around them.

spectrum = fft.rfft2(gpu, array)                    # numpy in, numpy out
back = fft.irfft2(gpu, spectrum, s=array.shape)
spectrum = fft.rfft2(gpu, image)                    # Image in, Image out: complex64 (planes, rows, columns)
"""

from .api import convolution, fft, fft2, ifft, ifft2, irfft, irfft2, rfft, rfft2, transfer_function
from .engine.radices import next_fast_len
from .nd import fftn, ifftn, irfftn, rfftn
from .of_pixels import irfft2_to_pixels, rfft2_of_pixels

__all__ = [
    "convolution", "fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "irfft", "irfft2", "irfft2_to_pixels",
    "irfftn", "next_fast_len", "rfft", "rfft2", "rfft2_of_pixels", "rfftn", "transfer_function",
]  # fmt: skip
