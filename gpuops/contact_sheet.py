"""Contact sheets: an image tone-mapped by several operators at several exposures, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from .files import upright
from .image import Image
from .metered import metered
from .params.contact_sheet import ContactSheetParams
from .params.lut import LutParams
from .params.tonemap import TonemapParams
from .pixels import Encoding, pack
from .reduce import check_colours
from .tonemap import tonemap

if TYPE_CHECKING:
    from .gpu import Gpu

Pixels = npt.NDArray[np.uint8]

# Middle grey, as light and as a code of sRGB: what surrounds tiles, and what is seen through them. A neutral surround
# of medium lightness favours neither dark nor bright pictures.
GREY, GREY_CODE = 0.18, 118
TEXT_CODE = 255
_LETTERS = (12, 32)  # height in pixels, at least and at most
_LETTERS_IN_TILE = 22  # in its width


@dataclass(frozen=True)
class Tile:
    """One picture of a sheet: codes (height, width, 1 or 3) of sRGB, and what is written below it."""

    codes: Pixels
    left: str
    right: str


def contact_sheet(
    gpu: Gpu, image: Image, params: TonemapParams, sheet: ContactSheetParams, *, orientation: int = 1
) -> Pixels:
    """The sheet as codes (height, width, 1 or 3) of sRGB: a row for each operator, a column for each exposure.

    The image is metered once. Each tile is then the whole image, mapped, cut to what a display shows, and averaged over
    areas as linear light: what one sees of the result at that size. (Averaged before it is mapped, small highlights
    would lose what the operator makes of them.) That happens on the device, from which only tiles come. Where the
    image is transparent, it stands over middle grey, as all tiles do. Below each are operator and stops, and the
    exposure that gives the same result by itself.

    ``orientation`` is EXIF's: a sheet is upright, or its text would lie with the image. Memory beside the image: one
    result.

    Raises
    ------
    ParameterError
        The image is neither gray nor RGB, or an exposure is beyond ±60 stops.
    """
    check_colours(image.colours, image.shape[0], "tone mapping")
    light = metered(gpu, image, replace(params, transfer="linear", dither=None), sheet.operators)
    size = _size((image.shape[1], image.shape[2]), sheet.tile_width, turned=orientation in (5, 6, 7, 8))

    def look(operator: str | LutParams, stops: float) -> Tile:
        exact = light.look(operator, stops)
        assert exact.exposure is not None
        codes, _ = pack(tile(tonemap(gpu, image, exact), *size), Encoding(np.dtype(np.uint8), encode=True))
        return Tile(
            upright(codes.numpy(), orientation),
            f"{operator}  {_signed(stops)}",
            f"EV {_signed(exact.exposure, '.2f')}",
        )

    return compose([[look(operator, stops) for stops in sheet.stops] for operator in sheet.operators])


def compose(rows: Sequence[Sequence[Tile]]) -> Pixels:
    """Tiles of one size, row by row, with their labels. Text that is wider than a tile makes all columns wider."""
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


def _size(shape: tuple[int, int], tile_width: int, *, turned: bool) -> tuple[int, int]:
    """(height, width) of a tile as it lies in memory: its upright width is ``tile_width``, or the image's."""
    height, width = shape[::-1] if turned else shape
    narrow = min(tile_width, width)
    size = max(1, round(height * narrow / width)), narrow
    return size[::-1] if turned else size


def tile(light: Image, height: int, width: int) -> Image:
    """A display's linear light, cut to [0, 1], over grey, and averaged over areas: (colours, height, width)."""
    # Down columns first: neighbouring work-items read neighbouring values, and little is left for the other axis.
    return _average(_average(light, 1, height), 2, width)


def _average(light: Image, axis: int, count: int) -> Image:
    """Of an axis become ``count`` samples."""
    gpu = light.gpu
    shape = [light.colours, *light.shape[1:]]
    shape[axis] = count
    result = gpu.empty(shape)
    inner = prod(shape[axis + 1 :])
    lanes = 1 if inner == 1 else gpu.limits.lanes
    items = prod(shape[: axis + 1]) * -(-inner // lanes)
    kernel = gpu.kernel(("lanes", "tile"), "tile", WIDTH=lanes, ALPHA=light.alpha)
    gpu.launch(
        kernel, (items,), light, result, np.uint64(items), np.uint32(light.shape[axis]), np.uint32(count),
        np.uint32(inner), np.uint32(prod(shape[:axis])), GREY, local=kernel.fit(256), label="tile",
        traffic=light.nbytes + result.nbytes,
    )  # fmt: skip
    return result


def _signed(stops: float, digits: str = ".4g") -> str:
    return f"{stops:+{digits}}" if stops else "0"
