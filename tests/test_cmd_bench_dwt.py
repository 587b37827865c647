"""clpix bench dwt: the rows, and what they are measured with. No times."""

import json
import re
from statistics import median
from typing import Any

import pytest

from gpuops import DeviceError, Report
from gpuops.bench import copies as bench
from gpuops.bench import dwt as bench_dwt
from gpuops.bench import dwt_tables as bench_dwt_tables

WAYS = [f"{source} → {target}" for source in ("device", "host") for target in ("device", "host")]


def test_json_has_every_method_at_every_size(clpix) -> None:
    run = clpix("bench", "dwt", "--size", "603x41", "--size", 128, "--levels", 2, "--json")
    assert (run.code, run.err) == (0, "")
    result = json.loads(run.out)
    assert result["context"]["device"]
    rows = result["measurements"]
    assert [(row["width"], row["variant"]) for row in rows] == [
        (width, variant) for width in (603, 128) for variant in bench_dwt.VARIANTS
    ]
    for row in rows:
        check(row)
    last, image = rows[3], rows[3]["image_bytes"]
    assert image == 4 * 603 * 41 and last["variant"] == "in-place"
    assert last["peak_bytes"] == image + last["table_bytes"] and 0 < last["table_bytes"] < 1000
    tables = {row["variant"]: row["table_bytes"] for row in rows[8:]}
    assert (
        tables["in-place"] == tables["in-place, constant table"] > 0 == tables["in-place, no table"]
    )  # 128 = 2⁷
    assert all(row["table_bytes"] == 0 and row["peak_bytes"] >= 2 * image for row in rows[:3])
    parts = {part["step"]: part for part in last["parts"]}
    assert list(parts) == ["chunk creation", "chunk permutation", "rests of rows", "lifting", "whole"]
    # Only rows have chunks to create: those of the image, and of its quarter.
    assert parts["chunk creation"]["launches"] == 2
    assert parts["chunk creation"]["model_bytes"] == 8 * (603 * 41 + 302 * 21)
    assert parts["lifting"]["launches"] == 8  # two steps, two axes, two levels
    predictions_are_table_3s(rows[:8])


def predictions_are_table_3s(rows: list[dict[str, Any]]) -> None:
    """The 4-byte samples of two levels of 603×41 are read and written once for each step of the method and axis."""
    pixels = 603 * 41 + 302 * 21
    predicted = {
        row["variant"]: {part["step"]: part["predicted_bytes"] for part in row["parts"]} for row in rows
    }
    assert predicted["filterbank"] == predicted["lifting"] == predicted["strip"] == {"whole": None}
    whole = predicted["laan"]["whole"]
    # The model is 8 (1 + h / r) for rows and for columns, where a row or column has r samples and a halo of h = 6.
    assert predicted["laan"]["lifting"] == whole
    assert whole == pytest.approx(
        sum(8 * (2 + 6 / w + 6 / h) * w * h for w, h in ((603, 41), (302, 21))), abs=1
    )
    laan = rows[2]["parts"]
    assert [(part["step"], part["launches"]) for part in laan] == [("lifting", 4), ("whole", 4)]
    assert all(part["model_bytes"] <= 1.15 * part["predicted_bytes"] for part in laan)
    for variant in ("in-place", "in-place, no table"):
        assert predicted[variant] == {
            "chunk creation": 16 * pixels, "chunk permutation": 16 * pixels, "rests of rows": None,
            "lifting": whole, "whole": 32 * pixels + whole,
        }  # fmt: skip


def check(row: dict[str, Any]) -> None:
    """Checks the facts that hold for every method."""
    assert (row["wavelet"], row["levels"]) == ("dd13/7", 2)
    *steps, whole = row["parts"]
    assert whole["step"] == "whole"
    if steps:
        assert whole["launches"] == sum(step["launches"] for step in steps)
        assert whole["model_bytes"] == sum(step["model_bytes"] for step in steps)
    for part in row["parts"]:
        assert len(part["ms"]) >= bench.FEWEST and part["median_ms"] == median(part["ms"])
        assert part["gbps"] == pytest.approx(part["model_bytes"] / part["median_ms"] / 1e6)
        assert part["efficiency"] == pytest.approx(part["gbps"] / row["copy_gbps"])
    useful = 2 * row["image_bytes"] / whole["median_ms"] / 1e6 / row["copy_gbps"]
    assert row["useful_efficiency"] == pytest.approx(useful) and list(row["wall_ms"]) == WAYS
    assert row["wall_median_ms"] == {way: median(ms) for way, ms in row["wall_ms"].items()}


def test_the_tables(clpix) -> None:
    run = clpix("bench", "dwt", "--size", 64, "--size", "67×3")
    assert (run.code, run.err) == (0, "")
    heading, *tables = run.out.split("\n\n")
    assert "dd13/7, 1 level" in heading
    memory, efficiency, times = (table.splitlines() for table in tables)
    assert all(variant in memory[0] for variant in (*bench_dwt.VARIANTS, "table B"))
    assert [line.split()[0] for line in memory[1:3]] == ["64×64", "67×3"]
    assert memory[3].startswith("At most, in ")
    assert all(
        title in efficiency[0] for title in ("T ms", "M MB", "table 3 MB", "P GB/s", "E %", "useful %")
    )
    for line in (
        "laan, lifting",
        "in-place, chunk permutation",
        "in-place, no table, whole",
        "filterbank, whole",
    ):
        assert sum(row.startswith(line) for row in efficiency) == 2
    assert all(way in times[0] for way in WAYS)
    assert [line.split("  ")[0] for line in times[1:-1]] == [*bench_dwt.VARIANTS] * 2


@pytest.mark.exhaustive
def test_split_images(clpix) -> None:
    """If memory has room for one image and no more, methods that need two are split."""
    arguments = "--size", "300x1000", "--size", 64, "--device-memory", 1_600_000
    run = clpix("bench", "dwt", *arguments, "--json")
    assert (run.code, run.err) == (0, "")
    rows = json.loads(run.out)["measurements"]
    assert [row["variant"] for row in rows if row["split"]] == ["filterbank", "lifting", "laan"]
    for row in rows:
        assert list(row["wall_ms"]) == WAYS
        in_slabs = row["width"] == 300 and not bench_dwt.VARIANTS[row["variant"]][1]
        assert list(row["slabs_ms"]) == (["one after the other", "overlapped"] if in_slabs else [])
        assert row["slabs_median_ms"] == {way: median(ms) for way, ms in row["slabs_ms"].items()}
        assert row["room_bytes"] == 1_600_000
    tables = clpix("bench", "dwt", *arguments).out.split("\n\n")
    largest = tables[1].splitlines()[-1]  # figure 4 has the largest image that fits the given memory
    assert largest.startswith("At most, in 1.6 MB ")
    sides = {name: int(side) for name, side in re.findall(r"(laan|in-place) (\d+)", largest)}
    assert sides["laan"] == pytest.approx((1_600_000 / 8) ** 0.5, abs=1)  # it needs twice the image
    assert sides["laan"] < sides["in-place"] <= (1_600_000 / 4) ** 0.5
    assert "laan, split" in tables[3] and "strip, split" not in tables[3]
    lines = tables[4].splitlines()
    assert lines[0].split("  ")[0] == "Gpixel/s in slabs"
    assert [line.split("  ")[0] for line in lines[1:-1]] == [
        name for name, (_, options) in bench_dwt.VARIANTS.items() if not options
    ]


def test_one_pixel(opened) -> None:
    gpu = opened(report=Report())
    rows = list(bench_dwt.measure(gpu, [(1, 1)]))
    assert [row.variant for row in rows] == list(bench_dwt.VARIANTS) and bench_dwt_tables.table(gpu, rows)
    assert gpu.report is not None and not gpu.report.kernels()  # the runs' launches are not kept


def test_results_that_differ_are_an_error(opened, monkeypatch) -> None:
    monkeypatch.setattr(bench_dwt, "TOLERANCE", -1.0)  # so that no result is good enough
    with pytest.raises(DeviceError, match="gives results that differ"):
        next(bench_dwt.measure(opened(report=Report()), [(16, 16)]))
