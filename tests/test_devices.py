"""Batches on several devices: what they give is what one device gives, and no death of a process loses a result."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuops import DeviceError, Gpu, files, notes
from gpuops.batch import dispatch
from gpuops.batch.devices import run_jobs_on
from gpuops.batch.job import Job, Options
from gpuops.batch.pipeline import Done, run_jobs
from gpuops.batch.worker import Unexpected
from gpuops.device import DeviceInfo, list_devices, rank, select_all
from gpuops.files import Picture, threads
from gpuops.params.files import FileOperand

from .test_batch import check_flipped, contents, here, jobs_of, names, save
from .works import FLIP, FailsAtFirst, Kills, Meets, fails, refuses

__all__ = ["here"]


@pytest.fixture(scope="session")
def pair() -> list[DeviceInfo]:
    """The two best devices that work: others may be simulators."""
    found = rank(info for info in list_devices() if info.usable)
    if len(found) < 2:
        pytest.skip("there is one device here")
    return found[:2]


@pytest.fixture
def both(pair) -> str:
    """Both, as --device has them."""
    return ",".join(str(info.index) for info in pair)


@pytest.fixture(scope="session")
def twice() -> list[DeviceInfo]:
    """Two devices that are one: what processes do depends on nothing else."""
    return select_all()[:1] * 2


def run_on(devices: list[DeviceInfo], jobs: list[Job], **options: Any) -> tuple[list[Done], list[str]]:
    """Does jobs. Returns what became of them, and what was said."""
    said: list[str] = []
    with notes.to(said.append):
        found = list(run_jobs_on(devices, options.pop("open_gpu", Gpu), jobs, **options))
    assert [done.job for done in found] == jobs and not dispatch.under_way
    return found, said


def errors(found: Iterable[Done]) -> list[Exception]:
    return [done.error for done in found if done.error is not None]


def test_each_result_is_that_of_a_device_alone(clpix, here, both) -> None:
    """Floats of the devices differ in the last places; pictures without a loss do not."""
    inputs = [save(here / "in" / f"{k}.exr", (40 + k, 60, 3), "float32", k) for k in range(10)]
    command = ("blur", *inputs, "--sigma", "2.3", "then", "sharpen", "-o")
    for number in both.split(","):
        assert clpix(*command, f"{number}/", "--device", number).code == 0
    run = clpix(*command, "out/", "--device", both, "-v")
    assert run.code == 0 and [line.split(": ")[1] for line in run.err.splitlines()] == [
        f"device {number}" for number in both.split(",")
    ]
    alone = [contents(here / number) for number in both.split(",")]
    made = contents(here / "out")
    assert list(made) == list(alone[0])
    for name, content in made.items():
        assert content in [one[name] for one in alone], name


def test_all_devices_work(here, pair) -> None:
    """Each job is done by one of the devices, each of which is one process with its share of the processors."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Meets(str(here / "marks"), 2))
    found, said = run_on(pair, jobs)
    assert not said and not errors(found)
    check_flipped(jobs, here)
    workers = {(done.told[0], done.told[1]) for done in found}
    assert {index for index, _ in workers} == {info.index for info in pair} and len(workers) == 2
    assert os.getpid() not in {process for _, process in workers}
    assert sum(dict(done.told[1:] for done in found).values()) <= max(2, threads.count())
    assert all(done.pixels == 12 * 17 and done.seconds > 0 for done in found)


def test_messages_are_those_of_one_device(clpix, here, both) -> None:
    """A large picture comes before small ones, values are clipped in some, and one file is damaged."""
    inputs = [save(here / f"{k}.exr", (700 if k == 0 else 3, 600, 3), "float32", k) for k in range(9)]
    for k in (0, 3, 8):
        files.write(inputs[k], Picture(np.full((3, 5, 3), 7, np.float32), linear=True), overwrite=True)
    inputs[4].write_bytes(inputs[4].read_bytes()[:400])
    command = ("flip", "--axis", "vertical", *inputs, "-o", "out/{stem}.png", "--overwrite", "--progress")
    one = clpix(*command, "--device", both.split(",")[0])
    made = names(here / "out")
    several = clpix(*command, "--device", both)
    assert (several.code, several.err) == (one.code, one.err) == (1, one.err)
    assert "clipped" in one.err and "4.exr: " in one.err and "1 of 9 inputs failed" in one.err
    assert names(here / "out") == made and "4.png" not in made


@pytest.mark.exhaustive
def test_every_kind_of_work_can_be_sent(clpix, here, monkeypatch) -> None:
    """Jobs, and what becomes of them, go through pickle as on the way to a process and back."""
    inputs = [save(here / f"{k}.exr", (32, 48, 3), "float32", k) for k in range(2)]
    kernel = save(here / "kernel.png", (5, 5, 1))
    table = "LUT_3D_SIZE 2\n" + "".join(f"{r} {g} {b}\n" for b in (0, 1) for g in (0, 1) for r in (0, 1))
    (here / "table.cube").write_text(table)
    between = ("then", "bloom", "then", "write", "DIR/{stem}-mid.exr", "then", "flip", "--axis", "vertical")
    commands: list[tuple[object, ...]] = [
        ("fft", *inputs, "-o", "DIR/{stem}.npz", "--filter", "lowpass", "--cutoff", "0.2"),
        ("ifft", "fft-0/0.npz", "fft-0/1.npz", "-o", "DIR/{stem}.exr"),
        ("dwt", *inputs, "-o", "DIR/{stem}.npz", "--keep", "10"),
        ("dwt", *inputs, "-o", "DIR/{stem}.png", "--shrink", "bayes", "--reconstruct", "--cycle-spins", "2"),
        ("idwt", "dwt-2/0.npz", "dwt-2/1.npz", "-o", "DIR/{stem}.exr"),
        ("tonemap", *inputs, "-o", "DIR/{stem}.png", "--contact-sheet", "--operators", "agx"),
        ("tonemap", *inputs, "-o", "DIR/{stem}.png", "--lut", "table.cube", "--exposure", "auto"),
        ("convolve", *inputs, "--kernel", kernel, *between, "-o", "DIR/{stem}.exr"),
    ]

    def sent(open_gpu: Callable[[], Gpu], jobs: list[Job], **options: Any) -> Iterator[Done]:
        for done in run_jobs(open_gpu, pickle.loads(pickle.dumps(jobs)), **options):
            yield pickle.loads(pickle.dumps(done))

    for number, command in enumerate(commands):
        said = []
        for folder, way in ((f"{command[0]}-{number}", run_jobs), (f"sent-{number}", sent)):
            monkeypatch.setattr("clpix.pipeline.run_jobs", way)
            run = clpix(*(str(part).replace("DIR", folder) for part in command))
            assert run.code == 0, run.err
            said.append((run.out + run.err).replace(folder, "DIR"))
        assert said[0] == said[1]
        whole = contents(here / f"{command[0]}-{number}")
        assert whole and whole == contents(here / f"sent-{number}")


@pytest.mark.exhaustive
def test_standard_input_travels_along(here, both) -> None:
    """A kernel that was read from standard input is known to the processes."""
    inputs = [save(here / f"{k}.png", seed=k) for k in range(3)]
    kernel = save(here / "kernel.png", (5, 5, 1))
    command = [sys.executable, "-m", "clpix", "convolve", *map(str, inputs), "--device", both]
    for name, to in ((str(kernel), "named/"), ("-", "piped/")):
        with open(kernel, "rb") as stream:
            subprocess.run([*command, "--kernel", name, "-o", to], stdin=stream, check=True, timeout=600)
    assert contents(here / "named").keys() == contents(here / "piped").keys()
    for name in names(here / "named"):
        one, other = (files.read(here / to / name).pixels.astype(int) for to in ("named", "piped"))
        assert abs(one - other).max() <= 1  # another device may have done it
    operand = FileOperand.of(str(kernel))
    assert pickle.loads(pickle.dumps(operand)) == operand


@pytest.mark.parametrize(("device", "code", "words"), [
    ("FIRST,nothing-like-this", 3, "no device 'nothing-like-this'"),
    ("FIRST,FIRST", 2, "twice"),
    ("FIRST,", 2, "is no list of devices: write one such as 0,1"),
    (",", 2, "is no list of devices"),
    ("all,FIRST", 2, "'all' alone"),
])  # fmt: skip
def test_lists_that_are_refused(clpix, here, device, code, words) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(2)]
    first = str(select_all()[0].index)
    before = contents(here)
    for some in (inputs, inputs[:1]):
        command = ("flip", "--axis", "vertical", *some, "-o", "out/", "--device")
        run = clpix(*command, device.replace("FIRST", first))
        assert run.code == code and words in run.err and run.err.count("\n") == 1, run.err
        assert contents(here) == before and not (here / "out").exists()


def test_options_of_one_device(clpix, here, both) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(3)]
    flip = ("flip", "--axis", "vertical", *inputs, "--device", both)
    for option in (("--timing",), ("--timing-file", "t.json")):
        run = clpix(*flip, "-o", "out/", *option)
        assert run.code == 2 and f"leave out {option[0]}" in run.err and run.err.count("\n") == 1
        assert not (here / "out").exists()
    dwt = ("dwt", *inputs, "-o", "out/{stem}.npz", "--device", both, "--dump-kernels", "kernels")
    limited = clpix(*dwt, "--device-memory", "64")
    assert limited.code == 1 and limited.err.count("raise the limit") == 3 and clpix(*dwt).code == 0
    assert names(here / "out") == [f"{k}.npz" for k in range(3)] and names(here / "kernels")


def test_a_batch_on_several_devices_is_resumed(here, clpix, both) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(6)]
    (here / "5.png").write_bytes(b"no picture")
    flip = (
        "flip", "--axis", "vertical", *inputs, "-o", "out/", "--device", both, "--resume", "j", "--jobs",
        "3",
    )  # fmt: skip
    assert clpix(*flip).code == 1
    events = [json.loads(line) for line in (here / "j").read_text().splitlines()]
    assert [event["event"] for event in events].count("begin") == 6
    ended = {Path(event["output"]).name: event["event"] for event in events if event["event"] != "begin"}
    assert ended == {f"{k}.png": "done" for k in range(5)} | {"5.png": "failed"} and len(events) == 12
    (here / "5.png").unlink()
    save(here / "5.png")
    made = (here / "out" / "4.png").stat().st_mtime_ns
    again = clpix(*flip)
    assert again.code == 0 and names(here / "out") == [f"{k}.png" for k in range(6)]
    assert (here / "out" / "4.png").stat().st_mtime_ns == made


@pytest.mark.cases(1)
@pytest.mark.parametrize("late", [False, True])
def test_a_death_loses_nothing(here, twice, late) -> None:
    """It happens once, while a result is being written, or when it has just got its name."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Kills(("03",), late, str(here / "marks")))
    found, said = run_on(twice, jobs)
    assert not errors(found)
    assert len(said) == 1 and said[0].startswith(f"device {twice[0].index} (") and "SIGKILL" in said[0]
    check_flipped(jobs, here)


@pytest.mark.cases(1)
@pytest.mark.parametrize("retries", [1, 2])
def test_what_fails_is_tried_again(here, twice, retries) -> None:
    (here / "marks").mkdir()
    jobs = jobs_of(here, FailsAtFirst(str(here / "marks"), 2), 3)
    found, said = run_on(twice, jobs, retries=retries)
    assert not said and len(errors(found)) == (3 if retries == 1 else 0)
    assert {path.read_text() for path in (here / "marks").iterdir()} == {str(min(retries + 1, 3))}
    if retries == 2:
        check_flipped(jobs, here)


@pytest.mark.exhaustive
def test_a_job_that_kills_is_the_only_one_that_fails(here, twice) -> None:
    """It is tried by two processes, alone the second time; so no device is left out for that of several such jobs."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Kills(("05", "11"), meets=Meets(str(here / "marks"), 2)), 16)
    found, said = run_on(twice, jobs, at_once=4)
    failed = {Path(done.job.source).stem: done.error for done in found if done.error is not None}
    assert list(failed) == ["05", "11"] and all(isinstance(error, DeviceError) for error in failed.values())
    assert "SIGKILL" in str(failed["05"]) and "left out" not in "".join(said)
    assert len(said) in (3, 4)  # both may be with one process when that dies
    check_flipped([done.job for done in found if done.error is None], here)


def test_an_output_of_somebody_else_stays(here, twice) -> None:
    """A job that was interrupted may replace its own output, but none that was there before."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Kills(("00", "01"), once=str(here / "marks")), 2)
    Path(jobs[1].target).write_bytes(b"of somebody else")
    # One after the other: a job that is with a process when another one kills it has used up a try of its own.
    found = [done for job in jobs for done in run_on(twice, [job])[0]]
    assert found[0].error is None and "exists already" in str(found[1].error)
    assert Path(jobs[1].target).read_bytes() == b"of somebody else"
    allowed = [replace(job, options=Options(overwrite=True)) for job in jobs]
    assert not errors(run_on(twice, allowed)[0])


def test_devices_that_cannot_be_opened_are_left_out(here, twice) -> None:
    even = select_all()[0]
    if even.index % 2:
        even = next((info for info in list_devices() if info.usable and not info.index % 2), even)
    if even.index % 2:
        pytest.skip("the device here has an odd number")
    odd = replace(even, index=even.index + 1)
    # A job waits until it was said that a device is left out: a quick device could do all jobs before that.
    marks, said = here / "marks", list[str]()
    marks.mkdir()

    def hear(text: str) -> None:
        said.append(text)
        (marks / "said").touch()

    jobs = jobs_of(here, Meets(str(marks), 2))
    with notes.to(hear):
        found = list(run_jobs_on([odd, even], refuses, jobs))
    assert not errors(found)
    assert said == [f"device {odd.index} ({odd.name}) is left out: this device is not for us"]
    check_flipped(jobs, here)
    with notes.to(said.append), pytest.raises(DeviceError, match="not for us"):
        list(run_jobs_on([odd, odd], refuses, jobs))


def test_mistakes_are_not_taken_for_deaths(here, twice) -> None:
    with pytest.raises(Unexpected, match=r"(?s)Traceback.*a mistake"):
        list(run_jobs_on(twice, fails, jobs_of(here, FLIP)))
    assert not dispatch.under_way


@pytest.mark.exhaustive
def test_nobody_works_on_if_nobody_wants_the_rest(here, twice) -> None:
    jobs = jobs_of(here, FLIP)
    results = run_jobs_on(twice, Gpu, jobs)
    next(results)
    pids = children(os.getpid())
    assert len(pids) == 2
    results.close()  # type: ignore[attr-defined]
    assert not any(map(lives, pids)) and not [name for name in names(here) if name.startswith(".")]


class Simulated:
    """A :class:`gpuops.batch.worker.Worker` without a process. The numbers of ``nature`` decide what comes next."""

    nature: Iterator[int]
    #: How many jobs a process of each device gets done before it dies, if it dies at all.
    lives: dict[str, int]
    deadly: set[str]
    #: How many jobs were done, by all.
    finished = 0

    def __init__(self, how: Any) -> None:
        self._left = self.lives.get(how.device, 10**6)
        self._refuses = how.device == "2"
        self._jobs: list[Job] = []
        self._asked = self._drains = False

    def _can(self) -> list[str]:
        able = [] if self._asked or self._drains or len(self._jobs) > 3 else ["ask"]
        return [*able, "work"] if self._jobs else able

    @staticmethod
    def ready(workers: Iterable["Simulated"], timeout: float | None = None) -> list["Simulated"]:
        able = [worker for worker in workers if worker._can()]
        assert able or timeout == 0, "all wait for each other"
        return [worker for worker in able if next(Simulated.nature) % 2] or able[: timeout != 0]

    def hear(self) -> Done | DeviceError | None:
        able = self._can()
        if able[next(self.nature) % len(able)] == "ask":
            self._asked = True
            return None
        if self._refuses:
            return DeviceError("refused")
        self._left -= 1
        if self._left < 0 or any(job.source in self.deadly for job in self._jobs):
            raise EOFError
        job = self._jobs.pop(0)
        Simulated.finished += 1
        self._drains = self._drains and bool(self._jobs)
        return Done(job, job.source, None, [], 1, 1.0)

    def answer(self, jobs: list[Job]) -> None:
        assert self._asked
        self._asked = False
        assert jobs or self._jobs
        self._drains = not jobs
        self._jobs += jobs

    def end(self) -> int:
        return -9


@given(
    count=st.integers(2, 30),
    devices=st.sets(st.integers(0, 3), min_size=2),
    dying=st.dictionaries(st.sampled_from("013"), st.integers(0, 9), max_size=3),
    deadly=st.sets(st.integers(0, 29), max_size=4),
    parts=st.sampled_from((1, 8)),
    nature=st.randoms(use_true_random=False),
)
def test_whatever_dies_each_job_has_its_result(count, devices, dying, deadly, parts, nature) -> None:
    """No job is lost, done twice, or waits for ever; others than deadly ones fail only where no device is left."""
    Simulated.nature = iter(lambda: nature.randrange(1 << 30), -1)
    Simulated.lives, Simulated.deadly = dying, {str(number) for number in deadly}
    begun: list[str] = []
    said: list[str] = []
    jobs = [Job(str(number), FLIP, f"out/{number}") for number in range(count)]
    infos: Any = [SimpleNamespace(index=index, name="name") for index in sorted(devices)]
    with pytest.MonkeyPatch.context() as patch, notes.to(said.append):
        patch.setattr("gpuops.batch.devices.Worker", Simulated)
        patch.setattr("gpuops.batch.devices._PARTS", parts)
        patch.setattr(Simulated, "finished", 0)
        try:
            found = list(run_jobs_on(infos, Gpu, jobs, begin=lambda job: begun.append(job.source)))
        except DeviceError:  # as when a single device cannot be opened
            assert not Simulated.finished and 2 in devices
            return
    assert [done.job for done in found] == jobs and begun == [job.source for job in jobs]
    left_out = sum("left out" in text for text in said)
    failed = {done.job.source for done in found if done.error is not None}
    used = set(sorted(devices)[:count])
    if not dying and (left_out < len(used) or (len(used - {2}) > 1 and len(deadly) < 2)):
        assert failed == Simulated.deadly & set(begun)
    assert all(done.told == done.job.source for done in found if done.error is None)
    assert len(said) <= 2 * len(devices) + 2 * len(failed)


def children(parent: int) -> list[int]:
    """The processes that a process has started to work on devices."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            of = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def lives(process: int) -> bool:
    """Whether a process goes on."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition: Callable[[], object], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.002)


class Batch:
    """The program, at work on many pictures on two devices, of which some are done."""

    def __init__(self, here: Path, both: str, *more: str) -> None:
        self.inputs = [here / "in" / f"{k:03}.png" for k in range(150)]
        if not self.inputs[0].exists():
            save(self.inputs[0], (300, 400, 3))
            for path in self.inputs[1:]:
                os.link(self.inputs[0], path)
        self.out = here / "out"
        command = [sys.executable, "-m", "clpix", "blur", "in", "--recursive", "--sigma", "3", "-o", "out/"]
        self.process = subprocess.Popen(
            [*command, "--device", both, *more], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        until(lambda: len(list(self.out.glob("*.png"))) >= 4)
        self.workers = children(self.process.pid)

    def ended(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=600)
        until(lambda: not any(map(lives, self.workers)), 120)
        return self.process.returncode, said


@pytest.mark.exhaustive
def test_a_killed_process_loses_nothing(here, both) -> None:
    batch = Batch(here, both)
    os.kill(batch.workers[0], signal.SIGKILL)
    code, said = batch.ended()
    assert code == 0 and said.count("\n") == 1, said
    assert said.startswith("clpix: warning: device ") and "SIGKILL" in said
    made = contents(here / "out")
    assert list(made) == [path.name for path in batch.inputs]
    assert len(set(made.values())) <= 2  # all inputs are the same, and devices may round differently


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_all(here, both, number) -> None:
    """Ctrl-C goes to all processes, and a kill to the first one alone."""
    batch = Batch(here, both)
    (os.killpg if number == signal.SIGINT else os.kill)(batch.process.pid, number)
    code, said = batch.ended()
    assert code == 128 + number
    assert said == "clpix: error: interrupted; finished results are kept, nothing is half written\n"
    made = names(here / "out")
    assert all(name.endswith(".png") and not name.startswith(".") for name in made)


@pytest.mark.exhaustive
def test_no_process_outlives_the_program(here, both) -> None:
    """It is killed, and then what it has begun is resumed."""
    batch = Batch(here, both, "--resume", "j")
    batch.process.kill()
    code, said = batch.ended()
    assert code == -signal.SIGKILL and not said
    assert all(name.endswith(".png") and not name.startswith(".") for name in names(here / "out"))
    again = Batch(here, both, "--resume", "j").ended()
    assert again == (0, "") and names(here / "out") == [path.name for path in batch.inputs]
