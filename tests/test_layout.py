"""The house: small files, and few of them at its front door. CONTRIBUTING.md says why."""

from __future__ import annotations

from pathlib import Path

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
