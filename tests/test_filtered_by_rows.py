"""Pictures by rows that are filtered as products of spectra: filter, and deconvolve --method wiener.

References are numpy's transforms of the arrays in double, skimage's Wiener filter, and the same commands on whole
pictures.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu, files
from gpuops.chain import Chain
from gpuops.errors import DeviceError
from gpuops.fourier import products
from gpuops.operation import Params, operation_of
from gpuops.ops.deconvolve import DeconvolveParams
from gpuops.ops.filter import FilterParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.grade import GradeParams
from gpuops.plan import plan
from gpuops.rows.schedule import RowSchedule

from . import test_deconvolve, test_filter
from .choices import each
from .conftest import Run, in_blocks
from .reference.fourier import frequency_filter
from .test_fft_by_rows import spied, spools_made
from .test_turned_by_rows import close, joined, light, saved
from .tolerance import DECONVOLVE, FILTER

# Filters as commands and as parameters. Those of prime widths are in the sizes below.
FILTERS: list[tuple[tuple[str, ...], Params]] = [
    (("filter", "--kind", "lowpass", "--cutoff", "0.1"), FilterParams("lowpass", ("0.1",))),
    (
        ("filter", "--kind", "highpass", "--cutoff", "0.05", "--border", "wrap", "--offset", "0.25"),
        FilterParams("highpass", ("0.05",), border="wrap", offset=0.25),
    ),
    (
        ("filter", "--kind", "bandpass", "--cutoff", "0.1:0.3", "--shape", "ideal"),
        FilterParams("bandpass", ("0.1:0.3",), "ideal"),
    ),
    (
        ("filter", "--kind", "notch", "--cutoff", "0.2,0.1,0.1", "--cutoff", "-0.3,0.25", "--border", "wrap"),
        FilterParams("notch", ("0.2,0.1,0.1", "-0.3,0.25"), border="wrap"),
    ),
    (("deconvolve", "--sigma", "1.2"), DeconvolveParams(sigma=1.2)),
    (
        ("deconvolve", "--kind", "disc", "--radius", "2.5", "--reg", "constant", "--balance", "0.02"),
        DeconvolveParams(kind="disc", radius=2.5, reg="constant", balance=0.02),
    ),
    (
        ("deconvolve", "--kind", "motion", "--length", "6", "--angle", "30"),
        DeconvolveParams(kind="motion", length=6, angle=30),
    ),
]
# Sizes of which axes are even, odd, prime, and of one pixel.
SIZES = [(1, 1), (1, 37), (41, 1), (2, 3), (48, 64), (53, 31), (20, 211), (307, 12)]
FILES = [
    ("png", "uint8"), ("tif", "uint8"), ("png", "uint16"), ("exr", "float16"), ("exr", "float32"), ("tif", "float32"),
    ("npz", "float16"),
]  # fmt: skip
LOW, RESTORED = FILTERS[0][0], FILTERS[4][0]


@pytest.fixture
def by_rows(clpix, monkeypatch, tmp_path) -> Callable[..., Run]:
    """Runs a command by rows, in small blocks and panels: ``by_rows("scratch", "filter", …)``.

    Spectra are in memory or in a file. It makes sure that it is done so.
    """

    def run(place: str, *command: object, filters: int = 1) -> Run:
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        with monkeypatch.context() as patch:
            in_blocks(patch)
            patch.setattr("gpuops.fourier.axes.ENOUGH", 1 << 13)
            if place == "scratch":
                patch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
                command = (*command, "--scratch", scratch)
            used, spools = spied(patch), spools_made(patch)
            found = clpix(*command)
        assert found.code == 0, found.err
        of_spectra = [spool for spool in spools if spool.dtype == np.complex64]
        assert len(of_spectra) == filters and not os.listdir(scratch)
        assert filters <= len(used) <= len(spools) if place == "scratch" else not used
        return found

    return run


def definition(x: np.ndarray, colours: int, params: Params) -> np.ndarray:
    """What a filter makes of planes in double."""
    module: Any = test_filter if isinstance(params, FilterParams) else test_deconvolve
    return np.asarray(module.reference(x, colours, params))


def allowed(params: Params) -> float:
    return FILTER if isinstance(params, FilterParams) else DECONVOLVE["definition"]


def said(run: Run) -> list[str]:
    """What a command says, without the counts of values that rounding may put on the other side of a limit."""
    return sorted(re.sub(r"\d+ values? w\w+ outside", "outside", line.replace("whole.", "rows."))
                  for line in run.err.splitlines())  # fmt: skip


def by_axes(gpu: Gpu, x: np.ndarray, params: Params, rows: int, columns: int) -> np.ndarray:
    """The filter of planes without alpha, so many rows and columns at a time."""
    planes, height, width = shape = (x.shape[0], x.shape[1], x.shape[2])
    spectral = operation_of(params).spectral(gpu, shape, params)
    assert spectral is not None
    kept = np.zeros((planes, spectral.spooled(shape)[1], spectral.size[1] // 2 + 1), np.complex64)
    for first in range(0, height, rows):
        part = np.ascontiguousarray(x[:, first : first + rows])
        at = slice(first, first + part.shape[1])
        kept[:, at] = products.rows_of(gpu, gpu.array(part), spectral).numpy()
    for number in range(len(spectral.products)):
        if number:
            assert spectral.place is not None
            top = spectral.place[0]
            for first in range(0, kept.shape[1], rows):
                part, there = np.ascontiguousarray(kept[:, first : first + rows]), max(first - top, 0)
                picture = np.ascontiguousarray(x[:, there : max(0, first + part.shape[1] - top)])
                made = products.rows_replaced(
                    gpu,
                    gpu.array(part),
                    gpu.array(picture) if picture.size else None,
                    max(top - first, 0),
                    spectral,
                )
                kept[:, first : first + rows] = made.numpy()
        for first in range(0, kept.shape[2], columns):
            for plane in range(planes):
                panel = kept[
                    plane : plane + 1, : kept.shape[1] if number else height, first : first + columns
                ]
                panel = gpu.array(np.ascontiguousarray(panel))
                found = products.columns_of(gpu, panel, first, spectral, number, height).numpy()[0]
                kept[plane, : len(found), first : first + columns] = found
    found = [
        spectral.finished(
            gpu, products.rows_back(gpu, gpu.array(np.ascontiguousarray(kept[:, at])), width, spectral)
        )
        for at in (slice(first, min(first + rows, height)) for first in range(0, height, rows))
    ]
    return np.concatenate([part.numpy() for part in found], 1)


def check_axes(gpu: Gpu, params: Params, size: tuple[int, int], rows: int, columns: int) -> None:
    """So many rows and columns at a time give what the definition does."""
    x = np.random.default_rng(3).random((2, *size), np.float32)
    expected = definition(x.astype(float), 2, params)
    found = by_axes(gpu, x, params, rows, columns)
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed(params) * np.abs(expected).max())


def check_surroundings(gpu: Gpu) -> None:
    """Real and complex numbers stand where they belong."""
    rng = np.random.default_rng(4)
    z = (rng.random((2, 5, 7)) + 1j * rng.random((2, 5, 7))).astype(np.complex64)
    for size in ((5, 7), (10, 14), (23, 7), (5, 31), (64, 50)):
        expected = z[:, test_deconvolve.mirrored(5, size[0])][:, :, test_deconvolve.mirrored(7, size[1])]
        for values, wanted in ((z, expected), (z.real.copy(), expected.real)):
            found = products.surrounded(gpu, gpu.array(values), size).numpy()
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.cases(1)
@each(command__params=FILTERS, size=SIZES)
def test_the_definition(by_rows, tmp_path, command, params, size) -> None:
    pixels = light((*size, 3), "float32") / 4
    path, out = saved(tmp_path / "in.tif", pixels), tmp_path / "out.tif"
    expected = np.moveaxis(definition(np.moveaxis(pixels, 2, 0).astype(float), 3, params), 0, 2)
    for place in ("memory", "scratch"):
        by_rows(place, command[0], path, *command[1:], "-o", out, "--overwrite")
        atol = allowed(params) * np.abs(expected).max()
        np.testing.assert_allclose(files.read(out).pixels, expected, rtol=0, atol=atol)


@pytest.mark.cases(1)
@each(command__params=[FILTERS[k] for k in (0, 1, 4)], channels=[1, 2, 3, 4], suffix__dtype=FILES)
def test_files(clpix, by_rows, tmp_path, command, params, channels, suffix, dtype) -> None:
    """Of any depth, with and without alpha: as the whole, and what is said of them."""
    path = saved(tmp_path / f"in.{suffix}", light((37, 29, channels), dtype))
    whole, rows = tmp_path / f"whole.{suffix}", tmp_path / f"rows.{suffix}"
    first = clpix(command[0], path, *command[1:], "-o", whole)
    assert first.code == 0, first.err
    place = ("memory", "scratch")[(channels + FILES.index((suffix, dtype))) % 2]
    run = by_rows(place, command[0], path, *command[1:], "-o", rows)
    assert said(run) == said(first)
    found, expected = files.read(rows), files.read(whole)
    assert found.metadata == expected.metadata and found.alpha == expected.alpha
    assert (found.pixels.dtype, found.pixels.shape) == (expected.pixels.dtype, expected.pixels.shape)
    if expected.pixels.dtype.kind == "u":  # Wiener's gain is up to 16, and dividing by alpha has more
        steps = 1 if channels in (1, 3) and isinstance(params, FilterParams) else 12
        assert np.abs(found.pixels.astype(int) - expected.pixels).max() <= steps
        return
    most = np.abs(expected.pixels).max()
    rtol = 2e-3 if expected.pixels.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(found.pixels, expected.pixels, rtol=rtol, atol=5 * allowed(params) * most)


@each(command=[FILTERS[0][0], FILTERS[1][0], FILTERS[4][0]], value=[np.nan, np.inf])
def test_values_that_are_not_finite(clpix, by_rows, tmp_path, command, value) -> None:
    """They spoil their channel, as in a whole picture, and one line says so; alpha that stays is left alone."""
    pixels = light((37, 29, 4), "float32")
    pixels[5, 7, 1] = value
    path = saved(tmp_path / "in.tif", pixels)
    first = clpix(command[0], path, *command[1:], "-o", tmp_path / "whole.tif")
    run = by_rows("memory", command[0], path, *command[1:], "-o", tmp_path / "rows.tif")
    assert said(run) == said(first) and "spoils the result through whole channels" in run.err
    found, expected = (files.read(tmp_path / f"{name}.tif").pixels for name in ("rows", "whole"))
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    assert not np.isfinite(found[..., 1]).any() and np.isfinite(found[..., [0, 2, 3]]).all()


HIGH = ("filter", "--kind", "highpass", "--cutoff", "0.1", "--offset", "0.4")
MOTION = ("deconvolve", "--kind", "motion", "--length", "5", "--angle", "20", "--balance", "0.1")
# Each with the number of its filters.
CHAINS: list[tuple[tuple[tuple[str, ...], ...], int]] = [
    ((LOW, LOW), 2),
    ((("blur", "--sigma", "2"), LOW), 1),
    ((LOW, ("blur", "--sigma", "9"), ("sharpen",)), 1),
    ((("grade", "--exposure", "0.5"), MOTION, ("grade", "--contrast", "1.1"), LOW), 2),
    ((("crop", "--region", "3,5,30,40"), HIGH, ("crop", "--region", "1,20,23,9")), 1),
    ((LOW, ("rotate", "--angle", "90"), MOTION), 2),
    ((("rotate", "--angle", "90"), HIGH, ("flip", "--axis", "vertical")), 1),
    ((("resize", "--scale", "0.6"), LOW, ("resize", "--size", "60x")), 1),
    ((("tonemap", "--operator", "reinhard-extended"), LOW), 1),
    ((LOW, ("tonemap", "--operator", "reinhard-extended")), 1),
    ((("blur", "--sigma", "2", "--border", "wrap"), MOTION, ("blur", "--sigma", "2", "--border", "wrap")), 1),
    ((LOW, ("bloom",)), 1),
    ((("mix", "--picture", "other.exr", "--amount", "0.4"), LOW, ("mix", "--picture", "other.exr")), 1),
    ((LOW, ("blur", "--sigma", "2", "--method", "fft")), 1),
]
SOURCES = [("exr", "float16", 4), ("tif", "uint16", 3), ("png", "uint8", 1), ("exr", "float32", 3)]


@pytest.mark.cases(2)
@each(chain__filters=CHAINS, source=SOURCES)
def test_chains(clpix, by_rows, tmp_path, monkeypatch, chain, filters, source) -> None:
    """Before filters, between them and behind them: what the file says, and what is said."""
    monkeypatch.chdir(tmp_path)
    suffix, dtype, channels = source
    saved(Path("other.exr"), light((67, 45, 3), "float32"))
    path = saved(Path(f"in.{suffix}"), light((67, 45, channels), dtype))
    number = CHAINS.index((chain, filters)) + SOURCES.index(source)
    end = ("tif", "exr")[number // 2 % 2]
    first = clpix(*joined(chain, path), "--dtype", "float", "-o", f"whole.{end}")
    assert first.code == 0, first.err
    place = ("memory", "scratch")[number % 2]
    run = by_rows(place, *joined(chain, path), "--dtype", "float", "-o", f"rows.{end}", filters=filters)
    assert said(run) == said(first)
    found, expected = files.read(f"rows.{end}"), files.read(f"whole.{end}")
    assert found.metadata == expected.metadata
    assert (found.linear, found.alpha) == (expected.linear, expected.alpha)
    most = np.abs(expected.pixels).max()
    np.testing.assert_allclose(found.pixels, expected.pixels, rtol=1e-5, atol=2e-5 * max(1, most))


OPTIONS = [
    ("--no-fuse",), ("--space", "encoded"), ("--working", "rec2020"), ("--colour", "display-p3"), ("--alpha", "drop"),
    ("--dtype", "uint8"), ("--repeat", "3"),
]  # fmt: skip


@pytest.mark.cases(1)
@each(options=OPTIONS, command=[LOW, FILTERS[1][0]])
def test_options(clpix, by_rows, tmp_path, options, command) -> None:
    path = saved(tmp_path / "in.tif", light((29, 43, 4), "uint16"))
    words = (command[0], path, *command[1:], *options)
    first = clpix(*words, "-o", tmp_path / "whole.tif")
    assert first.code == 0, first.err
    run = by_rows("scratch", *words, "-o", tmp_path / "rows.tif")
    assert said(run) == said(first)
    found, expected = (files.read(tmp_path / f"{name}.tif") for name in ("rows", "whole"))
    assert found.metadata == expected.metadata and found.pixels.dtype == expected.pixels.dtype
    assert np.abs(found.pixels.astype(int) - expected.pixels).max() <= 12  # which were divided by alpha


def test_files_on_the_way(clpix, by_rows, tmp_path) -> None:
    """All of each, though a crop leaves out some."""
    path = saved(tmp_path / "in.exr", light((67, 45, 3), "float16"))
    for way in ("whole", "rows"):
        folder = tmp_path / f"in-{way}"
        folder.mkdir()
        command = ["blur", path, "--sigma", 2, "then", "write", folder / "a.exr", "then", *LOW, "then", "write",
                   folder / "b.png", "then", *HIGH, "then", "crop", "--region", "5,7,20,30", "-o",
                   folder / "c.tif"]  # fmt: skip
        run = clpix(*command) if way == "whole" else by_rows("memory", *command, filters=2)
        assert run.code == 0, run.err
    for name in ("a.exr", "b.png", "c.tif"):
        close(*(files.read(tmp_path / f"in-{way}" / name).pixels for way in ("rows", "whole")))


@pytest.mark.parametrize("border", ["wrap", "reflect"])
def test_masks(clpix, by_rows, tmp_path, border) -> None:
    """A mask without symmetry; one of another size is refused, and nothing is written."""
    rng = np.random.default_rng(9)
    pixels, mask = rng.random((33, 40, 3), np.float32), rng.random((33, 40, 1), np.float32)
    path, names = saved(tmp_path / "in.tif", pixels), [tmp_path / f"{name}.tif" for name in ("m", "n")]
    saved(names[0], mask)
    saved(names[1], mask[1:])
    command = ("filter", path, "--kind", "lowpass", "--cutoff", "0.3", "--border", border, "--mask")
    by_rows("scratch", *command, names[0], "-o", tmp_path / "out.tif")
    if border == "wrap":
        filter_of = FilterParams("lowpass", ("0.3",)).filter()
        h = mask[..., 0] * np.fft.fftshift(frequency_filter(filter_of, (33, 40)))
        expected = test_filter.masked(np.moveaxis(pixels.astype(float), 2, 0), h)
    else:
        assert clpix(*command, names[0], "-o", tmp_path / "whole.tif").code == 0
        expected = np.moveaxis(files.read(tmp_path / "whole.tif").pixels, 2, 0)
    found = np.moveaxis(files.read(tmp_path / "out.tif").pixels, 2, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=FILTER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpuops.batch.memory.is_too_large", lambda *_: True)
        run = clpix(*command, names[1], "-o", tmp_path / "none.tif")
    assert run.code == 1 and "resize it" in run.err and run.err.count("\n") == 1
    assert not (tmp_path / "none.tif").exists()


def test_segments(gpu) -> None:
    """A filter ends a segment, as a turn does."""
    shape, low = (3, 40, 50), FilterParams("lowpass", ("0.1",))
    chain = plan(Chain(GradeParams(exposure=0.5), low, FlipParams("vertical"), DeconvolveParams(sigma=1.0)))
    schedule = RowSchedule.of(gpu, chain, shape)
    assert schedule.obstacle is None
    assert [len(segment.steps) for segment in schedule.segments] == [1, 0, 0, 0]
    ends = [segment.end for segment in schedule.segments]
    assert [end and end.step.name for end in ends] == ["filter", "flip", "deconvolve", None]
    kept = [end.spectral.spooled(shape) if end and end.spectral else None for end in ends]
    assert kept == [(3, 40, 51), None, (6, *(kept[2] or ())[1:]), None]
    local = DeconvolveParams("richardson-lucy", sigma=1)
    assert operation_of(local).spectral(gpu, shape, local) is None


def test_explain(clpix, tmp_path) -> None:
    path = saved(tmp_path / "in.png", light((40, 50, 3), "uint8"))
    run = clpix(*joined((LOW, RESTORED), path), "-o", tmp_path / "out.png", "--explain")
    assert run.code == 0 and run.out.count("of spectra are kept") == 2
    assert "by rows 48.96 kB of spectra are kept" in run.out
    assert "spectra" not in clpix("blur", path, "--sigma", "2", "-o", "o.png", "--explain").out


@pytest.mark.cases(1)
@pytest.mark.parametrize("command", [LOW, RESTORED, (*RESTORED, "then", *LOW)], ids=" ".join)
def test_a_promise_that_is_too_small_says_what_would_do(clpix, tmp_path, monkeypatch, command) -> None:
    """The memory that a line names is enough, one that is a little less is not, and a scratch folder is, too."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    monkeypatch.setattr("gpuops.batch.memory.is_too_large_for_device", lambda *_: True)
    path, out = saved(tmp_path / "in.png", light((700, 500, 3), "uint8")), tmp_path / "out.png"
    words = (command[0], path, *command[1:], "-o", out)
    run = clpix(*words, "--memory", "1M")
    found = re.search(
        r"in.png: needs [\d.]+ MB of memory, and 1.049 MB are allowed: raise --memory to (\d+)([KM]), "
        r"or give --scratch DIR for [\d.]+ MB\n",
        run.err,
    )
    assert run.code == 1 and len(run.err.splitlines()) == 1 and found is not None and not out.exists(), (
        run.err
    )
    less = clpix(*words, "--memory", f"{int(found[1]) - 1}{found[2]}")
    assert less.code == 1 and f"raise --memory to {found[1]}{found[2]}" in less.err
    assert clpix(*words, "--memory", f"{found[1]}{found[2]}").code == 0
    expected = files.read(out).pixels
    out.unlink()
    with monkeypatch.context() as patch:
        used = spied(patch)
        run = clpix(*words, "--memory", "1M", "--scratch", tmp_path)
    assert run.code == 0 and used, run.err
    np.testing.assert_allclose(files.read(out).pixels.astype(int), expected, atol=3)
    assert sorted(os.listdir(tmp_path)) == ["in.png", "out.png"]
    out.unlink()
    few = clpix(*words, "--memory", "100K", "--scratch", tmp_path)
    assert few.code == 1 and "needs" in few.err and "raise --memory" in few.err and not out.exists()


@pytest.mark.cases(1)
@each(command=[RESTORED, LOW, FILTERS[1][0]], memory=["8M", "3M", "20M"])
def test_a_device_of_little_memory(clpix, by_rows, tmp_path, command, memory) -> None:
    """The limit binds: the pool refuses what is beyond it."""
    path = saved(tmp_path / "in.exr", light((701, 499, 4), "float32"))
    words = (command[0], path, *command[1:], "-o")
    assert clpix(*words, tmp_path / "whole.exr").code == 0
    run = clpix(*words, tmp_path / "rows.exr", "--device-memory", memory)
    assert run.code == 0, run.err
    found, expected = (files.read(tmp_path / f"{name}.exr").pixels for name in ("rows", "whole"))
    most = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=20e-6 * most)


def test_too_little_for_a_column(clpix, tmp_path, opened) -> None:
    path = saved(tmp_path / "in.png", light((9000, 2, 1), "uint8"))
    run = clpix(LOW[0], path, *LOW[1:], "-o", tmp_path / "out.png", "--device-memory", "300K")
    assert run.code == 1 and re.search(r"columns of a transform of 18000×4 need [\d.]+ .B", run.err), run.err
    assert not (tmp_path / "out.png").exists()
    gpu = opened(memory=1 << 18)
    spectral = operation_of(FilterParams("lowpass", ("0.1",))).spectral(
        gpu, (1, 9000, 2), FilterParams("lowpass", ("0.1",))
    )
    assert spectral is not None
    with pytest.raises(DeviceError, match="columns of a transform"):
        products.columns_at_once(gpu, (1, 9000, 2), spectral, 1e9)


def test_large_prime_factors(gpu) -> None:
    """A whole picture is mirrored before its transform, where this cannot do it as it reads."""
    x = np.random.default_rng(5).random((2, 9, 211), np.float32)
    for params in (FilterParams("lowpass", ("0.1",)), FilterParams("highpass", ("0.1",), border="wrap")):
        expected = definition(x.astype(float), 2, params)
        found = operation_of(params)(gpu, gpu.array(x), params).numpy()
        np.testing.assert_allclose(found, expected, rtol=0, atol=FILTER)
