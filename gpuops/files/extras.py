"""Packages that some formats need and that are not installed with clpix: each belongs to an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import FileError

#: The extra that brings each module.
_EXTRAS = {"av": "video", "pillow_heif": "formats", "rawpy": "raw"}


def needed(module: str, path: str, what: str) -> Any:
    """The module, which reading or writing ``what`` needs; a FileError that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.replace("_", "-")
        raise FileError(f"{path}: {what} needs {package}: pip install 'clpix[{_EXTRAS[module]}]'") from None
