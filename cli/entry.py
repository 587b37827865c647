"""Where the program begins: a server may run the command, and then nothing that takes long to import is."""

from __future__ import annotations

import os
import sys

#: The environment that the program was started with: modules that are imported later change it.
ENVIRONMENT: dict[bytes, bytes] = dict(getattr(os, "environb", {}))


def main() -> None:
    """Runs the program and exits."""
    mode = os.environ.get("CLPIX_SERVER", "")
    if mode not in ("", "off"):
        if sys.platform == "linux":
            from . import client

            client.ask(mode, ENVIRONMENT)
        elif mode == "require":
            sys.exit("clpix: error: servers need Linux (CLPIX_SERVER=require)")
    if sys.argv[1:] == ["--version"]:
        _show_version()
    from .main import main

    main()


def _show_version() -> None:
    """Shows the version and exits, if that can be done without Python's way to it, which takes longer than Python."""
    for folder in sys.path:
        try:
            names = [name for name in os.listdir(folder or ".") if name.startswith("clpix")]
        except OSError:
            continue
        if any(name.endswith(".egg-info") for name in names):
            return
        for name in names:
            if name.startswith("clpix-") and name.endswith(".dist-info"):
                try:
                    text = f"clpix {name[6:-10]}\n".encode()
                    if os.write(1, text) == len(text):
                        os._exit(0)
                except OSError:
                    return
