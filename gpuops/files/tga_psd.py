"""TGA, and the merged picture of PSD, coded by OpenImageIO.

Sources: Truevision TGA 2.0; Adobe, Photoshop File Formats Specification.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import unusual
from . import colours, oiio
from .alpha import straight
from .formats import Format
from .picture import Metadata, Picture
from .raster import icc_of, resolution

#: TGA's type of alpha by which colours are multiplied.
_PREMULTIPLIED = 4
#: PSD's mode of colours that are amounts of ink.
_INKS = "CMYK"


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    if layer is not None:
        raise FileError(f"{path}: has no layer {layer!r} that is read; the merged picture is")
    with oiio.Reader(path) as file:
        spec = file.spec()
        layers = file.count() - 1 if fmt.name == "PSD" else 0
        stored = file.read()
        icc, size = icc_of(spec), resolution(spec)
        premultiplied = spec.get_int_attribute("targa:alpha_type") == _PREMULTIPLIED
        further = _channels(path) - spec.nchannels if fmt.name == "PSD" and spec.nchannels in (1, 3) else 0
        mode = spec.get_string_attribute("psd:ColorMode")
    visible = 3 if stored.shape[2] >= 3 else 1
    pixels = np.ascontiguousarray(stored[:, :, : visible + 1])
    further += max(0, stored.shape[2] - visible - 1)
    if further > 0 and mode != _INKS:
        several = "channels" if further > 1 else "channel"
        note(f"{path}: is read without its further {several} ({further}), not said to be transparency")
    if mode == _INKS:
        note(f"{path}: is CMYK and converted to RGB without colour management")
        icc = None
    if layers:
        note(f"{path}: is read as its merged picture, without its {layers} layer{'s' * (layers > 1)}")
    light = pixels.dtype.kind == "f"
    found = colours.of_profile(icc, gray=visible == 1) if icc else colours.Found()
    for remark in found.remarks(light=light):
        note(f"{path}: {remark}")
    colour = found.colour or colours.usual(pixels.dtype)
    alpha = pixels.shape[2] > visible
    return Picture(
        straight(pixels) if premultiplied and alpha else pixels,
        alpha=alpha,
        linear=colour.linear,
        metadata=Metadata(icc, resolution=size, colour=unusual(colour)),
    )


def _channels(path: str) -> int:
    """The number of channels in a PSD file's header."""
    with open(path, "rb") as file:
        return int.from_bytes(file.read(14)[12:], "big")


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    attributes: dict[str, Any] = {}
    if picture.alpha:
        attributes["oiio:UnassociatedAlpha"] = 1
        attributes["alpha_channel"] = picture.channels - 1
        attributes["channels"] = ("Y", "A") if picture.channels == 2 else ("R", "G", "B", "A")
    oiio.write_parts(path, [(picture.pixels, attributes)])
