"""Times a batch on a cluster of this machine's processes beside the same batch without one.

    python docs/benchmarks/batch_cluster.py --json cluster-cpu.json [--device NAME]

400 PNG files of 800 × 600 pixels are blurred with σ 3. The command runs alone, and with ``--cluster local:N``, which
starts a scheduler and N processes first. ``ratio`` is the wall time beside the command's
alone. ``each_ms`` is what a further picture takes: the time of all pictures less that of the first 40, divided by their
number. The least of three runs in turn is given.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import batch_peers as batch
import peers
import regress_peers as corpus

from gpuops import Gpu, files

# Pictures of the batch, and those of the shorter one that tells what the start takes.
PICTURES, FEW = 400, 40
HEIGHT, WIDTH = 600, 800
WORKERS = (1, 2)
TURNS = 3


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name, "out")
        corpus.HEIGHT, corpus.WIDTH = HEIGHT, WIDTH
        inputs = [folder / f"{number:03}.png" for number in range(PICTURES)]
        for number, path in enumerate(inputs):
            files.write(path, files.Picture(corpus.photograph(number, corpus.GRAIN)))
        ways: dict[str, tuple[str, ...]] = {"alone": ()}
        ways |= {f"local:{count}": ("--cluster", f"local:{count}") for count in WORKERS}
        times: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for count in (FEW, PICTURES):
            for _ in range(TURNS):
                for way, options in ways.items():
                    shutil.rmtree(out, ignore_errors=True)
                    out.mkdir()
                    blur = ("blur", *inputs[:count], "--sigma", 3, "-o", f"{out}/", *options)
                    times.setdefault((way, count), []).append(
                        batch.run(batch.clpix(*blur, device=given.device))
                    )
    rows: list[dict[str, Any]] = []
    for way in ways:
        (few, _), (ms, cpu_ms) = min(times[way, FEW]), min(times[way, PICTURES])
        row = {"program": way, "ms": ms, "cpu_ms": cpu_ms, "each_ms": (ms - few) / (PICTURES - FEW)}
        rows.append(row | {"ratio": ms / rows[0]["ms"] if rows else 1.0})
        print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    peers.save(given, Gpu(given.device), rows, pictures=PICTURES, size=[WIDTH, HEIGHT])


if __name__ == "__main__":
    main()
