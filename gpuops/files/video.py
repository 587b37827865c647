"""Videos by PyAV: their frames as RGB pictures, and what else is in their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import FileError
from ..pixels.colour import Colour
from ..pixels.targets import named
from .extras import needed
from .picture import Metadata, Picture, Pixels
from .video_tags import FULL, MATRICES, Tags, matrix_of, space_of

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
    found: Pixels = held + (held >> bits)
    return found


def for_swscale(pixels: Pixels, of_samples: str) -> Pixels:
    """The inverse of :func:`of_swscale`."""
    found: Pixels = pixels - (pixels >> _white(of_samples)[1])
    return found


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
