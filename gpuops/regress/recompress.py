"""References that take less room: PNG files, compressed anew without loss."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .. import files
from ..errors import ParameterError

# oxipng's effort, of 0 … 6: at higher ones references are 1 % smaller, and take several times as long.
_LEVEL = 3


def recompressed(path: str, draft: Path) -> str:
    """Returns ``draft``, which then holds the same pixels in fewer bytes, or ``path`` if that is no PNG file or small.

    Depth, channels and all metadata stay. Raises ParameterError if oxipng is not installed.
    """
    if Path(path).suffix.lower() != ".png":
        return path
    try:
        import oxipng  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ParameterError("--recompress needs oxipng: pip install 'clpix[regress]'") from None
    draft.parent.mkdir(parents=True, exist_ok=True)
    oxipng.optimize(
        path,
        draft,
        level=_LEVEL,
        bit_depth_reduction=False,
        color_type_reduction=False,
        palette_reduction=False,
        grayscale_reduction=False,
    )
    smaller = os.path.getsize(draft) < os.path.getsize(path)
    return str(draft) if smaller and _same(path, draft) else path


def _same(path: str, draft: Path) -> bool:
    """Says whether two files hold the same values; a pixel that is transparent counts, too."""
    before, after = files.read(path).pixels, files.read(draft).pixels
    return before.dtype == after.dtype and np.array_equal(before, after)
