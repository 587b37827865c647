"""Coefficients as named arrays and attributes, and back, with the checks of a coefficient file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, ParameterError
from ..files import RowsOfArray
from ..gpu import Gpu
from ..image import PIXEL_TYPE_NAMES, Image
from ..params.dwt import DwtParams
from ..pixels.coding import Decoding, Encoding
from ..records import dataclass
from ..tiles.ends import Anywhere, HostImage, Source
from ..tiles.memory import ROUNDED, parts
from ..tiles.pixels import Conversion, PixelSink, PixelSource
from . import bands, multilevel, transform
from .transform import band_shapes

Array = npt.NDArray[Any]

#: The turns in which an image that is overwritten comes to the device, and its bands go from there.
TURNS = 64

# Rows of an array that are looked at at a time.
_ROWS = 256

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

    def all_bands(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes (planes, height, width) of all bands, those without coefficients too."""
        shapes = band_shapes(self.params, self.shape[1:], self.params.levels or 0)
        return {name: (self.shape[0], *shape) for name, shape in shapes}

    def bands(self) -> dict[str, tuple[int, ...]]:
        """The same of those that are stored, as they have coefficients."""
        return {name: shape for name, shape in self.all_bands().items() if 0 not in shape}

    def without_alpha(self) -> StoredBands:
        """The description of the colours' bands alone."""
        return replace(self, shape=(self.shape[0] - self.alpha, *self.shape[1:]), alpha=False)

    def attributes(self) -> dict[str, Any]:
        """The attributes that :func:`unpack` reads again."""
        known = {**vars(self.params), **vars(self)}
        known |= {"levels": self.params.levels or 0, "shape": list(self.shape)}
        return {"transform": "dwt", **{name: known[name] for name in _ATTRIBUTES}}


def host_bytes(about: StoredBands, nbytes: int) -> int:
    """Bytes of the host's memory that pixels of ``nbytes`` and all bands take, and approximations on the way."""
    return nbytes + 4 * prod(about.shape) * about.sample.itemsize // 3


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
    return PixelSink(about.shape, encoding, alpha=about.alpha, convert=from_levels(about))


def from_levels(about: StoredBands) -> Conversion | None:
    """What is done to samples before they become pixels."""
    return partial(bands.from_levels, maximum=WHITE[about.dtype]) if about.params.integer else None


def coefficients(
    source: Source, params: DwtParams, *, memory: int | None = None, made: multilevel.Made | None = None
) -> list[Anywhere]:
    """All bands; ``memory`` and ``made`` are as for :func:`multilevel.decompose`.

    Raises ParameterError for NaN or infinite pixels, which spread over all coefficients.
    """
    subbands = multilevel.decompose(source, params, memory=memory, made=made)
    if subbands[0].dtype.kind == "f":
        _check_finite(subbands[0].numpy())
    return subbands


def overwritten(image: Image, about: StoredBands) -> dict[str, Array]:
    """The arrays of a file by a method that works in place, in the memory of the image: little is needed beside it, as
    bands come to the host some rows at a time.

    Raises ParameterError as :func:`coefficients`.
    """
    arrays = {name: np.empty(shape, about.sample) for name, shape in about.bands().items()}
    places = transform.overwriting(image, about.params, about.params.levels or 0)
    for name, place in zip(about.all_bands(), places, strict=True):
        if name in arrays:
            array, height = arrays[name], place.size[0]
            for rows in parts(height, array.nbytes // height, image.nbytes // TURNS):
                array[:, rows] = place.copy(image, rows).numpy()
        if name.startswith("cA"):
            _check_finite(arrays[name])
    return arrays


def named(subbands: Sequence[Anywhere], about: StoredBands) -> dict[str, Array]:
    """The arrays of a file: bands without coefficients are not stored."""
    return {name: band.numpy() for name, band in zip(about.all_bands(), subbands, strict=True) if band.nbytes}


def host_bands(gpu: Gpu, arrays: Mapping[str, Array], about: StoredBands) -> list[HostImage]:
    """All bands of a file; ``about`` may be without the file's alpha."""
    planes = about.shape[0]
    return [
        HostImage(gpu, arrays[name][:planes] if name in arrays else np.empty(shape, about.sample))
        for name, shape in about.all_bands().items()
    ]


def _check_finite(approximation: Array) -> None:
    if not np.isfinite(approximation).all():
        raise ParameterError("holds NaN or infinite pixels, which would spread over all coefficients")


def unpack(arrays: Mapping[str, Array | RowsOfArray], attributes: Mapping[str, Any]) -> StoredBands:
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
        if not all(np.isfinite(rows).all() for rows in _parts(array)):
            raise FileError(f"the band {name} holds NaN or infinite coefficients")
    extra = [name for name in arrays if name not in expected]
    if extra:
        raise FileError(
            f"the band {extra[0]} does not belong to {params.levels} levels of {shape[1]}×{shape[2]} pixels"
        )
    return stored


def _parts(array: Array | RowsOfArray) -> Iterable[Array]:
    """Returns an array, or some rows of it at a time."""
    return array.blocks(_ROWS) if isinstance(array, RowsOfArray) else (array,)


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
