"""The house: small files, and few of them at its front door. CONTRIBUTING.md says why."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gpuops
from gpuops import files

ROOT = Path(__file__).parent.parent
# Lines of a file of the product, at most.
LONGEST = 400
# Modules beside gpuops' rooms, at most.
FLAT = 16
# Modules of the program, but those that run its main function.
COMMANDS = {path.stem for path in (ROOT / "cli").glob("[a-z]*.py")} - {"entry", "resident"}
# How operations are computed.
FAMILIES = ("fourier", "wavelets", "filters", "tone", "glow", "metrics", "pixels", "ocio")


def test_files_are_small() -> None:
    folders = (ROOT / "cli", ROOT / "gpuops", ROOT / "clkernels")
    files = [path for folder in folders for kind in ("*.py", "*.cl") for path in folder.rglob(kind)]
    assert len(files) > 300
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_few_modules_are_in_no_room() -> None:
    modules = [path.name for path in (ROOT / "gpuops").glob("*.py") if path.name != "__init__.py"]
    assert 0 < len(modules) <= FLAT


def test_modules_are_named_by_nouns() -> None:
    """A participle, a preposition or an adverb does not say what is in a module."""
    vague = re.compile(
        "abreast|across|apart|around|begun|behind|beside|between|blocked|bordered|both|changed|collected|done|finished|"
        "found|given|joined|kept|left_out|made|metered|reading|settled|started|together|used|within"
    )
    named = {path.stem for folder in ("cli", "gpuops") for path in (ROOT / folder).rglob("*.py")}
    assert named and list(filter(vague.fullmatch, named)) == []


def test_no_name_is_found() -> None:
    for path in [path for folder in ("cli", "gpuops") for path in (ROOT / folder).rglob("*.py")]:
        assert not re.search(r"^ *found(:.*)? = |for found in", path.read_text(), re.MULTILINE), path


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path in [path for folder in ("cli", "gpuops") for path in (ROOT / folder).rglob("*.py")]:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 300 and {name: found for name, found in places.items() if len(found) > 1} == {}


def test_what_is_imported_on_its_first_use_is_there() -> None:
    for package in (gpuops, files):
        assert set(package._LAZY) <= set(package.__all__)
        assert [name for name in package._LAZY if not hasattr(package, name)] == []


def modules() -> dict[str, Path]:
    """The files of all modules, by the names that they are imported by."""
    found = {}
    for folder, package in (("cli", "clpix"), ("gpuops", "gpuops"), ("clkernels", "clkernels")):
        for path in (ROOT / folder).rglob("*.py"):
            parts = (package, *path.relative_to(ROOT / folder).with_suffix("").parts)
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def run_time_imports(name: str, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a module imports, also within its functions, but not for types alone."""

    def named(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".") if known[name].name == "__init__.py" else name.split(".")[:-1]
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            within = {f"{module}.{alias.name}" for alias in node.names}
            yield from within & known.keys() or {module}
        for below in ast.iter_child_nodes(node):
            yield from named(below)

    return (set(named(ast.parse(known[name].read_text()))) & known.keys()) - {name}


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    known = modules()
    found = {name: run_time_imports(name, known) for name in known}
    assert "gpuops.filters.blur" in found["gpuops.ops.blur"]  # which it does within a function
    return found


@pytest.mark.parametrize(("rooms", "barred"), [
    (("gpuops", "clkernels"), ("clpix",)),
    (("clkernels",), ("gpuops",)),
    (tuple(f"gpuops.{family}" for family in (*FAMILIES, "tiles", "params", "files", "device")), ("gpuops.ops",)),
    (("gpuops.ops", "gpuops.tiles", *(f"gpuops.{family}" for family in FAMILIES)), ("gpuops.batch",)),
    (("gpuops.tiles",), ("gpuops.operation", "gpuops.chain")),
    (tuple(f"clpix.{name}" for name in COMMANDS), ("clpix.main",)),
], ids=["program", "kernels", "operations", "jobs", "tiles", "entry point"])  # fmt: skip
def test_imports_go_one_way(imports, rooms, barred) -> None:
    def within(name: str, rooms: tuple[str, ...]) -> bool:
        return any(f"{name}.".startswith(f"{room}.") for room in rooms)

    assert any(within(name, rooms) for name in imports)
    assert [
        f"{name} imports {other}"
        for name, others in imports.items()
        if within(name, rooms)
        for other in others
        if within(other, barred)
    ] == []


def test_no_modules_import_each_other(imports) -> None:
    TopologicalSorter(imports).prepare()  # raises an error that names the circle
