"""JPEG files that a decoder makes smaller before they are resized.

References are Pillow's own smaller decoding (``draft``) and matrices of weights in double precision, and the exact
resize by light.
"""

import io
import json
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import PIL.Image
import pytest
from PIL import ImageCms
from skimage import color, data

from gpuops import files
from gpuops.files import jpeg_decoding
from gpuops.ops.resize import ResizeParams, shrinks
from gpuops.ops.thumbnail import OPERATION as THUMBNAIL
from gpuops.ops.thumbnail import ThumbnailParams

from .choices import each, pairs
from .conftest import Run, in_blocks
from .reference.colour import srgb_light, srgb_signal
from .test_gain_map_moves import photograph
from .test_resize import KERNELS
from .test_turned_by_rows import UPRIGHT

Clpix = Callable[..., Run]

#: The kinds of JPEG files, as Pillow writes them.
KINDS: dict[str, dict[str, Any]] = {
    "4:4:4": {"subsampling": 0}, "4:2:2": {"subsampling": 1}, "4:2:0": {"subsampling": 2}, "gray": {},
    "progressive": {"progressive": True, "subsampling": 2}, "restarts": {"restart_marker_blocks": 3},
    "few codes": {"quality": 20, "optimize": True}, "RGB": {"keep_rgb": True},
}  # fmt: skip
#: Heights and widths: multiples of blocks and others, long ones, and the smallest.
SIZES = [(96, 128), (97, 131), (17, 4096), (2048, 9), (8, 8), (65, 66), (7, 9), (1, 1)]
SMALLER = "is decoded at 1/{} of its size"


def pattern(height: int, width: int, channels: int = 3) -> np.ndarray:
    """Smooth colours, edges and some noise."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    waves = [np.sin(x / 17 + k) * np.cos(y / 13 - k) for k in range(channels)]
    noise = np.random.default_rng(3).normal(0, 6, (height, width, channels))
    v = 128 + 70 * np.stack(waves, 2) + 40 * ((x // 20 + y // 15) % 2)[..., None] + noise
    return v.clip(0, 255).astype(np.uint8)


def saved(path: Path, pixels: np.ndarray, **options: Any) -> Path:
    PIL.Image.fromarray(pixels.squeeze(2) if pixels.shape[2] == 1 else pixels).save(
        path, **({"quality": 92} | options)
    )
    return path


def of_kind(path: Path, kind: str, height: int, width: int) -> Path:
    return saved(path, pattern(height, width, 1 if kind == "gray" else 3), **KINDS[kind])


def drafted(path: Path, by: int) -> np.ndarray:
    """What Pillow's decoder gives, made smaller."""
    with PIL.Image.open(path) as image:
        if by > 1:
            image.draft(None, (image.width // by, image.height // by))
        pixels = np.asarray(image)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


@pytest.mark.parametrize(("kind", "size", "by"), pairs(KINDS, SIZES, (1, 2, 4, 8)))
def test_samples_are_those_of_pillows_decoder(tmp_path, kind, size, by) -> None:
    if min(size) < 8 and by > 1:
        assert jpeg_decoding.divisor(by, *size) == 1
        return
    path = of_kind(tmp_path / "a.jpg", kind, *size)
    expected = drafted(path, by)
    result = jpeg_decoding.decoded(str(path), *size, expected.shape[2], by)
    assert result is not None and result.shape[:2] == (-(-size[0] // by), -(-size[1] // by))
    np.testing.assert_array_equal(result, expected)
    if by == 1:
        np.testing.assert_array_equal(files.read(path).pixels, expected)


def weights(whole: int, size: int, by: int, result: int, step: Fraction, filter: str) -> np.ndarray:
    """The weights (result, sample) of a side of ``whole`` pixels, of which a sample has ``by``, about its middle."""
    begin = np.array([float(((whole - result * step) / 2 + i * step) / by) for i in range(result)])[:, None]
    width, j = float(step / by), np.arange(size)
    if filter == "area":
        taken = np.clip(np.minimum(begin + width, j + 1) - np.maximum(begin, j), 0, None)
    else:
        taken = KERNELS[filter](abs(j + 0.5 - begin - width / 2) / max(width, 1))
    return np.asarray(taken / taken.sum(1, keepdims=True))


def resized(
    samples: np.ndarray, by: int, whole: tuple[int, int], size: tuple[int, int], fit: str, filter: str
) -> Any:
    """Light of ``samples``, resized in double, as codes of 8 bits; ``whole`` and ``size`` are heights and widths."""
    steps = [Fraction(old, new) for old, new in zip(whole, size, strict=True)]
    if fit == "cover":
        steps = [min(steps)] * 2
    y, x = (weights(whole[k], samples.shape[k], by, size[k], steps[k], filter) for k in (0, 1))
    light = np.einsum("ij,jkc,lk->ilc", y, srgb_light(samples / 255.0), x)
    return srgb_signal(light).clip(0, 1) * 255


def near(result: np.ndarray, expected: np.ndarray) -> None:
    """Codes of 8 bits, which float32's sums may round the other way."""
    assert result.shape == expected.shape
    assert np.abs(result - expected).max() < 0.51 and np.abs(result - np.rint(expected)).mean() < 0.01


def wanted(by: int) -> str:
    return SMALLER.format(by) if by > 1 else ""


def check_shrunk(run: Run, by: int) -> None:
    """That a command with -v says by how much the decoder has made its input smaller."""
    assert run.code == 0, run.err
    assert ("decoded at" in run.err) == (by > 1) and wanted(by) in run.err


@pytest.mark.cases(8)
@each(
    kind=KINDS,
    size=[(200, 301), (403, 160), (97, 801), (64, 64)],
    box=["9x9", "24x24", "37x30", "64x8", "700x600"],
    fit=["contain", "cover", "stretch"],
    filter=["lanczos3", "area", "mitchell", "catmull-rom"],
    name=["thumbnail", "resize"],
)
def test_light_of_the_smaller_picture_is_resized(clpix, tmp_path, kind, size, box, fit, filter, name) -> None:
    """Of what Pillow's decoder makes smaller; the edges stay where they are in sizes that are no multiples."""
    path, output = of_kind(tmp_path / "a.jpg", kind, *size), tmp_path / "out.png"
    sides = tuple(map(int, box.split("x")))
    result_size = _size(size, sides, fit, enlarge=name == "resize")
    steps = [Fraction(old, new) for old, new in zip(size, result_size, strict=True)]
    by = _most(min(steps))
    flag = ["--shrink-on-load"] * (name == "resize")
    run = clpix(name, path, "--size", box, "--fit", fit, "--filter", filter, *flag, "-o", output, "-v")
    check_shrunk(run, by)
    expected = resized(drafted(path, by), by, size, result_size, fit, filter)
    near(files.read(output).pixels, expected)


def _size(size: tuple[int, int], box: tuple[int, ...], fit: str, *, enlarge: bool) -> tuple[int, int]:
    """The height and width of a result."""
    if fit == "contain":
        factor = min(Fraction(box[1], size[0]), Fraction(box[0], size[1]))
        factor = factor if enlarge else min(factor, Fraction(1))
        return tuple(max(1, int(n * factor + Fraction(1, 2))) for n in size)  # type: ignore[return-value]
    return (box[1], box[0]) if enlarge else (min(box[1], size[0]), min(box[0], size[1]))


def test_never_below_twice_the_wanted_size() -> None:
    """By how much pictures about the limit become smaller, on the side that shrinks least."""
    for by, width, columns in (
        (2, 2400, 600),
        (1, 2400, 601),
        (2, 2399, 599),
        (4, 4800, 600),
        (2, 4799, 600),
    ):
        params = ResizeParams((columns, None), shrink_on_load=True)
        assert jpeg_decoding.divisor(shrinks(params, 1, width, width), width, width) == by
    assert shrinks(ResizeParams((10, 10)), 1, 1000, 1000) == 1
    assert shrinks(ResizeParams((10, 500), fit="stretch", shrink_on_load=True), 1, 1000, 1000) == 1
    assert shrinks(ResizeParams((100, 10), fit="cover", shrink_on_load=True), 1, 1000, 1000) == 5
    assert shrinks(ResizeParams(scale=(0.1, 0.2), shrink_on_load=True), 1, 1000, 1000) == 2


def _most(factor: int) -> int:
    return max(n for n in (1, 2, 4, 8) if n == 1 or 2 * n <= factor)


@pytest.mark.parametrize(
    ("orientation", "fit", "box"), pairs(range(1, 9), ("contain", "cover"), ("40x20", "20x40", "30"))
)
def test_pictures_are_turned_behind_it(clpix, tmp_path, orientation, fit, box) -> None:
    """The box is that of the upright picture: that of the stored one lies."""
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    size, path, output = (203, 322), tmp_path / "a.jpg", tmp_path / "out.png"
    saved(path, pattern(*size), exif=exif.tobytes())
    sides = tuple(map(int, box.split("x"))) * (2 if "x" not in box else 1)
    stored = sides[::-1] if orientation > 4 else sides
    result_size = _size(size, stored, fit, enlarge=False)
    by = _most(min(Fraction(old, new) for old, new in zip(size, result_size, strict=True)))
    run = clpix("thumbnail", path, "--size", box, "--fit", fit, "-o", output, "-v")
    check_shrunk(run, by)
    expected = resized(drafted(path, by), by, size, result_size, fit, "lanczos3")
    near(files.read(output).pixels, UPRIGHT[orientation](expected))
    assert files.read(output).metadata.orientation == 1


#: Photographs, and by how much the smaller decoding may differ from the exact resize: CIEDE2000 on average, and of 99
#: in 100 pixels; the peak signal to noise ratio in decibels, at least. docs/how-to/resize-for-the-web.md says it.
PHOTOGRAPHS = {"astronaut": (1.6, 8.0, 32.0), "coffee": (1.3, 8.5, 32.0), "chelsea": (0.8, 2.5, 42.0)}


@pytest.mark.cases(9)
@pytest.mark.parametrize(("name", "by"), [(name, by) for name in PHOTOGRAPHS for by in (2, 4, 8)])
def test_photographs_are_nearly_those_of_the_exact_resize(clpix, tmp_path, name, by) -> None:
    pixels = getattr(data, name)()
    pixels = np.ascontiguousarray(pixels[: pixels.shape[0] // 16 * 16, : pixels.shape[1] // 16 * 16])
    path = saved(tmp_path / "a.jpg", pixels, subsampling=2)
    results = []
    for flag in ("--shrink-on-load", "--no-shrink-on-load"):
        output = tmp_path / f"{flag}.png"
        run = clpix("thumbnail", path, "--size", max(pixels.shape) // (2 * by), flag, "-o", output, "-v")
        check_shrunk(run, by if flag == "--shrink-on-load" else 1)
        results.append(files.read(output).pixels / 255.0)
    differences = color.deltaE_ciede2000(*map(color.rgb2lab, results))
    mean, most, least = PHOTOGRAPHS[name]
    noise = -10 * np.log10(np.mean((results[0] - results[1]) ** 2))
    assert 0 < differences.mean() < mean and np.quantile(differences, 0.99) < most and noise > least


def test_fine_patterns_become_darker(clpix, tmp_path) -> None:
    """Black and white lines: the mean of light is 188 of 255, that of stored values 128."""
    lines = np.repeat((np.arange(512) % 2 * 255).astype(np.uint8)[None], 512, 0)
    path = saved(tmp_path / "a.jpg", np.repeat(lines[:, :, None], 3, 2), quality=100)
    for flag, level in (("--shrink-on-load", 128), ("--no-shrink-on-load", 188)):
        output = tmp_path / f"{flag}.png"
        assert clpix("thumbnail", path, "--size", 64, flag, "-o", output).code == 0
        assert abs(np.median(files.read(output).pixels) - level) <= 1


# What it is not done for -------------------------------------------------------------------------------------------


def _inks(path: Path) -> Path:
    PIL.Image.fromarray(pattern(160, 160)).convert("CMYK").save(path, quality=92)
    return path


def _deep(path: Path) -> Path:
    path.write_bytes(imagecodecs.jpeg_encode(pattern(160, 160).astype(np.uint16) << 4, 95, bitspersample=12))
    return path


def _lossless(path: Path) -> Path:
    path.write_bytes(imagecodecs.jpeg_encode(pattern(160, 160), bitspersample=8, lossless=True))
    return path


def _with_gain_map(path: Path) -> Path:
    path.write_bytes(photograph(16, 24))
    return path


def _usual(path: Path) -> Path:
    return saved(path, pattern(160, 160))


#: Files and options, and whether their command with and without ``--no-shrink-on-load`` is the same.
NOT_DONE: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "inks": (_inks, ("thumbnail", "--size", "20")),
    "12 bits": (_deep, ("thumbnail", "--size", "20")),
    "lossless": (_lossless, ("thumbnail", "--size", "20")),
    "gain map": (_with_gain_map, ("thumbnail", "--size", "12")),
    "data": (_usual, ("thumbnail", "--size", "20", "--input-colour", "data")),
    "behind a crop": (_usual, ("crop", "--region", "0,0,128,128", "then", "thumbnail", "--size", "20")),
    "behind a write": (
        _usual,
        ("resize", "--scale", "1", "then", "write", "@", "then", "thumbnail", "--size", "20"),
    ),
    "resize": (_usual, ("resize", "--size", "20x20")),
    "large": (_usual, ("thumbnail", "--size", "41")),
}


@pytest.mark.cases(99)
@pytest.mark.parametrize("name", NOT_DONE)
def test_where_it_would_change_more_it_is_not_done(clpix, tmp_path, name) -> None:
    """Nothing is made smaller, and the result is that of the whole picture."""
    write, (op, *options) = NOT_DONE[name]
    options = [str(tmp_path / "aside.png") if option == "@" else option for option in options]
    path = write(tmp_path / "a.jpg")
    run = clpix(op, path, *options, "-o", tmp_path / "a.tif", "-v", "--overwrite")
    check_shrunk(run, 1)
    if "thumbnail" in (op, *options):
        run = clpix(op, path, *options, "--no-shrink-on-load", "-o", tmp_path / "b.tif", "--overwrite")
        np.testing.assert_array_equal(*(files.read(tmp_path / f"{one}.tif").pixels for one in "ab"))


def test_without_memory_for_it_the_picture_comes_by_rows(clpix, tmp_path, monkeypatch) -> None:
    """A quarter of the pixels has no room as a whole, and rows have."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 1 << 10)
    path = saved(tmp_path / "a.jpg", pattern(800, 800))
    for memory, by in (("1M", 1), ("2M", 2)):
        output = tmp_path / f"{memory}.tif"
        run = clpix("thumbnail", path, "--size", 200, "--memory", memory, "-o", output, "-v")
        check_shrunk(run, by)
    assert clpix("thumbnail", path, "--size", 200, "--no-shrink-on-load", "-o", tmp_path / "a.tif").code == 0
    np.testing.assert_array_equal(*(files.read(tmp_path / f"{name}.tif").pixels for name in ("1M", "a")))


@pytest.mark.parametrize("flag", ["--shrink-on-load", "--no-shrink-on-load"])
def test_nearest_copies_pixels(clpix, tmp_path, flag) -> None:
    path = _usual(tmp_path / "a.jpg")
    run = clpix("resize", path, "--size", "20x20", "--filter", "nearest", flag, "-o", tmp_path / "a.png")
    refused = flag == "--shrink-on-load"
    assert run.code == 2 * refused and ("nearest copies pixels" in run.err) == refused


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _without_end(data: bytes) -> bytes:
    return data[:-2]


def _short(data: bytes) -> bytes:
    return data[:-90] + data[-2:]


@pytest.mark.parametrize("damage", [_cut, _without_end, _short])
@pytest.mark.parametrize("kind", ["4:2:0", "progressive", "gray"])
def test_damage_is_told_as_without_it(clpix, tmp_path, damage, kind) -> None:
    path = of_kind(tmp_path / "a.jpg", kind, 160, 160)
    path.write_bytes(damage(path.read_bytes()))
    runs = [
        clpix("thumbnail", path, "--size", 20, flag, "-o", tmp_path / "a.png", "--overwrite")
        for flag in ("--shrink-on-load", "--no-shrink-on-load")
    ]
    assert runs[0] == runs[1] and runs[0].code == (damage is not _without_end)
    assert len(runs[0].err.splitlines()) <= 1 and ("a.jpg" in runs[0].err or damage is _without_end)
    assert (tmp_path / "a.png").exists() == (damage is _without_end)


def test_damage_of_any_kind_ends_in_one_line(clpix, tmp_path, rng) -> None:
    """Bytes that are changed anywhere: a picture, or one line."""
    good = of_kind(tmp_path / "a.jpg", "4:2:0", 160, 160).read_bytes()
    for _ in range(60):
        some = bytearray(good)
        for at in rng.integers(2, len(some), 4):
            some[at] = rng.integers(256)
        (tmp_path / "a.jpg").write_bytes(some)
        run = clpix(
            "thumbnail", tmp_path / "a.jpg", "--size", 20, "-o", tmp_path / "a.png", "--overwrite", "-q"
        )
        assert run.code in (0, 1) and len(run.err.splitlines()) == run.code


# What goes along ---------------------------------------------------------------------------------------------------


def test_metadata_are_those_of_the_exact_resize(clpix, tmp_path) -> None:
    """Profile, resolution, comments of EXIF, and the subject's place, to which pixels of the file belong."""
    exif = PIL.Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a picture"
    exif.get_ifd(0x8769)[0x9214] = (101, 51, 33, 21)  # SubjectArea: the middle, and the size
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    path = tmp_path / "a.jpg"
    saved(path, pattern(160, 321), exif=exif.tobytes(), icc_profile=profile, dpi=(300, 300))
    for flag in ("--shrink-on-load", "--no-shrink-on-load"):
        assert clpix("thumbnail", path, "--size", 40, flag, "-o", tmp_path / f"{flag}.jpg").code == 0
    ours, theirs = (
        files.read(tmp_path / f"{flag}.jpg") for flag in ("--shrink-on-load", "--no-shrink-on-load")
    )
    assert ours.metadata == theirs.metadata and ours.metadata.icc and ours.metadata.resolution
    with PIL.Image.open(tmp_path / "--shrink-on-load.jpg") as image:
        assert (image.width, image.height) == (20, 40)
        tags = image.getexif()
        assert tags[0x010E] == "a picture" and tags.get(0x0112, 1) == 1
        x, y = tags.get_ifd(0x8769)[0x9214][:2]
        assert abs(x - (160 - 51) / 8) <= 1 and abs(y - 101 / 8) <= 1


@pytest.mark.parametrize("device", [(), ("--device-memory", "8M")])
def test_by_rows_as_on_the_whole(clpix, tmp_path, monkeypatch, device) -> None:
    """The smaller picture is in memory, and its rows flow."""
    exif = PIL.Image.Exif()
    exif[0x0112] = 8
    path = saved(tmp_path / "a.jpg", pattern(1203, 1601), exif=exif.tobytes())
    command = ("thumbnail", path, "--size", 301)
    check_shrunk(clpix(*command, "-o", tmp_path / "a.png", "-v"), 2)
    with monkeypatch.context() as patch:
        in_blocks(patch)
        check_shrunk(clpix(*command, *device, "-o", tmp_path / "b.png", "-v"), 2)
    np.testing.assert_array_equal(*(files.read(tmp_path / f"{name}.png").pixels for name in "ab"))


def test_reports_and_recipes(clpix, tmp_path) -> None:
    """The report of times has the number for each input; a recipe does the same; --explain says it."""
    names = [of_kind(tmp_path / f"{k}.jpg", "4:2:0", 160, 200) for k in range(3)]
    saved(tmp_path / "small.jpg", pattern(30, 30))
    inputs = [*names, tmp_path / "small.jpg"]
    report, recipe = tmp_path / "times.json", tmp_path / "web.toml"
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    run = clpix(
        "thumbnail", *inputs, "--size", 50, "then", "sharpen", "-o", tmp_path / "a", "--timing-file", report,
        "--save-recipe", recipe, "-v",
    )  # fmt: skip
    assert run.code == 0 and run.err.count(SMALLER.format(2)) == 3
    results = json.loads(report.read_text())["results"]
    assert {
        Path(one["input"]).name: one.get("shrunk_on_load") for one in results if "shrunk_on_load" in one
    } == {f"{k}.jpg": 2 for k in range(3)}
    assert clpix("run", recipe, *inputs, "-o", tmp_path / "b").code == 0
    change = ("--set", "thumbnail.shrink_on_load=false")
    assert clpix("run", recipe, *inputs, *change, "-o", tmp_path / "c").code == 0
    for path in inputs:
        a, b, c = ((tmp_path / folder / path.name).read_bytes() for folder in "abc")
        assert a == b and (a == c) == (path.name == "small.jpg")
    told = clpix("thumbnail", names[0], "--size", 50, "-o", tmp_path / "x.jpg", "--explain").out
    assert "100 × 80" in told and "decoded at 1/2" in told


def test_the_step_says_by_how_much() -> None:
    """Of a turned picture the box is turned."""
    assert THUMBNAIL.shrinks is not None
    params = ThumbnailParams((100, 50))
    assert THUMBNAIL.shrinks(params, 1, 800, 800) == 8 == THUMBNAIL.shrinks(params, 6, 800, 800)
    assert THUMBNAIL.shrinks(params, 1, 208, 1600) == 8 and THUMBNAIL.shrinks(params, 6, 208, 1664) == 16
    assert THUMBNAIL.shrinks(ThumbnailParams((100, 50), "cover"), 6, 400, 1600) == 2
    assert THUMBNAIL.shrinks(ThumbnailParams((100, 50)), 1, 50, 60) == 1
    assert THUMBNAIL.shrinks(ThumbnailParams((100, 50), shrink_on_load=False), 1, 800, 800) == 1


def test_a_header_that_claims_too_much_is_refused(clpix, tmp_path) -> None:
    path = of_kind(tmp_path / "a.jpg", "progressive", 64, 64)
    content = bytearray(path.read_bytes())
    at = content.index(b"\xff\xc2") + 5
    struct.pack_into(">HH", content, at, 65000, 65000)
    path.write_bytes(content)
    run = clpix("thumbnail", path, "--size", 20, "-o", tmp_path / "a.png")
    assert run.code == 1 and len(run.err.splitlines()) == 1 and not (tmp_path / "a.png").exists()


def test_standard_input(clpix, tmp_path, monkeypatch) -> None:
    path = of_kind(tmp_path / "a.jpg", "4:4:4", 160, 200)

    class Stream:
        buffer = io.BytesIO(path.read_bytes())

    monkeypatch.setattr("sys.stdin", Stream)
    check_shrunk(clpix("thumbnail", "-", "--size", 25, "-o", tmp_path / "a.png", "-v"), 4)
    check_shrunk(clpix("thumbnail", path, "--size", 25, "-o", tmp_path / "b.png", "-v"), 4)
    np.testing.assert_array_equal(*(files.read(tmp_path / f"{name}.png").pixels for name in "ab"))
