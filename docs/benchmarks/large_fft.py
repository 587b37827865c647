"""Times `clpix fft` and `clpix ifft` of a picture that is larger than the memory that they may take.

    python docs/benchmarks/large_fft.py --json large-fft-cpu.json [--device NAME] [--size 32768] [--folder DIR]

The picture is a tiled TIFF file of gray in 8 bits, ``size`` × ``size`` pixels; its spectrum is an NPZ file of complex
numbers, eight bytes for each pixel's half. Each command may take 1 GB of the host's memory and 1 GB of the device's,
which are the same on a CPU, and what lies between its sweeps is in a scratch file. ``peak`` is the most memory that the
process had (VmHWM), and ``floor`` what the same command takes for a picture of 64 × 64. ``exact`` says whether every
pixel came back. The files take 10 bytes a pixel in ``folder``, or among the system's temporary files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import large_peers
import numpy as np
import peers

from gpuops import Gpu, files

# Pixels of a row and of a column, unless somebody says another number.
SIZE = 32_768
# Rows that are written and compared at a time.
ROWS = 256


def write(path: Path, size: int) -> None:
    """A gray picture of soft waves and grain, by rows."""
    header = files.Picture(files.unread((size, size, 1), np.dtype(np.uint8)))
    rng = np.random.default_rng(1)
    wave = (100 + 90 * np.sin(np.arange(size) / 700)).astype(np.uint8)
    with files.writing(path, header) as put:
        for first in range(0, size, ROWS):
            grain = rng.integers(0, 24, (min(ROWS, size - first), size, 1), np.uint8)
            put(np.roll(wave, first)[None, :, None] + grain)


def are_equal(a: Path, b: Path) -> bool:
    """Whether two pictures have the same pixels."""
    found = [files.open_rows(str(path), None, 0) for path in (a, b)]
    assert found[0] is not None and found[1] is not None
    pairs = zip(found[0].rows(ROWS), found[1].rows(ROWS), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def rows_of(folder: Path, size: int, device: str | None) -> Iterator[dict[str, Any]]:
    clpix = shutil.which("clpix", path=str(Path(sys.executable).parent)) or "clpix"
    scratch = folder / "scratch"
    scratch.mkdir()
    tail = [
        "--memory",
        large_peers.LIMIT,
        "--device-memory",
        large_peers.LIMIT,
        "--scratch",
        str(scratch),
        "-q",
    ]
    tail += ["--device", device] if device else []
    floors = {}
    for name, side in (("small", 64), ("large", size)):
        picture, spectrum, back = (folder / f"{name}{end}" for end in (".tif", ".npz", "-back.tif"))
        write(picture, side)
        for command, source, target in (("fft", picture, spectrum), ("ifft", spectrum, back)):
            found = large_peers.run([clpix, command, str(source), "-o", str(target), *tail])
            if name == "small":
                floors[command] = found["peak"]
                continue
            row = {"command": command, "program": "clpix", **found, "floor": floors[command]}
            yield row if command == "fft" else row | {"exact": are_equal(picture, back)}


def main() -> None:
    """Measures, prints the table, writes the JSON."""
    given = peers.options(
        __doc__, folder="where the files are to be, in place of the system's temporary files"
    )
    size = SIZE if given.size == peers.USUAL else given.size
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for row in rows_of(Path(folder), size, given.device):
            rows.append(row)
            memory = "".join(f"  {key} {row[key] / 1e6:6.0f} MB" for key in ("peak", "floor"))
            exact = "" if "exact" not in row else "  exact" if row["exact"] else "  NOT EXACT"
            print(f"{row['command']:>6}  {row['s']:7.1f} s{memory}{exact}", flush=True)
    with Gpu(given.device) as gpu:
        peers.save(given, gpu, rows, size=size, limit=large_peers.LIMIT)


if __name__ == "__main__":
    main()
