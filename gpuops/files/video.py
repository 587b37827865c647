"""Videos of 8 bits by PyAV: their frames as RGB pictures, and a copy of a video with other pictures in it.

Sources: ITU-T H.273 (07/2024), tables 2 to 4; ITU-R BT.601, BT.709.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ..errors import FileError
from .extras import needed
from .output import atomic
from .picture import Pixels

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
    **{f"yuv{kind}p": f"yuv{kind}p" for kind in (420, 422, 444)},
    **{f"yuvj{kind}p": f"yuv{kind}p" for kind in (420, 422, 444)},
}
#: The codes of matrices (H.273, table 4) by swscale's names; those of BT.601 have one matrix.
_MATRICES = {1: "ITU709", 5: "ITU601", 6: "ITU601"}
_UNSAID = 2
#: The primaries and curves that are taken for sRGB's: those of SDR video.
_SDR_PRIMARIES, _SDR_CURVES = (1, 5, 6, _UNSAID), (1, 6, 13, _UNSAID)
#: The rows from which on video that says nothing is high definition, whose matrix is BT.709's.
_HIGH = 720
_FULL = 2


@contextmanager
def copied(
    source: str, target: str, *, overwrite: bool = False, quality: int | None = None
) -> Iterator[Copy]:
    """Gives a copy of a video, whole or not at all, whose pictures are to be added one by one.

    ``quality`` is 1 … 100. Raises FileError for a video that is damaged or of a kind that is not known.
    """
    av = needed("av", source, "video")
    with atomic(target, overwrite=overwrite) as temporary, ExitStack() as stack:
        try:
            reader = stack.enter_context(av.open(source))
            writer = stack.enter_context(av.open(temporary, "w"))
            copy = Copy(source, target, reader, writer, quality or USUAL_QUALITY)
            yield copy
            copy.finish()
            stack.close()
        except av.FFmpegError as error:
            raise FileError(f"{source}: is damaged, or {target} cannot hold it ({error.strerror})") from None


class Copy:
    """A video on its way: frames are decoded when they are asked for, and encoded when they are added."""

    def __init__(self, source: str, target: str, reader: Any, writer: Any, quality: int) -> None:
        self._source, self._target, self._reader, self._writer = source, target, reader, writer
        if not reader.streams.video:
            raise FileError(f"{source}: has no video")
        self._video = reader.streams.video[0]
        context = self._video.codec_context
        if context.pix_fmt not in _LAYOUTS:
            raise FileError(f"{source}: has samples of the kind {context.pix_fmt}; known is YUV of 8 bits")
        primaries, curve = int(context.color_primaries), int(context.color_trc)
        if primaries not in _SDR_PRIMARIES or curve not in _SDR_CURVES:
            raise FileError(
                f"{source}: has the colours of HDR or wide gamut; known is SDR of BT.601 or BT.709"
            )
        matrix = int(context.colorspace)
        if matrix == _UNSAID:
            matrix = 1 if context.height >= _HIGH else 6
        if matrix not in _MATRICES:
            raise FileError(
                f"{source}: has the matrix {matrix} of H.273; known are those of BT.601 and BT.709"
            )
        self._matrix = _MATRICES[matrix]
        self._range = "JPEG" if int(context.color_range) == _FULL or "yuvj" in context.pix_fmt else "MPEG"
        name, most, options = CODECS[os.path.splitext(target)[1].lower()]
        crf = str(round(most * (100 - quality) / 100))
        self._out = writer.add_stream(name, rate=self._video.average_rate, options={"crf": crf, **options})
        others = (stream for stream in reader.streams if stream.type in ("audio", "subtitle"))
        self._others = {stream.index: self._like(stream) for stream in others}
        self._times: list[int] = []
        self._waiting: list[Any] = []
        self._begun = False

    def _like(self, stream: Any) -> Any:
        """Returns a stream of the copy for the packets of another stream, as they are."""
        try:
            return self._writer.add_stream_from_template(stream)
        except ValueError:
            name = stream.codec_context.name
            raise FileError(
                f"{self._target}: cannot hold the {stream.type} of {self._source} ({name}): name an .mkv"
            ) from None

    def frames(self) -> Iterator[Pixels]:
        """The frames, (height, width, 3) of 8 bits; packets of other streams are copied on the way."""
        for packet in self._reader.demux():
            if packet.stream is self._video:
                for frame in packet.decode():
                    yield self._rgb(frame)
            elif packet.stream.index in self._others and packet.dts is not None:
                packet.stream = self._others[packet.stream.index]
                self._waiting.append(packet)

    def _rgb(self, frame: Any) -> Pixels:
        if frame.rotation:
            raise FileError(
                f"{self._source}: is to be turned by {frame.rotation}°, which is not done to videos"
            )
        if frame.pts is None:
            raise FileError(f"{self._source}: has frames without a time")
        self._times.append(frame.pts)
        how = {"src_colorspace": self._matrix, "src_color_range": self._range, "dst_color_range": "JPEG"}
        pixels: Pixels = frame.reformat(format="rgb24", **how).to_ndarray()
        return pixels

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
        frame.pts, frame.time_base = self._times.pop(0), self._video.time_base
        self._writer.mux(self._out.encode(frame))
        self._copy_waiting()

    def _begin(self, height: int, width: int) -> None:
        """Says what the video is like, as soon as the size of its pictures is known."""
        context, given = self._out.codec_context, self._video.codec_context
        odd = height % 2 or width % 2
        context.pix_fmt = "yuv444p" if odd else _LAYOUTS[given.pix_fmt]
        context.width, context.height, context.time_base = width, height, self._video.time_base
        self._out.time_base = self._video.time_base
        context.color_range = _FULL if self._range == "JPEG" else 1
        context.colorspace = next(code for code, name in _MATRICES.items() if name == self._matrix)
        if self._matrix == "ITU601":
            context.colorspace = given.colorspace if int(given.colorspace) in _MATRICES else 6
        context.color_primaries, context.color_trc = given.color_primaries, given.color_trc
        self._begun = True

    def _copy_waiting(self) -> None:
        for packet in self._waiting:
            self._writer.mux(packet)
        self._waiting.clear()

    def finish(self) -> None:
        """Encodes what the encoder still holds."""
        if not self._begun:
            raise FileError(f"{self._source}: has no frames that can be decoded")
        self._writer.mux(self._out.encode(None))
        self._copy_waiting()
