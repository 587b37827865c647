"""The file formats: a module for each, which has the name of its usual extension, and whose ``FORMAT`` is the record.

A module is imported when the name or the content of a file may be of its format, those that are met most often first:
no run needs all of them, and many want to start soon.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FileError
from .record import Format as Format

if TYPE_CHECKING:
    #: The formats of pictures that are written, and those that are only read.
    FORMATS: tuple[Format, ...]
    ONLY_READ: tuple[Format, ...]
    #: The extensions of pictures that can be read, and those of videos.
    EXTENSIONS: tuple[str, ...]
    VIDEOS: tuple[str, ...]

# The modules that are tried first.
_USUAL = ("png", "jpg", "tif", "exr")
# Bytes of a file that tell its format.
HEAD = 64
# The depths of pixels, as messages name them.
DEPTHS = {
    "uint8": "8-bit integers",
    "uint16": "16-bit integers",
    "float16": "half floats",
    "float32": "floats",
}


@lru_cache(256)
def _modules(extension: str) -> tuple[str, ...]:
    there = sorted(module.name for module in iter_modules(__path__) if module.name != "record")
    return tuple(sorted(dict.fromkeys((*_USUAL, *there)), key=lambda name: f".{name}" != extension))


@cache
def _record(module: str) -> Format:
    fmt: Format = import_module(f".{module}", __name__).FORMAT
    return fmt


def every(extension: str = "") -> Iterator[Format]:
    """Gives all formats, first the one that an extension is the usual one of."""
    return map(_record, _modules(extension))


def __getattr__(name: str) -> Any:
    if name == "FORMATS":
        return tuple(fmt for fmt in every() if fmt.written)
    if name == "ONLY_READ":
        return tuple(fmt for fmt in every() if not (fmt.written or fmt.moving))
    if name in ("EXTENSIONS", "VIDEOS"):
        return tuple(end for fmt in every() if fmt.moving == (name == "VIDEOS") for end in fmt.extensions)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def by_extension(extension: str) -> Format | None:
    """The format of an extension such as ".png", in lower case."""
    return next((fmt for fmt in every(extension) if extension in fmt.extensions), None)


def is_of_picture(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension is that of a picture that can be read."""
    fmt = by_extension(_extension(path))
    return fmt is not None and not fmt.moving


def is_of_video(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension is that of a video."""
    fmt = by_extension(_extension(path))
    return fmt is not None and fmt.moving


def holds_animation(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension is that of an animation, or of pages; a .png is one of many numbered pictures."""
    fmt = by_extension(_extension(path))
    animated = fmt is not None and fmt.animation is not None and _extension(path) in fmt.animation.extensions
    return animated or (fmt is not None and fmt.join is not None)


def by_rows() -> str:
    """The formats that are written by rows, in words: "PNG, TIFF and EXR"."""
    *names, last = (fmt.name for fmt in every() if fmt.write_rows)
    return f"{', '.join(names)} and {last}"


def format_named(name: str, *, gain_map: bool = False) -> Format:
    """The format of an extension that can be written, with or without its dot ("png", ".PNG").

    ``gain_map``: JPEG files are to have one.
    """
    fmt = by_extension("." + name.lower().lstrip("."))
    if fmt is None or fmt.moving:
        raise FileError(f"{name!r} is no known format; known are {_known()}")
    if not fmt.written:
        raise FileError(f"{fmt} is only read, not written; there are {_known()}")
    return fmt.gain_map or fmt if gain_map else fmt


def format_of(path: str | os.PathLike[str], *, gain_map: bool = False) -> Format:
    """The format that the path of an output names by its extension. ``gain_map``: JPEG files are to have one."""
    fmt = by_extension(_extension(path))
    if fmt is not None and fmt.moving:
        raise FileError(
            f"{os.fspath(path)}: is no name of a picture: a video is made of one video, by -o; known are {_known()}"
        )
    if fmt is None:
        suffix, videos = os.path.splitext(path)[1], " ".join(__getattr__("VIDEOS"))
        problem = f"the extension {suffix!r} is unknown" if suffix[1:] else "the name has no extension"
        raise FileError(f"{os.fspath(path)}: {problem}; known are {_known()}, and of videos {videos}")
    if not fmt.written:
        raise FileError(f"{os.fspath(path)}: {fmt} is only read, not written; name it by one of {_known()}")
    return fmt.gain_map or fmt if gain_map else fmt


def sniff(head: bytes, path: str) -> Format | None:
    """The format that a file's first 64 bytes announce, whatever its name says."""
    return next((fmt for fmt in every(_extension(path)) if fmt.is_in(head, path)), None)


def output_dtype(fmt: Format, wanted: np.dtype[np.generic] | type | str) -> np.dtype[np.generic]:
    """The format's depth nearest to the wanted one: the narrowest that holds it, else the widest there is."""
    wanted = np.dtype(wanted)
    if wanted in fmt.depths:
        return wanted
    return next((depth for depth in fmt.depths if np.can_cast(wanted, depth, "safe")), fmt.depths[-1])


def _extension(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(path)[1].lower()


def _known() -> str:
    return " ".join(end for fmt in every() if fmt.written for end in fmt.extensions)
