"""dwt and idwt of files that memory has no room for: the same numbers, in the memory that messages name."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Picture

WAYS = [
    "--levels 3 --wavelet bior4.4", "--levels 2 --wavelet db4 --mode periodization",
    "--levels 2 --wavelet dd13/7 --mode periodic", "--levels 1 --wavelet haar --mode zero",
    "--levels 3 --integer --wavelet bior2.2", "--levels 0",
]  # fmt: skip


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits for small pictures: codecs and staging memory take little."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)
    monkeypatch.setattr("gpuops.batch.coefficients._LEAST", 1 << 12)


def least(err: str) -> int:
    """The bytes that a message names."""
    number, unit = re.search(r"raise --memory to (\d+)([KM])", err).groups()  # type: ignore[union-attr]
    return int(number) << {"K": 10, "M": 20}[unit]


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ["a.tif", "b.exr", "c.png"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("small")
def test_rows_are_the_whole(clpix, rng, tmp_path, monkeypatch, way, name) -> None:
    if "--integer" in way and name == "b.exr":
        pytest.skip("integers are of integers")
    monkeypatch.chdir(tmp_path)
    shape, dtype = (
        (1501, 97, 4 if name == "c.png" else 3),
        {"a.tif": "u1", "b.exr": "f4", "c.png": "u2"}[name],
    )
    values = rng.random(shape) if dtype == "f4" else rng.integers(0, 256, shape)
    files.write(name, Picture(values.astype(dtype), shape[2] == 4, dtype == "f4"))
    dwt, idwt = ["dwt", name, *way.split(), "-o"], ["idwt", "whole.npz", "-o"]
    assert clpix(*dwt, "whole.npz").code == 0 and clpix(*idwt, f"whole-{name}").code == 0
    for command, out in ((dwt, "rows.npz"), (idwt, f"rows-{name}")):
        refused = clpix(*command, out, "--memory", "1K")
        assert refused.code == 1 and len(refused.err.splitlines()) == 1 and not os.path.exists(out)
        enough = least(refused.err)
        assert clpix(*command, out, "--memory", str(int(0.8 * enough))).code == 1
        for more in ([], ["--scratch", str(tmp_path)]):
            assert clpix(*command, out, "--memory", str(enough), "--overwrite", *more).code == 0
            if out == "rows.npz":
                with np.load("whole.npz") as whole, np.load(out) as rows:
                    assert set(whole) == set(rows)
                    for key in whole:
                        np.testing.assert_array_equal(rows[key], whole[key])
            else:
                np.testing.assert_array_equal(files.read(out).pixels, files.read(f"whole-{name}").pixels)


@pytest.mark.usefixtures("small")
def test_what_needs_the_whole_picture(clpix, rng, tmp_path) -> None:
    path = tmp_path / "a.tif"
    files.write(path, Picture(rng.integers(0, 256, (600, 500, 3)).astype("u1")))
    for words in ("--threshold bayes", "--keep 5 --reconstruct", ""):
        run = clpix("dwt", path, "-o", tmp_path / "out.png", *words.split(), "--memory", "1M")
        assert run.code == 1 and "needs the whole picture" in run.err and not (tmp_path / "out.png").exists()


@pytest.mark.usefixtures("small")
def test_pixels_that_are_not_finite(clpix, tmp_path) -> None:
    values = np.ones((600, 50, 3), np.float32)
    values[500, 7, 1] = np.nan
    files.write(tmp_path / "a.exr", Picture(values, linear=True))
    run = clpix("dwt", tmp_path / "a.exr", "-o", tmp_path / "out.npz", "--memory", "1200K", "--levels", "2")
    assert run.code == 1 and "NaN or infinite" in run.err and not (tmp_path / "out.npz").exists(), run.err


# What dwt is given, what idwt is, and the picture that this writes.
COMBINATIONS = [
    ("--alpha drop --repeat 2", "--dtype uint16", "out.png"),
    ("", "--alpha drop --dtype uint16 --colour display-p3", "out.png"),
    ("", "--repeat 2 --strip", "out.tif"),
    ("--space linear", "--dtype half", "out.exr"),
    ("--space linear --alpha drop", "--quality 100 --subsampling 4:4:4", "out.jpg"),
    ("--space encoded", "--alpha drop --colour rec2020", "out.pfm"),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("dwt, idwt, out", COMBINATIONS)
@pytest.mark.parametrize("name", ["a.png", "a.exr"])
@pytest.mark.usefixtures("small")
def test_options_by_rows(clpix, rng, tmp_path, monkeypatch, dwt, idwt, out, name) -> None:
    monkeypatch.chdir(tmp_path)
    linear = name == "a.exr"
    values = rng.random((1201, 97, 4)) if linear else rng.integers(0, 65536, (1201, 97, 4))
    files.write(name, Picture(values.astype("f4" if linear else "u2"), True, linear))
    said = []
    for folder in ("whole", "rows"):
        os.mkdir(folder)
        for words in (
            ["dwt", name, *dwt.split(), "-o", f"{folder}/x.npz"],
            ["idwt", f"{folder}/x.npz", *idwt.split(), "-o", f"{folder}/{out}"],
        ):
            memory = "4G" if folder == "whole" else str(least(clpix(*words, "--memory", "1K").err))
            run = clpix(*words, "--memory", memory)
            assert run.code == 0, run.err
            said.append(run.err.replace(folder, ""))
    assert said[:2] == said[2:]
    with np.load("whole/x.npz") as whole, np.load("rows/x.npz") as rows:
        assert set(whole) == set(rows)
        for key in whole:
            np.testing.assert_array_equal(rows[key], whole[key])
    np.testing.assert_array_equal(files.read(f"rows/{out}").pixels, files.read(f"whole/{out}").pixels)
