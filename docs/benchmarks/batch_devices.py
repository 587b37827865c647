"""Times batches on one device and on several.

    python docs/benchmarks/batch_devices.py --json batch-h100x2.json --device 0,1

The programs and pictures are those of batch_limit.py. ``each_ms`` is what each further picture takes, as there, and
``ratio`` is that time beside the one of the first of the devices alone. All runs must write the same bytes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import batch_limit as limit
import batch_peers as batch
import peers

from gpuops import Gpu

# The kinds of files, of those of batch_limit.py.
KINDS = ("jpg", "exr")
TURNS = 2


def written(folder: Path) -> str:
    """A digest of all files of a folder."""
    return sha256(
        b"".join(sha256(path.read_bytes()).digest() for path in sorted(folder.iterdir()))
    ).hexdigest()


def measured(folder: Path, kind: str, devices: list[str]) -> list[dict[str, Any]]:
    """The rows of one kind of files: a row for each choice of devices."""
    (operation, *options), suffix = limit.OPERATIONS[kind]
    pictures, out = sorted((folder / kind).iterdir()), folder / "out"
    walls: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for count in (limit.SHORT, limit.LONG):
        inputs = limit.repeated(pictures, count, folder / f"{kind}-{count}")
        seen = set()
        for _ in range(TURNS):
            for device in devices:
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                command = batch.clpix(
                    operation, *inputs, *options, "-o", f"{out}/{{stem}}.{suffix}", device=device
                )
                walls.setdefault((device, count), []).append(batch.run(command))
                seen.add(written(out))
        if len(seen) > 1:
            sys.exit(f"{kind}: the devices do not write the same")
    rows = []
    for device in devices:
        short, long = (min(walls[device, count]) for count in (limit.SHORT, limit.LONG))
        each = (long[0] - short[0]) / (limit.LONG - limit.SHORT)
        first = rows[0]["each_ms"] if rows else each
        rows.append({
            "what": f"{limit.LONG} {kind.upper()} → {suffix.upper()}", "devices": device, "ms": long[0],
            "cpu_ms": long[1], "each_ms": each, "ratio": each / first,
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measures, prints the rows, writes the JSON."""
    given = peers.options(__doc__)
    first = given.device.partition(",")[0]
    os.environ.pop("CLPIX_DEVICE", None)
    with tempfile.TemporaryDirectory() as name:
        batch.write_corpus(Path(name))
        rows = [row for kind in KINDS for row in measured(Path(name), kind, [first, given.device])]
    peers.save(given, Gpu(first), rows, threads=os.cpu_count())


if __name__ == "__main__":
    main()
