"""Contact sheets: an image with glows of several strengths and radii, side by side."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from .. import notes
from ..gpu import Gpu
from ..image import Image
from ..operands import check_colours
from ..operation import operation_of
from ..params.bloom import BloomParams
from ..params.contact_sheet import GlowSheetParams
from ..tone.contact_sheet import Pixels, SheetTile, compose, signed, tile, tile_size
from ..tone.tonemap import stops


def contact_sheet(
    gpu: Gpu, image: Image, params: BloomParams, sheet: GlowSheetParams, *, orientation: int = 1
) -> Pixels:
    """Returns the sheet as codes (height, width, 1 or 3) of sRGB: a row for each strength, a column for each radius.

    ``image`` is planes of premultiplied light, and ``params.tonemap`` an operator. The image is metered once, if the
    exposure is None. Each tile is the whole result, clipped to the range of a display and averaged over areas as linear
    light, over middle grey where it is transparent; all this happens on the device. Below it are its strength and
    radius, which give the same result by themselves, and in the first column the exposure.

    ``orientation`` is EXIF's: pictures are turned upright, as the text is. Memory beside the image: two results.
    Raises ParameterError if the image is neither gray nor RGB.
    """
    check_colours(image.colours, image.shape[0], "tone mapping")
    if params.exposure is None:
        params = replace(params, exposure=stops(gpu, image))
    assert params.exposure is not None
    bloom = operation_of(params).function
    size = tile_size(image, sheet.tile_width, orientation)
    exposed = f"EV {signed(params.exposure, '.2f')}"

    def glow(strength: float, radius: float) -> SheetTile:
        first = (strength, radius) == (sheet.strengths[0], sheet.radii[0])
        with nullcontext() if first else notes.to(lambda _text: None):  # of repairs, which all need
            shown = bloom(gpu, image, replace(params, strength=strength, radius=radius))
        label = f"strength {strength:.4g}" + ("" if params.kernel else f"  radius {radius:.4g}")
        return SheetTile(tile(shown, size, orientation), label, exposed if radius == sheet.radii[0] else "")

    return compose([[glow(strength, radius) for radius in sheet.radii] for strength in sheet.strengths])
