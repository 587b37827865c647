"""--quality, --subsampling and --compression: what files hold, by readers of other programs, and what is refused."""

import io
import itertools
from pathlib import Path

import numpy as np
import OpenImageIO
import pytest
import tifffile
from PIL import Image as PIL

from gpuops import files
from gpuops.batch.job import Job, Options
from gpuops.chain import Chain
from gpuops.errors import ParameterError
from gpuops.files import Picture, format_named
from gpuops.ops.flip import FlipParams
from gpuops.ops.write import WriteParams
from gpuops.params.storage import SUBSAMPLINGS, Storage

from .choices import each, pairs, thinned

Pixels = np.ndarray

#: The sampling factors of brightness, across and down, that the frame header (SOF) has for each subsampling.
FACTORS = {"4:4:4": (1, 1), "4:2:2": (2, 1), "4:2:0": (2, 2)}
#: EXR's compressions that keep every half.
EXACT = ("none", "rle", "zips", "zip", "piz", "pxr24", "htj2k32", "htj2k256")


def picture(rng: np.random.Generator, dtype: str, shape: tuple[int, int, int] = (37, 53, 3)) -> Picture:
    """A picture with slopes and some noise, that compressions have something to do with."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    values = (np.sin(rows / 9) * np.cos(columns / 7) + 1.2)[:, :, None] / 2.5 + rng.random(shape) / 40
    values = values[:, :, :1] * (1 - np.arange(shape[2]) / 8)
    whole = np.iinfo(dtype).max if dtype.startswith("uint") else 1
    light = whole == 1
    return Picture((values * whole * 0.9).astype(dtype), alpha=shape[2] in (2, 4), linear=light)


def written(tmp_path: Path, name: str, what: Picture, storage: Storage) -> Path:
    files.write(tmp_path / name, what, overwrite=True, storage=storage)
    return tmp_path / name


def by_openimageio(path: Path) -> tuple[str, Pixels]:
    """The compression that a file names, and its pixels in their own depth."""
    read = OpenImageIO.ImageInput.open(str(path))
    try:
        return read.spec().get_string_attribute("compression"), read.read_image(read.spec().format)
    finally:
        read.close()


def frame(path: Path) -> dict[int, tuple[int, int]]:
    """The sampling factors of each component, from a JPEG file's frame header (ITU-T T.81, B.2.2)."""
    data = path.read_bytes()
    at = next(data.index(bytes((0xFF, marker))) for marker in (0xC0, 0xC2) if bytes((0xFF, marker)) in data)
    count = data[at + 9]
    parts = [data[at + 10 + 3 * k : at + 13 + 3 * k] for k in range(count)]
    return {part[0]: (part[1] >> 4, part[1] & 15) for part in parts}


@pytest.mark.parametrize("quality", [1, 30, 75, 95, 100])
def test_jpeg_has_pillows_tables(tmp_path, rng, quality) -> None:
    what = picture(rng, "uint8")
    usual = io.BytesIO()
    PIL.fromarray(what.pixels).save(usual, "JPEG", quality=quality)
    with PIL.open(usual) as other, PIL.open(written(tmp_path, "a.jpg", what, Storage(quality))) as ours:
        assert ours.quantization == other.quantization


@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
def test_jpeg_says_its_subsampling(tmp_path, rng, subsampling) -> None:
    path = written(tmp_path, "a.jpg", picture(rng, "uint8"), Storage(subsampling=subsampling))
    assert frame(path) == {1: FACTORS[subsampling], 2: (1, 1), 3: (1, 1)}
    gray = written(tmp_path, "gray.jpg", picture(rng, "uint8", (20, 20, 1)), Storage(subsampling=subsampling))
    assert len(frame(gray)) == 1


def test_jpeg_by_itself(tmp_path, rng) -> None:
    what = picture(rng, "uint8")
    plain = written(tmp_path, "a.jpg", what, Storage()).read_bytes()
    assert plain == written(tmp_path, "b.jpg", what, Storage(95, "4:4:4")).read_bytes()


@pytest.mark.parametrize("name", ["a.jpg", "a.webp"])
def test_size_and_error_follow_quality(tmp_path, rng, name) -> None:
    what = picture(rng, "uint8", (96, 96, 3))
    sizes, errors = [], []
    for quality in (5, 40, 75, 95):
        path = written(tmp_path, name, what, Storage(quality))
        with PIL.open(path) as read:
            errors.append(np.mean((np.asarray(read.convert("RGB"), float) - what.pixels) ** 2))
        sizes.append(path.stat().st_size)
    assert sizes == sorted(set(sizes)) and errors == sorted(set(errors), reverse=True)


@pytest.mark.parametrize("level", ["", ":0", ":9"])
def test_lossless_webp(tmp_path, rng, level) -> None:
    what = picture(rng, "uint8", (20, 31, 4))
    what.pixels[:9, :, 3] = 0  # whose colours stay
    path = written(tmp_path, "a.webp", what, Storage(compression=f"lossless{level}"))
    assert b"VP8L" in path.read_bytes()[:40]
    with PIL.open(path) as read:
        np.testing.assert_array_equal(np.asarray(read), what.pixels)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_png_levels(tmp_path, rng, dtype) -> None:
    what = picture(rng, dtype, (90, 120, 1))
    sizes = {}
    for way in ("none", "0", "deflate:1", "6", "deflate", "9"):
        path = written(tmp_path, "a.png", what, Storage(compression=way))
        with PIL.open(path) as read:
            np.testing.assert_array_equal(np.asarray(read), what.pixels[:, :, 0])
        sizes[way] = path.stat().st_size
    assert sizes["none"] == sizes["0"] > what.pixels.nbytes
    assert sizes["deflate"] == sizes["6"] <= sizes["deflate:1"] < what.pixels.nbytes
    assert sizes["9"] <= sizes["6"]


TIFF = [*format_named("tif").codec.methods, "deflate:9", "zstd:9", "3"]


@each(way__dtype=thinned(pairs(TIFF, ("uint8", "uint16", "float16", "float32")), 4, arguments=2))
def test_tiff(tmp_path, rng, way, dtype) -> None:
    tags = {"none": 1, "lzw": 5, "deflate": 8, "zstd": 50000, "packbits": 32773, "3": 8}
    for shape in ((37, 53, 3), (1, 1, 1), (150, 311, 2)):
        what = picture(rng, dtype, shape)
        path = written(tmp_path, "a.tif", what, Storage(compression=way))
        with tifffile.TiffFile(path) as read:
            page = read.pages[0]
            assert page.tags["Compression"].value == tags[way.partition(":")[0]]
            np.testing.assert_array_equal(page.asarray().reshape(shape), what.pixels)
        # OpenImageIO lacks zstd, and multiplies colours by alpha.
        if not way.startswith("zstd") and not what.alpha:
            np.testing.assert_array_equal(by_openimageio(path)[1].reshape(shape), what.pixels)
        back = files.read(path)
        np.testing.assert_array_equal(back.pixels, what.pixels)
        assert back.pixels.dtype == dtype and back.alpha == what.alpha


@pytest.mark.parametrize("way", ["deflate:9", "packbits"])
def test_tiff_by_rows_is_the_same_file(tmp_path, rng, way) -> None:
    what, storage = picture(rng, "uint16", (701, 333, 3)), Storage(compression=way)
    whole = written(tmp_path, "whole.tif", what, storage).read_bytes()
    with files.writing(tmp_path / "rows.tif", what, storage=storage) as put:
        for start, stop in itertools.pairwise((0, 1, 2, 130, 131, 600, 701)):
            put(what.pixels[start:stop])
    assert (tmp_path / "rows.tif").read_bytes() == whole


def test_tiff_keeps_its_metadata(tmp_path, rng) -> None:
    with io.BytesIO() as file:
        exif = PIL.Exif()
        exif[0x010E] = "a meadow"
        PIL.new("RGB", (1, 1)).save(file, "PNG", exif=exif)
        block = PIL.open(file).info["exif"]
    metadata = files.Metadata(exif=bytes(block).removeprefix(b"Exif\0\0"), resolution=(72.0, 72.0, "in"))
    what = Picture(picture(rng, "uint8").pixels, metadata=metadata)
    path = written(tmp_path, "a.tif", what, Storage(compression="lzw"))
    with PIL.open(path) as read:
        assert read.getexif()[0x010E] == "a meadow" and read.info["dpi"] == (72, 72)
        np.testing.assert_array_equal(np.asarray(read), what.pixels)


@pytest.mark.parametrize(
    ("way", "dtype"),
    thinned(
        pairs([*format_named("exr").codec.methods, "zip:9", "zips:1", "dwaa:300"], ("float16", "float32")),
        4,
        arguments=2,
    ),
)
def test_exr(tmp_path, rng, way, dtype) -> None:
    what = picture(rng, dtype)
    path = written(tmp_path, "a.exr", what, Storage(compression=way))
    name = way.partition(":")[0]
    compression, pixels = by_openimageio(path)
    assert compression == name
    pixels = pixels.reshape(what.pixels.shape)
    if name in EXACT and (name, dtype) != ("pxr24", "float32"):
        np.testing.assert_array_equal(pixels, what.pixels)
    else:
        np.testing.assert_allclose(pixels, what.pixels, atol=0.1)


def test_levels_of_dwa_lose_more_for_less(tmp_path, rng) -> None:
    what = picture(rng, "float16", (80, 90, 3))
    sizes, errors = [], []
    for level in (400, 45, 5):
        path = written(tmp_path, "a.exr", what, Storage(compression=f"dwab:{level}"))
        pixels = by_openimageio(path)[1]
        sizes.append(path.stat().st_size)
        errors.append(np.abs(pixels.reshape(what.pixels.shape) - what.pixels).max())
    assert sizes == sorted(set(sizes)) and errors == sorted(set(errors), reverse=True)


def test_npz(tmp_path, rng) -> None:
    what = picture(rng, "uint8")
    sizes = [
        written(tmp_path, "a.npz", what, Storage(compression=way)).stat().st_size
        for way in ("none", "deflate")
    ]
    assert sizes[1] < sizes[0]
    np.testing.assert_array_equal(np.load(tmp_path / "a.npz")["pixels"], what.pixels)


@pytest.mark.parametrize(("name", "storage", "said"), [
    ("a.png", Storage(80), "PNG has no quality"),
    ("a.pfm", Storage(compression="zip"), "PFM has no choice of compression"),
    ("a.webp", Storage(subsampling="4:4:4"), "WebP knows the subsampling 4:2:0, not 4:4:4"),
    ("a.tif", Storage(subsampling="4:2:0"), "TIFF keeps all colours"),
    ("a.webp", Storage(80, compression="lossless"), "lossless WebP has no quality"),
    ("a.png", Storage(compression="lzw"), "PNG has no compression 'lzw': it has none, deflate"),
    ("a.png", Storage(compression="10"), "the level of deflate is 0 … 9, not 10"),
    ("a.exr", Storage(compression="piz:3"), "the compression piz of EXR has no level"),
    ("a.tif", Storage(compression="zstd:99"), "the level of zstd is 1 … 22, not 99"),
])  # fmt: skip
def test_refused(clpix, tmp_path, name, storage, said) -> None:
    with pytest.raises(ParameterError, match=said.replace("(", r"\(")):
        Job("there is none.png", Chain(FlipParams("both")), name, options=Options(storage=storage))
    with pytest.raises(ParameterError):
        files.write(tmp_path / name, Picture(np.zeros((2, 2, 3), np.float32)), storage=storage)
    options = [("quality", storage.quality), ("subsampling", storage.subsampling)]
    options += [("compression", storage.compression)]
    given = [part for key, value in options if value is not None for part in (f"--{key}", value)]
    run = clpix("flip", "there is none.png", "--axis", "both", "-o", tmp_path / name, *given)
    assert run.code == 2 and said in run.err and run.err.count("\n") == 1 and not any(tmp_path.iterdir())


@pytest.mark.parametrize("given", [("--quality", 0), ("--quality", 101), ("--subsampling", "4:1:1")])
def test_refused_by_themselves(clpix, tmp_path, given) -> None:
    run = clpix("flip", "none.png", "--axis", "both", "-o", tmp_path / "a.jpg", *given)
    assert run.code == 2 and str(given[1]) in run.err


def test_the_recipe_tells_them_apart() -> None:
    chain = Chain(FlipParams("both"))
    jobs = [Job("a", chain, "b.jpg", options=Options(storage=how)) for how in (Storage(), Storage(80))]
    jobs += [
        Job("a", chain, "b.tif", options=Options(storage=Storage(compression=c))) for c in ("lzw", "zstd")
    ]
    assert len({job.recipe for job in jobs}) == 4


def test_update_notices_another_quality(clpix, tmp_path, rng) -> None:
    files.write(tmp_path / "in.png", picture(rng, "uint8"))
    command = ("flip", tmp_path / "in.png", "--axis", "both", "-o", tmp_path / "out.jpg", "--update")
    command += ("--journal", tmp_path / "j")
    found = []
    for quality in (90, 90, 20):
        assert clpix(*command, "--quality", quality).code == 0
        found.append((tmp_path / "out.jpg").stat().st_ino)
    assert found[0] == found[1] != found[2]
    with PIL.open(tmp_path / "out.jpg") as ours:
        assert max(ours.quantization[0]) > 100


def test_what_a_chain_writes_on_the_way_has_its_own(clpix, tmp_path, rng) -> None:
    files.write(tmp_path / "in.png", picture(rng, "uint8"))
    recipe = tmp_path / "chain.toml"
    middle = ("write", tmp_path / "mid.tif", "--compression", "lzw")
    flip = ("--axis", "both")
    command = ("flip", tmp_path / "in.png", *flip, "--save-recipe", recipe, "-o", tmp_path / "out.jpg")
    run = clpix(*command, "--subsampling", "4:2:0", "then", *middle, "then", "flip", *flip)
    assert run.code == 0, run.err
    assert frame(tmp_path / "out.jpg")[1] == (2, 2)
    with tifffile.TiffFile(tmp_path / "mid.tif") as read:
        assert read.pages[0].compression.name == "LZW"
    step = [*Chain.from_toml(recipe.read_text())][1]
    assert step == WriteParams(str(tmp_path / "mid.tif"), compression="lzw")
    other = ("write", tmp_path / "other.tif", "--quality", 3)
    run = clpix("flip", tmp_path / "in.png", *flip, "-o", tmp_path / "b.png", "then", *other)
    assert run.code == 2 and "TIFF has no quality" in run.err, run.err
    assert not (tmp_path / "b.png").exists()


def test_spectra_and_coefficients_refuse_them(clpix, tmp_path) -> None:
    files.write(tmp_path / "in.png", Picture(np.zeros((8, 8, 3), np.uint8)))
    for command in ("fft", "dwt"):
        run = clpix(command, tmp_path / "in.png", "-o", tmp_path / "a.exr", "--compression", "zip")
        assert run.code == 2 and "leave out --compression" in run.err
    run = clpix("dwt", tmp_path / "in.png", "-o", tmp_path / "a.jpg", "--quality", 20)
    assert run.code == 0, run.err


def test_the_difference_of_compare(clpix, tmp_path, rng) -> None:
    files.write(tmp_path / "in.png", picture(rng, "uint8"))
    command = ("compare", tmp_path / "in.png", tmp_path / "in.png")
    assert clpix(*command, "--quality", 20).code == 2
    assert clpix(*command, "-o", tmp_path / "d.png", "--quality", 20).code == 2
    assert clpix(*command, "-o", tmp_path / "d.jpg", "--quality", 20, "--subsampling", "4:2:2").code == 0
    assert frame(tmp_path / "d.jpg")[1] == (2, 1)


def test_standard_output(clpix, tmp_path) -> None:
    files.write(tmp_path / "in.png", Picture(np.zeros((8, 8, 3), np.uint8)))
    command = ("flip", tmp_path / "in.png", "--axis", "both", "-o", "-", "--format", "png")
    run = clpix(*command, "--quality", 5)
    assert run.code == 2 and "stdout: PNG has no quality" in run.err
