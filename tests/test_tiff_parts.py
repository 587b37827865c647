"""Strips and tiles of TIFF that are not whole: one line says so, whatever their compression, and no pixels are made up.

Files are written by tifffile, and cut here.
"""

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
import tifffile

from gpuops.errors import FileError
from gpuops.files import Picture, read, strips

from .choices import some
from .conftest import in_blocks
from .foreign import SHORT, tiff

pytest.importorskip("imagecodecs")

YCBCR = 6
#: How many bytes of a last strip or tile are missing.
MISSING = (1, 2, 4, 9, 30, 0.25, 0.5, 0.98)
BYTES = ("lzw", "zlib", "packbits")
#: The compressions of each kind of samples: those that OpenImageIO reads of it, and those of others.
KINDS = {
    "rgb": ("uint8", "rgb", 3, (*BYTES, "jpeg", "webp", "zstd", "lzma", "lerc", "jpeg2000", "png", "jpegxl")),
    "gray": ("uint8", "minisblack", 1, (*BYTES, "jpeg")),
    "ycbcr": ("uint8", "ycbcr", 3, ("jpeg", *BYTES)),
    "cmyk": ("uint8", "separated", 4, (*BYTES, "jpeg", "zstd", "lzma", "lerc", "jpeg2000", "png", "jpegxl")),
    "counts": ("int16", "minisblack", 1, (None, *BYTES, "zstd", "lzma", "lerc", "jpeg2000")),
    "masks": ("uint32", "minisblack", 1, (None, *BYTES, "zstd", "lzma", "lerc", "jpeg2000")),
    "doubles": ("float64", "minisblack", 1, (None, *BYTES, "zstd", "lzma", "lerc")),
    "lab": ("uint8", "cielab", 3, (None, *BYTES, "jpeg", "jpeg2000", "png", "jpegxl", "webp")),
    "icclab": ("uint8", "icclab", 3, (None, *BYTES, "jpeg", "zstd", "lzma", "lerc", "jpeg2000", "jpegxl")),
}
CASES = [(kind, compression) for kind, (*_, several) in KINDS.items() for compression in several]


def written(path: Path, kind: str, compression: str | None, *, tile: bool) -> bytes:
    """A file of 96 rows of 80 pixels in strips of 32 rows, or in tiles; the pixels are its last bytes."""
    dtype, photometric, channels, _ = KINDS[kind]
    y, x = np.mgrid[:96, :80] / 96
    shades = np.stack((x, y, (x + y) / 2, x * y), -1)[..., :channels] * 200
    values = (shades + np.random.default_rng(3).random(shades.shape) * 30).astype(dtype)
    layout = {"tile": (32, 48)} if tile else {"rowsperstrip": 32}
    tifffile.imwrite(
        path, values.squeeze(), photometric=photometric, compression=compression, metadata=None, **layout
    )
    return path.read_bytes()


def places(path: Path) -> list[tuple[int, int]]:
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        return [*zip(page.dataoffsets, page.databytecounts, strict=True)]


def with_size(path: Path, index: int, size: int) -> None:
    """Says that a strip or tile has so many bytes."""
    with tifffile.TiffFile(path, mode="r+") as file:
        tag = file.pages[0].tags.get("TileByteCounts") or file.pages[0].tags["StripByteCounts"]
        tag.overwrite((*tag.value[:index], size, *tag.value[index + 1 :]))


def outcome(path: Path) -> Picture | None:
    """A picture, or None of a file that is refused in one line."""
    try:
        with warnings.catch_warnings():  # of a white that is not said, and of rounded doubles
            warnings.simplefilter("ignore")
            return read(path)
    except FileError as error:
        assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        return None


@some(case=CASES, tile=[False, True])
def test_parts_that_are_cut_off(case, tile, tmp_path) -> None:
    """Either all pixels are there, as where the end of the file is a checksum of theirs; or the file is refused."""
    path = tmp_path / "a.tif"
    data = written(path, *case, tile=tile)
    good, parts = outcome(path), places(path)
    assert good is not None
    for missing in MISSING:
        start, size = parts[-1]
        count = missing if missing >= 1 else int(size * missing)
        path.write_bytes(data[: start + size - count])
        cut = outcome(path)
        assert cut is None or (count < 64 and np.array_equal(cut.pixels, good.pixels))
        if case[1] in ("lzw", "zlib"):  # which have to be cut where OpenImageIO does not know their end
            continue
        path.write_bytes(data)
        with_size(path, 0, parts[0][1] - min(count, parts[0][1] // 2))
        cut = outcome(path)
        assert cut is None or (count < 64 and np.array_equal(cut.pixels, good.pixels))
    path.write_bytes(data)
    with_size(path, 0, 0)  # though the directory says where it begins
    assert outcome(path) is None


@pytest.mark.parametrize("kind", ["cmyk", "rgb", "gray"])
def test_large_jpeg_by_rows(kind, tmp_path) -> None:
    path = tmp_path / "a.tif"
    data = written(path, kind, "jpeg", tile=False)
    path.write_bytes(data[:-100])
    with pytest.MonkeyPatch.context() as patch, pytest.raises(FileError, match="strip or tile 3 of 3"):
        in_blocks(patch, 3000)
        opened = strips.open_rows(str(path), None, 3000)
        assert opened is not None
        [*opened.rows(8)]


@pytest.mark.parametrize("kind", ["cmyk", "rgb"])
@pytest.mark.parametrize("size", [(32, 81), (200, 80), (31, 80)])
def test_jpeg_of_another_size(kind, size, tmp_path) -> None:
    """The frame's header says the height and the width (ITU-T T.81, B.2.2)."""
    path = tmp_path / "a.tif"
    data = bytearray(written(path, kind, "jpeg", tile=False))
    frame = data.index(b"\xff\xc0")
    assert data[frame + 5 : frame + 9] == struct.pack(">2H", 32, 80)
    data[frame + 5 : frame + 9] = struct.pack(">2H", *size)
    path.write_bytes(data)
    assert outcome(path) is None


@pytest.mark.parametrize(("kind", "compression"), [("cmyk", "jpeg"), ("ycbcr", "zlib")])
def test_more_pixels_than_bytes_can_hold(kind, compression, tmp_path) -> None:
    """A directory, and the frame's header, that claim 20,000 by 20,000 pixels in one strip."""
    written(tmp_path / "a.tif", kind, compression, tile=False)
    start, size = places(tmp_path / "a.tif")[0]
    data = bytearray((tmp_path / "a.tif").read_bytes()[start : start + size])
    if compression == "jpeg":
        frame = data.index(b"\xff\xc0")
        data[frame + 5 : frame + 9] = struct.pack(">2H", 20_000, 20_000)
    tags = [(259, SHORT, [7 if compression == "jpeg" else 8]), (530, SHORT, [1, 1])]
    photometric, channels = (5, 4) if kind == "cmyk" else (YCBCR, 3)
    path = tmp_path / "b.tif"
    path.write_bytes(tiff(bytes(data), 20_000, 20_000, channels, photometric, tags=tags))
    assert outcome(path) is None


@pytest.mark.parametrize("subsampling", [(1, 1), (2, 1), (2, 2), (4, 2)])
def test_ycbcr_has_all_samples(subsampling, tmp_path) -> None:
    """TIFF 6.0, section 21: a block of pixels has the brightness of each, and two more samples."""
    across, down = subsampling
    blocks = -(-10 // across) * -(-7 // down)
    block = bytes([90] * across * down + [128, 128])
    path, tags = tmp_path / "a.tif", [(530, SHORT, subsampling)]
    path.write_bytes(tiff(block * blocks, 10, 7, 3, YCBCR, tags=tags))
    np.testing.assert_array_equal(read(path).pixels, np.full((7, 10, 3), 90))
    for data in (block * (blocks - 1), (block * blocks)[:-1]):
        path.write_bytes(tiff(data, 10, 7, 3, YCBCR, tags=tags))
        assert outcome(path) is None


@pytest.mark.parametrize(("kind", "compression"), [("lab", "jpegxr"), ("ycbcr", "png")])
def test_compressions_whose_decoders_tell_nothing(kind, compression, tmp_path) -> None:
    path = tmp_path / "a.tif"
    written(path, kind, compression, tile=False)
    with pytest.raises(FileError, match="is of a kind that cannot be read"):
        read(path)
