"""Gain maps of AVIF and HEIC by ISO 21496-1: light beside the formula in doubles, of base and map as decoded alone."""

import io
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuops.errors import FileError, GpuopsWarning
from gpuops.files import read, write

from . import item_files
from .choices import each
from .item_files import Item, Layout, box, full, nclx
from .reference import colour as reference
from .test_gain_map import Description, applied, covering, described, lit
from .test_gain_map_moves import MOVES, near

imagecodecs: Any = pytest.importorskip("imagecodecs", minversion="2025.11", reason="AVIF of 10 bits needs it")
NAMES = {1: "Rec. 709", 9: "Rec. 2020", 12: "Display P3"}
KEPT = "cannot hold the gain map of the input (--layer hdr applies it)"
DAMAGED = "is read without its gain map, which is missing or damaged"


def scene(height: int = 64, width: int = 96) -> np.ndarray:
    """A smooth picture of 8 bits."""
    y, x = np.mgrid[0:height, 0:width]
    return np.stack((140 + x, 120 + 2 * y, 240 - x - y), axis=2).clip(0, 255).astype(np.uint8)


def spot(height: int = 64, width: int = 96, gray: bool = True) -> np.ndarray:
    """A map of a bright spot, of 8 bits."""
    v, u = (np.mgrid[0:height, 0:width] + 0.5) / np.array([height, width])[:, None, None]
    bright = 200 * np.exp(-8 * ((u - 0.4) ** 2 + (v - 0.6) ** 2)) + 20 * u
    return np.stack((bright, bright if gray else bright * 0.8, bright if gray else 240 - bright), 2).astype(
        np.uint8
    )[:, :, : 1 if gray else 3]


def coded(kind: str, pixels: np.ndarray, bits: int = 8, primaries: int = 1) -> tuple[Item, np.ndarray]:
    """A picture's item by a codec, and its fractions as libraries decode it alone, (height, width, channels)."""
    pixels = pixels if pixels.shape[2] > 1 else pixels[:, :, 0]
    if kind == "avif":
        form = (
            imagecodecs.AVIF.PIXEL_FORMAT.YUV444 if pixels.ndim > 2 else imagecodecs.AVIF.PIXEL_FORMAT.YUV400
        )
        deep = pixels if bits == 8 else pixels.astype(np.uint16) << bits - 8
        options = {"primaries": primaries, "transfer": 13, "matrix": 6, "pixelformat": form}
        data = imagecodecs.avif_encode(deep, level=100, bitspersample=bits, **options)
        codes = np.atleast_3d(imagecodecs.avif_decode(data))
    else:
        heif: Any = pytest.importorskip("pillow_heif", reason="needs the extra formats")
        mode = ("L" if pixels.ndim == 2 else "RGB") + ("" if bits == 8 else ";16")
        deep = pixels if bits == 8 else pixels.astype(np.uint16) << 8
        image = heif.from_bytes(mode, pixels.shape[1::-1], np.ascontiguousarray(deep).tobytes())
        stream = io.BytesIO()
        options = {"matrix_coefficients": 6, "color_primaries": primaries, "transfer_characteristics": 13}
        image.save(stream, quality=100, chroma=444, full_range_flag=1, **options)
        data = stream.getvalue()
        decoded = heif.open_heif(io.BytesIO(data), convert_hdr_to_8bit=False, hdr_to_16bit=False)
        codes = np.atleast_3d(np.asarray(decoded))
    return item_files.encoded(data), codes / (2.0**bits - 1)


def numbers(
    *, in_base: bool = True, channels: int = 1, base: int = 0, alternate: int = 5, gamma: int = 96
) -> bytes:
    """A description, ISO 21496-1 annex C, of headrooms in halves of stops, behind the version of its item."""
    block = struct.pack(">BHHBIIII", 0, 0, 0, 0x40 * in_base | 0x80 * (channels == 3), base, 2, alternate, 2)
    for least, most in ((-20, 250), (0, 200), (-40, 220))[:channels]:
        block += struct.pack(">iIiIIIiIiI", least, 100, most, 100, gamma, 64, 1, 64, 1, 32)
    return block


def parts(
    base: Item, gain: Item, description: bytes, alternate: tuple[int, int] = (1, 16)
) -> dict[int, Item]:
    size = next(one for one in base.properties if one[4:8] == b"ispe")
    derived = Item(b"tmap", description, (size, nclx(*alternate)), {b"dimg": [1, 3]})
    return {1: base, 2: derived, 3: gain.input}


def brands(kind: str, last: bytes = b"tmap") -> bytes:
    return (b"avif" if kind == "avif" else b"heic") + b"mif1miaf" + last


def expected(base: np.ndarray, gains: np.ndarray, description: bytes, own: str, other: str) -> np.ndarray:
    """The light by the formula."""
    how: Description = described(description[1:])
    gains = covering(np.broadcast_to(gains, (*gains.shape[:2], 3)), *base.shape[:2])
    turn = np.linalg.solve(reference.d50_columns(other), reference.d50_columns(own))
    return lit(reference.srgb_light(np.broadcast_to(base, (*base.shape[:2], 3))), gains, how, turn)


def example(kind: str = "avif", **changes: Any) -> tuple[dict[int, Item], np.ndarray]:
    """The items of a file, and their light."""
    base, pixels = coded(kind, scene())
    gain, gains = coded(kind, spot(32, 48))
    description = numbers(**changes)
    return parts(base, gain, description), expected(pixels, gains, description, "Rec. 709", "Rec. 709")


@each(
    kind=["avif", "heic"],
    bits=[8, 10],
    map_bits=[10, 8],
    gray__channels=[(True, 1), (False, 1), (False, 3), (True, 3)],
    own__other__in_base=[
        (1, 1, True),
        (12, 9, False),
        (1, 12, True),
        (12, 1, False),
        (9, 9, False),
        (1, 2, False),
    ],
    size=[(64, 96), (32, 48), (23, 31), (128, 192)],
)
def test_light_is_that_of_the_formula(
    kind, bits, map_bits, gray, channels, own, other, in_base, size, tmp_path
) -> None:
    base, pixels = coded(kind, scene(), bits, own)
    gain, gains = coded(kind, spot(*size, gray), map_bits)
    description = numbers(in_base=in_base, channels=channels)
    data = item_files.written(parts(base, gain, description, (other, 16)), 1, brands=brands(kind))
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    named = NAMES.get(other, NAMES[own])
    if max(size) > 96:  # a mean of what a pixel covers
        gains = gains.reshape(64, 2, 96, 2, -1).mean((1, 3))
    light = expected(pixels, gains, description, NAMES[own], named)
    result = read(path, layer="hdr")
    assert (result.linear, result.layer, result.layers) == (True, "hdr", ("sdr", "hdr"))
    assert result.pixels.dtype == np.float16 and result.colour.primaries == named and light.max() > 2
    assert np.abs(result.pixels - light).max() < 2e-3 * light.max()
    assert np.median(np.abs(result.pixels - light) / (light + 1e-3)) < 1e-3
    usual, chosen = read(path), read(path, layer="sdr")
    assert np.array_equal(usual.pixels, chosen.pixels) and usual.layer == "sdr"
    assert usual.pixels.dtype == (np.uint8 if bits == 8 else np.uint16)
    most = np.iinfo(usual.pixels.dtype).max
    assert np.abs(usual.pixels / most - pixels).max() < 1e-4


LAYOUTS = [
    Layout(iloc, infe, ipma, number, index, idat)
    for iloc, infe, ipma, number, index, idat in (
        (0, 2, 0, 2, 1, False), (1, 2, 0, 2, 1, True), (2, 3, 1, 4, 2, True), (1, 3, 1, 2, 1, False),
        (2, 2, 0, 4, 2, False), (1, 2, 0, 2, 2, False),
    )
]  # fmt: skip


@each(layout=LAYOUTS, kind=["avif", "heic"])
def test_layouts_of_files(layout, kind, tmp_path) -> None:
    """A large number needs boxes of version 3 of its item, and of 32 bits where it is said."""
    items, light = example(kind)
    large = layout.infe == 3 and layout.number == 4 and layout.iloc == 2
    numbered = {70001: items[1], 70003: items[3]} if large else {1: items[1], 3: items[3]}
    derived = replace(items[2], references={b"dimg": [*numbered]})
    path = tmp_path / f"a.{kind}"
    path.write_bytes(item_files.written({**numbered, 2: derived}, next(iter(numbered)), layout, brands(kind)))
    assert np.abs(read(path, layer="hdr").pixels - light).max() < 2e-3 * light.max()


@pytest.mark.parametrize("kind", ["avif", "heic"])
def test_a_map_of_tiles(kind, tmp_path) -> None:
    base, pixels = coded(kind, scene(128, 256))
    whole = spot(64, 128)
    tiles = [coded(kind, np.ascontiguousarray(half)) for half in (whole[:, :64], whole[:, 64:])]
    size = full(b"ispe", 0, struct.pack(">II", 128, 64))
    kept = [one for one in tiles[0][0].properties if one[4:8] in (b"pixi", b"colr")]
    grid = Item(b"grid", struct.pack(">BBBBHH", 0, 0, 0, 1, 128, 64), (size, *kept), {b"dimg": [4, 5]})
    items = parts(base, grid, numbers()) | {4: tiles[0][0].input, 5: tiles[1][0].input}
    path = tmp_path / f"a.{kind}"
    path.write_bytes(item_files.written(items, 1, brands=brands(kind)))
    gains = np.concatenate([tile for _, tile in tiles], axis=1)
    light = expected(pixels, gains, numbers(), "Rec. 709", "Rec. 709")
    assert np.abs(read(path, layer="hdr").pixels - light).max() < 2e-3 * light.max()
    # tiles that are made of tiles
    items[4] = replace(items[4], kind=b"grid", references={b"dimg": [3]})
    path.write_bytes(item_files.written(items, 1, brands=brands(kind)))
    with pytest.warns(GpuopsWarning, match=DAMAGED):
        assert read(path).metadata.gain is None


@pytest.mark.parametrize("kind", ["avif", "heic"])
def test_turned_pictures(kind, tmp_path) -> None:
    """The base and the map say the same turn, each for itself."""
    items, light = example(kind)
    turned = (
        box(b"irot", b"\1"),
        box(b"imir", b"\1"),
    )  # 90 degrees anticlockwise, then left and right change places
    items = {n: item if n == 2 else item.with_property(*turned) for n, item in items.items()}
    path = tmp_path / f"a.{kind}"
    path.write_bytes(item_files.written(items, 1, brands=brands(kind)))
    result = read(path, layer="hdr").pixels
    assert np.abs(result - np.rot90(light)[:, ::-1]).max() < 2e-3 * light.max()
    assert read(path).metadata.gain.dimensions == (32, 48)


def test_alpha_stays(tmp_path) -> None:
    items, light = example()
    mask = np.linspace(0, 255, 96).astype(np.uint8)[None, :, None].repeat(64, 0)
    alpha, fractions = coded("avif", mask)
    kind = full(b"auxC", 0, b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")
    items[4] = replace(alpha.without(b"colr").with_property(kind), references={b"auxl": [1]})
    (tmp_path / "a.avif").write_bytes(item_files.written(items, 1))
    result = read(tmp_path / "a.avif", layer="hdr")
    assert result.alpha and np.abs(result.pixels[:, :, 3:] - fractions[:, :, :1]).max() < 1e-3
    assert np.abs(result.pixels[:, :, :3] - light).max() < 2e-3 * light.max()


def test_gray_pictures(tmp_path) -> None:
    """Of gray ones with a gray map the light is gray."""
    base, pixels = coded("avif", scene()[:, :, :1])
    for shape, channels in ((True, 1), (False, 3)):
        gain, gains = coded("avif", spot(gray=shape))
        path = tmp_path / f"{channels}.avif"
        path.write_bytes(item_files.written(parts(base, gain, numbers()), 1))
        light = expected(pixels[:, :, :1], gains, numbers(), "Rec. 709", "Rec. 709")
        result = read(path, layer="hdr")
        assert result.channels == channels
        assert np.abs(result.pixels - light).max() < 2e-3 * light.max()


def test_one_denominator_for_all(tmp_path) -> None:
    """As libultrahdr writes numbers of the same denominator."""
    items, _ = example()
    some = struct.pack(">BHHBI", 0, 0, 0, 0x48, 64) + struct.pack(">IIiiIii", 0, 160, -32, 160, 64, 1, 2)
    same = struct.pack(">BHHBIIII", 0, 0, 0, 0x40, 0, 64, 160, 64)
    same += struct.pack(">iIiIIIiIiI", -32, 64, 160, 64, 64, 64, 1, 64, 2, 64)
    results = []
    for data in (some, same):
        (tmp_path / "a.avif").write_bytes(item_files.written({**items, 2: replace(items[2], data=data)}, 1))
        results.append(read(tmp_path / "a.avif", layer="hdr").pixels)
    assert np.array_equal(*results)


@each(move=MOVES, kind=["avif", "heic"], bits=[8, 10], other__in_base=[(1, True), (12, False), (9, True)])
def test_it_goes_along_to_jpeg(move, kind, bits, other, in_base, clpix, tmp_path) -> None:
    base, pixels = coded(kind, scene(), bits, 12)
    gain, gains = coded(kind, spot(32, 48, gray=False), bits)
    description = numbers(in_base=in_base, channels=3)
    path, result = tmp_path / f"in.{kind}", tmp_path / "out.jpg"
    path.write_bytes(item_files.written(parts(base, gain, description, (other, 16)), 1, brands=brands(kind)))
    light = expected(pixels, gains, description, "Display P3", NAMES[other])
    words, moved = MOVES[move]
    depth = ("--dtype", "uint8") if bits > 8 else ()
    run = clpix(words[0], path, *words[1:], "--quality", 100, *depth, "-o", result)
    assert (run.code, run.err) == (0, "")
    there, primaries = applied(result.read_bytes())
    assert primaries == NAMES[other]
    within = (slice(20, 44), slice(32, 64)) if move == "turned" else (slice(None), slice(None))
    near(there[within], moved(light)[within], 2)
    assert "gain map (ISO 21496-1)" in clpix("info", result).out


def test_info_tells_of_it(clpix, tmp_path) -> None:
    path = tmp_path / "a.avif"
    path.write_bytes(item_files.written(example()[0], 1))
    run = clpix("info", path)
    assert "  layers sdr, hdr; this is sdr\n" in run.out and run.err == ""
    assert "  gain map (ISO 21496-1), 48 × 32, up to 2.5 stops above white\n" in run.out
    run = clpix("info", path, "--layer", "hdr")
    assert "96 × 64, RGB, half, linear light\n  layers sdr, hdr; this is hdr\n" in run.out and run.err == ""


@pytest.mark.parametrize(("words", "name", "said"), [
    (("convert",), "a.png", KEPT), (("flip", "--axis", "both"), "b.avif", KEPT),
    (("blur", "--sigma", 2), "c.jpg", "the gain map is of pixels that have changed, and left out"),
    (("convert", "--colour", "rec2020"), "d.jpg", "the gain map is of pixels that have changed, and left out"),
])  # fmt: skip
def test_where_it_cannot_go_it_is_named(words, name, said, clpix, tmp_path) -> None:
    path = tmp_path / "in.avif"
    path.write_bytes(item_files.written(example()[0], 1))
    run = clpix(words[0], path, *words[1:], "-o", tmp_path / name)
    assert run.code == 0 and said in run.err and run.err.count("gain map") == 1 and run.err.count("\n") == 1
    assert b"iso:ts:21496" not in (tmp_path / name).read_bytes()


def test_an_hdr_picture_with_a_map_to_sdr(clpix, tmp_path) -> None:
    """Its light is the picture itself; the map, which nothing needs, is named."""
    items, _ = example(base=6, alternate=0)
    items[1] = items[1].without(b"colr").with_property(nclx(9, 16))
    path, alone = tmp_path / "a.avif", tmp_path / "b.avif"
    path.write_bytes(item_files.written(items, 1))
    alone.write_bytes(item_files.written({1: items[1]}, 1, brands=brands("avif", b"")))
    said = f"{path}: is read without its gain map$"
    for layer in (None, "hdr"):
        with pytest.warns(GpuopsWarning, match=said):
            there = read(path, layer=layer)
        assert np.array_equal(there.pixels, read(alone).pixels) and there.colour == read(alone).colour
        assert there.layers == () and there.metadata.gain is None
    with pytest.raises(FileError, match="has no layer 'sdr'"):
        read(path, layer="sdr")


@pytest.mark.parametrize("kind", ["avif", "heic"])
def test_without_the_brand_it_does_not_count(kind, tmp_path) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(item_files.written(example(kind)[0], 1, brands=brands(kind, b"")))
    with pytest.warns(GpuopsWarning, match=f"{path}: is read without its gain map$"):
        assert read(path).layers == ()
    with pytest.raises(FileError, match="has no layer 'hdr'"):
        read(path, layer="hdr")


@pytest.mark.parametrize("same", [False, True])
def test_beside_apples_kind_that_of_iso_counts(same, tmp_path, clpix) -> None:
    """Files of both kinds, of two maps or of one: the light by ISO 21496-1, and no word of the other."""
    items, light = example("heic")
    kind = full(b"auxC", 0, b"urn:com:apple:photo:2020:aux:hdrgainmap\0")
    apples = items[3] if same else coded("heic", spot(32, 48) // 2)[0]
    items[3 if same else 4] = replace(apples.with_property(kind), references={b"auxl": [1]})
    path = tmp_path / "a.heic"
    path.write_bytes(item_files.written(items, 1, brands=brands("heic")))
    run = clpix("info", path)
    assert run.err == "" and run.out.count("gain map") == 1 and "gain map (ISO 21496-1)" in run.out
    assert np.abs(read(path, layer="hdr").pixels - light).max() < 2e-3 * light.max()


def damaged(name: str, items: dict[int, Item]) -> dict[int, Item]:
    derived, gain = items[2], items[3]
    inputs = {"to itself": [1, 2], "base twice": [1, 1], "one": [1], "three": [1, 3, 3], "no such": [1, 9]}
    if name in inputs:
        return items | {2: replace(derived, references={b"dimg": inputs[name]})}
    if name == "none":
        return items | {2: replace(derived, references={})}
    if name == "missing":
        return {1: items[1], 2: derived}
    if name == "no item":
        return {1: items[1]}
    if name == "loop":
        grid = Item(b"grid", struct.pack(">BBBBHH", 0, 0, 0, 0, 48, 32), gain.properties, {b"dimg": [3]})
        return items | {3: grid}
    if name == "huge":
        size = full(b"ispe", 0, struct.pack(">II", 60000, 60000))
        return items | {
            3: replace(gain.without(b"ispe"), properties=(size, *gain.without(b"ispe").properties))
        }
    if name == "sizeless":
        return items | {3: gain.without(b"ispe")}
    if name == "no codec":
        return items | {3: gain.without(b"av1C").without(b"hvcC")}
    if name == "bits":
        return items | {3: replace(gain, data=gain.data[:20])}
    data = {"short": derived.data[:40], "empty": b"", "no gamma": numbers(gamma=0)}
    data["fractions"] = derived.data[:10] + bytes(len(derived.data) - 10)
    return items | {2: replace(derived, data=data[name])}


@each(
    name=[
        "to itself", "base twice", "one", "three", "no such", "none", "missing", "no item", "loop", "huge", "sizeless",
        "no codec", "bits", "short", "empty", "no gamma", "fractions",
    ],
    kind=["avif", "heic"],
)  # fmt: skip
def test_damage_is_one_line(name, kind, clpix, tmp_path) -> None:
    items, _ = example(kind)
    path, alone = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    path.write_bytes(item_files.written(damaged(name, items), 1, brands=brands(kind)))
    alone.write_bytes(item_files.written({1: items[1]}, 1, brands=brands(kind, b"")))
    run = clpix("flip", path, "--axis", "both", "-o", tmp_path / "out.jpg")
    said = "which is of a version" if name == "empty" else "which is missing or damaged"
    assert run.code == 0 and said in run.err and run.err.count("\n") == 1, run.err
    with pytest.warns(GpuopsWarning, match="without its gain map"):
        assert np.array_equal(read(path, layer="sdr").pixels, read(alone).pixels)
    run = clpix("convert", path, "--layer", "hdr", "-o", tmp_path / "out.exr")
    assert run.code == 1 and run.err.endswith("; --layer sdr reads the picture without it\n")
    assert "its gain map is " in run.err and run.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["avif", "heic"])
@pytest.mark.parametrize("what", ["cut", "beyond"])
def test_places_that_lie(what, kind, tmp_path) -> None:
    """The map, which is last, is cut off; its numbers are beyond the file's end."""
    items, _ = example(kind)
    data = bytearray(item_files.written(items, 1, brands=brands(kind)))
    if what == "cut":
        del data[-len(items[3].data) // 2 :]
    else:
        at = data.index(b"iloc") + 4 + 4 + 2 + 2 + 20 + 10  # to the offset of the second item
        struct.pack_into(">I", data, at, 2**32 - 9)
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    with pytest.warns(GpuopsWarning, match=DAMAGED):
        there = read(path)
    assert there.pixels.shape == (64, 96, 3) and there.metadata.gain is None


@pytest.mark.parametrize(("at", "value"), [(0, 9), (1, 99), (4, 3)])
def test_versions_that_are_not_known(at, value, tmp_path) -> None:
    items, light = example()
    changed = bytearray(items[2].data)
    changed[at if at == 0 else at + 1] = value
    path = tmp_path / "a.avif"
    path.write_bytes(item_files.written(items | {2: replace(items[2], data=bytes(changed) + bytes(at))}, 1))
    if at == 4:  # a later version that readers of this one can read
        assert np.abs(read(path, layer="hdr").pixels - light).max() < 2e-3 * light.max()
    else:
        with pytest.warns(GpuopsWarning, match=rf"which is of a version that is not known \({value}\)"):
            assert read(path).metadata.gain is None


def test_a_map_of_another_picture_is_named(tmp_path) -> None:
    items, _ = example()
    items[4] = items[3]
    items[2] = replace(items[2], references={b"dimg": [4, 3]})
    (tmp_path / "a.avif").write_bytes(item_files.written(items, 1))
    with pytest.warns(GpuopsWarning, match="is read without its gain map$"):
        assert read(tmp_path / "a.avif").metadata.gain is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["avif", "heic"])
def test_no_damage_ends_in_a_traceback(kind, clpix, tmp_path, rng) -> None:
    """Bytes of what describes the items are changed by chance."""
    data = item_files.written(example(kind)[0], 1, Layout(iloc=1, idat=True), brands(kind))
    end = data.index(b"mdat")
    path = tmp_path / f"in.{kind}"
    for _ in range(150):
        changed = bytearray(data)
        for at in rng.integers(0, end, rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        path.write_bytes(changed)
        for words in (("flip", path, "--axis", "both"), ("convert", path, "--layer", "hdr")):
            run = clpix(*words, "-o", tmp_path / "out.exr", "--overwrite")
            assert run.code in (0, 1) and "Traceback" not in run.err, run.err


def test_a_light_of_its_own(tmp_path) -> None:
    """Light that was read is written as any other."""
    (tmp_path / "a.avif").write_bytes(item_files.written(example()[0], 1))
    there = read(tmp_path / "a.avif", layer="hdr")
    write(tmp_path / "b.exr", there)
    assert np.array_equal(read(tmp_path / "b.exr").pixels, there.pixels)
