"""JPEG 2000 files as other programs write them: what channels are, high throughput, colours of less resolution.

The streams in tests/data are of synthetic pictures: ht-… by OpenJPH 0.26 (quantisation 0.05, 0.001 and none), ycc by
OpenJPEG 2.5 (opj_compress -F 16,16,3,8,u@1x1:2x2:2x2 of the constants 120, 90, 160; and of 17 pixels).
"""

import io
import struct
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from gpuops.errors import FileError, GpuopsWarning
from gpuops.files import Picture, oiio, read, write

from .choices import each

COLOUR, OPACITY, PREMULTIPLIED, UNSPECIFIED = 0, 1, 2, 65535


def stream(name: str) -> bytes:
    return (Path(__file__).parent / "data" / name).read_bytes()


def box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(data), kind) + data


def jp2(codestream: bytes, *boxes: bytes, colours: int = 16) -> bytes:
    """A file around a codestream (ITU-T T.800, annex I)."""
    width, height = struct.unpack_from(">II", codestream, 8)
    (count,) = struct.unpack_from(">H", codestream, 40)
    depths = {codestream[42 + 3 * i] for i in range(count)}
    image = box(b"ihdr", struct.pack(">IIHBBBB", height, width, count, depths.pop(), 7, 0, 0))
    header = image + box(b"colr", struct.pack(">BBBI", 1, 0, 0, colours)) + b"".join(boxes)
    start = b"\0\0\0\x0cjP  \r\n\x87\n" + box(b"ftyp", b"jp2 \0\0\0\0jp2 ")
    return start + box(b"jp2h", header) + box(b"jp2c", codestream)


def definitions(*channels: tuple[int, int]) -> bytes:
    """The box cdef: the kind of each channel, and the colour that it is or belongs to (0: all)."""
    entries = (struct.pack(">HHH", i, kind, colour) for i, (kind, colour) in enumerate(channels))
    return box(b"cdef", struct.pack(">H", len(channels)) + b"".join(entries))


def codestream(pixels: np.ndarray, folder: Path) -> bytes:
    """The pixels, losslessly, without any word of what they are."""
    path = folder / "codestream.jp2"
    oiio.write(str(path), pixels, {"oiio:UnassociatedAlpha": 1})
    data = path.read_bytes()
    return data[data.index(b"\xff\x4f\xff\x51") :]


@pytest.fixture
def pixels(rng) -> np.ndarray:
    values = rng.integers(0, 100, (32, 32, 4), np.uint8)
    values[:, :, 3] = rng.integers(100, 255, (32, 32))
    return values


R, G, B, A = (COLOUR, 1), (COLOUR, 2), (COLOUR, 3), (OPACITY, 0)


@pytest.mark.parametrize(("channels", "order"), [
    ((R, G, B, A), (0, 1, 2, 3)),
    ((B, G, R, A), (2, 1, 0, 3)),
    ((A, R, G, B), (1, 2, 3, 0)),
    ((G, A, B, R), (3, 0, 2, 1)),
], ids=["RGBA", "BGRA", "ARGB", "GABR"])  # fmt: skip
def test_channels_of_any_order(channels, order, pixels, tmp_path) -> None:
    path = tmp_path / "c.jp2"
    path.write_bytes(jp2(codestream(pixels, tmp_path), definitions(*channels)))
    picture = read(path)
    assert picture.alpha and not picture.associated and np.array_equal(picture.pixels, pixels[:, :, order])


def test_alpha_is_what_the_file_says(pixels, tmp_path) -> None:
    path = tmp_path / "a.jp2"
    data = codestream(pixels, tmp_path)
    path.write_bytes(jp2(data, definitions(R, G, B, (PREMULTIPLIED, 0))))
    picture = read(path)
    assert picture.associated
    colour = pixels[:, :, :3] * 255.0 / pixels[:, :, 3:]
    assert np.abs(picture.pixels[:, :, :3] - colour).max() <= 0.51
    path.write_bytes(jp2(data, definitions(R, G, B, (UNSPECIFIED, 65535))))
    with pytest.warns(GpuopsWarning, match="without its channel 4 of 4, not said to be colour or alpha"):
        assert np.array_equal(read(path).pixels, pixels[:, :, :3])
    path.write_bytes(jp2(data))
    with pytest.warns(GpuopsWarning, match="does not say what its channel 4 is; it is taken as alpha"):
        assert np.array_equal(read(path).pixels, pixels)


def test_alpha_is_named_when_it_is_written(pixels, tmp_path) -> None:
    """Pillow takes four channels for RGBA anyway; the box tells all others."""
    path = tmp_path / "w.jp2"
    write(path, Picture(pixels, alpha=True))
    assert definitions(R, G, B, A) in path.read_bytes()
    with PIL.Image.open(path) as image:
        assert image.mode == "RGBA" and np.array_equal(np.asarray(image), pixels)
    assert np.array_equal(read(path).pixels, pixels)


def test_gray_with_alpha(pixels, tmp_path) -> None:
    path = tmp_path / "la.jp2"
    PIL.Image.fromarray(np.ascontiguousarray(pixels[:, :, 2:]), "LA").save(path, irreversible=False)
    picture = read(path)
    assert picture.alpha and np.array_equal(picture.pixels, pixels[:, :, 2:])


@each(colours__words=[(12, "colours of CMYK"), (14, "colours of CIELab"), (99, "colours of kind 99")])
def test_other_colours_are_refused(colours, words, pixels, tmp_path) -> None:
    path = tmp_path / "o.jp2"
    path.write_bytes(jp2(codestream(pixels, tmp_path), colours=colours))
    with pytest.raises(FileError, match=f"holds {words}; convert it to gray or RGB first"):
        read(path)


def test_lossy_high_throughput_does_not_wrap_around(tmp_path) -> None:
    """Values that the loss carries beyond white or black stay there: yellow and blue squares of 4 pixels."""
    path = tmp_path / "h.j2c"
    y, x = np.mgrid[:16, :16]
    squares = np.where(((x // 4 + y // 4) % 2)[..., None], (255, 255, 0), (0, 0, 255))
    for data in (stream("ht-lossy.j2c"), jp2(stream("ht-lossy.j2c"))):
        path.write_bytes(data)
        got = read(path).pixels.astype(int)
        assert np.abs(got - squares).max() < 35
        with PIL.Image.open(io.BytesIO(data)) as image:
            assert np.abs(got - np.asarray(image)).max() <= 1


def test_palettes(rng, tmp_path) -> None:
    """The colours are those that the indices stand for; where a decoder would give indices, it is refused."""
    colours = rng.integers(0, 256, (8, 4), np.uint8)
    colours[5] = colours[2]
    indices = rng.integers(0, 8, (32, 32, 1), np.uint8)
    path = tmp_path / "c.jp2"
    for count, more in ((3, ()), (4, (definitions(R, G, B, A),))):
        table = box(b"pclr", struct.pack(">HB", 8, count) + b"\7" * count + colours[:, :count].tobytes())
        mapping = box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, i) for i in range(count)))
        path.write_bytes(jp2(codestream(indices, tmp_path), table, mapping, *more))
        assert np.array_equal(read(path).pixels, colours[indices[..., 0], :count])
        path.write_bytes(jp2(stream("ht-lossy.j2c"), table, mapping, *more))
        with pytest.raises(
            FileError, match=r"\(HTJ2K\) of a kind that is not decoded rightly; convert it first"
        ):
            read(path)
    encoded = io.BytesIO()
    two = np.concatenate((indices, rng.integers(0, 256, (32, 32, 1), np.uint8)), 2)
    PIL.Image.fromarray(two).save(encoded, "JPEG2000")
    data = encoded.getvalue()
    table = box(b"pclr", struct.pack(">HB", 8, 3) + b"\7\7\7" + colours[:, :3].tobytes())
    mapping = box(
        b"cmap", b"".join(struct.pack(">HBB", *row) for row in [(0, 1, 0), (0, 1, 1), (0, 1, 2), (1, 0, 0)])
    )
    path.write_bytes(jp2(data[data.index(b"\xff\x4f\xff\x51") :], table, mapping, definitions(R, G, B, A)))
    with pytest.raises(
        FileError, match="holds a palette with another channel beside it; convert it to RGB first"
    ):
        read(path)


def test_high_throughput_of_16_bits(tmp_path) -> None:
    path = tmp_path / "h.j2c"
    path.write_bytes(stream("ht-exact-16.j2c"))
    assert np.array_equal(read(path).pixels[:, :, 0], np.broadcast_to(np.arange(16) * 4369, (16, 16)))
    path.write_bytes(stream("ht-lossy-16.j2c"))
    with pytest.raises(FileError, match=r"\(HTJ2K\) of a kind that is not decoded rightly; convert it first"):
        read(path)


def test_colours_of_less_resolution(tmp_path) -> None:
    """Y 120, Cb 90, Cr 160, by BT.601: R = Y + 1.402 (Cr − 128), B = Y + 1.772 (Cb − 128), G between."""
    path = tmp_path / "y.jp2"
    data = stream("ycc.jp2")
    path.write_bytes(data)
    pixels = read(path).pixels
    red, blue = 120 + 1.402 * 32, 120 + 1.772 * -38
    green = (120 - 0.299 * red - 0.114 * blue) / 0.587
    assert np.abs(pixels - np.array([red, green, blue])).max() <= 2
    (tmp_path / "odd.jp2").write_bytes(stream("ycc-17.jp2"))
    assert read(tmp_path / "odd.jp2").pixels.shape == (17, 17, 3)
    bare = data[data.index(b"\xff\x4f\xff\x51") :]
    path.write_bytes(bare)
    with pytest.raises(FileError, match="does not say what its colours of less resolution are"):
        read(path)
    path.write_bytes(jp2(bare[:16] + struct.pack(">I", 3) + bare[20:], colours=18))  # begins at x = 3
    with pytest.raises(FileError, match="of less resolution, placed in a way that cannot be read"):
        read(path)
