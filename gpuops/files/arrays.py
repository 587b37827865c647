"""Pictures as numpy arrays: .npy holds the pixels alone, .npz everything a Picture holds."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import prod
from typing import IO, Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import unusual
from .colours import of_profile
from .formats import Format
from .picture import DTYPES, Metadata, Picture, Pixels, unread
from .reading import parsing
from .strips import COPIES, NeedsWholeFile, RowsOf

# The name of a member that holds pixels.
PIXELS = "pixels"
# The names of members that hold metadata as bytes.
_BYTES = ("icc", "exif", "xmp")
# Bytes that are read at a time.
_BLOCK = 1 << 20
# The most bytes of numbers that a byte of a file holds, as far as that is plausible.
DENSEST = 2000


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


@contextmanager
def member(path: str, name: str = "") -> Iterator[tuple[IO[bytes], tuple[int, ...], bool, np.dtype[Any]]]:
    """Gives the file of an array, whose pixels come next, and what :func:`header` returns of it.

    ``name``: the array in an .npz; an .npy has one without a name.
    """
    with ExitStack() as opened:
        if name:
            archive = opened.enter_context(zipfile.ZipFile(path))
            size = archive.getinfo(f"{name}.npy").file_size
            file: IO[bytes] = opened.enter_context(archive.open(f"{name}.npy"))
        else:
            size, file = os.path.getsize(path), opened.enter_context(open(path, "rb"))
        shape, fortran, kind = header(file)
        if prod(shape) * kind.itemsize > size - file.tell():
            raise EOFError("its last rows are missing")
        yield file, shape, fortran, kind


def blocks(file: IO[bytes], shape: tuple[int, ...], kind: np.dtype[Any], count: int) -> Iterator[Pixels]:
    """Reads an array of this shape, ``count`` of its rows at a time, of an open file. Raises EOFError if it ends."""
    for start in range(0, shape[0], count):
        block = np.empty((min(count, shape[0] - start), *shape[1:]), kind)
        wanted = block.reshape(-1).view(np.uint8).data
        while wanted:
            got = file.readinto(wanted)  # type: ignore[attr-defined]
            if not got:
                raise EOFError("its last rows are missing")
            wanted = wanted[got:]
        yield block


def strips(path: str, fmt: Format, layer: str | int | None, most: int) -> tuple[Picture, RowsOf, int] | None:
    """The picture, its rows, and how many come together, if ``most`` bytes are too few for all."""
    with parsing(path):
        name, picture = _opened(path, fmt, layer)
        with member(path, name) as (_, shape, fortran, kind):
            pass
    if picture.pixels.nbytes * COPIES <= most:
        return None
    if fortran and prod(shape[:-1]) > 1:
        raise NeedsWholeFile("holds its pixels column by column", picture.pixels.nbytes)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        with parsing(path), member(path, name) as (file, *_):
            for block in blocks(file, shape, kind, count):
                yield _pixels(block, picture)

    return picture, rows, 1


def check_arrays(path: str, most: float) -> dict[str, Pixels] | None:
    """Reads all arrays as :func:`read_arrays` does, if they take more than ``most`` bytes, and keeps none.

    Returns arrays without memory that stand for them; None if they take less.
    """
    if os.path.getsize(path) * DENSEST <= most:
        return None
    names, kinds = [""], {}
    with parsing(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist()]
        for name in names:
            with member(path, name) as (_, shape, _, kind):
                kinds[name] = shape, kind
        if COPIES * sum(prod(shape) * kind.itemsize for shape, kind in kinds.values()) <= most:
            return None
        for name in names:
            with member(path, name) as (file, shape, _, kind):
                for _ in blocks(file, (prod(shape),), kind, _BLOCK // kind.itemsize):
                    pass
    return {name: unread(*kind) for name, kind in kinds.items()}


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
        name, picture = _opened(path, fmt, layer)
        with member(path, name) as (file, shape, fortran, kind):
            whole = next(blocks(file, shape[::-1] if fortran else shape, kind, max(shape)))
    return replace(picture, pixels=_pixels(whole.T if fortran else whole, picture))


def _pixels(array: Pixels, picture: Picture) -> Pixels:
    """Returns rows of an array as a picture holds them."""
    rows = array.reshape(-1, *picture.pixels.shape[1:])
    return np.ascontiguousarray(rows, picture.pixels.dtype)


def _opened(path: str, fmt: Format, layer: str | int | None) -> tuple[str, Picture]:
    """Returns the name of the chosen array, and the picture that it is, without its pixels."""
    if fmt.name == "NPY":
        if layer is not None:
            raise FileError(f"{path}: has no layer {layer!r}; an .npy file has one array")
        return "", _described(path, "")
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
            return name, _described(path, name, layer=name, layers=layers)
        resolution = None
        if "resolution" in names:
            x, y, unit = file["resolution"].tolist()
            resolution = (float(x), float(y), str(unit)) if unit in ("in", "cm") else None
        parts = {key: file[key].tobytes() for key in _BYTES if key in names}
        linear = bool(file["linear"]) if "linear" in names else None
        metadata = Metadata(**parts, resolution=resolution)
        return name, _coloured(path, _described(path, name, linear, metadata))


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


def _described(
    path: str,
    name: str,
    linear: bool | None = None,
    metadata: Metadata | None = None,
    layer: str = "",
    layers: tuple[str, ...] = (),
) -> Picture:
    """The picture without pixels of an array (height, width[, channels]); of 2 and 4 channels the last is alpha."""
    with member(path, name) as (_, shape, _, kind):
        kind = kind.newbyteorder("=")
    if len(shape) == 2:
        shape = (*shape, 1)
    if len(shape) != 3 or not 1 <= shape[2] <= 4 or 0 in shape:
        raise NoPictureError(f"{path}: no picture has the shape {shape}; it must be (height, width, 1 to 4)")
    if kind == np.float64:
        note(f"{path}: double precision is read as float")
        kind = np.dtype(np.float32)
    if kind.name not in DTYPES:
        raise NoPictureError(f"{path}: its samples are {kind}; they must be one of {', '.join(DTYPES)}")
    return Picture(
        unread(shape, kind),
        alpha=shape[2] in (2, 4),
        linear=kind.kind == "f" if linear is None else linear,
        metadata=metadata or Metadata(),
        layer=layer,
        layers=layers,
    )
