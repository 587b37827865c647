"""Parts that the benchmarks of filters beside OpenCV's or CuPy's share: options, and the JSON of their rows."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gpuops import Gpu
from gpuops.bench.report_formats import device_context, versions
from gpuops.device import DeviceInfo

T = TypeVar("T")


# Pixels of a side, unless somebody says another number.
USUAL = 4096


def options(description: str | None, **folders: str) -> argparse.Namespace:
    """The options of the command line. ``folders`` are further options, with their help."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=raw)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--device", help="as clpix's --device")
    parser.add_argument("--size", type=int, default=USUAL)
    parser.add_argument("--no-peers", action="store_true")
    for name, text in folders.items():
        parser.add_argument(f"--{name}", type=Path, metavar="DIR", help=text)
    return parser.parse_args()


def peer(name: str, opener: Callable[[], T], given: argparse.Namespace) -> T | None:
    """The result of ``opener``; None if no peer is wanted, or if it is not installed, which is printed."""
    if given.no_peers:
        return None
    try:
        return opener()
    except ImportError as missing:
        print(f"{name} is left out: {missing}")
        return None


def measured_on(device: DeviceInfo, **about: Any) -> dict[str, Any]:
    """Versions, date and device, as all JSON files here have them first."""
    known = versions()
    if known["clpix"] is None:  # a tree that was never installed
        project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
        known["clpix"] = re.findall(r'^version = "(.+)"$', project, re.MULTILINE)[0]
    return {**known, **device_context(device), **about}


def save(given: argparse.Namespace, gpu: Gpu, rows: list[dict[str, Any]], **about: Any) -> None:
    """Writes the JSON that was asked for."""
    if given.json:
        text = json.dumps(
            {"context": measured_on(gpu.info, **about), "rows": rows}, indent=1, ensure_ascii=False
        )
        given.json.write_text(text + "\n")
