"""The tables of ICC profiles, evaluated by Little CMS for the relative colorimetric intent.

Source: ICC.1:2022 (profile version 4.4): 10.10 to 10.12 (types of tables).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pixels.curves import Cube, Sampled
from ..pixels.primaries import D50_XYZ, ColourError

#: Steps of red, of green and of blue at which tables are evaluated.
_STEPS = 65
#: Steps of each ink at which tables are looked at for damage.
_STEPS_OF_INKS = 9
#: Steps of gray at which tables are evaluated: all of its codes.
_GRAYS = 65536
#: The most by which a gray's X and Z, relative to the white's, differ from its Y; more is a tint.
_NEUTRAL = 5e-3
#: The largest X, Y or Z that a table may have; more is damage.
_MOST_XYZ = 64.0

Floats = NDArray[np.floating[Any]]


def evaluated(profile: bytes, values: Floats, space: str) -> Floats:
    """CIE XYZ under D50 of a device's values, by its profile's tables.

    Parameters
    ----------
    values : array of floats
        Fractions 0 … 1: (rows, columns, 3) of ``rgb``, (rows, columns, 4) of ``cmyk``, (rows, columns) of ``gray``.
    space : str
        One of these names, which is the profile's own.

    Returns
    -------
    array (rows, columns, 3) of the type of the values, for gray (1, rows · columns, 3)

    Raises
    ------
    ColourError
        The tables are damaged.
    """
    import imagecodecs

    if space == "cmyk":  # Little CMS has percents of inks
        values = values * values.dtype.type(100)
    try:
        found = imagecodecs.cms_transform(
            values,
            profile,
            imagecodecs.cms_profile("xyz"),
            colorspace=space,
            outcolorspace="xyz",
            outdtype=values.dtype.name,
            intent=imagecodecs.CMS.INTENT.RELATIVE_COLORIMETRIC,
            flags=imagecodecs.CMS.FLAGS.NOOPTIMIZE,
        )
    except imagecodecs.CmsError:
        raise ColourError("has damaged tables") from None
    return np.asarray(found)


def _checked(profile: bytes, values: Floats, space: str) -> Floats:
    """Does the same as :func:`evaluated`, and also raises ColourError for light that makes no sense."""
    found = evaluated(profile, values, space)
    if not np.abs(found).max() <= _MOST_XYZ:  # false for NaN, too
        raise ColourError("has tables that make no sense")
    return found


def _steps(count: int, channels: int) -> Floats:
    """All combinations of equal steps, those of the first channel following each other: (count, …, channels)."""
    axes = np.meshgrid(*[np.linspace(0, 1, count)] * channels, indexing="ij")
    return np.stack(axes[::-1], axis=-1)


@lru_cache(maxsize=4)  # the pictures of a batch often have one profile
def cube(profile: bytes) -> Cube:
    """Evaluates a profile's tables in double. Raises ColourError."""
    rgb = _steps(_STEPS, 3)
    found = _checked(profile, rgb.reshape(_STEPS, -1, 3), "rgb")
    return Cube.of_xyz(found.reshape(rgb.shape).astype(np.float64, copy=False), profile)


@lru_cache(maxsize=4)
def gray(profile: bytes) -> tuple[Sampled, bool]:
    """The luminance that a profile's tables give for gray, and whether they give it a tint. Raises ColourError."""
    grays = np.linspace(0, 1, _GRAYS).reshape(1, -1)
    found = _checked(profile, grays, "gray").reshape(-1, 3) / D50_XYZ
    luminance = found[:, 1]
    tinted = bool(np.abs(found - luminance[:, None]).max() > _NEUTRAL)
    return Sampled(tuple(luminance.tolist()), "table"), tinted


@lru_cache(maxsize=4)
def check_inks(profile: bytes) -> None:
    """Raises ColourError where the tables of a profile for CMYK are damaged."""
    _checked(profile, _steps(_STEPS_OF_INKS, 4).reshape(_STEPS_OF_INKS, -1, 4), "cmyk")
