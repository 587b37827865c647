"""Reading and writing of pictures in all formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from ..errors import FileError, ParameterError
from ..notes import note
from ..params.moves import Frame
from ..params.storage import USUAL, Storage
from ..pixels.colour import Colour
from ..pixels.spaces import is_hdr
from ..process import standard_error
from . import colours, formats
from .canvas import Canvas, framed
from .formats import HEAD, Format, by_extension, format_of, is_of_video, sniff
from .hdr_light import HdrLight, is_absolute
from .output import atomic
from .picture import CHROMATICITIES, GAIN_MAP_OF_INPUT, Metadata, Picture, Pixels, unread
from .read_errors import beginning, reading
from .samples import coloured, within
from .streams import called, from_stream, to_stream, with_text_name

# The least and the largest resolution, in pixels per inch or centimetre; others are damage, and fit no
# format.
_RESOLUTIONS = (0.1, 1e6)
# The names of metadata, as messages say them.
_NAMES = {
    "icc": "ICC profile",
    "exif": "EXIF",
    "xmp": "XMP",
    "resolution": "resolution",
    "spacing": "spacing of pixels",
    "light": "light",
    "gain": GAIN_MAP_OF_INPUT,
    "texts": "texts",
}


def read(
    path: str | os.PathLike[str],
    *,
    layer: str | int | None = None,
    layers: bool = False,
    fmt: Format | None = None,
) -> Picture:
    """The picture in a file, in its stored depth. The format is told by the content, not by the name.

    layer selects one of several: an EXR layer or channel or an NPZ array by name, a TIFF page by number. layers: with
    all other channels of an EXR file. fmt: the format, if it is known.
    """
    name = os.fspath(path)
    fmt = fmt or format_in(name)
    fmt.check_layer(layer, name)
    with reading(name), with_text_name(name) as text:
        return fmt.read_all(text) if layers and layer is None and fmt.read_all else fmt.read(text, layer)


def read_smaller(
    path: str | os.PathLike[str], shrinks: Callable[[int, int, int], int], most: int
) -> Picture | None:
    """The picture in a file as its decoder makes it smaller; None where it does not.

    It may be smaller by what ``shrinks`` gives for the EXIF orientation, the height and the width. As a whole it takes
    no more than ``most`` bytes of memory.
    """
    name = os.fspath(path)
    fmt = format_in(name)
    if fmt.read_smaller is None:
        return None
    with reading(name), with_text_name(name) as text:
        return fmt.read_smaller(text, shrinks, most)


def write(
    path: str | os.PathLike[str], picture: Picture, *, overwrite: bool = False, storage: Storage = USUAL
) -> None:
    """Writes a picture whole or not at all, in the format its name says; one warning for each kind of loss.

    The pixels must have a depth that the format holds: see output_dtype. Raises ParameterError for a ``storage`` that
    the format does not know.
    """
    with writing(path, picture, overwrite=overwrite, storage=storage) as put:
        put(picture.pixels)


@contextmanager
def writing(
    path: str | os.PathLike[str], picture: Picture, *, overwrite: bool = False, storage: Storage = USUAL
) -> Iterator[Callable[[Pixels], None]]:
    """Writes a picture as :func:`write` does, but by rows: what it gives takes some at a time, from the top on.

    The picture's own pixels only say how many there are, and of which type. Formats that are not written by rows are
    written from memory in the end.
    """
    fmt, frame = format_of(path, gain_map=storage.gain_map), picture.frame
    if frame.usual or "frame" in fmt.holds:
        with _writing(path, picture, overwrite=overwrite, storage=storage) as put:
            yield put
        return
    said, shape = _without_windows(frame), (frame.height, frame.width, picture.channels)
    shown = framed(replace(picture, pixels=unread(shape, picture.pixels.dtype)), Frame.of(*shape[:2]))
    canvas = Canvas(frame, frame.shown, os.fspath(path))
    with _writing(path, shown, overwrite=overwrite, storage=storage) as put:
        note(f"{os.fspath(path)}: {fmt} {said}")
        last = picture.pixels[:1]

        def take(pixels: Pixels) -> None:
            for rows in canvas.take(pixels):
                put(rows)

        yield take
        for rows in canvas.rest(last):
            put(rows)


def _without_windows(frame: Frame) -> str:
    """What becomes of windows in a format that has none."""
    x, y, columns, rows = frame.data
    if frame == frame.shown:
        return f"cannot hold the place of its window, {frame.left},{frame.top}"
    inside = x >= 0 and y >= 0 and x + columns <= frame.width and y + rows <= frame.height
    beyond = "" if inside else ", without pixels beyond it"
    return f"has no data window: it gets the display window of {frame.width} × {frame.height} pixels{beyond}"


@contextmanager
def _writing(
    path: str | os.PathLike[str], picture: Picture, *, overwrite: bool, storage: Storage
) -> Iterator[Callable[[Pixels], None]]:
    name = os.fspath(path)
    fmt = _format_for(path, picture, storage)
    with (
        atomic(path, overwrite=overwrite, tells_errors=fmt.tells_errors) as temporary,
        called(temporary, name),
        standard_error.quiet(),
    ):
        if fmt.write_rows:
            fitted, fit = _fitting(name, picture, fmt)
            with fmt.write_rows(temporary, fitted, fmt.method(storage)) as put:
                yield lambda pixels: put(fit(pixels))
        elif fmt.write:
            rows = _Collected(picture.height)
            yield rows.take
            whole = replace(picture, pixels=rows.pixels)
            whole = whole.upright() if fmt.upright else whole
            fitted, fit = _fitting(name, whole, fmt)
            fmt.write(temporary, replace(fitted, pixels=fit(whole.pixels)), storage)


class _Collected:
    """The rows of a picture of so many, which come one after the other: one array, or the only one that comes."""

    pixels: Pixels

    def __init__(self, height: int) -> None:
        self._height, self._come = height, 0

    def take(self, rows: Pixels) -> None:
        """Takes the next rows."""
        if len(rows) == self._height:
            self.pixels = rows
            return
        if not self._come:
            self.pixels = np.empty((self._height, *rows.shape[1:]), rows.dtype)
        first, self._come = self._come, self._come + len(rows)
        self.pixels[first : self._come] = rows


def _format_for(path: str | os.PathLike[str], picture: Picture, storage: Storage) -> Format:
    """The format that a path names, if it can hold the picture's pixels, and knows the storage."""
    fmt = format_of(path, gain_map=storage.gain_map)
    fmt.check(storage, os.fspath(path))
    if picture.pixels.dtype not in fmt.depths:
        depths = ", ".join(fmt.dtypes)
        raise ParameterError(f"{fmt} holds {depths}, not {picture.pixels.dtype.name}; see output_dtype")
    if min(picture.height, picture.width) < fmt.least:
        raise FileError(
            f"{os.fspath(path)}: {fmt} needs at least {fmt.least} pixels each way; choose another format"
        )
    side = max(picture.height, picture.width)
    if fmt.largest is not None and side > fmt.largest:
        raise FileError(
            f"{os.fspath(path)}: {fmt} holds {fmt.largest} pixels along a side at most, not {side}; "
            "name another format"
        )
    return fmt


def read_stream(stream: BinaryIO, *, layer: str | int | None = None) -> Picture:
    """The picture in a stream, such as standard input."""
    with from_stream(stream) as path:
        return read(path, layer=layer)


def write_stream(stream: BinaryIO, picture: Picture, fmt: Format, storage: Storage = USUAL) -> None:
    """Writes a picture to a stream, such as standard output."""
    with to_stream(stream, fmt.extension) as path:
        write(path, picture, storage=storage)


def format_in(path: str | os.PathLike[str]) -> Format:
    """The format of a file's content, whatever its name says."""
    name = os.fspath(path)
    with reading(name), with_text_name(name) as text:
        fmt = sniff(beginning(name, HEAD), name)
        if fmt is None and is_of_video(name):
            fmt = by_extension(os.path.splitext(name)[1].lower())
        if fmt is None:
            from . import rare_formats

            fmt = rare_formats.format_in(text)
    if fmt is None:
        raise FileError(
            f"{name}: is not a picture in a known format; known are {' '.join(formats.EXTENSIONS)}"
        )
    return fmt


def _fitting(name: str, picture: Picture, fmt: Format) -> tuple[Picture, Callable[[Pixels], Pixels]]:
    """The picture without pixels as the format can hold it, and what makes its pixels of them, row by row.

    There is one warning for each kind of loss.
    """
    channels = fmt.fitting(picture.channels)
    drops = picture.alpha and channels in (1, 3)
    alpha = picture.alpha and not drops
    said: set[str] = set()

    def lost(text: str) -> None:
        if text not in said:
            said.add(text)
            note(f"{name}: {text}")

    if drops:
        lost(f"{fmt} has no alpha; it is left out")
    gray_as_rgb = channels - alpha > picture.channels - picture.alpha
    if gray_as_rgb:
        lost(f"{fmt} has no gray; it is written as RGB")
    hides = fmt.associated and alpha and not picture.associated

    def fit(pixels: Pixels) -> Pixels:
        if drops:
            pixels = pixels[:, :, :-1]
        if gray_as_rgb:
            pixels = coloured(pixels)
        if hides and np.any((pixels[..., -1:] == 0) & (pixels[..., :-1] != 0)):
            lost(f"{fmt} holds colour times alpha; colour where alpha is 0 becomes 0")
        if fmt.brightest is not None:
            pixels, remarks = within(pixels, fmt.brightest)
            for remark in remarks:
                lost(f"{fmt} {remark}")
        return np.ascontiguousarray(pixels)

    metadata = _labelled(lost, picture, fmt, gray=channels < 3)
    if metadata is not picture.metadata:
        picture = replace(picture, metadata=metadata)
    metadata = _fitted_metadata(lost, picture, fmt, gray=channels < 3)
    shape = picture.height, picture.width, channels
    pixels = unread(shape, picture.pixels.dtype)
    return replace(picture, pixels=pixels, alpha=alpha, metadata=metadata), fit


def _labelled(lost: Callable[[str], None], picture: Picture, fmt: Format, *, gray: bool) -> Metadata:
    """The metadata with a profile where values are not what they would be taken for, and the format can hold one."""
    metadata, colour, kind = picture.metadata, picture.colour, picture.pixels.dtype
    if colour.data:
        if kind.kind == "u" and not fmt.says_data(picture):
            lost(f"{fmt} cannot say that its values are data; they are taken for sRGB")
        return replace(metadata, icc=None)
    said = colours.in_profile(metadata.icc) if metadata.icc and picture.linear else None
    if said is not None and not said.linear:
        lost("the ICC profile is of encoded values, and these are light; it is left out")
        metadata = replace(metadata, icc=None)
    if metadata.icc and not gray:
        metadata = replace(metadata, icc=colours.for_rgb(metadata.icc, kind))
    # Floats that are not light get an sRGB profile where a file has room for one; NPZ states it without a profile.
    holds = fmt.keeps(kind)
    unlabelled = ("icc" not in holds and kind.name not in fmt.coded.depths) or fmt.says == "curve"
    usual = colour == colours.usual(kind) or (metadata.colour is None and kind.kind == "f" and unlabelled)
    if usual or (metadata.icc and "icc" in holds):
        return metadata
    codes = colours.codes_for(fmt, colour, kind, gray=gray)
    if codes and "icc" not in holds:  # the codes say what the profile did
        return replace(metadata, icc=None)
    if not colours.can_say(fmt, colour, kind, gray=gray):
        light = f"linear {colour.primaries if fmt.says == 'primaries' else 'Rec. 709'} light"
        taken = light if kind.kind == "f" else "sRGB"
        what = f"{colour.transfer}, {colour.primaries} primaries"
        named = f"gray {fmt}" if gray and colours.can_say(fmt, colour, kind, gray=False) else fmt
        lost(f"{named} cannot say what its values are ({what}); they are taken for {taken}")
    elif "icc" in holds and fmt.profiles and not codes:
        return replace(metadata, icc=colours.profile_for(colour, kind, gray=gray))
    return metadata


def _fitted_metadata(lost: Callable[[str], None], picture: Picture, fmt: Format, *, gray: bool) -> Metadata:
    from . import exif

    metadata = picture.metadata
    if metadata.exif:
        metadata = replace(metadata, exif=exif.sized(metadata.exif, picture.width, picture.height))
    holds = fmt.keeps(picture.pixels.dtype)
    dropped = [key for key in _NAMES if getattr(metadata, key) and key not in holds]
    names = _named(metadata, dropped)
    if metadata.attributes and "attributes" not in fmt.holds:
        # Chromaticities are stated in another way, or not needed.
        names += ["EXR header attributes"] * bool(metadata.attributes.keys() - {CHROMATICITIES})
        metadata = replace(metadata, attributes={})
    if metadata.rest and not fmt.read_all:
        names.append(f"channels {', '.join(metadata.rest.channels)}")
        metadata = replace(metadata, rest=None)
    if metadata.cards and "cards" not in fmt.holds:
        world = any(card.startswith("CRVAL") for card in metadata.cards)
        names += [*["world coordinates"] * world, f"FITS cards ({len(metadata.cards)})"]
        metadata = replace(metadata, cards=())
    if names:
        lost(f"{fmt} cannot hold the {', '.join(names)}")
    metadata = _without(metadata, dropped)
    if metadata.light:
        metadata = replace(metadata, light=_fitted_light(lost, metadata.light, picture.colour))
    dropped = []
    if metadata.gain and metadata.gain.changed:
        lost(
            "the gain map is of pixels that have changed, and left out (--layer hdr with --gain-map makes another)"
        )
        dropped.append("gain")
    if metadata.icc:
        misfit = {b"CMYK": "inks", b"GRAY": "" if gray else "gray"}.get(
            metadata.icc[16:20], "RGB" if gray else ""
        )
        if misfit:
            lost(f"the ICC profile is for {misfit} and does not fit; it is left out")
            dropped.append("icc")
    if metadata.resolution:
        x, y, unit = metadata.resolution
        if not all(_RESOLUTIONS[0] <= value <= _RESOLUTIONS[1] for value in (x, y)):
            lost(f"the resolution ({x:g} x {y:g} per {unit}) makes no sense; it is left out")
            dropped.append("resolution")
    metadata = _without(metadata, dropped)
    misfits = fmt.misfits(replace(picture, metadata=metadata), lost) if fmt.misfits else ()
    return _without(metadata, misfits)


def _fitted_light(lost: Callable[[str], None], light: HdrLight, colour: Colour) -> HdrLight | None:
    """What is said of the light of a space: nothing but of PQ and HLG, and of new pixels only what is measured."""
    if not is_hdr(colour):
        lost(f"the {' and '.join(light.names)} are of PQ and HLG, and left out")
        return None
    if light.content and light.anew and not is_absolute(colour):
        lost("the content light level is of pixels that have changed, and left out")
        light = light._replace(content=())
    return light if light.names else None


def _named(metadata: Metadata, keys: Iterable[str]) -> list[str]:
    """The names of some kinds of metadata, as messages say them."""
    from . import exif

    names: list[str] = []
    for key in keys:
        turned = key == "exif" and metadata.exif and exif.orientation(metadata.exif) != 1
        if key == "light" and metadata.light:
            names += metadata.light.names
        elif key == "texts":
            names += [f"text {text.key!r}" for text in metadata.texts]
        else:
            names.append("EXIF (with the orientation: it may be shown turned)" if turned else _NAMES[key])
    return names


def names_of(metadata: Metadata) -> list[str]:
    """The names of all metadata but an ICC profile, as messages say them."""
    return _named(metadata, (key for key in _NAMES if key != "icc" and getattr(metadata, key)))


def _without(metadata: Metadata, kinds: Iterable[str]) -> Metadata:
    nothing: dict[str, Any] = {kind: () if kind == "texts" else None for kind in kinds}
    return replace(metadata, **nothing)
