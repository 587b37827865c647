"""The parts, layers and header attributes of EXR files, and the channels beside those that make the picture."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import FileError
from ..params.moves import Frame
from ..records import dataclass
from . import oiio
from .layers import ExrPart, Rest
from .picture import Picture, Pixels, unread
from .read_errors import reading

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
#: The only types in which OpenImageIO writes these names.
_ONLY = {
    "Copyright": "string", "ImageDescription": "string", "PixelAspectRatio": "float", "timeCode": "timecode",
    "keyCode": "keycode",
}  # fmt: skip
#: Bytes at a file's beginning in which all of its headers are.
_HEADERS = 1 << 22


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


def layers_of(file: Any) -> list[Layer]:
    layers: list[Layer] = []
    count = file.count()
    for part in range(count):
        spec = file.spec(part)
        part_name = legible(spec.get_string_attribute("name")) if count > 1 else ""
        groups: dict[str, dict[str, int]] = {}
        for index, channel in enumerate(map(legible, spec.channelnames)):
            prefix, _, short = channel.rpartition(".")
            if part_name and (prefix == part_name or prefix.startswith(part_name + ".")):
                prefix = prefix[len(part_name) + 1 :]  # some writers repeat the part's name
            groups.setdefault(prefix, {})[short] = index
        for prefix, channels in groups.items():
            name = ".".join(filter(None, (part_name, prefix)))
            layers.append(Layer(name, part, channels))
    return layers


def choose(path: str, layers: list[Layer], wanted: str | int | None) -> Layer:
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


def attributes_of(spec: Any) -> tuple[dict[str, Any], list[str]]:
    """The header attributes that describe the picture, as (type, value).

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
    return kept, dropped


def frame_of(spec: Any) -> Frame | None:
    left, top = spec.full_x, spec.full_y
    place = spec.x - left, spec.y - top, spec.width, spec.height
    frame = Frame(*place, spec.full_width, spec.full_height, left, top)
    return None if frame.usual else frame


def samples_of(file: oiio.Reader, index: int) -> Pixels:
    """Returns all channels of a part, as halfs if all are, else as floats; whole numbers are of no use in it."""
    return file.read(index=index, dtype=_type_of(kinds_of(file.spec(index))))


def _type_of(kinds: Iterable[str]) -> str:
    return "float16" if {*kinds} == {"half"} else "float32"


def kinds_of(spec: Any) -> list[str]:
    """The types of a part's channels: half, float, uint."""
    return [str(kind) for kind in spec.channelformats or [spec.format] * spec.nchannels]


def part_of(file: oiio.Reader, index: int, samples: Pixels, without: tuple[str, ...] = ()) -> ExrPart:
    """Returns the channels of a part, of which there are :func:`samples_of`, but for some."""
    part, places = _described(file, index, without)
    first, last = (places[0], places[-1] + 1) if places else (0, 0)
    whole = {k: file.read(index=index, channels=(k, k + 1), dtype="uint32") for k in _whole(part, places)}
    return replace(part, pixels=_picked(samples[:, :, first:last], places, whole))


def rows_of_part(file: oiio.Reader, index: int, without: tuple[str, ...] = ()) -> ExrPart:
    """Returns the same, but the rows come as they are asked for, from the file anew each time."""
    part, places = _described(file, index, without)
    path, high = file.path, file.spec(index).tile_height or 1

    def rows(first: int, end: int, nbytes: int) -> Generator[Pixels, None, None]:
        if not places:
            yield part.pixels[first:end]
            return
        count, at = max(1, nbytes // part.row), first - first % high
        channels = (places[0], places[-1] + 1)
        with oiio.Reader(path) as file:
            blocks = partial(file.blocks, count, index=index, start=at)
            whole = _whole(part, places)
            sources = [
                blocks(channels=channels, dtype=_type_of(part.kinds)),
                *(blocks(channels=(k, k + 1), dtype="uint32") for k in whole),
            ]
            while at < end:
                with reading(path):
                    samples, *numbers = map(next, sources)
                block = _picked(samples, places, dict(zip(whole, numbers, strict=True)))
                top, at = at, at + len(block)
                yield block[max(0, first - top) : end - top]

    return replace(part, rows=rows)


def _described(file: oiio.Reader, index: int, without: tuple[str, ...]) -> tuple[ExrPart, list[int]]:
    """Returns the channels of a part but for some, without their pixels, and their places in the part."""
    spec = file.spec(index)
    name = legible(spec.get_string_attribute("name")) if file.count() > 1 else ""
    kinds = kinds_of(spec)
    places = [k for k, channel in enumerate(spec.channelnames) if channel not in without]
    names, own = tuple(legible(spec.channelnames[k]) for k in places), tuple(kinds[k] for k in places)
    dtype = (
        np.float64 if "uint" in own else _type_of(kinds)
    )  # that of a part's samples, which are read together
    pixels = unread((spec.height, spec.width, len(places)), dtype)
    attributes, _ = attributes_of(spec)
    return ExrPart(name, names, own, pixels, attributes, frame_of(spec)), places


def legible(name: str) -> str:
    """Returns the name of a channel or part, whose bytes are UTF-8, or Latin-1 where they are not."""
    try:
        return name.encode(errors="surrogateescape").decode()
    except UnicodeDecodeError:
        return name.encode(errors="surrogateescape").decode("latin-1")


def _whole(part: ExrPart, places: list[int]) -> list[int]:
    """Returns the places of whole numbers, of which OpenImageIO would make fractions."""
    return [k for k, kind in zip(places, part.kinds, strict=True) if kind == "uint"]


def _picked(samples: Pixels, places: list[int], whole: Mapping[int, Pixels]) -> Pixels:
    """Returns the channels at some places of samples from the first of these on, with their whole numbers."""
    if places and places != [*range(places[0], places[-1] + 1)]:
        samples = samples[:, :, [k - places[0] for k in places]]
    if whole:
        samples = samples.astype(np.float64)
        for k, numbers in whole.items():
            samples[:, :, places.index(k)] = numbers[:, :, 0]
    return samples


@contextmanager
def all_written(
    path: str, picture: Picture, attributes: dict[str, Any], rest: Rest, stored: Callable[[Picture], Pixels]
) -> Iterator[Callable[[Pixels], None]]:
    """Writes the picture's rows as they come, with the other channels beside them, and the other parts.

    Rows have the other channels of the picture's part behind their own, where those come as they are asked for.
    """
    names = rest.picture[: picture.channels]
    if len(names) < picture.channels:
        names = attributes["channels"]
    kind = {"float16": "half"}.get(picture.pixels.dtype.name, "float")
    parts: list[tuple[Pixels, dict[str, Any]]] = []
    for number, part in enumerate(rest.parts):
        if number == rest.own:
            more, channels, kinds = (
                attributes,
                (*names, *part.names),
                (*[kind] * picture.channels, *part.kinds),
            )
        else:
            more = {**part.attributes, "window": part.place.window, "compression": attributes["compression"]}
            channels, kinds = part.names, part.kinds
        # OpenImageIO would make whole numbers of fractions, by floats: they are written as floats of the same bits.
        more = more | {"channels": channels, "kinds": ["float" if one == "uint" else one for one in kinds]}
        more |= {"name": part.name} if len(rest.parts) > 1 else {}
        dtype = np.dtype(np.float16 if set(kinds) == {"half"} else np.float32)
        parts.append((unread((*part.pixels.shape[:2], len(channels)), dtype), more))
    whole = {
        name for part in rest.parts for name, one in zip(part.names, part.kinds, strict=True) if one == "uint"
    }
    if whole and attributes["compression"] == "pxr24":
        raise FileError(
            f"{path}: pxr24 would round its whole numbers ({', '.join(sorted(whole))}): name another one"
        )
    row = 0
    with oiio.writer(path, parts) as put:
        for before in rest.parts[: rest.own]:
            for pixels in before.blocks(nbytes=rest.at_once):
                put(_samples_of(before, pixels))
        own, count = rest.parts[rest.own], picture.channels

        def take(pixels: Pixels) -> None:
            nonlocal row
            first, row = row, row + len(pixels)
            beside = pixels[:, :, count:] if rest.by_rows else own.pixels[first:row]
            of_picture = replace(
                picture, pixels=pixels[:, :, :count].astype(picture.pixels.dtype, copy=False)
            )
            put(np.concatenate((stored(of_picture), _samples_of(own, beside)), axis=2))

        yield take
        for behind in rest.parts[rest.own + 1 :]:
            for pixels in behind.blocks(nbytes=rest.at_once):
                put(_samples_of(behind, pixels))
    if whole:
        _as_whole_numbers(path, whole)


def _samples_of(part: ExrPart, pixels: Pixels) -> Pixels:
    """Returns rows of a part, halfs as they are, others as floats, whole numbers by their bits."""
    if set(part.kinds) == {"half"}:
        return pixels.astype(np.float16, copy=False)
    made: Pixels = np.empty(pixels.shape, np.float32)
    for at, kind in enumerate(part.kinds):
        made[:, :, at] = (
            pixels[:, :, at].astype(np.uint32).view(np.float32) if kind == "uint" else pixels[:, :, at]
        )
    return made


def _as_whole_numbers(path: str, names: set[str]) -> None:
    """Says in the headers of a file that channels of floats hold whole numbers, which have as many bytes.

    Source: the layout of OpenEXR files: an entry of the list of channels is its name, its type (0: whole numbers, 2:
    floats), and what it is sampled by, 1 and 1.
    """
    with open(path, "r+b") as file:
        start = file.read(_HEADERS)
        for name in names:
            entry = name.encode() + b"\0" + struct.pack("<I", 2)
            behind = struct.pack("<II", 1, 1)
            at = start.find(entry)
            while at >= 0:
                if start[at - 1 : at] == b"\0" and start[at + len(entry) + 4 :].startswith(behind):
                    file.seek(at + len(entry) - 4)
                    file.write(bytes(4))
                at = start.find(entry, at + 1)
