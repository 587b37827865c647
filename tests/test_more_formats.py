"""Formats beside the usual ones: files of other writers are read to their numbers, ours by other readers."""

import io
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path

import imagecodecs
import numpy as np
import OpenImageIO
import pytest
import tifffile
from PIL import Image

from gpuops import FileError, GpuopsWarning, notes
from gpuops.files import Metadata, Picture, containers, format_of, raw_exif, read, write
from gpuops.files.formats import dng
from gpuops.params.storage import Storage
from gpuops.pixels.colour import Colour
from gpuops.pixels.spaces import named

from .choices import each, needs, thinned
from .foreign import SHORT, tiff

# little-endian EXIF: Make = "clpix", Orientation = 6
EXIF = b"II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x06\0\0\0\x26\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0clpix\0"
RNG = np.random.default_rng(27)
RGBA = RNG.integers(0, 256, (37, 41, 4), dtype=np.uint8)
RGB, LA, L = (np.ascontiguousarray(RGBA[:, :, k]) for k in ([0, 1, 2], [0, 3], [0]))
DEEP = RNG.integers(0, 65536, (37, 41, 4), dtype=np.uint16)


@pytest.fixture(autouse=True)
def heif(request: pytest.FixtureRequest) -> None:
    """Skips tests of HEIC where its package is absent."""
    if "a.heic" in request.node.name:
        pytest.importorskip("pillow_heif", reason="needs the extra formats")


def pillow(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        pixels = np.asarray(
            image.convert("RGBA" if image.has_transparency_data else "RGB") if image.mode == "P" else image
        )
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def by_oiio(path: Path) -> np.ndarray:
    config = OpenImageIO.ImageSpec()
    config.attribute("oiio:UnassociatedAlpha", 1)
    file = OpenImageIO.ImageInput.open(str(path), config)
    return np.asarray(file.read_image(str(file.spec().format)))


def by_cv2(path: Path) -> np.ndarray:
    cv2 = pytest.importorskip("cv2", reason="needs the extra test-all")
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if pixels.ndim == 2:
        return pixels[:, :, None]
    return pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]]


@pytest.mark.parametrize("extension", ["bmp", "tga", "dds", "ppm"])
@pytest.mark.parametrize("pixels", [L, LA, RGB, RGBA], ids=["gray", "gray+alpha", "RGB", "RGB+alpha"])
def test_files_of_pillow(extension, pixels, tmp_path) -> None:
    path = tmp_path / f"a.{extension}"
    try:
        Image.fromarray(pixels.squeeze()).save(path)
    except OSError:
        pytest.skip("Pillow writes no such file")
    if extension == "ppm" and pixels is RGBA:
        pixels = RGB  # Pillow leaves alpha out
    found = read(path)
    assert np.array_equal(found.pixels, pixels) and found.alpha == (pixels.shape[2] in (2, 4))


@pytest.mark.parametrize("pixels", [L, RGB, RGBA], ids=["gray", "RGB", "RGB+alpha"])
def test_bmp_of_opencv(pixels, tmp_path) -> None:
    """Alpha has a mask in these files."""
    path = tmp_path / "a.bmp"
    cv2 = pytest.importorskip("cv2", reason="needs the extra test-all")
    cv2.imwrite(str(path), pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]] if pixels.shape[2] > 1 else pixels)
    assert np.array_equal(read(path).pixels, pixels)


MASKS = [
    (16, (0xF800, 0x7E0, 0x1F)), (16, (0xF00, 0xF0, 0xF)), (16, (0xF, 0xF0, 0xF00, 0xF000)),
    (32, (0xFF, 0xFF00, 0xFF0000)), (32, (0x3FF00000, 0xFFC00, 0x3FF)), (32, (0xFF000000, 0xFF0000, 0xFF00, 0xFF)),
]  # fmt: skip


@pytest.mark.parametrize(("bits", "masks"), MASKS, ids=str)
@pytest.mark.parametrize("down", [False, True])
def test_bmp_of_masks(bits, masks, down, tmp_path) -> None:
    """A sample v of n bits is the nearest number to v / (2^n − 1) of the whole range; rows go up, or down."""
    packed = RNG.integers(0, 2**bits, (3, 5), dtype=np.uint64)
    rows = np.pad(packed, ((0, 0), (0, -5 * bits // 16 % 2))).astype(f"<u{bits // 8}")
    rows = rows if down else rows[::-1]
    head = struct.pack("<IiiHHIIiiII", 108, 5, -3 if down else 3, 1, bits, 3, rows.nbytes, 0, 0, 0, 0)
    head = (head + struct.pack(f"<{len(masks)}I", *masks)).ljust(108, b"\0")
    path = tmp_path / "m.bmp"
    path.write_bytes(b"BM" + struct.pack("<IHHI", 122 + rows.nbytes, 0, 0, 122) + head + rows.tobytes())
    found = read(path)
    most = 65535 if any(mask.bit_count() > 8 for mask in masks) else 255
    share = np.stack([(packed & mask).astype(float) / mask for mask in masks], axis=2)
    assert (found.alpha, found.pixels.max() > 255) == (len(masks) == 4, most > 255)
    assert np.abs(found.pixels - share * most).max() <= 0.5
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileError, match="is cut off"):
        read(path)


def boxes(*parts: tuple[bytes, bytes]) -> bytes:
    return b"".join(struct.pack(">I", 8 + len(data)) + kind + data for kind, data in parts)


@needs("pillow_heif", "formats")
def test_kinds_that_are_not_read_are_named(tmp_path) -> None:
    """They are neither cut off nor damaged, and no videos."""
    sizes = struct.pack("<IHHIIiiHHIIiiII", 154, 0, 0, 54, 40, 4, 4, 1, 24, 4, 100, 0, 0, 0, 0)
    dds = b"DDS " + struct.pack("<7I44x2I4s", 124, 0x1007, 4, 4, 8, 0, 0, 32, 4, b"YUY2")
    item = struct.pack(">4xH", 1) + boxes((b"infe", b"\2\0\0\0\0\1\0\0unci\0"))
    properties = boxes((b"ipco", b""), (b"ipma", struct.pack(">IIHB", 0, 1, 1, 0)))
    meta = bytes(4) + boxes((b"pitm", bytes(4) + b"\0\1"), (b"iinf", item), (b"iprp", properties))
    kind = "is of a kind that cannot be read"
    files = {
        "a.bmp": (
            b"BM" + sizes + bytes(100),
            rf"{kind} \(Unsupported BMP compression \(4\)\); convert it first",
        ),
        "a.dds": (dds.ljust(200, b"\0"), kind),
        "a.tif": (tiff(bytes(6), 3, 1, 3, 2, tags=[(258, SHORT, [5, 6, 5])]), kind),
        "a.heif": (
            boxes((b"ftyp", b"mif2\0\0\0\0mif2"), (b"meta", meta)),
            "by no codec .uncompressed. in HEIF",
        ),
        "b.heif": (boxes((b"ftyp", b"mif3heic"), (b"mini", bytes(60))), "has a short header"),
        "a.avif": (boxes((b"ftyp", b"mif3avif"), (b"mini", bytes(60))), "has a short header"),
    }
    for name, (data, words) in files.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileError, match=f"{name}: .*{words}"):
            read(tmp_path / name)


def test_dds_of_blue_first(tmp_path) -> None:
    """DXGI_FORMAT_B8G8R8A8_UNORM, which is 87."""
    head = b"DDS " + struct.pack(
        "<7I44x2I4s20x20x5I", 124, 0x1007, 37, 41, 164, 0, 0, 32, 4, b"DX10", 87, 3, 0, 1, 0
    )
    (tmp_path / "a.dds").write_bytes(head + RGBA[:, :, [2, 1, 0, 3]].tobytes())
    assert np.array_equal(read(tmp_path / "a.dds").pixels, RGBA)


@pytest.mark.exhaustive
def test_png_of_a_dense_palette(tmp_path) -> None:
    """OpenImageIO takes its size for an attack."""
    white = Image.new("P", (16385, 16384), 1)
    white.putpalette((0, 0, 0, 255, 255, 255))
    white.save(tmp_path / "a.png", bits=1, compress_level=9)
    found = read(tmp_path / "a.png").pixels
    assert found.shape == (16384, 16385, 3) and found[::97, ::101].min() == 255


def test_bmp_whose_fourth_byte_is_nothing(tmp_path) -> None:
    header = struct.pack("<2sIIIIiiHHIIiiII", b"BM", 54 + 8, 0, 54, 40, 2, 1, 1, 32, 0, 8, 0, 0, 0, 0)
    (tmp_path / "a.bmp").write_bytes(header + bytes((1, 2, 3, 0, 4, 5, 6, 0)))
    assert read(tmp_path / "a.bmp").pixels.tolist() == [[[3, 2, 1], [6, 5, 4]]]


@pytest.mark.parametrize("run_lengths", [False, True])
def test_tga_of_any_kind(run_lengths, tmp_path) -> None:
    path = tmp_path / "a.tga"
    palette = Image.fromarray(RGB).quantize(64)
    palette.save(path, compression="tga_rle" if run_lengths else None)
    assert np.array_equal(read(path).pixels, np.asarray(palette.convert("RGB")))
    header = struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, 2, 1, 24, 0x30)  # from the upper right
    path.write_bytes(header + bytes((1, 2, 3, 4, 5, 6)))
    assert read(path).pixels.tolist() == [[[6, 5, 4], [3, 2, 1]]]
    path.rename(tmp_path / "b")  # nothing but the header tells what it is
    assert read(tmp_path / "b").pixels.tolist() == [[[6, 5, 4], [3, 2, 1]]]


NETPBM: list[tuple[bytes, list[int]]] = [
    (b"P1\n# remark\n3 2\n101\n0 1 0\n", [0, 255, 0, 255, 0, 255]),
    (b"P4 9 1\n\xaa\x80", [0, 255, 0, 255, 0, 255, 0, 255, 0]),
    (b"P2 2 2 15\n0 1 7 15", [0, 17, 119, 255]),
    (b"P5\n2 2\n1023\n" + struct.pack(">4H", 0, 1, 512, 1023), [0, 64, 32800, 65535]),
    (b"P3\n1 1\n65535\n65535 1 2\n", [65535, 1, 2]),
    (b"P6\n#a\n1 1\n255\n\x01\x02\x03", [1, 2, 3]),
    (b"P6\r\n1 1\r\n255\r\n\x0a\x02\x03", [10, 2, 3]),
    (
        b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\x01\x02\x03\x04",
        [1, 2, 3, 4],
    ),
    (b"P7\nWIDTH 1\nHEIGHT 2\n# x\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\x01\x00", [255, 0]),
]


@pytest.mark.parametrize(("data", "values"), NETPBM, ids=lambda value: str(value[:2]))
def test_netpbm_of_any_kind(data, values, tmp_path) -> None:
    """By the formats' descriptions: round(v · 65535 / maxval), and 1 is black in bitmaps."""
    path = tmp_path / "a.pnm"
    path.write_bytes(data)
    assert read(path).pixels.ravel().tolist() == values
    path.write_bytes(data[:-2])
    with pytest.raises(FileError, match=r"a\.pnm: is cut off"):
        read(path)


def test_pictures_behind_the_first_are_said(tmp_path) -> None:
    (tmp_path / "a.ppm").write_bytes(b"P6 1 1 255 abcP6 1 1 255 def")
    with pytest.warns(GpuopsWarning, match="is read without the pictures after its first"):
        assert read(tmp_path / "a.ppm").pixels.tobytes() == b"abc"


def test_gif_of_pillow(tmp_path) -> None:
    path = tmp_path / "a.gif"
    image = Image.fromarray(RGB).quantize(32)
    image.save(path, transparency=5)
    found = read(path)
    assert np.array_equal(found.pixels[:, :, 3], np.where(np.asarray(image) == 5, 0, 255))
    shown = found.pixels[:, :, 3] > 0
    assert np.array_equal(found.pixels[shown][:, :3], np.asarray(image.convert("RGB"))[shown])


@pytest.mark.parametrize(("depth", "channels"), [(8, 3), (8, 4), (16, 1), (16, 3), (32, 3)])
def test_psd(depth, channels, tmp_path) -> None:
    """By Adobe's specification: a header, three sections that are empty, planes of samples."""
    path = tmp_path / "a.psd"
    pixels = {8: RGBA, 16: DEEP, 32: DEEP.astype(np.float32) / 65535}[depth][:, :, :channels]
    header = struct.pack(">4sH6xHIIHH", b"8BPS", 1, channels, 37, 41, depth, 1 if channels == 1 else 3)
    planes = np.moveaxis(pixels, 2, 0).astype(pixels.dtype.newbyteorder(">")).tobytes()
    path.write_bytes(header + bytes(12) + b"\0\0" + planes)
    if channels == 4:  # a channel of which nothing is said
        with pytest.warns(GpuopsWarning, match=r"without its further channel \(1\)"):
            assert np.array_equal(read(path).pixels, pixels[:, :, :3])
        return
    found = read(path)
    assert np.array_equal(found.pixels, pixels) and (found.alpha, found.linear) == (False, depth == 32)
    if depth == 8 and channels == 3:
        assert np.array_equal(pillow(path), pixels)
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(FileError, match=r"a\.psd: could not be read"):
        read(path)


def test_psd_with_transparency(tmp_path) -> None:
    """A negative number of layers says that the fourth channel is transparency; colours are mixed with white by it."""
    path = tmp_path / "a.psd"
    header = struct.pack(">4sH6xHIIHH", b"8BPS", 1, 4, 37, 41, 8, 3)
    extra = bytes(8) + b"\3one"
    layer = bytes(16) + struct.pack(">H", 0) + b"8BIMnorm" + bytes((255, 0, 0, 0))
    info = struct.pack(">h", -1) + layer + struct.pack(">I", len(extra)) + extra
    info += bytes(len(info) % 2)
    section = struct.pack(">I", len(info)) + info + bytes(4)
    alpha = RGBA[:, :, 3:] // 2 + 128
    mixed = np.rint(RGB * (alpha / 255) + 255 - alpha).astype(np.uint8)
    planes = np.moveaxis(np.concatenate((mixed, alpha), 2), 2, 0).tobytes()
    path.write_bytes(header + bytes(8) + struct.pack(">I", len(section)) + section + b"\0\0" + planes)
    found = read(path)
    assert found.alpha and np.array_equal(found.pixels[:, :, 3:], alpha)
    assert np.abs(found.pixels[:, :, :3].astype(int) - RGB).max() <= 2


def dds(fourcc: bytes, dxgi: int, data: bytes) -> bytes:
    """A file of 4 × 4 pixels: Microsoft, Programming Guide for DDS."""
    fields = struct.pack(
        "<4s7I44xII4s20xI16x", b"DDS ", 124, 0x81007, 4, 4, len(data), 0, 0, 32, 4, fourcc, 0x1000
    )
    return fields + (struct.pack("<5I", dxgi, 3, 0, 1, 0) if fourcc == b"DX10" else b"") + data


def test_dds_in_blocks(tmp_path) -> None:
    """Against another decoder, bcdec; BC6H is light."""
    path = tmp_path / "a.dds"
    block = b"\x03" + bytes(RNG.integers(0, 256, 15, dtype=np.uint8))  # mode 11 of BC6H: one pair of colours
    path.write_bytes(dds(b"DX10", 95, block))
    found = read(path)
    assert found.linear and found.pixels.dtype == np.float16
    assert np.array_equal(found.pixels, imagecodecs.bcn_decode(block, 6, shape=(4, 4, 3)))
    block = bytes(RNG.integers(0, 256, 16, dtype=np.uint8))
    path.write_bytes(dds(b"DXT5", 0, block))
    off = np.abs(read(path).pixels.astype(int) - imagecodecs.bcn_decode(block, 3, shape=(4, 4, 4)))
    assert off.max() <= 2  # decoders round between colours in their own ways
    path.write_bytes(dds(b"DXT5", 0, block[:8]))
    with pytest.raises(FileError, match=r"a\.dds: could not be read"):
        read(path)


def fits(bitpix: int, data: np.ndarray, **cards: float) -> bytes:
    """A file by the FITS Standard: lines of 80 characters, and numbers of high bytes first, the lowest row first."""
    sizes = {f"NAXIS{i}": n for i, n in enumerate(data.shape[::-1], 1)}
    lines = {"SIMPLE": "T", "BITPIX": bitpix, "NAXIS": data.ndim, **sizes, **cards}
    text = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in lines.items()) + "END".ljust(80)
    raw = data.astype(data.dtype.newbyteorder(">")).tobytes()
    return text.ljust(-(-len(text) // 2880) * 2880).encode() + raw.ljust(-(-len(raw) // 2880) * 2880, b"\0")


def test_fits(tmp_path) -> None:
    path = tmp_path / "a.fits"
    path.write_bytes(fits(16, np.array([[0, 1, 2], [-32768, 300, 32767]], np.int16), BZERO=32768, BSCALE=1))
    found = read(path)
    assert found.linear and found.pixels[:, :, 0].tolist() == [[0, 33068, 65535], [32768, 32769, 32770]]
    path.write_bytes(fits(16, np.array([[7, 1]], np.int16), BZERO=10, BSCALE=0.5, BLANK=7))
    assert np.isnan(read(path).pixels[0, 0, 0]) and read(path).pixels[0, 1, 0] == 10.5
    path.write_bytes(fits(-64, np.array([[0.1, -2e300]])))
    assert read(path).pixels.ravel().tolist() == [np.float32(0.1), -np.inf]
    path.write_bytes(fits(-32, np.arange(12, dtype=np.float32).reshape(3, 2, 2)))
    assert read(path).pixels.tolist() == [[[2, 6, 10], [3, 7, 11]], [[0, 4, 8], [1, 5, 9]]]
    path.write_bytes(fits(-32, np.zeros((5, 2, 2), np.float32)))
    with pytest.warns(GpuopsWarning, match="holds 5 images; number 0 is used"):
        read(path)


def test_fits_with_an_empty_primary_image(tmp_path) -> None:
    """The FITS Standard 4.0, 7.1: an extension of the kind IMAGE. Its header's cards are kept."""
    path, values = tmp_path / "a.fits", np.arange(6, dtype=np.float32).reshape(2, 3)
    image = fits(-32, values, PCOUNT=0, GCOUNT=1, EXPTIME=30)
    extension = image.replace(b"SIMPLE  =                    T", b"XTENSION= 'IMAGE   '          ")
    path.write_bytes(
        fits(8, np.zeros(0, np.uint8))
        .replace(b"NAXIS1  =                    0", b" " * 30)
        .replace(b"NAXIS   =                    1", b"NAXIS   =                    0")
        + extension
    )
    assert np.array_equal(read(path).pixels[::-1, :, 0], values)
    assert [card.split() for card in read(path).metadata.cards] == [["EXPTIME", "=", "30"]]
    with pytest.raises(FileError, match="image 0 has no pixels; --layer names one that has: 1"):
        read(path, layer=0)


def test_a_tiff_file_keeps_its_description(tmp_path) -> None:
    """The first one counts: tifffile writes another with the shape. What a resolution is per is said, or it is lost."""
    path = tmp_path / "a.tif"
    about = {"description": "counts", "software": "x", "datetime": "2026:01:02 03:04:05"}
    tifffile.imwrite(path, np.zeros((8, 9), np.uint16), resolution=(5, 5), resolutionunit=1, **about)
    write(tmp_path / "b.tif", read(path))
    with pytest.warns(GpuopsWarning, match="PNG cannot hold the spacing of pixels"):
        write(tmp_path / "b.png", read(path))
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        tags = file.pages[0].tags
        assert [tags[name].value for name in ("ImageDescription", "Software", "DateTime")] == [
            *about.values()
        ]
    tifffile.imwrite(path, np.zeros((8, 9), np.uint16), imagej=True, metadata={"unit": "um"})
    write(tmp_path / "c.tif", read(path))
    with tifffile.TiffFile(tmp_path / "c.tif") as file:
        assert file.is_imagej and read(path).colour.data


@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 3), ("uint16", 1), ("float16", 3), ("float32", 4)])
def test_jpeg_xl_of_another_encoder(dtype, channels, tmp_path) -> None:
    """imagecodecs labels all but 8 bits as linear light."""
    pixels = (RGBA if dtype == "uint8" else DEEP)[:, :, :channels]
    pixels = (pixels / 65535).astype(dtype) if dtype.startswith("float") else pixels
    path = tmp_path / "a.jxl"
    path.write_bytes(imagecodecs.jpegxl_encode(np.ascontiguousarray(pixels).squeeze(), lossless=True))
    found = read(path)
    assert np.array_equal(found.pixels, pixels.astype(found.pixels.dtype))
    assert found.linear == (dtype != "uint8")


def bayer(path: Path, colour: tuple[int, int, int], neutral: tuple[int, int, int]) -> None:
    """A DNG of an even colour, black at 256 and white at 4096, by a camera whose colours are those of sRGB."""
    mosaic = np.empty((64, 64), np.uint16)
    mosaic[::2, ::2], mosaic[1::2, 1::2] = colour[0], colour[2]
    mosaic[::2, 1::2] = mosaic[1::2, ::2] = colour[1]
    from_xyz = [
        3.2404542, -1.5371385, -0.4985314, -0.9692660, 1.8760108, 0.0415560, 0.0556434, -0.2040259, 1.0572252,
    ]  # fmt: skip
    matrix = [part for value in from_xyz for part in (round(value * 10000), 10000)]
    white = [part for value in neutral for part in (value, 100)]
    tags = [
        (50706, "B", 4, bytes((1, 4, 0, 0)), True), (50708, "s", 0, "made of numbers", True),
        (0x010F, "s", 0, "clpix cam", True), (0x0112, "H", 1, 6, True),
        (33421, "H", 2, (2, 2), True), (33422, "B", 4, bytes((0, 1, 1, 2)), True),
        (50714, "H", 1, 256, True), (50717, "H", 1, 4096, True), (50721, "2i", 9, matrix, True),
        (50728, "2I", 3, white, True), (50778, "H", 1, 21, True),
    ]  # fmt: skip
    tifffile.imwrite(path, mosaic, photometric="cfa", extratags=tags, metadata=None)


@needs("rawpy", "raw")
def test_camera_raw(tmp_path) -> None:
    """The light of a colour is (value − black) / (white − black), divided by the camera's white."""
    path = tmp_path / "a.dng"
    bayer(path, (1216, 2176, 1216), (50, 100, 50))
    picture = read(path)
    assert picture.metadata.exif is not None and b"clpix cam" in picture.metadata.exif
    assert picture.metadata.orientation == 1  # the decoder turns
    assert (picture.pixels.dtype, picture.linear, picture.colour.primaries) == (np.float32, True, "Rec. 2020")
    light = picture.pixels[16:48, 16:48] @ np.reshape(picture.colour.matrix, (3, 3)).T
    assert np.allclose(light, 0.5, atol=0.01)
    bayer(path, (2176, 1216, 640), (100, 100, 100))
    with notes.silence():
        picture = read(path)
    light = picture.pixels[16:48, 16:48] @ np.reshape(picture.colour.matrix, (3, 3)).T
    assert np.allclose(light, (0.5, 0.25, 0.1), atol=0.01)
    path.rename(tmp_path / "a.tif")  # the tag of DNG tells
    with notes.silence():
        assert read(tmp_path / "a.tif").linear
    (tmp_path / "c.nef").write_bytes((tmp_path / "a.tif").read_bytes()[:400])
    with pytest.raises(FileError, match=r"c\.nef: could not be read"):
        read(tmp_path / "c.nef")


def cr3(exif: Image.Exif) -> bytes:
    """A file of Canon's boxes: ftyp, moov, and in it the box that holds directories, each a TIFF file."""

    def box(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I4s", 8 + len(data), kind) + data

    exposure, place = (exif.get_ifd(pointer) for pointer in (0x8769, 0x8825))
    parts = []
    for name, tags in (("CMT1", dict(exif)), ("CMT2", exposure), ("CMT3", {}), ("CMT4", place)):
        one = Image.Exif()
        one.update({tag: value for tag, value in tags.items() if tag not in (0x8769, 0x8825)})
        parts.append(box(name.encode(), one.tobytes()[6:]))
    uuid = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    movie = box(b"mvhd", bytes(9)) + box(b"uuid", uuid + b"".join(parts))
    return box(b"ftyp", b"crx \0\0\0\1crx isom") + box(b"moov", movie)


def raf(exif: Image.Exif) -> bytes:
    preview = io.BytesIO()
    Image.new("RGB", (16, 9)).save(preview, "JPEG", exif=exif)
    head = b"FUJIFILMCCD-RAW 0201".ljust(84, b"\0") + struct.pack(">II", 160, len(preview.getvalue()))
    return head.ljust(160, b"\0") + preview.getvalue()


@pytest.mark.parametrize("kind", ["cr3", "raf", "orf", "rw2"])
def test_cameras_say_what_they_are(tmp_path, kind) -> None:
    """Files of several makers' structures, without pixels; Pillow reads what was found."""
    exif = Image.Exif()
    exif.endian = "<"
    exif.update({0x010F: "Maker", 0x0110: "Model 7", 0x0112: 6})
    exif.get_ifd(0x8769).update({0x829A: 0.005, 0x9003: "2024:05:06 07:08:09"})
    exif.get_ifd(0x8825).update({1: "N"})
    block = exif.tobytes()[6:]
    like = {"orf": b"IIRO" + block[4:], "rw2": b"IIU\0" + block[4:]}
    data = like.get(kind) or {"cr3": cr3, "raf": raf}[kind](exif)
    (tmp_path / f"a.{kind}").write_bytes(data)
    found = containers.read(str(tmp_path / f"a.{kind}"), raw_exif.of_camera).exif
    kept = Image.Exif()
    kept.load(b"Exif\0\0" + dng.of_photograph(found))
    assert (kept[0x010F], kept[0x0110], kept[0x0112]) == ("Maker", "Model 7", 6)
    assert kept.get_ifd(0x8769)[0x829A] == pytest.approx(0.005) and kept.get_ifd(0x8825)[1] == "N"
    for end in range(0, len(data), 7):
        (tmp_path / "cut").write_bytes(data[:end])
        containers.read(str(tmp_path / "cut"), raw_exif.of_camera)


RARE = [
    ("a.ico", "RGBA"), ("a.sgi", "RGBA"), ("a.pcx", "RGB"), ("p.pcx", "P"), ("a.pcx", "1"),
    ("a.xbm", "1"), ("l.sgi", "L"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "mode"), RARE)
def test_formats_that_none_of_our_readers_knows(name, mode, tmp_path) -> None:
    image = Image.fromarray(RGBA[:32, :32]).convert(mode)
    image.save(tmp_path / name)
    expected = np.asarray(image.convert({"P": "RGB", "1": "L"}.get(mode, mode)))
    found = read(tmp_path / name)
    assert np.array_equal(found.pixels.squeeze(), expected) and found.alpha == (mode == "RGBA")


def test_spe(tmp_path) -> None:
    """Princeton Instruments, WinView: xdim at 42, the data type at 108, ydim at 656, frames at 1446, pixels at 4100."""
    head = bytearray(4100)
    for kind, place, value in ("H", 42, 41), ("h", 108, 3), ("H", 656, 37), ("i", 1446, 2):
        struct.pack_into(f"<{kind}", head, place, value)
    path, values = tmp_path / "a.spe", DEEP[:, :, :2].transpose(2, 0, 1)
    path.write_bytes(head + values.tobytes())
    for i, frame in enumerate(values):
        assert np.array_equal(read(path, layer=i).pixels[:, :, 0], frame)
    path.write_bytes(head[:300])
    with pytest.raises(FileError, match=r"a\.spe: could not be read"):
        read(path)


def test_formats_that_start_programs_are_not_read(tmp_path, monkeypatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("a program was started, or an address asked")

    for what in ("subprocess.Popen", "os.system", "socket.socket", "PIL.EpsImagePlugin.Ghostscript"):
        monkeypatch.setattr(what, refuse)
    for data in (
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n",
        b"#EXTM3U\nhttp://127.0.0.1:9/a.png\n",
        b"PK\5\6" + bytes(18),
        b"imageio:chelsea.png",
    ):
        (tmp_path / "a.eps").write_bytes(data)
        with pytest.raises(FileError, match="is not a picture in a known format"):
            read(tmp_path / "a.eps")


def by_imagecodecs(path: Path) -> np.ndarray:
    decode = {".jxl": imagecodecs.jpegxl_decode, ".avif": imagecodecs.avif_decode}[path.suffix]
    pixels: np.ndarray = decode(path.read_bytes())
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def by_heif(path: Path) -> np.ndarray:
    import pillow_heif

    pixels = np.asarray(pillow_heif.open_heif(path, convert_hdr_to_8bit=False, hdr_to_16bit=False))
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def pam_by_cv2(path: Path) -> np.ndarray:
    """OpenCV leaves the channels of PAM in their order."""
    cv2 = pytest.importorskip("cv2", reason="needs the extra test-all")
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


READERS: dict[str, tuple[Callable[[Path], np.ndarray], ...]] = {
    "a.bmp": (pillow, by_oiio, by_cv2), "a.tga": (pillow, by_oiio), "a.pnm": (by_cv2, by_oiio),
    "a.pam": (pam_by_cv2,), "a.jxl": (by_oiio, by_imagecodecs), "a.gif": (pillow, by_oiio),
    "a.qoi": (pillow,),
}  # fmt: skip


def written() -> Iterator[tuple[str, np.ndarray]]:
    for name in READERS:
        fmt = format_of(name)
        for dtype in (found for found in fmt.dtypes if found in ("uint8", "uint16")):
            for channels in fmt.channels:
                pixels = (RGBA if dtype == "uint8" else DEEP)[:, :, :channels]
                if name == "a.gif":
                    pixels = pixels & 0xC0
                    pixels[:, :, 3:] = np.where(pixels[:, :, 3:] > 128, 255, 0)
                    pixels[pixels[:, :, 3:].repeat(channels, 2) == 0] = 0 if channels == 4 else 1
                if not (name == "a.pam" and channels == 2):  # which OpenCV does not read
                    yield name, np.ascontiguousarray(pixels)


@pytest.mark.parametrize(
    ("name", "pixels"), list(written()), ids=lambda v: v if isinstance(v, str) else f"{v.dtype}{v.shape[2]}"
)
def test_our_files_by_other_readers(name, pixels, tmp_path) -> None:
    path = tmp_path / name
    write(path, Picture(pixels, alpha=pixels.shape[2] in (2, 4)))
    for reader in READERS[name]:
        found = reader(path)
        if name == "a.gif":  # some readers give alpha that is full
            assert np.all(found[:, :, pixels.shape[2] :] == 255)
            found = found[:, :, : pixels.shape[2]]
            shown = pixels[:, :, -1] > 0 if pixels.shape[2] == 4 else np.ones(pixels.shape[:2], bool)
            assert np.array_equal(found[shown], pixels[shown])
        else:
            assert np.array_equal(found.reshape(pixels.shape), pixels), reader.__name__


def test_fits_by_other_readers(tmp_path) -> None:
    path = tmp_path / "a.fits"
    pixels = RNG.normal(size=(5, 7, 1)).astype(np.float32)
    write(path, Picture(pixels, linear=True))
    assert np.array_equal(pillow(path), pixels)
    assert np.array_equal(
        np.frombuffer(path.read_bytes()[2880:][:140], ">f4").reshape(5, 7)[::-1], pixels[:, :, 0]
    )


def test_names_of_netpbm_are_kept(tmp_path) -> None:
    write(tmp_path / "a.ppm", Picture(L))
    assert (tmp_path / "a.ppm").read_bytes().startswith(b"P6")
    write(tmp_path / "a.pgm", Picture(L))
    assert (tmp_path / "a.pgm").read_bytes().startswith(b"P5")
    with pytest.raises(FileError, match=r"b\.pgm: a \.pgm file holds gray alone"):
        write(tmp_path / "b.pgm", Picture(RGB))
    assert not (tmp_path / "b.pgm").exists()


def test_many_colours_in_a_gif(tmp_path) -> None:
    path = tmp_path / "a.gif"
    y, x = np.mgrid[0:64, 0:64].astype(np.uint8) * 4
    smooth = np.stack((y, x, 255 - y, np.where(x > 100, 200, 0)), axis=2).astype(np.uint8)
    partial, few = "no partial alpha", "become 255 of them"
    with pytest.warns(GpuopsWarning, match=few), pytest.warns(GpuopsWarning, match=partial):
        write(path, Picture(smooth, alpha=True))
    found = pillow(path)
    assert np.array_equal(found[:, :, 3], np.where(x > 100, 255, 0))
    assert np.abs(found[:, 40:, :3].astype(int) - smooth[:, 40:, :3]).mean() < 12


SPACES = ["rec2100-pq", "rec2100-hlg", "display-p3", "rec2020", "display-p3-pq"]


def smooth(space: Colour, dtype: str = "uint16") -> Picture:
    y, x = np.mgrid[0:40, 0:48]
    codes = np.stack((x / 47, y / 39, (x + y) / 86), axis=2) * np.iinfo(dtype).max
    return Picture(codes.astype(dtype), metadata=Metadata(colour=space))


def test_floats_that_libjxl_cannot_code(tmp_path, rng) -> None:
    """Whether they can be coded depends on its version and on the values; else a line says what to do."""
    pixels = rng.random((32, 48, 3)).astype(np.float32)
    pixels = np.where(pixels < 1e-3, -pixels, pixels)
    path = tmp_path / "a.jxl"
    try:
        write(path, Picture(pixels, linear=True))
    except FileError as error:
        assert "floats of both signs; use --dtype half, or .exr" in str(error)
        assert not list(tmp_path.iterdir())
    else:
        np.testing.assert_array_equal(read(path).pixels, pixels)
    halves = pixels.astype(np.float16)
    write(path, Picture(halves, linear=True), overwrite=True)
    np.testing.assert_array_equal(read(path).pixels, halves)


@each(name__space=thinned(list(product(["a.avif", "a.heic", "a.jxl"], SPACES)), 4, arguments=2))
def test_deep_pictures_say_their_colours(name, space, tmp_path) -> None:
    """What is read back is the same light: within two steps of 10 bits, and exactly in JPEG XL."""
    path = tmp_path / name
    picture = smooth(named(space))
    write(path, picture)
    found = read(path)
    assert found.colour == named(space)
    bits = {"a.avif": 10 if space.endswith(("pq", "hlg")) else 12, "a.heic": 10, "a.jxl": 16}[name]
    off = np.abs(found.pixels.astype(float) - picture.pixels)
    assert off.mean() < 2 * 65535 / 2**10 if bits < 16 else off.max() == 0
    assert len(np.unique(found.pixels)) <= 2**bits
    if name == "a.avif":
        assert imagecodecs.avif_decode(path.read_bytes()).max() in range(2**bits - 16, 2**bits)
    if name == "a.heic":
        import pillow_heif

        nclx = pillow_heif.open_heif(path, convert_hdr_to_8bit=False).info["nclx_profile"]
    elif name == "a.avif":
        at = path.read_bytes().index(b"colrnclx") + 8
        both = struct.unpack_from(">HH", path.read_bytes(), at)
        nclx = dict(zip(("color_primaries", "transfer_characteristics"), both, strict=True))
    else:
        return
    codes = {"rec2100-pq": (9, 16), "rec2100-hlg": (9, 18), "display-p3": (12, 13), "display-p3-pq": (12, 16)}
    assert (nclx["color_primaries"], nclx["transfer_characteristics"]) == codes.get(space, (9, 1))


@pytest.mark.parametrize("name", ["a.avif", "a.heic", "a.jxl"])
def test_profiles_of_8_bits(name, tmp_path) -> None:
    """Adobe RGB has no code points: a profile says it."""
    write(tmp_path / name, smooth(named("adobe-rgb"), "uint8"))
    found = read(tmp_path / name)
    assert found.metadata.icc
    assert (found.colour.primaries, found.colour.transfer) == ("Adobe RGB", "gamma 2.199")


def test_deep_avif_without_code_points_says_so(tmp_path) -> None:
    with pytest.warns(
        GpuopsWarning, match=r"cannot say what its values are \(gamma 2.199, Adobe RGB primaries\)"
    ):
        write(tmp_path / "a.avif", smooth(named("adobe-rgb")))


def test_deep_avif_needs_an_encoder_that_tells_colours(tmp_path, monkeypatch) -> None:
    """The last imagecodecs for Python 3.10 takes no code points."""
    monkeypatch.setattr(imagecodecs, "avif_encode", lambda data, level=None, pixelformat=None: b"")
    with pytest.raises(FileError, match=r"a\.avif: AVIF of more than 8 bits needs imagecodecs 2025\.11"):
        write(tmp_path / "a.avif", smooth(named("srgb"), "uint16"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("sampling", "halved"), [("4:4:4", 0b00), ("4:2:2", 0b10), ("4:2:0", 0b11)])
def test_deep_avif_is_sampled_as_asked(sampling, halved, tmp_path) -> None:
    """AV1's configuration says in its third byte whether chroma is halved across and down, in bits 3 and 2."""
    write(tmp_path / "a.avif", smooth(named("srgb"), "uint16"), storage=Storage(subsampling=sampling))
    data = (tmp_path / "a.avif").read_bytes()
    assert data[data.index(b"av1C") + 6] >> 2 & 0b11 == halved


@pytest.mark.parametrize("name", ["a.avif", "a.heic", "a.jxl"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_pictures_are_written_upright(name, dtype, tmp_path) -> None:
    """Orientation 6: the first row is the right side."""
    picture = smooth(named("srgb"), dtype)
    picture = replace(picture, metadata=Metadata(exif=EXIF))
    with pytest.warns(GpuopsWarning) if (name, dtype) == ("a.avif", "uint16") else nullcontext():
        write(tmp_path / name, picture)
    found = read(tmp_path / name)
    assert found.metadata.orientation == 1
    expected = np.rot90(picture.pixels, -1)
    assert found.pixels.shape == expected.shape
    assert np.abs(found.pixels.astype(float) - expected).mean() < np.iinfo(dtype).max * 0.01
    other = (by_imagecodecs if name != "a.heic" else by_heif)(tmp_path / name)
    assert other.shape == expected.shape


def test_avif_that_is_turned_by_its_own_property(tmp_path) -> None:
    picture = smooth(named("srgb"), "uint8")
    Image.fromarray(picture.pixels).save(tmp_path / "a.avif", quality=95, subsampling="4:4:4", exif=EXIF)
    found = read(tmp_path / "a.avif")
    assert np.abs(found.pixels.astype(float) - np.rot90(picture.pixels, -1)).mean() < 2


@pytest.mark.parametrize("name", ["a.heic", "a.avif"])
def test_colours_that_are_said_to_be_one_channel(name, tmp_path) -> None:
    """The property pixi of old writers says num_channels 1 (ISO/IEC 23008-12, 6.5.6); the coded picture decides."""
    path = tmp_path / name
    write(path, Picture(RGB))
    expected, data = read(path).pixels, bytearray(path.read_bytes())
    data[data.index(b"pixi") + 8] = 1
    path.write_bytes(data)
    assert np.array_equal(read(path).pixels, expected)


def test_compressed_metadata_of_jpeg_xl(tmp_path) -> None:
    """A brob box, ISO/IEC 18181-2: the kind, and the data compressed by Brotli."""
    write(tmp_path / "a.jxl", Picture(RGB))
    data = b"Exif" + imagecodecs.brotli_encode(b"\0\0\0\0" + EXIF)
    with open(tmp_path / "a.jxl", "ab") as file:
        file.write(struct.pack(">I4s", 8 + len(data), b"brob") + data)
    found = read(tmp_path / "a.jxl").metadata
    assert found.exif is not None and b"clpix" in found.exif and found.orientation == 1


@each(name__module__extra=[("a.heic", "pillow_heif", "formats"), ("a.dng", "rawpy", "raw")])
def test_a_missing_package_is_one_line(name, module, extra, tmp_path, monkeypatch) -> None:
    if name == "a.dng":
        bayer(tmp_path / name, (500, 500, 500), (100, 100, 100))
    else:
        write(tmp_path / name, smooth(named("rec2100-pq")))
    monkeypatch.setitem(sys.modules, module, None)
    words = rf"needs {module.replace('_', '-')}: pip install 'clpix\[{extra}\]'$"
    with pytest.raises(FileError, match=words):
        read(tmp_path / name)
    if name != "a.dng":
        with pytest.raises(FileError, match=words):
            write(tmp_path / f"b{name[1:]}", smooth(named("rec2100-pq")))
        assert not (tmp_path / f"b{name[1:]}").exists()


@pytest.mark.parametrize("name", ["a.psd", "a.dds", "a.pbm", "a.cr2"])
def test_what_is_only_read_is_no_output(name, tmp_path) -> None:
    with pytest.raises(FileError, match="is only read, not written"):
        write(tmp_path / name, Picture(RGB))


def test_commands_take_them(clpix, tmp_path) -> None:
    """The light of a PQ picture in AVIF is that of the PNG that it was made from."""
    write(tmp_path / "a.tga", Picture(RGBA, alpha=True))
    assert clpix("convert", tmp_path / "a.tga", "-o", tmp_path / "a.jxl").code == 0
    assert np.array_equal(read(tmp_path / "a.jxl").pixels, RGBA)
    write(tmp_path / "in.png", smooth(named("rec2100-pq")))
    run = clpix("convert", tmp_path / "in.png", "--colour", "rec2100-pq", "-o", tmp_path / "a.avif")
    assert (run.code, run.err) == (0, "")
    assert clpix("convert", tmp_path / "a.avif", "-o", tmp_path / "back.exr").code == 0
    assert clpix("convert", tmp_path / "in.png", "-o", tmp_path / "plain.exr").code == 0
    back, plain = read(tmp_path / "back.exr").pixels, read(tmp_path / "plain.exr").pixels
    assert np.median(np.abs(back - plain) / (np.abs(plain) + 0.05)) < 0.02
    (tmp_path / "cut.avif").write_bytes((tmp_path / "a.avif").read_bytes()[:-200])
    run = clpix("convert", tmp_path / "cut.avif", "-o", tmp_path / "b.png")
    assert run.code == 1 and run.err.count("\n") == 1 and "cut.avif: " in run.err


@pytest.mark.parametrize("name", ["a.avif", "a.heic", "a.jxl", "a.png"])
def test_pq_of_a_tone_mapping(name, clpix, tmp_path) -> None:
    """Light beyond white comes back; 1 is 203 cd/m², and PQ's steps of 10 bits are below 2 %."""
    y, x = np.mgrid[0:48, 0:64].astype(np.float32)
    light = np.stack((x / 16, y / 12, (x + y) / 30), axis=2) + np.float32(0.05)
    write(tmp_path / "in.exr", Picture(light, linear=True))
    options = ("--operator", "linear", "--exposure", 0, "--transfer", "pq", "-o", tmp_path / name)
    assert clpix("tonemap", tmp_path / "in.exr", *options).code == 0
    found = read(tmp_path / name)
    told = (found.pixels.dtype, found.colour.transfer, found.colour.primaries)
    assert told == (np.uint16, "PQ", "Rec. 709")
    assert clpix("convert", tmp_path / name, "-o", tmp_path / "back.exr").code == 0
    off = np.abs(read(tmp_path / "back.exr").pixels / light - 1)
    assert np.median(off) < 0.02
