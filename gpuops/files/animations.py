"""The frames of files, and GIF, WebP and PNG animations, written by Pillow, with how long each frame is shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .. import notes
from ..errors import FileError
from ..params.storage import USUAL, Storage
from ..records import dataclass
from . import pillow
from .formats import format_of
from .output import atomic
from .pictures import format_in, names_of, read
from .read_errors import reading
from .streams import called, with_text_name

#: Milliseconds for which browsers show a frame that states no time.
_USUAL = 100


@dataclass(frozen=True)
class Timing:
    """How long frames are shown, in milliseconds, and how often the animation repeats (0: for ever; None: not)."""

    durations: tuple[float, ...]
    loop: int | None


def count(path: str | os.PathLike[str]) -> int:
    """The number of frames or pages of a file; 1 of one that holds a single picture."""
    name = os.fspath(path)
    fmt = format_in(name)
    with reading(name), with_text_name(name) as text:
        if fmt.count:
            return fmt.count(text)
        return pillow.count(text, fmt.pillow) if fmt.pillow else 1


def pages(path: str | os.PathLike[str], count: int) -> Sequence[int]:
    """The numbers of those of a file's ``count`` frames or pages that have pixels; of all if none has."""
    name = os.fspath(path)
    fmt = format_in(name)
    if fmt.pages is None:
        return range(count)
    with reading(name), with_text_name(name) as text:
        return fmt.pages(text)


def layer_of(path: str | os.PathLike[str], frame: int, count: int) -> str | None:
    """The layer by which a frame of ``count`` is read; None in a file that holds a single picture."""
    return str(frame) if count > 1 or format_in(path).moving else None


def timing(path: str | os.PathLike[str], frames: Sequence[int]) -> Timing:
    """The timing of some frames of a file; a tenth of a second each if the file, such as a TIFF, states no times."""
    name = os.fspath(path)
    fmt = format_in(name)
    if fmt.timing:
        delays, loop = fmt.timing(name, frames)
        return Timing(tuple(delays), loop)
    if not fmt.pillow:
        return Timing((float(_USUAL),) * len(frames), 0)
    durations = []
    with with_text_name(name) as text, pillow.opened(text, fmt.pillow) as image:
        loop = image.info.get("loop")
        for frame in frames:
            image.seek(frame)
            image.load()
            durations.append(float(image.info.get("duration") or _USUAL))
    return Timing(tuple(durations), None if loop is None else int(loop))


def join(
    path: str | os.PathLike[str],
    pictures: Sequence[str],
    timing: Timing,
    *,
    overwrite: bool = False,
    storage: Storage = USUAL,
) -> None:
    """Writes the pictures in files of 8 bits as one animation, whole or not at all; or pages as a file of them.

    Raises ParameterError for a ``storage`` that the format does not know.
    """
    fmt, name = format_of(path), os.fspath(path)
    fmt.check(storage, name)
    animation = fmt.animation
    if animation is None:
        raise FileError(f"{name}: {fmt} holds no animation; name a .gif, .webp or .apng")
    with atomic(path, overwrite=overwrite) as temporary, called(temporary, name):
        first = read(pictures[0])
        if names := names_of(first.metadata):
            notes.note(f"{name}: an animation cannot hold the {', '.join(names)}")
        options = animation.options(temporary, first, timing.loop, storage)
        with _said_once():
            images = [animation.image(temporary, read(picture)) for picture in pictures]
        if len(sizes := sorted({image.size for image in images})) > 1:
            several = " and ".join(f"{width} x {height}" for width, height in (sizes[0], sizes[-1]))
            raise FileError(
                f"{name}: an animation has frames of one size, and these have {several} pixels, for instance; bring "
                "them to one by 'resize --fit cover' first, or write each to a file of its own, as to a .png"
            )
        frames = {"append_images": images[1:], "duration": list(timing.durations)}
        with open(temporary, "wb") as file:
            images[0].save(file, fmt.pillow, save_all=True, **frames, **options)


@contextmanager
def _said_once() -> Iterator[None]:
    """Gives a message once, if several frames cause it with other numbers in it."""
    said: list[str] = []
    with notes.to(said.append):
        yield
    for text in notes.once((([text], ()) for text in said), "frame"):
        notes.note(text)
