"""The operations, each declared once in the module of its name: the table of contents of the product."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..operation import Operation

#: The line that a list of commands has about each operation.
OPERATIONS = {
    "tonemap": "HDR → display",
    "blur": "Gaussian, box, disc, motion, median or bilateral blur",
    "bloom": "glow around bright light",
    "convolve": "convolution with any kernel image",
    "crop": "a rectangle of an image",
    "merge": "a bracketed set → one picture, by exposure fusion",
    "mix": "two pictures, mixed by an amount or a mask",
    "convert": "another depth, format or colour space",
    "denoise": "noise taken away by shrinking wavelet coefficients",
    "filter": "low-, high- and bandpass, notches, and masks of the spectrum",
    "flip": "an image mirrored, value for value",
    "grade": "exposure, ASC CDL, contrast, saturation and a curve",
    "ocio": "colour spaces, displays and looks of OpenColorIO",
    "register": "a picture shifted to lie on another one, to parts of a pixel",
    "rotate": "an image turned, by any angle or as its EXIF orientation asks",
    "resize": "another size, by Lanczos and other filters",
    "thumbnail": "small, upright versions of pictures, for the web",
    "deconvolve": "undo a blur, by Wiener or Richardson–Lucy",
    "sharpen": "unsharp mask, of light or of its luminance",
}

#: The steps that a chain may have: the operations, and what has no sense alone.
STEPS = {**OPERATIONS, "write": "write what the chain has come to"}


def operation(name: str) -> Operation:
    """The declaration of one of :data:`STEPS`."""
    record: Operation = import_module(f".{name}", __package__).OPERATION
    return record
