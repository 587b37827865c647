"""Tests of ``clpix bloom``."""

import re
from pathlib import Path

import numpy as np
import pytest

from gpuops import Gpu, files
from gpuops.files import Picture
from gpuops.glow.bloom import bloom
from gpuops.image import Image
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.pixels.coding import download
from gpuops.tone import tonemap

from .choices import each
from .conftest import Run, in_blocks
from .reference import colour as colour_reference
from .tolerance import BLOOM


@pytest.fixture
def scene(tmp_path, rng) -> Path:
    """An HDR picture with a lamp."""
    pixels = rng.random((40, 56, 3)).astype(np.float32) * 0.2
    pixels[10:14, 20:25] = (80, 60, 20)
    path = tmp_path / "in.exr"
    files.write(str(path), Picture(pixels, linear=True), overwrite=False)
    return path


def planes(gpu: Gpu, path: Path) -> Image:
    return gpu.array(np.ascontiguousarray(files.read(str(path)).pixels.transpose(2, 0, 1)))


def hwc(image: Image) -> np.ndarray:
    return image.numpy().transpose(1, 2, 0)


def test_aperture(clpix, gpu, scene) -> None:
    out, blades = scene.with_name("out.exr"), ("--blades", 7, "--blade-angle", -20, "--roundness", 0.1)
    assert clpix("bloom", scene, "-o", out, *blades) == Run(0, "", "")
    params = BloomParams(method="fft", blades=7, blade_angle=-20.0, roundness=0.1)
    np.testing.assert_array_equal(files.read(str(out)).pixels, hwc(bloom(gpu, planes(gpu, scene), params)))


@pytest.mark.parametrize("memory", ["auto", "local"])
def test_tone_mapped(clpix, gpu, scene, memory) -> None:
    """The exposure is the input's; the threshold counts after it; a float input makes an 8-bit PNG."""
    out = scene.with_name("out.png")
    run = clpix("bloom", scene, "-o", out, "--tonemap", "agx", "--threshold", 2, "--reads", memory)
    assert (run.code, run.err) == (0, "")
    image = planes(gpu, scene)
    scale = tonemap.exposure(gpu, image, TonemapParams())
    stops = float(np.log2(scale))
    glowing = bloom(gpu, image, BloomParams(threshold=2.0, exposure=stops))
    params = TonemapParams(operator="agx", exposure=stops, transfer="linear")
    expected, _ = download(tonemap.tonemap(gpu, glowing, params), np.uint8, encode=True)
    result = files.read(str(out)).pixels
    assert result.dtype == np.uint8
    difference = np.abs(result.astype(int) - expected)
    assert difference.max() <= 1 and (difference > 0).mean() < 0.01


@pytest.mark.cases(1)
@each(
    channels=[1, 2, 3, 4],
    arguments=[
        ("--reads", "direct"), ("--reads", "local"), ("--strength", 0), ("--method", "gaussians"),
        ("--method", "fft"), ("--kernel", "star.exr"), ("--preset", "d3d11"),
    ],
)  # fmt: skip
def test_tone_mapped_is_bloom_then_tonemap(clpix, tmp_path, monkeypatch, rng, channels, arguments) -> None:
    """One command gives what two with a file of floats between give: also where alpha is small, or 0."""
    monkeypatch.chdir(tmp_path)
    alpha = channels % 2 == 0
    pixels = rng.random((40, 56, channels)).astype(np.float32) * 0.2
    pixels[10:14, 20:25, : channels - alpha] = 80
    if alpha:
        pixels[..., -1] = np.linspace(-0.2, 1.2, 56).clip(0, 1)
        pixels[pixels[..., -1] == 0] = 0
    files.write("in.exr", Picture(pixels, alpha=alpha, linear=True), overwrite=False)
    files.write("star.exr", Picture(rng.random((7, 7, 1), np.float32), linear=True), overwrite=False)
    at_once = clpix("bloom", "in.exr", "-o", "once.exr", *arguments, "--tonemap", "agx", "--exposure", 1)
    assert (at_once.code, at_once.err) == (0, "")
    # The Karis average dims the glow, and depends on exposure.
    damped = arguments[0] in ("--reads", "--strength")
    by_itself = (*arguments, "--exposure", 1) if damped else arguments
    assert clpix("bloom", "in.exr", "-o", "between.exr", "--dtype", "float", *by_itself).code == 0
    tonemap = ("tonemap", "between.exr", "-o", "two.exr", "--operator", "agx", "--exposure", 1)
    assert clpix(*tonemap).code == 0
    once, two = (files.read(name).pixels for name in ("once.exr", "two.exr"))
    assert once[..., : channels - alpha].max() <= 1
    np.testing.assert_allclose(once, two, rtol=0, atol=BLOOM["displayed"])


def test_repairs_are_counted(clpix, tmp_path) -> None:
    """Light below 0 and pixels that are not light are counted, whichever kernels repair them."""
    pixels = np.ones((40, 30, 3), np.float16)
    pixels[3, 4, 0], pixels[7, 7, 1], pixels[9:11, 9] = np.nan, np.inf, -2
    files.write(str(tmp_path / "in.exr"), Picture(pixels, linear=True), overwrite=False)
    arguments = ("--tonemap", "agx", "--strength", 0.01, "-o", tmp_path / "out.png", "--overwrite")
    for memory in ("direct", "local"):
        run = clpix("bloom", tmp_path / "in.exr", *arguments, "--reads", memory)
        assert run.code == 0 and run.err.count("\n") == 2 and "2 pixels were not finite" in run.err
        assert "repaired before tone mapping: 2 negative" in run.err


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["--strength", 2], 2, "strength must be 0 … 1 with the blend energy, not 2"),
    (["--radius", -1], 2, "radius must be from 0 to 1"),
    (["--method", "mip", "--kernel", "k.png"], 2, "only --method fft has that, not mip: leave out --kernel"),
    (["--method", "gaussians", "--blades", 5], 2, "leave out --blades"),
    (["--radius", 0.1, "--kernel", "k.png"], 2, "leave out --radius"),
    (["--blades", 5, "--reads", "local"], 2, "leave out --reads"),
    (["--blades", 2], 2, "blades must be a whole number from 3 to 32"),
    (["--preset", "d3d11", "--blades", 6], 2, "leave out --blades"),
    (["--kernel", "nowhere.png"], 1, "nowhere.png"),
    (["--preset", "d3d11", "--strength", 0.1], 2, "leave out --strength"), (["--border", "wrap"], 2, "wrap-x"),
    (["--tonemap", "nothing"], 2, "unknown operator 'nothing'"), (["--exposure", "bright"], 2, "exposure"),
], ids=str)  # fmt: skip
def test_refused(clpix, scene, arguments, code, message) -> None:
    out = scene.with_name("out.exr")
    run = clpix("bloom", scene, "-o", out, *arguments)
    assert run.code == code and message in run.err and not out.exists()


@pytest.mark.cases(1)
@each(way=["", "--no-fuse", "rows"], method=["mip", "gaussians"])
def test_hidden_colours_are_not_metered(clpix, tmp_path, monkeypatch, rng, way, method) -> None:
    """Colours under alpha 0 give no light: the geometric mean is that of the other pixels, as float64 has it."""
    codes = rng.integers(1, 65536, (40, 30, 4)).astype(np.uint16)
    codes[:, :15, 3], codes[:, :15, :3] = 0, 65535
    codes[:, 15:, :3] //= 8
    files.write(tmp_path / "in.png", Picture(codes, alpha=True))
    light = colour_reference.srgb_light(codes[:, 15:, :3] / 65535)
    stops = np.log2(0.18) - np.log2(light @ (0.2126, 0.7152, 0.0722)).mean()
    if way == "rows":
        in_blocks(monkeypatch, 1)
    options = ("--method", method, "--tonemap", "agx", "-v", *(way.split() if way != "rows" else ()))
    run = clpix("bloom", tmp_path / "in.png", *options, "-o", tmp_path / "out.png")
    found = re.search(r"exposure ([-+.\d]+) stops", run.err)
    assert run.code == 0 and found is not None and abs(float(found[1]) - stops) < 1e-3, run.err
