"""Times ``clpix regress`` on folders of 1080p PNG files beside idiff, odiff and reg-cli.

    python docs/benchmarks/regress_peers.py --json regress-cpu.json [--device NAME] [--node node_modules/.bin]

The pictures are photographs with grain, or renders without. Where a pair differs, 1 % of the tiles of 64 × 64 do, by up
to 8 levels. Each command is a process, timed from its start to its verdict after a run that warms the caches. Programs
take turns, and the least counts. ``cpu_ms`` is the processors' time of the process and of those that it waits for,
which misses reg-cli's work. ``decoding`` is the share of it that reading the files alone takes.
idiff and odiff compare one pair a process, two processes at a time; they are not asked about equal files. odiff and
reg-cli are npm's: ``npm install reg-cli odiff-bin``. ``small`` are squares of 64, 128 and 256 pixels, gray, RGB or with
alpha, a third of them equal. OpenCV's program has two threads, each of which reads pairs and finds the largest error.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import OpenImageIO
import peers

from gpuops import Gpu, files
from gpuops.files.formats import png as png_rows
from gpuops.pixels.unfilter import undoing

SAMPLES = Path(__file__).parents[2] / "samples"
HEIGHT, WIDTH, TILE = 1080, 1920, 64
# Pairs that differ, those of a short suite, and equal ones, which are copies of so many.
PAIRS, FEW, EQUAL, COPIED = 40, 10, 1000, 20
SIDES, SMALL = (64, 128, 256), 400
FOLDERS = ("few", "photographs", "renders", "equal", "small")
# The deviation of the noise in photographs.
GRAIN = 0.01
TURNS = 3
# Processes at a time, of programs that take one pair.
THREADS = 2
OPENCV = f"""
import sys, cv2
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
cv2.setNumThreads(1)
results, references = map(Path, sys.argv[1:])
def one(path):
    pair = (cv2.imread(str(of), cv2.IMREAD_UNCHANGED) for of in (path, references / path.name))
    return cv2.absdiff(*pair).max()
with ThreadPoolExecutor({THREADS}) as pool:
    list(pool.map(one, sorted(results.iterdir())))
"""
PLAIN = ("max", "mean", "rmse", "psnr", "flip")
ALL = (*PLAIN, "ssim", "ms-ssim", "de2000", "ssimulacra2", "pixelmatch", "within-radius")


def photograph(number: int, grain: float) -> npt.NDArray[np.uint8]:
    """A part of a sample in 8 bits; ``grain`` is the deviation of its noise, of 0 … 1."""
    rng = np.random.default_rng(number)
    paths = sorted(SAMPLES.glob("*.exr"))
    light = files.read(paths[number % len(paths)]).pixels.astype(np.float32)[..., :3]
    light = np.roll(light, number * 37, axis=1)
    y = np.linspace(0, light.shape[0] - 1.001, HEIGHT)
    x = np.linspace(0, light.shape[1] - 1.001, WIDTH)
    rows, columns = y.astype(int), x.astype(int)
    fy, fx = (y - rows)[:, None, None], (x - columns)[None, :, None]
    upper = light[rows][:, columns] * (1 - fx) + light[rows][:, columns + 1] * fx
    lower = light[rows + 1][:, columns] * (1 - fx) + light[rows + 1][:, columns + 1] * fx
    big = upper * (1 - fy) + lower * fy
    big = np.maximum(big, 0)
    encoded = (big / (1 + big)) ** (1 / 2.2) + rng.normal(0, grain, big.shape)
    return np.asarray(np.clip(encoded, 0, 1) * 255 + 0.5, np.uint8)


def changed(pixels: npt.NDArray[np.uint8], number: int) -> npt.NDArray[np.uint8]:
    """The picture, where 1 % of the tiles are others."""
    rng = np.random.default_rng(number)
    rows, columns = -(-HEIGHT // TILE), -(-WIDTH // TILE)
    result = pixels.astype(int)
    for tile in rng.choice(rows * columns, round(rows * columns / 100), replace=False):
        y, x = tile // columns * TILE, tile % columns * TILE
        part = result[y : y + TILE, x : x + TILE]
        part += rng.integers(-8, 9, part.shape)
    return np.asarray(np.clip(result, 0, 255), np.uint8)


def corpus(folder: Path) -> None:
    """Folders of results and references: pairs that differ, few of them, renders, and equal ones."""
    for name in FOLDERS:
        for side in ("results", "references"):
            (folder / name / side).mkdir(parents=True)
    for number, (name, grain) in product(range(PAIRS), (("photographs", GRAIN), ("renders", 0.0))):
        pixels = photograph(number, grain)
        for side, picture in {"references": pixels, "results": changed(pixels, number)}.items():
            path = folder / name / side / f"{number:03}.png"
            files.write(path, files.Picture(picture))
            if number < FEW and grain:
                os.link(path, folder / "few" / side / path.name)
    for number, side in product(range(COPIED), ("references", "results")):
        first = folder / "equal" / side / f"{number:04}.png"
        shutil.copy(folder / "photographs" / "references" / f"{number:03}.png", first)
        for copy in range(number + COPIED, EQUAL, COPIED):
            os.link(first, first.with_name(f"{copy:04}.png"))
    small(folder)


def small(folder: Path) -> None:
    """Pairs of small pictures, which are equal, differ in some tiles, or everywhere."""
    source = photograph(0, GRAIN)
    rng = np.random.default_rng(0)
    for number in range(SMALL):
        side, channels, kind = (SIDES[number % 3], (3, 1, 4)[number // 3 % 3], number // 9 % 3)
        top, left = (int(rng.integers(0, size - side)) for size in source.shape[:2])
        of = source[top : top + side, left : left + side]
        pixels = np.concatenate([of, of[..., ::-1]], -1)[..., :channels]
        other = pixels.copy()
        if kind:
            part = other if kind == 2 else other[:8, :8]
            part ^= rng.integers(0, 4, part.shape, np.uint8)
        for where, picture in {"references": pixels, "results": other}.items():
            path = folder / "small" / where / f"{number:04}.png"
            files.write(path, files.Picture(np.ascontiguousarray(picture), alpha=channels == 4))


def processors() -> float:
    """The processors' time so far of this process and of those that it has started and that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def quietly(*command: str, folder: Path) -> None:
    """Runs a command in a folder; its verdict does not matter."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2, 22):
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def each(folder: Path, command: Callable[[str, str], tuple[str, ...]]) -> None:
    """Runs a command for each pair, several at a time."""
    results = sorted((folder / "results").iterdir())
    with ThreadPoolExecutor(THREADS) as pool:
        list(
            pool.map(
                lambda path: quietly(
                    *command(str(path), str(folder / "references" / path.name)), folder=folder
                ),
                results,
            )
        )


def programs(folder: Path, given: argparse.Namespace) -> Iterator[tuple[str, Callable[[], None]]]:
    """What compares the pairs of a folder."""
    clpix = shutil.which("clpix", path=str(Path(sys.executable).parent)) or "clpix"
    sides = (str(folder / "results"), str(folder / "references"))
    device = ("--device", given.device) if given.device else ()

    def regress(metrics: tuple[str, ...]) -> Callable[[], None]:
        asked = [part for metric in metrics for part in ("--metric", metric)]
        return lambda: quietly(clpix, "regress", *sides, *asked, *device, "-q", folder=folder)

    yield "clpix", regress(())
    if folder.name in ("photographs", "renders"):
        yield "clpix, FLIP", regress(PLAIN)
        yield "clpix, eleven figures", regress(ALL)
    if given.no_peers or folder.name == "equal":
        return
    if folder.name == "small":
        yield "OpenCV", lambda: quietly(sys.executable, "-c", OPENCV, *sides, folder=folder)
        return
    if idiff := shutil.which("idiff", path=str(Path(OpenImageIO.__file__).parent / "bin")):
        yield "idiff", lambda: each(folder, lambda result, reference: (idiff, "-a", result, reference))
    if given.node:
        odiff, regcli = (str(given.node.absolute() / name) for name in ("odiff", "reg-cli"))
        yield "odiff", lambda: each(folder, lambda result, reference: (odiff, reference, result))
        yield "reg-cli", lambda: quietly(regcli, *sides, "diff", "-I", "-C", str(THREADS), folder=folder)


def decoding(folder: Path, gpu: Gpu) -> float:
    """Milliseconds of the processors for reading all files, in the way that the command reads them."""

    def read(path: Path) -> None:
        with png_rows.undone_by(undoing(gpu)):
            files.read(path)

    start = processors()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(read, sorted(folder.glob("*/*.png"))))
    return (processors() - start) * 1e3


def rows_of(folder: Path, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Times the programs in turns."""
    pairs = len(list((folder / "results").iterdir()))
    found: dict[str, list[tuple[float, float]]] = {}
    reading = None
    if folder.name in ("photographs", "renders"):
        with Gpu(given.device) as gpu:
            reading = min(decoding(folder, gpu) for _ in range(TURNS))
    for turn in range(TURNS + 1):
        for name, call in programs(folder, given):
            wall, cpu = time.perf_counter(), processors()
            call()
            if turn:
                taken = ((time.perf_counter() - wall) * 1e3, (processors() - cpu) * 1e3)
                found.setdefault(name, []).append(taken)
    for name, times in found.items():
        ms, cpu_ms = min(wall for wall, _ in times), min(cpu for _, cpu in times)
        share = {"decoding": reading / cpu_ms} if reading and name.startswith("clpix") else {}
        yield {"folder": folder.name, "pairs": pairs, "program": name, "ms": ms, "cpu_ms": cpu_ms, **share}


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__, node="where npm's programs are")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        corpus(Path(name))
        for folder in FOLDERS:
            for row in rows_of(Path(name) / folder, given):
                rows.append(row)
                share = f"  decoding {row['decoding']:.0%}" if "decoding" in row else ""
                print(
                    f"{row['folder']:>11} {row['pairs']:5} pairs  {row['program']:<22} {row['ms']:9.0f} ms"
                    f"  processors {row['cpu_ms']:9.0f} ms  {row['pairs'] / row['ms'] * 1e3:8.1f} pairs/s{share}",
                    flush=True,
                )
    peers.save(given, Gpu(given.device), rows, threads=THREADS)


if __name__ == "__main__":
    main()
