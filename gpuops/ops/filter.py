"""Filters of frequencies: low-, high-, bandpass, bandstop, notches, and masks of the spectrum."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..operation import Choice, File, NumberOr, Operation, Params, Repeated, Spectral, Traits, Whole
from ..params.fft import FILTERS, SHAPES, FrequencyFilter, filter_option
from ..params.files import FileOperand
from ..records import dataclass

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

#: The offsets that are no numbers: as the output needs it, and the middle between black and white.
_AUTO, _MIDDLE = "auto", "middle"
# The kinds of filters that take out the mean.
_WITHOUT_MEAN = ("highpass", "bandpass")
# The light of sRGB's value 0.5, IEC 61966-2-1.
_MIDDLE_LIGHT = ((0.5 + 0.055) / 1.055) ** 2.4


@dataclass(frozen=True)
class FilterParams(Params):
    """Filter the frequencies of images, in linear light and with premultiplied alpha.

    --kind, --cutoff, --shape and --order describe a filter, in cycles per pixel as in clpix fft. The spectrum is
    multiplied by it, and by --mask. The mask is laid out like the picture that clpix fft makes of the spectrum, and
    removes what is black there. Two opposite places make a pair, and each counts half.

    A highpass or a bandpass leaves differences around 0. Integers cannot be negative, so that an output of integers has
    them around the middle gray, sRGB's 0.5. Floats stay as they are, unless --offset says otherwise. With --space
    encoded filters work on the stored values, where steps up and down from gray look equally large. Lowpass, bandstop
    and notch filter alpha as well. Otherwise it stays as it is.
    """

    kind: str | None = Choice("The frequencies that stay, or that go.", FILTERS).field(None)
    cutoff: tuple[str, ...] = Repeated(
        "A frequency in cycles per pixel, a band, or a notch's place and radius, once for each notch.",
        "F|LOW:HIGH|FX,FY[,R]",
    ).field(())
    shape: str = Choice("The shape of the filter's edge.", SHAPES).field("gaussian")
    order: int = Whole("The order of a Butterworth filter.", 1, 16).field(2)
    mask: FileOperand | None = File(
        "Multiply the spectrum by this picture, frequency 0 in the middle. Black is 0, white 1."
    ).field(None)
    border: str = Choice(
        "What is beyond the edges: the mirrored image, or the opposite side.", ("reflect", "wrap")
    ).field("reflect")
    offset: str | float = NumberOr(
        "Add this to the colours.", "auto|middle|V", -1e5, 1e5, {_AUTO: _AUTO, _MIDDLE: _MIDDLE}
    ).field(_AUTO)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind is None and self.mask is None:
            raise ParameterError("a filter needs --kind or --mask")
        if (self.kind is None) == bool(self.cutoff):
            raise ParameterError("kind and cutoff go together")
        if self.shape != "butterworth" and self.order != 2:
            raise ParameterError("only shape butterworth has an order")
        if self.kind is None and self.shape != "gaussian":
            raise ParameterError("a mask alone has no shape")
        self.filter()

    def filter(self) -> FrequencyFilter | None:
        """The filter without the mask. Raises ParameterError for a cutoff that is none of the kind."""
        return None if self.kind is None else filter_option(self.kind, self.cutoff, self.shape, self.order)

    @property
    def keeps_mean(self) -> bool:
        """Whether even light stays as it is, whatever the filter's cutoff."""
        return self.mask is None and self.kind not in _WITHOUT_MEAN


def filter_(gpu: Gpu, image: Image, params: FilterParams) -> Image:
    """Filters the planes of a planar float32 Image, premultiplied where it has alpha.

    With ``border`` reflect the image is one period of an even periodic function, twice as wide and as high.

    Raises ParameterError for a mask that is not of the image's size, or has values that are not finite.
    """
    from ..tiles.planes import first_planes

    filtered = image.shape[0] if params.keeps_mean else image.colours
    result = first_planes(image, filtered, lambda planes: _filtered(gpu, planes, params))
    return _finished(gpu, result, params)


def _filtered(gpu: Gpu, planes: Image, params: FilterParams) -> Image:
    from ..fourier.of_pixels import back
    from ..fourier.products import PARAMS, rfft2_bordered

    size = planes.shape[1], planes.shape[2]
    values = rfft2_bordered(gpu, planes, params.border)
    _multiply(gpu, values, 0, size, params)
    return back(gpu, values, size, _transform(size, params), PARAMS)


def _multiply(gpu: Gpu, values: Image, first: int, size: tuple[int, int], params: FilterParams) -> None:
    """Multiplies columns of half spectra of planes of this size, from ``first`` on, in place."""
    from ..fourier import spectrum

    spectrum.multiply(gpu, values, _transform(size, params), params.filter(), params.mask, size, first)


def _transform(size: tuple[int, int], params: FilterParams) -> tuple[int, int]:
    """Returns the rows and columns of the transform."""
    return size if params.border == "wrap" else (2 * size[0], 2 * size[1])


def _finished(gpu: Gpu, result: Image, params: FilterParams) -> Image:
    """Adds the offset to the colours of what was filtered."""
    from ..fourier import spectrum

    offset = params.offset
    if offset == _MIDDLE:
        offset = _MIDDLE_LIGHT if result.linear else 0.5
    return result if offset in (_AUTO, 0) else spectrum.offset(gpu, result, float(offset))


def _spectral(_gpu: Gpu, shape: tuple[int, int, int], params: FilterParams) -> Spectral:
    size = shape[1], shape[2]
    transform = _transform(size, params)
    return Spectral(
        transform,
        (lambda gpu, values, first: _multiply(gpu, values, first, size, params),),
        alpha=params.keeps_mean,
        finished=lambda gpu, image: _finished(gpu, image, params),
        fixed_bytes=4.0 * prod(transform) if params.mask is not None else 0.0,
    )


def _settled(params: FilterParams, dtype: Any) -> FilterParams:
    """Chooses the offset for an output with pixels of this type."""
    if params.offset != _AUTO:
        return params
    signed = params.kind in _WITHOUT_MEAN and dtype.kind == "u"
    return replace(params, offset=_MIDDLE if signed else 0.0)


def _traits(params: FilterParams) -> Traits:
    # The spectrum of four times as many values, once more between its axes; tables of transforms of large primes.
    whole = 32.0 if params.border == "wrap" else 64.0
    return Traits(
        premultiplied=True,
        kind="transform",
        keeps_range=params.keeps_mean,
        bytes_per_value=whole,
        fixed_bytes=64e6,
    )


OPERATION = Operation(
    "filter",
    FilterParams,
    filter_,
    traits=_traits,
    spectral=_spectral,
    settled=_settled,
    examples=(
        "clpix filter photo.png -o clean.png --kind notch --cutoff 0.2,0.2 --cutoff 0.2,-0.2",
        "clpix filter photo.jpg -o smooth.png --kind lowpass --cutoff 0.1",
        "clpix filter photo.jpg -o detail.png --kind highpass --cutoff 0.05 --shape butterworth",
    ),
)
