"""Batches on a cluster: what workers make is what one process makes, and no death loses a result."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuops import DeviceError, FileError, files, notes
from gpuops.batch.job import Job
from gpuops.batch.pipeline import Done
from gpuops.files import Picture

pytest.importorskip("distributed", reason="needs the extra dask")

from gpuops.batch import cluster as clusters
from gpuops.batch import connection, dispatch
from gpuops.batch.cluster import run_jobs_at
from gpuops.batch.connection import connected

from .conftest import Run
from .schedulers import WITH_ANOTHER, WITHOUT_CLPIX, Cluster
from .test_batch import check_flipped, contents, here, jobs_of, names, save
from .works import FailsAtFirst, Kills, Logs

__all__ = ["here"]
FLIP = ("flip", "--axis", "vertical")


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Iterator[Cluster]:
    """A scheduler and two workers, for all tests that let them live."""
    with Cluster(tmp_path_factory.mktemp("pair")) as cluster:
        cluster.add()
        cluster.add()
        yield cluster


@pytest.fixture
def alone(tmp_path_factory) -> Iterator[Cluster]:
    """A scheduler without workers."""
    with Cluster(tmp_path_factory.mktemp("alone")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def restarted(tmp_path_factory) -> Iterator[connection.Cluster]:
    """Two workers that are started again when they die."""
    with Cluster(tmp_path_factory.mktemp("restarted")) as cluster:
        cluster.add("--nanny")
        cluster.add("--nanny")
        with connected(str(cluster.file)) as found:
            yield found


@pytest.fixture
def impatient(monkeypatch) -> None:
    """Nobody waits long for what is not there."""
    monkeypatch.setattr(connection, "_PATIENCE", 1)


def run_at(cluster: connection.Cluster, jobs: list[Job], **options: Any) -> tuple[list[Done], list[str]]:
    """Does jobs. Returns what became of them, and what was said."""
    said: list[str] = []
    with notes.to(said.append):
        found = list(run_jobs_at(cluster, jobs, **options))
    assert [done.job for done in found] == jobs and not dispatch.under_way
    return found, said


def errors(found: list[Done]) -> dict[str, str]:
    return {Path(done.job.source).stem: str(done.error) for done in found if done.error is not None}


@pytest.mark.exhaustive
def test_messages_and_results_are_those_of_one_process(clpix, here, pair) -> None:
    """A large picture comes before small ones, values are clipped in some, and one file is damaged."""
    inputs = [save(here / f"{k:02}.exr", (700 if k == 0 else 3, 600, 3), "float32", k) for k in range(30)]
    for k in (0, 3, 28):
        files.write(inputs[k], Picture(np.full((3, 5, 3), 7, np.float32), linear=True), overwrite=True)
    inputs[4].write_bytes(inputs[4].read_bytes()[:400])
    named = [path.name for path in inputs]
    (here / "out").mkdir()
    (here / "out" / "07.png").write_bytes(b"of somebody else")
    command = (*FLIP, *named, "-o", "out/{stem}.png", "--progress")
    one = clpix(*command)
    made = contents(here / "out")
    for path in (here / "out").iterdir():
        if path.name != "07.png":
            path.unlink()
    several = clpix(*command, "--cluster", pair.file)
    assert (several.code, several.err) == (1, one.err)
    assert "clipped" in one.err and "04.exr: " in one.err and "07.png: exists already" in one.err
    assert contents(here / "out") == made and len(made) == 29


def test_processes_of_this_machine(clpix, here) -> None:
    inputs = [save(here / "in" / f"{k}.exr", (40 + k, 60, 3), "float32", k) for k in range(10)]
    command = ("blur", *inputs, "--sigma", "2.3", "then", "write", "TO/{stem}-mid.exr", "then", "sharpen")
    for to, options in (("one", ()), ("two", ("--cluster", "local:2", "-v"))):
        run = clpix(*(str(part).replace("TO", to) for part in command), "-o", f"{to}/", *options)
        assert run.code == 0, run.err
    assert run.err.count("\n") == 1  # the device's name
    assert contents(here / "one") == contents(here / "two") and len(names(here / "two")) == 20


@pytest.mark.exhaustive
def test_what_is_left_is_decided_here(clpix, here, pair) -> None:
    """Workers have another current folder: names mean what they mean here, those of operands too."""
    for k in range(6):
        save(here / "in" / "x" / f"{k}.png", seed=k)
    save(here / "kernel.png", (5, 5, 1))
    command = ("convolve", "in", "--recursive", "--kernel", "kernel.png")
    assert clpix(*command, "-o", "one/").code == 0
    on_it = (*command, "-o", "two/", "--cluster", pair.file)
    assert clpix(*on_it, "--shard", "1/2").code == 0
    assert names(here / "two") == ["x/0.png", "x/2.png", "x/4.png"]
    first = (here / "two" / "x" / "0.png").stat().st_mtime_ns
    run = clpix(*on_it, "--skip-existing", "-v", "--device", os.environ.get("CLPIX_DEVICE", "cpu"))
    assert run.code == 0 and "3 of 6 outputs are there" in run.err
    assert contents(here / "one") == contents(here / "two")
    assert (here / "two" / "x" / "0.png").stat().st_mtime_ns == first


@pytest.mark.exhaustive
def test_a_resource_is_asked_for_where_there_is_one(here, alone) -> None:
    """Without one nobody waits for it; with one, tasks go to the workers that have it."""
    alone.add()
    (here / "a").mkdir()
    jobs = jobs_of(here / "a", Logs(str(here / "log")), 4)
    with connected(str(alone.file)) as cluster:
        found, _ = run_at(cluster, jobs)
        assert not errors(found) and {done.told for done in found} == {alone.workers[0].pid}
    having = alone.add("--resources", "GPU=1")
    (here / "b").mkdir()
    with connected(str(alone.file)) as cluster:
        found, _ = run_at(cluster, jobs_of(here / "b", Logs(str(here / "log")), 8))
    assert not errors(found) and {done.told for done in found} == {having.pid}


@pytest.mark.parametrize("late", [False, True])
def test_a_death_in_the_middle(here, restarted, late) -> None:
    """It happens while a result is being written, or when it has just got its name."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Kills(("03",), late, str(here / "marks")))
    found, said = run_at(restarted, jobs, retries=0)
    assert not errors(found) and all("no worker is left" in text for text in said)  # a start may take a while
    check_flipped(jobs, here)


@pytest.mark.exhaustive
def test_the_last_worker_dies(here, tmp_path_factory) -> None:
    """That is said, and the batch goes on when there is another one."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Kills(("03",), once=str(here / "marks")))
    said: list[str] = []
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:

        def hear(text: str) -> None:
            said.append(text)
            cluster.add()

        cluster.add()
        with connected(str(cluster.file)) as it, notes.to(hear):
            found = list(run_jobs_at(it, jobs))
    assert not errors(found) and len(said) == 1 and "no worker is left" in said[0]
    check_flipped(jobs, here)


@pytest.mark.exhaustive
def test_an_answer_is_lost(here, alone, monkeypatch) -> None:
    """The worker that has done a task dies before its answer is fetched: the task is done again."""
    hear, killed = clusters._ClusterRun._wait, []

    def hear_late(run: clusters._ClusterRun) -> None:
        if not killed:
            while run._ended.empty():
                time.sleep(0.01)
            future = run._ended.get()
            run._ended.put(future)
            killed.append(alone.workers[0].kill())
            while future.status == "finished":
                time.sleep(0.01)
            assert future.status == "lost"
            alone.add()
        hear(run)

    alone.add()
    monkeypatch.setattr(clusters._ClusterRun, "_wait", hear_late)
    jobs = jobs_of(here)
    with connected(str(alone.file)) as cluster:
        found, _ = run_at(cluster, jobs)
    assert killed and not errors(found)
    check_flipped(jobs, here)


@pytest.mark.exhaustive
def test_a_job_that_kills_is_the_only_one_that_fails(here, restarted) -> None:
    jobs = jobs_of(here, Kills(("05",)))
    found, _ = run_at(restarted, jobs)
    assert list(errors(found)) == ["05"] and isinstance(found[5].error, DeviceError)
    check_flipped([done.job for done in found if done.error is None], here)


@pytest.mark.exhaustive
def test_an_output_of_somebody_else_stays(here, restarted) -> None:
    """A job that was interrupted may replace its own output, but none that was there before."""
    (here / "marks").mkdir()
    jobs = jobs_of(here, Kills(("00", "01"), once=str(here / "marks")), 2)
    Path(jobs[1].target).write_bytes(b"of somebody else")
    found, _ = run_at(restarted, jobs)
    assert list(errors(found)) == ["01"] and "exists already" in errors(found)["01"]
    assert Path(jobs[1].target).read_bytes() == b"of somebody else"
    assert names(here / "out") == ["00.png", "01.png"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("retries", [0, 1, 2])
def test_what_fails_is_tried_again(here, restarted, retries) -> None:
    (here / "marks").mkdir()
    jobs = jobs_of(here, FailsAtFirst(str(here / "marks"), 2), 3)
    found, said = run_at(restarted, jobs, retries=retries)
    assert not said
    if retries == 2:
        assert not errors(found)
        check_flipped(jobs, here)
        return
    assert list(errors(found)) == ["00", "01", "02"] and names(here / "out") == []
    for done in found:
        assert isinstance(done.error, FileError)
        assert str(done.error) == f"{done.job.source}: failed {retries + 1} times"
    assert {path.read_text() for path in (here / "marks").iterdir()} == {str(retries + 1)}


def one_line(run: Run, code: int, words: str) -> None:
    assert run.code == code and words in run.err and run.err.count("\n") == 1, run.err
    assert not run.out


@pytest.mark.parametrize(("options", "code", "words"), [
    (("--cluster", "local:0"), 2, "write local:N with N from 1 on, such as local:4"),
    (("--cluster", "none.json"), 2, "the scheduler's file cannot be read (No such file"),
    (("--cluster", "damaged.json"), 2, "is no scheduler's file"),
    (("--cluster", "nothing-like-this://a:1"), 2, "nothing-like-this"),
    (("--cluster", "tcp://127.0.0.1:9"), 1, "no scheduler answers there: start one with 'dask scheduler'"),
    (("--cluster", "local:2", "--jobs", "3"), 2, "leave out --jobs"),
    (("--cluster", "local:2", "--timing"), 2, "leave out --timing"),
    (("--cluster", "local:2", "--dump-kernels", "k"), 2, "leave out --dump-kernels"),
    (("--cluster", "local:2", "--device", "0,1"), 2, "each worker has one device"),
    (("--cluster", "local:2", "--retries", "-1"), 2, "--retries"), (("--retries", "3"), 2, "leave out --retries"),
])  # fmt: skip
@pytest.mark.usefixtures("impatient")
def test_options_that_are_refused(clpix, here, options, code, words) -> None:
    inputs = [save(here / f"{k}.png", seed=k) for k in range(2)]
    (here / "damaged.json").write_text("[" * 99_999)
    (here / "list.json").write_text("[1]")
    before = contents(here)
    one_line(clpix(*FLIP, *inputs, "-o", "out/", *options), code, words)
    assert contents(here) == before and not (here / "out").exists()


def test_streams_are_refused(clpix, here) -> None:
    source = save(here / "a.png")
    for streams in (("-", "-o", "o.png"), (source, "-o", "-", "--format", "png")):
        one_line(clpix(*FLIP, *streams, "--cluster", "local:2"), 2, "'-' is a stream of this process")


def test_dask_is_missing(clpix, here, monkeypatch) -> None:
    source = save(here / "a.png")
    monkeypatch.setitem(sys.modules, "distributed", None)
    one_line(clpix(*FLIP, source, "-o", "o.png", "--cluster", "tcp://a:1"), 2, "pip install 'clpix[dask]'")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("impatient")
def test_workers_that_cannot_work(clpix, here, alone) -> None:
    """One has no device; then there is one beside it that has one, one of another version, one without clpix."""
    inputs = [save(here / f"{k}.png", seed=k) for k in range(8)]
    command = (*FLIP, *inputs, "-o", "out/", "--overwrite", "--cluster", alone.file)
    one_line(clpix(*command), 1, "the scheduler has no workers: start one with 'dask worker tcp://")
    assert not (here / "out").exists()
    alone.add(CLPIX_DEVICE="nothing-like-this")
    one_line(clpix(*command), 3, "no device 'nothing-like-this'")
    assert "worker tcp://" in clpix(*command).err and not (here / "out").exists()
    alone.add()
    run = clpix(*command)
    assert run.code == 0 and names(here / "out") == [f"{k}.png" for k in range(8)], run.err
    assert not run.err or ("is left out: " in run.err and run.err.count("\n") == 1)
    odd = alone.add(before=WITH_ANOTHER)
    one_line(clpix(*command), 1, "it has clpix 9.9, and this is clpix ")
    odd.kill()
    odd.wait()
    alone.add(before=WITHOUT_CLPIX)
    one_line(clpix(*command), 1, "clpix cannot be imported there")


@pytest.mark.exhaustive
def test_a_late_worker_of_another_version_is_left_out(here, alone) -> None:
    """It comes when others work already."""
    first = alone.add()
    with connected(str(alone.file)) as cluster:
        alone.add(before=WITH_ANOTHER)
        found, said = run_at(cluster, jobs_of(here, Logs(str(here / "log")), 20))
    assert not errors(found) and {done.told for done in found} == {first.pid}
    assert len(said) == 1 and "is left out: it has clpix 9.9" in said[0]


@pytest.mark.exhaustive
def test_a_mistake_is_no_failure_of_an_input(here, pair) -> None:
    with connected(str(pair.file)) as cluster, pytest.raises(TypeError):
        run_at(cluster, jobs_of(here, len, 2))
