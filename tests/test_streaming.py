"""Pictures by rows: the same as as a whole, whatever the blocks, for every operation that says that it can."""

import os
import re
import struct
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import PIL.Image
import pytest

from gpuops import FileError, Gpu, files, notes
from gpuops.chain import Chain
from gpuops.files import Picture, png, tiff
from gpuops.files.strips import COPIES
from gpuops.glow import gaussians, mip_rows
from gpuops.image import Image, Part
from gpuops.operation import Params, operation_of
from gpuops.ops import STEPS, operation
from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.ops.deconvolve import DeconvolveParams
from gpuops.ops.grade import GradeParams
from gpuops.ops.sharpen import SharpenParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.region import Region
from gpuops.pixels.conversion import converted
from gpuops.plan import plan
from gpuops.rows.flow import flow, settled
from gpuops.rows.schedule import RowSchedule

from .choices import each, in_turns, of_formats, thinned
from .conftest import in_blocks, run_python
from .operation_cases import CASES
from .test_operations import skip_without_package
from .tolerance import BLUR, ROUNDINGS

# Steps that can be done by rows; bits are the same but for sums in another order.
BY_ROWS: list[Params] = [
    BlurParams((1.5, 1.5)),
    BlurParams((7.0, 2.0)),
    BlurParams((6.0, 6.0), border="constant:0.5"),
    BlurParams((12.0, 12.0), border="nearest"),
    BlurParams((30.0, 30.0), border="mirror"),
    BlurParams((2.0, 3.0), border="wrap-x", truncate=3.0),
    BlurParams((2.0, 3.0), border="wrap"),
    BlurParams((3.0, 0.0), border="wrap"),
    BlurParams((0.0, 7.0), border="wrap"),
    BlurParams((7.0, 5.0), border="wrap"),
    BlurParams((30.0, 30.0), border="wrap"),
    BlurParams((4.0, 4.0), border="wrap", method="direct", truncate=20.0),
    BlurParams(kind="box", radius=(9, 2), border="wrap"),
    BlurParams(kind="box", radius=(2, 2), border="nearest"),
    BlurParams(kind="disc", radius=(2.5, 3.5), border="wrap"),
    BlurParams(kind="motion", length=25.0, angle=60.0, border="wrap"),
    BlurParams(kind="median", radius=(2, 1), border="wrap"),
    BlurParams((1.5, 1.5), kind="bilateral", sigma_color=0.3, border="wrap"),
    BlurParams(kind="disc", radius=(2.5, 2.5)),
    BlurParams(kind="median", radius=(2, 1)),
    BlurParams((1.5, 1.5), kind="bilateral", sigma_color=0.3),
    SharpenParams(2.5, 0.7, 0.05),
    SharpenParams(9.0, 0.7),
    DeconvolveParams("richardson-lucy", sigma=0.6, iterations=2),
    DeconvolveParams("richardson-lucy", "disc", radius=1.5, iterations=3, filter_epsilon=0.3),
    DeconvolveParams("richardson-lucy", "motion", length=5, angle=90, iterations=2),
    GradeParams(exposure=0.5),
    BloomParams(strength=0.4),
    BloomParams(threshold=0.8, strength=0.5, radius=0.3, blend="add", exposure=1.0),
    BloomParams(karis=False, border="wrap-x", strength=0.7, radius=0.15),
    BloomParams(border="wrap-x", strength=0.7, threshold=0.9, exposure=0.5, blend="add"),
    BloomParams(method="gaussians", strength=0.6, radius=0.5),
    BloomParams(method="gaussians", threshold=0.8, radius=0.2, strength=0.5, blend="add", exposure=1.0),
    BloomParams(method="gaussians", strength=1.0, radius=0.0),
    BloomParams(strength=0.0, tonemap="agx"),
    BloomParams(tonemap="agx", exposure=None),
    BloomParams(tonemap="reinhard-extended", exposure=-1.0),
    TonemapParams(exposure=0.5),
    TonemapParams("reinhard-extended"),
    TonemapParams("drago", meter="histogram"),
    TonemapParams("reinhard-devlin", meter="mean", white_balance="gray-world"),
    TonemapParams("agx", meter_region=Region(3, 5, 17, 20)),
    TonemapParams("reinhard-local", exposure=0.5),
    TonemapParams("durand"),
    TonemapParams("durand", exposure=1.0, parameters={"sigma_spatial": 0.2, "sigma_color": 0.3}),
    TonemapParams("reinhard-extended", meter="center"),
    TonemapParams(meter="center", meter_region=Region(3, 5, 17, 20)),
    TonemapParams(meter="center", meter_region=Region(0, 0, 100, 50, True), method="local"),
]

# Steps of transforms, whose error is that of the largest value: those of blocks differ from those of the whole.
BY_TRANSFORMS: list[Params] = [
    BlurParams((7.0, 2.0), method="fft", border="wrap"),
    BlurParams((1.5, 1.5), method="fft", border="constant:0.5", truncate=3.0),
    BlurParams(kind="box", radius=(2, 9), method="fft", border="mirror"),
    BlurParams(kind="motion", length=25.0, angle=60.0, method="fft", border="nearest"),
    BlurParams(kind="disc", radius=(40.0, 40.0), method="fft"),
    BlurParams((2.0, 3.0), method="fft"),
]
# Sums over all rows are taken in parts: an exposure differs by a rounding or two.
MEASURED = 2 * ROUNDINGS


def blocks(gpu: Gpu, x: np.ndarray, rows: int, *, alpha: bool = False) -> Iterator[Image]:
    """The planes of an array, some rows at a time."""
    for first in range(0, x.shape[1], rows):
        image = gpu.array(np.ascontiguousarray(x[:, first : first + rows]))
        image.alpha, image.owned, image.part = alpha, True, Part(first, x.shape[1])
        yield image


class Given(NamedTuple):
    """Blocks of planes as a source."""

    begin: Callable[[], Iterable[Image]]
    decoding = None

    def __call__(self, *_: object) -> Generator[Image, None, None]:
        yield from self.begin()


def by_rows(gpu: Gpu, chain: Chain, x: np.ndarray, rows: int, *, alpha: bool = False) -> np.ndarray:
    """The result of a chain on blocks of so many rows."""
    todo, shape = plan(chain), (x.shape[0], x.shape[1], x.shape[2])
    schedule = RowSchedule.of(gpu, todo, shape)
    height = schedule.result[1]
    assert schedule.obstacle is None
    source = Given(lambda: blocks(gpu, x, rows, alpha=alpha))
    schedule = settled(schedule, source)
    found, first = [], 0
    for image in flow(schedule, source):
        assert isinstance(image, Image) and image.part == (first, height)
        if not image.space.display:  # as the library gives it back
            image = converted(image, image.space.colour, premultiplied=False)
        found.append(image.numpy())
        first += image.shape[1]
    return np.concatenate(found, 1)


def as_whole(gpu: Gpu, chain: Chain, x: np.ndarray, *, alpha: bool = False) -> np.ndarray:
    image = gpu.array(x)
    image.alpha = alpha
    result = gpu.run(chain, image)
    assert isinstance(result, Image)
    return result.numpy().copy() if plan(chain).steps else x


def picture(shape: tuple[int, int, int], seed: int = 5) -> np.ndarray:
    """Light with an edge and some noise, up to 4."""
    planes, height, width = shape
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    light = np.where((x + 2 * y) % 37 < 18, 0.1, 2.0) + rng.random((planes, height, width))
    return np.asarray(light, np.float32)


def height_of(k: int, step: Params) -> int:
    """Rows of blocks. On GPUs blurs may be transforms: of one row after the other each would build kernels anew."""
    builds = k % 2 and isinstance(step, BlurParams | BloomParams)
    return (7, 53)[k // 2 % 2] if builds else (1, 7, 23, 53)[k // 2 % 4]


@pytest.mark.cases(2)
@in_turns(("step", "rows"), [(step, height_of(k, step)) for k, step in enumerate(BY_ROWS + BY_TRANSFORMS)])
def test_any_blocks_give_the_whole(planned, step, rows) -> None:
    """Blocks of one row and of a prime number of rows, or of fewer rows than the halo and all rows."""
    colour = getattr(step, "white_balance", None) is not None  # of which gray has none to balance
    planes = 4 if colour else (1, 3, 4)[(len(repr(step)) + planned.limits.is_cpu) % 3]
    alpha, x = planes == 4, picture((planes, 53, 31))
    if alpha:
        x[3] = np.clip(x[3] / 2, 0, 1)
    chain = Chain(step)
    whole = as_whole(planned, chain, x, alpha=alpha)
    measured = operation_of(step).measure(planned, x.shape, step) is not None
    rtol = atol = MEASURED if measured else ROUNDINGS
    if step in BY_TRANSFORMS:
        rtol, atol = 0, 4 * BLUR["fft"]
    found = by_rows(planned, chain, x, rows, alpha=alpha)
    np.testing.assert_allclose(found, whole, rtol=rtol, atol=atol)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("level", "reads"), [(1, "direct"), (2, "local"), (3, "direct"), (4, "local")])
def test_bloom_by_rows(gpu, monkeypatch, level, reads) -> None:
    """Whichever level stays on the device; pixels that are not finite are counted once."""
    params = BloomParams(strength=0.8, radius=0.2, reads=reads)
    x = picture((3, 301, 43))
    x[0, ::37, 5] = np.nan
    x[:, 150, 40] = np.inf
    said: list[str] = []
    with notes.to(said.append):
        whole = as_whole(gpu, Chain(params), x)
    monkeypatch.setattr(mip_rows, "level_held", lambda *_: level)
    for rows in (1, 40, 101):
        of_rows: dict[str, None] = {}  # each part of the picture may say the same
        with notes.to(of_rows.setdefault):
            found = by_rows(gpu, Chain(params), x, rows)
        said += of_rows
        np.testing.assert_allclose(found, whole, rtol=ROUNDINGS, atol=ROUNDINGS)
    assert len(said) == 4 and len(set(said)) == 1 and said[0].startswith("10 pixels were not finite")


@pytest.mark.cases(1)
@in_turns(("shape", "border"), [
    ((3, 64, 128), "reflect"), ((3, 301, 43), "wrap-x"), ((4, 263, 90), "reflect"), ((1, 8, 200), "wrap-x"),
    ((1, 97, 1), "wrap-x"), ((3, 1, 1), "reflect"),
])  # fmt: skip
def test_gaussians_of_bloom_by_rows(planned, border, shape) -> None:
    """They have the same bits as those of the whole, and pixels that are not finite are counted once.

    Radii are such that no Gaussian is wide, or some are.
    """
    alpha, x = shape[0] == 4, picture(shape)
    x[0, 0, 0], x[:, -1, -1] = np.nan, np.inf
    for radius, wide in ((0.02, 0), (1.0, 5)):
        params = BloomParams(method="gaussians", border=border, radius=radius, strength=0.8)
        assert shape[1] != 301 or len(gaussians.wide(params, shape)) == wide
        said: list[str] = []
        with notes.to(said.append):
            whole = as_whole(planned, Chain(params), x, alpha=alpha)
        for rows in (1 if shape[1] < 100 else 41, 150):
            of_rows: dict[str, None] = {}
            with notes.to(of_rows.setdefault):
                found = by_rows(planned, Chain(params), x, rows, alpha=alpha)
            np.testing.assert_array_equal(found, whole)
            assert list(of_rows) == said


def test_what_bloom_says_of_a_picture_of_which_the_end_is_cut_off(clpix, tmp_path) -> None:
    """It is what it says of the whole, though no part of the result has the last rows."""
    pixels = np.moveaxis(picture((3, 700, 200)), 0, 2)
    pixels[650, 7] = np.inf
    files.write(tmp_path / "a.exr", Picture(pixels, linear=True))
    command = ("bloom", tmp_path / "a.exr", "then", "crop", "--region", "0,0,200,100", "-o")
    whole = clpix(*command, tmp_path / "whole.exr")
    rows = clpix(*command, tmp_path / "rows.exr", "--device-memory", "8M")
    assert whole.code == rows.code == 0 and whole.err == rows.err and rows.err.count("1 pixel was") == 1
    results = [files.read(tmp_path / name).pixels for name in ("whole.exr", "rows.exr")]
    np.testing.assert_allclose(*results, rtol=ROUNDINGS, atol=ROUNDINGS)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "params",
    [
        pytest.param(
            DeconvolveParams("richardson-lucy", sigma=6.0, iterations=2), marks=pytest.mark.exhaustive
        ),
        DeconvolveParams("richardson-lucy", "disc", radius=3.5, iterations=4),
        # whose rows are all rows
        pytest.param(
            DeconvolveParams("richardson-lucy", sigma=1.5, iterations=40), marks=pytest.mark.exhaustive
        ),
    ],
    ids=str,
)
def test_richardson_and_lucy_by_rows(planned, params) -> None:
    """Their result has the same bits as that of the whole; wide blurs, and many iterations, need many rows."""
    x = picture((4, 437, 40))
    x[3] = np.clip(x[3] / 2, 0, 1)
    whole = as_whole(planned, Chain(params), x, alpha=True)
    for rows in (31, 200):
        np.testing.assert_array_equal(by_rows(planned, Chain(params), x, rows, alpha=True), whole)


def test_who_needs_the_whole_says_so(gpu) -> None:
    """Operations that say nothing, and parameters for which they cannot."""
    shape = 3, 40, 40
    for name in STEPS:
        record = operation(name)
        for case in CASES.get(name, ()):
            todo = plan(Chain(case))
            streams = RowSchedule.of(gpu, todo, shape).obstacle is None
            declared = record.parts or record.passes or record.turn or record.spectral(gpu, shape, case)
            declared = declared or record.slabs(gpu, shape, case)
            by_rows = declared is not None or np.isfinite(record.reach_of(gpu, shape, case).rows)
            assert streams <= (not todo.steps or by_rows), name
    for step, words in (
        (BlurParams(preset="d3d11"), "blur --preset d3d11"),
        (DeconvolveParams(sigma=1.0), None),
        (TonemapParams(preset="d3d11"), "tonemap --preset d3d11"),
    ):
        assert RowSchedule.of(gpu, plan(Chain(step)), shape).obstacle == words


def write(path: Path, shape: tuple[int, int, int], dtype: str, *, tiled: bool = False) -> Path:
    """A picture (height, width, channels) of any kind."""
    values = np.moveaxis(picture((shape[2], *shape[:2])), 0, 2) / 4
    alpha = shape[2] in (2, 4)
    if np.dtype(dtype).kind == "u":
        values = np.round(np.clip(values, 0, 1) * np.iinfo(dtype).max)
    pixels = values.astype(dtype)
    if tiled:
        import tifffile

        tifffile.imwrite(path, pixels, tile=(16, 32), photometric="rgb" if shape[2] >= 3 else "minisblack")
    else:
        files.write(path, Picture(pixels, alpha=alpha, linear=np.dtype(dtype).kind == "f"))
    return path


KINDS = [
    ("a.png", "uint8", 3), ("b.png", "uint16", 4), ("c.tif", "uint16", 1), ("d.tif", "float32", 3),
    ("e.exr", "float16", 4), ("f.jpg", "uint8", 3), ("g.png", "uint8", 2), ("h.npz", "uint16", 4),
    ("i.npy", "float32", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype", "channels"), KINDS)
def test_rows_of_files_are_those_of_the_whole(tmp_path, name, dtype, channels) -> None:
    path = write(tmp_path / name, (67, 45, channels), dtype)
    whole, rows = files.read(path), files.open_rows(str(path), None, 0)
    assert rows is not None and replace(rows.picture, pixels=whole.pixels) == whole
    for count in (1, 16, 1000):
        np.testing.assert_array_equal(np.concatenate(list(rows.rows(count))), whole.pixels)


def test_tiles_come_in_whole_rows_of_tiles(tmp_path) -> None:
    path = write(tmp_path / "a.tif", (67, 45, 3), "uint8", tiled=True)
    rows = files.open_rows(str(path), None, 0)
    assert rows is not None and rows.least == 16
    found = list(rows.rows(5))
    assert [len(block) for block in found] == [16, 16, 16, 16, 3]
    np.testing.assert_array_equal(np.concatenate(found), files.read(path).pixels)


def test_small_pictures_are_read_as_a_whole(tmp_path) -> None:
    path = write(tmp_path / "a.png", (67, 45, 3), "uint8")
    nbytes = 67 * 45 * 3 * COPIES
    assert files.open_rows(str(path), None, nbytes) is None
    assert files.open_rows(str(path), None, nbytes - 1) is not None


@pytest.mark.parametrize("fmt", of_formats(files.FORMATS), ids=str)
def test_the_header_tells_what_a_picture_takes(fmt, tmp_path) -> None:
    for dtype in fmt.dtypes:
        path = tmp_path / f"{dtype}{fmt.extension}"
        files.write(path, files.Picture(np.zeros((670, 450, 3), dtype)))
        takes = files.read(path).pixels.nbytes
        with pytest.raises(files.NeedsWholeFile) if not fmt.read_rows else nullcontext():
            assert files.open_rows(str(path), None, takes, strict=True) is not None
        found = fmt.pixels_in(str(path))
        assert found is None or takes / 2 <= found.nbytes <= takes * 4 / 3
        assert found is None or found.shape[:2] == (670, 450)
        assert files.open_rows(str(path), None, 4 * takes + 3 * 8192, strict=True) is None


@pytest.mark.parametrize("name", ["a.jxl", "a.jxr", "a.qoi", "a.gif"])
@each(dtype=["uint8", "uint16", "float16", "float32"], channels=[1, 3, 4])
def test_headers_of_others_tell_channels_and_depth(tmp_path, rng, name, dtype, channels) -> None:
    """Exactly those of the pixels; libjxl, jxrlib and others write them."""
    imagecodecs = pytest.importorskip("imagecodecs")
    values = rng.random((40, 50, channels))
    pixels = (values * np.iinfo(dtype).max if dtype[0] == "u" else values).astype(dtype)
    pixels = pixels if channels > 1 else pixels[:, :, 0]
    if name in ("a.qoi", "a.gif") and (dtype != "uint8" or channels != 3):
        pytest.skip("it holds no others, or has palettes")
    encode = {".jxl": "jpegxl_encode", ".jxr": "jpegxr_encode", ".qoi": "qoi_encode", ".gif": "gif_encode"}
    coded = pixels if name != "a.gif" else pixels[:, :, 0]
    path = tmp_path / name
    path.write_bytes(getattr(imagecodecs, encode[path.suffix])(coded))
    there = files.read(path).pixels
    with pytest.raises(files.NeedsWholeFile) as raised:
        files.open_rows(str(path), None, 0, strict=True)
    stands = raised.value.pixels
    if (name, dtype, channels) != ("a.jxr", "float32", 3):  # which may have four
        assert (stands.shape, stands.dtype) == (there.shape, there.dtype)
    assert stands.nbytes >= there.nbytes and stands.dtype.kind == there.dtype.kind


@pytest.mark.cases(2)
@each(command=["flip --axis both -o b.png", "flip --axis both -o b.png --explain", "info"])
@pytest.mark.parametrize("name", ["a.ppm", "-"])
def test_what_takes_more_than_allowed_is_refused_by_its_header(
    clpix, tmp_path, monkeypatch, command, name
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ppm").write_bytes(b"P6 6000 6000 255\n")
    with open("a.ppm", "rb") as file:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
        run = clpix(*command.split(), name, "--memory", "200M")
    assert run.code == 1
    shown = name.replace("-", "standard input")
    assert f"{shown}: PNM is read as a whole, which takes 324 MB of memory" in run.err
    assert os.listdir() == ["a.ppm"]


@pytest.mark.parametrize("command", [
    "mix --picture a.ppm", "convolve --kernel a.ppm", "fft --mask a.ppm",
    "bloom --kernel a.npy", "bloom --kernel a.npy --contact-sheet",
    "filter --mask a.npy", "register --reference a.npy", "fft --mask a.npy", "tonemap --lut a.cube", "run a.toml",
])  # fmt: skip
def test_second_pictures_are_refused_by_their_headers(clpix, tmp_path, monkeypatch, command) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ppm").write_bytes(b"P6 6000 6000 255\n")
    Path("a.cube").write_bytes(b"LUT_3D_SIZE 2\n")
    os.truncate("a.cube", 54 * 10**6)
    np.lib.format.open_memmap("a.npy", "w+", np.uint8, (6000, 6000, 3))  # a file without blocks on the disk
    Path("a.toml").write_text('schema = 1\n[[step]]\nop = "convolve"\nkernel = "a.npy"\n')
    write(tmp_path / "b.png", (6, 5, 3), "uint8")
    run = clpix(*command.split(), "b.png", "--memory", "200M", "-o", "c.png")
    assert run.code == 1 and "is read as a whole, which takes 324 MB of memory" in run.err


def test_a_second_picture_of_more_bytes_than_the_image_comes_by_rows(clpix, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.png", (2000, 2300, 1), "uint8")
    second = np.lib.format.open_memmap("b.npy", "w+", np.float32, (2000, 2300, 4))
    second[::9, ::7] = 0.5
    del second
    command = ("mix", "a.png", "--picture", "b.npy", "--amount", 0.5, "--overwrite")
    assert clpix(*command, "-o", "whole.png").code == 0
    monkeypatch.setattr("gpuops.files.operands.picture", None)
    assert clpix(*command, "-o", "rows.png", "--memory", "200M").code == 0
    assert Path("rows.png").read_bytes() == Path("whole.png").read_bytes()
    run = clpix(*command, "then", "rotate", "--angle", 30, "-o", "rows.png", "--memory", "200M")
    assert run.code == 1 and "needs the whole picture" in run.err


@pytest.mark.parametrize("kind", ["one", "several", "spectrum"])
def test_numbers_are_described_without_being_kept(clpix, tmp_path, monkeypatch, kind) -> None:
    """Damage is found all the same. Their statistics need them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpuops.files.arrays.read_arrays", None)
    array = np.zeros((2, 1000, 1500), np.float32)
    if kind == "spectrum":
        files.write_data("a.npz", {"spectrum": array}, {"kind": "spectrum"}, compress=True)
        monkeypatch.setattr("gpuops.files.data.read_data", None)
    else:
        np.savez_compressed("a.npz", **dict.fromkeys("ab"[: 1 + (kind == "several")], array))
    memory = ("--memory", "10M")
    run = clpix("info", "a.npz", *memory)
    assert run.code == 0 and "2 × 1000 × 1500  float32" in run.out
    run = clpix("info", "a.npz", "--stats", *memory)
    assert (
        run.code == 1 and f"takes {24 if kind == 'several' else 12} MB of memory: raise --memory" in run.err
    )
    content = bytearray(Path("a.npz").read_bytes())
    content[len(content) // 3] ^= 255
    Path("a.npz").write_bytes(content)
    run = clpix("info", "a.npz", *memory)
    assert run.code == 1 and "a.npz: could not be read" in run.err


@pytest.mark.parametrize("kind", ["interlaced", "progressive", "planar"])
def test_what_has_to_be_read_as_a_whole_says_why(tmp_path, kind) -> None:
    import PIL.Image
    import tifffile

    pixels = np.random.default_rng(1).integers(0, 256, (60, 50, 3)).astype(np.uint8)
    path = str(tmp_path / ("a.tif" if kind == "planar" else "a.jpg"))
    if kind == "interlaced":
        path = str(tmp_path / "a.png")
        chunks = {
            b"IHDR": struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 1),
            b"IDAT": zlib.compress(b"\0a"),
            b"IEND": b"",
        }
        Path(path).write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + b"".join(
                struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
                for kind, data in chunks.items()
            )
        )
    elif kind == "progressive":
        PIL.Image.fromarray(pixels).save(path, progressive=True)
    else:
        tifffile.imwrite(path, np.moveaxis(pixels, 2, 0), photometric="rgb", planarconfig="separate")
    with pytest.raises(files.NeedsWholeFile, match=r"is interlaced|holds doubles"):
        files.open_rows(path, None, 0)


@pytest.mark.parametrize(
    ("name", "rows"),
    [("a.png", 1), ("a.png", 13), ("a.tif", 13), ("a.exr", 1), ("a.jpg", 13), ("a.webp", 100), ("a.hdr", 1)],
)
def test_files_are_written_by_rows(tmp_path, name, rows) -> None:
    """The result is what a whole picture's file holds; PNG, TIFF and EXR without having it in memory."""
    dtype = files.output_dtype(files.format_of(name), "uint8").name
    values = np.moveaxis(picture((3, 67, 45)), 0, 2) / 4
    pixels = (values * (1 if dtype.startswith("f") else 255)).astype(dtype)
    header = Picture(files.unread(pixels.shape, pixels.dtype), linear=dtype.startswith("f"))
    files.write(tmp_path / f"whole-{name}", replace(header, pixels=pixels))
    with files.writing(tmp_path / name, header) as put:
        for first in range(0, 67, rows):
            put(pixels[first : first + rows])
    a, b = files.read(tmp_path / name), files.read(tmp_path / f"whole-{name}")
    np.testing.assert_array_equal(a.pixels, b.pixels)
    assert a.metadata == b.metadata and sorted(os.listdir(tmp_path)) == sorted([name, f"whole-{name}"])


@pytest.mark.parametrize("strip", [1, 4, 10, 29])
def test_blocks_of_png_are_strips_of_any_size(tmp_path, monkeypatch, strip) -> None:
    """A block has several strips, of which the last is short; the stream ends with the picture. Pillow reads it."""
    pixels = np.random.default_rng(2).integers(0, 256, (31, 9, 3)).astype(np.uint8)
    monkeypatch.setattr(png, "_STRIP_BYTES", strip * pixels[0].nbytes)
    header = Picture(files.unread(pixels.shape, pixels.dtype))
    for rows in range(1, 32):
        with files.writing(tmp_path / "a.png", header, overwrite=True) as put:
            for first in range(0, 31, rows):
                put(pixels[first : first + rows])
        np.testing.assert_array_equal(PIL.Image.open(tmp_path / "a.png"), pixels)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_large_tiffs_are_tiled(tmp_path, monkeypatch, channels) -> None:
    """Sizes that are no multiples of a tile, read by another library."""
    import tifffile

    monkeypatch.setattr(tiff, "_TILED", 1)
    pixels = np.random.default_rng(3).integers(0, 65536, (300, 531, channels)).astype(np.uint16)
    header = Picture(files.unread(pixels.shape, pixels.dtype), alpha=channels == 4)
    with files.writing(tmp_path / "a.tif", header) as put:
        for first in range(0, 300, 77):
            put(pixels[first : first + 77])
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        page = file.pages[0]
        assert page.is_tiled and (page.tilelength, page.tilewidth) == (256, 256)
        np.testing.assert_array_equal(page.asarray().reshape(pixels.shape), pixels)
    np.testing.assert_array_equal(files.read(tmp_path / "a.tif").pixels, pixels)


def test_nothing_is_left_of_a_file_that_fails(tmp_path) -> None:
    header = Picture(files.unread((9, 9, 3), np.dtype(np.uint8)))
    with pytest.raises(RuntimeError), files.writing(tmp_path / "a.png", header) as put:
        put(np.zeros((3, 9, 3), np.uint8))
        raise RuntimeError
    assert not os.listdir(tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("suffix", "more"), [
    (".png", ("--tonemap", "agx")), (".tif", ("--tonemap", "agx", "--no-fuse")), (".exr", ("--working", "rec2020")),
    (".tif", ("--working", "rec2020")),
])  # fmt: skip
def test_bloom_by_rows_works_on_light_and_encodes_it(clpix, tmp_path, monkeypatch, suffix, more) -> None:
    """Its parts have the same primaries as the whole, and those that it is tone-mapped by encode for a file."""
    path = write(tmp_path / "a.tif", (67, 45, 4), "uint16")
    command = ("bloom", path, "--threshold", "0.5", "--radius", "0.1", *more)
    found = []
    for _ in range(2):
        assert clpix(*command, "-o", tmp_path / f"b{suffix}", "--overwrite").code == 0
        found.append(files.read(tmp_path / f"b{suffix}"))
        in_blocks(monkeypatch)
    whole, parts = found
    assert whole.metadata == parts.metadata
    error = np.abs(whole.pixels.astype(float) - parts.pixels.astype(float))
    assert error.max() <= {"uint8": 1, "uint16": 2, "float32": 1e-5}[whole.pixels.dtype.name]


# Every operation that goes by rows, in its ways to do so, and chains of them.
ALL_BY_ROWS = [
    tuple(line.split())
    for line in """\
blur --sigma 2
blur --sigma 40
blur --sigma 9 --border wrap-x
blur --sigma 3 --border wrap
blur --sigma 9 --border wrap
blur --sigma 60 --border wrap
blur --kind motion --length 35 --angle 45 --border wrap
blur --kind box --radius 20
blur --kind disc --radius 6
blur --kind motion --length 25 --angle 70
blur --kind motion --length 35 --angle 45
blur --kind median --radius 3
blur --kind bilateral --sigma 3 --sigma-color 0.3
sharpen --sigma 9
convolve --kernel small.exr
convolve --kernel large.exr
convolve --kernel huge.exr
convolve --kernel small.exr --border wrap
convolve --kernel large.exr --border wrap
grade --exposure 0.3
denoise
denoise --cycle-spins 2 then resize --scale 0.5
deconvolve --method richardson-lucy --sigma 0.7 --iterations 3
deconvolve --method richardson-lucy --kind disc --radius 2 --iterations 4 then tonemap
ocio --config cg --to ACEScg
bloom
bloom --threshold 1 --radius 0.02 --tonemap agx
bloom --border wrap-x
bloom --method gaussians
bloom --method gaussians --radius 0.5 --border wrap-x --threshold 1 --tonemap agx
bloom --kernel large.exr
bloom --kernel small.exr --border wrap-x --threshold 1 --blend add
grade --exposure 0.3 then bloom --method gaussians then tonemap --operator reinhard-local
tonemap --operator agx
tonemap --meter center
tonemap --operator reinhard-local
tonemap --operator durand
convert
resize --scale 0.3
resize --scale 0.01
resize --scale 2.5 --filter lanczos3
resize --size 100x900
crop --region 11,50,100,40
flip --axis horizontal
flip --axis vertical
rotate --angle 90
mix --picture a.exr --mask a.exr --amount 0.4
blur --sigma 3 then write on.exr then tonemap
sharpen then tonemap --operator durand --meter center then resize --scale 0.5
bloom then blur --sigma 20 then tonemap --operator reinhard-local
crop --region 0,9,140,110 then bloom then write on.exr then resize --scale 1.5 then write as.tif \
then flip --axis horizontal
blur --sigma 3 then rotate --angle 270 then bloom then flip --axis both then tonemap
tonemap then blur --sigma 9 --border wrap then resize --scale 0.7
crop --region 0,9,140,110 then blur --sigma 5 --border wrap then write on.exr \
then convolve --kernel large.exr --border wrap then bloom then tonemap
flip --axis vertical then blur --sigma 9 --border wrap then rotate --angle 90 \
then blur --kind median --radius 2 --border wrap
blur --sigma 7 --border wrap then grade --exposure -0.5 then blur --kind disc --radius 4 --border wrap \
then crop --region 1,11,20,90
""".splitlines()
]


@pytest.mark.cases(1)
@pytest.mark.parametrize("command", thinned(ALL_BY_ROWS[::3], 7), ids=" ".join)
def test_the_least_memory_that_is_accepted_is_enough(clpix, tmp_path, monkeypatch, command) -> None:
    """What a line says that it takes is enough, or what is known once the picture was looked at is said in such a line.

    The pool counts what is in use, and refuses more than the limit: then the command would say so.
    """
    skip_without_package(command[0])
    monkeypatch.chdir(tmp_path)
    light = np.exp(2 * np.random.default_rng(3).standard_normal((500, 300, 4)))
    light[..., 3] = np.clip(light[..., 3], 0, 1)
    files.write("a.exr", Picture(light.astype(np.float32), alpha=True, linear=True))
    for name, size in (("small", 3), ("large", 41), ("huge", 201)):
        files.write(f"{name}.exr", Picture(np.ones((size, size, 3), np.float32), linear=True))
    kernel = {"small.exr", "large.exr", "huge.exr"}.intersection(command)
    limit, lines = 1 << 20 if kernel else 21_000, 0  # a kernel image is read before
    while (run := clpix(command[0], "a.exr", *command[1:], "-o", "b.exr", "--device-memory", limit)).code:
        found = re.search(r"rows of [35]00 pixels need ([\d.]+) ([kM])B of the device's memory", run.err)
        assert found is not None, run.err
        before, limit, lines = limit, round(float(found[1]) * {"k": 1e3, "M": 1e6}[found[2]]), lines + 1
        assert limit > before and lines <= 4
    assert (lines or "small.exr" in command) and limit < 20 * light.nbytes


# Kinds of outputs: signals, light, and spaces of their own.
OUTPUTS = [
    ("b.png",),
    ("b.exr", "--dtype", "float"),
    ("c.png", "--colour", "rec2100-pq", "--working", "rec2020"),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("command", thinned(ALL_BY_ROWS, 6), ids=" ".join)
def test_files_are_those_of_the_whole(clpix, tmp_path, monkeypatch, rng, command) -> None:
    """Every way by rows into two of the kinds of outputs, of integers or of light: values, depth, space and alpha."""
    skip_without_package(command[0])
    monkeypatch.chdir(tmp_path)
    light = np.exp(2 * rng.standard_normal((131, 150, 4)))
    light[..., 3] = np.clip(light[..., 3], 0, 1)
    files.write("a.exr", Picture(light.astype(np.float32), alpha=True, linear=True))
    files.write("a.tif", Picture(rng.integers(0, 65536, (131, 150, 3)).astype(np.uint16)))
    for name, size in (("small", 3), ("large", 41), ("huge", 201)):
        files.write(f"{name}.exr", Picture(np.ones((size, size, 3), np.float32), linear=True))
    turn = ALL_BY_ROWS.index(command)
    for k in (turn, turn + 1):
        out, *options = OUTPUTS[k % 3]
        source = "a.exr" if "mix" in command else ("a.tif", "a.exr")[(k + len(command)) % 2]
        found = []
        for rows in (False, True):
            with monkeypatch.context() as patch:
                if rows:
                    in_blocks(patch, 1 << 13)
                run = clpix(command[0], source, *command[1:], "-o", out, *options, "--overwrite", "-q")
            assert run.code == 0, run.err
            found.append([files.read(name) for name in (out, "on.exr", "as.tif") if os.path.exists(name)])
        for whole, parts in zip(*found, strict=True):
            alike = replace(parts, pixels=whole.pixels, metadata=whole.metadata)
            assert alike == whole and parts.metadata.icc == whole.metadata.icc
            assert parts.pixels.dtype == whole.pixels.dtype
            if whole.pixels.dtype.kind == "u":
                assert np.abs(parts.pixels.astype(int) - whole.pixels).max() <= 1, (source, out, options)
            else:
                rtol = 1e-3 if whole.pixels.dtype == np.float16 else 1e-4
                np.testing.assert_allclose(parts.pixels, whole.pixels, rtol=rtol, atol=1e-5)


def test_all_steps_by_rows_are_among_these(gpu) -> None:
    names = {word for command in ALL_BY_ROWS for word in command}
    for name in STEPS:
        record = operation(name)
        reaches = any(
            np.isfinite(record.reach_of(gpu, (3, 40, 40), case).rows) for case in CASES.get(name, ())
        )
        by_slabs = any(record.slabs(gpu, (3, 40, 40), case) for case in CASES.get(name, ()))
        assert not (reaches or record.passes or record.turn or by_slabs) or name in names, name


def test_notes_name_the_input_once(clpix, tmp_path, monkeypatch) -> None:
    """A colour kernel on gray, repaired pixels, and what the output cannot hold."""
    values = picture((1, 67, 45))[0, :, :, None]
    values[[3, 30, 60], 5] = np.nan
    files.write(tmp_path / "a.exr", Picture(values, linear=True))
    files.write(tmp_path / "k.png", Picture(np.full((3, 5, 3), 9, np.uint8)))
    commands: list[tuple[str | Path, ...]] = [
        ("convolve", tmp_path / "a.exr", "--kernel", tmp_path / "k.png", "then", "tonemap"),
        ("tonemap", tmp_path / "a.exr", "--exposure", "0"),
        ("blur", tmp_path / "a.exr", "--sigma", "1"),  # values that halos lose, too, are counted once
    ]
    for command in commands:
        first = clpix(*command, "-o", tmp_path / "b.png", "--overwrite")
        with monkeypatch.context() as patch:
            in_blocks(patch)
            second = clpix(*command, "-o", tmp_path / "b.png", "--overwrite")
        assert first.code == second.code == 0 and first.err
        assert sorted(first.err.splitlines()) == sorted(second.err.splitlines())


@pytest.mark.cases(1)
@pytest.mark.parametrize(("last", "more"), [
    ("tonemap --exposure 0", True),
    ("tonemap", True),
    ("tonemap --operator durand", True),
    ("bloom", False),
])  # fmt: skip
def test_repaired_pixels_are_counted_once_for_a_step(clpix, tmp_path, monkeypatch, rng, last, more) -> None:
    """However often a step is done to measure for another one: negative pixels, and those that an offset makes."""
    values = rng.uniform(0.2, 0.9, (67, 45, 1)).astype(np.float32)
    values[rng.random(values.shape) < 0.1] = -1
    files.write(tmp_path / "a.exr", Picture(values, linear=True))
    shown = np.maximum(values, 0)  # what the operator "linear" leaves of it
    count = np.count_nonzero(values < 0) + more * np.count_nonzero(shown < 0.5)
    command = ("tonemap", tmp_path / "a.exr", "--operator", "linear", "--exposure", "0", "then", "grade", "--offset",
               "-0.5", "then", *last.split(), "-o", tmp_path / "b.exr", "--overwrite")  # fmt: skip
    for rows in (False, True):
        if rows:
            in_blocks(monkeypatch, 1 << 10)
        run = clpix(*command)
        assert run.code == 0
        assert re.findall(r"(\d+) negative", run.err) == [str(count)], (rows, run.err)


def test_a_promise_that_cannot_be_kept(clpix, tmp_path) -> None:
    """It says what it would take: a format that is written as a whole, a step that needs all, too little for a row."""
    path = tmp_path / "a.tif"
    files.write(path, Picture(np.zeros((4000, 5000, 3), np.uint8)))
    preset = "d3d11 needs the whole picture, which takes 180 MB of memory, and 178.3 MB are allowed"
    for command, out, limit, said in (
        ("blur --sigma 2", "b.jpg", "170M", "JPEG is written as a whole"),
        ("blur --preset d3d11", "b.png", "170M", preset),
        ("blur --sigma 2", "b.png", "20M", "needs .* MB of memory"),
        ("resize --scale 0.5", "b.png", "20M", "needs .* MB of memory"),
        ("rotate --angle 5", "b.png", "170M", "rotate needs the whole"),
        ("crop --region 0,0,5000,4001", "b.png", "170M", "is not inside the image of 5000 × 4000"),
        ("fft", "b.exr", "100M", "needs .* MB of memory"),
        ("fft", "b.exr", "200M", "or give --scratch DIR"),
    ):
        run = clpix(*command.split(), path, "-o", tmp_path / out, "--memory", limit)
        assert run.code == 1 and re.search(said, run.err) and len(run.err.splitlines()) == 1, run.err
    assert os.listdir(tmp_path) == ["a.tif"]


# A program that runs a command and tells how much its memory grew beside what it takes for a small picture.
PROGRAM = """
import sys
from clpix.main import main
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) << 10
def run(*arguments):
    try:
        main([*arguments])
    except SystemExit as end:
        assert not end.code
small, large, out, *options = sys.argv[1:]
run(options[0], small, *options[1:], "-o", out + "0.tif")
before = peak()
run(options[0], large, *options[1:], "-o", out + "1.tif")
print(peak() - before)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
@pytest.mark.parametrize(("options", "size"), [
    ("blur --sigma 2", (7500, 12_000)), ("tonemap", (7500, 12_000)),
    ("blur --kind median --radius 1", (7500, 12_000)), ("resize --scale 0.3", (2250, 3600)),
    ("resize --scale 0.005", (38, 60)), ("flip --axis vertical", (7500, 12_000)),
    ("rotate --angle 270 then blur --sigma 5 then flip --axis both", (12_000, 7500)),
])  # fmt: skip
def test_memory_stays_within_what_was_promised(tmp_path, options, size) -> None:
    """A picture of 270 MB under 160 MB for the host and 40 MB for the device, which may be the host."""
    small, large = tmp_path / "small.tif", tmp_path / "large.tif"
    files.write(small, Picture(np.zeros((64, 64, 3), np.uint8)))
    row = np.tile(np.arange(250, dtype=np.uint8), 48)[None, :, None].repeat(3, 2)
    header = Picture(files.unread((7500, 12_000, 3), np.dtype(np.uint8)))
    with files.writing(large, header) as put:
        for k in range(75):
            put(np.roll(row, k, 1).repeat(100, 0))
    limits = ("--memory", "160M", "--device-memory", "40M", "--scratch", tmp_path)
    done = run_python("-c", PROGRAM, small, large, tmp_path / "out", *options.split(), *limits)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 200 << 20
    rows = files.open_rows(str(tmp_path / "out1.tif"), None, 0)
    assert rows is not None and rows.picture.pixels.shape == (*size, 3)


def test_damage_in_the_middle_leaves_nothing(clpix, tmp_path) -> None:
    path = write(tmp_path / "a.exr", (400, 300, 3), "float16")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(1000) + content[len(content) // 2 + 1000 :])
    with pytest.raises(FileError):
        files.read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
        for way in ((), ("then", "write", tmp_path / "b.exr", "then", "flip", "--axis", "horizontal")):
            run = clpix("blur", path, "--sigma", 2, *way, "-o", tmp_path / "b.png")
            assert run.code == 1 and "damaged" in run.err and os.listdir(tmp_path) == ["a.exr"]
