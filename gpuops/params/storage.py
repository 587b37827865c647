"""How outputs are stored: quality, resolution of colours and compression. Each format's record says what it knows."""

from __future__ import annotations

from ..records import dataclass

# The resolutions of colours beside that of brightness, as J:a:b says them.
SUBSAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")
# The least and the largest quality.
QUALITIES = (1, 100)


@dataclass(frozen=True)
class Storage:
    """How a picture is stored; None is what its format does by itself.

    Attributes
    ----------
    quality : int, optional
        1 … 100, of formats that lose something.
    subsampling : str, optional
        One of :data:`SUBSAMPLINGS`.
    compression : str, optional
        NAME, NAME:LEVEL, or LEVEL alone.
    gain_map : bool
        Whether a JPEG holds light, by a gain map beside its picture.
    """

    quality: int | None = None
    subsampling: str | None = None
    compression: str | None = None
    gain_map: bool = False


#: How outputs are stored without any option.
USUAL = Storage()
