"""Devices beside each other: every operation's cases on all OpenCL devices here, and what tells them apart."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.chain import Chain
from gpuops.files import Picture
from gpuops.params.thresholds import Thresholds
from gpuops.regress.agreement import LEVEL, agreement, table

from .conftest import run_python
from .operation_cases import CASES
from .tolerance import ACROSS_DEVICES

# Runs the cases of all operations on a device, and writes what they make as OpenEXR.
_PROGRAM = """
import pickle
import sys
import numpy as np
from gpuops import Gpu, files

light = np.random.default_rng(8).gamma(0.7, 0.4, (3, 29, 37)).astype(np.float32)
with Gpu(sys.argv[1]) as gpu:
    with open(sys.argv[3], "rb") as file:
        chains = pickle.load(file)
    for name, chain in chains.items():
        made = gpu.run(chain, gpu.array(light)).numpy()
        picture = files.Picture(np.ascontiguousarray(np.moveaxis(made, 0, -1)), linear=True)
        files.write(f"{sys.argv[2]}/{name}.exr", picture)
"""


def devices(environment: dict[str, str]) -> dict[str, str]:
    """The usable devices, by the index that names them."""
    text = run_python("-m", "clpix", "devices", "--json", env=environment, check=True).stdout
    return {
        str(one["index"]): f"{one['name']} ({one['platform']})"
        for one in json.loads(text)["devices"]
        if one["usable"]
    }


@pytest.mark.exhaustive
def test_every_operation_gives_the_same_on_every_device(gpu, tmp_path) -> None:
    pytest.importorskip("PyOpenColorIO", reason="needs the extra ocio")
    environment = {**os.environ, "RUSTICL_ENABLE": "llvmpipe"}
    environment.pop("CLPIX_DEVICE", None)
    found = devices(environment)
    if len(found) < 2:
        pytest.skip("there is one device here")
    running = {}
    chains = {f"{name}-{k}": Chain(params) for name, cases in CASES.items() for k, params in enumerate(cases)}
    (tmp_path / "chains").write_bytes(pickle.dumps(chains))
    for index, name in found.items():
        folder = tmp_path / index
        folder.mkdir()
        command = [sys.executable, "-c", _PROGRAM, index, str(folder), str(tmp_path / "chains")]
        running[name] = folder, subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    for name, (_, process) in running.items():
        _, said = process.communicate()
        assert process.returncode == 0, f"{name}: {said}"
    folders = {name: folder for name, (folder, _) in running.items()}
    pictures = sorted({path.name for folder in folders.values() for path in folder.iterdir()})
    assert len(pictures) > 40
    apart = []
    for picture in pictures:
        limit = ACROSS_DEVICES.get(picture.removesuffix(".exr"), LEVEL)
        made = {name: str(folder / picture) for name, folder in folders.items()}
        one = agreement(gpu, picture, made, Thresholds(hardfail=limit))
        if not one.good:
            apart += [f"{picture}: {max(one.largest.values()):.2g}", *table([one], list(folders))]
    assert not apart, "\n".join(apart)


def save(path: Path, pixels: np.ndarray) -> str:
    files.write(path, Picture(pixels))
    return str(path)


def test_clusters_and_the_first_difference(gpu, tmp_path, rng) -> None:
    pixels = rng.integers(0, 60_000, (130, 200, 3)).astype(np.uint16)
    near, far = pixels + np.uint16(1), pixels.copy()
    far[70, 150] += np.uint16(900)
    far[100, 3] += np.uint16(5000)
    made = {
        "a": save(tmp_path / "a.png", pixels),
        "b": save(tmp_path / "b.png", far),
        "c": save(tmp_path / "c.png", near),
    }
    found = agreement(gpu, "x.png", made)
    assert found.clusters == (("a", "c"), ("b",)) and not found.good
    assert found.largest["a", "c"] == pytest.approx(1 / 65535, rel=1e-6)
    assert found.largest["a", "b"] == pytest.approx(5000 / 65535, rel=1e-6)
    first = found.first["a", "b"]
    assert (first.x, first.y, first.tile) == (150, 70, (2, 1))
    assert first.values == (tuple(pixels[70, 150]), tuple(far[70, 150]))
    lines = table([found], ["a", "b", "c"])
    assert "x.png: a, c | b" in lines
    assert any("a and b differ first in tile 2,1, pixel 150,70" in line for line in lines)
    assert agreement(gpu, "x.png", made, Thresholds(hardfail=0.1)).clusters == (("a", "b", "c"),)


def test_what_could_not_be_made_or_compared(gpu, tmp_path) -> None:
    made = {
        "a": save(tmp_path / "a.png", np.zeros((4, 5, 3), np.uint8)),
        "b": save(tmp_path / "b.png", np.zeros((4, 6, 3), np.uint8)),
        "c": str(tmp_path / "none.png"),
    }
    found = agreement(gpu, "x.png", made, errors={"d": "it failed"})
    assert found.clusters == (("a",), ("b",)) and found.largest["a", "b"] == np.inf
    assert set(found.errors) == {"b", "c", "d"}
    assert not agreement(gpu, "x.png", {"a": made["a"]}, errors={"d": "it failed"}).good
