"""The operations that are declared once, each in the module of its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..operation import Operation

#: The line that a list of commands has about each operation.
OPERATIONS = {
    "crop": "a rectangle of an image",
    "sharpen": "unsharp mask, of light or of its luminance",
}


def operation(name: str) -> Operation:
    """The declaration of one of :data:`OPERATIONS`."""
    found: Operation = import_module(f".{name}", __package__).OPERATION
    return found
