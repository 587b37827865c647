"""Positions that an EXIF block, or a TIFF directory, states: they follow the pixels.

GeoTIFF's affine map from the raster to the world (OGC 19-008r4, annex B: tags 33550, 33922, 34264, and key 1025), and
EXIF's subject (CIPA DC-008: SubjectArea, SubjectLocation).
"""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from math import hypot

from ..params.moves import Move
from .exif import EXIF_IFD, GEOREFERENCES, POINTERS, Directory, Entry, MalformedError, Structure, laid_out
from .stacks import moved as moved_text
from .stacks import text_of, with_text

_SCALE, _TIE, _AFFINE, _KEYS = GEOREFERENCES
_RATIONAL = 50844
#: The key of the raster's kind, and its value for positions that are those of pixels' centres.
_RASTER, _POINT = 1025, 2
#: EXIF's tags: the middle of the subject, and how large it is; and the middle alone.
_AREA, _LOCATION = 0x9214, 0xA214
#: The type SHORT, and DOUBLE.
_SHORT, _DOUBLE = 3, 12
#: What positions may be off by, after some moves.
_NEAR = 1e-9


def moved(block: bytes, move: Move) -> tuple[bytes, list[str]]:
    """Returns the block of the moved picture, and the names of what cannot follow, which is left out."""
    with suppress(MalformedError, struct.error):
        structure = Structure(io.BytesIO(block))
        directory, _ = structure.tree(structure.first, POINTERS)
        lost = [*_georeferenced(directory, move), *_with_subject(directory, move)]
        text = text_of(directory)
        if text and (other := moved_text(text, move)) != text:
            with_text(directory, other)
            return b"II*\0\x08\0\0\0" + laid_out(directory, 8), lost
        changed = any(tag in directory for tag in (_SCALE, _TIE, _AFFINE)) or _has_subject(directory)
        if changed or lost:
            return b"II*\0\x08\0\0\0" + laid_out(directory, 8), lost
    return block, []


def tell_of_data(block: bytes) -> bool:
    """Whether a block has what says that pixels are data: GeoTIFF's tags, or ImageJ's or OME's description."""
    with suppress(MalformedError):
        tags = Structure(io.BytesIO(block)).led_to().tags
        return not tags.keys().isdisjoint(GEOREFERENCES) or bool(text_of({**tags}))
    return False


def _doubles(directory: Directory, tag: int) -> tuple[float, ...]:
    entry = directory.get(tag)
    if not isinstance(entry, Entry) or entry.kind != _DOUBLE:
        return ()
    return struct.unpack(f"<{entry.count}d", entry.data)


def _put(directory: Directory, tag: int, *values: float) -> None:
    directory[tag] = Entry(_DOUBLE, len(values), struct.pack(f"<{len(values)}d", *values))


def _georeferenced(directory: Directory, move: Move) -> list[str]:
    """Changes a directory's map to the world; returns names of what is left out."""
    scale, tie, affine = (_doubles(directory, tag) for tag in (_SCALE, _TIE, _AFFINE))
    lost = ["rational polynomial coefficients"] if directory.pop(_RATIONAL, None) else []
    half = 0.5 if _raster(directory) == _POINT else 0.0
    if len(affine) == 16:
        a, b, _, x, c, d, _, y = affine[:8]
        rest = affine[8:]
    elif len(scale) == 3 and len(tie) == 6:
        a, b, c, d = scale[0], 0.0, 0.0, -scale[1]
        x, y = tie[3] - a * tie[0], tie[4] - d * tie[1]
        rest = (0.0, 0.0, scale[2], tie[5], 0.0, 0.0, 0.0, 1.0)
    else:
        if directory.keys() & {_SCALE, _TIE, _AFFINE}:
            lost.append("GeoTIFF's tie points")
        for tag in (_SCALE, _TIE, _AFFINE):
            directory.pop(tag, None)
        return lost
    world = Move(a, b, c, d, x - half * (a + b), y - half * (c + d), 1, 1)  # of the edges of pixels
    world = move.back(1, 1).then(world)
    a, b, c, d = world.matrix
    x, y = world(half, half)
    if abs(b) + abs(c) <= _NEAR * (abs(a) + abs(d)) and a > 0 > d:
        directory.pop(_AFFINE, None)
        _put(directory, _SCALE, a, -d, rest[2])
        _put(directory, _TIE, 0, 0, 0, x, y, rest[3])
    else:
        directory.pop(_SCALE, None)
        directory.pop(_TIE, None)
        _put(directory, _AFFINE, a, b, 0, x, c, d, 0, y, *rest)
    return lost


def _raster(directory: Directory) -> int:
    """Returns the raster's kind, or 0."""
    entry = directory.get(_KEYS)
    keys = entry.integers() if isinstance(entry, Entry) and entry.kind == _SHORT else []
    for at in range(4, len(keys) - 3, 4):
        if keys[at : at + 2] == [_RASTER, 0]:
            return keys[at + 3]
    return 0


def _has_subject(directory: Directory) -> bool:
    part = directory.get(EXIF_IFD)
    return isinstance(part, dict) and bool(part.keys() & {_AREA, _LOCATION})


def _with_subject(directory: Directory, move: Move) -> list[str]:
    """Changes where a directory says the subject is; returns its name if that is left out."""
    part = directory.get(EXIF_IFD)
    if not isinstance(part, dict) or not _has_subject(directory):
        return []
    lost = False
    for tag in (_AREA, _LOCATION):
        entry = part.pop(tag, None)
        if not isinstance(entry, Entry):
            continue
        values = _subject(entry.integers(), move) if entry.kind == _SHORT and 2 <= entry.count <= 4 else None
        if values is None:
            lost = True
        else:
            part[tag] = Entry(_SHORT, len(values), struct.pack(f"<{len(values)}H", *values))
    return ["place of the subject"] if lost else []


def _subject(values: list[int], move: Move) -> list[int] | None:
    """Returns a point, and the diameter, or the width and the height, of what is there; None if it is not seen."""
    x, y = move(values[0] + 0.5, values[1] + 0.5)
    if not (0 <= x < move.width and 0 <= y < move.height):
        return None
    a, b, c, d = move.matrix
    sizes: list[float] = []
    if len(values) == 3:
        sizes = [hypot(a, c) * values[2]]
    elif len(values) == 4:
        if not (b == c == 0 or move.transposes):
            return None
        sizes = [abs(a) * values[2] + abs(b) * values[3], abs(c) * values[2] + abs(d) * values[3]]
    return [int(x + _NEAR), int(y + _NEAR), *(max(1, min(round(side), 0xFFFF)) for side in sizes)]
