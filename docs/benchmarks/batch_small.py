"""Times batches of many small pictures: as the program does them, and in one process.

    python docs/benchmarks/batch_small.py --json small-cpu.json [--device NAME] [--no-peers]

Pictures with grain, of squares of four sizes, are blurred with σ 2 and written in the same format. ``clpix in one
process`` is the same command with ``--memory 8G``, which needs one process. OpenCV's program has a thread for each
processor. ``rate`` is pictures a second, the start of the program included; the best of some turns counts.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import batch_peers as batch
import peers
import regress_peers as corpus

from gpuops import Gpu, files

# How many pictures there are of each size: pixels of a side, and format. A few hundred are different ones.
COUNTS = {(8, "png"): 6000, (256, "jpg"): 4000, (512, "jpg"): 3000, (1024, "jpg"): 1500}
DIFFERENT = 300
SIGMA = 2
TURNS = 2
ONE_PROCESS = ("--memory", "8G")

OPENCV = batch.OPENCV.replace(f"(0, 0), {batch.SIGMA})", f"(0, 0), {SIGMA})").replace(
    f"ThreadPoolExecutor({batch.THREADS})", f"ThreadPoolExecutor({os.cpu_count()})"
)


def write_one(folder: Path, side: int, suffix: str, number: int) -> None:
    """Writes one picture, and links to it under further names."""
    corpus.HEIGHT = corpus.WIDTH = max(side, 64)
    pixels = corpus.photograph(number, corpus.GRAIN)[:side, :side]
    first = folder / f"{number:05}.{suffix}"
    files.write(first, files.Picture(pixels.copy()))
    for other in range(number + DIFFERENT, COUNTS[side, suffix], DIFFERENT):
        os.link(first, folder / f"{other:05}.{suffix}")


def measured(folder: Path, side: int, suffix: str, given: Any) -> list[dict[str, Any]]:
    """The rows of one size."""
    source, out = folder / f"{side}", folder / "out"
    source.mkdir()
    with ProcessPoolExecutor() as pool:
        made = [pool.submit(write_one, source, side, suffix, number) for number in range(DIFFERENT)]
        for one in made:
            one.result()
    count = len(list(source.iterdir()))
    blur = batch.clpix("blur", source, "--recursive", "--sigma", SIGMA, "-o", f"{out}/", device=given.device)
    programs = {"clpix": blur, "clpix in one process": [*blur, *ONE_PROCESS]}
    if not given.no_peers:
        inputs = sorted(map(str, source.iterdir()))
        programs["OpenCV"] = [sys.executable, "-c", OPENCV, str(out), *inputs]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _ in range(TURNS):
        for name, command in programs.items():
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            found[name].append(batch.run(command))
            assert len(list(out.iterdir())) == count
    rows = []
    for name, times in found.items():
        ms, cpu_ms = min(times)
        rate = count / ms * 1e3
        row = {"side": side, "format": suffix, "count": count, "program": name, "ms": ms, "cpu_ms": cpu_ms}
        rows.append(row | {"rate": rate})
        print(
            f"{count} {suffix} of {side:4}  {name:<22} {rate:7.0f}/s  processors {cpu_ms / count:6.2f} ms each",
            flush=True,
        )
    return rows


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__)
    gpu = Gpu(given.device)
    with tempfile.TemporaryDirectory() as name:
        rows = [row for kind in COUNTS for row in measured(Path(name), *kind, given)]
    peers.save(given, gpu, rows, processors=os.cpu_count())


if __name__ == "__main__":
    main()
