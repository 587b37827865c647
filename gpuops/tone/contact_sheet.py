"""Contact sheets: an image tone-mapped by several operators at several exposures, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from ..files import upright
from ..gpu import Gpu
from ..image import Image
from ..operands import check_colours
from ..params.contact_sheet import ContactSheetParams
from ..params.lut import LutParams
from ..params.tonemap import TonemapParams
from ..pixels.coding import Encoding, pack
from ..records import dataclass
from .metering import metered
from .tonemap import tonemap

Pixels = npt.NDArray[np.uint8]

# Middle grey as light. It surrounds tiles and is seen through transparent ones: a neutral surround of medium
# lightness favours neither dark nor bright pictures.
GREY = 0.18
# Middle grey as an 8-bit code of sRGB.
GREY_CODE = 118
# White, the colour of text, as an 8-bit code of sRGB.
TEXT_CODE = 255
# The height of letters in pixels, at least and at most.
_LETTERS = (12, 32)
# A tile's width over the height of letters.
_LETTERS_IN_TILE = 22


@dataclass(frozen=True)
class SheetTile:
    """One picture of a sheet: codes (height, width, 1 or 3) of sRGB, and the labels below it."""

    codes: Pixels
    left: str
    right: str


def contact_sheet(
    gpu: Gpu, image: Image, params: TonemapParams, sheet: ContactSheetParams, *, orientation: int = 1
) -> Pixels:
    """Returns the sheet as codes (height, width, 1 or 3) of sRGB: a row for each operator, a column for each exposure.

    The image is metered once. For each tile the whole image is mapped, clipped to the range of a display, and averaged
    over areas as linear light: that is how the result looks at this size. (If it were averaged before it is mapped, the
    operator would not get to see small highlights.) All this happens on the device, from which only tiles are copied.
    Where the image is transparent, middle grey shows, which also surrounds all tiles. Below each tile are its operator
    and stops, and the exposure that gives the same result by itself.

    ``orientation`` is EXIF's: pictures are turned upright, as the text is. Memory beside the image: one result.

    Raises
    ------
    ParameterError
        The image is neither gray nor RGB, or an exposure is beyond ±60 stops.
    """
    check_colours(image.colours, image.shape[0], "tone mapping")
    light = metered(gpu, image, replace(params, transfer="linear", dither=None), sheet.operators)
    size = tile_size(image, sheet.tile_width, orientation)

    def look(operator: str | LutParams, stops: float) -> SheetTile:
        exact = light.look(operator, stops)
        assert exact.exposure is not None
        codes = tile(tonemap(gpu, image, exact), size, orientation)
        return SheetTile(codes, f"{operator}  {signed(stops)}", f"EV {signed(exact.exposure, '.2f')}")

    return compose([[look(operator, stops) for stops in sheet.stops] for operator in sheet.operators])


def compose(rows: Sequence[Sequence[SheetTile]]) -> Pixels:
    """Lays out tiles of one size row by row, with their labels. A label wider than a tile makes all columns wider."""
    first = rows[0][0].codes
    height, width, channels = first.shape
    letters = min(max(width // _LETTERS_IN_TILE, _LETTERS[0]), _LETTERS[1])
    font = ImageFont.load_default(letters)
    gap = letters
    wide = max(font.getlength(f"{tile.left}  {tile.right}") for row in rows for tile in row)
    cell = max(width, int(np.ceil(wide))), height + letters * 3 // 2
    mode, fill = ("L", GREY_CODE) if channels == 1 else ("RGB", (GREY_CODE,) * 3)
    text = TEXT_CODE if channels == 1 else (TEXT_CODE,) * 3
    sheet = Pillow.new(mode, (gap + len(rows[0]) * (cell[0] + gap), gap + len(rows) * (cell[1] + gap)), fill)
    draw = ImageDraw.Draw(sheet)
    for i, row in enumerate(rows):
        for j, tile in enumerate(row):
            x, y = gap + j * (cell[0] + gap), gap + i * (cell[1] + gap)
            sheet.paste(Pillow.fromarray(tile.codes.squeeze(2) if channels == 1 else tile.codes), (x, y))
            below = y + height + letters // 4
            draw.text((x, below), tile.left, text, font)
            draw.text((x + cell[0], below), tile.right, text, font, anchor="ra")
    return np.asarray(sheet).reshape(sheet.height, sheet.width, channels)


def tile_size(image: Image, tile_width: int, orientation: int) -> tuple[int, int]:
    """Returns (height, width) of a tile in memory; upright its width is ``tile_width``, or the image's if less."""
    turned = orientation in (5, 6, 7, 8)
    height, width = image.shape[:0:-1] if turned else image.shape[1:]
    narrow = min(tile_width, width)
    size = max(1, round(height * narrow / width)), narrow
    return size[::-1] if turned else size


def tile(light: Image, size: tuple[int, int], orientation: int) -> Pixels:
    """Returns the upright codes of a display's linear light, :func:`averaged` to a ``size`` (height, width)."""
    codes, _ = pack(averaged(light, *size), Encoding(np.dtype(np.uint8), encode=True))
    return upright(codes.numpy(), orientation)


def averaged(light: Image, height: int, width: int) -> Image:
    """Clips a display's linear light to [0, 1], lays it over grey, averages it over areas: (colours, height, width)."""
    # Columns come first: there neighbouring work-items read neighbouring values, and the other axis has little to do.
    return _average(_average(light, 1, height), 2, width)


def _average(light: Image, axis: int, count: int) -> Image:
    """Averages the light along one axis, so that it has ``count`` samples."""
    gpu = light.gpu
    shape = [light.colours, *light.shape[1:]]
    shape[axis] = count
    result = gpu.empty(shape)
    inner = prod(shape[axis + 1 :])
    lanes = 1 if inner == 1 else gpu.limits.lanes
    items = prod(shape[: axis + 1]) * -(-inner // lanes)
    gpu.compute(
        ("lanes", "contact_sheet"), "average", (items,), light, result, np.uint64(items), np.uint32(light.shape[axis]),
        np.uint32(count), np.uint32(inner), np.uint32(prod(shape[:axis])), GREY, group=256, label="average",
        WIDTH=lanes, ALPHA=light.alpha,
    )  # fmt: skip
    return result


def signed(stops: float, digits: str = ".4g") -> str:
    """Returns stops as a label says them."""
    return f"{stops:+{digits}}" if stops else "0"
