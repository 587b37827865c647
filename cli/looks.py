"""Previews of operators before one is chosen: contact sheets and plots of curves, for `clpix tonemap`."""

from __future__ import annotations

from dataclasses import MISSING, replace
from typing import TYPE_CHECKING

import click

from gpuops.errors import ParameterError
from gpuops.operation import Given
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.contact_sheet import TILE_WIDTH, ContactSheetParams, stops_option
from gpuops.params.files import STREAM
from gpuops.params.lut import LutParams
from gpuops.params.operators import LOCAL, OPERATOR_OR_LUT, OPERATORS, WHITE
from gpuops.records import dataclass

from .options import collected, refuse
from .outputs import outputs_of
from .shared import Shared, file_option, flag, option

if TYPE_CHECKING:
    from gpuops.batch.previews import Previews

#: The group of these options in help.
GROUPS = {"Previews": ("contact_sheet", "operators", "stops", "tile_width", "plot_curve")}

#: The option of a contact sheet's pictures.
TILES = option(
    f"The width of a small picture of a contact sheet.  [default: {TILE_WIDTH}]",
    "PX",
    default=TILE_WIDTH,
    type=click.IntRange(16, 8192),
)


@dataclass(frozen=True)
class Looks:
    """The values of these options."""

    contact_sheet: bool = flag(
        "Write small pictures in place of the result: a row for each operator, a column for each exposure."
    )
    operators: str | None = option(
        "The operators of a contact sheet or plot.  [default: that of --operator if given; on a sheet else all]",
        "A,B,C",
        type=str.lower,
    )
    stops: str | None = option(
        "The stops that a contact sheet adds to the exposure.  [default: -2,-1,0,+1,+2]", "A,B,C"
    )
    tile_width: int = TILES
    plot_curve: str | None = file_option(
        "Also draw the curves of gray light, with this exposure, to a .png or .svg (needs matplotlib)."
    )

    @property
    def asked(self) -> bool:
        """Says whether there is anything to draw."""
        return self.contact_sheet or self.plot_curve is not None

    def refuse_needless(self) -> None:
        """Refuses options that have no effect without others."""
        if not self.contact_sheet:
            refuse("there is no --contact-sheet", "stops", "tile_width")
            if self.plot_curve is None:
                refuse("there is neither --contact-sheet nor --plot-curve", "operators")

    def read(self, written: Given) -> tuple[TonemapParams, tuple[str | LutParams, ...]]:
        """Returns the parameters of the result, and the operators that are drawn. Raises ParameterError."""
        if "preset" in written:
            refuse("--preset fixes everything but --method, --bloom and --blur", *vars(self))
        self.refuse_needless()
        chosen = OPERATOR_OR_LUT.collected("operator", written)
        if isinstance(chosen, LutParams):
            refuse("--lut stands in place of operators", "operators")
        names = self.shown(None if chosen is MISSING else chosen)
        if self.contact_sheet and not isinstance(names[0], LutParams):
            # Where any operator with a white point makes --white meaningful.
            usual = next((name for name in names if name in WHITE), names[0])
            written = written.with_usual({"operator": usual})
        return TonemapParams.of_options(written, names), names

    def work(self, shared: Shared, params: TonemapParams, names: tuple[str | LutParams, ...]) -> Previews:
        """Returns what draws all that is asked for, of every input, in place of its result or beside it.

        What can be known to fail, or to do nothing, is refused before any work.
        """
        from gpuops.batch.previews import Previews

        if params.sequence is not None:
            raise ParameterError(
                f"previews are of each input by itself: leave out --exposure {params.sequence}, or give a number"
            )
        sheet = self._sheet(shared, params, names) if self.contact_sheet else None
        if self.plot_curve is not None:
            self._check_plot(self.plot_curve, shared, names)
        return Previews(params, names, sheet, self.plot_curve)

    def shown(self, operator: str | LutParams | None) -> tuple[str | LutParams, ...]:
        """Returns the operators of the sheet's rows and of the curves; ``operator`` is the result's, if it was given.

        Raises ParameterError for a name that is none.
        """
        if self.operators is not None:
            names: tuple[str | LutParams, ...] = tuple(self.operators.split(","))
        elif operator is None:
            names = tuple(OPERATORS) if self.contact_sheet else (TonemapParams.operator,)
        else:
            names = (operator,)
        for name in names:
            TonemapParams(name)
        return names

    def _sheet(
        self, shared: Shared, params: TonemapParams, operators: tuple[str | LutParams, ...]
    ) -> ContactSheetParams:
        if self.operators is not None:
            refuse("--operators names the rows of a contact sheet", "operator")
        refuse("a contact sheet is sRGB", "transfer")
        check_sheet(shared, "tonemap")
        sheet = ContactSheetParams(operators, tile_width=self.tile_width)
        if self.stops is not None:
            sheet = replace(sheet, stops=stops_option(self.stops))
        if params.exposure is not None:
            for stops in sheet.stops:
                replace(params, exposure=params.exposure + stops)  # this checks that it is within the limits
        return sheet

    def _check_plot(self, path: str, shared: Shared, operators: tuple[str | LutParams, ...]) -> None:
        from gpuops.files import charts

        refuse("curves are plotted of Rec. 709's light", "working")
        local = [name for name in operators if name in LOCAL]
        if local and not (self.contact_sheet and len(local) < len(operators)):
            raise ParameterError(
                f"{local[0]} has no curve to plot: what it makes of a pixel depends on those around it"
            )
        if len(shared.inputs) > 1:
            refuse("a plot shows the curves for one input", "plot_curve")
        charts.check(path, overwrite=shared.overwrite, inputs=shared.inputs)


def check_sheet(shared: Shared, name: str) -> None:
    """Refuses what has no meaning for a contact sheet, and outputs that are no pictures; ``name`` is the command's."""
    refuse("a contact sheet is of Rec. 709's light", "working")
    refuse("a contact sheet is not dithered", "dither", "output_dither")
    refuse("a contact sheet is no light", "gain_map")
    if shared.dtype != "uint8":
        refuse("a contact sheet has 8 bits", "dtype")
    for output in outputs_of(shared, name):
        if output == STREAM and shared.format is None:
            continue  # such a path is refused elsewhere
        fmt = shared.of_job().format_of(output)
        if not fmt.is_for_display:
            raise ParameterError(
                f"{output}: a contact sheet is a picture of 8 bits, which {fmt} is not for: "
                "give -o a name such as sheet.png or 'out/{stem}-sheet.png'"
            )


#: Adds these options to a command, which receives them as one ``looks`` argument.
options = collected("looks", Looks)
