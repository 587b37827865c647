"""DPX, Radiance, EXR, PNG and JPEG files as other programs write them, against the values that were put into them."""

import io
import itertools
import struct
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from gpuops.errors import FileError, GpuopsWarning
from gpuops.files import Picture, read, write
from gpuops.pixels.colour import LINEAR

from .choices import each
from .foreign import dpx, exr, hdr, packed, png

#: A gray ramp of light from 0.05 to 4, 16 × 16, as libultrahdr 1.4 writes it: an 8-bit picture with a gain map.
ULTRA_HDR = (Path(__file__).parent / "data" / "ultrahdr.jpg").read_bytes()


GRAY, RGB, RGBA, ABGR = 6, 50, 51, 52
KINDS = [(8, 0), (10, 0), (10, 1), (10, 2), (12, 0), (12, 1), (12, 2), (16, 0)]


@each(
    order=["<", ">"],
    bits__packing=KINDS,
    descriptor__channels=[(GRAY, 1), (RGB, 3), (RGBA, 4), (ABGR, 4)],
    aligned=[True, False],
)
def test_dpx_of_every_layout(descriptor, channels, bits, packing, order, aligned, tmp_path) -> None:
    """Widths of which rows end within a word; rows with and without padding."""
    rng = np.random.default_rng(3)
    most = 2**bits - 1
    for width, height in ((7, 5), (1, 3), (8, 2), (6, 3)):
        values = rng.integers(0, most + 1, (height, width, channels))
        values[0, 0], values[-1, -1] = most, 0
        path = tmp_path / "d.dpx"
        path.write_bytes(
            dpx(values.ravel().tolist(), height, descriptor, bits, packing, order, aligned=aligned)
        )
        picture = read(path)
        expected = values[:, :, ::-1] if descriptor == ABGR else values
        assert picture.pixels.dtype == ("uint8" if bits == 8 else "uint16")
        assert picture.alpha == (channels == 4)
        assert np.abs(picture.pixels - expected / most * np.iinfo(picture.pixels.dtype).max).max() <= 0.5


@each(dtype=["uint8", "uint16"], channels=[1, 3, 4], width=[1, 5, 6, 7, 8])
def test_dpx_is_written_as_the_standard_says(width, channels, dtype, tmp_path, rng) -> None:
    """Rows of 8 bits end at a word; rows of 16 bits are not padded, as most programs expect them."""
    pixels = rng.integers(0, np.iinfo(dtype).max + 1, (3, width, channels)).astype(dtype)
    path = tmp_path / "w.dpx"
    write(path, Picture(pixels, alpha=channels == 4))
    bits, kind = 8 * pixels.dtype.itemsize, {1: GRAY, 3: RGB, 4: RGBA}[channels]
    expected = dpx(pixels.ravel().tolist(), 3, kind, bits, 0, ">", aligned=bits == 8)
    written = path.read_bytes()
    assert written[2048:] == expected[2048:] and len(written) == int.from_bytes(written[16:20], "big")
    for place in (slice(0, 16), slice(768, 780), slice(800, 801), slice(803, 816)):
        assert written[place] == expected[place]
    assert np.array_equal(read(path).pixels, pixels)


@pytest.mark.parametrize(("position", "value", "words"), [
    (800, bytes([100]), "components of kind 100; convert it to gray or RGB first"),
    (803, bytes([32]), "32-bit samples"),
    (770, struct.pack(">H", 3), "3 image elements"),
    (780, struct.pack(">I", 1), "signed samples"),
    (806, struct.pack(">H", 1), "run-length encoded samples"),
    (768, struct.pack(">H", 4), "stored by columns; turn it first"),
    (772, struct.pack(">I", 0), "has no pixels"),
    (776, struct.pack(">I", 1 << 30), "is cut off"),
])  # fmt: skip
def test_dpx_kinds_that_are_refused(position, value, words, tmp_path) -> None:
    data = dpx([1, 2, 3] * 4, 2, RGB, 8, 0, ">")
    (tmp_path / "r.dpx").write_bytes(data[:position] + value + data[position + len(value) :])
    with pytest.raises(FileError, match=words):
        read(tmp_path / "r.dpx")


def test_dpx_offsets_padding_and_texts(tmp_path) -> None:
    data = dpx(range(1, 25), 2, RGB, 8, 0, "<")
    path = tmp_path / "o.dpx"
    lines = data[2048:2060], data[2060:]
    moved = bytearray(data[:2048]) + b"??" + lines[0] + b"...." + lines[1] + b"...."
    struct.pack_into("<II", moved, 808, 2050, 4)
    moved[460:464] = b"mine"
    struct.pack_into("<I", moved, 1920, 0x01020304)
    path.write_bytes(bytes(moved))
    with pytest.warns(GpuopsWarning, match="is read without its Copyright, time code$"):
        assert read(path).pixels.ravel().tolist() == list(range(1, 25))


@pytest.mark.parametrize("linear", [False, True])
def test_dpx_says_whether_values_are_linear(linear, tmp_path) -> None:
    path = tmp_path / "l.dpx"
    write(path, Picture(np.full((2, 4, 3), 7, np.uint16), linear=linear))
    assert path.read_bytes()[801] == (2 if linear else 0) and read(path).linear == linear


@pytest.mark.parametrize("by_components", [False, True])
def test_hdr_is_exact_for_every_exponent(by_components, tmp_path) -> None:
    """256 exponents, plainly and by components (each in runs of at most 128 bytes that are not equal)."""
    rng = np.random.default_rng(5)
    pixels = rng.integers(0, 256, (3, 256, 4), np.uint8)
    pixels[:, :, 3] = np.arange(256)
    pixels[:, 0, :3] = 7  # no pixel begins a run
    data = pixels.tobytes()
    if by_components:
        rows = (row.T.reshape(8, 128) for row in pixels)
        data = b"".join(b"\2\2\1\0" + b"".join(b"\x80" + half.tobytes() for half in row) for row in rows)
    (tmp_path / "e.hdr").write_bytes(hdr("-Y 3 +X 256", data))
    expected = np.ldexp(pixels[:, :, :3].astype(np.float64), pixels[:, :, 3:].astype(int) - 136)
    expected[:, 0] = 0
    assert np.array_equal(read(tmp_path / "e.hdr").pixels, expected.astype(np.float32))


def test_hdr_in_runs_of_pixels(tmp_path) -> None:
    """Files from before 1991 have runs: (1, 1, 1, n) repeats the pixel before it, and a second such one 256 n times."""
    first, second = bytes([128, 64, 32, 129]), bytes([10, 20, 30, 136])
    rows = first + bytes([1, 1, 1, 43, 1, 1, 1, 1]) + second  # 1 + 43 + 256 + 1
    rows += second + bytes([1, 1, 1, 199]) + first + bytes([1, 1, 1, 100])  # 1 + 199 + 1 + 100
    path = tmp_path / "r.hdr"
    path.write_bytes(hdr("-Y 2 +X 301", rows))
    red = read(path).pixels[:, :, 0]
    assert red.tolist() == [[1] * 300 + [10], [10] * 200 + [1] * 101]
    path.write_bytes(hdr("-Y 2 +X 301", rows[:-4]))
    with pytest.raises(FileError, match=r"cut off or damaged \(row 2 of 2\)"):
        read(path)


def by_components(row: np.ndarray) -> bytes:
    """A row (pixels, 4), each component as one run of up to 127 equal bytes after another, or as up to 128 others."""
    data = b"\2\2" + struct.pack(">H", len(row))
    for component in row.T.tolist():
        for value, group in itertools.groupby(component):
            count = len(list(group))
            data += bytes([128 + count, value]) if count > 1 else bytes([1, value])
    return data


def in_runs(row: np.ndarray) -> bytes:
    """A row (pixels, 4) as it was stored before 1991: once, and (1, 1, 1, how often again)."""
    data = b""
    for pixel, group in itertools.groupby(map(tuple, row.tolist())):
        count = len(list(group)) - 1
        data += bytes(pixel) + (bytes([1, 1, 1, count]) if count else b"")
    return data


STORED = {"plain": np.ndarray.tobytes, "by components": by_components, "in runs": in_runs}


@each(kinds=list(itertools.permutations(STORED)), axes=["-Y 3 +X 11", "+Y 3 -X 11", "+X 3 -Y 11"])
def test_hdr_rows_are_each_of_their_own_kind(kinds, axes, tmp_path) -> None:
    pixels = np.random.default_rng(3).integers(3, 256, (3, 11, 4), np.uint8)
    pixels[:, 4:9] = pixels[:, 4:5]
    rows = b"".join(STORED[kind](row) for kind, row in zip(kinds, pixels, strict=True))
    (tmp_path / "r.hdr").write_bytes(hdr(axes, rows))
    expected = np.ldexp(pixels[:, :, :3].astype(np.float64), pixels[:, :, 3:].astype(int) - 136)
    expected = {"-Y": expected, "+Y": expected[::-1, ::-1], "+X": expected.swapaxes(0, 1)}[axes[:2]]
    assert np.array_equal(read(tmp_path / "r.hdr").pixels, expected.astype(np.float32))


@pytest.mark.parametrize("length", [1, 7, 32768])
def test_hdr_rows_that_are_never_stored_by_components(length, tmp_path) -> None:
    """Rows of fewer than 8 or more than 32767 pixels are always plain, even if they begin like stored components."""
    pixels = np.full((2, length, 4), (2, 2, 0, 136), np.uint8)
    pixels[:, :, 2] = np.arange(length) % 100
    (tmp_path / "w.hdr").write_bytes(hdr(f"-Y 2 +X {length}", pixels.tobytes()))
    assert np.array_equal(read(tmp_path / "w.hdr").pixels, pixels[:, :, :3])


@pytest.mark.parametrize(
    ("axes", "data"),
    [
        ("-Y 2 +X 9", b"\2\2\0\x09" + b"\x89\5" * 4),
        ("-Y 2 +X 9", b"\2\2\0\x09" + b"\x89\5" * 4 + b"\2\2\0\x09" + b"\x89\5" * 3 + b"\x09abc"),
        ("-Y 2 +X 9", b"\2\2\0\x09" + b"\x89\5" * 4 + b"\2\2\0\x09" + b"\x8a\5" + b"\x89\5" * 3),
        ("-Y 2 +X 9", b"\2\2\0\x09" + b"\x89\5" * 4 + b"\2\2\0\x0a" + b"\x8a\5" * 4),
        ("-Y 2 +X 9", b"\2\2\0\x09" + b"\x89\5" * 4 + b"abcd" * 8),
        ("-Y 2 +X 9", b"abcd" * 9 + b"\1\1\1\x09" + b"abcd" * 9),
        ("-Y 2 +X 3", b"abcd" * 3 + b"abcd\1\1\1\1"),
        ("-Y 2 +X 3", b"abcd" * 3 + b"abcd\1\1\1\1a"),
    ],
    ids=[
        "cut", "cut in a run", "run too long", "other length", "cut plain row", "run of nothing",
        "cut runs", "cut pixel",
    ],
)  # fmt: skip
def test_hdr_rows_that_are_damaged(axes, data, tmp_path) -> None:
    (tmp_path / "d.hdr").write_bytes(hdr(axes, data))
    with pytest.raises(
        FileError, match=r"d\.hdr: could not be read: the file is cut off or damaged \(row 2 of 2\)$"
    ):
        read(tmp_path / "d.hdr")


@pytest.mark.parametrize("axes", ["-Y 2 +X 3.5", "-Y 2 +X 3 4"])
def test_hdr_sizes_that_are_none(axes, tmp_path) -> None:
    (tmp_path / "d.hdr").write_bytes(hdr(axes, bytes(100)))
    with pytest.raises(FileError, match=r"is damaged: the line with its size makes no sense$"):
        read(tmp_path / "d.hdr")


@each(
    width=[1, 9],
    pixel__kept__lost=[
        ((-1, 0.5, 2), (0, 0.5, 2), ["negative values; they become 0"]),
        ((-np.inf, 0.5, 2), (0, 0.5, 2), ["negative values; they become 0"]),
        ((-3, -2, -1), (0, 0, 0), ["negative values; they become 0"]),
        ((np.nan, 1, 0.5), (0, 1, 0.5), ["NaN; it becomes 0"]),
        ((np.nan, np.nan, np.nan), (0, 0, 0), ["NaN; it becomes 0"]),
        ((np.inf, 1, 0), (255 * 2.0**119, 0, 0), ["values above 1.695e+38; they become that"]),
        ((2.0**127, 1, 0), (255 * 2.0**119, 0, 0), ["values above 1.695e+38; they become that"]),
        ((2.0**126, 1, 0), (2.0**126, 0, 0), []),
        ((-1e-9, 1, 0.25), (0, 1, 0.25), []),  # rounding
        (
            (-1, np.nan, np.inf),
            (0, 0, 255 * 2.0**119),
            [
                "negative values; they become 0",
                "NaN; it becomes 0",
                "values above 1.695e+38; they become that",
            ],
        ),
    ],
)
def test_hdr_of_values_that_it_cannot_hold(pixel, kept, lost, width, tmp_path) -> None:
    path = tmp_path / "a.hdr"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write(path, Picture(np.full((2, width, 3), pixel, np.float32), linear=True))
    assert [str(entry.message) for entry in caught] == [
        f"{path}: Radiance HDR holds no {text}" for text in lost
    ]
    assert (read(path).pixels == np.float32(kept)).all()


@pytest.mark.parametrize(("lines", "names"), [
    (("EXPOSURE=2",), "exposure"),
    (("EXPOSURE= 1.000000e+00", "COLORCORR= 1.0 1 1.00", "PIXASPECT=1.0", "GAMMA=1"), ""),
    (("EXPOSURE=1", "EXPOSURE=.5"), "exposure"),
    (("COLORCORR=1 2 0.5",), "colour correction"),
    (("GAMMA=2.2",), "gamma"),
    (("EXPOSURE=x",), "exposure"),
    (("# made by hand", "pfilt -1", "CAPDATE=2020:01:01 00:00:00"), ""),
], ids=str)  # fmt: skip
def test_hdr_says_what_of_its_header_is_not_applied(lines, names, tmp_path) -> None:
    path = tmp_path / "h.hdr"
    path.write_bytes(hdr("-Y 1 +X 2", bytes([128, 64, 32, 129, 1, 2, 3, 128]), *lines))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pixels = read(path).pixels
    assert pixels[0, 0].tolist() == [1, 0.5, 0.25]
    assert [str(entry.message) for entry in caught] == (
        [f"{path}: is read without its {names}"] if names else []
    )


P3 = struct.pack("<8f", 0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329)


def read_with_lines(path: Path) -> tuple[Picture, list[str]]:
    """A picture, and the lines that reading it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picture = read(path)
    return picture, [str(entry.message).removeprefix(f"{path}: ") for entry in caught]


@pytest.mark.parametrize(("kind", "data"), [
    ("string", b"Display P3"),
    ("string", b"12345678"),
    ("stringvector", struct.pack("<i", 2) + b"P3"),
    ("float", struct.pack("<f", 0.68)),
    ("int", struct.pack("<i", 3)),
    ("v2f", P3[:8]),
    ("m33f", P3 + P3[:4]),
    ("chromaticities", struct.pack("<8f", *[np.nan] * 8)),
], ids=["text", "digits", "texts", "float", "int", "v2f", "m33f", "NaN"])  # fmt: skip
def test_exr_chromaticities_of_any_type(kind, data, tmp_path) -> None:
    """Attributes that are not chromaticities give one line, and no other file gets them."""
    path = tmp_path / "a.exr"
    path.write_bytes(exr("RGB", ("chromaticities", kind, data)))
    picture, lines = read_with_lines(path)
    assert lines == ["its chromaticities make no sense; colours are taken as linear Rec. 709 light"]
    assert picture.colour == LINEAR and (picture.pixels == [3, 2, 1]).all()
    write(tmp_path / "b.exr", picture)
    assert b"chromaticities" not in (tmp_path / "b.exr").read_bytes()


def test_exr_chromaticities_of_xyz_are_left_out(tmp_path) -> None:
    """The values go on as red, green and blue, which are not in any space that the file tells of."""
    path = tmp_path / "a.exr"
    path.write_bytes(exr("XYZ", ("chromaticities", "chromaticities", P3)))
    picture, lines = read_with_lines(path)
    assert lines[0].startswith("its X, Y, Z are taken as they are")
    assert lines[1:] == ["is read without its header attributes chromaticities"]
    assert (picture.pixels == [1, 2, 3]).all()
    write(tmp_path / "b.exr", picture)
    assert b"chromaticities" not in (tmp_path / "b.exr").read_bytes()
    path.write_bytes(exr("XYZ"))
    assert len(read_with_lines(path)[1]) == 1


@pytest.mark.parametrize("name", ["owner", "comments", "timeCode", "keyCode", "PixelAspectRatio"])
def test_exr_attributes_of_a_type_that_cannot_be_written_are_named(name, tmp_path) -> None:
    path = tmp_path / "a.exr"
    path.write_bytes(exr("RGB", (name, "v2f", P3[:8])))
    shown = {"owner": "Copyright", "comments": "ImageDescription"}.get(name, name)
    picture, lines = read_with_lines(path)
    assert lines == [f"is read without its header attributes {shown}"] and not picture.metadata.attributes


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("transparent", [False, True])
def test_png_of_gray_with_a_transparent_shade(bits, transparent, tmp_path) -> None:
    most = 2**bits - 1
    shades = np.unique(np.linspace(0, most, 7).astype(int))
    path = tmp_path / "g.png"
    shade = int(shades[1 if bits > 1 else 0])
    chunks = [(b"tRNS", struct.pack(">H", shade))] if transparent else []
    path.write_bytes(png((len(shades), 1, bits, 0), b"\0" + packed(shades, bits), *chunks))
    picture = read(path)
    whole = 65535 if bits == 16 else 255
    assert picture.alpha == transparent
    assert picture.pixels[0, :, 0].tolist() == (shades * whole // most).tolist()
    if transparent:
        assert picture.pixels[0, :, -1].tolist() == [0 if value == shade else whole for value in shades]
    with PIL.Image.open(path) as image:
        assert image.size == (len(shades), 1)


@pytest.mark.parametrize("bits", [8, 16])
def test_png_of_colours_with_a_transparent_one(bits, tmp_path) -> None:
    most = 2**bits - 1
    values = [0, most, 7, 0, most, 8, 7, 7, 7]
    colour = struct.pack(">HHH", *values[:3])
    (tmp_path / "c.png").write_bytes(png((3, 1, bits, 2), b"\0" + packed(values, bits), (b"tRNS", colour)))
    picture = read(tmp_path / "c.png")
    assert picture.alpha and picture.pixels[0, :, :3].ravel().tolist() == values
    assert picture.pixels[0, :, 3].tolist() == [0, most, most]


@each(bits=[1, 2, 4, 8], alphas=[(), (0,), (255, 128)])
def test_png_of_palettes_of_any_depth(bits, alphas, tmp_path) -> None:
    """tRNS may have fewer entries than the palette; the others are opaque."""
    count = min(2**bits, 6)
    palette = np.arange(3 * count, dtype=np.uint8).reshape(-1, 3) * 13
    index = [i % count for i in range(9)]
    chunks = [(b"PLTE", palette.tobytes())] + ([(b"tRNS", bytes(alphas))] if alphas else [])
    path = tmp_path / "p.png"
    path.write_bytes(png((9, 1, bits, 3), b"\0" + packed(index, bits), *chunks))
    picture = read(path)
    opacity = [*alphas, *[255] * 6]
    assert picture.alpha == bool(alphas) and np.array_equal(picture.pixels[0, :, :3], palette[index])
    if alphas:
        assert picture.pixels[0, :, 3].tolist() == [opacity[i] for i in index]
    with PIL.Image.open(path) as image:
        assert np.array_equal(np.asarray(image.convert("RGBA"))[..., : picture.channels], picture.pixels)


def jpeg(**options: Any) -> bytes:
    stream = io.BytesIO()
    pixels = np.random.default_rng(4).integers(0, 256, (41, 59, 3), np.uint8)
    PIL.Image.fromarray(pixels).save(stream, "JPEG", **options)
    return stream.getvalue()


@pytest.mark.parametrize("progressive", [False, True])
def test_jpegs_without_an_end_marker(progressive, tmp_path) -> None:
    """All of the picture is there until the last byte of its last scan is missing."""
    path, data = tmp_path / "e.jpg", jpeg(progressive=progressive)
    path.write_bytes(data)
    expected = read(path).pixels
    for count in (1, 2):
        path.write_bytes(data[:-count])
        with pytest.warns(GpuopsWarning, match=r"e\.jpg: has no end marker; all of its picture is there$"):
            assert np.array_equal(read(path).pixels, expected)
    scans = [at for at in range(len(data)) if data.startswith(b"\xff\xda", at)]
    for length in (len(data) - 3, len(data) // 2, *scans):  # a whole scan may be missing, too
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="the file is cut off or damaged"):
            read(path)


def test_jpegs_that_other_readers_take(tmp_path) -> None:
    path, data = tmp_path / "e.jpg", jpeg()
    path.write_bytes(data)
    expected, scan, jfif = read(path).pixels, data.index(b"\xff\xda") + 11, data.index(b"JFIF") + 5
    for changed, words in (
        (data[:scan] + b"\0\0\0" + data[scan + 3 :], "says wrongly which coefficients its scans have"),
        (data[:jfif] + b"\7" + data[jfif + 1 :], "says a version of JFIF that there is not"),
        (data[:20] + b"abcd" + data[20:-2], "has no end marker"),  # libjpeg tells of the first fault alone
    ):
        path.write_bytes(changed)
        with pytest.warns(GpuopsWarning, match=f"e.jpg: {words}; all of its picture is there$"):
            assert np.array_equal(read(path).pixels, expected)
        path.write_bytes(changed[:-9])
        with pytest.raises(FileError, match="cut off or damaged"):
            read(path)


def test_gain_maps_without_numbers_are_said(tmp_path) -> None:
    """A picture, another one behind it, and what says that it is a gain map (CIPA DC-007, ISO 21496-1)."""
    stream = io.BytesIO()
    PIL.Image.new("RGB", (16, 16), (165, 110, 53)).save(stream, "JPEG", quality=100, subsampling=0)
    picture = stream.getvalue()
    blocks = {b"MPF\0" + bytes(20): 0xE2, b"urn:iso:std:iso:ts:21496:-1\0\0\0\0\0": 0xE2}
    segments = b"".join(bytes([255, m]) + struct.pack(">H", 2 + len(b)) + b for b, m in blocks.items())
    path = tmp_path / "u.jpg"
    path.write_bytes(picture[:2] + segments + picture[2:] + picture)
    with pytest.warns(GpuopsWarning) as caught:
        pixels = read(path).pixels
    assert [str(entry.message) for entry in caught] == [
        f"{path}: is read without its further pictures (MPF), gain map, which is missing or damaged"
    ]
    assert np.abs(pixels - np.array([165, 110, 53])).max() <= 2
    xmp = b'http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"/>'
    path.write_bytes(picture[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(xmp)) + xmp + picture[2:])
    with pytest.warns(GpuopsWarning, match="is read without its gain map, which is missing or damaged$"):
        read(path)
    path.write_bytes(ULTRA_HDR)
    got = read(path)
    assert got.metadata.gain is not None
    with PIL.Image.open(path) as image:
        assert np.array_equal(got.pixels, np.asarray(image))
    assert not got.alpha and not got.linear


def test_libraries_print_nothing_beside_our_lines(clpix, tmp_path) -> None:
    (tmp_path / "g.jpg").write_bytes(ULTRA_HDR[:2] + bytes(9) + ULTRA_HDR[2:-700])
    np.savez(tmp_path / "n.npz", **{f"array{i}": np.zeros(1) for i in range(999)})
    for name, layer in (("g.jpg", "hdr"), ("n.npz", "none")):
        run = clpix("info", tmp_path / name, "--layer", layer)
        assert run.code == 1
        assert all(line.startswith("clpix: ") and len(line) <= 500 for line in run.err.splitlines())


def test_reading_leaves_the_warnings_of_other_threads_alone(tmp_path, monkeypatch) -> None:
    """All threads share the filters of warnings, and the first input is read while a device is opened."""
    path = tmp_path / "gain.jpg"
    path.write_bytes(ULTRA_HDR)
    decoding, warned = threading.Event(), threading.Event()
    opened = PIL.Image.open

    def open_slowly(*args: Any, **kwargs: Any) -> PIL.Image.Image:
        image = opened(*args, **kwargs)
        load = image.load

        def load_slowly() -> Any:
            decoding.set()
            assert warned.wait(60)
            return load()

        monkeypatch.setattr(image, "load", load_slowly)
        return image

    monkeypatch.setattr(PIL.Image, "open", open_slowly)
    with ThreadPoolExecutor(1) as pool, pytest.warns(GpuopsWarning) as caught:
        pixels = pool.submit(read, path)
        assert decoding.wait(60)
        warnings.warn("of another thread", GpuopsWarning, stacklevel=1)
        warned.set()
        assert pixels.result().width == 16
    assert "of another thread" in [str(entry.message) for entry in caught]
