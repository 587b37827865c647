"""Kinds of JPEG, JPEG XR, DDS and EXR that few programs write, beside what was coded, or another decoder."""

import io
import struct
from contextlib import suppress

import numpy as np
import PIL.Image
import pytest

from gpuops.errors import FileError
from gpuops.files import NeedsWholeFile, read, strips

from .reference import colour as reference

imagecodecs = pytest.importorskip("imagecodecs")


@pytest.fixture
def picture() -> np.ndarray:
    y, x = np.mgrid[0:41, 0:57]
    return np.stack((800 * x, 1500 * y, 60_000 - 500 * x - 700 * y), axis=2).astype(np.uint16)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_jpeg_xr_is_what_was_coded(tmp_path, picture, dtype, channels) -> None:
    values = np.concatenate((picture, picture[:, :, :1]), axis=2)[:, :, :channels]
    kind = np.dtype(dtype)
    stored = (values >> 8 if dtype == "uint8" else values if kind.kind == "u" else values / 8192).astype(kind)
    path = tmp_path / "a.jxr"
    path.write_bytes(imagecodecs.jpegxr_encode(stored[:, :, 0] if channels == 1 else stored))
    result = read(path)
    np.testing.assert_array_equal(result.pixels, stored)
    assert (result.pixels.dtype, result.alpha, result.linear) == (kind, channels == 4, kind.kind == "f")
    assert result.metadata.exif is None and result.metadata.resolution == (96.0, 96.0, "in")


def test_jpeg_xr_of_floats_goes_to_exr(clpix, tmp_path, picture) -> None:
    light = (picture / 8192).astype(np.float32)
    (tmp_path / "shot.jxr").write_bytes(imagecodecs.jpegxr_encode(light))
    run = clpix("convert", tmp_path / "shot.jxr", "-o", tmp_path / "shot.exr")
    assert (run.code, run.err) == (0, "")
    assert np.abs(read(tmp_path / "shot.exr").pixels - light).max() < 1e-3
    assert "JPEG XR, 57 × 41, RGB, float, linear light" in clpix("info", tmp_path / "shot.jxr").out


def test_jpeg_xr_of_associated_alpha(tmp_path) -> None:
    """The kind of colours that are multiplied by alpha is one number in the file."""
    stored = np.full((16, 16, 4), (30_000, 10_000, 5_000, 32_768), np.uint16)
    data = bytearray(imagecodecs.jpegxr_encode(stored))
    (directory,) = struct.unpack_from("<I", data, 4)
    (kind,) = struct.unpack_from("<I", data, directory + 2 + 8)
    assert data[kind + 15] == 0x16
    data[kind + 15] = 0x17
    (tmp_path / "a.jxr").write_bytes(data)
    result = read(tmp_path / "a.jxr")
    expected = np.array([30_000, 10_000, 5_000]) * 65535 / 32_768
    assert result.associated and np.abs(result.pixels[0, 0, :3] - expected).max() <= 1


def test_damaged_jpeg_xr(tmp_path, picture, rng) -> None:
    data = imagecodecs.jpegxr_encode(picture)
    path = tmp_path / "a.jxr"
    for changed in (
        data[:9],
        data[:200],
        data[: len(data) // 2],
        b"II\xbc\x01" + bytes(40),
        data[:4] + b"\xff" * 4 + data[8:],
    ):
        path.write_bytes(changed)
        with pytest.raises(FileError, match=r"a\.jxr: "):
            read(path)
    for _ in range(60):
        some = bytearray(data)
        for at in rng.integers(4, 150, 3):
            some[at] = rng.integers(256)
        path.write_bytes(some)
        with suppress(FileError):
            assert read(path).channels in (1, 2, 3, 4)


@pytest.mark.parametrize("gray", [False, True])
def test_jpeg_of_12_bits(tmp_path, picture, gray) -> None:
    """What is read is the decoder's 12 bits spread over 16; the picture is there but for what JPEG loses."""
    stored = (picture[:, :, 0] if gray else picture) >> 4
    path = tmp_path / "a.jpg"
    path.write_bytes(imagecodecs.jpeg_encode(stored, 100, bitspersample=12))
    result = read(path)
    assert result.pixels.dtype == np.uint16 and result.channels == (1 if gray else 3)
    expected = np.atleast_3d(stored) * (65535 / 4095)
    assert np.median(np.abs(result.pixels - expected)) < 16 * 8


@pytest.mark.parametrize("bits", [8, 12, 16])
def test_lossless_jpeg_is_what_was_coded(tmp_path, picture, bits) -> None:
    stored = picture >> (16 - bits)
    stored = stored.astype(np.uint8) if bits == 8 else stored
    path = tmp_path / "a.jpg"
    path.write_bytes(imagecodecs.jpeg_encode(stored, bitspersample=bits, lossless=True))
    most = 255 if bits == 8 else 65535
    np.testing.assert_array_equal(read(path).pixels, np.rint(stored * (most / (2**bits - 1))))


def test_what_deep_jpeg_says_stays(clpix, tmp_path, picture) -> None:
    profile = reference.gray_profile(reference.curve(563))
    data = imagecodecs.jpeg_encode(np.ascontiguousarray(picture[:, :, 0]), bitspersample=16, lossless=True)
    block = b"ICC_PROFILE\0\1\1" + profile
    jfif = b"\xff\xe0" + struct.pack(">H5sHBHHBB", 16, b"JFIF\0", 0x0102, 1, 300, 300, 0, 0)
    rest = data[2:] if data[2:4] != b"\xff\xe0" else data[4 + struct.unpack_from(">H", data, 4)[0] :]
    path = tmp_path / "a.jpg"
    path.write_bytes(data[:2] + jfif + b"\xff\xe2" + struct.pack(">H", len(block) + 2) + block + rest)
    metadata = read(path).metadata
    assert metadata.icc == profile and metadata.resolution == (300.0, 300.0, "in")
    run = clpix("flip", path, "--axis", "both", "-o", tmp_path / "b.png")
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(read(tmp_path / "b.png").pixels, picture[::-1, ::-1, :1])
    with pytest.raises(NeedsWholeFile, match="is a JPEG of more than 8 bits"):
        strips.open_rows(str(path), None, 1000)
    assert strips.open_rows(str(path), None, 10**6) is None


@pytest.mark.parametrize(("kind", "number"), [("DXT1", 71), ("DXT3", 74), ("DXT5", 77)])
def test_dds_of_srgb_in_blocks(tmp_path, picture, kind, number) -> None:
    """The same blocks as those of the kind without a word on sRGB, which Pillow writes and reads."""
    values = np.concatenate((picture, picture[:, :, :1]), axis=2)[:40, :56] >> 8
    stream = io.BytesIO()
    PIL.Image.fromarray(values.astype(np.uint8)).save(stream, "DDS", pixel_format=kind)
    data = stream.getvalue()
    with PIL.Image.open(io.BytesIO(data)) as image:
        expected = np.asarray(image)
    header = bytearray(data[:128])
    header[84:88] = b"DX10"
    for at, one in ((0, number + 1), (1, number)):
        more = struct.pack("<5I", one, 3, 0, 1, 0)
        (tmp_path / f"{at}.dds").write_bytes(bytes(header) + more + data[128:])
        result = read(tmp_path / f"{at}.dds")
        np.testing.assert_array_equal(result.pixels, expected[:, :, : result.channels])
        assert not result.linear


def of_chroma(luminance: np.ndarray, red: np.ndarray, blue: np.ndarray) -> bytes:
    """An EXR file of halfs, not compressed, of Y, and of RY and BY at every other pixel (OpenEXR file layout)."""
    height, width = luminance.shape

    def attribute(name: bytes, kind: bytes, data: bytes) -> bytes:
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(data)) + data

    box = struct.pack("<4i", 0, 0, width - 1, height - 1)
    channels = ((b"BY", 2), (b"RY", 2), (b"Y", 1))
    listed = (
        b"".join(name + b"\0" + struct.pack("<iIii", 1, 0, step, step) for name, step in channels) + b"\0"
    )
    head = struct.pack("<II", 20000630, 2) + attribute(b"channels", b"chlist", listed)
    head += attribute(b"compression", b"compression", b"\0") + attribute(b"dataWindow", b"box2i", box)
    head += attribute(b"displayWindow", b"box2i", box) + attribute(b"lineOrder", b"lineOrder", b"\0")
    head += attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1))
    head += attribute(b"screenWindowCenter", b"v2f", bytes(8)) + attribute(
        b"screenWindowWidth", b"float", struct.pack("<f", 1)
    )
    rows = []
    for y in range(height):
        planes = [*([blue[y // 2], red[y // 2]] if y % 2 == 0 else []), luminance[y]]
        data = b"".join(plane.astype("<f2").tobytes() for plane in planes)
        rows.append(struct.pack("<iI", y, len(data)) + data)
    starts = np.cumsum([len(head) + 1 + 8 * height, *map(len, rows[:-1])])
    return head + b"\0" + starts.astype("<u8").tobytes() + b"".join(rows)


def test_exr_of_luminance_and_chroma(clpix, tmp_path) -> None:
    """The formulas of OpenEXR's technical introduction, of smooth colours, which fewer samples hold as well."""
    y, x = np.mgrid[0:64, 0:96].astype(float)
    rgb = np.stack((0.2 + x / 96, 0.3 + y / 64, 0.8 - 0.5 * x / 96), axis=2)
    luminance = rgb @ (0.2126, 0.7152, 0.0722)
    red, blue = ((rgb[:, :, k] - luminance) / luminance for k in (0, 2))
    path = tmp_path / "a.exr"
    path.write_bytes(of_chroma(luminance, red[::2, ::2], blue[::2, ::2]))
    result = read(path)
    assert result.pixels.dtype == np.float16 and result.linear
    error = np.abs(result.pixels - rgb)
    assert error.mean() < 1e-3 and error[8:-8, 8:-8].max() < 4e-3
    run = clpix("flip", path, "--axis", "both", "-o", tmp_path / "b.exr")
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(read(tmp_path / "b.exr").pixels, result.pixels[::-1, ::-1])
    path.write_bytes(path.read_bytes()[:-900])
    assert clpix("convert", path, "-o", tmp_path / "c.exr").code == 1
