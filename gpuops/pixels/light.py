"""Pixels of any colour space → linear Rec. 709 light, on the device. sRGB and linear Rec. 709 need none of this."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..image import PIXEL_TYPES, Image
from ..params.dither import Dither
from .coding import Decoding, Encoding, Losses, losses, on_device, pack, unpack
from .colour import LINEAR, SRGB, Colour
from .curves import LINEAR_CURVE, Cube, Hlg, Pq
from .pointwise import each
from .primaries import D50_XYZ, IDENTITY, to_rec709
from .targets import stage

if TYPE_CHECKING:
    from ..files.picture import Picture
    from ..gpu import Gpu

Array = npt.NDArray[np.generic]

#: Bytes of light, made from pixels on the host, that are on the device at a time.
_AT_ONCE = 1 << 26
#: The memory that is taken altogether, at most, in multiples of these bytes.
_COPIES = 8


def of_pixels(pixels: Image, colour: Colour, *, alpha: bool, levels: str | None = None) -> Image:
    """Pixels (height, width, channels) of uint8, uint16, float16 or float32, gray or RGB → float32 of the same shape.

    ``alpha``: the last channel is alpha, which only becomes a fraction of its largest value. Light is as the space's
    curves and matrix make it: negative where a colour is beyond Rec. 709. ``levels``: the integer type if floats are
    fractions of its largest value; black and white of a narrow range depend on it.
    """
    gpu = pixels.gpu
    height, width, channels = pixels.shape
    colours = channels - alpha
    integers = pixels.dtype.kind == "u"
    kinds: dict[str, int] = {}
    curves: npt.NDArray[np.float32] | None = None
    table, matrix = None, colour.matrix
    if colour.cube is not None and colours == 3:
        table, kinds["CUBE"] = _on_device(gpu, colour.cube), colour.cube.size
        of_white = np.reshape(to_rec709(np.eye(3), D50_XYZ), (3, 3)) * D50_XYZ
        matrix = tuple(float(v) for v in (np.reshape(colour.matrix, (3, 3)) @ of_white).flat)
    if integers:
        curves = colour.light_of_codes(pixels.dtype.name)
        kinds["CODES"] = curves.shape[1]
    elif any(curve != LINEAR_CURVE for curve in colour.curves) or colour.narrow:
        formulas, samples = colour.formulas(levels), colour.samples(levels)
        if samples is None:
            curves = np.empty((len(formulas), 7), np.float32)
        else:
            curves = samples
            kinds["SAMPLES"] = curves.shape[1]
            odd = (isinstance(curve, Pq | Hlg) and not colour.narrow for curve in colour.curves)
            kinds["ODD"] = sum(1 << row for row, is_odd in enumerate(odd) if is_odd)
        for row, numbers in formulas.items():
            curves[row, :7] = numbers
        if formulas:
            kinds["POWERS"] = sum(1 << row for row in formulas)
    result = gpu.empty(pixels.shape)
    scale = 1.0 / np.iinfo(pixels.dtype.name).max if integers else 1.0
    numbers = (*matrix, *colour.scene, *[0.0] * 7)[:16]
    gpu.compute(
        ("lanes", "light"), "light", (height * width,), pixels, None if curves is None else gpu.array(curves), table,
        result, np.uint64(height * width), scale, numbers, group=256, label=f"light {pixels.dtype}", WIDTH=1,
        PIXEL=PIXEL_TYPES[pixels.dtype], HALF=pixels.dtype == np.float16, CHANNELS=channels, COLOURS=colours,
        CURVES=len(colour.curves), SCENE=bool(colour.scene), MATRIX=colours == 3 and matrix != IDENTITY, **kinds,
    )  # fmt: skip
    return result


def _on_device(gpu: Gpu, cube: Cube) -> Image:
    """Returns a table's entries on the device, where they are kept."""
    return gpu.kept(("cube", cube), lambda: gpu.array(np.frombuffer(cube.entries, np.float32)))


def of_host(
    gpu: Gpu,
    pixels: Array,
    colour: Colour,
    *,
    alpha: bool,
    written: Colour = LINEAR,
    dtype: npt.DTypeLike = np.float32,
    levels: str | None = None,
) -> tuple[Array, Losses]:
    """Does the same for pixels on the host, some rows at a time, and :func:`encoded` for the light.

    Returns the result and the values that did not fit.
    """
    result = np.empty(pixels.shape, dtype)
    at_once = min(_AT_ONCE, gpu.limits.global_bytes // _COPIES)
    rows = max(1, at_once // (4 * pixels[0].size))
    lost = np.zeros(2, np.int64)
    for at in range(0, len(pixels), rows):
        part = on_device(gpu, np.ascontiguousarray(pixels[at : at + rows]))
        made = of_pixels(part, colour, alpha=alpha, levels=levels)
        made, counted = encoded(unpack_light(made, alpha=alpha), written, dtype)
        made.numpy(result[at : at + rows])
        lost += losses(counted)
    return result, Losses(*lost.tolist())


def of_planes(image: Image, colour: Colour, encoding: Encoding, *, levels: str | None = None) -> Image:
    """Does the same for planar values (channels, height, width), which ``encoding`` makes float pixels of first."""
    pixels, _ = pack(image, encoding)
    return unpack_light(of_pixels(pixels, colour, alpha=image.alpha, levels=levels), alpha=image.alpha)


def encoded(
    light: Image, written: Colour, dtype: npt.DTypeLike, dither: Dither | None = None
) -> tuple[Image, Image]:
    """Planes of linear Rec. 709 light → pixels of ``dtype`` in the space ``written``, and counters of what did not fit.

    Colours are not multiplied by alpha. Raises ColourError for a space that has no formula: see
    :func:`gpuops.pixels.spaces.check`.
    """
    if written in (LINEAR, SRGB):
        return pack(light, Encoding(np.dtype(dtype), encode=written == SRGB, dither=dither))
    encoding = Encoding(np.dtype(dtype), dither=dither)
    pixels, lost = each(light.gpu, light, [stage(written)], encoding=encoding, label="colour")
    assert lost is not None
    return pixels, lost


def unpack_light(pixels: Image, *, alpha: bool) -> Image:
    """Returns the result of :func:`of_pixels` as planes."""
    image = unpack(pixels, Decoding(alpha))
    image.linear = True
    return image


def readable(
    gpu: Gpu,
    picture: Picture,
    *,
    linear: bool,
    alpha: bool = True,
    scale: float | None = None,
    pixels: Image | None = None,
) -> tuple[Image, Decoding]:
    """Returns a picture's pixels on the device, and how they become linear Rec. 709 light or its sRGB signal.

    ``alpha``: keep the alpha channel if there is one. ``scale``: see :class:`gpuops.pixels.coding.Decoding`.
    ``pixels``: the picture's, or those without alpha, if they are on the device already.
    """
    kept = picture.alpha and alpha
    if pixels is None:
        host = picture.pixels if kept == picture.alpha else np.ascontiguousarray(picture.pixels[..., :-1])
        pixels = on_device(gpu, host)
    is_light = picture.linear
    if picture.metadata.colour is not None:
        pixels, is_light = of_pixels(pixels, picture.metadata.colour, alpha=kept), True
    linearise, encode = linear and not is_light, is_light and not linear
    return pixels, Decoding(kept, linearise, encode, scale=scale)
