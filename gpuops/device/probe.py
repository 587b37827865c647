"""This module runs the canary in a process of its own, with a time limit, and remembers its verdict."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import clkernels
from gpuops import notes
from gpuops.device import cache, pocl
from gpuops.device.info import DeviceInfo
from gpuops.process import groups, memory

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


def verdict(
    info: DeviceInfo, platform_version: str, ordinal: int, *, refresh: bool = False, measured: bool = False
) -> Verdict:
    """Whether a device works: from the cache, or by trying. `ordinal` counts devices that look the same.

    ``gflops`` is known if this call, or one before, asked that it be `measured`.
    """
    key = {
        "platform": [info.platform, platform_version],
        "device": [info.name, info.driver, info.version, info.compute_units, ordinal],
        "machine": cache.processor_identity() if info.kind == "cpu" else "",
        "program": program(),
    }
    name = cache.digest(key)

    def suffices(outcome: Verdict) -> bool:
        return not measured or not outcome.usable or outcome.gflops is not None

    if not refresh:
        for outcome in (_verdicts.get(name), _cached(key)):
            if outcome and suffices(outcome):
                return outcome
    # Other processes must not disturb the measuring, nor be disturbed. Each GPU is one for itself.
    with cache.lock("" if info.kind == "cpu" else name):
        outcome = None if refresh else _cached(key)  # another process may have been faster
        if not outcome or not suffices(outcome):
            sought = {"platform": key["platform"], "device": [info.name, info.driver], "ordinal": ordinal}
            outcome = _tried(sought, {}, measured)
            if not outcome.usable and pocl.keeps_programs(info.platform):
                # One may be damaged unseen. Other processes run them, so they go only if the check passes without.
                from tempfile import TemporaryDirectory

                with TemporaryDirectory(dir=os.environ[pocl.FOLDER]) as folder:
                    anew = _tried(sought, {pocl.FOLDER: folder}, measured)
                if anew.usable:
                    outcome = anew
                    pocl.forget()
            lack = None if outcome.usable else pocl.lack(info.platform)
            if lack is None:
                cache.save_value("device", key, outcome._asdict(), bad=not outcome.usable)
            else:
                outcome = Verdict(usable=False, reason=lack)
    _verdicts[name] = outcome
    return outcome


def _tried(sought: Mapping[str, Any], environment: Mapping[str, str], measured: bool) -> Verdict:
    outcome = _verdict(run_canary(["measure" if measured else "probe", json.dumps(sought)], environment))
    return outcome or Verdict(usable=False, reason="its check gave no sensible answer")


def _cached(key: Mapping[str, Any]) -> Verdict | None:
    entry = cache.load_value("device", key)
    return _verdict(entry) if entry else None


def _verdict(answer: Mapping[str, Any]) -> Verdict | None:
    """A verdict from JSON, if it is one."""
    usable, reason = answer.get("usable"), answer.get("reason")
    copy_gbps, gflops = answer.get("copy_gbps"), answer.get("gflops")
    numbers = all(value is None or isinstance(value, (int, float)) for value in (copy_gbps, gflops))
    if not isinstance(usable, bool) or not numbers or not (usable or isinstance(reason, str)):
        return None
    return Verdict(usable, None if usable else reason, copy_gbps, gflops)


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
            # Without the cache, kernels are really built.
            variables = {**os.environ, "PYOPENCL_NO_CACHE": "1", **environment}
            process = groups.start(
                command(arguments), stdout=output, stderr=subprocess.DEVNULL, env=variables
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
        last = _last_answer(output.read())
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


def _last_answer(output: bytes) -> dict[str, Any]:
    """The last line that is a JSON object, as drivers print as well; an empty one if there is none."""
    for line in reversed(output.splitlines()):
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(answer := json.loads(line), dict):
                return answer
    return {}


def death(code: int | None) -> str:
    """Says how a process ended, by its exit code."""
    if code is None:
        return "does not end"
    if code < 0:
        return f"crashed ({groups.signal_name(code)})"
    return "gave no answer" if code == 0 else f"ended with exit code {code}"
