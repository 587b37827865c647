"""Commands that a server runs: they give what they give by themselves, whatever happens to either."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Picture

from .choices import each
from .conftest import run_python
from .servers import PROGRAM, Server, ended, lives, served, until, waits_for_input

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers need Linux")

BLUR = ("blur", "in.png", "--sigma", "2", "-o")
INTERRUPTED = b"clpix: error: interrupted; finished results are kept, nothing is half written\n"


def picture(path: Path, seed: int = 0) -> Path:
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 50, 3)).astype(np.uint8)
    files.write(path, Picture(pixels))
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("server") / "r") as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two pictures."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    picture(folder / "in.png")
    picture(folder / "other.png", seed=1)
    return folder


def same(server: Server, shell: str, folder: Path, *, served: int = 1) -> tuple[int, str, str]:
    """Runs a shell's line with and without the server: exit codes, texts and files are equal. Gives them."""
    line = shell.replace("clpix", f"'{PROGRAM[0]}' -m clpix")
    results = []
    for mode in ("off", "require"):
        fresh = folder.parent / f"at-{mode}"
        shutil.copytree(folder, fresh)
        before = server.status()["served"]
        done = subprocess.run(
            ["bash", "-c", line], cwd=fresh, env=server.asking(mode), capture_output=True, timeout=600
        )
        assert server.status()["served"] - before == (served if mode == "require" else 0)
        made = {
            str(path.relative_to(fresh)): path.read_bytes() for path in fresh.rglob("*") if path.is_file()
        }
        modes = {str(path.relative_to(fresh)): path.stat().st_mode for path in fresh.rglob("*")}
        results.append((done.returncode, done.stdout, done.stderr, made, modes))
        shutil.rmtree(fresh)
    assert results[0] == results[1]
    return results[0][0], results[0][1].decode(), results[0][2].decode()


@pytest.mark.parametrize(("line", "code"), [
    ("clpix blur in.png --sigma 2 -o out.png", 0),
    ("clpix compare in.png other.png", 1),
    ("clpix compare in.png other.png --json", 1),
    ("clpix compare in.png none.png", 2),
    ("clpix blur in.png --sigma 2 -o in.png --overwrite", 1),
    ("clpix blur none.png --sigma 2 -o out.png", 1),
    ("clpix blur in.png --sgima 2 -o out.png", 2),
    ("clpix info in.png other.png --json", 0),
    ("clpix --help", 0),
    ("clpix", 2),
    ("cat in.png | clpix blur - --sigma 2 -o - --format png > out.png", 0),
    ("umask 077; clpix blur in.png --sigma 2 -o new/", 0),
    ("COLUMNS=50 clpix blur --help", 0),
    ("clpix info in.png < /dev/null > /dev/full", 1),
    ("clpix blur --help | head -1; exit ${PIPESTATUS[0]}", 0),
    ("clpix info /dev/stdin < in.png", 0),
    ("clpix fft in.png -o out.npz && clpix ifft out.npz -o back.png", 0),
])  # fmt: skip
def test_commands_do_the_same(server, here, line, code) -> None:
    assert same(server, line, here, served=line.count("clpix"))[0] == code


@each(
    closed=["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"],
    command=["info in.png", "blur in.png --sigma 2 -o out.png", "blur none.png --sigma 2 -o out.png"],
)
def test_closed_streams(server, here, closed, command) -> None:
    same(server, f"clpix {command} {closed}", here)


def test_a_folder_that_is_gone(server, here) -> None:
    for lost in ("rmdir ../gone", "mv ../gone ../moved"):
        line = (
            f'mkdir ../gone; cd ../gone; {lost}; clpix blur "$OLDPWD/in.png" --sigma 2 -o "$OLDPWD/out.png"'
        )
        assert same(server, line + "; code=$?; rm -rf ../moved ../gone; exit $code", here)[0] == 0


def test_the_version_needs_no_server(server, here) -> None:
    assert same(server, "clpix --version", here, served=1)[0] == 0


def imported(*arguments: str, **environment: str) -> set[str]:
    """The modules that the program imports which Python itself does not."""
    found = []
    for words in (["-c", "import runpy"], ["-m", "clpix", *arguments]):
        text = run_python("-X", "importtime", *words, env=os.environ | environment).stderr
        found.append(
            {line.rpartition("|")[2].strip() for line in text.splitlines() if line.startswith("import time:")}
        )
    return found[1] - found[0]


def test_a_client_imports_little(server, here, tmp_path) -> None:
    """Python's own start takes twenty times as long."""
    asking = {name: value for name, value in server.asking().items() if name not in os.environ}
    ours = {"clpix", "clpix.entry", "clpix.client", "clpix.address"}
    assert imported("info", "in.png", **asking) <= ours | {"_socket", "math", "array"}
    version = imported("--version")
    assert (
        version <= {"clpix", "clpix.entry"} or "importlib.metadata" in version
    )  # where no folder has its name
    assert not {"click", "numpy"} & version or "importlib.metadata" in version


def test_modes(server, here, tmp_path) -> None:
    alone = Server(tmp_path / "none")
    assert alone.run(*BLUR, "a.png", mode="auto").returncode == 0
    for mode in ("", "off"):
        assert server.run(*BLUR, f"b{mode}.png", mode=mode).returncode == 0
    refused = alone.run(*BLUR, "c.png")
    assert refused.returncode == 1 and refused.stderr.startswith("clpix: error: no server runs")
    assert alone.run("compare", "in.png", "in.png").returncode == 2
    wrong = server.run(*BLUR, "c.png", mode="always")
    assert wrong.returncode == 2 and "set it to auto, off or require" in wrong.stderr
    assert sorted(os.listdir()) == ["a.png", "b.png", "boff.png", "in.png", "other.png"]


def test_what_no_server_runs(server, here) -> None:
    before = server.status()["served"]
    for arguments in (
        ("blur", "--timing", *BLUR[1:], "a.png"),
        ("server", "status"),
        ("devices", "--refresh", "-h"),
    ):
        assert server.run(*arguments).returncode == 0
    assert server.status()["served"] == before


@pytest.mark.parametrize(("change", "why"), [
    ("env PYTHONHASHSEED=1", "PYTHONHASHSEED"), ("env CLPIX_DEVICE=none", "CLPIX_DEVICE"),
    ("setpriv --no-new-privs", "NoNewPrivs"), ("prlimit --nofile=512", "limits"), ("chrt -b 0", "policy"),
    ("taskset -c 0", "Cpus_allowed"), ("unshare -m", "no server"), ("unshare -u", "namespace uts"),
    ("unshare -m -p -f --mount-proc", "no server"), ("env LD_PRELOAD=/none.so", "LD_PRELOAD"),
])  # fmt: skip
def test_other_circumstances_run_cold(server, here, change, why) -> None:
    words = change.split()
    if shutil.which(words[0]) is None or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip(f"{change} cannot be done here")
    if why == "Cpus_allowed" and os.cpu_count() == 1:
        pytest.skip("there is one processor")
    command = [*words, *PROGRAM, "info", "in.png"]
    done = subprocess.run(command, env=server.asking(), capture_output=True, text=True)
    said = done.stderr.splitlines()[-1]
    assert (
        done.returncode == 1 and (why in said or "no server runs" in said) and "CLPIX_SERVER=require" in said
    )
    assert subprocess.run(command, env=server.asking("auto"), capture_output=True).returncode == 0


def test_a_higher_nice_value_is_taken_over(server, here) -> None:
    process = server.open("blur", "-", "--sigma", "2", "-o", "out.png", preexec_fn=lambda: os.nice(5))
    waits_for_input(process)
    (child,) = server.children()
    assert os.getpriority(os.PRIO_PROCESS, child) == os.getpriority(os.PRIO_PROCESS, 0) + 5
    process.communicate()


def test_a_large_environment_runs_cold(server, here) -> None:
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(10)}
    assert server.run("info", "in.png", env=server.asking("auto", **large)).returncode == 0
    refused = server.run("info", "in.png", env=server.asking(**large))
    assert refused.returncode == 1 and "no server can be asked" in refused.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_signals_go_on(server, here, name) -> None:
    number = getattr(signal, name)
    process = server.open("blur", "in.png", "-", "--sigma", "2", "-o", "out/{index}.png")
    waits_for_input(process)
    (child,) = server.children()
    process.send_signal(number)
    assert ended(process) == (128 + number, INTERRUPTED)
    until(lambda: not lives(child))
    assert not [entry for entry in os.listdir() if entry.startswith(".clpix")]
    assert server.run(*BLUR, "after.png").returncode == 0


def test_what_the_client_ignores_stays_ignored(server, here) -> None:
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = server.open("blur", "-", "--sigma", "2", "-o", "out.png", preexec_fn=ignore)
    waits_for_input(process)
    (child,) = server.children()
    process.send_signal(signal.SIGHUP)
    os.kill(child, signal.SIGHUP)
    data = Path("in.png").read_bytes()
    process.communicate(data[8:], timeout=60)
    assert process.returncode == 0 and Path("out.png").exists()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_stopping_and_going_on(server, here) -> None:
    process = server.open("blur", "-", "--sigma", "2", "-o", "out.png", start_new_session=True)
    waits_for_input(process)
    (child,) = server.children()
    os.kill(process.pid, signal.SIGTSTP)
    if os.getsid(0) != os.getsid(
        process.pid
    ):  # nobody would wake it: the system ignores SIGTSTP in such a group
        until(lambda: state(child) == "T")
        os.kill(process.pid, signal.SIGCONT)
    until(lambda: state(child) != "T")
    process.communicate(Path("in.png").read_bytes()[8:], timeout=60)
    assert process.returncode == 0 and Path("out.png").exists()


def test_a_terminal(server, here) -> None:
    """Ctrl-Z, fg and Ctrl-C in a shell."""
    leader, follower = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        env=server.asking(PS1="", HISTFILE=""), stdin=follower, stdout=follower, stderr=follower,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(follower)
    text = b""

    def until_it_says(word: bytes) -> None:
        nonlocal text
        while word not in text:
            assert select.select([leader], [], [], 30)[0], text
            text += os.read(leader, 4096)
        text = text.partition(word)[2]

    os.mkfifo("pipe")
    os.write(leader, f"{' '.join(PROGRAM)} blur - --sigma 2 -o out.png < pipe\n".encode())
    with open("pipe", "wb", buffering=0) as pipe:
        pipe.write(Path("in.png").read_bytes()[:8])
        until(lambda: struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] == 0)
        (child,) = server.children()
        os.write(leader, b"\x1a")
        until_it_says(b"Stopped")
        until(lambda: state(child) == "T")
        os.write(leader, b"fg\n")
        until(lambda: state(child) != "T")
        os.write(leader, b"\x03")
        until_it_says(b"interrupted")
        os.write(leader, b"echo code: $?\n")
        until_it_says(b"code: 130")
    os.write(leader, b"exit\n")
    shell.wait(30)
    os.close(leader)


def test_descriptors_of_the_shell(server, here) -> None:
    """A command that names one runs without the server, which has not got it."""
    same(server, "clpix info <(cat in.png)", here, served=0)


def test_a_server_that_was_started_in_the_background(here, tmp_path) -> None:
    """Such a process has signals ignored and blocked, and its children would have."""

    def deaf() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    server = Server(tmp_path / "r")
    server.start(preexec_fn=deaf)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = server.open("blur", "-", "--sigma", "2", "-o", "out.png")
        waits_for_input(process)
        process.send_signal(number)
        assert ended(process) == (128 + number, INTERRUPTED)
    server.manage("stop", check=True)


def test_old_logs_go(tmp_path) -> None:
    server = Server(tmp_path / "r")
    server.start()
    server.manage("stop", check=True)
    folder = tmp_path / "r" / "clpix"
    (log,) = folder.iterdir()
    for name in ("0.log", "0.sock", "1.log"):
        (folder / name).touch()
    os.utime(folder / "0.log", (0, 0))
    os.utime(log, (0, 0))
    server.start()
    assert sorted(path.name for path in folder.iterdir()) == sorted(["1.log", log.name, f"{log.stem}.sock"])
    server.manage("stop", check=True)


def test_a_client_that_is_killed(server, here) -> None:
    process = server.open("blur", "in.png", "-", "--sigma", "2", "-o", "out/{index}.png")
    waits_for_input(process)
    (child,) = server.children()
    process.kill()
    until(lambda: not lives(child))
    assert process.stderr is not None and process.stderr.read() == INTERRUPTED
    process.communicate()
    assert server.run(*BLUR, "after.png").returncode == 0


def test_a_child_that_is_killed(server, here) -> None:
    process = server.open("blur", "-", "--sigma", "2", "-o", "out.png")
    waits_for_input(process)
    os.kill(server.children()[0], signal.SIGKILL)
    assert ended(process) == (-signal.SIGKILL, b"")  # as a command that is killed by itself
    assert server.run(*BLUR, "after.png").returncode == 0


def test_a_server_that_is_killed(here, tmp_path) -> None:
    server = Server(tmp_path / "r")
    pid = server.start()
    process = server.open("blur", "in.png", "-", "--sigma", "2", "-o", "out/{index}.png")
    waits_for_input(process)
    (child,) = server.children()
    os.kill(pid, signal.SIGKILL)
    code, said = ended(process)
    assert code == 1 and said.count(b"\n") == 1 and b"the server ended while the command ran" in said
    until(lambda: not lives(child))
    assert not [entry for folder, _, names in os.walk(".") for entry in names if entry.startswith(".clpix")]
    assert server.run(*BLUR, "cold.png", mode="auto").returncode == 0
    assert server.start() != pid  # the socket of the dead one is in nobody's way
    assert server.run(*BLUR, "warm.png").returncode == 0
    server.manage("stop", check=True)


def test_many_at_once(server, here) -> None:
    assert server.run(*BLUR, "cold.png", mode="off").returncode == 0
    failed = []

    def client(number: int) -> None:
        for turn in range(3):
            done = server.run(*BLUR, f"{number}-{turn}.png", mode="auto")
            if done.returncode:
                failed.append(done.stderr)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    expected = Path("cold.png").read_bytes()
    assert all(path.read_bytes() == expected for path in here.glob("*-*.png"))
    assert len(list(here.glob("*-*.png"))) == 24


def test_a_child_has_no_descriptors_of_others(server, here) -> None:
    """What it has beside its own is what drivers have opened."""
    names = []
    for mode in ("off", "require"):
        process = server.open("blur", "-", "--sigma", "2", "-o", "out.png", env=server.asking(mode))
        waits_for_input(process)
        pid = server.children()[0] if mode == "require" else process.pid
        links = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        names.append(sorted(re.sub(r"\[\d+\]|/\.clpix-.*/|/\.clpix-.*", "", link) for link in links))
        process.communicate()
    assert sorted([*names[0], "socket:"]) == names[1]  # that of its client


def test_starting_leaves_nothing_open(tmp_path, monkeypatch) -> None:
    """A shell waits until everybody has closed the pipe from which it reads a command's output."""
    server = Server(tmp_path / "r")
    command = " ".join(PROGRAM)
    for line in (f'pid="$({command} server start)"; echo $pid', f"{command} server start 2>&1 | cat"):
        done = subprocess.run(
            ["sh", "-c", line], env=server.environment, capture_output=True, text=True, timeout=120
        )
        pid = int(done.stdout.split()[0])
        assert lives(pid)
        assert {os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1)} == {"/dev/null"}
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        server.manage("stop", check=True)
        assert not lives(pid)


def test_nothing_grows(server, here) -> None:
    _nothing_grows(server, 20)


@pytest.mark.exhaustive
def test_nothing_grows_in_the_long_run(server, here) -> None:
    _nothing_grows(server, 3000)


def _nothing_grows(server: Server, times: int) -> None:
    pid = server.status()["pid"]

    def figures() -> tuple[int, int, int]:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        until(lambda: not server.children())
        return len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"]), int(status["RssAnon"].split()[0])

    server.run("info", "in.png", check=True)
    before = figures()
    for _ in range(times):
        server.run("info", "in.png", check=True)
    after = figures()
    assert after[:2] == before[:2] and after[1] == 1 and after[2] <= 1.01 * before[2] + 200


def test_idle_servers_end(tmp_path) -> None:
    server = Server(tmp_path / "r")
    pid = server.start("--idle", "0.2s")
    until(lambda: not lives(pid))
    assert not list((tmp_path / "r" / "clpix").glob("*.sock"))
    assert "nobody asked" in server.manage("log").stdout


def test_a_server_ends_with_its_shell(here, tmp_path) -> None:
    server = Server(tmp_path / "r")
    command = " ".join(PROGRAM)
    script = f'eval "$({command} server start --export)" && {command} server status --json'
    script += f" && {command} {' '.join(BLUR)} o.png; echo $CLPIX_SERVER; read line"
    shell = subprocess.Popen(
        ["sh", "-c", script], env=server.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert shell.stdout is not None
    text = "".join(iter(shell.stdout.readline, "auto\n"))
    pid = int(text.partition('"pid": ')[2].partition(",")[0])
    assert lives(pid) and Path("o.png").exists()
    shell.communicate("\n")
    until(lambda: not lives(pid))


def test_stop_waits_for_commands(here, tmp_path) -> None:
    server = Server(tmp_path / "r")
    pid = server.start()
    process = server.open("blur", "-", "--sigma", "2", "-o", "out.png")
    waits_for_input(process)
    stop = subprocess.Popen([*PROGRAM, "server", "stop"], env=server.environment, stdout=subprocess.PIPE)
    until(lambda: not list((tmp_path / "r" / "clpix").glob("*.sock")))
    assert server.run("info", "in.png").returncode == 1 and lives(pid)
    process.communicate(Path("in.png").read_bytes()[8:], timeout=60)
    assert process.returncode == 0 and stop.communicate()[0].decode() == f"{pid} stopped\n"
    assert not lives(pid)


@pytest.mark.parametrize("kind", ["0777", "link", "file"])
def test_folders_that_others_can_change(here, tmp_path, kind) -> None:
    runtime = tmp_path / "r"
    server = Server(runtime)
    place = runtime / "clpix"
    if kind == "0777":
        place.mkdir()
        place.chmod(0o777)
    elif kind == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.write_text("")
    done = server.manage("start")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "XDG_RUNTIME_DIR" in done.stderr
    assert server.run("info", "in.png", mode="auto").returncode == 0
    assert "no folder can be trusted" in server.run("info", "in.png").stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user(here, tmp_path) -> None:
    server = Server(tmp_path / "r")
    (tmp_path / "r" / "clpix").mkdir(mode=0o700)
    os.chown(tmp_path / "r" / "clpix", 12345, 12345)
    assert server.manage("start").returncode == 1
    assert "no folder can be trusted" in server.run("info", "in.png").stderr


def test_a_second_start_finds_the_first(server) -> None:
    again = server.manage("start", check=True)
    assert int(again.stdout.split()[0]) == server.status()["pid"] and "runs already" in again.stdout


def test_many_starts_at_once(tmp_path) -> None:
    server = Server(tmp_path / "r")
    starts = [
        subprocess.Popen([*PROGRAM, "server", "start"], env=server.environment, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    pids = {start.communicate(timeout=120)[0].split()[0] for start in starts}
    assert len(pids) == 1 and {start.returncode for start in starts} == {0}
    server.manage("stop", check=True)


def test_waiting_clients_run_cold(here, tmp_path) -> None:
    with served(tmp_path / "r", "--jobs", 1) as server:
        process = server.open("blur", "-", "--sigma", "2", "-o", "out.png")
        waits_for_input(process)
        begun = time.monotonic()
        assert server.run(*BLUR, "cold.png", mode="auto").returncode == 0
        assert time.monotonic() - begun > 1.9
        assert server.status()["waiting"] == 0
        waiting = server.open(*BLUR, "warm.png")
        until(lambda: server.status()["waiting"] == 1)
        process.communicate(timeout=60)
        assert waiting.wait(60) == 0 and Path("warm.png").read_bytes() == Path("cold.png").read_bytes()
        waiting.communicate()
