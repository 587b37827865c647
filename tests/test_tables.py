"""Tables of what is measured: read by other programs' parsers, beside what numpy says of the pages."""

import csv
import json
import math

import numpy as np
import pytest
import tifffile

from gpuops import files
from gpuops.files import Picture


def rows_of(path) -> list[dict[str, str]]:  # type: ignore[no-untyped-def]
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def stack(tmp_path, rng) -> list[np.ndarray]:  # type: ignore[no-untyped-def]
    """Pages of one scene, each of which has drifted by whole pixels; page 0 has not."""
    scene = rng.integers(0, 60_000, (48, 64)).astype(np.uint16)
    pages = [np.roll(scene, (dy, dx), (0, 1)) for dx, dy in ((0, 0), (3, -2), (-5, 4))]
    tifffile.imwrite(tmp_path / "stack.tif", np.stack(pages), imagej=True)
    tifffile.imwrite(tmp_path / "first.tif", pages[0])
    return pages


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_drift_of_pages(clpix, tmp_path, stack, kind) -> None:
    table = tmp_path / f"drift.{kind}"
    words = ("register", tmp_path / "stack.tif", "--reference", tmp_path / "first.tif", "--window", "none")
    run = clpix(*words, "--frames", "all", "-o", tmp_path / "still.tif", "--table", table)
    assert run.code == 0, run.err
    read = rows_of(table) if kind == "csv" else [json.loads(line) for line in table.read_text().splitlines()]
    assert [row["input"] for row in read] == [str(tmp_path / "stack.tif")] * len(stack)
    assert [int(row["page"]) for row in read] == [0, 1, 2]
    assert [(float(row["shift_x"]), float(row["shift_y"])) for row in read] == [(0, 0), (-3, 2), (5, -4)]


def test_figures_of_pages(clpix, tmp_path, stack) -> None:
    table = tmp_path / "stack.csv"
    run = clpix("info", tmp_path / "stack.tif", "--frames", "1:", "--stats", "--table", table)
    assert run.code == 0, run.err
    read = rows_of(table)
    assert [(int(row["page"]), row["channel"]) for row in read] == [(1, "Y"), (2, "Y")]
    for row, page in zip(read, stack[1:], strict=True):
        assert int(row["count"]) == page.size and row["values"] == "stored"
        assert math.isclose(float(row["mean"]), page.mean(), rel_tol=1e-6)
        assert (float(row["minimum"]), float(row["maximum"])) == (page.min(), page.max())


def test_inputs_and_what_is_not_defined(clpix, tmp_path) -> None:
    files.write(tmp_path / "a, b.exr", Picture(np.full((4, 4, 3), 0.5, np.float32), linear=True))
    files.write(tmp_path / "nan.exr", Picture(np.full((4, 4, 3), np.nan, np.float32), linear=True))
    both = tmp_path / "a, b.exr", tmp_path / "nan.exr"
    assert clpix("info", *both, "--stats", "--table", tmp_path / "t.csv").code == 0
    read = rows_of(tmp_path / "t.csv")
    assert [row["input"] for row in read] == [str(both[0])] * 4 + [str(both[1])] * 4
    assert {row["page"] for row in read} == {""} and read[5]["mean"] == "" and float(read[1]["mean"]) == 0.5
    assert clpix("info", *both, "--stats", "--table", tmp_path / "t.jsonl").code == 0
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert [json.loads(line)["mean"] for line in lines[4:]] == [None] * 4


def test_exposures_and_failures(clpix, tmp_path, rng) -> None:
    """Each row is of the input that it names, whatever the others do; the exit code says that one has failed."""
    for name, scale in (("a", 1.0), ("b", 4.0)):
        light = np.full((8, 8, 3), 0.18 * scale, np.float32)
        files.write(tmp_path / f"{name}.exr", Picture(light, linear=True))
    (tmp_path / "c.exr").write_bytes(b"\x76\x2f\x31\x01")
    inputs = [tmp_path / f"{name}.exr" for name in "acb"]
    words = ("tonemap", *inputs, "--exposure", "auto", "-o", f"{tmp_path}/{{stem}}.png")
    run = clpix(*words, "--table", tmp_path / "t.csv")
    assert run.code == 1
    read = rows_of(tmp_path / "t.csv")
    assert [row["input"] for row in read] == [str(inputs[0]), str(inputs[2])]
    assert math.isclose(float(read[0]["exposure"]) - float(read[1]["exposure"]), 2, abs_tol=1e-4)


def test_frames_of_videos(clpix, tmp_path) -> None:
    pytest.importorskip("av", reason="needs the extra video")
    for number in range(3):
        light = np.full((32, 32, 3), 40 * (number + 1), np.uint8)
        files.write(tmp_path / f"{number}.png", Picture(light))
    names = [tmp_path / f"{number}.png" for number in range(3)]
    import imageio.v3 as iio

    iio.imwrite(
        tmp_path / "a.mkv", [files.read(name).pixels for name in names], plugin="pyav", codec="libx264", fps=5
    )
    words = ("tonemap", tmp_path / "a.mkv", "--exposure", "auto", "-o", tmp_path / "b.mp4")
    run = clpix(*words, "--table", tmp_path / "t.csv")
    assert run.code == 0, run.err
    read = rows_of(tmp_path / "t.csv")
    assert [(row["input"], row["page"]) for row in read] == [
        (str(tmp_path / "a.mkv"), str(k)) for k in range(3)
    ]
    exposures = [float(row["exposure"]) for row in read]
    assert exposures[0] > exposures[1] > exposures[2]


def test_figures_of_two_steps_of_a_kind(clpix, tmp_path, stack) -> None:
    first, again = tmp_path / "first.tif", ("--reference", tmp_path / "first.tif", "--window", "none")
    words = (
        "register",
        tmp_path / "stack.tif",
        *again,
        "then",
        "crop",
        "--region",
        "0,0,64,48",
        "then",
        "register",
    )
    run = clpix(
        *words, *again, "--frames", "1:2", "-o", tmp_path / "{frame}.tif", "--table", tmp_path / "t.csv"
    )
    assert run.code == 0 and first.exists(), run.err
    (row,) = rows_of(tmp_path / "t.csv")
    assert (float(row["shift_x"]), float(row["shift_y"])) == (-3, 2)
    assert abs(float(row["shift_2_x"])) <= 1 and abs(float(row["shift_2_y"])) <= 1


def test_an_input_without_frames_fails_and_the_others_are_there(clpix, tmp_path, stack) -> None:
    (tmp_path / "b.tif").write_bytes(b"II*\0")
    words = ("info", tmp_path / "b.tif", tmp_path / "stack.tif", "--frames", "all", "--stats")
    run = clpix(*words, "--table", tmp_path / "t.csv")
    assert run.code == 1 and run.err.count("b.tif") == 1
    assert [row["page"] for row in rows_of(tmp_path / "t.csv")] == ["0", "1", "2"]


@pytest.mark.parametrize(("words", "said"), [
    (("tonemap", "a.png", "-o", "b.png", "--table", "t.csv", "--explain"), "--explain does nothing: leave out --table"),
    (("tonemap", "a.png", "-o", "b.png", "--table", "t.txt"), "a table is written as .csv or .jsonl"),
    (("tonemap", "a.png", "-o", "b.png", "--table", "b.csv/c.csv"), "the folder b.csv does not exist"),
    (("tonemap", "a.png", "-o", "b.png", "--table", "a.png"), ""),
    (("info", "a.png", "--table", "t.csv"), "without --stats nothing is measured: leave out --table"),
    (("tonemap", "a.png", "-o", "b.png", "--table", "there.csv"), "exists already"),
])  # fmt: skip
def test_refused(clpix, tmp_path, monkeypatch, words, said) -> None:
    monkeypatch.chdir(tmp_path)
    files.write("a.png", Picture(np.full((4, 4, 3), 99, np.uint8)))
    (tmp_path / "there.csv").write_text("kept")
    before = (tmp_path / "a.png").read_bytes()
    run = clpix(*words)
    assert run.code in (1, 2) and said in run.err and run.err.count("\n") == 1, run.err
    assert not (tmp_path / "b.png").exists() and (tmp_path / "a.png").read_bytes() == before
    assert (tmp_path / "there.csv").read_text() == "kept"
