"""A transform of OpenColorIO on the device: its shader as a kernel, its tables as a buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..gpu import GeneratedSource
from ..pixels.colour import LINEAR, SRGB, Colour
from . import config
from .labels import colour_of
from .shader import Texture, buffer, opencl

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image
    from ..ops.ocio import OcioParams

#: The name of the function in the shader, which ocio.cl calls.
FUNCTION = "ocio_transform"


@dataclass(frozen=True, eq=False)
class ColourTransform:
    """A transform that is ready for a device.

    source: its function. luts: its tables, float32. name: the colour space of what it gives. colour: that space where
    it is known, else None.
    """

    source: GeneratedSource
    luts: Image
    name: str
    colour: Colour | None


def transform_of(gpu: Gpu, params: OcioParams) -> ColourTransform:
    """Returns the transform of parameters, which the device keeps. Raises ParameterError."""
    return gpu.kept(("ocio", params), lambda: _made(gpu, params))


def _made(gpu: Gpu, params: OcioParams) -> ColourTransform:
    shader = config.shader_of(params, FUNCTION)
    textures = _textures(shader)
    source = GeneratedSource("transform", opencl(shader.getShaderText(), textures), long=True)
    name, colour = _result(params)
    return ColourTransform(source, gpu.array(buffer(textures)), name, colour)


def _textures(shader: Any) -> list[Texture]:
    ocio = config.library()
    found = []
    for table in shader.getTextures():
        plane = table.dimensions == ocio.GpuShaderDesc.TEXTURE_2D
        found.append(
            Texture(
                table.samplerName,
                (table.width, table.height) if plane else (table.width,),
                3 if table.channel == ocio.GpuShaderDesc.TEXTURE_RGB_CHANNEL else 1,
                table.interpolation != ocio.INTERP_NEAREST,
                np.array(table.getValues(), np.float32),
            )
        )
    for table in shader.get3DTextures():
        linear = table.interpolation != ocio.INTERP_NEAREST
        values = np.array(table.getValues(), np.float32)
        found.append(Texture(table.samplerName, (table.edgeLen,) * 3, 3, linear, values))
    return found


def _result(params: OcioParams) -> tuple[str, Colour | None]:
    """Returns the name of the space that values are in afterwards, and the space where it is known."""
    found = config.load(params.config)
    source, target = config.ends_of(found, params)
    if params.inverse and params.source is None:
        return source, LINEAR
    name = source if params.inverse else target
    space = found.getColorSpace(name)
    if space is None or space.isData():
        return name, None
    interop = space.getInteropID() if hasattr(space, "getInteropID") else ""
    names = [interop, name, *space.getAliases()]
    if not params.inverse and params.to is None:  # configs of version 1 have the display's name alone
        names.append(config.display_of(found, params)[0])
    return name, colour_of(name for name in names if name)


def applied(gpu: Gpu, image: Image, transform: ColourTransform) -> Image:
    """Returns planes (gray or RGB, with or without alpha) after a transform; alpha is copied."""
    from ..operands import check_colours

    check_colours(image.colours, image.shape[0], "ocio")
    kernel = gpu.kernel(
        ("ocio_luts", transform.source, "ocio"), "ocio_planes", COLOURS=image.colours, ALPHA=image.alpha
    )
    size = image.shape[1] * image.shape[2]
    result = image if image.owned else image.like()
    gpu.launch(
        kernel, (size,), image, transform.luts, result, np.uint64(size), local=kernel.fit(256), label="ocio",
    )  # fmt: skip
    return result


#: What values of an unknown space count as: those of a file that says nothing.
UNKNOWN = SRGB
