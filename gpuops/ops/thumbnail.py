"""Small, upright versions of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operation import Choice, Flag, Operation, Params, Reach, Size, Traits, operation_of
from ..records import dataclass
from .resize import MOST, ON_LOAD, ResizeParams, shrinks, target
from .rotate import RotateParams

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

#: EXIF's orientations from which on rows become columns.
_TRANSPOSED = 5


@dataclass(frozen=True)
class ThumbnailParams(Params):
    """Make small, upright versions of pictures, for the web and for overviews.

    The picture is turned as its EXIF orientation asks, and --size is that of the upright picture: 1200 is the longest
    side, or of --fit cover each side, 1200x800 a box, 1200x a width. --fit is as for resize. A side is never made
    longer, unless with --enlarge. Metadata and the colour space stay, as with other commands: --strip and --colour srgb
    change that.

    JPEG files that are much larger are decoded at 1/2, 1/4 or 1/8 of their size, but never below twice the wanted
    size. That takes less time and memory. The decoder leaves out the finest frequencies of stored values, where resize
    takes means of light. So photographs differ from exact ones by a CIEDE2000 of 0.3 to 1.4 on average, and fine
    patterns of high contrast become darker, those of single pixels by up to 60 of 255 levels. --no-shrink-on-load
    decodes all pixels. So it is with other formats; with JPEG of inks (CMYK), of more than 8 bits, of data, or with a
    gain map; where another step comes first; and where the smaller picture has no room in --memory.
    """

    size: tuple[int | None, int | None] = Size(
        "The longest side, or the new width and height, of which one may be left out.",
        MOST,
        partial=True,
        square=True,
    ).field()
    fit: str = Choice(
        "How the picture fits into a size of another shape.", ("contain", "cover", "stretch")
    ).field("contain")
    filter: str = Choice(
        "The filter that makes new pixels from the old ones.", ("lanczos3", "mitchell", "catmull-rom", "area")
    ).field("lanczos3")
    enlarge: bool = Flag("Make smaller pictures larger, too.").field(False)
    shrink_on_load: bool = Flag(ON_LOAD).field(True)


def thumbnail(gpu: Gpu, image: Image, params: ThumbnailParams) -> Image:
    """Returns a planar float32 Image, turned as its orientation says, in another size.

    It is premultiplied if it has alpha. It is the Image itself if that is upright and has the size.
    """
    for part in _parts(params, image.orientation or 1, *image.of_whole[1:]):
        image = operation_of(part)(gpu, image, part)
    return image


def _parts(params: ThumbnailParams, orientation: int, height: int, width: int) -> tuple[Params, ...]:
    """Returns the steps for pictures of this orientation and size: few pixels are turned faster than many."""
    if params.shrunk is not None:
        height, width = params.shrunk.height, params.shrunk.width
    box = params.size[::-1] if orientation >= _TRANSPOSED else params.size
    columns, rows = target(ResizeParams(box, fit=params.fit), height, width)
    if not params.enlarge:
        columns, rows = min(columns, width), min(rows, height)
    cut = params.fit == "cover" and None not in box
    resized = ResizeParams(
        (columns, rows), fit="cover" if cut else "stretch", filter=params.filter,
        shrink_on_load=params.shrink_on_load, shrunk=params.shrunk,
    )  # fmt: skip
    same, upright = (columns, rows) == (width, height), orientation == 1
    return (*[resized][same:], *[RotateParams(auto_orient=True)][upright:])


def _shrinks(params: ThumbnailParams, orientation: int, height: int, width: int) -> int:
    first = next(iter(_parts(params, orientation, height, width)), None)
    return shrinks(first, orientation, height, width) if isinstance(first, ResizeParams) else 1


def _reach(gpu: Gpu, shape: tuple[int, int, int], params: ThumbnailParams) -> Reach:
    parts = _parts(params, 1, *shape[1:])
    return Reach(spoiled=sum(operation_of(part).reach_of(gpu, shape, part).spoiled for part in parts))


OPERATION = Operation(
    "thumbnail",
    ThumbnailParams,
    thumbnail,
    traits=Traits(premultiplied=True, kind="geometry", keeps_range=True, bytes_per_value=8.0),
    reach=_reach,
    parts=_parts,
    shrinks=_shrinks,
    examples=(
        "clpix thumbnail photo.jpg --size 1200 -o web.jpg",
        "clpix thumbnail photos/*.jpg --size 400x300 --fit cover -o overview/",
        "clpix thumbnail photo.jpg --size 1200 then sharpen -o sharp.jpg",
    ),
    groups={"Size": ("size", "fit", "filter", "enlarge", "shrink_on_load")},
)
