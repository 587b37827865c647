"""Previews before parameters are chosen: contact sheets in place of results, and plots of curves beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ..image import Image
from ..operation import operation_of
from ..ops.bloom import BloomParams
from ..ops.tonemap import TonemapParams
from ..params.contact_sheet import ContactSheetParams, GlowSheetParams
from ..params.kinds import Params
from ..params.lut import LutParams
from ..params.operators import LOCAL
from ..records import dataclass
from .memory import device_bytes, needing, shape_of

if TYPE_CHECKING:
    from ..pixels.coding import Decoding
    from ..plan import Plan
    from ..tone.curves import Curve
    from .item import Item

# Bytes of the device's memory for each value that previews take beside a result: light, and intermediates of tiles.
_BESIDE = 8


@dataclass(frozen=True)
class Previews:
    """Draws a contact sheet, or writes the tone-mapped image, and plots the curves of its light.

    Attributes
    ----------
    params : TonemapParams
        The result's parameters.
    operators : str or LutParams
        The operators whose curves are plotted.
    sheet : ContactSheetParams, optional
        The sheet that is written in place of the result.
    plot : str, optional
        The path of the plot.
    """

    params: TonemapParams
    operators: tuple[str | LutParams, ...]
    sheet: ContactSheetParams | None = None
    plot: str | None = None

    def __call__(self, item: Item) -> None:
        what = "--plot-curve" if self.sheet is None else "--contact-sheet"
        with _whole(item, self.params, what, premultiply=False) as (pixels, image, decoding, todo):
            self._work(item, pixels, image, decoding, todo)

    def _work(self, item: Item, pixels: Image, image: Image, decoding: Decoding, todo: Plan) -> None:
        from .. import plan

        gpu = item.gpu
        curves = item.run(self._curves, image) if self.plot is not None else []
        if self.sheet is not None:
            from ..tone.contact_sheet import contact_sheet

            make = partial(contact_sheet, orientation=item.origin.metadata.orientation)
            item.output.save_codes(item.run(make, gpu, image, self.params, self.sheet))
        else:
            operation_of(self.params).prepare(gpu, self.params, item.output)
            result = item.run(plan.run, gpu, todo, pixels, decoding, item.output.target(display=True))
            item.output.write(item.output.file_pixels(result))
        if self.plot is not None:
            from ..tone.curves import plot

            with gpu.phase("encode"):
                plot(curves, self.plot, overwrite=item.options.overwrite)

    def _curves(self, image: Image) -> list[Curve]:
        """Returns the curves of all operators that are not local."""
        from ..tone.curves import curves
        from ..tone.metering import metered

        light = metered(image.gpu, image, self.params, self.operators)
        return curves(image.gpu, [light.look(name) for name in self.operators if name not in LOCAL])


@dataclass(frozen=True)
class GlowSheet:
    """Draws a contact sheet of glows in place of the result.

    Attributes
    ----------
    params : BloomParams
        The parameters that all glows have in common, with a tone mapping.
    sheet : GlowSheetParams
    """

    params: BloomParams
    sheet: GlowSheetParams

    def __call__(self, item: Item) -> None:
        from ..glow.contact_sheet import contact_sheet

        with _whole(item, self.params, "--contact-sheet", premultiply=True) as (_, image, _, _):
            make = partial(contact_sheet, orientation=item.origin.metadata.orientation)
            item.output.save_codes(item.run(make, item.gpu, image, self.params, self.sheet))


@contextmanager
def _whole(
    item: Item, params: Params, what: str, *, premultiply: bool
) -> Iterator[tuple[Image, Image, Decoding, Plan]]:
    """Gives the pixels of the whole picture, its planes, how these were read, and the plan of a step for it."""
    from .. import plan
    from ..rows.schedule import RowSchedule

    todo = plan.plan([params], item.options.space, item.options.light)
    picture, how = item.read(linear=True, premultiply=premultiply, what=what)
    orientation = picture.metadata.orientation
    schedule = RowSchedule.of(item.gpu, todo, shape_of(picture), orientation, picture.frame)
    nbytes = device_bytes(schedule, picture) + _BESIDE * picture.pixels.size
    with needing(item.gpu, lambda: f"{what} needs the whole picture", lambda: nbytes):
        pixels = item.on_device(picture.pixels, how)
        image = plan.planes(pixels, how.decoding)
        image.owned = False  # it is looked at several times
        yield pixels, image, how.decoding, todo
