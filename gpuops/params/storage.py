"""How outputs are stored: quality, resolution of colours and compression, and what each format knows of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import ParameterError

# The resolutions of colours beside that of brightness, as J:a:b says them.
SUBSAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")
# The least and the largest quality.
QUALITIES = (1, 100)
# The format of JPEG files whose light goes beyond white by a gain map.
GAIN_MAP = "JPEG with a gain map"


class Levels(NamedTuple):
    """The levels of a compression, and its usual one."""

    least: int
    most: int
    usual: int


class Method(NamedTuple):
    """A compression and its level, which is -1 where there are no levels."""

    name: str
    level: int


@dataclass(frozen=True)
class Codec:
    """What a format knows; ``usual`` is its compression without an option, and ``number`` the one of a level alone."""

    quality: int | None = None
    subsamplings: tuple[str, ...] = ()
    methods: Mapping[str, Levels | None] = field(default_factory=dict)
    usual: Method | None = None
    number: str = ""


_DEFLATE = Levels(0, 9, 6)
_ZIP = Levels(1, 9, 4)
_DWA = Levels(1, 1000, 45)

#: What formats know, by their names. The others are written in one way.
CODECS: Mapping[str, Codec] = {
    "PNG": Codec(methods={"none": None, "deflate": _DEFLATE}, number="deflate"),
    "JPEG": Codec(95, SUBSAMPLINGS),
    GAIN_MAP: Codec(95),
    "WebP": Codec(90, ("4:2:0",), {"lossy": None, "lossless": Levels(0, 9, 6)}, Method("lossy", -1)),
    "AVIF": Codec(90, SUBSAMPLINGS),
    "HEIC": Codec(90, SUBSAMPLINGS),
    "TIFF": Codec(
        methods={
            "none": None,
            "lzw": None,
            "deflate": Levels(1, 9, 6),
            "zstd": Levels(1, 22, 3),
            "packbits": None,
        },
        usual=Method("none", -1),
        number="deflate",
    ),
    "EXR": Codec(
        methods={
            "none": None,
            "rle": None,
            "zips": _ZIP,
            "zip": _ZIP,
            "piz": None,
            "pxr24": None,
            "b44": None,
            "b44a": None,
            "dwaa": _DWA,
            "dwab": _DWA,
        },
        usual=Method("zip", 1),  # exact; higher levels take three times as long for 3 %
    ),
    "NPZ": Codec(methods={"none": None, "deflate": None}, usual=Method("none", -1)),
}


@dataclass(frozen=True)
class Storage:
    """How a picture is stored; None is what its format does by itself.

    Attributes
    ----------
    quality : int, optional
        1 … 100, of formats that lose something.
    subsampling : str, optional
        One of :data:`SUBSAMPLINGS`.
    compression : str, optional
        NAME, NAME:LEVEL, or LEVEL alone.
    gain_map : bool
        Whether a JPEG holds light, by a gain map beside its picture.
    """

    quality: int | None = None
    subsampling: str | None = None
    compression: str | None = None
    gain_map: bool = False

    def check(self, name: str, format_name: str) -> None:
        """Raises ParameterError if the format of the output ``name`` does not know a value."""
        if self.gain_map and format_name not in ("JPEG", GAIN_MAP):
            raise ParameterError(
                f"{name}: gain maps are written in JPEG, not in {format_name}: leave out --gain-map"
            )
        codec = CODECS.get(format_name, Codec())
        method = self.method(format_name, name)
        lossless = method is not None and method.name == "lossless"
        if self.quality is not None and (codec.quality is None or lossless):
            what = "lossless WebP" if lossless else format_name
            raise ParameterError(f"{name}: {what} has no quality: leave out --quality")
        if self.subsampling is not None and (self.subsampling not in codec.subsamplings or lossless):
            if not codec.subsamplings or lossless:
                what = "lossless WebP" if lossless else format_name
                raise ParameterError(f"{name}: {what} keeps all colours: leave out --subsampling")
            known = ", ".join(codec.subsamplings)
            raise ParameterError(
                f"{name}: {format_name} knows the subsampling {known}, not {self.subsampling}"
            )

    def method(self, format_name: str, name: str = "output") -> Method | None:
        """Returns the compression in a format; None is the format's own. Raises ParameterError for an unknown one."""
        codec = CODECS.get(format_name, Codec())
        if self.compression is None:
            return codec.usual
        if not codec.methods:
            raise ParameterError(
                f"{name}: {format_name} has no choice of compression: leave out --compression"
            )
        kind, colon, level = self.compression.partition(":")
        if kind.isdecimal() and not colon and codec.number:
            kind, level = codec.number, kind
        if kind not in codec.methods:
            known = ", ".join(codec.methods)
            raise ParameterError(f"{name}: {format_name} has no compression {kind!r}: it has {known}")
        levels = codec.methods[kind]
        if levels is None:
            if colon:
                raise ParameterError(
                    f"{name}: the compression {kind} of {format_name} has no level: leave it out"
                )
            return Method(kind, -1)
        if not level and not colon:
            return Method(kind, levels.usual)
        if not (level.isdecimal() and len(level) < 5 and levels.least <= int(level) <= levels.most):
            raise ParameterError(
                f"{name}: the level of {kind} is {levels.least} … {levels.most}, not {level or 'nothing'}"
            )
        return Method(kind, int(level))

    def quality_of(self, format_name: str) -> int:
        """Returns the quality in a format that has one."""
        usual = CODECS[format_name].quality
        assert usual is not None
        return usual if self.quality is None else self.quality


#: How outputs are stored without any option.
USUAL = Storage()
