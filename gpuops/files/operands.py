"""The content of files that parameters name beside the input: kernel images and colour tables, read once."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..notes import note
from ..params.files import FileOperand
from ..pixels.colour import LINEAR, SRGB
from .lut import read_lut
from .pictures import read, read_stream

if TYPE_CHECKING:
    from ..image import Image
    from ..tone.lut import Lut
    from .picture import Picture

#: The shares of red, green and blue in luminance, ITU-R BT.709.
REC709 = (0.2126, 0.7152, 0.0722)
# How many files' contents are kept for the next picture of a batch.
_KEPT = 4


@lru_cache(_KEPT)
def picture(operand: FileOperand) -> Picture:
    """Returns the picture in the file. Raises FileError where it cannot be read, or has changed."""
    content = operand.content()
    return read_stream(io.BytesIO(content)) if operand.is_stream else read(operand.path)


@lru_cache(_KEPT)
def lut(operand: FileOperand) -> Lut:
    """Returns the colour table in the file. Raises FileError where it cannot be read, or has changed."""
    operand.content()
    return read_lut(operand.path)


def planes_like(image: Image, operand: FileOperand) -> Image:
    """Returns the picture in a file as planes that fit to an image: its colours, its space, premultiplied.

    They have the image's colour planes, and an alpha plane if the image or the picture has one. Raises ParameterError
    where the sizes differ.
    """
    return image.gpu.kept(
        ("picture", operand, image.shape, image.alpha, image.space.colour),
        lambda: _planes_like(image, operand),
    )


def mask_like(image: Image, operand: FileOperand) -> Image:
    """Returns the luminance of a picture's stored values, (1, height, width), for a mask of the image's size."""
    return image.gpu.kept(("mask", operand, image.shape[1:]), lambda: _mask_like(image, operand))


def _planes_like(image: Image, operand: FileOperand) -> Image:
    from ..pixels.coding import unpack
    from ..pixels.light import readable
    from ..space import Space, converted

    found = picture(operand)
    _check_size(image, found, operand)
    other = unpack(*readable(image.gpu, found, linear=True))
    other.space = Space()
    if image.space.colour not in (LINEAR, SRGB):
        raise ParameterError(
            f"{operand}: has no values in the image's own colour space: mix in --space linear"
        )
    other = converted(other, image.space.colour, premultiplied=True)
    host = other.numpy()
    colours, alpha = host[: other.colours], host[other.colours :]
    if image.colours == 1 and len(colours) == 3:
        note(f"{operand}: is mixed as gray, as the image is")
        colours = np.tensordot(np.array(REC709, np.float32), colours.astype(np.float32), 1)[None]
    elif image.colours > len(colours):
        colours = np.repeat(colours, image.colours, 0)
    if image.alpha and not other.alpha:
        alpha = np.ones_like(host[:1])
    result = image.gpu.array(np.concatenate([colours, alpha]))
    result.alpha, result.space = image.alpha or other.alpha, other.space
    return result


def _mask_like(image: Image, operand: FileOperand) -> Image:
    found = picture(operand)
    _check_size(image, found, operand)
    pixels = found.pixels[..., : found.channels - found.alpha].astype(np.float32)
    if found.pixels.dtype.kind == "u":
        pixels /= np.iinfo(found.pixels.dtype).max
    shares = REC709 if pixels.shape[2] == 3 else [1.0 / pixels.shape[2]] * pixels.shape[2]
    values = np.nan_to_num(np.clip(pixels @ np.array(shares, np.float32), 0, 1))
    return image.gpu.array(values[None])


def _check_size(image: Image, found: Picture, operand: FileOperand) -> None:
    height, width = found.pixels.shape[:2]
    if (height, width) != image.shape[1:]:
        raise ParameterError(
            f"{operand}: has {width} × {height} pixels and the image {image.shape[2]} × {image.shape[1]}: resize one"
        )
