"""Two pictures brought to one scale, their mean squared error and PSNR after skimage.metrics, and their difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ParameterError, check_name
from ..gpu import Gpu
from ..image import Image
from ..operands import Operand
from ..pixels.coding import Decoding, on_device, unpack
from ..pixels.light import readable
from .counts import counts
from .pairs import data_range_of, operands, same_shape
from .ssim import structural_similarity

if TYPE_CHECKING:
    from ..files.picture import Picture

__all__ = [
    "Scale", "channels", "difference", "mean_squared_error", "pair", "peak_signal_noise_ratio", "scale_of",
    "structural_similarity",
]  # fmt: skip

# The most planes that counts.cl is compiled for as the channels of one pixel.
_CHANNELS = 4


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


def mean_squared_error(gpu: Gpu, image0: Operand, image1: Operand) -> float:
    """Does the same as skimage.metrics.mean_squared_error; squares are float32, their sum is as if in float64.

    NaN equals NaN; a NaN or infinity against another value gives inf.

    Raises ParameterError for different shapes.
    """
    a, b = operands(gpu, image0, image1)
    return counts(gpu, _few_planes(a), _few_planes(b)).rms ** 2


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
    return psnr(mse, data_range_of(image_true, data_range))


class Scale(NamedTuple):
    """The values of two pictures that are compared: as they are stored or converted, light or its signal, and the value
    that counts as 1."""

    as_stored: bool
    linear: bool
    data_range: float

    @property
    def space(self) -> str:
        """``linear`` or ``encoded``."""
        return "linear" if self.linear else "encoded"


def scale_of(a: Picture, b: Picture, *, space: str = "auto", alpha: bool = True) -> Scale:
    """Returns the values in which :func:`pair` compares two pictures, and raises what it does."""
    check_name("space", space, ("auto", "linear", "encoded"))
    check_same(a, b, alpha)
    as_stored = a.colour == b.colour and space in ("auto", "linear" if a.linear else "encoded")
    as_stored |= a.colour.data or b.colour.data  # which nothing converts
    linear = a.linear if as_stored else space == "linear" or (space == "auto" and a.linear and b.linear)
    as_levels = as_stored and min(_maximum(a), _maximum(b)) > 1
    return Scale(as_stored, linear, float(max(_maximum(a), _maximum(b))) if as_levels else 1.0)


def _maximum(picture: Picture) -> int:
    """Returns the value that counts as 1."""
    dtype = picture.pixels.dtype
    return (1 << 8 * dtype.itemsize) - 1 if dtype.kind == "u" else 1


def pair(
    gpu: Gpu,
    a: Picture,
    b: Picture,
    *,
    space: str = "auto",
    alpha: bool = True,
    uploaded: tuple[Image | None, Image | None] = (None, None),
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
    as_stored, linear, data_range = scale_of(a, b, space=space, alpha=alpha)

    def planes(picture: Picture, pixels: Image | None) -> Image:
        if not as_stored:
            return unpack(*readable(gpu, picture, linear=linear, alpha=alpha, pixels=pixels))
        stored = picture.pixels if alpha or not picture.alpha else picture.pixels[..., :-1]
        decoding = Decoding(picture.alpha and alpha, scale=data_range / _maximum(picture))
        return unpack(pixels or on_device(gpu, stored), decoding)

    first, second = map(planes, (a, b), uploaded)
    first.linear = second.linear = linear
    return first, second, data_range


def check_same(a: Picture, b: Picture, alpha: bool = True) -> None:
    """Raises ParameterError unless two pictures have one size, frame and kind of channels; ``alpha``: if it counts."""
    if (a.width, a.height) != (b.width, b.height):
        raise ParameterError(f"sizes differ: {a.width}×{a.height} and {b.width}×{b.height} pixels")
    if a.frame != b.frame:
        raise ParameterError(f"windows differ: pixels {b.frame}, and {a.frame}")
    if channels(a, alpha) != channels(b, alpha):
        advice = "; --alpha drop leaves alpha out" if channels(a, False) == channels(b, False) else ""
        raise ParameterError(f"channels differ: {channels(a, alpha)} and {channels(b, alpha)}{advice}")


def channels(picture: Picture, alpha: bool = True) -> str:
    """Returns the name of a picture's channels."""
    names = {1: "gray", 2: "gray and alpha", 3: "RGB", 4: "RGBA"}
    return names[picture.channels - (picture.alpha and not alpha)]


def _few_planes(image: Image) -> Image:
    """Returns an Image with its planes below each other if there are many; all values count alike."""
    planes, height, width = image.shape
    if planes <= _CHANNELS:
        return image
    return Image(image.gpu, image.buffer, (1, planes * height, width), image.dtype)


def psnr(mse: float, data_range: float) -> float:
    """Returns the peak signal-to-noise ratio in dB that belongs to a mean squared error."""
    if mse == 0:
        return math.inf
    return 10 * math.log10(data_range**2 / mse) if math.isfinite(mse) else -math.inf
