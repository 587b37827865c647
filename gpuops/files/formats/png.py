"""PNG, read by OpenImageIO, and written by :mod:`gpuops.files.png`.

Source: PNG (Third Edition) 5.3, 11.3.
"""

from __future__ import annotations

from typing import Any, BinaryIO

from ...errors import FileError
from .. import colours, containers, oiio, pillow, png, png_rows, raster
from ..containers import Extras
from ..picture import Picture
from ..strips import NeedsWholeFile, RowsOf
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
#: Colour types of gray.
_GRAY = (0, 4)
#: The keys of texts that programs write by themselves.
_ROUTINE_TEXTS = ("Software", "Creation Time", "date:create", "date:modify", "date:timestamp")


def _container(file: BinaryIO) -> Extras:
    exif = xmp = None
    chunks: dict[bytes, bytes] = {}
    gray = False
    unused: list[str] = []
    for kind, data in png.chunks(file):
        if kind in _COLOUR:
            chunks[kind] = data
        elif kind == b"IHDR" and len(data) == 13:
            gray = data[9] in _GRAY
        elif kind == b"eXIf":
            exif = data
        elif kind == b"iTXt" and data.startswith(_XMP_KEY):
            xmp = _international_text(data)
        elif kind in (b"tEXt", b"zTXt", b"iTXt"):
            key = data.partition(b"\0")[0].decode("latin-1")
            unused += [f"text {key!r}"] * (key not in _ROUTINE_TEXTS)
        elif kind in _NAMES or kind not in _STORAGE:
            unused.append(_NAMES.get(kind, f"chunk {kind.decode('latin-1')!r}"))
    said = colours.of_png(chunks, gray=gray)
    counts = b"iCCP" in chunks and not said.overrules
    icc = colours.profile_in(chunks[b"iCCP"]) if counts else None
    return Extras(icc, said, exif, xmp, tuple(dict.fromkeys(unused)))


def _international_text(data: bytes) -> bytes | None:
    """The text of an iTXt chunk: key, compression flag and method, language, translated key, text."""
    rest = data[len(_XMP_KEY) :]
    parts = rest[2:].split(b"\0", 2)
    if len(parts) < 3:
        return None
    return colours.inflated(parts[2]) if rest[0] else parts[2]


def read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, _container)
    if layer is not None and "animation" in extras.unused:
        if png.header(path)[2] == 16:
            raise FileError(f"{path}: is an animation of 16 bits, of which only the first picture is read")
        return raster.frame(path, "PNG", layer, extras)
    if _is_dense(path):
        return _PngPage.of(path, extras, oiio.no_spec(), layer).picture(pillow.read(path, "PNG"))
    with oiio.Reader(path) as file:
        page = _PngPage.of(path, extras, file.spec(), layer)
        pixels = png_rows.read(path, page.nbytes)
        return page.picture(file.read() if pixels is None else pixels)


class _PngPage(raster.Page):
    def obstacle(self) -> str:
        return "is interlaced or progressive" if png.header(self.path)[4] else ""


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    if pixels := _is_dense(path):
        raise NeedsWholeFile("has a large palette picture of few bits", 3 * pixels)
    return raster.by_rows(
        path, lambda file: _PngPage.of(path, containers.read(path, _container), file.spec(), layer), most
    )


def _is_dense(path: str) -> int:
    """The pixels of a palette and less than 8 bits, if OpenImageIO may take so many for an attack; else 0."""
    width, height, bits, kind, _ = png.header(path)
    return width * height if kind == _PALETTE and bits < 8 and width * height > pillow.LARGE else 0


def _animated(path: str, first: Picture, loop: int | None, storage: Storage) -> dict[str, Any]:
    """Pillow's options for an animation."""
    method = FORMAT.method(storage)
    options = {} if method is None else {"compress_level": max(0, method.level)}
    return options | pillow.animated(first, loop)


FORMAT = Format(
    "PNG", (".png", ".apng"), INTEGERS, read, write_rows=png.writer, read_rows=_read_rows,
    magic=(png.SIGNATURE,), holds=ALL, coded=CodePoints(INTEGERS, narrow=True),
    codec=Codec(methods={"none": None, "deflate": Levels(0, 9, 6)}, number="deflate"), layered=True,
    profiles=False, tells_errors=True, pillow="PNG",
    animation=Animation((".apng",), _animated, pillow.image),
)  # fmt: skip
