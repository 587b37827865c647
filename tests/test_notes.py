"""Notes go to whoever does the work that they are about, whatever other threads do; else they are warnings."""

import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from gpuops import GpuopsWarning, files, notes
from gpuops.ops.tonemap import TonemapParams
from gpuops.tone import tonemap

from .foreign import png


def with_a_remark(path: Path) -> Path:
    """A PNG of one gray pixel, with a profile that no reader understands."""
    rows = b"\0\7"
    path.write_bytes(png((1, 1, 8, 0), rows, (b"iCCP", b"x\0\0" + zlib.compress(b"no profile"))))
    return path


def test_a_warning_is_about_the_line_that_called_the_library(tmp_path) -> None:
    with pytest.warns(GpuopsWarning) as caught:
        files.read(str(with_a_remark(tmp_path / "a.png")))
    assert [warning.filename for warning in caught] == [__file__]


def test_notes_go_to_one_place() -> None:
    outer: list[str] = []
    inner: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with notes.to(outer.append):
            notes.note("before")
            with notes.to(inner.append):
                notes.note("within")
            notes.note("after")
    assert (outer, inner) == (["before", "after"], ["within"])
    with pytest.warns(GpuopsWarning, match="^at last$"):
        notes.note("at last")


def test_notes_go_on_after_an_error() -> None:
    found: list[str] = []
    with notes.to(found.append):
        with pytest.raises(ZeroDivisionError), notes.to(lambda _text: None):
            raise ZeroDivisionError
        notes.note("still here")
    assert found == ["still here"]


def test_threads_have_their_own(tmp_path) -> None:
    """Files that two threads read at once: each hears of its own, however their work falls together."""
    paths = [with_a_remark(tmp_path / name) for name in ("a.png", "b.png")]
    both = Barrier(2)

    def heard(path: Path) -> list[str]:
        found: list[str] = []
        with notes.to(found.append):
            for _ in range(50):
                both.wait()
                files.read(str(path))
        return found

    with ThreadPoolExecutor(2) as pool:
        for path, found in zip(paths, pool.map(heard, paths), strict=True):
            assert len(found) == 50 and all(text.startswith(f"{path}: ") for text in found)


def test_an_operations_notes(gpu) -> None:
    found: list[str] = []
    with notes.to(found.append):
        tonemap.tonemap(gpu, gpu.array(np.full((3, 2, 2), np.nan, np.float32)), TonemapParams(exposure=0))
    assert len(found) == 1 and "4 NaN" in found[0]


def test_the_first_input_is_read_beside_others_and_heard_of_once(clpix, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The first input is read by another thread while the device is opened, and its remark comes once."""
    paths = [with_a_remark(tmp_path / name) for name in ("a.png", "b.png")]
    run = clpix("blur", *paths, "--sigma", 1, "-o", f"{tmp_path}/out/", "-v")
    assert run.code == 0
    for path in paths:
        assert run.err.count(f"clpix: warning: {path}: its ICC profile is damaged") == 1
    silent = clpix("blur", paths[0], "--sigma", 1, "-q", "-o", tmp_path / "c.png")
    assert (silent.code, silent.err) == (0, "")


def test_a_batch_says_each_kind_once(clpix, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for k in range(4):
        values = np.full((8, 9, 3), 1.5 if k > 1 else 0.5, np.float32)
        values[0, 0, 0] = 1.5 if k else 0.5
        files.write(tmp_path / f"{k}.exr", files.Picture(values, linear=True))
    options = (
        "convert", *sorted(tmp_path.glob("*.exr")), "-o", f"{tmp_path}/out/{{stem}}.png", "--overwrite",
    )  # fmt: skip
    run = clpix(*options, "--dtype", "uint8")
    lost = "outside the range of 8-bit integers and clipped"
    told = [f"clpix: warning: {tmp_path}/out/1.png: 1 value was {lost}"]
    assert run.err == f"{told[0]}; so it is in 2 more files\n"
    every = clpix(*options, "--dtype", "uint8", "-v").err
    told += [f"clpix: warning: {tmp_path}/out/{k}.png: 216 values were {lost}" for k in (2, 3)]
    assert [line for line in every.splitlines() if "value" in line] == told


OVERSHOOTS = [
    ("resize", "--scale", "0.5"),
    ("sharpen",),
    ("dwt", "--shrink", "soft", "--threshold", "0.2", "--reconstruct"),
    ("deconvolve", "--sigma", "1", "then", "resize", "--scale", "2"),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("args", OVERSHOOTS, ids=lambda args: args[0])
def test_overshoot_of_integers_is_a_detail(clpix, args: tuple[str, ...], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Integers have no light beyond white that could be lost; floats have, and so has what is made brighter."""
    black_and_white = np.random.default_rng(3).integers(0, 2, (40, 50, 3))
    files.write(tmp_path / "in.png", files.Picture((black_and_white * 255).astype(np.uint8)))
    files.write(tmp_path / "in.exr", files.Picture(black_and_white.astype(np.float32), linear=True))
    command, *rest = args
    out, clipped = tmp_path / "out.png", "values were outside the range of 8-bit integers and clipped"
    more = ("-o", out, "--overwrite", "--dtype", "uint8")
    run = clpix(command, tmp_path / "in.png", *rest, *more)
    assert (run.code, run.err) == (0, "")
    told = clpix(command, tmp_path / "in.png", *rest, *more, "-v").err
    assert f"clpix: {out}: " in told and clipped in told and "warning" not in told
    assert clipped in clpix(command, tmp_path / "in.exr", *rest, *more).err
    if command != "dwt":
        bright = clpix(command, tmp_path / "in.png", *rest, "then", "grade", "--exposure", "1", *more)
        assert bright.err.startswith("clpix: warning: ") and clipped in bright.err
