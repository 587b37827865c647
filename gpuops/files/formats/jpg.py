"""JPEG, read by OpenImageIO and written by Pillow: OpenImageIO's codec ends the program on a full disk."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from ...errors import FileError
from ...notes import note
from .. import containers, gain_map, jpeg_segments, mended_jpeg, oiio, pillow, raster
from ..drafts import draft_file
from ..picture import Picture
from ..streams import called
from ..strips import RowsOf
from .record import ALL, SUBSAMPLINGS, Codec, Format, LayerId, Storage

#: The error in dots per inch that the units of other formats cause.
_ROUNDING = 0.01


def read(path: str, layer: LayerId) -> Picture:
    try:
        return _read(path, layer)
    except FileError:
        found = mended_jpeg.of_file(path)
        if found is None:
            raise
        with suppress(FileError), draft_file(tempfile.gettempdir()) as copy, called(copy, path):
            with open(copy, "wb") as file:
                file.write(found[0])
            with oiio.Reader(copy) as whole:  # Pillow, which some are read by, does not tell of missing data
                whole.read()
            picture = _read(copy, layer)
            for fault in found[1]:
                note(f"{path}: {fault}; all of its picture is there")
            return picture
        raise


def _read(path: str, layer: LayerId) -> Picture:
    extras = containers.read(path, jpeg_segments.container)
    if layer in extras.layers[1:]:
        return gain_map.read(path, extras)
    with oiio.Reader(path) as file:
        page = _opened(path, file, layer, extras)
        for_pillow = page.has_gain_map or page.by_profile
        return page.picture(pillow.read(path, "JPEG") if for_pillow else file.read())


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    return raster.by_rows(
        path, lambda file: _opened(path, file, layer, containers.read(path, jpeg_segments.container)), most
    )


def _opened(path: str, file: oiio.Reader, layer: LayerId, extras: containers.Extras) -> _JpegPage:
    return _JpegPage.of(path, extras, file.spec(), layer, extras.layers or ("0",))


class _JpegPage(raster.Page):
    @property
    def has_gain_map(self) -> bool:
        """Whether the decoder applies a gain map, and gives half with alpha."""
        return self.spec.nchannels > 3 or str(self.spec.format) != "uint8"

    def alpha(self, channels: int) -> tuple[int, int, bool]:
        return 3 if channels >= 3 else 1, -1, False  # a decoder that applies a gain map adds one

    @property
    def nbytes(self) -> int:
        light = self.spec.image_pixels() * 3 * np.float16().itemsize
        return int(light if self.index else super().nbytes)

    def obstacle(self) -> str:
        if self.index:
            return "is read with its gain map"
        if self.has_gain_map:
            return "has a gain map"
        if self.by_profile:
            return "is a JPEG of inks"
        if mended_jpeg.of_file(self.path) is not None:
            return "is a JPEG that breaks the standard"
        return "is interlaced or progressive" if jpeg_segments.is_progressive(self.path) else ""

    def said_of_several(self) -> list[str]:
        return [f"gain map (--layer {self.names[1]} applies it)"]


def _misfits(picture: Picture, lost: Callable[[str], None]) -> list[str]:
    metadata = picture.metadata
    if metadata.resolution:
        exact, held = jpeg_segments.dots_per_inch(metadata.resolution)
        if any(abs(a - b) > _ROUNDING for a, b in zip(exact, held, strict=True)):
            lost(f"JPEG holds whole dots per inch, to 65535; the resolution becomes {held[0]} x {held[1]}")
    fit = jpeg_segments.fit(metadata.exif, metadata.xmp)
    dropped = [kind for kind, fits in zip(("exif", "xmp"), fit, strict=True) if not fits]
    for kind in dropped:
        lost(f"the {kind.upper()} is too long for JPEG; it is left out")
    return dropped


def _write(path: str, picture: Picture, storage: Storage) -> None:
    options = pillow.kept(picture.metadata)
    if picture.metadata.resolution:
        options["dpi"] = jpeg_segments.dots_per_inch(picture.metadata.resolution)[1]
    options |= {"quality": FORMAT.quality(storage), "subsampling": storage.subsampling or "4:4:4"}
    pillow.write(path, "JPEG", picture.pixels, **options)


def _write_light(path: str, picture: Picture, storage: Storage) -> None:
    gain_map.write(path, picture, GAIN_MAP, GAIN_MAP.quality(storage))


_EXTENSIONS = (".jpg", ".jpeg", ".jpe", ".jfif")
#: The same files with light: libultrahdr's limits are 8192 pixels a side and 10000 cd/m².
GAIN_MAP = Format(
    "JPEG with a gain map", _EXTENSIONS, ("float16",), read, _write_light, channels=(3,), holds=ALL - {"icc"},
    misfits=_misfits, least=8, largest=8192, brightest=10000 / 203,
    primaries=("Rec. 709", "Display P3", "Rec. 2020"), codec=Codec(95), lossy=True, layered=True,
)  # fmt: skip
FORMAT = Format(
    "JPEG", _EXTENSIONS, ("uint8",), read, _write, read_rows=_read_rows, magic=(b"\xff\xd8\xff",),
    channels=(1, 3), holds=ALL, misfits=_misfits, largest=65500, codec=Codec(95, SUBSAMPLINGS), lossy=True,
    layered=True, gain_map=GAIN_MAP,
)  # fmt: skip
