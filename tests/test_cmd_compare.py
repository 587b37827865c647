"""clpix compare: figures on stdout, the verdict as exit code, a picture of the difference."""

import json
from pathlib import Path

import numpy as np
import pytest
from skimage import metrics

from gpuops import files

from .reference.colour import srgb_light
from .reference.images import save
from .tolerance import COMPARE, DOUBLE


@pytest.fixture
def pixels(rng) -> np.ndarray:
    return rng.integers(0, 256, (24, 40, 3), np.uint8)


@pytest.fixture
def two(tmp_path, pixels, rng) -> tuple[Path, Path]:
    """A picture and one that differs by at most 9 levels."""
    noise = rng.integers(-9, 10, pixels.shape)
    noise[0, 0, 0] = 9 if pixels[0, 0, 0] < 128 else -9
    other = np.clip(pixels.astype(int) + noise, 0, 255).astype(np.uint8)
    return save(tmp_path / "a.png", pixels), save(tmp_path / "b.png", other)


def test_equal_pictures(clpix, two) -> None:
    run = clpix("compare", two[0], two[0])
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines() == [
        "max   0 (0 of 255 levels)", "rmse  0", "psnr  inf dB", "ssim  1.000000", "equal",
    ]  # fmt: skip


def test_figures_are_those_of_skimage(clpix, two) -> None:
    run = clpix("compare", *two, "--json")
    assert (run.code, run.err) == (1, "")
    result = json.loads(run.out)
    a, b = (files.read(path).pixels / 255 for path in two)
    mse = metrics.mean_squared_error(a, b)
    ssim = metrics.structural_similarity(
        a, b, data_range=1, channel_axis=2, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    assert result["max"] == pytest.approx(np.abs(a - b).max(), rel=DOUBLE) == 9 / 255
    assert result["rmse"] == pytest.approx(mse**0.5, rel=COMPARE["mse"])
    assert result["psnr"] == pytest.approx(
        metrics.peak_signal_noise_ratio(a, b, data_range=1), abs=COMPARE["psnr"]
    )
    assert result["ssim"] == pytest.approx(ssim, abs=COMPARE["ssim"]) and result["values"] == a.size
    assert result["differing"] == (a != b).sum()
    assert (result["width"], result["height"], result["channels"], result["space"]) == (40, 24, 3, "encoded")
    assert (result["alike"], result["difference"]) == (False, None)


@pytest.mark.parametrize(("thresholds", "code", "verdict"), [
    (["--max-error", 0.0353], 0, "alike within the thresholds"),
    (["--max-error", 0.0352], 1, "max-error allows 0.0352"),
    (["--min-psnr", 20, "--min-ssim", 0.5], 0, "alike within the thresholds"),
    (["--min-psnr", 90, "--min-ssim", 0.5], 1, "min-psnr needs 90"),
    (["--min-psnr", 90, "--min-ssim", 1], 1, "min-ssim needs 1"),
    ([], 1, "values differ"),
])  # fmt: skip
def test_thresholds(clpix, two, thresholds, code, verdict) -> None:
    run = clpix("compare", *two, *thresholds)
    assert (run.code, run.err) == (code, "") and verdict in run.out.splitlines()[-1]


def test_only_the_metrics_asked_for(clpix, two) -> None:
    run = clpix("compare", *two, "--metric", "psnr", "--metric", "max", "--min-psnr", 1)
    assert run.code == 0
    words = [line.split()[0] for line in run.out.splitlines()]
    assert (words[:2], words[-1], len(words)) == (["max", "psnr"], "alike", 5)
    assert "ssim" not in json.loads(clpix("compare", *two, "--metric", "max", "--json").out)


def test_json_has_no_numbers_that_json_lacks(clpix, two) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    result = json.loads(clpix("compare", two[0], two[0], "--json").out, parse_constant=refuse)
    assert (result["psnr"], result["alike"]) == ("inf", True)


def test_difference_picture(clpix, two, tmp_path) -> None:
    target = tmp_path / "d.png"
    run = clpix("compare", *two, "-o", target)
    assert (run.code, run.err) == (1, "")
    name, _, factor = run.out.splitlines()[-1].rpartition(" × ")
    assert name == f"{target}: differences"
    shown = files.read(target).pixels
    assert shown.dtype == np.uint8
    a, b = (files.read(path).pixels.astype(float) for path in two)
    expected = np.minimum(np.abs(a - b) * float(factor), 255)  # the factor is printed to 4 digits
    assert np.abs(shown - expected).max() <= 1 and (shown[a == b] == 0).all()
    assert np.sqrt(np.mean((shown / 255.0) ** 2)) == pytest.approx(0.25, abs=0.01)
    run = clpix("compare", *two, "-o", target)
    assert run.code == 2 and "exists" in run.err
    assert clpix("compare", two[0], two[0], "-o", target, "--overwrite").code == 0
    assert not files.read(target).pixels.any()


def test_linear_against_encoded_says_what_is_compared(clpix, tmp_path, pixels) -> None:
    v = pixels / 255
    light = srgb_light(v).astype(np.float32)
    paths = save(tmp_path / "a.png", pixels), save(tmp_path / "a.pfm", light, linear=True)
    run = clpix("compare", *paths, "--max-error", 1e-5)
    assert (run.code, run.err) == (0, "") and run.out.startswith("compared as encoded values (sRGB)\n")
    run = clpix("compare", *paths, "--max-error", 1e-5, "--space", "linear")
    assert run.code == 0 and run.out.startswith("compared as linear values\n")


def test_small_pictures_have_no_ssim(clpix, tmp_path) -> None:
    paths = [save(tmp_path / f"{k}.png", np.full((10, 30, 1), k, np.uint8)) for k in range(2)]
    run = clpix("compare", *paths)
    assert run.code == 1 and "11×11 pixels" in run.out
    assert json.loads(clpix("compare", *paths, "--json").out)["ssim"] is None
    assert clpix("compare", paths[0], paths[0], "--min-ssim", 0.5).code == 0  # equal all the same
    run = clpix("compare", *paths, "--min-ssim", 0.5)
    assert (run.code, run.out) == (2, "") and "11×11" in run.err


def test_what_cannot_be_compared_is_exit_code_2_and_one_line(clpix, two, tmp_path, pixels) -> None:
    a = two[0]
    gray = save(tmp_path / "gray.png", pixels[..., :1])
    alpha = save(tmp_path / "alpha.png", np.concatenate([pixels, pixels[..., :1] | 1], axis=2))
    small = save(tmp_path / "small.png", pixels[:9])
    text = tmp_path / "text.png"
    text.write_text("not a picture")
    cut = tmp_path / "cut.png"
    cut.write_bytes(a.read_bytes()[:200])
    target = tmp_path / "d.png"
    for args, word in (
        ([a, tmp_path / "none.png"], "no such file"),
        ([a, tmp_path], "folder"),
        ([a, text], "text.png"),
        ([a, cut], "cut.png"),
        ([a, gray], "RGB and gray"),
        ([a, alpha], "RGB and RGBA; --alpha drop"),
        ([a, small], "40×24 and 40×9"),
        ([a, a, "--max-error", -1], "0 or more"),
        ([a, a, "--min-ssim", "nan"], "must be a number"),
    ):
        run = clpix("compare", *args, "-o", target)
        assert (run.code, run.out) == (2, ""), args
        assert run.err.startswith("clpix: error: "), run.err
        assert run.err.count("\n") == 1, run.err
        assert word in run.err and not target.exists()
    assert clpix("compare", a, alpha, "--alpha", "drop").code == 0
    for output, word in (
        (a, "input"),
        (tmp_path / "no" / "d.png", "does not exist"),
        (tmp_path / "d.xyz", "unknown"),
    ):
        run = clpix("compare", a, a, "-o", output)
        assert (run.code, run.err.count("\n")) == (2, 1) and word in run.err


@pytest.mark.parametrize("args", [["-o", "-"], ["--metric", "mse"]])
def test_usage(clpix, two, args) -> None:
    run = clpix("compare", *two, *args)
    assert (run.code, run.out) == (2, "")
