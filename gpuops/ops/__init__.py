"""The operations that are declared once, each in the module of its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..operation import Operation

#: name: what a list of commands says of it.
OPERATIONS = {
    "crop": "a rectangle of an image",
    "deconvolve": "undo a blur, by Wiener or Richardson–Lucy",
    "sharpen": "unsharp mask, of light or of its luminance",
}


def operation(name: str) -> Operation:
    """The declaration of one of :data:`OPERATIONS`."""
    found: Operation = import_module(f".{name}", __package__).OPERATION
    return found
