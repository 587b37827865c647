"""Inputs that decide about an exposure together: ``tonemap --exposure shared`` and ``smooth:N``."""

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpuops import ParameterError
from gpuops.batch import consensus
from gpuops.batch.job import Job, run_job
from gpuops.chain import Chain
from gpuops.files import Picture, read, write
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.exposure import Neighbours

from .choices import thinned
from .conftest import Run, in_blocks

Clpix = Callable[..., Run]
#: How many stops brighter than the first each frame is.
STOPS = (0.0, 1.0, -1.5, 3.0, 2.0, 0.5)


@pytest.fixture
def frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Six frames of one scene, in which all frames are lit differently."""
    monkeypatch.chdir(tmp_path)
    scene = np.random.default_rng(5).gamma(0.7, 0.4, (23, 31, 3)).astype(np.float32)
    for number, stops in enumerate(STOPS):
        write(f"f{number}.exr", Picture(scene * np.float32(2.0**stops), linear=True))
    return [f"f{number}.exr" for number in range(len(STOPS))]


def log_means(names: list[str]) -> list[float]:
    """The stops that bring the geometric mean of each picture's luminance (IEC 61966-2-1) to 0.18."""
    found = []
    for name in names:
        y = read(name).pixels.astype(np.float64) @ (0.2126, 0.7152, 0.0722)
        found.append(float(np.log2(0.18) - np.mean(np.log2(y[y > 0]))))
    return found


def mean_of(metered: list[float], count: int) -> list[float]:
    """The means of ``count`` neighbours by sums over a line with nothing beyond its ends."""
    ones = np.ones(count)
    sums = np.convolve(metered, ones, "full")[count // 2 :][: len(metered)]
    there = np.convolve(np.ones(len(metered)), ones, "full")[count // 2 :][: len(metered)]
    return [float(one) for one in sums / there]


def results(folder: str, count: int = len(STOPS)) -> list[np.ndarray]:
    return [read(f"{folder}/f{number}.exr").pixels for number in range(count)]


def expected(clpix: Clpix, names: list[str], stops: list[float], *options: str) -> list[np.ndarray]:
    """What the command makes with these exposures, one by one."""
    for name, ev in zip(names, stops, strict=True):
        run = clpix("tonemap", name, "--exposure", repr(ev), *options, "-o", "by-hand/", "--overwrite")
        assert (run.code, run.err) == (0, "")
    return results("by-hand", len(names))


def told_of(run: Run) -> list[float]:
    """The exposures that are told of the frames, in their order, with three digits."""
    found = re.findall(r"clpix: f(\d).exr: exposure (\S+) stops", run.err)
    assert [int(number) for number, _ in found] == list(range(len(STOPS)))
    return [float(stops) for _, stops in found]


def close(found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for one, other in zip(found, wanted, strict=True):
        # The device meters in float32, which makes up to 1e-5 of a stop.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("option", "count"),
    thinned([("shared", 99), ("smooth:3", 3), ("smooth:5", 5), ("SMOOTH:99", 99)], 2, arguments=2),
)
def test_exposures_are_means_of_what_is_metered(option, count, clpix, frames) -> None:
    run = clpix("tonemap", *frames, "--exposure", option, "-o", "out/", "-v", "--timing-file", "t.json")
    assert run.code == 0
    metered = log_means(frames)
    stops = mean_of(metered, count)
    close(results("out"), expected(clpix, frames, stops))
    told = json.loads(Path("t.json").read_text())["results"]
    assert [one["input"] for one in told] == frames
    np.testing.assert_allclose([one["metered exposure"] for one in told], metered, atol=1e-4)
    np.testing.assert_allclose([one["exposure"] for one in told], stops, atol=1e-4)
    np.testing.assert_allclose(told_of(run), stops, atol=6e-4)


def test_what_is_metered_is_told(clpix, frames) -> None:
    run = clpix("tonemap", *frames, "-o", "out/", "-v", "--timing-file", "t.csv")
    assert run.code == 0
    rows = [line.split(",") for line in Path("t.csv").read_text().splitlines()]
    told = {row[1]: float(row[-1]) for row in rows if row[0] == "result"}
    assert list(told) == [f"{name}: exposure" for name in frames]
    np.testing.assert_allclose(list(told.values()), log_means(frames), atol=1e-4)
    np.testing.assert_allclose(told_of(run), log_means(frames), atol=6e-4)
    assert clpix("tonemap", *frames, "-o", "quiet/").err == ""


DECISIONS = [
    "--meter mean --key 0.3",
    "--meter histogram --percentiles 20,70",
    "--white-balance gray-world --meter-region 3,2,11,9",
    "--operator reinhard-extended --method local --meter-region 3,2,11,9",
    "--operator reinhard-local --meter mean",
    "--operator durand",
    "--operator linear --method direct",
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("given", thinned(DECISIONS, 3))
def test_one_input_decides_alone(given, clpix, frames) -> None:
    """Equal frames have equal exposures, so that each is as without neighbours."""
    options = given.split()
    for name in frames[1:3]:
        write(name, read(frames[0]), overwrite=True)
    assert clpix("tonemap", *frames[:3], *options, "-o", "auto/").err == ""
    for exposure in ("shared", "smooth:3"):
        run = clpix("tonemap", *frames[:3], *options, "--exposure", exposure, "-o", "out/", "--overwrite")
        assert (run.code, run.err) == (0, "")
        close(results("out", 3), results("auto", 3))
    run = clpix("tonemap", frames[0], *options, "--exposure", "shared", "-o", "one/")
    assert (run.code, run.err) == (0, "")
    assert np.array_equal(read("one/f0.exr").pixels, read("auto/f0.exr").pixels)


def test_by_rows_and_in_chains(clpix, frames, monkeypatch) -> None:
    chain = (
        "blur",
        *frames,
        *["--sigma", "1.5", "then", "write", "lin/", "then", "tonemap", "--exposure", "shared"],
    )
    assert clpix(*chain, "-o", "out/").code == 0
    as_whole = results("out")
    with monkeypatch.context() as patch:
        in_blocks(patch)
        assert clpix(*chain, "-o", "rows/", "--overwrite").code == 0
    close(results("rows"), as_whole)
    assert clpix("blur", *frames, "--sigma", "1.5", "-o", "blurred/").code == 0
    blurred = [f"blurred/{name}" for name in frames]
    assert clpix("tonemap", *blurred, "--exposure", "shared", "-o", "two/").code == 0
    close(as_whole, results("two"))


def test_two_steps_are_settled_one_after_the_other(clpix, frames) -> None:
    step = ("--operator", "linear", "--exposure", "shared")
    both = clpix(
        "tonemap", *frames, *step, "then", "grade", "--exposure", "1", "then", "tonemap", *step, "-o", "out/"
    )
    assert (both.code, both.err) == (0, "")
    assert clpix("tonemap", *frames, *step, "then", "grade", "--exposure", "1", "-o", "first/").code == 0
    assert clpix("tonemap", *(f"first/{name}" for name in frames), *step, "-o", "then/").code == 0
    close(results("out"), results("then"))


def test_shards_meter_all_inputs(clpix, frames) -> None:
    for shard in ("1/2", "2/2"):
        assert clpix("tonemap", *frames, "--exposure", "smooth:3", "--shard", shard, "-o", "parts/").code == 0
    assert clpix("tonemap", *frames, "--exposure", "smooth:3", "-o", "out/").code == 0
    for part, one in zip(results("parts"), results("out"), strict=True):
        assert np.array_equal(part, one)


def test_a_new_neighbour_changes_results(clpix, frames) -> None:
    command = ("--exposure", "smooth:3", "-o", "out/", "--journal", "j")
    assert clpix("tonemap", *frames[:5], *command).code == 0
    before = [Path(f"out/f{number}.exr").stat().st_mtime_ns for number in range(5)]
    assert clpix("tonemap", *frames[:5], *command, "--update").code == 0
    assert [Path(f"out/f{number}.exr").stat().st_mtime_ns for number in range(5)] == before
    run = clpix("tonemap", *frames, *command, "--update", "-v")
    assert run.code == 0 and "4 of 6 outputs are there and stay" in run.err
    assert clpix("tonemap", *frames, "--exposure", "smooth:3", "-o", "fresh/").code == 0
    for one, other in zip(results("out"), results("fresh"), strict=True):
        assert np.array_equal(one, other)
    Path("out/f3.exr").unlink()
    resumed = clpix("tonemap", *frames, "--exposure", "smooth:3", "-o", "out/", "--resume", "j", "-v")
    assert resumed.code == 0 and "5 of 6 outputs are there and stay" in resumed.err


@pytest.mark.parametrize("more", [(), ("--update",)])
def test_a_damaged_frame_has_no_part_in_it(more, clpix, frames) -> None:
    Path(frames[2]).write_bytes(Path(frames[2]).read_bytes()[:200])
    run = clpix("tonemap", *frames, "--exposure", "shared", "-o", "out/", *more)
    assert run.code == 1
    first, last = run.err.splitlines()
    assert first.startswith("clpix: error: f2.exr: ") and last == "clpix: error: 1 of 6 inputs failed"
    good = [name for name in frames if name != frames[2]]
    metered = log_means(good)
    for name in good:
        ev = repr(float(np.mean(metered)))
        assert clpix("tonemap", name, "--exposure", ev, "-o", "by-hand/", "--overwrite").code == 0
        close([read(f"out/{name}").pixels], [read(f"by-hand/{name}").pixels])
    assert not Path("out/f2.exr").exists()


def test_frames_of_an_animation(clpix, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, *others = (Image.new("RGB", (9, 7), (v, v, v)) for v in (40, 90, 200))
    first.save("a.webp", save_all=True, append_images=others, duration=40, lossless=True)
    command = ("tonemap", "a.webp", "--frames", "all", "--operator", "linear")
    run = clpix(*command, "--exposure", "shared", "-o", "b.webp")
    assert (run.code, run.err) == (0, "")
    levels = [int(read("b.webp", layer=number).pixels[..., 0].mean()) for number in range(3)]
    assert levels[0] + 50 < levels[1] < levels[2] - 50  # they differ as before
    assert clpix(*command, "-o", "c/").code == 0
    assert [int(read(path).pixels[..., 0].mean()) for path in Path("c").iterdir()] == [
        118
    ] * 3  # 0.18, as sRGB


def test_a_plan_says_it(clpix, frames) -> None:
    run = clpix("tonemap", *frames, "--exposure", "shared", "-o", "out/", "--explain")
    assert "first measures log-mean of all inputs" in run.out


def test_a_recipe_keeps_it(clpix, frames) -> None:
    command = ("tonemap", *frames, "--exposure", "smooth:5", "--operator", "aces-hill")
    assert clpix(*command, "-o", "out/", "--save-recipe", "r.toml").code == 0
    assert 'exposure = "smooth:5"' in Path("r.toml").read_text()
    chain = Chain.from_toml(Path("r.toml").read_text())
    assert chain == Chain(TonemapParams("aces-hill", "smooth:5"))  # type: ignore[arg-type]
    assert clpix("run", "r.toml", *frames, "-o", "again/").code == 0
    for one, other in zip(results("out"), results("again"), strict=True):
        assert np.array_equal(one, other)


def test_a_job_that_measures_can_be_sent(gpu, frames) -> None:
    jobs = [Job(name, Chain(TonemapParams(exposure="shared")), f"{name}.png") for name in frames]  # type: ignore[arg-type]
    sent = pickle.loads(pickle.dumps(consensus._measuring(jobs[0], 0)))
    assert run_job(gpu, sent).exposure == pytest.approx(log_means(frames)[0], abs=1e-4)
    assert not Path(sent.target).exists()


def test_what_is_refused(clpix, frames) -> None:
    for text, why in {
        "smooth:4": "takes an odd number of inputs from 3 on, not 4",
        "smooth:1": "takes an odd number of inputs from 3 on, not 1",
        "smooth:x": "cannot be 'smooth:x': give `EV`, `auto`, `shared`, `smooth:N`",
        "smooth": "exposure must be EV or auto or shared or smooth:N, with numbers from -60 to 60, not 'smooth'",
    }.items():
        run = clpix("tonemap", *frames, "--exposure", text, "-o", "out/")
        assert run.code == 2 and why in run.err and len(run.err.splitlines()) == 1
    run = clpix("tonemap", frames[0], "-", "--exposure", "shared", "-o", "out/")
    assert run.code == 2 and "standard input can be read once" in run.err
    run = clpix("tonemap", frames[0], "--exposure", "shared", "--contact-sheet", "-o", "sheet.png")
    assert run.code == 2 and "leave out --exposure shared" in run.err
    run = clpix("bloom", *frames, "--exposure", "shared", "-o", "out/")
    assert (
        run.code == 2 and "exposure must be EV or auto, with numbers from -60 to 60, not 'shared'" in run.err
    )
    Path("out").mkdir()
    Path("out/f1.exr").write_bytes(b"of somebody")
    run = clpix("tonemap", *frames[:2], "--exposure", "shared", "-o", "out/")
    assert run.code == 1 and "exists already" in run.err and Path("out/f0.exr").exists()
    with pytest.raises(ParameterError):
        Neighbours(2)


def test_means_without_what_was_not_metered() -> None:
    assert Neighbours(3).means([1.0, None, 4.0, 6.0]) == [1.0, 2.5, 5.0, 5.0]
    assert Neighbours().means([None, None]) == [0.0, 0.0] and Neighbours(5).means([]) == []
