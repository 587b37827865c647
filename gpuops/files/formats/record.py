"""The record of a file format, from which all that clpix knows of it follows: names, depths, options, codecs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import FileError, ParameterError
from ...params.storage import SUBSAMPLINGS as SUBSAMPLINGS
from ...params.storage import Storage as Storage

#: The name or number of a layer, frame, page or array of a file; None is the one that is read without a choice.
LayerId = str | int | None

if TYPE_CHECKING:
    from ...pixels.colour import Colour
    from ..data import Array, Description, RowsOfArray
    from ..picture import Picture, Pixels
    from ..strips import RowsOf

    #: ``(path, layer)``: the picture; ``layer`` is None unless the format is ``layered``.
    Read = Callable[[str, LayerId], Picture]
    #: ``(path, layer, most)``: the picture without its pixels, its rows, and how many come together at least; None if
    #: all pixels take no more than ``most`` bytes of memory. Raises NeedsWholeFile where rows cannot be had.
    ReadRows = Callable[[str, LayerId, int], tuple[Picture, RowsOf, int] | None]
    #: ``(path, shrinks, most)``: the picture, made smaller by its decoder by no more than
    #: ``shrinks(orientation, height, width)``; None where that is 1 or not possible, or all pixels take more than
    #: ``most`` bytes of memory.
    ReadSmaller = Callable[[str, Callable[[int, int, int], int], int], Picture | None]
    #: ``(path, picture, storage)``: writes a picture, whose depth, channels and metadata the format holds.
    Write = Callable[[str, Picture, Storage], None]
    #: ``(path, picture, method)``: the same, by a compression, but it gives a function that takes the pixels by rows,
    #: from the top on.
    WriteRows = Callable[[str, Picture, "Method | None"], AbstractContextManager[Callable[[Pixels], None]]]
    #: ``(path)``: an array without memory that stands for a picture's pixels, as far as the header tells.
    Unread = Callable[[str], Pixels]
    #: ``(path, frames)``: for how many milliseconds each is shown, and how often all are (0: for ever; None: once).
    Timing = Callable[[str, Sequence[int]], tuple[Sequence[float], int | None]]
    #: ``(picture, lost)``: the kinds of metadata that a file has no room for; ``lost`` takes each as a text.
    Misfits = Callable[[Picture, Callable[[str], None]], list[str]]

#: The depths of integers, and all depths, from narrow to wide.
INTEGERS = ("uint8", "uint16")
ANY = (*INTEGERS, "float16", "float32")
#: All kinds of metadata, and those of formats whose files are boxes (ISO/IEC 14496-12).
ALL = frozenset({"icc", "exif", "xmp", "resolution"})
IN_BOXES = ALL - {"resolution"}


def unread_bytes(path: str) -> Pixels:
    """Stands for the pixels of a format that take as many bytes as its files."""
    from ..picture import unread

    return unread((1, os.path.getsize(path), 1))


class Levels(NamedTuple):
    """The levels of a compression, and its usual one."""

    least: int
    most: int
    usual: int


class Method(NamedTuple):
    """A compression and its level, which is -1 where there are no levels."""

    name: str
    level: int = -1


@dataclass(frozen=True)
class Codec:
    """What of :class:`Storage` a format knows.

    ``usual`` is its compression without an option, and ``number`` the one of a level alone. ``together``: how many rows
    those methods code at a time for which that is many.
    """

    quality: int | None = None
    subsamplings: tuple[str, ...] = ()
    methods: Mapping[str, Levels | None] = field(default_factory=dict)
    usual: Method | None = None
    number: str = ""
    together: Mapping[str, int] = field(default_factory=dict)


class CodePoints(NamedTuple):
    """The depths whose colours are stated by code points of ITU-T H.273, and which of these; None is all that exist.

    gray: gray pictures have them. narrow: values may be of the narrow range of video.
    """

    depths: tuple[str, ...] = ()
    primaries: tuple[int, ...] | None = None
    transfers: tuple[int, ...] | None = None
    gray: bool = True
    narrow: bool = False


NO_CODES = CodePoints()


@dataclass(frozen=True)
class Animation:
    """Animations by Pillow, of files with some ``extensions``.

    options: ``(path, picture, loop, storage)``: Pillow's options, of which the first picture may say some.
    image: ``(path, picture)``: Pillow's image of a frame.
    """

    extensions: tuple[str, ...]
    options: Callable[[str, Picture, int | None, Storage], dict[str, Any]]
    image: Callable[[str, Picture], Any]


@dataclass(frozen=True)
class NumberFiles:
    """How a format holds spectra and coefficients: see :mod:`gpuops.files.data`.

    text: ``(path)``: the description in a file, None where it has none.
    check: ``(path, description)``: raises FileError unless a file has the arrays that it describes.
    rows: ``(path, description, index, count)``: the rows of an array.
    write: ``(path, arrays, text, count, compress)``: writes some rows at a time.
    doubles: whether it holds double precision.
    """

    text: Callable[[str], str | None]
    check: Callable[[str, Description], None]
    rows: Callable[[str, Description, int, int], Iterator[Array]]
    write: Callable[[str, Mapping[str, RowsOfArray], str, int, bool], None]
    doubles: bool = True


@dataclass(frozen=True, eq=False)
class Format:
    """A format.

    Attributes
    ----------
    name : str
        As messages say it.
    extensions : tuple of str
        The first one is the usual one.
    dtypes : tuple of str
        The depths of pixels, from narrow to wide.
    read, write, write_rows, read_rows, unread : callable
        See the types above. A format is written either as a whole or by rows.
    magic : tuple of bytes
        How files begin.
    sniff : callable, optional
        ``(head, path)``: in place of ``magic``, whether a file is of the format, by its first 64 bytes.
    read_smaller : callable, optional
        See the type above.
    read_all, read_all_rows : callable, optional
        ``(path)`` → the picture, with all other channels of the file; and the same by rows, as ``read_rows``.
    channels : tuple of int
    holds : frozenset of str
        The metadata: of "icc", "exif", "xmp", "resolution", "attributes", "frame", "cards", "spacing". ``deep_holds``:
        that beside more than 8 bits, if it is not the same. ``misfits`` finds what of them does not fit a file.
    says_data : callable
        ``(picture)`` → whether a reader finds that its whole numbers are data.
    least, largest : int, optional
        Pixels along a side.
    coded : CodePoints
    says : str
        What is told without a profile: "" nothing, "curve" whether values are light, "light" that they are light of
        Rec. 709, "primaries" that they are light of any primaries.
    brightest : float, optional
        The largest value of light, if less than the largest float; then no value can be negative.
    primaries : tuple of str
        The only ones that values can have, if there are such.
    codec : Codec
    lossy, upright, associated, layered, unsigned, moving, of_numbers, profiles, tells_errors : bool
        Pixels change; decoders turn pictures, so that they are written turned; colours are multiplied by alpha; a file
        may have several pictures; it begins with no sign of its own; it has nothing but frames in time; it is meant for
        arbitrary numbers; a profile is made for colours that need one; it is written by Python's files alone.
    needs : str
        The package that codes it, if that is not installed with clpix.
    gain_map : Format, optional
        The same files with light beyond white.
    pillow : str
        Pillow's name of the format, if its frames are read by it.
    animation : Animation, optional
    count, timing : callable, optional
        ``(path)``: the number of frames or pages; and how long frames are shown.
    pages : callable, optional
        ``(path)``: the numbers of those that have pixels, where others are counted, too.
    join : callable, optional
        ``(path, pages, source)``: makes a file of several pages of files of one each. The source is the file whose
        pages they were, all of them, or "".
    numbers : NumberFiles, optional
    """

    name: str
    extensions: tuple[str, ...]
    dtypes: tuple[str, ...]
    read: Read
    write: Write | None = None
    write_rows: WriteRows | None = None
    read_rows: ReadRows | None = None
    read_smaller: ReadSmaller | None = None
    read_all: Callable[[str], Picture] | None = None
    read_all_rows: ReadRows | None = None
    unread: Unread | None = None
    magic: tuple[bytes, ...] = ()
    sniff: Callable[[bytes, str], bool] | None = None
    channels: tuple[int, ...] = (1, 2, 3, 4)
    holds: frozenset[str] = frozenset()
    deep_holds: frozenset[str] | None = None
    misfits: Misfits | None = None
    says_data: Callable[[Picture], bool] = lambda _picture: False
    least: int = 1
    largest: int | None = None
    coded: CodePoints = NO_CODES
    says: str = ""
    brightest: float | None = None
    primaries: tuple[str, ...] = ()
    codec: Codec = Codec()
    lossy: bool = False
    upright: bool = False
    associated: bool = False
    layered: bool = False
    unsigned: bool = False
    moving: bool = False
    of_numbers: bool = False
    profiles: bool = True
    tells_errors: bool = False
    needs: str = ""
    gain_map: Format | None = None
    pillow: str = ""
    animation: Animation | None = None
    count: Callable[[str], int] | None = None
    pages: Callable[[str], Sequence[int]] | None = None
    timing: Timing | None = None
    join: Callable[[str, Sequence[str], str], None] | None = None
    numbers: NumberFiles | None = None

    def is_in(self, head: bytes, path: str) -> bool:
        """Whether a file whose first 64 bytes are ``head`` is of this format, whatever its name says."""
        return head.startswith(self.magic) if self.sniff is None else self.sniff(head, path)

    @property
    def written(self) -> bool:
        """Whether files can be written."""
        return self.write is not None or self.write_rows is not None

    @property
    def extension(self) -> str:
        return self.extensions[0]

    @cached_property
    def depths(self) -> tuple[np.dtype[np.generic], ...]:
        """The same as ``dtypes``, as numpy's types."""
        return tuple(map(np.dtype, self.dtypes))

    @cached_property
    def is_for_display(self) -> bool:
        """Whether it is for pictures on a display: it holds 8 bits, and is not meant for arbitrary numbers."""
        return "uint8" in self.dtypes and not self.of_numbers

    def keeps(self, dtype: np.dtype[np.generic]) -> frozenset[str]:
        """The kinds of metadata that fit beside pixels of a depth."""
        return self.holds if self.deep_holds is None or dtype == np.uint8 else self.deep_holds

    def fitting(self, channels: int) -> int:
        """Returns how many of a picture's channels fit: alpha goes if the format has none, gray may become RGB."""
        has_alpha = channels in (2, 4)
        if has_alpha and not {channels, channels + 2} & {*self.channels}:
            channels -= 1
        return channels if channels in self.channels else channels + 2

    def pixels_in(self, path: str) -> Pixels | None:
        """An array that stands for a picture's pixels; None where the header does not tell, or is damaged."""
        with suppress(Exception):  # the reader of the file will say what is wrong
            return self.unread(path) if self.unread else None
        return None

    def check_layer(self, layer: LayerId, name: str) -> None:
        """Raises FileError for a choice among the pictures of the file ``name``, if files have one."""
        if layer is not None and not self.layered:
            raise FileError(f"{name}: has no layer {layer!r}; a file of {self} has one picture")

    def can_tell(self, colour: Colour) -> bool:
        """Whether it is told, beside code points and profiles, that values are in a space."""
        return colour.linear and (self.says == "primaries" or (self.says == "light" and colour.is_rec709))

    # -- how it is stored -------------------------------------------------------------------------------------

    def check(self, storage: Storage, name: str) -> None:
        """Raises ParameterError if the format of the output ``name`` does not know a value of ``storage``."""
        if storage.gain_map and self.gain_map is None and not self.primaries:
            raise ParameterError(
                f"{name}: gain maps are written in JPEG, not in {self}: leave out --gain-map"
            )
        codec, method = self.codec, self.method(storage, name)
        lossless = method is not None and method.name == "lossless"
        what = f"lossless {self}" if lossless else self.name
        if storage.quality is not None and (codec.quality is None or lossless):
            raise ParameterError(f"{name}: {what} has no quality: leave out --quality")
        if storage.subsampling is not None and (storage.subsampling not in codec.subsamplings or lossless):
            if not codec.subsamplings or lossless:
                raise ParameterError(f"{name}: {what} keeps all colours: leave out --subsampling")
            known = ", ".join(codec.subsamplings)
            raise ParameterError(f"{name}: {self} knows the subsampling {known}, not {storage.subsampling}")

    def method(self, storage: Storage, name: str = "output") -> Method | None:
        """Returns the compression; None is the format's own. Raises ParameterError for an unknown one."""
        codec = self.codec
        if storage.compression is None:
            return codec.usual
        if not codec.methods:
            raise ParameterError(f"{name}: {self} has no choice of compression: leave out --compression")
        kind, colon, level = storage.compression.partition(":")
        if kind.isdecimal() and not colon and codec.number:
            kind, level = codec.number, kind
        if kind not in codec.methods:
            known = ", ".join(codec.methods)
            raise ParameterError(f"{name}: {self} has no compression {kind!r}: it has {known}")
        levels = codec.methods[kind]
        if levels is None:
            if colon:
                raise ParameterError(f"{name}: the compression {kind} of {self} has no level: leave it out")
            return Method(kind)
        if not level and not colon:
            return Method(kind, levels.usual)
        if not (level.isdecimal() and len(level) < 5 and levels.least <= int(level) <= levels.most):
            raise ParameterError(
                f"{name}: the level of {kind} is {levels.least} … {levels.most}, not {level or 'nothing'}"
            )
        return Method(kind, int(level))

    def quality(self, storage: Storage) -> int:
        """Returns the quality of a format that has one."""
        quality = self.codec.quality if storage.quality is None else storage.quality
        assert quality is not None
        return quality

    def __str__(self) -> str:
        return self.name
