"""A copy of a video with other pictures in it; what else is in the file stays as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..records import dataclass
from . import video
from .output import atomic
from .picture import Picture, Pixels
from .read_errors import needed

#: The codec of 8 bits of each container, the largest number of its quality scale (CRF, where 0 is best), its options.
CODECS: dict[str, tuple[str, int, dict[str, str]]] = {
    **dict.fromkeys((".mp4", ".mov", ".mkv"), ("libx264", 51, {})),
    ".webm": ("libvpx-vp9", 63, {"b": "0", "row-mt": "1"}),
}
#: The same for 10 bits, where there is such a codec.
DEEP: dict[str, tuple[str, int, dict[str, str]]] = dict.fromkeys(
    (".mp4", ".mov", ".mkv"), ("libx265", 51, {"x265-params": "log-level=none"})
)
#: The quality without an option: CRF 18 of H.264 and HEVC, and 22 of VP9.
USUAL_QUALITY = 65
#: The container that also holds attached files, and the mark by which players of Apple know HEVC in others.
_HOLDS_FILES, _HEVC_MARK = ".mkv", "hvc1"
#: The least side of a picture that x265 takes, and the width below which its macroblock tree writes out of bounds.
_LEAST, _WITH_TREE = 16, 64
#: The most frames of a video to which x265 gives random times of decoding; they are decoded in their order.
_WITHOUT_ORDER = 2
#: Entries of metadata that tell how a file or a stream was coded, which is not so any more.
_OF_CODING = re.compile(
    r"(major_brand|minor_version|compatible_brands|encoder|vendor_id|rotate|alpha_mode|_statistics_\w+"
    r"|bps|duration|number_of_frames|number_of_bytes)(-\w+)?",
    re.IGNORECASE,
)
#: What is said of HDR beside its samples and tells of the brightness of frames, by PyAV's names.
_OF_BRIGHTNESS = {
    "CONTENT_LIGHT_LEVEL": "MaxCLL",
    "DYNAMIC_HDR_PLUS": "HDR10+",
    "DYNAMIC_HDR_VIVID": "HDR Vivid",
    "DOVI_RPU_BUFFER": "Dolby Vision",
    "DOVI_METADATA": "Dolby Vision",
}
_MASTERING = "MASTERING_DISPLAY_METADATA"


@dataclass(frozen=True)
class Coding:
    """How a video is written.

    Attributes
    ----------
    space : str, optional
        The name of its colour space, one of :data:`~gpuops.files.video.WRITTEN`. None: SDR, as the source where
        that is SDR of BT.601 or BT.709.
    deep : bool
        Whether it has 10 bits, and pictures 16, rather than 8.
    quality : int, optional
        1 … 100.
    strip : bool
        Whether titles, dates, languages and chapters are left out.
    hdr : bool
        Whether the source is read as HDR.
    """

    space: str | None = None
    deep: bool = False
    quality: int | None = None
    strip: bool = False
    hdr: bool = False


@contextmanager
def copied(source: str, target: str, coding: Coding, *, overwrite: bool = False) -> Iterator[Copy]:
    """Gives a copy of a video, whole or not at all, whose pictures are to be added one by one.

    Raises FileError as :func:`~gpuops.files.video.opened`, and where the target cannot hold the source's streams.
    """
    av = needed("av", source, "video")
    with atomic(target, overwrite=overwrite) as temporary, ExitStack() as stack:
        frames = stack.enter_context(video.opened(source))
        try:
            # Matroska would have random numbers.
            plain = {"fflags": "+bitexact"}
            writer = stack.enter_context(
                av.open(temporary, "w", container_options=plain, metadata_errors="surrogateescape")
            )
            copy = Copy(frames, target, writer, coding)
            yield copy
            copy.finish()
            writer.close()
        except av.FFmpegError as error:
            raise FileError(f"{source}: is damaged, or {target} cannot hold it ({error.strerror})") from None
        if not coding.strip:
            with av.open(temporary, metadata_errors="surrogateescape") as made:
                _warn_of_metadata(frames, target, made)


class Copy:
    """A video on its way: pictures are encoded when they are added."""

    def __init__(self, frames: video.Frames, target: str, writer: Any, coding: Coding) -> None:
        self.frames, self._target, self._writer, self._coding = frames, target, writer, coding
        extension = os.path.splitext(target)[1].lower()
        self._tags, self._range = frames.tags, frames.range
        if coding.space is not None or frames.space is not None:
            self._tags, self._range = video.WRITTEN[coding.space] if coding.space else video.USUAL, "MPEG"
        name, most, options = (DEEP if coding.deep else CODECS)[extension]
        crf = str(round(most * (100 - (coding.quality or USUAL_QUALITY)) / 100))
        self._out = writer.add_stream(name, rate=frames.video.average_rate, options={"crf": crf, **options})
        if coding.deep and extension != _HOLDS_FILES:
            self._out.codec_context.codec_tag = _HEVC_MARK
        left = list(frames.left)
        self._others = {}
        for stream in frames.others:
            if stream.type == "attachment" and extension != _HOLDS_FILES:
                left.append("attached file")
            else:
                self._others[stream.index] = self._like(stream)
        self._warn(left, deep_is_written=extension in DEEP)
        if not coding.strip:
            writer.metadata.update(_kept(frames.reader.metadata))
            writer.set_chapters(frames.reader.chapters())
            self._describe(self._out, frames.video)
        self._waiting: list[Any] = []
        self._count = 0

    def _warn(self, left: list[str], *, deep_is_written: bool) -> None:
        """Warns of what the copy lacks of the source."""
        frames, coding = self.frames, self._coding
        sdr = coding.hdr and coding.space not in video.HDR
        lost = None
        if frames.deep and not coding.deep:
            lost = f"has 8 bits{' and SDR' if sdr else ''}, and {frames.source} has 10"
        elif sdr:
            lost = f"is SDR, and {frames.source} HDR"
        if lost is not None:
            advice = ": --colour input with 10 bits keeps HDR" if sdr else ": --dtype uint16 keeps 10"
            note(f"{self._target}: {lost}{advice if deep_is_written else ''}")
        if left:
            kinds = ", ".join(f"{kind}s" if left.count(kind) > 1 else kind for kind in dict.fromkeys(left))
            note(f"{self._target}: is written without the {kinds} of {frames.source}")

    def _like(self, stream: Any) -> Any:
        """Returns a stream of the copy for the packets of another stream, as they are."""
        try:
            made = self._writer.add_stream_from_template(stream)
        except ValueError:
            name = getattr(stream.codec_context, "name", "of no known codec")
            raise FileError(
                f"{self._target}: cannot hold the {stream.type} of {self.frames.source} ({name}): name an .mkv"
            ) from None
        if stream.type != "attachment" and not self._coding.strip:  # a file is of no use without its name
            self._describe(made, stream)
        return made

    def _describe(self, made: Any, stream: Any) -> None:
        """Says of a stream what its original says: the language, the title, and what it is for."""
        made.metadata.update(_kept(stream.metadata))
        made.disposition = int(stream.disposition)

    def pictures(self) -> Iterator[Picture]:
        """The frames that pictures are to be made of; packets of other streams are copied on the way."""
        return self.frames.pictures(self._other)

    def _other(self, packet: Any) -> None:
        if packet.stream.index in self._others:
            packet.stream = self._others[packet.stream.index]
            self._waiting.append(packet)

    def add(self, pixels: Pixels) -> None:
        """Encodes the picture of the next frame: (height, width, channels) of 8 bits, or of 16, all of one size."""
        import av

        if pixels.shape[2] in (2, 4):
            if not self._count:
                note(f"{self._target}: a video has no alpha; it is left out")
            pixels = pixels[:, :, :-1]
        if not self._count:
            self._begin(*pixels.shape[:2])
        self._count += 1
        if pixels.shape[2] == 1:
            pixels = np.repeat(pixels, 3, axis=2)
        if self._coding.deep:
            pixels = video.for_swscale(pixels, self._range)
        layout = "rgb48le" if self._coding.deep else "rgb24"
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), layout)
        how = {
            "dst_colorspace": video.MATRICES[self._tags.matrix],
            "dst_color_range": self._range,
            "src_color_range": "JPEG",
        }
        frame = frame.reformat(format=self._out.codec_context.pix_fmt, **how)
        frame.pts, frame.time_base = self.frames.times.pop(0), self.frames.video.time_base
        self._writer.mux(self._out.encode(frame))
        self._copy_waiting()

    def _begin(self, height: int, width: int) -> None:
        """Says what the video is like, as soon as the size of its pictures is known."""
        context, given = self._out.codec_context, self.frames.video.codec_context
        if self._coding.deep and min(height, width) < _LEAST:
            raise FileError(
                f"{self._target}: HEVC, which has 10 bits, needs {_LEAST} pixels along a side, not {width} × {height}: "
                "use --dtype uint8"
            )
        if self._coding.deep and width < _WITH_TREE:
            context.options["x265-params"] += ":cutree=0"
        odd = height % 2 or width % 2
        layout = "yuv444p" if odd else video.LAYOUTS[given.pix_fmt]
        context.pix_fmt = f"{layout}10le" if self._coding.deep else layout
        context.width, context.height, context.time_base = width, height, self.frames.video.time_base
        self._out.time_base = self.frames.video.time_base
        shape = self.frames.video.sample_aspect_ratio
        if shape:
            context.sample_aspect_ratio = 1 / shape if self.frames.turned else shape
        context.color_range = video.FULL if self._range == "JPEG" else video.LIMITED
        context.color_primaries, context.color_trc, context.colorspace = self._tags
        if self._coding.space in video.HDR:
            self._say_mastering()

    def _say_mastering(self) -> None:
        """Says on which display HDR was mastered, if known. Other data of HDR do not hold for new frames."""
        sides = self.frames.sides
        left = list(dict.fromkeys(name for side, name in _OF_BRIGHTNESS.items() if any(sides.get(side, b""))))
        if _MASTERING in sides:
            display = video.mastering(sides[_MASTERING]) if self._coding.space == self.frames.space else None
            if display is None:
                left.insert(0, "the mastering display")
            else:
                self._out.codec_context.options["x265-params"] += f":master-display={display}"
        if left:
            note(
                f"{self._target}: is written without {', '.join(left)}: {self.frames.source} says it of other frames"
            )

    def _copy_waiting(self) -> None:
        for packet in self._waiting:
            self._writer.mux(packet)
        self._waiting.clear()

    def finish(self) -> None:
        """Encodes what the encoder still holds."""
        if not self._count:
            raise FileError(f"{self.frames.source}: has no frames that can be decoded")
        packets = self._out.encode(None)
        if self._count <= _WITHOUT_ORDER:
            for packet in packets:
                packet.dts = packet.pts
        self._writer.mux(packets)
        self._copy_waiting()
        if self.frames.missing is not None:
            note(self.frames.missing)


def _kept(metadata: Mapping[str, str]) -> dict[str, str]:
    """The entries of metadata that hold for a copy."""
    return {name: value for name, value in metadata.items() if not _OF_CODING.fullmatch(name)}


def _warn_of_metadata(frames: video.Frames, target: str, made: Any) -> None:
    """Warns of metadata that a finished copy lacks, which depends on its container."""
    lost: list[str] = []
    streams = [frames.video, *(stream for stream in frames.others if stream.type != "attachment")]
    pairs = [(frames.reader, made), *zip(streams, made.streams, strict=False)]
    for before, after in pairs:
        known = {name.lower() for name in after.metadata}
        kept = _kept(before.metadata).items()
        lost += [name.lower() for name, value in kept if name.lower() not in known and value != "und"]
    for before, after in pairs[1:]:
        gone = int(before.disposition) & ~int(after.disposition)
        lost += [flag.name for flag in type(before.disposition) if flag.name != "default" and flag & gone]
    if len(frames.reader.chapters()) > len(made.chapters()):
        lost.append("chapters")
    if lost:
        note(f"{target}: cannot hold of {frames.source}: {', '.join(dict.fromkeys(lost))}")
