"""Border modes as numpy.pad and scipy.ndimage have them; wrap-x is one mode of theirs for each axis."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# gpuops' modes in numpy.pad.
PAD: dict[str, Any] = {
    "reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant",
}  # fmt: skip


def pad(x: np.ndarray, widths: Sequence[tuple[int, int]], mode: str, cval: float = 0.0) -> np.ndarray:
    """Applies numpy.pad to an array whose last axis is along rows."""
    if mode == "wrap-x":
        none = (0, 0)
        x = np.pad(x, [*[none] * (x.ndim - 1), widths[-1]], mode="wrap")
        return np.pad(x, [*widths[:-1], none], mode="symmetric")
    return np.pad(x, widths, mode=PAD[mode], **({"constant_values": cval} if mode == "constant" else {}))


def modes(mode: str, axes: int = 3) -> str | list[str]:
    """The modes for filters of scipy.ndimage that take one mode for each axis, of which the last is along rows."""
    return [*["reflect"] * (axes - 1), "wrap"] if mode == "wrap-x" else mode


def filtered(
    function: Callable[..., np.ndarray], x: np.ndarray, *args: Any, mode: str, reach: int, **more: Any
) -> np.ndarray:
    """A filter of scipy.ndimage that takes one mode, and reads no more than ``reach`` columns beyond the edges."""
    if mode != "wrap-x":
        return function(x, *args, mode=mode, **more)
    wide = np.pad(x, [*[(0, 0)] * (x.ndim - 1), (reach, reach)], mode="wrap")
    return function(wide, *args, mode="reflect", **more)[..., reach : reach + x.shape[-1]]
