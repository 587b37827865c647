"""Large libraries, loaded while Python does something else: while a module is being imported, no other thread runs.

The dynamic linker takes most of the time until an OpenCL platform answers, as drivers bring whole compilers with them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

#: Whether this process takes a single device, and nobody else in it takes another.
single = False


def extension(package: str) -> None:
    """Loads the extension module of a package's own name, and all libraries it needs, for an import that comes next."""
    from importlib.util import find_spec

    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        load(f"{folder}/{package}{EXTENSION_SUFFIXES[0]}")


def load(library: str) -> None:
    """Loads a shared library for good, if it is there; ``ctypes.CDLL`` would hold Python's lock meanwhile."""
    if sys.platform == "win32":
        return
    function = _dlopen()
    if function is not None:
        function(os.fsencode(library), os.RTLD_LAZY)


def ask(library: str) -> None:
    """Has an OpenCL driver look for its platforms, which graphics cards' drivers take long for, as the loader would.

    Source: the extension cl_khr_icd of OpenCL.
    """
    with suppress(OSError, AttributeError, ValueError):
        driver = ctypes.CDLL(library)
        driver.clGetExtensionFunctionAddress.restype = ctypes.c_void_p
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint))
        address = driver.clGetExtensionFunctionAddress(b"clIcdGetPlatformIDsKHR")
        if address:
            kind(address)(0, None, ctypes.byref(ctypes.c_uint()))


@cache
def _dlopen() -> Any:
    """The system's function; None where there is none."""
    function = getattr(ctypes.CDLL(None), "dlopen", None) if os.name == "posix" else None
    if function is not None:
        function.argtypes, function.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    return function
