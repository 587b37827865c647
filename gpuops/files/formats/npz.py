"""NPZ: an archive of numpy's arrays, with everything that a picture holds, or spectra and coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FileError
from ...notes import note
from ...pixels.colour import unusual
from .. import npz_numbers
from ..arrays import PIXELS, by_rows, described, loaded, whole
from ..colours import of_profile
from ..picture import Metadata, Picture
from ..reading import parsing
from .record import ALL, ANY, Codec, Format, LayerId, Method, Storage

if TYPE_CHECKING:
    from ..strips import RowsOf

# The names of members that hold metadata as bytes.
_BYTES = ("icc", "exif", "xmp")


def _read(path: str, layer: LayerId) -> Picture:
    return whole(path, *_opened(path, layer))


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    return by_rows(path, *_opened(path, layer), most)


def _opened(path: str, layer: LayerId) -> tuple[str, Picture]:
    """Returns the name of the chosen array, and the picture that it is, without its pixels."""
    with parsing(path), loaded(path) as file:
        names = file.files
        if "clpix" in names:
            raise FileError(f"{path}: is a spectrum or coefficient file; ifft or idwt makes it a picture")
        if not names or (layer is not None and layer not in names):
            raise FileError(f"{path}: has no layer {layer!r}; it has {', '.join(names)}")
        name = str(layer or (PIXELS if PIXELS in names else names[0]))
        if PIXELS not in names:
            if layer is None and len(names) > 1:
                note(f"{path}: holds arrays {', '.join(names)}; {name} is used")
            layers = tuple(names) if len(names) > 1 else ()
            return name, described(path, name, layer=name, layers=layers)
        resolution = None
        if "resolution" in names:
            x, y, unit = file["resolution"].tolist()
            resolution = (float(x), float(y), str(unit)) if unit in ("in", "cm") else None
        parts = {key: file[key].tobytes() for key in _BYTES if key in names}
        linear = bool(file["linear"]) if "linear" in names else None
        metadata = Metadata(**parts, resolution=resolution)
        return name, _coloured(path, described(path, name, linear, metadata))


def _coloured(path: str, picture: Picture) -> Picture:
    """The picture with the colours that its profile says, if it has one."""
    metadata = picture.metadata
    if metadata.icc is None:
        return picture
    colour = of_profile(metadata.icc, gray=picture.channels < 3).told(path, light=picture.linear)
    return replace(picture, linear=colour.linear, metadata=replace(metadata, colour=unusual(colour)))


def _write(path: str, picture: Picture, storage: Storage) -> None:
    """Writes the pixels, and what is known of them."""
    metadata = picture.metadata
    parts: dict[str, Any] = {PIXELS: picture.pixels, "linear": np.array(picture.linear)}
    for key in _BYTES:
        if value := getattr(metadata, key):
            parts[key] = np.frombuffer(value, np.uint8)
    if metadata.resolution:
        parts["resolution"] = np.array([str(part) for part in metadata.resolution])
    method = FORMAT.method(storage)
    save = np.savez_compressed if method and method.name == "deflate" else np.savez
    with open(path, "wb") as file:
        save(file, **parts)


FORMAT = Format(
    "NPZ", (".npz",), ANY, _read, _write, read_rows=_read_rows, magic=(b"PK\x03\x04",), holds=ALL, says="curve",
    codec=Codec(methods={"none": None, "deflate": None}, usual=Method("none")), layered=True,
    of_numbers=True, numbers=npz_numbers.NUMBERS,
)  # fmt: skip
