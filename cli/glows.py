"""Previews of glows before one is chosen: contact sheets for `clpix bloom`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuops.operation import Given
from gpuops.ops.bloom import BloomParams
from gpuops.params.contact_sheet import GlowSheetParams, numbers_option
from gpuops.params.operators import DEFAULT_OPERATOR
from gpuops.records import dataclass

from .looks import TILES, check_sheet
from .options import collected, refuse
from .shared import Shared, flag, option

if TYPE_CHECKING:
    from gpuops.batch.previews import GlowSheet

#: The group of these options in help.
GROUPS = {"Previews": ("contact_sheet", "strengths", "radii", "tile_width")}
# The rows and columns of a sheet without a word, as multiples of the strength and the radius.
_STRENGTHS, _RADII = (0.5, 1.0, 2.0, 4.0), (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Glows:
    """The values of these options."""

    contact_sheet: bool = flag(
        "Write small pictures, tone-mapped, in place of the result: a row for each strength, a column for each radius."
    )
    strengths: str | None = option(
        "The strengths of a contact sheet.  [default: 1/2, 1, 2 and 4 times --strength]", "A,B,C"
    )
    radii: str | None = option(
        "The radii of a contact sheet.  [default: 1/2, 1 and 2 times --radius]", "A,B,C"
    )
    tile_width: int = TILES

    @property
    def asked(self) -> bool:
        """Says whether there is anything to draw."""
        return self.contact_sheet

    def refuse_needless(self) -> None:
        """Refuses options that have no effect without others."""
        if not self.contact_sheet:
            refuse("there is no --contact-sheet", *vars(self))

    def read(self, written: Given) -> tuple[BloomParams, GlowSheetParams]:
        """Returns the parameters that all glows have in common, and the sheet. Raises ParameterError."""
        if "preset" in written:
            refuse("--preset fixes everything but --reads", *vars(self))
        if self.strengths is not None:
            written.refuse("--strengths names the rows of a contact sheet", "strength")
        if self.radii is not None:
            written.refuse("--radii names the columns of a contact sheet", "radius")
            written.refuse("--radii is not for the shape of --kernel, whose pixels are the image's", "kernel")
        usual = {"tonemap": written.get("tonemap", DEFAULT_OPERATOR)}
        params = BloomParams.of_options(written.with_usual(usual))
        most = 1.0 if params.blend == "energy" else math.inf
        strengths = _numbers(self.strengths, params.strength, _STRENGTHS, most)
        # The shape of a kernel has the size that it has.
        radii = _numbers(self.radii, params.radius, _RADII if params.kernel is None else (1.0,), 1.0)
        for strength in strengths:
            replace(params, strength=strength)  # this checks that it is within the limits
        for radius in radii:
            replace(params, radius=radius)
        return params, GlowSheetParams(strengths, radii, self.tile_width)

    def work(self, shared: Shared, params: BloomParams, sheet: GlowSheetParams) -> GlowSheet:
        """Returns what draws the sheet of every input in place of its result."""
        from gpuops.batch.previews import GlowSheet

        check_sheet(shared, "bloom")
        return GlowSheet(params, sheet)


def _numbers(written: str | None, usual: float, multiples: Iterable[float], most: float) -> tuple[float, ...]:
    """Returns the numbers that are written, or else multiples of the ``usual`` one up to the ``most``."""
    if written is not None:
        return numbers_option(written)
    return tuple(usual * times for times in multiples if usual * times <= most)


#: Adds these options to a command, which receives them as one ``looks`` argument.
options = collected("looks", Glows)
