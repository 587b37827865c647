"""What a file says of the light of an HDR picture: the display it was mastered on, and how bright its pixels are.

Sources: SMPTE ST 2086 (the display); CTA-861.3, annex P (MaxCLL and MaxFALL); PNG, third edition, 11.3.2.7 and 11.3.2.8
(mDCV, cLLI); ISO/IEC 14496-12, 12.1.7 and 12.1.8 (mdcv, clli).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..pixels.colour import Colour
from ..pixels.curves import REFERENCE_WHITE, Pq

#: Numbers to 1 cd/m².
_LUMINANCE = 10_000
_LARGEST = 2**32 - 1


class HdrLight(NamedTuple):
    """The numbers of a file.

    mastering: x and y of red, green, blue and white in 1/50000, and the largest and the least luminance in 1/10000
    cd/m²; empty where the file does not say them. content: the largest light of a channel (MaxCLL), and the mean over
    the pixels of their largest channel (MaxFALL), in 1/10000 cd/m²; or empty. anew: pixels have changed since.
    """

    mastering: tuple[int, ...] = ()
    content: tuple[int, ...] = ()
    anew: bool = False

    @property
    def names(self) -> list[str]:
        """What is said, in words."""
        return ["mastering display"] * bool(self.mastering) + ["content light level"] * bool(self.content)

    def __str__(self) -> str:
        most, least = (f"{value / _LUMINANCE:g}" for value in self.mastering[-2:] or (0, 0))
        display = f"mastered on a display of {least} … {most} cd/m²" if self.mastering else ""
        largest, mean = (f"{value / _LUMINANCE:g}" for value in self.content or (0, 0))
        content = f"light up to {largest} cd/m², {mean} cd/m² on average" if self.content else ""
        return ", ".join(filter(None, (display, content)))

    def to_json(self) -> dict[str, Any]:
        return {"mastering": list(self.mastering), "content": list(self.content)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> HdrLight:
        """The inverse of :meth:`to_json`, of new pixels. Raises ValueError, TypeError or KeyError for anything else."""
        mastering, content = (tuple(map(int, value[name])) for name in ("mastering", "content"))
        light = cls(mastering, content, anew=True)
        numbers = (*light.mastering, *light.content)
        if len(light.mastering) not in (0, 10) or len(light.content) not in (0, 2):
            raise ValueError("has another number of numbers")
        if (
            not all(0 <= number <= _LARGEST for number in numbers)
            or max(light.mastering[:8], default=0) > 65535
        ):
            raise ValueError("has numbers beyond 32 bits")
        return light

    def png_chunks(self) -> dict[bytes, bytes]:
        """The chunks cLLI and mDCV, in this order."""
        chunks = {b"cLLI": struct.pack(">2I", *self.content)} if self.content else {}
        return chunks | ({b"mDCV": struct.pack(">8H2I", *self.mastering)} if self.mastering else {})


def of_png(chunks: Mapping[bytes, bytes]) -> HdrLight | None:
    """What chunks mDCV and cLLI say; None if there is none that does."""
    display, content = chunks.get(b"mDCV", b""), chunks.get(b"cLLI", b"")
    return _known(
        struct.unpack(">8H2I", display) if len(display) == 24 else (),
        struct.unpack(">2I", content) if len(content) == 8 else (),
    )


def of_boxes(boxes: Mapping[bytes, bytes]) -> HdrLight | None:
    """What boxes mdcv and clli say, which name green first and have whole cd/m²; None if there is none that does."""
    display, content = boxes.get(b"mdcv", b""), boxes.get(b"clli", b"")
    if len(display) == 24:
        green_x, green_y, blue_x, blue_y, red_x, red_y, *rest = struct.unpack(">8H2I", display)
        mastering: tuple[int, ...] = (red_x, red_y, green_x, green_y, blue_x, blue_y, *rest)
    else:
        mastering = ()
    levels = struct.unpack(">2H", content) if len(content) == 4 else ()
    return _known(mastering, tuple(_LUMINANCE * level for level in levels))


def _known(mastering: tuple[int, ...], content: tuple[int, ...]) -> HdrLight | None:
    return HdrLight(mastering, content) if mastering or content else None


def is_absolute(colour: Colour) -> bool:
    """Whether values of a space are luminances of a display: those of PQ are."""
    return all(isinstance(curve, Pq) for curve in colour.curves)


class ContentMeter:
    """Measures the light of pixels, whole numbers of a space that is absolute."""

    def __init__(self, colour: Colour, dtype: str) -> None:
        self._light = np.asarray(colour.light_of_codes(dtype)[0], np.float64) * REFERENCE_WHITE
        self._counts = np.zeros(len(self._light), np.int64)

    def add(self, pixels: np.ndarray[Any, Any]) -> None:
        """Takes some more pixels, (rows, columns, channels) without alpha."""
        self._counts += np.bincount(pixels.max(2).ravel(), minlength=len(self._counts))

    @property
    def content(self) -> tuple[int, int]:
        """MaxCLL and MaxFALL, as in :class:`HdrLight`."""
        largest = self._light[np.flatnonzero(self._counts)[-1]]
        mean = self._counts @ self._light / self._counts.sum()
        return round(largest * _LUMINANCE), round(mean * _LUMINANCE)
