"""Videos by PyAV: their frames as RGB pictures, and what else is in their files, such as the tags of colour spaces.

Sources: ITU-T H.273 (07/2024), tables 2 to 4; ITU-R BT.601, BT.709, BT.2020, BT.2100; SMPTE EG 432-1, ST 2086.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..errors import FileError
from ..pixels.colour import Colour
from ..pixels.spaces import named
from .picture import Metadata, Picture, Pixels
from .read_errors import needed

#: The codes of matrices (H.273, table 4) by swscale's names; those of BT.601 have one matrix.
MATRICES = {1: "ITU709", 5: "ITU601", 6: "ITU601", 9: "BT2020"}
#: The code that leaves something open.
UNSAID = 2
#: The code of BT.2020, among primaries and matrices alike.
WIDE = 9
#: The codes of the range.
LIMITED, FULL = 1, 2
#: The primaries and curves that are taken for sRGB's: those of SDR video.
_SDR_PRIMARIES, _SDR_CURVES = (1, 5, 6, UNSAID), (1, 6, 13, UNSAID)
#: The spaces of videos that are not sRGB, by the codes of their primaries and their curve.
_SPACES = {
    (9, 16): "rec2100-pq",
    (9, 18): "rec2100-hlg",
    **dict.fromkeys(((9, 1), (9, 6), (9, 14), (9, 15)), "rec2020"),
    **dict.fromkeys(((12, 1), (12, 13)), "display-p3"),
}
#: The spaces of HDR.
HDR = ("rec2100-pq", "rec2100-hlg")
#: The rows from which on video that says nothing is high definition, whose matrix is BT.709's.
_HIGH = 720

#: Steps of chromaticities and of brightness in ST 2086 (in cd/m²), as codecs write them.
_CHROMATICITY, _BRIGHTNESS = 50000, 10000
#: The layouts of samples that are known, and the one of 8 bits with the same resolution of colours.
LAYOUTS = {
    f"{start}{kind}p{bits}": f"yuv{kind}p"
    for start, bits in (("yuv", ""), ("yuvj", ""), ("yuv", "10le"))
    for kind in (420, 422, 444)
}
#: The kinds of streams beside a video that can be copied.
_COPIED = ("audio", "subtitle", "attachment")
#: The flag of a stream that is the picture of a file's cover (libavformat's disposition).
_COVER = 1 << 10
#: Parts of a second.
_MICROSECONDS = 1_000_000
#: Seconds that a file may be shorter than it says: what is said is rounded, or the time of the last frame is not known.
_SHORTER = Fraction(1, 2)


class Tags(NamedTuple):
    """The codes of a video's primaries, curve and matrix."""

    primaries: int
    curve: int
    matrix: int


#: The tags of each space that a video can be written in.
WRITTEN = {
    "srgb": Tags(1, 13, 1),
    "display-p3": Tags(12, 13, 1),
    "rec2020": Tags(9, 14, 9),
    "rec2100-pq": Tags(9, 16, 9),
    "rec2100-hlg": Tags(9, 18, 9),
}
#: The tags of SDR that was made of another space, whose values are sRGB's as those of all SDR of BT.709.
USUAL = Tags(1, 1, 1)


def space_of(primaries: int, curve: int) -> str | None:
    """Returns the name of a space by its codes; None stands for sRGB. Raises ValueError for others."""
    if (primaries, curve) in _SPACES:
        return _SPACES[primaries, curve]
    if primaries in _SDR_PRIMARIES and curve in _SDR_CURVES:
        return None
    raise ValueError(
        f"has the primaries {primaries} and the curve {curve} of H.273; known are SDR of BT.601, BT.709, BT.2020 and "
        "Display P3, and PQ and HLG of BT.2100"
    )


def matrix_of(code: int, space: str | None, height: int) -> int:
    """Returns the code of a matrix that a video says, or that is usual where it says none. Raises ValueError."""
    is_wide = space is not None and WRITTEN[space].primaries == WIDE
    if code == UNSAID:
        return WIDE if is_wide else 1 if space is not None or height >= _HIGH else 6
    if code not in MATRICES or (code == WIDE and space is None):
        raise ValueError(f"has the matrix {code} of H.273; known are those of BT.601, BT.709 and BT.2100")
    return code


def mastering(display: bytes) -> str | None:
    """Returns x265's text of the display on which a video was mastered, None where its data are not complete.

    ``display``: FFmpeg's AVMasteringDisplayMetadata: x and y of red, green, blue and white, the least and the most
    brightness, all as fractions, and two words that say whether there are chromaticities and brightness.
    """
    if len(display) < struct.calcsize("=22i"):
        return None
    *pairs, has_chromaticities, has_brightness = struct.unpack_from("=22i", display)
    if not has_chromaticities or not has_brightness or not all(pairs[1::2]):
        return None
    numbers = [above / below for above, below in zip(pairs[::2], pairs[1::2], strict=True)]
    red, green, blue, white = (
        f"({round(x * _CHROMATICITY)},{round(y * _CHROMATICITY)})"
        for x, y in zip(numbers[:8:2], numbers[1:8:2], strict=True)
    )
    least, most = (round(number * _BRIGHTNESS) for number in numbers[8:])
    return f"G{green}B{blue}R{red}WP{white}L({most},{least})"


@contextmanager
def opened(source: str) -> Iterator[Frames]:
    """Gives the frames of a video. Raises FileError for one that is damaged or of a kind that is not known."""
    av = needed("av", source, "video")
    _check_kind(source)
    with guarded(source), av.open(source, metadata_errors="surrogateescape") as reader:
        yield Frames(source, reader)


@contextmanager
def guarded(source: str) -> Iterator[None]:
    """While it lasts, what FFmpeg finds wrong becomes a FileError."""
    from av import FFmpegError

    try:
        yield
    except FFmpegError as error:
        raise FileError(f"{source}: is damaged ({error.strerror})") from None


def _check_kind(source: str) -> None:
    """Refuses pictures, which FFmpeg would take for videos of one frame."""
    from .pictures import format_in

    try:
        fmt = format_in(source)
    except FileError:  # FFmpeg knows more kinds of videos, and tells them from other files
        return
    if not (fmt.moving or fmt.unsigned):  # any file may look like TGA
        raise FileError(
            f"{source}: is a picture ({fmt}), and a video is made of a video: give -o a name such as out.png"
        )


def of_swscale(pixels: Pixels, of_samples: str) -> Pixels:
    """Converts swscale's 16-bit codes, made of samples of a range, to codes whose white is 65535."""
    white, bits = _white(of_samples)
    held = np.minimum(pixels, white)
    codes: Pixels = held + (held >> bits)
    return codes


def for_swscale(pixels: Pixels, of_samples: str) -> Pixels:
    """The inverse of :func:`of_swscale`."""
    codes: Pixels = pixels - (pixels >> _white(of_samples)[1])
    return codes


def _white(of_samples: str) -> tuple[int, int]:
    """swscale's code of white, and the shift by which it gives what it lacks of 65535."""
    return (65472, 10) if of_samples == "JPEG" else (65280, 8)


class Frames:
    """The frames of a video, which are decoded when they are asked for.

    Attributes
    ----------
    video : av.VideoStream
    space : str, optional
        The name of its colour space; None stands for sRGB.
    deep : bool
        Whether samples have 10 bits.
    tags : Tags
        Those of the samples; the matrix is the one that they are taken to have.
    range : str
        That of the samples, by PyAV's names.
    times : list of int
        When frames are shown that were decoded, and whose place a caller has not taken, in the stream's unit.
    turned : bool
        Whether rows have become columns in the frames that were decoded.
    sides : dict
        By PyAV's names, the data beside the samples of the first frame that was decoded, such as the mastering display.
    """

    def __init__(self, source: str, reader: Any) -> None:
        self.source, self.reader = source, reader
        videos = [stream for stream in reader.streams.video if not stream.disposition & _COVER]
        if not videos:
            raise FileError(f"{source}: has no video")
        self.video = videos[0]
        context = self.video.codec_context
        if context is None or context.pix_fmt not in LAYOUTS:
            kind = None if context is None else context.pix_fmt
            raise FileError(f"{source}: has samples of the kind {kind}; known is YUV of 8 or 10 bits")
        self.deep = context.pix_fmt.endswith("10le")
        primaries, curve = int(context.color_primaries), int(context.color_trc)
        try:
            self.space = space_of(primaries, curve)
            matrix = matrix_of(int(context.colorspace), self.space, context.height)
        except ValueError as error:
            raise FileError(f"{source}: {error}") from None
        self.tags = Tags(primaries, curve, matrix)
        self.range = "JPEG" if int(context.color_range) == FULL or "yuvj" in context.pix_fmt else "MPEG"
        self.times: list[int] = []
        self.turned = False
        self.sides: dict[str, bytes] = {}
        self._begun = False
        self._end = Fraction(0)

    @property
    def colour(self) -> Colour | None:
        """The space of the frames; None stands for sRGB."""
        return None if self.space is None else named(self.space)

    @property
    def count(self) -> int | None:
        """About how many frames there are; None where the file does not say it."""
        if self.video.frames:
            return int(self.video.frames)
        if self.reader.duration is None or not self.video.average_rate:
            return None
        return max(
            1, int(Fraction(self.reader.duration, _MICROSECONDS) * self.video.average_rate + Fraction(1, 2))
        )

    @property
    def others(self) -> list[Any]:
        """The streams beside the video that can be copied as they are: audio, subtitles, attached files."""
        return [stream for stream in self.reader.streams if stream.type in _COPIED]

    @property
    def left(self) -> list[str]:
        """The kinds of all other streams but the video; those of chapters, which are known as such, are none."""
        kinds = []
        for stream in self.reader.streams:
            is_chapters = stream.type == "data" and stream.name == "bin_data" and self.reader.chapters()
            if stream.index != self.video.index and stream.type not in _COPIED and not is_chapters:
                is_cover = stream.type == "video" and stream.disposition & _COVER
                kinds.append("cover picture" if is_cover else f"further {stream.type}")
        return kinds

    def pictures(self, other: Callable[[Any], None] = lambda _packet: None) -> Iterator[Picture]:
        """The frames, upright, as RGB of 8 or 16 bits; packets of other streams are given to ``other`` on the way."""
        for packet in self.reader.demux():
            self.passed(packet)
            if packet.stream is self.video:
                for frame in packet.decode():
                    picture = self.picture(frame)
                    self.times.append(frame.pts)
                    yield picture
            elif packet.dts is not None:
                other(packet)

    def passed(self, packet: Any) -> None:
        """Notes how far the file has been read."""
        if packet.pts is not None and packet.size:
            self._end = max(self._end, (packet.pts + (packet.duration or 0)) * packet.time_base)

    @property
    def missing(self) -> str | None:
        """What is to be said of a file that has been read to its end, which came too early; FFmpeg may not say it."""
        declared = Fraction(self.reader.duration or 0, _MICROSECONDS)
        begun = min(Fraction(self.reader.start_time or 0, _MICROSECONDS), Fraction(0))
        if self._end - begun >= declared - _SHORTER:
            return None
        return (
            f"{self.source}: ends after {float(self._end):.1f} s of the {float(declared):.1f} s that it says: it is "
            "cut off, and the rest is missing"
        )

    def picture(self, frame: Any) -> Picture:
        """A frame that was decoded, as a picture."""
        if frame.rotation % 90:
            raise FileError(f"{self.source}: is to be turned by {frame.rotation}°; known are quarters")
        if frame.pts is None:
            raise FileError(f"{self.source}: has frames without a time")
        if not self._begun:
            self._begun, self.turned = True, bool(frame.rotation % 180)
            self.sides = {
                frame.side_data[at].type.name: bytes(frame.side_data[at])
                for at in range(len(frame.side_data))
            }
        how = {
            "src_colorspace": MATRICES[self.tags.matrix],
            "src_color_range": self.range,
            "dst_color_range": "JPEG",
        }
        pixels = frame.reformat(format="rgb48le" if self.deep else "rgb24", **how).to_ndarray()
        if self.deep:
            pixels = of_swscale(pixels, self.range)
        turned = np.ascontiguousarray(np.rot90(pixels, frame.rotation // 90))
        return Picture(turned, metadata=Metadata(colour=self.colour))
