"""Structural similarity, on one scale and on five, by the conventions of its authors and of skimage.metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError, check_name
from ..gpu import Define, Gpu, Kernel
from ..image import Image
from ..operands import Operand
from ..params.blur import BlurParams
from ..records import dataclass
from .moments import MomentGroups, kernel_of, table_of, totals
from .pairs import data_range_of, operands

if TYPE_CHECKING:
    from ..figures import Figure
    from .band import Band
    from .pair import Pair


@dataclass(frozen=True)
class SsimWindow:
    """The weights of a window along each axis, and by what the variance in it is multiplied."""

    weights: tuple[float, ...]
    sample: float = 1.0

    @property
    def size(self) -> int:
        """The window's width and height in pixels."""
        return len(self.weights)


#: A Gaussian cut at 3.5 σ, which gives 11 taps, and skimage's default: 7 × 7 pixels as a sample of a population.
WINDOWS = {
    "wang": SsimWindow(tuple(BlurParams(sigma=(1.5, 1.5), truncate=3.5).weights(0))),
    "skimage": SsimWindow((1 / 7,) * 7, 49 / 48),
}
# Pixels of the smaller side at which the picture is seen as in the authors' experiments (Wang's ssim.m).
_SEEN = 256
# The exponents of Z. Wang, E. Simoncelli, A. Bovik, "Multiscale structural similarity", Asilomar 2003, finest first.
_EXPONENTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
#: The number of scales.
SCALES = len(_EXPONENTS)
# The least side in pixels of which five scales are made: the coarsest one has the window's 11.
_LEAST = 176


@overload
def structural_similarity(
    gpu: Gpu, im1: Operand, im2: Operand, *, data_range: float | None = None, convention: str = "wang",
    luma: bool = False, downsample: bool = False, full: Literal[False] = False,
) -> float: ...  # fmt: skip
@overload
def structural_similarity(
    gpu: Gpu, im1: Operand, im2: Operand, *, data_range: float | None = None, convention: str = "wang",
    luma: bool = False, downsample: bool = False, full: Literal[True],
) -> tuple[float, Image]: ...  # fmt: skip
def structural_similarity(
    gpu: Gpu,
    im1: Operand,
    im2: Operand,
    *,
    data_range: float | None = None,
    convention: str = "wang",
    luma: bool = False,
    downsample: bool = False,
    full: bool = False,
) -> float | tuple[float, Image]:
    """Returns the mean structural similarity over all planes: 1 for equal images, and at least −1.

    Parameters
    ----------
    im1, im2 : array or Image (planes, height, width)
        Usually sRGB-encoded values. Alpha is a plane like any other.
    data_range : float, optional
        Largest minus smallest possible value. It may be left out only for arrays of unsigned integers; then it is their
        type's maximum.
    convention : {"wang", "skimage"}
        ``wang``: Gaussian windows of σ 1.5 and 11 × 11 pixels, as Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli, "Image
        quality assessment", IEEE Trans. Image Process. 13, 2004; the same as
        skimage.metrics.structural_similarity with gaussian_weights=True, sigma=1.5, use_sample_covariance=False.
        ``skimage``: what that function does by itself, flat windows of 7 × 7 pixels and sample covariances.
    luma : bool
        Compares the luma 0.299 R + 0.587 G + 0.114 B of images of three planes, as Wang's program does.
    downsample : bool
        Makes images smaller by max(1, round(smaller side / 256)) first, as Wang's program does.
    full : bool
        Returns also the similarity of each pixel, as an Image of the size that is compared. Images are continued by
        reflection for it; the mean is of the windows inside.

    Notes
    -----
    Values that are NaN or infinite at the same place in both images count as equal; any other gives NaN.

    Raises
    ------
    ParameterError
        Different shapes, images smaller than the window, no data range where it is needed, luma of other images than
        RGB.
    """
    check_name("convention", convention, WINDOWS)
    scale = data_range_of(im1, data_range)
    a, b = _planes(gpu, im1, im2, luma)
    if downsample:
        factor = max(1, math.floor(min(a.shape[-2:]) / _SEEN + 0.5))
        a, b = (shrunk(gpu, image, factor) for image in (a, b))
    window = WINDOWS[convention]
    height, width = a.shape[-2:]
    _check_size(height, width, window)
    mean = float(_means(gpu, [_launch(gpu, a, b, scale, window)])[0, :, 0].mean())
    return (mean, _launch(gpu, a, b, scale, window, full=True)[0]) if full else mean


def multiscale_structural_similarity(
    gpu: Gpu, im1: Operand, im2: Operand, *, data_range: float | None = None, luma: bool = False
) -> float:
    """Returns the multi-scale structural similarity of Wang, Simoncelli and Bovik (2003), the mean over all planes.

    It is Π cⱼ^wⱼ · s₅^w₅ with the mean contrast terms cⱼ of the scales 1 to 4 and the mean similarity s₅ of the fifth.
    From scale to scale, images are halved by means of 2 × 2 pixels; an odd edge is mirrored. Windows are those of
    ``wang`` in :func:`structural_similarity`, which also describes ``data_range``, ``luma`` and what NaN and infinities
    count as. A negative mean counts as 0, because it has no real power.

    Raises ParameterError as that function does, and for images whose smaller side is less than 176 pixels.
    """
    scale = data_range_of(im1, data_range)
    a, b = _planes(gpu, im1, im2, luma)
    height, width = a.shape[-2:]
    _check_scales(height, width)
    return of_scales(_scale_means(gpu, a, b, scale, _windows_of_scales(height)))


def _check_scales(height: int, width: int) -> None:
    """Raises ParameterError for images too small for five scales."""
    if min(height, width) < _LEAST:
        raise ParameterError(
            f"MS-SSIM needs images of {_LEAST}×{_LEAST} pixels or more, not {width}×{height}: use SSIM"
        )


def _windows_of_scales(height: int) -> list[int]:
    """Returns how many rows of windows are inside an image's five scales, finest first."""
    return [-(-height // 2**level) - WINDOWS["wang"].size + 1 for level in range(SCALES)]


def _scale_means(
    gpu: Gpu, a: Image, b: Image, data_range: float, rows: Sequence[int]
) -> npt.NDArray[np.float64]:
    """Returns each scale's mean similarity and mean contrast term of each plane: (scales, planes, 2).

    ``rows``: how many of each scale's first rows of windows count, finest first. The scales of which none do are left
    out; there is one at least.
    """
    levels = []
    for level, count in enumerate(rows):
        if level:
            a, b = (shrunk(gpu, image, 2) for image in (a, b))
        if count:
            levels.append(_launch(gpu, a, b, data_range, WINDOWS["wang"], count))
    return _means(gpu, levels)


def of_scales(means: npt.NDArray[np.float64], _pair: Pair | None = None) -> float:
    """Returns the MS-SSIM of means as :func:`scales_of_band` gives them for all scales."""
    terms = np.stack([*(contrast for _, contrast in means[:-1].transpose(0, 2, 1)), means[-1, :, 0]])
    powers = np.where(terms < 0, 0.0, terms) ** np.array(_EXPONENTS)[:, None]
    return float(powers.prod(0).mean())


def _check_size(height: int, width: int, window: SsimWindow) -> None:
    """Raises ParameterError for images that are smaller than the window."""
    size = window.size
    if min(height, width) < size:
        raise ParameterError(
            f"SSIM needs images of {size}×{size} pixels or more, not {width}×{height}: use another metric"
        )


def shrunk(gpu: Gpu, image: Image, factor: int) -> Image:
    """Returns planes whose pixels are means of ``factor`` × ``factor`` pixels, as Wang's programs compute them.

    Means are sums of two floats: the result has the shape (2, planes, rows, columns), and so may ``image``.
    """
    if factor == 1:
        return image
    *parts, planes, height, width = image.shape
    rows, columns = -(-height // factor), -(-width // factor)
    result = gpu.empty((2, planes, rows, columns))
    lanes = gpu.limits.lanes if factor == 2 else 1
    kernel = _pointwise(gpu, "halve" if factor == 2 else "shrink", lanes, LOW=bool(parts))
    gpu.launch(
        kernel, (-(-columns // lanes), rows, planes), image, result, height, width, rows, columns,
        *(() if factor == 2 else (factor,)), local=kernel.fit(64, 1, 1), traffic=image.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _pointwise(gpu: Gpu, name: str, lanes: int, **defines: Define) -> Kernel:
    return gpu.kernel(("lanes", "reflected", "shrink"), name, WIDTH=lanes, **defines)


def _planes(gpu: Gpu, im1: Operand, im2: Operand, luma: bool) -> tuple[Image, Image]:
    a, b = operands(gpu, im1, im2)
    return (_luma(gpu, a), _luma(gpu, b)) if luma else (a, b)


def _luma(gpu: Gpu, image: Image) -> Image:
    planes, height, width = image.shape
    if planes == 1:
        return image
    if planes != 3:
        raise ParameterError(f"luma needs an image of one or three planes, not of {planes}: leave alpha out")
    result = gpu.empty((2, 1, height, width))
    kernel = _pointwise(gpu, "luma", 1)
    gpu.launch(
        kernel, (height * width,), image, result, height * width, local=kernel.fit(256),
        traffic=image.nbytes + result.nbytes,
    )  # fmt: skip
    return result


_Sums = tuple[Image, int]  # groups' sums, and how many results of a plane there are


def _launch(
    gpu: Gpu,
    a: Image,
    b: Image,
    data_range: float,
    window: SsimWindow,
    rows: int | None = None,
    *,
    full: bool = False,
) -> _Sums:
    """Enqueues the sums of all windows inside the images, or of the first ``rows`` of them.

    With ``full`` it is the similarity of each pixel, from the window about it.
    """
    *parts, planes, height, width = a.shape
    low, beside = bool(parts), 0 if full else window.size - 1
    rows, columns = height - beside if rows is None else rows, width - beside
    kernel = kernel_of(gpu, ("reflected", "ssim"), "ssim", window.size, LOW=low, MAP=full)
    strips = MomentGroups.of(gpu, kernel, window.size, planes, rows, columns, low=low)
    result = gpu.empty((planes, rows, columns) if full else (planes, math.prod(strips.groups), 2, 2))
    constants = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    gpu.launch(
        kernel, strips.size, a, b, table_of(gpu, window.weights), result, height, width, rows, columns,
        window.size // 2 if full else 0, *strips.numbers, *constants, window.sample, *strips.memory,
        local=strips.local, label="ssim map" if full else "ssim",
        traffic=a.nbytes + b.nbytes + (result.nbytes if full else 0),
    )  # fmt: skip
    return result, rows * columns


def _means(gpu: Gpu, launched: list[_Sums]) -> npt.NDArray[np.float64]:
    """Returns the means by launch, plane, and similarity or contrast."""
    sums = totals(gpu, [image for image, _ in launched])
    return np.stack([each / count for each, (_, count) in zip(sums, launched, strict=True)])


def fit(figure: Figure, pair: Pair, convention: str = "wang") -> Figure:
    """Returns the record of a figure for these pictures; raises ParameterError if they are smaller than a window."""
    _check_size(pair.reference.height, pair.reference.width, WINDOWS[convention])
    return replace(figure, below=WINDOWS[convention].size - 1)


def windows(band: Band, convention: str = "wang") -> int:
    """Returns how many windows a plane of a band has."""
    beside = WINDOWS[convention].size - 1
    return max(0, band.reference.height - beside) * (band.reference.width - beside)


def of_band(band: Band, convention: str = "wang") -> float:
    """Returns the mean structural similarity over a band's windows."""
    scale = band.pair.data_range
    return structural_similarity(band.gpu, *band.stored, data_range=scale, convention=convention)


def fit_scales(figure: Figure, pair: Pair) -> Figure:
    """Does as :func:`fit` for five scales."""
    _check_scales(pair.reference.height, pair.reference.width)
    coarsest = 1 << (SCALES - 1)  # rows of the pictures that one of the coarsest scale has
    return replace(figure, below=(WINDOWS["wang"].size - 1) * coarsest, multiple=coarsest)


def windows_of_band(band: Band) -> npt.NDArray[np.int64]:
    """Returns how many rows of windows begin in the rows that count, at each scale: (scales, 1, 1)."""
    rows = _windows_of_scales(band.place.height)
    first, end = (-(-row // 2 ** np.arange(len(rows))) for row in (band.place.start, band.place.stop))
    return np.maximum(np.minimum(end, rows) - first, 0)[:, None, None]


def scales_of_band(band: Band) -> npt.NDArray[np.float64]:
    """Returns the means of these windows, (scales, planes, 2); 0 at scales that have none."""
    rows = windows_of_band(band).ravel()
    means = _scale_means(band.gpu, *band.stored, band.pair.data_range, rows.tolist())
    scales = np.zeros((len(rows), *means.shape[1:]))
    scales[rows > 0] = means
    return scales
