"""Differences of two images: largest error, RMSE, PSNR and SSIM, on the device; after skimage.metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..gpu import Local
from ..image import Image
from ..params.compare import SSIM_SIZE, CompareParams
from ..pixels.coding import Decoding, on_device, unpack
from ..pixels.light import readable
from .pairs import Operand, data_range_of, operands, same_shape
from .ssim import WINDOWS, means, structural_similarity

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu

__all__ = [
    "Comparison", "channels", "compare", "converted_to", "difference", "mean_squared_error", "pair",
    "peak_signal_noise_ratio", "space_of", "structural_similarity", "visible_gain",
]  # fmt: skip

# Groups of the reduction: enough to fill any device, and the same number on all, so that sums are the same.
_GROUPS = 1024
# The least largest error for which float32 holds its square, and the squares of much smaller errors.
_LEAST_SQUARED = 2.0**-40


@dataclass(frozen=True)
class Comparison:
    """The figures. Errors are fractions of the data range; ``psnr`` is inf for equal images.

    ``ssim`` is None where it was not asked for, or not defined for so small an image.
    A NaN or infinity against another value makes ``max`` and ``rmse`` infinite and ``ssim`` NaN.
    """

    values: int
    differing: int
    max: float
    rmse: float
    psnr: float
    ssim: float | None

    @property
    def equal(self) -> bool:
        """Whether every value is the same; NaN equals NaN."""
        return self.differing == 0

    def exceeded(self, params: CompareParams) -> dict[str, float]:
        """Returns the thresholds of ``params`` that these figures miss, by metric (a NaN misses each)."""
        kept = {
            "max": self.max <= params.thresholds.get("max", math.inf),
            "psnr": self.psnr >= params.thresholds.get("psnr", -math.inf),
            "ssim": self.ssim is not None and self.ssim >= params.thresholds.get("ssim", -1),
        }
        return {metric: limit for metric, limit in params.thresholds.items() if not kept[metric]}

    def alike(self, params: CompareParams) -> bool:
        """Says whether the figures are within the thresholds of ``params``, or equal where it has none."""
        return not self.exceeded(params) if params.thresholds else self.equal


def compare(gpu: Gpu, a: Image, b: Image, params: CompareParams) -> Comparison:
    """Measures how far two planar float32 images of one shape differ; all planes count, alpha included.

    Raises ParameterError for different shapes, and a threshold on SSIM where the image is too small for it.
    """
    sum_of_squares, largest, differing = _differences(gpu, a, b)
    values = math.prod(a.shape)
    mse = sum_of_squares / values
    wanted = "ssim" in params.measured
    if wanted and min(a.shape[-2:]) < SSIM_SIZE and "ssim" not in params.thresholds:
        wanted = False
    return Comparison(
        values=values,
        differing=differing,
        max=largest / params.data_range,
        rmse=math.sqrt(mse) / params.data_range,
        psnr=_psnr(mse, params.data_range),
        ssim=float(means(gpu, a, b, params.data_range, WINDOWS["wang"])[:, 0].mean()) if wanted else None,
    )


def difference(gpu: Gpu, a: Image, b: Image, gain: float) -> Image:
    """Makes a picture of |a − b| · gain, clipped to 1: black where nothing differs.

    It has the colours of ``a`` and no alpha: a difference of alpha shows in every colour.
    """
    same_shape(a, b)
    _, height, width = a.shape
    result = gpu.empty((a.colours, height, width))
    result.linear = False
    kernel = gpu.kernel(("sums", "compare"), "difference")
    gpu.launch(
        kernel, (height * width, a.colours), a, b, result, height * width, a.colours, int(a.alpha), float(gain),
        local=kernel.fit(256, 1), traffic=a.nbytes + b.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def space_of(image: Image) -> str:
    """Returns which values of pictures an Image of :func:`pair` holds: ``linear`` or ``encoded``."""
    return "linear" if image.linear else "encoded"


def converted_to(image: Image, first: Picture, second: Picture) -> str | None:
    """Returns the values of :func:`pair` in words, or None if they are those that both pictures hold."""
    if first.colour == second.colour and first.linear == image.linear:
        return None
    converted = any(picture.metadata.colour is not None for picture in (first, second))
    kind = " (sRGB)" if not image.linear else " (Rec. 709)" if converted else ""
    return f"{space_of(image)} values{kind}"


def visible_gain(comparison: Comparison, data_range: float = 1.0) -> float:
    """Returns the gain at which the root mean square difference shows as a quarter of white."""
    usable = math.isfinite(comparison.rmse) and comparison.rmse > 0
    return 0.25 / (comparison.rmse * data_range) if usable else 1.0 / data_range


def mean_squared_error(gpu: Gpu, image0: Operand, image1: Operand) -> float:
    """Does the same as skimage.metrics.mean_squared_error; errors are float32, their sum is as if in float64.

    NaN equals NaN; a NaN or infinity against another value gives inf.

    Raises ParameterError for different shapes.
    """
    a, b = operands(gpu, image0, image1)
    return _differences(gpu, a, b)[0] / math.prod(a.shape)


def peak_signal_noise_ratio(
    gpu: Gpu, image_true: Operand, image_test: Operand, *, data_range: float | None = None
) -> float:
    """Does the same as skimage.metrics.peak_signal_noise_ratio, in dB; inf for equal images.

    Parameters
    ----------
    data_range : float, optional
        Largest minus smallest possible value. It may be left out only for arrays of unsigned integers; then it is their
        type's maximum.

    Raises
    ------
    ParameterError
        Different shapes, or no data range where it is needed.
    """
    mse = mean_squared_error(gpu, image_true, image_test)
    return _psnr(mse, data_range_of(image_true, data_range))


def pair(
    gpu: Gpu,
    a: Picture,
    b: Picture,
    *,
    space: str = "auto",
    alpha: bool = True,
    uploaded: tuple[Image, Image] | None = None,
) -> tuple[Image, Image, float]:
    """Returns two files' pictures as Images of one scale, and the data range of that scale.

    Integers stay levels of the finer of the two depths, so that equal pictures of 8 and 16 bits are exactly
    equal and an error of one level is exactly one. ``space``: ``linear`` or ``encoded`` values are compared, or
    ``auto``. Pictures of one colour space are compared as they are stored if their values are of that kind, and with
    ``auto`` in any case. Other pictures are converted to linear Rec. 709 light, or to its sRGB signal; ``auto`` takes
    the signal unless both are light. ``alpha=False`` leaves alpha out. ``uploaded``: the pictures' pixels, or those
    without alpha, if they are on the device already.

    Raises ParameterError for different sizes, channels, or an unknown space.
    """
    check_name("space", space, ("auto", "linear", "encoded"))
    check_same(a, b, alpha)
    as_stored = a.colour == b.colour and space in ("auto", "linear" if a.linear else "encoded")
    linear = a.linear if as_stored else space == "linear" or (space == "auto" and a.linear and b.linear)
    maxima = [np.iinfo(p.pixels.dtype).max if p.pixels.dtype.kind == "u" else 1 for p in (a, b)]
    as_levels = as_stored and min(maxima) > 1
    data_range = float(max(maxima)) if as_levels else 1.0
    first, second = (
        unpack(
            pixels or _uploaded(gpu, picture, alpha),
            Decoding(picture.alpha and alpha, scale=data_range / maximum),
        )
        if as_stored
        else unpack(*readable(gpu, picture, linear=linear, alpha=alpha, pixels=pixels))
        for picture, maximum, pixels in zip((a, b), maxima, uploaded or (None, None), strict=True)
    )
    first.linear = second.linear = linear
    return first, second, data_range


def check_same(a: Picture, b: Picture, alpha: bool = True) -> None:
    """Raises ParameterError unless two pictures have one size and the same channels; ``alpha``: whether it counts."""
    if (a.width, a.height) != (b.width, b.height):
        raise ParameterError(f"sizes differ: {a.width}×{a.height} and {b.width}×{b.height} pixels")
    if channels(a, alpha) != channels(b, alpha):
        advice = "; --alpha drop leaves alpha out" if channels(a, False) == channels(b, False) else ""
        raise ParameterError(f"channels differ: {channels(a, alpha)} and {channels(b, alpha)}{advice}")


def channels(picture: Picture, alpha: bool = True) -> str:
    """Returns the name of a picture's channels."""
    names = {1: "gray", 2: "gray and alpha", 3: "RGB", 4: "RGBA"}
    return names[picture.channels - (picture.alpha and not alpha)]


def _uploaded(gpu: Gpu, picture: Picture, alpha: bool) -> Image:
    """Returns the picture's pixels on the device; ``alpha``: whether alpha is among them."""
    return on_device(gpu, picture.pixels if alpha or not picture.alpha else picture.pixels[..., :-1])


def _differences(gpu: Gpu, a: Image, b: Image) -> tuple[float, float, int]:
    """Returns the sum of squared errors, the largest error and the number of values that differ.

    Where float32 cannot hold the largest error's square with all digits, errors are scaled by it and read again.
    """
    total, largest, differing = _scaled_differences(gpu, a, b, 1.0)
    held = largest >= _LEAST_SQUARED and math.isfinite(total)
    if held or not 0 < largest < math.inf:
        return total, largest, differing
    exponent = min(max(math.frexp(largest)[1], -126), 126)
    total, largest, differing = _scaled_differences(gpu, a, b, 2.0**-exponent)
    return math.ldexp(total, 2 * exponent), largest, differing


def _scaled_differences(gpu: Gpu, a: Image, b: Image, scale: float) -> tuple[float, float, int]:
    """Returns the same as :func:`_differences` for errors times ``scale``; the largest error is not scaled."""
    same_shape(a, b)
    n = math.prod(a.shape)
    kernel = gpu.kernel(("sums", "compare"), "differences")
    (items,) = kernel.fit(256)
    groups = min(_GROUPS, -(-n // (4 * items)))
    partial = gpu.empty((groups, 4), np.uint32)
    gpu.launch(
        kernel, (groups * items,), a, b, partial, np.uint64(n), scale, Local(8 * items), Local(4 * items),
        Local(4 * items), local=(items,), traffic=a.nbytes + b.nbytes,
    )  # fmt: skip
    bits = partial.numpy()
    real = bits.view(np.float32).astype(np.float64)
    largest = float(real[:, 2].max())
    total = _total(real[:, :2]) if np.isfinite(real[:, 0]).all() else math.inf
    return total, largest, int(bits[:, 3].sum(dtype=np.int64))


def _total(partial: npt.NDArray[np.float64]) -> float:
    """Adds up the groups' sums and their rounding errors; NaN if one of them is NaN."""
    return float(partial.sum())


def _psnr(mse: float, data_range: float) -> float:
    if mse == 0:
        return math.inf
    return 10 * math.log10(data_range**2 / mse) if math.isfinite(mse) else -math.inf
