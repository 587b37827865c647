"""Times batches of files beside OpenCV's and vips's, and many small files.

    python docs/benchmarks/batch_peers.py --json batch-cpu.json [--device NAME] [--no-peers]

``formats``: 48 pictures of 4K, photographs with grain: blur with σ 10 of JPEG and PNG files, bloom with AgX of EXR
files of half floats to PNG. OpenCV's program has two threads, each of which reads, blurs and writes one picture after
another; vips is a process for each picture, two at a time. Both blur stored values, clpix light. ``cpu_ms`` is the
processors' time of a command with its children; ``ratio`` is the wall time beside that time shared by all processors.
``thumbnails``: 200 photographs of 12 megapixels to 1200 pixels, and to 400, for which decoders make them smaller first,
beside vipsthumbnail, one for all and two at a time; all write JPEG of quality 75 with fewer colours, as that does.
``small``: 10,000 PNG files of 8 × 8 pixels: the run with a journal, leaving out all that is there, resuming.
``stops``: a thread that wants to run every 100 ms beside a batch in its process, and the longest time that it waited.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import peers
import regress_peers as corpus

from gpuops import Gpu, files
from gpuops.batch.job import Job
from gpuops.batch.pipeline import run_jobs
from gpuops.chain import Chain
from gpuops.ops.blur import BlurParams
from gpuops.params.storage import Storage

# How many pictures of 4K there are, and how many small ones.
PICTURES, SMALL = 48, 10_000
# How many photographs become thumbnails, and how many of them differ.
LARGE, DIFFERENT = 200, 8
HEIGHT, WIDTH = 2160, 3840
SIGMA = 10
TURNS = 3
# Threads, or processes, of the peers.
THREADS = 2
# Seconds that the thread beside a batch sleeps at a time.
TICK = 0.1

OPENCV = f"""
import sys, cv2
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
cv2.setNumThreads(1)
def one(path):
    blurred = cv2.GaussianBlur(cv2.imread(path, cv2.IMREAD_UNCHANGED), (0, 0), {SIGMA})
    cv2.imwrite(str(Path(sys.argv[1], Path(path).name)), blurred, [cv2.IMWRITE_JPEG_QUALITY, 95])
with ThreadPoolExecutor({THREADS}) as pool:
    list(pool.map(one, sys.argv[2:]))
"""


def write_corpus(folder: Path) -> None:
    """Writes the pictures of 4K in three formats."""
    corpus.HEIGHT, corpus.WIDTH = HEIGHT, WIDTH
    for kind in ("jpg", "png", "exr"):
        (folder / kind).mkdir()

    def one(number: int) -> None:
        pixels = corpus.photograph(number, corpus.GRAIN)
        light = np.asarray((pixels / 255.0) ** 2.2 * 4, np.float16)
        for kind in ("jpg", "png"):
            files.write(folder / kind / f"{number:02}.{kind}", files.Picture(pixels))
        files.write(folder / "exr" / f"{number:02}.exr", files.Picture(light, linear=True))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, range(PICTURES)))


def run(command: list[str]) -> tuple[float, float]:
    """Runs a command, and returns milliseconds of the clock and of the processors."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, cpu * 1e3


def clpix(*command: object, device: str | None) -> list[str]:
    """The command line of clpix."""
    return [sys.executable, "-m", "clpix", *map(str, command), *(("--device", device) if device else ())]


def in_turns(out: Path, what: str, programs: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Times programs in turn, which write into an empty folder, and gives the shortest time of each."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _ in range(TURNS):
        for name, command in programs.items():
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            found[name].append(run(command))
    for name, times in found.items():
        ms, cpu_ms = min(times)
        ratio = ms / (cpu_ms / (os.cpu_count() or 1))
        yield {"what": what, "program": name, "ms": ms, "cpu_ms": cpu_ms, "ratio": ratio}


def thumbnails(folder: Path, device: str | None, with_peers: bool) -> Iterator[dict[str, Any]]:
    """Times photographs that become small. Links stand for most of them: each is read and decoded all the same."""
    source, out = folder / "large", folder / "out"
    source.mkdir()
    corpus.HEIGHT, corpus.WIDTH = 3000, 4000
    for number in range(LARGE):
        path = source / f"{number:03}.jpg"
        if number < DIFFERENT:
            storage = Storage(quality=90, subsampling="4:2:0")
            files.write(path, files.Picture(corpus.photograph(number, corpus.GRAIN)), storage=storage)
        else:
            path.symlink_to(source / f"{number % DIFFERENT:03}.jpg")
    inputs = sorted(map(str, source.iterdir()))
    for size in (1200, 400):
        web = ("--size", size, "--quality", 75, "--subsampling", "4:2:0", "-o", f"{out}/")
        programs = {"clpix": clpix("thumbnail", *inputs, *web, device=device)}
        if with_peers and shutil.which("vipsthumbnail"):
            theirs = ["vipsthumbnail", "-s", str(size), "-o", f"{out}/%s.jpg"]
            programs["vips"] = [*theirs, *inputs]
            two = f"printf '%s\\n' \"$@\" | xargs -P{THREADS} -n1 {' '.join(theirs)}"
            programs["vips, two at a time"] = ["sh", "-c", two, "sh", *inputs]
        yield from in_turns(out, f"{LARGE} JPG of 12 megapixels to {size} pixels", programs)


def formats(folder: Path, device: str | None, with_peers: bool) -> Iterator[dict[str, Any]]:
    """Times the 48 pictures in three formats."""
    out = folder / "out"
    for kind in ("jpg", "png", "exr"):
        inputs = sorted(map(str, (folder / kind).iterdir()))
        blur = clpix("blur", *inputs, "--sigma", SIGMA, "-o", f"{out}/", device=device)
        bloom = clpix("bloom", *inputs, "--tonemap", "agx", "-o", f"{out}/{{stem}}.png", device=device)
        programs = {"clpix": bloom if kind == "exr" else blur}
        if with_peers and kind != "exr":
            programs["OpenCV"] = [sys.executable, "-c", OPENCV, str(out), *inputs]
            if shutil.which("vips"):
                one = f"VIPS_CONCURRENCY=1 vips gaussblur {{}} {out}/$(basename {{}})[Q=95] {SIGMA}"
                each = f"xargs -P{THREADS} -I{{}} sh -c '{one}'"
                programs["vips"] = ["sh", "-c", f"printf '%s\\n' \"$@\" | {each}", "sh", *inputs]
        yield from in_turns(out, f"{PICTURES} {kind.upper()}", programs)


def small(folder: Path, device: str | None) -> Iterator[dict[str, Any]]:
    """Times 10,000 small files, and leaving them out."""
    inputs, out = folder / "small", folder / "small-out"
    inputs.mkdir()
    rng = np.random.default_rng(2)
    for number in range(SMALL):
        pixels = rng.integers(0, 256, (8, 8, 3)).astype(np.uint8)
        files.write(inputs / f"{number:05}.png", files.Picture(pixels))
    blur = ("blur", inputs, "--recursive", "--sigma", 2, "-o", f"{out}/")
    journal = folder / "run.jsonl"
    for what, more in (
        ("the run, with a journal", ("--journal", journal)),
        ("all are there: --skip-existing", ("--skip-existing",)),
        ("all are done: --resume", ("--resume", journal)),
    ):
        ms, cpu_ms = run(clpix(*blur, *more, device=device))
        yield {"what": f"{SMALL} of 8 × 8", "program": what, "ms": ms, "cpu_ms": cpu_ms}


def stops(folder: Path, gpu: Gpu) -> dict[str, Any]:
    """Measures how long a thread beside a batch has to wait."""
    waited = []
    ended = threading.Event()

    def tick() -> None:
        while not ended.is_set():
            begun = time.perf_counter()
            time.sleep(TICK)
            waited.append(time.perf_counter() - begun - TICK)

    beside = threading.Thread(target=tick)
    jobs = [
        Job(str(path), Chain(BlurParams((SIGMA, SIGMA))), str(folder / f"stop-{path.name}"))
        for path in sorted((folder / "png").iterdir())
    ]
    beside.start()
    for done in run_jobs(lambda: gpu, jobs):
        assert done.error is None, done.error
    ended.set()
    beside.join()
    return {"what": f"{PICTURES} PNG", "program": "a thread beside it", "ms": max(waited) * 1e3}


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__)
    rows: list[dict[str, Any]] = []
    gpu = Gpu(given.device)

    def take(row: dict[str, Any]) -> None:
        rows.append(row)
        cpu = f"  processors {row['cpu_ms']:8.0f} ms" if "cpu_ms" in row else ""
        ratio = f"  ratio {row['ratio']:.2f}" if "ratio" in row else ""
        print(f"{row['what']:>16}  {row['program']:<32} {row['ms']:8.0f} ms{cpu}{ratio}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder)
        for row in formats(folder, given.device, not given.no_peers):
            take(row)
        for row in thumbnails(folder, given.device, not given.no_peers):
            take(row)
        for row in small(folder, given.device):
            take(row)
        take(stops(folder, gpu))
    peers.save(given, gpu, rows, threads=THREADS)


if __name__ == "__main__":
    main()
