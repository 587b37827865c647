"""ICC profiles read as colour spaces, matrices with curves and tables, and the former written of them.

Source: ICC.1:2022 (profile version 4.4): 7.2 (header), 8.3 to 8.4 (tags of a profile), 10 (types; 10.10 to 10.12:
tables), annex F (the model of a matrix and curves).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pixels.colour import Colour, tidied
from ..pixels.curves import LINEAR_CURVE, Cube, Curve, Hlg, Parametric, Pq, Sampled
from ..pixels.primaries import D50_XYZ, D65, REC709, ColourError, Values, adaptation, to_rec709, xyz
from . import cicp

#: Bytes of a profile's header.
_HEADER = 128
#: The most tags of a profile.
_MOST_TAGS = 1000
#: The tags of tables that lead to the connection space.
_LUTS = ("A2B0", "A2B1", "A2B2", "D2B0", "D2B1", "D2B2", "D2B3")
#: The names of colour spaces that are not RGB or gray, as messages say them.
_KINDS = {b"GRAY": "gray", b"CMYK": "inks", b"Lab ": "CIELAB", b"XYZ ": "CIE XYZ", b"YCbr": "YCbCr"}
#: The number of parameters of each type of parametric curve.
_NUMBERS = (1, 3, 4, 5, 7)
#: Parts of one of an s15Fixed16Number.
_FIXED = 65536
#: All s15Fixed16Numbers are less.
_LARGEST = 32768
#: The least and the largest exponent of a curve; others are damage.
_POWERS = (1 / 128, 128.0)
#: Samples of a curve that has no formula here.
_SAMPLES = 4096
#: The version of the profiles that are written, 4.4.
_VERSION = bytes((4, 0x40, 0, 0))
#: The copyright text that a profile must have.
_COPYRIGHT = "No copyright, use freely"
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


# Reading -------------------------------------------------------------------------------------------


def is_for_gray(profile: bytes) -> bool:
    """Whether a profile is for gray; else it is for colours."""
    return profile[16:20] == b"GRAY"


def colour_of(profile: bytes) -> tuple[Colour, str]:
    """The space that a profile describes, and what of the profile the space leaves out, or "".

    A table counts before a matrix. Raises ColourError where it is damaged, or for neither RGB nor gray.
    """
    space, connection = profile[16:20], profile[20:24]
    tags = _tags(profile)
    if space not in (b"RGB ", b"GRAY"):
        raise ColourError(f"is for {_name_of(space)}")
    called = _text(tags.get("desc", b""))
    if data := tags.get("cicp"):  # it tells how bright 1 is, which HDR curves cannot
        with suppress(ColourError):  # the rest of the profile tells it, too
            return tidied(replace(cicp.colour_of(data[8:12]), called=called)), ""
    remark = "tables" if any(name in tags for name in _LUTS) else ""
    if remark:
        try:
            if space == b"GRAY":
                table, tinted = gray_table(profile)
                return tidied(Colour((table,), called=called)), "tint" if tinted else ""
            return Colour((LINEAR_CURVE,), called=called, cube=cube_table(profile)), ""
        except ColourError:
            if ("kTRC" if space == b"GRAY" else "rXYZ") not in tags:
                raise
    if space == b"GRAY":
        if "kTRC" not in tags or connection not in (b"XYZ ", b"Lab "):
            raise ColourError("has no curve for gray")
        curve = _curve(tags["kTRC"])
        if connection == b"Lab ":
            curve = _of_lightness(curve)
        return tidied(Colour((curve,), called=called)), remark
    if any(name not in tags for c in "rgb" for name in (f"{c}XYZ", f"{c}TRC")) or connection != b"XYZ ":
        raise ColourError("has no matrix")
    columns = np.stack([_xyz(tags[f"{c}XYZ"]) for c in "rgb"], axis=1)
    matrix = to_rec709(columns, D50_XYZ)
    curves = tuple(_curve(tags[f"{c}TRC"]) for c in "rgb")
    return tidied(Colour(curves, matrix, called=called)), remark


def description(profile: bytes) -> str:
    """The name that a profile gives itself, or "" where there is none that can be read."""
    with suppress(ColourError):
        return _text(_tags(profile).get("desc", b""))
    return ""


def _tags(profile: bytes) -> Mapping[str, bytes]:
    """The data of each tag. Raises ColourError."""
    if len(profile) < _HEADER + 4 or profile[36:40] != b"acsp":
        raise ColourError("is damaged")
    (count,) = struct.unpack_from(">I", profile, _HEADER)
    if count > _MOST_TAGS or len(profile) < _HEADER + 4 + 12 * count:
        raise ColourError("is damaged")
    tags = {}
    for i in range(count):
        name, start, size = struct.unpack_from(">4sII", profile, _HEADER + 4 + 12 * i)
        if start + size > len(profile):
            raise ColourError("is cut off")
        tags[name.decode("latin-1")] = profile[start : start + size]
    return tags


@lru_cache(maxsize=4)
def check_for_inks(profile: bytes) -> None:
    """Raises ColourError where a profile is not one that makes light of cyan, magenta, yellow and black."""
    tags, space = _tags(profile), profile[16:20]
    if space != b"CMYK":
        raise ColourError(f"is for {_name_of(space)}")
    if not any(name in tags for name in _LUTS):
        raise ColourError("has no tables that make light of inks")
    _sensible(profile, _steps(_STEPS_OF_INKS, 4).reshape(_STEPS_OF_INKS, -1, 4), "cmyk")


def _name_of(space: bytes) -> str:
    """The name of a profile's colour space, for messages."""
    return _KINDS.get(space, space.decode("latin-1").strip() or "no colours")


def _xyz(data: bytes) -> Values:
    if data[:4] != b"XYZ " or len(data) < 20:
        raise ColourError("has a damaged matrix")
    return np.array(struct.unpack_from(">3i", data, 8)) / _FIXED


def _curve(data: bytes) -> Curve:
    """Reads a curveType or a parametricCurveType (10.6 and 10.18)."""
    if data[:4] == b"curv" and len(data) >= 12:
        (count,) = struct.unpack_from(">I", data, 8)
        if len(data) < 12 + 2 * count:
            raise ColourError("has a damaged curve")
        values = np.frombuffer(data, ">u2", count, 12)
        if count == 0:
            return LINEAR_CURVE
        if count == 1:
            return _checked(Parametric(float(values[0]) / 256))
        return Sampled(tuple((values / 65535).tolist()))
    if data[:4] == b"para" and len(data) >= 12:
        (kind,) = struct.unpack_from(">H", data, 8)
        if kind < len(_NUMBERS) and len(data) >= 12 + 4 * _NUMBERS[kind]:
            numbers = (np.array(struct.unpack_from(f">{_NUMBERS[kind]}i", data, 12)) / _FIXED).tolist()
            return _checked(_parametric(kind, *numbers))
    raise ColourError("has a damaged curve")


def _parametric(kind: int, g: float, a: float = 1.0, b: float = 0.0, *rest: float) -> Parametric:
    """Gives function types 0 to 4 of table 68, all in the form of the last one."""
    if kind == 0:
        return Parametric(g)
    if kind in (1, 2):  # below −b / a kind 1 gives 0, kind 2 gives c
        if a == 0:
            raise ColourError("has a damaged curve")
        level = rest[0] if rest else 0.0
        return Parametric(g, a, b, 0.0, max(-b / a, 0.0), level, level)
    c, d, *offsets = rest
    e, f = offsets or (0.0, 0.0)
    return Parametric(g, a, b, c, d, e, f)


def _of_lightness(curve: Curve) -> Curve:
    """Gives the curve to light of a curve that gives CIE 1976 L* as a fraction of 100."""
    lightness = 100 * curve.light(np.linspace(0, 1, _SAMPLES))
    light = np.where(lightness > 8, ((lightness + 16) / 116) ** 3, lightness * 27 / 24389)
    return Sampled(tuple(light.tolist()))


def _checked(curve: Parametric) -> Parametric:
    with np.errstate(all="ignore"):
        light = curve.light(np.linspace(0, 1, 17))
    if not (np.isfinite(light).all() and 0 < light[-1] < 1e3 and curve.g > 0 and curve.d < _LARGEST):
        raise ColourError("has a damaged curve")
    if not _POWERS[0] <= curve.g <= _POWERS[1]:
        raise ColourError(f"has a curve of the power {curve.g:.4g}, which makes no sense")
    return curve


def _text(data: bytes) -> str:
    """Reads a textDescriptionType of version 2, a multiLocalizedUnicodeType or a textType."""
    kind = data[:4]
    if kind == b"mluc" and len(data) >= 28:
        count, _, _, _, length, start = struct.unpack_from(">II2s2sII", data, 8)
        return data[start : start + length].decode("utf-16-be", "replace").strip("\0 ") if count else ""
    if kind == b"desc" and len(data) >= 12:
        (length,) = struct.unpack_from(">I", data, 8)
        return data[12 : 12 + length].decode("latin-1").strip("\0 ")
    return data[8:].decode("latin-1").strip("\0 ") if kind == b"text" else ""


# Writing -------------------------------------------------------------------------------------------


def can_describe(colour: Colour, *, gray: bool) -> bool:
    """Whether a profile can hold a colour space: not one of narrow range, nor one of too large numbers.

    HDR signals need code points to say that values are brighter than white, and code points are only for RGB.
    """
    if colour.cube is not None:
        return not gray  # the profile that it comes from
    hdr = any(isinstance(curve, Pq | Hlg) for curve in colour.curves)
    said = not hdr or (not gray and cicp.codes_of(colour) is not None)
    return said and not colour.narrow and all(map(_fits, colour.curves))


def _fits(curve: Curve) -> bool:
    """Whether a profile has room for a curve's numbers."""
    if not isinstance(curve, Parametric):
        return True
    return _POWERS[0] <= curve.g <= _POWERS[1] and max(map(abs, curve.numbers)) < _LARGEST


def profile_of(colour: Colour, *, gray: bool) -> bytes:
    """A profile of version 4.4 for these colours, or for gray with their curve; without a date, so always the same.

    Colours of a table have the profile that it was made of.
    """
    if colour.cube is not None:
        return colour.cube.profile
    curves = [_written_curve(curve) for curve in colour.curves]
    white = xyz(D65)
    tags = {
        b"desc": _written_text(colour.called or f"{colour.primaries}, {colour.transfer}"),
        b"cprt": _written_text(_COPYRIGHT),
        b"wtpt": _written_xyz(D50_XYZ),
    }
    if gray:
        tags[b"kTRC"] = curves[0]
    else:
        to_d50 = adaptation(white, D50_XYZ)
        columns = (to_d50 @ REC709.to_xyz() @ np.reshape(colour.matrix, (3, 3))).T
        for channel, column, curve in zip("rgb", columns, curves * (3 // len(curves)), strict=True):
            tags[f"{channel}XYZ".encode()] = _written_xyz(column)
            tags[f"{channel}TRC".encode()] = curve
        tags[b"chad"] = b"sf32\0\0\0\0" + _fixed(to_d50.ravel())
        if codes := cicp.codes_of(colour):
            tags[b"cicp"] = b"cicp\0\0\0\0" + codes
    table, body = struct.pack(">I", len(tags)), b""
    start = _HEADER + 4 + 12 * len(tags)
    places: dict[bytes, int] = {}
    for name, data in tags.items():
        if data not in places:
            places[data] = start + len(body)
            body += data + bytes(-len(data) % 4)
        table += struct.pack(">4sII", name, places[data], len(data))
    header = struct.pack(
        ">I4x4s4s4s4s12x4s28x", _HEADER + len(table) + len(body), _VERSION, b"mntr",
        b"GRAY" if gray else b"RGB ", b"XYZ ", b"acsp",
    )  # fmt: skip
    header += _fixed(D50_XYZ)
    return header.ljust(_HEADER, b"\0") + table + body


def _written_curve(curve: Curve) -> bytes:
    if isinstance(curve, Parametric):
        numbers = curve.numbers
        kind = 0 if numbers[1:] == (1, 0, 0, 0, 0, 0) else 4
        return struct.pack(">4s4xHxx", b"para", kind) + _fixed(numbers[: _NUMBERS[kind]])
    if isinstance(curve, Sampled):
        light = np.array(curve.samples)
    else:
        light = curve.light(np.linspace(0, 1, _SAMPLES))
        light /= light[-1]
    samples = [round(float(value) * 65535) for value in np.clip(light, 0, 1)]
    return struct.pack(f">4s4xI{len(samples)}H", b"curv", len(samples), *samples)


def _written_xyz(value: Values) -> bytes:
    return b"XYZ \0\0\0\0" + _fixed(value)


def _written_text(text: str) -> bytes:
    data = text.encode("utf-16-be")
    return struct.pack(">4s4xII2s2sII", b"mluc", 1, 12, b"en", b"US", len(data), 28) + data


def _fixed(values: Sequence[float] | Values) -> bytes:
    """Writes numbers as s15Fixed16Numbers."""
    parts = [round(float(value) * _FIXED) for value in values]
    return struct.pack(f">{len(parts)}i", *parts)


# Tables, by Little CMS for the relative colorimetric intent -----------------------------------------


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
        light = imagecodecs.cms_transform(
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
    return np.asarray(light)


def _sensible(profile: bytes, values: Floats, space: str) -> Floats:
    """Does the same as :func:`evaluated`, and also raises ColourError for light that makes no sense."""
    light = evaluated(profile, values, space)
    if not np.abs(light).max() <= _MOST_XYZ:  # false for NaN, too
        raise ColourError("has tables that make no sense")
    return light


def _steps(count: int, channels: int) -> Floats:
    """All combinations of equal steps, those of the first channel following each other: (count, …, channels)."""
    axes = np.meshgrid(*[np.linspace(0, 1, count)] * channels, indexing="ij")
    return np.stack(axes[::-1], axis=-1)


@lru_cache(maxsize=4)  # the pictures of a batch often have one profile
def cube_table(profile: bytes) -> Cube:
    """Evaluates a profile's tables in double. Raises ColourError."""
    rgb = _steps(_STEPS, 3)
    light = _sensible(profile, rgb.reshape(_STEPS, -1, 3), "rgb")
    return Cube.of_xyz(light.reshape(rgb.shape).astype(np.float64, copy=False), profile)


@lru_cache(maxsize=4)
def gray_table(profile: bytes) -> tuple[Sampled, bool]:
    """The luminance that a profile's tables give for gray, and whether they give it a tint. Raises ColourError."""
    grays = np.linspace(0, 1, _GRAYS).reshape(1, -1)
    light = _sensible(profile, grays, "gray").reshape(-1, 3) / D50_XYZ
    luminance = light[:, 1]
    tinted = bool(np.abs(light - luminance[:, None]).max() > _NEUTRAL)
    return Sampled(tuple(luminance.tolist()), "table"), tinted
