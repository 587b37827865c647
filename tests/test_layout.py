"""The house: small files, and few of them at its front door. CONTRIBUTING.md says why."""

import ast
from collections import defaultdict
from pathlib import Path

import gpuops
from gpuops import files

ROOT = Path(__file__).parent.parent
# Lines of a file of the product, at most.
LONGEST = 400
# Modules beside gpuops' rooms, at most.
FLAT = 15


def test_files_are_small() -> None:
    folders = (ROOT / "cli", ROOT / "gpuops", ROOT / "clkernels")
    files = [path for folder in folders for kind in ("*.py", "*.cl") for path in folder.rglob(kind)]
    assert len(files) > 300
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_few_modules_are_in_no_room() -> None:
    modules = [path.name for path in (ROOT / "gpuops").glob("*.py") if path.name != "__init__.py"]
    assert 0 < len(modules) <= FLAT


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
