"""The report's pages, without a browser: which part of pictures they hold, their size, what they never contain."""

import base64
import hashlib
import io
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gpuops import files
from gpuops.errors import FileError, ParameterError
from gpuops.regress.html import Settings, attachments, fragments, graphics, write_folder, write_page
from gpuops.regress.html.pairs import View, view
from gpuops.regress.outcome import Limit, Outcome, Run
from gpuops.regress.services import to_junit

from .reference.suite import BLOCK, HEIGHT, MARKUP, WIDTH, Suite, ramp, small

Picture = files.Picture


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Run, str]:
    """The small suite and its page."""
    folder = tmp_path_factory.mktemp("suite")
    suite, run = small(folder)
    written = write_page(folder / "report.html", run, Settings(title="a <title>"))
    text = (folder / "report.html").read_text()
    assert written == [(str(folder / "report.html"), len(text.encode()))]
    return suite, run, text


# All that the pages are made of; nothing among it loads or runs anything, but script and img.
TAGS = set(
    re.findall(
        r"\w+",
        "bdi body button canvas details dialog div figcaption figure form g h1 h2 h3 head header html image img input "
        "kbd label li main meta noscript ol option output p path pre rect script section select span style summary svg "
        "table td template text th title tr ul",
    )
)


def noisy(height: int, width: int, seed: int = 1) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def test_the_palette_is_of_256_colours_that_become_brighter() -> None:
    colours = graphics.palette().astype(float)
    luma = colours @ (0.30, 0.59, 0.11)  # the weights by which cubehelix keeps its brightness
    assert len(np.unique(colours, axis=0)) == 256
    assert np.all(np.diff(luma) > 0) and luma[0] == 0 and luma[-1] == pytest.approx(255)
    assert np.abs(luma - np.arange(256)).max() < 8


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_the_map_is_the_largest_difference_of_a_channel(dtype, rng) -> None:
    top = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    a, b = ((rng.random((7, 5, 4)) * top).astype(dtype) for _ in range(2))
    found = graphics.largest_difference(Picture(a, alpha=True), Picture(b, alpha=True))
    expected = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(axis=2) / top
    assert found.shape == (7, 5) and found.dtype == np.float32 and found == pytest.approx(expected, abs=1e-6)
    c = np.array([[np.nan, np.inf, np.inf, np.nan, 5, -np.inf]], np.float32)[..., None]
    d = np.array([[np.nan, np.inf, -np.inf, 1, 1, 0]], np.float32)[..., None]
    assert graphics.largest_difference(Picture(c), Picture(d)).tolist() == [[0, 0, 1, 1, 1, 1]]


def test_the_map_of_pictures_of_different_kinds() -> None:
    gray, rgb = np.full((2, 3, 1), 51, np.uint8), np.full((2, 3, 3), 51, np.uint8)
    assert not graphics.largest_difference(Picture(gray), Picture(rgb)).any()
    rgba = np.dstack([rgb, np.full((2, 3), 204, np.uint8)])
    assert graphics.largest_difference(Picture(rgb), Picture(rgba, alpha=True)) == pytest.approx(0.2)
    # 0.2 as a signal of sRGB is light of ((0.2 + 0.055) / 1.055) ** 2.4.
    light = np.full((2, 3, 3), ((0.2 + 0.055) / 1.055) ** 2.4, np.float32)
    assert graphics.largest_difference(Picture(rgb), Picture(light, linear=True)).max() < 1e-6


def test_the_histogram_counts_every_pixel_that_differs(rng) -> None:
    found = rng.random((50, 60)).astype(np.float32)
    found[found < 0.3] = 0
    counts = graphics.histogram(found, float(found.max()))
    assert len(counts) == 64 and sum(counts) == np.count_nonzero(found)
    assert sum(counts[:10]) == 0 and min(counts[20:]) > 0
    levels = np.array([[0, 1, 1, 5]], np.float32) / 255
    assert graphics.histogram(levels, float(levels.max())) == [2, 0, 0, 0, 1]


def test_the_mark_stands_where_the_threshold_is() -> None:
    for mark, place in ((0.2, "M204.8 0V"), (0.9, "M512.0 0V")):
        svg = graphics.drawing([1, 2], 0.5, mark, "x")
        assert f'd="{place}' in svg and ("beyond" in svg) == (mark > 0.5)
    assert "mark" not in "".join(graphics.drawing([1, 2], 0.5, m, "x") for m in (None, float("inf")))


def test_pngs_hold_every_level(tmp_path, rng) -> None:
    for dtype, channels in ((np.uint8, 1), (np.uint8, 3), (np.uint16, 2), (np.uint16, 4)):
        pixels = rng.integers(0, np.iinfo(dtype).max, (11, 7, channels), dtype, endpoint=True)
        (tmp_path / "x.png").write_bytes(graphics.png(pixels))
        assert np.array_equal(files.read(tmp_path / "x.png").pixels, pixels)


def test_a_palette_png_is_seen_in_colours() -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    image = Image.open(io.BytesIO(graphics.png(levels, graphics.palette())))
    assert image.mode == "P"
    assert np.array_equal(np.asarray(image.convert("RGB")).reshape(-1, 3), graphics.palette())


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_floats_come_back_bit_by_bit(dtype, rng) -> None:
    bits = rng.integers(0, 256, (5, 7, 3 * np.dtype(dtype).itemsize), np.uint8)
    pixels = bits.view(dtype)
    size = pixels.dtype.itemsize
    planes = np.frombuffer(zlib.decompress(graphics.floats(pixels)), np.uint8).reshape(size, 5, 7, 3)
    undone = np.cumsum(planes, axis=2, dtype=np.uint8)  # along the row
    assert np.array_equal(undone[::-1].transpose(1, 2, 3, 0).reshape(5, 7, -1), bits)


def test_what_a_screen_shows_of_light() -> None:
    light = np.array([[0, 0.001, 0.5, 1, 7, -1, np.nan, np.inf]], np.float32)[..., None]
    shown = graphics.visible(Picture(light, linear=True))[0]
    expected = [0, 12.92 * 0.001 * 255, (1.055 * 0.5 ** (1 / 2.4) - 0.055) * 255, 255, 255, 0]
    assert shown[:6, 0] == pytest.approx(expected, abs=0.51)
    assert shown[6].tolist() == [255, 0, 255] and shown[7, 0] == 255


def test_a_part_lies_around_the_worst_tile_and_has_few_bytes(tmp_path) -> None:
    reference = noisy(700, 900)
    result = reference.copy()
    result[600:640, 100:160] ^= 64
    outcome = Suite(tmp_path, {}).outcome("noise.png", reference, result)
    seen = view(outcome, Settings(), 150_000)
    side = seen.sides["result"]
    total = sum(len(found.data) for found in seen.sides.values()) + len(seen.heat)
    assert 0.4 * 150_000 < total <= 150_000 and side.x <= 100 and side.x + side.part.width >= 160
    assert side.y <= 600 and side.y + side.part.height >= 640
    expected = result[side.y : side.y + side.part.height, side.x : side.x + side.part.width]
    assert np.array_equal(side.part.pixels, expected)
    assert f"{side.part.width} × {side.part.height} of 900 × 700 pixels" in seen.remarks[0]
    assert sum(seen.counts) == 40 * 60 and seen.top == pytest.approx(64 / 255)
    assert seen.mark == 0.01 and seen.whole and seen.thumbnail


@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (3, 90_000)])
def test_parts_of_pictures_of_odd_shapes(shape, tmp_path) -> None:
    reference = noisy(*shape)
    seen = view(Suite(tmp_path, {}).outcome("x.png", reference, reference ^ 1), Settings(), 8_000)
    part = seen.sides["result"].part
    assert 1 <= part.width * part.height <= max(4096, min(shape) * 64)


def test_pictures_of_two_sizes_have_no_map(tmp_path) -> None:
    suite = Suite(tmp_path, {})
    outcome = Outcome(
        "x.png", "error", suite.write("a.png", noisy(20, 30)), suite.write("b.png", noisy(20, 31))
    )
    seen = view(outcome, Settings(), 1e6)
    assert not seen.heat and not seen.counts and "different sizes" in seen.remarks[0]
    assert {side.part.width for side in seen.sides.values()} == {30, 31}


def test_the_map_of_the_caller(tmp_path) -> None:
    reference = noisy(20, 30)
    given: list[Any] = []

    def measure(result: Any, other: Any) -> Any:
        given.extend((result, other))
        found = np.zeros((20, 30), np.float32)
        found[4, 5], found[6, 7], found[8, 9] = 0.5, np.nan, -3
        return found

    settings = Settings(heat=measure, heat_name="FLIP", heat_threshold="flip")
    outcome = replace(
        Suite(tmp_path, {}).outcome("x.png", reference, reference ^ 1), thresholds={"flip": 0.2}
    )
    seen = view(outcome, settings, 1e6)
    assert np.array_equal(given[0].pixels, reference ^ 1) and np.array_equal(given[1].pixels, reference)
    levels = np.asarray(Image.open(io.BytesIO(seen.heat)))
    assert seen.top == 1 and seen.mark == 0.2 and sum(seen.counts) == 2
    assert (levels[4, 5], levels[6, 7], levels[8, 9], levels.sum()) == (128, 255, 0, 383)

    def refuse(result: Any, other: Any) -> Any:
        raise ParameterError("too small for it")

    seen = view(outcome, Settings(heat=refuse, heat_name="FLIP"), 1e6)
    assert "There is no map of FLIP: too small for it" in seen.remarks and not seen.heat


def test_figures_stand_beside_their_limits() -> None:
    """A limit is named as its option is, and a figure shorter; what is no figure has a row of its own."""
    outcome = Outcome(
        "x.png",
        "failed",
        figures={"flip": 0.5, "max": 0.25},
        thresholds={"max-flip": 0.125, "min-ssim": 0.75},
        missed=(Limit("max-flip", 0.5, 0.125),),
        warned=(Limit("warnpercent", 3, 2),),
    )
    table = re.search(r"<table>(.*?)</table>", fragments.facts(outcome, View(), Settings()))
    assert table is not None
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in table[1].split("</tr>")]
    assert rows == [
        ["figure", "value", "limit"],
        ["flip", "0.5", "0.125", "✕", "failed"],
        ["max", "0.25"],
        ["min-ssim", "not", "measured", "0.75"],
        ["warnpercent", "3", "2", "▲", "warned"],
        [],
    ]


class _Tags(HTMLParser):
    """The tags and attributes of a page as a browser that runs no script sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def test_the_policy_allows_the_page_s_own_style_and_script_only(made) -> None:
    text = made[2]
    policy = next(tag["content"] for _, tag in _Tags(text).found if "http-equiv" in tag)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"
    for name, kind in (("style", "style-src"), ("script", "script-src")):
        contents = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert len(contents) == 1
        digest = base64.b64encode(hashlib.sha256(contents[0].encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'"


def test_nothing_in_the_page_asks_for_anything_else(made) -> None:
    tags = _Tags(made[2]).found
    assert {tag for tag, _ in tags} <= TAGS
    for tag, attributes in tags:
        assert not any(name.startswith("on") for name in attributes), tag
        assert "style" not in attributes
        for name in ("src", "href"):
            assert attributes.get(name, "data:").startswith("data:")


def test_names_stay_names(made) -> None:
    text = made[2]
    assert MARKUP not in text and "<title>a &lt;title&gt;</title>" in text and "PoCL &lt;cpu&gt;" in text
    assert text.count("</noscript>") == len(made[1].outcomes)
    index = json.loads(text.split('id="index">')[1].split("</script>")[0])
    assert index["cases"][0][0] == MARKUP
    assert "no &lt;b&gt;memory&lt;/b&gt;\\x07</pre>" in text and "\x1b" not in text


def test_the_page_is_readable_text(made) -> None:
    case = next(part for part in made[2].split("<noscript>") if "<bdi>depth/8.png" in part)
    figures = re.findall(r'<img data-of="(\w+)".*?alt="([^"]+)"', case)
    assert [which for which, _ in figures] == ["reference", "result", "heat"]
    assert all("max 0.25" in alt and "psnr 31.25" in alt for _, alt in figures)
    assert "render depth/8.png" in case and "Histogram" in case and "threshold 0.01" in case
    gone = next(part for part in made[2].split("<noscript>") if "<bdi>gone.png" in part)
    assert "The result cannot be shown: /nowhere/gone.png: no such file" in gone


def test_the_worst_come_first(made) -> None:
    statuses = re.findall(r'<summary><span class="status (\w+)"', made[2])
    assert list(dict.fromkeys(statuses)) == [
        "error", "missing", "new", "failed", "warned", "renamed", "skipped", "passed", "equal",
    ]  # fmt: skip


def test_a_large_report_is_cut_into_pages(made, tmp_path) -> None:
    run = made[1]
    cap = 90_000
    written = write_page(tmp_path / "a b#.html", run, Settings(cap=cap))
    names = [Path(path).name for path, _ in written]
    assert names[:2] == ["a b#.html", "a b#-2.html"] and len(names) >= 2
    assert all(
        size == (tmp_path / name).stat().st_size <= cap
        for name, (_, size) in zip(names, written, strict=True)
    )
    pages = [(tmp_path / name).read_text() for name in names]
    assert sum(page.count("<noscript><details") for page in pages) == len(run.outcomes)
    assert 'href="a%20b%23-2.html"' in pages[0] and 'href="a%20b%23.html"' in pages[1]
    assert f"Page 1 of {len(names)} of {len(run.outcomes)} cases" in pages[0]
    with pytest.raises(FileError, match="exists already"):
        write_page(tmp_path / "a b#.html", run, Settings(cap=cap))


@pytest.mark.exhaustive
def test_twenty_failures_at_1080p_have_fewer_than_15_mb(tmp_path) -> None:
    """The most that pictures can need: noise, which does not pack. One pair stands for all twenty."""
    reference = noisy(1080, 1920)
    result = reference.copy()
    result[300:600, 500:900] ^= 31
    outcome = Suite(tmp_path, {}).outcome("noise.png", reference, result)
    outcomes = [replace(outcome, name=f"noise-{k:02}.png") for k in range(20)]
    run = Run(outcomes + [Outcome(f"equal-{k:03}.png", "equal") for k in range(180)])
    ((_, size),) = write_page(tmp_path / "report.html", run)
    assert 8_000_000 < size <= 15_000_000


def test_an_empty_run_and_a_page_that_cannot_be_written(tmp_path) -> None:
    write_page(tmp_path / "report.html", Run([]))
    assert "no cases" in (tmp_path / "report.html").read_text()
    with pytest.raises(FileError, match="does not exist"):
        write_page(tmp_path / "no" / "report.html", Run([]))


def test_the_folder_obeys_jenkins_policy(made, tmp_path) -> None:
    suite, run, _ = made
    place = tmp_path / "report"
    written = write_folder(place, run)
    assert Path(written[0].path) == place / "index.html"  # the file to open is told first
    assert sorted(Path(path) for path, _ in written) == sorted(
        path for path in place.rglob("*") if path.is_file()
    )
    pages = sorted(place.glob("*.html"))
    assert [page.name for page in pages] == ["cases-1.html", "index.html", "others-1.html"]
    targets = set()
    for page in pages:
        for tag, attributes in _Tags(page.read_text()).found:
            assert tag not in ("script", "style", "template", "noscript")
            assert "style" not in attributes and not any(name.startswith("on") for name in attributes)
            for name in ("src", "href"):
                address = attributes.get(name, "")
                assert ":" not in address
                if address:
                    targets.add(address.partition("#")[0])
                if "#" in address:
                    anchor = address.partition("#")[2]
                    assert f'id="{anchor}"' in (place / address.partition("#")[0]).read_text()
    assert all((place / target).is_file() for target in targets)
    assert targets >= {path.relative_to(place).as_posix() for path in (place / "pictures").iterdir()}
    section = next(
        part for part in (place / "cases-1.html").read_text().split("<section") if "<bdi>depth/16.png" in part
    )
    source = re.findall(r'data-of="result" src="([^"]+)"', section)[0]
    assert np.array_equal(files.read(place / source).pixels, suite.pictures["depth/16.png"][1])


def test_attachments_are_the_folder_s_pictures(made, tmp_path) -> None:
    suite, run, _ = made
    write_folder(tmp_path, run)
    of = attachments(tmp_path, run)
    outcome = next(outcome for outcome in run.outcomes if outcome.name == "depth/16.png")
    result, reference, _map = of(outcome)
    for path, pixels in zip((reference, result), suite.pictures["depth/16.png"], strict=True):
        assert np.array_equal(files.read(path).pixels, pixels)
    assert f"[[ATTACHMENT|{result}]]" in to_junit(run, attachments=of)
    assert of(Outcome("equal/000.png", "equal")) == []


def test_a_folder_is_replaced_and_other_files_stay(made, tmp_path) -> None:
    run, place = made[1], tmp_path / "report"
    write_folder(place, run)
    with pytest.raises(FileError, match="exists already"):
        write_folder(place, run)
    (place / "mine.png").write_bytes(b"x")
    (place / "pictures" / "case.png").write_bytes(b"x")
    written = write_folder(place, Run([]), overwrite=True)
    kept = {path for path in place.rglob("*") if path.is_file()}
    assert kept == {Path(path) for path, _ in written} | {place / "mine.png", place / "pictures" / "case.png"}


def test_the_map_in_the_page_is_where_pictures_differ(made) -> None:
    case = next(part for part in made[2].split("<noscript>") if "<bdi>depth/8.png" in part)
    data = re.findall(r'data-of="heat" src="data:image/png;base64,([^"]+)"', case)[0]
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
    expected = np.zeros((HEIGHT, WIDTH), bool)
    expected[BLOCK] = True
    assert np.array_equal(levels > 0, expected) and ramp(3).shape[:2] == levels.shape
