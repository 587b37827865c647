"""Times geometry of an EXR file of many channels, whole commands, beside oiiotool's.

    python docs/benchmarks/layer_peers.py --json layers-cpu.json [--device NAME] [--no-peers]

The file has 1920 × 1080 pixels of 40 half channels: RGBA and twelve layers of three. Both programs read all of it,
move the pixels, and write all of it in ZIP blocks, each by its own default. The best of some turns counts.
``cpu_ms`` is what processors took.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import OpenImageIO as oiio
import peers

from gpuops import Gpu

WIDTH, HEIGHT, LAYERS, TURNS = 1920, 1080, 12, 5
#: What is done: clpix's words and oiiotool's.
MOVES = {
    "flip": ("flip --axis horizontal", "--flop"),
    "turn": ("rotate --angle 90", "--rotate90"),
    "crop": ("crop --region 100,100,1600,900", "--cut 1600x900+100+100"),
    "resize": ("resize --size 960x540", "--resize 960x540"),
}


def write(path: Path) -> None:
    """Writes the file: smooth layers with some grain."""
    names = ["R", "G", "B", "A", *(f"layer{number}.{c}" for number in range(LAYERS) for c in "RGB")]
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    smooth = (np.sin(x / 97) + np.cos(y / 61) + 2)[..., None]
    pixels = smooth * rng.uniform(0.2, 2, len(names)) + rng.normal(0, 0.02, (HEIGHT, WIDTH, 1))
    pixels[..., 3] = 1
    spec = oiio.ImageSpec(WIDTH, HEIGHT, len(names), "half")
    spec.channelnames = names
    output = oiio.ImageOutput.create(str(path))
    output.open(str(path), spec)
    output.write_image(pixels.astype(np.float32))
    output.close()


def measured(command: list[str]) -> tuple[float, float]:
    """The best wall-clock and processor times of a command in milliseconds."""
    best = []
    for _ in range(TURNS):
        before, start = os.times(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - start, os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        best.append((1000 * wall, 1000 * spent))
    return min(wall for wall, _ in best), min(spent for _, spent in best)


def main() -> None:
    """Measures and prints each move by each program."""
    given = peers.options(__doc__)
    tool = None if given.no_peers else shutil.which("oiiotool", path=Path(sys.executable).parent)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary, Gpu(given.device) as gpu:
        source, target = Path(temporary, "in.exr"), Path(temporary, "out.exr")
        write(source)
        for move, (ours, theirs) in MOVES.items():
            name, *words = ours.split()
            device = ["--device", gpu.info.name]
            files = ["-o", str(target), "--overwrite"]
            programs = {"clpix": [sys.executable, "-m", "clpix", name, str(source), *words, *files, *device]}
            if tool is not None:
                programs["oiiotool"] = [tool, str(source), *theirs.split(), "-o", str(target)]
            for program, command in programs.items():
                ms, cpu_ms = measured(command)
                mega = target.stat().st_size / 1e6
                rows.append({"move": move, "program": program, "ms": ms, "cpu_ms": cpu_ms, "mb": mega})
                print(f"{move:<8} {program:<9} {ms:7.0f} ms {cpu_ms:7.0f} ms of processors {mega:6.1f} MB")
        peers.save(given, gpu, rows, oiiotool=oiio.__version__, threads=os.cpu_count())


if __name__ == "__main__":
    main()
