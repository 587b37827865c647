"""The output of a job: values → pixels of its depth and colour space → file, with the input's metadata."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from .. import files
from ..errors import ParameterError
from ..files.colours import usual
from ..files.formats import DEPTHS
from ..files.streams import to_stream
from ..gpu import Gpu
from ..image import Image
from ..notes import DetailNote, note, values_were
from ..params.colours import AUTO, INPUT
from ..params.files import STREAM
from ..params.storage import Storage
from ..pixels import light
from ..pixels.coding import Encoding, Losses, losses, pack, with_losses
from ..pixels.colour import LINEAR, SRGB, Colour
from ..pixels.conversion import converted
from ..pixels.spaces import is_hdr
from ..records import dataclass
from ..space import Space, Stored, Target
from .access import Access
from .options import Options
from .origin import Origin

# The part of a device's memory, as 1 / n, that one result may take while it waits there to be written.
_SHARE = 64
# Bytes of pixels that take no longer to read than a transfer of their own takes to begin.
_FEW_BYTES = 1 << 16


class FilePixels(NamedTuple):
    """Pixels of a result, or some rows, in the form of their file, the values they have lost, and what the file says.

    ``dtype`` is their depth unless the options say another one; None is the input's. Pixels may still be on the device.
    The other fields are those of a :class:`gpuops.files.Picture`.
    """

    pixels: np.ndarray[Any, Any] | Image
    lost: Losses
    dtype: str | None
    alpha: bool
    linear: bool
    metadata: files.Metadata
    associated: bool

    def picture(self) -> files.Picture:
        """download: the picture."""
        pixels = self.pixels.numpy() if isinstance(self.pixels, Image) else self.pixels
        return files.Picture(pixels, self.alpha, self.linear, self.metadata, self.associated)


@dataclass(frozen=True)
class Output:
    """The output of an input. It is the :class:`gpuops.space.Target` of the last step.

    ``keeps_range``: values of 0 … 1 stay there on their way to it, but for overshoot. ``dtype`` of its methods is the
    depth of a result unless the options say another one; None is the input's.
    """

    gpu: Gpu
    path: str
    options: Options
    access: Access
    origin: Origin = field(default_factory=Origin)
    keeps_range: bool = False

    def of(self, origin: Origin) -> Output:
        """Returns the same output for an input that is known."""
        return replace(self, origin=origin)

    def aside(self, path: str, storage: Storage) -> Output:
        """Returns the output of a ``write`` step."""
        return replace(self, path=path, options=replace(self.options, storage=storage))

    @property
    def name(self) -> str:
        """The path, for messages."""
        return self.path

    @cached_property
    def format(self) -> files.Format:
        """The format."""
        return self.options.format_of(self.path)

    @property
    def writes_data(self) -> bool:
        """Whether the format holds numbers rather than a picture."""
        return self.options.writes_data(self.path)

    # -- what the pixels are to be ----------------------------------------------------------------------------

    def target(self, *, display: bool) -> Target | None:
        """Returns the output, if the last step may write the file's pixels itself; None if its values need more work.

        ``display``: the result is made for one.
        """
        as_usual = self._colour(None) is None and self.origin.light == LINEAR and self.options.dither is None
        spaces = (self._spaces(None, linear=linear, display=display) for linear in (True, False))
        direct = as_usual and not self.origin.data and not any(map(_needs_light, *zip(*spaces, strict=True)))
        return self if self.options.fuse and direct else None

    def _colour(self, dtype: str | None) -> Colour | None:
        """The space that the options ask for; ``dtype`` is as elsewhere."""
        name = self.options.colour
        return None if name == AUTO else self.origin.wanted(name, self.format, self._depth(dtype))

    def depth(self, *, display: bool) -> np.dtype[np.generic]:
        """Returns the depth of a result that was made for a ``display``, or of one of the input's kind."""
        return self._depth(self._display_dtype if display else None)

    def encoding(self, space: Space) -> Encoding:
        """Returns the encoding of a result's values, which are in a space, or are light for a display."""
        if space.display:
            dtype = self._display_dtype
            values, written = LINEAR, usual(self._depth(dtype))
        else:
            dtype = None
            values, written = self._spaces(dtype, linear=space.linear, display=False)
        return self._encoding(dtype, values, written, premultiplied=space.premultiplied)

    def encoding_of(self, dtype: str | None, *, linear: bool, display: bool = False) -> Encoding:
        """Returns the encoding for :meth:`of_pixels`; ``linear`` says whether values are light."""
        return self._encoding(dtype, *self._spaces(dtype, linear=linear, display=display))

    def _wanted(self, dtype: str | None) -> np.dtype[np.generic]:
        depth = np.dtype(self.options.dtype or dtype or self.origin.dtype or np.uint8)
        name, light = self.options.colour, dtype is None and self.origin.stored is None
        few = (
            depth == np.uint8
            and self.options.dtype is None
            and self.origin.is_hdr(name)
            and (light or name != AUTO)
        )
        return np.dtype(np.uint16) if few else depth

    @property
    def cuts_hdr(self) -> bool:
        """Whether the input has values brighter than white, and the result is light that has none."""
        written = self._spaces(None, linear=True, display=False)[1]
        brighter = self.origin.is_hdr(INPUT) and self.origin.stored is None
        return (
            brighter
            and not is_hdr(written)
            and self._depth(None).kind == "u"
            and not self.options.storage.gain_map
        )

    def _depth(self, dtype: str | None) -> np.dtype[np.generic]:
        """The wanted depth, as near as the format can hold it."""
        return files.output_dtype(self.format, self._wanted(dtype))

    @property
    def _display_dtype(self) -> str | None:
        """The default type of a picture for a display: 8 bits, unless the format is one of numbers."""
        return "uint8" if self.format.is_for_display else None

    def _dtype_of(self, space: Space) -> str | None:
        """The default type of a result: 16 bits for a display that is brighter than white."""
        few = self._display_dtype if space.display else None
        return "uint16" if few and space.as_is and is_hdr(space.colour) else few

    def _spaces(self, dtype: str | None, *, linear: bool, display: bool) -> tuple[Colour, Colour]:
        """The colour space of a result's values, and the one they have in its file."""
        values = self.origin.values(linear=linear, display=display)
        written = self._colour(dtype)
        if written is None:
            written = self.origin.written(values, self.format, self._depth(dtype), dtype, display=display)
        return values, written

    def _as_is(self, space: Space, dtype: str | None) -> tuple[Output, Colour, Colour]:
        """Returns the output without the input's colour labels, the values' space as a step has set it, and the file's.

        A file of floats that cannot name the curve gets light.
        """
        asked, depth = self._colour(dtype), self._depth(dtype)
        values = usual(depth) if space.unknown else space.colour
        written = values if space.unknown else asked or self.origin.sayable(values, self.format, depth)
        if space.unknown and asked is not None:
            raise ParameterError(f"values are {space.unknown}, which is not known here: leave out --colour")
        metadata = self.origin.unlabelled(srgb=written == SRGB and not space.unknown)
        return self.of(replace(self.origin, metadata=metadata)), values, written

    def _encoding(
        self, dtype: str | None, values: Colour, written: Colour, *, premultiplied: bool = False
    ) -> Encoding:
        """Returns the encoding of pixels; pixels that first have to become light are floats."""
        return Encoding(
            np.dtype(np.float32) if _needs_light(values, written) else self._depth(dtype),
            encode=(values, written) == (LINEAR, SRGB),
            linearise=(values, written) == (SRGB, LINEAR),
            unpremultiply=premultiplied,
        )

    def _levels(self, dtype: str | None) -> str | None:
        return self.origin.levels(dtype, self._depth(dtype))

    def check(self, *, display: bool) -> None:
        """Raises ParameterError for dither of pixels that are not rounded, and for a gain map of a display's pixels."""
        self._check_light(display=display)
        what = "floats, which are not rounded" if self.depth(display=display).kind == "f" else None
        what = "data, which are no shades" if self.origin.data and not display else what
        if self.options.dither is not None and what is not None:
            raise ParameterError(f"{self.path}: holds {what}: leave out --dither")

    def _check_light(self, *, display: bool) -> None:
        if display and self.options.storage.gain_map:
            raise ParameterError(
                f"{self.path}: a gain map needs light, and this is a picture for a display: leave out --gain-map"
            )

    # -- pictures ---------------------------------------------------------------------------------------------

    def file_pixels(self, result: Image | Stored) -> FilePixels:
        """Returns the pixels, or some rows, of a chain's result."""
        if isinstance(result, Image):
            return self.encoded(result, self._dtype_of(result.space))
        alpha, space, turned = self.origin.alpha, result.space, self._turned(result.orientation)
        pixels, lost = self._kept(result.pixels, result.lost)
        if space.display:
            dtype = self._display_dtype
            written = result.written or usual(self._depth(dtype))
            return turned._labelled(pixels, lost, written, dtype, alpha=alpha, display=True)
        return turned.of_pixels(pixels, lost, None, linear=space.linear, alpha=alpha)

    def _kept(self, pixels: Image, lost: Image) -> tuple[np.ndarray[Any, Any] | Image, Losses]:
        """download: returns pixels on the host, and what they have lost.

        Pixels that are not few stay on the device if it has room for them until they are written.
        """
        has_room = self.gpu.memory is None and pixels.nbytes <= self.gpu.limits.global_bytes // _SHARE
        if has_room and pixels.nbytes > _FEW_BYTES:
            return pixels, losses(lost)
        return with_losses(pixels, lost)

    def _turned(self, orientation: int | None) -> Output:
        """Returns the output with a result's orientation in its metadata, if that is known."""
        metadata = self.origin.metadata
        if orientation in (None, metadata.orientation):
            return self
        return self.of(replace(self.origin, metadata=metadata.oriented(orientation)))

    def encoded(self, image: Image, dtype: str | None = None, *, display: bool = False) -> FilePixels:
        """convert → download: returns the pixels, or some rows, of an image.

        Integer files get sRGB and float files linear Rec. 709 light. Stored values that were worked on as they are stay
        so if the output can name their space. ``display``: values are for a display, and no longer the input's. The
        image's orientation, if it has one, goes to the file.
        """
        display = display or image.space.display
        turned = self._turned(image.orientation)
        values, written = self._spaces(dtype, linear=image.linear, display=display)
        if self.origin.light != LINEAR:  # the last step may have worked on light of Rec. 709
            values = image.space.colour
        if image.space.as_is:
            turned, values, written = turned._as_is(image.space, dtype)
        elif image.space.display and not image.linear:  # a display's signal, which stays what it is
            values = image.space.colour
            written = self._colour(dtype) or values
        encoding = self._encoding(dtype, values, written, premultiplied=image.space.premultiplied)
        if image.space.data and not display:
            encoding = replace(encoding, scale=self.origin.scale(encoding.dtype))
        with self.gpu.phase("convert"):
            dither = self.options.dither
            if _needs_light(values, written):
                if image.space.colour == LINEAR:
                    planes = converted(image, LINEAR, premultiplied=False)
                else:
                    planes = light.of_planes(image, values, encoding, levels=self._levels(dtype))
                planes.part = image.part
                pixels, counted = light.encoded(planes, written, self._depth(dtype), dither)
            else:
                pixels, counted = pack(image, replace(encoding, dither=dither))
            kept, lost = self._kept(pixels, counted)
        return turned._labelled(kept, lost, written, dtype, alpha=image.alpha, display=display)

    def of_pixels(
        self,
        pixels: np.ndarray[Any, Any] | Image,
        lost: Losses,
        dtype: str | None,
        *,
        linear: bool,
        alpha: bool,
        display: bool = False,
    ) -> FilePixels:
        """Returns pixels, or some rows, that are encoded as :meth:`encoding_of` says, in the form of the file."""
        values, written = self._spaces(dtype, linear=linear, display=display)
        if _needs_light(values, written):
            host = pixels.numpy() if isinstance(pixels, Image) else pixels
            depth, levels = self._depth(dtype), self._levels(dtype)
            with self.gpu.phase("convert"):
                pixels, lost = light.of_host(
                    self.gpu, host, values, alpha=alpha, written=written, dtype=depth, levels=levels
                )
        return self._labelled(pixels, lost, written, dtype, alpha=alpha, display=display)

    def save_codes(self, codes: np.ndarray[Any, Any]) -> None:
        """encode: writes a new picture in place of the input's: 8-bit sRGB codes (height, width, channels), no alpha.

        Only an sRGB profile is kept of the metadata, since the rest describes the input's pixels.
        """
        only = self.of(replace(self.origin, metadata=files.Metadata(icc=self.origin.metadata.icc)))
        written, lost = self._colour("uint8") or SRGB, Losses()
        if written != SRGB:
            codes, lost = light.of_host(
                self.gpu, codes, SRGB, alpha=False, written=written, dtype=self._depth("uint8")
            )
        self.write(only._labelled(codes, lost, written, "uint8", alpha=False, display=True))

    def _labelled(
        self,
        pixels: np.ndarray[Any, Any] | Image,
        lost: Losses,
        colour: Colour,
        dtype: str | None,
        *,
        alpha: bool,
        display: bool,
    ) -> FilePixels:
        """Returns pixels in a colour space with what the file says of them.

        Raises ParameterError for a gain map without light.
        """
        self._check_light(display=display)
        metadata = self.origin.labelled(colour, dtype, display=display)
        if self.options.colour != AUTO:  # floats that are sRGB are told from light, which floats usually are
            metadata = replace(metadata, colour=colour)
        return FilePixels(pixels, lost, dtype, alpha, colour.linear, metadata, self.origin.associated)

    def write(self, result: FilePixels) -> None:
        """download → encode, which a thread may do later; losses become warnings."""
        self.warn(result)

        def write(path: str) -> None:
            how = self.options
            files.write(path, self._picture(result), overwrite=how.overwrite, storage=how.storage)

        self.write_by(write, result.pixels.nbytes)

    def write_by(self, work: Callable[[str], None], size: int) -> None:
        """encode: does work that writes the file at a path, and holds ``size`` bytes; a thread may do it later."""
        with self.gpu.phase("encode"):
            if self.path == STREAM:
                with to_stream(sys.stdout.buffer, self.format.extension) as path:
                    work(path)
            else:
                self.access.write(partial(work, self.path), size)

    def _picture(self, result: FilePixels) -> files.Picture:
        picture = result.picture()
        return files.stripped(picture) if self.options.strip else picture

    def warn(self, result: FilePixels) -> None:
        """Notes the values that the pixels have lost."""
        self._warn_of_depth(result.dtype)
        lost = result.lost
        if lost.clipped:
            depth, kind = result.pixels.dtype, DetailNote if self._only_overshoots(result) else str
            self.note(
                kind(f"{values_were(lost.clipped)} outside the range of {DEPTHS[depth.name]} and clipped")
            )
        if lost.not_finite:
            self.note(f"{values_were(lost.not_finite)} NaN or infinite and became 0 or the limit")

    def _only_overshoots(self, result: FilePixels) -> bool:
        """Says whether no value can be beyond the range but for overshoot: integers of the space that they were in."""
        depth = result.pixels.dtype
        levels = self.origin.levels(result.dtype, depth)
        if not self.keeps_range or levels is None or depth.kind != "u":
            return False
        before = self.origin.colour or self.origin.stored or usual(np.dtype(levels))
        return before == (result.metadata.colour or usual(depth))

    def _warn_of_depth(self, dtype: str | None) -> None:
        wanted, depth = self._wanted(dtype), self._depth(dtype)
        if depth.itemsize < wanted.itemsize or (depth.kind == "u" and wanted.kind == "f"):
            self.note(f"{self.format} holds no {DEPTHS[wanted.name]}; the result has {DEPTHS[depth.name]}")

    def note(self, text: str) -> None:
        """Says something of the output."""
        note(type(text)(f"{'stdout' if self.path == STREAM else self.path}: {text}"))


def _needs_light(values: Colour, written: Colour) -> bool:
    """Says whether values must become Rec. 709 light, other than by sRGB's curve, before they are written."""
    usual = (LINEAR, SRGB)
    return values != written and not (values in usual and written in usual)
