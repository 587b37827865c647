"""What needs whole pictures says so where there is no room: the step or the figure, what it takes, and what to do."""

import os
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.errors import DeviceMemoryError, byte_count
from gpuops.files import Picture
from gpuops.gpu import Limits
from gpuops.ops.bloom import BloomParams, _bloom
from gpuops.params.comparing import Comparing
from gpuops.params.thresholds import Thresholds
from gpuops.profile import Report
from gpuops.regress.judge import FilePair, judge

from .choices import each

# Commands, and how each calls the step that needs the whole picture.
STEPS = [
    (("rotate", "--angle", "7"), "rotate"),
    (("grade", "--exposure", "1", "then", "rotate", "--angle", "20", "then", "sharpen"), "rotate"),
    (("sharpen", "then", "blur", "--preset", "d3d11"), "blur --preset d3d11"),
    (("filter", "--kind", "lowpass", "--cutoff", "0.1", "then", "rotate", "--angle", "7"), "rotate"),
    (("bloom", "--method", "fft"), "bloom --method fft"),
    (("bloom", "--preset", "d3d11"), "bloom --preset d3d11"),
    (("bloom", "--preset", "d3d11", "then", "crop", "--region", "0,0,9,9"), "bloom --preset d3d11"),
    (("tonemap", "--preset", "d3d11"), "tonemap --preset d3d11"),
    (
        (
            "crop", "--region", "0,0,290,190", "then", "mix", "--picture", "c.exr", "then", "rotate", "--angle",
            "9",
        ),
        "rotate",
    ),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> Path:
    """The working folder, with pictures of 720 kB, a part of one, and a kernel image."""
    pixels = rng.gamma(0.5, 1, (200, 300, 3)).astype(np.float32)
    files.write(tmp_path / "a.exr", Picture(pixels, linear=True))
    files.write(tmp_path / "b.exr", Picture(pixels * np.float32(1.01), linear=True))
    files.write(tmp_path / "c.exr", Picture(pixels[:190, :290], linear=True))
    files.write(tmp_path / "k.exr", Picture(np.ones((5, 5, 3), np.float32), linear=True))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needed(message: str, pattern: str) -> int:
    """The bytes that a message of one line says would do."""
    found = re.search(pattern + r", which takes ([\d.]+) ([kM])B of", message)
    assert found is not None and message.count("\n") == 1, message
    return round(float(found[1]) * {"k": 1e3, "M": 1e6}[found[2]])


@pytest.mark.cases(3)
@pytest.mark.parametrize(("command", "words"), STEPS, ids=[" ".join(command) for command, _ in STEPS])
def test_a_step_that_the_device_has_no_room_for(clpix, folder, command, words) -> None:
    """It is named, nothing is written, and as much memory as the line says is enough."""
    before = sorted(os.listdir(folder))
    run = clpix(command[0], "a.exr", *command[1:], "-o", "out.exr", "--device-memory", "1M")
    most = needed(run.err, f"a.exr: {words} needs the whole picture")
    assert run.err.endswith("MB of the device's memory, and 1.049 MB are allowed: raise --device-memory\n")
    assert run.code == 1 and sorted(os.listdir(folder)) == before
    run = clpix(command[0], "a.exr", *command[1:], "-o", "out.exr", "--device-memory", most)
    assert run.code == 0, run.err


@pytest.mark.parametrize("where", ["rotate", "write"])
def test_nothing_is_written_on_the_way(clpix, folder, where) -> None:
    """A file that has room is not written where what follows has none."""
    before = sorted(os.listdir(folder))
    command = ("grade", "a.exr", "--exposure", "1", "then", "write", "on.exr", "then", "blur", "--sigma", "2")
    steps = {"rotate": ("then", "rotate", "--angle", "7"), "write": ("then", "bloom", "--method", "fft")}
    run = clpix(
        *command, *steps[where], "-o", "out.exr", "--device-memory", "4M" if where == "write" else "2M"
    )
    assert run.code == 1 and "needs the whole picture" in run.err and sorted(os.listdir(folder)) == before


@pytest.mark.cases(3)
@pytest.mark.parametrize(("line", "words"), [
    ("grade a.tif --exposure 1 then rotate --angle 7 --no-expand", "rotate"),
    ("dwt a.tif --keep 5 --reconstruct", "dwt --keep"),
    ("tonemap a.tif --contact-sheet", "--contact-sheet"),
    ("deconvolve a.tif --sigma 1 then rotate --angle 7 --no-expand", "rotate"),
    ("bloom a.tif --method fft then tonemap", "bloom --method fft"),
])  # fmt: skip
def test_what_the_host_has_no_room_for(clpix, folder, line, words) -> None:
    """The step is named, and the line says what is enough."""
    files.write(folder / "a.tif", Picture(np.zeros((800, 1000, 3), np.uint8)))
    run = clpix(*line.split(), "-o", "out.png", "--memory", "4M")
    most = needed(run.err, f"a.tif: {words} needs the whole picture")
    assert run.err.endswith(" MB of memory, and 4.194 MB are allowed: raise --memory to 7032K\n")
    assert run.code == 1 and most == 7_200_000 and not os.path.exists("out.png")
    assert clpix(*line.split(), "-o", "out.png", "--memory", most).code == 0


def test_results_that_the_host_has_no_room_for(clpix, folder) -> None:
    files.write(folder / "a.tif", Picture(np.zeros((800, 1000, 3), np.uint8)))
    grown = "blur a.tif --preset d3d11 then resize --scale 4 -o out.tif --memory 20M"
    run = clpix(*grown.split())
    most = needed(run.err, "a.tif: blur --preset d3d11 needs the whole picture")
    assert (run.code, most) == (1, 115_200_000)
    assert not os.path.exists("out.tif")


def test_previews(clpix, folder) -> None:
    """What a local operator takes is known once the picture has been looked at: the line is said anew then."""
    command = ("tonemap", "a.exr", "--contact-sheet", "-o", "sheet.png", "--device-memory")
    run = clpix(*command, "1M")
    most = needed(run.err, "a.exr: --contact-sheet needs the whole picture")
    assert run.code == 1 and not os.path.exists("sheet.png")
    for _ in range(6):
        if (run := clpix(*command, most)).code == 0:
            return
        before, most = most, needed(run.err, "a.exr: --contact-sheet needs the whole picture")
        assert most > before
    raise AssertionError(run.err)


@pytest.mark.parametrize("metric", ["ssimulacra2", "hdr-flip"])
def test_pictures_of_a_suite(opened, folder, metric) -> None:
    """Pictures without room go by rows. Where not even these have room, the memory that the line asks for is enough."""
    how, pair = Comparing(metrics=(metric,)), FilePair("x/a.exr", "a.exr", "b.exr", "")
    (outcome,) = judge([pair], how, lambda _name: Thresholds(), lambda: opened(memory=100_000))
    assert (outcome.status, outcome.figures) == ("error", {})
    found = re.fullmatch(
        r"\d+ rows of 300 pixels need ([\d.]+) ([kM])B of the device's memory, of 100 kB: .*", outcome.message
    )
    assert found is not None, outcome.message
    most = round(float(found[1]) * {"k": 1e3, "M": 1e6}[found[2]])
    (outcome,) = judge([pair], how, lambda _name: Thresholds(), lambda: opened(memory=most))
    assert outcome.status == "failed" and metric in outcome.figures


def test_the_command_regress(clpix, folder, monkeypatch) -> None:
    """A picture without room counts as one that could not be compared, and the rest of the run goes on."""
    rng = np.random.default_rng(8)
    for name in ("results", "references"):
        (folder / name).mkdir()
        os.rename("a.exr" if name == "results" else "b.exr", folder / name / "a.exr")
        files.write(folder / name / "b.png", Picture(rng.integers(0, 256, (16, 20, 3), np.uint8)))
    limits_of = Limits.of
    small = lambda *device: replace(limits_of(*device), max_alloc_bytes=1 << 19)  # noqa: E731
    monkeypatch.setattr(Limits, "of", small)
    run = clpix("regress", "results", "references", "--min-psnr", "1")
    assert run.code == 2
    assert re.match("error +a.exr: .* need.* or (use )?another device\n", run.out), run.out
    assert run.out.endswith("2 pictures: 1 error, 1 passed\n")


def test_errors_go_to_other_processes() -> None:
    error = DeviceMemoryError("12 MB more are needed, and 9 MB are allowed", 12e6, "9 MB are allowed")
    found = pickle.loads(pickle.dumps(error))
    assert str(found) == str(error) and (found.needed, found.room) == (12e6, "9 MB are allowed")


@pytest.mark.parametrize(("nbytes", "near", "enough"), [
    (0, "0 kB", "0 kB"), (1, "0.001 kB", "0.001 kB"), (1_000_001, "1 MB", "1.001 MB"),
    (123_412_789, "123.4 MB", "123.5 MB"), (252_000_000_001, "252 GB", "252.1 GB"),
    (9e15, "9000 TB", "9000 TB"),
])  # fmt: skip
def test_sizes_in_words(nbytes, near, enough) -> None:
    """They are never a power of ten; what is said to be needed is rounded up, so that as much is enough."""
    assert (byte_count(nbytes), byte_count(nbytes, up=True)) == (near, enough)


@pytest.mark.cases(1)
@each(shape__radius=[((3, 300, 300), 0.02), ((4, 400, 150), 0.1), ((1, 200, 500), 0.02)])
def test_what_a_starburst_takes(opened, rng, shape, radius) -> None:
    """The record tells the memory of transforms, whose size depends on the picture's shape, within a tenth of it."""
    from gpuops.operation import operation_of

    report, params = Report(), BloomParams(method="fft", radius=radius)
    gpu = opened(report=report)
    record, values = operation_of(params), int(np.prod(shape))
    image = gpu.array(rng.random(shape).astype(np.float32))
    image.alpha = shape[0] == 4
    _bloom(gpu, image, params)  # which also makes what is kept
    report.peak_device_bytes = 0
    gpu.kept("starburst", dict).clear()
    kept = int(gpu._pool.active_bytes) - image.nbytes
    _bloom(gpu, image, params)
    took = report.peak_device_bytes - image.nbytes - kept
    traits = record.traits_of(params)
    declared = record.fixed_bytes(gpu, shape, params) + traits.bytes_per_value * values
    assert took <= declared <= 1.3 * took
    assert kept <= traits.fixed_bytes
