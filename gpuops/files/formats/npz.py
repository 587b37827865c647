"""NPZ: an archive of numpy's arrays, with everything that a picture holds, or spectra and coefficients."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note
from ...pixels.colour import DATA, unusual
from ..arrays import PIXELS, blocks, by_rows, described, loaded, member, whole
from ..colours import of_profile
from ..data import KEY, Array, Description, RowsOfArray, contradiction
from ..picture import Metadata, Picture, unread
from ..read_errors import parsing
from ..strips import RowsOf
from .record import ALL, ANY, Codec, Format, LayerId, Method, NumberFiles, Storage

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
        colour = DATA if "data" in names and bool(file["data"]) else None
        metadata = Metadata(**parts, resolution=resolution, colour=colour)
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
    if picture.colour.data:
        parts["data"] = np.array(True)
    for key in _BYTES:
        if value := getattr(metadata, key):
            parts[key] = np.frombuffer(value, np.uint8)
    if metadata.resolution:
        parts["resolution"] = np.array([str(part) for part in metadata.resolution])
    method = FORMAT.method(storage)
    save = np.savez_compressed if method and method.name == "deflate" else np.savez
    with open(path, "wb") as file:
        save(file, **parts)


# -- Spectra and coefficients in .npz files: each array under its name, and the description as an array of its own.


def _text_of_numbers(path: str) -> str | None:
    with loaded(path) as file:
        there = isinstance(file, np.lib.npyio.NpzFile) and KEY in file.files
        return str(file[KEY]) if there else None


def _check_numbers(path: str, described: Description) -> None:
    for index, (name, kind) in enumerate(described.arrays.items()):
        with member(path, _member_name(index, name)) as (_, shape, _, dtype):
            if (shape, dtype) != kind:
                raise contradiction(path)


def _rows_of_numbers(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    name = _member_name(index, list(described.arrays)[index])
    with member(path, name) as (file, shape, fortran, dtype):
        if fortran and prod(shape[:-1]) > 1:
            with loaded(path) as content:
                whole_array = content[name]
            yield from RowsOfArray.of(whole_array).blocks(count)
            return
        for _ in range(shape[0] if len(shape) == 3 else 1):
            yield from blocks(file, shape[-2:], dtype, count)


def _write_numbers(
    path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool
) -> None:
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind, allowZip64=True) as archive:
        with archive.open(f"{KEY}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.array(text), allow_pickle=False)
        for i, (name, rows) in enumerate(arrays.items()):
            with archive.open(f"{_member_name(i, name)}.npy", "w", force_zip64=True) as file:
                head = np.lib.format.header_data_from_array_1_0(unread(rows.shape, rows.dtype))
                np.lib.format.write_array_header_1_0(file, head | {"fortran_order": False})
                for block in rows.blocks(count):
                    file.write(np.ascontiguousarray(block).data.cast("B"))


def _member_name(i: int, name: str) -> str:
    """Returns an array's name in the archive: its own, or a number where a file cannot have such a name."""
    return name if name.isidentifier() and name.isascii() and name != KEY else f"array-{i}"


_NUMBERS = NumberFiles(_text_of_numbers, _check_numbers, _rows_of_numbers, _write_numbers)


FORMAT = Format(
    "NPZ", (".npz",), ANY, _read, _write, read_rows=_read_rows, magic=(b"PK\x03\x04",), holds=ALL, says="curve",
    codec=Codec(methods={"none": None, "deflate": None}, usual=Method("none")), layered=True,
    of_numbers=True, says_data=lambda _picture: True, numbers=_NUMBERS,
)  # fmt: skip
