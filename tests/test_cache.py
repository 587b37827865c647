"""The cache costs time only: where it cannot be kept, is damaged, or is somebody else's."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuops import notes
from gpuops.device import cache

from .choices import each
from .test_device import python

# What a new process must not inherit from this one.
ELSEWHERE = ("CLPIX_CACHE_DIR", "POCL_CACHE_DIR", "OCL_ICD_VENDORS")
SITUATIONS = {
    "home read-only": "mount -t tmpfs -o ro none $DISK; export HOME=$DISK; unset XDG_CACHE_HOME",
    "disk full": "mount -t tmpfs -o size=64k,mode=755 none $DISK; export HOME=$DISK TMPDIR=$DISK CLPIX_CACHE_DIR=$DISK",
    "root read-only": "mount -o remount,ro,bind /",
    "another user": "export HOME=/nonexistent; AS='setpriv --reuid 65534 --regid 65534 --clear-groups'",
}
SETTING = "mount --make-rprivate /; mount -t tmpfs -o size=200m,mode=1777 none /dev/shm; cp $SOURCE /dev/shm/a.npy; "
BLUR = (
    "from clpix.main import main; main(['blur', {source!r}, '--sigma', '2', '-o', {output!r}, '--overwrite'])"
)


def save(folder: Path) -> Path:
    path = folder / "a.npy"
    np.save(path, np.random.default_rng(1).random((9, 13, 3), np.float32))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are made as on Linux")
@pytest.mark.exhaustive
@pytest.mark.parametrize("situation", SITUATIONS)
def test_where_nothing_can_be_kept(situation, tmp_path) -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounts are not allowed here")
    program = BLUR.format(source="/dev/shm/a.npy", output="/dev/shm/b.npy")
    run = f'cd /; $AS "{sys.executable}" -c "{program}" && cat /dev/shm/b.npy'
    if (
        situation == "another user"
        and subprocess.run(
            ["setpriv", "--reuid", "65534", "sh", "-c", f'"{sys.executable}" -c ""'],
            capture_output=True,
            check=False,
        ).returncode
    ):
        pytest.skip("another user cannot run this Python")
    (disk := tmp_path / "disk").mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    done = subprocess.run(
        ["unshare", "-m", "bash", "-ec", f"{SETTING}{SITUATIONS[situation]}; {run}"],
        env=environment | {"DISK": str(disk), "SOURCE": str(save(tmp_path)), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    result = tmp_path / "result.npy"
    result.write_bytes(done.stdout)
    assert np.isfinite(np.load(result)).all() and np.load(result).shape == (9, 13, 3)


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> tuple[Path, bytes, Callable[[Path], bytes]]:
    """A cache in which all is that a program needs, the bytes that it wrote, and what runs it with another cache."""
    folder = tmp_path_factory.mktemp("kept")
    output = folder / "b.npy"
    program = BLUR.format(source=str(save(folder)), output=str(output))

    def blurred(cache: Path) -> bytes:
        output.unlink(missing_ok=True)
        done = python(program, CLPIX_CACHE_DIR=str(cache), POCL_CACHE_DIR=None)
        assert (done.returncode, done.stderr) == (0, "")
        return output.read_bytes()

    return folder / "cache", blurred(folder / "cache"), blurred


@pytest.mark.cases(2)
@each(each__how=[(False, "at once"), (False, "blank"), (False, "later"), (True, "later")])
def test_damaged_files(each, how, kept, tmp_path) -> None:
    """All files of a cache, or each alone, in another way; the damage is later than the minute in which PoCL makes a
    file, or at once.

    Or PoCL's files are of zeros, and as old as they were, while all else is good.
    """
    (good, expected, blurred), used = kept, tmp_path / "used"
    names = [path.relative_to(good) for path in good.rglob("*") if path.is_file()]
    noise = random.Random(1).randbytes
    ways = [lambda old: b"", lambda old: old[: len(old) // 2], lambda old: noise(len(old) or 9), None]
    if how == "blank":
        names, ways = [name for name in names if name.parts[0] == "pocl"], [lambda old: bytes(len(old))]
    damages = [(name, ways[i % len(ways)]) for i, name in enumerate(sorted(names))]
    for some in ([damage] for damage in damages) if each else [damages]:
        shutil.copytree(good, used)
        for name, damaged in some:
            if damaged is None:
                (used / name).unlink()
                (used / name).mkdir()
                continue
            (used / name).write_bytes(damaged((used / name).read_bytes()))
            later = os.stat(good / name).st_mtime + 1000 * (how == "later")
            os.utime(used / name, (later, later))
        assert blurred(used) == expected, some
        assert not any((used / name).is_dir() for name in names if name.suffix == ".json")
        shutil.rmtree(used)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_folder_of_others_is_not_used(monkeypatch, tmp_path) -> None:
    chosen, temporary, said = tmp_path / "chosen", tmp_path / "temporary", []
    monkeypatch.setenv("CLPIX_CACHE_DIR", str(chosen))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = os.umask(0)
    try:
        cache.make(chosen / "a" / "b")
        temporary.mkdir()
        assert [path.stat().st_mode & 0o777 for path in (chosen, chosen / "a", chosen / "a" / "b")] == [
            0o700
        ] * 3
        assert next(cache.folders()) == chosen
        with notes.to(said.append):
            chosen.chmod(0o720)
            assert next(cache.folders()) == temporary / f"clpix-{os.getuid()}"
            assert (temporary / f"clpix-{os.getuid()}").stat().st_mode & 0o777 == 0o700
            chosen.chmod(0o755)
            user = os.getuid()
            (temporary / f"clpix-{user + 1}").mkdir()
            monkeypatch.setattr(os, "getuid", lambda: user + 1)
            assert not {chosen, temporary / f"clpix-{user + 1}"} & set(cache.folders())
    finally:
        os.umask(before)
    assert len(said) == 2 and "others can write to it" in said[0] and "belongs to another user" in said[1]


@pytest.mark.skipif(sys.platform != "linux", reason="the usual folder is as on Linux")
def test_the_usual_folder_becomes_private(monkeypatch, tmp_path) -> None:
    """Where a umask has let a group write to it, it is emptied, and nothing is said."""
    monkeypatch.delenv("CLPIX_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual, said = tmp_path / "clpix", []
    (usual / "kernels").mkdir(parents=True)
    usual.chmod(0o775)
    with notes.to(said.append):
        assert next(cache.folders()) == usual
    assert usual.stat().st_mode & 0o777 == 0o700 and not os.listdir(usual) and not said
