"""The processor of this machine, by what its drivers depend on."""

from __future__ import annotations

import contextlib
import os
import platform

from gpuops.device import verdicts


def described() -> dict[str, str]:
    """Returns Linux's entries for the first processor: vendor_id, model name, flags."""
    text = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", "rb") as file:
        text = (
            file.read(8192).partition(b"\n\n")[0].decode(errors="replace")
        )  # the whole file takes long on big machines
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def identity() -> str:
    """Returns all that code built for this processor depends on. Clouds give different processors the same name."""
    read = described()
    target = os.environ.get("CL_CONFIG_CPU_TARGET_ARCH", "")
    return verdicts.digest([platform.machine(), read.get("model name", ""), read.get("flags", ""), target])
