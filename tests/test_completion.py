"""Completion, as bash, zsh and fish do it by the scripts that the documentation installs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from clpix import completion
from clpix.main import cli

from gpuops.params.border import BORDERS
from gpuops.params.operators import OPERATORS

#: What stands before the lines that complete: each shell's script, and what it calls with what it found.
SHELLS = {
    "bash": """
compopt() { :; }
eval "$(_CLPIX_COMPLETE=bash_source clpix)"
complete_line() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _clpix_completion clpix; printf '%s\\n' "${COMPREPLY[@]}"
}
""",
    "zsh": """
compdef() { :; }
_describe() { local name=$argv[3]; print -rl -- ${(P)name}; }
compadd() { local name=$argv[-1]; print -rl -- ${(P)name}; }
_path_files() { print -r -- FILES; }
_files() { print -r -- FILES; }
eval "$(_CLPIX_COMPLETE=zsh_source clpix)"
complete_line() { words=("$@"); CURRENT=$#; _clpix_completion; }
""",
    "fish": """
_CLPIX_COMPLETE=fish_source clpix | source
function complete_line; complete -C (string join ' ' -- $argv); end
""",
}  # fmt: skip


@pytest.fixture(params=list(SHELLS))
def complete(request, tmp_path) -> Callable[..., list[list[str]]]:
    """Returns what a shell finds for each of several command lines."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")

    def run(*lines: str) -> list[list[str]]:
        asked = "".join(
            f"complete_line {' '.join(map(quoted, line.split(' ')))}\necho ----\n" for line in lines
        )
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
        }
        options = ["-f"] if shell == "zsh" else ["--no-config"] if shell == "fish" else ["--norc"]
        program = [shell, *options, "-c", SHELLS[shell] + asked]
        done = subprocess.run(program, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert not done.stderr, done.stderr
        parts = done.stdout.split("----\n")[:-1]
        mark = ":" if shell == "zsh" else "\t"  # before what is said of a name
        return [[line.partition(mark)[0] for line in part.splitlines()] for part in parts]

    return run


def quoted(word: str) -> str:
    return f"'{word}'"


def test_shells_complete(complete, tmp_path) -> None:
    (tmp_path / "photo.png").touch()
    commands, options, kinds, operators, wavelets, borders, later, subcommands = complete(
        "clpix bl",
        "clpix blur in.png --sig",
        "clpix blur in.png --kind B",
        "clpix tonemap in.exr --operator agx",
        "clpix dwt in.png --wavelet haa",
        "clpix blur in.png --border ",
        "clpix blur in.png --sigma 2 then sharpen --am",
        "clpix bench f",
    )
    assert sorted(commands) == ["bloom", "blur"]
    assert {"--sigma", "--sigma-x", "--sigma-y", "--sigma-color"} == set(options)
    assert set(kinds) == {"box", "bilateral"} and set(operators) == {"agx", "agx-punchy", "agx-golden"}
    assert wavelets == ["haar"] and set(borders) == set(BORDERS) and later == ["--amount"]
    assert subcommands == ["fft"]


def answered(*words: str) -> list[tuple[str, str]]:
    """The types and values that a shell is answered for words, of which the last is to be completed."""
    completion.register()
    found = click.shell_completion.get_completion_class("bash")
    assert found is not None
    items = found(cli, {}, "clpix", "_CLPIX_COMPLETE").get_completions([*words[:-1]], words[-1])
    return [(item.type, item.value) for item in items]


def test_values_are_completed() -> None:
    assert answered("blur", "ph") == [("file", "ph")]
    assert answered("blur", "a.png", "-o", "") == [("file", "")]
    assert answered("blur", "a.png", "--sigma", "") == []
    assert answered("bloom", "a.png", "--threshold", "v") == []  # it is a number there
    assert answered("blur", "a.png", "--border=wr") == [("plain", "wrap"), ("plain", "wrap-x")]
    assert ("plain", "wrap") in answered("blur", "a.png", "--border", "=")
    assert answered("blur", "a.png", "--overwrite", "ph") == [("file", "ph")]
    assert answered("bench", "fft", "") == []
    assert answered("dwt", "a.png", "--threshold", "v") == [("plain", "visu")]
    assert answered("tonemap", "a.exr", "--operators", "agx,DRA") == [("plain", "agx,drago")]
    assert answered("help", "blu") == [("plain", "blur")] and answered("help", "xyzzy") == []
    assert answered("regress", "new/", "exp") == [("file", "exp")]  # the second of two folders
    assert answered("compare", "a.png", "b.png", "c") == []  # which takes two pictures
    assert answered("regress", "run", "suite.toml", "--jobs", "") == []  # a number alone
    assert answered("sharpen", "a.png", "--border", "n") == []  # it has no nearest
    devices = [value for _, value in answered("blur", "a.png", "--device", "")]
    assert devices[:3] == ["gpu", "cpu", "all"] and devices[3:]
    names = {value for _, value in answered("bloom", "a.png", "--tonemap", "")}
    assert names == set(OPERATORS) and ("plain", "exr") in answered("blur", "a.png", "--format", "e")
    commands = [value for _, value in answered("blur", "a.png", "then", "re")]
    assert commands == ["register", "resize"]  # neither regress nor fft, which have no place in a chain
    assert "write" in [value for _, value in answered("blur", "a.png", "then", "")]


def test_nothing_is_completed_of_what_there_is_not() -> None:
    assert answered("xyzzy", "") == answered("") and answered("blur", "a.png", "--kind", "xyzzy") == []


def test_every_list_of_names_is_of_an_option() -> None:
    from .test_command_lines import COMMANDS

    known = {param.name for command in COMMANDS.values() for param in command.params}
    assert set(completion.NAMES) <= known and all(list(names()) for names in completion.NAMES.values())
