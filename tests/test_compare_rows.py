"""Comparing by rows: every figure is that of the whole pictures, whatever rows come together."""

import json
import math
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuops import Gpu, ParameterError, files
from gpuops.figures import FIGURES, Figure, count
from gpuops.files import Picture, Strips
from gpuops.metrics.band import Band
from gpuops.metrics.measure import Pair, SizeError, measure
from gpuops.metrics.pixelmatch import pixelmatch
from gpuops.metrics.variance import Variance
from gpuops.params.comparing import Comparing, MeasuredPair
from gpuops.params.thresholds import Thresholds
from gpuops.rows.budget import Budget
from gpuops.rows.window import bands

from .choices import each, in_turns
from .test_ssim import bright
from .tolerance import DOUBLE

FLIPS = ("flip", "hdr-flip")
BY_ROWS = tuple(FIGURES)
# Figures for which rows may come in any numbers.
NEAR = tuple(metric for metric in BY_ROWS if metric not in (*FLIPS, "ssimulacra2"))
# Means of float32 sums over groups, whose pixels are others by rows: each group's sum is compensated.
SUMS = 1e-6
# Figures that have the same bits: counts, and the largest errors.
EXACT = ("max", *(name for name, figure in FIGURES.items() if figure.exact))


def two(rng: Any, shape: tuple[int, ...] = (150, 61, 3), dtype: str = "uint8") -> tuple[Picture, Picture]:
    """A picture, and one with noise, a block that moved by a pixel, blots, and equal rows."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    a = 0.5 + 0.3 * np.sin(x / 5 + y / 9)[..., None] + 0.1 * rng.random(shape)
    b = a + rng.normal(0, 0.01, shape)
    b[10:60, 5:30] = a[11:61, 4:29]
    blots = rng.random(shape[:2]) < 0.02
    b[blots] = 1 - a[blots] ** 2
    b[70:95] = a[70:95]
    a, b = np.clip(a, 0, 1), np.clip(b, 0, 1)
    if dtype.startswith("u"):
        a, b = (np.round(v * np.iinfo(dtype).max) for v in (a, b))
    kind = {"alpha": shape[2] in (2, 4), "linear": dtype.startswith("f")}
    return Picture(a.astype(dtype), **kind), Picture(b.astype(dtype), **kind)


def known(picture: Picture) -> Picture:
    """A variance that explains some of the noise."""
    return Picture(np.full(picture.pixels.shape, 3e-5, np.float32), picture.alpha, linear=True)


def by_rows(
    gpu: Gpu,
    a: Picture,
    b: Picture,
    how: Comparing,
    rows: int,
    thresholds: Thresholds = Thresholds(),  # noqa: B008
    mask: Picture | None = None,
    noise: Picture | None = None,
) -> MeasuredPair:
    class Forced(Pair):
        def _rows(self, _figures: object) -> int:
            return rows

    given = Strips.of(mask) if mask is not None else None
    noise = noise or known(a)
    variance = Variance(noise), Strips.of(noise)
    strips = Strips.of(a), Strips.of(b)
    with ThreadPoolExecutor(2) as pool:
        return measure(Forced(gpu, how, strips, given, variance, Budget("a and b"), pool), thresholds)


def as_whole(
    gpu: Gpu,
    a: Picture,
    b: Picture,
    how: Comparing,
    thresholds: Thresholds = Thresholds(),  # noqa: B008
) -> MeasuredPair:
    return measure(Pair.of(gpu, b, a, how, Variance(known(a))), thresholds)


def check_same(found: MeasuredPair, whole: MeasuredPair) -> None:
    """Checks that all is alike, but for sums in another order."""
    assert list(found.figures) == list(whole.figures)
    for metric, value in whole.figures.items():
        if metric in EXACT:
            assert found.figures[metric] == value, metric
        else:
            assert found.figures[metric] == pytest.approx(value, rel=SUMS, nan_ok=True), metric
    assert [limit.name for limit in found.missed] == [limit.name for limit in whole.missed]
    assert str(found.worst) == str(whole.worst)  # which may have NaN
    rest = {"figures": {}, "missed": (), "worst": None}
    assert replace(found, **rest) == replace(whole, **rest)


@pytest.mark.cases(1)
@in_turns(
    ("size", "kind"),
    [
        ((250, 180), ("uint8", 3)), ((401, 191), ("uint16", 4)),
        ((255, 177), ("float32", 3)), ((250, 180), ("float16", 1)),
    ],
)  # fmt: skip
def test_any_rows_give_the_figures_of_the_whole(planned, rng, size, kind) -> None:
    """Of every figure: one row, fewer than the halo, a prime number, its least number, SSIM's own bands, and all."""
    a, b = two(rng, (*size, kind[1]), kind[0])
    b.pixels[110:190] = a.pixels[110:190]
    if kind[0].startswith("f"):
        a.pixels[:], b.pixels[:] = (np.exp(4 * p.pixels.astype(np.float32) - 3) for p in (a, b))
        a.pixels[5, 7], a.pixels[9, 9], a.pixels[50, 1] = np.nan, -1.0, np.inf
        b.pixels[5:10], b.pixels[50] = a.pixels[5:10], a.pixels[50]
    how = Comparing(metrics=tuple(FIGURES), window=9, radius=2, tolerance=0.002, ignore=((2, 5, 4, 3),))
    thresholds = Thresholds(fail=2.5 / 255, warn=1.5 / 255)
    figures, undefined = Pair.of(planned, b, a, how).figures(thresholds)
    assert not undefined
    multiples = {figure.multiple for figure in figures.values()}
    for rows in sorted({1, 7, 23, *multiples, 64, 2 * max(multiples), size[0]}):
        metrics = tuple(name for name in figures if rows == size[0] or rows % figures[name].multiple == 0)
        some = replace(how, metrics=metrics)
        whole = as_whole(planned, a, b, some, thresholds)
        assert whole.bad > 0 and all(whole.figures[name] != figures[name].best for name in metrics)
        check_same(by_rows(planned, a, b, some, rows, thresholds), whole)


@each(rows=[16, 48])
def test_bright_pixels_do_not_count_where_they_are_not(gpu, rows) -> None:
    """Structural similarity has no base of its own for each band, whose first rows would be others by rows."""
    a, b = (Picture(plane[0][..., None], linear=True) for plane in bright("half", 180))
    how = Comparing(metrics=("ssim", "ssim-skimage", "ms-ssim", "pu-ssim"))
    whole = as_whole(gpu, a, b, how).figures
    assert by_rows(gpu, a, b, how, rows).figures == pytest.approx(whole, rel=DOUBLE)


@each(dtypes=["uint8 uint16", "uint16 uint16", "float16 float32", "uint8 float32"], space=["auto", "linear"])
def test_kinds_of_pictures(gpu, rng, dtypes, space) -> None:
    """Depths that differ, and values that are converted."""
    first, second = dtypes.split()
    a, b = two(rng, dtype=first)[0], two(rng, dtype=second)[1]
    for alpha in (True, False):
        how = Comparing(metrics=NEAR, space=space, alpha=alpha)
        check_same(by_rows(gpu, a, b, how, 13), as_whole(gpu, a, b, how))


def test_scales_of_what_is_not_finite(gpu, rng) -> None:
    """The same in both counts as equal, in whatever slab; anything else makes the figure NaN."""
    a, b = two(rng, (300, 190, 3), "float32")
    a.pixels[170, 20, 1] = b.pixels[170, 20, 1] = np.nan
    how = Comparing(metrics=("ms-ssim",))
    for value in (None, np.inf):
        if value is not None:
            b.pixels[299, 189, 0] = value
        whole = as_whole(gpu, a, b, how).figures["ms-ssim"]
        assert math.isnan(whole) == (value is not None)
        for rows in (16, 80, 300):
            found = by_rows(gpu, a, b, how, rows).figures["ms-ssim"]
            assert found == pytest.approx(whole, rel=SUMS, nan_ok=True)


@pytest.mark.exhaustive
@given(data=st.data())
@settings(max_examples=25)
def test_any_sizes(gpu, data) -> None:
    """Also those for which figures are not defined, which is said in the same words."""
    shape = (
        data.draw(st.integers(1, 40)),
        data.draw(st.integers(1, 30)),
        data.draw(st.sampled_from([1, 2, 3, 4])),
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    a, b = (Picture(rng.integers(0, 4, shape).astype(np.uint8), alpha=shape[2] in (2, 4)) for _ in "ab")
    some = rng.random(shape[0]) < 0.5
    b.pixels[some] = a.pixels[some]
    how = Comparing(metrics=NEAR, window=data.draw(st.integers(1, 12)), radius=data.draw(st.integers(0, 5)))
    rows = data.draw(st.integers(1, shape[0]))
    check_same(by_rows(gpu, a, b, how, rows), as_whole(gpu, a, b, how))


@pytest.mark.parametrize("odd", [(np.nan, 0.5), (np.inf, 0.5), (np.inf, -np.inf), (np.nan, np.nan)])
def test_what_is_not_finite(gpu, rng, odd) -> None:
    a, b = two(rng, (150, 61, 3), "float32")
    for y in (3, 77, 149):
        a.pixels[y, 7, 1], b.pixels[y, 7, 1] = odd
    b.pixels[20, 20, 2] = 1e30
    how = Comparing(metrics=NEAR)
    for thresholds in (Thresholds(fail=0.01), Thresholds(limits={"psnr": -1e30, "ssim": -0.9})):
        check_same(by_rows(gpu, a, b, how, 31, thresholds), as_whole(gpu, a, b, how, thresholds))
    idiff = Comparing(metrics=NEAR, idiff=True)
    check_same(by_rows(gpu, a, b, idiff, 31), as_whole(gpu, a, b, idiff))


def test_a_tiny_error_beside_large_ones(gpu) -> None:
    """Rows whose squares float32 does not hold, beside others."""
    a = np.zeros((4, 50, 1), np.float32)
    b = np.array([1e-30, 1e25, 1.0, 0.0], np.float32)[:, None, None] + a
    found = by_rows(gpu, Picture(a, linear=True), Picture(b, linear=True), Comparing(metrics=("rmse",)), 1)
    wide = b.astype(np.float64)
    assert found.figures["rmse"] == pytest.approx(math.sqrt((wide**2).mean()), rel=1e-7)
    b[1] = 0
    b[2] = 0
    wide = b.astype(np.float64)
    found = by_rows(gpu, Picture(a, linear=True), Picture(b, linear=True), Comparing(metrics=("rmse",)), 1)
    assert found.figures["rmse"] == pytest.approx(math.sqrt((wide**2).mean()), rel=1e-7)


def test_of_equally_bad_pixels_the_first_is_told(gpu) -> None:
    a = np.zeros((40, 30, 3), np.uint8)
    b = a.copy()
    b[[12, 12, 33], [9, 20, 1], 1] = 5
    for rows in (1, 6, 13, 40):
        worst = by_rows(gpu, Picture(a), Picture(b), Comparing(metrics=("max",)), rows).worst
        assert worst is not None and (worst.x, worst.y) == (9, 12)
        assert (worst.reference, worst.result) == ((0, 0, 0), (0, 5, 0))


def test_rows_of_a_checkerboard(gpu, rng) -> None:
    """What is behind pixels that are not opaque depends on the place in the picture."""
    a = rng.integers(0, 256, (90, 37, 4)).astype(np.uint8)
    b = a.copy()
    b[..., 3] = np.clip(a[..., 3].astype(int) + rng.integers(-60, 60, a.shape[:2]), 0, 255)
    _, whole = pixelmatch(gpu, a, b, full=True, include_aa=True)
    for first in (1, 17, 88):
        _, part = pixelmatch(gpu, a[first:], b[first:], first=first, full=True, include_aa=True)
        np.testing.assert_array_equal(part.numpy(), whole.numpy()[first:])
    found, part = pixelmatch(gpu, a, b, rows=slice(17, 60), full=True, include_aa=True)
    np.testing.assert_array_equal(part.numpy(), whole.numpy()[17:60])
    assert found.different == (whole.numpy()[17:60] == 1).sum() and found.pixels == 43 * 37


def test_masks_and_rectangles(gpu, rng, tmp_path) -> None:
    a, b = two(rng)
    mask = (rng.random((150, 61, 1)) < 0.8).astype(np.uint8) * 9
    files.write(tmp_path / "m.png", Picture(mask))
    how = Comparing(metrics=NEAR, mask=str(tmp_path / "m.png"), ignore=((3, 20, 30, 66), (50, 149, 99, 9)))
    found = by_rows(gpu, a, b, how, 17, Thresholds(fail=0.01), Picture(mask))
    check_same(found, as_whole(gpu, a, b, how, Thresholds(fail=0.01)))
    shown = mask[..., 0] != 0
    shown[20:86, 3:33] = shown[149, 50:] = False
    assert found.pixels == shown.sum()
    error = np.abs(a.pixels.astype(int) - b.pixels)[shown]
    assert found.figures["max"] == pytest.approx(error.max() / 255, rel=DOUBLE)
    assert found.differing == (error != 0).sum()


def test_what_cannot_be_compared(gpu, rng) -> None:
    a, b = two(rng)
    with pytest.raises(SizeError, match="sizes differ"):
        by_rows(gpu, a, replace(b, pixels=b.pixels[:9]), Comparing(), 9)
    with pytest.raises(ParameterError, match="outside"):
        by_rows(gpu, a, b, Comparing(ignore=((0, 150, 3, 3),)), 9)
    with pytest.raises(ParameterError, match="leave no pixel"):
        by_rows(gpu, a, b, Comparing(ignore=((0, 0, 61, 150),)), 9)
    with pytest.raises(ParameterError, match="the variance has another size"):  # and that of a band
        noise = replace(known(a), pixels=known(a).pixels[:9])
        by_rows(gpu, a, b, Comparing(), 9, Thresholds(limits={"z-test": 1}), noise=noise)
    with pytest.raises(ParameterError, match="the mask has"):
        by_rows(gpu, a, b, Comparing(mask="m.png"), 9, mask=Picture(np.ones((9, 9, 1), np.uint8)))


def test_a_figure_is_its_record_alone(clpix, gpu, rng, tmp_path, monkeypatch) -> None:
    """Whole and by rows, with its threshold and its words; and what has no record is no figure."""
    a, b = two(rng)
    with pytest.raises(ParameterError, match="unknown metric 'unlike'"):
        Thresholds(limits={"unlike": 1})

    def unlike(band: Band) -> int:
        assert len(band.reference.pixels) <= 17 + 3 or band.pair.whole
        return int((band.reference.pixels != band.result.pixels).any(2)[band.counted].sum())

    figure = Figure("unlike", "how many differ", unlike, count, above=1, below=2, unit=" of these", digits=0)
    monkeypatch.setitem(FIGURES, figure.name, figure)
    # It lists all figures as it is imported.
    monkeypatch.delitem(sys.modules, "clpix.compare", raising=False)
    how, limits = Comparing(metrics=("unlike",)), Thresholds(limits={"unlike": 3})
    for measured in (as_whole(gpu, a, b, how, limits), by_rows(gpu, a, b, how, 17, limits)):
        assert measured.figures["unlike"] == (a.pixels != b.pixels).any(2).sum()
        assert [limit.name for limit in measured.missed] == ["max-unlike"]
    paths = [save(tmp_path / name, one) for name, one in (("a.png", a), ("b.png", b))]
    assert (
        f"unlike {measured.figures['unlike']:.0f} of these"
        in clpix("compare", *paths, "--metric", "unlike").out
    )


@given(data=st.data())
def test_windows_of_rows(data) -> None:
    """Sources give any numbers of rows; each window has those that were asked for, once each row counts."""
    height = data.draw(st.integers(1, 40))
    array = np.arange(height)[:, None, None]

    def blocks() -> Any:
        first = 0
        while first < height:
            count = data.draw(st.integers(1, 9))
            yield array[first : first + count]
            first += count

    rows, above, below = (data.draw(st.integers(low, 12)) for low in (1, 0, 0))
    counted = []
    for place, (one, other) in bands([blocks(), blocks()], height, rows, above, below):
        expected = array[max(0, place.start - above) : place.stop + below]
        np.testing.assert_array_equal(one, expected)
        np.testing.assert_array_equal(other, expected)
        counted.append(one[place.counted])
    np.testing.assert_array_equal(np.concatenate(counted), array)


@pytest.fixture
def small(monkeypatch) -> None:
    """Makes every picture one that memory has no room for."""
    monkeypatch.setattr("gpuops.rows.budget.of_machine", lambda: 0)
    monkeypatch.setattr("gpuops.metrics.room._ENOUGH", 1)


def save(path: Path, picture: Picture, *, tiled: bool = False) -> Path:
    if tiled:
        import tifffile

        tifffile.imwrite(path, picture.pixels, tile=(16, 32), photometric="rgb")
    else:
        files.write(path, picture)
    return path


METRIC = [word for metric in BY_ROWS for word in ("--metric", metric)]


@pytest.mark.cases(1)
@pytest.mark.parametrize(("names", "dtype", "channels", "exposures"), [
    (("a.png", "b.png"), "uint8", 3, ("--exposures", "-1,2")),
    (("a.tif", "b.png"), "uint8", 3, ()),
    (("a.png", "b.png"), "uint16", 4, ("--exposures", "-1,2")),
    (("a.exr", "b.exr"), "float16", 4, ()),
    (("a.exr", "b.tif"), "float32", 3, ("--exposures", "-1,2")),
    (("a.png", "b.png"), "uint8", 2, ()),
])  # fmt: skip
def test_the_command_tells_the_same(clpix, tmp_path, rng, request, names, dtype, channels, exposures) -> None:
    """Figures, words, the verdict and the difference picture, of tiled files and of others."""
    pair = two(rng, (200, 181, channels), dtype)
    paths = [
        save(tmp_path / name, picture, tiled=name == "a.tif")
        for name, picture in zip(names, pair, strict=True)
    ]
    mask = save(tmp_path / "mask.png", Picture((rng.random((200, 181, 1)) < 0.9).astype(np.uint8)))
    files.write(f"{paths[0]}.variance.exr", known(pair[0]))
    options = (*METRIC, *exposures, "--mask", mask, "--ignore", "5,5,20,50", "--fail", "0.01")
    runs = []
    for way in ("whole", "rows"):
        if way == "rows":
            request.getfixturevalue("small")
        target = tmp_path / f"{way}.png"
        runs.append((clpix("compare", *paths, *options, "--json"), clpix("compare", *paths, "-o", target)))
    (whole, drawn), (rows, drawn_too) = runs
    assert whole.code == rows.code == drawn.code == drawn_too.code == 1, rows.err
    assert whole.err == rows.err and drawn.err == drawn_too.err
    assert drawn.out.replace("whole", "rows") == drawn_too.out
    first, second = json.loads(whole.out), json.loads(rows.out)
    for metric in BY_ROWS:
        assert first[metric] is not None, metric
        assert second.pop(metric) == pytest.approx(first.pop(metric), rel=SUMS), metric
    assert first == second
    a, b = (files.read(tmp_path / f"{way}.png").pixels.astype(int) for way in ("whole", "rows"))
    assert np.abs(a - b).max() <= 1 and np.count_nonzero(a != b) <= 1e-3 * a.size and a.any()


@pytest.mark.usefixtures("small")
def test_equal_and_damaged_files(clpix, tmp_path, rng) -> None:
    a, _ = two(rng, (400, 300, 3))
    path = save(tmp_path / "a.tif", a)
    run = clpix("compare", path, path)
    assert run.code == 0 and run.out.splitlines()[-1] == "equal" and "ssim  1.000000" in run.out
    png = save(tmp_path / "a.png", a)
    content = png.read_bytes()
    png.write_bytes(content[: len(content) // 2])
    run = clpix("compare", path, png, "-o", tmp_path / "d.png")
    assert (run.code, run.out) == (2, "") and "a.png" in run.err and run.err.count("\n") == 1
    assert not (tmp_path / "d.png").exists()


def test_limits_that_are_too_low_say_what_is_needed(clpix, tmp_path, monkeypatch, rng) -> None:
    a, b = two(rng, (600, 500, 3))
    paths = [save(tmp_path / name, one) for name, one in (("a.tif", a), ("b.tif", b))]
    for options, words in (
        (("--memory", "2M"), "MB of memory, and 2.097 MB are allowed: raise --memory to "),
        (("--memory", "2M", "-o", tmp_path / "d.jpg"), "JPEG is written as a whole"),
        (("--device-memory", "64K"), "of the device's memory"),
        (("--device-memory", "2M", "--metric", "flip"), "of the device's memory"),
    ):
        run = clpix("compare", *paths, *options)
        assert (run.code, run.out) == (2, "") and words in run.err and run.err.count("\n") == 1, run.err
    assert not (tmp_path / "d.jpg").exists()
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 1 << 14)
    told = (clpix("compare", *paths, *mask, "--memory", "9K").err for mask in ((), ("--mask", paths[0])))
    alone, masked = (int(text.split("raise --memory to ")[1].rstrip("K\n")) for text in told)
    assert alone < masked


@pytest.mark.cases(1)
@each(metric=["ms-ssim", "ssimulacra2", "flip", "hdr-flip"])
def test_the_least_that_is_accepted_is_enough(clpix, tmp_path, rng, metric) -> None:
    """What the line says that rows take on the device is enough for them, of gray and of colours with alpha."""
    for channels in (1, 4):
        pair = two(rng, (900, 200, channels), "float32")
        paths = [save(tmp_path / f"{channels}-{k}.exr", one) for k, one in enumerate(pair)]
        options = ("--metric", metric, "--memory", "30M", "--json")
        run = clpix("compare", *paths, *options, "--device-memory", "100K")
        found = re.search(r"need ([\d.]+) ([kM])B of the device's memory", run.err)
        assert run.code == 2 and found is not None, run.err
        enough = round(float(found[1]) * {"k": 1e3, "M": 1e6}[found[2]])
        run = clpix("compare", *paths, *options, "--device-memory", enough)
        assert run.code == 1 and not run.err, run.err
        whole = json.loads(clpix("compare", *paths, "--metric", metric, "--json").out)
        assert json.loads(run.out)[metric] == pytest.approx(whole[metric], rel=SUMS)
