"""Pictures as numpy arrays: .npy holds the pixels alone, .npz everything a Picture holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import unusual
from .colours import of_profile
from .formats import Format
from .picture import DTYPES, Metadata, Picture, Pixels
from .reading import parsing

# The name of a member that holds pixels.
PIXELS = "pixels"
# The names of members that hold metadata as bytes.
_BYTES = ("icc", "exif", "xmp")


class NoPictureError(FileError):
    """Says that arrays are not the pixels of a picture."""


@contextmanager
def loaded(path: str) -> Iterator[Any]:
    """Gives what numpy loads of an .npy or .npz: by itself it does not close an archive that is damaged."""
    with open(path, "rb") as file:
        yield np.load(file, allow_pickle=False)


def header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Returns an .npy file's shape, whether it lies there column by column, and its type; the pixels come behind."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    found: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(file)
    return found


def read_arrays(path: str) -> dict[str, Pixels]:
    """All arrays of an .npz by name, or the one of an .npy; of any shapes and types but Python's objects."""
    with parsing(path), loaded(path) as content:
        if not isinstance(content, np.lib.npyio.NpzFile):
            return {"": content}
        arrays = {name: content[name] for name in content.files}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise FileError(f"{path}: holds {name!r}, which is no array")
    return arrays


def is_several(path: str) -> bool:
    """Whether an .npz has several arrays, and none is named as the pixels of a picture."""
    try:
        with loaded(path) as file:
            return len(file.files) > 1 and PIXELS not in file.files
    except Exception:  # the reader of the file will report it
        return False


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    """The pixels of an .npy; of an .npz the array named by layer, else "pixels", else the only one."""
    with parsing(path):
        return _read_npy(path, layer) if fmt.name == "NPY" else _read_npz(path, layer)


def _read_npy(path: str, layer: str | int | None) -> Picture:
    if layer is not None:
        raise FileError(f"{path}: has no layer {layer!r}; an .npy file has one array")
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)  # checks the size first
    return picture_of(path, np.array(mapped))


def _read_npz(path: str, layer: str | int | None) -> Picture:
    with loaded(path) as file:
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
            return picture_of(path, file[name], layer=name, layers=layers)
        resolution = None
        if "resolution" in names:
            x, y, unit = file["resolution"].tolist()
            resolution = (float(x), float(y), str(unit)) if unit in ("in", "cm") else None
        parts = {key: file[key].tobytes() for key in _BYTES if key in names}
        linear = bool(file["linear"]) if "linear" in names else None
        picture = picture_of(path, file[name], linear, Metadata(**parts, resolution=resolution))
        return _coloured(path, picture)


def _coloured(path: str, picture: Picture) -> Picture:
    """The picture with the colours that its profile says, if it has one."""
    metadata = picture.metadata
    if metadata.icc is None:
        return picture
    found = of_profile(metadata.icc, gray=picture.channels < 3)
    for remark in found.remarks(light=picture.linear):
        note(f"{path}: {remark}")
    if found.colour is None:
        return picture
    metadata = replace(metadata, colour=unusual(found.colour))
    return replace(picture, linear=found.colour.linear, metadata=metadata)


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    """Writes the pixels, and to an .npz what is known of them."""
    if fmt.name == "NPY":
        with open(path, "wb") as file:
            np.save(file, picture.pixels)
        return
    metadata = picture.metadata
    parts: dict[str, Any] = {PIXELS: picture.pixels, "linear": np.array(picture.linear)}
    for key in _BYTES:
        if value := getattr(metadata, key):
            parts[key] = np.frombuffer(value, np.uint8)
    if metadata.resolution:
        parts["resolution"] = np.array([str(part) for part in metadata.resolution])
    method = storage.method(fmt.name)
    save = np.savez_compressed if method and method.name == "deflate" else np.savez
    with open(path, "wb") as file:
        save(file, **parts)


def picture_of(
    path: str,
    array: Pixels,
    linear: bool | None = None,
    metadata: Metadata | None = None,
    layer: str = "",
    layers: tuple[str, ...] = (),
) -> Picture:
    """Makes a picture of an array (height, width[, channels]); of 2 and 4 channels the last is alpha."""
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or 0 in array.shape:
        raise NoPictureError(
            f"{path}: no picture has the shape {array.shape}; it must be (height, width, 1 to 4)"
        )
    if array.dtype.newbyteorder("=").name == "float64":
        note(f"{path}: double precision is read as float")
        array = array.astype(np.float32)
    if array.dtype.newbyteorder("=").name not in DTYPES:
        raise NoPictureError(
            f"{path}: its samples are {array.dtype}; they must be one of {', '.join(DTYPES)}"
        )
    pixels = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return Picture(
        pixels,
        alpha=pixels.shape[2] in (2, 4),
        linear=pixels.dtype.kind == "f" if linear is None else linear,
        metadata=metadata or Metadata(),
        layer=layer,
        layers=layers,
    )
