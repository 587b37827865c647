"""Servers that are upgraded, whose disk is full, or that are asked by the client in C."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .choices import each
from .conftest import run_python
from .servers import PROGRAM, Server, ended, lives, served, until, waits_for_input
from .test_server import BLUR, INTERRUPTED, here  # noqa: F401
from .test_server import server as server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers need Linux")
ROOT = Path(__file__).parent.parent


@pytest.mark.exhaustive
@pytest.mark.parametrize("changed", ["gpuops/__init__.py", "clpix/main.py"])
def test_an_upgrade_ends_the_server(here, tmp_path, changed) -> None:  # noqa: F811
    library = tmp_path / "library"
    for name, package in (("cli", "clpix"), ("gpuops", "gpuops"), ("clkernels", "clkernels")):
        shutil.copytree(ROOT / name, library / package)
    with served(tmp_path / "r", PYTHONPATH=str(library)) as server:
        pid = server.status()["pid"]
        assert server.run(*BLUR, "before.png").returncode == 0
        process = server.open("blur", "-", "--sigma", "2", "-o", "running.png")
        waits_for_input(process)
        (library / changed).touch()
        assert server.run(*BLUR, "cold.png", mode="auto").returncode == 0
        refused = server.run(*BLUR, "none.png")
        assert refused.returncode == 1 and not Path("none.png").exists()
        assert lives(pid)
        process.communicate(Path("in.png").read_bytes()[8:], timeout=60)
        assert process.returncode == 0 and Path("running.png").exists()
        until(lambda: not lives(pid))
        assert "files have changed" in server.manage("log").stdout
        assert server.start() != pid and server.run(*BLUR, "after.png").returncode == 0
    assert (
        len({path.read_bytes() for path in here.glob("*.png") if path.stem in ("before", "cold", "after")})
        == 1
    )


def test_a_full_disk(here, tmp_path) -> None:  # noqa: F811
    disk = tmp_path / "d"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", disk], capture_output=True
    ).returncode:
        pytest.skip("no disk can be mounted")
    try:
        with served(disk) as server:
            with (disk / "large").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
                while True:
                    file.write(bytes(4096))
            assert (
                server.run("info", "in.png", env=server.asking(PYTHONHASHSEED="1")).returncode == 1
            )  # which it logs
            assert server.run(*BLUR, "out.png").returncode == 0
            full = server.run(*BLUR, disk / "out.png")
            alone = server.run(*BLUR, disk / "out.png", mode="off")
            assert (full.returncode, full.stderr) == (alone.returncode, alone.stderr) and full.returncode == 1
            assert [path.name for path in disk.iterdir() if path.name.startswith(".")] == []
        started = server.manage("start")
        assert started.returncode in (0, 1) and started.stderr.count("\n") == started.returncode
        server.manage("stop", "--all")
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The client in C."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler is there")
    path = tmp_path_factory.mktemp("client") / "clpixc"
    subprocess.run([*PROGRAM, "server", "client", path], check=True)
    return str(path)


def both(server: Server, compiled: str, shell: str, folder: Path) -> tuple[int, bytes]:
    """Runs a shell's line by the client in C and by the program alone, with equal results; gives them."""
    results = []
    for program, mode in ((f"'{PROGRAM[0]}' -m clpix", "off"), (f"'{compiled}'", "require")):
        fresh = folder.parent / f"at-{mode}"
        shutil.copytree(folder, fresh)
        before = server.status()["served"]
        line = shell.replace("clpix", program)
        done = subprocess.run(
            ["bash", "-c", line], cwd=fresh, env=server.asking(mode), capture_output=True, timeout=600
        )
        assert server.status()["served"] - before == (mode == "require")
        made = {
            path.name: (path.stat().st_mode, path.read_bytes()) for path in fresh.iterdir() if path.is_file()
        }
        results.append((done.returncode, done.stdout, done.stderr, made))
        shutil.rmtree(fresh)
    assert results[0] == results[1]
    return results[0][:2]


@each(
    line__code=[
        ("clpix blur in.png --sigma 2 -o out.png", 0), ("clpix compare in.png other.png", 1),
        ("umask 077; cat in.png | clpix blur - --sigma 2 -o out.png", 0), ("clpix blur none.png --sigma 2 -o o.png", 1),
        ("clpix info in.png >&-", 1), ("clpix info in.png <&-", 0), ("clpix blur --help | head -1", 0),
        ("LC_ALL= LANG= LC_CTYPE= clpix info in.png || exit 5", 5), ("LARGE=1 clpix --help", 0),
    ]
)  # fmt: skip
def test_the_client_in_c_does_the_same(server, compiled, here, line, code) -> None:  # noqa: F811
    if code == 5:  # another environment: it is refused, but understood
        done = subprocess.run(
            ["bash", "-c", line.replace("clpix", compiled)], env=server.asking(), capture_output=True
        )
        assert done.returncode == 5 and b"CLPIX_SERVER=require" in done.stderr
    else:
        assert both(server, compiled, line, here)[0] == code


def test_the_client_in_c_hands_over_what_no_server_runs(compiled, here, tmp_path) -> None:  # noqa: F811
    alone = Server(tmp_path / "r")
    for mode in ("off", "auto"):
        done = subprocess.run([compiled, *BLUR, f"{mode}.png"], env=alone.asking(mode), capture_output=True)
        assert done.returncode == 0, done.stderr
    done = subprocess.run([compiled, *BLUR, "none.png"], env=alone.asking(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "clpix: error: no server runs (CLPIX_SERVER=require)\n")
    done = subprocess.run([compiled, "server", "status"], env=alone.asking(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "No server runs for this environment.\n")


@pytest.mark.parametrize("locale", ["C", "POSIX", ""])
def test_the_client_in_c_finds_the_server_in_every_locale(compiled, here, tmp_path, locale) -> None:  # noqa: F811
    """Python changes the environment in the C locale (PEP 538)."""
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    server = Server(tmp_path / "r")
    server.environment = {
        **kept,
        "XDG_RUNTIME_DIR": str(server.folder),
        **({"LANG": locale} if locale else {}),
    }
    server.start()
    try:
        for program in (PROGRAM, (compiled,)):
            subprocess.run([*program, "info", "in.png"], env=server.asking(), check=True, capture_output=True)
    finally:
        server.manage("stop")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_client_in_c_sends_signals_on(server, compiled, here, name) -> None:  # noqa: F811
    number = getattr(signal, name)
    command = [compiled, "blur", "in.png", "-", "--sigma", "2", "-o", "out/{index}.png"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=server.asking(), stdin=pipe, stderr=pipe)
    waits_for_input(process)
    (child,) = server.children()
    process.send_signal(number)
    assert ended(process) == (128 + number, INTERRUPTED)
    assert not lives(child)


def test_the_client_in_c_survives_its_server(compiled, here, tmp_path) -> None:  # noqa: F811
    server = Server(tmp_path / "r")
    pid = server.start()
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [compiled, "blur", "-", "--sigma", "2", "-o", "o.png"], env=server.asking(), stdin=pipe, stderr=pipe
    )
    waits_for_input(process)
    os.kill(pid, signal.SIGKILL)
    code, said = ended(process)
    assert code == 1 and said.count(b"\n") == 1 and b"the server ended while the command ran" in said


def test_no_compiler(tmp_path) -> None:
    for named, words in (("false", "false fails"), ("/none/cc", "could not")):
        done = subprocess.run(
            [*PROGRAM, "server", "client", tmp_path / "c"],
            env=os.environ | {"CC": named},
            capture_output=True,
            text=True,
        )
        assert (
            done.returncode == 1
            and done.stderr.count("\n") == 1
            and (words in done.stderr or named in done.stderr)
        )
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_is_open_already(here, tmp_path) -> None:  # noqa: F811
    with served(tmp_path / "r", "--ready", 1) as server:
        until(lambda: server.status()["ready"] == 1)
        (waiting,) = server.children()
        assert server.run(*BLUR, "cold.png", mode="off").returncode == 0
        process = server.open("blur", "-", "--sigma", "2", "-o", "warm.png")
        waits_for_input(process)
        assert waiting in server.children()
        process.communicate(Path("in.png").read_bytes()[8:], timeout=60)
        assert process.returncode == 0 and not lives(waiting)
        assert Path("warm.png").read_bytes() == Path("cold.png").read_bytes()
        until(lambda: server.status()["ready"] == 1)
        for line in (
            ["compare", "cold.png", "warm.png"],
            [*BLUR, "chosen.png", "--device", "cpu"],
            [*BLUR, "x.png"],
        ):
            assert server.run(*line).returncode == 0
        assert Path("x.png").read_bytes() == Path("chosen.png").read_bytes() == Path("cold.png").read_bytes()
        missing = server.run(*BLUR, "none.png", "--device", "no such one")
        assert missing.returncode == 3 and missing.stderr.count("\n") == 1


IMPORTS = """
import os, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from clpix import entry, resident
resident._import()
before = set(sys.modules)
assert len(os.listdir("/proc/self/task")) == 1
for line in sys.argv[1:]:
    if os.fork() == 0:
        from clpix.main import run
        sys.argv = ["clpix", *line.split()]
        code = run()
        print("ended", code, *sorted(set(sys.modules) - before), flush=True)
        os._exit(0)
    os.wait()
"""


def test_usual_commands_import_nothing(here) -> None:  # noqa: F811
    lines = [
        "blur in.png --sigma 2 -o a.png",
        "convert in.png -o a.jpg",
        "blur a.jpg --sigma 1 -o b.tif",
        "info none",
    ]
    done = run_python("-c", IMPORTS, *lines, "compare in.png a.png", "info a.jpg --stats --json")
    assert done.returncode == 0, done.stderr
    ends = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("ended ")]
    assert ends == [["0"], ["0"], ["0"], ["1"], ["1"], ["0"]]
