"""The file formats: how each is named and recognised, and what it can hold."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ..errors import FileError


@dataclass(frozen=True)
class Format:
    """A format: the first extension is the usual one; dtypes go from narrow to wide; largest is a side in pixels."""

    name: str
    extensions: tuple[str, ...]
    dtypes: tuple[str, ...]
    magic: tuple[bytes, ...]
    channels: tuple[int, ...] = (1, 2, 3, 4)
    holds: frozenset[str] = frozenset()  # of "icc", "exif", "xmp", "resolution", "attributes"
    largest: int | None = None

    @property
    def extension(self) -> str:
        return self.extensions[0]

    def fitting(self, channels: int) -> int:
        """Returns how many of a picture's channels fit: alpha goes if the format has none, gray may become RGB."""
        has_alpha = channels in (2, 4)
        if has_alpha and not {channels, channels + 2} & {*self.channels}:
            channels -= 1
        return channels if channels in self.channels else channels + 2

    def __str__(self) -> str:
        return self.name


# The depths of pixels, as messages name them.
DEPTHS = {
    "uint8": "8-bit integers",
    "uint16": "16-bit integers",
    "float16": "half floats",
    "float32": "floats",
}

# All kinds of metadata.
_ALL = frozenset({"icc", "exif", "xmp", "resolution"})

# The formats of pictures, in the order in which they are tried.
FORMATS = (
    Format("PNG", (".png",), ("uint8", "uint16"), (b"\x89PNG\r\n\x1a\n",), holds=_ALL),
    Format("JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), ("uint8",), (b"\xff\xd8\xff",), (1, 3), _ALL, 65500),
    Format("WebP", (".webp",), ("uint8",), (b"RIFF",), (3, 4), _ALL - {"resolution"}, 16383),
    Format(
        "TIFF",
        (".tif", ".tiff"),
        ("uint8", "uint16", "float16", "float32"),
        (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
        holds=_ALL,
    ),
    Format(
        "EXR",
        (".exr",),
        ("float16", "float32"),
        (b"\x76\x2f\x31\x01",),
        holds=frozenset({"resolution", "attributes"}),
    ),
    Format("Radiance HDR", (".hdr", ".rgbe"), ("float32",), (b"#?RADIANCE", b"#?RGBE"), (3,)),
    Format("PFM", (".pfm",), ("float32",), (b"PF\n", b"Pf\n", b"PF\r", b"Pf\r"), (1, 3)),
    Format(
        "JPEG 2000",
        (".jp2",),  # a bare codestream (.j2k) has no room for alpha and profile, and is only read
        ("uint8", "uint16"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51"),
        (1, 3, 4),
        holds=frozenset({"icc"}),
    ),
    Format("DPX", (".dpx",), ("uint8", "uint16"), (b"SDPX", b"XPDS"), (1, 3, 4)),
    Format("NPY", (".npy",), ("uint8", "uint16", "float16", "float32"), (b"\x93NUMPY",)),
    Format("NPZ", (".npz",), ("uint8", "uint16", "float16", "float32"), (b"PK\x03\x04",), holds=_ALL),
)

# The format of each file extension.
_BY_EXTENSION = {extension: fmt for fmt in FORMATS for extension in fmt.extensions}
# The file extensions of pictures.
EXTENSIONS = tuple(_BY_EXTENSION)


def format_named(name: str) -> Format:
    """The format of an extension, with or without its dot ("png", ".PNG")."""
    fmt = _BY_EXTENSION.get("." + name.lower().lstrip("."))
    if fmt is None:
        raise FileError(f"{name!r} is no known format; known are {_known()}")
    return fmt


def format_of(path: str | os.PathLike[str]) -> Format:
    """The format that a path's extension names."""
    suffix = PurePath(path).suffix
    fmt = _BY_EXTENSION.get(suffix.lower())
    if fmt is None:
        problem = f"the extension {suffix!r} is unknown" if suffix else "the name has no extension"
        raise FileError(f"{os.fspath(path)}: {problem}; known are {_known()}")
    return fmt


def is_display_format(fmt: Format) -> bool:
    """Whether the format is for pictures on a display: it holds 8 bits, and is not meant for arbitrary numbers."""
    return "uint8" in fmt.dtypes and fmt.name not in ("NPY", "NPZ")


def sniff(head: bytes) -> Format | None:
    """The format that a file's first bytes announce, whatever its name says."""
    for fmt in FORMATS:
        if head.startswith(fmt.magic) and (fmt.name != "WebP" or head[8:12] == b"WEBP"):
            return fmt
    return None


def output_dtype(fmt: Format, wanted: np.dtype[np.generic] | type | str) -> np.dtype[np.generic]:
    """The format's depth nearest to the wanted one: the narrowest that holds it, else the widest there is."""
    wanted = np.dtype(wanted)
    if wanted.name in fmt.dtypes:
        return wanted
    for name in fmt.dtypes:
        if np.can_cast(wanted, np.dtype(name), "safe"):
            return np.dtype(name)
    return np.dtype(fmt.dtypes[-1])


def _known() -> str:
    return " ".join(EXTENSIONS)
