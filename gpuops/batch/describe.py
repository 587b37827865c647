"""A file's contents, as text for a person and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import json_values
from ..files import Format, Metadata, NamedArrays, Picture, exif, icc, photograph
from ..files.streams import printable
from ..pixels.colour import Colour
from .contents import CHANNELS

#: The depths of pixels, as tables name them.
_DEPTHS = {"uint8": "8 bits", "uint16": "16 bits", "float16": "half", "float32": "float"}
#: Characters of an attribute's value, at most.
_LONGEST = 100


def as_json(
    path: str,
    fmt: Format,
    content: Picture | NamedArrays,
    measured: Mapping[str, Any],
) -> Any:
    """Returns the whole description; ``measured``: statistics, by arrays' names, a picture's under ""."""

    def statistics(name: str) -> dict[str, Any]:
        return {"statistics": measured[name]} if name in measured else {}

    metadata = _metadata(content.metadata, _profile(content))
    if isinstance(content, NamedArrays):
        arrays = {
            name: {"shape": array.shape, "dtype": array.dtype.name, **statistics(name)}
            for name, array in content.arrays.items()
        }
        body: dict[str, Any] = {"kind": "numbers", "arrays": arrays, "attributes": content.attributes}
        body |= {"colour": _colour(content.metadata.colour), "metadata": metadata}
    else:
        body = {
            "kind": "picture",
            "width": content.width,
            "height": content.height,
            "channels": CHANNELS[content.channels],
            "alpha": content.alpha,
            "associated": content.associated,
            "dtype": content.depth.name,
            "inks": "CMYK" if content.inks else None,
            "space": "linear" if content.linear else "encoded",
            "colour": _colour(content.colour),
            "layer": content.layer,
            "layers": content.layers,
            "metadata": metadata,
            **statistics(""),
        }
    return json_values({"path": printable(path), "format": str(fmt), **body}, lambda _: None)


def _colour(colour: Colour | None) -> dict[str, Any] | None:
    """Returns the names of the transfer and the primaries, and whether the range of codes is narrow (limited)."""
    if colour is None:
        return None
    if colour.data:
        return {"transfer": "data", "primaries": None, "narrow_range": False}
    return {"transfer": colour.transfer, "primaries": colour.primaries, "narrow_range": colour.narrow}


def _coloured(colour: Colour, *, gray: bool) -> str:
    """Returns the colour space in words; primaries are only named where they are not Rec. 709's."""
    if colour.data:
        return "data"
    primaries = "" if gray or colour.is_rec709 else f", {colour.primaries} primaries"
    transfer = "linear light" if colour.linear else f"{colour.transfer}-encoded"
    return f"{transfer}{primaries}{', narrow range' if colour.narrow else ''}"


def _profile(content: Picture | NamedArrays) -> bytes | None:
    """Returns a file's ICC profile. That of a file with inks is kept with the inks."""
    of_inks = content.inks if isinstance(content, Picture) else None
    return of_inks.profile if of_inks else content.metadata.icc


def _metadata(metadata: Metadata, profile: bytes | None) -> dict[str, Any]:
    """Returns the blocks' sizes in bytes (None for no block), the profile's name, resolution, windows (x and y of the
    pixels; x, y, width and height of what is displayed) and EXR attributes."""
    blocks = {"icc": profile, "exif": metadata.exif, "xmp": metadata.xmp}
    return {
        "icc_description": icc.description(profile) if profile else None,
        **{name: len(block) if block else None for name, block in blocks.items()},
        "orientation": exif.orientation(metadata.exif) if metadata.exif else None,
        "exif_tags": photograph.tags(metadata.exif) if metadata.exif else {},
        "resolution": metadata.resolution,
        "windows": None if metadata.frame is None else metadata.frame.window,
        "attributes": {name: value for name, (_, value) in metadata.attributes.items()},
        "light": None if metadata.light is None else metadata.light.to_json(),
        "gain_map": None if metadata.gain is None else metadata.gain.to_json(),
        "texts": [[printable(text.key), printable(text.value)] for text in metadata.texts],
        "cards": [printable(card.rstrip()) for card in metadata.cards],
    }


def as_text(path: str, fmt: Format, content: Picture | NamedArrays) -> Iterator[str]:
    """Returns lines that describe a file."""
    if isinstance(content, NamedArrays):
        yield f"{path}: {fmt}, {_kind(content)}"
        rows = [
            (name, " × ".join(map(str, array.shape)) or "one value", array.dtype.name)
            for name, array in content.arrays.items()
        ]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
        for name, shape, dtype in rows:
            yield f"  {f'{name:<{widths[0]}}  ' if widths[0] else ''}{shape:<{widths[1]}}  {dtype}"
        for name, value in content.attributes.items():
            yield f"  {name}: {_shortened(value)}"
        if colour := content.metadata.colour:
            yield f"  of values that are {_coloured(colour, gray=False)}"
    else:
        colours = "CMYK" if content.inks else "RGB" if content.channels > 2 else "gray"
        alpha = " with associated alpha" if content.associated else " with alpha" if content.alpha else ""
        yield (
            f"{path}: {fmt}, {content.width} × {content.height}, {colours}{alpha}, "
            f"{_DEPTHS[content.depth.name]}, {_meaning(content)}"
        )
        if content.layers:
            others = ", ".join(name or "(unnamed)" for name in content.layers)
            yield f"  layers {others}; this is {content.layer or '(unnamed)'}"
    metadata = content.metadata
    if metadata.resolution:
        x, y, unit = metadata.resolution
        yield f"  resolution {x:g} × {y:g} pixels per {'inch' if unit == 'in' else unit}"
    for name, block in (("ICC profile", _profile(content)), ("EXIF", metadata.exif), ("XMP", metadata.xmp)):
        if block:
            turned = exif.orientation(block) if name == "EXIF" else 1
            called = icc.description(block) if name == "ICC profile" else ""
            title = f"{name} “{_shortened(called)}”" if called else name
            yield f"  {title}, {len(block)} bytes{f', orientation {turned}' if turned != 1 else ''}"
    if metadata.exif and (taken := photograph.in_words(photograph.tags(metadata.exif))):
        yield f"  taken {_shortened(taken)}"
    if metadata.frame:
        yield f"  pixels {metadata.frame}"
    for text in metadata.texts:
        yield f"  {printable(text.key)}: {_shortened(printable(text.value))}"
    if metadata.light:
        yield f"  {metadata.light}"
    if metadata.gain:
        yield f"  {metadata.gain}"
    for name, (_, value) in metadata.attributes.items():
        yield f"  {name}: {_shortened(value)}"
    for card in metadata.cards:
        yield f"  {printable(card.rstrip())}"


def _meaning(content: Picture) -> str:
    """Returns what a picture's values are, in words."""
    if content.inks:
        return "as its profile says" if content.inks.profile else "without a profile"
    return _coloured(content.colour, gray=content.channels < 3)


def _kind(content: NamedArrays) -> str:
    if content.attributes.get("kind") == "spectrum":
        return "a spectrum"
    return "wavelet coefficients" if content.attributes.get("transform") == "dwt" else "numbers"


def _shortened(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
