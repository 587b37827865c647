"""TIFF files as other programs write them, against the values that were put into them."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import tifffile

from gpuops.errors import FileError
from gpuops.files import Picture, read

from .choices import each
from .foreign import RATIONAL, SHORT, packed, tiff
from .tolerance import ROUNDINGS

BLACK, WHITE, RGB, PALETTE, INKS, YCBCR = 1, 0, 2, 3, 5, 6
UNSPECIFIED, ASSOCIATED, UNASSOCIATED = 0, 1, 2
EXTRA_SAMPLES, COMPRESSION, JPEG = 338, 259, 7


def read_saying(path: Path) -> tuple[Picture, str]:
    """A picture and the warnings about it, without the file's name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picture = read(path)
    return picture, "; ".join(str(entry.message).removeprefix(f"{path}: ") for entry in caught)


@each(
    dtype=["uint8", "uint16", "float32"],
    planar=["contig", "separate"],
    photometric=["minisblack", "rgb"],
    extra=[(0,), (1,), (2,), (0, 0), (0, 2), (2, 0), (0, 1), (1, 0), (0, 2, 0)],
)
def test_channels_beside_the_colours(photometric, extra, planar, dtype, tmp_path, rng) -> None:
    """The first channel that is said to be alpha is alpha; others are left out and named."""
    colours = 3 if photometric == "rgb" else 1
    most = np.iinfo(dtype).max if dtype != "float32" else 1
    values = rng.uniform(0, 0.25, (6, 7, colours + len(extra)))
    values[..., colours:] += 0.3  # so that no colour exceeds alpha
    values = (values * most).astype(dtype)
    path = tmp_path / "e.tif"
    stored = values if planar == "contig" else np.moveaxis(values, 2, 0)
    tifffile.imwrite(
        path, stored, photometric=photometric, planarconfig=planar, extrasamples=extra, metadata=None
    )
    picture, said = read_saying(path)
    alphas = [colours + i for i, kind in enumerate(extra) if kind != UNSPECIFIED]
    expected = values[..., [*range(colours), *alphas]].astype(np.float64)
    if ASSOCIATED in extra:
        expected[..., :colours] = np.minimum(expected[..., :colours] * most / expected[..., -1:], most)
    assert picture.alpha == bool(alphas) and picture.associated == (ASSOCIATED in extra)
    np.testing.assert_allclose(
        picture.pixels, expected, rtol=ROUNDINGS, atol=0 if dtype == "float32" else 0.5
    )
    left = [str(colours + i + 1) for i, kind in enumerate(extra) if kind == UNSPECIFIED]
    words = f"channel{'s' * (len(left) > 1)} {', '.join(left)} of {values.shape[2]}" if left else ""
    assert said == (f"is read without its {words}, not said to be colour or alpha" if left else "")


def test_channels_of_which_nothing_is_said(tmp_path) -> None:
    path = tmp_path / "n.tif"
    path.write_bytes(tiff(bytes([200, 100, 50, 128]), 1, 1, 4, RGB))
    picture, said = read_saying(path)
    assert picture.pixels.tolist() == [[[200, 100, 50, 128]]] and picture.alpha and not picture.associated
    assert said == "does not say what its channel 4 is; it is taken as alpha"
    path.write_bytes(tiff(bytes([50, 128]), 1, 1, 2, BLACK))
    picture, said = read_saying(path)
    assert picture.pixels.tolist() == [[[50]]]
    assert said == "is read without its channel 2 of 2, not said to be colour or alpha"


def test_palette_with_alpha_is_refused(tmp_path) -> None:
    """The decoder returns a mixture of both."""
    path = tmp_path / "p.tif"
    tags = [(EXTRA_SAMPLES, SHORT, [UNASSOCIATED]), (320, SHORT, [257 * i for i in range(256)] * 3)]
    path.write_bytes(tiff(bytes([5, 255, 9, 128]), 2, 1, 2, PALETTE, tags=tags))
    with pytest.raises(FileError, match="palette with alpha beside it; convert it to RGB first"):
        read(path)


def test_min_is_white_with_associated_alpha_is_inverted_first(tmp_path) -> None:
    path = tmp_path / "w.tif"
    data = bytes([205, 100, 155, 255, 250, 0])
    path.write_bytes(tiff(data, 3, 1, 2, WHITE, tags=[(EXTRA_SAMPLES, SHORT, [ASSOCIATED])]))
    picture = read(path)
    assert picture.pixels.tolist() == [[[128, 100], [100, 255], [5, 0]]]  # 50 · 255 / 100 = 127.5


def test_min_is_white_keeps_straight_alpha(tmp_path) -> None:
    values = np.array([[[3, 7], [0, 65535]]], np.uint16)
    tifffile.imwrite(tmp_path / "w.tif", values, photometric="miniswhite", extrasamples=["unassalpha"])
    assert read(tmp_path / "w.tif").pixels.tolist() == [[[65532, 7], [65535, 65535]]]


@each(bits=[1, 2, 4, 6, 8, 10, 12, 14], channels=[1, 3], photometric=[WHITE, BLACK])
def test_samples_of_few_bits_cover_the_whole_range(bits, channels, photometric, tmp_path) -> None:
    """v of 2^bits − 1 becomes the nearest 8- or 16-bit number, 0 black and the largest white."""
    if photometric == WHITE and channels == 3:
        pytest.skip("white is 0 in gray only")
    most = 2**bits - 1
    values = np.unique(np.linspace(0, most, 600).astype(int))
    values = np.resize(values, -(-len(values) // 24) * 24)  # whole bytes, whole pixels
    path = tmp_path / "b.tif"
    kind = RGB if channels == 3 else photometric
    path.write_bytes(tiff(packed(values, bits), len(values) // channels, 1, channels, kind, bits=bits))
    pixels = read(path).pixels
    assert pixels.dtype == ("uint8" if bits <= 8 else "uint16")
    share = (most - values if photometric == WHITE else values) / most
    assert np.abs(pixels.ravel() - share * np.iinfo(pixels.dtype).max).max() <= 0.5


@pytest.mark.parametrize("bits", [3, 5, 7, 9, 11, 13, 15])
def test_samples_of_odd_bits_are_refused(bits, tmp_path) -> None:
    path = tmp_path / "b.tif"
    path.write_bytes(tiff(bytes(bits), 8, 1, 1, BLACK, bits=bits))
    with pytest.raises(FileError, match=r"of a kind that cannot be read \(Invalid bits.*; convert it first"):
        read(path)


@each(tile=[None, (16, 16)], compression=[None, "zlib"])
def test_planes_in_compressed_strips(compression, tile, tmp_path, rng) -> None:
    values = rng.integers(0, 255, (3, 70, 40), np.uint8)
    options = {"tile": tile} if tile else {"rowsperstrip": 9}
    tifffile.imwrite(
        tmp_path / "p.tif",
        values,
        photometric="rgb",
        planarconfig="separate",
        compression=compression,
        **options,
    )
    assert np.array_equal(read(tmp_path / "p.tif").pixels, np.moveaxis(values, 0, 2))


@each(
    planar=["contig", "separate"],
    compression=[None, "zlib", "zlib", None],
    options=[{"rowsperstrip": 9}, {"rowsperstrip": 9}, {"tile": (16, 16)}, {"tile": (16, 16)}],
    nodata=[0, 7, 7],
)
def test_parts_that_are_not_in_the_file(planar, compression, options, nodata, tmp_path, rng) -> None:
    """The place and size of GDAL's sparse strips and tiles are 0; samples are 0, or what GDAL_NODATA says."""
    values = rng.integers(10, 255, (18, 32, 3), np.uint8)
    stored = values if planar == "contig" else np.moveaxis(values, 2, 0)
    path, tags = tmp_path / "s.tif", [(42113, "s", 0, str(nodata), True)] * bool(nodata)
    kinds = {"photometric": "rgb", "planarconfig": planar, "compression": compression, "metadata": None}
    tifffile.imwrite(path, stored, extratags=tags, **kinds, **options)
    tile = "tile" in options
    with tifffile.TiffFile(path, mode="r+") as file:
        for name in ("TileOffsets", "TileByteCounts") if tile else ("StripOffsets", "StripByteCounts"):
            tag = file.pages[0].tags[name]
            tag.overwrite((tag.value[0], 0, *tag.value[2:]))
    missing = (slice(16), slice(16, 32)) if tile else (slice(9, 18), slice(32))
    values[(*missing, slice(3) if planar == "contig" else 0)] = nodata
    assert np.array_equal(read(path).pixels, values)


@each(compression=["lerc", "lzma", "jpeg2000", "png", "jpegxl"], tile=[None, (32, 16)])
def test_compressions_that_openimageio_lacks(tile, compression, tmp_path, rng) -> None:
    values = rng.integers(0, 65536, (33, 40, 3), np.uint16)
    tifffile.imwrite(tmp_path / "c.tif", values, photometric="rgb", compression=compression, tile=tile)
    assert np.array_equal(read(tmp_path / "c.tif").pixels, values)


def test_stacks_in_one_page_are_said(tmp_path) -> None:
    tifffile.imwrite(tmp_path / "i.tif", np.zeros((6, 4, 5), np.uint16), imagej=True, truncate=True)
    assert "holds 6 pictures in one page; the first is used" in read_saying(tmp_path / "i.tif")[1]


@each(
    luma=[(0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722)],
    reference=[(0, 255, 128, 255, 128, 255), (16, 235, 128, 240, 128, 240)],
)
def test_ycbcr_by_its_own_coefficients(luma, reference, tmp_path, rng) -> None:
    """TIFF 6.0, section 21: R = Cr (2 − 2 Lr) + Y, B = Cb (2 − 2 Lb) + Y, G = (Y − Lb B − Lr R) / Lg."""
    values = rng.integers(60, 190, (5, 6, 3), np.uint8)
    path = tmp_path / "y.tif"
    tags = [(529, RATIONAL, luma), (530, SHORT, [1, 1]), (532, RATIONAL, reference)]
    path.write_bytes(tiff(values.tobytes(), 6, 5, 3, YCBCR, tags=tags))
    stored = values.astype(np.float64)
    y, cb, cr = (
        (stored[..., i] - reference[2 * i]) * (127 if i else 255) / (reference[2 * i + 1] - reference[2 * i])
        for i in range(3)
    )
    r_share, g_share, b_share = luma
    red, blue = cr * (2 - 2 * r_share) + y, cb * (2 - 2 * b_share) + y
    green = (y - b_share * blue - r_share * red) / g_share
    expected = np.clip(np.stack((red, green, blue), 2), 0, 255)
    # libtiff rounds Y, Cb and Cr before they are multiplied by 1.8 at most
    assert np.abs(read(path).pixels - expected).max() <= 3


def test_jpeg_in_tiff_is_decoded_as_jpeg_whatever_the_coefficients_say(tmp_path) -> None:
    """Encoders convert by BT.601, as JFIF says; so all known readers do."""
    import io

    import PIL.Image

    stream = io.BytesIO()
    PIL.Image.new("RGB", (16, 16), (165, 110, 53)).save(stream, "JPEG", quality=100, subsampling=0)
    for luma in ((0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722)):
        tags = [(529, RATIONAL, luma), (530, SHORT, [1, 1]), (COMPRESSION, SHORT, [JPEG])]
        (tmp_path / "j.tif").write_bytes(tiff(stream.getvalue(), 16, 16, 3, YCBCR, tags=tags))
        assert np.abs(read(tmp_path / "j.tif").pixels - np.array([165, 110, 53])).max() <= 2


@pytest.mark.parametrize("tiles", [False, True])
def test_cmyk_jpeg(tiles, tmp_path) -> None:
    """(1 − ink)(1 − black), from one JPEG stream in a strip or in a tile."""
    import io

    import PIL.Image

    inks = np.zeros((16, 32, 4), np.uint8)
    inks[:, 8:16, 0] = inks[:, 16:24, 3] = 255
    inks[:, 24:] = 128, 64, 32, 16
    stream = io.BytesIO()
    # Pillow stores inks inverted, as Adobe does; TIFF's are not.
    PIL.Image.fromarray(255 - inks, "CMYK").save(stream, "JPEG", quality=100, subsampling=0)
    jpeg = stream.getvalue()
    adobe = jpeg.index(b"\xff\xee\x00\x0eAdobe")
    jpeg = jpeg[:adobe] + jpeg[adobe + 16 :]
    tags = [(COMPRESSION, SHORT, [JPEG])]
    if tiles:
        tags += [(322, SHORT, [32]), (323, SHORT, [16]), (325, SHORT, [len(jpeg)])]
    data = tiff(jpeg, 32, 16, 4, INKS, tags=tags)
    if tiles:  # TileOffsets in place of StripOffsets
        position = data.index(b"\x11\x01\x04\x00\x01\x00\x00\x00")
        data = data[:position] + b"\x44\x01" + data[position + 2 :]
    (tmp_path / "c.tif").write_bytes(data)
    picture, said = read_saying(tmp_path / "c.tif")
    assert said == "is CMYK without an ICC profile; colours are taken as (1 − ink)(1 − black) of sRGB"
    expected = (255 - inks[..., :3].astype(float)) * (255 - inks[..., 3:].astype(float)) / 255
    assert np.abs(picture.pixels - expected).max() <= 2


@each(
    kind=[("rgb", 4), ("rgb", 4), ("rgb", 3), ("minisblack", 2), ("minisblack", 2), ("separated", 4)],
    extra=[UNASSOCIATED, ASSOCIATED, None, UNASSOCIATED, UNASSOCIATED, None],
    planar=["separate", "separate", "separate", "contig", "separate", "separate"],
    tile=[None, (32, 32), (32, 32), None, None, (32, 32)],
)
def test_jpeg_of_other_channels(kind, extra, planar, tile, tmp_path) -> None:
    """Colours under alpha are as they are, and inks are inks, also one channel after the other."""
    photometric, channels = kind
    y, x = np.mgrid[:64, :80]
    values = np.stack((x * 2, y * 2, 160 - x * 2, y * 2 + 100), -1).astype(np.uint8)
    values = values[..., [0, 3]] if channels == 2 else values[..., :channels]
    if extra == ASSOCIATED:
        values[..., :3] = np.minimum(values[..., :3], values[..., 3:])
    tifffile.imwrite(
        tmp_path / "j.tif",
        values if planar == "contig" else np.moveaxis(values, 2, 0).copy(),
        photometric=photometric, planarconfig=planar, compression="jpeg", tile=tile, metadata=None,
        compressionargs={"level": 100}, extrasamples=None if extra is None else [extra],
    )  # fmt: skip
    pixels = read_saying(tmp_path / "j.tif")[0].pixels
    expected = values.astype(float)
    if photometric == "separated":
        expected = (255 - expected[..., :3]) * (255 - expected[..., 3:]) / 255
    if extra == ASSOCIATED:
        expected[..., :3] *= 255 / expected[..., 3:]
    assert pixels.shape == expected.shape and np.abs(pixels - expected).max() <= 4
