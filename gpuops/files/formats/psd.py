"""The merged picture of PSD, decoded by OpenImageIO, which gives nothing but RGB of inks: those are read here.

Source: Adobe, Photoshop File Formats Specification: File Header, Image Data.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import numpy as np

from ...errors import FileError
from ...notes import note
from .. import colours, oiio, pillow, samples
from ..picture import Metadata, Picture, Pixels
from ..read_errors import parsing
from .record import Format, LayerId

#: The mode of colours that are amounts of ink, and how many there are.
_CMYK, _INKS = 4, 4
#: The version of large files (PSB).
_LARGE = 2
#: Bytes of the header.
_HEADER = 26
#: The kinds of compression of the merged picture.
_NONE, _RUNS = 0, 1


def _header(file: BinaryIO) -> tuple[int, ...]:
    """A file's version, channels, height, width, bits of a sample and mode."""
    return struct.unpack(">4xH6xHIIHH", file.read(_HEADER))


def _inks(path: str, *, alpha: bool) -> Pixels:
    """The inks of the merged picture, 0 where there is none, and alpha behind them if it is the fifth channel.

    Returns (height, width, channels) of uint8 or uint16. Raises FileError for another depth or compression.
    """
    import imagecodecs

    channels = _INKS + alpha
    with open(path, "rb") as file:
        version, stored_channels, height, width, bits, _ = _header(file)
        large = version == _LARGE
        for size in (4, 4, 8 if large else 4):  # colours of palettes, resources, layers
            file.seek(int.from_bytes(file.read(size), "big"), 1)
        (kind,) = struct.unpack(">H", file.read(2))
        if bits not in (8, 16) or kind not in (_NONE, _RUNS):
            what = f"samples of {bits} bits" if kind in (_NONE, _RUNS) else f"compression {kind}"
            raise FileError(f"{path}: holds inks in {what}; save it as TIFF first")
        counts = None
        if kind == _RUNS:
            unit = np.dtype(">u4" if large else ">u2")
            read = file.read(unit.itemsize * stored_channels * height)
            counts = np.frombuffer(read, unit).reshape(stored_channels, height)
        dtype = np.dtype(f">u{bits // 8}")
        result = np.empty((height, width, channels), dtype.newbyteorder("="))
        for channel in range(channels):
            for row in range(height):
                length = width * dtype.itemsize if counts is None else int(counts[channel, row])
                stored = file.read(length)
                data = stored if counts is None else imagecodecs.packbits_decode(stored)
                result[row, :, channel] = np.frombuffer(data, dtype, width)
    np.invert(result[..., :_INKS], out=result[..., :_INKS])
    return result


def _read(path: str, layer: LayerId) -> Picture:
    with open(path, "rb") as start, parsing(path):
        _, channels, *_, mode = _header(start)
    with oiio.Reader(path) as file:
        spec, layers = file.spec(), file.count() - 1
        icc, size = oiio.icc_of(spec), oiio.resolution(spec)
        if mode == _CMYK:
            file.check_plausible(spec)
            return _of_inks(path, channels, spec, layers)
        stored = file.read()
    visible = 3 if stored.shape[2] >= 3 else 1
    pixels = np.ascontiguousarray(stored[:, :, : visible + 1])
    further = channels - stored.shape[2] if stored.shape[2] in (1, 3) else 0
    _say(path, further + max(0, stored.shape[2] - visible - 1), layers)
    return colours.picture(path, pixels, icc, resolution=size)


def _of_inks(path: str, channels: int, spec: Any, layers: int) -> Picture:
    """The merged picture of a file of CMYK."""
    inks = samples.inks_of(path, oiio.icc_of(spec), str(spec.format))
    alpha = spec.alpha_channel >= 0
    with parsing(path):
        pixels = _inks(path, alpha=alpha)
    _say(path, channels - pixels.shape[2], layers)
    # Transparency has mixed colours with white, which is no ink.
    rgb = samples.rgb_of_inks(samples.straight(pixels) if alpha else pixels, inks.profile)
    return Picture(rgb, alpha=alpha, metadata=Metadata(resolution=oiio.resolution(spec)), inks=inks)


def _say(path: str, further: int, layers: int) -> None:
    """Notes what of a file is not read."""
    if further > 0:
        several = "channels" if further > 1 else "channel"
        note(f"{path}: is read without its further {several} ({further}), not said to be transparency")
    if layers:
        note(f"{path}: is read as its merged picture, without its {layers} layer{'s' * (layers > 1)}")


FORMAT = Format(
    "PSD", (".psd", ".psb"), ("uint8", "uint16", "float32"), _read, unread=pillow.unread_in("PSD"),
    magic=(b"8BPS",),
)  # fmt: skip
