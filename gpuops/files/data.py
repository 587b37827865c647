"""Self-describing files of numbers, for spectra and wavelet coefficients: named arrays, bit exact.

.npz   each array under its name, complex ones too; the attributes as JSON text in the array "clpix".
.tif   a page for each array (2-D) or for each of its planes (3-D), complex samples natively.
.exr   a part for each plane, named by array and plane; complex arrays as the channels re and im. Integers
       are stored as the 32 bits of EXR's uint type, shorter ones widened; half and float as they are;
       double is refused.

All of them uncompressed, unless they are asked to be deflated.
The attributes, and the names, shapes and types of the arrays, are one JSON text under the name "clpix": an
array of its own (.npz), the first page's description (.tif), a header attribute of the first part (.exr).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, ParameterError
from .arrays import loaded
from .formats import Format, sniff
from .output import atomic, check_place
from .pointers import refuse_pointer
from .reading import parsing, quiet_tifffile, reading
from .streams import to_stream, with_text_name

Array = NDArray[Any]
# An array's shape and type.
Kind = tuple[tuple[int, ...], "np.dtype[Any]"]
# The file extensions of spectra and coefficients.
EXTENSIONS = (".npz", ".exr", ".tif", ".tiff")
# The types of arrays, by numpy's names.
DTYPES = ("float16", "float32", "float64", "int16", "int32", "uint8", "uint16", "complex64", "complex128")
# The name of the member of an NPZ file that describes the others.
KEY = "clpix"
# The version of the description.
_FORMAT = 1
# How a description begins.
_BEGINNING = '{"format"'


def is_data_format(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension names a format that can hold spectra and coefficients."""
    return PurePath(path).suffix.lower() in EXTENSIONS


def write_data(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Array],
    attributes: Mapping[str, Any],
    *,
    overwrite: bool = False,
    compress: bool = False,
) -> None:
    """Writes arrays (2-D or 3-D, any shapes) and attributes (whatever JSON can say), whole or not at all.

    ``compress``: the file is deflated, without loss: zeros take little room then, other numbers only take longer.
    """
    suffix, text = description_of(path, {name: (a.shape, a.dtype) for name, a in arrays.items()}, attributes)
    check_place(path, overwrite=overwrite)
    native = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("=")) for name, a in arrays.items()}
    with atomic(path, overwrite=overwrite) as temporary:
        _WRITERS[suffix](temporary, native, text, compress)


def description_of(
    path: str | os.PathLike[str], arrays: Mapping[str, Kind], attributes: Mapping[str, Any]
) -> tuple[str, str]:
    """Returns a file's extension, and the text that describes its arrays, which it can hold."""
    suffix = suffix_of(path)
    for name, (shape, dtype) in arrays.items():
        if dtype.name not in DTYPES or len(shape) not in (2, 3) or 0 in shape:
            raise ParameterError(f"{name!r} ({dtype}, {len(shape)}-D) is not 2-D or 3-D of {DTYPES}")
        if suffix == ".exr" and dtype.name in ("float64", "complex128"):
            raise FileError(f"{os.fspath(path)}: EXR holds no double precision; write .npz or .tif")
    if not arrays:
        raise ParameterError("no arrays to write")
    described = {name: {"shape": shape, "dtype": dtype.name} for name, (shape, dtype) in arrays.items()}
    return suffix, json.dumps({"format": _FORMAT, "arrays": described, "attributes": dict(attributes)})


def read_data(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and the attributes that write_data was given. The format is told by the content."""
    name = os.fspath(path)
    with reading(name), with_text_name(name) as text:
        return _READERS[format_in(name)](text)


def format_in(name: str) -> str:
    """Returns the name of the format of a file of numbers, as its content tells it."""
    with open(name, "rb") as file:
        head = file.read(64)
    if not head:
        raise FileError(f"{name}: is empty (0 bytes)")
    refuse_pointer(name, head)
    fmt = sniff(head)
    if fmt is None or fmt.name not in _READERS:
        kind = fmt or "of no known format"
        raise FileError(f"{name}: is {kind}; spectra and coefficients are stored as {' '.join(EXTENSIONS)}")
    return fmt.name


def describes_itself(path: str, fmt: Format) -> bool:
    """Whether a file has the description of a spectrum or coefficient file. One that cannot be read has none."""
    try:
        return fmt.name in _DESCRIPTIONS and _DESCRIPTIONS[fmt.name](path)
    except Exception:  # the libraries raise anything; the reader of the file will report it
        return False


def write_data_stream(
    stream: BinaryIO,
    arrays: Mapping[str, Array],
    attributes: Mapping[str, Any],
    fmt: Format,
    *,
    compress: bool = False,
) -> None:
    """Writes arrays and attributes to a stream, such as standard output."""
    with to_stream(stream, fmt.extension) as path:
        write_data(path, arrays, attributes, compress=compress)


def suffix_of(path: str | os.PathLike[str]) -> str:
    suffix = PurePath(path).suffix.lower()
    if suffix not in EXTENSIONS:
        raise FileError(f"{os.fspath(path)}: spectra and coefficients are stored as {' '.join(EXTENSIONS)}")
    return suffix


class Description:
    """The checked JSON text of a file: its ``attributes``, and by name its ``arrays``' shapes and types."""

    def __init__(self, path: str, text: str | None) -> None:
        if not text:
            raise FileError(f"{path}: is not a spectrum or coefficient file written by clpix")
        try:
            content = json.loads(text)
            self.format = int(content["format"])
            self.attributes: dict[str, Any] = dict(content["attributes"])
            self.arrays = {
                str(name): (tuple(int(n) for n in entry["shape"]), np.dtype(entry["dtype"]))
                for name, entry in content["arrays"].items()
            }
        # numpy parses the names of types, and raises even SyntaxError
        except (
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
            SyntaxError,
        ):
            raise FileError(
                f"{path}: is damaged: its clpix description makes no sense; write it anew"
            ) from None
        if self.format > _FORMAT:
            raise FileError(f"{path}: was written by a newer clpix (format {self.format}); update clpix")
        for shape, dtype in self.arrays.values():
            if dtype.name not in DTYPES or len(shape) not in (2, 3) or min(shape) < 1:
                raise contradiction(path)


def contradiction(path: str) -> FileError:
    return FileError(f"{path}: is damaged: its arrays are not those it describes; write it anew")


# NPZ ----------------------------------------------------------------------------------------------


def _write_npz(path: str, arrays: dict[str, Array], text: str, compress: bool) -> None:
    members = {member(i, name): array for i, (name, array) in enumerate(arrays.items())}
    with open(path, "wb") as file:
        save = np.savez_compressed if compress else np.savez
        save(file, **{KEY: np.array(text)}, **members)  # type: ignore[arg-type]


def member(i: int, name: str) -> str:
    """Returns an array's name in the archive: its own, or a number where a file cannot have such a name."""
    return name if name.isidentifier() and name.isascii() and name != KEY else f"array-{i}"


def _read_npz(path: str) -> tuple[dict[str, Array], dict[str, Any]]:
    with parsing(path), loaded(path) as file:
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise FileError(f"{path}: is not a spectrum or coefficient file written by clpix")
        description = Description(path, str(file[KEY]) if KEY in file.files else None)
        arrays = {name: file[member(i, name)] for i, name in enumerate(description.arrays)}
    for name, (shape, dtype) in description.arrays.items():
        array = arrays[name]  # other members of the archive may be bytes
        if not isinstance(array, np.ndarray) or (array.shape, array.dtype) != (shape, dtype):
            raise contradiction(path)
    return arrays, description.attributes


def _npz_described(path: str) -> bool:
    with loaded(path) as file:
        return KEY in file.files


# TIFF ---------------------------------------------------------------------------------------------


def _write_tiff(path: str, arrays: dict[str, Array], text: str, compress: bool) -> None:
    import tifffile

    size = sum(array.nbytes for array in arrays.values())
    with tifffile.TiffWriter(path, bigtiff=size > 2**32 - 2**25) as file:
        planes = [plane for array in arrays.values() for plane in array.reshape(-1, *array.shape[-2:])]
        for i, plane in enumerate(planes):
            description = text if i == 0 else None
            file.write(
                plane,
                description=description,
                metadata=None,
                photometric="minisblack",
                contiguous=False,
                compression="zlib" if compress else None,
            )


def _read_tiff(path: str) -> tuple[dict[str, Array], dict[str, Any]]:
    tifffile = quiet_tifffile()
    with parsing(path), tifffile.TiffFile(path) as file:
        description = described_tiff(path, file)
        pages, arrays = iter(file.pages), {}
        for name, (shape, dtype) in description.arrays.items():
            planes = shape[0] if len(shape) == 3 else 1
            array = np.empty((planes, *shape[-2:]), dtype)
            for i in range(planes):
                page = next(pages, None)
                there = page and (page.shape, page.dtype)
                if page is None or there != (shape[-2:], dtype):  # checked before memory is taken
                    raise contradiction(path)
                array[i] = page.asarray()
            arrays[name] = array.reshape(shape)
    return arrays, description.attributes


def described_tiff(path: str, file: Any) -> Description:
    """Returns the description in a file that tifffile has opened."""
    text = file.pages.first.description if len(file.pages) else ""
    return Description(path, text if text.startswith(_BEGINNING) else None)


def _tiff_described(path: str) -> bool:
    tifffile = quiet_tifffile()
    with tifffile.TiffFile(path) as file:
        return str(file.pages.first.description).startswith(_BEGINNING)


# EXR ----------------------------------------------------------------------------------------------


def _write_exr(path: str, arrays: dict[str, Array], text: str, compress: bool) -> None:
    from . import oiio

    parts: list[tuple[Array, dict[str, Any]]] = []
    kinds = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    planes = (plane for array in arrays.values() for plane in array.reshape(-1, *array.shape[-2:]))
    for plane, attributes in zip(planes, exr_attributes(kinds, text, compress), strict=True):
        parts.append((exr_samples(plane), attributes))
    oiio.write_parts(path, parts)


def exr_attributes(kinds: Mapping[str, Kind], text: str, compress: bool) -> list[dict[str, Any]]:
    """Returns the attributes of the part of each plane of arrays of these kinds."""
    found: list[dict[str, Any]] = []
    # All parts of a file share one display window.
    height, width = (max(shape[axis] for shape, _ in kinds.values()) for axis in (-2, -1))
    for i, (name, (shape, dtype)) in enumerate(kinds.items()):
        for k in range(shape[0] if len(shape) == 3 else 1):
            # The number keeps the parts' names apart, and their order in the file.
            attributes: dict[str, Any] = {"name": f"{i}.{k}.{name}"}
            attributes["compression"] = "zip:1" if compress else "none"
            attributes["window"] = (0, 0, 0, 0, width, height)
            attributes["channels"] = ("re", "im") if dtype.kind == "c" else ("Y",)
            found.append(attributes)
    found[0][KEY] = text
    return found


def exr_samples(plane: Array) -> Array:
    """Returns the samples (rows, columns, channels) of rows of a plane."""
    if plane.dtype.kind == "c":
        return plane.view(np.float32).reshape(*plane.shape, 2)
    return _as_exr(plane)[:, :, None]


def _as_exr(plane: Array) -> Array:
    """Integers as the bits of EXR's only integer type."""
    return plane.astype(np.int32).view(np.uint32) if plane.dtype.kind in "iu" else plane


def _read_exr(path: str) -> tuple[dict[str, Array], dict[str, Any]]:
    from . import oiio

    with oiio.Reader(path) as file:
        description = Description(path, file.spec().get_string_attribute(KEY))
        arrays: dict[str, Array] = {}
        part = 0
        for name, (shape, dtype) in description.arrays.items():
            planes = []
            for _ in range(shape[0] if len(shape) == 3 else 1):
                try:
                    spec = file.spec(part)
                except IndexError:
                    raise contradiction(path) from None
                planes.append(_from_exr(path, file, spec, part, shape[-2:], dtype))
                part += 1
            arrays[name] = planes[0].reshape(shape) if len(planes) == 1 else np.stack(planes).reshape(shape)
    return arrays, description.attributes


def _from_exr(
    path: str, file: Any, spec: Any, part: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    check_exr_part(path, spec, shape, dtype)
    return exr_values(file.read(index=part), spec, dtype)


def check_exr_part(path: str, spec: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises FileError for a part that cannot be a plane of this shape and type."""
    channels = ("re", "im") if dtype.kind == "c" else ("Y",)
    stored = {"c": "float", "i": "uint", "u": "uint"}.get(
        dtype.kind, "half" if dtype.itemsize == 2 else "float"
    )
    if (
        sorted(spec.channelnames) != sorted(channels)
        or str(spec.format) != stored
        or (spec.height, spec.width) != shape
        or dtype.name in ("float64", "complex128")
    ):
        raise contradiction(path)


def exr_values(samples: Array, spec: Any, dtype: np.dtype[Any]) -> Array:
    """Returns rows of a plane from the samples of its part."""
    if dtype.kind == "c":
        order = [spec.channelnames.index(channel) for channel in ("re", "im")]
        return np.ascontiguousarray(samples[:, :, order]).view(dtype)[:, :, 0]
    samples = samples[:, :, 0]
    return samples.view(np.int32).astype(dtype) if dtype.kind in "iu" else samples


def _exr_described(path: str) -> bool:
    from . import oiio

    with oiio.Reader(path) as file:
        return bool(file.spec().get_string_attribute(KEY))


# The functions that find the description in each kind of file.
_DESCRIPTIONS = {"NPZ": _npz_described, "EXR": _exr_described, "TIFF": _tiff_described}
# The functions that write each kind of file, by extension.
_WRITERS = {".npz": _write_npz, ".exr": _write_exr, ".tif": _write_tiff, ".tiff": _write_tiff}
# The functions that read each kind of file.
_READERS = {"NPZ": _read_npz, "EXR": _read_exr, "TIFF": _read_tiff}
