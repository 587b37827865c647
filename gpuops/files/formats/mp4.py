"""Videos, which are no pictures, but whose frames can be read as such: see :mod:`gpuops.files.video`."""

from __future__ import annotations

from .. import boxes, video_frames
from .record import INTEGERS, Format

_MATROSKA = b"\x1a\x45\xdf\xa3"
FORMAT = Format(
    "video", (".mp4", ".mov", ".mkv", ".webm"), INTEGERS, video_frames.read,
    sniff=lambda head, _: head.startswith(_MATROSKA) or (head[4:8] == b"ftyp" and not boxes.of_picture(head)),
    channels=(3,), layered=True, moving=True, count=video_frames.count,
    timing=lambda path, frames: (video_frames.durations(path, frames), 0), needs="av",
)  # fmt: skip
