"""TIFF, read by OpenImageIO, and written by :mod:`gpuops.files.tiff`, which reads what OpenImageIO does not.

Sources for what a directory says of samples beyond what the decoder tells: TIFF revision 6.0, sections 3
(BaselineTIFF), 16 (CMYK Images) and 18 (Associated Alpha Handling); GDAL's page on GeoTIFF, "Sparse files".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np

from ...errors import FileError
from ...notes import note
from .. import containers, exif, inks, oiio, raster, samples, tiff
from ..containers import Extras
from ..data import Array, Description, RowsOfArray, contradiction, places
from ..picture import Picture, Pixels
from ..read_errors import quiet_tifffile
from ..strips import RowsOf
from ..tiff_structure import MAGIC, Entry, tags_of_page
from . import dng
from .record import ALL, ANY, Codec, Format, LayerId, Levels, Method, NumberFiles

#: The interpretations of samples: gray whose 0 is white or black, RGB, a palette, brightness and colours, and a mosaic
#: of a sensor's colours.
_MIN_IS_WHITE, _MIN_IS_BLACK, _RGB, _PALETTE, _YCBCR, _MOSAIC = 0, 1, 2, 3, 6, 32803
#: Those that are gray or RGB, or become so in decoding.
_PHOTOMETRICS = (_MIN_IS_WHITE, _MIN_IS_BLACK, _RGB, _PALETTE, 4, oiio.SEPARATED, _YCBCR, _MOSAIC)
#: The numbers of compressions that OpenImageIO may lack: LERC, LZMA, Zstandard, JPEG 2000, PNG and JPEG XL.
_BY_TIFFFILE = (34887, 34925, 50000, 34712, 34933, 50002)
#: The entries of a page's directory by their tags; none where it is damaged.
Tags = Mapping[int, Entry]

# The tag ExtraSamples.
_EXTRA_SAMPLES = 338
# Its values for alpha.
_ASSOCIATED, _UNASSOCIATED = 1, 2
# The tag InkSet, and its value for CMYK.
_INK_SET, _CMYK = 332, 1
# The tags of where strips and tiles are, each with that of their bytes.
_PLACES = ((273, 279), (324, 325))
# The values of PhotometricInterpretation of gray, 0 white or black.
_GRAY = (0, 1)


def _read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, containers.of_tiff)
    with oiio.Reader(path) as file:
        page = _opened(path, file, layer, extras)
        return page.picture(_samples(path, file, page))


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    return raster.by_rows(
        path,
        lambda file: _opened(path, file, layer, containers.read(path, containers.of_tiff)),
        most,
        small=False,
    )


def _opened(path: str, file: oiio.Reader, layer: LayerId, extras: Extras) -> _TiffPage:
    names = tuple(map(str, range(file.count())))
    index = raster.number(path, layer, names)
    spec = file.spec(index)
    return _TiffPage.of(path, extras, file.raw_spec(index) if oiio.is_of_inks(spec) else spec, layer, names)


class _TiffPage(raster.Page):
    @cached_property
    def tags(self) -> Tags:
        """Those of its directory; none where that is damaged."""
        return tags_of_page(self.path, self.index)

    @property
    def photometric(self) -> int:
        """How samples are interpreted."""
        return int(self.spec.get_int_attribute(oiio.PHOTOMETRIC, _MIN_IS_BLACK))

    @property
    def shape(self) -> tuple[int, int, int]:
        """That of the samples."""
        return self.spec.height, self.spec.width, self.spec.nchannels

    def obstacle(self) -> str:
        spec = self.spec
        if str(spec.format) == "double" or spec.get_string_attribute("planarconfig") == "separate":
            return "holds doubles, or its channels one after the other"
        return "lacks some of its strips or tiles" if _is_sparse(self.tags) else ""

    def alpha(self, channels: int) -> tuple[int, int, bool]:
        visible = _visible(self.photometric, channels)
        return visible, self.spec.alpha_channel, self._is_associated()

    def alpha_of_inks(self) -> tuple[int, bool]:
        return _alpha_behind(self.tags, inks.CMYK)

    def _is_associated(self) -> bool:
        """Whether a file says that its colours are multiplied by alpha. Of RGB with a fourth channel and no word
        of it, that channel is taken as alpha and colours as they are, since nothing is lost so."""
        place = self.spec.alpha_channel
        if place < 0 or self.spec.get_int_attribute("oiio:UnassociatedAlpha"):
            return False
        if _extra_samples(self.tags) is None:
            note(f"{self.path}: does not say what its channel {place + 1} is; it is taken as alpha")
            return False
        return True

    def size_without_unit(self) -> list[str]:
        density = self.spec.get_float_attribute("XResolution", 1)
        unnamed = f"resolution ({density:.6g} pixels to a unit that it does not name)"
        return super().size_without_unit() or [unnamed] * (density != 1)

    def said_of_one(self) -> list[str]:
        if more := _further_pictures(self.spec.get_string_attribute("ImageDescription")):
            note(f"{self.path}: holds {more} in one page; the first is used")
        return []

    def rows(self, path: str, count: int) -> Iterator[Pixels]:
        if self.only_tifffile:
            return map(self.convert, tiff.read_rows(path, self.index, self.shape, count))
        return map(self.convert, super().rows(path, count))

    @property
    def together(self) -> int:
        strip = self.spec.get_int_attribute("tiff:RowsPerStrip") if self.only_tifffile else 1
        return max(1, self.spec.tile_height or strip)

    def check(self) -> None:
        path, spec, photometric = self.path, self.spec, self.photometric
        stored, bits = str(spec.format), spec.get_int_attribute("oiio:BitsPerSample")
        if stored not in ("uint8", "uint16", "half", "float", "double") or (stored == "float" and bits == 24):
            kind = f"{bits}-bit {stored}" if bits == 24 else stored
            raise FileError(f"{path}: holds {kind} samples; convert it to 8 or 16 bits or to float first")
        whole_numbers = stored in ("uint8", "uint16")
        if oiio.is_of_inks(spec) and not whole_numbers:
            raise FileError(f"{path}: holds {stored} samples of inks; convert it to 8 or 16 bits first")
        of_others = photometric == oiio.SEPARATED and not _is_cmyk(self.tags, spec.nchannels)
        if photometric not in _PHOTOMETRICS or of_others:
            kinds = {5: "inks or channels beyond CMYK", 8: "CIELAB colours"}
            kind = kinds.get(photometric, f"colours of kind {photometric}")
            raise FileError(f"{path}: holds {kind}; convert it to gray or RGB first")
        if photometric == _PALETTE and spec.alpha_channel >= 0:
            raise FileError(f"{path}: holds a palette with alpha beside it; convert it to RGB first")
        if photometric == _MIN_IS_WHITE and not whole_numbers:
            raise FileError(f"{path}: holds {stored} samples where 0 is white; invert it first")
        if photometric == _MOSAIC:
            note(f"{path}: holds a sensor's mosaic of colours, which is read as gray")

    def convert(self, pixels: Pixels) -> Pixels:
        """What is to be done to samples, row by row."""
        spec = self.spec
        if spec.getattribute(oiio.PHOTOMETRIC) is not None:
            pixels = _spread(pixels, spec.get_int_attribute("oiio:BitsPerSample"))
        if self.photometric == _MIN_IS_WHITE:  # the decoder has already inverted 8 bits, alpha included
            inverse = pixels[:, :, 1:] if str(spec.format) == "uint8" else pixels[:, :, :1]
            np.invert(inverse, out=inverse)
        return pixels

    @cached_property
    def only_tifffile(self) -> bool:
        """Whether OpenImageIO does not read samples of colours or inks as they are, or some are missing."""
        spec, kind, compression = self.spec, self.photometric, self.spec.get_string_attribute("compression")
        whole: bool = spec.get_int_attribute("oiio:BitsPerSample") == 8 * spec.format.size()
        colours = (_MIN_IS_BLACK, _RGB, oiio.SEPARATED)
        if _is_sparse(self.tags):
            if not whole or kind not in (*colours, *(_YCBCR,) * (compression == "jpeg")):
                raise FileError(
                    f"{self.path}: has only some of its strips or tiles; write it anew with all of them first"
                )
            return True
        number = spec.get_int_attribute("tiff:Compression")
        lacking = (kind in colours and number in _BY_TIFFFILE) or (
            kind == oiio.SEPARATED and compression == "jpeg"
        )
        return lacking and whole and spec.get_string_attribute("planarconfig") != "separate"


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


def _is_sparse(tags: Tags) -> bool:
    """Whether some of a page's strips or tiles are not in the file: their place and size are 0, as GDAL has it."""
    for place, size in _PLACES:
        if place in tags and size in tags:
            pairs = zip(tags[place].integers(), tags[size].integers(), strict=False)
            return any(pair == (0, 0) for pair in pairs)
    return False


def _further_pictures(description: str) -> str:
    """What ImageJ's description tells of pictures that follow the one of a directory; "" where there are none."""
    found = re.match(r"ImageJ=.*\nimages=(\d{1,9})", description, re.DOTALL)
    return f"{found[1]} pictures" if found and int(found[1]) > 1 else ""


def _visible(photometric: int, channels: int) -> int:
    """Returns how many of the decoded channels are colours: the decoder makes RGB of all that is not gray."""
    return 1 if photometric in _GRAY or channels < 3 else 3


def _spread(pixels: Pixels, bits: int) -> Pixels:
    """Spreads samples of a few bits, as the decoder gives them, over the whole range of their type.

    The decoder rounds down; but its leading bits are the samples.
    """
    width = 8 * pixels.dtype.itemsize
    return samples.full_range(pixels >> (width - bits), bits) if width // 2 < bits < width else pixels


def _samples(path: str, file: oiio.Reader, page: _TiffPage) -> Pixels:
    """The samples of a page in their stored depth; a FileError where they have no place in a picture."""
    page.check()
    if str(page.spec.format) == "double":
        note(f"{path}: double precision is read as float")
        file.check_plausible(page.spec)
        with np.errstate(over="ignore"):  # values beyond float's range become infinite
            return tiff.read_samples(path, page.index, page.shape).astype(np.float32)
    if page.only_tifffile:
        file.check_plausible(page.spec)
        return page.convert(tiff.read_samples(path, page.index, page.shape))
    return page.convert(file.read(index=page.index))


def _count(path: str) -> int:
    with oiio.Reader(path) as file:
        return file.count()


def _misfits(picture: Picture, lost: Callable[[str], None]) -> list[str]:
    metadata = picture.metadata
    if metadata.exif or metadata.xmp:
        if not tiff.can_hold_exif(picture):
            lost("EXIF and XMP are damaged, or the file too large for them; they are left out")
            return ["exif", "xmp"]
        if left := exif.lost_in_tiff(metadata.exif or b""):
            lost(f"TIFF cannot hold all EXIF; it is kept but for: {', '.join(left)}")
    return []


# -- Spectra and coefficients in .tif files: a page for each plane, and the description as the first one's.

# How a description begins.
_BEGINNING = '{"format"'


def _text_of_numbers(path: str) -> str | None:
    with quiet_tifffile().TiffFile(path) as file:
        text = str(file.pages.first.description) if len(file.pages) else ""
    return text if text.startswith(_BEGINNING) else None


def _check_numbers(path: str, described: Description) -> None:
    with quiet_tifffile().TiffFile(path) as file:
        pages = [(page.shape, page.dtype) for page in file.pages]
    for index, (shape, dtype) in enumerate(described.arrays.values()):
        at = places(described, index)
        if pages[at.start : at.stop] != [(shape[-2:], dtype)] * len(at):
            raise contradiction(path)


def _rows_of_numbers(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    with quiet_tifffile().TiffFile(path) as file:
        for number in places(described, index):
            page = file.pages[number]
            if not page.is_contiguous:
                yield from RowsOfArray.of(page.asarray()).blocks(count)
                continue
            (height, width), dtype = page.shape, np.dtype(page.dtype)
            stored = dtype.newbyteorder(file.byteorder)
            file.filehandle.seek(page.dataoffsets[0])
            for start in range(0, height, count):
                rows = min(count, height - start)
                block = file.filehandle.read_array(stored, rows * width).reshape(rows, width)
                yield block.astype(dtype, copy=False)


def _of_plane(blocks: Iterator[Array], height: int) -> Iterator[Array]:
    """Gives the blocks of the next plane, which has so many rows."""
    while height:
        block = next(blocks)
        height -= len(block)
        yield np.ascontiguousarray(block)


def _write_numbers(
    path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool
) -> None:
    size = sum(rows.nbytes for rows in arrays.values())
    description: str | None = text
    with quiet_tifffile().TiffWriter(path, bigtiff=size > 2**32 - 2**25) as file:
        for rows in arrays.values():
            blocks = rows.blocks(count)
            for _ in range(rows.planes):
                plane = _of_plane(blocks, rows.shape[-2])
                file.write(
                    np.concatenate(list(plane)) if compress else plane,
                    shape=rows.shape[-2:],
                    dtype=rows.dtype,
                    description=description,
                    metadata=None,
                    photometric="minisblack",
                    contiguous=False,
                    compression="zlib" if compress else None,
                )
                description = None


_NUMBERS = NumberFiles(_text_of_numbers, _check_numbers, _rows_of_numbers, _write_numbers)


_CODEC = Codec(
    methods={
        "none": None, "lzw": None, "deflate": Levels(1, 9, 6), "zstd": Levels(1, 22, 3), "packbits": None,
    }, usual=Method("none"), number="deflate",
)  # fmt: skip
FORMAT = Format(
    "TIFF", (".tif", ".tiff"), ANY, _read, write_rows=tiff.writer, read_rows=_read_rows,
    sniff=lambda head, path: head.startswith(MAGIC) and not dng.is_in_tiff(head, path), holds=ALL, misfits=_misfits,
    codec=_CODEC, layered=True, count=_count, numbers=_NUMBERS,
)  # fmt: skip
