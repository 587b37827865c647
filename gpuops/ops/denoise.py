"""Noise taken from pictures by shrinking their wavelet coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..notes import silence
from ..operation import Choice, NumberOr, Operation, Params, Traits, Whole, Written
from ..params import dwt
from ..passes import Slabbed
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..tiles.ends import HostImage
    from ..wavelets import multilevel


def _threshold(text: str) -> str:
    dwt.threshold_option(text)
    return text


@dataclass(frozen=True)
class DenoiseParams(Params):
    """Take noise from images by shrinking wavelet coefficients.

    Noise is in small coefficients, and edges are in large ones. The work is done on the stored values, as by clpix dwt
    with --reconstruct. Alpha stays as it is. Pixels that are NaN or infinite are an error: they would spread over all
    of the image.

    Attributes
    ----------
    level : float, optional
        The noise's standard deviation in stored values of 0 … 1. None estimates it in each plane from the finest
        details. With 0 the result is the input.
    shrink, threshold : str, optional
        As :func:`gpuops.params.dwt.shrink_option` understands them. Without a threshold it is that of ``bayes``.
    denoise_space, wavelet, mode, levels, method, cycle_spins
        As for :func:`gpuops.wavelets.denoise.denoise`. The default of ``levels`` is 5, fewer for small images.
    """

    level: float | None = NumberOr(
        "The noise's standard deviation in stored values of 0 … 1. auto estimates it.  [default: auto]",
        "auto|S",
        0,
        1e6,
        {"auto": None},
    ).field(None)
    shrink: str | None = Choice(
        "How to shrink: soft, hard, garrote; or soft by a threshold that visu or bayes estimate, times "
        "--threshold (default 1).",
        dwt.SHRINKS,
    ).field(None)
    threshold: str | None = Written(
        "Shrink the details by T, or by a threshold estimated from the noise: visu or bayes (times F).",
        "T|ESTIMATE[:F]",
        _threshold,
    ).field(None)
    denoise_space: str = Choice(
        "The space in which colours are shrunk: opponent (their sum and two differences, which have less detail), "
        "ycbcr (as in JPEG) or rgb (each by itself).",
        dwt.DENOISE_SPACES,
    ).field(dwt.DENOISE_SPACES[0])
    wavelet: str = Written(
        f"{', '.join(dwt.FAMILIES)}; also 5/3, 9/7 and others' names for them.  [default: bior4.4 (CDF 9/7); of "
        "whole numbers bior2.2 (CDF 5/3)]",
        "NAME",
        dwt.wavelet_name,
    ).field("bior4.4")
    mode: str | None = Written(
        f"What stands beyond the border, by PyWavelets' names: {', '.join(dwt.MODES)}.  [default: mirror, JPEG 2000's, "
        "which has as many coefficients as pixels; symmetric for wavelets without lifting steps]",
        "MODE",
        dwt.mode_name,
    ).field(None)
    levels: int | None = Whole(
        f"How often the approximation is transformed again.  [default: {dwt.DEFAULT_LEVELS}, fewer for small images]",
        0,
        dwt.MAX_LEVELS,
    ).field(None)
    method: str = Choice("The kernels that compute the transform.", dwt.METHODS).field("auto")
    cycle_spins: int | None = Whole(
        "Take the mean of N × N shifts of the image, which removes blocky artefacts.", 1, dwt.MAX_SPINS
    ).field(None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level is not None and self.shrinking.estimate is None:
            raise ParameterError(
                "level is what a threshold is estimated from: give visu or bayes, or leave it out"
            )
        _ = self.transform

    @property
    def shrinking(self) -> dwt.ShrinkParams:
        """How coefficients are shrunk."""
        usual = None if self.shrink in dwt.ESTIMATES else "bayes"
        return dwt.shrink_option(self.shrink, self.threshold or usual, self.denoise_space, self.level)

    @property
    def transform(self) -> dwt.DwtParams:
        """The transform."""
        return dwt.DwtParams(
            self.wavelet, self.mode or dwt.default_mode(self.wavelet), self.levels, self.method
        )


def denoise(gpu: Gpu, image: Image, params: DenoiseParams) -> Image:
    """Denoises the colours of a planar float32 Image; alpha is copied.

    Raises ParameterError for values that are NaN or infinite, or colours that are neither gray nor RGB.
    """
    from ..wavelets.denoise import denoise as denoised
    from ..wavelets.transform import with_levels

    transform, spins = with_levels(params.transform, image.shape[1:]), params.cycle_spins or 1
    result: Image = denoised(gpu, image, transform, params.shrinking, spins=spins)
    result.space, result.orientation = image.space, image.orientation
    return result


def _slabs(_gpu: Gpu, shape: tuple[int, int, int], params: DenoiseParams) -> Slabbed:
    from ..wavelets import denoise, multilevel
    from ..wavelets.transform import with_levels

    with silence():
        transform, spins = with_levels(params.transform, shape[1:]), params.cycle_spins or 1
    planes, height, width = shape
    size = height + spins - 1, width + spins - 1

    def work(image: HostImage, memory: int, made: multilevel.Made) -> None:
        transform = with_levels(params.transform, shape[1:])
        denoise.denoised(image, image, transform, params.shrinking, spins, memory=memory, made=made)

    least = multilevel.least(planes, size, 0, transform)
    return Slabbed(work, denoise.spool_bytes(shape, transform, spins), least)


def _traits(params: DenoiseParams) -> Traits:
    # A band's threshold depends on all of its coefficients, and so each pixel on all others.
    twice = (params.cycle_spins or 1) > 1 or params.mode == "smooth"
    needed = 26.0 if twice else 14.0
    return Traits("stored", kind="transform", keeps_range=True, bytes_per_value=needed, fixed_bytes=1e6)


OPERATION = Operation(
    "denoise",
    DenoiseParams,
    denoise,
    traits=_traits,
    identity=lambda params: params.level == 0 or params.levels == 0,
    slabs=_slabs,
    examples=(
        "clpix denoise photo.png -o clean.png",
        "clpix denoise photo.jpg -o smooth.png --cycle-spins 2 --threshold bayes:0.7",
        "clpix denoise light.exr then tonemap -o display.png",
    ),
    groups={
        "Shrinking": ("level", "shrink", "threshold", "denoise_space", "cycle_spins"),
        "Transform": ("wavelet", "levels", "mode", "method"),
    },
)
