"""Parameters of tone mapping by a colour table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError, check_name
from ..records import dataclass

if TYPE_CHECKING:
    from ..tone.lut import Lut
    from .files import FileOperand

# The values that a table takes, for light c.
INPUTS = {
    "srgb": "the sRGB signal",
    "linear": "c",
    "reinhard": "c/(1 + c)",
    "log2": "(log2 c − LOW)/(HIGH − LOW)",
}
# The values that a table gives.
OUTPUTS = ("srgb", "linear")


@dataclass(frozen=True)
class LutParams:
    """A colour table in place of an operator.

    Attributes
    ----------
    lut : Lut or FileOperand
        The table, or the file that it is read from where it is needed.
    input : str
        The values that the table takes: a name of :data:`INPUTS`.
    stops : two floats, optional
        LOW and HIGH of ``log2``; other inputs have none.
    output : str
        The kind of its entries: ``srgb``, a signal, or ``linear``, light.
    """

    lut: Lut | FileOperand
    input: str = "srgb"
    output: str = "srgb"
    stops: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_name("input of a table,", self.input, INPUTS)
        check_name("output of a table,", self.output, OUTPUTS)
        if (self.input == "log2") != (self.stops is not None):
            raise ParameterError("a table of log2 takes LOW and HIGH in stops, and no other does")
        if self.stops is not None and not -200 <= self.stops[0] < self.stops[1] <= 200:
            low, high = self.stops
            raise ParameterError(f"log2 goes from LOW to a larger HIGH, not {low:g}:{high:g}")

    def __str__(self) -> str:
        return "lut"

    @property
    def table(self) -> Lut:
        """The table, read if it is in a file. Raises FileError where it cannot be read."""
        from ..tone.lut import Lut

        if isinstance(self.lut, Lut):
            return self.lut
        from ..files import operands

        return operands.lut(self.lut)


def lut_input_text(params: LutParams) -> str:
    """Returns what :func:`lut_input_option` makes the input and stops of."""
    return params.input if params.stops is None else f"log2:{params.stops[0]!r}:{params.stops[1]!r}"


def lut_input_option(text: str) -> tuple[str, tuple[float, float] | None]:
    """``NAME`` or ``log2:LOW:HIGH`` as input and stops. Raises ParameterError."""
    name, *limits = text.split(":")
    try:
        if name == "log2":
            low, high = map(float, limits)
            return name, (low, high)
    except ValueError:
        limits = [""]
    if name not in INPUTS or limits:
        raise ParameterError(f"unknown input of a table, {text!r}: use srgb, linear, reinhard, log2:LOW:HIGH")
    return name, None
