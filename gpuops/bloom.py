"""Bloom: bright light glows, as in lenses, film and eyes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .blur import blur
from .errors import DeviceError, GpuopsWarning, ParameterError
from .gpu import Kernel, Local
from .image import Image
from .params.bloom import BloomParams
from .params.blur import BlurParams

if TYPE_CHECKING:
    from .gpu import Gpu

_MIP = ("border", "bloom", "bloom_mip")


def bloom(
    gpu: Gpu,
    image: Image,
    params: BloomParams,
    kernel: Image | npt.NDArray[np.generic] | None = None,
    *,
    overwrite_input: bool = False,
) -> Image:
    """Lays the glow of bright light over a planar float32 Image of linear light, unclipped.

    With t the image's light above the threshold and g its glow, g = G∗t and ΣG = 1:
    ``energy``: image + strength·(g − t), so light moves and its sum stays (but for ``karis``, which takes light from
    single hot pixels); ``add``: image + strength·g. Constants stay constant under ``energy``.

    Colours are expected premultiplied by alpha where there is one. Alpha glows along, so that the glow covers what
    is transparent, but never falls. Strength 0 gives back the input itself. Otherwise the result is finite: pixels
    with a NaN or an infinity give no glow (a GpuopsWarning counts them), and become 0 or ±65504.

    Parameters
    ----------
    kernel : Image or array (planes, height, width) or (height, width), optional
        G for ``method="fft"``: one plane for all, or one for each colour. Used as it is: normalise it first. Without
        it G is the starburst of ``params.aperture``.
    overwrite_input : bool
        The result takes the input's memory.

    Memory beside input and output: a third of an image for the mip chain, three images for the other methods; what
    starbursts are made with is kept for the next image of the size: 7 images of 16:9, 10 of a square one, if not less.

    Raises
    ------
    ParameterError
        A kernel with another method than ``fft``.
    DeviceError
        Too little memory; of a starburst, too little local memory for the transforms' rows.
    """
    if kernel is not None and params.method != "fft":
        raise ParameterError(f"a kernel image needs the method fft, not {params.method}")
    if params.strength == 0:
        return image
    result = image if overwrite_input else image.like()
    not_finite = gpu.zeros((1,), np.uint32)
    if params.method == "mip":
        _mip(gpu, image, result, params, not_finite)
    else:
        light = _light(gpu, image, params)
        if kernel is not None:
            glow = _convolved(gpu, light, kernel)
        else:
            glow = (_starbursts if params.method == "fft" else _gaussians)(gpu, light, params)
        _composite(gpu, image, glow, result, params, not_finite)
    count = int(not_finite.numpy()[0])
    if count:
        pixels = "pixel was" if count == 1 else "pixels were"
        message = f"{count} {pixels} not finite: no glow from there, NaN became 0, infinities ±65504"
        warnings.warn(message, GpuopsWarning, stacklevel=2)
    return result


# -- the mip chain ----------------------------------------------------------------------------------------------


def _mip(gpu: Gpu, image: Image, result: Image, params: BloomParams, not_finite: Image) -> None:
    shares = params.levels(image.shape[1])
    chain = [image]
    while len(chain) < len(shares):
        chain.append(_down(gpu, chain[-1], params, first=len(chain) == 1))
    # From the coarsest up: sum = share·level + tent(sum below it).
    scale = shares[-1]
    total = chain.pop()
    while len(chain) > 1:
        level = chain.pop()
        _up(gpu, total, level, level, params, not_finite, own=shares[len(chain)], scale=scale)
        total, scale = level, 1.0
    own = params.strength * (shares[0] - (params.blend == "energy"))
    _up(gpu, total, image, result, params, not_finite, own=own, scale=params.strength * scale, final=True)


def _down(gpu: Gpu, fine: Image, params: BloomParams, *, first: bool) -> Image:
    planes, height, width = fine.shape
    coarse = fine.like((planes, (height + 1) // 2, (width + 1) // 2))
    _, rows, columns = coarse.shape
    direct = _direct(gpu, params)
    defines = _defines(fine) if first else {"CHANNELS": 1, "COLOURS": 1}
    kernel = gpu.kernel(_MIP, "down", BORDER_REFLECT=True, WIDE=direct, FIRST=first, **defines)
    blocks = 1 if first else planes
    args = (fine, coarse, height, width, _knee(params), params.karis * params.scale)
    label = f"bloom down {'direct' if direct else 'local'}"
    traffic = fine.nbytes + coarse.nbytes
    if direct:
        size, local = (-(-columns // 8), rows, blocks), kernel.fit(64, 1, 1)
        gpu.launch(kernel, size, *args, local=local, label=label, traffic=traffic)
    else:
        local, tile = _tile(gpu, kernel, planes // blocks, (2, 4))
        gpu.launch(kernel, (columns, rows, blocks), *args, tile, local=local, label=label, traffic=traffic)
    return coarse


def _up(
    gpu: Gpu,
    coarse: Image,
    fine: Image,
    out: Image,
    params: BloomParams,
    not_finite: Image,
    *,
    own: float,
    scale: float,
    final: bool = False,
) -> None:
    planes, height, width = fine.shape
    direct = _direct(gpu, params)
    defines = _defines(fine) if final else {"CHANNELS": 1, "COLOURS": 1}
    kernel = gpu.kernel(_MIP, "up", BORDER_REFLECT=True, WIDE=direct, FINAL=final, **defines)
    blocks = 1 if final else planes
    args = (coarse, fine, out, not_finite, height, width, _knee(params), float(own), float(scale))
    label = f"bloom {'over' if final else 'up'} {'direct' if direct else 'local'}"
    traffic = coarse.nbytes + fine.nbytes + out.nbytes
    if direct:
        size, local = (-(-width // 16), -(-height // 2), blocks), kernel.fit(64, 1, 1)
        gpu.launch(kernel, size, *args, local=local, label=label, traffic=traffic)
    else:
        local, tile = _tile(gpu, kernel, planes // blocks, (0.5, 5))
        gpu.launch(kernel, (width, height, blocks), *args, tile, local=local, label=label, traffic=traffic)


def _direct(gpu: Gpu, params: BloomParams) -> bool:
    return params.memory == "direct" or (params.memory == "auto" and gpu.limits.is_cpu)


def _tile(gpu: Gpu, kernel: Kernel, planes: int, reach: tuple[float, int]) -> tuple[tuple[int, ...], Local]:
    """The group and its tile, (factor·group + extra) pixels along each axis, halved until local memory holds it."""
    factor, extra = reach
    x, y, _ = kernel.fit(16, 16, 1)
    while True:
        nbytes = 4 * planes * (int(factor * x) + extra) * (int(factor * y) + extra)
        if nbytes <= min(gpu.limits.local_bytes, 32768):
            return (x, y, 1), Local(nbytes)
        if x == y == 1:
            raise DeviceError(
                f"{planes} channels at once do not fit local memory: use direct reads (memory: direct)"
            )
        x, y = ((x + 1) // 2, y) if x >= y else (x, (y + 1) // 2)


# -- any glow as large as the image -----------------------------------------------------------------------------


def _light(gpu: Gpu, image: Image, params: BloomParams) -> Image:
    light = image.like()
    kernel = gpu.kernel("bloom", "light", **_defines(image))
    size = image.shape[1] * image.shape[2]
    gpu.launch(
        kernel, (size,), image, light, size, _knee(params), local=kernel.fit(256), label="bloom light",
        traffic=image.nbytes + light.nbytes,
    )  # fmt: skip
    return light


def _gaussians(gpu: Gpu, light: Image, params: BloomParams) -> Image:
    glow = gpu.zeros(light.shape)
    size = int(np.prod(glow.shape, dtype=np.int64))
    kernel = gpu.kernel("bloom", "accumulate", CHANNELS=1, COLOURS=1)
    for sigma, share in params.octaves(light.shape[1]):
        blurred = blur(gpu, light, BlurParams(sigma=(sigma, sigma)))
        gpu.launch(
            kernel, (size,), blurred, glow, np.uint64(size), share, local=kernel.fit(256), label="bloom sum",
            traffic=blurred.nbytes + glow.nbytes * 2,
        )  # fmt: skip
    return glow


def _starbursts(gpu: Gpu, light: Image, params: BloomParams) -> Image:
    from . import starburst

    return starburst.glow(gpu, light, params.aperture, params.radius)


def _convolved(gpu: Gpu, light: Image, kernel: Image | npt.NDArray[np.generic]) -> Image:
    from .convolve import convolve

    return convolve(gpu, light, kernel)


def _composite(
    gpu: Gpu, image: Image, glow: Image, result: Image, params: BloomParams, not_finite: Image
) -> None:
    kernel = gpu.kernel("bloom", "composite", **_defines(image))
    size = image.shape[1] * image.shape[2]
    own = -float(params.strength) if params.blend == "energy" else 0.0
    gpu.launch(
        kernel, (size,), image, glow, result, not_finite, size, _knee(params), own, float(params.strength),
        local=kernel.fit(256), label="bloom over", traffic=image.nbytes + glow.nbytes + result.nbytes,
    )  # fmt: skip


def _defines(image: Image) -> dict[str, int]:
    return {"CHANNELS": image.shape[0], "COLOURS": image.colours}


def _knee(params: BloomParams) -> tuple[float, float]:
    """The threshold and the half-width of its knee, in the image's own units."""
    threshold = params.threshold / params.scale
    return threshold, threshold * params.knee
