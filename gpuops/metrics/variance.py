"""The variance of each value of a render, as a picture beside its reference: ``a.exr`` and ``a.exr.variance.exr``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import files
from ..errors import FileError, ParameterError
from ..notes import note

#: What the name of a reference ends with that is the variance of another one.
SUFFIX = ".variance.exr"
# Header attributes: of how many runs it is the variance, and the digest of the reference that is the mean of them.
_RUNS, _OF = "varianceRuns", "varianceOf"


@dataclass(frozen=True)
class Variance:
    """The variance of a single run, in the reference's channels; alpha is stored as straight alpha is.

    ``runs``: how many runs the reference is the mean of, None if its own noise counts as nothing. ``of``: the SHA-256
    of the reference's file, empty if it is not said.
    """

    picture: files.Picture
    runs: int | None = None
    of: str = ""


def is_variance(name: str) -> bool:
    """Says whether a reference's name is that of a variance."""
    return name.endswith(SUFFIX)


def read(path: str, layer: str | None = None) -> Variance:
    """Reads a variance. One without clpix's header attributes is known exactly, and so is its reference."""
    return of_picture(path, files.read(path, layer=layer))


def digest_in(path: str) -> str:
    """Returns the :attr:`Variance.of` of a file, without reading its pixels if they come by rows."""
    try:
        rows = files.open_rows(path, None, 0)
    except files.NeedsWholeFile:
        rows = None
    return of_picture(path, files.read(path) if rows is None else rows.picture).of


def of_picture(path: str, picture: files.Picture) -> Variance:
    """Returns the variance that a file's picture is, as :func:`read` does."""
    attributes = picture.metadata.attributes
    runs, of = (attributes.get(name, (None, None))[1] for name in (_RUNS, _OF))
    if runs is not None and not (isinstance(runs, int) and runs >= 2):
        raise FileError(f"{path}: its attribute {_RUNS} must be 2 or more, not {runs!r}")
    return Variance(picture, runs, of or "")


def write(path: str, variance: Variance) -> None:
    """Writes a variance, in place of an older one."""
    attributes: dict[str, Any] = {_OF: ("string", variance.of)}
    if variance.runs is not None:
        attributes[_RUNS] = ("int", variance.runs)
    metadata = files.Metadata(attributes=attributes)
    files.write(path, replace(variance.picture, metadata=metadata), overwrite=True)


def mean_and_variance(paths: Sequence[str]) -> tuple[files.Picture, Variance]:
    """Returns the mean of the pictures that several runs made, as float32, and the variance of a single run.

    The variance is that of a sample, with n − 1 below; its sums are Welford's (Technometrics 4, 1962), in float64.

    Raises ParameterError for pictures with layers, of integers, or of different shapes.
    """
    first = files.read(paths[0])
    if first.layers:
        raise ParameterError(f"{paths[0]}: has layers, and a mean is written of a picture without any")
    if first.pixels.dtype.kind != "f":
        raise ParameterError(
            f"{paths[0]}: holds {first.pixels.dtype.name}, which a mean of runs does not fit; let the case write .exr"
        )
    mean: npt.NDArray[np.float64] = np.zeros(first.pixels.shape)
    squares = np.zeros_like(mean)
    with np.errstate(invalid="ignore", over="ignore"):
        for count, path in enumerate(paths, 1):
            picture = first if count == 1 else files.read(path)
            kinds = [(one.pixels.shape, one.alpha, one.window) for one in (picture, first)]
            if kinds[0] != kinds[1]:
                raise ParameterError(f"{path}: has another size, place or other channels than {paths[0]}")
            values = picture.pixels.astype(np.float64)
            step = values - mean
            mean += step / count
            squares += step * (values - mean)
        variance = (squares / (len(paths) - 1)).astype(np.float32)
        middle = replace(first, pixels=mean.astype(np.float32))
    if unlike := int((~np.isfinite(variance)).sum()):
        note(f"{paths[0]}: {unlike} values are not finite in every run; no error passes there")
    spread = files.Picture(variance, alpha=first.alpha, linear=True, associated=True)
    return middle, Variance(spread, len(paths))
