"""The OpenCL C sources of clpix, as real files, and the one function that joins them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def text(name: str) -> str:
    """The text of ``NAME.cl``."""
    return (_FOLDER / f"{name}.cl").read_text(encoding="utf-8")


def source(*names: str) -> str:
    """Joins ``NAME.cl`` files in the given order into one translation unit.

    OpenCL's own #include needs a -I path, which drivers break on (a space in it, quoted or not); so the
    files are joined here, each behind a #line that makes a compiler's messages name the right file and line.
    """
    return "".join(f'#line 1 "{name}.cl"\n{text(name)}\n' for name in names)


def names() -> tuple[str, ...]:
    """Every source there is, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.cl")))
