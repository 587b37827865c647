"""Coefficients as named arrays and attributes, and back, with the checks of a coefficient file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, ParameterError
from ..gpu import Gpu
from ..image import PIXEL_TYPE_NAMES, Image
from ..params.dwt import DwtParams
from ..pixels.coding import Decoding, Encoding
from ..tiles.ends import Anywhere, HostImage, Source
from ..tiles.memory import ROUNDED, parts
from ..tiles.pixels import PixelSink, PixelSource
from . import bands, multilevel, transform
from .transform import band_shapes

Array = npt.NDArray[Any]

#: The turns in which an image that is overwritten comes to the device, and its bands go from there.
TURNS = 64

WHITE = {"uint8": 255, "uint16": 65535}  # the levels of the integer transform


@dataclass(frozen=True)
class StoredBands:
    """A file's description of its bands: the parameters that made them, and the image's shape and kind."""

    params: DwtParams
    shape: tuple[int, int, int]
    dtype: str
    alpha: bool
    linear: bool

    @property
    def sample(self) -> np.dtype[Any]:
        """The coefficients' type."""
        return np.dtype(np.int32 if self.params.integer else np.float32)

    def bands(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes (planes, height, width) of the arrays; bands without coefficients are not stored."""
        found = band_shapes(self.params, self.shape[1:], self.params.levels or 0)
        return {name: (self.shape[0], *shape) for name, shape in found if 0 not in shape}

    def names(self) -> list[str]:
        """The names of all bands, those without coefficients too."""
        return [name for name, _ in band_shapes(self.params, self.shape[1:], self.params.levels or 0)]

    def without_alpha(self) -> StoredBands:
        """The description of the colours' bands alone."""
        return replace(self, shape=(self.shape[0] - self.alpha, *self.shape[1:]), alpha=False)

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


def copies(about: StoredBands, *, overwrite: bool = False, more: bool = False) -> float:
    """The copies of an image that its pixels, its samples and all that is made of them take on the device.

    ``overwrite``: the image is overwritten. Beside it and what the pool rounds up, each turn has the file's pixels,
    their samples, and these converted; ``strip`` puts more of small images aside. ``more``: coefficients are processed
    further, which takes up to twice as much.
    """
    if overwrite:
        return ROUNDED * (1 + 3 / min(TURNS, about.shape[1])) + 0.65 * (about.params.method == "strip")
    return multilevel.COPIES * (2 if more else 1)


def source_of(
    gpu: Gpu, pixels: Array, decoding: Decoding, about: StoredBands, *, turns: int = 1
) -> PixelSource:
    """A file's pixels (height, width, channels) as the source of a transform; ``turns``: see
    :class:`~gpuops.tiles.pixels.PixelSource`."""
    convert = partial(bands.to_levels, maximum=WHITE[about.dtype]) if about.params.integer else None
    return PixelSource(
        gpu, pixels, decoding, linear=about.linear, convert=convert, dtype=about.sample, turns=turns
    )


def sink_of(about: StoredBands, encoding: Encoding) -> PixelSink:
    """The sink of an inverse transform."""
    convert = partial(bands.from_levels, maximum=WHITE[about.dtype]) if about.params.integer else None
    return PixelSink(about.shape, encoding, alpha=about.alpha, convert=convert)


def coefficients(source: Source, params: DwtParams) -> list[Anywhere]:
    """All bands. Raises ParameterError for NaN or infinite pixels, which spread over all coefficients."""
    found = multilevel.decompose(source, params)
    if found[0].dtype.kind == "f":
        _check_finite(found[0].numpy())
    return found


def overwritten(image: Image, about: StoredBands) -> dict[str, Array]:
    """The arrays of a file by a method that works in place, in the memory of the image: little is needed beside it, as
    bands come to the host some rows at a time.

    Raises ParameterError as :func:`coefficients`.
    """
    arrays = {name: np.empty(shape, about.sample) for name, shape in about.bands().items()}
    places = transform.overwriting(image, about.params, about.params.levels or 0)
    for name, place in zip(about.names(), places, strict=True):
        if name in arrays:
            array, height = arrays[name], place.size[0]
            for rows in parts(height, array.nbytes // height, image.nbytes // TURNS):
                array[:, rows] = place.copy(image, rows).numpy()
        if name.startswith("cA"):
            _check_finite(arrays[name])
    return arrays


def named(found: Sequence[Anywhere], about: StoredBands) -> dict[str, Array]:
    """The arrays of a file: bands without coefficients are not stored."""
    return {name: band.numpy() for name, band in zip(about.names(), found, strict=True) if band.nbytes}


def found_in(gpu: Gpu, arrays: Mapping[str, Array], about: StoredBands) -> list[HostImage]:
    """All bands of a file; ``about`` may be without the file's alpha."""
    planes = about.shape[0]
    return [
        HostImage(gpu, arrays[name][:planes] if name in arrays else np.empty((planes, *size), about.sample))
        for name, size in band_shapes(about.params, about.shape[1:], about.params.levels or 0)
    ]


def _check_finite(approximation: Array) -> None:
    if not np.isfinite(approximation).all():
        raise ParameterError("holds NaN or infinite pixels, which would spread over all coefficients")


def unpack(arrays: Mapping[str, Array], attributes: Mapping[str, Any]) -> StoredBands:
    """The description of a file's bands, after a check that the file has exactly these bands, with finite values.

    Raises FileError, which names the band or attribute that is wrong.
    """
    if attributes.get("transform") != "dwt":
        raise FileError("holds no wavelet coefficients: it was not made by clpix dwt")
    for name, kind in _ATTRIBUTES.items():
        if not isinstance(attributes.get(name), kind) or (kind is int and isinstance(attributes[name], bool)):
            raise FileError(f"the attribute {name!r} is missing or makes no sense")
    shape = tuple(attributes["shape"])
    if len(shape) != 3 or not all(isinstance(n, int) and 1 <= n < 2**31 for n in shape):
        raise FileError("the attribute 'shape' is not three positive numbers (planes, height, width)")
    if attributes["dtype"] not in PIXEL_TYPE_NAMES:
        raise FileError(f"the attribute 'dtype' is none of {', '.join(PIXEL_TYPE_NAMES)}")
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
    stored = StoredBands(params, shape, attributes["dtype"], attributes["alpha"], attributes["linear"])
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
