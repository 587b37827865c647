"""Tests of ``clpix convolve``."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from gpuops import files
from gpuops.files import Picture

from .choices import each
from .tolerance import CONVOLVE_COMMAND as TOLERANCE
from .tolerance import ROUNDINGS


@pytest.fixture
def pictures(tmp_path, rng) -> Path:
    """Writes float files: in.exr in RGB, the gray kernel.exr, and rgb.exr, a kernel with colours."""
    for name, shape in (("in", (30, 41, 3)), ("kernel", (5, 8, 1)), ("rgb", (3, 3, 3))):
        pixels = rng.random(shape).astype(np.float32)
        files.write(str(tmp_path / f"{name}.exr"), Picture(pixels, linear=True), overwrite=False)
    return tmp_path


def pixels(path: Path) -> np.ndarray:
    return files.read(str(path)).pixels.astype(np.float64)


@each(kernel=["kernel", "rgb"], method=["auto", "local", "direct", "fft"], normalise=[True, False])
def test_result(clpix, pictures, kernel, method, normalise) -> None:
    out = pictures / "out.exr"
    run = clpix(
        "convolve", pictures / "in.exr", "-o", out, "--kernel", pictures / f"{kernel}.exr", "--method", method,
        "--border", "constant:0.25", "--normalise" if normalise else "--no-normalise",
    )  # fmt: skip
    assert (run.code, run.err) == (0, "")
    x, w = pixels(pictures / "in.exr"), pixels(pictures / f"{kernel}.exr")
    if normalise:
        w = w / w.sum((0, 1))
    expected = np.stack(
        [ndimage.convolve(x[..., c], w[..., c % w.shape[2]], mode="constant", cval=0.25) for c in range(3)],
        -1,
    )
    assert np.abs(pixels(out) - expected).max() <= TOLERANCE * expected.max()


def test_one_pixel_is_the_input(clpix, tmp_path, rng) -> None:
    image = rng.integers(0, 256, (20, 30, 3)).astype(np.uint8)
    files.write(str(tmp_path / "in.png"), Picture(image), overwrite=False)
    files.write(str(tmp_path / "one.png"), Picture(np.full((1, 1, 1), 77, np.uint8)), overwrite=False)
    run = clpix("convolve", tmp_path / "in.png", "-o", tmp_path / "out.png", "--kernel", tmp_path / "one.png")
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(files.read(str(tmp_path / "out.png")).pixels, image)


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["--kernel", "nowhere.png"], 1, "nowhere.png"),
    (["--kernel", "kernel.exr", "--border", "round"], 2, "unknown border"),
    (["--kernel", "kernel.exr", "--border", "constant:nan"], 2, "finite number"),
    (["--kernel", "kernel.exr", "--method", "fast"], 2, "--method"),
    ([], 2, "--kernel"),
])  # fmt: skip
def test_refused(clpix, pictures, monkeypatch, arguments, code, message) -> None:
    monkeypatch.chdir(pictures)
    run = clpix("convolve", "in.exr", "-o", "out.exr", *arguments)
    assert run.code == code and message in run.err and not (pictures / "out.exr").exists()


def write(path: Path, values: Any) -> Path:
    files.write(str(path), Picture(np.array(values, np.float32), linear=True), overwrite=False)
    return path


def test_negative_kernels(clpix, pictures) -> None:
    """Normalised, a kernel of negative sum changes its sign; as it is, values below 0 stay in a file of floats."""
    kernel, out, x = (
        write(pictures / "k.exr", [[[-2.0], [-2.0]]]),
        pictures / "out.exr",
        pixels(pictures / "in.exr"),
    )
    for options, factor in ((("--normalise",), 0.5), (("--no-normalise",), -2.0)):
        run = clpix("convolve", pictures / "in.exr", "-o", out, "--kernel", kernel, "--overwrite", *options)
        assert (run.code, run.err) == (0, "")
        expected = np.stack([ndimage.convolve(x[..., c], np.full((1, 2), factor)) for c in range(3)], -1)
        np.testing.assert_allclose(pixels(out), expected, rtol=TOLERANCE, atol=ROUNDINGS)


def test_what_is_not_finite_is_said_to_spread(clpix, tmp_path) -> None:
    x = np.ones((20, 20, 1))
    x[9, 9] = np.nan
    kernel = write(tmp_path / "kernel.exr", np.ones((3, 5, 1)))
    run = clpix("convolve", write(tmp_path / "in.exr", x), "-o", tmp_path / "out.exr", "--kernel", kernel)
    assert run.code == 0 and run.err.count("\n") == 1
    assert "1 value is NaN or infinite and spoils the result up to 2 pixels away" in run.err
    assert np.isnan(pixels(tmp_path / "out.exr")).sum() == 15
