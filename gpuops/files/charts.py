"""Charts, drawn by matplotlib (the extra ``plots``)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..errors import ParameterError
from .locations import Identities
from .output import atomic, check_place

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Path = str | os.PathLike[str]
# The file extensions of charts.
FORMATS = (".png", ".svg")


def check(path: Path, *, overwrite: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Checks, before any work, whether a chart can be drawn and written to ``path``.

    Raises
    ------
    ParameterError
        The name ends with neither .png nor .svg, or matplotlib is missing.
    FileError
        The file cannot be written.
    """
    if _suffix(path) not in FORMATS:
        raise ParameterError(
            f"{os.fspath(path)}: a chart is PNG or SVG; name a file that ends with .png or .svg"
        )
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ParameterError("a chart needs matplotlib: pip install 'clpix[plots]'") from None
    check_place(path, overwrite=overwrite, inputs=Identities(inputs))


def save(figure: Figure, path: Path, *, overwrite: bool = False) -> None:
    """Writes a figure in the format that the name says, whole or not at all; the same figure gives the same bytes."""
    import matplotlib

    kind = _suffix(path)[1:]
    undated = {"Date": None} if kind == "svg" else {}
    # Names within an SVG are random unless their salt is given.
    with atomic(path, overwrite=overwrite) as temporary, matplotlib.rc_context({"svg.hashsalt": "clpix"}):
        figure.savefig(temporary, format=kind, dpi=120, metadata=undated)


def _suffix(path: Path) -> str:
    return PurePath(path).suffix.lower()
