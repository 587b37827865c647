"""Tests of ``clpix bench``."""

import json
from statistics import median

import pytest

from gpuops import ParameterError, Report
from gpuops.bench import copies as bench
from gpuops.bench import dwt, fft, filters

from .choices import needs

WHATS = [
    "copy kernel",
    "clEnqueueCopyBuffer",
    *(f"{way}, {kind}" for kind in ("pageable", "pinned") for way in ("host → device", "device → host")),
]


def test_copy_measures_every_way_at_every_size(clpix) -> None:
    run = clpix("bench", "copy", "--size", 1, "--size", 2, "--json")
    assert (run.code, run.err) == (0, "")
    result = json.loads(run.out)
    for key in ("device", "driver", "platform", "date", "pyopencl"):
        assert result["context"][key]
    rows = result["measurements"]
    assert [(row["what"], row["mib"]) for row in rows] == [(what, mib) for mib in (1, 2) for what in WHATS]
    for row in rows:
        within = row["what"] in WHATS[:2]
        assert row["bytes"] == row["mib"] * 2**20 * (2 if within else 1)
        assert row["runs"] == len(row["ms"]) >= bench.FEWEST and row["median_ms"] == median(row["ms"]) > 0
        assert row["gbps"] == pytest.approx(row["bytes"] / row["median_ms"] / 1e6)


def test_copy_prints_a_table(clpix) -> None:
    run = clpix("bench", "copy", "--size", 1)
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert "driver" in lines[0]
    assert lines[1].split() == ["copy", "MiB", "runs", "min", "ms", "median", "max", "GB/s"]
    assert [line.split("  ")[0] for line in lines[2:-1]] == WHATS


def test_the_kernel_copies_every_byte(gpu) -> None:
    import numpy as np

    n = 1000  # float4; no multiple of a group
    source = gpu.array(np.arange(4 * n, dtype=np.float32))
    target = gpu.zeros((4 * n + 256,))
    kernel = gpu.kernel("copy", "copy")
    gpu.launch(kernel, (n,), source, target, np.uint64(n), local=kernel.fit(256))
    result = target.numpy()
    assert (result[: 4 * n] == source.numpy()).all() and not result[4 * n :].any()


def test_sizes_stay_within_half_of_the_memory(gpu) -> None:
    for size in bench.sizes_that_fit(gpu):
        assert 2 * size * bench.MIB <= gpu.limits.global_bytes / 2
    assert bench.sizes_that_fit(gpu, (1, 1 << 40)) == (1,)


@pytest.mark.parametrize(("options", "code", "words"), [
    ("copy --size 0", 2, "--size"),
    ("copy --device nothing-like-this", 3, "nothing-like-this"), ("blur --size 0", 2, "0×0 is no size"),
    ("blur --size 16 --size 16x0", 2, "16×0 is no size"), ("blur --channels 5", 2, "--channels"),
    ("tonemap --size 16 --size 1048576", 1, "--channels"), ("dwt --size 16x", 2, "WIDTHxHEIGHT"),
    ("dwt --levels 41", 2, "levels must be"), ("dwt --wavelet db4", 2, "no lifting steps"),
    ("dwt --size 16 --size 1048576", 1, "use a smaller --size"), ("fft --size 1", 2, "powers of two"),
    ("fft --size 16 --size 100", 2, "100×100"), ("fft --size=-16", 2, "WIDTHxHEIGHT"),
    ("fft --size 16x16x16", 2, "WIDTHxHEIGHT"), ("fft --channels 0", 2, "--channels"),
    ("fft --size 16 --chart bars.pdf", 2, ".png or .svg"),
    pytest.param("fft --size 16 --chart no/folder/bars.png", 1, "folder", marks=needs("matplotlib", "plots") ),
    ("fft --size 16 --overwrite", 2, "--chart"), ("fft --size 16 --size 1048576", 1, "--channels"),
])  # fmt: skip
def test_refused_in_one_line(clpix, tmp_path, monkeypatch, options, code, words) -> None:
    monkeypatch.chdir(tmp_path)
    run = clpix("bench", *options.split())
    assert (run.code, run.out, run.err.count("\n")) == (code, "", 1) and words in run.err
    assert not list(tmp_path.iterdir())


def test_the_librarys_checks(gpu, opened) -> None:
    measuring = opened(report=Report())
    for measure, options, words in (
        (bench.copy, ([0],), "1 MiB"),
        (
            filters.measure,
            ("sharpen", [(16, 16)]),
            "unknown operation 'sharpen': use one of blur, bloom, tonemap",
        ),
        (filters.measure, ("blur", [(16, 16)], 5), "channels"),
        (dwt.measure, ([(16, 16)], "haar", 0), "a level at least"),
        (fft.measure, ([(16, 16)], 0), "channel"),
        (fft.measure, ([(16, 16), (3, 16)],), "3×16"),
    ):
        with pytest.raises(ParameterError, match="Report"):
            list(measure(gpu, *options))
        with pytest.raises(ParameterError, match=words):
            list(measure(measuring, *options))
    assert not measuring.plans
