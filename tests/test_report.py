"""The timing report: its figures are consistent, and every format is what it says."""

import csv
import io
import json
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from gpuops import FileError, Gpu, ParameterError, Report, files
from gpuops.bench import report_formats
from gpuops.filters.blur import blur
from gpuops.ops.blur import BlurParams
from gpuops.profile import _Launch

from .choices import each

RUNS = 3


@pytest.fixture(scope="module")
def report() -> Iterator[Report]:
    """A run of a few blurs, finished."""
    report = Report()
    report.started -= 0.25
    report.add("import", 0.125)
    report.add("files", 0.125)
    with Gpu(report=report) as gpu:
        run(gpu, report)
    report.close()
    yield report


def run(gpu: Gpu, report: Report) -> None:
    """A few blurs, in the report."""
    report.context |= {
        **report_formats.device_context(gpu.info),
        "command": "clpix blur x.png",
        "copy_gbps": 10.0,
    }
    image = np.random.default_rng(1).random((2, 40, 60), np.float32)
    with report.phase("compute"):
        for _ in range(RUNS):
            blur(gpu, gpu.array(image), BlurParams(sigma=(2, 2), method="local")).numpy()


def test_phases_are_disjoint_and_add_up_to_no_more_than_the_wall_clock(report) -> None:
    totals = report_formats.totals(report)
    phases = sum(report.phases.values()) * 1e3
    assert totals["unaccounted_ms"] >= 0
    assert totals["wall_ms"] == pytest.approx(phases + totals["unaccounted_ms"])
    stretches = sorted((start, end) for _, start, end in report.intervals)
    for (_, end), (start, _) in pairwise(stretches):
        assert start >= end - 1e-9
    for name, seconds in report.phases.items():
        assert sum(end - start for n, start, end in report.intervals if n == name) == pytest.approx(seconds)


def test_an_inner_phase_stops_the_outer_ones_clock(monkeypatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    report = Report(started=clock[0])
    with report.phase("outer"):
        clock[0] += 1
        with report.phase("inner"):
            clock[0] += 2
        clock[0] += 4
    clock[0] += 8
    report.close()
    assert report.phases == {"outer": 5, "inner": 2}
    assert report.intervals == [("outer", 100, 101), ("inner", 101, 103), ("outer", 103, 107)]
    assert report.wall == 15 and report_formats.totals(report)["unaccounted_ms"] == 8000


def test_json_has_context_phases_kernels_and_totals(report) -> None:
    result = json.loads(json.dumps(report_formats.to_json(report), allow_nan=False))
    assert result["schema_version"] == report_formats.SCHEMA_VERSION
    for key in ("clpix", "numpy", "pyopencl", "python", "date", "device", "platform", "driver", "command"):
        assert result["context"][key], key
    phases = {"import", "platform", "upload", "compute", "download"}
    assert {phase["name"] for phase in result["phases"]} >= phases
    blurs = [kernel for kernel in result["kernels"] if kernel["name"].startswith("gaussian")]
    assert len(blurs) == 1
    for kernel in blurs:
        assert kernel["count"] == RUNS == len(kernel["all_ms"])
        assert 0 <= kernel["min_ms"] <= kernel["median_ms"] <= kernel["max_ms"]
        assert kernel["bytes"] == 2 * 2 * 40 * 60 * 4  # two planes, read and written
        if kernel["gbps"] is not None:
            assert kernel["gbps"] == pytest.approx(kernel["bytes"] / kernel["median_ms"] / 1e6)
            assert kernel["share_of_copy"] == pytest.approx(kernel["gbps"] / 10.0)
    totals = result["totals"]
    assert totals["peak_device_bytes"] >= 2 * 40 * 60 * 4 and totals["peak_host_bytes"] > 1e6
    assert sum(totals["builds"].values()) >= 1
    assert totals["kernels_ms"] == pytest.approx(sum(sum(k["all_ms"]) for k in result["kernels"]))


def test_csv_has_a_row_for_each_phase_kernel_and_total(report) -> None:
    rows = list(csv.DictReader(io.StringIO(report_formats.to_csv(report))))
    assert tuple(rows[0]) == report_formats.COLUMNS
    assert [row["name"] for row in rows if row["kind"] == "phase"] == list(report.phases)
    for row in (row for row in rows if row["kind"] == "kernel"):
        assert int(row["count"]) == RUNS
        assert (
            float(row["min_ms"]) <= float(row["median_ms"]) <= float(row["max_ms"]) <= float(row["total_ms"])
        )
    total = {row["name"]: float(row["total_ms"]) for row in rows if row["kind"] == "total"}
    phases = sum(float(row["total_ms"]) for row in rows if row["kind"] == "phase")
    assert total["wall"] == pytest.approx(phases + total["unaccounted"])


def test_trace_is_chrome_trace_events_on_aligned_tracks(report) -> None:
    trace = json.loads(json.dumps(report_formats.to_trace(report), allow_nan=False))
    names = {
        event["tid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    phases = [event for event in complete if event["cat"] == "phase"]
    kernels = [event for event in complete if event["cat"] == "kernel"]
    assert [*names.values()][2:] == ["transfers"] and set(names) == {event["tid"] for event in complete}
    assert {event["name"] for event in complete if event["tid"] == 3} <= {"upload", "download"}
    assert len(kernels) == RUNS
    wall_us = report.wall * 1e6
    for event in complete:
        assert event["dur"] >= 0 and -1 <= event["ts"] <= event["ts"] + event["dur"] <= wall_us + 1000
    assert [event["name"] for event in phases[:2]] == ["import", "files"]
    assert phases[0]["ts"] == pytest.approx(0, abs=1) and phases[1]["ts"] == pytest.approx(125e3, abs=1)
    # A kernel cannot run before the host has begun to compute, nor end after its result has arrived.
    downloads = [event for event in phases if event["name"] == "download"]
    first = min(event["ts"] for event in phases if event["name"] == "compute")
    assert min(event["ts"] for event in kernels) >= first - 1000
    last = max(event["ts"] + event["dur"] for event in downloads)
    assert max(event["ts"] + event["dur"] for event in kernels) <= last + 1000


def test_a_batch_has_a_track_for_each_reader_and_writer(clpix, tmp_path, rng) -> None:
    for i in range(4):
        files.write(tmp_path / f"{i}.png", files.Picture(rng.integers(0, 256, (40, 30, 3), np.uint8)))
    trace = tmp_path / "t.trace.json"
    inputs = [tmp_path / f"{i}.png" for i in range(4)]
    run = clpix("blur", *inputs, "--sigma", 1, "--jobs", 2, "-o", f"{tmp_path}/out/", "--timing-file", trace)
    assert run.code == 0
    events = json.loads(trace.read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    work = [(names[event["tid"]][:6], event["name"]) for event in events if event.get("cat") == "file"]
    assert sorted(work) == [("reader", "decode")] * 4 + [("writer", "encode")] * 4


def test_a_trace_of_launches_noted_late_still_ends_before_the_host_saw_the_end() -> None:
    """Launches are noted late if other processes take the processor just after a launch was queued."""
    report = Report()
    origin = 10**12  # of the device's clock
    for queued in (1_000_000, 2_000_000):
        profile = SimpleNamespace(
            queued=queued - origin, start=queued - origin + 500_000, end=queued - origin + 900_000
        )
        event = SimpleNamespace(profile=profile, wait=lambda: None)
        report._launches.append(_Launch("kernel", (1,), None, 0, event, queued + 5_000_000))
    assert [start for _, start, _ in report.trace_events()] == pytest.approx([0.0065, 0.0075])
    report._awaited.append((2, 2_950_000))
    assert [end for _, _, end in report.trace_events()] == pytest.approx([0.00195, 0.00295])


def test_table_names_everything(report) -> None:
    text = report_formats.table(report)
    for word in ("import", "compute", "unaccounted", "wall", "gaussian xy", "GB/s", "% copy", "peak memory"):
        assert word in text, word
    assert len({len(line) for line in text.splitlines() if line.startswith("gaussian")}) == 1
    assert f"{RUNS}  " in text


def test_the_table_leads_with_the_total_and_fits_a_terminal() -> None:
    """Times, sizes and names are as long as they get."""
    report = Report(
        context={"device": "Some Graphics Device Of A Long Name", "platform": "A Platform", "driver": "1.2.3"}
    )
    report.phases["compute"] = 7.0
    report.context["copy_gbps"] = 4123.4
    for name in ("a kernel of a name that is far too long for a column", "short"):
        event = SimpleNamespace(
            profile=SimpleNamespace(queued=0, start=0, end=98_765_432_100), wait=lambda: None
        )
        report._launches.append(_Launch(name, (16384, 16384, 4), (256, 4, 1), 10**14, event, 0))
    report.close()
    lines = report_formats.table(report).splitlines()
    assert re.match(r"\d+\.\d\d ms in all  ·  197530\.864 ms in kernels", lines[0])
    assert max(map(len, lines)) <= 80
    phases = lines.index(next(line for line in lines if line.startswith("phase")))
    assert lines[phases + 1].startswith("wall")
    assert "a kernel of a name that is far too long for a column" in lines
    assert lines[-1].split() == ["1", "98765", "98765", "98765", "16384×16384×4", "256×4", "1012.5", "24.6"]


def test_an_empty_report_has_a_table_and_every_format() -> None:
    report = Report()
    report.close()
    assert "wall" in report_formats.table(report) and report_formats.to_json(report)["kernels"] == []
    assert "unaccounted" in report_formats.to_csv(report)
    assert all(event["ph"] == "M" for event in report_formats.to_trace(report)["traceEvents"])


@each(name__key=[("t.json", "totals"), ("t.TRACE.json", "traceEvents"), ("t.csv", None)])
def test_write_chooses_the_format_by_extension(report, tmp_path, name, key) -> None:
    report_formats.write(report, tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.startswith("kind,name") if key is None else key in json.loads(text)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_write_refuses_an_unknown_extension_and_an_existing_file(report, tmp_path) -> None:
    with pytest.raises(ParameterError, match=r"\.trace\.json"):
        report_formats.write(report, tmp_path / "t.txt")
    (tmp_path / "t.json").write_text("mine")
    with pytest.raises(FileError, match="exists"):
        report_formats.write(report, tmp_path / "t.json")
    assert (tmp_path / "t.json").read_text() == "mine"
    report_formats.write(report, tmp_path / "t.json", overwrite=True)
    assert "totals" in json.loads((tmp_path / "t.json").read_text()) and len(list(tmp_path.iterdir())) == 1
