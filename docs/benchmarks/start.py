"""Measures small commands from their start to their end, by themselves and in a server, beside other programs.

    python docs/benchmarks/start.py --json start.json [--device NAME]

All kinds take turns, and each turn is a process of its own. Times are medians and minima of 15, after one that is not
counted; the processor's time of a command in a server has the server's and its child's in it, and `peak` is the
largest resident set of the process that was started. `bare` imports numpy and pyopencl, opens a queue on the same
device with its driver alone, and ends as Python does. vips and ImageMagick blur the same picture.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

# What was there before this process changes it.
ENVIRONMENT = dict(os.environ)

import numpy as np  # noqa: E402
import peers  # noqa: E402

from gpuops import Gpu, files  # noqa: E402
from gpuops.device import drivers  # noqa: E402

SIZE, RUNS = 256, 15
BARE = """import os, sys, numpy, pyopencl as cl
device = next(d for p in cl.get_platforms() for d in p.get_devices() if d.name.strip() == sys.argv[1])
cl.CommandQueue(cl.Context([device]))"""


# A small process that starts others: a process's peak has in it what the one that starts it takes.
STARTER = """import json, os, subprocess, sys, time
for line in sys.stdin:
    words, environment = json.loads(line)
    start = time.perf_counter()
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    ms = (time.perf_counter() - start) * 1e3
    cpu = (usage.ru_utime + usage.ru_stime) * 1e3
    print(json.dumps({"ms": ms, "cpu_ms": cpu, "peak": usage.ru_maxrss * 1024, "status": status}), flush=True)
"""


class Starter:
    """The process."""

    def __init__(self) -> None:
        words = [sys.executable, "-I", "-S", "-c", STARTER]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def spent(self, words: list[str], environment: dict[str, str]) -> dict[str, float]:
        """Milliseconds of a process and of the processors, and bytes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps((words, environment)), file=self._process.stdin, flush=True)
        one: dict[str, float] = json.loads(self._process.stdout.readline())
        if one.pop("status"):
            sys.exit(f"{' '.join(words)} failed")
        return one


def main() -> None:
    """Measures, prints and writes."""
    given = peers.options(__doc__)
    gpu = Gpu(given.device)
    rng = np.random.default_rng(0)
    picture = np.kron(
        rng.integers(0, 256, (32, 32, 3), np.uint8), np.ones((SIZE // 32, SIZE // 32, 1), np.uint8)
    )
    folder = Path(tempfile.mkdtemp())
    source, target = str(folder / "in.png"), str(folder / "out.png")
    files.write(source, files.Picture(picture))
    usual = {
        **ENVIRONMENT,
        "CLPIX_DEVICE": gpu.info.name,
        "CLPIX_SERVER": "off",
        "XDG_RUNTIME_DIR": str(folder),
    }
    usual.pop("PYTHONDONTWRITEBYTECODE", None)
    folder.chmod(0o700)
    served = {**usual, "CLPIX_SERVER": "require"}
    alone = {**usual, "OCL_ICD_VENDORS": str(folder / "icd")}
    (folder / "icd").mkdir()
    for driver in drivers.prepared():
        if any(gpu.info.platform in names for names in drivers.platforms().get(driver.name, [])):
            (folder / "icd" / driver.name).write_text(driver.library)
    clpix = [sys.executable, "-m", "clpix"]
    blur = ["blur", source, "--sigma", "3", "-o", target, "--overwrite"]
    kinds: dict[str, tuple[list[str], dict[str, str]]] = {
        "bare": ([sys.executable, "-c", BARE, gpu.info.name], alone),
        "import click": ([sys.executable, "-c", "import click"], usual),
        "clpix --version": ([*clpix, "--version"], usual),
        "clpix blur --help": ([*clpix, "blur", "--help"], usual),
        "clpix blur": ([*clpix, *blur], usual),
        "clpix compare": ([*clpix, "compare", source, source], usual),
        "clpix info": ([*clpix, "info", source], usual),
        "clpix blur, server": ([*clpix, *blur], served),
        "clpix info, server": ([*clpix, "info", source], served),
    }
    if subprocess.run([*clpix, "server", "client", str(folder / "clpixc")], env=usual).returncode == 0:
        kinds["clpixc blur, server"] = ([str(folder / "clpixc"), *blur], served)
        kinds["clpixc info, server"] = ([str(folder / "clpixc"), "info", source], served)
    if shutil.which("vips") and not given.no_peers:
        kinds["vips gaussblur"] = (["vips", "gaussblur", source, target, "3"], usual)
    if shutil.which("convert") and not given.no_peers:
        kinds["ImageMagick"] = (["convert", source, "-gaussian-blur", "0x3", target], usual)

    def of_server() -> float:
        done = subprocess.run(
            [*clpix, "server", "status", "--json"], env=usual, stdout=subprocess.PIPE, text=True
        )
        return 1e3 * sum(one["processor_seconds"] for one in json.loads(done.stdout)["servers"])

    starter = Starter()
    subprocess.run([*clpix, "server", "start"], env=usual, check=True, stdout=subprocess.DEVNULL)
    try:
        runs: dict[str, list[dict[str, float]]] = {what: [] for what in kinds}
        for _ in range(RUNS + 1):
            for what, (words, environment) in kinds.items():
                before = of_server() if environment is served else 0.0
                one = starter.spent(words, environment)
                one["cpu_ms"] += of_server() - before if environment is served else 0.0
                runs[what].append(one)
    finally:
        subprocess.run([*clpix, "server", "stop"], env=usual, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder)
    rows: list[dict[str, Any]] = []
    for what, ones in runs.items():
        ms, cpu = ([one[name] for one in ones[1:]] for name in ("ms", "cpu_ms"))
        rows.append({
            "what": what, "ms": round(median(ms), 1), "least_ms": round(min(ms), 1), "cpu_ms": round(median(cpu), 1),
            "least_cpu_ms": round(min(cpu), 1), "peak": max(one["peak"] for one in ones),
        })  # fmt: skip
        print(rows[-1])
    peers.save(given, gpu, rows, size=SIZE, runs=RUNS)


if __name__ == "__main__":
    main()
