"""Temporary files: nothing stays of a process that was killed, and nothing is taken from one that lives."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gpuops.errors import FileError
from gpuops.files import FORMATS, Picture, drafts, output, write

from .choices import of_formats

#: Writes half of a file, says so, and waits for its end.
HALF = """
import sys, time
from pathlib import Path
from gpuops.files import drafts
from gpuops.files.output import atomic
with atomic(sys.argv[1]) as temporary, drafts.draft_folder() as folder:
    Path(temporary).write_text("half")
    Path(folder, "half").write_text("half")
    print(temporary, folder, flush=True)
    sys.stdin.read()
    Path(temporary).write_text("whole")
"""

#: Ends, as a signal makes it, while threads open their drafts by name again and again.
ENDS = """
import os, sys, threading, time
from contextlib import suppress
from gpuops.files import drafts
def write():
    with drafts.draft_file(sys.argv[1]) as path:
        while True:
            with suppress(OSError):
                open(path, "wb").close()
def read():
    while True:
        open(os.devnull).close()
for _ in range(4):
    threading.Thread(target=write).start()
    threading.Thread(target=read).start()
time.sleep(0.1)
drafts.discard_unfinished()
time.sleep(0.1)
os._exit(0)
"""


@contextmanager
def writer(path: Path) -> Iterator[tuple[subprocess.Popen, Path, Path]]:
    """A process that is in the middle of writing a file, its temporary file, and its temporary folder."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HALF, path]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout
            file, folder = map(Path, process.stdout.readline().split())
            yield process, file, folder
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def temporary_files_of_its_own(tmp_path, monkeypatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)


def run(code: str, *args: object) -> str:
    """Runs a program, and returns what it complains of."""
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, input="", stderr=subprocess.PIPE, text=True, check=True).stderr


def test_a_later_run_sweeps_what_a_killed_one_has_left(tmp_path) -> None:
    with writer(tmp_path / "a.txt") as (process, file, folder):
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert file.read_text() == "half" and (folder / "half").read_text() == "half"
    run(HALF, tmp_path / "b.txt")
    assert not file.exists() and not folder.exists() and (tmp_path / "b.txt").read_text() == "whole"
    assert sorted(os.listdir(tmp_path)) == ["b.txt", "tmp"] and os.listdir(tmp_path / "tmp") == []


def test_a_run_leaves_alone_what_another_one_is_writing(tmp_path) -> None:
    with writer(tmp_path / "a.txt") as (process, file, folder):
        run(HALF, tmp_path / "b.txt")
        drafts.sweep(str(tmp_path))
        drafts.sweep(str(tmp_path / "tmp"))
        assert file.read_text() == "half" and (folder / "half").exists()
        assert process.communicate("", timeout=300) is not None
    assert (tmp_path / "a.txt").read_text() == "whole"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt", "tmp"]


@pytest.mark.parametrize("links", [True, False])
def test_a_draft_that_an_interruption_removes_leaves_no_empty_file(links, tmp_path, monkeypatch) -> None:
    def refused(*_: str) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", refused)
    with pytest.raises(FileError), output.atomic(tmp_path / "a", tells_errors=True) as draft:
        os.unlink(draft)
    with output.atomic(tmp_path / "b", tells_errors=True) as draft:
        Path(draft).write_text("whole")
    assert sorted(os.listdir(tmp_path)) == ["b", "tmp"]


@pytest.mark.parametrize("fmt", of_formats(FORMATS), ids=str)
def test_no_format_loses_its_lock_while_it_is_written(fmt, tmp_path, monkeypatch) -> None:
    """A codec that puts another file in the place of the temporary one would leave that without a lock."""

    move = output._move

    def check(path: str, target: str, *, overwrite: bool) -> None:
        drafts.sweep(str(tmp_path))
        assert os.path.exists(path)
        move(path, target, overwrite=overwrite)

    monkeypatch.setattr(output, "_move", check)
    pixels = np.zeros((40, 40, 3), fmt.dtypes[-1])
    write(tmp_path / f"a{fmt.extension}", Picture(pixels))
    assert sorted(os.listdir(tmp_path)) == [f"a{fmt.extension}", "tmp"]


def test_only_drafts_that_cannot_be_alive_are_swept(tmp_path, monkeypatch) -> None:
    here, elsewhere, token = drafts._boot(), "0" * 32, "1" * 16
    left = tmp_path / f".clpix-{here}-{token}.png"
    others = tmp_path / f".clpix-{elsewhere}-{token}.png"
    kept = [
        f".clpix-{here}.png", f"clpix-{here}-{token}.png", f".clpix-{here}-{token}.png.txt", ".clpix-1.png",
    ]  # fmt: skip
    for name in (left.name, others.name, *kept):
        (tmp_path / name).touch()
    target = tmp_path / "precious.png"
    target.write_text("precious")
    link = tmp_path / f".clpix-{here}-{'2' * 16}.png"
    link.symlink_to(target)
    # On a network disk another machine's lock may be invisible.
    monkeypatch.setattr(drafts.locks, "is_of_this_machine", lambda _: False)
    drafts.sweep(str(tmp_path))
    assert not left.exists() and others.exists()
    # This machine's own disk, after a new start of the machine.
    monkeypatch.setattr(drafts.locks, "is_of_this_machine", lambda _: True)
    drafts.sweep(str(tmp_path))
    assert not others.exists() and link.is_symlink() and target.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, link.name, target.name, "tmp"])


def test_a_draft_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch) -> None:
    seen: list[str] = []
    hold = drafts.locks.hold

    def sweep_first(descriptor: int) -> None:
        (path,) = drafts._unfinished.difference(seen)
        seen.append(path)
        if len(seen) == 1:
            os.unlink(path)
        hold(descriptor)

    monkeypatch.setattr(drafts.locks, "hold", sweep_first)
    with drafts.draft_file(tmp_path, ".txt") as path:
        assert os.path.exists(path) and path not in seen[:1] and len(seen) == 2


def test_a_disk_without_locks_is_written_and_not_swept(tmp_path, monkeypatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with output.atomic(tmp_path / "a.txt") as temporary:
        Path(temporary).write_text("whole")
        drafts.sweep(str(tmp_path))
    assert (tmp_path / "a.txt").read_text() == "whole"


@pytest.mark.exhaustive
def test_a_codec_that_opens_its_draft_by_name_does_not_make_it_anew(tmp_path) -> None:
    for _ in range(5):
        assert run(ENDS, tmp_path) == ""  # nor is anything said of the files that could not be opened
        assert os.listdir(tmp_path) == ["tmp"]


@pytest.mark.exhaustive
def test_a_program_killed_while_it_writes(tmp_path) -> None:
    """The whole program: a picture that takes a while to be encoded, and SIGKILL as soon as its file appears."""
    code = (
        "import sys, numpy as np; from gpuops.files import Picture, write;"
        "write(sys.argv[1], Picture(np.random.default_rng(1).integers(0, 255, (3000, 3000, 3), np.uint8)))"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path / "a.png"]) as process:
        while not (found := list(tmp_path.glob(".clpix-*"))) and process.poll() is None:
            time.sleep(0.001)
        process.kill()
    assert found
    write(tmp_path / "b.png", Picture(np.zeros((1, 1, 3), np.uint8)))
    assert sorted(os.listdir(tmp_path)) == ["b.png", "tmp"]


def test_permissions(tmp_path) -> None:
    """A draft is for its owner alone, or has the permissions of any new file, which the umask restricts."""
    before = os.umask(0o027)
    try:
        with drafts.draft_file(tmp_path) as private, drafts.draft_file(tmp_path, mode=drafts.USUAL) as usual:
            assert [os.stat(path).st_mode & 0o777 for path in (private, usual)] == [0o600, 0o640]
    finally:
        os.umask(before)
