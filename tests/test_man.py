"""Man pages: every option is in its page, groff takes no text for a request, and no page makes a renderer complain."""

import re
import shutil
import subprocess

import click
import pytest
from clpix import help as man
from clpix.commands import leaves
from clpix.main import COMMANDS, cli

from .test_cli import one_line

ROOT = click.Context(cli, info_name="clpix", help_option_names=["-h", "--help"])
COMMANDS_OF = dict(leaves(cli, ROOT))
SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO")
#: Requests and escapes that pages may have.
REQUESTS = {"TH", "nh", "ad", "SH", "SS", "PP", "TP", "br", "RS", "RE", "EX", "EE"}
ESCAPES = r"\\(f[BP]|&|:|-|\(rs|\(aq|\(ga|\(ha|\(ti|\(dq|\[u[0-9A-F]{4,5}\])"
NASTY = r".\" 'request' \n \fB a-b --option ~/x ^2 `code` " + '"quoted" σ → 1 … 2'


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """All pages by their names."""
    return dict(man.pages(ROOT))


def name_of(path: tuple[str, ...]) -> str:
    """The page of a command; that of a hidden one is its group's."""
    return "-".join(("clpix", *(word for word in path if " " not in word)))


def test_every_command_has_a_page(pages) -> None:
    assert set(pages) == {"clpix", "clpix-bench", "clpix-server", *map(name_of, COMMANDS_OF)}
    for name, text in pages.items():
        found = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
        assert [title for title in found if title != "COMMANDS"] == list(SECTIONS), name
    assert all(rf"clpix\-{name}" in pages["clpix"] for name in COMMANDS)


@pytest.mark.parametrize("path", list(COMMANDS_OF), ids=" ".join)
def test_every_option_is_in_its_page(pages, path) -> None:
    command = COMMANDS_OF[path]
    options = pages[name_of(path)].partition(".SH OPTIONS")[2].partition(".SH EXAMPLES")[0]
    for option in command.get_params(ROOT):
        if isinstance(option, click.Option) and not option.hidden:
            for spelling in (*option.opts, *option.secondary_opts):
                assert rf"\fB{man.escaped(spelling)}\fP" in options or man.escaped(spelling) in options
            words = man.escaped(option.help or "").replace(r"\(ga", "").split()
            assert set(words) <= set(re.sub(r"\\f[BP]", "", options).split()), option.opts
    groups = re.findall(r'^\.SS "(.*)"$', options, re.MULTILINE)
    own = [man.escaped(title) for title in getattr(command, "groups", {})]
    assert groups[: len(own)] == own and len(set(groups)) == len(groups)


def test_nothing_is_a_request_by_chance(pages) -> None:
    for name, text in pages.items():
        assert text.isascii(), name
        for line in text.splitlines():
            assert not line.startswith("'"), (name, line)
            assert not line.startswith(".") or line[1:].split()[0] in REQUESTS, (name, line)
            assert not re.search(r"\\", re.sub(ESCAPES, "", line)), (name, line)
            shown = re.sub(r"\\\(..|\\\[.*?\]", "", line)
            assert line.startswith(".") or not re.search(r"(?<!\\)[-'`^~\"]", shown), (name, line)


def rendered(text: str) -> str:
    """What groff shows of a page, without overstriking; it must not complain."""
    run = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-c", "-ww"], input=text, capture_output=True, text=True, check=True
    )
    assert run.stderr == ""
    return re.sub(r".\x08", "", run.stdout)


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_groff_shows_what_was_written(pages) -> None:
    for text in pages.values():
        assert "EXAMPLES" in rendered(text)
    shown = rendered(f'.TH X 1 "" "" ""\n.nh\n.ad l\n.SH NAME\n{man.escaped(NASTY)}\n')
    assert NASTY in " ".join(shown.split()) and "clpix blur photo.jpg" in rendered(pages["clpix"])


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="there is no mandoc")
def test_mandoc_finds_no_error(pages) -> None:
    for name, text in pages.items():
        run = subprocess.run(["mandoc", "-Tlint", "-Werror"], input=text, capture_output=True, text=True)
        assert run.returncode == 0, (name, run.stdout)


def test_help_writes_them(clpix, tmp_path) -> None:
    folder = tmp_path / "share" / "man1"
    run = clpix("help", "--man", folder)
    assert run.code == 0 and run.out.endswith(f"{len(list(folder.glob('clpix*.1')))} man pages\n")
    assert (folder / "clpix-blur.1").read_text() == dict(man.pages(ROOT))["clpix-blur"]
    one_line(clpix("help", "blur", "--man", folder), 2, "--man writes the pages of all commands")
