"""Times commands on a picture that is larger than the memory that they may take, beside vips.

    python docs/benchmarks/large_peers.py --json large-cpu.json [--device NAME] [--size 40000] [--no-peers]

The picture is a tiled TIFF file of RGB in 8 bits, ``size`` × 3/4 ``size`` pixels, uncompressed: 3.6 GB unless another
size is given. Each command may take 1 GB of the host's memory and 1 GB of the device's, which are the same on a CPU.
``compare`` and ``info`` write no picture; the other picture of ``compare`` differs in the last bit of every value of a
few rows in a hundred. vips subtracts the pictures into a file, of which it tells statistics.
``peak`` is the most memory that the process had (VmHWM), and ``floor`` what the same command takes for a picture of
64 × 64. ``codec`` is a copy of the picture by the same reader and writer, one thread each, without a device.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import peers

from gpuops import Gpu, files

# Pixels of a row, unless somebody says another number.
SIZE = 40_000
# What each command may take of the host's memory and of the device's.
LIMIT = "1G"
# Rows that are read and written at a time for the copy.
ROWS = 256
# Of these, the rows in which the other picture differs.
DIFFERENT = 16

COMMANDS = {
    "blur, σ 10": ("blur", "--sigma", "10"),
    "median, radius 1": ("blur", "--kind", "median", "--radius", "1"),
    "bloom": ("bloom",),
    "tonemap, metered": ("tonemap", "--operator", "agx"),
    "sharpen, then tonemap": ("sharpen", "then", "tonemap", "--operator", "agx"),
    "resize, 0.4": ("resize", "--scale", "0.4"),
    "resize, 0.01": ("resize", "--scale", "0.01"),
}
# Commands that tell figures and write nothing: the command, its options, the numbers of its pictures, its exit code.
TELLING = {
    "compare, max psnr": ("compare", ("--metric", "max", "--metric", "psnr"), (0, 1), 1),
    "compare, ssim": ("compare", ("--metric", "ssim"), (0, 1), 1),
    "compare, equal": ("compare", ("--metric", "ssim"), (0, 0), 0),
    "info --stats": ("info", ("--stats",), (0,), 0),
}
# The same by vips, as far as it has it.
VIPS_TELLING = {
    "compare, max psnr": "vips subtract {0} {1} {2} && vips stats {2} {3}",
    "info --stats": "vips stats {0} {3}",
}
VIPS = {
    "blur, σ 10": ("gaussblur", "IN", "OUT[tile,bigtiff]", "10"),
    "median, radius 1": ("rank", "IN", "OUT[tile,bigtiff]", "3", "3", "4"),
    "resize, 0.4": ("resize", "IN", "OUT[tile,bigtiff]", "0.4"),
    "resize, 0.01": ("resize", "IN", "OUT[tile,bigtiff]", "0.01"),
}
# A program that runs another one and tells the most memory that it had.
WATCHED = """
import os, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_maxrss << 10, used.ru_utime + used.ru_stime)
"""


def write(path: Path, width: int, height: int, *, other: bool = False) -> None:
    """A picture of soft waves and grain, by rows; or the ``other`` one, which differs in some rows."""
    header = files.Picture(files.unread((height, width, 3), np.dtype(np.uint8)))
    rng = np.random.default_rng(1)
    grain = rng.integers(0, 24, (ROWS, width, 3), np.uint8)
    wave = (100 + 90 * np.sin(np.arange(width) / 700)).astype(np.uint8)
    with files.writing(path, header) as put:
        for first in range(0, height, ROWS):
            rows = np.roll(wave, first)[None, :, None] + np.roll(grain, first, 1)
            if other:
                rows[:DIFFERENT] ^= 1
            put(rows[: min(ROWS, height - first)])


def run(command: list[str], expected: int = 0) -> dict[str, float]:
    """Seconds, those of all processors, and the most bytes of memory."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", WATCHED, *command], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    code, peak, cpu = done.stdout.split()
    if int(code) != expected:
        sys.exit(f"{' '.join(command)}: exit code {code}\n{done.stderr}")
    return {"s": seconds, "cpu_s": float(cpu), "peak": int(peak)}


def copied(source: Path, target: Path) -> float:
    """Seconds of a copy by the reader and the writer, each of which has a thread."""
    start = time.perf_counter()
    rows = files.open_rows(str(source), None, 0)
    assert rows is not None
    with files.writing(target, rows.picture) as put, ThreadPoolExecutor(1) as pool:
        writing = None
        for block in rows.rows(ROWS):
            if writing is not None:
                writing.result()
            writing = pool.submit(put, block)
        if writing is not None:
            writing.result()
    return time.perf_counter() - start


def rows_of(folder: Path, size: int, device: str | None, with_peers: bool) -> Iterator[dict[str, Any]]:
    large, small, out = folder / "large.tif", folder / "small.tif", folder / "out.tif"
    write(large, size, size * 3 // 4)
    write(small, 64, 64)
    yield {"command": "copy", "program": "codec", "s": copied(large, out)}
    out.unlink()
    clpix = shutil.which("clpix", path=str(Path(sys.executable).parent)) or "clpix"
    limits = ["--memory", LIMIT, "--device-memory", LIMIT, "-q", *(["--device", device] if device else [])]
    for name, words in COMMANDS.items():
        tail = [*words[1:], "-o", str(out), *limits]
        floor = run([clpix, words[0], str(small), *tail])["peak"]
        out.unlink()
        yield {
            "command": name,
            "program": "clpix",
            **run([clpix, words[0], str(large), *tail]),
            "floor": floor,
        }
        out.unlink()
        if with_peers and name in VIPS and shutil.which("vips"):
            places = {"IN": str(large), "OUT[tile,bigtiff]": f"{out}[tile,bigtiff]"}
            yield {
                "command": name,
                "program": "vips",
                **run(["vips", *(places.get(word, word) for word in VIPS[name])]),
            }
            out.unlink()


def told_of(folder: Path, size: int, device: str | None, with_peers: bool) -> Iterator[dict[str, Any]]:
    """The commands that tell figures."""
    pictures = [folder / "large.tif", folder / "other.tif"]
    small = [folder / "small.tif", folder / "small-other.tif"]
    write(pictures[1], size, size * 3 // 4, other=True)
    write(small[1], 64, 64, other=True)
    clpix = shutil.which("clpix", path=str(Path(sys.executable).parent)) or "clpix"
    limits = ["--memory", LIMIT, "--device-memory", LIMIT, "-q", *(["--device", device] if device else [])]
    for name, (command, options, numbers, code) in TELLING.items():
        tail = [*options, *limits]
        floor = run([clpix, command, *(str(small[k]) for k in numbers), *tail], code)["peak"]
        yield {
            "command": name,
            "program": "clpix",
            **run([clpix, command, *(str(pictures[k]) for k in numbers), *tail], code),
            "floor": floor,
        }
        if with_peers and name in VIPS_TELLING and shutil.which("vips"):
            places = [*pictures, folder / "difference.v", folder / "stats.v"]
            yield {
                "command": name,
                "program": "vips",
                **run(["sh", "-c", VIPS_TELLING[name].format(*places)]),
            }
            (folder / "difference.v").unlink(missing_ok=True)


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__)
    size = SIZE if given.size == peers.USUAL else given.size
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = Path(folder), size, given.device, not given.no_peers
        for row in chain(rows_of(*arguments), told_of(*arguments)):
            rows.append(row)
            memory = "".join(f"  {key} {row[key] / 1e6:6.0f} MB" for key in ("peak", "floor") if key in row)
            print(f"{row['command']:>24}  {row['program']:6} {row['s']:7.1f} s{memory}", flush=True)
    with Gpu(given.device) as gpu:
        peers.save(given, gpu, rows, size=size, limit=LIMIT)


if __name__ == "__main__":
    main()
