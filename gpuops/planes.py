"""Large images in turn, plane by plane: an operation's temporaries are those of one plane, not of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .image import Image

_AT_ONCE = 1 << 26  # bytes: images up to this are worked on in whole, in as few launches as can be


def in_turn(planes: int, nbytes: int) -> list[slice]:
    """All planes at once where they have few bytes together, else each by itself."""
    return [slice(0, planes)] if nbytes <= _AT_ONCE else [slice(k, k + 1) for k in range(planes)]


def planewise(
    planes: int, nbytes: int, make: Callable[[slice], Image], *, into: Image | None = None
) -> Image:
    """What ``make`` gives for planes in turn, as one Image: in the memory of ``into`` where that has its shape.

    ``nbytes`` is the size of what it is made from, all planes together.
    """
    turns = in_turn(planes, nbytes)
    if len(turns) == 1:
        return make(turns[0])
    result: Image | None = None
    for at in turns:
        part = make(at)
        if result is None:
            shape = (planes, *part.shape[1:])
            fits = into is not None and (into.shape, into.dtype) == (shape, part.dtype)
            result = into if into is not None and fits else part.like(shape)
        result.put(at, part)
        result.alpha = part.alpha  # in the end the last plane's
    assert result is not None
    return result


def planewise_to_host(planes: int, nbytes: int, make: Callable[[slice], Image]) -> npt.NDArray[Any]:
    """As :func:`planewise`, but each part is copied to the host before the next is made."""
    result: npt.NDArray[Any] | None = None
    for at in in_turn(planes, nbytes):
        part = make(at)
        if result is None:
            result = np.empty((planes, *part.shape[1:]), part.dtype)
        part.numpy(result[at])
    assert result is not None
    return result
