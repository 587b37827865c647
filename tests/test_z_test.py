"""The Z-test and the variance beside references, against numpy and scipy in float64."""

import dataclasses
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gpuops import Gpu, GpuopsWarning, ParameterError, files
from gpuops.files import Picture
from gpuops.metrics import variance as variances
from gpuops.metrics.measure import Pair, measure
from gpuops.metrics.variance import Variance, critical, mean_and_variance, z_test
from gpuops.params.comparing import Comparing
from gpuops.params.thresholds import Thresholds
from gpuops.regress import manifest
from gpuops.regress.index import Index
from gpuops.regress.references import References
from gpuops.regress.thresholds import write_references

from .test_suite import make_index

SHAPES = [(1, 1, 1), (3, 1, 7), (1, 5, 1), (4, 17, 31), (3, 8, 64), (2, 101, 97)]
PASSES = Thresholds(limits={"z-test": 99.75})
# The stretch of |z| around the bound that no test value is in: there float32 may decide otherwise.
_UNDECIDED = 1e-4


def bound(pixels: int, runs: int | None) -> float:
    alpha = 1 - 0.99 ** (1 / pixels)
    if runs is None:
        return float(stats.norm.isf(alpha / 2))
    return float(stats.t.isf(alpha / 2, runs - 1)) * math.sqrt(1 + 1 / runs)


def failing(a: np.ndarray, b: np.ndarray, variance: np.ndarray, limit: float) -> int:
    """The pixels that fail, in float64."""
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.abs(a.astype(np.float64) - b)
        fails = ~(error <= limit * np.sqrt(variance.astype(np.float64))) | ~np.isfinite(error)
    fails &= ~((a == b) | (np.isnan(a) & np.isnan(b)))
    return int(fails.any(0).sum())


def made(
    rng: np.random.Generator, shape: tuple[int, ...], limit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A reference, a picture of which many values are on either side of the bound, and the variance."""
    a = rng.random(shape).astype(np.float32)
    variance = (rng.gamma(0.5, 0.01, shape) * (rng.random(shape) < 0.8)).astype(np.float32)
    ratio = rng.choice([0.0, 0.5, 1 - 1e-2, 1 + 1e-2, 3.0], shape) * rng.choice([-1, 1], shape)
    b = (a + ratio * limit * np.sqrt(variance)).astype(np.float32)
    error = np.abs(b.astype(np.float64) - a)
    close = np.abs(error - limit * np.sqrt(variance)) <= _UNDECIDED * limit * np.sqrt(variance)
    b[close] = a[close]
    return a, b, variance


def check(gpu: Gpu, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Asserts that the pixels that fail are the reference's, also among values that are not finite."""
    pixels = math.prod(shape[1:])
    for runs in (None, 2, 9):
        limit = bound(pixels, runs)
        a, b, variance = made(rng, shape, limit)
        assert z_test(gpu, a, b, variance, runs=runs) == failing(a, b, variance, limit)
        for x in (a, b, variance):
            at = rng.random(shape) < 0.05
            x[at] = rng.choice(np.array([np.nan, np.inf, -np.inf], np.float32), at.sum())
        assert z_test(gpu, a, b, variance, runs=runs) == failing(a, b, variance, limit)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pixels_that_fail(gpu, rng, shape) -> None:
    check(gpu, rng, shape)


@pytest.mark.parametrize("runs", [None, 2, 3, 5, 16, 33, 200])
@pytest.mark.parametrize("pixels", [1, 100, 2_000_000])
def test_bounds_are_those_of_scipy(runs, pixels) -> None:
    alpha = -np.expm1(np.log1p(-0.01) / pixels)  # 1 − 0.99^(1/n) loses digits
    expected = stats.norm.isf(alpha / 2)
    if runs is not None:
        expected = stats.t.isf(alpha / 2, runs - 1) * math.sqrt(1 + 1 / runs)
    assert critical(pixels, runs) == pytest.approx(expected, rel=1e-6)


def test_what_is_equal_passes_without_variance_and_nothing_else(gpu) -> None:
    a = np.array([[[0.5, np.nan, np.inf, 0.0, 1.0, 1.0, 1e30]]], np.float32)
    b = np.array([[[0.5, np.nan, np.inf, -0.0, 1.0000001, np.nan, -np.inf]]], np.float32)
    assert z_test(gpu, a, b, np.zeros_like(a)) == 3 and z_test(gpu, a, b, np.full_like(a, np.inf)) == 2
    assert z_test(gpu, a, b, np.full_like(a, np.nan)) == 3


def test_operands_without_meaning(gpu) -> None:
    a = np.zeros((1, 3, 4), np.float32)
    with pytest.raises(ParameterError, match="shapes differ"):
        z_test(gpu, a, a, a[:, 1:])
    with pytest.raises(ParameterError, match="two runs or more, not 1"):
        z_test(gpu, a, a, a, runs=1)


def runs_of(folder: Path, rng: np.random.Generator, count: int, channels: int = 3) -> list[str]:
    """Writes what ``count`` runs of a noisy renderer give."""
    paths = []
    for number in range(count):
        paths.append(str(folder / f"{number}.exr"))
        files.write(paths[-1], render(rng, channels))
    return paths


def render(rng: np.random.Generator, channels: int = 3) -> Picture:
    """A picture with noise that grows from left to right; alpha has noise where it is below 1."""
    x = np.linspace(0, 1, 60)[None, :, None]
    pixels = np.broadcast_to(0.2 + x, (50, 60, channels)) + rng.normal(0, 1, (50, 60, channels)) * (
        0.01 + x / 20
    )
    if channels in (2, 4):
        pixels[..., -1] = 1.0
        pixels[:10, :, -1] = 0.5 + rng.normal(0, 0.01, (10, 60))
    return Picture(pixels.astype(np.float32), alpha=channels in (2, 4), linear=True)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_mean_and_variance_of_runs(tmp_path, rng, channels) -> None:
    paths = runs_of(tmp_path, rng, 7, channels)
    stack = np.stack([files.read(path).pixels for path in paths]).astype(np.float64)
    mean, variance = mean_and_variance(paths)
    np.testing.assert_allclose(mean.pixels, stack.mean(0), rtol=1e-7)
    np.testing.assert_allclose(variance.picture.pixels, stack.var(0, ddof=1), rtol=1e-6, atol=1e-30)
    variances.write(str(tmp_path / "v.exr"), dataclasses.replace(variance, of="abc"))
    back = variances.read(str(tmp_path / "v.exr"))
    assert (back.runs, back.of, back.picture.alpha) == (7, "abc", channels == 4)
    assert back.picture.pixels.dtype == np.float32
    np.testing.assert_allclose(back.picture.pixels, variance.picture.pixels, rtol=1e-6)


def test_a_mean_of_equal_runs_is_exact(tmp_path, rng) -> None:
    picture = render(rng)
    files.write(tmp_path / "a.exr", picture)
    mean, variance = mean_and_variance([str(tmp_path / "a.exr")] * 7)
    np.testing.assert_array_equal(mean.pixels, picture.pixels)
    assert not variance.picture.pixels.any()


def test_runs_without_a_mean(tmp_path, rng) -> None:
    files.write(tmp_path / "a.png", Picture(np.zeros((3, 4, 3), np.uint8)))
    with pytest.raises(ParameterError, match="uint8, which a mean of runs does not fit"):
        mean_and_variance([str(tmp_path / "a.png")] * 2)
    paths = runs_of(tmp_path, rng, 2)
    files.write(tmp_path / "b.exr", Picture(np.zeros((3, 4, 3), np.float32), linear=True))
    with pytest.raises(ParameterError, match="another size"):
        mean_and_variance([*paths, str(tmp_path / "b.exr")])
    spoiled = render(rng)
    spoiled.pixels[3, 4, 1] = np.nan
    files.write(tmp_path / "c.exr", spoiled)
    with pytest.warns(GpuopsWarning, match="1 value was not finite"):
        mean, variance = mean_and_variance([*paths, str(tmp_path / "c.exr")])
    assert np.isnan(mean.pixels[3, 4, 1]) and np.isnan(variance.picture.pixels[3, 4, 1])


@pytest.mark.cases(1)
@pytest.mark.parametrize(("runs", "channels"), [(32, 1), (5, 4), (32, 3)])
def test_the_noise_of_another_run_passes_and_a_shift_does_not(gpu, tmp_path, rng, runs, channels) -> None:
    mean, variance = mean_and_variance(runs_of(tmp_path, rng, runs, channels))

    def share(picture: Picture) -> float:
        both = Pair.of(gpu, picture, mean, Comparing(), variance)
        measured = measure(both, PASSES)
        assert bool(measured.missed) == (measured.figures["z-test"] < 99.75)
        return measured.figures["z-test"]

    for _ in range(3):
        assert share(render(rng, channels)) >= 99.75
    if runs == 32:  # which know the variance well
        shifted = render(rng, channels)
        x = np.linspace(0, 1, 60)[None, :]
        shifted.pixels[20:30, :30, 0] += ((0.01 + x / 20) * 12)[:, :30]
        assert share(shifted) == pytest.approx(100 * (1 - 300 / 3000), abs=1.0)
    one = render(rng, channels)
    one.pixels[3, 4:20, 0] = np.nan
    assert share(one) < 99.75


def test_what_is_left_out_passes(gpu, tmp_path, rng) -> None:
    mean, variance = mean_and_variance(runs_of(tmp_path, rng, 8, 4))
    other = render(rng, 4)
    other.pixels[:25, :, 0] += 100
    how = Comparing(ignore=((0, 0, 60, 25),))
    assert measure(Pair.of(gpu, other, mean, how, variance), PASSES).figures["z-test"] == 100
    other = render(rng, 4)
    other.pixels[..., 3] = 0.25
    assert measure(Pair.of(gpu, other, mean, Comparing(), variance), PASSES).missed
    assert not measure(Pair.of(gpu, other, mean, Comparing(alpha=False), variance), PASSES).missed


def test_levels_have_the_variance_of_fractions(gpu) -> None:
    codes = np.full((20, 20, 3), 100, np.uint8)
    known = Variance(Picture(np.full((20, 20, 3), (1 / 255) ** 2, np.float32), linear=True))
    for step, share in ((3, 100), (5, 0)):  # the bound of 400 tests is 4.21
        both = Pair.of(gpu, Picture(codes + np.uint8(step)), Picture(codes), Comparing(), known)
        assert measure(both, PASSES).figures["z-test"] == share


def test_a_variance_that_does_not_fit(gpu, rng) -> None:
    a, b = render(rng), render(rng)
    with pytest.raises(
        ParameterError, match=r"z-test: a variance is needed beside the reference, NAME\.variance"
    ):
        measure(Pair.of(gpu, b, a, Comparing()), PASSES)
    small = Variance(Picture(np.ones((50, 59, 3), np.float32), linear=True))
    with pytest.raises(ParameterError, match="another size"):
        measure(Pair.of(gpu, b, a, Comparing(), small), PASSES)
    fits = Variance(Picture(np.ones((50, 60, 3), np.float32), linear=True))
    with pytest.raises(ParameterError, match="are converted"):
        measure(Pair.of(gpu, b, a, Comparing(space="encoded"), fits), PASSES)


def test_variances_are_no_pictures_of_the_references(tmp_path, rng) -> None:
    paths = {"a/b.exr": runs_of(tmp_path, rng, 3)}
    store = make_index(str(tmp_path / "refs.json"), "store")
    for known in (References(str(tmp_path / "refs")), store):
        said = write_references(paths, str(tmp_path / "made"), known)
        assert "min-z-test = 99.75" in said["a/b.exr"] and known.names() == ["a/b.exr"]
        assert variances.read(known.variance_of("a/b.exr", "base")).runs == 3
        assert known.variance_of("a/b.exr", "linux") == known.variance_of("c.exr", "base") == ""
    assert Index(str(tmp_path / "refs.json")).names() == ["a/b.exr"]


def test_a_suite_with_noise(clpix, tmp_path, monkeypatch, rng) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    Path("render.py").write_text(
        "import sys, numpy as np\n"
        "from gpuops import files\n"
        "noise = np.random.default_rng().normal(0.5, 0.05, (30, 40, 3))\n"
        "noise[:10, :, 0] += 5 * float(open('shift.txt').read())\n"
        "files.write(sys.argv[1], files.Picture(noise.astype(np.float32), linear=True))\n"
    )
    Path("shift.txt").write_text("0")
    suite = (
        'schema = 1\nreferences = "refs"\n'
        f'[[case]]\nname = "noise"\ncommand = ["{sys.executable}", "render.py", "{{output}}"]\n'
        'outputs = ["noise.exr"]\n'
    )
    Path("suite.toml").write_text(suite)
    run = clpix("regress", "calibrate", "suite.toml", "--runs", 12, "--variance")
    assert (run.code, run.err) == (0, "")
    Path("suite.toml").write_text(suite + run.out)
    assert manifest.load("suite.toml").patterns["noise.exr"].limits == {"z-test": 99.75}
    assert sorted(path.name for path in Path("refs").iterdir()) == ["noise.exr", "noise.exr.variance.exr"]
    assert clpix("regress", "run", "suite.toml").code == 0
    run = clpix("regress", "audit", "suite.toml")
    assert "black passes" not in run.out
    Path("shift.txt").write_text("1")
    run = clpix("regress", "run", "suite.toml")
    assert run.code == 1 and "min-z-test needs 99.75" in run.out and clpix("regress", "accept").code == 0
    Path("shift.txt").write_text("0")
    run = clpix("regress", "run", "suite.toml")
    assert run.code == 2
    assert "is of an older reference: calibrate again with --variance" in run.out
    monkeypatch.setenv("CI", "1")
    run = clpix("regress", "calibrate", "suite.toml", "--runs", 2, "--variance")
    assert run.code == 2 and "CI" in run.err


def test_compare_reads_the_variance_beside_the_first_file(clpix, tmp_path, rng) -> None:
    mean, variance = mean_and_variance(runs_of(tmp_path, rng, 16))
    reference, other = str(tmp_path / "mean.exr"), str(tmp_path / "0.exr")
    files.write(reference, mean)
    assert "a variance is needed" in clpix("compare", reference, other, "--min-z-test", 99.75).err
    variances.write(reference + variances.SUFFIX, variance)
    run = clpix("compare", reference, other, "--min-z-test", 99.75)
    assert (run.code, run.err) == (0, "")
