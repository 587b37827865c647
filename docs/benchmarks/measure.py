"""Runs every command on a 4096 × 4096 picture and keeps what it reports.

    python docs/benchmarks/measure.py OUT.json [--device NAME] [--size 4096] [--runs 5]

Each command runs in a process of its own, once to warm the caches and then RUNS times; the table shows medians:
the whole process (wall), its kernels by their events, and the peak of memory. Ratios between columns travel;
absolute times on a shared machine do not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gpuops import files

SAMPLE = Path(__file__).parents[2] / "samples" / "courtyard.exr"
COMMANDS = {
    "blur --sigma 10": ("blur", "rgb8.png", "--sigma", "10", "-o", "out.png"),
    "blur --sigma 2": ("blur", "rgb8.png", "--sigma", "2", "-o", "out.png"),
    "bloom --tonemap agx": ("bloom", "half.exr", "--tonemap", "agx", "-o", "out.png"),
    "tonemap --operator reinhard": ("tonemap", "half.exr", "--operator", "reinhard", "-o", "out.png"),
    "fft → npz": ("fft", "rgb8.png", "-o", "spectrum.npz"),
    "ifft → png": ("ifft", "spectrum.npz", "-o", "out.png"),
    "fft → picture": ("fft", "rgb8.png", "-o", "out.png"),
    "dwt 9/7 → npz": ("dwt", "rgb8.png", "-o", "bands.npz"),
    "idwt → png": ("idwt", "bands.npz", "-o", "out.png"),
    "compare": ("compare", "rgb8.png", "rgb8.png"),
}


def pictures(folder: Path, size: int) -> None:
    """A photograph scaled up, with grain, as 8-bit PNG and as half-float EXR."""
    light = files.read(SAMPLE).pixels.astype(np.float32)[:, :512]
    rows = np.linspace(0, light.shape[0] - 1.001, size)
    columns = np.linspace(0, light.shape[1] - 1.001, size)
    y, x = rows.astype(int), columns.astype(int)
    fy, fx = (rows - y)[:, None, None].astype(np.float32), (columns - x)[None, :, None].astype(np.float32)
    top = light[y][:, x] * (1 - fx) + light[y][:, x + 1] * fx
    bottom = light[y + 1][:, x] * (1 - fx) + light[y + 1][:, x + 1] * fx
    big = top * (1 - fy) + bottom * fy
    files.write(folder / "half.exr", files.Picture(big.astype(np.float16), linear=True))
    encoded = np.clip(big / (1 + big), 0, 1) ** (1 / 2.2)
    encoded += np.random.default_rng(1).normal(0, 0.01, encoded.shape).astype(np.float32)
    files.write(folder / "rgb8.png", files.Picture((np.clip(encoded, 0, 1) * 255).astype(np.uint8)))


def run(folder: Path, command: tuple[str, ...], device: str | None) -> dict[str, Any]:
    """One run's timing report."""
    report = folder / "report.json"
    arguments = [*command, "--timing-file", str(report), "--overwrite", "-q"]
    if device:
        arguments += ["--device", device]
    done = subprocess.run(
        [sys.executable, "-m", "clpix", *arguments], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"clpix {' '.join(arguments)}: {done.stderr}")
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def main() -> None:
    """Measures, writes the JSON, prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    context: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pictures(folder, options.size)
        print("| command | wall ms | kernels ms | host MB | device MB |\n|---|---|---|---|---|")
        for title, command in COMMANDS.items():
            reports = [run(folder, command, options.device) for _ in range(options.runs + 1)][1:]
            context = {k: v for k, v in reports[0]["context"].items() if k != "command"}
            totals = {
                key: median(r["totals"][key] for r in reports)
                for key in reports[0]["totals"]
                if key != "builds"
            }
            middle = sorted(reports, key=lambda r: r["totals"]["wall_ms"])[len(reports) // 2]
            kernels = [{k: v for k, v in kernel.items() if k != "all_ms"} for kernel in middle["kernels"]]
            rows.append({"command": title, "totals": totals, "phases": middle["phases"], "kernels": kernels})
            print(
                f"| {title} | {totals['wall_ms']:.0f} | {totals['kernels_ms']:.2f} "
                f"| {totals['peak_host_bytes'] / 1e6:.0f} | {totals['peak_device_bytes'] / 1e6:.0f} |",
                flush=True,
            )
    result = {"context": {**context, "size": options.size}, "rows": rows}
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
