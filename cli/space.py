"""The colour space of an item's values, from its input to its output, and the metadata that declares it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpuops import files
from gpuops.pixels.colour import LINEAR, SRGB, Colour, unusual


class ColourSpaces:
    """The colour space that an item's values are in, from its input to its output.

    Attributes
    ----------
    stored : Colour, optional
        The values worked on are those of the input, as they are, in this space. None: they are linear Rec. 709
        light, or its sRGB signal.
    input : Colour, optional
        The space of the input, where it is a picture.
    dtype : dtype, optional
        The input's.
    channels : int
        Of the input, without alpha where that is dropped.
    """

    def __init__(self) -> None:
        self.stored: Colour | None = None
        self.input: Colour | None = None
        self.dtype: np.dtype[Any] | None = None
        self.channels = 3

    def enter(self, picture: files.Picture, channels: int, *, linear: bool) -> Colour | None:
        """Enters a picture, for work on light or on its values. Returns the space to be converted to light, if any."""
        self.input, self.dtype, self.channels = picture.colour, picture.pixels.dtype, channels
        self.stored = None if linear else picture.colour
        return picture.metadata.colour if linear else None

    def of_values(self, *, linear: bool, display: bool) -> Colour:
        """Returns the space of a result, ``linear`` or not; ``display``: its values are made for a display."""
        if self.stored is not None and self.stored.linear == linear and not display:
            return self.stored
        return LINEAR if linear else SRGB

    def of_file(
        self, values: Colour, fmt: files.Format, depth: np.dtype[Any], dtype: str | None, *, display: bool
    ) -> Colour:
        """Returns the values' space in their file: their own if these are as stored, of one kind, and it can say so.

        One kind is integers or floats; of a narrow range it is the same depth, since black and white are at other
        fractions in another. ``dtype``: the original's depth where the input says it.
        """
        before = self._before(dtype, depth)
        alike = before == depth if values.narrow else before.kind == depth.kind
        as_stored = values == self.stored and alike and not display
        gray = fmt.fitting(self.channels) < 3
        return values if as_stored and files.can_say(fmt, values, gray=gray) else usual(depth)

    def enter_data(self, colour: Colour | None, channels: int) -> None:
        """Enters a file of numbers: its picture's channels, and its space unless it is the usual one."""
        self.stored, self.channels = colour, channels

    def levels(self, dtype: str | None, depth: np.dtype[Any]) -> str | None:
        """Returns the integer type of which stored values are fractions, if any; ``dtype`` is as in :meth:`of_file`."""
        before = self._before(dtype, depth)
        return before.name if before.kind == "u" else None

    def _before(self, dtype: str | None, depth: np.dtype[Any]) -> np.dtype[Any]:
        """Returns the depth of the original, or of the result if there is no original."""
        return np.dtype(dtype) if dtype else self.dtype or depth

    def labelled(
        self, metadata: files.Metadata, colour: Colour, dtype: str | None, *, display: bool
    ) -> files.Metadata:
        """The input's metadata, without a profile and chromaticities that are not those of values in this space."""
        before = self.input or self.stored or usual(np.dtype(dtype))
        foreign = display and metadata.icc is not None and not files.is_understood(metadata.icc)
        metadata = replace(metadata, colour=unusual(colour))
        if colour == before and not foreign:
            return metadata
        return replace(metadata, icc=None, attributes=without_chromaticities(metadata))

    def kept(self, metadata: files.Metadata) -> files.Metadata:
        """The input's metadata, with what a file of numbers needs to give values back as they were."""
        is_usual = self.dtype is not None and (self.stored or self.input) == usual(self.dtype)
        if self.stored is None:
            return metadata if is_usual else replace(metadata, icc=None, colour=None)
        return replace(metadata, colour=None if is_usual else self.stored)


def usual(depth: np.dtype[Any]) -> Colour:
    """The colour space that values of a depth are taken for unless a file says something else."""
    return LINEAR if depth.kind == "f" else SRGB


def needs_light(values: Colour, written: Colour) -> bool:
    """Says whether values must become Rec. 709 light, other than by sRGB's curve, before they are written."""
    return values != written and values not in (LINEAR, SRGB)


def without_chromaticities(metadata: files.Metadata) -> dict[str, Any]:
    """Returns the EXR attributes without those that describe the stored colours."""
    return {name: value for name, value in metadata.attributes.items() if name != files.CHROMATICITIES}
