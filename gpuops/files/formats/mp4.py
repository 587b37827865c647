"""Videos, which are no pictures, but whose frames are read as such by number, mostly one after the other.

A video stays open between frames, so that those that are read in their order, by several threads too, are decoded once.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from threading import RLock
from typing import Any

from ...errors import FileError
from ...notes import note
from .. import containers, threads
from ..picture import Picture
from ..read_errors import chosen
from ..video import Frames, guarded, opened
from .record import INTEGERS, Format, LayerId

#: How files of Matroska begin.
_MATROSKA = b"\x1a\x45\xdf\xa3"
#: The frames from which on one that is further ahead is sought, rather than all before it decoded.
_FAR = 250

# The video that is open, with the state of its file.
_open: tuple[tuple[Any, ...], _Video] | None = None
_opening = RLock()


def _count(path: str) -> int:
    """The number of frames of a video."""
    video = _opened(path)
    if video.missing is not None:
        note(video.missing)
    return len(video.times)


def _durations(path: str, numbers: Sequence[int]) -> list[float]:
    """How long frames are shown, in milliseconds; the last one of a video as long as the one before it."""
    video = _opened(path)
    lengths = [later - earlier for earlier, later in pairwise(video.times)]
    lengths += lengths[-1:] or [0]
    return [float(lengths[number] * video.unit * 1000) for number in numbers]


def _read(path: str, layer: LayerId) -> Picture:
    """The frame of a number, from 0 on. Raises FileError without one: a video is no picture."""
    if layer is None:
        raise FileError(
            f"{path}: is a video, of which videos are made: give -o a name such as out.mp4, or --frames all for "
            "pictures"
        )
    with _opening:
        video = _opened(path)
        number = chosen(path, layer, len(video.times))
        frame = video.frame(number)
    return replace(video.frames.picture(frame), layer=str(number))


def _opened(path: str) -> _Video:
    """A video, which stays open until another one is asked for."""
    global _open
    status = os.stat(path)
    state = (os.path.realpath(path), status.st_size, status.st_mtime_ns)
    with _opening:
        if _open is None or _open[0] != state:
            if _open is not None:
                _open[1].close()
            _open = None
            _open = state, _Video(path)
        return _open[1]


class _Video:
    """The frames of a video by their numbers.

    Attributes
    ----------
    times : list of int
        When each frame is shown, in the ``unit``.
    missing : str, optional
        What is to be said of a file that is cut off.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        with opened(path) as frames:
            shown = set()
            for packet in frames.reader.demux():
                frames.passed(packet)
                if packet.stream is frames.video and packet.pts is not None and packet.size:
                    shown |= set() if packet.is_discard else {packet.pts}
            self.missing, self.unit = frames.missing, frames.video.time_base
        if not shown:
            raise FileError(f"{path}: has no frames that can be decoded")
        self.times = sorted(shown)
        # Frames that were decoded before somebody has asked for them.
        self._passed: deque[Any] = deque(maxlen=threads.count() + 1)
        self._begin()

    def _begin(self) -> None:
        """Opens the video at its beginning."""
        self._stack = ExitStack()
        self.frames: Frames = self._stack.enter_context(opened(self._path))
        self._coming = self._decoded()
        self._last: int | None = None

    def close(self) -> None:
        """Closes the video."""
        self._coming.close()
        self._stack.close()

    def _decoded(self) -> Generator[Any, None, None]:
        for packet in self.frames.reader.demux(self.frames.video):
            yield from packet.decode()

    def frame(self, number: int) -> Any:
        """The frame of a number. Raises FileError where it cannot be decoded."""
        wanted = self.times[number]
        for frame in self._passed:
            if frame.pts == wanted:
                self._passed.remove(frame)
                return frame
        before = -1 if self._last is None else bisect_left(self.times, self._last)
        with guarded(self._path):
            if not 0 < number - before <= _FAR:
                self._seek(wanted)
            decoded = self._until(wanted)
            if decoded is None:  # not all kinds of files can be sought in
                self.close()
                self._begin()
                decoded = self._until(wanted)
        if decoded is None:
            raise FileError(f"{self._path}: its frame {number} cannot be decoded: it is damaged")
        return decoded

    def _seek(self, wanted: int) -> None:
        self._coming.close()
        self._passed.clear()
        self.frames.reader.seek(wanted, stream=self.frames.video)
        self._coming, self._last = self._decoded(), None

    def _until(self, wanted: int) -> Any | None:
        """Decodes until the frame that is shown at a time; None where it does not come."""
        for frame in self._coming:
            if frame.pts is None:
                continue
            self._last = frame.pts
            if frame.pts == wanted:
                return frame
            self._passed.append(frame)
            if frame.pts > wanted:
                return None
        return None


FORMAT = Format(
    "video", (".mp4", ".mov", ".mkv", ".webm"), INTEGERS, _read,
    sniff=lambda head, _: head.startswith(_MATROSKA) or (head[4:8] == b"ftyp" and not containers.of_picture(head)),
    channels=(3,), layered=True, moving=True, count=_count,
    timing=lambda path, frames: (_durations(path, frames), 0), needs="av",
)  # fmt: skip
