"""clpix bench fft: the documents' formulas by their own figures, the rows, and the chart. No times."""

import json
import os
import signal
from dataclasses import replace
from math import prod
from statistics import median
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from gpuops import Report
from gpuops.bench import copies as bench
from gpuops.bench import fft as bench_fft
from gpuops.bench import fft_ways as bench_fft_ways
from gpuops.bench.fft_ways import Variant
from gpuops.params.fft import FftParams

from .choices import each, needs
from .tolerance import FFT as TOLERANCE
from .tolerance import HALF

VARIANTS = ["empty", "read-write only", *bench_fft_ways.VARIANTS]
UAV, SLM = (bench_fft_ways.VARIANTS[f"{way} R2, computed"].params for way in ("UAV", "SLM"))
AUTO = {"auto": Variant(FftParams())}


def test_the_formulas_give_the_documents_numbers() -> None:
    assert bench_fft.uav_bytes(512, 256, passes=9) == (75497472, 37748736)  # figure 6
    assert bench_fft.slm_bytes(512, 256) == (4194304, 4194304)  # figure 8
    assert bench_fft.lookup_bytes(512, 256, passes=9) == 18874368  # figure 10


def test_both_axes_there_and_back() -> None:
    radices = ((2,) * 9, (2,) * 8)
    texture = 512 * 256 * 16
    assert bench_fft.predicted_bytes(None, 512, 256, (), 16) == 2 * 2 * 4 * texture
    assert bench_fft.predicted_bytes(SLM, 512, 256, radices, 16) == 2 * 2 * 4 * texture
    assert bench_fft.predicted_bytes(UAV, 512, 256, radices, 16) == 2 * 6 * (9 + 8) * texture
    for computed in (UAV, SLM):
        data = bench_fft.predicted_bytes(computed, 512, 256, radices, 16)
        assert bench_fft.predicted_bytes(computed, 512, 256, radices, 8) == data // 2
        table = replace(computed, twiddle="table")
        # Figure 10 gives the rows; columns read 256 entries in 8 passes for each of 512 columns.
        assert bench_fft.predicted_bytes(table, 512, 256, radices, 16) == data + 2 * (18874368 + 16777216)


def test_forms_of_data() -> None:
    """For both axes there and back, 16 textures are read and written: the first pass reads two, the last writes two."""
    texture = 512 * 256 * 16

    def predicted(form: str, dtype: str = "", item: int = 4) -> float:
        share = bench_fft_ways.predicted_share(Variant(FftParams(), form, dtype=dtype), item)
        return bench_fft.predicted_bytes(SLM, 512, 256, ((2,) * 9, (2,) * 8), 4 * item, share) / texture

    assert predicted(bench_fft_ways.PLANES) == predicted(bench_fft_ways.INTERLEAVED) == 16
    assert predicted(bench_fft_ways.ZEROS) == 15  # figure 8: 2 MB read in place of 4 MB
    assert predicted(bench_fft_ways.REAL) == 14 and predicted(bench_fft_ways.PIXELS, "uint8") == 12 + 2 / 4
    assert predicted(bench_fft_ways.PIXELS, "uint16") == predicted(bench_fft_ways.PIXELS, "float16") == 13
    assert predicted(bench_fft_ways.CONVERTED, "uint8") == 14 + 2 * (1 / 4 + 1)
    assert predicted(bench_fft_ways.PIXELS, "uint8", 2) == (12 + 2 / 2) / 2  # as half floats in between
    # Figure 14: of six components of RGB none is left empty; StellarWarp: RGBA are two complex numbers.
    assert [
        Variant(FftParams(), bench_fft_ways.LESS).planes(4),
        Variant(FftParams(), bench_fft_ways.PAIRS).planes(4),
    ] == [3, 2]
    assert "mixed, without alpha" not in bench_fft_ways.variants(3)


#: The second document's texture holds two complex numbers of half floats.
TEXELS = bench_fft_ways.variants(4, bench_fft_ways.PAIRS, half=True)
ALL_VARIANTS = bench_fft_ways.VARIANTS | {f"{name}, texels": variant for name, variant in TEXELS.items()}


@pytest.mark.cases(2)
@each(name=ALL_VARIANTS)
def test_every_variant_is_a_transform(gpu, rng, name) -> None:
    """Against numpy in double precision, there and back."""
    variant = ALL_VARIANTS[name]
    values = (rng.random((4, 8, 16)) + 1j * rng.standard_normal((4, 8, 16))).astype(np.complex64)
    way, form = bench_fft_ways.way(gpu, variant, values), variant.form
    there = way.there(way.source)
    got, back = there.numpy(), way.back(there).numpy()
    exact = values[: variant.planes(4)].astype(complex)
    if variant.half:
        got, back = (z["real"] + 1j * z["imag"].astype(float) for z in (got, back))
    if form == bench_fft_ways.PAIRS:
        exact = values.real[::2] + 1j * values.real[1::2].astype(float)
    if form in (bench_fft_ways.PAIRS, bench_fft_ways.INTERLEAVED):
        got, back = (np.moveaxis(z, -1, 0) for z in (got, back))
    transform = np.fft.fft2
    tolerance = TOLERANCE["half, eight times" if variant.half else "compute"]
    if form in (bench_fft_ways.REAL, bench_fft_ways.CONVERTED, bench_fft_ways.PIXELS):
        transform, exact = np.fft.rfft2, values.real.astype(float)
    elif form == bench_fft_ways.ZEROS:
        exact = exact.real
    if variant.dtype:
        pixels = way.source.numpy()
        exact = np.moveaxis(pixels / (np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1), -1, 0)
        assert np.abs(exact - np.clip(values.real, 0, 1)).max() < 3e-3 and back.dtype == pixels.dtype
        np.testing.assert_allclose(back, pixels, atol=HALF if variant.dtype == "float16" else 0)
        back = exact
    for result, expected in ((got, transform(exact, norm="ortho")), (back, exact)):
        assert np.linalg.norm(result - expected) < tolerance * np.linalg.norm(expected)


@pytest.mark.exhaustive
def test_json_has_every_variant(clpix) -> None:
    run = clpix("bench", "fft", "--size", "16x8", "--channels", 4, "--json")
    assert (run.code, run.err) == (0, "")
    result = json.loads(run.out)
    assert result["context"]["device"]
    rows = result["measurements"]
    assert [row["variant"] for row in rows] == VARIANTS
    for row in rows:
        width, height, channels = (row[key] for key in ("width", "height", "channels"))
        assert row["half"] == ("half" in row["variant"])
        planes = {"one channel less": 3, "pairs": 2}.get(row["form"], 4)
        data = planes * width * height * (4 if row["half"] else 8)
        assert (width, height, channels) == (16, 8, 4)
        assert row["channel_ms"] == pytest.approx(row["median_ms"] / 8)
        copied = 4 * 2 * channels * width * height * 8
        assert row["predicted_ms"] == pytest.approx(row["floor_ms"] * row["predicted_bytes"] / copied)
        assert len(row["ms"]) >= bench.FEWEST and row["median_ms"] == median(row["ms"])
        if row["params"] is None:
            assert row["radices"] == [] and row["launches"] == 4
            moved = 0 if row["variant"] == "empty" else 4 * 2 * data
            assert (row["model_bytes"], row["predicted_bytes"]) == (moved, moved)
            assert row["predicted_half_bytes"] == moved // 2
            continue
        rows_radices, columns_radices = row["radices"]
        real = row["form"] in ("real", "converted", "read and written")
        assert (prod(rows_radices), prod(columns_radices)) == (width // (2 if real else 1), height)
        if row["form"] in ("one channel less", "zeros not read", "real", "converted", "read and written"):
            continue  # fewer bytes: see test_forms_of_data
        stages = len(rows_radices) + len(columns_radices)
        # Of stages through memory both textures are read four times and written twice.
        predicted = 2 * stages * 6 * data // 2 if row["params"]["method"] == "global" else 4 * 2 * data
        lookups = 0 if row["params"]["twiddle"] == "compute" else 2 * stages * width * height * 16
        assert row["predicted_bytes"] == predicted + lookups
        assert row["predicted_half_bytes"] == predicted // (1 if row["half"] else 2) + lookups
    assert {row["floor_ms"] for row in rows} == {rows[1]["median_ms"]} and rows[1]["floors"] == 1


def test_the_ratios_of_texels(clpix, monkeypatch) -> None:
    """The rows of the second document are measured on its own data, "read-write only" too."""
    monkeypatch.setattr(bench_fft_ways, "VARIANTS", AUTO)
    run = clpix("bench", "fft", "--size", "16x8", "--storage", "half", "--form", "pairs", "--json")
    rows = json.loads(run.out)["measurements"]
    assert [(row["form"], row["half"]) for row in rows] == [("pairs", True)] * 3
    assert [row["model_bytes"] for row in rows] == [0, *[4 * 2 * 2 * 16 * 8 * 4] * 2]


def test_an_interruption_keeps_what_was_measured(clpix, monkeypatch) -> None:
    monkeypatch.setattr(bench_fft_ways, "VARIANTS", AUTO)
    measured = bench_fft._row

    def interrupted(*args: Any, **options: Any) -> Any:
        if args[1] == bench_fft.EMPTY:
            os.kill(os.getpid(), signal.SIGINT)
        return measured(*args, **options)

    monkeypatch.setattr(bench_fft, "_row", interrupted)
    before = signal.getsignal(signal.SIGINT)
    run = clpix("bench", "fft", "--size", "16x8")
    assert (run.code, run.err) == (130, "clpix: error: interrupted; these are the rows that were measured\n")
    assert "empty" in run.out and "auto" not in run.out and signal.getsignal(signal.SIGINT) is before


def test_the_table(clpix, monkeypatch) -> None:
    few = dict(list(bench_fft_ways.VARIANTS.items())[:2])
    monkeypatch.setattr(bench_fft_ways, "VARIANTS", few)
    run = clpix("bench", "fft", "--size", "16x8", "--size", "16×8", "--channels", 4)
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert "driver" in lines[0]
    titles = "size|radices|launches|median|formula ms|µs/channel|× read-write|formula MB|half MB|GB/s"
    for title in titles.split("|"):
        assert title in lines[1]
    # Each stands there once, though the size was given twice.
    assert [line.split("  ")[0] for line in lines[2:-3]] == [*VARIANTS[:2], *few]
    assert lines[4].split()[3:6] == ["16×8×4", "2⁴", "/"] and lines[3].split()[2:5] == ["16×8×4", "-", "4"]


def test_every_size_has_its_rows(opened, monkeypatch) -> None:
    monkeypatch.setattr(bench_fft_ways, "VARIANTS", AUTO)
    gpu = opened(report=Report())
    rows = list(bench_fft.measure(gpu, [(16, 16), (16, 8), (16, 16)], 3))
    assert [(row.variant, row.height) for row in rows] == [
        (variant, height) for height in (16, 8) for variant in (*VARIANTS[:2], "auto")
    ]
    assert [tuple(map(prod, row.radices)) for row in rows if row.params] == [(16, 16), (16, 8)]
    assert [row.floor_ms for row in rows] == [rows[i].median_ms for i in (1, 1, 1, 4, 4, 4)]
    assert gpu.report is not None and not gpu.report.kernels()  # the runs' launches are not kept


@needs("matplotlib", "plots")
def test_an_existing_chart_is_kept_unless_overwrite(clpix, tmp_path, monkeypatch) -> None:
    chart = tmp_path / "chart.png"
    chart.write_bytes(b"mine")
    command = ("bench", "fft", "--size", 16, "--channels", 3, "--chart", chart)
    with monkeypatch.context() as patch:
        patch.setattr(bench_fft, "measure", None)  # it must not be called
        run = clpix(*command)
        assert run.code == 1 and "--overwrite" in run.err and len(run.err.splitlines()) == 1
    assert chart.read_bytes() == b"mine"
    monkeypatch.setattr(bench_fft_ways, "VARIANTS", AUTO)
    assert clpix(*command, "--overwrite").code == 0 and list(tmp_path.iterdir()) == [chart]
    with Pillow.open(chart) as picture:
        assert picture.format == "PNG"
        pixels = np.asarray(picture.convert("RGB"))
    assert min(pixels.shape[:2]) > 200
    assert 0.02 < (pixels < 250).any(axis=2).mean() < 0.9  # bars and words on white


def test_a_size_beyond_the_memory_says_how_much(clpix, gpu) -> None:
    run = clpix("bench", "fft", "--size", 1 << 20, "--channels", 1)
    assert "need 61.57 TB of device memory" in run.err
    assert f"has {gpu.limits.global_bytes / 1e9:.4g} GB" in run.err
