"""gpuops: image operations on OpenCL devices, on numpy arrays and on device images.

    from gpuops import Gpu, fourier
    from gpuops.filters import blur
    gpu = Gpu()                                   # the best device that works; Gpu("cpu"), Gpu("nvidia"), Gpu("1")
    smooth = blur.gaussian_filter(gpu, array, 3)  # numpy in, numpy out; Image in, Image out

:mod:`gpuops.ops` is the table of contents: the operations, each declared once. The families say how they are computed,
and follow their ecosystems: ``fourier`` scipy.fft, ``wavelets`` PyWavelets, ``filters`` scipy.ndimage, ``metrics``
skimage.metrics. The Gpu is always given explicitly; :class:`gpuops.chain.Chain` joins operations.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import DeviceError, FileError, GpuopsError, GpuopsWarning, ParameterError

if TYPE_CHECKING:
    from .gpu import Gpu
    from .image import Image
    from .profile import Report

__all__ = [
    "DeviceError", "FileError", "Gpu", "GpuopsError", "GpuopsWarning", "Image", "ParameterError", "Report",
]  # fmt: skip

# pyopencl keeps what it makes in folders of its own, and fails where they cannot be written, are full or are damaged.
# Kernels are kept by `programs`.
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")

# The module of each name, imported on first use: a program that only asks for help must not load OpenCL.
_LAZY = {"Gpu": "gpu", "Image": "image", "Report": "profile"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
