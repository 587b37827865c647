"""The docs are true: names of the library, examples, options, and tables of what was measured."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from clpix.commands import leaves, option_names
from clpix.derived import Derived
from clpix.main import cli
from clpix.outputs import outputs_for

from gpuops import files
from gpuops.files.formats import VIDEOS, format_of
from gpuops.ops import OPERATIONS

from .conftest import beside, run_python

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "docs" / "benchmarks"
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in (
        ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md")),
        *sorted(ROOT.glob("docs/how-to/*.md")), *sorted(ROOT.glob("docs/explanation/*.md")),
    )
}  # fmt: skip
CONTEXT = click.Context(cli, info_name="clpix")
COMMANDS = dict(leaves(cli, CONTEXT))
BENCHMARKS = sorted(path.stem for path in MEASURED.glob("*.json"))
# A usage line marks alternatives, parts that may be left out, and parts to be filled in.
PLACEHOLDER = re.compile(r"[\[\]|…]|\.\.\.|\b[A-Z]{2,}\b|\bNAME\b")


def text_of(page: str) -> str:
    """A page without its HTML comments."""
    return re.sub(r"<!--.*?-->", "", PAGES[page].read_text(encoding="utf-8"), flags=re.DOTALL)


def test_tables_are_those_of_the_json() -> None:
    run = run_python(MEASURED / "tables.py", "--check")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.exhaustive
def test_benchmarks_find_what_they_measure() -> None:
    """Each script is imported; libraries that it compares with are asked for when it runs."""
    program = (
        "import pathlib, runpy, sys\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.py')):\n"
        "    runpy.run_path(str(path), run_name='imported')\n"
    )
    run = run_python("-c", program, MEASURED, env=beside(MEASURED))
    assert run.returncode == 0, run.stderr


def test_every_table_is_whole_and_every_file_is_shown() -> None:
    sys.path.insert(0, str(MEASURED))
    try:
        known = import_module("tables").TABLES
    finally:
        sys.path.remove(str(MEASURED))
    text = "".join(path.read_text(encoding="utf-8") for path in (*PAGES.values(), MEASURED / "README.md"))
    shown = re.findall(r"<!-- table: (\S+) -->", text)
    assert sorted(shown) == sorted(known) and len(shown) == text.count("<!-- end -->")
    for name in BENCHMARKS:
        assert f"{name}.json" in text or name in shown, name


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_files_have_one_schema(name) -> None:
    found: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    # The first is for `clpix bench --json`, whose entries are measurements; columns name the entries of list rows.
    assert set(found) in (
        {"context", "rows"},
        {"context", "columns", "rows"},
        {"schema_version", "context", "measurements"},
    )
    context = found["context"]
    for key in ("clpix", "numpy", "pyopencl", "python", "date", "device", "platform", "driver", "opencl"):
        assert isinstance(context[key], str) and context[key], key
    assert context["copy_gbps"] > 0 and None not in context.values()
    entries = found.get("rows", found.get("measurements"))
    assert entries and all(isinstance(entry, list if "columns" in found else dict) for entry in entries)


def test_the_gallery_is_what_its_script_writes() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "gallery.py"))
    is_right = PAGES["docs/gallery.md"].read_text(encoding="utf-8") == script["page"]()
    assert is_right, "run: python docs/gallery.py"
    names = [name for pictures in script["GALLERY"].values() for name in pictures]
    assert sorted(names) == sorted(path.stem for path in script["PICTURES"].glob("*.jpg"))


def test_agx_has_the_numbers_that_follow_from_the_published_ones() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "agx.py"))
    differences, source = script["differences"], script["SOURCE"].read_text(encoding="utf-8")
    assert not differences(source)
    for function, literal in (  # each of them once in the source
        ("agx_sigmoid", "6.369044f"),
        ("agx_base", "0.7541376f"),
        ("agx_rec709", "5.140334f"),
        ("op_agx", "0.6259682f"),
        ("op_agx_punchy", "0.7464504f"),
        ("op_agx_golden", "0.5079946f"),
        ("power_1_35", "0.24260138f"),
        ("power_0_8", "0.13862953f"),
    ):
        assert source.count(literal) == 1
        other = np.nextafter(np.float32(literal[:-1]), np.float32(8))
        (line,) = differences(source.replace(literal, f"{other!s}f"))
        assert line.startswith(f"{function} ")


def resolve(name: str) -> object:
    """The object that a dotted name stands for. Raises ImportError or AttributeError."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            if error.name in ("cloudpickle", "dask", "distributed"):
                pytest.skip("needs the extra dask")
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ImportError(name)


@pytest.mark.parametrize("page", PAGES)
def test_every_name_of_the_library_exists(page) -> None:
    for name in set(re.findall(r"\bgpuops(?:\.[A-Za-z_]\w*)+", text_of(page))):
        resolve(name)


def test_the_modules_functions_exist() -> None:
    """The table of modules: every name in its last column is the module's, or of one of the row's modules."""
    for line in text_of("docs/library.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        modules = re.findall(r"`(gpuops\.[\w.]+)`", cells[0])
        if not line.startswith("|") or not modules:
            continue
        for words in re.findall(r"`([^`]+)`", cells[-1]):
            if re.search(r"\.cube|\.spi3d|params\.|gpuops\.", words):
                continue
            for name in re.findall(r"[A-Za-z_]\w*", words):
                assert any(hasattr(resolve(module), name) for module in modules), (modules, name)


def python_blocks() -> list[tuple[str, str]]:
    return [
        (page, block)
        for page in PAGES
        for block in re.findall(r"^```python\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("page", "block"), python_blocks(), ids=[f"{page} {i}" for i, (page, _) in enumerate(python_blocks())]
)
def test_python_examples_run(page, block, tmp_path, monkeypatch, rng) -> None:
    if "gpuops.batch.cluster" in block:
        pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {
        "array": rng.uniform(0, 1, (96, 128)).astype(np.float32),
        "pixels": rng.integers(0, 256, (96, 128, 3), np.uint8),
    }
    exec(compile(block, page, "exec"), names)


def test_the_pages_that_show_python_are_looked_at() -> None:
    assert {page for page, _ in python_blocks()} >= {
        "README.md", "docs/library.md", "docs/fft.md", "docs/dwt.md",
    }  # fmt: skip
    indented = [page for page in PAGES if re.search(r"^    (from|import) \w+", text_of(page), re.MULTILINE)]
    assert not indented, "Python that is not in a fenced block is not run"


def command_lines(page: str) -> list[str]:
    """All that begin with clpix: in code blocks, and within lines between backticks."""
    text = re.sub(r"\\\n\s*", "", text_of(page))
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    code = [block for language, block in fenced if language in ("", "sh")]
    code += re.findall(r"^    .*$", text, re.MULTILINE)
    lines = re.findall(r"^(?:    |\$ |)((?:\.venv/bin/)?clpix [a-z].*)$", "\n".join(code), re.MULTILINE)
    lines += re.findall(r"`((?:\.venv/bin/)?clpix [a-z][^`]*)`", text)
    lines += re.findall(r"[|&] ((?:\.venv/bin/)?clpix [a-z][^|&`\n]*)", text)
    return [re.split(r"\s+#|(?<![\w(])[|](?!\w)|\s&&\s|\\\|", line)[0].strip() for line in lines]


# The subcommand that has no name.
FOLDERS = next(path for path in COMMANDS if path[0] == "regress" and " " in path[1])


def command_of(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The command that a line calls, and its arguments; a KeyError if there is none."""
    for count in (2, 1):
        if tuple(words[1 : 1 + count]) in COMMANDS:
            return tuple(words[1 : 1 + count]), words[1 + count :]
    if words[1] == "regress":
        return FOLDERS, words[2:]
    raise KeyError(" ".join(words))


@pytest.mark.parametrize("page", PAGES)
def test_command_lines_parse(page) -> None:
    for line in dict.fromkeys(command_lines(page)):
        words = shlex.split(line)
        if words[1] in ("COMMAND", "bench") and PLACEHOLDER.search(line):
            continue
        path, args = command_of(words)
        command = COMMANDS[path]
        known = option_names(command, CONTEXT)
        for part in line.split(" then ")[1:]:
            known |= (
                option_names(COMMANDS[(part.split()[0],)], CONTEXT) if not part.startswith("write") else set()
            )
        for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", line):
            assert name in known, (line, name)
        if PLACEHOLDER.search(line) or not args:
            continue
        # A line without an output only shows options.
        derived = isinstance(command, Derived)
        required = [
            param for param in command.params if param.name == "output" and (param.required or derived)
        ]
        if required and not {"-o", "--output"}.intersection(args):
            args = [*args, "-o", "out.png"]
        if any(param.name == "inputs" for param in command.params) and args[0].startswith("-"):
            args = ["in.png", *args]
        try:
            given = command.make_context("clpix", args, parent=CONTEXT).params
            if path == ("tonemap",):
                for output in outputs_for(given["inputs"], given["output"], "tonemap"):
                    shown = output.endswith(VIDEOS) or format_of(output).is_for_display
                    assert shown, f"{line}: {output} is for no display"
        except (click.MissingParameter, click.exceptions.Exit):
            assert len(words) < 4 or "--help" in line, line


@pytest.mark.parametrize("page", PAGES)
def test_every_option_exists(page) -> None:
    """Every --option on a page is one of its command or, where the page is of none, of any."""
    name = Path(page).stem
    own = [path for path in COMMANDS if path[0] in {name, f"i{name}"}]
    everywhere = set().union(*(option_names(command, CONTEXT) for command in COMMANDS.values()))
    known = set().union(*(option_names(COMMANDS[path], CONTEXT) for path in own)) if own else everywhere
    # Whole command lines are checked above; those of other programs are not checked.
    text = re.sub(r"^    .*$|`[^`\n]*(?:clpix|pytest|pip) [^`\n]*`", "", text_of(page), flags=re.MULTILINE)
    text = re.sub(
        r"^```.*?^```$|(?<=\])\([^)\n]*\)", "", text, flags=re.MULTILINE | re.DOTALL
    )  # targets of links are skipped, too
    for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) - known):
        of_pytest = page == "docs/regress.md" and option.startswith("--clpix-")
        assert of_pytest or (option in everywhere and option in IN_PASSING.get(page, ())), (page, option)


# Options of other commands that a command's page mentions.
IN_PASSING = {
    "docs/bench.md": {"--kind", "--method", "--preset", "--radix"},
    "docs/devices.md": {"--device"},
    "docs/dwt.md": {"--level"},
}


@pytest.mark.parametrize("path", list(COMMANDS), ids=" ".join)
def test_every_option_is_documented(path) -> None:
    """An option is on the command's page, or on the page of the options that all commands share."""
    pages = {"operations", path[0]} if path[0] in OPERATIONS else {path[0], PAGES_OF.get(path[0], path[0])}
    names = {f"docs/{page}.md" for page in pages}.intersection(PAGES)
    known = "".join(map(text_of, [*names, "docs/options.md"]))
    for option in COMMANDS[path].params:
        if isinstance(option, click.Option):
            assert max(option.opts, key=len) in known, (path, option.opts)


SERVER = "how-to/run-many-small-commands"
# Commands that another one's page describes.
PAGES_OF = {
    "ifft": "fft",
    "idwt": "dwt",
    "run": "chains",
    "regress": "compare",
    "help": "faq",
    "server": SERVER,
}


@pytest.fixture(scope="module")
def courtyard(tmp_path_factory) -> Path:
    """The folder with the picture of docs/dwt.md, and that with noise, as docs/images/make makes them."""
    folder = tmp_path_factory.mktemp("courtyard")
    program = [sys.executable, "-m", "clpix"]
    source = str(ROOT / "samples" / "courtyard.exr")
    subprocess.run([*program, "tonemap", source, "-o", "a.png", "-q"], cwd=folder, check=True)
    noise = str(ROOT / "docs" / "images" / "noise.py")
    subprocess.run([sys.executable, noise, "a.png", "noisy.png", "20"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("name", ["courtyard", "interior", "night", "sunset"])
def test_samples_are_light(name) -> None:
    pixels = files.read(ROOT / "samples" / f"{name}.exr").pixels
    assert (pixels.dtype, pixels.shape) == (np.float16, (512, 1024, 3)) and pixels.min() > 0


# dB: devices round a few of the picture's 8-bit codes differently.
NEARLY = 0.011


@pytest.mark.exhaustive
def test_what_denoising_is_worth(clpix, courtyard, monkeypatch) -> None:
    monkeypatch.chdir(courtyard)
    rows = re.findall(r"^\| `(--shrink [^`]*)` \| ([\d.]+) \|$", text_of("docs/dwt.md"), re.MULTILINE)
    assert len(rows) == 7
    for options, psnr in rows:
        if "--cycle-spins" in options:  # it takes 16 times as long
            continue
        assert (
            clpix(
                "dwt", "noisy.png", "-o", "o.png", *options.split(), "--reconstruct", "-q", "--overwrite"
            ).code
            == 0
        )
        shown = re.search(r"psnr  ([\d.]+) dB", clpix("compare", "a.png", "o.png", "--metric", "psnr").out)
        assert shown and abs(float(shown[1]) - float(psnr)) < NEARLY


@pytest.mark.exhaustive
def test_what_keeping_comes_to(clpix, courtyard, monkeypatch) -> None:
    monkeypatch.chdir(courtyard)
    table = re.search(
        r"^\| `--keep` \|(.*)\|\n.*\n\| dB \|(.*)\|\n\| `.npz`, kB \|(.*)\|$",
        text_of("docs/dwt.md"),
        re.MULTILINE,
    )
    assert table
    for percent, psnr, size in zip(
        *([cell.strip() for cell in row.split("|")] for row in table.groups()), strict=True
    ):
        run = clpix("dwt", "a.png", "-o", "c.npz", "--keep", percent, "--overwrite")
        shown = re.search(r"PSNR ([\d.]+) dB", run.out)
        assert shown and abs(float(shown[1]) - float(psnr)) < NEARLY
        # Versions of zlib compress differently.
        assert abs(Path("c.npz").stat().st_size / 1000 / float(size) - 1) < 0.03


def keys_of(value: object) -> set[str]:
    """All keys of objects within, at any depth, that are names and no data."""
    if isinstance(value, dict):
        return {key for key in value if re.fullmatch(r"[a-z_0-9]+", key)}.union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


@pytest.mark.cases(1)
@pytest.mark.parametrize(("page", "line"), [
    ("bench", "bench copy --size 1 --json"),
    ("bench", "bench dwt --size 64 --json"),
    ("devices", "devices --json"),
    ("info", "info samples/night.exr --stats --histogram --json"),
    ("compare", "compare samples/night.exr samples/night.exr -o OUT --json"),
    ("timing", "blur samples/night.exr --sigma 0 -o OUT --timing-file REPORT"),
])  # fmt: skip
def test_keys_of_json_are_documented(clpix, tmp_path, monkeypatch, page, line) -> None:
    monkeypatch.chdir(ROOT)
    report = tmp_path / "report.json"
    words = line.replace("OUT", str(tmp_path / "o.png")).replace("REPORT", str(report)).split()
    run = clpix(*words)
    assert run.code == 0, run.err
    found = json.loads(run.out or report.read_text())
    if page == "info":
        found[0]["metadata"]["attributes"] = {}  # these belong to the file
    text = text_of(f"docs/{page}.md") + text_of("docs/timing.md")  # other pages refer to its context
    # Percentiles and channels are named by their numbers.
    missing = {key for key in keys_of(found) if not re.search(rf"`{key}`|`[^`]*\b{key}\b[^`]*`", text)}
    assert not {key for key in missing if not key.isdigit()}, missing


@pytest.mark.exhaustive
def test_pictures_are_what_the_program_makes(clpix, tmp_path, monkeypatch) -> None:
    """The suite of the documentation's pictures: each command is run, and its picture compared."""
    monkeypatch.chdir(tmp_path)
    run = clpix("regress", "run", ROOT / "docs" / "images" / "suite.toml", "--report", "report.html")
    assert (run.code, run.err) == (0, ""), run.out
    assert (tmp_path / "report.html").is_file()
