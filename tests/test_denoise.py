"""The operation denoise: its parameters, and what it makes, against PyWavelets and the older spelling."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import pywt

from gpuops import ParameterError, files
from gpuops.batch.memory import MemoryPromise
from gpuops.ops.denoise import OPERATION as denoise
from gpuops.ops.denoise import DenoiseParams
from gpuops.params.dwt import DwtParams, ShrinkParams

from . import tolerance
from .conftest import in_blocks
from .reference.images import shades_and_edges

IDENTITIES = [DenoiseParams(level=0.0), DenoiseParams(levels=0)]


@pytest.mark.parametrize(("space", "shrink"), [("rgb", "visu"), ("opponent", "visu"), ("ycbcr", "bayes")])
def test_a_noise_that_is_given(gpu, rng, space, shrink) -> None:
    """Thresholds are those of its standard deviation, in each space of colours; alpha is copied."""
    x = rng.random((4, 40, 56)).astype(np.float32)
    level, matrix = 0.05, np.eye(3)
    if space == "opponent":
        matrix = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])
    elif space == "ycbcr":
        y = np.array([0.299, 0.587, 0.114])
        matrix = np.stack([y, (np.eye(3)[2] - y) / 1.772, (np.eye(3)[0] - y) / 1.402])
    planes = np.tensordot(matrix, x[:3].astype(float), 1)
    clean = []
    for plane, row in zip(planes, matrix, strict=True):
        approximation, *details = pywt.wavedec2(plane, "db4", "symmetric", level=2)
        bands = [band for level_ in details for band in level_]
        sigma = level * np.linalg.norm(row)
        count = approximation.size + sum(band.size for band in bands)
        limits = [sigma * math.sqrt(2 * math.log(count))] * len(bands)
        if shrink == "bayes":
            signal = [math.sqrt(max(np.mean(band**2) - sigma**2, 1e-300)) for band in bands]
            limits = [sigma**2 / deviation for deviation in signal]
        soft = iter([pywt.threshold(band, t, "soft") for band, t in zip(bands, limits, strict=True)])
        shrunk = [tuple(next(soft) for _ in level_) for level_ in details]
        clean.append(pywt.waverec2([approximation, *shrunk], "db4", "symmetric"))
    expected = np.tensordot(np.linalg.inv(matrix), np.array(clean), 1)
    image = gpu.array(x)
    image.alpha = True
    found = denoise(gpu, image, DenoiseParams(level, shrink, denoise_space=space, wavelet="db4", levels=2))
    assert found.alpha
    np.testing.assert_array_equal(found.numpy()[3], x[3])
    np.testing.assert_allclose(found.numpy()[:3], expected, rtol=0, atol=tolerance.SHRINK["colours"])


@pytest.mark.cases(2)
@pytest.mark.parametrize("options", [
    ("--shrink", "bayes"),
    ("--threshold", "visu:0.5", "--shrink", "hard", "--denoise-space", "rgb", "--wavelet", "haar"),
    ("--threshold", "0.05", "--cycle-spins", "2", "--levels", "3", "--mode", "periodization"),
], ids=str)  # fmt: skip
def test_it_is_what_dwt_reconstructs(clpix, tmp_path, rng, options) -> None:
    scene = np.moveaxis(shades_and_edges()[:3], 0, 2)
    noisy = np.clip(0.1 + 0.8 * scene + 0.05 * rng.standard_normal(scene.shape), 0, 1)
    files.write(tmp_path / "in.png", files.Picture(np.rint(255 * noisy).astype(np.uint8)))
    for name, command in (("step", ("denoise",)), ("old", ("dwt", "--reconstruct"))):
        run = clpix(command[0], tmp_path / "in.png", *command[1:], *options, "-o", tmp_path / f"{name}.png")
        assert run.code == 0 and not run.err
    step, old = (files.read(tmp_path / f"{name}.png").pixels for name in ("step", "old"))
    np.testing.assert_array_equal(step, old)


BY_ROWS = [
    (),
    ("--threshold", "visu:0.5", "--denoise-space", "rgb", "--wavelet", "haar", "--levels", "2"),
    ("--cycle-spins", "3", "--levels", "3", "--mode", "periodization"),
    ("--wavelet", "db4", "--mode", "smooth", "--shrink", "garrote", "--denoise-space", "ycbcr"),
    ("--level", "0.1", "--method", "filterbank", "then", "blur", "--sigma", "2"),
    ("then", "rotate", "--angle", "90", "then", "denoise", "--levels", "1", "then", "tonemap"),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("place", ["memory", "scratch"])
@pytest.mark.parametrize("options", BY_ROWS, ids=str)
@pytest.mark.parametrize(
    ("name", "shape"), [("in.png", (1201, 97, 4)), ("in.exr", (700, 61, 3)), ("in.tif", (90, 233, 1))]
)
def test_rows_are_the_whole(clpix, rng, tmp_path, monkeypatch, options, place, name, shape) -> None:
    """Planes and coefficients are kept in memory or in files, and are worked on in several slabs."""
    values = rng.random(shape).astype(np.float32) if name == "in.exr" else rng.integers(0, 65536, shape)
    pixels = values.astype(np.float32 if name == "in.exr" else np.uint16)
    files.write(tmp_path / name, files.Picture(pixels, shape[2] == 4, name == "in.exr"))
    command = ("denoise", tmp_path / name, *options, "-o")
    whole = clpix(*command, tmp_path / f"whole-{name}")
    assert whole.code == 0, whole.err
    (tmp_path / "scratch").mkdir()
    in_blocks(monkeypatch)
    monkeypatch.setattr(
        "gpuops.batch.memory.MemoryPromise.slab_bytes", lambda promise, number: least(promise, number)
    )
    if place == "scratch":
        monkeypatch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
        command = (*command[:-1], "--scratch", tmp_path / "scratch", "-o")
    rows = clpix(*command, tmp_path / f"rows-{name}")
    assert rows.code == 0 and rows.err.replace("rows-", "whole-") == whole.err, rows.err
    found, expected = (files.read(tmp_path / f"{kind}-{name}").pixels for kind in ("rows", "whole"))
    np.testing.assert_array_equal(found, expected)
    assert not list((tmp_path / "scratch").iterdir())


def least(promise: MemoryPromise, number: int) -> int:
    """The bytes of the device's memory that a step in slabs needs at least."""
    end = promise.segments[number].end
    assert end is not None and end.slabbed is not None
    return end.slabbed.least


def test_too_little_room(clpix, rng, tmp_path, monkeypatch) -> None:
    """One line says how much the host's, or the device's, memory should be, and that works."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    files.write(tmp_path / "in.tif", files.Picture(rng.integers(0, 256, (900, 200, 3)).astype(np.uint8)))
    command = ("denoise", tmp_path / "in.tif", "-o", tmp_path / "out.tif", "--overwrite")
    for option, least_said in (
        ("--memory", r"raise --memory to (\d+)K"),
        ("--device-memory", r"need ([\d.]+) MB"),
    ):
        run = clpix(*command, option, "10K")
        assert run.code == 1 and len(run.err.splitlines()) == 1 and not (tmp_path / "out.tif").exists()
        found = re.search(least_said, run.err)
        assert found is not None, run.err
        enough = f"{found[1]}K" if option == "--memory" else f"{math.ceil(float(found[1]) * 1e6)}"
        assert clpix(*command, option, enough).code == 0
        (tmp_path / "out.tif").unlink()


def test_words_of_the_command_line() -> None:
    assert DenoiseParams().shrinking == ShrinkParams("bayes", space="opponent")
    assert DenoiseParams(shrink="hard").shrinking == ShrinkParams("hard", estimate="bayes", space="opponent")
    assert DenoiseParams(threshold="0.1").shrinking == ShrinkParams("soft", 0.1, space="opponent")
    assert DenoiseParams("0.1", "visu", "2").shrinking == ShrinkParams("visu", 2, None, "opponent", 0.1)
    assert DenoiseParams(wavelet="db4").transform == DwtParams("db4", "symmetric", method="filterbank")
    for bad in ({"level": "-1"}, {"level": 0.1, "threshold": "0.1"}, {"threshold": "bays"}, {"wavelet": "x"}):
        with pytest.raises(ParameterError):
            DenoiseParams(**bad)
