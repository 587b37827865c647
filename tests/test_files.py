"""Reading and writing: every trap of the formats, every way a file can be bad, and nothing left behind."""

import io
import os
import struct
import subprocess
import sys
import warnings
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as PIL
from PIL import ImageCms

from gpuops import FileError, GpuopsWarning, ParameterError, files
from gpuops.files import Metadata, Picture, read, write
from gpuops.files import png as png_writer
from gpuops.files.formats import FORMATS, format_named, output_dtype
from gpuops.files.output import atomic
from gpuops.params.moves import Frame

from .choices import each, of_formats
from .conftest import run_python

ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


@pytest.fixture
def photo(rng) -> Picture:
    """A smooth picture with a little noise, as photographs are."""
    y, x = np.mgrid[:97, :131] / 97
    smooth = np.stack((x / 2, y, (np.sin(9 * x * y) + 1) / 2), axis=2)
    return Picture(np.clip(smooth * 255 + rng.normal(0, 2, smooth.shape), 0, 255).astype(np.uint8))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_file(width: int, height: int, depth: int, colour: int, rows: bytes, *chunks: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(rows))
    return png_writer.SIGNATURE + header + b"".join(chunks) + data + chunk(b"IEND", b"")


@each(kind=range(5), dtype=[np.uint8, np.uint16], channels=[1, 2, 3, 4])
def test_png_filters_are_inverted_by_the_specification(kind, dtype, channels, rng) -> None:
    """Against the reconstruction of the PNG specification, 9.2, byte by byte."""
    pixels = rng.integers(0, np.iinfo(dtype).max, (6, 5, channels), dtype, endpoint=True)
    step = channels * pixels.itemsize
    expected = pixels.astype(pixels.dtype.newbyteorder(">")).tobytes()
    filtered = np.concatenate(
        [png_writer.filter_rows(pixels, 0, 2, kind), png_writer.filter_rows(pixels, 2, 6, kind)]
    )
    above = bytes(5 * step)
    rebuilt = b""
    for line in filtered.tolist():
        assert line[0] == kind
        row = bytearray(5 * step)
        for i, x in enumerate(line[1:]):
            a, b, c = (row[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (x + (0, a, b, (a + b) // 2, paeth)[kind]) % 256
        rebuilt, above = rebuilt + bytes(row), bytes(row)
    assert rebuilt == expected


def test_each_strip_of_a_png_has_its_filter(rng) -> None:
    """Small numbers; rows like the pixel to the left, and like the row above, which the last block must know of."""
    small = rng.integers(0, 3, (40, 50, 3))
    to_left = np.cumsum(rng.integers(0, 3, (40, 50, 3)), axis=1) + rng.integers(0, 256, (40, 1, 3))
    above = np.repeat(rng.integers(0, 256, (1, 50, 3)), 30, axis=0)
    pixels = np.concatenate((small, to_left, above)).astype(np.uint8)
    assert list(png_writer.best_filters(pixels, 20)) == [0, 0, 1, 1, 2, 2]
    assert list(png_writer.best_filters(pixels[-1:], 20, pixels[-2:-1])) == [2]


@pytest.mark.exhaustive
@settings(max_examples=20)
@given(
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    channels=st.integers(1, 4),
    dtype=st.sampled_from(["uint8", "uint16"]),
    strip=st.integers(1, 600),
    few=st.sampled_from([0, 1 << 12]),
    seed=st.integers(0, 99),
)
def test_png_of_any_shape_and_strip_size_comes_back(height, width, channels, dtype, strip, few, seed) -> None:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, np.iinfo(dtype).max, (height, width, channels), dtype) // np.array(
        rng.integers(1, 1000), dtype if dtype == "uint16" else "uint8"
    ).clip(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(png_writer, "_STRIP_BYTES", strip)
        patch.setattr(png_writer, "_FEW_BYTES", few)
        stream = io.BytesIO()
        files.write_stream(stream, Picture(pixels, alpha=channels in (2, 4)), format_named("png"))
    data = stream.getvalue()
    assert np.array_equal(files.read_stream(io.BytesIO(data)).pixels, pixels)
    position, plain = 8, b""  # another inflater checks the zlib stream and its checksum
    while position < len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        plain += data[position + 8 : position + 8 + length] if kind == b"IDAT" else b""
        position += 12 + length
    rows = np.frombuffer(zlib.decompress(plain), np.uint8).reshape(height, 1 + pixels[0].nbytes)
    if pixels.nbytes <= few:  # rows are stored as they are
        assert not rows[:, 0].any()
        assert rows[:, 1:].tobytes() == pixels.astype(pixels.dtype.newbyteorder(">")).tobytes()


def test_png_is_read_alike_by_pillow(photo, tmp_path) -> None:
    path = tmp_path / "photo.png"
    write(path, replace(photo, metadata=Metadata(icc=ICC, resolution=(300.0, 300.0, "in"))))
    with PIL.open(path) as image:
        assert np.array_equal(np.asarray(image), photo.pixels) and image.info["icc_profile"] == ICC
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.01)


def test_png_size_is_sane(photo, tmp_path) -> None:
    write(tmp_path / "ours.png", photo)
    PIL.fromarray(photo.pixels).save(tmp_path / "pillow.png")
    assert (tmp_path / "ours.png").stat().st_size < 1.15 * (tmp_path / "pillow.png").stat().st_size


def camera_exif() -> bytes:
    exif = PIL.Exif()
    exif[0x010F], exif[0x0112] = "Maker", 6
    exif.get_ifd(0x8769).update({0x829A: (1, 60), 0x8827: 200, 0x927C: b"maker's note"})
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 30.5)})
    return exif.tobytes().removeprefix(b"Exif\0\0")


@each(source=["png", "jpg", "webp", "tif"], target=["png", "jpg", "webp", "tif"])
def test_exif_goes_from_any_format_to_any(source, target, photo, tmp_path) -> None:
    first, second = tmp_path / f"a.{source}", tmp_path / f"b.{target}"
    PIL.fromarray(photo.pixels).save(first, exif=b"Exif\0\0" + camera_exif(), icc_profile=ICC)
    picture = read(first)
    write(second, replace(picture, metadata=replace(picture.metadata, resolution=None)))
    with PIL.open(second) as image:  # not loaded, because loading turns TIFF pixels in Pillow
        exif = image.getexif()
        assert (exif[0x010F], exif[0x0112]) == ("Maker", 6)
        assert exif.get_ifd(0x8769)[0x829A] in ((1, 60), pytest.approx(1 / 60))
        assert exif.get_ifd(0x8769)[0x8827] == 200 and exif.get_ifd(0x8769)[0x927C] == b"maker's note"
        assert exif.get_ifd(0x8825)[2] == (48.0, 51.0, 30.5) and image.info["icc_profile"] == ICC
        assert np.asarray(image).size == photo.pixels.size


def rich_exif(order: str) -> bytes:
    """EXIF with every directory, tags where they do not belong, and a maker's note that points into the block."""
    lens, note_at = b"RF24-70mm F2.8\0", 200

    def directory(*entries: tuple[int, int, int, int]) -> bytes:
        table = struct.pack(order + "H", len(entries))
        for tag, kind, count, value in entries:
            packed = struct.pack(order + "H2x", value) if kind == 3 else struct.pack(order + "I", value)
            table += struct.pack(order + "HHI", tag, kind, count) + packed
        return table + bytes(4)

    block = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "I", 8)
    block += directory(
        (0x9C9B, 1, 8, 300), (0x8769, 4, 1, 80), (0x8825, 4, 1, 160), (0xA434, 2, len(lens), 320)
    )
    block = block.ljust(80, b"\0") + directory(
        (0x8827, 3, 1, 400), (0x927C, 7, 40, note_at), (0xA005, 4, 1, 260), (0xA434, 2, len(lens), 320)
    )
    block = block.ljust(160, b"\0") + directory((0, 1, 4, 0x02030000))
    # An absolute offset, as in many makers' notes.
    block = block.ljust(note_at, b"\0") + directory((1, 4, 2, note_at + 20))
    block = block.ljust(260, b"\0") + directory(
        (1, 2, 4, int.from_bytes(b"R98\0", "little" if order == "<" else "big"))
    )
    return block.ljust(300, b"\0") + "clpx".encode("utf-16-le") + bytes(12) + lens


@each(order=["<", ">"], target=["png", "jpg", "webp", "tif"])
def test_all_directories_of_exif_survive(order, target, photo, tmp_path) -> None:
    """They survive by way of TIFF and directly; only positions in the maker's note do not, which a line says."""
    block = rich_exif(order)
    with pytest.warns(
        GpuopsWarning, match=r"a\.tif: TIFF cannot hold all EXIF.*: positions within the maker's note$"
    ):
        write(tmp_path / "a.tif", replace(photo, metadata=Metadata(exif=block)))
    for source in (replace(photo, metadata=Metadata(exif=block)), read(tmp_path / "a.tif")):
        path = tmp_path / f"b.{target}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GpuopsWarning)
            write(path, source, overwrite=True)
            kept = read(path).metadata.exif
        assert kept is not None
        exif = PIL.Exif()
        exif.load(b"Exif\0\0" + kept)
        assert exif[0xA434].rstrip("\0") == "RF24-70mm F2.8"
        assert bytes(exif[0x9C9B]) == "clpx".encode("utf-16-le")
        inner = exif.get_ifd(0x8769)
        assert inner[0x8827] == 400 and inner[0xA434].rstrip("\0") == "RF24-70mm F2.8"
        assert len(inner[0x927C]) == 40 and exif.get_ifd(0x8825)
        assert exif.get_ifd(0xA005)[1].rstrip("\0") == "R98"


def test_exif_that_is_damaged_in_part_is_kept_in_part(photo, tmp_path) -> None:
    block = bytearray(rich_exif("<"))
    block[30:34] = struct.pack("<I", 99999)  # the offset of the Exif directory
    with pytest.warns(GpuopsWarning, match=r"kept but for: tag 0x8769"):
        write(tmp_path / "a.tif", replace(photo, metadata=Metadata(exif=bytes(block))))
    kept = read(tmp_path / "a.tif").metadata.exif
    assert kept is not None and b"RF24" in kept


def test_tiff_says_which_blocks_it_leaves_out(photo, tmp_path) -> None:
    import tifffile

    extra = [(0x83BB, 7, 4, b"iptc", True), (0x8649, 7, 4, b"8BIM", True), (0x0110, 2, 0, "EOS R5", True)]
    for name, options in (("a.tif", {}), ("big.tif", {"bigtiff": True}), ("be.tif", {"byteorder": ">"})):
        with tifffile.TiffWriter(tmp_path / name, **options) as file:
            file.write(photo.pixels, photometric="rgb", extratags=extra, subifds=1)
            file.write(photo.pixels[::2, ::2], photometric="rgb", subfiletype=1)
        with pytest.warns(GpuopsWarning, match="without its .*sub-images") as caught:
            exif = read(tmp_path / name).metadata.exif
        assert len(caught) == 1 and "IPTC block" in str(caught[0].message)
        assert "Photoshop block" in str(caught[0].message) and exif is not None and b"EOS R5" in exif


@pytest.mark.parametrize(("inserted", "name"), [
    (chunk(b"acTL", struct.pack(">II", 2, 0)), "animation"),
    (chunk(b"caBX", b"?"), "chunk 'caBX'"),
    (chunk(b"pHYs", struct.pack(">IIB", 2, 1, 0)), "pixel aspect ratio (0.5)"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_png_says_what_is_not_kept(inserted, name, tmp_path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(png_file(1, 1, 8, 0, b"\0\x05", inserted))
    with pytest.warns(GpuopsWarning) as caught:
        assert read(path).pixels.tolist() == [[[5]]]
    assert [str(w.message) for w in caught] == [f"{path}: is read without its {name}"]


def test_png_of_usual_colours_says_nothing(tmp_path) -> None:
    srgb = struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
    usual = (chunk(b"gAMA", struct.pack(">I", 45455)), chunk(b"cHRM", srgb), chunk(b"tEXt", b"Software\0x"))
    (tmp_path / "p.png").write_bytes(png_file(1, 1, 8, 0, b"\0\x05", *usual, chunk(b"tIME", bytes(7))))
    assert not read(tmp_path / "p.png").linear


@pytest.mark.parametrize(("segment", "name"), [
    (b"\xff\xfe\0\x07hello", "comment"), (b"\xff\xed\0\x10Photoshop 3.0\0", "IPTC block"),
    (b"\xff\xe2\0\x06MPF\0", "further pictures (MPF)"), (b"\xff\xff\xff\xe3\0\x06META", "block APP3"),
    (b"\xff\xe2\0\x14ICC_PROFILE\0\x01\x02half", "ICC profile, of which parts are missing or numbered wrongly"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_jpeg_says_what_is_not_kept(segment, name, photo, tmp_path) -> None:
    path = tmp_path / "p.jpg"
    write(path, replace(photo, metadata=Metadata(exif=camera_exif())))
    data = path.read_bytes()
    path.write_bytes(data[:2] + segment + data[2:])
    with pytest.warns(GpuopsWarning) as caught:
        assert read(path).metadata.exif == camera_exif()
    assert [str(w.message) for w in caught] == [f"{path}: is read without its {name}"]


def test_animated_webp_and_png_are_read_as_their_first_picture(tmp_path) -> None:
    first, second = (PIL.new("RGB", (32, 32), colour) for colour in ("red", "blue"))
    for name in ("a.webp", "a.png"):
        first.save(tmp_path / name, save_all=True, append_images=[second], lossless=True)
        with pytest.warns(GpuopsWarning, match="is read without its animation"):
            assert np.all(read(tmp_path / name).pixels[..., :3] == (255, 0, 0))


@pytest.mark.parametrize("name", ["c.jpg", "c.tif"])
def test_cmyk_is_converted_and_says_so(name, tmp_path) -> None:
    inks = np.zeros((16, 32, 4), np.uint8)
    inks[:, 8:16, 0] = inks[:, 16:24, 3] = 255
    inks[:, 24:] = 128, 64, 32, 16
    profile = ICC.replace(b"RGB ", b"CMYK")
    PIL.fromarray(inks, "CMYK").save(tmp_path / name, icc_profile=profile, quality=100, subsampling=0)
    with pytest.warns(
        GpuopsWarning, match="is CMYK and its ICC profile has no tables .*; colours are taken as "
    ) as caught:
        picture = read(tmp_path / name)
    assert len(caught) == 1 and picture.metadata.icc is None
    assert picture.pixels[8, 4::8].tolist() == [[255, 255, 255], [0, 255, 255], [0, 0, 0], [119, 179, 209]]


def test_exif_preview_is_dropped(photo, tmp_path) -> None:
    preview = b"\xff\xd8 the face that was blurred \xff\xd9"
    at = 8 + 2 + 12 + 4  # directory 0 with one entry, then directory 1
    block = b"II*\0\x08\0\0\0" + struct.pack("<HHHII", 1, 0x0112, 3, 1, 3) + struct.pack("<I", at)
    block += struct.pack("<HHHIIHHIII", 2, 0x201, 4, 1, at + 30, 0x202, 4, 1, len(preview), 0) + preview
    write(tmp_path / "a.png", replace(photo, metadata=Metadata(exif=block)))
    assert b"face" in (tmp_path / "a.png").read_bytes()
    kept = read(tmp_path / "a.png").metadata
    assert kept.exif is not None and b"face" not in kept.exif and kept.orientation == 3


def suited(pixels: np.ndarray, fmt: files.Format, at: int = 0) -> np.ndarray:
    """The pixels in one of a format's depths, with few colours for GIF."""
    return (pixels & 0xC0 if fmt.name == "GIF" else pixels).astype(fmt.dtypes[at])


@pytest.mark.parametrize("fmt", of_formats(FORMATS), ids=str)
def test_a_picture_without_metadata_gets_none(fmt, photo, tmp_path) -> None:
    path = tmp_path / f"p{fmt.extension}"
    linear = fmt.dtypes[0].startswith("float")
    write(path, Picture(suited(photo.pixels, fmt), linear=linear))
    assert read(path).metadata == Metadata()


def test_losses_are_named(photo, tmp_path) -> None:
    metadata = Metadata(icc=ICC, exif=camera_exif(), resolution=(72.0, 72.0, "in"))
    with pytest.warns(
        GpuopsWarning, match=r"p\.dpx: DPX cannot hold the ICC profile, EXIF .*turned.*, resolution"
    ):
        write(tmp_path / "p.dpx", replace(photo, metadata=metadata))
    gray = Picture(photo.pixels[:, :, :1].copy(), metadata=Metadata(icc=ICC))
    with pytest.warns(GpuopsWarning, match="ICC profile is for RGB"):
        write(tmp_path / "g.png", gray)
    with pytest.warns(GpuopsWarning, match="EXIF is too long"):
        long = camera_exif() + bytes(70000)
        write(tmp_path / "e.jpg", replace(photo, metadata=Metadata(exif=long)))
    with pytest.warns(GpuopsWarning, match=r"d\.tif: EXIF and XMP are damaged"):
        write(tmp_path / "d.tif", replace(photo, metadata=Metadata(exif=camera_exif()[:40])))
    with pytest.warns(GpuopsWarning, match="negative"):
        write(tmp_path / "n.hdr", Picture(np.full((4, 4, 3), -1, np.float32), linear=True))
    assert not (read(tmp_path / "n.hdr").pixels).any()


@each(name=["r.png", "r.jpg", "r.tif", "r.exr"], value=[np.inf, np.nan, -3.0, 1e12, 1e-9])
def test_resolutions_that_make_no_sense(name, value, tmp_path) -> None:
    pixels = np.zeros((8, 8, 3), format_named(name[2:]).dtypes[0])
    with pytest.warns(GpuopsWarning, match="makes no sense"):
        write(tmp_path / name, Picture(pixels, metadata=Metadata(resolution=(300.0, value, "in"))))
    assert read(tmp_path / name).metadata.resolution is None


def test_resolutions_that_jpeg_cannot_hold(photo, tmp_path) -> None:
    for x, held in ((300.5, 300), (100000.0, 65535)):
        with pytest.warns(GpuopsWarning, match=f"the resolution becomes {held} x 72"):
            write(tmp_path / f"{x}.jpg", replace(photo, metadata=Metadata(resolution=(x, 72.0, "in"))))
        assert read(tmp_path / f"{x}.jpg").metadata.resolution == (held, 72, "in")
    write(tmp_path / "c.jpg", replace(photo, metadata=Metadata(resolution=(118.11, 118.11, "cm"))))


def write_exr(path: Path, *parts: tuple[str, tuple[str, ...], np.ndarray]) -> None:
    from gpuops.files import oiio

    described = [(values, {"name": name, "channels": channels}) for name, channels, values in parts]
    with oiio.writer(str(path), described) as put:
        for values, _ in described:
            put(values)


def test_exr_layers(tmp_path, rng) -> None:
    path = tmp_path / "layers.exr"
    names = ("R", "G", "B", "A", "Z", "diffuse.R", "diffuse.G", "diffuse.B", "id.U")
    values = rng.random((5, 7, 9)).astype(np.float32)
    values[:, :, 3] = 1
    write_exr(path, ("", names, values))
    with pytest.warns(GpuopsWarning, match="layers .*diffuse.* without its channels Z"):
        picture = read(path)
    assert np.array_equal(picture.pixels, values[:, :, :4]) and picture.alpha
    assert set(picture.layers) == {"", "diffuse", "id"}
    assert np.array_equal(read(path, layer="diffuse").pixels, values[:, :, 5:8])
    assert np.array_equal(read(path, layer="Z").pixels, values[:, :, 4:5])
    assert np.array_equal(read(path, layer="diffuse.G").pixels, values[:, :, 6:7])
    with pytest.raises(FileError, match=r"layers\.exr: has no layer 'x'; it has .*diffuse"):
        read(path, layer="x")


def test_exr_parts_are_layers(tmp_path, rng) -> None:
    path = tmp_path / "parts.exr"
    depth, colour = rng.random((5, 7, 1)).astype(np.float32), rng.random((5, 7, 3)).astype(np.float16)
    write_exr(path, ("depth", ("Z",), depth), ("beauty", ("R", "G", "B"), colour))
    with pytest.warns(GpuopsWarning, match="beauty is used"):
        picture = read(path)
    assert picture.pixels.dtype == np.float16 and np.array_equal(picture.pixels, colour)
    assert np.array_equal(read(path, layer="depth").pixels, depth)


def test_deep_exr_is_refused(tmp_path) -> None:
    import OpenImageIO as oiio

    spec = oiio.ImageSpec(2, 2, 4, "float")
    spec.deep = True
    deep = oiio.DeepData()
    deep.init(4, 4, tuple([oiio.TypeDesc("float")] * 4), ("R", "G", "B", "A"))
    path = tmp_path / "deep.exr"
    out = oiio.ImageOutput.create(str(path))
    assert out.open(str(path), spec) and out.write_deep_image(deep) and out.close()
    with pytest.raises(FileError, match=r"deep\.exr: holds deep data"):
        read(path)


def test_exr_tiles(tmp_path, rng) -> None:
    import OpenImageIO as oiio

    values = rng.random((70, 90, 3)).astype(np.float16)
    spec = oiio.ImageSpec(90, 70, 3, "half")
    spec.tile_width = spec.tile_height = 32
    path = tmp_path / "tiles.exr"
    out = oiio.ImageOutput.create(str(path))
    assert out.open(str(path), spec) and out.write_image(values) and out.close()
    assert np.array_equal(read(path).pixels, values)


@pytest.mark.parametrize(("channels", "used", "unused"), [
    (("R", "G", "B", "Z"), "RGB", "Z"),
    (("A", "B", "G", "R", "id"), "RGBA", "id"),
    (("R", "G", "B", "AR", "AG", "AB"), "RGB", "AR, AG, AB"),
    (("BY", "RY", "Y"), "Y", "BY, RY"),
    (("U", "V"), "U", "V"),
    (("R", "G"), "R", "G"),
    (("beauty.R", "beauty.G", "beauty.B", "beauty.Z"), ("beauty.R", "beauty.G", "beauty.B"), "Z"),
], ids=str)  # fmt: skip
def test_exr_names_the_channels_that_are_not_used(channels, used, unused, tmp_path, rng) -> None:
    path = tmp_path / "c.exr"
    values = rng.random((5, 7, len(channels))).astype(np.float32)
    if "A" in channels:
        values[:, :, channels.index("A")] = 1
    write_exr(path, ("", channels, values))
    with pytest.warns(GpuopsWarning, match=rf"c\.exr: is read without its channels {unused}$") as caught:
        picture = read(path)
    assert len(caught) == 1
    assert np.array_equal(picture.pixels, values[:, :, [channels.index(name) for name in used]])


def test_exr_xyz_is_taken_as_it_is_and_says_so(tmp_path, rng) -> None:
    """CIE colour and vectors have the same names: nothing is converted."""
    values = rng.random((5, 7, 3)).astype(np.float16)
    write_exr(tmp_path / "xyz.exr", ("", ("X", "Y", "Z"), values))
    with pytest.warns(GpuopsWarning, match=r"X, Y, Z are taken as they are.* no colour is converted"):
        assert np.array_equal(read(tmp_path / "xyz.exr").pixels, values)


def test_exr_single_channels(tmp_path, rng) -> None:
    for name in ("Y", "depth.Z", "whatever"):
        values = rng.random((3, 4, 1)).astype(np.float16)
        write_exr(tmp_path / "y.exr", ("", (name,), values))
        assert np.array_equal(read(tmp_path / "y.exr").pixels, values)


def test_exr_whole_numbers(tmp_path) -> None:
    path = tmp_path / "id.exr"
    ids = np.array([[[7], [1 << 24]]], np.uint32)
    write_exr(path, ("", ("id",), ids))
    assert read(path).pixels.ravel().tolist() == [7, 1 << 24]
    write_exr(path, ("", ("id",), ids + np.uint32(1)))
    with pytest.warns(GpuopsWarning, match="above 16777216 are rounded"):
        read(path)
    write_exr(path, ("", ("R", "G", "B", "A"), np.ones((2, 2, 4), np.uint32)))
    with pytest.raises(FileError, match="name one of the channels R, G, B, A"):
        read(path)
    assert read(path, layer="A").pixels.ravel().tolist() == [1, 1, 1, 1]


def test_exr_with_subsampled_channels_is_refused(tmp_path) -> None:
    path = tmp_path / "s.exr"
    write_exr(path, ("", ("R", "G", "B"), np.zeros((4, 4, 3), np.float16)))
    full, halved = (b"B\0" + struct.pack("<iIii", 1, 0, n, n) for n in (1, 2))
    assert full in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(full, halved))
    with pytest.raises(FileError, match=r"cannot be read .*ubsampled.* convert it"):
        read(path)


def test_exr_alpha_is_straight_in_memory_and_associated_in_the_file(tmp_path) -> None:
    pixels = np.array([[[0.5, 0.25, 1, 0.5], [1, 2, 3, 1]]], np.float16)
    path = tmp_path / "a.exr"
    write(path, Picture(pixels, alpha=True, linear=True))
    from gpuops.files import oiio

    with oiio.Reader(str(path)) as file:
        assert file.read()[0, 0].tolist() == [0.25, 0.125, 0.5, 0.5]
    assert np.array_equal(read(path).pixels, pixels)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_exr_colour_under_partial_alpha_comes_back_within_a_unit(dtype, tmp_path, rng) -> None:
    """The file's own values are the reference: dividing by alpha and multiplying again is off by one unit at most."""
    stored = rng.random((200, 300, 4)).astype(dtype)
    stored[:, :, :3] *= rng.random((200, 300, 3)).astype(dtype) * stored[:, :, 3:]
    write_exr(tmp_path / "a.exr", ("", ("R", "G", "B", "A"), stored))
    write(tmp_path / "b.exr", read(tmp_path / "a.exr"))
    from gpuops.files import oiio

    with oiio.Reader(str(tmp_path / "b.exr")) as file:
        back = file.read()
    assert back.dtype == dtype and np.array_equal(back[:, :, 3], stored[:, :, 3])
    difference = np.abs(back.astype(np.float64) - stored)
    assert (difference <= np.spacing(stored).astype(np.float64)).all()


def test_exr_light_without_alpha_stays(tmp_path) -> None:
    """Colour under alpha 0 of an associated file is light, and survives from file to file."""
    light = np.array([[[3, 2, 1, 0], [1, 1, 1, 1]]], np.float32)
    write_exr(tmp_path / "a.exr", ("", ("R", "G", "B", "A"), light))
    picture = read(tmp_path / "a.exr")
    write(tmp_path / "b.exr", picture)
    assert np.array_equal(read(tmp_path / "b.exr").pixels, light)
    with pytest.warns(GpuopsWarning, match="alpha is 0 becomes 0"):
        write(tmp_path / "c.exr", replace(picture, associated=False))
    assert not read(tmp_path / "c.exr").pixels[0, 0].any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_exr_hidden_colour_that_is_not_finite_becomes_0(dtype, tmp_path) -> None:
    pixels = np.array([[[np.inf, np.nan, -np.inf, 0], [np.inf, np.nan, 1, 1]]], dtype)
    with pytest.warns(GpuopsWarning, match="alpha is 0 becomes 0"):
        write(tmp_path / "a.exr", Picture(pixels, alpha=True, linear=True))
    expected = np.array([[[0, 0, 0, 0], [np.inf, np.nan, 1, 1]]], dtype)
    assert np.array_equal(read(tmp_path / "a.exr").pixels, expected, equal_nan=True)


def test_exr_header_survives(tmp_path) -> None:
    primaries = (0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329)
    attributes = {
        "chromaticities": ("float[8]", primaries),
        "comments": ("string", "hello"),
        "PixelAspectRatio": ("float", 2.0),
        "worldToCamera": ("matrix", tuple(map(float, range(16)))),
        "framesPerSecond": ("rational", (24000, 1001)),
        "smpte:TimeCode": ("timecode", (0x01020304, 5)),
        "originalDataWindow": ("box2i", (1, 2, 3, 4)),
        "view": ("string", "left"),
        "cameras": ("string[2]", ("a", "b")),
        "textureformat": ("string", "LatLong Environment"),
        "nameOfTheShot": ("string", "7b"),
    }
    pixels = np.ones((5, 4, 3), np.float16)
    metadata = Metadata(attributes=attributes, frame=Frame(-2, 1, 4, 5, 20, 10, 3, 2))
    write(tmp_path / "a.exr", Picture(pixels, linear=True, metadata=metadata))
    write(tmp_path / "b.exr", read(tmp_path / "a.exr"))
    kept = read(tmp_path / "b.exr").metadata.attributes
    assert read(tmp_path / "b.exr").metadata.frame == metadata.frame
    assert kept["chromaticities"][1] == pytest.approx(primaries)
    assert "hello" in {value[1] for value in kept.values()}
    for name in set(attributes) - {"chromaticities", "comments"}:
        assert kept[name] == attributes[name]
    with pytest.warns(GpuopsWarning, match="EXR header attributes"):
        write(tmp_path / "b.pfm", Picture(np.ones((5, 4, 3), np.float32), metadata=Metadata(attributes=kept)))
    write_exr(tmp_path / "d.exr", ("", ("Y",), pixels[:, :, :1]))
    data = (tmp_path / "d.exr").read_bytes()
    old = b"screenWindowWidth\0float\0"
    assert old in data
    # The attribute has an unknown type.
    (tmp_path / "d.exr").write_bytes(data.replace(old, b"screenWindowWidtj\0flaot\0"))
    with pytest.warns(GpuopsWarning, match="without its header attributes screenWindowWidtj"):
        read(tmp_path / "d.exr")


@pytest.mark.parametrize(
    ("old", "new"), [(b"comments\0", b"comm\xffnts\0"), (b"hello", b"h\xffllo")], ids=str
)
def test_exr_text_in_another_encoding(old, new, tmp_path) -> None:
    path = tmp_path / "a.exr"
    attributes = {"comments": ("string", "hello")}
    write(
        path, Picture(np.ones((5, 4, 3), np.float16), linear=True, metadata=Metadata(attributes=attributes))
    )
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.warns(GpuopsWarning, match="without its header attributes"):
        picture = read(path)
    write(tmp_path / "b.exr", picture)


def test_float_specials_survive(tmp_path) -> None:
    values = np.array([[[np.nan], [np.inf], [-np.inf], [-0.0], [1e-7]]], np.float32)
    for name in ("a.exr", "a.pfm", "a.tif", "a.npy", "a.npz"):
        write(tmp_path / name, Picture(values, linear=True))
        assert np.array_equal(read(tmp_path / name).pixels, values, equal_nan=True), name


def test_pfm_is_stored_from_bottom_to_top(tmp_path) -> None:
    path = tmp_path / "p.pfm"
    path.write_bytes(b"Pf\n2 2\n1.0\n" + struct.pack(">4f", 1, 2, 3, 4))  # big-endian
    assert read(path).pixels[:, :, 0].tolist() == [[3, 4], [1, 2]]
    write(tmp_path / "q.pfm", read(path))
    assert (tmp_path / "q.pfm").read_bytes() == b"Pf\n2 2\n-1.0\n" + struct.pack("<4f", 1, 2, 3, 4)


def test_pfm_of_other_programs(tmp_path) -> None:
    path = tmp_path / "p.pfm"
    path.write_bytes(b"Pf\r\n2 1\r\n-1.0\r\n" + struct.pack("<2f", 1, 2))
    assert read(path).pixels.ravel().tolist() == [1, 2]
    path.write_bytes(b"Pf\n2 1\n2.5\n" + struct.pack(">2f", 1, 2))
    with pytest.warns(GpuopsWarning, match=r"is read without its scale of 2\.5"):
        assert read(path).pixels.ravel().tolist() == [1, 2]
    path.write_bytes(b"Pf\n2 1\n0\n" + bytes(8))
    with pytest.raises(FileError, match="its PFM header has no scale, whose sign tells the order of bytes"):
        read(path)


def tiff_file(bits: int, kind: int, photometric: int, data: bytes, channels: int = 1) -> bytes:
    """A row of samples; kind 1 whole numbers, 3 floats."""
    width = len(data) * 8 // (bits * channels)
    tags = ((256, 4, width), (257, 4, 1), (258, 3, bits), (259, 3, 1), (262, 3, photometric), (273, 4, 134))
    tags += ((277, 3, channels), (278, 4, 1), (279, 4, len(data)), (339, 3, kind))
    directory = b"".join(struct.pack("<HHII", tag, type_, 1, value) for tag, type_, value in tags)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + directory + bytes(4) + data


@pytest.mark.parametrize(
    "options",
    [{}, {"rowsperstrip": 1}, {"byteorder": ">"}, {"tile": (16, 16)}, {"compression": "zlib"}],
    ids=str,
)
def test_tiff_of_double_precision(options, tmp_path, rng) -> None:
    import tifffile

    path = tmp_path / "d.tif"
    for shape in ((1, 8), (5, 7), (40, 50, 3), (1, 1, 3)):
        values = rng.random(shape)
        kind = "rgb" if len(shape) == 3 else "minisblack"
        tifffile.imwrite(path, values, photometric=kind, metadata=None, **options)
        with pytest.warns(GpuopsWarning, match="double precision is read as float"):
            assert np.array_equal(read(path).pixels, np.atleast_3d(values).astype(np.float32))


def test_tiff_kinds_that_are_refused(tmp_path) -> None:
    path = tmp_path / "k.tif"
    for data, words in (
        (tiff_file(24, 3, 1, bytes(12)), "24-bit float"),
        (tiff_file(32, 3, 0, bytes(8)), "0 is white"),
        (tiff_file(8, 1, 8, bytes(12), 4), "kind that cannot be read"),
        (tiff_file(8, 1, 5, bytes(10), 5), "inks or channels beyond CMYK"),
        (tiff_file(64, 6, 1, bytes(16)), "kind that cannot be read"),
    ):
        path.write_bytes(data)
        with pytest.raises(FileError, match=words):
            read(path)


def test_tiff_variants(tmp_path, rng) -> None:
    import tifffile

    path = tmp_path / "t.tif"
    values = rng.integers(0, 65535, (70, 80, 4), np.uint16)
    variants = ({"bigtiff": True}, {"tile": (32, 32)}, {"byteorder": ">"}, {"compression": "zlib"})
    for options in variants:
        tifffile.imwrite(path, values, photometric="rgb", extrasamples=["unassalpha"], **options)
        assert np.array_equal(read(path).pixels, values), options
    tifffile.imwrite(
        path, np.moveaxis(values, 2, 0), photometric="rgb", planarconfig="separate", extrasamples=[2]
    )
    assert np.array_equal(read(path).pixels, values)
    tifffile.imwrite(
        path, np.array([[[50, 0, 0, 100]]], np.uint8), photometric="rgb", extrasamples=["assocalpha"]
    )
    assert read(path).pixels.tolist() == [[[128, 0, 0, 100]]]
    tifffile.imwrite(path, values[:, :, 0].astype(np.int64))
    with pytest.raises(FileError, match="convert it"):
        read(path)
    tifffile.imwrite(path, values[:2, :, :, None].astype(np.uint16)[..., 0], photometric="minisblack")
    with pytest.warns(GpuopsWarning, match="pages"):
        assert read(path).pixels.shape[2] == 1
    with pytest.raises(FileError, match="no layer"):
        read(path, layer=9)


def hdr_file(axes: str, *lines: str, kind: str = "32-bit_rle_rgbe") -> bytes:
    """Three rows or columns of two pixels each: red is 1 2, 3 4, 5 6."""
    head = "\n".join(("#?RADIANCE", *lines, f"FORMAT={kind}", "", axes.format(3, 2), ""))
    return head.encode() + bytes(value for red in range(1, 7) for value in (red, 0, 0, 136))


@pytest.mark.parametrize(("axes", "rows"), [
    ("-Y {} +X {}", [[1, 2], [3, 4], [5, 6]]), ("+Y {} +X {}", [[5, 6], [3, 4], [1, 2]]),
    ("-Y {} -X {}", [[2, 1], [4, 3], [6, 5]]), ("+Y {} -X {}", [[6, 5], [4, 3], [2, 1]]),
    ("+X {} -Y {}", [[1, 3, 5], [2, 4, 6]]), ("+X {} +Y {}", [[2, 4, 6], [1, 3, 5]]),
    ("-X {} -Y {}", [[5, 3, 1], [6, 4, 2]]), ("-X {} +Y {}", [[6, 4, 2], [5, 3, 1]]),
])  # fmt: skip
def test_hdr_of_any_orientation_is_turned_upright(axes, rows, tmp_path) -> None:
    (tmp_path / "a.hdr").write_bytes(hdr_file(axes))
    assert read(tmp_path / "a.hdr").pixels[:, :, 0].tolist() == rows


def test_hdr_headers(tmp_path) -> None:
    path = tmp_path / "a.hdr"
    path.write_bytes(
        hdr_file("-Y {} +X {}", "EXPOSURE=2.0", "PRIMARIES=.7 .3 .2 .7 .1 0 .3 .3", "SOFTWARE=x")
    )
    with pytest.warns(GpuopsWarning, match="without its exposure$"):
        assert read(path).metadata.colour is not None
    path.write_bytes(hdr_file("-Y {} +X {}", kind="32-bit_rle_xyze"))
    with pytest.raises(FileError, match="pixels of the kind 32-bit_rle_xyze"):
        read(path)


def test_dpx_orientation_depth_and_header(tmp_path) -> None:
    from gpuops.files import oiio

    path = tmp_path / "a.dpx"
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    expected = {0: pixels, 1: pixels[:, ::-1], 2: pixels[::-1], 3: pixels[::-1, ::-1], 4: None}
    write(path, Picture(pixels))
    whole = path.read_bytes()
    for code, values in expected.items():
        order = "big" if whole.startswith(b"SDPX") else "little"
        path.write_bytes(whole[:768] + code.to_bytes(2, order) + whole[770:])
        if values is None:
            with pytest.raises(FileError, match="stored by columns"):
                read(path)
        else:
            assert np.array_equal(read(path).pixels, values)
    path.write_bytes(whole[:801] + b"\x03" + whole[802:])
    with pytest.warns(GpuopsWarning, match=r"without its transfer \(Logarithmic\)"):
        read(path)
    white = np.full((2, 4, 3), 65535, np.uint16)
    oiio.write(str(path), white, {"oiio:BitsPerSample": 12})
    assert np.array_equal(read(path).pixels, white)


def test_jpeg_2000_boxes(tmp_path) -> None:
    path = tmp_path / "a.jp2"
    write(path, Picture(np.full((32, 32, 3), 7, np.uint8)))
    whole = path.read_bytes()
    xmp = b"<x:xmpmeta/>"
    boxes = (b"JpgTiffExif->JP2" + camera_exif(), bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + xmp)
    appended = b"".join(struct.pack(">I4s", 8 + len(box), b"uuid") + box for box in boxes)
    path.write_bytes(whole + appended + struct.pack(">I4s", 9, b"xml ") + b"?")
    with pytest.warns(GpuopsWarning, match=r"without its box 'xml '$"):
        metadata = read(path).metadata
    assert metadata.exif == camera_exif() and metadata.xmp == xmp
    size = whole.index(b"\xff\x4f\xff\x51") + 42
    assert whole[size] == 7  # 8 bits, unsigned
    path.write_bytes(whole[:size] + b"\x87" + whole[size + 1 :])
    with pytest.raises(FileError, match="signed"):
        read(path)


def cut(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize("fmt", of_formats(FORMATS), ids=str)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.97])
def test_cut_files_are_refused(fmt, share, photo, tmp_path, capfd) -> None:
    path = tmp_path / f"p{fmt.extension}"
    write(path, Picture(suited(photo.pixels, fmt), linear=fmt.dtypes[0].startswith("float")))
    cut(path, share)
    with pytest.raises(FileError) as error:
        read(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert capfd.readouterr().err == ""  # no codec writes to stderr by itself


def test_damage_in_the_middle_of_a_png_is_found(photo, tmp_path) -> None:
    path = tmp_path / "p.png"
    write(path, photo)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(FileError, match="damaged"):
        read(path)


def huge_headers() -> Iterator[tuple[str, bytes]]:
    side = 60000
    yield "h.png", png_file(side, side, 8, 2, bytes(1000))
    yield "h.pfm", b"PF\n60000 60000\n-1.0\n" + bytes(1000)
    yield "h.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 60000\n" + bytes(1000)
    tags = ((256, 4, side), (257, 4, side), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 200), (277, 3, 1))
    tags += ((278, 4, side), (279, 4, side * side % 2**32))
    directory = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    yield "h.tif", b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + directory + bytes(400)
    header = {"descr": "|u1", "fortran_order": False, "shape": (side, side, 3)}
    npy = io.BytesIO()
    np.lib.format.write_array_header_1_0(npy, header)
    yield "h.npy", npy.getvalue() + bytes(1000)


@pytest.mark.parametrize(
    ("name", "data"), list(huge_headers()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_header_that_claims_too_much_is_refused_at_once(name, data, tmp_path) -> None:
    (tmp_path / name).write_bytes(data)
    code = (
        "import sys; from gpuops import FileError; from gpuops.files import read\n"
        "from gpuops.process.memory import peak\n"
        "try: read(sys.argv[1])\n"
        "except FileError as error: print(error)\n"
        "print(peak() // 1000000)"
    )
    run = run_python("-c", code, tmp_path / name, check=True)
    message, peak = run.stdout.splitlines()
    assert name in message
    assert int(peak) < 600  # MB
    assert run.stderr == ""


def test_the_content_tells_the_format(photo, tmp_path) -> None:
    write(tmp_path / "a.png", photo)
    for name in ("a.jpg", "a.exr", "a", "a.zip"):
        (tmp_path / name).write_bytes((tmp_path / "a.png").read_bytes())
        assert np.array_equal(read(tmp_path / name).pixels, photo.pixels)


@pytest.mark.exhaustive
@pytest.mark.parametrize("fmt", of_formats(FORMATS), ids=str)
def test_random_damage_is_an_error_or_a_picture(fmt, photo, tmp_path, rng) -> None:
    """Reading a damaged file gives one FileError of one line, or some picture."""
    path = tmp_path / f"p{fmt.extension}"
    pixels = suited(photo.pixels[:40, :50], fmt, -1)
    write(path, Picture(pixels, linear=pixels.dtype.kind == "f", metadata=Metadata()))
    whole = path.read_bytes()
    for _ in range(30):
        data = bytearray(whole)
        for at in rng.integers(0, min(len(data), 500), rng.integers(1, 9)):
            data[at] = rng.choice((0, 1, 128, 255))
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GpuopsWarning)
            try:
                read(path)
            except FileError as error:
                assert "\n" not in str(error)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "a.png").chmod(0)
    with pytest.raises(FileError, match="could not be read"):
        read(tmp_path / "a.png")


def test_check_output(photo, tmp_path) -> None:
    there = tmp_path / "there.png"
    write(there, photo)
    (tmp_path / "link.png").symlink_to(there)
    (tmp_path / "dir.png").mkdir()
    assert files.check_output(tmp_path / "new.png").name == "PNG"
    assert files.check_output(there, overwrite=True).name == "PNG"
    cases = [
        ("new.xyz", {}, r"extension '\.xyz' is unknown; known are \.png"),
        ("new.mp4", {}, r"is no name of a picture: .*; known are \.png"),
        ("new", {}, "no extension"),
        ("no/new.png", {}, "does not exist; create it"),
        ("there.png/new.png", {}, "is a file"),
        ("dir.png", {"overwrite": True}, "is a folder"),
        ("there.png", {}, "exists already"),
        ("there.png", {"overwrite": True, "inputs": files.Identities([there])}, "inputs? |also an input"),
        (
            "link.png",
            {"overwrite": True, "inputs": files.Identities([tmp_path / "none.png", there])},
            "also an input",
        ),
    ]
    for name, options, words in cases:
        with pytest.raises(FileError, match=words):
            files.check_output(tmp_path / name, **options)


@pytest.mark.parametrize(("name", "largest"), [("a.jpg", 65500), ("a.webp", 16383)])
def test_sides_that_a_format_has_not(name, largest, tmp_path) -> None:
    with pytest.raises(FileError, match=f"{largest} pixels"):
        files.write(tmp_path / name, Picture(np.zeros((largest + 1, 1, 3), np.uint8)))
    assert not list(tmp_path.iterdir())
    files.write(tmp_path / name, Picture(np.zeros((largest, 1, 3), np.uint8)))
    assert files.read(tmp_path / name).height == largest


def test_existing_files_are_kept(photo, tmp_path) -> None:
    path = tmp_path / "a.png"
    path.write_text("precious")
    with pytest.raises(FileError, match="exists already"):
        write(path, photo)
    assert path.read_text() == "precious"
    path.chmod(0o640)
    write(path, photo, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o640 and os.listdir(tmp_path) == ["a.png"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path) -> None:
    path = tmp_path / "a.png"
    with pytest.raises(FileError, match="exists already"), atomic(path) as temporary:
        Path(temporary).write_text("ours")
        path.write_text("theirs")
    assert path.read_text() == "theirs" and os.listdir(tmp_path) == ["a.png"]


def test_many_writers_of_one_name_leave_one_winner(photo, tmp_path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(write, tmp_path / "a.png", photo) for _ in range(8)]
    assert sorted("exists already" in str(one.exception()) for one in found) == [False] + [True] * 7
    assert os.listdir(tmp_path) == ["a.png"]


def test_without_hard_links_nothing_is_overwritten_either(tmp_path, monkeypatch) -> None:
    def no_link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    path = tmp_path / "a.png"
    with atomic(path) as temporary:
        Path(temporary).write_text("ours")
    assert path.read_text() == "ours"
    path.unlink()
    with pytest.raises(FileError, match="exists already"), atomic(path) as temporary:
        path.write_text("theirs")
    assert path.read_text() == "theirs" and os.listdir(tmp_path) == ["a.png"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
def test_nothing_is_left_after_a_failure(problem, photo, tmp_path) -> None:
    expected = FileError if not isinstance(problem, type) or problem is MemoryError else problem
    with pytest.raises(expected), atomic(tmp_path / "a.png") as temporary:
        Path(temporary).write_text("half a pic")
        raise problem
    assert os.listdir(tmp_path) == []


@pytest.mark.exhaustive
@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="mounting a small disk needs root")
@pytest.mark.parametrize("fmt", of_formats(FORMATS), ids=str)
def test_full_disk(fmt, tmp_path, rng) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True
    ).returncode:
        pytest.skip("this root may not mount")
    try:
        noise = suited(rng.integers(0, 255, (200, 300, 3)), fmt, -1)
        with pytest.raises(FileError, match=r"disk is full|could not be written") as error:
            write(disk / f"a{fmt.extension}", Picture(noise, linear=noise.dtype.kind == "f"))
        assert ".clpix-" not in str(error.value) and os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_disk_that_fills_up_at_the_last_byte(photo, tmp_path, monkeypatch) -> None:
    """Codecs may miss the error of their last buffer; the probe behind it must not."""

    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.output, "_check_space", full)
    with pytest.raises(FileError, match="disk is full"):
        write(tmp_path / "a.jpg", photo)
    assert os.listdir(tmp_path) == []


def test_depth_must_fit(photo, tmp_path) -> None:
    with pytest.raises(ParameterError, match="output_dtype"):
        write(tmp_path / "a.jpg", replace(photo, pixels=photo.pixels.astype(np.uint16)))
    wanted = {
        ("png", "float16"): "uint16", ("jpg", "float32"): "uint8", ("exr", "uint8"): "float16",
        ("exr", "uint16"): "float32", ("hdr", "float16"): "float32", ("tif", "float16"): "float16",
    }  # fmt: skip
    for (name, dtype), expected in wanted.items():
        assert output_dtype(format_named(name), dtype) == expected


def test_streams(photo) -> None:
    stream = io.BytesIO()
    files.write_stream(stream, photo, format_named(".TIF"))
    stream.seek(0)
    assert np.array_equal(files.read_stream(stream).pixels, photo.pixels)
    with pytest.raises(FileError, match=r"^standard input: is empty"):
        files.read_stream(io.BytesIO())
    with pytest.warns(GpuopsWarning, match=r"^standard output: JPEG cannot hold|^standard output: PFM"):
        linear = replace(photo, pixels=photo.pixels.astype(np.float32), metadata=Metadata(icc=ICC))
        files.write_stream(io.BytesIO(), linear, format_named("pfm"))


def test_the_imageio_plugin_works_for_anybody(photo, tmp_path) -> None:
    import imageio.v3 as iio

    import gpuops.files.imageio_plugin  # noqa: F401

    write(tmp_path / "a.png", photo)
    assert np.array_equal(iio.imread(tmp_path / "a.png", plugin="clpix-oiio"), photo.pixels)
    assert iio.improps(tmp_path / "a.png", plugin="clpix-oiio").shape == photo.pixels.shape
    iio.imwrite(tmp_path / "b.exr", photo.pixels.astype(np.float32), plugin="clpix-oiio")
    assert np.array_equal(read(tmp_path / "b.exr").pixels, photo.pixels)


def arrays(rng: np.random.Generator, suffix: str) -> dict[str, np.ndarray]:
    limits = np.iinfo(np.int32)
    result = {
        "spectrum": (rng.normal(size=(3, 5, 7)) + 1j * rng.normal(size=(3, 5, 7))).astype(np.complex64),
        "L3 / LL.ü": rng.normal(size=(1, 1)).astype(np.float16),
        "f": np.array([[np.nan, np.inf, -0.0]], np.float32),
        "i": np.array([[limits.min, -1, 0, 1, limits.max, 2**24 + 1]], np.int32),
        "s": rng.integers(-(2**15), 2**15, (2, 9, 4)).astype(np.int16),
        "b": rng.integers(0, 255, (1, 2, 3)).astype(np.uint8),
        "transposed": rng.normal(size=(6, 4)).astype(np.float32).T,
    }
    if suffix != ".exr":
        result |= {"d": rng.normal(size=(2, 3)), "z": rng.normal(size=(1, 2, 3)) + 1j}
    return result


@pytest.mark.parametrize("suffix", [".npz", ".exr", ".tif", ".tiff"])
def test_data_come_back_bit_for_bit(suffix, tmp_path, rng) -> None:
    path = tmp_path / f"data{suffix}"
    assert files.is_data_format(path)
    before = arrays(rng, suffix)
    attributes = {
        "wavelet": "bior4.4", "levels": 3, "shape": [4, 7], "note": 'quote " and ü\n',
        "nested": {"x": None},
    }  # fmt: skip
    files.write_data(path, before, attributes)
    after, read_attributes = files.read_data(path)
    assert read_attributes == attributes and list(after) == list(before)
    for name, array in before.items():
        assert (after[name].dtype, after[name].shape) == (array.dtype, array.shape)
        assert after[name].tobytes() == array.tobytes() and after[name].flags.writeable
    with pytest.raises(FileError, match="exists already"):
        files.write_data(path, before, attributes)
    files.write_data(path, {"x": np.zeros((1, 1), np.float32)}, {}, overwrite=True)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", [".exr", ".tif"])
def test_data_descriptions_that_lie(suffix, tmp_path) -> None:
    path = tmp_path / f"data{suffix}"
    files.write_data(path, {"x": np.zeros((20, 30), np.float32)}, {})
    whole = path.read_bytes()
    for old, new, words in (
        (b'{"format": 1', b'{"format" 1,', "makes no sense|not a spectrum"),
        (b'"format": 1', b'"format": 9', "newer"),
        (b'"shape": [20', b'"shape": [21', "describes"),
        (b'"float32"', b'"complex"', "makes no sense|describes"),
    ):
        assert old in whole
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(FileError, match=words):
            files.read_data(path)


def test_data_need_a_fitting_format(tmp_path) -> None:
    with pytest.raises(FileError, match=r"double precision; write \.npz"):
        files.write_data(tmp_path / "a.exr", {"x": np.zeros((2, 2))}, {})
    with pytest.raises(FileError, match=r"\.tif \.tiff \.exr \.npz"):
        files.write_data(tmp_path / "a.png", {"x": np.zeros((2, 2))}, {})
    with pytest.raises(ParameterError):
        files.write_data(tmp_path / "a.npz", {"x": np.zeros(3)}, {})
    with pytest.raises(FileError, match="ifft or idwt"):
        files.write_data(tmp_path / "a.npz", {"x": np.zeros((2, 2))}, {})
        read(tmp_path / "a.npz")
    assert os.listdir(tmp_path) == ["a.npz"]
