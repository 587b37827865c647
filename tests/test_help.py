"""Help: pages that fit a screen, groups in which every option is found, and examples that run as they stand."""

import glob
import io
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from clpix import entry, help_page, options, shared
from clpix.commands import Strict, leaves
from clpix.main import COMMANDS as LISTED
from clpix.main import cli

from gpuops import files
from gpuops.device import list_devices
from gpuops.files import Picture
from gpuops.ops import OPERATIONS, operation

from .conftest import Run
from .test_cli import one_line, picture
from .test_operations import skip_without_package

Program = Callable[..., Run]

ROOT = click.Context(cli, info_name="clpix", terminal_width=80)
LEAVES = {path: command for path, command in leaves(cli, ROOT) if isinstance(command, Strict)}
GROUPS = {(): cli, **{(name,): cli.get_command(ROOT, name) for name in ("regress", "bench", "server")}}
#: What takes minutes, by the commands that do it: their examples run without it.
MEASURES = {
    "copy": ("gpuops.bench.copies.copy",),
    "fft": ("gpuops.bench.fft.measure", "gpuops.bench.fft.chart"),
    "dwt": ("gpuops.bench.dwt.measure",),
    "blur": ("gpuops.bench.filters.measure",),
    "bloom": ("gpuops.bench.filters.measure",),
    "tonemap": ("gpuops.bench.filters.measure",),
}
SUITE = """schema = 1
references = "expected"

[[case]]
name = "soft"
command = "cp before.png {output}"
tags = ["quick"]
"""


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def examples_of(path: tuple[str, ...]) -> tuple[str, ...]:
    """The examples of a command or group."""
    command: Any = {**LEAVES, **GROUPS}[path]
    return tuple(command.examples)


def calls(line: str, path: tuple[str, ...]) -> bool:
    """Says whether a command line calls a command: by itself, or as a later part of a chain."""
    words = shlex.split(line)
    name = [word for word in path if word != "two folders"]
    starts = [1, *(i + 1 for i, word in enumerate(words) if word == "then")]
    return any(words[start : start + len(name)] == name for start in starts)


@pytest.mark.parametrize("path", [*GROUPS, *LEAVES], ids=lambda path: " ".join(path) or "clpix")
def test_a_page_fits_a_screen(path) -> None:
    command: Any = {**LEAVES, **GROUPS}[path]
    with click.Context(command, info_name=" ".join(("clpix", *path)), terminal_width=80) as ctx:
        text = command.get_help(ctx)
    lines = text.splitlines()
    unfolded = text.replace(" \\\n    ", " ").splitlines()
    most = 45 if path else 60  # the list of all commands grows
    assert len(lines) <= most and max(map(len, lines)) <= 80
    options = sum(isinstance(param, click.Option) for param in command.params)
    enough = 3 if path in GROUPS else min(3, 1 + options)
    assert len(command.examples) >= enough and all(line.startswith("clpix ") for line in command.examples)
    assert not [line for line in lines if line.endswith("…") and not line.endswith(", …")], (
        "a sentence is cut"
    )
    for line in command.examples:
        assert path == () or calls(line, path), line
        assert f"  {line}" in unfolded


@pytest.mark.parametrize("path", list(LEAVES), ids=" ".join)
def test_every_option_is_on_its_page_once(path) -> None:
    """The short page names it, the long one explains it; own ones come first, and each is in a group."""
    command = LEAVES[path]
    with click.Context(command, info_name=" ".join(("clpix", *path))) as ctx:
        own, shared = help_page.grouped(command, ctx)
        short, whole = help_page.short(command, ctx, 78), help_page.whole(command, ctx, 78)
    found = [option for group in chain(own.values(), shared.values()) for option in group]
    given = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    assert sorted(map(id, found)) == sorted(map(id, given))
    assert not command.groups or "Options" not in own
    named = {name for names in command.groups.values() for name in names}
    assert named <= {option.name for option in given}
    for option in given:
        name = max(option.opts, key=len)
        assert name in short or f"--[no-]{name[2:]}" in short
        words = (option.help or "").split()
        assert name in whole and all(word in whole.split() for word in words[:-1])


def test_every_shared_option_is_in_one_group() -> None:
    grouped = [name for names in shared.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted([*(option.name or "" for option in options.all_shared()), "help"])


@pytest.mark.parametrize(("text", "found"), [
    ("One of a, bb, ccc, dddd, eeeee, ffffff, ggggggg, hhhhhhhh.", "One of a, bb, ccc, dddd, eeeee, …"),
    ("wrap, nearest or constant:V, as the manual of blur says.", "wrap, nearest or constant:V."),
    ("The brightest light of all (the default: what the file has).", "The brightest light of all."),
    ("The first. The second one is never on the line.", "The first."),
    ("A side (of the window, in pixels), and something that is long.", "A side (of the window, in pixels)."),
    ("No clause ends early enough for this to be cut there.", "No clause ends early enough for …"),
])  # fmt: skip
def test_a_line_says_a_whole_clause(text, found) -> None:
    assert help_page.brief(text, 36) == found


def test_a_shortened_page_says_where_more_is() -> None:
    text = "The shape of the blur. " * 12
    many = [click.Option([f"--option-{i}"], help=text) for i in range(16)]
    command = Strict("many", params=many, groups={"Shape": [f"option_{i}" for i in range(16)]})
    with click.Context(command, info_name="clpix many") as ctx:
        assert "Shape (`clpix help --all many` says more):" in help_page.short(command, ctx, 78)
    with click.Context(LEAVES[("crop",)], info_name="clpix crop") as ctx:
        assert "--all" not in help_page.short(LEAVES[("crop",)], ctx, 78)  # nothing is cut there


def test_long_pages_stay_short() -> None:
    """Whatever number of options a command has: what does not fit is listed by names."""
    many = [click.Option([f"--option-{i}"], help="Some text that is long enough. " * 4) for i in range(60)]
    groups = {f"Group {i}": [f"option_{j}" for j in range(10 * i, 10 * i + 10)] for i in range(6)}
    command = Strict("many", params=many, help="First.\n\nSecond.", groups=groups)
    with click.Context(command, info_name="clpix many") as ctx:
        text = help_page.short(command, ctx, 78)
        whole = help_page.whole(command, ctx, 78)
    assert len(text.splitlines()) <= 45 and all(f"--option-{i}" in text for i in range(60))
    assert "Group 0:" in text and "Second." not in text  # the first group keeps its texts longest
    assert whole.count("Some text") == 240


def test_clpix_help(clpix, wide) -> None:
    assert clpix("help").out == clpix("--help").out
    assert clpix("help", "blur").out == clpix("blur", "--help").out
    assert clpix("help", "bench", "fft").out == clpix("bench", "fft", "--help").out
    assert clpix("help", "regress").out == clpix("regress", "--help").out
    whole = clpix("help", "--all", "blur").out
    assert "such as 512M or 2G" in " ".join(whole.split()) and whole.startswith("Usage: clpix blur ")
    everything = clpix("help", "--all", "bench").out
    assert all(f"Usage: clpix bench {name} " in everything for name in ("copy", "fft", "dwt", "tonemap"))
    assert "--max-flip" in clpix("help", "--all", "regress").out  # of two folders


def test_help_on_shared_options(clpix, wide) -> None:
    run = clpix("help", "options")
    for option in options.all_shared():
        assert all(name in run.out for name in option.opts)
    assert all(f"{title}:" in run.out for title in shared.GROUPS)
    assert max(map(len, run.out.splitlines())) <= 80


def test_help_on_what_there_is_not(clpix) -> None:
    one_line(clpix("help", "blurr"), 2, "no command 'blurr': did you mean 'blur'?")
    one_line(clpix("help", "bench", "fftt"), 2, "did you mean 'fft'?")
    one_line(clpix("help", "blur", "sigma"), 2, "clpix blur has no subcommands: leave out 'sigma'")


def test_every_operation_has_examples() -> None:
    assert all(len(operation(name).examples) >= 3 for name in OPERATIONS)
    assert set(LISTED) == {path[0] for path in LEAVES}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples read."""
    folder = tmp_path_factory.mktemp("examples")
    for name in ("photos", "frames", "spectra", "coefficients", "expected", "new"):
        (folder / name).mkdir()
    shape = (32, 48, 3)
    for number, name in enumerate(("photo.png", "texture.png", "before.png", "kernel.png")):
        picture(folder / name, shape if name != "kernel.png" else (5, 5, 1), seed=number)
    picture(folder / "mask.png", (32, 48, 1))
    for name in ("photo.jpg", "dark.jpg", "middle.jpg", "bright.jpg", "photos/one.jpg", "photos/two.jpg"):
        picture(folder / name, shape)
    light = np.random.default_rng(1).gamma(0.5, 1, shape).astype(np.float32)
    for name in ("light.exr", "frames/1.exr", "frames/2.exr"):
        files.write(folder / name, Picture(light, linear=True))
    for name in ("after.png", "new/soft.png", "expected/soft.png"):
        shutil.copy(folder / "before.png", folder / name)
    (folder / "suite.toml").write_text(SUITE)
    (folder / "look.toml").write_text('schema = 1\n[[step]]\nop = "blur"\nsigma = 2.0\n')
    return folder


@pytest.fixture
def there(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clpix: Program) -> Path:
    """The current folder, a copy of that one, with what other commands make of it."""
    folder = tmp_path / "there"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    return folder


def prepare(clpix: Program, name: tuple[str, ...]) -> None:
    """Makes what examples need of other commands' results."""
    wanted = {
        ("ifft",): ("fft photo.png -o spectrum.npz", "fft photo.png -o spectra/one.npz"),
        ("idwt",): ("dwt photo.png -o coefficients.npz", "dwt photo.png -o coefficients/one.npz"),
    }
    for line in wanted.get(name[:1], ()):
        assert clpix(*line.split()).code == 0
    if name[:1] == ("server",) and name != ("server", "start"):
        assert clpix("server", "start").code == 0
    if name == ("regress", "accept"):  # there has to be something that differs
        shutil.copy("photo.png", "expected/soft.png")
        assert clpix("regress", "run", "suite.toml").code == 1


def measure_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `clpix bench` print empty tables, and `clpix devices` list what is known of devices."""
    for names in MEASURES.values():
        for name in names:
            monkeypatch.setattr(name, lambda *_args, **_options: [])
    monkeypatch.setattr("gpuops.bench.dwt_tables.table", lambda *_args, **_options: "")
    known = list_devices()
    monkeypatch.setattr("gpuops.device.list_devices", lambda **_options: known)


def expanded(line: str) -> Iterator[str]:
    """The words of a command line after the program's name, as a shell gives them."""
    for word in shlex.split(line)[1:]:
        found = sorted(glob.glob(word)) if f"'{word}'" not in line else []
        yield from found or [word]


@pytest.fixture
def own_servers(clpix, tmp_path, monkeypatch) -> Iterator[None]:
    """Servers that are started have a folder of their own, and end with the test."""
    (tmp_path / "run").mkdir(mode=0o700)
    started = {**entry.ENVIRONMENT, b"XDG_RUNTIME_DIR": os.fsencode(tmp_path / "run")}
    monkeypatch.setattr("clpix.server.ENVIRONMENT", started)
    yield
    clpix("server", "stop", "--all")


@pytest.mark.cases(1)
@pytest.mark.parametrize("path", list(LEAVES), ids=" ".join)
def test_examples_run(clpix, there, own_servers, monkeypatch, path) -> None:
    skip_without_package(path[0])
    prepare(clpix, path)
    if path[0] in ("bench", "devices"):
        measure_nothing(monkeypatch)
    for line in examples_of(path):
        before = set(there.rglob("*"))
        run = clpix(*expanded(line))
        assert run.code == 0, (line, run.err)
        assert "-o" not in line.split() or set(there.rglob("*")) > before, line


@pytest.mark.exhaustive
def test_examples_of_groups_run(clpix, there, own_servers, monkeypatch) -> None:
    measure_nothing(monkeypatch)
    for line in chain.from_iterable(map(examples_of, GROUPS)):
        if line == "clpix regress accept":  # there has to be something that differs
            shutil.copy("photo.png", "expected/soft.png")
            assert clpix("regress", "run", "suite.toml").code == 1
        run = clpix(*expanded(line))
        assert run.code == 0, (line, run.err)
