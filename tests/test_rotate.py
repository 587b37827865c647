"""Turned images against numpy's and Pillow's, and by other angles against Keys' kernel in double."""

import struct

import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest

from gpuops import ParameterError, files
from gpuops.files import exif
from gpuops.ops.rotate import OPERATION as rotate
from gpuops.ops.rotate import RotateParams

from . import tolerance
from .choices import thinned

TOLERANCE = tolerance.ROTATE
IDENTITIES = [RotateParams(0), RotateParams(360), RotateParams(-360, expand=False)]


def keys(t: np.ndarray) -> np.ndarray:
    """The weight of a sample at distance ``t``: Keys 1981, equation (15), with a = −1/2."""
    t = np.abs(t)
    inner = 1.5 * t**3 - 2.5 * t**2 + 1
    return np.where(t <= 1, inner, np.where(t < 2, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2, 0))


def reference(x: np.ndarray, colours: int, p: RotateParams) -> np.ndarray:
    if p.angle is None:
        return x
    if p.angle % 90 == 0:
        return np.rot90(x, -int(p.angle // 90), axes=(1, 2))  # numpy's turns are counter-clockwise
    height, width = size = x.shape[1:]
    angle = np.radians(p.angle)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])  # of (y, x), clockwise
    if p.expand:
        corners = turn @ (np.array([[0, 0, 1, 1], [0, 1, 0, 1]]) * np.reshape(size, (2, 1)))
        size = tuple(np.ceil(np.ptp(corners, axis=1) - 1e-6).astype(int))
    places = np.moveaxis(np.indices(size), 0, -1) - (np.array(size) - 1) / 2
    places = places @ turn + (np.array([height, width]) - 1) / 2  # a turn's inverse is its transpose
    outside = 0 if x.shape[0] > colours else p.background
    padded = np.pad(x, ((0, 0), (4, 4), (4, 4)), constant_values=outside)
    taps = np.arange(-1, 3)
    y, x_ = (np.floor(places[..., k]).astype(int)[..., None] + taps for k in range(2))
    row, column = np.clip(y + 4, 0, height + 7), np.clip(x_ + 4, 0, width + 7)
    values = padded[:, row[..., :, None], column[..., None, :]]  # 4 × 4 around each place
    weights_y, weights_x = keys(places[..., :1] - y), keys(places[..., 1:] - x_)
    down = np.einsum("cyxij,yxi->cyxj", values, weights_y).clip(values.min(axis=-2), values.max(axis=-2))
    return np.einsum("cyxj,yxj->cyx", down, weights_x).clip(down.min(axis=-1), down.max(axis=-1))


def test_it_turns_clockwise_about_the_centre(gpu) -> None:
    """Where light grows steadily to the right, it grows down after a quarter turn; cubics keep straight lines."""
    y, x = np.mgrid[:40, :60].astype(np.float32)
    image = gpu.array(np.stack([x, y]))
    for angle in (20, -50, 89.99):
        across, down = rotate(gpu, image, RotateParams(angle, expand=False)).numpy()[:, 20, 25:35]
        dx, dy = np.arange(25, 35) - 29.5, 0.5
        c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        np.testing.assert_allclose(across, 29.5 + dx * c + dy * s, rtol=0, atol=tolerance.ROUNDINGS * 59)
        np.testing.assert_allclose(down, 19.5 - dx * s + dy * c, rtol=0, atol=tolerance.ROUNDINGS * 59)


def test_what_is_not_finite_reaches_two_pixels(gpu) -> None:
    x = np.ones((1, 21, 21), np.float32)
    x[0, 10, 10] = np.nan
    result = rotate(gpu, gpu.array(x), RotateParams(45, expand=False, background=1)).numpy()[0]
    y, x_ = np.nonzero(np.isnan(result))
    assert 8 <= len(y) <= 16 and np.hypot(y - 10, x_ - 10).max() <= 2 * np.sqrt(2)
    np.testing.assert_array_equal(result[~np.isnan(result)], 1)


def test_the_outside_is_transparent_or_the_background(clpix, rng, tmp_path) -> None:
    """A white picture stays white, whatever its alpha; its corners are not covered."""
    for channels, corner in ((4, (0, 0, 0, 0)), (3, (255, 255, 255))):
        x = np.full((30, 50, channels), 255, np.uint8)
        files.write(tmp_path / "in.png", files.Picture(x, alpha=channels == 4), overwrite=True)
        options = ("--angle", 10, "--background", 1, "--overwrite", "-o", tmp_path / "out.png")
        run = clpix("rotate", tmp_path / "in.png", *options)
        assert (run.code, run.err) == (0, "")
        result = files.read(tmp_path / "out.png").pixels
        assert result.shape == (39, 55, channels)
        np.testing.assert_array_equal(result[0, -1], corner)
        seen = result[..., -1] > 0
        np.testing.assert_array_equal(result[..., :3][seen], 255)
        assert channels == 3 or abs(result[..., 3].sum() / 255 - 1500) < 2  # its area stays


@pytest.mark.parametrize(
    ("orientation", "name"),
    thinned([(k, ("out.png", "out.tif", "out.webp", "out.jpg")[k % 4]) for k in range(1, 9)], 3, arguments=2),
)
def test_auto_orient(clpix, rng, orientation, name, tmp_path) -> None:
    """A JPEG file of Pillow's, against what Pillow makes of it; other tags stay, and XMP says no other orientation."""
    tags = PIL.Image.Exif()
    tags[0x0112], tags[0x010F] = orientation, "Maker"
    tags.get_ifd(0x8769).update({0xA002: 48, 0xA003: 32})
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    xmp += b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="%d"/></rdf:RDF>'
    xmp = xmp % orientation + b"</x:xmpmeta>"
    blocks = rng.integers(0, 256, (4, 6, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1)
    PIL.Image.fromarray(blocks).save(tmp_path / "in.jpg", exif=tags.tobytes(), xmp=xmp, quality=95)
    run = clpix("rotate", tmp_path / "in.jpg", "--auto-orient", "-o", tmp_path / name)
    assert (run.code, run.err) == (0, "")
    with PIL.Image.open(tmp_path / "in.jpg") as image:
        expected = np.asarray(PIL.ImageOps.exif_transpose(image))
    metadata = files.read(tmp_path / name).metadata
    assert metadata.orientation == 1 and b'tiff:Orientation="1"' in (metadata.xmp or b"")
    with PIL.Image.open(tmp_path / name) as image:
        found, result = image.getexif(), np.asarray(image)
    assert found[0x010F] == "Maker" and found.get(0x0112, 1) == 1
    height, width = expected.shape[:2]
    assert (found.get_ifd(0x8769)[0xA002], found.get_ifd(0x8769)[0xA003]) == (width, height)
    if name in ("out.png", "out.tif"):
        np.testing.assert_array_equal(result, expected)
    else:
        assert result.shape == expected.shape and abs(result - expected.astype(float)).mean() < 20


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", [3, 4])
def test_an_orientation_is_changed_in_its_place(order, kind) -> None:
    """A block by hand: a SHORT, or a LONG as some programs write it, in either byte order; and what is cut off."""

    def block(kind: int, value: int) -> bytes:
        head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HIH", 42, 8, 1)
        values = struct.pack(order + ("HH" if kind == 3 else "I"), *((value, 0)[: 5 - kind]))
        return head + struct.pack(order + "HHI", 0x0112, kind, 1) + values + bytes(4)

    before = block(kind, 8)
    assert exif.orientation(before) == 8 and exif.oriented(before, 8) == before
    assert exif.oriented(before, 1) == block(3, 1)
    for length in range(len(before)):
        assert len(exif.oriented(before[:length], 1)) == length


def test_an_angle_and_an_axis_leave_the_orientation(clpix, tmp_path) -> None:
    tags = PIL.Image.Exif()
    tags[0x0112] = 6
    PIL.Image.new("RGB", (60, 40)).save(tmp_path / "in.jpg", exif=tags.tobytes())
    for command in (("rotate", "--angle", 90), ("rotate", "--angle", 10), ("flip", "--axis", "vertical")):
        run = clpix(command[0], tmp_path / "in.jpg", *command[1:], "-o", tmp_path / "out.jpg", "--overwrite")
        assert (run.code, run.err) == (0, "")
        assert files.read(tmp_path / "out.jpg").metadata.orientation == 6


def test_orientations_in_memory(gpu, rng) -> None:
    """What is no orientation is upright."""
    for orientation in (None, 0, 1, 9):
        image = gpu.array(rng.random((2, 5, 7), np.float32))
        image.orientation = orientation
        assert rotate(gpu, image, RotateParams(auto_orient=True)) is image
    image.orientation = 5
    result = rotate(gpu, image, RotateParams(auto_orient=True))
    assert (image.orientation, result.orientation) == (5, 1)
    np.testing.assert_array_equal(result.numpy(), image.numpy().transpose(0, 2, 1))


def test_one_of_two_is_needed(clpix, tmp_path) -> None:
    for given in ((), ("--angle", 90, "--auto-orient")):
        run = clpix("rotate", tmp_path / "in.png", *given, "-o", tmp_path / "out.png")
        assert run.code == 2 and len(run.err.splitlines()) == 1
        assert "either an angle or auto-orient: give one of the two" in run.err
    with pytest.raises(ParameterError, match="give one of the two"):
        RotateParams()
