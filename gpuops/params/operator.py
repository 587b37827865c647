"""The parameter that is a tone mapping operator's name, or a colour table in its place."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Any

from .files import FileOperand
from .kinds import Given, Kind, Option, Params
from .lut import OUTPUTS, LutParams, lut_input_option, lut_input_text
from .operators import OPERATORS, check_operator


@dataclass(eq=False)
class _OperatorOrLut(Kind):
    """The kind: ``--operator NAME``, or ``--lut FILE`` with ``--lut-input`` and ``--lut-output``."""

    help: str = "The operator's name."
    values, metavar = "a name", "NAME"

    def checked(self, name: str, value: Any) -> Any:
        if not isinstance(value, LutParams):
            check_operator(value)
        return value

    def options(self, name: str, default: Any) -> list[Option]:
        return [
            Option("operator", f"One of {', '.join(OPERATORS)}.", "NAME", default=default),
            Option("lut", "A colour table, .cube or .spi3d, in place of an operator.", "FILE"),
            Option(
                "lut_input",
                "What the table takes for light c: its sRGB signal, c, c/(1+c), or (log2 c − LOW)/(HIGH − LOW).",
                "srgb|linear|reinhard|log2:LOW:HIGH",
                default="srgb",
            ),
            Option("lut_output", "What the table gives: the sRGB signal, or light.", "", OUTPUTS, "srgb"),
        ]

    def collected(self, name: str, given: Given) -> Any:
        if "lut" not in given:
            return str(given["operator"]).lower() if "operator" in given else MISSING
        taken, limits = lut_input_option(str(given.get("lut_input", "srgb")).lower())
        return LutParams(FileOperand.of(given["lut"]), taken, given.get("lut_output", "srgb"), limits)

    def written(self, name: str, value: Any, params: Params) -> dict[str, Any]:
        if not isinstance(value, LutParams):
            return {"operator": value}
        if not isinstance(value.lut, FileOperand):
            raise TypeError("a colour table that is no file has no place in a recipe")
        return {"lut": value.lut.written(), "lut_input": lut_input_text(value), "lut_output": value.output}


OPERATOR_OR_LUT = _OperatorOrLut()
