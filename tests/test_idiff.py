"""Verdicts beside OpenImageIO's idiff: the same where that is asked for, and where it has holes, none otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Picture
from gpuops.metrics.measure import Pair, measure
from gpuops.params.comparing import Comparing
from gpuops.params.thresholds import Thresholds

PROGRAM = Path(sys.executable).parent / "idiff"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="OpenImageIO's wheel has no idiff here")


def light(change: str) -> tuple[Picture, Picture]:
    rng = np.random.default_rng(5)
    a = rng.random((9, 12, 3)).astype(np.float32)
    b = a.copy()
    if change == "noise":
        b += rng.normal(0, 0.01, a.shape).astype(np.float32)
    elif change == "spot":
        b[2, 3] += np.float32(0.3)
    elif change == "dark":
        a[4:6] *= np.float32(0.001)
        b[4:6] = a[4:6] * np.float32(1.5)
    elif change:
        b[2, 3, 1] = float(change)
        if change == "inf":
            a[5, 5, 0], b[5, 5, 0] = np.inf, -np.inf
    return Picture(a, linear=True), Picture(b, linear=True)


CHANGES = ("", "noise", "spot", "dark", "nan", "inf")
TABLES: tuple[dict[str, float], ...] = (
    {}, {"fail": 0.02}, {"fail": 0.02, "failpercent": 20}, {"fail": 0.4, "hardfail": 0.1},
    {"fail": 0.02, "hardfail": 0.1, "failpercent": 50, "warn": 0.001}, {"fail": 0.0001, "failrelative": 0.1},
    {"fail": 0.02, "allowfailures": 12, "warn": 0.001, "warnpercent": 1},
    {"fail": 0.001, "failpercent": 99, "warn": 0.01, "hardwarn": 0.02},
)  # fmt: skip


def idiff(folder: Path, pictures: tuple[Picture, Picture], table: dict[str, float]) -> int:
    paths = [folder / f"{k}.exr" for k in range(2)]
    for path, picture in zip(paths, pictures, strict=True):
        files.write(path, picture, overwrite=True)
    options = [word for name, value in table.items() for word in (f"-{name}", f"{value:g}")]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH",)}
    return subprocess.run(
        [str(PROGRAM), *options, *map(str, paths)], capture_output=True, env=environment
    ).returncode


@pytest.mark.parametrize("change", CHANGES)
def test_compatible_verdicts(gpu, tmp_path, change) -> None:
    pictures = light(change)
    for number, table in enumerate(TABLES):
        folder = tmp_path / str(number)
        folder.mkdir()
        both = Pair.of(gpu, pictures[1], pictures[0], Comparing(metrics=("max",), idiff=True))
        measured = measure(both, Thresholds.of(table))
        verdict = 2 if measured.missed else 1 if measured.warned else 0
        assert verdict == idiff(folder, pictures, table), table


def test_holes_that_are_closed(gpu, tmp_path) -> None:
    """Of all but the last idiff says OK, as no value is above `fail`."""
    pictures = light("spot")
    for table, status in (
        ({"fail": 0.4, "hardfail": 0.1}, "failed"),
        ({"fail": 0.4, "warn": 0.01}, "warned"),
        ({"fail": 0.4, "hardwarn": 0.1}, "warned"),
        ({"fail": 0.4}, "passed"),
    ):
        assert idiff(tmp_path, pictures, table) == 0
        both = Pair.of(gpu, pictures[1], pictures[0], Comparing(metrics=("max",)))
        measured = measure(both, Thresholds.of(table))
        assert ("failed" if measured.missed else "warned" if measured.warned else "passed") == status
