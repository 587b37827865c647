"""OpenEXR pictures: parts and layers with arbitrary channel names, half or float, associated alpha.

A layer is a part's channels with the same prefix ("diffuse.R"), or those without any. Its name is the part's
and the prefix joined by a dot, as far as there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note, some_of
from .. import colours, oiio, samples
from ..colours import Found, of_chromaticities
from ..data import DOUBLES, KEY, Array, Description, RowsOfArray, contradiction, places
from ..picture import CHROMATICITIES, Picture, Pixels, unread
from ..strips import COPIES, NeedsWholeFile, RowsOf
from .record import Codec, Format, LayerId, Levels, Method, NumberFiles

#: Header attributes that describe this file's storage and making, not the picture.
_STORAGE = frozenset({
    "compression", "name", "multiView", "XResolution", "YResolution", "ResolutionUnit", "DateTime", "Software",
    "Exif:ImageHistory", "fovcot",
})  # fmt: skip
#: How the names of further such attributes begin; a thumbnail would show the picture as it was.
_STORAGE_PREFIXES = ("oiio:", "openexr:", "clpix", "thumbnail")
#: The values of attributes that say nothing.
_USUAL = {
    "Orientation": 1, "PixelAspectRatio": 1.0, "screenWindowCenter": (0.0, 0.0), "screenWindowWidth": 1.0,
    "textureformat": "Plain Texture",
}  # fmt: skip
#: Types that OpenImageIO can only read.
_UNWRITABLE = ("double", "uint8")
#: The type of chromaticities.
_EIGHT = "float[8]"
#: The only types in which OpenImageIO writes these names.
_ONLY = {
    "Copyright": "string", "ImageDescription": "string", "PixelAspectRatio": "float", "timeCode": "timecode",
    "keyCode": "keycode",
}  # fmt: skip
#: The largest whole number up to which float holds all.
_EXACT_INTEGERS = 1 << 24


@dataclass(frozen=True)
class Layer:
    name: str
    part: int
    channels: dict[str, int]  # short name ("R") to index in the part

    def picked(self) -> list[int]:
        """The channels that make a picture: R G B (A), or X Y Z (A), or Y (A), or the first one."""
        by_name = {name.upper(): index for name, index in self.channels.items()}
        by_name |= {long[0]: by_name[long] for long in ("RED", "GREEN", "BLUE", "ALPHA") if long in by_name}
        for colour in ("RGB", "XYZ", "Y", "UV"):
            if all(c in by_name for c in colour):
                break
        else:
            return [next(iter(self.channels.values()))]
        if colour == "UV":  # two components are no picture, so the first is shown
            return [by_name["U"]]
        return [by_name[c] for c in (*colour, "A") if c in by_name]

    def unused(self) -> list[str]:
        picked = self.picked()
        return [name for name, index in self.channels.items() if index not in picked]

    def is_xyz(self) -> bool:
        """Whether the channels are X, Y and Z: CIE colour or vectors of space, which names do not tell apart."""
        return [name.upper() for name, index in self.channels.items() if index in self.picked()[:3]] == [
            *"XYZ"
        ]

    def has_alpha(self) -> bool:
        return len(self.picked()) in (2, 4)

    def rank(self) -> tuple[bool, bool, bool]:
        """A sort key by which the layer that is the picture comes first: it has colours, or Y, and no prefix."""
        names = {name.upper() for name in self.channels}
        colour = {"R", "G", "B"} <= names or {"RED", "GREEN", "BLUE"} <= names
        return (not colour, "Y" not in names, "." in self.name)


def _read(path: str, layer: LayerId) -> Picture:
    with oiio.Reader(path) as file:
        how, finished, described = _opened(path, file, layer)
        pixels = finished(file.read(**how))
    return replace(described(), pixels=pixels)


def _read_rows(path: str, layer: LayerId, most: int) -> tuple[Picture, RowsOf, int] | None:
    """The picture, its rows, and how many come together, if ``most`` bytes are too few for all."""
    with oiio.Reader(path) as file:
        how, finished, described = _opened(path, file, layer)
        spec = file.spec(how["index"])
        if spec.image_bytes(True) * COPIES <= most:
            return None
        if spec.deep:
            raise NeedsWholeFile("holds deep data", spec.image_bytes(True))
        file.check_plausible(spec)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        with oiio.Reader(path) as file:
            yield from map(finished, file.blocks(count, **how))

    return described(), rows, max(1, spec.tile_height)


def _opened(
    path: str, file: oiio.Reader, wanted: LayerId
) -> tuple[dict[str, Any], Callable[[Pixels], Pixels], Callable[[], Picture]]:
    """Returns how the file is read, a function from what is read to pixels, and one that gives the picture without."""
    layers = _layers(file)
    chosen = _choose(path, layers, wanted)
    spec = file.spec(chosen.part)
    dtype, first, last, finished = _how_to_read(path, spec, chosen)
    kind = np.dtype(np.float32 if dtype == "uint32" else dtype)
    described = partial(_described, path, spec, layers, chosen, wanted, kind)
    return {"index": chosen.part, "channels": (first, last), "dtype": dtype}, finished, described


def _described(
    path: str, spec: Any, layers: list[Layer], chosen: Layer, wanted: LayerId, dtype: np.dtype[Any]
) -> Picture:
    """Returns the picture without its pixels; ``wanted``: the layer that somebody has named."""
    names = tuple(entry.name for entry in layers)
    attributes, dropped = _attributes(spec)
    found = _colours(attributes) if len(chosen.picked()) >= 3 and not chosen.is_xyz() else Found()
    if found.wrong:
        del attributes[CHROMATICITIES]
    elif chosen.is_xyz() and CHROMATICITIES in attributes:
        del attributes[CHROMATICITIES]  # the pixels become red, green and blue of other primaries
        dropped.append(CHROMATICITIES)
    pixels = unread((spec.height, spec.width, len(chosen.picked())), dtype)
    picture = colours.picture(path, pixels, None, resolution=oiio.resolution(spec), found=found)
    _name_the_unused(path, chosen, names if wanted is None else (), dropped)
    return replace(
        picture,
        metadata=replace(picture.metadata, attributes=attributes),
        associated=picture.alpha,
        layer=chosen.name,
        layers=names if len(names) > 1 else (),
    )


def _colours(attributes: Mapping[str, Any]) -> Found:
    kind, numbers = attributes.get(CHROMATICITIES, ("", None))
    if numbers is None:
        return Found()
    # Files may have the name for a text or a single number.
    return of_chromaticities(numbers if kind == _EIGHT else (), CHROMATICITIES)


def _how_to_read(path: str, spec: Any, layer: Layer) -> tuple[str, int, int, Callable[[Pixels], Pixels]]:
    """Returns the type to read a layer's channels as, the first and the last + 1, and a function from them to pixels.

    They are half if all of them are, else float.
    """
    picked = layer.picked()
    kinds = {str(spec.channelformats[i] if spec.channelformats else spec.format) for i in picked}
    if "uint" in kinds and (len(kinds) > 1 or layer.has_alpha()):
        names = ", ".join(layer.channels)
        raise FileError(f"{path}: mixes whole numbers with colour or alpha; name one of the channels {names}")
    # IDs are whole numbers, which OpenImageIO would scale to [0, 1] if asked for floats
    dtype = "float16" if kinds == {"half"} else "uint32" if kinds == {"uint"} else "float32"
    first, last = min(picked), max(picked) + 1

    def finished(pixels: Pixels) -> Pixels:
        if picked != list(range(first, last)):
            pixels = np.ascontiguousarray(pixels[:, :, [i - first for i in picked]])
        if dtype == "uint32":
            if pixels.max() > _EXACT_INTEGERS:
                note(f"{path}: its whole numbers above {_EXACT_INTEGERS} are rounded to float")
            pixels = pixels.astype(np.float32)
        return samples.straight(pixels) if layer.has_alpha() else pixels

    return dtype, first, last, finished


def _name_the_unused(path: str, chosen: Layer, layers: tuple[str, ...], attributes: list[str]) -> None:
    """Notes what the picture lacks of the file; ``layers`` are the file's layers, if nobody has chosen one."""
    without = f"without its channels {', '.join(chosen.unused())}" if chosen.unused() else ""
    if len(layers) > 1:
        shown = ", ".join(name or "(unnamed)" for name in layers)
        used = chosen.name or "the unnamed one"
        note(f"{path}: has layers {shown}; {used} is used{', ' if without else ''}{without}")
    elif without:
        note(f"{path}: is read {without}")
    if chosen.is_xyz():
        note(
            f"{path}: its X, Y, Z are taken as they are in place of red, green, blue; no colour is converted"
        )
    if attributes:
        note(f"{path}: is read without its header attributes {some_of(attributes)}")


@contextmanager
def _write_rows(path: str, picture: Picture, method: Method | None) -> Iterator[Callable[[Pixels], None]]:
    """Gives a function that writes some rows of pixels, one call after the other from the top on."""
    metadata = picture.metadata
    attributes: dict[str, Any] = dict(metadata.attributes)
    window = attributes.pop("window", None)
    if window and window[6:] == (picture.width, picture.height):
        attributes["window"] = window[:6]
    if not picture.colour.is_rec709 and CHROMATICITIES not in attributes:
        attributes[CHROMATICITIES] = (_EIGHT, picture.colour.known_primaries.numbers)
    assert method is not None
    attributes["compression"] = method.name if method.level < 0 else f"{method.name}:{method.level}"
    attributes["channels"] = ("YA" if picture.channels < 3 else "RGBA")[: picture.channels]
    if picture.alpha:
        attributes["alpha_channel"] = picture.channels - 1
    if metadata.resolution:
        x, y, _ = metadata.resolution
        # stated, since OpenImageIO would take its inverse from the resolutions
        attributes |= oiio.resolution_attributes(metadata.resolution) | {"PixelAspectRatio": y / x}
    with oiio.writer(path, [(picture.pixels, attributes)]) as put:
        if picture.alpha:
            yield lambda pixels: put(samples.associated(replace(picture, pixels=pixels)))
        else:
            yield put


def _layers(file: Any) -> list[Layer]:
    layers: list[Layer] = []
    count = file.count()
    for part in range(count):
        spec = file.spec(part)
        part_name = spec.get_string_attribute("name") if count > 1 else ""
        groups: dict[str, dict[str, int]] = {}
        for index, channel in enumerate(spec.channelnames):
            prefix, _, short = channel.rpartition(".")
            if part_name and (prefix == part_name or prefix.startswith(part_name + ".")):
                prefix = prefix[len(part_name) + 1 :]  # some writers repeat the part's name
            groups.setdefault(prefix, {})[short] = index
        for prefix, channels in groups.items():
            name = ".".join(filter(None, (part_name, prefix)))
            layers.append(Layer(name, part, channels))
    return layers


def _choose(path: str, layers: list[Layer], wanted: str | int | None) -> Layer:
    if wanted is None:
        return min(layers, key=Layer.rank)  # the first among equals
    wanted = str(wanted)
    for layer in layers:
        if layer.name == wanted:
            return layer
    for layer in layers:  # a single channel, by its full name
        for short, index in layer.channels.items():
            if wanted == ".".join(filter(None, (layer.name, short))):
                return Layer(wanted, layer.part, {short: index})
    have = ", ".join(layer.name or "/".join(layer.channels) for layer in layers)
    raise FileError(f"{path}: has no layer {wanted!r}; it has {have}")


def _attributes(spec: Any) -> tuple[dict[str, Any], list[str]]:
    """The header attributes that describe the picture, as (type, value), and the window if special.

    And the names of those that OpenImageIO cannot write: of some types, or text in an older encoding.
    """
    kept: dict[str, Any] = {}
    dropped = []
    for attribute in spec.extra_attribs:
        name, kind = attribute.name, str(attribute.type).replace("vector2i[2]", "box2i")
        if name in _STORAGE or name.startswith(_STORAGE_PREFIXES):
            continue
        if name == "PixelAspectRatio" and oiio.resolution(spec):
            continue
        try:
            value = attribute.value
        except UnicodeDecodeError:
            value = None
        unwritable = kind.startswith(_UNWRITABLE) or _ONLY.get(name, kind) != kind
        if value is None or unwritable or not oiio.can_hold(name, kind, value):
            dropped.append(name)
        elif value != _USUAL.get(name):
            kept[name] = (kind, value)
    window = (spec.x, spec.y, spec.full_x, spec.full_y, spec.full_width, spec.full_height)
    if window != (0, 0, 0, 0, spec.width, spec.height):
        kept["window"] = (*window, spec.width, spec.height)
    return kept, dropped


# -- Spectra and coefficients in .exr files: a part for each plane, named by array and plane.


def _text_of_numbers(path: str) -> str | None:
    with oiio.Reader(path) as file:
        return file.spec().get_string_attribute(KEY) or None


def _check_numbers(path: str, described: Description) -> None:
    with oiio.Reader(path) as file:
        for index, (shape, dtype) in enumerate(described.arrays.values()):
            for part in places(described, index):
                try:
                    _check_part(path, file.spec(part), shape[-2:], dtype)
                except IndexError:
                    raise contradiction(path) from None


def _check_part(path: str, spec: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises FileError for a part that cannot be a plane of this shape and type."""
    stored = _samples_of(np.empty((0, 1), dtype)).dtype
    if (
        sorted(spec.channelnames) != sorted(_channels(dtype))
        or oiio.DTYPES.get(str(spec.format)) != stored
        or (spec.height, spec.width) != shape
        or dtype.name in DOUBLES
    ):
        raise contradiction(path)


def _values(samples: Array, spec: Any, dtype: np.dtype[Any]) -> Array:
    """Returns rows of a plane from the samples of its part."""
    if dtype.kind == "c":
        order = [spec.channelnames.index(channel) for channel in ("re", "im")]
        return np.ascontiguousarray(samples[:, :, order]).view(dtype)[:, :, 0]
    samples = samples[:, :, 0]
    return samples.view(np.int32).astype(dtype) if dtype.kind in "iu" else samples


def _rows_of_numbers(path: str, described: Description, index: int, count: int) -> Iterator[Array]:
    dtype = list(described.arrays.values())[index][1]
    with oiio.Reader(path) as file:
        for part in places(described, index):
            spec = file.spec(part)
            for samples in file.blocks(count, index=part):
                yield _values(samples, spec, dtype)


def _write_numbers(
    path: str, arrays: Mapping[str, RowsOfArray], text: str, count: int, compress: bool
) -> None:
    parts: list[tuple[Array, dict[str, Any]]] = []
    # All parts of a file share one display window.
    height, width = (max(rows.shape[axis] for rows in arrays.values()) for axis in (-2, -1))
    for i, (name, rows) in enumerate(arrays.items()):
        sample = _samples_of(np.empty((0, rows.shape[-1]), rows.dtype))
        shape = rows.shape[-2], *sample.shape[1:]
        for k in range(rows.planes):
            attributes: dict[str, Any] = {} if parts else {KEY: text}
            # The number keeps the parts' names apart, and their order in the file.
            attributes |= {"name": f"{i}.{k}.{name}", "compression": "zip:1" if compress else "none"}
            attributes["window"] = (0, 0, 0, 0, width, height)
            attributes["channels"] = _channels(rows.dtype)
            parts.append((unread(shape, sample.dtype), attributes))
    with oiio.writer(path, parts) as put:
        for rows in arrays.values():
            for block in rows.blocks(count):
                put(_samples_of(np.ascontiguousarray(block)))


def _channels(dtype: np.dtype[Any]) -> tuple[str, ...]:
    return ("re", "im") if dtype.kind == "c" else ("Y",)


def _samples_of(plane: Array) -> Array:
    """Returns the samples (rows, columns, channels) of rows of a plane."""
    if plane.dtype.kind == "c":
        return plane.view(np.float32).reshape(*plane.shape, 2)
    if plane.dtype.kind in "iu":  # as the bits of EXR's only integer type
        plane = plane.astype(np.int32).view(np.uint32)
    return plane[:, :, None]


_NUMBERS = NumberFiles(_text_of_numbers, _check_numbers, _rows_of_numbers, _write_numbers, doubles=False)


_ZIP, _DWA = Levels(1, 9, 4), Levels(1, 1000, 45)
#: Compressions; zip:1 is exact, and higher levels take three times as long for 3 %.
_CODEC = Codec(
    methods={
        "none": None, "rle": None, "zips": _ZIP, "zip": _ZIP, "piz": None, "pxr24": None, "b44": None, "b44a": None,
        "dwaa": _DWA, "dwab": _DWA,
    }, usual=Method("zip", 1),
)  # fmt: skip
FORMAT = Format(
    "EXR", (".exr",), ("float16", "float32"), _read, write_rows=_write_rows, read_rows=_read_rows,
    magic=(b"\x76\x2f\x31\x01",), holds=frozenset({"resolution", "attributes"}), says="primaries", codec=_CODEC,
    associated=True, layered=True, numbers=_NUMBERS,
)  # fmt: skip
