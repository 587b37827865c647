"""Parameters of white balance."""

from __future__ import annotations

from ..errors import ParameterError
from ..records import dataclass
from .kinds import Number, Params
from .notations import Written

# The name of the white balance that makes the image's mean gray.
GRAY_WORLD = "gray-world"
# The gain of a colour.
GAIN = Number("A factor.", 1e-6, 1e6)
# The ways to write a white balance, as messages describe them.
_FORM = f"none, {GRAY_WORLD}, gains R,G,B such as 1.8,1,1.4, or a temperature such as 5600K or 5600K,0.01"


@dataclass(frozen=True)
class Illuminant(Params):
    """The light of a scene, which is to look white.

    Attributes
    ----------
    temperature : float
        Its correlated colour temperature in kelvin, 1667 … 25000.
    tint : float
        Its distance from the locus of daylight or, below 4000 K, of black bodies, in CIE 1960 (u, v), along the
        isotherm, ±0.05: positive where it is greener, negative where it is pinker.
    """

    temperature: float = Number("The temperature.", 1667, 25000, "K").field()
    tint: float = Number("The distance from the locus.", -0.05, 0.05, "(Duv)").field(0.0)


# The source of an image's white: "gray-world", gains of R, G and B, or the light of the scene.
WhiteBalance = str | tuple[float, float, float] | Illuminant


def check(balance: WhiteBalance) -> None:
    """Raises ParameterError for an unknown name, and for gains that are not possible."""
    if isinstance(balance, str) and balance != GRAY_WORLD:
        raise ParameterError(f"the white balance is {_FORM}, not {balance!r}")
    if isinstance(balance, tuple):
        if len(balance) != 3:
            raise ParameterError(f"gains are three, of R, G and B, not {len(balance)}")
        for gain in balance:
            GAIN.check("a gain", gain)


def white_balance_option(text: str) -> WhiteBalance | None:
    """``none`` (None), ``gray-world``, ``R,G,B``, or a temperature with or without ``K`` and ``,TINT``.

    Raises ParameterError.
    """
    if text in ("none", GRAY_WORLD):
        return None if text == "none" else GRAY_WORLD
    first, *rest = (part.strip() for part in text.split(","))
    if len(rest) < 2:
        first = first.removesuffix("K").removesuffix("k")
    try:
        values = tuple(map(float, (first, *rest)))
    except ValueError:
        values = ()
    if len(values) == 3:
        check(values)
        return values
    if len(values) not in (1, 2):
        raise ParameterError(f"the white balance is {_FORM}, not {text!r}")
    return Illuminant(*values)


def white_balance_text(balance: WhiteBalance | None) -> str:
    """Returns what :func:`white_balance_option` makes ``balance`` of."""
    if isinstance(balance, Illuminant):
        return f"{balance.temperature!r}K,{balance.tint!r}"
    if balance is None or isinstance(balance, str):
        return balance or "none"
    return ",".join(map(repr, balance))


#: The kind of the parameter.
WHITE_BALANCE = Written(
    "White balance before metering. Give it equal means of channels, gains, or the scene's light in kelvin "
    "(1667 … 25000), with its distance from the locus in Duv (positive: greener).  [default: none]",
    "none|gray-world|R,G,B|T[K][,TINT]",
    white_balance_option,
    white_balance_text,
)
