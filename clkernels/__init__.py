"""The OpenCL C sources of clpix, as real files in a folder for each family, and the one function that joins them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def _paths() -> dict[str, Path]:
    """Every source by its name, which no two folders have alike."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*/*.cl"))}


@cache
def text(name: str) -> str:
    """The text of ``NAME.cl``, whichever folder it is in."""
    return path(name).read_text(encoding="utf-8")


def path(name: str) -> Path:
    """The file ``NAME.cl``."""
    return _paths()[name]


def joined(texts: Iterable[tuple[str, str]]) -> str:
    """Joins texts, each behind the name of its file, in the given order into one translation unit.

    OpenCL's own #include needs a -I path, which drivers break on (a space in it, quoted or not); so the
    files are joined here, each behind a #line that makes a compiler's messages name the right file and line.
    """
    return "".join(f'#line 1 "{name}.cl"\n{content}\n' for name, content in texts)


def names() -> tuple[str, ...]:
    """Every source there is, sorted."""
    return tuple(sorted(_paths()))
