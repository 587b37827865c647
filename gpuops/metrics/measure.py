"""All figures of two files' pictures, and the verdict by thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import ParameterError
from ..params.comparing import Comparing, Measured, Worst
from ..params.metrics import METRICS
from ..params.thresholds import NOT_FINITE, Limit, Thresholds
from ..pixels.coding import Encoding, on_device, pack, unpack
from ..pixels.light import readable
from .changed import changed
from .compare import check_same, pair, peak_signal_noise_ratio, space_of
from .counts import Threshold, counts
from .delta_e import delta_e
from .flip import PPD, flip, hdr_flip
from .flip_tiles import Blocks
from .pixelmatch import pixelmatch
from .pu21 import pu21
from .ssim import multiscale_structural_similarity, structural_similarity
from .ssimulacra2 import ssimulacra2
from .tolerant import densest_window, within_radius
from .variance import SUFFIX, Variance
from .z_test import z_test

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu
    from ..image import Image

# Figures that verdicts, reports and difference pictures need.
ALWAYS = ("max", "rmse")
# What idiff lets values differ by if nobody says otherwise.
_IDIFF_FAIL = 1e-6
# The PU21 value that counts as white: of 100 cd/m².
_PU_PEAK = 256

Mask = npt.NDArray[np.bool_]


class SizeError(ParameterError):
    """Two pictures have different sizes or channels."""


def measure(both: Both, thresholds: Thresholds) -> Measured:
    """Measures the figures that were asked for and those that the thresholds need, and judges.

    Raises ParameterError for thresholds that could not fail these pictures whatever they hold, and where one needs a
    figure that is not defined for them.
    """
    if (
        not both.how.idiff
        and (blind := thresholds.blind(both.pixels, most=1.0 if both.bounded else None)) is not None
    ):
        raise ParameterError(blind)
    how = both.how
    counted = both.counts(thresholds)
    figures: dict[str, float] = {}
    undefined: dict[str, str] = {}
    for metric, declared in METRICS.items():
        needed = metric in thresholds.limits
        if not needed and metric not in how.metrics and metric not in ALWAYS:
            continue
        if metric in counted.figures:
            figures[metric] = counted.figures[metric]
        elif counted.differing == 0:
            figures[metric] = declared.best
        else:
            try:
                figures[metric] = FUNCTIONS[metric](both)
            except ParameterError as error:
                if needed:
                    raise ParameterError(f"{metric}: {error}") from None
                undefined[metric] = str(error)
    if how.idiff:
        missed, warned = thresholds.as_idiff(*counted.idiff, both.pixels)
    else:
        missed = thresholds.missed(figures, counted.bad, both.pixels)
        if counted.not_finite:
            missed = (Limit(NOT_FINITE, counted.not_finite, 0), *missed)
        warned = thresholds.warned(figures, counted.warning, both.pixels)
    return Measured(
        {metric: figures[metric] for metric in METRICS if metric in figures},
        both.pixels * both.compared[0].shape[0],
        counted.differing,
        both.pixels,
        counted.bad,
        both.data_range,
        missed,
        warned,
        counted.worst,
        space_of(both.compared[0]),
        both.note,
        undefined,
    )


def flip_map(gpu: Gpu, result: Picture, reference: Picture) -> npt.NDArray[np.float32]:
    """Returns the FLIP errors (height, width) of two pictures of one size: of light HDR-FLIP's, else LDR-FLIP's."""
    light = [unpack(*readable(gpu, p, linear=True, alpha=False)) for p in (reference, result)]
    of_light = reference.linear and float(np.nanmax(reference.pixels.astype(np.float32))) > 1
    errors = (hdr_flip if of_light else flip)(gpu, *light, full=True)[1]
    found: npt.NDArray[np.float32] = errors.numpy()[0]
    return found


@dataclass(frozen=True)
class Counted:
    """The figures of one pass over the stored values; ``bad`` and ``warning`` count pixels.

    ``not_finite``: pixels that are NaN or infinite in one picture and another value in the other. ``idiff`` is its
    largest error, and its numbers of bad pixels and of those that warn.
    """

    figures: dict[str, float]
    differing: int
    bad: int
    warning: int
    worst: Worst | None
    not_finite: int
    idiff: tuple[float, int, int]


class Both:
    """The two pictures on the device, in the values that figures want; each is made when it is first asked for.

    Attributes
    ----------
    compared : tuple of Image
        The stored values of the pixels that may differ, the reference first, as :func:`gpuops.metrics.compare.pair`
        gives them: all, or those that :func:`gpuops.metrics.changed.changed` finds, as one row.
    pixels : int
        How many are compared.
    bounded : bool
        Whether values have a largest one, as integers do.
    note : str
        What is left out, in words.

    Raises
    ------
    SizeError
        The pictures' sizes or channels differ.
    ParameterError
        A mask of another size, or nothing left to compare.
    """

    def __init__(
        self,
        gpu: Gpu,
        result: Picture,
        reference: Picture,
        how: Comparing,
        variance: Variance | None = None,
    ) -> None:
        try:
            check_same(reference, result, how.alpha)
        except ParameterError as error:
            raise SizeError(str(error)) from None
        left_out = _left_out(reference, how)
        notes = []
        self.pixels = reference.width * reference.height
        if left_out is not None:
            result, reference = _without(result, reference, left_out)
            notes.append(f"{int(left_out.sum())} of {self.pixels} pixels are not compared")
            self.pixels -= int(left_out.sum())
        if not how.alpha and (reference.alpha or result.alpha):
            notes.append("alpha is not compared")
        self.note = "; ".join(notes)
        self.gpu = gpu
        self.how = how
        self.variance = variance
        self.result = result
        self.reference = reference
        self.bounded = all(picture.pixels.dtype.kind == "u" for picture in (result, reference))
        self.changed = changed(reference, result)
        if self.changed is None:
            first, second, self.data_range = self._pair(reference, result, self._uploaded)
        else:
            first, second, self.data_range = self._pair(*self.changed.pictures)
        self.compared = first, second

    def _pair(
        self, reference: Picture, result: Picture, uploaded: tuple[Image, Image] | None = None
    ) -> tuple[Image, Image, float]:
        how = self.how
        return pair(self.gpu, reference, result, space=how.space, alpha=how.alpha, uploaded=uploaded)

    @cached_property
    def _uploaded(self) -> tuple[Image, Image] | None:
        """Both pictures' pixels if they have no alpha: light never has it, so that all figures read the same pixels."""
        if self.reference.alpha or self.result.alpha:
            return None
        return on_device(self.gpu, self.reference.pixels), on_device(self.gpu, self.result.pixels)

    @cached_property
    def stored(self) -> tuple[Image, Image]:
        """The stored values of all pixels, as :func:`gpuops.metrics.compare.pair` gives them, the reference first."""
        if self.changed is None:
            return self.compared
        return self._pair(self.reference, self.result, self._uploaded)[:2]

    @cached_property
    def codes(self) -> tuple[Image, Image]:
        """Encoded RGB and straight alpha, (rows, columns, 4) of uint8, the reference first."""
        first, second = (_codes(self.gpu, picture) for picture in (self.reference, self.result))
        return first, second

    @cached_property
    def light(self) -> tuple[Image, Image]:
        """Linear Rec. 709 light without alpha, the reference first."""
        first, second = (
            unpack(*readable(self.gpu, picture, linear=True, alpha=False, pixels=pixels))
            for picture, pixels in zip(
                (self.reference, self.result), self._uploaded or (None, None), strict=True
            )
        )
        return first, second

    def counts(self, thresholds: Thresholds) -> Counted:
        """Returns the figures of one pass over the stored values."""
        reference, result = self.compared
        scale = self.data_range
        default = _IDIFF_FAIL if self.how.idiff else 0.0
        limits = [
            Threshold((default if absolute is None else absolute) * scale, relative or 0.0)
            for absolute, relative in (
                (thresholds.fail, thresholds.failrelative),
                (thresholds.warn, thresholds.warnrelative),
            )
        ]
        # What is left out was made equal before, and counts as nothing.
        found = counts(self.gpu, reference, result, limits, among=self.pixels)
        rmse = found.rms / scale
        figures = {
            "max": found.max / scale,
            "mean": found.mean / scale,
            "rmse": rmse,
            "psnr": math.inf if rmse == 0 else -20 * math.log10(rmse) if math.isfinite(rmse) else -math.inf,
        }
        worst = None
        if (at := found.worst) is not None:
            pixel = (tuple(map(float, image.pixel(at.row, at.column))) for image in (result, reference))
            place = at.row * reference.shape[2] + at.column
            row, column = divmod(
                place if self.changed is None else int(self.changed.places[place]), self.reference.width
            )
            worst = Worst(column, row, *pixel)
        bad, warning = found.bad
        (idiff_bad, idiff_warning), largest = found.as_idiff()
        idiff = largest / scale, idiff_bad, idiff_warning
        return Counted(figures, found.differing, bad, warning, worst, found.infinite_pixels, idiff)


def _codes(gpu: Gpu, picture: Picture) -> Image:
    """Returns a picture as (rows, columns, 4) of uint8: sRGB and straight alpha, 255 where it has none."""
    pixels = picture.pixels
    if pixels.dtype != np.uint8 or picture.metadata.colour is not None or picture.linear:
        values, decoding = readable(gpu, picture, linear=False)
        pixels = pack(unpack(values, decoding), Encoding(np.dtype(np.uint8)))[0].numpy()
    height, width, channels = pixels.shape
    colours = channels - picture.alpha
    codes = np.full((height, width, 4), 255, np.uint8)
    codes[..., :3] = pixels[..., :colours]
    if picture.alpha:
        codes[..., 3] = pixels[..., -1]
    return gpu.array(codes)


def _left_out(picture: Picture, how: Comparing) -> Mask | None:
    """Returns where nothing is compared, or None."""
    if how.mask is None and not how.ignore:
        return None
    size = picture.height, picture.width
    left_out: Mask = np.zeros(size, bool)
    if how.mask is not None:
        mask = files.read(how.mask)
        if (mask.height, mask.width) != size:
            raise ParameterError(
                f"{how.mask}: the mask has {mask.width}×{mask.height} pixels, the picture {size[1]}×{size[0]}"
            )
        colours = mask.pixels[..., :-1] if mask.alpha else mask.pixels
        left_out |= ~(colours != 0).any(axis=-1)
    for x, y, width, height in how.ignore:
        if x >= size[1] or y >= size[0]:
            raise ParameterError(
                f"the rectangle {x},{y},{width},{height} is outside {size[1]}×{size[0]} pixels"
            )
        left_out[y : y + height, x : x + width] = True
    if left_out.all():
        raise ParameterError("the mask and the rectangles leave no pixel to compare")
    return left_out if left_out.any() else None


def _without(result: Picture, reference: Picture, left_out: Mask) -> tuple[Picture, Picture]:
    """Returns both pictures equal where nothing is compared: with the reference's pixels, or black if types differ."""
    same = result.pixels.dtype == reference.pixels.dtype and result.colour == reference.colour
    same = same and result.pixels.shape == reference.pixels.shape
    changed = []
    for picture in (result, reference):
        pixels = picture.pixels.copy()
        pixels[left_out] = reference.pixels[left_out] if same else 0
        changed.append(replace(picture, pixels=pixels))
    return changed[0], changed[1]


def _ssim(both: Both, convention: str) -> float:
    return structural_similarity(both.gpu, *both.stored, data_range=both.data_range, convention=convention)


def _ppd(both: Both) -> float:
    return PPD if both.how.ppd is None else both.how.ppd


def _blocks(both: Both) -> Blocks | None:
    return None if both.changed is None else both.changed.blocks


def _delta_e(both: Both, method: str) -> float:
    return delta_e(both.gpu, *both.light, method=method, white=both.how.white).max


def _densest(both: Both) -> float:
    _, kinds = pixelmatch(both.gpu, *both.codes, full=True)
    return float(densest_window(both.gpu, kinds, both.how.window).count)


def _unlike(both: Both) -> float:
    tolerance = both.how.tolerance * both.data_range
    return float(within_radius(both.gpu, *both.stored, radius=both.how.radius, tolerance=tolerance))


def _within_noise(both: Both) -> float:
    """Returns the percentage of pixels that the reference's variance explains."""
    reference, result = both.stored
    if (variance := both.variance) is None:
        raise ParameterError(
            f"a variance is needed beside the reference, NAME{SUFFIX}: clpix regress calibrate --variance writes it"
        )
    if both.reference.colour != both.result.colour or space_of(reference) != _kind(both.reference):
        raise ParameterError("a variance is of values as they are stored, and these are converted")
    values = variance.picture.pixels
    if variance.picture.alpha and not both.how.alpha:
        values = values[..., :-1]
    planes = np.ascontiguousarray(np.moveaxis(values, -1, 0), dtype=np.float32)
    if planes.shape != reference.shape:
        raise ParameterError("the variance has another size or other channels than the reference")
    failing = z_test(
        both.gpu, reference, result, planes, runs=variance.runs, pixels=both.pixels, scale=both.data_range
    )
    return 100 * (1 - failing / both.pixels)


def _kind(picture: Picture) -> str:
    return "linear" if picture.linear else "encoded"


#: The functions of the figures that are no sums over the stored values.
FUNCTIONS: dict[str, Callable[[Both], float]] = {
    "ssim": lambda both: _ssim(both, "wang"),
    "ssim-skimage": lambda both: _ssim(both, "skimage"),
    "ms-ssim": lambda both: multiscale_structural_similarity(
        both.gpu, *both.stored, data_range=both.data_range
    ),
    "flip": lambda both: flip(both.gpu, *both.light, ppd=_ppd(both), blocks=_blocks(both)).mean,
    "hdr-flip": lambda both: (
        hdr_flip(
            both.gpu, *both.light, ppd=_ppd(both), exposures=both.how.exposures, blocks=_blocks(both)
        ).mean
    ),
    "de76": lambda both: _delta_e(both, "76"),
    "de2000": lambda both: _delta_e(both, "2000"),
    "de-itp": lambda both: _delta_e(both, "itp"),
    "pixelmatch": lambda both: float(pixelmatch(both.gpu, *both.codes).different),
    "pixelmatch-window": _densest,
    "within-radius": _unlike,
    "z-test": _within_noise,
    "pu-psnr": lambda both: peak_signal_noise_ratio(
        both.gpu, *(pu21(both.gpu, light, white=both.how.white) for light in both.light), data_range=_PU_PEAK
    ),
    "pu-ssim": lambda both: structural_similarity(
        both.gpu,
        *(pu21(both.gpu, light, white=both.how.white, luminance=True) for light in both.light),
        data_range=_PU_PEAK,
    ),
    "ssimulacra2": lambda both: ssimulacra2(both.gpu, *both.light),
}
