"""This module runs the canary in a process of its own, with a time limit, and remembers its verdict."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import clkernels
from gpuops import notes
from gpuops.device import verdicts
from gpuops.device.info import DeviceInfo
from gpuops.process import groups, memory

# Seconds after which a device that failed is tried again: the fault may have been the machine's, not the
# driver's.
RETRY_SECONDS = 24 * 3600
# The program that runs the canary in a process of its own.
_START = """import sys; sys.path[:] = sys.argv[1].split("\\n")
from gpuops.device.canary import main; main(sys.argv[2:])"""


class Verdict(NamedTuple):
    """The results of the canary."""

    usable: bool
    reason: str | None = None
    copy_gbps: float | None = None
    gflops: float | None = None


# The verdicts of this process, for when the cache cannot be written.
_verdicts: dict[str, Verdict] = {}


def verdict(info: DeviceInfo, platform_version: str, ordinal: int, *, refresh: bool = False) -> Verdict:
    """Whether a device works: from the cache, or by trying. `ordinal` counts devices that look the same."""
    from gpuops.device import pocl, processor

    key = {
        "platform": [info.platform, platform_version],
        "device": [info.name, info.driver, info.version, info.compute_units, ordinal],
        "machine": processor.identity() if info.kind == "cpu" else "",
        "program": program(),
    }
    name = verdicts.digest(key)
    if not refresh:
        if name in _verdicts:
            return _verdicts[name]
        if found := _cached(key):
            return found
    with verdicts.lock():
        found = None if refresh else _cached(key)  # another process may have been faster
        if not found:
            sought = {"platform": key["platform"], "device": [info.name, info.driver], "ordinal": ordinal}
            found = _tried(sought)
            if not found.usable and pocl.forget(info.platform):
                found = _tried(sought)
            lack = None if found.usable else pocl.lack(info.platform)
            if lack is None:
                verdicts.store("device", key, {**found._asdict(), **stamp(bad=not found.usable)})
            else:
                found = Verdict(usable=False, reason=lack)
    _verdicts[name] = found
    return found


def _tried(sought: Mapping[str, Any]) -> Verdict:
    found = _verdict(run_canary(["probe", json.dumps(sought)], {}))
    return found or Verdict(usable=False, reason="its check gave no sensible answer")


def _cached(key: Mapping[str, Any]) -> Verdict | None:
    entry = verdicts.load("device", key)
    return _verdict(entry) if entry and fresh(entry) else None


def _verdict(answer: Mapping[str, Any]) -> Verdict | None:
    """A verdict from JSON, if it is one."""
    usable, reason = answer.get("usable"), answer.get("reason")
    copy_gbps, gflops = answer.get("copy_gbps"), answer.get("gflops")
    numbers = all(value is None or isinstance(value, (int, float)) for value in (copy_gbps, gflops))
    if not isinstance(usable, bool) or not numbers or not (usable or isinstance(reason, str)):
        return None
    return Verdict(usable, None if usable else reason, copy_gbps, gflops)


def stamp(*, bad: bool) -> dict[str, float]:
    """Returns an entry's time of expiry if the verdict is bad: a failure is tried again the next day."""
    return {"expires": time.time() + RETRY_SECONDS} if bad else {}


def fresh(entry: Mapping[str, Any]) -> bool:
    """Whether an entry may still be used."""
    expires = entry.get("expires", float("inf"))
    return isinstance(expires, (int, float)) and time.time() < expires


@functools.cache
def program() -> list[str | int | None]:
    """Returns all that a verdict depends on besides the device: pyopencl, the canary itself, and the memory's limit."""
    from importlib import metadata  # pyopencl, which would take long to import, has its version from there

    text = b"".join(path.read_bytes() for path in (kernel_file(), Path(__file__).with_name("canary.py")))
    return [metadata.version("pyopencl"), hashlib.sha256(text).hexdigest()[:20], memory.limit()]


def kernel_file() -> Path:
    """The canary's kernels."""
    return clkernels.path("canary")


def time_limit() -> float:
    """Returns the seconds that a check may take; a first build on a slow CPU takes some."""
    try:
        return float(os.environ.get("CLPIX_PROBE_TIMEOUT", ""))
    except ValueError:
        return 60.0


def command(arguments: Sequence[str]) -> list[str]:
    """The canary as a process that finds its modules where this one does, whatever the current folder."""
    return [sys.executable, "-c", _START, "\n".join(sys.path), *arguments]


def run_canary(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """The last line that the canary printed, as JSON; or why there is none, under "reason"."""
    import subprocess

    _tell()
    limit = time_limit()
    with _scratch() as output:
        try:
            process = subprocess.Popen(
                command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                # Without the cache, kernels are really built.
                env={**os.environ, "PYOPENCL_NO_CACHE": "1", **environment},
                start_new_session=groups.OWN_SESSION,
            )
        except OSError as error:
            return {"usable": False, "reason": f"could not be checked: {error}"}
        late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            if process.returncode is None:
                groups.end(process)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)  # a process stuck in a driver cannot be killed: leave it
        output.seek(0)
        answers = _answers(output.read())
    last = answers[-1] if answers else {}
    if process.returncode == 0 and "usable" in last:
        return last
    where = f" while {last['stage']}" if "stage" in last else ""
    if late:
        return {"usable": False, "reason": f"did not finish within {limit:g} s{where}"}
    return {"usable": False, "reason": f"{death(process.returncode)}{where}"}


@functools.cache
def _tell() -> None:
    """Says, before the first check of this process, what people wait for."""
    if notes.on_wait is not None:
        notes.on_wait("testing devices and building kernels, once")


def _scratch() -> IO[bytes]:
    """A file for what a process prints: a driver's stray child would hold a pipe open. On Linux it needs no disk."""
    if sys.platform == "linux":
        return open(os.memfd_create("answers"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


def _answers(output: bytes) -> list[dict[str, Any]]:
    """The lines that are JSON objects: drivers print as well."""
    answers = []
    for line in output.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                answers.append(answer)
    return answers


def death(code: int | None) -> str:
    """Says how a process ended, by its exit code."""
    import signal

    if code is not None and code < 0:
        try:
            return f"crashed ({signal.Signals(-code).name})"
        except ValueError:
            return f"crashed (signal {-code})"
    if code is None:
        return "does not end"
    return "gave no answer" if code == 0 else f"ended with exit code {code}"
