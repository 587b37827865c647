"""PNG, JPEG, WebP, TIFF, Radiance HDR, JPEG 2000 and DPX through the OpenImageIO plugin.

PNG, TIFF, JPEG and WebP only for reading; png.py, tiff.py and lossy.py write them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import FileError, GpuopsWarning
from . import containers, oiio
from .alpha import straight
from .formats import Format
from .picture import Metadata, Picture, Pixels

_JPEG2000_LEAST = 32  # the encoder halves the picture five times
_CMYK = b"CMYK"


def read(path: str, fmt: Format, layer: str | int | None = None) -> Picture:
    extras = containers.read_extras(path, fmt.name)
    if extras.damage:
        raise FileError(f"{path}: {extras.damage}; get a whole copy of it")
    with oiio.opened(path, "r") as file:
        count = file.count() if fmt.name == "TIFF" else 1
        page = _page(path, layer, count)
        spec = file.spec(page)
        stored = str(spec.format)
        if stored not in ("uint8", "uint16", "half", "float", "double"):
            raise FileError(f"{path}: holds {stored} samples; convert it to 8 or 16 bits or to float first")
        if stored == "double":
            warnings.warn(f"{path}: double precision is read as float", GpuopsWarning, stacklevel=4)
        pixels = file.read(index=page, dtype="float32" if stored == "double" else None)
    if count > 1 and layer is None:
        warnings.warn(f"{path}: holds {count} pages; the first is used", GpuopsWarning, stacklevel=4)
    pixels, alpha = _channels(path, pixels, spec.alpha_channel)
    associated = alpha and fmt.name == "TIFF" and not spec.get_int_attribute("oiio:UnassociatedAlpha")
    return Picture(
        straight(pixels) if associated else pixels,
        alpha=alpha,
        linear=pixels.dtype.kind == "f",
        metadata=Metadata(extras.icc or _icc(spec), extras.exif, extras.xmp, resolution(spec)),
        associated=associated,
        layer=str(page) if count > 1 else "",
        layers=tuple(map(str, range(count))) if count > 1 else (),
    )


def write(path: str, picture: Picture, fmt: Format) -> None:
    metadata = picture.metadata
    if fmt.name == "JPEG 2000" and min(picture.width, picture.height) < _JPEG2000_LEAST:
        raise OSError(f"JPEG 2000 needs at least {_JPEG2000_LEAST} pixels each way; choose another format")
    attributes: dict[str, Any] = {}
    if picture.alpha:
        attributes["oiio:UnassociatedAlpha"] = 1
        attributes["alpha_channel"] = picture.channels - 1
        attributes["channels"] = ("Y", "A") if picture.channels == 2 else ("R", "G", "B", "A")
    if metadata.icc:
        attributes["ICCProfile"] = (f"uint8[{len(metadata.icc)}]", np.frombuffer(metadata.icc, np.uint8))
    with oiio.opened(path, "w") as file:
        file.write(picture.pixels, attributes=attributes)


def resolution(spec: Any) -> tuple[float, float, str] | None:
    x, y = spec.get_float_attribute("XResolution"), spec.get_float_attribute("YResolution")
    unit = {"in": "in", "inch": "in", "cm": "cm", "m": "m"}.get(spec.get_string_attribute("ResolutionUnit"))
    if unit == "m":  # pixels per metre
        x, y, unit = x / 100, y / 100, "cm"
    return (x, y or x, unit) if unit and x > 0 else None


def resolution_attributes(value: tuple[float, float, str]) -> dict[str, Any]:
    x, y, unit = value
    return {"XResolution": float(x), "YResolution": float(y), "ResolutionUnit": unit}


def _page(path: str, layer: str | int | None, count: int) -> int:
    if layer is None:
        return 0
    if not str(layer).isdecimal() or int(layer) >= count:
        have = f"pages 0 to {count - 1}" if count > 1 else "no layers"
        raise FileError(f"{path}: has no layer {layer!r}; it has {have}")
    return int(layer)


def _channels(path: str, pixels: Pixels, alpha: int) -> tuple[Pixels, bool]:
    """Gray or RGB, with alpha last where the file has it; further channels are named and left out."""
    n = pixels.shape[2]
    if (n in (1, 3) and alpha < 0) or (n in (2, 4) and alpha == n - 1):
        return pixels, alpha >= 0
    colours = 3 if n >= 3 else 1
    kept = list(range(colours)) + ([alpha] if alpha >= colours else [])
    warnings.warn(f"{path}: of its {n} channels only {len(kept)} are used", GpuopsWarning, stacklevel=5)
    return np.ascontiguousarray(pixels[:, :, kept]), len(kept) > colours


def _icc(spec: Any) -> bytes | None:
    """The profile, unless it describes inks while the pixels were decoded to RGB."""
    profile = spec.getattribute("ICCProfile")
    if profile is None:
        return None
    data = np.asarray(profile, np.uint8).tobytes()
    return None if data[16:20] == _CMYK else data
