"""The file formats: how each is named and recognised, and what it can hold."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import FileError
from ..params.storage import GAIN_MAP


@dataclass(frozen=True)
class Format:
    """A format: the first extension is the usual one; dtypes go from narrow to wide; largest is a side in pixels.

    deep_holds: the metadata beside more than 8 bits, if not the same. coded: the depths whose colours are stated by
    code points of ITU-T H.273. upright: decoders turn pictures, so they are written turned. written: files of it can be
    written. needs: the package that codes it. brightest: the largest value of light, if less than the largest float;
    then no value can be negative. primaries: the only ones that its values can have, if there are such.
    """

    name: str
    extensions: tuple[str, ...]
    dtypes: tuple[str, ...]
    magic: tuple[bytes, ...]
    channels: tuple[int, ...] = (1, 2, 3, 4)
    holds: frozenset[str] = frozenset()  # of "icc", "exif", "xmp", "resolution", "attributes"
    largest: int | None = None
    deep_holds: frozenset[str] | None = None
    coded: tuple[str, ...] = ()
    upright: bool = False
    written: bool = True
    needs: str = ""
    brightest: float | None = None
    primaries: tuple[str, ...] = ()

    def keeps(self, dtype: np.dtype[np.generic]) -> frozenset[str]:
        """The kinds of metadata that fit beside pixels of a depth."""
        return self.holds if self.deep_holds is None or dtype == np.uint8 else self.deep_holds

    @cached_property
    def depths(self) -> tuple[np.dtype[np.generic], ...]:
        """The same as ``dtypes``, as numpy's types."""
        return tuple(map(np.dtype, self.dtypes))

    @property
    def is_jpeg(self) -> bool:
        """Whether files are JPEG files, with a gain map or without."""
        return ".jpg" in self.extensions

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

# The depths of integers.
_INTEGERS = ("uint8", "uint16")
# All depths.
_ANY = ("uint8", "uint16", "float16", "float32")
# The metadata of formats whose files are boxes (ISO/IEC 14496-12).
_BOXES = _ALL - {"resolution"}


def _netpbm(*kinds: int) -> tuple[bytes, ...]:
    """The beginnings of files of netpbm's kinds: P and a digit, then white space or a remark."""
    return tuple(b"P%d%c" % (kind, after) for kind in kinds for after in b" \t\n\r#")


# The formats of pictures that are written, in the order in which they are tried.
FORMATS = (
    Format("PNG", (".png", ".apng"), _INTEGERS, (b"\x89PNG\r\n\x1a\n",), holds=_ALL, coded=_INTEGERS),
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
    Format(
        "Radiance HDR",
        (".hdr", ".rgbe"),
        ("float32",),
        (b"#?RADIANCE", b"#?RGBE"),
        (3,),
        brightest=255 * 2.0**119,
    ),
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
    Format("NPY", (".npy",), _ANY, (b"\x93NUMPY",)),
    Format("NPZ", (".npz",), _ANY, (b"PK\x03\x04",), holds=_ALL),
    Format(
        "JPEG XL",
        (".jxl",),
        _ANY,
        (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"),
        (1, 3, 4),
        holds=_BOXES,
        upright=True,
        coded=_ANY,
    ),
    Format(
        "AVIF",
        (".avif",),
        _INTEGERS,
        (),
        (1, 3, 4),
        holds=_BOXES,
        upright=True,
        deep_holds=frozenset(),
        coded=("uint16",),
        largest=65536,
    ),
    Format(
        "HEIC",
        (".heic", ".heif"),
        _INTEGERS,
        (),
        (1, 3, 4),
        holds=_BOXES,
        upright=True,
        coded=_INTEGERS,
        needs="pillow-heif",
    ),
    Format("GIF", (".gif",), ("uint8",), (b"GIF87a", b"GIF89a"), (3, 4), largest=65535),
    Format("BMP", (".bmp", ".dib"), ("uint8",), (b"BM",), (1, 3), holds=frozenset({"resolution"})),
    Format("PNM", (".pnm", ".ppm", ".pgm"), _INTEGERS, _netpbm(1, 2, 3, 4, 5, 6), (1, 3)),
    Format("PAM", (".pam",), _INTEGERS, _netpbm(7)),
    Format("FITS", (".fits", ".fit", ".fts"), ("float32",), (b"SIMPLE  =",), (1, 3)),
    Format("TGA", (".tga",), ("uint8",), (), largest=65535),
)
# The same files as JPEG's, written for light: libultrahdr's limits are 8192 pixels a side and 10000 cd/m².
_LIGHT_IN_JPEG = Format(
    GAIN_MAP,
    (".jpg", ".jpeg", ".jpe", ".jfif"),
    ("float16",),
    (),
    (3,),
    _ALL - {"icc"},
    8192,
    brightest=10000 / 203,
    primaries=("Rec. 709", "Display P3", "Rec. 2020"),
)
# The formats that are only read.
ONLY_READ = (
    Format("PBM", (".pbm",), ("uint8",), (), (1,), written=False),  # its content is recognised as PNM
    Format("PSD", (".psd", ".psb"), ("uint8", "uint16", "float32"), (b"8BPS",), written=False),
    Format("DDS", (".dds",), ("uint8", "float16"), (b"DDS ",), written=False),
    Format(
        "camera raw",
        (".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2", ".pef", ".srw"),
        ("float32",),
        (b"FUJIFILMCCD-RAW", b"IIRO", b"IIRS", b"MMOR", b"IIU\0"),
        (3,),
        written=False,
        needs="rawpy",
    ),
)

# All formats.
_KNOWN = FORMATS + ONLY_READ
# The format of each file extension.
_BY_EXTENSION = {extension: fmt for fmt in _KNOWN for extension in fmt.extensions}
# The file extensions of pictures that can be read.
EXTENSIONS = tuple(_BY_EXTENSION)
#: Those of videos that are written: see :mod:`gpuops.files.video`.
VIDEOS = (".mp4", ".mov", ".mkv", ".webm")
#: Videos, which are no pictures, but whose frames can be read as such.
VIDEO = Format("video", VIDEOS, _INTEGERS, (b"\x1a\x45\xdf\xa3",), (3,), written=False, needs="av")
#: Pictures of formats that imageio reads, which their names are put in for.
OTHER = Format("other", (), _ANY, (), written=False, needs="imageio")
# Those of pictures that can be written.
_WRITTEN = tuple(extension for fmt in FORMATS for extension in fmt.extensions)
# The brands of files of boxes (ISO/IEC 14496-12) with a picture, and the names of their formats.
_BRANDS = {
    b"avif": "AVIF",
    b"avis": "AVIF",
    b"crx ": "camera raw",
    **dict.fromkeys(b"heic heix heim heis hevc hevx mif1 mif2 mif3 miaf msf1".split(), "HEIC"),
    **dict.fromkeys(
        b"avci avcs evbi evbs j2ki j2is jpeg jpgs vvic vvis".split(), "HEIC"
    ),  # other codecs in HEIF
}
# The kinds of pictures in TGA files, and their bits a pixel, or those of a palette's entry.
_TGA_KINDS, _TGA_BITS = (1, 2, 3, 9, 10, 11), (8, 15, 16, 24, 32)


def format_named(name: str, *, gain_map: bool = False) -> Format:
    """The format of an extension that can be written, with or without its dot ("png", ".PNG").

    ``gain_map``: JPEG files are to have one.
    """
    fmt = _BY_EXTENSION.get("." + name.lower().lstrip("."))
    if fmt is None:
        raise FileError(f"{name!r} is no known format; known are {_known()}")
    if not fmt.written:
        raise FileError(f"{fmt} is only read, not written; there are {_known()}")
    return _LIGHT_IN_JPEG if gain_map and fmt.is_jpeg else fmt


def format_of(path: str | os.PathLike[str], *, gain_map: bool = False) -> Format:
    """The format that the path of an output names by its extension. ``gain_map``: JPEG files are to have one."""
    suffix = os.path.splitext(path)[1]
    fmt = _BY_EXTENSION.get(suffix.lower())
    if fmt is None:
        problem = f"the extension {suffix!r} is unknown" if suffix[1:] else "the name has no extension"
        raise FileError(
            f"{os.fspath(path)}: {problem}; known are {_known()}, and of videos {' '.join(VIDEOS)}"
        )
    if not fmt.written:
        raise FileError(f"{os.fspath(path)}: {fmt} is only read, not written; name it by one of {_known()}")
    return _LIGHT_IN_JPEG if gain_map and fmt.is_jpeg else fmt


def is_display_format(fmt: Format) -> bool:
    """Whether the format is for pictures on a display: it holds 8 bits, and is not meant for arbitrary numbers."""
    return "uint8" in fmt.dtypes and fmt.name not in ("NPY", "NPZ")


def sniff(head: bytes) -> Format | None:
    """The format that a file's first 64 bytes announce, whatever its name says."""
    for fmt in _KNOWN:
        if head.startswith(fmt.magic) and (fmt.name != "WebP" or head[8:12] == b"WEBP"):
            is_canon = fmt.name == "TIFF" and head[8:10] == b"CR"
            return by_name("camera raw") if is_canon else fmt
    if head[4:8] == b"ftyp":
        return _of_brands(head) or VIDEO
    if head.startswith(VIDEO.magic):
        return VIDEO
    return by_name("TGA") if _may_be_tga(head) else None


def _of_brands(head: bytes) -> Format | None:
    """The format of a file of boxes: its own brand comes first, and those that it agrees with; AVIF's says most.

    Behind mif3, the version says the codec's brand.
    """
    length = min(int.from_bytes(head[:4], "big"), len(head))
    brands = [head[8:12], *(head[at : at + 4] for at in range(12, length - 3, 4))]
    found = [_BRANDS[brand] for brand in brands if brand in _BRANDS]
    return by_name("AVIF" if "AVIF" in found else found[0]) if found else None


def _may_be_tga(head: bytes) -> bool:
    """Whether bytes make sense as the header of a TGA file, which begins with no sign of its own."""
    if len(head) < 18 or head[1] > 1 or head[2] not in _TGA_KINDS or head[16] not in _TGA_BITS:
        return False
    has_palette = head[2] in (1, 9)
    return any(head[12:14]) and any(head[14:16]) and (not has_palette or head[7] in _TGA_BITS)


def by_name(name: str) -> Format:
    """The format of a name."""
    return next(fmt for fmt in _KNOWN if fmt.name == name)


def output_dtype(fmt: Format, wanted: np.dtype[np.generic] | type | str) -> np.dtype[np.generic]:
    """The format's depth nearest to the wanted one: the narrowest that holds it, else the widest there is."""
    wanted = np.dtype(wanted)
    if wanted in fmt.depths:
        return wanted
    return next((depth for depth in fmt.depths if np.can_cast(wanted, depth, "safe")), fmt.depths[-1])


def _known() -> str:
    return " ".join(_WRITTEN)
