"""The stationary wavelet transform of device images: (planes, height, width) float32 or float64."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np

from ..image import Image
from .extension import vectors
from .wavelets import WAVELETS, Wavelet

Bands = tuple[Image, tuple[Image, Image, Image]]

Y, X = 1, 2


def forward(image: Image, name: str, level: int, norm: bool) -> Bands:
    """One level, number ``level`` (from 1 on): cA, (cH, cV, cD), each of the image's size."""
    low, high = _analyse(image, name, level, norm, Y)
    approximation, vertical = _analyse(low, name, level, norm, X)
    horizontal, diagonal = _analyse(high, name, level, norm, X)
    return approximation, (horizontal, vertical, diagonal)


def inverse(bands: Bands, name: str, level: int, norm: bool) -> Image:
    """The image that one level's bands stand for."""
    approximation, (horizontal, vertical, diagonal) = bands
    low = _synthesise(approximation, vertical, name, level, norm, X)
    high = _synthesise(horizontal, diagonal, name, level, norm, X)
    return _synthesise(low, high, name, level, norm, Y)


def _analyse(image: Image, name: str, level: int, norm: bool, axis: int) -> tuple[Image, Image]:
    low, high = image.like(), image.like()
    _launch("stationary", (image, low, high), name, level, norm, axis)
    return low, high


def _synthesise(low: Image, high: Image, name: str, level: int, norm: bool, axis: int) -> Image:
    image = low.like()
    _launch("restored", (low, high, image), name, level, norm, axis)
    return image


def _launch(
    kernel_name: str, images: tuple[Image, ...], name: str, level: int, norm: bool, axis: int
) -> None:
    gpu, shape, dtype, wavelet = images[0].gpu, images[0].shape, images[0].dtype, WAVELETS[name]
    restored = kernel_name == "restored"
    rows = axis == X
    width = gpu.limits.lanes
    filters = gpu.kept(
        ("swt filters", name, dtype, restored, norm),
        lambda: gpu.array(_filters(wavelet, restored, norm).astype(dtype)),
    )
    outer, n, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    apart = 2 ** (level - 1)
    first = apart * (wavelet.length // 2 - restored)  # PyWavelets' alignment
    size = (-(-n // width), 1, outer) if rows else (-(-inner // width), n, outer)
    gpu.compute(
        ("border", "dwt_extension", "swt"), kernel_name, size, *images, filters, wavelet.length, outer, n, inner, first,
        apart, group=128, label=f"{'i' if restored else ''}swt {'yx'[axis - 1]} {name}", traffic=None, ROWS=rows,
        **vectors(dtype, width),
    )  # fmt: skip


def _filters(
    wavelet: Wavelet, restored: bool, norm: bool
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Low and high taps in turn. With ``norm`` the energy is kept; without it constants grow as in the dwt."""
    factor = (sqrt(0.5) if norm else 0.5) if restored else (sqrt(0.5) if norm else 1.0)
    return factor * np.array(wavelet.reconstruct if restored else wavelet.decompose).T
