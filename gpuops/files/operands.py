"""The content of files that parameters name beside the input: kernel images and colour tables, read once."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, ParameterError
from ..notes import note
from ..params.files import FileOperand
from ..params.kinds import Params, kinds
from ..params.notations import File, Files
from ..pixels.primaries import REC709_LUMINANCE
from .lut import read_lut
from .pictures import read, read_stream
from .strips import NeedsWholeFile, Strips, open_rows
from .windows import Window

if TYPE_CHECKING:
    from ..image import Image
    from ..tone.lut import Lut
    from .picture import Picture

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
    return read_stream(io.BytesIO(operand.streamed)) if operand.is_stream else read(operand.path)


@lru_cache(_KEPT)
def lut(operand: FileOperand) -> Lut:
    """Returns the colour table in the file. Raises FileError where it cannot be read, or has changed."""
    operand.check()
    return read_lut(operand.path)


def planes_like(image: Image, operand: FileOperand) -> Image:
    """Returns the picture in a file as planes that fit to an image: its colours, its space, premultiplied.

    They have the image's colour planes, and an alpha plane if the image or the picture has one. For an Image that is a
    part of a picture they are the same rows. Raises ParameterError where the sizes of the pictures differ.
    """
    if image.part is not None:
        return _said(operand, *_planes_like(image, operand, _rows_like(image, operand, "picture")))
    found = image.gpu.kept(
        ("picture", operand, image.shape, image.alpha, image.space.colour),
        lambda: _planes_like(image, operand, _whole_like(image, operand)),
    )
    return _said(operand, *found)


def planes_of_set(image: Image, operand: FileOperand) -> Image:
    """Returns the picture in a file as planes of the image's kind: its colours, its space, alpha if that has it.

    Nothing is kept on the device. Raises ParameterError where the sizes of the pictures differ.
    """
    found = _whole_like(image, operand)
    other = _said(operand, *_planes_like(image, operand, found, premultiplied=image.space.premultiplied))
    return other if image.alpha else other.without_alpha()


def mask_like(image: Image, operand: FileOperand) -> Image:
    """Returns the luminance of a picture's stored values, (1, height, width), for a mask of the image's size.

    For an Image that is a part of a picture it is that of the same rows.
    """
    if image.part is not None:
        return _mask_like(image, _rows_like(image, operand, "mask"))
    return image.gpu.kept(
        ("mask", operand, image.shape[1:]), lambda: _mask_like(image, _whole_like(image, operand))
    )


def _whole_like(image: Image, operand: FileOperand) -> Picture:
    """Returns the picture in a file, which has the image's size."""
    found = picture(operand)
    _check_size(image, found, operand)
    return found


def _rows_like(image: Image, operand: FileOperand, use: str) -> Picture:
    """Returns the rows of a picture in a file that an Image has of another one of its size."""
    rows = image.gpu.kept(("rows", use, operand), lambda: Rows(_strips(operand)))
    _check_size(image, rows.picture, operand)
    assert image.part is not None
    first = image.part.first
    return rows.take(first, first + image.shape[1])


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


def check_places(image: Picture, steps: Iterable[tuple[Params, str]]) -> None:
    """Raises ParameterError for a picture that a step lays on the image, and that has another place by its windows.

    ``steps``: a chain's parameters, with each one's :attr:`gpuops.operation.Traits.kind`. After a step that moves
    pixels, the image's place is not known.
    """
    for params, kind_of_step in steps:
        if kind_of_step == "geometry":
            return
        for operand in (operand for operand, kind in _pictures(params) if kind.alike):
            found = _large(operand)
            other = picture(operand) if found is None else found.picture
            same_size = (other.width, other.height) == (image.width, image.height)
            if same_size and other.window != image.window:
                raise ParameterError(
                    f"{operand} has its pixels {other.place}, and the image {image.place}: "
                    "write both as TIFF first, which has no windows, to lay them on each other"
                )


def largest_beside(steps: Iterable[Params]) -> int:
    """Returns the bytes of the largest picture that steps can read by rows beside the image; 0 if all are small."""
    found = (
        _large(operand)
        for params in steps
        for operand, kind in _pictures(params)
        if getattr(kind, "by_rows", False)
    )
    return max((strips.picture.pixels.nbytes for strips in found if strips is not None), default=0)


def _strips(operand: FileOperand) -> Strips:
    """Opens a picture by rows."""
    found = _large(operand)
    if found is None:
        return Strips.of(picture(operand))
    for text in found.said:
        note(text)
    return found


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
    image: Image, operand: FileOperand, found: Picture, *, premultiplied: bool = True
) -> tuple[Image, int]:
    """Returns the planes, and the number of colours that the picture has."""
    from ..pixels.coding import Decoding, on_device, unpack
    from ..pixels.conversion import converted
    from ..pixels.light import readable
    from ..pixels.primaries import ColourError
    from ..pixels.targets import check as check_formula
    from ..space import Space

    wanted = image.space.colour
    if found.colour == wanted and not wanted.narrow:  # whose black is at other fractions in another depth
        other = unpack(on_device(image.gpu, found.pixels), Decoding(found.alpha))
        other.space = Space(wanted)
    else:
        try:
            check_formula(wanted)
        except ColourError as error:
            raise ParameterError(
                f"the image's colour space {error}, and {operand} has another one: work in --space linear"
            ) from None
        other = unpack(*readable(image.gpu, found, linear=True))
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


def _mask_like(image: Image, found: Picture) -> Image:
    return image.gpu.array(np.nan_to_num(np.clip(luminance_of(found), 0, 1)))


def luminance_of(found: Picture) -> NDArray[np.float32]:
    """Returns the luminance of a picture's stored values, (1, height, width): integers as fractions, without alpha."""
    pixels = found.pixels[..., : found.channels - found.alpha].astype(np.float32)
    if found.pixels.dtype.kind == "u":
        pixels /= np.iinfo(found.pixels.dtype).max
    planes = np.moveaxis(pixels, -1, 0)
    return _luminance(planes) if len(planes) == 3 else planes.mean(0, keepdims=True)


def _luminance(planes: NDArray[Any]) -> NDArray[np.float32]:
    """Returns (1, height, width) of three planes. Each value is computed alone, whatever rows there are beside it."""
    red, green, blue = (
        np.float32(share) * plane for share, plane in zip(REC709_LUMINANCE, planes, strict=True)
    )
    luminance: NDArray[np.float32] = (red + green + blue)[None]
    return luminance


def _check_size(image: Image, found: Picture, operand: FileOperand) -> None:
    _, height, width = image.of_whole
    if (found.height, found.width) != (height, width):
        raise ParameterError(
            f"{operand} has {found.width} × {found.height} pixels and the image {width} × {height}: resize one"
        )
