"""What --memory and --device-memory promise: measured, and by a limit of the address space that the system enforces."""

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Picture

from .conftest import run_python

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")

# What is promised, for the host and for the device, which may be the host.
EACH = 256 << 20
PROMISE = 2 * EACH
# Steps whose spectra of the large picture's upper part take more than that.
CROP = "crop --region 0%,0%,100%,20%"
# A program that runs a command on small pictures, and then on large ones in no more memory than was promised beside
# what the first run took. All of it is address space, that of the libraries' threads and heaps and of the driver's
# compiler among it: such a limit is stricter than one of what is used. The program tells how much of both it took.
PROGRAM = """
import resource, sys
from clpix.main import main
def now(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1]) << 10
def run(command, folder, options):
    try:
        main([command, *(f"{folder}/{name}.tif" for name in names), *options])
    except SystemExit as end:
        return end.code
promise, names, command, small, large, code, *options = sys.argv[1:]
names = names.split()
assert str(run(command, small, options)) == code
space, used = now("VmPeak"), now("VmHWM")
limit = space + int(promise)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    bytearray(limit)
except MemoryError:
    pass
else:
    raise AssertionError("the limit does not bind")
assert str(run(command, large, options)) == code
print(now("VmPeak") - space, now("VmHWM") - used)
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two folders with two tiled pictures each: of a few pixels, and of 288 MB. They differ in some rows."""
    folder = tmp_path_factory.mktemp("pictures")
    for name, width, height in (("small", 320, 256), ("large", 8_000, 12_000)):
        (folder / name).mkdir()
        row = np.tile(np.arange(250, dtype=np.uint8), width // 250 + 1)[:width, None].repeat(3, 1)
        header = Picture(files.unread((height, width, 3), np.dtype(np.uint8)))
        for which in "ab":
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("gpuops.files.tiff._TILED", 1)
                with files.writing(folder / name / f"{which}.tif", header) as put:
                    for first in range(0, height, 128):
                        rows = np.roll(row, first, 0)[None].repeat(min(128, height - first), 0)
                        rows[:9] += which == "b"
                        put(rows)
    yield folder
    for path in folder.rglob("*.tif"):
        path.unlink()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("names", "command", "code"), [
    ("a", "blur --sigma 10", 0),
    ("a", "blur --sigma 10 --border wrap", 0),
    ("a", "bloom --method gaussians", 0),
    ("a", "deconvolve --method richardson-lucy --sigma 1 --iterations 3", 0),
    ("a", f"{CROP} then filter --kind lowpass --cutoff 0.1 --scratch HERE", 0),
    ("a", f"{CROP} then deconvolve --sigma 2 --scratch HERE", 0),
    ("a", "dwt --levels 3 --scratch HERE", 0),
    ("a b", "compare", 1),
    ("a b", "compare --metric pixelmatch --metric de2000", 1),
    ("a", "info --stats", 0),
])  # fmt: skip
def test_a_limit_of_the_address_space_is_kept(gpu, pictures, tmp_path, names, command, code) -> None:
    """A command that has room for a small picture, and for what it was promised, has room for a large one."""
    if not gpu.limits.is_cpu:
        pytest.skip("a GPU's driver maps address space as it likes")
    name, *options = command.replace("HERE", str(tmp_path)).split()
    if name != "info" and command != "compare":
        options += ["-o", str(tmp_path / ("out.npz" if name == "dwt" else "out.tif")), "--overwrite"]
    limits = ["--memory", str(EACH), "--device-memory", str(EACH)]
    folders = [str(pictures / "small"), str(pictures / "large")]
    done = run_python("-c", PROGRAM, PROMISE, names, name, *folders, code, *options, *limits)
    assert done.returncode == 0, done.stderr
    mapped, used = map(int, done.stdout.split("\n")[-2].split())
    assert mapped <= PROMISE and used <= PROMISE


@pytest.mark.exhaustive
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
@pytest.mark.parametrize("kept", [True, False])
def test_freed_memory_is_kept_unless_it_is_limited(kept) -> None:
    """A batch keeps it for its next picture. Where memory is limited it goes back to the system."""
    code = f"""
import numpy as np
from gpuops.process import memory
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
memory.keep_freed()
if not {kept}:
    memory.give_back()
before = resident()
for size in (8, 12, 10):
    block = np.ones(size << 20)
    del block
print(resident() - before)
"""
    run = run_python("-c", code, check=True)
    assert (int(run.stdout) > 60e6) == kept
