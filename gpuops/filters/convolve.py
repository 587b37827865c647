"""Convolution with any kernel, following scipy.ndimage.convolve."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, TooLongError
from ..files import Picture
from ..gpu import Gpu, Kernel
from ..image import Image
from ..notes import note
from ..operands import on_device, shaped_like, two_ended
from ..params.border import define
from ..params.convolve import ConvolveParams
from ..params.files import FileOperand
from ..pixels.coding import unpack
from ..pixels.light import readable
from ..tiles.planes import planewise

Weights = npt.NDArray[np.floating]

# Taps above which a transform is faster on CPUs (measured: 512² … 2048², PoCL and Intel, two cores).
_FFT_TAPS_CPU = 300
# Taps above which a transform is faster on other devices (measured: H200, 512² … 4096²).
_FFT_TAPS = 220
# The kernels' source files.
_SOURCE = ("border", "convolve")
# Work-items of a group, along rows and down columns.
_GROUP = (16, 8)
# Rows of results of a work-item.
_PER = 4
# Taps of a launch, at most, or one row of taps: drivers stop launches that take long, and llvmpipe's loops
# end after 65535 rounds.
_LAUNCH_TAPS = 8192


@two_ended
def convolve(
    gpu: Gpu,
    input: Image | npt.ArrayLike,
    weights: Image | npt.ArrayLike,
    *,
    mode: str = "reflect",
    cval: float = 0.0,
    method: str = "auto",
) -> Image | npt.NDArray[np.generic]:
    """Convolves the last two axes, as scipy.ndimage.convolve: out = Σ_k weights[k] · input[i + centre − k].

    Parameters
    ----------
    input : array (..., height, width) or Image
        Real; computed in float32. A NaN or an infinity reaches as far as the kernel does; with ``method="fft"`` it
        would reach everything and is an error.
    weights : array or Image
        (rows, columns) for all planes, or (planes, rows, columns); any size, also larger than the input. Its centre
        is (rows // 2, columns // 2).
    mode, cval
        As in scipy.ndimage: reflect, mirror, nearest, wrap, constant.
    method : str
        As in :class:`gpuops.ops.convolve.ConvolveParams`. ``fft`` needs local memory for a row, and has an error of
        about 1e-6 of the largest value in its plane, everywhere: too much for the shadows beside a sun. The others'
        error is relative to the pixel.

    Returns
    -------
    float32 array of the input's shape, or an Image for an Image.

    Raises
    ------
    ParameterError
        An unknown mode or method; arrays without elements; weights that are not finite, or do not fit the planes.
    DeviceError
        Too little memory; too little local memory for ``fft``.
    """
    params = ConvolveParams(border=mode, cval=cval, method=method)
    image = on_device(gpu, input)
    kernel = _checked(weights, image.shape[0])
    chosen = _chosen(gpu, kernel[0].size, params.method)
    if chosen == "fft":
        try:
            return shaped_like(input, _by_transform(gpu, image, kernel, params))
        except TooLongError:
            if params.method == "fft":
                raise
            chosen = "direct" if gpu.limits.is_cpu else "local"
    return shaped_like(input, _by_taps(gpu, image, kernel, params, local=chosen == "local"))


def _chosen(gpu: Gpu, taps: int, method: str) -> str:
    """Returns the method for a kernel of so many values."""
    if method != "auto":
        return method
    if taps > (_FFT_TAPS_CPU if gpu.limits.is_cpu else _FFT_TAPS):
        return "fft"
    return "direct" if gpu.limits.is_cpu else "local"


def fixed_bytes(gpu: Gpu, shape: tuple[int, int, int], kernel: tuple[int, int], method: str) -> float:
    """Returns the bytes that a convolution of rows of planes (planes, height, width) takes beside copies of them.

    These are the kernel's (rows, columns), and those of transforms of as many rows as it has above and below.
    """
    (planes, _, width), (rows, columns) = shape, kernel
    weights = 4.0 * planes * rows * columns
    if _chosen(gpu, rows * columns, method) != "fft":
        return weights
    return weights + 4.0 * planes * 2 * rows * (width + columns)


def kernel_from_picture(gpu: Gpu, picture: Picture, *, normalise: bool) -> Weights:
    """Returns a kernel image's linear values as weights (planes, rows, columns): one plane (gray) or three, no alpha.

    ``normalise`` scales each plane to the sum 1, so that a constant stays what it is, whatever the kernel's colour.

    Raises
    ------
    ParameterError
        A value that is not finite; a plane to normalise whose sum is zero; two channels, or more than three.
    """
    if picture.alpha:
        note("the kernel image's alpha is ignored")
    colours = picture.channels - picture.alpha
    if colours not in (1, 3):
        raise ParameterError(f"a kernel image is gray or RGB, not of {colours} channels")
    weights = unpack(*readable(gpu, picture, linear=True, alpha=False)).numpy().astype(np.float64)
    _check_finite(weights)
    if normalise:
        sums = weights.sum((1, 2), keepdims=True)
        # A sum this small beside its parts is rounding: a derivative, not a blur.
        if np.any(np.abs(sums) <= 1e-6 * np.abs(weights).sum((1, 2), keepdims=True)):
            raise ParameterError("the kernel's values (of one colour at least) sum to 0: use --no-normalise")
        weights /= sums
    return weights


def kernel_from_file(gpu: Gpu, file: FileOperand, *, normalise: bool) -> Weights:
    """Returns the weights of a kernel image's file, as :func:`kernel_from_picture`; they are kept for the next time."""
    from ..files.operands import picture

    return gpu.kept(
        ("kernel image", file, normalise),
        lambda: kernel_from_picture(gpu, picture(file), normalise=normalise),
    )


def kernel_for(image: Image, weights: Weights) -> Weights:
    """Returns weights (planes, rows, columns) with a plane for each plane of ``image`` or one for all.

    Alpha gets the mean of a colour kernel's planes; so does a gray image, with a GpuopsWarning.
    """
    if len(weights) == 1 or image.shape[0] == len(weights):
        return weights
    mean: Weights = weights.mean(axis=0, keepdims=True)
    if image.alpha and image.colours == len(weights):
        return np.concatenate([weights, mean])
    note("the kernel has colours and the image has not: their mean is used")
    return mean


def _checked(weights: Image | npt.ArrayLike, planes: int) -> npt.NDArray[np.float32]:
    """Checks the weights and returns them as float32 (1 or planes, rows, columns)."""
    array = np.asarray(weights.numpy() if isinstance(weights, Image) else weights)
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.size == 0 or len(array) not in (1, planes):
        raise ParameterError(
            f"weights must be (rows, columns) or ({planes}, rows, columns) for {planes} planes, not {array.shape}"
        )
    if np.iscomplexobj(array):
        raise ParameterError("real weights are needed, not complex ones")
    with np.errstate(over="ignore"):
        array = array.astype(np.float32)
    _check_finite(array)
    return array


def _check_finite(weights: npt.NDArray[np.generic]) -> None:
    bad = int(np.count_nonzero(~np.isfinite(weights)))
    if bad:
        values = "values that are" if bad > 1 else "value that is"
        raise ParameterError(f"the kernel has {bad} {values} not finite")


def _by_taps(
    gpu: Gpu, image: Image, kernel: npt.NDArray[np.float32], params: ConvolveParams, *, local: bool
) -> Image:
    _, height, width = image.shape
    _, rows, columns = kernel.shape
    result = image.like()
    weights = gpu.array(kernel[:, ::-1, ::-1])
    stride = rows * columns if len(kernel) > 1 else 0
    group: tuple[int, ...]
    if local:
        built, group = _in_local_memory(gpu, params)
        size = -(-width // 4), -(-height // _PER), image.shape[0]
    else:
        built = gpu.kernel(_SOURCE, "convolve_direct", **define(params.border))
        size, group = (-(-width // 32), height, image.shape[0]), built.fit(16, 1, 1)
    step = max(1, _LAUNCH_TAPS // columns)
    for first in range(0, rows, step):
        gpu.launch(
            built, size, image, weights, result, height, width, rows, columns, stride, first, min(rows, first + step),
            float(params.cval), local=group, label=f"convolve {'local' if local else 'direct'}",
            traffic=image.nbytes + result.nbytes * (2 if first else 1),
        )  # fmt: skip
    return result


def _in_local_memory(gpu: Gpu, params: ConvolveParams) -> tuple[Kernel, tuple[int, int, int]]:
    """Returns a kernel whose groups share what they read, and its group."""
    (x, y), defines = _GROUP, define(params.border)
    while True:  # ends when the built kernel can run in its group
        kernel = gpu.kernel(_SOURCE, "convolve_local", GROUP_X=x, GROUP_Y=y, PER=_PER, **defines)
        if kernel.fit(x, y) == (x, y):
            return kernel, (x, y, 1)
        x, y = kernel.fit(x, y)


def _by_transform(gpu: Gpu, image: Image, kernel: npt.NDArray[np.float32], params: ConvolveParams) -> Image:
    """Convolves by the product of spectra, over a size at which nothing wraps around into the result."""
    from ..fourier import convolution, transfer_function
    from ..fourier.engine.radices import next_fast_size

    count, rows, columns = kernel.shape
    padded = next_fast_size(image.shape[1] + rows - 1, image.shape[2] + columns - 1)
    shared = transfer_function(gpu, gpu.array(kernel), padded) if count == 1 else None

    def convolved(at: slice) -> Image:
        transfer = shared or transfer_function(gpu, gpu.array(kernel[at]), padded)
        return convolution(
            gpu, image.planes(at), transfer, (rows, columns), padded, params.border, params.cval
        )

    result = planewise(image.shape[0], image.nbytes, convolved)
    if not np.isfinite(result.pixel(0, 0)).all():  # a value that is not finite spreads over its whole plane
        raise ParameterError(
            "the image has NaN or infinite pixels, or such large ones that their sums are infinite, which a transform "
            "would spread everywhere: use --method direct"
        )
    return result
