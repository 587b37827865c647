"""Batches: what threads read ahead and write behind is what single commands give, in their order; lists, folders,
journals and shards."""

import hashlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuops import FileError, ParameterError, files
from gpuops.batch.job import Job, Options, shard
from gpuops.batch.journal import Journal
from gpuops.batch.pipeline import Done, run_jobs
from gpuops.chain import Chain
from gpuops.files import Picture
from gpuops.ops.flip import FlipParams

from .conftest import run_python

FLIP = Chain(FlipParams("horizontal"))
UPSIDE_DOWN = Chain(FlipParams("vertical"))


def save(path: Path, shape: tuple[int, int, int] = (12, 17, 3), dtype: str = "uint8", seed: int = 0) -> Path:
    """Writes a picture of noise."""
    rng = np.random.default_rng(seed)
    light = dtype.startswith("f")
    pixels = rng.random(shape) if light else rng.integers(0, np.iinfo(dtype).max + 1, shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, Picture(pixels.astype(dtype), alpha=shape[2] in (2, 4), linear=light))
    return path


def jobs_of(folder: Path, work: Any = UPSIDE_DOWN, count: int = 12) -> list[Job]:
    """Jobs on small pictures."""
    sources = [save(folder / "in" / f"{k:02}.png", seed=k) for k in range(count)]
    (folder / "out").mkdir()
    return [Job(str(path), work, str(folder / "out" / path.name)) for path in sources]


def check_flipped(jobs: Iterable[Job], folder: Path) -> None:
    """Checks that the results of these jobs are there, and no other files."""
    jobs = list(jobs)
    assert names(folder / "out") == sorted(Path(job.target).name for job in jobs)
    for job in jobs:
        np.testing.assert_array_equal(files.read(job.target).pixels, files.read(job.source).pixels[::-1])


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> list[str]:
    """The files in a folder and below it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def contents(folder: Path) -> dict[str, str]:
    """The files in a folder and below it, and what tells their bytes apart."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names(folder)}


@pytest.mark.exhaustive
def test_a_batch_gives_what_single_commands_give(clpix, here) -> None:
    """Formats, depths, alpha and sizes follow each other; work is a chain, a transform, and its inverse."""
    inputs = [
        save(here / "in" / "a.png", (31, 17, 4), "uint16", 1),
        save(here / "in" / "b.jpg", (16, 48, 3), seed=2),
        save(here / "in" / "c.exr", (5, 9, 4), "float16", 3),
        save(here / "in" / "d.tif", (23, 1, 1), "float32", 4),
        save(here / "in" / "e.png", (1, 1, 2), seed=5),
        save(here / "in" / "f.webp", (40, 33, 4), seed=6),
    ]
    commands = {
        "chain": ("blur", "--sigma", "2", "then", "flip", "--axis", "vertical", "-o", "{to}/{stem}.png"),
        "same": ("sharpen", "-o", "{to}/"),
        "fft": ("fft", "-o", "{to}/{stem}.npz"),
        "dwt": ("dwt", "-o", "{to}/{stem}.tif"),
    }
    for name, (command, *options) in commands.items():
        for to, jobs in ((f"{name}-many", ("--jobs", "4")), (f"{name}-auto", ())):
            made = clpix(command, *inputs, *(part.replace("{to}", to) for part in options), *jobs)
            assert made.code == 0, made.err
        for path in inputs:
            single = clpix(command, path, *(part.replace("{to}", f"{name}-one") for part in options))
            assert single.code == 0, single.err
        one = contents(here / f"{name}-one")
        assert len(one) == len(inputs)
        assert one == contents(here / f"{name}-many") == contents(here / f"{name}-auto")
    for command, of, ext in (("ifft", "fft", "npz"), ("idwt", "dwt", "tif")):
        spectra = sorted((here / f"{of}-one").glob(f"*.{ext}"))
        assert clpix(command, *spectra, "-o", f"{command}/{{stem}}.exr", "--jobs", "3").code == 0
        for path in spectra:
            assert clpix(command, path, "-o", f"{command}-one/{{stem}}.exr").code == 0
        assert contents(here / command) == contents(here / f"{command}-one")


def test_messages_come_in_the_order_of_the_inputs(clpix, here) -> None:
    """A large picture comes before small ones; what is said of one stands before what is said of the next."""
    inputs = [save(here / f"{k}.exr", (700 if k == 0 else 3, 600, 3), "float32", k) for k in range(9)]
    inputs[4].write_bytes(inputs[4].read_bytes()[:400])
    for k in (0, 3, 8):  # values that are clipped
        files.write(inputs[k], Picture(np.full((3, 5, 3), 7, np.float32), linear=True), overwrite=True)
    run = clpix("flip", "--axis", "vertical", *inputs, "-o", "out/{stem}.png", "--jobs", "4", "-v")
    assert run.code == 1
    said = run.err.splitlines()[1:]  # behind the device
    where = [next(str(k) for k in range(9) if f"{k}.png" in line or f"{k}.exr" in line) for line in said[:-1]]
    assert where == sorted(where) and set(where) == set("012345678")
    assert next(line for line in said if "error" in line).startswith(f"clpix: error: {inputs[4]}: ")
    assert said[-1] == "clpix: error: 1 of 9 inputs failed"
    assert names(here / "out") == [f"{k}.png" for k in range(9) if k != 4]


def test_memory_bounds_what_is_read_ahead(gpu, here) -> None:
    """With room for one picture the next is read when a result is there; else several are on their way."""
    jobs = [Job(str(save(here / f"{k}.png", seed=k)), FLIP, str(here / f"o{k}.png")) for k in range(8)]
    ahead: dict[int, int] = {}
    for memory in (1, 1 << 30):
        begun: list[Job] = []
        most = 0
        for number, done in enumerate(
            run_jobs(
                lambda: gpu,
                [Job(job.source, FLIP, job.target, options=Options(overwrite=True)) for job in jobs],
                at_once=4,
                memory=memory,
                begin=begun.append,
            )
        ):
            assert done.error is None and done.pixels == 12 * 17
            most = max(most, len(begun) - number)
        ahead[memory] = most
        assert [job.target for job in begun] == [job.target for job in jobs]
    assert ahead[1] <= 2 < ahead[1 << 30] <= 11


def test_what_fails_in_a_thread_is_the_failure_of_its_job(gpu, here) -> None:
    """The folder of one output is gone when it is to be written, and one input is damaged."""
    (here / "gone").mkdir()
    sources = [str(save(here / f"{k}.png", seed=k)) for k in range(4)]
    (here / "2.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    targets = ["a.png", "gone/b.png", "c.png", "d.png"]
    jobs = [Job(source, FLIP, str(here / target)) for source, target in zip(sources, targets, strict=True)]
    shutil.rmtree(here / "gone")
    found = list(run_jobs(lambda: gpu, jobs, at_once=2))
    assert [done.job for done in found] == jobs
    assert [type(done.error) for done in found] == [type(None), FileError, FileError, type(None)]
    assert "gone" in str(found[1].error) and "2.png" in str(found[2].error)
    assert (here / "a.png").exists() and (here / "d.png").exists()


def test_no_thread_is_left_if_nobody_wants_the_rest(gpu, here) -> None:
    import threading

    jobs = [Job(str(save(here / f"{k}.png", seed=k)), FLIP, str(here / f"o{k}.png")) for k in range(9)]
    before = threading.active_count()
    results = run_jobs(lambda: gpu, jobs, at_once=2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before and not [name for name in names(here) if name.startswith(".")]


def test_codecs_share_the_processors(gpu, here) -> None:
    from gpuops.files import threads

    before = threads.count()
    jobs = [Job(str(save(here / f"{k}.png", seed=k)), FLIP, str(here / f"o{k}.png")) for k in range(3)]
    seen = [threads.count() for _done in run_jobs(lambda: gpu, jobs, at_once=before)]
    assert seen == [max(1, before // min(before, 3))] * 3 and threads.count() == before


@pytest.fixture
def tree(here) -> Path:
    """A folder with pictures of the same name in three places, a text, and hidden ones."""
    for name in ("x.png", "a/x.png", "a/b/x.exr", "a/b/y.png", ".hidden/x.png", ".x.png"):
        save(here / "in" / name, dtype="float32" if name.endswith("exr") else "uint8")
    (here / "in" / "a" / "readme.txt").write_text("no picture")
    return here


def test_folders_keep_their_tree(clpix, tree) -> None:
    made = clpix("flip", "--axis", "vertical", "in", "--recursive", "-o", "out/")
    assert made.code == 0, made.err
    assert names(tree / "out") == ["a/b/x.exr", "a/b/y.png", "a/x.png", "x.png"]
    chosen = clpix("flip", "--axis", "vertical", "in", "--recursive", "-o", "by/{dir}/{stem}-{op}.png")
    assert chosen.code == 0, chosen.err
    assert names(tree / "by") == ["a/b/x-flip.png", "a/b/y-flip.png", "a/x-flip.png", "x-flip.png"]


def test_results_in_a_folder_are_no_inputs_of_the_next_run(clpix, tree) -> None:
    for times in ((), ("--overwrite",)):
        made = clpix("flip", "--axis", "vertical", "in", "--recursive", "-o", "in/out/", *times)
        assert made.code == 0, made.err
    assert names(tree / "in" / "out") == ["a/b/x.exr", "a/b/y.png", "a/x.png", "x.png"]


def test_trouble_with_folders(clpix, tree) -> None:
    same = clpix("flip", "--axis", "vertical", "in", "--recursive", "-o", "out/{stem}.png")
    assert same.code == 2 and "use {dir} or {index}" in same.err and not (tree / "out").exists()
    without = clpix("flip", "--axis", "vertical", "in", "-o", "out/")
    assert without.code == 1 and "or give --recursive" in without.err and not (tree / "out").exists()
    (tree / "empty").mkdir()
    empty = clpix("flip", "--axis", "vertical", "empty", "--recursive", "-o", "out/")
    assert empty.code == 1 and empty.err.count("\n") == 1 and "no files" in empty.err
    assert not (tree / "out").exists()


def test_lists_of_names(clpix, here, monkeypatch) -> None:
    odd = save(here / "two\nlines.png")
    one, two = save(here / "1.png"), save(here / "@2.png")
    (here / "lines.txt").write_text(f"{one}\r\n\n{two}\n")
    (here / "zero").write_bytes(b"\0".join(map(os.fsencode, (odd, one))))
    made = clpix("flip", "--axis", "vertical", "@lines.txt", "--from0", "zero", "-o", "out/{index}-{name}")
    assert made.code == 0, made.err
    assert names(here / "out") == ["0001-1.png", "0002-@2.png", "0003-two\nlines.png", "0004-1.png"]
    assert clpix("flip", "--axis", "vertical", "./@2.png", "-o", "o.png").code == 0
    flip = "-m clpix flip --axis vertical --from0 - -o piped/"
    given = run_python(*flip.split(), input=os.fsencode(one) + b"\0")
    assert given.returncode == 0, given.stderr
    assert names(here / "piped") == ["1.png"]


@pytest.mark.parametrize(("args", "code", "words"), [
    ("@none.txt -o out/", 1, "none.txt: there is no such file"),
    ("@ -o out/", 2, "such as @list.txt"),
    ("@empty -o out/", 2, "the lists of inputs are empty"),
    ("-o out/", 2, "Missing argument 'INPUT...'"),
    ("- --from0 - -o out/", 2, "read once"),
    ("1.png -o out/ --jobs 0", 2, "neither 'auto' nor a number"),
    ("1.png -o out/ --shard 4/3", 2, "--shard 4/3: write I/N with I from 1 to N"),
    ("1.png -o out/ --shard slurm", 2, "Slurm's variables are not set"),
    ("1.png -o out/ --skip-existing --overwrite", 2, "leave out one"),
    ("1.png -o out/ --journal j --resume j", 2, "leave out --journal"),
    ("1.png -o out/ --journal no/j", 1, "no/j: the journal cannot be opened"),
    ("1.png -o out/ --journal 1.png", 1, "--journal 1.png: is also an input"),
    ("1.png -o out/ --resume text", 1, "text: line 1 is not one of a journal"),
])  # fmt: skip
def test_what_is_refused(clpix, here, monkeypatch, args, code, words) -> None:
    for name in list(os.environ):
        if name.startswith("SLURM_"):
            monkeypatch.delenv(name)
    save(here / "1.png")
    (here / "empty").touch()
    (here / "text").write_text("not a line of JSON, and no end of line")
    before = contents(here)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    run = clpix("flip", "--axis", "vertical", *args.split())
    assert run.code == code and words in run.err and run.err.count("\n") == 1, run.err
    assert contents(here) == before and not (here / "out").exists()


def test_existing_outputs_are_left_out(clpix, here) -> None:
    """Nothing is done if all are there: not even a device is needed."""
    inputs = [save(here / f"{k}.png", seed=k) for k in range(3)]
    flip = ("flip", "--axis", "vertical", *inputs, "-o", "out/")
    assert clpix(*flip[:-3], "-o", "out/").code == 0
    kept = (here / "out" / "0.png").stat().st_mtime_ns
    run = clpix(*flip, "--skip-existing")
    assert run.code == 0 and not run.err and names(here / "out") == ["0.png", "1.png", "2.png"]
    assert (here / "out" / "0.png").stat().st_mtime_ns == kept
    nothing = clpix(*flip, "--skip-existing", "--device", "there is no such device", "-v")
    assert (nothing.code, nothing.err) == (0, "clpix: 3 of 3 outputs are there and stay\n")


def test_update_does_what_is_out_of_date(clpix, here) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(3)]
    blur = ("blur", *inputs, "-o", "out/", "--update", "--journal", "run.jsonl")
    assert clpix(*blur, "--sigma", "1").code == 0
    first = contents(here / "out")

    def changed() -> list[str]:
        return [name for name, content in contents(here / "out").items() if content != first[name]]

    assert clpix(*blur, "--sigma", "1", "--device", "there is no such device").code == 0
    files.write(inputs[1], Picture(np.zeros((4, 4, 3), np.uint8)), overwrite=True)
    os.utime(
        inputs[1], ns=(1, 1)
    )  # older than the result, as a copy of an old file is: the journal knows another state
    assert clpix(*blur, "--sigma", "1").code == 0 and changed() == ["1.png"]
    assert (
        clpix(*blur, "--sigma", "1.0", "--jobs", "2").code == 0
    )  # the same parameters, spelled in another way
    assert changed() == ["1.png"] and clpix(*blur, "--sigma", "3").code == 0
    assert changed() == ["0.png", "1.png", "2.png"]
    without = ("blur", *inputs, "-o", "out/", "--update", "--sigma", "1")  # times alone decide
    third = contents(here / "out")
    assert clpix(*without).code == 0 and contents(here / "out") == third
    os.utime(inputs[2], ns=(time.time_ns() + 10**9,) * 2)
    assert clpix(*without).code == 0
    assert [name for name, content in contents(here / "out").items() if content != third[name]] == ["2.png"]


@pytest.mark.parametrize("how", [("--skip-existing",), ("--update",), ("--resume", "j")])
def test_chains_that_write_on_the_way_are_left_out_whole(clpix, here, how) -> None:
    """Nothing is done while both outputs are there; where one is gone, what is up to date is made anew with it."""
    inputs = [save(here / f"{k}.png", seed=k) for k in range(3)]
    chain = ("flip", "--axis", "vertical", *inputs, "then", "write", "mid/", "then", "flip")
    chain += ("--axis", "horizontal", "-o", "out/", *how)
    assert clpix(*chain).code == 0
    first = contents(here / "mid") | contents(here / "out")
    again = clpix(*chain, "--device", "there is no such device")
    assert again.code == 0, again.err
    if how == ("--skip-existing",):
        return
    (here / "mid" / "1.png").unlink()
    assert clpix(*chain).code == 0 and contents(here / "mid") | contents(here / "out") == first
    assert names(here / "mid") == names(here / "out") == ["0.png", "1.png", "2.png"]


@pytest.mark.exhaustive
def test_a_killed_run_is_resumed(here) -> None:
    """Killed at any moment, and then resumed: each output is there, whole, and nothing else; none is done twice."""
    inputs = [save(here / "in" / f"{k:02}.png", (300, 400, 3), seed=k) for k in range(24)]
    command = [sys.executable, "-m", "clpix", "blur", "in", "--recursive", "--sigma", "3", "-o", "out/"]
    command += ["--resume", "run.jsonl"]
    kills = 0
    for wanted in (2, 7, 12):
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            end = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < end:
                if (here / "out").is_dir() and len(list((here / "out").glob("*.png"))) >= wanted:
                    process.kill()
                    kills += 1
                    break
                time.sleep(0.001)
    events = [json.loads(line) for line in (here / "run.jsonl").read_text().splitlines()]
    done_before = {event["output"] for event in events if event["event"] == "done"}
    last = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert last.returncode == 0 and not last.stderr, last.stderr
    assert kills and names(here / "out") == [path.name for path in inputs]
    for path in inputs:
        assert files.read(here / "out" / path.name).pixels.shape == (300, 400, 3)
    events = [json.loads(line) for line in (here / "run.jsonl").read_text().splitlines()]
    ended = [event["output"] for event in events if event["event"] == "done"]
    assert sorted(ended) == sorted(str(here / "out" / path.name) for path in inputs) and done_before < set(
        ended
    )
    shutil.rmtree(here / "out")
    again = subprocess.run(command, capture_output=True, text=True, timeout=600)  # the outputs are gone
    assert again.returncode == 0 and len(names(here / "out")) == len(inputs)


def test_resuming_tries_again_what_failed(clpix, here) -> None:
    save(here / "a.png")
    (here / "b.png").write_bytes(b"no picture")
    flip = ("flip", "--axis", "vertical", here / "a.png", here / "b.png", "-o", "out/", "--resume", "j")
    run = clpix(*flip)
    assert run.code == 1 and "1 of 2 inputs failed" in run.err
    again = clpix(*flip)
    assert again.code == 1 and names(here / "out") == ["a.png"]
    (here / "b.png").unlink()
    save(here / "b.png")
    assert clpix(*flip).code == 0 and names(here / "out") == ["a.png", "b.png"]
    (here / "out" / "c.png").write_bytes(b"of somebody else")
    save(here / "c.png")
    foreign = clpix(*flip[:4], here / "c.png", *flip[5:])
    assert foreign.code == 1 and "exists already" in foreign.err
    assert (here / "out" / "c.png").read_bytes() == b"of somebody else"


def test_a_journal_is_of_one_run(clpix, here) -> None:
    save(here / "a.png")
    with Journal("j"):
        run = clpix("flip", "--axis", "vertical", "a.png", "-o", "out/", "--journal", "j")
        assert run.code == 1 and "another run is writing this journal" in run.err
        assert not (here / "out").exists()


def test_a_journal_that_was_cut_off_goes_on(here) -> None:
    job = Job(str(save(here / "a.png")), FLIP, str(save(here / "b.png")))
    with Journal("j") as journal:
        journal.begin(job)
        assert not journal.is_done(job)
        journal.end(Done(job))
    whole = (here / "j").read_bytes()
    first = whole.index(b"\n") + 1
    for length, lost in product(
        (len(whole) - 1, len(whole) - 9, first + 20, first + 1, first, first - 1, 20, 1), (0, 99)
    ):
        (here / "j").write_bytes(whole[:length] + bytes(lost))
        with Journal("j") as journal:
            known = journal.knows(job.target)
            assert (here / "j").read_bytes() == (whole[:first] if length >= first else b"")
            assert (known is not None and not known.done) if length >= first else known is None
    (here / "j").write_bytes(whole)
    with Journal("j") as journal:
        assert journal.is_done(job) and not journal.is_done(replace(job, work=Chain(FlipParams("vertical"))))
    others = b'{"event": "done", "output": "o", "input": "i", "recipe": "r", "mtime_ns": 1, "size": '
    for other in (b"\n" + whole, bytes(99), b"0", others + b"1e400}\n", others + b"[" * 100_000 + b"\n"):
        (here / "j").write_bytes(other)
        with pytest.raises(FileError, match="line 1 is not one of a journal"):
            Journal("j")
        assert (here / "j").read_bytes() == other


@given(items=st.lists(st.integers()), count=st.integers(1, 20))
def test_shards_are_a_partition(items, count) -> None:
    parts = [shard(items, f"{index}/{count}") for index in range(1, count + 1)]
    assert sorted(item for part in parts for item in part) == sorted(items)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for index, part in enumerate(parts):
        array = {"SLURM_ARRAY_TASK_ID": str(10 + 5 * index), "SLURM_ARRAY_TASK_MIN": "10"}
        array |= {"SLURM_ARRAY_TASK_STEP": "5", "SLURM_ARRAY_TASK_COUNT": str(count)}
        step = {"SLURM_PROCID": str(index), "SLURM_NTASKS": str(count)}
        assert shard(items, "slurm", array) == shard(items, "slurm", step) == part


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", "١/٢", "SLURM"])
def test_shards_that_there_are_not(text) -> None:
    with pytest.raises(ParameterError, match="I/N"):
        shard([1, 2, 3], text)


def test_shards_of_a_batch_are_all_of_it(clpix, here) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(7)]
    for part in ("1/3", "2/3", "3/3"):
        made = clpix("flip", "--axis", "vertical", *inputs, "-o", "out/{index}.png", "--shard", part)
        assert made.code == 0, made.err
    assert names(here / "out") == [f"{k + 1:04}.png" for k in range(7)]
    whole = clpix("flip", "--axis", "vertical", *inputs, "-o", "whole/{index}.png")
    assert whole.code == 0 and contents(here / "out") == contents(here / "whole")
    none = clpix("flip", "--axis", "vertical", inputs[0], "-o", "none/", "--shard", "2/2")
    assert none.code == 0 and not (here / "none").exists()


@pytest.fixture
def recipe(here, monkeypatch) -> str:
    """The page with recipes for other programs, which find the program, a list of six pictures and a look here."""
    inputs = [save(here / f"{k}.png", seed=k) for k in range(6)]
    (here / "list.txt").write_text("\n".join(map(str, inputs)))
    (here / "look.toml").write_text('schema = 1\n[[step]]\nop = "flip"\naxis = "vertical"\n')
    (here / "clpix").write_text(f'#!/bin/sh\nexec {sys.executable} -m clpix "$@"\n')
    (here / "clpix").chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}:{os.environ['PATH']}")
    return (Path(__file__).parent.parent / "docs" / "batches.md").read_text()


def check_recipe(here: Path) -> None:
    """Checks that all inputs of the list are done."""
    count = len((here / "list.txt").read_text().split("\n"))
    assert names(here / "out") == [f"{k}.png" for k in range(count)]
    for k in range(count):
        made, source = files.read(here / "out" / f"{k}.png"), files.read(here / f"{k}.png")
        np.testing.assert_array_equal(made.pixels, source.pixels[::-1])


@pytest.mark.exhaustive
@pytest.mark.skipif(not shutil.which("parallel"), reason="there is no GNU parallel")
def test_the_recipe_for_gnu_parallel(here, recipe) -> None:
    """The command line of the documentation does all inputs once."""
    line = next(line for line in recipe.splitlines() if line.startswith("parallel clpix"))
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    check_recipe(here)


@pytest.mark.exhaustive
@pytest.mark.skipif(not shutil.which("snakemake"), reason="there is no Snakemake")
def test_the_recipe_for_snakemake(here, recipe) -> None:
    """The Snakefile of the documentation does all inputs once, and what is out of date again."""
    (here / "Snakefile").write_text(recipe.partition("```snakemake\n")[2].partition("```")[0])
    command = ["snakemake", "-c4", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    check_recipe(here)
    kept = (here / "out" / "1.png").stat().st_mtime_ns
    files.write(here / "0.png", Picture(np.zeros((4, 4, 3), np.uint8)), overwrite=True)
    with open(here / "list.txt", "a") as file:
        file.write(f"\n{save(here / '6.png', seed=6)}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    check_recipe(here)
    assert (here / "out" / "1.png").stat().st_mtime_ns == kept


def on_a_terminal(*command: object, until: bytes = b"", number: int = 0) -> tuple[int, bytes]:
    """Runs the program with stderr on a terminal; once that has shown ``until``, a signal is sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "clpix", *map(str, command)], stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while True:
            shown += os.read(ours, 4096)
            if until and until in shown and number:
                process.send_signal(number)
                number = 0
    except OSError:  # the terminal's other end is closed
        pass
    os.close(ours)
    return process.wait(60), shown


@pytest.mark.exhaustive
def test_a_terminal_shows_how_far_it_is_and_is_clean_afterwards(here) -> None:
    inputs = [save(here / f"{k}.png", (300, 400, 3), seed=k) for k in range(30)]
    inputs[3].write_bytes(b"no picture")
    code, shown = on_a_terminal("blur", "--sigma", "9", *inputs, "-o", f"{here}/out/")
    assert code == 1 and b" of 30 files, " in shown and b"Mpixel/s, " in shown and b" left" in shown
    lines = shown.decode().replace("\r\n", "\n").split("\n")
    for line in lines:  # what was written over a line that was cleared
        assert "\x1b" not in line.rpartition("\r\x1b[K")[2]
    left = [line.rpartition("\r\x1b[K")[2] for line in lines]
    assert len(left) == 3 and left[2] == ""
    assert "3.png" in left[0] and left[1] == "clpix: error: 1 of 30 inputs failed"


@pytest.mark.exhaustive
def test_a_terminal_is_clean_after_an_interruption(here) -> None:
    inputs = [save(here / f"{k}.png", (600, 800, 3), seed=k) for k in range(40)]
    command = ("blur", "--sigma", "9", *inputs, "-o", f"{here}/out/")
    code, shown = on_a_terminal(*command, until=b"files", number=signal.SIGINT)
    assert code == 130
    left = shown.decode().replace("\r\n", "\n").split("\n")[-2].rpartition("\r\x1b[K")[2]
    assert left.startswith("clpix: error: interrupted")
    assert all(name.endswith(".png") and not name.startswith(".") for name in names(here / "out"))


def test_lines_in_place_of_a_bar(clpix, here) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(3)]
    flip = ("flip", "--axis", "vertical", *inputs, "-o")
    assert clpix(*flip, "quiet/").err == ""
    run = clpix(*flip, "out/", "--progress")
    assert run.err.splitlines() == [f"clpix: [{k + 1}/3] {k}.png → {k}.png" for k in range(3)]
