"""PNG, read by imagecodecs or OpenImageIO, and written by :mod:`gpuops.files.png`.

Files are inflated by isal, twice as fast as by zlib, where a device undoes the filters of their rows: whoever has one
says so by :func:`undone_by`. Small ones are left to imagecodecs' libpng. Files with a palette, a colour key,
interlacing or less than 8 bits, and damaged ones, are left to OpenImageIO, which has the last word on what can be read,
and takes longer to load than a small command needs for all else.
Source: PNG (Third Edition) 5.3, 11.3.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ...errors import FileError
from ...pixels.spaces import is_hdr
from .. import colours, containers, hdr_light, oiio, pillow, png, raster, threads
from ..picture import Picture, Pixels, unread
from ..strips import COPIES, NeedsWholeFile, RowsOf
from ..texts import TextChunk
from .record import ALL, INTEGERS, Animation, Codec, CodePoints, Format, LayerId, Levels, Storage

#: How a chunk with XMP begins.
_XMP_KEY = b"XML:com.adobe.xmp\0"
#: The colour type of palettes.
_PALETTE = 3
#: Chunks of the pixels, and hints that concern storage and display alone.
_STORAGE = frozenset(
    b"IHDR PLTE IDAT IEND tRNS sRGB gAMA cHRM pHYs sBIT bKGD hIST sPLT tIME fcTL fdAT vpAg oFFs".split()
)
#: The names of chunks that are not kept, as messages say them.
_NAMES = {b"acTL": "animation", b"sCAL": "physical scale"}
#: Chunks that say which colours the values are.
_COLOUR = (b"cICP", b"iCCP", b"sRGB", b"gAMA", b"cHRM")
#: Chunks that say which light that is, if the colours are PQ or HLG.
_LIGHT = (b"mDCV", b"cLLI")
#: Colour types of gray.
_GRAY = (0, 4)
#: The keys of texts that programs write by themselves.
_ROUTINE_TEXTS = ("Software", "Creation Time", "date:create", "date:modify", "date:timestamp")
#: Channels by PNG's colour type.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
#: The kinds of values, as the file has them first and as the device has them, by their bits.
_DTYPES: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint8), 16: np.dtype("<u2")}
#: Bytes of rows that are inflated ahead.
_EARLY = 1 << 24
#: The filter type with the largest number.
_LAST_FILTER = 4
#: Bytes of pixels from which on it pays to have their filters undone by a device.
_WORTH = 1 << 18
#: The most bytes that deflate can make of one.
_DENSEST = 1032

Rows = npt.NDArray[np.uint8]
Undo = Callable[[Rows, tuple[int, int, int], np.dtype[Any]], Pixels | None]

_undo: ContextVar[Undo | None] = ContextVar("undo", default=None)


class DeferredUnfilter:
    """Undoes filters once there is a device. Threads that have inflated a file wait for that.

    Attributes
    ----------
    awaited : bool
        Whether a thread waits, or has waited. It then calls ``asked``.
    """

    def __init__(self, asked: Callable[[], object] = lambda: None) -> None:
        self.awaited = False
        self._asked = asked
        self._undo: Undo | None = None
        self._known = Event()

    @property
    def known(self) -> bool:
        """Whether threads need not wait any more."""
        return self._known.is_set()

    @property
    def refused(self) -> bool:
        """Whether it is known that nothing undoes filters."""
        return self.known and self._undo is None

    def give(self, undo: Undo | None) -> None:
        """Says what undoes filters; None if there is nothing, and files are left to OpenImageIO."""
        self._undo = undo
        self._known.set()

    def __call__(self, rows: Rows, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> Pixels | None:
        if not self.known:
            self.awaited = True
            self._asked()
            self._known.wait()
        return None if self._undo is None else self._undo(rows, shape, dtype)


@contextmanager
def undone_by(undo: Undo | None) -> Iterator[None]:
    """While it lasts, this thread's PNG files have their filters undone by ``undo``: rows, shape, dtype → pixels."""
    before = _undo.set(undo)
    try:
        yield
    finally:
        _undo.reset(before)


@dataclass(frozen=True)
class _Spec:
    """What OpenImageIO's ImageSpec says of a plain file, by its names."""

    height: int
    width: int
    nchannels: int
    format: np.dtype[Any]
    attributes: dict[str, float | str]
    tile_height: int = 0

    @property
    def alpha_channel(self) -> int:
        return self.nchannels - 1 if self.nchannels in (2, 4) else -1

    def get_float_attribute(self, name: str, default: float = 0.0) -> Any:
        return self.attributes.get(name, default)

    def get_string_attribute(self, name: str) -> Any:
        return self.attributes.get(name, "")

    def get_int_attribute(self, _name: str) -> int:
        return 0

    def getattribute(self, _name: str) -> None:
        return None


def _plain(path: str, header: tuple[int, ...], size: bytes | None) -> _Spec | None:
    """Returns the spec of a file that has its pixels as they are given; None for others, which OpenImageIO reads.

    ``size``: the chunk pHYs.
    """
    width, height, bits, colour, interlaced = header
    if interlaced or colour not in _CHANNELS or bits not in _DTYPES:
        return None
    spec = _Spec(height, width, _CHANNELS[colour], _DTYPES[bits], {})
    if height * (width * spec.nchannels * spec.format.itemsize + 1) > _DENSEST * os.path.getsize(path):
        return None
    if size is not None and len(size) == 9:
        x, y, unit = struct.unpack(">IIB", size)
        # Whole numbers a metre tell no more.
        per_inch = [float(np.float32(round(0.0254 * n, 1))) for n in (x, y)]
        spec.attributes.update(
            XResolution=per_inch[0], YResolution=per_inch[1], ResolutionUnit="in" * (unit == 1)
        )
        if x and y:
            spec.attributes["PixelAspectRatio"] = y / x
    return spec


def _container(file: BinaryIO, seen: dict[bytes, bytes] | None = None) -> containers.Extras:
    """Reads all but the pixels; ``seen`` receives every chunk."""
    exif = xmp = None
    chunks: dict[bytes, bytes] = {}
    gray = False
    unused: list[str] = []
    texts: list[TextChunk] = []
    for kind, data in png.chunks(file):
        if seen is not None:
            seen.setdefault(kind, data)
        if kind in (*_COLOUR, *_LIGHT):
            chunks[kind] = data
        elif kind == b"IHDR" and len(data) == 13:
            gray = data[9] in _GRAY
        elif kind == b"eXIf":
            exif = data
        elif kind == b"iTXt" and data.startswith(_XMP_KEY):
            xmp = _international_text(data)
        elif kind in (b"tEXt", b"zTXt", b"iTXt"):
            text = TextChunk(kind, data)
            texts += [text] * (text.key not in _ROUTINE_TEXTS)
        elif kind in _NAMES or kind not in _STORAGE:
            unused.append(_NAMES.get(kind, f"chunk {kind.decode('latin-1')!r}"))
    said = colours.of_png(chunks, gray=gray)
    light = hdr_light.of_png(chunks) if said.colour is not None and is_hdr(said.colour) else None
    unused += [f"chunk {kind.decode()!r}" for kind in _LIGHT if kind in chunks and light is None]
    counts = b"iCCP" in chunks and not said.overrules
    icc = colours.profile_in(chunks[b"iCCP"]) if counts else None
    return containers.Extras(
        icc, said, exif, xmp, tuple(dict.fromkeys(unused)), light=light, texts=tuple(texts)
    )


def _international_text(data: bytes) -> bytes | None:
    """The text of an iTXt chunk: key, compression flag and method, language, translated key, text."""
    rest = data[len(_XMP_KEY) :]
    parts = rest[2:].split(b"\0", 2)
    if len(parts) < 3:
        return None
    return colours.inflated(parts[2]) if rest[0] else parts[2]


def read(path: str, layer: LayerId) -> Picture:
    seen: dict[bytes, bytes] = {}
    extras = containers.read(path, partial(_container, seen=seen))
    header = png.header_of(seen.get(b"IHDR", b""))
    if layer is not None and "animation" in extras.unused:
        if header[2] == 16:
            raise FileError(f"{path}: is an animation of 16 bits, of which only the first picture is read")
        return raster.frame(path, "PNG", layer, extras)
    if _dense(header) is not None:
        return _PngPage(path, extras, oiio.no_spec(), layer).picture(pillow.read(path, "PNG"))
    if b"tRNS" not in seen and (spec := _plain(path, header, seen.get(b"pHYs"))):
        page = _PngPage(path, extras, spec, layer)
        pixels = inflated(path, spec)
        if pixels is None:
            pixels = _decoded(path)
        if pixels is not None:
            return page.picture(pixels)
    with oiio.Reader(path) as file:
        return _PngPage(path, extras, file.spec(), layer).picture(file.read())


def _decoded(path: str) -> Pixels | None:
    """Returns the pixels (height, width, channels) by libpng; None where OpenImageIO has to say what is wrong."""
    import imagecodecs

    with open(path, "rb") as file:
        data = file.read()
    try:
        pixels: Pixels = np.asarray(imagecodecs.png_decode(data))
    except imagecodecs.PngError:
        return None
    return pixels.reshape(*pixels.shape[:2], -1)


def inflated(path: str, spec: _Spec) -> Pixels | None:
    """Returns the pixels (height, width, channels) by isal and a device; None where that does not pay or fails."""
    undo = _undo.get()
    shape = (spec.height, spec.width, spec.nchannels)
    nbytes = spec.height * (spec.width * spec.nchannels * spec.format.itemsize + 1)
    if nbytes < _WORTH or undo is None or (isinstance(undo, DeferredUnfilter) and undo.refused):
        return None
    from isal import isal_zlib

    with open(path, "rb") as file:
        data = b"".join(data for kind, data in png.chunks(file, pixels=True) if kind == b"IDAT")
    try:
        rows = np.frombuffer(isal_zlib.decompress(data, bufsize=nbytes), np.uint8)
    except Exception:  # another decoder will say what is wrong
        return None
    if rows.size != nbytes or rows.reshape(spec.height, -1)[:, 0].max() > _LAST_FILTER:
        return None
    return undo(rows, shape, spec.format)


def _blocks(path: str, spec: _Spec, count: int, undo: Undo) -> Iterator[Pixels]:
    """Gives pixels as :func:`inflated` does, ``count`` rows at a time; OpenImageIO reads those that are missing."""
    height, width, channels, dtype = spec.height, spec.width, spec.nchannels, spec.format
    length = width * channels * dtype.itemsize + 1
    above: Rows | None = None
    with closing(threads.Ahead(_filtered(path, height, length, count), _EARLY // (count * length))) as blocks:
        for filtered in blocks:
            if above is not None:
                filtered[0, 1:] = above
            pixels = undo(filtered.reshape(-1), (len(filtered), width, channels), dtype)
            if pixels is None:
                return
            above = pixels[-1].astype(dtype.newbyteorder(">")).reshape(-1).view(np.uint8)
            del filtered
            yield pixels[1:]


def _filtered(path: str, height: int, length: int, count: int) -> Iterator[Rows]:
    """Gives ``count`` rows of filtered bytes at a time, and before them zeros, a row without a filter; fewer of them
    where there is damage."""
    inflating = _Inflating(path)
    for first in range(0, height, count):
        filtered = np.empty((min(count, height - first) + 1, length), np.uint8)
        filtered[0] = 0
        try:
            inflating.fill(filtered[1:].reshape(-1))
            if first + count >= height:
                inflating.check_end()
        except Exception:  # OpenImageIO will say what is wrong
            return
        if filtered[:, 0].max() > _LAST_FILTER:
            return
        given = [filtered]
        del filtered
        yield given.pop()


class _Inflating:
    """The inflated bytes of a file's pixels. What is wrong with them raises some exception."""

    def __init__(self, path: str) -> None:
        from isal import isal_zlib

        self._stream = isal_zlib.decompressobj()
        self._data = png.pixel_data(path)

    def fill(self, flat: Rows) -> None:
        """Takes the next bytes, as many as there is room for."""
        at = 0
        while at < flat.size:
            part = self._part(flat.size - at)
            flat[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)

    def check_end(self) -> None:
        """Raises ValueError unless the stream ends here, with the right checksum."""
        while not self._stream.eof:
            if self._part(1):
                raise ValueError

    def _part(self, most: int) -> bytes:
        data = self._stream.unconsumed_tail or next(self._data)
        part: bytes = self._stream.decompress(data, most)
        return part


class _PngPage(raster.Page):
    def obstacle(self) -> str:
        return "is interlaced or progressive" if png.header(self.path)[4] else ""


@dataclass(frozen=True)
class _PlainPage(_PngPage):
    """A plain file, the filters of whose rows are undone."""

    undo: Undo = field(kw_only=True)

    def rows(self, path: str, count: int) -> Iterator[Pixels]:
        done = 0
        for block in _blocks(path, self.spec, count, self.undo):
            done += len(block)
            yield block
        if done < self.spec.height:
            with self.reader(path) as file:
                yield from file.blocks(count, start=done)


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    header = png.header(path)
    if (size := _dense(header)) is not None:
        raise NeedsWholeFile("has a large palette picture of few bits", unread((*size, 3)))
    plain, undo = _plain(path, header, None), _undo.get()
    if plain and plain.height * plain.width * plain.nchannels * plain.format.itemsize * COPIES <= most:
        return None
    seen: dict[bytes, bytes] = {}
    extras = containers.read(path, partial(_container, seen=seen))
    spec = None if b"tRNS" in seen else _plain(path, header, seen.get(b"pHYs"))
    if layer is None and undo is not None and spec:
        page = _PlainPage(path, extras, spec, undo=undo)
        picture, finished = page.described(page.unread.shape, page.dtype)
        return picture, lambda path, count: map(finished, page.rows(path, count)), page.together
    return raster.by_rows(path, lambda file: _PngPage(path, extras, file.spec(), layer), most)


def _dense(header: tuple[int, ...]) -> tuple[int, int] | None:
    """The height and width of a picture of a palette and few bits, if OpenImageIO may take it for an attack."""
    width, height, bits, kind, _ = header
    return (height, width) if kind == _PALETTE and bits < 8 and width * height > pillow.LARGE else None


def _animated(path: str, first: Picture, loop: int | None, storage: Storage) -> dict[str, Any]:
    """Pillow's options for an animation."""
    method = FORMAT.method(storage)
    options = {} if method is None else {"compress_level": max(0, method.level)}
    return options | pillow.animated(first, loop)


FORMAT = Format(
    "PNG", (".png", ".apng"), INTEGERS, read, write_rows=png.writer, read_rows=_read_rows,
    magic=(png.SIGNATURE,), holds=ALL | {"light", "texts"}, coded=CodePoints(INTEGERS, narrow=True),
    codec=Codec(methods={"none": None, "deflate": Levels(0, 9, 6)}, number="deflate"), layered=True,
    profiles=False, tells_errors=True, pillow="PNG",
    animation=Animation((".apng",), _animated, pillow.image),
)  # fmt: skip
