"""One input on its way to its output: read → upload → operation → download → write."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from gpuops import files, notes
from gpuops.errors import FileError, ParameterError
from gpuops.gpu import Gpu
from gpuops.image import Image
from gpuops.notes import note
from gpuops.pixels import light
from gpuops.pixels.coding import Decoding, Encoding, Losses, losses, on_device, pack, unpack
from gpuops.pixels.colour import LINEAR, SRGB, Colour
from gpuops.space import Space, Stored

from . import naming
from .checks import DEPTHS, check_input, writes_data
from .options import DTYPES, Shared
from .reader import Reader
from .space import ColourSpaces, needs_light, usual, without_chromaticities

Result = TypeVar("Result")


class Item:
    """One input on its way to its output."""

    def __init__(self, gpu: Gpu, shared: Shared, path: str, output: str, reader: Reader) -> None:
        self.gpu = gpu
        self._reader = reader
        self.shared = shared
        self.path = path
        self.output = output
        self.picture: files.Picture | None = None
        self._metadata = files.Metadata()
        self._associated = False  # the input's alpha was, so its colour under alpha 0 is light
        self._alpha = False
        self._linear = True
        self._space = ColourSpaces()
        self._not_finite = 0

    @property
    def writes_data(self) -> bool:
        """The output's format holds numbers rather than a picture."""
        return writes_data(self.shared, self.output)

    # -- pictures -------------------------------------------------------------------------------------------

    def load(self, *, linear: bool, premultiply: bool = False, count: bool = False) -> Image:
        """decode → upload → convert. ``linear`` is what the operation works on unless --space says otherwise."""
        return self.unpacked(*self.load_pixels(linear=linear, premultiply=premultiply, count=count))

    def unpacked(self, pixels: Image, decoding: Decoding) -> Image:
        """Returns the result of :meth:`load_pixels` as planes."""
        image = unpack(pixels, decoding)
        image.space, image.orientation = pixels.space, pixels.orientation
        return image

    def load_pixels(
        self, *, linear: bool, premultiply: bool = False, count: bool = False
    ) -> tuple[Image, Decoding]:
        """decode → upload: the file's own pixels, and how an operation on light is to read them.

        ``count``: how many of them are not finite, for :meth:`warn_of_spread`.
        """
        pixels, decoding, colour = self._read(linear=linear, premultiply=premultiply)
        if count:
            self._not_finite = count_not_finite(pixels)
        stored = on_device(self.gpu, pixels)
        image = stored if colour is None else light.of_pixels(stored, colour, alpha=decoding.alpha)
        values = self._space.of_values(linear=self._linear, display=False)
        levels = self._space.levels(None, self.depth())
        image.space = Space(values, premultiplied=decoding.premultiply, levels=levels)
        image.orientation = self.orientation
        return image, decoding

    def read_pixels(
        self, *, linear: bool, premultiply: bool = False
    ) -> tuple[np.ndarray[Any, Any], Decoding]:
        """decode: the file's own pixels, on the host and the caller's from now on, and how they are to be read."""
        pixels, decoding, colour = self._read(linear=linear, premultiply=premultiply)
        if colour is not None:
            pixels, _ = light.of_host(self.gpu, pixels, colour, alpha=decoding.alpha)
        return pixels, decoding

    def _read(
        self, *, linear: bool, premultiply: bool
    ) -> tuple[np.ndarray[Any, Any], Decoding, Colour | None]:
        """Pixels as the file has them, and how they are to be read once they are light, if a colour space is given."""
        with self.gpu.phase("decode"):
            self.picture = picture = self._reader.read(self.path)
        if self.shared.space != "auto":
            linear = self.shared.space == "linear"
        alpha = picture.alpha and self.shared.alpha == "keep"
        pixels = picture.pixels if alpha == picture.alpha else picture.pixels[..., :-1]
        colour = self._space.enter(picture, pixels.shape[2], linear=linear)
        self._alpha = alpha
        self._linear = linear or picture.linear
        # The picture keeps the pixels' shape and type, but not their memory.
        released = np.broadcast_to(np.zeros((), picture.pixels.dtype), picture.pixels.shape)
        is_light = picture.linear or colour is not None
        self.picture = replace(picture, pixels=released, linear=is_light)
        self._metadata, self._associated = picture.metadata, picture.associated
        linearise = linear and not is_light
        return pixels, Decoding(alpha, linearise, premultiply=alpha and premultiply), colour

    def run(self, operation: Callable[..., Result], *args: Any) -> Result:
        """The operation, ``--repeat`` times, under the report's phase "compute".

        Its notes name the input, and what it refuses is this input's failure: the options alone were checked before.
        """
        found: list[str] = []
        with notes.to(found.append), self.gpu.phase("compute"):
            try:
                for _ in range(self.shared.repeat):
                    found.clear()  # every run says the same
                    result = operation(*args)
            except ParameterError as error:
                raise FileError(f"{self.path}: {error}") from error
            self.gpu.finish()
        for text in dict.fromkeys(found):  # an operation of many steps may say the same of every one
            note(f"{self.path}: {text}")
        return result

    def warn_of_spread(self, reach: float) -> None:
        """Says how many values of the input are not finite, if a filter takes them ``reach`` pixels far."""
        if self._not_finite and reach:
            several = self._not_finite > 1
            what = (
                "values are NaN or infinite and spoil" if several else "value is NaN or infinite and spoils"
            )
            pixels = "pixel" if reach == 1 else "pixels"
            where = f"up to {reach:g} {pixels} away" if math.isfinite(reach) else "through whole channels"
            note(f"{self.path}: {self._not_finite} {what} the result {where}")

    @property
    def once(self) -> bool:
        """The operation runs a single time: it may overwrite its input."""
        return self.shared.repeat == 1

    def depth(self, dtype: str | None = None) -> np.dtype[Any]:
        """The depth of the output: --dtype, else ``dtype``, else the input's, as near as the format can hold it."""
        return files.output_dtype(self.format, self._wanted(dtype))

    def _wanted(self, dtype: str | None) -> str:
        return (
            DTYPES[self.shared.dtype]
            or dtype
            or (self.picture.pixels.dtype.name if self.picture else "uint8")
        )

    @property
    def display_dtype(self) -> str | None:
        """The default type of a picture for a display: 8 bits, unless the format is one of numbers."""
        return "uint8" if files.is_display_format(self.format) else None

    @property
    def target(self) -> _Target:
        """Where the result is going, for operations that write its pixels themselves."""
        return _Target(self)

    def save_result(self, result: Image | Stored) -> None:
        """Writes what a chain has made: planes, or pixels that only have to be written."""
        if isinstance(result, Image):
            self.save(result, self.display_dtype if result.space.display else None)
            return
        alpha, space = self._alpha, result.space
        self._turn(result.orientation)
        if space.display:
            dtype = self.display_dtype
            written = result.written or usual(self.depth(dtype))
            self._write(result.pixels.numpy(), losses(result.lost), written, dtype, alpha=alpha, display=True)
        else:
            self.save_host(result.pixels.numpy(), losses(result.lost), None, linear=space.linear, alpha=alpha)

    def _turn(self, orientation: int | None) -> None:
        """Says in the metadata how the result is to be turned, if that is known."""
        if orientation is not None:
            self._metadata = self._metadata.oriented(orientation)

    def save_aside(self, image: Image, output: str) -> None:
        """Writes planes that a chain has come to, on the way, to another output."""
        aside = copy.copy(self)
        aside.output = output
        aside.save_result(image)

    def save(self, image: Image, dtype: str | None = None, *, display: bool = False) -> None:
        """convert → download → encode, in :meth:`depth`; losses become warnings.

        Integer files get sRGB and float files linear Rec. 709 light, but for what was worked on as it was stored, which
        stays so where the output can say what it is. ``display``: values are made for one, and are no longer the
        input's. The orientation becomes the image's, if that has one.
        """
        display = display or image.space.display
        self._turn(image.orientation)
        values, written = self._spaces(dtype, linear=image.linear, display=display)
        if image.space.display and not image.linear:  # a display's signal, which stays what it is
            values = written = image.space.colour
        encoding = self._encoding(dtype, values, written, premultiplied=image.space.premultiplied)
        if needs_light(values, written):
            image = light.of_planes(image, values, encoding, levels=self._levels(dtype))
            encoding = self._of_light(dtype, written)
        with self.gpu.phase("convert"):
            pixels, lost = pack(image, encoding)
            host = pixels.numpy()
        self._write(host, losses(lost), written, dtype, alpha=image.alpha, display=display)

    def encoding_of(self, dtype: str | None, *, linear: bool, display: bool = False) -> Encoding:
        """Returns the encoding in :meth:`depth` for :meth:`save_host`; ``linear`` says whether values are light."""
        return self._encoding(dtype, *self._spaces(dtype, linear=linear, display=display))

    def encoding_for(self, space: Space) -> Encoding:
        """Returns the encoding of a result's values in a space, light that was made for a display among them."""
        if space.display:
            dtype = self.display_dtype
            values, written = LINEAR, usual(self.depth(dtype))
        else:
            dtype = None
            values, written = self._spaces(dtype, linear=space.linear, display=False)
        return self._encoding(dtype, values, written, premultiplied=space.premultiplied)

    def save_host(
        self,
        pixels: np.ndarray[Any, Any],
        lost: Losses,
        dtype: str | None,
        *,
        linear: bool,
        alpha: bool,
        display: bool = False,
    ) -> None:
        """encode of pixels on the host, as :meth:`encoding_of` has them; losses become warnings."""
        values, written = self._spaces(dtype, linear=linear, display=display)
        if needs_light(values, written):
            encoding = self._of_light(dtype, written)
            with self.gpu.phase("convert"):
                pixels, lost = light.of_host(
                    self.gpu, pixels, values, alpha=alpha, encoding=encoding, levels=self._levels(dtype)
                )
        self._write(pixels, lost, written, dtype, alpha=alpha, display=display)

    @property
    def linear(self) -> bool:
        """Whether what :meth:`load_pixels` says how to read is linear light."""
        return self._linear

    def save_codes(self, codes: np.ndarray[Any, Any]) -> None:
        """encode of another picture than the input's: 8-bit sRGB codes (height, width, channels) without alpha.

        Of the metadata it keeps an sRGB profile: the rest tells of the input's pixels.
        """
        self._metadata = files.Metadata(icc=self._metadata.icc)
        self._write(codes, Losses(), SRGB, "uint8", alpha=False, display=True)

    @property
    def orientation(self) -> int:
        """The orientation in the input's EXIF block, 1 (upright) to 8."""
        return self._metadata.orientation

    def _warn_of_depth(self, dtype: str | None) -> None:
        wanted, depth = self._wanted(dtype), self.depth(dtype)
        if depth.itemsize < np.dtype(wanted).itemsize or (depth.kind == "u" and np.dtype(wanted).kind == "f"):
            note(
                f"{self._name}: {self.format} holds no {DEPTHS[wanted]}; the result has {DEPTHS[depth.name]}"
            )

    def _spaces(self, dtype: str | None, *, linear: bool, display: bool) -> tuple[Colour, Colour]:
        """The colour space of a result's values, and the one they have in its file."""
        values = self._space.of_values(linear=linear, display=display)
        return values, self._space.of_file(values, self.format, self.depth(dtype), dtype, display=display)

    def _levels(self, dtype: str | None) -> str | None:
        return self._space.levels(dtype, self.depth(dtype))

    def _encoding(
        self, dtype: str | None, values: Colour, written: Colour, *, premultiplied: bool = False
    ) -> Encoding:
        """Returns the encoding of pixels; they are floats where they have to become light first."""
        depth = self.depth(dtype)
        return Encoding(
            np.dtype(np.float32) if needs_light(values, written) else depth,
            encode=(values, written) == (LINEAR, SRGB),
            linearise=(values, written) == (SRGB, LINEAR),
            unpremultiply=premultiplied,
        )

    def _of_light(self, dtype: str | None, written: Colour) -> Encoding:
        """Returns the encoding of values that had to become light first."""
        return Encoding(self.depth(dtype), encode=written == SRGB)

    def _write(
        self,
        pixels: Any,
        lost: Losses,
        colour: Colour,
        dtype: str | None,
        *,
        alpha: bool,
        display: bool = False,
    ) -> None:
        self._warn_of_depth(dtype)
        depth = pixels.dtype
        if lost.clipped:
            note(
                f"{self._name}: {lost.clipped} values were outside the range of {DEPTHS[depth.name]} and clipped"
            )
        if lost.not_finite:
            note(f"{self._name}: {lost.not_finite} values were NaN or infinite and became 0 or the limit")
        result = files.Picture(
            pixels=pixels,
            alpha=alpha,
            linear=colour.linear,
            metadata=self._space.labelled(self._metadata, colour, dtype, display=display),
            associated=self._associated,
        )
        with self.gpu.phase("encode"):
            if self.output == naming.STREAM:
                files.write_stream(sys.stdout.buffer, result, self.format)
            else:
                files.write(self.output, result, overwrite=self.shared.overwrite)

    # -- numerical data -------------------------------------------------------------------------------------

    def load_data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays and attributes of a spectrum or coefficient file; the picture's metadata goes to its result."""
        with self.gpu.phase("decode"):
            if self.path == naming.STREAM:
                arrays, attributes = files.read_data_stream(sys.stdin.buffer)
            else:
                check_input(self.path)
                arrays, attributes = files.read_data(self.path)
        try:
            self._metadata = files.Metadata.from_json(attributes.pop("metadata", None) or {})
        except (ValueError, TypeError, KeyError, AttributeError):
            note(f"{self.path}: the picture's metadata in it is damaged and left out")
        planes = max((array.shape[0] for array in arrays.values()), default=0)
        dropped = planes in (2, 4) and self.shared.alpha == "drop"
        self._space.enter_data(self._metadata.colour, planes - dropped)
        self._associated = attributes.pop("associated", None) is True
        return arrays, attributes

    def save_data(
        self, arrays: dict[str, Any], attributes: dict[str, Any], *, compress: bool = False
    ) -> None:
        """Writes a spectrum or coefficient file, with the picture's metadata; ``compress``: it has many zeros."""
        if without_chromaticities(self._metadata):
            note(f"{self._name}: a file of numbers cannot hold the EXR header attributes")
        metadata = self._space.kept(self._metadata)
        about = {"metadata": metadata.to_json(), "associated": self._associated}
        with self.gpu.phase("encode"):
            attributes = attributes | about
            if self.output == naming.STREAM:
                files.write_data_stream(sys.stdout.buffer, arrays, attributes, self.format, compress=compress)
            else:
                files.write_data(
                    self.output, arrays, attributes, overwrite=self.shared.overwrite, compress=compress
                )

    # -------------------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return "stdout" if self.output == naming.STREAM else self.output

    @property
    def format(self) -> files.Format:
        """The output's format."""
        return (
            files.format_named(self.shared.format or "")
            if self.output == naming.STREAM
            else files.format_of(self.output)
        )


@dataclass(frozen=True)
class _Target:
    """The output of an item: see :class:`gpuops.space.Target`."""

    item: Item

    @property
    def name(self) -> str:
        return self.item.output

    def depth(self, *, display: bool) -> np.dtype[np.generic]:
        return self.item.depth(self.item.display_dtype if display else None)

    def encoding(self, space: Space) -> Encoding:
        return self.item.encoding_for(space)


def count_not_finite(pixels: np.ndarray[Any, Any]) -> int:
    """Counts the NaN and infinite values of pixels (height, width, channels): their exponent's bits are all ones."""
    kinds = {"float16": (np.uint16, 0x7C00), "float32": (np.uint32, 0x7F800000)}
    if pixels.dtype.name not in kinds:
        return 0
    dtype, ones = kinds[pixels.dtype.name]
    bits = pixels.view(dtype)
    rows = max(1, (1 << 19) // max(1, bits[0].nbytes))  # at a time: what is compared stays in the cache
    parts = (bits[at : at + rows] for at in range(0, len(bits), rows))
    return sum(int(np.count_nonzero((part & ones) == ones)) for part in parts)
