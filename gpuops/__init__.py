"""gpuops: image operations on OpenCL devices, on numpy arrays and on device images.

    from gpuops import Gpu, blur, fft
    gpu = Gpu()                                   # the best device that works; Gpu("cpu"), Gpu("nvidia"), Gpu("1")
    smooth = blur.gaussian_filter(gpu, array, 3)  # numpy in, numpy out; Image in, Image out

Each operation lives in a module of its own and follows its ecosystem: ``fft`` scipy.fft, ``dwt`` PyWavelets,
``blur`` scipy.ndimage, ``compare`` skimage.metrics. The Gpu is always given explicitly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    DeviceError,
    FileError,
    GpuopsError,
    GpuopsWarning,
    ParameterError,
)

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image
    from .profile import Report

__all__ = [
    "DeviceError",
    "FileError",
    "Gpu",
    "GpuopsError",
    "GpuopsWarning",
    "Image",
    "ParameterError",
    "Report",
]

# The module of each name, imported on first use: a program that only asks for help must not load OpenCL.
_LAZY = {"Gpu": "gpu", "Image": "image", "Report": "profile"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
