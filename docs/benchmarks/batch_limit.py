"""Times batches of 4K pictures beside the time that their codecs alone take on all processors.

    python docs/benchmarks/batch_limit.py --json batch-h100.json [--device NAME]

The programs and pictures are those of batch_peers.py: blur with σ 10 of JPEG and PNG files, bloom with AgX of EXR
files to PNG. Batches have two lengths: ``ms`` of the longer one contains the start of the program, ``each_ms`` does
not, which is what each further picture takes. ``the codecs alone`` reads each input and writes each output, which it
has in memory from the start, on as many threads as there are processors, one a picture; ``share`` is its time beside
that of clpix.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import batch_peers as batch
import peers

from gpuops import Gpu, files
from gpuops.files import threads

# Pictures of the two batches: both lengths are whole multiples of the number of different pictures.
SHORT, LONG = 48, 288
# The operation on each kind of file, and the suffix of its outputs.
OPERATIONS = {
    "jpg": (("blur", "--sigma", batch.SIGMA), "jpg"),
    "png": (("blur", "--sigma", batch.SIGMA), "png"),
    "exr": (("bloom", "--tonemap", "agx"), "png"),
}


def repeated(pictures: list[Path], count: int, folder: Path) -> list[Path]:
    """Links to the pictures, again and again, until there are ``count``."""
    folder.mkdir()
    links = [folder / f"{number:04}{pictures[0].suffix}" for number in range(count)]
    for number, link in enumerate(links):
        link.symlink_to(pictures[number % len(pictures)])
    return links


def codecs_alone(inputs: list[Path], outputs: list[Path], folder: Path) -> float:
    """The milliseconds of reading the inputs and of writing what is in the outputs."""
    contents = [files.read(path) for path in outputs[: batch.PICTURES]]

    def one(number: int) -> None:
        files.read(inputs[number])
        files.write(folder / outputs[number].name, contents[number % len(contents)])

    begun = time.perf_counter()
    with threads.limited(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, range(len(inputs))))
    return (time.perf_counter() - begun) * 1e3


def measured(folder: Path, kind: str, device: str | None) -> Iterator[dict[str, Any]]:
    """The rows of one kind of files."""
    (operation, *options), suffix = OPERATIONS[kind]
    pictures = sorted((folder / kind).iterdir())
    out, walls = folder / "out", []
    for count in (SHORT, LONG):
        inputs = repeated(pictures, count, folder / f"{kind}-{count}")
        command = batch.clpix(operation, *inputs, *options, "-o", f"{out}/{{stem}}.{suffix}", device=device)
        times = []
        for _ in range(2):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            times.append(batch.run(command))
        walls.append(min(times))
    each = (walls[1][0] - walls[0][0]) / (LONG - SHORT)
    alone = folder / "alone"
    alone.mkdir()
    limit = codecs_alone(inputs, sorted(out.iterdir()), alone)
    shutil.rmtree(alone)
    what = f"{LONG} {kind.upper()} → {suffix.upper()}"
    yield {
        "what": what, "program": "clpix", "ms": walls[1][0], "cpu_ms": walls[1][1], "each_ms": each,
        "share": limit / LONG / each, "share_with_start": limit / walls[1][0],
    }  # fmt: skip
    yield {"what": what, "program": "the codecs alone", "ms": limit, "each_ms": limit / LONG}


def main() -> None:
    """Measures, prints the rows, writes the JSON."""
    given = peers.options(__doc__)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        batch.write_corpus(folder)
        for kind in OPERATIONS:
            for row in measured(folder, kind, given.device):
                rows.append(row)
                print(row, flush=True)
    peers.save(given, Gpu(given.device), rows, threads=os.cpu_count())


if __name__ == "__main__":
    main()
