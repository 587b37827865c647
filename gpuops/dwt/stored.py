"""Coefficients as named arrays and attributes, and back: what a coefficient file says, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, ParameterError
from ..gpu import Gpu
from ..image import PIXEL_TYPES, Image
from ..params.dwt import DwtParams
from .transform import Details, band_shapes

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Stored:
    """What a file holds beside the bands: how they were made and what the image was."""

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


def pack(
    approximation: Image, details: Sequence[Details[Image]], stored: Stored
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays cA5, cH5, cV5, cD5, … cD1 of (planes, height, width), and the attributes that describe them."""
    images = [approximation, *(band for bands in details for band in bands)]
    arrays: dict[str, Array] = {
        name: image.numpy() for name, image in zip(_names(len(details)), images, strict=True) if image.nbytes
    }
    params = stored.params
    attributes = {
        "transform": "dwt",
        "wavelet": params.wavelet,
        "mode": params.mode,
        "levels": len(details),
        "integer": params.integer,
        "shape": list(stored.shape),
        "dtype": stored.dtype,
        "alpha": stored.alpha,
        "linear": stored.linear,
    }
    return arrays, attributes


def unpack(arrays: Mapping[str, Array], attributes: Mapping[str, Any]) -> Stored:
    """The description of a file's bands, which are those described, no more, no fewer, and finite.

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


def load(gpu: Gpu, arrays: Mapping[str, Array], stored: Stored) -> tuple[Image, list[Details[Image]]]:
    """The bands on the device."""
    images = []
    for name, shape in band_shapes(stored.params, stored.shape[1:], stored.params.levels or 0):
        image = (
            gpu.array(arrays[name]) if 0 not in shape else gpu.empty((stored.shape[0], *shape), stored.sample)
        )
        image.alpha, image.linear = stored.alpha, stored.linear
        images.append(image)
    approximation, *rest = images
    return approximation, [(rest[i], rest[i + 1], rest[i + 2]) for i in range(0, len(rest), 3)]


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


def _names(levels: int) -> list[str]:
    return [f"cA{levels}", *(f"c{kind}{level}" for level in range(levels, 0, -1) for kind in "HVD")]
