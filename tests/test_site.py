"""The site of the documentation: it is built without a warning, all of it is there, and every link leads somewhere."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from gpuops.ops import OPERATIONS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# What a browser loads by itself, whose address must be the site's own.
LOADED = {("link", "href"), *((tag, "src") for tag in ("img", "script", "source", "iframe", "video"))}


@dataclass
class Page(HTMLParser):
    """What a page of the site links to, loads and can be linked at."""

    path: Path
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    formulas: int = 0

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.formulas += tag == "math"
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if tag == "a" and name == "href" and value:
                self.links.append(value)
            if (tag, name) in LOADED and value:
                self.loaded.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. Proxies that are not there keep the build from any network."""
    for package in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(package, reason="needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(folder / "read")]
    nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    command += ["-c", str(DOCS / "site"), str(DOCS), str(folder / "html")]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | nowhere)
    assert run.returncode == 0, run.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Its pages, by their paths."""
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_of_the_docs_is_there(site) -> None:
    for source in DOCS.rglob("*.md"):
        assert (site / source.relative_to(DOCS)).with_suffix(".html").is_file(), source


def test_links_and_anchors_exist(site, pages) -> None:
    checked = 0
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            if urlsplit(link).scheme:
                continue
            found = (path.parent / unquote(target)).resolve() if target else path
            assert found.is_file(), (path.relative_to(site), link)
            if anchor and found in pages:
                assert unquote(anchor) in pages[found].anchors, (path.relative_to(site), link)
            checked += 1
    assert checked > 1000


def test_nothing_is_loaded_from_elsewhere(site, pages) -> None:
    for path, page in pages.items():
        for address in page.loaded:
            parts = urlsplit(address)
            assert not parts.scheme and not parts.netloc, (path.relative_to(site), address)
            # The page itself is what an empty path stands for.
            assert not parts.path or (path.parent / unquote(parts.path)).is_file(), (path, address)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_links_of_the_readme_exist(pages, site) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not urlsplit(link).scheme]
    for link in links:
        target, anchor = urldefrag(link)
        assert (ROOT / target).exists(), link
        if anchor:
            page = (site / Path(target).relative_to("docs")).with_suffix(".html")
            assert anchor in pages[page].anchors, link
    assert len(links) > 20


def test_operations_and_modules_have_their_reference(pages, site) -> None:
    operations = pages[site / "operations.html"]
    for name in OPERATIONS:
        assert any(anchor == name or anchor.startswith(f"{name}-") for anchor in operations.anchors), name
    functions = set[str]().union(*(pages[path].anchors for path in (site / "site" / "api").glob("*.html")))
    table = (DOCS / "library.md").read_text(encoding="utf-8")
    modules = {
        name
        for line in table.splitlines()
        if line.startswith("| `gpuops.")
        for name in re.findall(r"`(gpuops\.[\w.]+)`", line.split(" | ")[0])
    }
    modules |= {f"gpuops.ops.{name}" for name in OPERATIONS}
    assert {f"module-{name}" for name in modules} <= functions
    for name in ("gpuops.fourier.rfft2", "gpuops.gpu.Gpu", "gpuops.ops.blur.BlurParams"):
        assert name in functions
