"""Pointers of Git LFS: small texts that stand in a working tree for files that were not fetched.

Source: the specification of Git LFS, docs/spec.md: the first line of a pointer is ``version`` and the address of the
specification, the first one of which was at hawser.github.com; a pointer has fewer than 1024 bytes.
"""

from __future__ import annotations

from ..errors import FileError

_STARTS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")


def beginning(name: str, count: int) -> bytes:
    """The first ``count`` bytes of a file. Raises FileError if it is empty, or a pointer."""
    with open(name, "rb") as file:
        start = file.read(count)
    if not start:
        raise FileError(f"{name}: is empty (0 bytes)")
    refuse_pointer(name, start)
    return start


def refuse_pointer(name: str, start: bytes) -> None:
    """Raises FileError if a file begins as a pointer does."""
    if start.startswith(_STARTS):
        raise FileError(
            f"{name}: is a pointer of Git LFS and not the file itself: fetch it by 'git lfs pull' (in GitHub Actions: "
            "actions/checkout with lfs: true)"
        )
