"""OpenColorIO's shaders, which are GLSL, as OpenCL C. Nothing here needs OpenColorIO.

OpenColorIO writes shaders of a plain kind: functions of floats and vectors, arrays of constants, matrices that multiply
a vector where they stand, and textures. Source of the language: The OpenGL Shading Language, version 4.00, chapters 4
(types), 5 (operators) and 8 (functions); The OpenCL C Specification, version 1.2, chapter 6.

Textures become parts of one buffer, `luts`, which every function takes. clkernels/tone/ocio_luts.cl reads it. An array
is indexed within its bounds, whatever a pixel that is NaN makes of an index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError

#: A number, a name, an operator of two characters, or any other character.
_TOKEN = re.compile(
    r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?f?|[A-Za-z_]\w*|[-+*/<>=!]=|&&|\|\||\+\+|--|\S", re.ASCII
)
#: An array of constants.
_ARRAY = re.compile(r"const (float|int) (\w+)\[(\d+)\] = \1\[\3\]\(([^;]*)\);")
#: The beginning of a function.
_FUNCTION = re.compile(r"^(?:float|int|vec[234]) (\w+)\(", re.MULTILINE)
#: What a texture is called in a shader.
_SAMPLER = re.compile(r"^uniform sampler[123]D (\w+);$", re.MULTILINE)
_TYPES = {"vec2": "float2", "vec3": "float3", "vec4": "float4", "float": "float", "bool": "int"}
_MATRICES = {"mat3": "ocio_times_3", "mat4": "ocio_times_4"}
#: Functions that have another name in OpenCL C, by their names and numbers of arguments.
_FUNCTIONS = {
    ("abs", 1): "fabs",
    ("atan", 2): "atan2",
    ("inversesqrt", 1): "rsqrt",
    ("mod", 2): "ocio_mod",
    ("int", 1): "convert_int_sat",
    ("greaterThan", 2): "ocio_greater",
    ("lessThan", 2): "ocio_less",
}
#: Functions that are the same.
_SAME = {
    "acos", "asin", "atan", "ceil", "clamp", "cos", "cross", "dot", "exp", "exp2", "floor", "length", "log", "log2",
    "max", "min", "mix", "normalize", "pow", "sign", "sin", "smoothstep", "sqrt", "step", "tan",
}  # fmt: skip
#: Words that stand before brackets and are no functions.
_WORDS = {"if", "for", "while", "return", "switch"}
_SWIZZLE = dict(zip("rgbaxyzwstpq", "xyzw" * 3, strict=True))


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
    return _Shader(text, textures).translated()


class _Shader:
    def __init__(self, text: str, textures: Sequence[Texture]) -> None:
        self._textures = _places(textures)
        samplers = _SAMPLER.findall(text)
        text = _SAMPLER.sub("", text)
        for name in samplers:
            if name not in self._textures:
                raise _unknown(f"the texture {name}")
        self._arrays = {name: int(count) for _, name, count, _ in _ARRAY.findall(text)}
        self._text = _ARRAY.sub(r"__constant \1 \2[\3] = {\4};", text)
        self._functions = set(_FUNCTION.findall(text))

    def translated(self) -> str:
        words = " ".join(self._all(_TOKEN.findall(self._text)))
        return re.sub(r"([;{}]) ", r"\1\n", words) + "\n"

    def _all(self, tokens: Sequence[str]) -> list[str]:
        """Translates tokens in turn."""
        out: list[str] = []
        at = 0
        while at < len(tokens):
            at = self._one(tokens, at, out)
        return out

    def _one(self, tokens: Sequence[str], at: int, out: list[str]) -> int:
        """Translates what begins at a token, and returns where the next begins."""
        token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
        if token[0].isdigit() or (token[0] == "." and len(token) > 1):
            out.append(_number(token))
        elif token == ".":
            return _swizzle(tokens, at, out)
        elif token in ("==", "!=") and after in ("vec2", "vec3", "vec4"):
            return self._comparison(tokens, at, out)
        elif token in self._arrays and after == "[":
            end = _closing(tokens, at + 1)
            if tokens[at - 1] in ("float", "int"):  # where it is declared
                out.extend(tokens[at : end + 1])
            else:
                index = " ".join(self._all(tokens[at + 2 : end]))
                out.append(f"{token}[clamp({index}, 0, {self._arrays[token] - 1})]")
            return end + 1
        elif re.match(r"[A-Za-z_]", token) and after == "(":
            return self._call(tokens, at, out)
        elif token in ("in", "highp", "mediump", "lowp"):
            pass
        elif token in ("out", "inout", "uniform", "struct") or token.startswith(("sampler", "mat")):
            raise _unknown(f"the word {token}")
        else:
            out.append(_TYPES.get(token, token))
        return at + 1

    def _call(self, tokens: Sequence[str], at: int, out: list[str]) -> int:
        name, end = tokens[at], _closing(tokens, at + 1)
        parts = _parts(tokens[at + 2 : end])
        arguments = [" ".join(self._all(part)) for part in parts]
        listed = ", ".join(arguments)
        if name in self._functions:
            if out and out[-1] in (*_TYPES.values(), "int"):  # its definition
                out[-1] = f"static inline {out[-1]}"
                out.append(f"{name}({', '.join(['__global const float *luts', *arguments])})")
            else:
                out.append(f"{name}({', '.join(['luts', *arguments])})")
        elif name == "texture":
            out.append(self._sampled(parts, arguments))
        elif name in _MATRICES:
            return self._product(tokens, end, _MATRICES[name], listed, out)
        elif name in _TYPES:
            out.append(f"(({_TYPES[name]})({listed}))")
        elif name in _WORDS:
            out.append(f"{name} ({' '.join(self._all(tokens[at + 2 : end]))})")
        elif (name, len(arguments)) in _FUNCTIONS:
            out.append(f"{_FUNCTIONS[name, len(arguments)]}({listed})")
        elif name in _SAME:
            out.append(f"{name}({listed})")
        else:
            raise _unknown(f"the function {name}")
        return end + 1

    def _product(self, tokens: Sequence[str], end: int, name: str, listed: str, out: list[str]) -> int:
        """Translates a matrix, which ends at a token, times the vector behind it."""
        if tokens[end + 1] != "*":
            raise _unknown("a matrix that multiplies nothing")
        stop = end + 3
        if tokens[stop] == "(":
            stop = _closing(tokens, stop) + 1
        while tokens[stop] == ".":
            stop += 2
        out.append(f"{name}({listed}, {' '.join(self._all(tokens[end + 2 : stop]))})")
        return stop

    def _comparison(self, tokens: Sequence[str], at: int, out: list[str]) -> int:
        """Translates the comparison of two vectors, the first of which is a name."""
        end = _closing(tokens, at + 2)
        right = " ".join(self._all(tokens[at + 1 : end + 1]))
        left = out.pop()
        if left.startswith("."):
            left = out.pop() + left
        out.append(f"{'any' if tokens[at] == '!=' else 'all'}({left} {tokens[at]} {right})")
        return end + 1

    def _sampled(self, parts: list[list[str]], arguments: list[str]) -> str:
        texture, start = self._textures[parts[0][0]]
        sides = ", ".join(map(str, texture.sides))
        how = f"luts + {start}, {sides}, {texture.channels}, {int(texture.linear)}"
        return f"ocio_sampled_{len(texture.sides)}({how}, {arguments[1]})"


def _places(textures: Sequence[Texture]) -> Mapping[str, tuple[Texture, int]]:
    """Returns each texture with the number of its first value in the buffer."""
    found, start = {}, 0
    for texture in textures:
        found[texture.sampler] = texture, start
        start += texture.values.size
    return found


def _unknown(what: str) -> ParameterError:
    return ParameterError(f"OpenColorIO's shader of this transform has {what}, which clpix does not know")


def _number(token: str) -> str:
    """Returns a number as it is, and one with a fraction or an exponent as a float32."""
    if token.isdigit():
        return token
    return token if token.endswith("f") else f"{token}f"


def _swizzle(tokens: Sequence[str], at: int, out: list[str]) -> int:
    """Translates components of a vector, and of these, and so on: .rgb.r is .x."""
    names = "xyzw"
    while at < len(tokens) and tokens[at] == ".":
        try:
            names = "".join(names["xyzw".index(_SWIZZLE[letter])] for letter in tokens[at + 1])
        except (KeyError, IndexError):
            raise _unknown(f"the components {tokens[at + 1]}") from None
        at += 2
    out[-1] = f"{out[-1]}.{names}"
    return at


def _closing(tokens: Sequence[str], at: int) -> int:
    """Returns where the bracket that opens at a token is closed."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in "([{") - (tokens[place] in ")]}")
        if depth == 0:
            return place
    raise _unknown("a bracket that is not closed")


def _parts(tokens: Sequence[str]) -> list[list[str]]:
    """Splits arguments at their commas."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts[0] or len(parts) > 1 else []
