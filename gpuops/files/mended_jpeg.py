"""JPEG files that break the standard in ways that lose nothing, and that every reader takes, as the standard has them.

Source: ITU-T T.81, B.1.1.2 (markers), B.2.2 (frames), B.2.3 (scans), and table B.3 (their parameters);
T.871 (JFIF).
"""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, field
from pathlib import Path

#: The markers of frames: those that are sequential have scans of all coefficients.
_FRAMES, _SEQUENTIAL = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}, (0xC0, 0xC1, 0xC9)
#: The parameters of such a scan: the first and the last coefficient, and no successive approximation.
_WHOLE = b"\0\x3f\0"
#: A marker other than those within a scan: stuffed bytes, restarts and fill bytes.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])", re.DOTALL)
_END, _SCAN, _JFIF = 0xD9, 0xDA, 0xE0


@dataclass
class _Faults:
    """What to put in place of bytes, from and to, and why; whether there is an end marker, and all coefficients."""

    changes: list[tuple[int, int, bytes, str]] = field(default_factory=list)
    ends: bool = False
    complete: bool = False


def has_end(path: str) -> bool:
    """Whether the first picture of a file has an end marker."""
    return _faults(path).ends


def of_file(path: str) -> tuple[bytes, list[str]] | None:
    """The bytes of a file as the standard has them, and what of it is changed; None where nothing is."""
    found = _faults(path)
    if not (found.changes if found.ends else found.complete):
        return None
    data = Path(path).read_bytes()
    for start, stop, right, _ in reversed(found.changes):
        data = data[:start] + right + data[stop:]
    said = list(dict.fromkeys(why for *_, why in found.changes if why))
    return (data, said) if found.ends else (data + bytes([0xFF, _END]), [*said, "has no end marker"])


def _faults(path: str) -> _Faults:
    found = _Faults()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            _find(found, data)
        except (IndexError, ValueError):  # a header that is cut off
            found.complete = False
    return found


def _find(found: _Faults, data: mmap.mmap) -> None:
    missing: dict[int, list[int]] = {}  # for each component, the bits of its 64 coefficients that no scan had
    sequential, kind, at = False, 0, 2
    while (marker := _MARKER.search(data, at)) is not None:
        if marker.start() > at and kind != _SCAN:
            found.changes.append((at, marker.start(), b"", ""))
        kind, start = marker[1][0], marker.end()
        if kind == _END:
            found.ends = True
            return
        at = start + max(2, int.from_bytes(data[start : start + 2], "big"))
        if kind in _FRAMES:
            sequential = kind in _SEQUENTIAL
            missing = {data[start + 8 + 3 * i]: [1] * 64 for i in range(data[start + 7])}
        elif kind == _JFIF and data[start + 2 : start + 7] == b"JFIF\0" and data[start + 7] != 1:
            found.changes.append((start + 7, start + 8, b"\1", "says a version of JFIF that there is not"))
        elif kind == _SCAN:
            first, last, bits = tuple(_WHOLE if sequential else data[at - 3 : at])
            if sequential and data[at - 3 : at] != _WHOLE:
                found.changes.append((at - 3, at, _WHOLE, "says wrongly which coefficients its scans have"))
            for i in range(data[start + 2]):
                component = missing.get(data[start + 3 + 2 * i], [])
                component[first : last + 1] = [bits & 15] * len(component[first : last + 1])
    found.complete = bool(missing) and not any(map(any, missing.values()))
