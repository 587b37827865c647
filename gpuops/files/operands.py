"""The content of files that parameters name beside the input: kernel images and colour tables, read once."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, ParameterError
from ..notes import note
from ..params.files import FileOperand
from ..params.kinds import Params, kinds
from ..params.moves import Frame
from ..params.notations import File, Files
from ..pixels.primaries import REC709_LUMINANCE
from ..tone.lut import Lut
from .lut import read_lut
from .picture import Picture
from .pictures import read, read_stream
from .strips import NeedsWholeFile, Strips, Window, open_rows

if TYPE_CHECKING:
    from ..image import Image

T = TypeVar("T")

# Rows that are read at a time.
_ROWS = 64
# The bytes of pixels up to which a picture is kept in memory as a whole, though an image comes by rows.
_SMALL = 1 << 24
# How many files' contents are kept for the next picture of a batch.
_KEPT = 4


class Rows:
    """The rows of a picture, for somebody who takes them from the top on, and begins again now and then.

    Attributes
    ----------
    picture : Picture
        All but its pixels.
    """

    def __init__(self, strips: Strips) -> None:
        self.picture = strips.picture
        self._strips = strips
        self._begin()

    def _begin(self) -> None:
        self._window = Window(self._strips.rows(_ROWS))

    def take(self, first: int, end: int) -> Picture:
        """Returns the picture of rows ``first`` … ``end``. What is above them is read anew if it is asked for again."""
        if first < self._window.first:
            self._begin()
        try:
            return replace(self.picture, pixels=self._window.rows(first, end))
        except FileError:
            self._begin()  # for whoever asks next
            raise


@lru_cache(_KEPT)
def picture(operand: FileOperand) -> Picture:
    """Returns the picture in the file. Raises FileError where it cannot be read, or has changed."""
    operand.check()
    content = read_stream(io.BytesIO(operand.streamed)) if operand.is_stream else read(operand.path)
    if content.metadata.gain:
        note(f"{operand}: is used without its gain map")
    return content


@lru_cache(_KEPT)
def lut(operand: FileOperand) -> Lut:
    """Returns the colour table in the file. Raises FileError where it cannot be read, or has changed."""
    operand.check()
    return read_lut(operand.path)


def planes_like(image: Image, operand: FileOperand, frame: Frame | None = None) -> Image:
    """Returns the picture in a file as planes that fit to an image: its colours, its space, premultiplied.

    They have the image's colour planes, and an alpha plane if the image or the picture has one. For an Image that is a
    part of a picture they are the same rows. ``frame``: where the image's pixels are, if not all are there; those that
    the picture lacks are black, and transparent if it has alpha. Raises ParameterError where the sizes of what the
    pictures display differ.
    """
    key = "picture", operand, image.shape, image.alpha, image.space.colour, frame
    return _said(
        operand,
        *_kept(image, key, lambda: _planes_like(image, operand, _like(image, operand, "picture", frame))),
    )


def planes_of_set(image: Image, operand: FileOperand, frame: Frame | None = None) -> Image:
    """Returns the picture in a file as planes of the image's kind: its colours, its space, alpha if that has it.

    Nothing is kept on the device. The rest is as for :func:`planes_like`.
    """
    source = _like(image, operand, "set", frame)
    other = _said(operand, *_planes_like(image, operand, source, premultiplied=image.space.premultiplied))
    return other if image.alpha else other.without_alpha()


def mask_like(image: Image, operand: FileOperand, frame: Frame | None = None) -> Image:
    """Returns the luminance of a picture's stored values, (1, height, width), for a mask of the image's size.

    For an Image that is a part of a picture it is that of the same rows. The rest is as for :func:`planes_like`.
    """

    def made() -> Image:
        luminance = luminance_of(_like(image, operand, "mask", frame))
        return image.gpu.array(np.nan_to_num(np.clip(luminance, 0, 1)))

    return _kept(image, ("mask", operand, image.shape[1:], frame), made)


def extent(image: Image, operand: FileOperand, frame: Frame | None = None) -> tuple[int, int, int, int]:
    """Returns where an image has pixels of a picture: the first row and column, and those behind the last ones."""
    _, height, width = image.shape
    on, of = frame or Frame.of(height, width), picture(operand).frame
    top, left = of.y - on.y, of.x - on.x
    return max(0, top), max(0, left), min(height, top + of.rows), min(width, left + of.columns)


def _kept(image: Image, key: tuple[Any, ...], made: Callable[[], T]) -> T:
    """Returns what is made for an image, and kept for the next one unless it is for a part of a picture."""
    return made() if image.part is not None else image.gpu.kept(key, made)


def _like(image: Image, operand: FileOperand, use: str, frame: Frame | None) -> Picture:
    """Returns the picture in a file where the image has pixels, or the rows of it that an Image has of a part."""
    part, wanted = image.part, frame or Frame.of(*image.of_whole[1:])
    if part is None:
        return _laid(Strips.of(picture(operand)), operand, wanted).picture
    key = "rows", use, operand, frame
    rows = image.gpu.kept(key, lambda: Rows(_laid(_strips(operand), operand, wanted)))
    return rows.take(part.first, part.first + image.shape[1])


def _laid(strips: Strips, operand: FileOperand, wanted: Frame) -> Strips:
    """Returns a picture that lies where the image does. Raises ParameterError if both display something else."""
    frame = strips.picture.frame
    if (frame.width, frame.height) != (wanted.width, wanted.height):
        size, of_image = (f"{one.width} × {one.height}" for one in (frame, wanted))
        raise ParameterError(f"{operand} has {size} pixels and the image {of_image}: resize one")
    if frame.shown != wanted.shown:
        raise ParameterError(
            f"{operand} has its pixels {frame}, and the image {wanted}: their windows differ"
        )
    return strips.on(wanted, str(operand))


def _pictures(params: Params) -> Iterator[tuple[FileOperand, File | Files]]:
    """Yields the pictures that parameters name, with the kind of each parameter."""
    for name, kind in kinds(type(params)).items():
        if isinstance(kind, File | Files) and kind.metavar == "IMAGE":
            given = getattr(params, name)
            for operand in given if isinstance(given, tuple) else filter(None, (given,)):
                yield operand, kind


def check(params: Params) -> None:
    """Reads the pictures that parameters name, so that their errors are told before any work.

    Of a large one that is laid on the image, and comes by rows, no more is read than tells that it is a picture.
    """
    for operand, kind in _pictures(params):
        if not kind.alike or _large(operand) is None:
            picture(operand)


def largest_beside(steps: Iterable[Params]) -> int:
    """Returns the bytes of the largest picture that steps can read by rows beside the image; 0 if all are small."""
    large = (
        _large(operand)
        for params in steps
        for operand, kind in _pictures(params)
        if getattr(kind, "by_rows", False)
    )
    return max((strips.picture.pixels.nbytes for strips in large if strips is not None), default=0)


def _strips(operand: FileOperand) -> Strips:
    """Opens a picture by rows."""
    strips = _large(operand)
    if strips is None:
        return Strips.of(picture(operand))
    strips.tell()
    return strips


def _large(operand: FileOperand) -> Strips | None:
    """Returns the rows of a large picture, if its format, and this file, can be read so."""
    if operand.is_stream:
        return None
    operand.check()
    with suppress(NeedsWholeFile):
        return open_rows(operand.path, None, _SMALL)
    return None


def _said(operand: FileOperand, planes: Image, colours: int) -> Image:
    """Returns planes of a picture of so many colours, and says what each image that gets them leaves out."""
    if planes.colours < colours:
        note(f"{operand}: is mixed as gray, as the image is")
    return planes


def _planes_like(
    image: Image, operand: FileOperand, source: Picture, *, premultiplied: bool = True
) -> tuple[Image, int]:
    """Returns the planes, and the number of colours that the picture has."""
    from ..pixels.coding import Decoding, on_device, unpack
    from ..pixels.conversion import converted
    from ..pixels.light import readable
    from ..pixels.primaries import ColourError
    from ..pixels.spaces import check as check_formula
    from ..space import Space

    wanted = image.space.colour
    if image.space.data:
        numbers = source.pixels.dtype.kind == "u" and not image.alpha
        if numbers and source.alpha:
            raise ParameterError(f"{operand} has alpha, and the image's values are data: leave it out first")
        decoding = Decoding(source.alpha, scale=1.0 if numbers else None)
        other = unpack(on_device(image.gpu, source.pixels), decoding)
        other.space = replace(image.space, premultiplied=False)
    elif source.colour == wanted and not wanted.narrow:  # whose black is at other fractions in another depth
        other = unpack(on_device(image.gpu, source.pixels), Decoding(source.alpha))
        other.space = Space(wanted)
    else:
        try:
            check_formula(wanted)
        except ColourError as error:
            raise ParameterError(
                f"the image's colour space {error}, and {operand} has another one: work in --space linear"
            ) from None
        other = unpack(*readable(image.gpu, source, linear=True))
        other.space = Space()
    other = converted(other, wanted, premultiplied=premultiplied)
    host = other.numpy()
    colours, alpha = host[: other.colours], host[other.colours :]
    if image.colours == 1 and len(colours) == 3:
        colours = _luminance(colours)
    elif image.colours > len(colours):
        colours = np.repeat(colours, image.colours, 0)
    if image.alpha and not other.alpha:
        alpha = np.ones_like(host[:1])
    result = image.gpu.array(np.concatenate([colours, alpha]))
    result.alpha, result.space = image.alpha or other.alpha, other.space
    return result, other.colours


def luminance_of(source: Picture) -> NDArray[np.float32]:
    """Returns the luminance of a picture's stored values, (1, height, width): integers as fractions, without alpha."""
    pixels = source.pixels[..., : source.channels - source.alpha].astype(np.float32)
    if source.pixels.dtype.kind == "u":
        pixels /= np.iinfo(source.pixels.dtype).max
    planes = np.moveaxis(pixels, -1, 0)
    return _luminance(planes) if len(planes) == 3 else planes.mean(0, keepdims=True)


def _luminance(planes: NDArray[Any]) -> NDArray[np.float32]:
    """Returns (1, height, width) of three planes. Each value is computed alone, whatever rows there are beside it."""
    red, green, blue = (
        np.float32(share) * plane for share, plane in zip(REC709_LUMINANCE, planes, strict=True)
    )
    luminance: NDArray[np.float32] = (red + green + blue)[None]
    return luminance
