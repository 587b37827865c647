"""Pictures by rows that are turned on the way: mirrored top to bottom, turned by 90 degrees, made upright.

References are numpy's turns of the arrays, and the same commands on whole pictures.
"""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from gpuops import files
from gpuops.files import Picture
from gpuops.operation import operation_of
from gpuops.ops.flip import FlipParams
from gpuops.ops.rotate import RotateParams

from .choices import pairs, thinned
from .conftest import Run, in_blocks, run_python
from .test_fft_by_rows import spied, spools_made
from .test_operations import skip_without_package

Clpix = Callable[..., Run]

# Turns as commands, and what numpy makes of an array (height, width, channels).
TURNS: dict[tuple[str, ...], Callable[[np.ndarray], np.ndarray]] = {
    ("flip", "--axis", "vertical"): lambda x: x[::-1],
    ("flip", "--axis", "both"): lambda x: x[::-1, ::-1],
    ("rotate", "--angle", "90"): lambda x: np.rot90(x, -1),
    ("rotate", "--angle", "180"): lambda x: np.rot90(x, 2),
    ("rotate", "--angle", "270"): lambda x: np.rot90(x),
    ("rotate", "--angle", "-90", "--no-expand"): lambda x: np.rot90(x),
}
# The turn that each orientation of EXIF asks for.
UPRIGHT: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda x: x, 2: lambda x: x[:, ::-1], 3: lambda x: x[::-1, ::-1], 4: lambda x: x[::-1],
    5: lambda x: x.swapaxes(0, 1), 6: lambda x: x.swapaxes(0, 1)[:, ::-1],
    7: lambda x: x.swapaxes(0, 1)[::-1, ::-1], 8: lambda x: x.swapaxes(0, 1)[::-1],
}  # fmt: skip
# Files with pixels of every depth, some of which are read by rows.
FILES = [
    ("png", "uint8"), ("tif", "uint8"), ("png", "uint16"), ("tif", "uint16"), ("exr", "float16"), ("exr", "float32"),
    ("tif", "float32"), ("npz", "float16"),
]  # fmt: skip
# Where the rows before a turn are: the picture itself is in memory, they are, or a file has them.
PLACES = ("there", "memory", "scratch")


@pytest.fixture
def by_rows(clpix: Clpix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Run]:
    """Runs a command by rows, in small blocks: ``by_rows(place, "flip", …)``. It makes sure that it is done so."""

    def run(place: str, *command: object, turns: int = 1) -> Run:
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        with monkeypatch.context() as patch:
            in_blocks(patch, per_halo=0.3)
            if place != "there":
                patch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
            if place == "scratch":
                patch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
                command = (*command, "--scratch", scratch)
            used, sweeps = spied(patch), spools_made(patch)
            found = clpix(*command)
        assert found.code == 0, found.err
        assert len(sweeps) == turns and not os.listdir(scratch)
        # A picture in a format that has no rows is in memory as a whole.
        assert len(used) <= turns * (place == "scratch")
        return found

    return run


def samples(shape: tuple[int, int, int], dtype: str, seed: int = 1) -> np.ndarray:
    """All values of integers; of floats some that are not finite, and both zeros."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "u":
        return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    x = rng.standard_normal(shape).astype(dtype)
    x[0, 0, 0], x[-1, 0, 0], x[0, -1, 0], x[-1, -1, 0] = np.nan, np.inf, -np.inf, -0.0
    return x


def saved(path: Path, pixels: np.ndarray, *, exif: int | None = None) -> Path:
    metadata = files.Metadata()
    if exif is not None:
        tags = PIL.Image.Exif()
        tags[0x0112] = exif
        metadata = files.Metadata(exif=tags.tobytes().removeprefix(b"Exif\0\0"))
    alpha, linear = pixels.shape[2] in (2, 4), pixels.dtype.kind == "f"
    files.write(path, Picture(pixels, alpha=alpha, linear=linear, metadata=metadata), overwrite=True)
    return path


@pytest.mark.parametrize(
    ("file", "turn", "channels"), thinned(pairs(FILES, TURNS, (1, 2, 3, 4)), 4, arguments=3), ids=str
)
def test_every_value_stays(clpix, by_rows, tmp_path, file, turn, channels) -> None:
    suffix, dtype = file
    pixels = samples((29, 13, channels), dtype)
    path, whole = saved(tmp_path / f"in.{suffix}", pixels), tmp_path / f"whole.{suffix}"
    first = clpix(turn[0], path, *turn[1:], "-o", whole)
    place = PLACES[([*TURNS].index(turn) + channels + FILES.index((suffix, dtype))) % 3]
    run = by_rows(place, turn[0], path, *turn[1:], "-o", tmp_path / f"rows.{suffix}")
    assert run.err == first.err.replace("whole.", "rows.")
    found, expected = (files.read(tmp_path / f"{name}.{suffix}") for name in ("rows", "whole"))
    assert found.pixels.tobytes() == expected.pixels.tobytes() and found.metadata == expected.metadata
    if suffix != "exr":  # where colours are divided by alpha, and multiplied again
        np.testing.assert_array_equal(found.pixels, TURNS[turn](pixels))
    assert (found.pixels.dtype, found.pixels.shape) == (pixels.dtype, TURNS[turn](pixels).shape)


@pytest.mark.parametrize(
    ("size", "turn", "place"),
    thinned(pairs([(1, 1), (1, 37), (41, 1), (2, 3), (64, 64), (127, 31)], TURNS, PLACES), 5, arguments=3),
    ids=str,
)
def test_sizes(by_rows, tmp_path, size, turn, place) -> None:
    pixels = samples((*size, 3), "uint16")
    path, out = saved(tmp_path / "in.png", pixels), tmp_path / "out.tif"
    by_rows(place, turn[0], path, *turn[1:], "-o", out, "--overwrite")
    np.testing.assert_array_equal(files.read(out).pixels, TURNS[turn](pixels))


@pytest.mark.parametrize(
    ("orientation", "file", "place"),
    thinned(pairs(UPRIGHT, [("png", 4), ("tif", 1), ("jpg", 3)], PLACES), 4, arguments=3),
    ids=str,
)
def test_pictures_become_upright(by_rows, tmp_path, orientation, file, place) -> None:
    """Orientations 1 and 2 keep rows where they are: there is no spool."""
    suffix, channels = file
    path = saved(tmp_path / f"in.{suffix}", samples((29, 13, channels), "uint8"), exif=orientation)
    pixels = files.read(path).pixels
    out = tmp_path / "out.png"
    command = ("rotate", path, "--auto-orient", "-o", out, "--overwrite")
    by_rows(place, *command, turns=int(orientation > 2))
    found = files.read(out)
    assert found.metadata.orientation == 1
    np.testing.assert_array_equal(found.pixels, UPRIGHT[orientation](pixels))
    # What is upright stays so; a turn that nobody asked for in EXIF leaves the orientation.
    more = ("then", "rotate", "--auto-orient", "then", "flip", "--axis", "horizontal")
    by_rows(place, *command, *more, turns=int(orientation > 2))
    found = files.read(out)
    np.testing.assert_array_equal(found.pixels, UPRIGHT[orientation](pixels)[:, ::-1])


@pytest.mark.parametrize("orientation", thinned([6, 1, 2, 3, 4, 5, 7, 8], 8))
def test_the_orientation_is_that_of_its_place_in_the_chain(clpix, by_rows, tmp_path, orientation) -> None:
    """Behind steps, behind another turn, and in a file that is written before."""
    path = saved(tmp_path / "in.tif", samples((29, 13, 3), "uint8"), exif=orientation)
    chain = ("blur", path, "--sigma", "1", "then", "rotate", "--angle", "90", "then", "write", "MID.tif", "then",
             "rotate", "--auto-orient", "then", "crop", "--region", "1,2,10,9")  # fmt: skip

    def at(name: str) -> list[object]:
        return [tmp_path / f"{name}-mid.tif" if word == "MID.tif" else word for word in chain]

    assert clpix(*at("whole"), "-o", tmp_path / "whole.tif").code == 0
    for place in PLACES:
        by_rows(place, *at(place), "-o", tmp_path / f"{place}.tif", turns=1 + (orientation > 2))
        for end, turn in (("-mid", orientation), ("", 1)):
            found, expected = (files.read(tmp_path / f"{name}{end}.tif") for name in (place, "whole"))
            np.testing.assert_array_equal(found.pixels, expected.pixels)
            assert found.metadata == expected.metadata and found.metadata.orientation == turn


def test_strip_needs_an_upright_picture(clpix, by_rows, tmp_path) -> None:
    """``--strip`` is no obstacle if the chain turns the picture upright, and every file that is written is."""
    pixels = samples((29, 13, 3), "uint8")
    path = saved(tmp_path / "in.png", pixels, exif=6)
    by_rows("scratch", "rotate", path, "--auto-orient", "-o", tmp_path / "out.png", "--strip")
    found = files.read(tmp_path / "out.png")
    np.testing.assert_array_equal(found.pixels, UPRIGHT[6](pixels))
    assert found.metadata.exif is None
    for command in (
        ("flip", path, "--axis", "vertical"),
        ("convert", path, "then", "write", tmp_path / "b.png", "then", "rotate", "--auto-orient"),
    ):
        run = clpix(*command, "-o", tmp_path / "c.png", "--strip", "--memory", "100")
        assert run.code == 1 and "turning it upright for --strip" in run.err
    assert sorted(os.listdir(tmp_path)) == ["in.png", "out.png", "scratch"]


QUARTER = ("rotate", "--angle", "90")
UPSIDE_DOWN = ("flip", "--axis", "vertical")
# Each with how many turns it has, and whether it takes sums over all rows, or over many.
CHAINS: list[tuple[tuple[tuple[str, ...], ...], int, bool]] = [
    ((QUARTER, QUARTER), 2, False),
    ((("blur", "--sigma", "2"), QUARTER), 1, False),
    ((QUARTER, ("blur", "--sigma", "2")), 1, False),
    ((("blur", "--sigma", "9"), UPSIDE_DOWN, ("sharpen",)), 1, False),
    ((("blur", "--kind", "median", "--radius", "1"), QUARTER, ("grade", "--exposure", "0.5"), UPSIDE_DOWN), 2, False),
    ((("crop", "--region", "3,5,30,40"), QUARTER, ("crop", "--region", "1,20,33,9")), 1, False),
    ((QUARTER, ("resize", "--scale", "0.4"), UPSIDE_DOWN, ("resize", "--size", "60x")), 2, True),
    ((("resize", "--scale", "1.7"), QUARTER), 1, True),
    ((("tonemap", "--operator", "agx"), QUARTER), 1, True),
    ((QUARTER, ("tonemap", "--operator", "reinhard-extended")), 1, True),
    ((QUARTER, ("tonemap", "--meter", "center"), ("rotate", "--angle", "270")), 2, True),
    ((("tonemap", "--operator", "durand"), UPSIDE_DOWN, ("blur", "--sigma", "2")), 1, True),
    ((QUARTER, ("bloom",), ("flip", "--axis", "horizontal"), ("rotate", "--angle", "180")), 2, True),
    ((QUARTER, ("mix", "--picture", "other.exr", "--mask", "other.exr", "--amount", "0.4")), 1, False),
    ((("mix", "--picture", "same.exr"), QUARTER, ("mix", "--picture", "other.exr", "--amount", "0.7")), 1, False),
    ((("ocio", "--config", "cg", "--to", "ACEScg"), QUARTER, ("flip", "--axis", "horizontal")), 1, False),
]  # fmt: skip
SOURCES = [("exr", "float16", 4), ("tif", "uint16", 3), ("png", "uint8", 1), ("exr", "float32", 3)]


def joined(chain: tuple[tuple[str, ...], ...], path: Path) -> list[object]:
    """The words of a command that does a chain."""
    words: list[object] = [chain[0][0], path, *chain[0][1:]]
    for step in chain[1:]:
        words += ["then", *step]
    return words


def close(found: np.ndarray, expected: np.ndarray) -> None:
    """The same, but for sums in another order."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if found.dtype.kind == "u":
        error = np.abs(found.astype(int) - expected)
        assert error.max() <= 1 and np.count_nonzero(error) <= 1e-3 * error.size + 1
    else:
        rtol = 1e-3 if found.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-5)


def light(shape: tuple[int, int, int], dtype: str) -> np.ndarray:
    """A scene of much contrast, or codes."""
    rng = np.random.default_rng(7)
    if np.dtype(dtype).kind == "u":
        return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    values = np.exp(1.5 * rng.standard_normal(shape))
    if shape[2] in (2, 4):
        values[..., -1] = np.clip(values[..., -1] / 2, 0, 1)
    return values.astype(dtype)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("chain", "turns", "sums"), thinned(CHAINS, 3, arguments=3), ids=lambda given: str(given)[:60]
)
def test_chains(clpix, by_rows, tmp_path, monkeypatch, chain, turns, sums) -> None:
    """Before, between and after turns: every value, what the file says, and what is said."""
    skip_without_package(chain[0][0])
    monkeypatch.chdir(tmp_path)
    number = CHAINS.index((chain, turns, sums))
    suffix, dtype, channels = SOURCES[number % 4]
    saved(Path("same.exr"), light((67, 45, 3), "float32"))
    saved(Path("other.exr"), light((45, 67, 3), "float32")[::-1])
    path = saved(Path(f"in.{suffix}"), light((67, 45, channels), dtype))
    end = ("png", "tif", "exr")[number // 3 % 3]
    first = clpix(*joined(chain, path), "-o", f"whole.{end}")
    assert first.code == 0, first.err
    expected = files.read(f"whole.{end}")
    run = by_rows(PLACES[number % 3], *joined(chain, path), "-o", f"rows.{end}", turns=turns)
    assert sorted(run.err.splitlines()) == sorted(first.err.replace("whole.", "rows.").splitlines())
    found = files.read(f"rows.{end}")
    assert found.metadata == expected.metadata
    assert (found.linear, found.alpha) == (expected.linear, expected.alpha)
    if sums:
        close(found.pixels, expected.pixels)
    else:
        np.testing.assert_array_equal(found.pixels, expected.pixels)


OPTIONS = [
    ("--dither",), ("--no-fuse",), ("--space", "linear"), ("--working", "rec2020"), ("--colour", "display-p3"),
    ("--alpha", "drop"), ("--dtype", "uint16"), ("--repeat", "3"),
]  # fmt: skip


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("options", "chain"),
    thinned(pairs(OPTIONS, [(QUARTER, ("grade", "--exposure", "-1")), (("blur", "--sigma", "1"), UPSIDE_DOWN)]), 3,
         arguments=2),
    ids=str,
)  # fmt: skip
def test_options(clpix, by_rows, tmp_path, options, chain) -> None:
    """Noise is that of the pixel's place in the result, and colours and alpha are what the options say."""
    path = saved(tmp_path / "in.tif", samples((29, 43, 4), "uint16"))
    command = (*joined(chain, path), *options, *(("--dtype", "uint8") if "--dither" in options else ()))
    first = clpix(*command, "-o", tmp_path / "whole.png")
    assert first.code == 0, first.err
    expected = files.read(tmp_path / "whole.png")
    for place in PLACES:
        run = by_rows(place, *command, "-o", tmp_path / "rows.png", "--overwrite")
        assert run.err == first.err.replace("whole.", "rows.")
        found = files.read(tmp_path / "rows.png")
        np.testing.assert_array_equal(found.pixels, expected.pixels)
        assert found.metadata == expected.metadata


def test_files_on_the_way(clpix, by_rows, tmp_path) -> None:
    """Before a turn, between two, and after both: all of each, though a crop leaves out some."""
    path = saved(tmp_path / "in.exr", light((67, 45, 3), "float16"))

    def command(way: str) -> list[object]:
        folder = tmp_path / f"in-{way}"
        folder.mkdir()
        return ["blur", path, "--sigma", 2, "then", "write", folder / "a.exr", "then", *QUARTER, "then", "write",
                folder / "b.png", "then", "tonemap", "then", "write", folder / "c.tif", "then", *UPSIDE_DOWN, "then",
                "write", folder / "d.jpg", "then", "crop", "--region", "5,7,20,30", "-o", folder / "e.png"]  # fmt: skip

    first = clpix(*command("whole"))
    assert first.code == 0
    for place in PLACES:
        run = by_rows(place, *command(place), turns=2)
        said = [sorted(line.rpartition("/")[2] for line in one.err.splitlines()) for one in (first, run)]
        assert said[0] == said[1] and said[0]
        for name in ("a.exr", "b.png", "c.tif", "d.jpg", "e.png"):
            close(*(files.read(tmp_path / f"in-{way}" / name).pixels for way in (place, "whole")))


def test_exposures_of_several_pictures(clpix, by_rows, tmp_path, monkeypatch) -> None:
    """What is measured first is measured behind the turn."""
    monkeypatch.chdir(tmp_path)
    for k in range(3):
        saved(Path(f"{k}.exr"), (k + 1) * light((37 + k, 45, 3), "float32"))
    command = [
        "rotate", "0.exr", "1.exr", "2.exr", "--angle", "90", "then", "tonemap", "--exposure", "shared", "-o",
    ]  # fmt: skip
    assert clpix(*command, "whole/").code == 0
    by_rows("memory", *command, "rows/", turns=6)  # each picture is measured, and then done
    for k in range(3):
        close(files.read(f"rows/{k}.exr").pixels, files.read(f"whole/{k}.exr").pixels)


def test_turns_are_what_operations_do(gpu) -> None:
    """The declared turn against the function's result, for each orientation."""
    x = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    steps = [FlipParams(axis) for axis in ("horizontal", "vertical", "both")]
    steps += [RotateParams(angle) for angle in (0, 90, -180, 270, -90, 360, 45, 90.5)]
    for step in [*steps, RotateParams(auto_orient=True)]:
        record = operation_of(step)
        assert record.turn is not None
        for orientation in UPRIGHT:
            image = gpu.array(x)
            image.orientation = orientation
            turn = record.turn(step, orientation)
            result = record(gpu, image, step)
            if getattr(step, "angle", None) in (45, 90.5):
                assert turn is None
                continue
            assert turn is not None and turn.shape((2, 3, 5)) == result.shape
            expected = UPRIGHT[turn.orientation](x.transpose(1, 2, 0)).transpose(2, 0, 1)
            np.testing.assert_array_equal(result.numpy(), expected)
            assert result.orientation == (turn.leaves or orientation)


def test_a_region_of_the_turned_picture(clpix, tmp_path) -> None:
    pixels = samples((20, 50, 3), "uint8")
    path = saved(tmp_path / "in.png", pixels)
    command = ("rotate", path, "--angle", "90", "then", "crop", "--region", "3,30,15,20")
    run = clpix(*command, "-o", tmp_path / "out.png")
    assert run.code == 0, run.err
    expected = np.rot90(pixels, -1)[30:, 3:18]
    np.testing.assert_array_equal(files.read(tmp_path / "out.png").pixels, expected)
    assert clpix(*command, "-o", tmp_path / "out.png", "--explain").code == 0
    # At other angles the canvas grows.
    command = ("rotate", path, "--angle", "45", "then", "crop", "--region", "1,30,45,19")
    assert clpix(*command, "-o", tmp_path / "b.png").code == 0
    assert files.read(tmp_path / "b.png").pixels.shape == (19, 45, 3)


def test_a_promise_that_is_too_small_says_what_would_do(clpix, tmp_path, monkeypatch) -> None:
    """The memory that a line names is enough, one that is a little less is not, and a scratch folder is, too."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    pixels = samples((1500, 1100, 3), "uint8")
    path = saved(tmp_path / "in.png", pixels)
    chain = ("rotate", path, "--angle", "90", "then", "blur", "--sigma", "1", "then", *UPSIDE_DOWN)
    for command in (chain[:4], chain):
        out = tmp_path / "out.png"
        run = clpix(*command, "-o", out, "--memory", "1M")
        assert run.code == 1 and len(run.err.splitlines()) == 1
        found = re.search(
            r"in.png: needs [\d.]+ MB of memory, and 1.049 MB are allowed: raise --memory to (\d+)([KM]), "
            r"or give --scratch DIR for [\d.]+ MB\n",
            run.err,
        )
        assert found is not None, run.err
        assert not out.exists()
        less = clpix(*command, "-o", out, "--memory", f"{int(found[1]) - 1}{found[2]}")
        assert less.code == 1 and f"raise --memory to {found[1]}{found[2]}" in less.err
        assert clpix(*command, "-o", out, "--memory", f"{found[1]}{found[2]}").code == 0
        expected = files.read(out).pixels
        out.unlink()
        with monkeypatch.context() as patch:
            used = spied(patch)
            run = clpix(*command, "-o", out, "--memory", "1M", "--scratch", tmp_path)
        assert run.code == 0 and used
        np.testing.assert_array_equal(files.read(out).pixels, expected)
        assert sorted(os.listdir(tmp_path)) == ["in.png", "out.png"]
        out.unlink()
    few = clpix(*chain, "-o", out, "--memory", "20K", "--scratch", tmp_path)
    assert few.code == 1 and "needs" in few.err and "raise --memory" in few.err
    whole = clpix(*chain[:4], "-o", tmp_path / "out.jpg", "--memory", "1M", "--scratch", tmp_path)
    assert whole.code == 1 and "JPEG is written as a whole" in whole.err


def test_memory_is_used_if_it_is_enough(clpix, tmp_path, monkeypatch) -> None:
    """A scratch folder is for what memory has no room for."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    path = saved(tmp_path / "in.png", samples((1500, 1100, 3), "uint8"))
    used = spied(monkeypatch)
    command = ("flip", path, "--axis", "vertical", "-o", tmp_path / "out.png", "--scratch", tmp_path)
    assert clpix(*command, "--memory", "12M").code == 0 and not used
    assert clpix(*command, "--memory", "5M", "--overwrite").code == 0 and len(used) == 1


# The same folder has the turned rows of pictures, and spectra.
FFT = ("fft",)


@pytest.mark.cases(10)
@pytest.mark.parametrize(("trouble", "chain"), [
    ("not writable", (QUARTER,)), ("free", (QUARTER,)), ("failed there", (QUARTER,)),
    ("no such folder", (QUARTER,)), ("disk is full", (("blur", "--sigma", "1"), ("write", "mid.png"), QUARTER)),
    ("is a file", (FFT,)),
    ("not writable", (FFT,)), ("free", (FFT,)), ("failed there", (FFT,)), ("disk is full", (FFT,)),
])  # fmt: skip
def test_a_scratch_folder_that_fails(clpix, tmp_path, monkeypatch, trouble, chain) -> None:
    """One line says it, and nothing stays: neither in the folder nor of the files that were begun."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    path = saved(tmp_path / "in.png", samples((1500, 1100, 3), "uint8"))
    folder = path if trouble == "is a file" else tmp_path / "scratch"
    if trouble not in ("no such folder", "is a file"):
        folder.mkdir()

    def fails(*_: object) -> Any:
        raise OSError(errno.ENOSPC if trouble == "disk is full" else errno.EIO, "trouble")

    if trouble == "not writable":
        monkeypatch.setattr("os.access", lambda path, _mode: not os.fspath(path).endswith("scratch"))
    elif trouble == "free":
        monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": 5}))
    elif trouble in ("disk is full", "failed there"):
        monkeypatch.setattr("os.pwrite", fails)
    out = "out.npz" if chain == (FFT,) else "out.png"
    run = clpix(*joined(chain, path), "-o", out, "--memory", "2M", "--scratch", folder)
    assert run.code == 1 and trouble in run.err and len(run.err.splitlines()) == 1, run.err
    assert set(os.listdir(tmp_path)) <= {"in.png", "scratch"}
    assert not folder.is_dir() or not os.listdir(folder)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("moment", "number", "step"),
    [("put_rows", "SIGINT", QUARTER), ("panel", "SIGTERM", QUARTER), ("put_rows", "SIGTERM", FFT)],
)
def test_nothing_stays_after_an_interruption(tmp_path, moment, number, step) -> None:
    """A command that is ended while it fills its spool, or reads it, leaves neither that nor its outputs."""
    path = saved(tmp_path / "in.png", samples((300, 200, 3), "uint8"))
    folder = tmp_path / "scratch"
    folder.mkdir()
    program = (
        "import os, signal, sys, time\n"
        "from gpuops.rows import budget\n"
        "from gpuops.rows import spool\n"
        "budget.of_machine = lambda: 0\n"
        "budget._CODEC = 0\n"
        "def interrupted(self, *_):\n"
        "    print(len(os.listdir(sys.argv[1])), flush=True)\n"
        f"    os.kill(os.getpid(), signal.{number})\n"
        "    time.sleep(5)\n"  # a main thread that begins to wait just then sees the signal when this returns
        f"spool.InFile.{moment} = interrupted\n"
        "from clpix.main import main\n"
        "main(sys.argv[2:])\n"
    )
    chain = (("blur", "--sigma", "1"), ("write", str(tmp_path / "mid.png")), QUARTER)
    command = joined((FFT,) if step == FFT else chain, path)
    command += ["-o", tmp_path / ("out.npz" if step == FFT else "out.png"), "--scratch", folder]
    command += ["--memory", "700K"] if step == FFT else []
    done = run_python("-c", program, folder, *command)
    assert done.returncode != 0 and done.stdout.startswith("1\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert not os.listdir(folder) and sorted(os.listdir(tmp_path)) == ["in.png", "scratch"]
