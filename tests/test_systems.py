"""What differs between systems: locks, groups of processes, memory, and places of open files."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuops.device import cache
from gpuops.process import descriptors, groups, locks, memory

from .test_devices import lives

HOLD = (
    "import os, sys, time; from gpuops.process import locks; "
    "file = locks.opened(sys.argv[1]); locks.hold(file); print('held', flush=True); time.sleep(60)"
)


def test_a_lock_is_held_until_its_process_ends(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        file = locks.opened(str(path))
        with pytest.raises(BlockingIOError):
            locks.hold(file)
        other.kill()
        other.wait()
        locks.hold(file, wait=True)
        assert path.read_bytes() == b"content"
        os.close(file)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups")
def test_a_process_ends_with_what_it_has_started(tmp_path) -> None:
    program = (
        "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    process = groups.start([sys.executable, "-c", program], stdin=pipe, stdout=pipe)
    with process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        groups.end(process)
        process.wait(10)
        groups.end(process)  # it has ended: nothing happens
    deadline = time.monotonic() + 10
    while lives(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_usual_folder_of_the_cache(monkeypatch, tmp_path) -> None:
    """On Linux, as the XDG Base Directory Specification says."""
    monkeypatch.delenv("CLPIX_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    folder = cache.cache_folder.__wrapped__
    if sys.platform == "linux":
        assert folder() == tmp_path / "other" / "clpix"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert folder() == tmp_path / ".cache" / "clpix"
    monkeypatch.setenv("CLPIX_CACHE_DIR", str(tmp_path / "chosen"))
    assert folder() == tmp_path / "chosen"


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="compares with /proc")
def test_memory_is_what_the_system_says() -> None:
    known = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert memory.of_machine() == pytest.approx(known, rel=0.01)
    assert 10e6 < memory.peak() < memory.of_machine()


def test_places_of_open_files(tmp_path) -> None:
    with open(tmp_path / "file", "w+b", buffering=0) as file:
        assert descriptors.write_at(file.fileno(), memoryview(b"abc"), 5) == 3
        into = bytearray(4)
        assert descriptors.read_at(file.fileno(), memoryview(into), 4) == 4 and into == b"\0abc"
        assert descriptors.read_at(file.fileno(), memoryview(into), 8) == 0
