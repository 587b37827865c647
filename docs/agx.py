"""Derives the numbers of AgX in clkernels/tone/tonemap_operators.cl from the published ones.

    python docs/agx.py            # prints the lines of OpenCL C
    python docs/agx.py --check    # names the numbers of the file that differ, exit code 1

Matrices and the sigmoid follow from what was published, so the file's lines must be these. The powers of the looks are
fits, for which any polynomial will do whose largest error is hardly larger than that of the fit made here.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

SOURCE = Path(__file__).parents[1] / "clkernels" / "tone" / "tonemap_operators.cl"

# -- what was published ------------------------------------------------------------------------------------------

# Chromaticities x, y of red, green and blue: ITU-R BT.709 and BT.2020. Both have the white point D65.
PRIMARIES_709 = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
PRIMARIES_2020 = ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
D65 = (0.3127, 0.3290)
LUMINANCE_709 = np.array([0.2126, 0.7152, 0.0722])

# Inset and outset in Rec. 2020: AgX in the configuration of Blender 4, as in Filament (ToneMapper.cpp) and three.js.
INSET = np.array(
    [
        [0.856627153315983, 0.0951212405381588, 0.0482516061458583],
        [0.137318972929847, 0.761241990602591, 0.101439036467562],
        [0.11189821299995, 0.0767994186031903, 0.811302368396859],
    ]
)
OUTSET = np.array(
    [
        [1.1271005818144368, -0.11060664309660323, -0.016493938717834573],
        [-0.1413297634984383, 1.157823702216272, -0.016493938717834257],
        [-0.14132976349843826, -0.11060664309660294, 1.2519364065950405],
    ]
)

# Benjamin Wrensch: Minimal AgX Implementation, 2023: the sigmoid, x⁶ first, and the looks' saturations and powers.
SIGMOID = (15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232)
PUNCHY_SATURATION, PUNCHY_POWER = 1.4, 1.35
GOLDEN_SATURATION, GOLDEN_POWER = 0.8, 0.8

# -- what is chosen ----------------------------------------------------------------------------------------------

# The display's power: light = code^2.2.
DISPLAY_POWER = 2.2
# The kernel keeps the outset's codes at this scale, at which they are below 1 and a clamp to 0 … 1 changes none.
SCALE = 0.5
# White gets this factor, as rounding would keep it below 1.
WHITE = 1 + 2.0**-21
# Polynomials in log2 x have these degrees.
DEGREES = {PUNCHY_POWER: 8, GOLDEN_POWER: 7}
# The largest error of the file's polynomials may be this many times that of the ones made here.
ALLOWED = 1.05


# -- derivations -------------------------------------------------------------------------------------------------


def rgb_to_xyz(primaries: tuple[tuple[float, float], ...]) -> Array:
    """The matrix of RGB with these primaries and D65: SMPTE RP 177."""
    columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in (*primaries, D65)]).T
    return columns[:, :3] * np.linalg.solve(columns[:, :3], columns[:, 3])


def inset_from_709() -> Array:
    """The inset after Rec. 709 → Rec. 2020."""
    return INSET @ np.linalg.solve(rgb_to_xyz(PRIMARIES_2020), rgb_to_xyz(PRIMARIES_709))


def outset(saturation: float = 1.0) -> Array:
    """A look's saturation about Rec. 709's luminance, then the outset, in one matrix at the kernel's scale.

    The outset keeps gray, so it changes nothing in the luminance that saturation adds to each channel.
    """
    return SCALE * (saturation * OUTSET + (1 - saturation) * LUMINANCE_709)


def light_709() -> Array:
    """Rec. 2020 → Rec. 709 for light whose codes were scaled."""
    matrix = np.linalg.solve(rgb_to_xyz(PRIMARIES_709), rgb_to_xyz(PRIMARIES_2020))
    return matrix * SCALE**-DISPLAY_POWER * WHITE


def centred_sigmoid() -> Array:
    """The coefficients of the sigmoid of t = x − ½ that is 1 where x is 1, t⁶ first."""
    return np.poly1d(SIGMOID)(np.poly1d([1, 0.5])).coeffs / np.polyval(SIGMOID, 1)


# -- fits --------------------------------------------------------------------------------------------------------

# x = 2^l from 1 down to 2^-40, where x and its powers vanish beside the errors; close to 1 the errors vary most.
LOGARITHMS = -40 * np.linspace(1, 0, 4000, endpoint=False) ** 2


def error(power: float, coefficients: Iterable[float]) -> float:
    """The largest |x (1 + c₁ l + … + cₙ lⁿ) − x^power| with l = log2 x over 0 … 1; cₙ comes first."""
    x = np.exp2(LOGARITHMS)
    return float(np.abs(x * np.polyval([*coefficients, 1.0], LOGARITHMS) - x**power).max())


def minimax(columns: Array, target: Array) -> Array:
    """The c for which the largest |target − columns · c| is smallest, by Remez's exchange."""
    count = columns.shape[1] + 1
    points = np.linspace(0, len(target) - 1, count + 2).astype(int)[1:-1]
    for _ in range(30):
        # Between `count` points the error alternates; each run of one sign gives a point where it is largest.
        alternating = np.column_stack([columns[points], (-1.0) ** np.arange(count)])
        *found, level = np.linalg.solve(alternating, target[points])
        off = target - columns @ found
        if np.abs(off).max() <= 1.0001 * abs(level):  # no c can be below the level at these points
            return np.array(found)
        runs = np.split(np.arange(len(off)), np.flatnonzero(np.diff(np.sign(off))) + 1)
        largest = [run[np.abs(off[run]).argmax()] for run in runs]
        while len(largest) > count:
            largest.pop(0 if abs(off[largest[0]]) < abs(off[largest[-1]]) else -1)
        points = np.array(largest)
    raise ArithmeticError("the exchange does not settle")


def fitted(power: float) -> Array:
    """c₁ … cₙ, cₙ first: each is rounded to float32 before the following ones are fitted to what remains."""
    x = np.exp2(LOGARITHMS)
    columns = np.column_stack([x * LOGARITHMS**k for k in range(1, DEGREES[power] + 1)])
    remaining = x**power - x
    rounded: list[float] = []
    for k in range(DEGREES[power]):
        rounded.append(float(np.float32(minimax(columns[:, k:], remaining)[0])))
        remaining = remaining - rounded[-1] * columns[:, k]
    return np.array(rounded[::-1])


# -- the lines of OpenCL C ---------------------------------------------------------------------------------------


def number(value: float) -> str:
    """The shortest literal that is this float32."""
    return f"{np.float32(value)!s}f"


def transformed(matrix: Array) -> list[str]:
    """A call with a row of the matrix in each line."""
    rows = [f"(float3)({', '.join(map(number, row))})" for row in matrix]
    indent = " " * len("c = transformed(")
    return [f"c = transformed({rows[0]},", f"{indent}{rows[1]},", f"{indent}{rows[2]}, c);"]


def sigmoid_lines() -> list[str]:
    """Horner's rule in t."""
    first, second, *rest = map(number, centred_sigmoid())
    return [
        f"FLOAT y = {first} * t + {second};",
        *(f"y = fma(y, t, {c});" for c in rest[:-1]),
        f"return fma(y, t, {rest[-1]});",
    ]


def power_lines(power: float) -> list[str]:
    """Horner's rule in l."""
    first, second, *rest = map(number, fitted(power))
    return [
        f"FLOAT y = fma(l, (FLOAT){first}, (FLOAT){second});",
        *(f"y = fma(y, l, (FLOAT){c});" for c in rest),
        "return fma(y, l, (FLOAT)1.0f) * x;",
    ]


# The names of functions, and the numbers that they contain.
DERIVED = {
    "agx_sigmoid": sigmoid_lines(),
    "agx_base": transformed(inset_from_709()),
    "agx_rec709": transformed(light_709()),
    "op_agx": transformed(outset()),
    "op_agx_punchy": transformed(outset(PUNCHY_SATURATION)),
    "op_agx_golden": transformed(outset(GOLDEN_SATURATION)),
}
FITTED = {"power_1_35": PUNCHY_POWER, "power_0_8": GOLDEN_POWER}


def indented(lines: list[str]) -> str:
    """Lines as they stand in a function."""
    return "\n".join(f"    {line}" for line in lines)


def body(name: str, source: str) -> str:
    """The text of a function."""
    found = re.search(rf"^static inline \w+ {name}\(.*?^}}", source, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"{SOURCE.name} has no function {name}")
    return found[0]


def differences(source: str) -> list[str]:
    """Sentences that say which numbers of the source are not those derived here."""
    found = []
    for name, lines in DERIVED.items():
        if indented(lines) not in body(name, source):
            found.append(f"{name} should have\n{indented(lines)}")
    for name, power in FITTED.items():
        literals = re.findall(r"\(FLOAT\)([-+.\de]+)f", body(name, source))
        *coefficients, last = [float(np.float32(literal)) for literal in literals]
        has, fit = error(power, coefficients), error(power, fitted(power))
        if last != 1 or len(coefficients) != DEGREES[power] or not has <= ALLOWED * fit:
            found.append(f"{name} is off by {has:.3g}, a fit of degree {DEGREES[power]} by {fit:.3g}")
    return found


def main() -> None:
    """Prints the lines, or says which numbers of the file differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with the file")
    if parser.parse_args().check:
        sys.exit("\n".join(differences(SOURCE.read_text(encoding="utf-8"))) or 0)
    for name, lines in DERIVED.items():
        print(f"{name}:\n{indented(lines)}\n")
    for name, power in FITTED.items():
        print(f"{name}, off by {error(power, fitted(power)):.2g}:\n{indented(power_lines(power))}\n")


if __name__ == "__main__":
    main()
