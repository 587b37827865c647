"""TGA, and the merged picture of PSD, coded by OpenImageIO.

Sources: Truevision TGA 2.0; Adobe, Photoshop File Formats Specification.
"""

from __future__ import annotations

import numpy as np

from ..errors import FileError
from ..notes import note
from ..params.storage import Storage
from ..pixels.colour import unusual
from . import colours, inks, oiio, psd
from .alpha import straight
from .formats import Format
from .picture import Metadata, Picture
from .raster_page import alpha_attributes, icc_of, resolution
from .reading import parsing

#: TGA's type of alpha by which colours are multiplied.
_PREMULTIPLIED = 4


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    if layer is not None:
        raise FileError(f"{path}: has no layer {layer!r} that is read; the merged picture is")
    header = _header(path) if fmt.name == "PSD" else None
    if header is not None and header.is_cmyk:
        return _read_inks(path, header)
    with oiio.Reader(path) as file:
        spec = file.spec()
        layers = file.count() - 1 if header else 0
        stored = file.read()
        icc, size = icc_of(spec), resolution(spec)
        premultiplied = spec.get_int_attribute("targa:alpha_type") == _PREMULTIPLIED
        further = header.channels - spec.nchannels if header and spec.nchannels in (1, 3) else 0
    visible = 3 if stored.shape[2] >= 3 else 1
    pixels = np.ascontiguousarray(stored[:, :, : visible + 1])
    further += max(0, stored.shape[2] - visible - 1)
    _say(path, further, layers)
    found = colours.of_profile(icc, gray=visible == 1) if icc else colours.Found()
    colour = found.told(path, light=pixels.dtype.kind == "f")
    alpha = pixels.shape[2] > visible
    return Picture(
        straight(pixels) if premultiplied and alpha else pixels,
        alpha=alpha,
        linear=colour.linear,
        metadata=Metadata(icc, resolution=size, colour=unusual(colour)),
    )


def _header(path: str) -> psd.PsdHeader:
    with open(path, "rb") as file, parsing(path):
        return psd.PsdHeader.of(file)


def _read_inks(path: str, header: psd.PsdHeader) -> Picture:
    """The merged picture of a PSD file of CMYK."""
    with oiio.Reader(path) as file:
        spec, layers = file.spec(), file.count() - 1
        file.check_plausible(spec)
    found = inks.inks_of(path, icc_of(spec), str(spec.format))
    alpha = spec.alpha_channel >= 0
    with parsing(path):
        pixels = psd.inks(path, alpha=alpha)
    _say(path, header.channels - pixels.shape[2], layers)
    # Transparency has mixed colours with white, which is no ink.
    colours = inks.rgb(straight(pixels) if alpha else pixels, found.profile)
    return Picture(colours, alpha=alpha, metadata=Metadata(resolution=resolution(spec)), inks=found)


def _say(path: str, further: int, layers: int) -> None:
    """Notes what of a file is not read."""
    if further > 0:
        several = "channels" if further > 1 else "channel"
        note(f"{path}: is read without its further {several} ({further}), not said to be transparency")
    if layers:
        note(f"{path}: is read as its merged picture, without its {layers} layer{'s' * (layers > 1)}")


def write(path: str, picture: Picture, fmt: Format, storage: Storage) -> None:
    attributes = alpha_attributes(picture.channels) if picture.alpha else {}
    oiio.write_parts(path, [(picture.pixels, attributes)])
