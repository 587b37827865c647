"""An input on its way: read → upload → operation → its output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .. import files, notes
from ..errors import FileError, ParameterError
from ..gpu import Gpu
from ..image import Image
from ..notes import note
from ..pixels import light
from ..pixels.coding import Decoding, on_device
from ..pixels.colour import Colour
from ..pixels.unfilter import undoing
from ..rows.budget import Budget, TooLittleMemory
from ..space import Space
from .access import Access
from .options import Options
from .origin import Origin, decoding_of
from .output import Output

if TYPE_CHECKING:
    from ..rows.footprint import Footprint

Result = TypeVar("Result")

# Options by which a file is not changed.
_OF_COURSE = (
    "working", "usual_colour", "drop_layers", "layers", "format", "overwrite", "repeat", "memory", "scratch",
    "smaller_for", "fuse",
)  # fmt: skip


class FileReading(NamedTuple):
    """How a file's pixels are to be read. With a ``colour``, their space, they first have to be made light.

    ``data``: they are numbers, which are read as they are.
    """

    decoding: Decoding
    colour: Colour | None
    drops_alpha: bool
    data: bool = False

    def wanted(self, pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Returns the pixels without what is dropped."""
        return pixels[..., :-1] if self.drops_alpha else pixels


class Item:
    """One input on its way to its output.

    Attributes
    ----------
    gpu : Gpu
    path : str
        The input's.
    options : Options
    output : Output
        Where the result is going; it knows the input once that has been read.
    """

    def __init__(self, gpu: Gpu, output: str, options: Options, access: Access) -> None:
        self.gpu = gpu
        self.path = access.path
        self.options = options
        self.output = Output(gpu, output, options, access)
        self._access = access
        self._not_finite = 0

    @property
    def origin(self) -> Origin:
        """What is known of the input."""
        return self.output.origin

    @property
    def budget(self) -> Budget:
        """The host's memory that the work may take."""
        return self._access.budget

    def on_device(self, pixels: np.ndarray[Any, Any], how: FileReading) -> Image:
        """upload: returns a file's pixels, or some rows of them, on the device."""
        stored = on_device(self.gpu, how.wanted(pixels))
        image = (
            stored if how.colour is None else light.of_pixels(stored, how.colour, alpha=how.decoding.alpha)
        )
        values = self.origin.values(linear=self.origin.linear, display=False)
        levels = self.origin.levels(None, self.output.depth(display=False))
        image.space = Space(values, premultiplied=how.decoding.premultiply, levels=levels, data=how.data)
        image.orientation = self.origin.metadata.orientation
        return image

    def converted(self, pixels: np.ndarray[Any, Any], how: FileReading) -> np.ndarray[Any, Any]:
        """Returns a file's pixels, or some rows of them, on the host, in the space that they are to be read in."""
        pixels = how.wanted(pixels)
        if how.colour is None:
            return pixels
        return light.of_host(self.gpu, pixels, how.colour, alpha=how.decoding.alpha)[0]

    def opened(self) -> files.Strips:
        """decode: the picture, of which only rows come if it takes too much memory as a whole.

        One that has no room, and no rows, is refused once it is read: the work may take more, and says it all at once.
        """
        with self.gpu.phase("decode"):
            try:
                return self._access.opened(undoing(self.gpu))
            except TooLittleMemory as error:
                if error.unread is None:
                    raise
                return self._access.refused(error, error.unread)

    def by_rows(self) -> files.Strips | None:
        """decode: returns the rows of a picture that was opened as a whole, to free that; None if it has none."""
        with self.gpu.phase("decode"):
            return self._access.by_rows()

    @property
    def is_copy(self) -> bool:
        """Whether the options change nothing of a file of the output's format, which loses by being written anew."""
        changed = replace(self.options, **{name: getattr(Options, name) for name in _OF_COURSE})
        fmt = self.output.format
        return changed == Options() and fmt.lossy and self._access.format == fmt

    def copy(self) -> None:
        """decode → encode: reads the input, so that damage is found, and copies its bytes."""
        with notes.to(lambda _text: None):
            strips = self.opened()
            for _ in strips.rows(strips.picture.height):
                pass
        self.output.write_by(partial(self._access.copy, overwrite=self.options.overwrite), 0)

    def read(
        self,
        strips: files.Strips | None = None,
        *,
        linear: bool,
        premultiply: bool,
        what: str = "this work",
    ) -> tuple[files.Picture, FileReading]:
        """decode: returns the whole picture, which may have been opened before, and how its pixels are to be read.

        Raises FileError if there is no room for the whole picture, which ``what`` needs.
        """
        picture = self.whole(strips or self.opened(), what)
        return picture, self.how(picture, linear=linear, premultiply=premultiply, data=True)

    def whole(self, strips: files.Strips, what: str) -> files.Picture:
        """decode: returns the whole of a picture that was opened; it is as for :meth:`read`."""
        with self.gpu.phase("decode"):
            if strips.in_memory:
                return strips.picture
            return self._access.whole(strips, what, undoing(self.gpu))

    def how(
        self, picture: files.Picture, *, linear: bool, premultiply: bool, data: bool = False
    ) -> FileReading:
        """Returns how a picture's pixels are to be read; the output knows the input from now on.

        ``data``: numbers without a colour are read as they are. Otherwise they are fractions.
        """
        if self.options.space != "auto":
            linear = self.options.space == "linear"
        light = self.options.light
        origin = Origin.of_picture(picture, alpha=self.options.alpha, linear=linear, light=light)
        self.output = self.output.of(origin)
        if picture.assumed and linear and picture.depth == np.uint16 and picture.colours == 1:
            self.gpu.kept("assumed", self._say_assumed)
        decoding, colour = decoding_of(picture, origin, premultiply=premultiply, counts=data)
        return FileReading(decoding, colour, origin.alpha != picture.alpha, data and origin.data)

    def _say_assumed(self) -> bool:
        self.note(
            "is taken as sRGB, as it does not say what it holds: --input-colour data, if these are counts"
        )
        return True

    def load_data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays and attributes of a spectrum or coefficient file; the picture's metadata goes to its result.

        Arrays that take too much memory as a whole may be :class:`gpuops.files.RowsOfArray`.
        """
        with self.gpu.phase("decode"):
            arrays, attributes = self._access.opened_numbers()
        self.output = self.output.of(
            Origin.of_numbers(self.path, arrays, attributes, alpha=self.options.alpha)
        )
        return arrays, attributes

    def run(self, operation: Callable[..., Result], *args: Any) -> Result:
        """Does the operation, as often as the options say, under the report's phase "compute", which waits for its end.

        Its notes name the input. A ParameterError is this input's failure: the options alone were checked before.
        """
        texts: list[str] = []
        with notes.to(texts.append), self.gpu.phase("compute"), self.naming():
            for _ in range(self.options.repeat):
                texts.clear()  # every run says the same
                result = operation(*args)
            if self.gpu.report is not None:
                self.gpu.finish()
        for text in dict.fromkeys(texts):  # an operation of many steps may say the same of every one
            self.note(text)
        return result

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Turns a ParameterError of an operation into a FileError of this input."""
        try:
            yield
        except ParameterError as error:
            raise FileError(f"{self.path}: {error}") from error

    def note(self, text: str) -> None:
        """Says something about the input."""
        note(f"{self.path}: {text}")

    def look_at(
        self, pixels: np.ndarray[Any, Any], how: FileReading, place: Footprint, first: int = 0
    ) -> None:
        """Counts the values that are not finite for :meth:`warn_of_spread`.

        ``pixels`` are all of a file's, or those of its rows from ``first`` on; only those in the ``place`` count.
        """
        self._not_finite += count_not_finite(place.of(how.wanted(pixels), first))

    def warn_of_spread(self, reach_of: Callable[[], float]) -> None:
        """Says how many values of the input are not finite, if a filter takes them so many pixels far."""
        if self._not_finite and (reach := reach_of()):
            several = self._not_finite > 1
            what = (
                "values are NaN or infinite and spoil" if several else "value is NaN or infinite and spoils"
            )
            pixels = "pixel" if reach == 1 else "pixels"
            where = f"up to {reach:g} {pixels} away" if math.isfinite(reach) else "through whole channels"
            self.note(f"{self._not_finite} {what} the result {where}")

    @property
    def once(self) -> bool:
        """Whether the operation runs a single time: it may overwrite its input."""
        return self.options.repeat == 1


def count_not_finite(pixels: np.ndarray[Any, Any]) -> int:
    """Counts the NaN and infinite values of pixels (height, width, channels): their exponent's bits are all ones."""
    if pixels.dtype.kind != "f" or not pixels.size:
        return 0
    dtype, ones = {2: (np.uint16, 0x7C00), 4: (np.uint32, 0x7F800000)}[pixels.itemsize]
    bits = pixels.view(dtype)
    rows = max(1, (1 << 19) // max(1, bits[0].nbytes))  # at a time: what is compared stays in the cache
    parts = (bits[at : at + rows] for at in range(0, len(bits), rows))
    return sum(int(np.count_nonzero((part & ones) == ones)) for part in parts)
