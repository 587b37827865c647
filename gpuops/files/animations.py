"""GIF, WebP and PNG animations, written by Pillow: pictures, how long each is shown, how often all are repeated."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import notes
from ..errors import FileError
from ..params.storage import USUAL, Storage
from ..pixels.colour import SRGB
from . import by_pillow, colours
from .bitmaps import paletted
from .formats import VIDEO, format_of
from .frames import KINDS
from .lossy import options as lossy_options
from .output import atomic
from .picture import Picture
from .pictures import format_in, read
from .streams import called, with_text_name

#: Milliseconds for which browsers show a frame that states no time.
_USUAL = 100
#: How a GIF clears a frame before the next: to the background, which is transparent.
_CLEARED = 2


@dataclass(frozen=True)
class Timing:
    """How long frames are shown, in milliseconds, and how often the animation repeats (0: for ever; None: not)."""

    durations: tuple[float, ...]
    loop: int | None


def timing(path: str | os.PathLike[str], frames: Sequence[int]) -> Timing:
    """The timing of some frames of a file; a tenth of a second each if the file, such as a TIFF, states no times."""
    name = os.fspath(path)
    fmt = format_in(name)
    if fmt is VIDEO:
        from . import video_frames

        return Timing(tuple(video_frames.durations(name, frames)), 0)
    kind = KINDS.get(fmt.name)
    if kind is None:
        return Timing((float(_USUAL),) * len(frames), 0)
    durations = []
    with with_text_name(name) as text, by_pillow.opened(text, kind) as image:
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
    """Writes the pictures in files of 8 bits as one animation, whole or not at all.

    Raises ParameterError for a ``storage`` that the format does not know.
    """
    fmt, name = format_of(path), os.fspath(path)
    storage.check(name, fmt.name)
    with atomic(path, overwrite=overwrite) as temporary, called(temporary, name):
        first = read(pictures[0])
        options: dict[str, Any] = {"duration": list(timing.durations)}
        if fmt.name == "GIF":
            options["disposal"] = _CLEARED
            if timing.loop is not None:
                options["loop"] = timing.loop
            if first.colour != SRGB:
                notes.note(f"{name}: GIF cannot say that its values are not sRGB; they are taken for that")
        else:
            options |= _png_options(storage) if fmt.name == "PNG" else lossy_options(fmt, storage)
            options["loop"] = 1 if timing.loop is None else timing.loop
            profile = first.metadata.icc or colours.profile_for(first.colour, first.pixels.dtype, gray=False)
            options |= {"icc_profile": profile} if profile else {}
        with _said_once():
            images = [_image(temporary, read(picture), fmt.name) for picture in pictures]
        if len(sizes := sorted({image.size for image in images})) > 1:
            several = " and ".join(f"{width} x {height}" for width, height in (sizes[0], sizes[-1]))
            raise FileError(
                f"{name}: an animation has frames of one size, and these have {several} pixels, for instance; bring "
                "them to one by 'resize --fit cover' first, or write each to a file of its own, as to a .png"
            )
        with open(temporary, "wb") as file:
            images[0].save(file, fmt.name, save_all=True, append_images=images[1:], **options)


@contextmanager
def _said_once() -> Iterator[None]:
    """Gives a message once, if several frames cause it with other numbers in it."""
    said: list[str] = []
    with notes.to(said.append):
        yield
    for text in notes.once((([text], ()) for text in said), "frame"):
        notes.note(text)


def _png_options(storage: Storage) -> dict[str, Any]:
    """Pillow's options for a compression of PNG."""
    method = storage.method("PNG")
    if method is None:
        return {}
    return {"compress_level": method.level if method.name == "deflate" else 0}


def _image(path: str, picture: Picture, kind: str) -> Any:
    """Pillow's image of a picture, with a palette for GIF."""
    import PIL.Image

    pixels = picture.pixels
    if picture.channels < 3:
        pixels = np.concatenate((pixels[:, :, :1],) * 3 + (pixels[:, :, 1:],), axis=2)
    if kind != "GIF":
        return PIL.Image.fromarray(pixels)
    image, options = paletted(path, pixels)
    image.info.update(options)
    return image
