"""Several processes on one device, for many small pictures."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuops.batch import devices, dispatch
from gpuops.batch.dispatch import processes_for
from gpuops.batch.job import Job
from gpuops.batch.worker import WorkerSettings

from .test_batch import contents, names, save
from .works import FLIP


def jobs_of(folder: Path, count: int, size: int) -> list[Job]:
    """Jobs on one file of some size."""
    path = folder / f"{size}.png"
    path.write_bytes(bytes(size))
    return [Job(str(path), FLIP, f"{number}.png") for number in range(count)]


def test_how_many(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "of_machine", lambda: 1 << 36)
    for count, size, processors, expected in (
        (10_000, 300, 2, 2), (10_000, 131_072, 2, 1), (10_000, 131_072, 8, 4), (10_000, 2_000_000, 16, 1),
        (10_000, 300, 1, 1), (10_000, 300, 64, 4), (10_000, 0, 3, 3), (999, 300, 16, 1), (1000, 300, 16, 2),
    ):  # fmt: skip
        assert processes_for(jobs_of(tmp_path, count, size), processors) == expected
    jobs = jobs_of(tmp_path, 10_000, 300)
    for source in ("vanished.png", "s3://bucket/one.png", "-"):  # of unknown size
        assert processes_for([*jobs, Job(source, FLIP, "other.png")], 16) == 1
    for memory, expected in ((1 << 29, 1), (1 << 31, 2), (3 << 30, 3)):
        monkeypatch.setattr(dispatch, "of_machine", lambda memory=memory: memory)
        assert processes_for(jobs, 16) == expected


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with nine pictures, one of them damaged, for which two processes are worth their start."""
    monkeypatch.chdir(tmp_path)
    for number in range(9):
        save(tmp_path / f"in-{number}.png", (5 + number, 7, 3), seed=number)
    (tmp_path / "in-4.png").write_bytes((tmp_path / "in-4.png").read_bytes()[:60])
    monkeypatch.setattr(dispatch, "_WORTH", 2)
    yield tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The devices of the processes that are started."""
    found: list[str] = []

    class Counted(devices.Worker):
        def __init__(self, how: WorkerSettings) -> None:
            found.append(how.device)
            super().__init__(how)

    monkeypatch.setattr(devices, "Worker", Counted)
    return found


def test_results_and_messages_are_those_of_one_process(clpix, few, started, monkeypatch) -> None:
    inputs = sorted(name for name in names(few) if name.startswith("in-"))
    command = ("blur", *inputs, "--sigma", 1.5, "--verbose", "--progress", "--jobs", 2)
    monkeypatch.setattr(dispatch, "_MOST", 1)
    alone = clpix(*command, "-o", "out/", "--journal", "alone.jsonl")
    assert not started and alone.code == 1
    monkeypatch.setattr(dispatch, "_MOST", 2)
    shared = clpix(*command, "-o", "two/", "--journal", "two.jsonl")
    assert shared.code == 1 and len(started) == 2 and len(set(started)) == 1
    assert shared.err.replace("two/", "out/") == alone.err
    assert alone.err.count("clpix: device") == 1 and "error: in-4.png: " in alone.err
    assert contents(few / "two") == contents(few / "out") and len(names(few / "two")) == 8
    ended = [json.loads(line)["event"] for line in (few / "two.jsonl").read_text().splitlines()]
    assert sorted(ended) == ["begin"] * 9 + ["done"] * 8 + ["failed"]


def test_options_of_one_process(clpix, few, started) -> None:
    inputs = [name for name in names(few) if name.startswith("in-") and "4" not in name]
    for option in ("--timing", "--timing-file t.json", "--dump-kernels kernels", "--memory 1G", "--jobs 1"):
        ran = clpix("flip", *inputs, "--axis", "vertical", "-o", "out/", "--overwrite", *option.split())
        assert not started and ran.code == 0 and len(names(few / "out")) == 8


def test_a_device_that_cannot_be_opened_is_told_once(clpix, few, started) -> None:
    inputs = [name for name in names(few) if name.startswith("in-")]
    ran = clpix("flip", *inputs, "--axis", "vertical", "-o", "out/", "--device", "no such one")
    assert not started and ran.code == 3 and ran.err.count("no such one") == 1
