"""A transform of OpenColorIO on the device: its shader as a kernel, its tables as a buffer.

Source of the names of spaces that clpix knows, too: Color Interop Forum, *Color Space Encodings for Texture Assets and
CG Rendering* and *for Displays* (of the form CURVE_PRIMARIES_KIND, such as ``srgb_p3d65_display``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..gpu import GeneratedSource, Gpu
from ..image import Image
from ..pixels.colour import LINEAR, SRGB, Colour, of_primaries, tidied
from ..pixels.curves import ADOBE_CURVE, BT709_CURVE, LINEAR_CURVE, SRGB_CURVE, Curve, Hlg, Parametric, Pq
from ..pixels.primaries import NAMED
from ..records import dataclass
from . import config

if TYPE_CHECKING:
    from ..ops.ocio import OcioParams

#: The name of the function in the shader, which ocio.cl calls.
FUNCTION = "ocio_transform"
_CURVES: dict[str, Curve] = {
    "lin": LINEAR_CURVE,
    "srgb": SRGB_CURVE,
    "srgbe": SRGB_CURVE,  # which goes on beyond 1
    "g18": Parametric(1.8),
    "g22": Parametric(2.2),
    "g24": Parametric(2.4),
    "g26": Parametric(2.6),
    "itu709": BT709_CURVE,
    "pq": Pq(),
    "hlg": Hlg(),
}
_PRIMARIES = {
    "rec709": "Rec. 709",
    "p3d65": "Display P3",
    "adobergb": "Adobe RGB",
    "rec2020": "Rec. 2020",
    "ap0": "ACES AP0",
    "ap1": "ACES AP1",
}
_FORM = re.compile(rf"(?:ocio_)?({'|'.join(_CURVES)})_({'|'.join(_PRIMARIES)})(?:_scene|_display|_tx)?")
#: Other names that configs give these spaces and displays, in small letters, with "_" for all that is no letter or
#: digit.
_OTHER = {
    "srgb": "srgb_rec709", "srgb_display": "srgb_rec709", "srgb_texture": "srgb_rec709", "srgb_tx": "srgb_rec709",
    "display_p3": "srgb_p3d65", "displayp3_display": "srgb_p3d65", "displayp3_hdr_display": "srgbe_p3d65",
    "p3d65_display": "g26_p3d65", "st2084_p3d65_display": "pq_p3d65",
    "rec_1886": "g24_rec709", "rec1886_rec709_display": "g24_rec709", "lin_rec709_srgb": "lin_rec709",
    "rec_2100_pq": "pq_rec2020", "rec2100_pq": "pq_rec2020", "rec2100_pq_display": "pq_rec2020",
    "rec_2100_hlg": "hlg_rec2020", "rec2100_hlg_display": "hlg_rec2020",
    "acescg": "lin_ap1", "aces2065_1": "lin_ap0",
}  # fmt: skip


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
    ocio, textures = config.library(), []
    for table in (*shader.getTextures(), *shader.get3DTextures()):
        sides: tuple[int, ...]
        if hasattr(table, "edgeLen"):
            sides, channels = (table.edgeLen,) * 3, 3
        else:
            plane = table.dimensions == ocio.GpuShaderDesc.TEXTURE_2D
            sides = (table.width, table.height) if plane else (table.width,)
            channels = 3 if table.channel == ocio.GpuShaderDesc.TEXTURE_RGB_CHANNEL else 1
        linear, values = table.interpolation != ocio.INTERP_NEAREST, np.array(table.getValues(), np.float32)
        textures.append(Texture(table.samplerName, sides, channels, linear, values))
    return textures


def _result(params: OcioParams) -> tuple[str, Colour | None]:
    """Returns the name of the space that values are in afterwards, and the space where it is known."""
    contents = config.load(params.config)
    source, target = config.ends_of(contents, params)
    if params.inverse and params.source is None:
        return source, LINEAR
    name = source if params.inverse else target
    space = contents.getColorSpace(name)
    if space is None or space.isData():
        return name, None
    interop = space.getInteropID() if hasattr(space, "getInteropID") else ""
    names = [interop, name, *space.getAliases()]
    if not params.inverse and params.to is None:  # configs of version 1 have the display's name alone
        names.append(config.display_of(contents, params)[0])
    return name, colour_of(name for name in names if name)


def colour_of(names: Iterable[str]) -> Colour | None:
    """Returns the space that one of these names stands for, or None where none is known."""
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        match = _FORM.fullmatch(_OTHER.get(plain, plain))
        if match is not None:
            curve = ADOBE_CURVE if match.groups() == ("g22", "adobergb") else _CURVES[match[1]]
            return tidied(of_primaries(NAMED[_PRIMARIES[match[2]]], curve))
    return None


def applied(gpu: Gpu, image: Image, transform: ColourTransform) -> Image:
    """Returns planes (gray or RGB, with or without alpha) after a transform; alpha is copied."""
    from ..operands import check_colours

    check_colours(image.colours, image.shape[0], "ocio")
    size = image.shape[1] * image.shape[2]
    result = image if image.owned else image.like()
    gpu.compute(
        ("ocio_luts", transform.source, "ocio"), "ocio_planes", (size,), image, transform.luts, result, np.uint64(size),
        group=256, label="ocio", COLOURS=image.colours, ALPHA=image.alpha,
    )  # fmt: skip
    return result


#: What values of an unknown space count as: those of a file that says nothing.
UNKNOWN = SRGB


# -- OpenColorIO's shaders, which are GLSL, as OpenCL C. Nothing here needs OpenColorIO --------------------------
# OpenColorIO writes shaders of a plain kind: functions of floats and vectors, arrays of constants, matrices that
# multiply a vector where they stand, and textures. Source of the language: The OpenGL Shading Language, version 4.00,
# chapters 4 (types), 5 (operators) and 8 (functions); The OpenCL C Specification, version 1.2, chapter 6.
#
# Textures become parts of one buffer, `luts`, which every function takes. clkernels/tone/ocio_luts.cl reads it, and has
# what OpenCL C lacks. An array is indexed within its bounds, whatever a pixel that is NaN makes of an index.

#: An array of constants.
_ARRAY = re.compile(r"const (float|int) (\w+)\[(\d+)\] = \1\[\3\]\(([^;]*)\);")
#: The declaration of a texture, which says what it is called.
_SAMPLER = re.compile(r"^uniform sampler[123]D (\w+);$", re.MULTILINE)
#: The beginning of a function.
_FUNCTION = re.compile(r"^(float|int|vec[234]) (\w+)\(", re.MULTILINE)
#: Components of a vector, and components of these, and so on.
_COMPONENTS = re.compile(r"(\b[A-Za-z_]\w*|[)\]])((?:\.[A-Za-z_]\w*)+)")
#: A name, and the bracket behind that of a function.
_NAME = re.compile(r"\b([A-Za-z_]\w*)( *\()?")
#: What becomes another text.
_REPLACED = (
    # A number with a fraction or an exponent is a float32.
    (re.compile(r"(?<![\w.])(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?(?![\w.])", re.ASCII), r"\1\2f"),
    (re.compile(r"\bmat([34])\(([^()]*)\) *\* *([\w.]+)"), r"ocio_times_\1(\2, \3)"),
    (re.compile(r"([\w.]+) != (vec[234]\([^()]*\))"), r"any(\1 != \2)"),
    (re.compile(r"([\w.]+) == (vec[234]\([^()]*\))"), r"all(\1 == \2)"),
    (re.compile(r"\btexture\((\w+), *"), r"\1("),
)
_TYPES = {"vec2": "float2", "vec3": "float3", "vec4": "float4", "bool": "int"}
#: Words that say nothing here, and those that are not known.
_IDLE = {"in", "highp", "mediump", "lowp"}
_UNKNOWN = re.compile(r"out|inout|uniform|struct|sampler.*|mat.*")
#: Functions that have another name in OpenCL C.
_FUNCTIONS = {
    "abs": "fabs",
    "atan": "atan2",  # with two arguments, as OpenColorIO writes it
    "inversesqrt": "rsqrt",
    "mod": "ocio_mod",
    "int": "convert_int_sat",
    "float": "convert_float",
    "greaterThan": "ocio_greater",
    "lessThan": "ocio_less",
    "vec2": "ocio_float2",
    "vec3": "ocio_float3",
    "vec4": "ocio_float4",
}
#: Functions that are the same, and words before brackets that are none.
_SAME = {
    "acos", "all", "any", "asin", "ceil", "clamp", "cos", "cross", "dot", "exp", "exp2", "floor", "length", "log",
    "log2", "max", "min", "mix", "normalize", "ocio_times_3", "ocio_times_4", "pow", "sign", "sin", "smoothstep",
    "sqrt", "step", "tan", "if", "for", "while", "return", "switch",
}  # fmt: skip
_PLACES = dict(zip("rgbaxyzwstpq", (0, 1, 2, 3) * 3, strict=True))


@dataclass(frozen=True, eq=False)
class Texture:
    """A table of a shader.

    sampler: its name there. sides: the entries along each axis, the first of which runs fastest. channels: 1 or 3
    numbers of an entry. linear: whether there are values between entries. values: float32, all numbers.
    """

    sampler: str
    sides: tuple[int, ...]
    channels: int
    linear: bool
    values: npt.NDArray[np.float32]


def buffer(textures: Sequence[Texture]) -> npt.NDArray[np.float32]:
    """Returns the numbers of all textures, one after the other; there is one number at least."""
    return np.concatenate([np.ravel(texture.values) for texture in textures] or [np.zeros(1, np.float32)])


def opencl(text: str, textures: Sequence[Texture]) -> str:
    """Returns a shader's text as OpenCL C, whose functions take `luts` first.

    Raises ParameterError where it has something that is not known here.
    """
    text = re.sub(r"//.*", "", text)
    samplers = {texture.sampler for texture in textures}
    for name in _SAMPLER.findall(text):
        if name not in samplers:
            raise _unknown(f"the texture {name}")
    known = {*_SAME, *_FUNCTIONS, *samplers}
    arrays = {name: int(count) for _, name, count, _ in _ARRAY.findall(text)}
    functions = {name for _, name in _FUNCTION.findall(text)}

    def named(match: re.Match[str]) -> str:
        name, bracket = match.groups()
        if bracket is None:
            if _UNKNOWN.fullmatch(name):
                raise _unknown(f"the word {name}")
            return "" if name in _IDLE else _TYPES.get(name, name)
        if name in functions:
            return f"{name}(luts, "
        if name not in known:
            raise _unknown(f"the function {name}")
        return f"{_FUNCTIONS.get(name, name)}("

    text = _COMPONENTS.sub(_components, _SAMPLER.sub("", text))
    for pattern, by in _REPLACED:
        text = pattern.sub(by, text)
    for name, count in arrays.items():
        text = re.sub(rf"(?<!float |..int ){name}\[([^][]*)\]", rf"{name}[clamp(\1, 0, {count - 1})]", text)
    text = _NAME.sub(named, _ARRAY.sub(r"__constant \1 \2[\3] = {\4};", text))
    text = re.sub(r"(?m)^(\w+ \w+\()luts,", r"static inline \1__global const float *luts,", text)
    return "\n".join([*_sampled(textures), text])


def _sampled(textures: Sequence[Texture]) -> list[str]:
    """Returns the definition of what each texture has at some place."""
    lines, start = [], 0
    for texture in textures:
        sides = ", ".join(map(str, texture.sides))
        how = f"luts + {start}, {sides}, {texture.channels}, {int(texture.linear)}"
        lines.append(f"#define {texture.sampler}(at) ocio_sampled_{len(texture.sides)}({how}, at)")
        start += texture.values.size
    return lines


def _components(match: re.Match[str]) -> str:
    """Returns components by the letters that OpenCL C has: .rgb.r is .x."""
    names = "xyzw"
    try:
        for letters in match[2][1:].split("."):
            names = "".join(names[_PLACES[letter]] for letter in letters)
    except (KeyError, IndexError):
        raise _unknown(f"the components {match[2]}") from None
    return f"{match[1]}.{names}"


def _unknown(what: str) -> ParameterError:
    return ParameterError(f"OpenColorIO's shader of this transform has {what}, which clpix does not know")
