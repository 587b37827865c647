"""TIFF, read by OpenImageIO, and written by :mod:`gpuops.files.tiff`, which reads what OpenImageIO does not.
:mod:`gpuops.files.tiff_kinds` knows the pages that it does not even open.

Sources for what a directory says of samples beyond what the decoder tells: TIFF revision 6.0, sections 3
(BaselineTIFF), 16 (CMYK Images) and 18 (Associated Alpha Handling); GDAL's page on GeoTIFF, "Sparse files".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import FileError
from ...notes import note
from ...pixels.colour import DATA
from ...pixels.primaries import D50_XYZ
from .. import (
    cielab,
    containers,
    exif,
    logluv,
    oiio,
    positions,
    raster,
    samples,
    tiff,
    tiff_kinds,
    tiff_parts,
)
from ..picture import Picture, Pixels
from ..strips import RowsOf
from ..tiff_numbers import NUMBERS
from ..tiff_pages import PageReader
from ..tiff_parts import JPEGS, Tags, is_sparse, number, tags_of_page
from . import dng
from .record import ALL, ANY, Codec, Format, LayerId, Levels, Method

#: The interpretations of samples: gray whose 0 is white or black, RGB, a palette, brightness and colours, CIELAB, and a
#: mosaic of a sensor's colours.
_MIN_IS_WHITE, _MIN_IS_BLACK, _RGB, _PALETTE, _YCBCR, _LAB, _MOSAIC = 0, 1, 2, 3, 6, 8, 32803
#: Those that are gray or RGB, or become so in decoding.
_PHOTOMETRICS = (_MIN_IS_WHITE, _MIN_IS_BLACK, _RGB, _PALETTE, 4, oiio.SEPARATED, _YCBCR, _MOSAIC)
#: The types of whole numbers that are read as floats, and up to which these hold all of them.
_WHOLE, _EXACT = ("int8", "int16", "int", "uint"), 1 << 24
#: The numbers of compressions that OpenImageIO may lack: LERC, LZMA, Zstandard, JPEG 2000, PNG and JPEG XL.
_BY_TIFFFILE = (34887, 34925, 50000, 34712, 34933, 50002)

#: Tags of programs whose pictures are data: MetaMorph, Zeiss, GeoTIFF, Micro-Manager. And how descriptions of others
#: begin, or what is in them.
_DATA_TAGS = (33628, 34412, *exif.GEOREFERENCES, 51123)
_DATA_TEXTS = re.compile(r"ImageJ=|.*<(\w+:)?OME\b", re.DOTALL)

# The file whose pages were counted last, and how many there are.
_counted: tuple[tuple[str, int, int], int] = ("", 0, 0), 0
# The tag ExtraSamples.
_EXTRA_SAMPLES = 338
# Its values for alpha.
_ASSOCIATED, _UNASSOCIATED = 1, 2
# The tag InkSet, and its value for CMYK.
_INK_SET, _CMYK = 332, 1


def _read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, containers.of_tiff)
    with PageReader(path) as file:
        page = _opened(path, file, layer, extras)
        return page.picture(_samples(path, file, page))


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    return raster.by_rows(
        path,
        lambda file: _opened(path, file, layer, containers.read(path, containers.of_tiff)),
        most,
        small=False,
        reader=PageReader,
    )


def _opened(path: str, file: oiio.Reader, layer: LayerId, extras: containers.Extras) -> _TiffPage:
    names = tuple(map(str, range(_pages_of(path, file))))
    index = raster.number(path, layer, names)
    spec = tiff_kinds.spec_of(path, index)
    if spec is None:
        spec = file.spec(index)
        spec = file.raw_spec(index) if oiio.is_of_inks(spec) else spec
    return _TiffPage(path, extras, spec, layer, names)


def _pages_of(path: str, file: oiio.Reader) -> int:
    """The number of pages of a file, which are counted once for all pages of one file."""
    global _counted
    state = os.stat(path)
    key = path, state.st_size, state.st_mtime_ns
    last = _counted
    if last[0] != key:
        last = _counted = key, tiff_kinds.count(path, file)
    return last[1]


class _TiffPage(raster.Page):
    reader = PageReader

    @cached_property
    def tags(self) -> Tags:
        """Those of its directory; none where that is damaged."""
        return tags_of_page(self.path, self.index)

    @cached_property
    def description(self) -> str:
        """That of the first page, which is for all of them."""
        tag = (tags_of_page(self.path, 0) if self.index else self.tags).get(exif.DESCRIPTION)
        return "" if tag is None else tag.data.decode("utf-8", "replace")

    @property
    def are_numbers(self) -> bool:
        """Whether samples are whole numbers that are no shades: with a sign, or of 32 bits."""
        stored = self.spec.format
        whole: bool = self.spec.get_int_attribute("oiio:BitsPerSample") == 8 * stored.size()
        return whole and str(stored) in _WHOLE and self.photometric in (_MIN_IS_BLACK, _RGB)

    @property
    def is_lab(self) -> bool:
        """Whether colours are CIELAB."""
        known = self.spec.get_int_attribute("oiio:BitsPerSample") in (8, 16)
        return known and self.photometric in (_LAB, tiff_kinds.ICC_LAB) and self.spec.nchannels == 3

    @property
    def is_log(self) -> bool:
        """Whether samples are logarithms of light: LogLuv."""
        return self.photometric in (logluv.GRAY, logluv.COLOURS)

    @cached_property
    def white(self) -> npt.NDArray[Any]:
        """The white of CIELAB, a CIE XYZ; notes if nothing says it. ICC's has one white."""
        if self.photometric == tiff_kinds.ICC_LAB:
            return D50_XYZ
        entry = self.tags.get(cielab.WHITE)
        white = cielab.white(entry.data) if entry is not None else None
        if white is None:
            note(f"{self.path}: does not say the white of its CIELAB colours, which is taken as D50")
        return D50_XYZ if white is None else white

    @property
    def icc(self) -> bytes | None:
        return None if self.is_lab or self.is_log else super().icc

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32) if self.are_numbers or self.is_lab else super().dtype

    @cached_property
    def rounding(self) -> str:
        """What is said once of numbers that floats do not hold; notes it."""
        text = "holds whole numbers beyond ±16777216, which are rounded to floats"
        note(f"{self.path}: {text}")
        return text

    @property
    def photometric(self) -> int:
        """How samples are interpreted."""
        return int(self.spec.get_int_attribute(oiio.PHOTOMETRIC, _MIN_IS_BLACK))

    @property
    def shape(self) -> tuple[int, int, int]:
        """That of the samples."""
        return self.spec.height, self.spec.width, self.spec.nchannels

    def described(
        self, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[Picture, Callable[[Pixels], Pixels]]:
        picture, finished = super().described(shape, dtype)
        if self.is_lab or self.is_log:
            kept = tiff_kinds.without_white(picture.metadata.exif)
            picture = replace(picture, metadata=replace(picture.metadata, exif=kept), assumed=False)
        if self.is_log and (scale := tiff_kinds.stonits(self.tags)) != 1:
            note(f"{self.path}: is read without its scale to cd/m² ({scale:g})")
        text = self.description
        data = self.are_numbers or not self.tags.keys().isdisjoint(_DATA_TAGS) or _DATA_TEXTS.match(text)
        across, down = (self.spec.get_float_attribute(name, 1) for name in ("XResolution", "YResolution"))
        if picture.metadata.resolution is None and across > 0 < down and (across, down) != (1, 1):
            picture = replace(picture, metadata=replace(picture.metadata, spacing=(across, down)))
        shades = picture.colours > 1 and dtype == np.uint8  # such as a photograph from the air
        return picture.meant(DATA) if picture.assumed and data and not shades else picture, finished

    def obstacle(self) -> str:
        spec = self.spec
        if str(spec.format) == "double" or spec.get_string_attribute("planarconfig") == "separate":
            return "holds doubles, or its channels one after the other"
        if self.is_log:
            return "is LogLuv"
        return "lacks some of its strips or tiles" if is_sparse(self.tags) else ""

    def alpha(self, channels: int) -> tuple[int, int, bool]:
        # The decoder makes RGB of all that is not gray.
        visible = 1 if self.photometric in (_MIN_IS_WHITE, _MIN_IS_BLACK) or channels < 3 else 3
        place = self.spec.alpha_channel  # which it does not look for in JPEG
        return visible, *((place, self._is_associated()) if place >= 0 else _alpha_behind(self.tags, visible))

    def alpha_of_inks(self) -> tuple[int, bool]:
        return _alpha_behind(self.tags, samples.CMYK)

    def _is_associated(self) -> bool:
        """Whether a file says that its colours are multiplied by alpha. Of RGB with a fourth channel and no word
        of it, that channel is taken as alpha and colours as they are, since nothing is lost so."""
        place = self.spec.alpha_channel
        if self.spec.get_int_attribute("oiio:UnassociatedAlpha"):
            return False
        if _extra_samples(self.tags) is None:
            note(f"{self.path}: does not say what its channel {place + 1} is; it is taken as alpha")
            return False
        return True

    def size_without_unit(self) -> list[str]:
        return []

    def said_of_one(self) -> list[str]:
        if len(self.names) == 1 and (more := _further_pictures(self.description)):
            note(f"{self.path}: holds {more} in one page; the first is used")
        return []

    def rows(self, path: str, count: int) -> Iterator[Pixels]:
        if self.by_others:
            return map(self.convert, tiff.read_rows(path, self.index, self.shape, count))
        return map(self.convert, super().rows(path, count))

    @property
    def together(self) -> int:
        strip = self.spec.get_int_attribute("tiff:RowsPerStrip") if self.by_others else 1
        return max(1, self.spec.tile_height or strip)

    def check(self) -> None:
        path, spec, photometric = self.path, self.spec, self.photometric
        stored, bits = str(spec.format), spec.get_int_attribute("oiio:BitsPerSample")
        known = self.are_numbers or stored in ("uint8", "uint16", "half", "float", "double")
        if not known or (stored == "float" and bits == 24):
            kind = f"{bits}-bit {stored}" if bits == 24 else stored
            raise FileError(f"{path}: holds {kind} samples; convert it to 8 or 16 bits or to float first")
        whole_numbers = stored in ("uint8", "uint16")
        if oiio.is_of_inks(spec) and not whole_numbers:
            raise FileError(f"{path}: holds {stored} samples of inks; convert it to 8 or 16 bits first")
        of_others = photometric == oiio.SEPARATED and not _is_cmyk(self.tags, spec.nchannels)
        if self.is_log or tiff_kinds.is_deep_jpeg(spec):
            tiff_kinds.check(path, spec)
        known = self.is_lab or self.is_log
        if not known and (photometric not in _PHOTOMETRICS or of_others):
            kind = "inks or channels beyond CMYK" if of_others else f"colours of kind {photometric}"
            raise FileError(f"{path}: holds {kind}; convert it to gray or RGB first")
        if photometric == _PALETTE and spec.alpha_channel >= 0:
            raise FileError(f"{path}: holds a palette with alpha beside it; convert it to RGB first")
        if photometric == _MIN_IS_WHITE and not whole_numbers:
            raise FileError(f"{path}: holds {stored} samples where 0 is white; invert it first")
        if photometric == _MOSAIC:
            note(f"{path}: holds a sensor's mosaic of colours, which is read as gray")
        fills = number(self.tags, 259) in JPEGS or number(self.tags, 262) == _YCBCR
        if fills or stored == "double" or (self.by_others and not self.is_log):
            tiff_parts.check(path, self.tags)

    def convert(self, pixels: Pixels) -> Pixels:
        """What is to be done to samples, row by row."""
        spec = self.spec
        if self.is_lab:
            return cielab.light(pixels, self.white, of_icc=self.photometric == tiff_kinds.ICC_LAB)
        if self.are_numbers:
            if pixels.dtype.itemsize > 2 and np.abs(pixels.astype(np.float64)).max(initial=0) > _EXACT:
                _ = self.rounding
            return pixels.astype(np.float32)
        if str(spec.format) == "double":
            note(f"{self.path}: double precision is read as float")
            with np.errstate(over="ignore"):  # values beyond float's range become infinite
                return pixels.astype(np.float32)
        if tiff_kinds.is_deep_jpeg(spec):
            pixels = samples.full_range(pixels, tiff_kinds.DEEP)
        elif spec.getattribute(oiio.PHOTOMETRIC) is not None:
            pixels = _spread(pixels, spec.get_int_attribute("oiio:BitsPerSample"))
        if self.photometric == _MIN_IS_WHITE:  # the decoder has already inverted 8 bits, alpha included
            inverse = pixels[:, :, 1:] if str(spec.format) == "uint8" else pixels[:, :, :1]
            np.invert(inverse, out=inverse)
        return pixels

    @cached_property
    def by_others(self) -> bool:
        """Whether OpenImageIO does not read samples as they are, or some are missing."""
        spec, kind, compression = self.spec, self.photometric, self.spec.get_string_attribute("compression")
        whole: bool = spec.get_int_attribute("oiio:BitsPerSample") == 8 * spec.format.size()
        colours = (_MIN_IS_BLACK, _RGB, oiio.SEPARATED)
        if is_sparse(self.tags):
            if not whole or kind not in (*colours, *(_YCBCR,) * (compression == "jpeg")):
                raise FileError(
                    f"{self.path}: has only some of its strips or tiles; write it anew with all of them first"
                )
            return True
        if self.are_numbers or self.is_lab or self.is_log or tiff_kinds.is_deep_jpeg(spec):
            return True
        # of JPEG with alpha or of inks OpenImageIO gives what libtiff shows of it
        shown = compression == "jpeg" and spec.nchannels not in (1, 3)
        return whole and kind in colours and (shown or number(self.tags, 259) in _BY_TIFFFILE)


def _extra_samples(tags: Tags) -> list[int] | None:
    """The tag ExtraSamples of a page, which tells of the channels behind the colours, or None where there is no tag.

    0: unspecified, 1: associated alpha, 2: unassociated alpha. Also None where the directory is damaged.
    """
    return tags[_EXTRA_SAMPLES].integers() if _EXTRA_SAMPLES in tags else None


def _is_cmyk(tags: Tags, channels: int) -> bool:
    """Whether a page of inks has cyan, magenta, yellow and black, in this order, before its extra samples."""
    kind = tags[_INK_SET].integer() if _INK_SET in tags else _CMYK
    return kind == _CMYK and channels - len(_extra_samples(tags) or ()) == 4


def _alpha_behind(tags: Tags, colours: int) -> tuple[int, bool]:
    """The index of a page's alpha behind so many colours (-1: none), and whether colours are multiplied by it."""
    for place, kind in enumerate(_extra_samples(tags) or (), colours):
        if kind in (_ASSOCIATED, _UNASSOCIATED):
            return place, kind == _ASSOCIATED
    return -1, False


def _further_pictures(description: str) -> str:
    """What ImageJ's description tells of pictures that follow the one of a directory; "" where there are none."""
    match = re.match(r"ImageJ=.*\nimages=(\d{1,9})", description, re.DOTALL)
    return f"{match[1]} pictures" if match and int(match[1]) > 1 else ""


def _spread(pixels: Pixels, bits: int) -> Pixels:
    """Spreads samples of a few bits, as the decoder gives them, over the whole range of their type.

    The decoder rounds down; but its leading bits are the samples.
    """
    width = 8 * pixels.dtype.itemsize
    return samples.full_range(pixels >> (width - bits), bits) if width // 2 < bits < width else pixels


def _samples(path: str, file: oiio.Reader, page: _TiffPage) -> Pixels:
    """The samples of a page in their stored depth; a FileError where they have no place in a picture."""
    file.check_plausible(page.spec)
    page.check()
    if str(page.spec.format) != "double" and not page.by_others:
        return page.convert(file.read(index=page.index))
    read = logluv.light if page.is_log else tiff.read_samples
    return page.convert(read(path, page.index, page.shape))


def _count(path: str) -> int:
    with PageReader(path) as file:
        return _pages_of(path, file)


def _says_data(picture: Picture) -> bool:
    """Whether a picture is written with what tells that it is data, and is no photograph."""
    known = picture.metadata.exif is not None and positions.tell_of_data(picture.metadata.exif)
    return known and not (picture.colours > 1 and picture.pixels.dtype == np.uint8)


def _misfits(picture: Picture, lost: Callable[[str], None]) -> list[str]:
    metadata = picture.metadata
    if metadata.exif or metadata.xmp:
        left = exif.lost_in_tiff(metadata.exif) if metadata.exif else []
        if left is None or picture.pixels.nbytes >= tiff.BIG:  # only classic files take them
            lost("EXIF and XMP are damaged, or the file too large for them; they are left out")
            return ["exif", "xmp"]
        if left:
            lost(f"TIFF cannot hold all EXIF; it is kept but for: {', '.join(left)}")
    return []


_CODEC = Codec(
    methods={
        "none": None, "lzw": None, "deflate": Levels(1, 9, 6), "zstd": Levels(1, 22, 3), "packbits": None,
    }, usual=Method("none"), number="deflate",
)  # fmt: skip
FORMAT = Format(
    "TIFF", (".tif", ".tiff"), ANY, _read, write_rows=tiff.writer, read_rows=_read_rows,
    sniff=lambda head, path: head.startswith(exif.MAGIC) and not dng.is_in_tiff(head, path), holds=ALL | {"spacing"},
    misfits=_misfits, says_data=_says_data, join=tiff.join, codec=_CODEC, layered=True, count=_count, numbers=NUMBERS,
)  # fmt: skip
