"""Videos by PyAV: their frames as RGB pictures, and a copy of a video with other pictures in it, of 8 bits and SDR.

Sources: ITU-T H.273 (07/2024), tables 2 to 4; ITU-R BT.601, BT.709.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..pixels.targets import named
from .extras import needed
from .output import atomic
from .picture import Metadata, Picture, Pixels

#: The codec of each container, the largest number of its quality scale (CRF, where 0 is best), and further options.
CODECS: dict[str, tuple[str, int, dict[str, str]]] = {
    ".mp4": ("libx264", 51, {}),
    ".mov": ("libx264", 51, {}),
    ".mkv": ("libx264", 51, {}),
    ".webm": ("libvpx-vp9", 63, {"b": "0", "row-mt": "1"}),
}
#: The quality without an option: CRF 18 of H.264, and 22 of VP9.
USUAL_QUALITY = 65
#: The layouts of samples that are known, and the one that each is written in.
_LAYOUTS = {
    f"{start}{kind}p{bits}": f"yuv{kind}p"
    for start, bits in (("yuv", ""), ("yuvj", ""), ("yuv", "10le"))
    for kind in (420, 422, 444)
}
#: The codes of matrices (H.273, table 4) by swscale's names; those of BT.601 have one matrix.
_MATRICES = {1: "ITU709", 5: "ITU601", 6: "ITU601", 9: "BT2020"}
#: The spaces of HDR by the codes of their curves (H.273, table 3), and the code of their primaries.
_HDR, _WIDE = {16: "rec2100-pq", 18: "rec2100-hlg"}, 9
_BT709 = 1
_UNSAID = 2
#: The primaries and curves that are taken for sRGB's: those of SDR video.
_SDR_PRIMARIES, _SDR_CURVES = (1, 5, 6, _UNSAID), (1, 6, 13, _UNSAID)
#: The rows from which on video that says nothing is high definition, whose matrix is BT.709's.
_HIGH = 720
_FULL = 2


@contextmanager
def opened(source: str) -> Iterator[Frames]:
    """Gives the frames of a video. Raises FileError for one that is damaged or of a kind that is not known."""
    av = needed("av", source, "video")
    try:
        with av.open(source) as reader:
            yield Frames(source, reader)
    except av.FFmpegError as error:
        raise FileError(f"{source}: is damaged ({error.strerror})") from None


@contextmanager
def copied(
    source: str, target: str, *, overwrite: bool = False, quality: int | None = None
) -> Iterator[Copy]:
    """Gives a copy of a video, whole or not at all, whose pictures are to be added one by one.

    ``quality`` is 1 … 100. Raises FileError as :func:`opened`, and where the target cannot hold the source's streams.
    """
    av = needed("av", source, "video")
    with atomic(target, overwrite=overwrite) as temporary, ExitStack() as stack:
        frames = stack.enter_context(opened(source))
        try:
            writer = stack.enter_context(av.open(temporary, "w"))
            copy = Copy(frames, target, writer, quality or USUAL_QUALITY)
            yield copy
            copy.finish()
            writer.close()
        except av.FFmpegError as error:
            raise FileError(f"{source}: is damaged, or {target} cannot hold it ({error.strerror})") from None


class Frames:
    """The frames of a video, which are decoded when they are asked for.

    Attributes
    ----------
    video : av.VideoStream
    colour : Colour, optional
        The space of HDR; None stands for sRGB.
    deep : bool
        Whether samples have 10 bits.
    matrix, range : str
        Those of the samples, by PyAV's names.
    times : list of int
        When frames are shown that were decoded, and whose place a caller has not taken, in the stream's unit.
    """

    def __init__(self, source: str, reader: Any) -> None:
        self.source, self._reader = source, reader
        if not reader.streams.video:
            raise FileError(f"{source}: has no video")
        self.video = reader.streams.video[0]
        context = self.video.codec_context
        if context.pix_fmt not in _LAYOUTS:
            raise FileError(
                f"{source}: has samples of the kind {context.pix_fmt}; known is YUV of 8 or 10 bits"
            )
        self.deep = context.pix_fmt.endswith("10le")
        primaries, curve = int(context.color_primaries), int(context.color_trc)
        self.colour = named(_HDR[curve]) if curve in _HDR and primaries == _WIDE else None
        if self.colour is None and (primaries not in _SDR_PRIMARIES or curve not in _SDR_CURVES):
            raise FileError(
                f"{source}: has the primaries {primaries} and the curve {curve} of H.273; known are SDR of BT.601 or "
                "BT.709, and PQ and HLG of BT.2100"
            )
        matrix = int(context.colorspace)
        if matrix == _UNSAID:
            matrix = _WIDE if self.colour else _BT709 if context.height >= _HIGH else 6
        if matrix not in _MATRICES or (matrix == _WIDE and self.colour is None):
            raise FileError(
                f"{source}: has the matrix {matrix} of H.273; known are those of BT.601, BT.709 and BT.2100"
            )
        self.matrix = _MATRICES[matrix]
        self.range = "JPEG" if int(context.color_range) == _FULL or "yuvj" in context.pix_fmt else "MPEG"
        self.times: list[int] = []

    @property
    def others(self) -> list[Any]:
        """The streams of audio and of subtitles."""
        return [stream for stream in self._reader.streams if stream.type in ("audio", "subtitle")]

    def pictures(self, other: Callable[[Any], None] = lambda _packet: None) -> Iterator[Picture]:
        """The frames, upright, as RGB of 8 or 16 bits; packets of other streams are given to ``other`` on the way."""
        for packet in self._reader.demux():
            if packet.stream is self.video:
                for frame in packet.decode():
                    yield self._rgb(frame)
            elif packet.dts is not None:
                other(packet)

    def _rgb(self, frame: Any) -> Picture:
        if frame.rotation % 90:
            raise FileError(f"{self.source}: is to be turned by {frame.rotation}°; known are quarters")
        if frame.pts is None:
            raise FileError(f"{self.source}: has frames without a time")
        self.times.append(frame.pts)
        how = {"src_colorspace": self.matrix, "src_color_range": self.range, "dst_color_range": "JPEG"}
        pixels = frame.reformat(format="rgb48le" if self.deep else "rgb24", **how).to_ndarray()
        turned = np.ascontiguousarray(np.rot90(pixels, frame.rotation // 90))
        return Picture(turned, metadata=Metadata(colour=self.colour))


class Copy:
    """A video on its way, of 8 bits and SDR: pictures are encoded when they are added."""

    def __init__(self, frames: Frames, target: str, writer: Any, quality: int) -> None:
        self.frames, self._target, self._writer = frames, target, writer
        if frames.deep:
            note(f"{target}: has 8 bits{' and SDR' if frames.colour else ''}, and {frames.source} has 10")
        self._matrix, self._range = frames.matrix, frames.range
        if frames.colour is not None:
            self._matrix, self._range = _MATRICES[_BT709], "MPEG"
        name, most, options = CODECS[os.path.splitext(target)[1].lower()]
        crf = str(round(most * (100 - quality) / 100))
        self._out = writer.add_stream(name, rate=frames.video.average_rate, options={"crf": crf, **options})
        self._others = {stream.index: self._like(stream) for stream in frames.others}
        self._waiting: list[Any] = []
        self._begun = False

    def _like(self, stream: Any) -> Any:
        """Returns a stream of the copy for the packets of another stream, as they are."""
        try:
            return self._writer.add_stream_from_template(stream)
        except ValueError:
            name = stream.codec_context.name
            raise FileError(
                f"{self._target}: cannot hold the {stream.type} of {self.frames.source} ({name}): name an .mkv"
            ) from None

    def pictures(self) -> Iterator[Picture]:
        """The frames that pictures are to be made of; packets of other streams are copied on the way."""
        return self.frames.pictures(self._other)

    def _other(self, packet: Any) -> None:
        if packet.stream.index in self._others:
            packet.stream = self._others[packet.stream.index]
            self._waiting.append(packet)

    def add(self, pixels: Pixels) -> None:
        """Encodes the picture of the next frame: (height, width, 1 or 3) of 8 bits, all of one size."""
        import av

        if not self._begun:
            self._begin(*pixels.shape[:2])
        if pixels.shape[2] == 1:
            pixels = np.repeat(pixels, 3, axis=2)
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), "rgb24")
        how = {"dst_colorspace": self._matrix, "dst_color_range": self._range, "src_color_range": "JPEG"}
        frame = frame.reformat(format=self._out.codec_context.pix_fmt, **how)
        frame.pts, frame.time_base = self.frames.times.pop(0), self.frames.video.time_base
        self._writer.mux(self._out.encode(frame))
        self._copy_waiting()

    def _begin(self, height: int, width: int) -> None:
        """Says what the video is like, as soon as the size of its pictures is known."""
        context, given = self._out.codec_context, self.frames.video.codec_context
        odd = height % 2 or width % 2
        context.pix_fmt = "yuv444p" if odd else _LAYOUTS[given.pix_fmt]
        context.width, context.height, context.time_base = width, height, self.frames.video.time_base
        self._out.time_base = self.frames.video.time_base
        context.color_range = _FULL if self._range == "JPEG" else 1
        self._begun = True
        if self.frames.colour is not None:
            context.colorspace = context.color_primaries = context.color_trc = _BT709
            return
        context.colorspace = next(code for code, name in _MATRICES.items() if name == self._matrix)
        if self._matrix == "ITU601":
            context.colorspace = given.colorspace if int(given.colorspace) in _MATRICES else 6
        context.color_primaries, context.color_trc = given.color_primaries, given.color_trc

    def _copy_waiting(self) -> None:
        for packet in self._waiting:
            self._writer.mux(packet)
        self._waiting.clear()

    def finish(self) -> None:
        """Encodes what the encoder still holds."""
        if not self._begun:
            raise FileError(f"{self.frames.source}: has no frames that can be decoded")
        self._writer.mux(self._out.encode(None))
        self._copy_waiting()
