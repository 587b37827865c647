"""Coefficients as named arrays and attributes, and back, with the checks of a coefficient file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, ParameterError
from ..gpu import Gpu
from ..image import PIXEL_TYPES, Image
from ..params.dwt import IN_PLACE, DwtParams, ShrinkParams
from ..pixels.coding import Decoding, Encoding
from ..tiles.planes import in_turn, planewise
from . import bands, shrink, split, transform
from .parts import HostBand
from .rows import PixelSink, PixelSource, Source
from .transform import Details, band_shapes

Array = npt.NDArray[Any]

WHITE = {"uint8": 255, "uint16": 65535}  # the levels of the integer transform


@dataclass(frozen=True)
class Stored:
    """A file's description of its bands: the parameters that made them, and the image's shape and kind."""

    params: DwtParams
    shape: tuple[int, int, int]
    dtype: str
    alpha: bool
    linear: bool

    @property
    def sample(self) -> np.dtype[Any]:
        """The coefficients' type."""
        return _sample(self.params)

    def bands(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes (planes, height, width) of the arrays; bands without coefficients are not stored."""
        found = band_shapes(self.params, self.shape[1:], self.params.levels or 0)
        return {name: (self.shape[0], *shape) for name, shape in found if 0 not in shape}

    def names(self) -> list[str]:
        """The names of all bands, those without coefficients too."""
        return [name for name, _ in band_shapes(self.params, self.shape[1:], self.params.levels or 0)]

    def attributes(self) -> dict[str, Any]:
        """The attributes that :func:`unpack` reads again."""
        params = self.params
        return {
            "transform": "dwt",
            "wavelet": params.wavelet,
            "mode": params.mode,
            "levels": params.levels or 0,
            "integer": params.integer,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "alpha": self.alpha,
            "linear": self.linear,
        }


def _sample(params: DwtParams) -> np.dtype[Any]:
    return np.dtype(np.int32 if params.integer else np.float32)


def fits(gpu: Gpu, stored: Stored, *, overwrite_input: bool = False, more: bool = False) -> bool:
    """Whether the device has room for the pixels, the image and all that :func:`pack` needs beside them.

    ``more``: coefficients are processed further, too, which takes up to twice as much.
    """
    if overwrite_input and stored.params.method in IN_PLACE:
        return split.fits(gpu, stored.shape, stored.sample, copies=3.5 if stored.params.integer else 2.5)
    return room_for(gpu, stored.shape, stored.params, more=more)


def room_for(gpu: Gpu, shape: Sequence[int], params: DwtParams, *, more: bool = False) -> bool:
    """:func:`fits` for an image of ``shape`` (planes, height, width)."""
    sample = transform.working(gpu, _sample(params), params)
    return split.fits(gpu, shape, sample, copies=(2 if more else 1) * split.COPIES)


def pack(
    image: Image, stored: Stored, shrinking: ShrinkParams | None = None, *, overwrite_input: bool = False
) -> dict[str, Array]:
    """The bands of an image on the host: arrays cA5, cH5, cV5, cD5, … cD1 of (planes, height, width).

    Large images are transformed plane by plane. Methods that work in place do so if they may: they need a quarter of
    the image's memory beside it. Raises ParameterError for NaN or infinite pixels, which spread over all coefficients.
    """
    arrays, params = _empty(stored), stored.params
    for at in in_turn(image.shape[0], image.nbytes):
        part = image.planes(at)
        if params.integer:
            part = bands.to_levels(part, WHITE[stored.dtype])
        may_be_overwritten = overwrite_input or part is not image
        if may_be_overwritten and shrinking is None and params.method in IN_PLACE:
            _download(transform.overwriting(part, params, params.levels or 0), stored, arrays, at)
            continue
        approximation, details = transform.decompose(part, params)
        if shrinking is not None:
            _check_finite(approximation.numpy())  # the estimate of noise needs finite values
            details = shrink.shrink(approximation, details, params.wavelet, shrinking)
        _download(transform.flat(approximation, details), stored, arrays, at)
    return arrays


def pack_split(
    gpu: Gpu, pixels: Array, decoding: Decoding, stored: Stored, shrinking: ShrinkParams | None = None
) -> dict[str, Array]:
    """:func:`pack` for pixels (height, width, channels) on the host, in slabs that the device has room for."""
    found = coefficients_split(gpu, pixels, decoding, stored)
    if shrinking is not None:
        shrink.shrink_on_host(*transform.nested(found), stored.params.wavelet, shrinking)
    return named(found, stored)


def coefficients_split(gpu: Gpu, pixels: Array, decoding: Decoding, stored: Stored) -> list[HostBand]:
    """:func:`coefficients` for pixels on the host; the bands are on the host, too, in the order of a file's."""
    source = PixelSource(pixels, decoding, WHITE[stored.dtype] if stored.params.integer else None)
    return coefficients_of(gpu, source, stored.params, alpha=stored.alpha, linear=stored.linear)


def coefficients_of(
    gpu: Gpu, source: Source, params: DwtParams, *, alpha: bool = False, linear: bool = False
) -> list[HostBand]:
    """:func:`coefficients_split` for an image by its rows."""
    arrays = list(split.decompose(gpu, source, params, params.levels or 0).values())
    _check_finite(arrays[0])
    return [HostBand(gpu, array, alpha=alpha, linear=linear) for array in arrays]


def named(found: Sequence[HostBand], stored: Stored) -> dict[str, Array]:
    """The arrays of a file: bands without coefficients are not stored."""
    return {name: band.array for name, band in zip(stored.names(), found, strict=True) if band.nbytes}


def pack_bands(approximation: Image, details: Sequence[Details[Image]], stored: Stored) -> dict[str, Array]:
    """:func:`pack` for bands that are already computed."""
    arrays = _empty(stored)
    _download(transform.flat(approximation, details), stored, arrays, slice(0, stored.shape[0]))
    return arrays


def coefficients(image: Image, params: DwtParams) -> tuple[Image, list[Details[Image]]]:
    """All levels of an image. Raises ParameterError for NaN or infinite pixels, which the approximation shows, too."""
    approximation, details = transform.decompose(image, params)
    if approximation.dtype.kind == "f":
        _check_finite(approximation.numpy())
    return approximation, details


def _check_finite(approximation: Array) -> None:
    if not np.isfinite(approximation).all():
        raise ParameterError("holds NaN or infinite pixels, which would spread over all coefficients")


def _empty(stored: Stored) -> dict[str, Array]:
    return {name: np.empty(shape, stored.sample) for name, shape in stored.bands().items()}


def _download(found: Iterable[Image], stored: Stored, arrays: Mapping[str, Array], at: slice) -> None:
    """Copies bands, the approximation first, into planes ``at`` of the arrays.

    Raises ParameterError for an approximation that is not finite.
    """
    names = stored.names()
    remaining = iter(found)
    for name in names:
        band = next(remaining)
        if name in arrays:
            band.numpy(arrays[name][at])
        del band  # its memory may be the next one's
        if name == names[0]:
            _check_finite(arrays[name][at])


def unpack(arrays: Mapping[str, Array], attributes: Mapping[str, Any]) -> Stored:
    """The description of a file's bands; the bands are exactly those that it describes, and finite.

    Otherwise raises FileError, which names the band or attribute that is wrong.
    """
    if attributes.get("transform") != "dwt":
        raise FileError("holds no wavelet coefficients: it was not made by clpix dwt")
    for name, kind in _ATTRIBUTES.items():
        if not isinstance(attributes.get(name), kind) or (kind is int and isinstance(attributes[name], bool)):
            raise FileError(f"the attribute {name!r} is missing or makes no sense")
    shape = tuple(attributes["shape"])
    if len(shape) != 3 or not all(isinstance(n, int) and 1 <= n < 2**31 for n in shape):
        raise FileError("the attribute 'shape' is not three positive numbers (planes, height, width)")
    if attributes["dtype"] not in PIXEL_TYPES:
        raise FileError(f"the attribute 'dtype' is none of {', '.join(PIXEL_TYPES)}")
    if attributes["integer"] and not attributes["dtype"].startswith("uint"):
        raise FileError("the attributes contradict each other: an integer transform of float pixels")
    if not 1 <= shape[0] <= 4 or attributes["alpha"] != (shape[0] in (2, 4)):
        how = "with" if attributes["alpha"] else "without"
        raise FileError(f"the attributes make no sense: {shape[0]} planes {how} alpha are no image")
    try:
        params = DwtParams(
            attributes["wavelet"], attributes["mode"], attributes["levels"], integer=attributes["integer"]
        )
    except ParameterError as error:
        raise FileError(f"the attributes make no sense: {error!s:.200}") from None
    stored = Stored(params, shape, attributes["dtype"], attributes["alpha"], attributes["linear"])
    expected = stored.bands()
    for name, size in expected.items():
        if name not in arrays:
            raise FileError(f"the band {name} is missing")
        array = arrays[name]
        if array.shape != size:
            raise FileError(f"the band {name} has the shape {array.shape}, where {size} belongs")
        if array.dtype != stored.sample:
            raise FileError(f"the band {name} is {array.dtype}, where {stored.sample} belongs")
        if not np.isfinite(array).all():
            raise FileError(f"the band {name} holds NaN or infinite coefficients")
    extra = [name for name in arrays if name not in expected]
    if extra:
        raise FileError(
            f"the band {extra[0]} does not belong to {params.levels} levels of {shape[1]}×{shape[2]} pixels"
        )
    return stored


def image_of(gpu: Gpu, arrays: Mapping[str, Array], stored: Stored) -> Image:
    """The image that a file's bands stand for; a large one is made plane by plane."""
    planes, *shape = stored.shape
    layout = band_shapes(stored.params, stored.shape[1:], stored.params.levels or 0)

    def image(at: slice) -> Image:
        empty = gpu.empty((at.stop - at.start, 0, 0), stored.sample)
        found = [
            gpu.array(arrays[name][at]) if 0 not in size else empty.like((at.stop - at.start, *size))
            for name, size in layout
        ]
        result = transform.recompose(*transform.nested(found), stored.params, tuple(shape))
        return bands.from_levels(result, WHITE[stored.dtype]) if stored.params.integer else result

    result = planewise(planes, sum(arrays[name].nbytes for name in stored.bands()), image)
    result.alpha, result.linear = stored.alpha, stored.linear
    return result


def pixels_of(
    gpu: Gpu, arrays: Mapping[str, Array], stored: Stored, encoding: Encoding, *, alpha: bool
) -> PixelSink:
    """:func:`image_of` in slabs that the device has room for, as pixels on the host, with alpha or without."""
    planes = stored.shape[0] - (stored.alpha and not alpha)
    found = [
        arrays[name][:planes] if 0 not in size else np.empty((planes, *size), stored.sample)
        for name, size in band_shapes(stored.params, stored.shape[1:], stored.params.levels or 0)
    ]
    white = WHITE[stored.dtype] if stored.params.integer else None
    sink = PixelSink((planes, *stored.shape[1:]), encoding, alpha=stored.alpha and alpha, white=white)
    split.recompose(gpu, *transform.nested(found), stored.params, sink)
    return sink


_ATTRIBUTES: dict[str, type] = {
    "wavelet": str,
    "mode": str,
    "levels": int,
    "integer": bool,
    "shape": list,
    "dtype": str,
    "alpha": bool,
    "linear": bool,
}
