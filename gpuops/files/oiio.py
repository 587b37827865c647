"""Files through OpenImageIO: exact depths, named channels, errors that are errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from ..errors import FileError
from ..process import ahead
from . import threads
from .picture import Pixels, filled, unread
from .read_errors import check_plausible, trouble

#: numpy's names of OpenImageIO's sample types.
DTYPES = {"uint8": "uint8", "uint16": "uint16", "half": "float16", "float": "float32", "uint": "uint32"}
#: OpenImageIO's names of numpy's types.
_TYPES = {dtype: name for name, dtype in DTYPES.items()} | {"float64": "double"}
#: Rows that are read at a time: enough for 16 threads on EXR's blocks of 16 rows.
_STRIP_ROWS = 256
#: Bytes of pixels from which on the size of the file is checked.
_LARGE = 1 << 30
#: The most pixel bytes that a byte of a file can hold: deflate reaches 1032, JPEG 1024, LZW 1400.
_DENSEST = 2000
#: libjpeg's remark on files that decode well. It keeps further ones for itself, also that a file is cut off.
_BENIGN = "extraneous bytes before marker"

#: OpenImageIO's setting by which it reads EXR, and what it says of files with fewer samples of some channels.
_CORE, _OF_CHROMA = "openexr:core", "Subsampled channels"
# Whoever changes that setting.
_ONE = Lock()
#: OpenImageIO's name of TIFF's PhotometricInterpretation, and its value for inks.
PHOTOMETRIC = "tiff:PhotometricInterpretation"
SEPARATED = 5


@cache
def library() -> Any:
    """Returns OpenImageIO, which takes longer to load than most files to read."""
    ahead.extension("OpenImageIO")
    import OpenImageIO

    threads.tell(OpenImageIO)
    return OpenImageIO


def _with_all_chroma(path: str, config: Any) -> Any:
    """Opens an EXR file of luminance and chroma (Y, RY, BY) as RGB, by the OpenEXR library's own reader of these.

    The setting is the whole program's: what other threads open meanwhile is read as well, if not as fast.
    """
    with _ONE:
        library().attribute(_CORE, 0)
        try:
            opened = library().ImageInput.open(path, config)
        finally:
            library().attribute(_CORE, 1)
    _error(library())
    return opened


class Reader:
    """A context that reads one file, which is opened at need. `index` is the subimage: an EXR part or a TIFF page.

    ``raw``: the samples of a TIFF file are not converted to RGB. ``opened``: the file that stands for this one.
    """

    def __init__(self, path: str, *, raw: bool = False) -> None:
        self.path = self.opened = path
        self._raw = raw
        self._input: Any = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def spec(self, index: int = 0) -> Any:
        """OpenImageIO's ImageSpec of a subimage; IndexError where there is none."""
        if self._input is None:
            config = library().ImageSpec()
            config.attribute("oiio:UnassociatedAlpha", 1)  # pixels as stored: colour under alpha 0 stays
            config.attribute("pnm:bigendian", 0)
            config.attribute("oiio:RawColor", int(self._raw))
            self._input = library().ImageInput.open(self.opened, config)
            error = _error(library()) if self._input is None else ""
            if _OF_CHROMA in error:
                self._input = _with_all_chroma(self.opened, config)
            if self._input is None:
                raise self._trouble("opened", error)
        if self._input.current_subimage() != index and not self._input.seek_subimage(index, 0):
            _error(self._input)
            raise IndexError(index)
        return self._input.spec()

    def raw_spec(self, index: int = 0) -> Any:
        """The ImageSpec of a subimage whose samples are not converted to RGB, from now on."""
        self.close()
        self._raw = True
        return self.spec(index)

    def count(self) -> int:
        """The number of subimages."""
        known = int(self.spec().get_int_attribute("oiio:subimages", 0))
        if known:
            return known
        n = 1
        while self._input.seek_subimage(n, 0):
            n += 1
        _error(self._input)  # that there is no further one is none
        return n

    def read(
        self, *, index: int = 0, channels: tuple[int, int] | None = None, dtype: str | None = None
    ) -> Pixels:
        """(height, width, channels) in the stored depth, or in a named one; `channels` from and to."""
        spec = self.spec(index)
        if spec.deep:
            raise FileError(f"{self.path}: holds deep data (several samples a pixel); flatten it first")
        self.check_plausible(spec)
        first, last = channels or (0, spec.nchannels)
        kind = dtype or DTYPES.get(str(spec.format), str(spec.format))
        pixels = np.empty((spec.height, spec.width, last - first), kind)
        # in strips, which takes half the memory of read_image, and less time
        return filled(pixels, self.blocks(_STRIP_ROWS, index=index, channels=channels, dtype=dtype))

    def blocks(
        self,
        rows: int,
        *,
        index: int = 0,
        channels: tuple[int, int] | None = None,
        dtype: str | None = None,
        start: int = 0,
    ) -> Iterator[Pixels]:
        """Gives what :meth:`read` returns from the top on, about ``rows`` rows at a time: whole rows of tiles.

        ``start``: the first row, where a row of tiles begins.

        Planes that follow each other come at once: compressed strips of them cannot be read piece by piece.
        """
        spec = self.spec(index)
        self.check_plausible(spec)
        first, last = channels or (0, spec.nchannels)
        kind = _TYPES[dtype] if dtype else str(spec.format)
        if spec.get_string_attribute("planarconfig") == "separate":
            rows = spec.height
        elif spec.tile_height:
            rows = -(-rows // spec.tile_height) * spec.tile_height
        end = spec.y + spec.height
        for top in range(spec.y + start, end, rows):
            stop = min(top + rows, end)
            if spec.tile_height:
                right = spec.x + spec.width
                block = self._input.read_tiles(
                    self._input.current_subimage(), 0, spec.x, right, top, stop, 0, 1, first, last, kind
                )
            else:
                block = self._input.read_scanlines(top, stop, 0, first, last, kind)
            yield self._checked(block, stop - top, spec.width)

    def _has_end(self) -> bool:
        from .jpeg_segments import has_end

        return has_end(self.path)

    def _checked(self, pixels: Any, height: int, width: int) -> Pixels:
        error = _error(self._input)
        if pixels is None or (error and not (_BENIGN in error and self._has_end())):
            raise self._trouble("read", error)
        return np.ascontiguousarray(np.asarray(pixels).reshape(height, width, -1))

    def close(self) -> None:
        """Closes the file."""
        if self._input is not None:
            self._input.close()
            self._input = None

    def check_plausible(self, spec: Any) -> None:
        """Raises FileError if a header claims many more pixels than the file's bytes could hold."""
        if spec.image_bytes() > _LARGE:
            check_plausible(self.path, spec.width, spec.height, spec.image_bytes() / _DENSEST)

    def _trouble(self, verb: str, error: str) -> FileError:
        reason = (
            error.split("\n")[0].replace(f' ("{self.opened}")', "").replace(self.opened, "it").rstrip(".")
        )
        return trouble(self.path, verb, reason)


def _error(source: Any) -> str:
    """The error of a file, or OpenImageIO's last one."""
    try:
        return str(source.geterror())
    except UnicodeDecodeError:  # it quotes what is damaged
        return "unreadable text in its header"


def no_spec() -> Any:
    """The ImageSpec of a file of which OpenImageIO says nothing."""
    return library().ImageSpec()


def unread_in(path: str) -> Pixels:
    """An array that stands for the pixels, as the header of a file says."""
    with Reader(path) as reader:
        spec = reader.spec()
    kind = str(spec.format)
    return unread((spec.height, spec.width, spec.nchannels), DTYPES.get(kind, kind))


# What specs say ------------------------------------------------------------------------------------


def resolution(spec: Any) -> tuple[float, float, str] | None:
    x, y = spec.get_float_attribute("XResolution"), spec.get_float_attribute("YResolution")
    unit = {"in": "in", "inch": "in", "cm": "cm", "m": "m"}.get(spec.get_string_attribute("ResolutionUnit"))
    if unit == "m":  # pixels per metre
        x, y, unit = x / 100, y / 100, "cm"
    return (x, y or x, unit) if unit and x > 0 else None


def resolution_attributes(value: tuple[float, float, str]) -> dict[str, Any]:
    x, y, unit = value
    return {"XResolution": float(x), "YResolution": float(y), "ResolutionUnit": unit}


def alpha_attributes(channels: int) -> dict[str, Any]:
    """The attributes by which straight alpha is written as the last one of 2 or 4 channels; none for 1 and 3."""
    names = {2: ("Y", "A"), 4: ("R", "G", "B", "A")}.get(channels)
    return {"oiio:UnassociatedAlpha": 1, "alpha_channel": channels - 1, "channels": names} if names else {}


def is_of_inks(spec: Any) -> bool:
    """Whether the file holds amounts of ink."""
    jpeg, photometric = spec.get_string_attribute("jpeg:ColorSpace"), spec.get_int_attribute(PHOTOMETRIC)
    return jpeg in ("CMYK", "YCbCrK") or photometric == SEPARATED


def icc_attribute(profile: bytes | None) -> dict[str, Any]:
    """The attribute by which an ICC profile is written, if there is one."""
    return {"ICCProfile": (f"uint8[{len(profile)}]", np.frombuffer(profile, np.uint8))} if profile else {}


def icc_of(spec: Any) -> bytes | None:
    profile = spec.getattribute("ICCProfile")
    return None if profile is None else np.asarray(profile, np.uint8).tobytes()


# Writing -------------------------------------------------------------------------------------------


def can_hold(name: str, kind: str, value: Any) -> bool:
    """Whether an attribute of a type has a value that can be written."""
    spec = library().ImageSpec()
    with suppress(TypeError, RuntimeError):
        spec.attribute(name, kind, value)
        return spec.getattribute(name) is not None
    return False


def write(path: str, pixels: Pixels, attributes: Mapping[str, Any], *, kind: str = "") -> None:
    """Writes an array (height, width, channels) as :func:`writer` does."""
    with writer(path, [(pixels, attributes)], kind=kind) as put:
        put(pixels)


@contextmanager
def writer(
    path: str, parts: Sequence[tuple[Pixels, Mapping[str, Any]]], *, kind: str = ""
) -> Iterator[Callable[[Pixels], None]]:
    """Writes arrays (height, width, channels), each with its attributes, as the subimages of one file, by rows.

    The arrays only say shapes and types; what it gives takes rows from the top of the first one on, and no rows of
    two at once. ``kind``: OpenImageIO's name of the format, where the path does not tell it.

    Attributes are OpenImageIO's; a value that is a pair (type name, value) states its type. "channels" holds
    the channels' names, "kinds" the types that they get in the file, "window" (x, y, full x, full y, full width,
    full height).
    """
    specs = [_spec(array, attributes) for array, attributes in parts]
    part, row = 0, specs[0].y
    out = library().ImageOutput.create(kind or path)
    if out is None:
        raise OSError(_error(library()))

    def put(rows: Pixels) -> None:
        nonlocal part, row
        if row == specs[part].y + specs[part].height:
            part += 1
            _check(out, out.open(path, specs[part], "AppendSubimage"))
            row = specs[part].y
        start, row = row, row + len(rows)
        _check(out, out.write_scanlines(start, row, 0, np.ascontiguousarray(rows)))

    try:
        _check(out, out.open(path, specs[0] if len(specs) == 1 else tuple(specs)))
        yield put
    finally:
        out.close()  # after a failure, too: the file would stay open
    if error := _error(out):  # some codecs do their work on closing, and report its failure only so
        raise OSError(error.split("\n")[0])


def _check(out: Any, done: bool) -> None:
    if not done:
        raise OSError(_error(out) or "unknown reason")


def _spec(array: Pixels, attributes: Mapping[str, Any]) -> Any:
    height, width, channels = array.shape
    spec = library().ImageSpec(width, height, channels, _TYPES[array.dtype.name])
    spec.attribute("DateTime", "")  # otherwise EXR gets today's date, and other bytes on every day
    for name, value in attributes.items():
        if name == "channels":
            spec.channelnames = tuple(value)
        elif name == "kinds":
            spec.channelformats = tuple(library().TypeDesc(kind) for kind in value)
        elif name == "alpha_channel":
            spec.alpha_channel = value
        elif name == "window":
            spec.x, spec.y, spec.full_x, spec.full_y, spec.full_width, spec.full_height = value
        else:
            spec.attribute(name, *(value if isinstance(value, tuple) else (value,)))
    return spec
