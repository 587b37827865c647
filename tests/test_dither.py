"""--dither: noise before integers are rounded; its mean, variance and spectrum, and what it leaves alone."""

from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.batch.job import Job, Options
from gpuops.chain import Chain
from gpuops.files import Picture
from gpuops.ops.flip import FlipParams
from gpuops.params.dither import NOISES, Dither
from gpuops.pixels.coding import Encoding, losses, pack

from .choices import each
from .conftest import in_blocks


def light(codes: np.ndarray) -> np.ndarray:
    """The linear light of sRGB's codes, whole or not (IEC 61966-2-1)."""
    v = codes / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("encode", [True, False])
def test_mean_and_variance_are_those_of_triangular_noise(gpu, noise, encode) -> None:
    """Noise of ±1 with a triangular distribution: the rounded values have the mean of the exact ones, and an error
    whose variance is 1/6 + 1/12 whatever they are (Wannamaker et al., 2000). The bound is five standard errors."""
    size = 128
    for code in (1.25, 40.5, 117.9, 253.3):
        value = light(np.array(code)) if encode else code / 255
        image = gpu.array(np.full((3, size, size), value, np.float32))
        pixels, lost = pack(image, Encoding(np.dtype(np.uint8), encode=encode, dither=Dither(noise, 3)))
        assert losses(lost) == (0, 0)
        error = pixels.numpy().astype(float) - code
        assert abs(error.mean()) < 5 * np.sqrt(0.25 / error.size) and abs(error.var() - 0.25) < 0.02
        for channel in range(3):  # channels have noise of their own
            assert np.any(error[..., channel] - error[..., (channel + 1) % 3])


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("encode", [True, False])
def test_whole_codes_stay(planned, dtype, encode) -> None:
    """Every code, by the way of light and back, and NaN, infinities and what does not fit."""
    most = np.iinfo(dtype).max
    codes = np.arange(most + 1, dtype=np.float64)
    values = light(codes / most * 255) if encode else codes / most
    further = np.array([-0.5, 1.5, np.nan, np.inf])
    image = planned.array(np.concatenate((values, further)).astype(np.float32)[None, None])
    pixels, lost = pack(image, Encoding(np.dtype(dtype), encode=encode, dither=Dither()))
    expected = [*range(most + 1), 0, most, 0, most]
    np.testing.assert_array_equal(pixels.numpy().reshape(-1), expected)
    assert losses(lost) == (2, 2)


def test_alpha_is_only_rounded(gpu) -> None:
    image = gpu.array(np.full((2, 32, 32), 100.4 / 255, np.float32))
    image.alpha = True
    pixels, _ = pack(image, Encoding(np.dtype(np.uint8), dither=Dither()))
    found = pixels.numpy()
    assert np.all(found[..., 1] == 100) and len(np.unique(found[..., 0])) > 1


def gradient(path: Path, shape: tuple[int, int] = (67, 45)) -> Path:
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    values = np.stack([rows / shape[0], columns / shape[1], 0.2 + 0 * rows], 2).astype(np.float32)
    files.write(path, Picture(values, linear=True))
    return path


COMMANDS = [
    ("convert",),
    ("blur", "--sigma", "2"),
    ("flip", "--axis", "horizontal"),
    ("bloom", "--tonemap", "agx"),
    (
        "sharpen", "then", "tonemap", "--exposure", "0", "--transfer", "gamma:2.2", "then", "flip",
        "--axis", "both",
    ),
    ("tonemap", "--exposure", "0", "--colour", "display-p3"),
    ("tonemap", "--exposure", "0", "--working", "rec2020"),
    ("tonemap", "--exposure", "0", "--transfer", "gamma:2.2", "--no-fuse"),
    ("convert", "--colour", "display-p3"),
    ("blur", "--sigma", "1", "--working", "rec2020"),
]  # fmt: skip


@pytest.mark.cases(3)
@each(noise=NOISES, command=COMMANDS)
def test_rows_have_the_noise_of_the_whole(clpix, tmp_path, monkeypatch, command, noise) -> None:
    path = gradient(tmp_path / "in.exr")
    more = ("--dtype", "uint8", "--overwrite", "--quiet")
    found = {}
    for name, rows, dither in (
        ("plain", False, ()),
        ("whole", False, ("--dither", "--noise", noise, "--seed", "7")),
        ("rows", True, ("--dither", "--noise", noise, "--seed", "7")),
        ("other", False, ("--dither", "--noise", noise, "--seed", "8")),
    ):
        with monkeypatch.context() as patch:
            if rows:
                in_blocks(patch)
            run = clpix(command[0], path, *more, *command[1:], "-o", tmp_path / "out.png", *dither)
        assert run.code == 0, run.err
        found[name] = files.read(tmp_path / "out.png").pixels.astype(int)
    assert np.abs(found["whole"] - found["plain"]).max() <= 1 + (noise == "blue" and 1)
    assert np.count_nonzero(found["whole"] - found["plain"]) > 0.1 * found["whole"].size
    assert np.count_nonzero(found["whole"] - found["rows"]) <= 1e-3 * found["whole"].size
    assert np.count_nonzero(found["whole"] - found["other"]) > 0.1 * found["whole"].size


def test_a_picture_that_nothing_changes_stays(clpix, tmp_path, rng) -> None:
    pixels = rng.integers(0, 256, (33, 41, 4), np.uint8)
    files.write(tmp_path / "in.png", Picture(pixels, alpha=True))
    for command in (
        ("convert",),
        ("flip", "--axis", "both", "then", "flip", "--axis", "both"),
        ("grade", "--exposure", "0"),
    ):
        run = clpix(
            command[0], tmp_path / "in.png", *command[1:], "-o", tmp_path / "b.png", "--dither", "--overwrite"
        )
        assert run.code == 0, run.err
        np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, pixels)


def test_what_is_refused(clpix, tmp_path) -> None:
    path = gradient(tmp_path / "in.exr", (8, 9))
    run = clpix("blur", path, "--sigma", "1", "-o", tmp_path / "b.exr", "--dither")
    assert run.code == 2 and "leave out --dither" in run.err and not (tmp_path / "b.exr").exists()
    command = ("blur", path, "--sigma", "1", "-o", tmp_path / "b.tif", "--dither")
    for more, code in (
        ((), 2),
        (("--dtype", "half"), 2),
        (("--dtype", "uint16"), 0),
    ):  # the input says the first
        run = clpix(*command, *more)
        assert run.code == code and ("leave out --dither" in run.err) == (code > 0), run.err
        assert (tmp_path / "b.tif").exists() == (code == 0)
    run = clpix("blur", path, "--sigma", "1", "-o", tmp_path / "b.png", "--seed", "3")
    assert run.code == 2 and "there is no --dither: leave out --seed" in run.err
    blur = ("blur", path, "--sigma", "1", "-o", tmp_path / "b.png", "--dither")
    run = clpix(*blur, "then", "flip", "--axis", "both", "--dither")
    assert run.code == 2 and "--dither is given in two parts" in run.err


def test_behind_a_tone_mapping(clpix, tmp_path) -> None:
    """The option of a later part is that of the output, though tonemap has one of its own."""
    path = gradient(tmp_path / "in.exr")
    chain = ("tonemap", path, "--exposure", "0", "-o")
    last = ("then", "flip", "--axis", "horizontal")
    for name, more in (("a.png", ()), ("b.png", ("--dither",))):
        run = clpix(*chain, tmp_path / name, *last, *more)
        assert run.code == 0, run.err
    assert np.any(files.read(tmp_path / "a.png").pixels != files.read(tmp_path / "b.png").pixels)


def test_the_recipe_tells_them_apart() -> None:
    chain, kinds = Chain(FlipParams("both")), (None, Dither(), Dither("triangular"), Dither(seed=1))
    assert len({Job("a", chain, "b.png", options=Options(dither=kind)).recipe for kind in kinds}) == 4
