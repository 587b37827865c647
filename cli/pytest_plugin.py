"""The fixture ``clpix_regress`` for pytest: pictures of a test beside their references.

def test_render(clpix_regress):
    clpix_regress.check(render())          # an array or a file; the reference is called as the test is

@pytest.mark.clpix(max_flip=0.02)          # thresholds, by the command line's names
def test_noise(clpix_regress): ...

This module is loaded in every run of pytest: it imports nothing of the library before a test asks for the fixture.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuops.regress.outcome import Outcome

    from .suites import Device

# Where outcomes of this process are kept until its end.
_OUTCOMES = pytest.StashKey["list[Outcome]"]()
# The key under which a worker of xdist hands its outcomes to the main process.
_SENT = "clpix_outcomes"
# Options, and the names of the same in an ini file.
_OPTIONS = {
    "references": "the folder of references, or an index (default: references beside the test's file)",
    "results": "the folder where pictures of tests go (default: .clpix-regress/pytest)",
    "report": "write a page with all pictures, or a folder without scripts",
    "device": "the device that compares, as clpix --device",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clpix", "clpix: pictures beside their references")
    group.addoption(
        "--clpix-update",
        action="store_true",
        help="make the pictures of tests that ran the references of their names",
    )
    for name, text in _OPTIONS.items():
        group.addoption(f"--clpix-{name}", metavar="X", help=text)
        parser.addini(f"clpix_{name}", text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "clpix(name=None, **thresholds): thresholds of clpix_regress, such as max_flip=0.02 or fail=0.01",
    )
    config.stash[_OUTCOMES] = []


def _option(config: pytest.Config, name: str) -> str | None:
    value: str | None = config.getoption(f"--clpix-{name}") or config.getini(f"clpix_{name}") or None
    return value


class RegressFixture:
    """What the fixture gives: ``check`` compares a picture with its reference."""

    def __init__(self, request: pytest.FixtureRequest, device: Device) -> None:
        self._request = request
        self._device = device
        self._count = 0

    def check(self, picture: Any, name: str | None = None, **thresholds: float) -> None:
        """Compares a picture with its reference, and fails the test if it differs.

        Parameters
        ----------
        picture : array or path
            (height, width) or (height, width, channels) of uint8, uint16, float16 or float32, or a picture's file.
            Floats are light.
        name : str, optional
            The reference's name. Without it that of the test, and from the second picture of a test on a number.
        **thresholds : float
            By the command line's names with ``_`` in place of ``-``, over those of the test's marker.
        """
        __tracebackhide__ = True
        from gpuops.params.comparing import Comparing
        from gpuops.params.thresholds import Thresholds
        from gpuops.regress.acceptance import replacement
        from gpuops.regress.judge import judge, pairs
        from gpuops.regress.references import Change

        node = self._request.node
        config = node.config
        marker = node.get_closest_marker("clpix")
        given = {**(marker.kwargs if marker else {}), **thresholds}
        name = name or given.pop("name", None) or self._name()
        given.pop("name", None)
        self._count += 1
        limits = Thresholds.of({key.replace("_", "-"): value for key, value in given.items()})
        where = Path(_option(config, "references") or Path(node.path).parent / "references")
        folder = Path(_option(config, "results") or config.rootpath / ".clpix-regress" / "pytest")
        result = _write(picture, folder / name)
        inside = result.relative_to(folder).as_posix()
        known, places = self._device.references(str(where))

        def judged() -> Outcome:
            one_pair = pairs(folder, known, places, {inside})
            (outcome,) = judge(one_pair, Comparing(), lambda _name: limits, self._device.open, jobs=1)
            return outcome

        outcome = judged()
        if config.getoption("--clpix-update") and outcome.status != "equal":
            known.change({inside: replacement(outcome) if outcome.result else Change(str(result))})
            outcome = judged()
        config.stash[_OUTCOMES].append(outcome)
        node.user_properties.append((f"clpix {inside}", outcome.status))
        if not outcome.good and outcome.status != "warned":
            pytest.fail(_message(outcome, str(where)), pytrace=False)

    def _name(self) -> str:
        node = self._request.node
        stem = re.sub(r"[^\w.\[\]=+-]+", "_", node.name)
        number = f"-{self._count + 1}" if self._count else ""
        return f"{Path(node.path).stem}/{stem}{number}"


def _write(picture: Any, path: Path) -> Path:
    """Puts the picture at ``path``, whose extension is added if it has none, and returns where it is."""
    import numpy as np

    from gpuops import files
    from gpuops.regress.references import put

    if isinstance(picture, str | os.PathLike):
        source = Path(picture)
        target = path if files.is_of_picture(path) else path.with_name(path.name + source.suffix)
        put(str(source), target)
        return target
    pixels = np.asarray(picture)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    light, alpha = pixels.dtype.kind == "f", pixels.shape[2:] in ((2,), (4,))
    made = files.Picture(np.ascontiguousarray(pixels), alpha=alpha, linear=light)
    if not files.is_of_picture(path):
        path = path.with_name(f"{path.name}{'.exr' if light else '.png'}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    files.write(path, made)
    return path


def _message(outcome: Outcome, references: str) -> str:
    from .suites import line_of

    lines = [line_of(outcome)]
    if outcome.result is not None:
        lines.append(f"  result: {outcome.result.path}")
    lines.append(f"  references: {references} (--clpix-update makes results the references)")
    return "\n".join(lines)


@pytest.fixture(scope="session")
def _clpix_device(pytestconfig: pytest.Config) -> Iterator[Device]:
    from .suites import Device

    with Device(_option(pytestconfig, "device")) as device:
        yield device


@pytest.fixture
def clpix_regress(request: pytest.FixtureRequest, _clpix_device: Device) -> RegressFixture:
    """Compares pictures with their references: ``clpix_regress.check(picture)``."""
    return RegressFixture(request, _clpix_device)


def pytest_testnodedown(node: Any, error: object) -> None:
    """Takes the outcomes of a worker of xdist that has ended."""
    sent = getattr(node, "workeroutput", {}).get(_SENT)
    if sent:
        from gpuops.regress.outcome import from_json

        node.config.stash[_OUTCOMES].extend(from_json(sent).outcomes)


def pytest_sessionfinish(session: pytest.Session) -> None:
    outcomes = session.config.stash[_OUTCOMES]
    sent = getattr(session.config, "workeroutput", None)
    target = _option(session.config, "report")
    if not outcomes or (sent is None and target is None):
        return
    from gpuops.regress.outcome import Run, to_json

    run = Run(sorted(outcomes, key=lambda outcome: outcome.name), {"command": ["pytest"]})
    if sent is not None:  # this is a worker
        sent[_SENT] = to_json(run)
        return
    from gpuops.errors import byte_count
    from gpuops.regress.html import write_folder, write_page

    write = write_page if str(target).lower().endswith((".html", ".htm")) else write_folder
    written = write(str(target), run, overwrite=True)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"clpix: {written[0].path}, {byte_count(sum(one.size for one in written))}")
