"""PNG, JPEG, WebP, TIFF, Radiance HDR and JPEG 2000 through OpenImageIO.

PNG, TIFF, JPEG and WebP only for reading; png.py, tiff.py and lossy.py write them.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import unusual
from . import by_pillow, colours, containers, frames, mended_jpeg, oiio, png_rows, tiff_page
from .containers import is_progressive
from .drafts import draft_file
from .formats import Format
from .picture import Metadata, Picture, Pixels
from .raster_page import (
    MIN_IS_BLACK,
    PHOTOMETRIC,
    SEPARATED,
    Page,
    alpha_attributes,
    icc_attribute,
    icc_of,
    is_of_inks,
)
from .streams import called
from .strips import COPIES, NeedsWholeFile, RowsOf

if TYPE_CHECKING:
    from . import jpeg2000

#: Floats made of 8-bit inks take at most this many times the bytes of these.
_MOST_OF_INKS = 4
#: The least width and height in pixels, as JPEG 2000's encoder halves the picture five times.
_JPEG2000_LEAST = 32
#: Bytes of a PNG file to the end of what its header says.
_PNG_HEADER = 29
#: The interpretation of gray whose 0 is white.
_MIN_IS_WHITE = 0
#: The interpretation of red, green and blue.
_RGB = 2
#: The interpretation of colours from a palette.
_PALETTE = 3
#: The interpretation of brightness and colours.
_YCBCR = 6
#: The interpretation of a sensor's mosaic of colours.
_MOSAIC = 32803
#: The numbers of compressions that OpenImageIO may lack: LERC, LZMA, Zstandard, JPEG 2000, PNG and JPEG XL.
_BY_TIFFFILE = (34887, 34925, 50000, 34712, 34933, 50002)
#: The interpretations that are gray or RGB, or become so in decoding.
_PHOTOMETRICS = (_MIN_IS_WHITE, MIN_IS_BLACK, _RGB, _PALETTE, 4, SEPARATED, _YCBCR, _MOSAIC)


def read(path: str, fmt: Format, layer: str | int | None, start: bytes) -> Picture:
    try:
        return _read(path, fmt, layer, start)
    except FileError:
        found = mended_jpeg.of_file(path) if fmt.name == "JPEG" else None
        if found is None:
            raise
        with suppress(FileError), draft_file(tempfile.gettempdir()) as copy, called(copy, path):
            with open(copy, "wb") as file:
                file.write(found[0])
            with oiio.Reader(copy) as whole:  # Pillow, which some are read by, does not tell of missing data
                whole.read()
            picture = _read(copy, fmt, layer, found[0][: containers.SMALL])
            for fault in found[1]:
                note(f"{path}: {fault}; all of its picture is there")
            return picture
        raise


def _read(path: str, fmt: Format, layer: str | int | None, start: bytes) -> Picture:
    extras = _extras(path, fmt, start)
    if layer in extras.layers[1:]:
        from . import gain_map

        return gain_map.read(path, extras)
    header = None
    if fmt.name == "JPEG 2000":
        from . import jpeg2000

        header = jpeg2000.read_header(path)
    if header is not None and header.needs_pillow():
        page = Page(path, fmt, extras, oiio.no_spec(), ("0",), _page(path, layer), layer is None, header)
        return page.picture(by_pillow.read(path, "JPEG2000"))
    if layer is not None and frames.is_animated(fmt, extras):
        return _frame(path, fmt, layer, extras)
    if fmt.name == "PNG" and _is_dense(start):
        page = Page(path, fmt, extras, oiio.no_spec(), ("0",), _page(path, layer), layer is None, header)
        return page.picture(by_pillow.read(path, "PNG"))
    with oiio.Reader(path) as file:
        page = _open(path, file, fmt, layer, extras, header)
        if fmt.name == "Radiance HDR":
            from . import radiance

            file.check_plausible(page.spec)
            pixels = radiance.read(path)
        else:
            undone = png_rows.read(path, page.nbytes) if fmt.name == "PNG" else None
            if undone is not None:
                pixels = undone
            elif page.is_for_pillow:
                pixels = by_pillow.read(path, "JPEG")
            else:
                pixels = _samples(path, file, page)
    return page.picture(pixels)


def _frame(path: str, fmt: Format, layer: str | int, extras: containers.Extras) -> Picture:
    """A frame of an animation, with the colours of the file."""
    pixels, count = frames.read(path, fmt, layer)
    with oiio.Reader(path) as file:
        icc = icc_of(file.spec()) if extras.colours is None else extras.icc
    found = extras.colours
    if found is None:
        found = colours.of_profile(icc, gray=pixels.shape[2] < 3) if icc else colours.of_exif(extras.exif)
    colour = found.told(path, light=False)
    return Picture(
        pixels,
        alpha=pixels.shape[2] in (2, 4),
        linear=colour.linear,
        metadata=Metadata(icc, extras.exif, extras.xmp, colour=unusual(colour)),
        layer=str(layer),
        layers=tuple(map(str, range(count))),
    )


def strips(path: str, fmt: Format, layer: str | int | None, most: int) -> tuple[Picture, RowsOf, int] | None:
    """The picture in a PNG, JPEG or TIFF file, its rows, and how many come together, if ``most`` bytes are too few."""
    light = fmt.name == "JPEG" and layer is not None and layer in _extras(path, fmt).layers[1:]
    if fmt.name == "PNG":
        with open(path, "rb") as start:
            if pixels := _is_dense(start.read(_PNG_HEADER)):
                raise NeedsWholeFile("has a large palette picture of few bits", 3 * pixels)
    with oiio.Reader(path) as file:
        spec = file.spec()
        if spec.image_bytes() * COPIES * _MOST_OF_INKS <= most and fmt.name != "TIFF":
            return None
        if light:
            nbytes = spec.image_pixels() * 3 * np.float16().itemsize
            if nbytes * COPIES <= most:
                return None
            raise NeedsWholeFile("is read with its gain map", nbytes)
        page = _open(path, file, fmt, layer, _extras(path, fmt), None)
        spec, nbytes = page.spec, page.nbytes
        if nbytes * COPIES <= most:
            return None
        file.check_plausible(spec)
        if page.extras.orientation > 1:
            raise NeedsWholeFile("is stored turned or mirrored", nbytes)
        if page.has_gain_map:
            raise NeedsWholeFile("has a gain map", nbytes)
        if page.is_for_pillow:
            raise NeedsWholeFile("is a JPEG of inks", nbytes)
        if fmt.name == "JPEG" and mended_jpeg.of_file(path) is not None:
            raise NeedsWholeFile("is a JPEG that breaks the standard", nbytes)
        if str(spec.format) == "double" or spec.get_string_attribute("planarconfig") == "separate":
            raise NeedsWholeFile("holds doubles, or its channels one after the other", nbytes)
        if fmt.name == "TIFF" and tiff_page.is_sparse(path, page.index):
            raise NeedsWholeFile("lacks some of its strips or tiles", nbytes)
        if (fmt.name == "PNG" and _is_interlaced(path)) or (fmt.name == "JPEG" and is_progressive(path)):
            raise NeedsWholeFile("is interlaced or progressive", nbytes)
        convert = _check_samples(path, file, page)
        kind = np.dtype(oiio.DTYPES[str(spec.format)])
        picture, finished = page.described((spec.height, spec.width, spec.nchannels), kind)
        raw, by_tifffile = page.inks is not None, _only_tifffile(path, page)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        if by_tifffile:
            from . import tiff

            shape = spec.height, spec.width, spec.nchannels
            yield from (finished(convert(rows)) for rows in tiff.read_rows(path, page.index, shape, count))
            return
        with oiio.Reader(path, raw=raw) as file:
            for block in file.blocks(count, index=page.index):
                yield finished(convert(block))

    strip = spec.get_int_attribute("tiff:RowsPerStrip") if by_tifffile else 1
    return picture, rows, max(1, spec.tile_height or strip)


def _extras(path: str, fmt: Format, start: bytes | None = None) -> containers.Extras:
    extras = containers.read_extras(path, fmt.name, start)
    if extras.damage:
        raise FileError(f"{path}: {extras.damage}; get a whole copy of it")
    if extras.refusal:
        raise FileError(f"{path}: {extras.refusal}")
    return extras


def _open(
    path: str,
    file: oiio.Reader,
    fmt: Format,
    layer: str | int | None,
    extras: containers.Extras,
    header: jpeg2000.CodestreamHeader | None,
) -> Page:
    names = extras.layers or tuple(map(str, range(file.count() if fmt.name == "TIFF" else 1)))
    index = _page(path, layer, names)
    spec = file.spec(index)
    if fmt.name == "TIFF" and is_of_inks(spec):
        spec = file.raw_spec(index)
    return Page(path, fmt, extras, spec, names, index, layer is None, header)


def _samples(path: str, file: oiio.Reader, page: Page) -> Pixels:
    """The samples of a page in their stored depth; a FileError where they have no place in a picture."""
    spec = page.spec
    convert = _check_samples(path, file, page)
    if str(spec.format) == "double":
        from . import tiff

        note(f"{path}: double precision is read as float")
        file.check_plausible(spec)
        shape = spec.height, spec.width, spec.nchannels
        with np.errstate(over="ignore"):  # values beyond float's range become infinite
            return tiff.read_double(path, page.index, shape).astype(np.float32)
    if _only_tifffile(path, page):
        from . import tiff

        file.check_plausible(spec)
        return convert(tiff.read_samples(path, page.index, (spec.height, spec.width, spec.nchannels)))
    return convert(file.read(index=page.index))


def _check_samples(path: str, file: oiio.Reader, page: Page) -> Callable[[Pixels], Pixels]:
    """Refuses samples that have no place in a picture. Returns what is to be done to others, row by row."""
    spec = page.spec
    stored, bits = str(spec.format), spec.get_int_attribute("oiio:BitsPerSample")
    photometric = spec.get_int_attribute(PHOTOMETRIC, MIN_IS_BLACK)
    if stored not in ("uint8", "uint16", "half", "float", "double") or (stored == "float" and bits == 24):
        kind = f"{bits}-bit {stored}" if bits == 24 else stored
        raise FileError(f"{path}: holds {kind} samples; convert it to 8 or 16 bits or to float first")
    if is_of_inks(spec) and stored not in ("uint8", "uint16"):
        raise FileError(f"{path}: holds {stored} samples of inks; convert it to 8 or 16 bits first")
    of_others = photometric == SEPARATED and not tiff_page.is_cmyk(path, page.index, spec.nchannels)
    if photometric not in _PHOTOMETRICS or of_others:
        kinds = {5: "inks or channels beyond CMYK", 8: "CIELAB colours"}
        kind = kinds.get(photometric, f"colours of kind {photometric}")
        raise FileError(f"{path}: holds {kind}; convert it to gray or RGB first")
    if photometric == _PALETTE and spec.alpha_channel >= 0:
        raise FileError(f"{path}: holds a palette with alpha beside it; convert it to RGB first")
    if photometric == _MIN_IS_WHITE and stored not in ("uint8", "uint16"):
        raise FileError(f"{path}: holds {stored} samples where 0 is white; invert it first")
    if photometric == _MOSAIC:
        note(f"{path}: holds a sensor's mosaic of colours, which is read as gray")

    def converted(pixels: Pixels) -> Pixels:
        if spec.getattribute(PHOTOMETRIC) is not None:
            pixels = tiff_page.full_range(pixels, bits)
        if photometric == _MIN_IS_WHITE:  # the decoder has already inverted 8 bits, alpha included
            inverse = pixels[:, :, 1:] if stored == "uint8" else pixels[:, :, :1]
            np.invert(inverse, out=inverse)
        return pixels

    return converted


def _only_tifffile(path: str, page: Page) -> bool:
    """Whether OpenImageIO does not read a TIFF file's samples of colours or inks as they are, or some are missing."""
    if page.fmt.name != "TIFF":
        return False
    spec, compression = page.spec, page.spec.get_string_attribute("compression")
    kind = spec.get_int_attribute(PHOTOMETRIC, MIN_IS_BLACK)
    whole: bool = spec.get_int_attribute("oiio:BitsPerSample") == 8 * spec.format.size()
    if tiff_page.is_sparse(path, page.index):
        if not whole or kind not in (MIN_IS_BLACK, _RGB, SEPARATED, *(_YCBCR,) * (compression == "jpeg")):
            raise FileError(
                f"{path}: has only some of its strips or tiles; write it anew with all of them first"
            )
        return True
    number = spec.get_int_attribute("tiff:Compression")
    lacking = (kind in (MIN_IS_BLACK, _RGB, SEPARATED) and number in _BY_TIFFFILE) or (
        kind == SEPARATED and compression == "jpeg"
    )
    return lacking and whole and spec.get_string_attribute("planarconfig") != "separate"


def _is_dense(start: bytes) -> int:
    """The pixels of a PNG of a palette and less than 8 bits, if OpenImageIO may take so many for an attack; else 0."""
    width, height, bits, kind = struct.unpack_from(">IIBB", start.ljust(_PNG_HEADER, b"\0"), 16)
    return int(width * height) if kind == _PALETTE and bits < 8 and width * height > by_pillow.LARGE else 0


def _is_interlaced(path: str) -> bool:
    """Whether a PNG file is interlaced: the last byte of its header."""
    with open(path, "rb") as file:
        return file.read(_PNG_HEADER)[28:] != b"\0"


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    metadata = picture.metadata
    if fmt.name == "JPEG 2000" and min(picture.width, picture.height) < _JPEG2000_LEAST:
        raise OSError(f"JPEG 2000 needs at least {_JPEG2000_LEAST} pixels each way; choose another format")
    attributes: dict[str, Any] = {}
    if picture.alpha:
        attributes |= alpha_attributes(picture.channels)
    if metadata.icc:
        attributes |= icc_attribute(metadata.icc)
    oiio.write_parts(path, [(picture.pixels, attributes)])
    if fmt.name == "JPEG 2000" and picture.alpha:
        from . import jpeg2000

        jpeg2000.define_alpha(path, picture.channels)


def _page(path: str, layer: str | int | None, names: tuple[str, ...] = ("0",)) -> int:
    if layer is None:
        return 0
    if str(layer) not in names:
        several = f"pages 0 to {names[-1]}" if names[0] == "0" else f"layers {' and '.join(names)}"
        raise FileError(f"{path}: has no layer {layer!r}; it has {several if names[1:] else 'no layers'}")
    return names.index(str(layer))
