"""The properties of a job's input that its output depends on: the meaning of its values, and its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
from ..pixels.targets import check, is_hdr, named


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

    def values(self, *, linear: bool, display: bool) -> Colour:
        """Returns the space of a result, ``linear`` or not; ``display``: its values are made for a display."""
        if self.stored is not None and self.stored.linear == linear and not display:
            return self.stored
        return self.light if linear else self.light.srgb_signal

    def written(
        self, values: Colour, fmt: files.Format, depth: np.dtype[Any], dtype: str | None, *, display: bool
    ) -> Colour:
        """Returns the space of values in their file.

        It is their own space if they are the input's stored values, the file can name the space, and input and file
        both have integers or both floats. Values of a narrow range need the same depth, since black and white are at
        other fractions in another one. ``dtype``: the original's depth if the input tells it.
        """
        before = self._before(dtype, depth)
        alike = before == depth if values.narrow else before.kind == depth.kind
        as_stored = values == self.stored and alike and not display
        gray = fmt.fitting(self.channels) < 3
        return values if as_stored and files.can_say(fmt, values, depth, gray=gray) else usual(depth)

    def wanted(self, name: str, fmt: files.Format, depth: np.dtype[Any]) -> Colour | None:
        """Returns the space that an option names, as in :mod:`gpuops.params.colours`, but for "auto", which names none.

        The input's space becomes light of its primaries in a format of floats that cannot say its curve.
        """
        if name != INPUT:
            return self._light_of(named(name), fmt, depth)
        found = unusual(self.stored or self.colour or LINEAR)
        if found is not None:
            try:
                check(found)
            except ColourError as error:
                raise ParameterError(f"its colour space {error}: name another one by --colour") from None
        return None if found is None else unusual(self._light_of(self.sayable(found, fmt, depth), fmt, depth))

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
        if name in (AUTO, INPUT):
            found = (self.stored or self.colour) if name == INPUT else None
            return found is not None and is_hdr(found)
        return is_hdr(named(name))

    def levels(self, dtype: str | None, depth: np.dtype[Any]) -> str | None:
        """Returns the integer type of which stored values are fractions, if any; ``dtype`` is as in :meth:`written`."""
        before = self._before(dtype, depth)
        return f"uint{8 * before.itemsize}" if before.kind == "u" else None

    def _before(self, dtype: str | None, depth: np.dtype[Any]) -> np.dtype[Any]:
        """Returns the depth of the original, or of the result if there is no original."""
        return np.dtype(dtype) if dtype else self.dtype or depth

    def labelled(self, colour: Colour, dtype: str | None, *, display: bool) -> files.Metadata:
        """Returns the metadata for values in this space, without a profile and chromaticities of another space."""
        before = self.colour or self.stored or usual(np.dtype(dtype))
        metadata = replace(self.metadata, colour=unusual(colour))
        foreign = display and metadata.icc is not None and not files.is_understood(metadata.icc)
        if colour == before and not foreign:
            return metadata
        return replace(self.unlabelled(srgb=colour == SRGB), colour=metadata.colour)

    def unlabelled(self, *, srgb: bool) -> files.Metadata:
        """Returns the metadata without a profile and chromaticities; EXIF says whether colours are ``srgb``."""
        from ..files.exif import coloured

        exif = coloured(self.metadata.exif, srgb=srgb) if self.metadata.exif else None
        return replace(self.metadata, icc=None, colour=None, exif=exif, attributes=self.attributes)

    @property
    def kept(self) -> files.Metadata:
        """The metadata for a file of numbers, with the colour space that is needed to restore the values."""
        is_usual = self.dtype is not None and (self.stored or self.colour) == usual(self.dtype)
        if self.stored is None:
            return self.metadata if is_usual else replace(self.metadata, icc=None, colour=None)
        return replace(self.metadata, colour=None if is_usual else self.stored)

    @property
    def attributes(self) -> dict[str, Any]:
        """The EXR attributes without those that describe the stored colours."""
        return {
            name: value for name, value in self.metadata.attributes.items() if name != files.CHROMATICITIES
        }


def decoding_of(
    picture: files.Picture, origin: Origin, *, premultiply: bool
) -> tuple[Decoding, Colour | None]:
    """Returns how a picture's pixels are to be read, and the space from which they are made light before, or None."""
    light = picture.metadata.colour if origin.stored is None else None
    if origin.stored is None and origin.light != LINEAR:
        light = picture.colour.relative_to(origin.light)
    is_light = picture.linear or light is not None
    return Decoding(
        origin.alpha, origin.linear and not is_light, premultiply=origin.alpha and premultiply
    ), light
