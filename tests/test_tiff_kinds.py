"""LogLuv and JPEG of 12 bits in TIFF, of files written here bit by bit, against the formulas of their sources."""

import itertools
import struct
from contextlib import suppress

import numpy as np
import pytest
import tifffile

from gpuops import GpuopsWarning
from gpuops.errors import FileError
from gpuops.files import NeedsWholeFile, read, strips

from .choices import each, pairs
from .conftest import in_blocks
from .foreign import LONG, SHORT, tiff

pytest.importorskip("imagecodecs")

LOGL, LOGLUV, SGILOG, SGILOG24 = 32844, 32845, 34676, 34677
COMPRESSION = 259


# LogLuv: Greg Ward Larson, LogLuv encoding for full gamut, high-dynamic range images, 1998 --------------------------


def in_runs(values: bytes) -> bytes:
    """Bytes above 127 say that the next one comes 126 times less often; others how many bytes follow."""
    packed = b""
    for value, same in itertools.groupby(values):
        count = len([*same])
        packed += bytes((126 + count, value)) if 1 < count < 130 else bytes((1, value)) * count
    return packed


def packed(codes: np.ndarray, compression: int) -> bytes:
    """Some rows of codes of 16 or 32 bits by bytes of the same place, or of 24 bits as they are."""
    if compression == SGILOG24:
        return b"".join(int(code).to_bytes(3, "big") for code in codes.ravel())
    planes = codes[..., None].astype(codes.dtype.newbyteorder(">")).view(np.uint8)
    return b"".join(in_runs(plane.tobytes()) for row in planes for plane in row.T)


def logluv(path, pages, compression=SGILOG, *, tile=None, more=None, **options) -> None:
    """A file of pages of codes: of 16 bits gray, else colours; in strips of 4 rows, or in tiles."""
    grays = [codes.dtype == np.uint16 for codes in pages]
    with tifffile.TiffWriter(path, **options) as file:
        for codes, gray in zip(pages, grays, strict=True):
            height, width = codes.shape
            down, across = tile or (4, width)
            padded = np.pad(codes, ((0, -height % down if tile else 0), (0, -width % across)))
            parts = [
                packed(padded[y : y + down, x : x + across], compression)
                for y in range(0, height, down)
                for x in range(0, width, across)
            ]
            kind, shape = ("minisblack", (height, width)) if gray else ("rgb", (height, width, 3))
            layout = {"tile": tile} if tile else {"rowsperstrip": 4}
            file.write(
                iter(parts), shape=shape, dtype="int16", photometric=kind, compression="packbits", metadata=None,
                software=False, **layout, **(more or {}),
            )  # fmt: skip
    with tifffile.TiffFile(path, mode="r+") as file:
        for page, gray in zip(file.pages, grays, strict=True):
            page.tags["Compression"].overwrite(compression)
            page.tags["PhotometricInterpretation"].overwrite(LOGL if gray else LOGLUV)


def light_of(luminance: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rec. 709 light whose white is that of equal energy."""
    xyz = (
        np.stack((9 * u / (4 * v), np.ones_like(u), (12 - 3 * u - 20 * v) / (4 * v)), -1)
        * luminance[..., None]
    )
    primaries = np.array([[0.64, 0.33, 0.03], [0.3, 0.6, 0.1], [0.15, 0.06, 0.79]]).T
    return xyz @ np.linalg.inv(primaries * np.linalg.solve(primaries, np.ones(3))).T


def luminance(code: np.ndarray) -> np.ndarray:
    return np.where(code == 0, 0, 2 ** ((code + 0.5) / 256 - 64))


def close(values: np.ndarray, expected: np.ndarray) -> None:
    """Equal but for what floats lose of the brightest channel."""
    assert values.shape == expected.shape and values.dtype == np.float32
    most = np.abs(expected).max(-1, keepdims=True)
    assert np.all(np.abs(values - expected) <= 2e-6 * most)


@each(tile=[None, (16, 16)], byteorder=["<", ">"], bigtiff=[False, True], layer=[None, 1])
def test_logluv(clpix, tmp_path, rng, tile, byteorder, bigtiff, layer) -> None:
    pages = [rng.integers(0, 1 << 31, (21, 37)).astype(np.uint32) for _ in range(2)]
    for page in pages:
        page[3:9, 4:30] = page[3, 4]
        page[5, 5:9] &= 0xFFFF
    logluv(tmp_path / "in.tif", pages, tile=tile, byteorder=byteorder, bigtiff=bigtiff)
    chosen = [] if layer is None else ["--layer", layer]
    run = clpix("flip", tmp_path / "in.tif", *chosen, "--axis", "vertical", "-o", tmp_path / "out.npy")
    assert run.code == 0 and run.err.count("\n") == run.err.count("holds 2 pages") == (layer is None)
    codes = pages[layer or 0][::-1]
    expected = light_of(luminance(codes >> 16), *(((codes >> k & 255) + 0.5) / 410 for k in (8, 0)))
    close(np.load(tmp_path / "out.npy"), expected)
    assert "TIFF, 37 × 21, RGB, float, linear light" in clpix("info", tmp_path / "in.tif").out


@pytest.mark.parametrize("tile", [None, (16, 16)])
def test_logl(tmp_path, rng, tile) -> None:
    codes = np.append([0, 1, 0x7FFF, 0x8001, 0xFFFF], rng.integers(0, 1 << 16, 15 * 31 - 5))
    codes = codes.astype(np.uint16).reshape(15, 31)
    logluv(tmp_path / "a.tif", [codes], tile=tile)
    expected = luminance(codes & 0x7FFF) * np.where(codes >> 15, -1, 1)
    result = read(tmp_path / "a.tif")
    close(result.pixels, expected[..., None])
    assert result.linear and not result.assumed and result.channels == 1


def test_logluv_of_24_bits(tmp_path) -> None:
    """10 bits of a logarithm, and the number of a square of 0.0035 in the diagram, by rows from v' = 0.01694 on."""
    last = 16288
    codes = (np.arange(1 << 14, dtype=np.uint32) | 512 << 14).reshape(128, 128)
    codes[-1, -1] = 7  # as dark as can be
    logluv(tmp_path / "a.tif", [codes], SGILOG24)
    light = read(tmp_path / "a.tif").pixels.reshape(-1, 3).astype(np.float64)
    assert not light[-1].any()
    primaries = np.array([[0.64, 0.33, 0.03], [0.3, 0.6, 0.1], [0.15, 0.06, 0.79]]).T
    x, y, z = (light[:-1] @ (primaries * np.linalg.solve(primaries, np.ones(3))).T).T
    np.testing.assert_allclose(y, 2 ** ((512 + 0.5) / 64 - 12), rtol=1e-5)
    u, v = (4 * x, 9 * y) / (x + 15 * y + 3 * z)
    np.testing.assert_allclose(u[last + 1 :], 4 / 19, atol=1e-5)  # there are no such squares: white
    np.testing.assert_allclose(v[last + 1 :], 9 / 19, atol=1e-5)
    u, v = u[: last + 1], v[: last + 1]
    row = (v - 0.01694) / 0.0035 - 0.5
    assert np.abs(row - np.rint(row)).max() < 0.01
    steps = np.diff(np.rint(row))
    assert {*steps} == {0, 1} and np.rint(row[[0, -1]]).tolist() == [0, 162]
    np.testing.assert_allclose(np.diff(u)[steps == 0], 0.0035, atol=2e-5)
    # the squares cover what can be seen: CIE 15, x and y of 460, 500, 520, 560, 600 and 680 nm
    for a, b in (
        (0.144, 0.0297),
        (0.0082, 0.5384),
        (0.0743, 0.8338),
        (0.3731, 0.6245),
        (0.627, 0.3725),
        (0.7334, 0.2666),
    ):
        there = np.array((4 * a, 9 * b)) / (12 * b - 2 * a + 3)
        assert np.hypot(u - there[0], v - there[1]).min() < 0.0035
        white = np.array((4, 9)) / 19
        beyond = there + 0.02 * (there - white) / np.hypot(*(there - white))
        assert np.hypot(u - beyond[0], v - beyond[1]).min() > 0.005


def test_logluv_needs_the_whole_file(clpix, tmp_path, rng) -> None:
    path = tmp_path / "a.tif"
    logluv(path, [rng.integers(0, 1 << 31, (64, 64)).astype(np.uint32)])
    with pytest.raises(NeedsWholeFile, match="is LogLuv") as caught:
        strips.open_rows(str(path), None, 1000)
    assert caught.value.pixels.shape == (64, 64, 3) and caught.value.pixels.dtype == np.float32
    assert strips.open_rows(str(path), None, 10**6) is None


@pytest.mark.parametrize("scale", [1.0, 179.0])
def test_what_logluv_says_of_light(clpix, tmp_path, scale) -> None:
    """StoNits is a factor for cd/m², which is named unless it is 1; neither it nor a white goes to another file."""
    codes = np.full((4, 4), 0x40005080, np.uint32)
    path = tmp_path / "a.tif"
    tags = [(37439, 12, 1, scale, True), (318, 5, 2, (1, 3, 1, 3), True), (33550, 12, 3, (1, 1, 0), True)]
    more = {"resolution": (300, 300), "resolutionunit": "inch", "description": "A lake", "extratags": tags}
    logluv(path, [codes], more=more)
    run = clpix("convert", path, "-o", tmp_path / "b.tif")
    assert run.code == 0
    assert run.err == (
        f"clpix: warning: {path}: is read without its scale to cd/m² (179)\n" if scale != 1 else ""
    )
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        tags = file.pages[0].tags
        assert not {37439, 318} & {tag.code for tag in tags}
        assert (tags[270].value, tags[282].value, tags[296].value) == ("A lake", (300, 1), 2)
    assert "linear light" in clpix("info", path).out


@pytest.mark.parametrize(
    ("photometric", "channels", "bits", "compression", "words"),
    [
        (LOGLUV, 4, 16, SGILOG, "LogLuv of 4 channels"), (LOGLUV, 1, 16, SGILOG, "LogLuv of 1 channels"),
        (LOGL, 3, 16, SGILOG, "LogLuv of 3 channels"), (LOGLUV, 3, 16, 1, "of compression 1;"),
        (LOGL, 1, 8, SGILOG, "LogLuv of uint8"), (LOGL, 1, 32, SGILOG, "cannot be read"),
    ],
)  # fmt: skip
def test_refused_logluv(tmp_path, photometric, channels, bits, compression, words) -> None:
    data = packed(np.zeros((4, 4), np.uint32), SGILOG)
    path = tmp_path / "a.tif"
    path.write_bytes(
        tiff(data, 4, 4, channels, photometric, bits=bits, tags=[(COMPRESSION, SHORT, [compression])])
    )
    with pytest.raises(FileError, match=words):
        read(path)


def test_damaged_logluv(tmp_path, rng) -> None:
    codes = rng.integers(0, 1 << 31, (8, 40)).astype(np.uint32)
    data, tags = packed(codes, SGILOG), [(COMPRESSION, SHORT, [SGILOG])]
    path = tmp_path / "a.tif"
    good = tiff(data, 40, 8, 3, LOGLUV, bits=16, tags=tags)
    for damaged in (
        good[:-1], good[:-400], tiff(data, 40, 9, 3, LOGLUV, bits=16, tags=tags),
        tiff(data, 50_000, 60_000, 3, LOGLUV, bits=16, tags=tags), tiff(data, 0, 8, 3, LOGLUV, bits=16, tags=tags),
        tiff(data, 2**32 - 1, 1, 3, LOGLUV, bits=16, tags=tags),
        tiff(data, 2**31 - 1, 1, 3, LOGLUV, bits=16, tags=tags),
        tiff(data, 40, 8, 3, LOGLUV, bits=16, tags=[*tags, (279, LONG, [len(data) // 2])]),
    ):  # fmt: skip
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"a\.tif: "):
            read(path)
    some = bytearray(good)
    for _ in range(200):
        some[:] = good
        for at in rng.integers(4, len(good), 3):
            some[at] = rng.integers(256)
        path.write_bytes(some)
        with suppress(FileError):
            assert read(path).channels in (1, 3)


# JPEG of 12 bits: ITU-R T.81, annexes A, B and F -------------------------------------------------------------------

ZIGZAG = sorted(range(64), key=lambda k: (sum(divmod(k, 8)), (k // 8 if sum(divmod(k, 8)) % 2 else k % 8)))
#: Codes of five bits for the sizes of differences of means, and of eight for runs and sizes of all else.
RUNS = [0, 0xF0, *(run << 4 | size for run in range(16) for size in range(1, 15))]


def segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


TABLES = (
    segment(0xDB, bytes([0, *[1] * 64]))
    + segment(0xC4, bytes([0, *[0] * 4, 16, *[0] * 11, *range(16)]))
    + segment(0xC4, bytes([0x10, *[0] * 7, len(RUNS), *[0] * 8, *RUNS]))
)


TABLES_ALONE = b"\xff\xd8" + TABLES + b"\xff\xd9"


def number(value: int) -> str:
    """The bits of a number of a known size."""
    size = abs(value).bit_length()
    return f"{value if value > 0 else value + (1 << size) - 1:0{size}b}" if size else ""


def jpeg(
    coefficients: np.ndarray, height: int, width: int, *, tables: bytes = TABLES, bits: int = 12
) -> bytes:
    """A picture of whole coefficients (rows of blocks, columns of blocks, channels, 8, 8)."""
    channels = coefficients.shape[2]
    last, stream = [0] * channels, ""
    for block in coefficients.reshape(-1, channels, 64):
        for i, values in enumerate(block[:, ZIGZAG].tolist()):
            step, last[i] = values[0] - last[i], values[0]
            stream += f"{abs(step).bit_length():05b}" + number(step)
            zeros = 0
            for value in values[1:]:
                if value == 0:
                    zeros += 1
                    continue
                stream += f"{1:08b}" * (zeros // 16)
                stream += f"{RUNS.index(zeros % 16 << 4 | abs(value).bit_length()):08b}" + number(value)
                zeros = 0
            stream += f"{0:08b}" * (zeros > 0)
    stream += "1" * (-len(stream) % 8)
    data = int(stream, 2).to_bytes(len(stream) // 8, "big").replace(b"\xff", b"\xff\0")
    parts = bytes(byte for i in range(channels) for byte in (i + 1, 0x11, 0))
    scan = bytes([channels, *(byte for i in range(channels) for byte in (i + 1, 0)), 0, 63, 0])
    frame = segment(0xC1, struct.pack(">BHHB", bits, height, width, channels) + parts)
    return b"\xff\xd8" + tables + frame + segment(0xDA, scan) + data + b"\xff\xd9"


def samples(coefficients: np.ndarray) -> np.ndarray:
    """The samples (rows, columns, channels) of coefficients."""
    k, x = np.mgrid[0:8, 0:8]
    cosines = np.cos((2 * x + 1) * k * np.pi / 16) * np.where(k == 0, np.sqrt(1 / 8), 0.5)
    blocks = cosines.T @ coefficients @ cosines + 2048
    down, across, channels = blocks.shape[:3]
    return blocks.transpose(0, 3, 1, 4, 2).reshape(8 * down, 8 * across, channels)


def of_12_bits(path, coefficients, kind, *, tile=False, shared=False, pages=1) -> None:
    """A file of the same pages of 24 rows and 40 columns: in strips of 16 rows, or in tiles of 16 by 16."""
    channels = coefficients.shape[2]
    tables = b"" if shared else TABLES
    upper, lower = coefficients[:2], coefficients[2:]
    if tile:
        parts = [
            jpeg(half[:, i : i + 2], 16, 16, tables=tables) for half in (upper, lower) for i in (0, 2, 4)
        ]
    else:
        parts = [jpeg(upper[:, :5], 16, 40, tables=tables), jpeg(lower[:1, :5], 8, 40, tables=tables)]
    with tifffile.TiffWriter(path) as file:
        for _ in range(pages):
            file.write(
                iter(parts), shape=(24, 40, channels)[: 2 + (channels > 1)], dtype="uint16", bitspersample=12,
                photometric="rgb" if kind == "ycbcr" else kind, compression=7, metadata=None, software=False,
                compressionargs=None if kind == "ycbcr" else {"outcolorspace": "rgb"},
                jpegtables=TABLES_ALONE if shared else None,
                **({"tile": (16, 16)} if tile else {"rowsperstrip": 16}),
            )  # fmt: skip


@pytest.fixture
def coefficients(rng) -> np.ndarray:
    """Those of 4 by 6 blocks, most of which are 0."""
    made = np.where(rng.random((4, 6, 3, 8, 8)) < 0.15, rng.integers(-300, 300, (4, 6, 3, 8, 8)), 0)
    made[..., 0, 0] = rng.integers(-9000, 9000, (4, 6, 3))
    made[0, 0, :, 7, 7] = 90  # behind runs of more than 16 zeros
    return made


@pytest.mark.parametrize(
    ("kind", "tile", "shared", "by_rows"),
    pairs(["minisblack", "miniswhite", "rgb", "ycbcr"], [False, True], [False, True], [False, True]),
)
def test_jpeg_of_12_bits(clpix, tmp_path, coefficients, kind, tile, shared, by_rows) -> None:
    coefficients = coefficients[:, :, : 1 if kind.startswith("min") else 3]
    path, made = tmp_path / "in.tif", tmp_path / "out.npy"
    of_12_bits(path, coefficients, kind, tile=tile, shared=shared)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 3000)
        run = clpix("flip", path, "--axis", "vertical", "-o", made)
    assert (run.code, run.err) == (0, "")
    stored = samples(coefficients)[:24, :40]
    if kind == "ycbcr":  # ITU-T T.871, section 7
        y, b, r = np.moveaxis(np.clip(np.rint(stored), 0, 4095) - [0, 2048, 2048], -1, 0)
        stored = np.stack((y + 1.402 * r, y - 0.344136 * b - 0.714136 * r, y + 1.772 * b), -1)
    expected = np.clip(stored if kind != "miniswhite" else 4095 - stored, 0, 4095)
    pixels = np.load(made)[::-1].reshape(expected.shape)
    values = np.rint(pixels * (4095 / 65535))
    np.testing.assert_array_equal(pixels, np.rint(values * (65535 / 4095)))
    assert pixels.dtype == np.uint16 and np.abs(values - expected).max() <= (3 if kind == "ycbcr" else 1)


def test_pages_of_jpeg_of_12_bits(clpix, tmp_path, coefficients) -> None:
    """The library that counts pages opens none of gray."""
    of_12_bits(tmp_path / "a.tif", coefficients[:, :, :1], "minisblack", shared=True, pages=3)
    assert "layers 0, 1, 2; this is 0" in clpix("info", tmp_path / "a.tif").out
    run = clpix("flip", tmp_path / "a.tif", "--layer", "2", "--axis", "both", "-o", tmp_path / "b.png")
    assert (run.code, run.err) == (0, "")
    pixels = read(tmp_path / "b.png").pixels
    np.testing.assert_array_equal(pixels, read(tmp_path / "a.tif", layer=1).pixels[::-1, ::-1])
    run = clpix("flip", tmp_path / "a.tif", "--layer", "3", "--axis", "both", "-o", tmp_path / "c.png")
    assert run.code == 1 and "has no layer '3'; it has pages 0 to 2" in run.err


def test_pages_of_several_kinds(clpix, tmp_path, rng, coefficients) -> None:
    """Those behind a page that one library does not open are there as well."""
    plain, colours = (
        rng.integers(0, 256, (8, 9)).astype(np.uint8),
        rng.integers(0, 256, (8, 9, 3)).astype(np.uint8),
    )
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(plain, metadata=None)
        deep = np.ascontiguousarray(coefficients[:1, :1, :1])
        file.write(
            iter([jpeg(deep, 8, 8)]), shape=(8, 8), dtype="uint16", bitspersample=12, photometric="minisblack",
            compression=7, metadata=None,
        )  # fmt: skip
        file.write(colours, photometric="icclab", metadata=None)
        file.write(colours, photometric="rgb", metadata=None)
    run = clpix("convert", path, "--frames", "all", "-o", tmp_path / "out" / "{frame}.npy")
    assert run.code == 0, run.err
    made = [np.load(one) for one in sorted((tmp_path / "out").iterdir())]
    np.testing.assert_array_equal(made[0].reshape(8, 9), plain)
    assert np.abs(made[1].reshape(8, 8) / (65535 / 4095) - samples(deep)[..., 0].clip(0, 4095)).max() <= 1
    assert made[2].dtype == np.float32
    np.testing.assert_array_equal(made[3], colours)


def odd_page(file: tifffile.TiffWriter, kind: str) -> None:
    """A page of a kind that OpenImageIO does not open."""
    values = np.arange(64, dtype=np.uint8).reshape(8, 8)
    if kind == "icclab":
        file.write(np.dstack([values] * 3), photometric="icclab", metadata=None)
    elif kind == "bits":
        file.write(values >> 3, bitspersample=3, photometric="minisblack", metadata=None)
    elif kind == "logluv":
        data = packed(np.zeros((8, 8), np.uint32), SGILOG)
        file.write(
            iter([data]),
            shape=(8, 8, 3),
            dtype="float32",
            photometric="rgb",
            compression="packbits",
            metadata=None,
        )
    else:
        data = jpeg(np.zeros((1, 1, 1, 8, 8), int), 8, 8)
        file.write(
            iter([data]), shape=(8, 8), dtype="uint16", bitspersample=12, photometric="minisblack", compression=7,
            metadata=None,
        )  # fmt: skip


@each(
    kind=["icclab", "jpeg", "logluv", "bits"],
    order=["<", ">"],
    bigtiff=[False, True],
    behind=[True, True, False],
    by_rows=[False, False, True, True],
    tile=[None, (32, 16)],
    compression=[None, "zlib", "lzw"],
)
def test_pages_beside_those_that_are_not_opened(
    clpix, tmp_path, rng, kind, order, bigtiff, behind, by_rows, tile, compression
) -> None:
    """Ordinary pages before or behind one of another kind are read as they are alone."""
    gray, colours = (rng.integers(0, 1 << 16, (40, 33, n)).astype(np.uint16) for n in (1, 3))
    layout = {"tile": tile, "compression": compression, "metadata": None}
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path, byteorder=order, bigtiff=bigtiff) as file:
        if behind:
            odd_page(file, kind)
        file.write(gray[..., 0], photometric="minisblack", **layout)
        if not behind:
            odd_page(file, kind)
        file.write(colours, photometric="rgb", extratags=[(271, "s", 0, "Maker", True)], **layout)
    if kind == "logluv":
        with tifffile.TiffFile(path, mode="r+") as file:
            tags = file.pages[0 if behind else 1].tags
            tags[COMPRESSION].overwrite(SGILOG)
            tags[262].overwrite(LOGLUV)
    with pytest.MonkeyPatch.context() as patch:
        if by_rows:
            in_blocks(patch, 3000)
        for page, values in ((1 if behind else 0, gray), (2, colours)):
            run = clpix(
                "flip", path, "--layer", str(page), "--axis", "vertical", "-o", tmp_path / f"{page}.npy"
            )
            assert run.code == 0, run.err
            np.testing.assert_array_equal(np.load(tmp_path / f"{page}.npy"), values[::-1])
    assert clpix("info", path, "--layer", "2").code == 0
    run = clpix("convert", path, "--frames", "all", "-o", tmp_path / "out" / "{frame}.npy")
    assert run.code == (kind == "bits"), run.err
    assert run.err.count("cannot be read") == run.code


def test_inks_behind_a_page_that_is_not_opened(tmp_path, rng) -> None:
    inks = rng.integers(0, 256, (9, 8, 4)).astype(np.uint8)
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        odd_page(file, "icclab")
        file.write(inks, photometric="separated", metadata=None)
    with pytest.warns(GpuopsWarning, match="CMYK without an ICC profile"):
        pixels = read(tmp_path / "a.tif", layer=1).pixels
    expected = (255.0 - inks[..., :3]) * (255.0 - inks[..., 3:]) / 255
    assert np.abs(pixels - expected).max() <= 1


def test_copies_in_textures_are_no_pages(tmp_path) -> None:
    oiio = pytest.importorskip("OpenImageIO")
    path = str(tmp_path / "a.tif")
    pixels = np.random.default_rng(1).random((64, 64, 3)).astype(np.float32)
    assert oiio.ImageBufAlgo.make_texture(oiio.MakeTxTexture, oiio.ImageBuf(pixels), path)
    assert len(tifffile.TiffFile(path).pages) > 1
    assert read(path).layers == ()


def test_damaged_jpeg_of_12_bits(tmp_path, rng, coefficients) -> None:
    """The decoder takes what is missing for gray, so each strip has to be whole."""
    path = tmp_path / "a.tif"
    of_12_bits(path, coefficients, "rgb")
    good = path.read_bytes()
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        (first, second), sizes = page.dataoffsets, page.databytecounts
    frame = good.index(b"\xff\xc1", first)
    end = first + sizes[0]
    for damaged in (
        good[: second + sizes[1] - 1], good[: second + 40], good[: first + 100],
        good[: end - 2] + b"\0\0" + good[end:],
        good[: frame + 4] + b"\x08" + good[frame + 5 :],
        good[: frame + 5] + b"\xff\xdc\xff\xdc" + good[frame + 9 :],
        good[: frame + 5] + b"\0\x08" + good[frame + 7 :],
    ):  # fmt: skip
        path.write_bytes(damaged)
        with pytest.raises(
            FileError, match=r"a\.tif: could not be read: the file is cut off or damaged \(strip"
        ):
            read(path)
    for _ in range(200):
        some = bytearray(good)
        for at in rng.integers(4, len(good), 3):
            some[at] = rng.integers(256)
        path.write_bytes(some)
        with suppress(FileError):
            assert read(path).channels in (1, 3, 4)


@pytest.mark.parametrize(("photometric", "channels", "planar"), [(5, 4, 1), (2, 4, 1), (1, 2, 1), (2, 3, 2)])
def test_refused_jpeg_of_12_bits(tmp_path, photometric, channels, planar) -> None:
    data = jpeg(np.zeros((1, 1, channels, 8, 8), int), 8, 8)
    path = tmp_path / "a.tif"
    tags = [(COMPRESSION, SHORT, [7]), (284, SHORT, [planar])]
    path.write_bytes(tiff(data, 8, 8, channels, photometric, bits=12, tags=tags))
    with pytest.raises(FileError, match="JPEG of 12 bits"):
        read(path)


@pytest.mark.parametrize(("photometric", "height"), [(8, 100_000), (9, 200), (9, 100_000)])
def test_strips_that_are_not_there(tmp_path, photometric, height) -> None:
    path = tmp_path / "a.tif"
    path.write_bytes(tiff(bytes(99), 33, height, 3, photometric, tags=[(278, LONG, [1])]))
    with pytest.raises(FileError, match=r"strips or tiles of|is damaged: it claims|cut off or damaged"):
        read(path)
