"""The properties of a job's input that its output depends on: the meaning of its values, and its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np

from .. import files
from ..errors import ParameterError
from ..files.colours import usual
from ..params.colours import AUTO, INPUT
from ..pixels.coding import Decoding
from ..pixels.colour import LINEAR, SRGB, Colour, unusual
from ..pixels.curves import LINEAR_CURVE
from ..pixels.primaries import ColourError
from ..pixels.spaces import check, has_formula, is_hdr, named
from ..records import dataclass


@dataclass(frozen=True)
class Origin:
    """An input, and the space that its values are worked on in.

    Attributes
    ----------
    metadata : Metadata
        The input's.
    associated : bool
        Whether the input's alpha was associated (premultiplied): colour under alpha 0 then is light.
    dtype : dtype, optional
        The type of the samples in a picture's file.
    channels : int
        The input's channels, without alpha if that is dropped.
    alpha : bool
        Whether the values that are worked on have alpha.
    linear : bool
        Whether they are light.
    light : Colour
        The space of this light.
    colour : Colour, optional
        The space of the input, if it is a picture.
    stored : Colour, optional
        The space of the input if its values are worked on as they are. None: they are light, or its signal by sRGB's
        curve.
    """

    metadata: files.Metadata = field(default_factory=files.Metadata)
    associated: bool = False
    dtype: np.dtype[Any] | None = None
    channels: int = 3
    alpha: bool = False
    linear: bool = True
    light: Colour = LINEAR
    colour: Colour | None = None
    stored: Colour | None = None

    @classmethod
    def of_picture(
        cls, picture: files.Picture, *, alpha: bool, linear: bool, light: Colour = LINEAR
    ) -> Origin:
        """Makes the origin of work on a picture's light, or on its values; ``alpha``: it is kept if there is one."""
        alpha = picture.alpha and alpha
        return cls(
            picture.metadata,
            picture.associated,
            picture.depth,
            picture.channels - (picture.alpha and not alpha),
            alpha,
            linear or picture.linear,
            light,
            picture.colour,
            None if linear else picture.colour,
        )

    @classmethod
    def of_numbers(
        cls, path: str, arrays: Mapping[str, Any], attributes: Mapping[str, Any], *, alpha: bool
    ) -> Origin:
        """Makes the origin of the picture that a file of numbers with these attributes is turned back into."""
        metadata = files.Metadata.of_numbers(path, attributes.get("metadata"))
        planes = max((array.shape[0] for array in arrays.values()), default=0)
        return cls(
            metadata,
            attributes.get("associated") is True,
            channels=planes - (planes in (2, 4) and not alpha),
            stored=metadata.colour,
        )

    @property
    def data(self) -> bool:
        """Whether the input's values are numbers without a colour."""
        colour = self.colour or self.stored
        return colour is not None and colour.data

    @property
    def counts(self) -> bool:
        """Whether they are whole numbers, which operations get as they are, and not as fractions."""
        return self.data and self.dtype is not None and self.dtype.kind == "u" and not self.alpha

    def scale(self, dtype: np.dtype[Any]) -> float | None:
        """Returns what makes integers of a type of the whole numbers that operations got, if they did."""
        if not self.counts or self.dtype is None or dtype.kind != "u":
            return None
        return float((256**dtype.itemsize - 1) / (256**self.dtype.itemsize - 1))

    def values(self, *, linear: bool, display: bool) -> Colour:
        """Returns the space of a result, ``linear`` or not; ``display``: its values are made for a display."""
        if self.data and not display:
            return LINEAR
        if self.stored is not None and self.stored.linear == linear and not display:
            return self.stored
        return self.light if linear else self.light.srgb_signal

    def written(
        self, values: Colour, fmt: files.Format, depth: np.dtype[Any], dtype: str | None, *, display: bool
    ) -> Colour:
        """Returns the space of values in their file.

        It is the input's space if the file can name it, there is a formula for it, unless values are the input's, and
        input and file both have integers or both floats. Files of floats get light of its primaries, and 8 bits are too
        few for HDR. Values of a narrow range need the same depth, since black and white are at other fractions in
        another one. ``dtype``: the original's depth if the input tells it.
        """
        if self.data and not display:
            return values
        before, space = self._before(dtype, depth), self.stored or self.colour
        if display or space is None or (before.kind, depth.kind) == ("f", "u"):
            return usual(depth)
        space = space if before.kind == depth.kind else space.light
        if values == space:
            sayable = before == depth or not values.narrow
        else:
            sayable = has_formula(space) and (depth.itemsize > 1 or not is_hdr(space))
        gray = fmt.fitting(self.channels) < 3
        return space if sayable and files.can_say(fmt, space, depth, gray=gray) else usual(depth)

    def wanted(self, name: str, fmt: files.Format, depth: np.dtype[Any]) -> Colour | None:
        """Returns the space that an option names, as in :mod:`gpuops.params.colours`, but for "auto", which names none.

        The input's space becomes light of its primaries in a format of floats that cannot say its curve.
        """
        if self.data and name != INPUT:
            raise ParameterError("its values are data, which have no colour: leave out --colour")
        if self.data:
            return None
        if name != INPUT:
            return self._light_of(named(name), fmt, depth)
        space = unusual(self.stored or self.colour or LINEAR)
        if space is not None:
            try:
                check(space)
            except ColourError as error:
                raise ParameterError(f"its colour space {error}: name another one by --colour") from None
        return None if space is None else unusual(self._light_of(self.sayable(space, fmt, depth), fmt, depth))

    def _light_of(self, colour: Colour, fmt: files.Format, depth: np.dtype[Any]) -> Colour:
        """Returns the space, or light of its primaries if the format only holds light.

        Raises ParameterError for primaries that the format cannot hold.
        """
        if not fmt.primaries:
            return colour
        if colour.primaries not in fmt.primaries:
            known = " or ".join(fmt.primaries)
            raise ParameterError(
                f"{fmt} holds light of {known}, not of {colour.primaries}: name another --colour"
            )
        return self.sayable(colour, fmt, depth)

    def sayable(self, colour: Colour, fmt: files.Format, depth: np.dtype[Any]) -> Colour:
        """Returns a space, or light of its primaries for floats of a format that cannot say its curve."""
        if depth.kind == "u" or files.can_say(fmt, colour, depth, gray=fmt.fitting(self.channels) < 3):
            return colour
        return replace(colour, curves=(LINEAR_CURVE,), narrow=False)

    def is_hdr(self, name: str) -> bool:
        """Says whether the space that an option names has values brighter than white."""
        if name not in (AUTO, INPUT):
            return is_hdr(named(name))
        space = self.stored or self.colour
        return space is not None and is_hdr(space)

    def levels(self, dtype: str | None, depth: np.dtype[Any]) -> str | None:
        """Returns the integer type of which stored values are fractions, if any; ``dtype`` is as in :meth:`written`."""
        before = self._before(dtype, depth)
        return f"uint{8 * before.itemsize}" if before.kind == "u" else None

    def _before(self, dtype: str | None, depth: np.dtype[Any]) -> np.dtype[Any]:
        """Returns the depth of the original, or of the result if there is no original."""
        return np.dtype(dtype) if dtype else self.dtype or depth

    def labelled(self, colour: Colour, dtype: str | None, *, display: bool) -> files.Metadata:
        """Returns the metadata for values in this space, without a profile and chromaticities of another space."""
        if self.data and not display:
            return self.metadata
        before = self.colour or self.stored or usual(np.dtype(dtype))
        metadata = replace(self.metadata, colour=unusual(colour))
        foreign = display and metadata.icc is not None and not files.is_understood(metadata.icc)
        if colour == before and not foreign:
            return metadata
        return replace(self.unlabelled(srgb=colour == SRGB), colour=metadata.colour)

    def unlabelled(self, *, srgb: bool) -> files.Metadata:
        """Returns the metadata without a profile and chromaticities; EXIF says whether colours are ``srgb``."""
        return self.metadata.coloured(SRGB if srgb else None)

    @property
    def kept(self) -> files.Metadata:
        """The metadata for a file of numbers, with the colour space that is needed to restore the values."""
        is_usual = self.dtype is not None and (self.stored or self.colour) == usual(self.dtype)
        if self.stored is None:
            return self.metadata if is_usual else replace(self.metadata, icc=None, colour=None)
        return replace(self.metadata, colour=None if is_usual else self.stored)


def decoding_of(
    picture: files.Picture, origin: Origin, *, premultiply: bool, counts: bool
) -> tuple[Decoding, Colour | None]:
    """Returns how a picture's pixels are to be read, and the space from which they are made light before, or None.

    ``counts``: whole numbers are read as they are.
    """
    if origin.data:
        scale = 1.0 if counts and origin.counts else None
        return Decoding(origin.alpha, premultiply=origin.alpha and premultiply, scale=scale), None
    light = picture.metadata.colour if origin.stored is None else None
    if origin.stored is None and origin.light != LINEAR:
        light = picture.colour.relative_to(origin.light)
    is_light = picture.linear or light is not None
    return Decoding(
        origin.alpha, origin.linear and not is_light, premultiply=origin.alpha and premultiply
    ), light
