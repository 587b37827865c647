"""Work that needs a picture as a whole: the message where the device has no room for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import DeviceMemoryError, byte_count

if TYPE_CHECKING:
    from ..gpu import Gpu


@contextmanager
def needing(gpu: Gpu, what: Callable[[], str | None], nbytes: Callable[[], float]) -> Iterator[None]:
    """Makes the error that the device is out of memory say why so much is needed.

    Parameters
    ----------
    what : callable
        Returns how the line begins, such as "rotate needs the whole picture". None keeps the error as it is.
    nbytes : callable
        Returns the bytes that the work takes on the device.
    """
    try:
        yield
    except DeviceMemoryError as error:
        if (words := what()) is None:
            raise
        needed = max(nbytes(), error.needed)
        hint = "use a smaller picture or another device" if gpu.memory is None else "raise --device-memory"
        raise DeviceMemoryError(
            f"{words}, which takes {byte_count(needed, up=True)} of the device's memory, and {error.room}: {hint}",
            needed,
            error.room,
        ) from error
