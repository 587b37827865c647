"""OpenEXR pictures: parts and layers with arbitrary channel names, half or float, associated alpha.

A layer is a part's channels with the same prefix ("diffuse.R"), or those without any. Its name is the part's
and the prefix joined by a dot, as far as there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import FileError
from ...notes import note, some_of
from .. import colours, exr_parts, oiio, samples
from ..colours import StatedColour, of_chromaticities
from ..exr_numbers import NUMBERS
from ..exr_parts import Layer
from ..layers import ExrPart, Rest
from ..picture import CHROMATICITIES, Picture, Pixels, unread
from ..strips import COPIES, NeedsWholeFile, RowsOf
from .record import Codec, Format, LayerId, Levels, Method

#: The largest whole number up to which float holds all.
_EXACT_INTEGERS = 1 << 24
#: The type of chromaticities.
_EIGHT = "float[8]"


def _read(path: str, layer: LayerId) -> Picture:
    with oiio.Reader(path) as file:
        how, finished, described = _opened(path, file, layer)
        pixels = finished(file.read(**how))
    return replace(described(), pixels=pixels)


def _read_rows(
    path: str, layer: LayerId, most: int, *, all: bool = False
) -> tuple[Picture, RowsOf, int] | None:
    """The picture, its rows, and how many come together, if ``most`` bytes are too few for all.

    ``all``: with all other channels, by rows, too.
    """
    with oiio.Reader(path) as file:
        all = all and not any(file.spec(part).deep for part in range(file.count()))
        how, finished, described = _opened(path, file, layer, all=all)
        spec = file.spec(how["index"])
        picture = described()
        if all:
            picture = _with_rest(
                picture, file, exr_parts.choose(path, exr_parts.layers_of(file), None), exr_parts.rows_of_part
            )
        rest = picture.metadata.rest
        if (picture.pixels.nbytes + (rest.nbytes if rest else 0)) * COPIES <= most:
            return None
        spec = file.spec(how["index"])
        if spec.deep:
            raise NeedsWholeFile("holds deep data", unread((1, spec.image_bytes(True), 1)))
        file.check_plausible(spec)

    def rows(path: str, count: int) -> Iterator[Pixels]:
        with oiio.Reader(path) as file:
            yield from map(finished, file.blocks(count, **how))

    return picture, rows, max(1, spec.tile_height)


def _with_rest(
    picture: Picture,
    file: oiio.Reader,
    chosen: Layer,
    part: Callable[[oiio.Reader, int, tuple[str, ...]], ExrPart],
) -> Picture:
    """Returns the picture of a layer with all that ``part`` gives of the file's parts, if there is more."""
    names = tuple(file.spec(chosen.part).channelnames[index] for index in chosen.picked())
    parts = tuple(
        part(file, number, names if number == chosen.part else ()) for number in range(file.count())
    )
    if not any(one.names for one in parts):
        return picture
    rest = Rest(parts, chosen.part, tuple(map(exr_parts.legible, names)))
    return replace(picture, metadata=replace(picture.metadata, rest=rest))


def _opened(
    path: str, file: oiio.Reader, wanted: LayerId, *, all: bool = False
) -> tuple[dict[str, Any], Callable[[Pixels], Pixels], Callable[[], Picture]]:
    """Returns how the file is read, a function from what is read to pixels, and one that gives the picture without."""
    layers = exr_parts.layers_of(file)
    chosen = exr_parts.choose(path, layers, wanted)
    spec = file.spec(chosen.part)
    dtype, first, last, finished = _how_to_read(path, spec, chosen)
    kind = np.dtype(np.float32 if dtype == "uint32" else dtype)
    described = partial(_described, path, spec, layers, chosen, wanted, kind, all=all)
    return {"index": chosen.part, "channels": (first, last), "dtype": dtype}, finished, described


def _read_all(path: str) -> Picture:
    """The picture, and all other channels beside it."""
    with oiio.Reader(path) as file:
        if any(file.spec(part).deep for part in range(file.count())):
            return _read(path, None)
        how, finished, described = _opened(path, file, None, all=True)
        picture, chosen = described(), exr_parts.choose(path, exr_parts.layers_of(file), None)
        own, (first, last) = exr_parts.samples_of(file, chosen.part), how["channels"]
        as_they_are = how["dtype"] != "uint32"
        pixels = own[:, :, first:last].astype(picture.pixels.dtype) if as_they_are else file.read(**how)
        picture = replace(picture, pixels=finished(pixels))

        def part(file: oiio.Reader, number: int, without: tuple[str, ...]) -> ExrPart:
            return exr_parts.part_of(
                file, number, own if number == chosen.part else exr_parts.samples_of(file, number), without
            )

        return _with_rest(picture, file, chosen, part)


def _described(
    path: str,
    spec: Any,
    layers: list[Layer],
    chosen: Layer,
    wanted: LayerId,
    dtype: np.dtype[Any],
    *,
    all: bool = False,
) -> Picture:
    """Returns the picture without its pixels; ``wanted``: the layer that somebody has named; ``all``: all are kept."""
    names = tuple(entry.name for entry in layers)
    attributes, dropped = exr_parts.attributes_of(spec)
    stated = _colours(attributes) if len(chosen.picked()) >= 3 and not chosen.is_xyz() else StatedColour()
    if stated.wrong:
        del attributes[CHROMATICITIES]
    elif chosen.is_xyz() and CHROMATICITIES in attributes:
        del attributes[CHROMATICITIES]  # the pixels become red, green and blue of other primaries
        dropped.append(CHROMATICITIES)
    pixels = unread((spec.height, spec.width, len(chosen.picked())), dtype)
    picture = colours.picture(path, pixels, None, resolution=oiio.resolution(spec), stated=stated)
    _name_the_unused(path, chosen, names if wanted is None and not all else (), dropped, all=all)
    return replace(
        picture,
        metadata=replace(picture.metadata, attributes=attributes, frame=exr_parts.frame_of(spec)),
        associated=picture.alpha,
        layer=chosen.name,
        layers=names if len(names) > 1 else (),
    )


def _colours(attributes: Mapping[str, Any]) -> StatedColour:
    kind, numbers = attributes.get(CHROMATICITIES, ("", None))
    if numbers is None:
        return StatedColour()
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


def _name_the_unused(
    path: str, chosen: Layer, layers: tuple[str, ...], attributes: list[str], *, all: bool
) -> None:
    """Notes what the picture lacks of the file; ``layers`` are the file's layers, if nobody has chosen one; ``all``: it
    lacks no channels."""
    without = f"without its channels {', '.join(chosen.unused())}" if chosen.unused() and not all else ""
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
    attributes["window"] = picture.frame.window
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
    stored = samples.associated if picture.alpha else lambda one: one.pixels
    if metadata.rest is not None:
        with exr_parts.all_written(path, picture, attributes, metadata.rest, stored) as put:
            yield put
        return
    with oiio.writer(path, [(picture.pixels, attributes)]) as put:
        yield lambda pixels: put(stored(replace(picture, pixels=pixels)))


_ZIP, _DWA = Levels(1, 9, 4), Levels(1, 1000, 45)
#: Compressions; zip:1 is exact, and higher levels take three times as long for 3 %.
_CODEC = Codec(
    methods={
        "none": None, "rle": None, "zips": _ZIP, "zip": _ZIP, "piz": None, "pxr24": None, "b44": None, "b44a": None,
        "dwaa": _DWA, "dwab": _DWA, "htj2k32": None, "htj2k256": None,
    }, usual=Method("zip", 1), together={"dwab": 256, "htj2k256": 256},
)  # fmt: skip
FORMAT = Format(
    "EXR", (".exr",), ("float16", "float32"), _read, write_rows=_write_rows, read_rows=_read_rows, read_all=_read_all,
    read_all_rows=partial(_read_rows, all=True), magic=(b"\x76\x2f\x31\x01",),
    holds=frozenset({"resolution", "attributes", "frame"}), says="primaries",
    codec=_CODEC, associated=True, layered=True, numbers=NUMBERS,
)  # fmt: skip
