"""clpix bench blur, bloom and tonemap: the rows, and what they are measured with. No times."""

import json
from statistics import median

import pytest

from gpuops import Report
from gpuops.bench import copies as bench
from gpuops.bench import filters as bench_filters


@pytest.mark.cases(1)
@pytest.mark.parametrize("operation", list(bench_filters.VARIANTS))
def test_json_has_every_variant(clpix, operation) -> None:
    """The image has an odd size, is too small for a coarse grid, and has alpha."""
    run = clpix("bench", operation, "--size", "21x13", "--channels", 4, "--json")
    assert (run.code, run.err) == (0, "")
    result = json.loads(run.out)
    assert result["context"]["device"]
    rows = result["measurements"]
    assert [row["variant"] for row in rows] == ["copy", *bench_filters.VARIANTS[operation]]
    data = 4 * 4 * 21 * 13
    assert rows[0]["model_bytes"] == 2 * data and rows[0]["copies"] == rows[0]["copy_share"] == 1
    for row in rows:
        assert (row["width"], row["height"], row["channels"]) == (21, 13, 4)
        assert len(row["ms"]) >= bench.FEWEST and row["median_ms"] == median(row["ms"])
        assert row["copy_ms"] == rows[0]["median_ms"]
        assert row["copies"] == pytest.approx(row["median_ms"] / rows[0]["median_ms"])
        assert row["copy_share"] == pytest.approx(row["gbps"] / rows[0]["gbps"])
        if row["variant"].startswith("statistics"):
            assert row["model_bytes"] >= 3 * data // 4  # colours are read, nothing is written
        else:
            assert row["model_bytes"] >= 2 * data or row["variant"].startswith("d3d11")
        ways = {way for way in ("local", "direct") if row["variant"].endswith(f", {way}")}
        assert all(any(way in label for label in row["kernels"]) for way in ways)
        assert not any(way in label for way in {"local", "direct"} - ways if ways for label in row["kernels"])


@pytest.mark.parametrize("operation", list(bench_filters.VARIANTS))
def test_the_table(clpix, monkeypatch, operation) -> None:
    few = dict(list(bench_filters.VARIANTS[operation].items())[:2])
    monkeypatch.setitem(bench_filters.VARIANTS, operation, few)
    run = clpix("bench", operation, "--size", 16, "--size", "16×9", "--size", 16, "--channels", 1)
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert "driver" in lines[0]
    for title in f"{operation}|size|launches|min ms|median|model ms|× copy|model MB|GB/s|% of copy".split(
        "|"
    ):
        assert title in lines[1]
    names = [line.split("  ")[0] for line in lines[2:-3]]
    assert names == ["copy", *few] * 2  # once for each size, though one was given twice
    assert lines[2].split()[1:3] == ["16×16×1", "1"] and lines[5].split()[1] == "16×9×1"


def test_one_pixel(opened, monkeypatch) -> None:
    """Less than a float4 to copy."""
    monkeypatch.setitem(bench_filters.VARIANTS, "blur", {})
    gpu = opened(report=Report())
    (row,) = bench_filters.measure(gpu, "blur", [(1, 1)], 1)
    assert row.model_bytes == 32
    assert gpu.report is not None and not gpu.report.kernels()  # the runs' launches are not kept
