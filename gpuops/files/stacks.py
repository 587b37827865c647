"""What ImageJ and OME say of a TIFF file's pages in the first one's description: it follows pages and pixels.

Sources: tifffile's notes on ImageJ's hyperstacks, which nobody documents; OME-TIFF and the OME schema of 2016-06.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..params.moves import Move
from .exif import DESCRIPTION, POINTERS, Directory, Entry, MalformedError, Structure, laid_out

#: The lines of ImageJ that say which pages there are.
_PAGES = re.compile(r"(images|channels|slices|frames|hyperstack|mode)=.*")
#: How ImageJ's description begins.
_IMAGEJ = "ImageJ="
#: OME's names of types.
_TYPES = {"uint8": "uint8", "uint16": "uint16", "float16": "float", "float32": "float"}
#: Characters of a description; more are not looked at.
_LONGEST = 1 << 24
#: The attributes of pixels that say how many pages there are.
_SIZES = ("SizeZ", "SizeC", "SizeT")


def is_known(text: str) -> bool:
    """Whether a description is ImageJ's or OME's."""
    return text.startswith(_IMAGEJ) or _ome(text) is not None


def text_of(directory: Directory) -> str:
    """Returns the description in a directory, if it is ImageJ's or OME's, or ""."""
    entry = directory.get(DESCRIPTION)
    text = entry.data.rstrip(b"\0").decode("utf-8", "replace") if isinstance(entry, Entry) else ""
    return text if is_known(text) else ""


def with_text(directory: Directory, text: str) -> None:
    """Puts a description into a directory."""
    data = text.encode("utf-8") + b"\0"
    directory[DESCRIPTION] = Entry(2, len(data), data)


def described(block: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """Returns the EXIF block for a file of one page of a shape (height, width, channels)."""
    with suppress(MalformedError):
        structure = Structure(io.BytesIO(block))
        directory, _ = structure.tree(structure.first, POINTERS)
        if text := text_of(directory):
            with_text(directory, written(text, shape, dtype, 1))
            return b"II*\0\x08\0\0\0" + laid_out(directory, 8)
    return block


def written(text: str, shape: tuple[int, ...], dtype: np.dtype[Any], count: int, whole: str = "") -> str:
    """Returns the description of a file of ``count`` pages of a shape (height, width, channels) and a type.

    ``whole``: that of the file that all its pages, in their order, are of; without it pages are points in time.
    """
    if text.startswith(_IMAGEJ):
        lines = [line for line in text.splitlines() if not _PAGES.fullmatch(line)]
        axes = [f"frames={count}", "hyperstack=true"]
        if whole.startswith(_IMAGEJ) and f"images={count}" in whole.splitlines():
            axes = [
                line
                for line in whole.splitlines()
                if _PAGES.fullmatch(line) and not line.startswith("images=")
            ]
        pages = [f"images={count}", *axes] if count > 1 else []
        return "\n".join([lines[0], *pages, *lines[1:], ""])
    root = _ome(text)
    assert root is not None
    pixels = _pixels(root)
    of_whole = _ome(whole)
    sizes = {} if of_whole is None else {name: _pixels(of_whole).get(name, "1") for name in _SIZES}
    if np.prod([int(size) for size in sizes.values()] or [0]) != count:
        sizes = {"SizeZ": "1", "SizeC": "1", "SizeT": str(count)}
    elif of_whole is not None:
        pixels.set("DimensionOrder", _pixels(of_whole).get("DimensionOrder", "XYZCT"))
    height, width, channels = shape
    if channels > 1:
        sizes["SizeC"] = str(channels * int(sizes["SizeC"]))
    for name, value in {**sizes, "SizeX": width, "SizeY": height, "Type": _TYPES[dtype.name]}.items():
        pixels.set(name, str(value))
    space = _space(root)
    known = (pixels if of_whole is None else _pixels(of_whole)).findall(f"{space}Channel")
    for child in list(pixels):
        if child.tag.removeprefix(space) in ("Channel", "TiffData", "Plane", "BinData", "MetadataOnly"):
            pixels.remove(child)
    for number in range(int(sizes["SizeC"]) // channels):
        made = ElementTree.Element(f"{space}Channel", {"ID": f"Channel:0:{number}"})
        pixels.insert(number, known[number] if number < len(known) else made)
        pixels[number].set("SamplesPerPixel", str(channels))
    pixels.append(ElementTree.Element(f"{space}TiffData", {"IFD": "0", "PlaneCount": str(count)}))
    for name in ("SignificantBits", "BigEndian", "Interleaved"):
        pixels.attrib.pop(name, None)
    return _text(root)


def moved(text: str, move: Move) -> str:
    """Returns the description of a moved picture: OME says how large a pixel is."""
    root = _ome(text)
    if root is None:
        return text
    pixels = _pixels(root)
    sides = [(pixels.get(f"PhysicalSize{axis}"), pixels.get(f"PhysicalSize{axis}Unit")) for axis in "XY"]
    tilted = not (move.transposes or move.b == 0 == move.c)
    if tilted and sides[0] != sides[1]:
        sides = [(None, None)] * 2
    factors = (1.0, 1.0) if tilted else (abs(move.a) + abs(move.b), abs(move.c) + abs(move.d))
    for axis, (size, unit), factor in zip("XY", sides[:: -1 if move.transposes else 1], factors, strict=True):
        for name, value in (("", _divided(size, factor)), ("Unit", unit)):
            pixels.attrib.pop(f"PhysicalSize{axis}{name}", None)
            if value is not None:
                pixels.set(f"PhysicalSize{axis}{name}", value)
    return _text(root)


def _divided(size: str | None, factor: float) -> str | None:
    try:
        return None if size is None else repr(float(size) / factor)
    except ValueError:
        return None


def _ome(text: str) -> ElementTree.Element | None:
    """Returns the root of OME's description with one picture, or None of another text."""
    if not text.lstrip().startswith("<") or len(text) > _LONGEST:
        return None
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return None
    if root.tag.rpartition("}")[2] != "OME":
        return None
    space = _space(root)
    images = root.findall(f"{space}Image")
    if not images or images[0].find(f"{space}Pixels") is None:
        return None
    for other in images[1:]:
        root.remove(other)
    root.attrib.pop("UUID", None)
    return root


def _pixels(root: ElementTree.Element) -> ElementTree.Element:
    return next(one for one in root.iter() if one.tag.rpartition("}")[2] == "Pixels")


def _space(root: ElementTree.Element) -> str:
    """Returns the namespace, as it stands before names."""
    return root.tag[: root.tag.rfind("}") + 1]


def _text(root: ElementTree.Element) -> str:
    if space := _space(root):
        ElementTree.register_namespace("", space[1:-1])
    return '<?xml version="1.0" encoding="UTF-8"?>' + ElementTree.tostring(root, encoding="unicode")
