"""The attributes and arrays of a spectrum file, written and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, ParameterError
from ..files import RowsOfArray
from ..image import COMPLEX_HALF
from ..params.fft import FrequencyFilter, SpectrumParams
from ..params.files import FileOperand
from ..records import dataclass
from .spectrum import padded

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SpectrumRecord:
    """A spectrum file's description of the spectrum and of its image.

    Attributes
    ----------
    size
        (rows, columns) of the image; ``transform`` (rows, columns) after padding.
    planes, dtype, alpha, linear, associated
        The number of the image's planes, the depth of its file, and the planes' meaning (see
        :class:`gpuops.files.Picture`).
    """

    params: SpectrumParams
    size: tuple[int, int]
    planes: int
    dtype: str
    alpha: bool
    linear: bool

    @property
    def transform(self) -> tuple[int, int]:
        return padded(self.size, self.params.pad)

    @property
    def shape(self) -> tuple[int, int, int]:
        rows, columns = self.transform
        return self.planes, rows, columns // 2 + 1 if self.params.half else columns

    def attributes(self, program: str) -> dict[str, Any]:
        """The attributes for :func:`gpuops.files.write_data`."""
        p = self.params
        return {
            "kind": "spectrum",
            "program": program,
            "size": list(self.size),
            "transform": list(self.transform),
            **{name: getattr(self, name) for name in ("planes", "dtype", "alpha", "linear")},
            **{name: getattr(p, name) for name in ("norm", "half", "shift", "window", "pad")},
            "filter": asdict(p.filter) if p.filter else None,
            "mask": p.mask.written() if p.mask else None,
            "precision": p.precision,
        }

    def arrays(self, values: Array) -> dict[str, Array]:
        """The arrays to store. Half precision is stored as real and imaginary parts, since it has no complex type.

        Raises ParameterError for values in half precision that are not finite.
        """
        if self.params.precision != "half":
            return {"spectrum": values}
        parts = {name: np.ascontiguousarray(values[name]) for name in self.names}
        for part in parts.values():
            check_halves(part)
        return parts

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return ("real", "imag") if self.params.precision == "half" else ("spectrum",)

    @property
    def stored(self) -> np.dtype[Any]:
        """The type of the arrays."""
        kind = {"half": "float16", "single": "complex64", "double": "complex128"}[self.params.precision]
        return np.dtype(kind)


def check_halves(part: Array) -> None:
    """Raises ParameterError for parts of a spectrum in half precision that are not finite."""
    if not np.isfinite(part).all():
        raise ParameterError(
            "its spectrum goes beyond 65504, where half precision ends, or it has pixels that are NaN or infinite: "
            "use --precision single"
        )


def check_finite(path: str, part: Array) -> None:
    """Raises FileError for parts of a file's spectrum that are not finite."""
    if not np.isfinite(part).all():
        raise FileError(f"{path}: the spectrum has values that are NaN or infinite")


def parse(
    path: str, arrays: Mapping[str, Array], attributes: Mapping[str, Any]
) -> tuple[SpectrumRecord, Array]:
    """Returns the record and the values of a spectrum file. Raises FileError for parts that are missing or contradict
    each other."""
    record = described(path, arrays, attributes)
    for name in record.names:
        check_finite(path, arrays[name])
    if record.params.precision != "half":
        return record, arrays["spectrum"]
    values: Array = np.empty(record.shape, COMPLEX_HALF)
    values["real"], values["imag"] = arrays["real"], arrays["imag"]
    return record, values


def described(
    path: str, arrays: Mapping[str, Array | RowsOfArray], attributes: Mapping[str, Any]
) -> SpectrumRecord:
    """Returns the record of a spectrum file, whose arrays need not be read yet. Raises FileError as :func:`parse`."""
    if attributes.get("kind") != "spectrum":
        hint = " (clpix idwt reads these)" if "wavelet" in attributes else ""
        raise FileError(
            f"{path}: holds {attributes.get('kind', 'no')!s:.40} data, not the spectrum of an image{hint}"
        )
    try:
        plain: dict[str, Any] = {name: attributes[name] for name in ("norm", "window", "pad", "precision")}
        plain |= {name: _flag(attributes[name]) for name in ("half", "shift")}
        params = SpectrumParams(
            **plain,
            filter=_filter(attributes["filter"]),
            mask=FileOperand.of(attributes["mask"]) if attributes.get("mask") else None,
        )
        rows, columns = (_count(n) for n in attributes["size"])
        record = SpectrumRecord(
            params,
            (rows, columns),
            _count(attributes["planes"]),
            attributes["dtype"],
            _flag(attributes["alpha"]),
            _flag(attributes["linear"]),
        )
        transform = tuple(_count(n) for n in attributes["transform"])
        expected = record.transform
    except KeyError as error:
        raise FileError(
            f"{path}: the attribute {error} is missing: write the spectrum anew with clpix fft"
        ) from None
    except (ParameterError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise FileError(
            f"{path}: its attributes make no sense ({error!s:.200}): write it anew with clpix fft"
        ) from None
    if record.dtype not in ("uint8", "uint16", "float16", "float32"):
        raise FileError(f"{path}: an image of {record.dtype!r:.40} is not known here")
    if not 1 <= record.planes <= 4 or record.alpha != (record.planes in (2, 4)):
        raise FileError(
            f"{path}: {record.planes} planes {'with' if record.alpha else 'without'} alpha are no image"
        )
    if transform != expected:
        raise FileError(
            f"{path}: an image of {record.size} padded by {params.pad!r} has a transform of {expected}, "
            f"but {transform} is written there"
        )
    for name in record.names:
        if name not in arrays:
            raise FileError(f"{path}: the array {name!r} is missing")
        if (arrays[name].shape, arrays[name].dtype) != (record.shape, record.stored):
            raise FileError(
                f"{path}: {name!r} is {arrays[name].dtype} of shape {arrays[name].shape}, "
                f"but its attributes mean {record.stored} of {record.shape}"
            )
    return record


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        raise ValueError(f"{value!r} is no size")
    return value


def _filter(value: Any) -> FrequencyFilter | None:
    if value is None:
        return None
    spec = dict(value)
    if "centre" in spec:  # a file that was written when a notch filter had one place
        centre = tuple(spec.pop("centre"))
        spec["notches"] = [(*centre, spec["high"])] if spec["kind"] == "notch" else []
    return FrequencyFilter(**{**spec, "notches": tuple((x, y, radius) for x, y, radius in spec["notches"])})
