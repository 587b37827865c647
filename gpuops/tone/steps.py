"""Tone mapping as a step of a chain: planes to planes, or a file's pixels to those of another file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ..errors import ParameterError
from ..glow import d3d11
from ..gpu import Gpu
from ..image import Image
from ..params.tonemap import TonemapParams
from ..pixels.coding import Decoding, Encoding, pack, unpack
from ..pixels.colour import Colour, of_signal
from ..pixels.pointwise import Stage
from ..space import Stored, Target
from . import tonemap


def shown(gpu: Gpu, image: Image, params: TonemapParams, stages: Sequence[Stage] = ()) -> Image:
    """Maps planes of light to a display's light, or to its signal if the transfer says one."""
    if params.dither:
        raise ParameterError("noise is for the depth of a file: dither in the last step")
    if params.preset is not None:
        result = d3d11.tonemap(gpu, image, params.method, with_bloom=params.bloom, blurred=params.blur)
        result.space = replace(image.space, display=True)
        return result
    light = params.transfer in ("auto", "srgb")  # as in a file of floats
    result = tonemap.tonemap(gpu, image, replace(params, transfer="linear") if light else params, stages)
    of_light = image.space.colour.light
    colour = of_light if light else replace(of_light, curves=of_signal(params.transfer, params.gamma).curves)
    result.space = replace(image.space, colour=colour, display=True, as_is=params.transfer == "linear")
    return result


def stored(
    gpu: Gpu,
    source: Image,
    params: TonemapParams,
    decoding: Decoding | None,
    target: Target,
    stages: Sequence[Stage] = (),
) -> Stored:
    """Maps a file's pixels, or planes without ``decoding``, to the pixels of the output's file."""
    space = replace(source.space, display=True)
    depth, light = target.depth(display=True), target.encoding(space)
    if params.preset is not None:
        image = source if decoding is None else unpack(source, decoding)
        image.space = source.space
        return Stored(*pack(shown(gpu, image, params), light), space)
    # The signal goes to the file as it is.
    signal = replace(params, transfer="srgb") if params.transfer == "auto" else params
    encoding, written = Encoding(depth), cast("Colour | None", of_signal(signal.transfer, signal.gamma))
    if params.dither:
        signal = replace(signal, dither=2 ** (8 * depth.itemsize) - 1)
    elif signal.transfer == "srgb":  # light, which the file's encoding makes exact codes of, or keeps
        signal, encoding, written = replace(signal, transfer="linear"), light, None
    return Stored(*tonemap.mapped(gpu, source, signal, decoding, encoding, stages), space, written)


def check_target(_gpu: Gpu, params: TonemapParams, target: Target | None) -> None:
    """Raises ParameterError for what the output's file cannot hold."""
    if target is None or params.preset is not None or target.depth(display=True).kind != "f":
        return
    if params.dither:
        raise ParameterError(f"{target.name} holds floats, which are not rounded: leave out --dither")
    if params.transfer == "srgb":
        raise ParameterError(f"{target.name} holds floats, which are linear light: leave out --transfer")
