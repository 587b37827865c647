"""Runs some 800 command lines and keeps all that they write, to compare one version of the program with another.

    python docs/benchmarks/corpus.py run FOLDER             # with the program that Python imports
    python docs/benchmarks/corpus.py compare BEFORE AFTER   # names what differs; 1 if anything does

To run another version, give its folders of packages first in PYTHONPATH, on the same device::

    PYTHONPATH=/other/version python docs/benchmarks/corpus.py run before
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from corpus_lines import lines

Array = npt.NDArray[Any]


def inputs(folder: Path) -> None:
    """Writes the pictures, two kernels, a colour table and a second version of one picture."""
    from gpuops.files import Picture, write

    rng = np.random.default_rng(7)

    def scene(rows: int, columns: int, channels: int) -> Array:
        """Light with smooth ground, noise, and bright spots: from 0.01 to about 30."""
        y, x = np.mgrid[:rows, :columns]
        ground = 0.2 + 0.15 * np.sin(x / 9) * np.cos(y / 7)
        spots = 30 * np.exp(-((x - columns / 3) ** 2 + (y - rows / 2) ** 2) / 8)
        light = (ground + spots)[..., None] * (0.5 + rng.random(channels)) + 0.02 * rng.random(
            (rows, columns, channels)
        )
        return np.asarray(light + 0.01)

    def display(light: Array, dtype: str) -> Array:
        most = np.iinfo(dtype).max
        return np.asarray(np.rint(np.clip(light / (1 + light), 0, 1) ** (1 / 2.2) * most)).astype(dtype)

    def put(name: str, pixels: Array, alpha: bool = False) -> None:
        write(folder / name, Picture(pixels, alpha, pixels.dtype.kind == "f"))

    def with_alpha(light: Array) -> Array:
        light = light.copy()
        light[..., -1] = np.clip(rng.random(light.shape[:2]) * 1.5 - 0.25, 0, 1)
        return light

    put("gray8.png", display(scene(61, 83, 1), "uint8"))
    put("rgb8.png", display(scene(64, 96, 3), "uint8"))
    rgba = display(scene(53, 47, 4), "uint8")
    rgba[..., 3] = rng.choice([0, 128, 255], (53, 47))
    put("rgba8.png", rgba, alpha=True)
    put("rgb16.png", display(scene(40, 56, 3), "uint16"))
    put("grayalpha16.png", display(scene(31, 29, 2), "uint16"), alpha=True)
    put("photo.jpg", display(scene(72, 88, 3), "uint8"))
    put("half.exr", scene(66, 98, 3).astype(np.float16))
    put("rgba.exr", with_alpha(scene(45, 70, 4)).astype(np.float32), alpha=True)
    put("gray.exr", scene(37, 41, 1).astype(np.float32))
    wild = scene(24, 32, 3).astype(np.float32)
    wild[3, 4], wild[5, 6, 1], wild[7, 8, 2], wild[9] = np.nan, np.inf, -np.inf, -0.5
    put("wild.exr", wild)
    put("float.tif", scene(48, 48, 3).astype(np.float32))
    put("panorama.hdr", scene(32, 64, 3).astype(np.float32))
    put("one.png", np.array([[[200, 100, 50]]], np.uint8))
    put("column.png", display(scene(67, 1, 3), "uint8"))
    large = scene(500, 160, 3).astype(np.float32)
    put("large.exr", large)
    put("large2.exr", large * np.float32(1.01))
    put("large4.exr", with_alpha(scene(500, 160, 4)).astype(np.float32), alpha=True)
    put("large.png", display(large, "uint16"))
    put("turned.tif", display(large, "uint8"))
    put("other.png", np.minimum(display(scene(64, 96, 3), "uint8"), 250))
    put(
        "kernel.png",
        np.asarray(255 * np.hypot(*np.mgrid[-3:4, -4:5]) < 3.2 * 255)[..., None].astype(np.uint8) * 255,
    )
    put("colours.exr", rng.random((5, 5, 3)).astype(np.float32))
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 3, indexing="ij"), -1).reshape(-1, 3)[:, ::-1]
    table = "\n".join(f"{r:.6f} {g:.6f} {b:.6f}" for r, g, b in np.sqrt(grid))
    (folder / "table.cube").write_text(f"LUT_3D_SIZE 5\n{table}\n", encoding="utf-8")
    for name in ("new", "old"):
        (folder / name).mkdir()
        for picture in ("rgb8.png", "half.exr", "large.exr"):
            other = {"rgb8.png": "other.png", "large.exr": "large2.exr"}.get(picture, picture)
            shutil.copy(folder / (picture if name == "old" else other), folder / name / picture)
    _frames(folder, [display(scene(40, 50, 3), "uint8") for _ in range(3)])


def _frames(folder: Path, frames: list[Array]) -> None:
    """Writes an animation, pages, and an EXR file of two layers."""
    import imageio.v3 as iio
    import OpenImageIO as oiio
    import tifffile

    iio.imwrite(folder / "moving.gif", frames, duration=100)
    tifffile.imwrite(folder / "pages.tif", np.stack(frames), photometric="rgb")
    spec = oiio.ImageSpec(frames[0].shape[1], frames[0].shape[0], 6, "half")
    spec.channelnames = ("R", "G", "B", "diffuse.R", "diffuse.G", "diffuse.B")
    output = oiio.ImageOutput.create(str(folder / "layers.exr"))
    output.open(str(folder / "layers.exr"), spec)
    output.write_image(np.concatenate(frames[:2], 2).astype(np.float32) / 255)
    output.close()


def run(folder: Path) -> None:
    """Runs all lines; ``folder`` receives every output, and results.json exit codes and messages."""
    from clpix.main import main

    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    inputs(folder / "in")
    results: dict[str, dict[str, Any]] = {}
    here = Path.cwd()
    os.chdir(folder)  # messages then name the same paths in every folder
    for number, line in enumerate(lines()):
        words = line.replace("IN/", "in/").replace("OUT", f"{number:03}").split()
        streams = io.StringIO(), io.StringIO()
        code: Any = 0
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            try:
                main(words)
            except SystemExit as end:
                code = end.code
            except Exception:
                code = traceback.format_exc()
        written = sorted(path.name for path in Path.cwd().glob(f"{number:03}*"))
        out, err = (stream.getvalue() for stream in streams)
        results[line] = {"code": code, "out": out, "err": err, "files": written}
        print(f"\r{number + 1} of {len(lines())}", end="", file=sys.stderr, flush=True)
    os.chdir(here)
    print(file=sys.stderr)
    (folder / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Prints every line whose exit code, messages or files differ, with the largest difference of values."""
    old, new = (
        json.loads((folder / "results.json").read_text(encoding="utf-8")) for folder in (before, after)
    )
    kinds: Counter[str] = Counter()
    for line in sorted(old.keys() | new.keys()):
        if line not in old or line not in new:
            print(f"{line}\n    only {'after' if line in new else 'before'}")
            kinds["lines of one side only"] += 1
            continue
        found = [
            f"{key}: {old[line][key]!r} → {new[line][key]!r}"
            for key in ("code", "out", "err")
            if old[line][key] != new[line][key]
        ]
        kinds.update(text.partition(":")[0] for text in found)
        pairs = list(zip(old[line]["files"], new[line]["files"], strict=False))
        if len(old[line]["files"]) != len(new[line]["files"]):
            found.append(f"files: {old[line]['files']} → {new[line]['files']}")
        for one, other in pairs:
            if _digest(before / one) != _digest(after / other):
                found.append(f"{one}: {_difference(before / one, after / other)}")
                kinds["files"] += 1
        if found:
            print(line, *found, sep="\n    ")
    print(f"{len(old)} lines before, {len(new)} after; differing: {dict(kinds) or 'none'}")
    return int(bool(kinds))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _difference(one: Path, other: Path) -> str:
    """The difference between the values of two files, in words, if both have values."""
    if one.suffix == ".npz":
        with np.load(one) as a, np.load(other) as b:
            if set(a) != set(b):
                return f"arrays {sorted(a)} → {sorted(b)}"
            differing = {key: (a[key], b[key]) for key in a if a[key].tobytes() != b[key].tobytes()}
    else:
        from gpuops import GpuopsError
        from gpuops.files import read

        try:
            differing = {"pixels": (read(one).pixels, read(other).pixels)}
        except GpuopsError:  # reports and tables have no pixels
            return f"{one.stat().st_size} → {other.stat().st_size} bytes"
    return "; ".join(f"{key} {_largest(*values)}" for key, values in differing.items()) or "the same values"


def _largest(a: Array, b: Array) -> str:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{list(a.shape)} → {b.dtype}{list(b.shape)}"
    if a.dtype.kind not in "iufc":
        return f"{a} → {b}"
    kind = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        away = np.abs(a.astype(kind) - b.astype(kind))
    count = int((away > 0).sum())
    finite = np.array_equal(np.isfinite(a), np.isfinite(b))
    return f"{count} of {a.size} values, by up to {np.nanmax(away, initial=0):.3g}" + (
        "" if finite else ", not finite elsewhere"
    )


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "run":
        run(Path(sys.argv[2]).resolve())
    elif len(sys.argv) == 4 and sys.argv[1] == "compare":
        sys.exit(compare(Path(sys.argv[2]), Path(sys.argv[3])))
    else:
        sys.exit(__doc__)
