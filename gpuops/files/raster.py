"""PNG, JPEG, WebP, TIFF, Radiance HDR and JPEG 2000 through OpenImageIO.

PNG, TIFF, JPEG and WebP only for reading; png.py, tiff.py and lossy.py write them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import LINEAR, SRGB, unusual
from . import (
    by_pillow,
    colours,
    containers,
    frames,
    oiio,
    png_rows,
    tiff_page,
)
from .alpha import straight
from .containers import is_progressive
from .formats import Format
from .picture import Metadata, Picture, Pixels, unread, upright
from .strips import COPIES, RowsOf, Whole

if TYPE_CHECKING:
    from . import jpeg2000

#: The least width and height in pixels, as JPEG 2000's encoder halves the picture five times.
_JPEG2000_LEAST = 32
#: The difference from 1 within which a pixel counts as square.
_ASPECT_TOLERANCE = 1e-4
#: OpenImageIO's name of TIFF's PhotometricInterpretation.
_PHOTOMETRIC = "tiff:PhotometricInterpretation"
#: The interpretation of gray whose 0 is white.
_MIN_IS_WHITE = 0
#: The interpretation of gray whose 0 is black.
_MIN_IS_BLACK = 1
#: The interpretation of red, green and blue.
_RGB = 2
#: The interpretation of colours from a palette.
_PALETTE = 3
#: The interpretation of inks.
_SEPARATED = 5
#: The interpretation of a sensor's mosaic of colours.
_MOSAIC = 32803
#: The interpretations that are gray or RGB, or become so in decoding.
_PHOTOMETRICS = (_MIN_IS_WHITE, _MIN_IS_BLACK, _RGB, _PALETTE, 4, _SEPARATED, 6, _MOSAIC)


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    extras = _extras(path, fmt)
    if layer in extras.layers[1:]:
        from . import gain_map

        return gain_map.read(path, extras)
    header = None
    if fmt.name == "JPEG 2000":
        from . import jpeg2000

        header = jpeg2000.read_header(path)
    if header is not None and header.needs_pillow():
        page = _Page(path, fmt, extras, oiio.no_spec(), ("0",), _page(path, layer), layer is None, header)
        return page.picture(by_pillow.read(path, "JPEG2000"))
    if layer is not None and frames.is_animated(fmt, extras):
        return _frame(path, fmt, layer, extras)
    with oiio.Reader(path) as file:
        page = _open(path, file, fmt, layer, extras, header)
        if fmt.name == "Radiance HDR":
            from . import radiance

            file.check_plausible(page.spec)
            pixels = radiance.read(path)
        else:
            undone = png_rows.read(path) if fmt.name == "PNG" else None
            if undone is not None:
                pixels = undone
            else:
                pixels = by_pillow.read(path, "JPEG") if page.has_gain_map else _samples(path, file, page)
    return page.picture(pixels)


def _frame(path: str, fmt: Format, layer: str | int, extras: containers.Extras) -> Picture:
    """A frame of an animation, with the colours of the file."""
    pixels, count = frames.read(path, fmt, layer)
    with oiio.Reader(path) as file:
        icc = icc_of(file.spec()) if extras.colours is None else extras.icc
    found = extras.colours
    if found is None:
        found = colours.of_profile(icc, gray=pixels.shape[2] < 3) if icc else colours.of_exif(extras.exif)
    for remark in found.remarks(light=False):
        note(f"{path}: {remark}")
    colour = found.colour or SRGB
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
    light = fmt.name == "JPEG" and layer in _extras(path, fmt).layers[1:]
    with oiio.Reader(path) as file:
        spec = file.spec()
        nbytes = spec.width * spec.height * 3 * np.float16().itemsize if light else spec.image_bytes()
        if nbytes * COPIES <= most and fmt.name != "TIFF":
            return None
        if light:
            raise Whole("is read with its gain map", nbytes)
        page = _open(path, file, fmt, layer, _extras(path, fmt), None)
        spec, nbytes = page.spec, page.spec.image_bytes()
        if nbytes * COPIES <= most:
            return None
        file.check_plausible(spec)
        if page.extras.orientation > 1:
            raise Whole("is stored turned or mirrored", nbytes)
        if page.has_gain_map:
            raise Whole("has a gain map", nbytes)
        if str(spec.format) == "double" or spec.get_string_attribute("planarconfig") == "separate":
            raise Whole("holds doubles, or its channels one after the other", nbytes)
        if _only_tifffile(fmt, spec):
            raise Whole("is compressed with zstd", nbytes)
        if (fmt.name == "PNG" and _is_interlaced(path)) or (fmt.name == "JPEG" and is_progressive(path)):
            raise Whole("is interlaced or progressive", nbytes)
        convert = _check_samples(path, file, page)
        kind = np.dtype(oiio.DTYPES[str(spec.format)])
        picture, finished = page.described((spec.height, spec.width, spec.nchannels), kind)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        with oiio.Reader(path) as file:
            for block in file.blocks(count, index=page.index):
                yield finished(convert(block))

    return picture, rows, max(1, spec.tile_height)


def _extras(path: str, fmt: Format) -> containers.Extras:
    extras = containers.read_extras(path, fmt.name)
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
    header: jpeg2000.Header | None,
) -> _Page:
    names = extras.layers or tuple(map(str, range(file.count() if fmt.name == "TIFF" else 1)))
    index = _page(path, layer, names)
    return _Page(path, fmt, extras, file.spec(index), names, index, layer is None, header)


@dataclass(frozen=True)
class _Page:
    """A picture of a file that is open, before its pixels are read.

    ``names`` of the file's pictures, and the ``index`` of this one. ``first``: nobody has chosen one, and it is read.
    """

    path: str
    fmt: Format
    extras: containers.Extras
    spec: Any
    names: tuple[str, ...]
    index: int
    first: bool
    header: jpeg2000.Header | None

    @property
    def has_gain_map(self) -> bool:
        """Whether the decoder applies a gain map, and gives half with alpha."""
        return self.fmt.name == "JPEG" and (self.spec.nchannels > 3 or str(self.spec.format) != "uint8")

    def picture(self, pixels: Pixels) -> Picture:
        """Returns the picture with these samples."""
        pixels = upright(pixels, self.extras.orientation)
        if self.header is not None:  # the decoder rounds the size up to whole steps of subsampled colours
            pixels = np.ascontiguousarray(pixels[: self.header.size[1], : self.header.size[0]])
        found, finished = self.described(pixels.shape, pixels.dtype)
        return replace(found, pixels=finished(pixels))

    def described(
        self, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[Picture, Callable[[Pixels], Pixels]]:
        """Returns a picture of samples of this shape without them, and what makes its pixels of them, row by row."""
        path, fmt, spec, extras = self.path, self.fmt, self.spec, self.extras
        unused = list(extras.unused)
        visible, place, associated = _alpha(path, fmt, spec, self.header, self.index, shape[2])
        kept = _kept(path, shape[2], visible, place)
        alpha = len(kept) > visible
        icc = icc_of(spec) if extras.colours is None else extras.icc
        if self.header is not None:
            icc = self.header.profile or None
        if _ink(spec):
            without = ", and without its ICC profile" if icc else ""
            note(f"{path}: is CMYK and converted to RGB without colour management{without}")
            icc = None
        elif icc and icc[16:20] == b"CMYK":
            unused.append("ICC profile for inks")
            icc = None
        light = dtype.kind == "f"
        found = extras.colours
        if found is None:
            found = colours.of_profile(icc, gray=len(kept) < 3) if icc else colours.of_exif(extras.exif)
        for remark in found.remarks(light=light):
            note(f"{path}: {remark}")
        colour = found.colour or (LINEAR if light else SRGB)
        size = resolution(spec)
        aspect = spec.get_float_attribute("PixelAspectRatio", 1)
        if not size and abs(aspect - 1) > _ASPECT_TOLERANCE:
            unused.append(f"pixel aspect ratio ({aspect:.4g})")
        several = len(self.names) > 1
        if several and self.first and extras.layers:
            unused.append(f"gain map (--layer {self.names[1]} applies it)")
        elif several and self.first:
            note(f"{path}: holds {len(self.names)} pages; the first is used")
        if unused:
            note(f"{path}: is read without its {', '.join(unused)}")

        def finished(pixels: Pixels) -> Pixels:
            if kept != [*range(shape[2])]:
                pixels = np.ascontiguousarray(pixels[:, :, kept])
            return straight(pixels) if associated else pixels

        return Picture(
            unread((*shape[:2], len(kept)), dtype),
            alpha=alpha,
            linear=colour.linear,
            metadata=Metadata(icc, extras.exif, extras.xmp, size, colour=unusual(colour)),
            associated=associated,
            layer=self.names[self.index] if several else "",
            layers=self.names if several else (),
        ), finished


def _alpha(
    path: str, fmt: Format, spec: Any, header: jpeg2000.Header | None, page: int, channels: int
) -> tuple[int, int, bool]:
    """Returns the number of colours, the index of alpha (-1: none), and whether colours are multiplied by it."""
    if header is not None:
        place, associated, unsaid = header.alpha(channels)
        if unsaid:
            note(f"{path}: does not say what its channel {place + 1} is; it is taken as alpha")
        return 3 if channels >= 3 else 1, place, associated
    if fmt.name == "TIFF":
        visible = tiff_page.colours(spec.get_int_attribute(_PHOTOMETRIC, _MIN_IS_BLACK), channels)
        return visible, spec.alpha_channel, _is_associated(path, spec, page)
    # A JPEG has no alpha; but a decoder that applies a gain map adds one.
    return 3 if channels >= 3 else 1, spec.alpha_channel if fmt.name != "JPEG" else -1, False


def _samples(path: str, file: oiio.Reader, page: _Page) -> Pixels:
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
    if _only_tifffile(page.fmt, spec):
        from . import tiff

        file.check_plausible(spec)
        return convert(tiff.read_samples(path, page.index, (spec.height, spec.width, spec.nchannels)))
    return convert(file.read(index=page.index))


def _check_samples(path: str, file: oiio.Reader, page: _Page) -> Callable[[Pixels], Pixels]:
    """Refuses samples that have no place in a picture. Returns what is to be done to others, row by row."""
    spec = page.spec
    stored, bits = str(spec.format), spec.get_int_attribute("oiio:BitsPerSample")
    photometric = spec.get_int_attribute(_PHOTOMETRIC, _MIN_IS_BLACK)
    if stored not in ("uint8", "uint16", "half", "float", "double") or (stored == "float" and bits == 24):
        kind = f"{bits}-bit {stored}" if bits == 24 else stored
        raise FileError(f"{path}: holds {kind} samples; convert it to 8 or 16 bits or to float first")
    if photometric not in _PHOTOMETRICS or (_ink(spec) and spec.nchannels != 3):
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
        if spec.getattribute(_PHOTOMETRIC) is not None:
            pixels = tiff_page.full_range(pixels, bits)
        if photometric == _MIN_IS_WHITE:  # the decoder has already inverted 8 bits, alpha included
            inverse = pixels[:, :, 1:] if stored == "uint8" else pixels[:, :, :1]
            np.invert(inverse, out=inverse)
        return pixels

    return converted


def _only_tifffile(fmt: Format, spec: Any) -> bool:
    """Whether a TIFF file has a compression that OpenImageIO lacks, and samples that are the colours' own."""
    plain = spec.get_int_attribute(_PHOTOMETRIC, _MIN_IS_BLACK) in (_MIN_IS_BLACK, _RGB)
    whole = spec.get_string_attribute("planarconfig") != "separate" and str(spec.format) in oiio.DTYPES
    return fmt.name == "TIFF" and spec.get_string_attribute("compression") == "zstd" and plain and whole


def _is_interlaced(path: str) -> bool:
    """Whether a PNG file is interlaced: the last byte of its header."""
    with open(path, "rb") as file:
        return file.read(29)[28:] != b"\0"


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    metadata = picture.metadata
    if fmt.name == "JPEG 2000" and min(picture.width, picture.height) < _JPEG2000_LEAST:
        raise OSError(f"JPEG 2000 needs at least {_JPEG2000_LEAST} pixels each way; choose another format")
    attributes: dict[str, Any] = {}
    if picture.alpha:
        attributes["oiio:UnassociatedAlpha"] = 1
        attributes["alpha_channel"] = picture.channels - 1
        attributes["channels"] = ("Y", "A") if picture.channels == 2 else ("R", "G", "B", "A")
    if metadata.icc:
        attributes["ICCProfile"] = (f"uint8[{len(metadata.icc)}]", np.frombuffer(metadata.icc, np.uint8))
    oiio.write_parts(path, [(picture.pixels, attributes)])
    if fmt.name == "JPEG 2000" and picture.alpha:
        from . import jpeg2000

        jpeg2000.define_alpha(path, picture.channels)


def resolution(spec: Any) -> tuple[float, float, str] | None:
    x, y = spec.get_float_attribute("XResolution"), spec.get_float_attribute("YResolution")
    unit = {"in": "in", "inch": "in", "cm": "cm", "m": "m"}.get(spec.get_string_attribute("ResolutionUnit"))
    if unit == "m":  # pixels per metre
        x, y, unit = x / 100, y / 100, "cm"
    return (x, y or x, unit) if unit and x > 0 else None


def resolution_attributes(value: tuple[float, float, str]) -> dict[str, Any]:
    x, y, unit = value
    return {"XResolution": float(x), "YResolution": float(y), "ResolutionUnit": unit}


def _page(path: str, layer: str | int | None, names: tuple[str, ...] = ("0",)) -> int:
    if layer is None:
        return 0
    if str(layer) not in names:
        several = f"pages 0 to {names[-1]}" if names[0] == "0" else f"layers {' and '.join(names)}"
        raise FileError(f"{path}: has no layer {layer!r}; it has {several if names[1:] else 'no layers'}")
    return names.index(str(layer))


def _kept(path: str, channels: int, colours: int, alpha: int) -> list[int]:
    """Gray or RGB, with alpha last where the file has it; further channels are named and left out."""
    kept = [*range(colours), *([alpha] if alpha >= colours else [])]
    if left := [str(channel + 1) for channel in range(channels) if channel not in kept]:
        which = f"channel {left[0]}" if len(left) == 1 else f"channels {', '.join(left)}"
        note(f"{path}: is read without its {which} of {channels}, not said to be colour or alpha")
    return kept


def _is_associated(path: str, spec: Any, page: int) -> bool:
    """Whether a TIFF file says that its colours are multiplied by alpha. Of RGB with a fourth channel and no word
    of it, that channel is taken as alpha and colours as they are, since nothing is lost so."""
    if spec.alpha_channel < 0 or spec.get_int_attribute("oiio:UnassociatedAlpha"):
        return False
    if tiff_page.extra_samples(path, page) is None:
        note(f"{path}: does not say what its channel {spec.alpha_channel + 1} is; it is taken as alpha")
        return False
    return True


def _ink(spec: Any) -> bool:
    """Whether the file holds amounts of ink."""
    jpeg, photometric = spec.get_string_attribute("jpeg:ColorSpace"), spec.get_int_attribute(_PHOTOMETRIC)
    return jpeg in ("CMYK", "YCbCrK") or photometric == _SEPARATED


def icc_of(spec: Any) -> bytes | None:
    profile = spec.getattribute("ICCProfile")
    return None if profile is None else np.asarray(profile, np.uint8).tobytes()
