"""Where the server of this program is, and which commands it runs.

The name of its socket tells installations, containers and environments apart. The server compares all of that itself;
with another name it is only not asked in vain.

This module imports nothing, as a client has no time for it.
"""

from __future__ import annotations

import os
import stat
import sys

# What begins the names of variables that act while libraries load, before a command begins.
PREFIXES = (
    b"AMD_", b"CL_", b"CUDA_", b"GALLIUM_", b"GLIBC_", b"GPU_", b"HIP_", b"HSA_", b"IGC_", b"INTEL_", b"KMP_", b"LC_",
    b"LD_", b"LIBGL_", b"LP_", b"MALLOC_", b"MESA_", b"MKL_", b"NPY_", b"NUMPY_", b"NVIDIA_", b"OCL_", b"OMP_",
    b"ONEAPI_", b"OPENBLAS_", b"OPENCL_", b"OPENIMAGEIO_", b"OCLGRIND_", b"POCL_", b"PYOPENCL_", b"PYTHON", b"ROCR_",
    b"RUSTICL_", b"SYCL_", b"TBB_", b"ZE_",
)  # fmt: skip
# Further such variables, and those by which the program finds its folders, its device and its server.
NAMES = (
    b"CLPIX_CACHE_DIR", b"CLPIX_DEVICE", b"CLPIX_SERVER_PARENT", b"CONDA_PREFIX", b"HOME", b"LANG", b"LANGUAGE",
    b"TMPDIR", b"TZ", b"XDG_CACHE_HOME",
)  # fmt: skip
# Commands that run by themselves: they manage servers, measure cold starts, or start processes of their own.
ALONE = ("server", "bench", "regress")
# Options with which a command runs by itself: it tells of its own process, starts others, or takes long anyway.
ALONE_WITH = ("--cluster", "--from0", "--recursive", "--refresh", "--timing", "--timing-file")
# The ends of names of videos, which take long.
VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm")
# What names of the process's own descriptors have in them, such as bash's <(…), and its terminal.
OWN = ("/dev/fd/", "/dev/tty", "/proc/")
# Arguments from which on a command is a batch, which may start processes, and takes long.
MANY = 100
# The namespaces that part containers from each other.
_NAMESPACES = ("cgroup", "mnt", "net", "pid", "user")
# Bytes of a socket's path, at most (sun_path, less the zero at its end).
_LONGEST = 107
# FNV-1a of 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
_OFFSET, _PRIME = 0xCBF29CE484222325, 0x100000001B3


def keyed(environment: dict[bytes, bytes]) -> list[bytes]:
    """Returns the entries of an environment in which a server has to be like its client, sorted."""
    return sorted(
        name + b"=" + value
        for name, value in environment.items()
        if name.startswith(PREFIXES) or name in NAMES
    )


def installation() -> list[bytes]:
    """Returns what tells this program from others that are installed: its folder, and its Python."""
    return [os.fsencode(os.path.dirname(__file__)), os.fsencode(sys.executable)]


def socket_path(environment: dict[bytes, bytes]) -> bytes | None:
    """Returns the path of the server's socket for an environment; None if no folder can be trusted with it."""
    folder = folder_of(environment)
    if folder is None:
        return None
    places = [os.fsencode(os.readlink(f"/proc/self/ns/{name}")) for name in _NAMESPACES]
    path = folder + b"/%016x.sock" % digest(b"\0".join([*installation(), *places, *keyed(environment)]))
    return path if len(path) <= _LONGEST else None


def digest(data: bytes) -> int:
    """Returns a short number for bytes: nothing is proved by it."""
    value = _OFFSET
    for byte in data:
        value = (value ^ byte) * _PRIME & 0xFFFFFFFFFFFFFFFF
    return value


def folder_of(environment: dict[bytes, bytes], *, make: bool = False) -> bytes | None:
    """Returns the folder of servers' sockets, which belongs to this user alone; None if there is no such folder."""
    if sys.platform == "win32":
        return None
    base = environment.get(b"XDG_RUNTIME_DIR", b"")
    if base.startswith(b"/") and is_private(base):
        folder = base + b"/clpix"
    else:
        base = environment.get(b"TMPDIR", b"")
        folder = (base if base.startswith(b"/") else b"/tmp") + b"/clpix-%d" % os.geteuid()
    if make and not os.path.lexists(folder):
        os.mkdir(folder, 0o700)
    return folder if is_private(folder) else None


def is_private(folder: bytes) -> bool:
    """Says whether a path is a folder, no link to one, that nobody but this user can look into."""
    if sys.platform == "win32":
        return False
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
