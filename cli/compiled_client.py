"""The client in C, which is compiled where it is wanted."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from gpuops.errors import FileError, visible
from gpuops.files.drafts import draft_file

from . import address

# The compilers that are looked for, where CC names none.
_COMPILERS = ("cc", "gcc", "clang")


def compile_to(path: str) -> None:
    """Compiles the client for this program. Raises FileError where that fails."""
    named = shlex.split(os.environ.get("CC", ""))
    compiler = named or [name for name in _COMPILERS if shutil.which(name)][:1]
    if not compiler:
        raise FileError(f"no C compiler is there ({', '.join(_COMPILERS)}): install one, or name it with CC")
    source = Path(__file__).with_name("client.c")
    macros = [f"-D{name}={value}" for name, value in _macros().items()]
    target = Path(path)
    try:
        with draft_file(target.parent) as draft:
            command = [*compiler, "-O2", "-std=gnu99", *macros, "-o", draft, str(source)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            if done.returncode:
                raise FileError(f"{compiler[0]} fails: {visible(done.stderr.strip().partition(chr(10))[0])}")
            os.chmod(draft, 0o755)
            os.replace(draft, target)
    except OSError as error:
        raise FileError(f"{error.filename or path}: {error.strerror}") from None


def _macros() -> dict[str, str]:
    """Returns what the client in C shares with the one in Python."""
    package, python = address.installation()
    script = os.path.join(os.path.dirname(sys.executable), "clpix")
    return {
        "PACKAGE": _text(package),
        "PYTHON": _text(python),
        "SCRIPT": _text(os.fsencode(script) if os.access(script, os.X_OK) else b""),
        "PREFIXES": ",".join(map(_text, address.PREFIXES)),
        "NAMES": ",".join(map(_text, address.NAMES)),
        "ALONE": ",".join(_text(word.encode()) for word in address.ALONE),
        "ALONE_WITH": ",".join(_text(word.encode()) for word in address.ALONE_WITH),
        "VIDEOS": ",".join(_text(word.encode()) for word in address.VIDEOS),
        "OWN": ",".join(_text(word.encode()) for word in address.OWN),
        "MANY": str(address.MANY),
    }


def _text(data: bytes) -> str:
    """Returns bytes as a literal of C."""
    return (
        '"'
        + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in data)
        + '"'
    )
