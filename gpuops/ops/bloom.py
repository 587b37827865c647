"""Bloom: light that spreads around what is bright."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..operation import Operation, Traits, later
from ..params.bloom import BloomParams

if TYPE_CHECKING:
    from ..filters.convolve import Weights
    from ..gpu import Gpu
    from ..image import Image
    from ..pixels.coding import Decoding
    from ..space import Stored, Target

__all__ = ["OPERATION", "BloomParams"]

# Bytes that the aperture's transforms take, at most, whatever the image.
_STARBURST = 160e6


def _bloom(gpu: Gpu, image: Image, params: BloomParams) -> Image:
    """Lays the glow over planes of premultiplied light, and tone-maps the result if that is asked for."""
    from ..filters.convolve import kernel_for
    from ..glow import bloom, d3d11
    from ..pixels.conversion import converted
    from ..tone import tonemap

    if params.exposure is None:
        params = replace(params, exposure=tonemap.stops(gpu, image))
    if params.preset is not None:
        result = d3d11.bloom(gpu, image, params.reads)
    else:
        kernel = _weights(gpu, params)
        shape = None if kernel is None else kernel_for(image, kernel)
        result = bloom.bloom(gpu, image, params, shape, overwrite_input=image.owned)
    if params.display is None:
        return result
    straight = converted(result, result.space.colour, premultiplied=False)
    shown = tonemap.tonemap(gpu, straight, params.display)
    shown.space = replace(straight.space, display=True)
    return shown


def _ends(gpu: Gpu, source: Image, params: BloomParams, decoding: Decoding | None, target: Target) -> Stored:
    from ..glow import bloom
    from ..pixels.coding import pack, unpack
    from ..space import Stored
    from ..tone import tonemap

    shown = replace(source.space, display=source.space.display or params.tonemap is not None)
    encoding = target.encoding(shown)
    if decoding is not None and params.preset is None:
        kernel = _weights(gpu, params)
        made = bloom.bloom_pixels(gpu, source, params, decoding, encoding, params.display, kernel=kernel)
        return Stored(*made, shown)
    image = source if decoding is None else unpack(source, decoding)
    image.space = source.space
    if params.exposure is None:
        stops = tonemap.stops_of_pixels(gpu, source, decoding) if decoding else tonemap.stops(gpu, image)
        params = replace(params, exposure=stops)
    light = _bloom(gpu, image, replace(params, tonemap=None))
    if params.display is None:
        return Stored(*pack(light, encoding), shown)
    return Stored(*tonemap.tonemap_premultiplied(gpu, light, params.display, encoding), shown)


def _weights(gpu: Gpu, params: BloomParams) -> Weights | None:
    from ..filters.convolve import kernel_from_file

    return None if params.kernel is None else kernel_from_file(gpu, params.kernel, normalise=True)


def _traits(params: BloomParams) -> Traits:
    kinds = {"mip": "grid", "gaussians": "grid", "fft": "transform"}
    least = params.tonemap is None and params.border == "reflect"  # rows that go round may be stretched
    values = {"mip": 8.0 if least else 16.0, "gaussians": 16.0, "fft": 28.0}
    return Traits(
        rec709=True,
        premultiplied=params.strength > 0,
        display=params.tonemap is not None,
        kind=kinds[params.method],
        statistics=("log-mean",) if params.exposure is None else (),
        bytes_per_value=values[params.method],
        fixed_bytes=_STARBURST if params.method == "fft" and params.kernel is None else 0.0,
    )


OPERATION = Operation(
    "bloom",
    BloomParams,
    _bloom,
    traits=_traits,
    identity=lambda params: params.strength == 0 and params.tonemap is None and params.preset is None,
    reach=later("glow.bloom", "reach"),
    whole={"method": ("fft",), "preset": ("d3d11",)},
    fixed_bytes=later("glow.bloom", "fixed_bytes"),
    measure=later("glow.bloom", "measure"),
    ends=_ends,
    prepare=lambda gpu, params, _target: _weights(gpu, params),
    examples=(
        "clpix bloom light.exr -o glow.exr --threshold 1 --strength 0.3",
        "clpix bloom light.exr -o glow.png --tonemap agx",
        "clpix bloom light.exr -o star.exr --method fft --blades 7 --radius 0.5",
        "clpix bloom light.exr -o sheet.png --contact-sheet --strengths 0.1,0.3",
    ),
    groups={
        "Glow": ("threshold", "knee", "strength", "radius", "blend", "exposure", "tonemap"),
        "Starburst": ("blades", "blade_angle", "roundness", "kernel"),
        "Kernels, presets": ("method", "karis", "reads", "border", "preset"),
    },
)
