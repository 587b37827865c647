"""What EXIF says of a photograph: all tags by their names in CIPA DC-008, and the usual ones in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .streams import printable

#: The directories of the camera's settings and of the place.
_EXIF, _GPS = 0x8769, 0x8825
#: Characters of a text, and values of a list, at most.
_LONGEST, _MOST = 1000, 100
#: Tags that lead to directories, or whose values only their camera's maker understands.
_UNSAID = ("ExifOffset", "GPSInfo", "MakerNote")


def tags(block: bytes) -> dict[str, Any]:
    """Returns the values of a block's tags; those of places are in a mapping of their own. Damaged ones are missing."""
    from PIL import ExifTags, Image

    known: dict[str, Any] = {}
    with suppress(Exception):  # others' files have all kinds of damage
        exif = Image.Exif()
        exif.load(block)
        for directory in (exif, exif.get_ifd(_EXIF)):
            known |= {ExifTags.TAGS.get(tag, f"tag {tag}"): _plain(value) for tag, value in directory.items()}
        place = exif.get_ifd(_GPS)
        if place:
            named = {ExifTags.GPSTAGS.get(tag, f"tag {tag}"): _plain(value) for tag, value in place.items()}
            known["GPS"] = named
    return {name: value for name, value in known.items() if name not in _UNSAID}


def _plain(value: Any) -> Any:
    """A value for JSON: bytes are texts if they are ASCII, else as many as there are."""
    if isinstance(value, bytes):
        text = value.rstrip(b"\0")
        readable = text.isascii() and text.decode("latin-1").isprintable()
        return text.decode("latin-1")[:_LONGEST] if readable else f"{len(value)} bytes"
    if isinstance(value, str):
        return printable(value.rstrip("\0 "))[:_LONGEST]
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value[:_MOST]]
    return value if isinstance(value, int) else float(value)


def in_words(known: Mapping[str, Any]) -> str:
    """Returns camera, lens, exposure, time, and whether there is a place, as far as tags say them: "by Canon R5, …"."""
    make, model = (str(known.get(name, "")) for name in ("Make", "Model"))
    camera = model if model.lower().startswith(make.lower()) else f"{make} {model}".strip()
    exposure, aperture, length = (
        _number(known.get(name)) for name in ("ExposureTime", "FNumber", "FocalLength")
    )
    speed = _number(known.get("ISOSpeedRatings"))
    time = str(known.get("DateTimeOriginal") or "")
    parts = [
        f"by {camera}" if camera else "",
        str(known.get("LensModel", "")),
        f"{length:g} mm" if length else "",
        "" if not exposure else f"1/{1 / exposure:.0f} s" if exposure < 0.3 else f"{exposure:g} s",
        f"f/{aperture:g}" if aperture else "",
        f"ISO {speed:g}" if speed else "",
        f"at {time[:10].replace(':', '-')}{time[10:]}" if time else "",
        "with its place" if "GPSLatitude" in known.get("GPS", ()) else "",
    ]
    return ", ".join(filter(None, parts))


def _number(value: Any) -> float:
    """A positive number, of a list the first; 0 for all else."""
    if isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, int | float) and math.isfinite(value) and value > 0 else 0.0
