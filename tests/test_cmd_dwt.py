"""clpix dwt and idwt: pixels come back exactly, pictures look right, bad files are one clear line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pywt

from gpuops import files

from .choices import each
from .conftest import Run
from .reference.images import save
from .tolerance import DWT, SHRINK

# (height, width, channels, depth): single pixels and lines, primes, with and without alpha, and more than one tile.
PICTURES = [
    (1, 1, 1, "uint8"), (1, 7, 3, "uint16"), (17, 31, 4, "uint8"), (97, 101, 2, "uint16"),
    (97, 101, 4, "uint16"), (427, 640, 3, "uint8"),
]  # fmt: skip
WAYS = [
    [],
    ["--wavelet", "haar", "--method", "laan"],
    ["--wavelet", "dd13/7", "--method", "in-place"],
    ["--wavelet", "5/3", "--levels", "1", "-q"],
    ["--wavelet", "dd13/7", "--method", "filterbank"],
    ["--wavelet", "db3", "--mode", "symmetric", "--levels", "2", "-q"],
    ["--wavelet", "9/7", "--mode", "periodization", "--levels", "3", "-q"],
    ["--integer"],
    ["--integer", "--wavelet", "haar", "--mode", "periodization"],
    ["--integer", "--wavelet", "dd13/7", "--levels", "7", "-q"],
]


def random_pixels(rng: np.random.Generator, height: int, width: int, channels: int, dtype: str) -> np.ndarray:
    return rng.integers(0, np.iinfo(dtype).max + 1, (height, width, channels)).astype(dtype)


@pytest.fixture
def source(tmp_path, rng) -> Path:
    return save(tmp_path / "in.png", random_pixels(rng, 24, 40, 3, "uint8"))


@pytest.fixture
def coefficients(clpix, source, tmp_path) -> Path:
    path = tmp_path / "c.npz"
    assert clpix("dwt", source, "-o", path, "--levels", 1) == Run(0, "", "")
    return path


@pytest.mark.cases(1)
@each(way=WAYS, extension=["npz", "exr", "tif"])
def test_every_pixel_comes_back(clpix, rng, tmp_path, extension, way) -> None:
    for index, picture in enumerate(PICTURES):
        pixels = random_pixels(rng, *picture)
        source = save(tmp_path / f"{index}.png", pixels)
        between, back = tmp_path / f"{index}c.{extension}", tmp_path / f"{index}b.png"
        assert clpix("dwt", source, "-o", between, *way) == Run(0, "", "")
        assert clpix("idwt", between, "-o", back) == Run(0, "", "")
        result = files.read(back)
        assert (result.pixels.dtype, result.alpha) == (pixels.dtype, picture[2] in (2, 4))
        np.testing.assert_array_equal(result.pixels, pixels)


def stored(
    rng: np.random.Generator, folder: Path, picture: tuple[int, int, int, str]
) -> tuple[Path, np.ndarray]:
    """A file of noise, of which the upper part is weaker, and its pixels."""
    pixels = random_pixels(rng, *picture[:3], "uint8" if picture[3] == "float16" else picture[3])
    pixels[:150] //= 3
    if picture[3] != "float16":
        return save(folder / "in.png", pixels), pixels
    light = (pixels / 256).astype(np.float16)
    return save(folder / "in.exr", light, linear=True), light


def check_same(one: Path, other: Path) -> None:
    """Checks that two files of numbers, or of pixels, hold the same."""
    if one.suffix == ".npz":
        (whole, about), (split, about_split) = (files.read_data(path) for path in (one, other))
        assert list(whole) == list(split) and about == about_split
        for name in whole:
            np.testing.assert_array_equal(split[name], whole[name], name)
        return
    a, b = (files.read(path) for path in (one, other))
    assert (a.alpha, a.linear, a.pixels.dtype) == (b.alpha, b.linear, b.pixels.dtype)
    np.testing.assert_array_equal(b.pixels, a.pixels)


SPLIT = [
    ((500, 91, 4, "uint16"), []),
    ((601, 60, 3, "uint8"), ["--integer"]),
    ((601, 60, 3, "uint8"), ["--space", "linear", "--alpha", "drop"]),
    ((500, 90, 2, "uint8"), ["--wavelet", "db2", "--mode", "periodic", "--levels", "2"]),
    ((500, 91, 3, "float16"), ["--method", "strip"]),
    ((700, 90, 4, "uint8"), ["--levels", "0"]),
]


@pytest.mark.cases(1)
@pytest.mark.parametrize(("picture", "way"), SPLIT, ids=lambda value: "-".join(map(str, value)))
def test_what_exceeds_the_devices_memory_is_split(clpix, rng, tmp_path, picture, way) -> None:
    source, pixels = stored(rng, tmp_path, picture)
    suffix = source.suffix[1:]
    limit = 4 * pixels.size  # bytes of the samples, where their bands must fit as well
    arguments = ["--device-memory", limit, "--timing-file", tmp_path / "t.json", "--overwrite"]
    assert clpix("dwt", source, "-o", tmp_path / "whole.npz", *way) == Run(0, "", "")
    assert clpix("dwt", source, "-o", tmp_path / "split.npz", *way, *arguments) == Run(0, "", "")
    assert 0 < json.loads((tmp_path / "t.json").read_text())["totals"]["peak_device_bytes"] <= limit
    check_same(tmp_path / "whole.npz", tmp_path / "split.npz")
    for options in ([], ["--alpha", "drop"], ["--dtype", "uint16"]):
        if suffix == "exr" and "uint16" in options:
            continue
        for out, more in (("whole", []), ("split", arguments)):
            between, back = tmp_path / f"{out}.npz", tmp_path / f"{out}.{suffix}"
            more = more or ["--overwrite"]
            assert clpix("idwt", between, "-o", back, *options, *more) == Run(0, "", "")
        assert 0 < json.loads((tmp_path / "t.json").read_text())["totals"]["peak_device_bytes"] <= limit
        check_same(tmp_path / f"whole.{suffix}", tmp_path / f"split.{suffix}")


SHRINKING = [
    ["--shrink", "bayes", "-o", "out.npz"],
    ["--threshold", "visu:0.5", "--shrink", "garrote", "--wavelet", "db3", "-o", "out.npz"],
    ["--shrink", "visu", "--reconstruct"],
    ["--shrink", "bayes", "--reconstruct", "--cycle-spins", "2", "--wavelet", "haar"],
    ["--threshold", "0.05", "--reconstruct", "--dtype", "uint8", "-o", "out.png"],
    ["--keep", "3", "--json", "-o", "out.npz"],
    ["--keep", "3", "--reconstruct", "--mode", "periodization"],
    ["--keep", "3", "-o", "out.png"],
    ["--mode", "symmetric", "--levels", "3", "-o", "out.png"],
    ["--shrink", "visu", "-o", "out.png"],
]


@pytest.mark.cases(2)
@each(picture=[(300, 121, 4, "uint8"), (301, 220, 1, "uint16"), (331, 131, 3, "float16")], way=SHRINKING)
def test_what_is_done_to_coefficients_is_the_same_in_slabs(clpix, rng, tmp_path, picture, way) -> None:
    source, pixels = stored(rng, tmp_path, picture)
    *options, out = way if "-o" in way else [*way, "-o", f"out{source.suffix}"]
    limit = int(3.9 * 4 * pixels.size)
    told = []
    for folder, more in (("whole", []), ("slabs", ["--device-memory", limit])):
        (tmp_path / folder).mkdir()
        arguments = [*more, "--timing-file", tmp_path / "t.json", "--overwrite"]
        run = clpix("dwt", source, *options, tmp_path / folder / out, *arguments)
        assert run.code == 0
        figures = json.loads(run.out) if "--json" in way else {}
        psnr = figures.pop("psnr", 0.0)
        told.append((run.err.replace(folder, ""), figures or run.out.replace(folder, ""), psnr))
        if figures:
            figures["output"] = figures["output"].replace(folder, "")
    assert told[0][:2] == told[1][:2]
    assert told[0][2] == pytest.approx(
        told[1][2], rel=SHRINK["psnr"]
    )  # the parts are summed in another order
    assert 0 < json.loads((tmp_path / "t.json").read_text())["totals"]["peak_device_bytes"] <= limit
    check_same(tmp_path / "whole" / out, tmp_path / "slabs" / out)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "way",
    [["--keep", "3"], ["--integer"], ["--shrink", "visu", "--cycle-spins", "2", "--reconstruct"]],
    ids=lambda way: way[0],
)
def test_no_amount_of_memory_is_too_little_for_one_way_alone(clpix, rng, tmp_path, way) -> None:
    source = save(tmp_path / "in.png", random_pixels(rng, 350, 450, 1, "uint16"))
    for times in (4, 5.05, 6, 7.5, 9.9, 10.1):
        limit = int(times * 4 * 350 * 450)
        run = clpix("dwt", source, "-o", tmp_path / "o.png", *way, "--overwrite", "--device-memory", limit)
        assert run.code == 0, (times, run.err)


@pytest.mark.parametrize("options", [["--keep", "3"], []], ids=["keep", "all"])
def test_a_column_is_the_same_in_slabs(clpix, rng, tmp_path, options) -> None:
    """Two of a level's details have no coefficients."""
    source = save(tmp_path / "in.png", random_pixels(rng, 60000, 1, 1, "uint8"))
    for name, more in (("a.png", []), ("b.png", ["--device-memory", 240000 * 3])):
        assert clpix("dwt", source, "-o", tmp_path / name, "--levels", 2, *options, *more).code == 0
    first, second = (files.read(tmp_path / name).pixels for name in ("a.png", "b.png"))
    np.testing.assert_array_equal(first, second)


@pytest.mark.exhaustive
@each(method=["in-place", "strip"], channels__dtype=[(3, "float32"), (1, "uint8")])
def test_methods_in_place_save_memory(clpix, rng, tmp_path, method, channels, dtype) -> None:
    """They overwrite the image: parts of it that come and go take a little more, and strips a few percent."""
    pixels = random_pixels(rng, 1024, 1500, channels, "uint8")
    source = save(tmp_path / "in.tif", pixels if dtype == "uint8" else pixels.astype(dtype) / 255)
    image = 4 * 1024 * 1500 * channels
    arguments = ["--method", method, "--levels", 3, "--timing-file", tmp_path / "t.json", "--overwrite"]
    for out, more in (
        ("a", ["--device-memory", int((1.12 if method == "in-place" else 1.8) * image)]),
        ("b", ["--repeat", 2]),
    ):
        assert clpix("dwt", source, "-o", tmp_path / f"{out}.npz", *arguments, *more) == Run(0, "", "")
        peak = json.loads((tmp_path / "t.json").read_text())["totals"]["peak_device_bytes"]
        # A GPU's strips are larger, as more of them are done at a time.
        assert (peak <= (1.11 if method == "in-place" else 1.6) * image) == (out == "a")
    (first, _), (second, _) = (files.read_data(tmp_path / f"{out}.npz") for out in "ab")
    for name, band in first.items():
        np.testing.assert_array_equal(band, second[name], name)
    assert clpix("idwt", tmp_path / "a.npz", "-o", tmp_path / "back.tif") == Run(0, "", "")
    back, wanted = (files.read(path).pixels for path in (tmp_path / "back.tif", source))
    np.testing.assert_allclose(back, wanted, rtol=0, atol=0 if dtype == "uint8" else 2e-6)


def test_losses_of_slabs_are_told(clpix, rng, tmp_path) -> None:
    pixels = rng.standard_normal((700, 60, 3)).astype(np.float32)
    source = save(tmp_path / "in.exr", pixels, linear=True)
    assert clpix("dwt", source, "-o", tmp_path / "c.npz").code == 0
    whole, split = (
        clpix("idwt", tmp_path / "c.npz", "-o", tmp_path / name, "--dtype", "uint8", *more)
        for name, more in (("a.png", []), ("b.png", ["--device-memory", "500K"]))
    )
    assert "were outside the range" in whole.err and split == Run(0, "", whole.err.replace("a.png", "b.png"))


def test_too_little_memory_is_one_line(clpix, rng, tmp_path) -> None:
    source = save(tmp_path / "in.png", random_pixels(rng, 200, 300, 3, "uint8"))
    for options in (["-o", tmp_path / "c.npz"], ["-o", tmp_path / "p.png"]):
        run = clpix("dwt", source, *options, "--device-memory", "100K")
        assert (run.code, run.out, run.err.count("\n")) == (1, "", 1)
        assert run.err.startswith(f"clpix: error: {source}: ") and " need " in run.err
    save(tmp_path / "nan.exr", np.full((500, 100, 3), np.nan, np.float32), linear=True)
    run = clpix("dwt", tmp_path / "nan.exr", "-o", tmp_path / "c.npz", "--device-memory", "500K")
    assert (run.code, run.err.count("\n")) == (1, 1) and "nan.exr: holds NaN" in run.err
    assert not list(tmp_path.glob("c*"))


def test_float_pictures_come_back_as_floats(clpix, rng, tmp_path) -> None:
    pixels = rng.standard_normal((33, 50, 4)).astype(np.float32) * 100
    source = save(tmp_path / "in.exr", pixels, linear=True)
    assert clpix("dwt", source, "-o", tmp_path / "c.tif").code == 0
    assert clpix("idwt", tmp_path / "c.tif", "-o", tmp_path / "out.exr") == Run(0, "", "")
    back = files.read(tmp_path / "out.exr")
    assert (back.pixels.dtype, back.linear, back.alpha) == (np.float32, True, True)
    np.testing.assert_allclose(back.pixels, pixels, rtol=0, atol=DWT["round trip"] * np.abs(pixels).max())


@pytest.mark.filterwarnings("ignore:Level value")
def test_coefficients_are_pywts_of_the_stored_values(clpix, source, tmp_path) -> None:
    run = clpix("dwt", source, "-o", tmp_path / "c.npz", "--mode", "symmetric", "--levels", 2, "-q")
    assert run == Run(0, "", "")
    arrays, attributes = files.read_data(tmp_path / "c.npz")
    assert list(arrays) == ["cA2", "cH2", "cV2", "cD2", "cH1", "cV1", "cD1"]
    planes = np.moveaxis(files.read(source).pixels, 2, 0) / 255
    first, second, third = pywt.wavedec2(planes, "bior4.4", "symmetric", 2)
    for mine, theirs in zip(arrays.values(), (first, *second, *third), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=DWT["coefficients"] * np.abs(first).max())
    assert (attributes["wavelet"], attributes["mode"], attributes["levels"]) == ("bior4.4", "symmetric", 2)


def test_picture_of_the_pyramid(clpix, source, tmp_path) -> None:
    assert clpix("dwt", source, "-o", tmp_path / "p.png", "--levels", 2) == Run(0, "", "")
    shown = files.read(tmp_path / "p.png").pixels
    assert (shown.shape, shown.dtype) == ((26, 42, 3), np.uint8)
    assert 100 < np.median(shown[14:, 22:]) < 155  # zero is mid gray


@pytest.fixture
def noisy(rng, tmp_path) -> tuple[Path, np.ndarray]:
    """A gray picture of 16 bits with noise, and what it is without."""
    y, x = np.mgrid[:96, :128] / 96
    clean = 0.5 + 0.3 * np.sin(4 * x + 2 * y) * (x > 0.5)
    values = np.clip(clean + 0.05 * rng.standard_normal(clean.shape), 0, 1)
    return save(tmp_path / "noisy.png", np.rint(values * 65535).astype(np.uint16)[:, :, None]), clean


def error(path: Path, clean: np.ndarray) -> float:
    return float(np.sqrt(np.mean((files.read(path).pixels[:, :, 0] / 65535 - clean) ** 2)))


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [
    "--threshold 0.1",
    "--threshold 0.15 --shrink hard",
    "--shrink garrote --threshold bayes:1.5",
    "--threshold Visu:0.8 --wavelet sym4 --mode symmetric",
])  # fmt: skip
def test_shrinking_denoises(clpix, noisy, tmp_path, options) -> None:
    source, clean = noisy
    at_once, between, after = tmp_path / "once.png", tmp_path / "c.npz", tmp_path / "after.png"
    assert clpix("dwt", source, "-o", at_once, *options.split(), "--reconstruct") == Run(0, "", "")
    assert error(at_once, clean) < 0.6 * error(source, clean)
    assert clpix("dwt", source, "-o", between, *options.split()) == Run(0, "", "")
    assert clpix("idwt", between, "-o", after) == Run(0, "", "")
    np.testing.assert_array_equal(files.read(after).pixels, files.read(at_once).pixels)


def test_pictures_too_small_to_be_shrunk(clpix, tmp_path) -> None:
    pixels = np.arange(30, dtype=np.uint8).reshape(1, 30, 1)
    source = save(tmp_path / "line.png", pixels)
    run = clpix("dwt", source, "-o", tmp_path / "out.png", "--shrink", "visu", "--reconstruct")
    assert (run.code, run.err.count("\n")) == (0, 1)
    assert run.err.startswith(f"clpix: warning: {source}: 1×30 pixels are too few")
    np.testing.assert_array_equal(files.read(tmp_path / "out.png").pixels, pixels)


def test_denoised_pictures_keep_alpha_and_what_else_they_are(clpix, rng, tmp_path) -> None:
    pixels = random_pixels(rng, 30, 41, 4, "uint8") // 4 + 90
    source = save(tmp_path / "in.png", pixels)
    options = ("--shrink", "visu", "--reconstruct", "--overwrite")
    assert clpix("dwt", source, "-o", tmp_path / "out.png", *options) == Run(0, "", "")
    out = files.read(tmp_path / "out.png")
    assert (out.pixels.dtype, out.alpha) == (np.uint8, True)
    np.testing.assert_array_equal(out.pixels[:, :, 3], pixels[:, :, 3])
    assert out.pixels[:, :, :3].std() < 0.5 * pixels[:, :, :3].std()
    # With this option an .exr is a picture as well, in linear light.
    assert clpix("dwt", source, "-o", tmp_path / "out.exr", *options, "--dtype", "float") == Run(0, "", "")
    light = files.read(tmp_path / "out.exr")
    assert (light.pixels.dtype, light.linear, light.alpha) == (np.float32, True, True)
    assert clpix("dwt", source, "-o", tmp_path / "out.png", *options, "--alpha", "drop") == Run(0, "", "")
    assert files.read(tmp_path / "out.png").pixels.shape == (30, 41, 3)


@pytest.mark.cases(1)
@each(channels__dtype=[(3, "uint8"), (2, "uint16"), (4, "float32")], extension=["npz", "exr", "tif"])
def test_kept_coefficients_come_as_near_as_is_printed(
    clpix, rng, tmp_path, extension, channels, dtype
) -> None:
    y, x = np.mgrid[:96, :128, :channels][:2] / 96
    values = 0.5 + 0.3 * np.sin(4 * x + 2 * y) * (x > 0.5) + 0.02 * rng.standard_normal(x.shape)
    light = dtype == "float32"
    pixels = (values * 30).astype(dtype) if light else np.rint(values * np.iinfo(dtype).max).astype(dtype)
    kind = "exr" if light else "png"
    source = save(tmp_path / f"in.{kind}", pixels, linear=light)
    between, back = tmp_path / f"c.{extension}", tmp_path / f"back.{kind}"
    run = clpix("dwt", source, "-o", between, "--keep", 5)
    assert (run.code, run.err) == (0, "")
    colours = channels - (channels in (2, 4))
    count = 96 * 128 * colours
    assert run.out.startswith(f"{between}: {round(count / 20)} of {count} coefficients kept (5 %), PSNR ")
    assert clpix("idwt", between, "-o", back).code == 0
    compared = clpix("compare", source, back, "--metric", "psnr").out.split()
    assert run.out.split()[-2:] == compared[1:3] and compared[2] == "dB"
    at_once = tmp_path / f"once.{kind}"
    assert clpix("dwt", source, "-o", at_once, "--keep", 5, "--reconstruct").out.endswith(
        f" {compared[1]} dB\n"
    )
    np.testing.assert_array_equal(files.read(at_once).pixels, files.read(back).pixels)
    arrays, _ = files.read_data(between)
    assert sum(np.count_nonzero(array[:colours]) for array in arrays.values()) == round(count / 20)
    if colours == channels:  # alpha is stored without loss
        assert between.stat().st_size < 0.35 * 4 * count  # this includes headers


def test_what_is_kept_as_json(clpix, source, tmp_path) -> None:
    second = tmp_path / "second.png"
    second.write_bytes(source.read_bytes())
    run = clpix("dwt", source, second, "-o", tmp_path / "{stem}.npz", "--keep", 100, "--json")
    assert (run.code, run.err) == (0, "")
    for path, line in zip((source, second), run.out.splitlines(), strict=True):
        found = json.loads(line)
        assert found["threshold"] >= 0
        del found["threshold"]
        output = str(tmp_path / f"{path.stem}.npz")
        assert found == {
            "input": str(path), "output": output, "kept": 2880, "coefficients": 2880, "psnr": "inf",
        }  # fmt: skip


@pytest.mark.parametrize(("options", "message"), [
    (["--wavelet", "harr"], "unknown wavelet 'harr': did you mean 'haar'?"),
    (["--integer", "--wavelet", "9/7"], "no reversible integer form"),
    (["--integer", "--keep", 5], "goes without --threshold, --shrink and --keep"),
    (["--keep", 5, "--shrink", "bayes"], "--keep has a threshold of its own"),
    (["--keep", 0], "more than 0 and at most 100 %"),
    (["--reconstruct"], "would give the input back"),
    (["--cycle-spins", 2, "--shrink", "bayes"], "and --reconstruct"),
    (["--cycle-spins", 2, "--keep", 5, "--reconstruct"], "goes with --shrink or --threshold"),
    (["--denoise-space", "rgb"], "--denoise-space is where coefficients shrink"),
    (["--threshold", "bays"], "unknown threshold 'bays': did you mean 'bayes'?"),
    (["--threshold", "bayes", "--shrink", "visu"], "two estimates"),
    (["--json"], "--json prints what --keep came to"),
    (["--integer", "--space", "linear"], "goes without --space linear"),
    (["--shrink", "soft"], "needs a threshold"),
    (["--dtype", "uint8"], "no other --dtype"),
    (["--device-memory", "lots"], "'lots' is no size of memory"),
], ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "")  # fmt: skip
def test_bad_options(clpix, source, tmp_path, options, message) -> None:
    run = clpix("dwt", source, "-o", tmp_path / "c.npz", *options)
    assert (run.code, run.out) == (2, "") and message in run.err and not (tmp_path / "c.npz").exists()


def test_many_levels_are_a_warning(clpix, source, tmp_path) -> None:
    run = clpix("dwt", source, "-o", tmp_path / "c.npz", "--levels", 6)
    assert run.code == 0 and run.err.startswith("clpix: warning: 6 levels are more than 24×40")
    assert run.err.count("\n") == 1


def test_pictures_that_cannot_be_transformed(clpix, tmp_path) -> None:
    pixels = np.ones((20, 20, 1), np.float32)
    pixels[7, 3] = np.nan
    source = save(tmp_path / "nan.exr", pixels, linear=True)
    for options, message in [
        ([], "NaN or infinite pixels"),
        (["--shrink", "bayes", "--reconstruct"], "NaN or infinite pixels"),
        (["--keep", 5], "NaN or infinite pixels"),
        (["--integer"], "8- or 16-bit pixels"),
    ]:
        run = clpix("dwt", source, "-o", tmp_path / "c.npz", *options)
        assert (run.code, run.out, run.err.count("\n")) == (1, "", 1)
        assert run.err.startswith(f"clpix: error: {source}: ") and message in run.err
    assert not (tmp_path / "c.npz").exists()


def without(name: str) -> Callable[[dict[str, np.ndarray], dict[str, Any]], None]:
    return lambda arrays, attributes: (arrays if name in arrays else attributes).pop(name)


def put(name: str, value: Any) -> Callable[[dict[str, np.ndarray], dict[str, Any]], None]:
    def change(arrays: dict[str, np.ndarray], attributes: dict[str, Any]) -> None:
        (arrays if isinstance(value, np.ndarray) else attributes)[name] = value

    return change


def spoil(arrays: dict[str, np.ndarray], attributes: dict[str, Any]) -> None:
    arrays["cV1"][1, 2, 3] = np.nan


@pytest.mark.parametrize(("change", "message"), [
    (without("cH1"), "the band cH1 is missing"),
    (put("cD1", np.zeros((3, 11, 20), np.float32)), "the band cD1 has the shape (3, 11, 20)"),
    (put("cD1", np.zeros((3, 12, 20), np.int32)), "the band cD1 is int32"),
    (put("cH7", np.zeros((3, 1, 1), np.float32)), "the band cH7 does not belong"),
    (spoil, "the band cV1 holds NaN"),
    (put("levels", 2), "the band cA2 is missing"),
    (put("wavelet", "sinc"), "unknown wavelet 'sinc'"),
    (put("mode", 7), "'mode' is missing or makes no sense"),
    (put("integer", True), "no reversible integer form"),
    (put("shape", [3, 0, 40]), "'shape' is not three positive numbers"),
    (put("dtype", "complex64"), "'dtype' is none of"),
    (without("transform"), "holds no wavelet coefficients"),
    (put("alpha", True), "3 planes with alpha"),
    (put("shape", [5, 24, 40]), "5 planes without alpha"),
])  # fmt: skip
def test_bad_coefficient_files(clpix, coefficients, tmp_path, change, message) -> None:
    arrays, attributes = files.read_data(coefficients)
    change(arrays, attributes)
    bad = tmp_path / "bad.npz"
    files.write_data(bad, arrays, attributes)
    run = clpix("idwt", bad, "-o", tmp_path / "out.png")
    assert (run.code, run.out, run.err.count("\n")) == (1, "", 1)
    assert run.err.startswith(f"clpix: error: {bad}: ") and message in run.err
    assert not (tmp_path / "out.png").exists()


def test_files_that_are_no_coefficients(clpix, source, coefficients, tmp_path) -> None:
    foreign, light = tmp_path / "foreign.npz", tmp_path / "light.exr"
    np.savez(foreign, cA1=np.zeros((3, 4)), cD1=np.arange(4))
    save(light, np.ones((4, 5, 3), np.float32), linear=True)
    spectrum = tmp_path / "spectrum.npz"
    assert clpix("fft", source, "-o", spectrum).code == 0
    for path in (source, foreign, light, spectrum, tmp_path / "none.npz"):
        run = clpix("idwt", path, "-o", tmp_path / "out.png")
        assert (run.code, run.out, run.err.count("\n")) == (1, "", 1) and str(path) in run.err
    assert not (tmp_path / "out.png").exists()


@each(options=[[], ["--keep", 30]], extension=["npz", "exr", "tif"])
def test_files_that_are_cut_off(clpix, source, tmp_path, extension, options) -> None:
    whole, cut = tmp_path / f"whole.{extension}", tmp_path / f"cut.{extension}"
    assert clpix("dwt", source, "-o", whole, *options).code == 0
    content = whole.read_bytes()
    for length in (0, 3, 100, len(content) // 2, len(content) - 30):
        cut.write_bytes(content[:length])
        run = clpix("idwt", cut, "-o", tmp_path / "out.png")
        assert (run.code, run.out, run.err.count("\n")) == (1, "", 1)
        assert run.err.startswith(f"clpix: error: {cut}: ")
    assert not (tmp_path / "out.png").exists()
