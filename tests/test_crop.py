"""Rectangles against numpy's slices, and files whose values come out bit for bit."""

import struct

import numpy as np
import PIL.Image
import pytest

from gpuops import ParameterError, files
from gpuops.files import exif
from gpuops.ops.crop import OPERATION as crop
from gpuops.ops.crop import CropParams
from gpuops.params.region import Region

from . import tolerance

TOLERANCE = tolerance.COPIED
IDENTITIES: list[CropParams] = []


def reference(x: np.ndarray, colours: int, p: CropParams) -> np.ndarray:  # type: ignore[type-arg]
    """All pixels that the rectangle touches: from the one that holds its first edge to that before its last."""
    spans = []
    for start, length, size in (
        (p.region.y, p.region.height, x.shape[1]),
        (p.region.x, p.region.width, x.shape[2]),
    ):
        first = min(int(start * size // 100), size - 1)
        spans.append(slice(first, max(first + 1, -int(-(start + length) * size // 100))))
    return x[:, spans[0], spans[1]]


def test_rectangles_that_are_not_inside(gpu, clpix, tmp_path) -> None:
    image = gpu.array(np.zeros((1, 4, 6), np.float32))
    with pytest.raises(ParameterError, match="not inside the image of 6 × 4"):
        crop(gpu, image, CropParams(Region(3, 0, 4, 4)))
    assert crop(gpu, image, CropParams(Region(0, 0, 6, 4))) is image
    files.write(tmp_path / "in.png", files.Picture(np.zeros((4, 6, 3), np.uint8)))
    run = clpix("crop", tmp_path / "in.png", "--region", "3,0,4,4", "-o", tmp_path / "out.png")
    assert (run.code, len(run.err.splitlines())) == (1, 1) and not (tmp_path / "out.png").exists()
    run = clpix("crop", tmp_path / "in.png", "-o", tmp_path / "out.png")
    assert run.code == 2 and "--region" in run.err


@pytest.mark.parametrize("name", ["out.jpg", "out.png", "out.tif", "out.webp"])
def test_exif_says_the_new_size(clpix, name, tmp_path) -> None:
    """Pillow writes and reads it. Other tags stay."""
    tags = PIL.Image.Exif()
    tags.get_ifd(0x8769).update({0x829A: (1, 60), 0xA002: 60, 0xA003: 40})
    PIL.Image.new("RGB", (60, 40)).save(tmp_path / "in.jpg", exif=tags.tobytes())
    run = clpix("crop", tmp_path / "in.jpg", "--region", "10,5,33,21", "-o", tmp_path / name)
    assert (run.code, run.err) == (0, "")
    with PIL.Image.open(tmp_path / name) as image:
        found = image.getexif().get_ifd(0x8769)
    assert (image.size, found[0xA002], found[0xA003]) == ((33, 21), 33, 21)
    assert found[0x829A] in ((1, 60), pytest.approx(1 / 60))


@pytest.mark.parametrize("order", "<>")
def test_only_sizes_of_one_number_are_changed(order) -> None:
    """A block by hand: a SHORT, a LONG, and a tag of two numbers, in either byte order; and what is cut off."""
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8)
    zeroth = struct.pack(order + "HHHIII", 1, 0x8769, 4, 1, 26, 0)
    short = struct.pack(order + "HHIHH", 0xA002, 3, 1, 60, 0)

    def block(first: bytes, second: bytes) -> bytes:
        return head + zeroth + struct.pack(order + "H", 2) + first + second + bytes(4)

    def long(tag: int, value: int, count: int = 1) -> bytes:
        return struct.pack(order + "HHII", tag, 4, count, value)

    before = block(short, long(0xA003, 40))
    assert exif.sized(before, 60, 40) == before
    assert exif.sized(before, 70000, 41) == block(long(0xA002, 70000), long(0xA003, 41))
    two = block(short, long(0xA003, 40, count=2))
    assert exif.sized(two, 60, 41) == two
    for length in range(len(before)):
        assert len(exif.sized(before[:length], 1, 1)) == length
