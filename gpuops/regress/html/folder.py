"""The folder: pages without scripts, a style file, and pictures as files: what Jenkins' policy for artifacts allows.

That policy: jenkins.io/doc/book/security/configuring-content-security-policy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from ...errors import FileError
from ...files import Picture
from ...files.output import atomic
from ...files.png import SIGNATURE
from ...process import temporary
from ...records import dataclass
from ..outcome import STATUSES, Outcome, Run, cause, line, reason
from . import fragments
from .graphics import jpeg, palette, png, visible
from .pairs import PICTURED, SIDES, STANDIN, Settings, View, view

# Cases that need attention on a page, and rows of the others.
_CASES, _ROWS = 50, 2000
# What an earlier report in the same folder may have left.
_OURS = re.compile(
    r"(index|cases-\d+|others-\d+)\.html|style\.css|case-\d+-(reference|result|heat|whole)\.(png|jpg)"
)


def write_folder(
    folder: Path_, run: Run, settings: Settings | None = None, *, overwrite: bool = False
) -> list[ReportFile]:
    """Writes the report as ``index.html``, further pages, ``style.css`` and ``pictures/*.png``.

    Returns all files, the index first.
    Floats are shown as a screen shows them. ``overwrite``: an earlier report in the folder is replaced, and its files
    that this one does not have are removed; other files are left alone.

    Raises
    ------
    FileError
        A file cannot be written, or there is a report already.
    """
    settings, place = settings or Settings(), Path(folder)
    pictures = place / "pictures"
    try:
        pictures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{place}: cannot be made ({error.strerror}); name another folder") from None
    index = place / "index.html"
    if index.exists() and not overwrite:
        raise FileError(f"{index}: exists already; name another folder, or add --overwrite")
    written = []

    def write(path: Path, data: bytes) -> None:
        with atomic(path, overwrite=overwrite) as temporary:
            Path(temporary).write_bytes(data)
        written.append(ReportFile(str(path), len(data)))

    write(place / "style.css", asset("page.css").encode())
    shown = _attention(run)
    others = [outcome for outcome in run.worst_first if outcome.good]
    each = budget(run, settings)
    for start in range(0, len(shown), _CASES):
        name = f"cases-{start // _CASES + 1}.html"
        sections = []
        for number, outcome in enumerate(shown[start : start + _CASES], start):
            seen = view(outcome, settings, each)
            sources = {}
            for which, data, width, height in seen.pictures(_png_of_floats):
                write(pictures / f"case-{number}-{which}.png", data)
                sources[which] = (f"pictures/case-{number}-{which}.png", width, height)
            if seen.whole:
                write(pictures / f"case-{number}-whole.jpg", seen.whole)
            sections.append(_section(number, outcome, seen, settings, sources))
        write(place / name, _page(settings.title, _BACK + "".join(sections)))
    links = []
    for start in range(0, len(others), _ROWS):
        name = f"others-{start // _ROWS + 1}.html"
        part_of = others[start : start + _ROWS]
        write(place / name, _page(settings.title, f"{_BACK}<table>{_rows(part_of)}</table>"))
        links.append(
            f'<li><a href="{name}">{fragments.text(part_of[0].name)} …</a>: '
            f"{len(part_of)} case{'s' * (len(part_of) > 1)}</li>"
        )
    body = [f'<ul class="totals">{fragments.totals(run.totals)}</ul>']
    if shown:
        body.append(f"<h2>What needs attention</h2><table>{_rows(shown, linked=True)}</table>")
    if links:
        body.append(f"<h2>Others</h2><ul>{''.join(links)}</ul>")
    body.append(f"<h2>About this run</h2><table>{fragments.rows(run.context.items())}</table>")
    write(index, _page(settings.title, "".join(body)))
    if overwrite:
        _remove_old(place, {file.path for file in written})
    return [written[-1], *written[:-1]]


def attachments(folder: Path_, run: Run) -> Callable[[Outcome], list[str]]:
    """Returns what gives the pictures that :func:`write_folder` wrote of an outcome, for :func:`~..junit.to_junit`."""
    numbers = {outcome.name: number for number, outcome in enumerate(_attention(run))}

    def of(outcome: Outcome) -> list[str]:
        stem = Path(folder) / "pictures" / f"case-{numbers.get(outcome.name, -1)}"
        names = (f"{stem}-{which}.png" for which in ("result", "reference", "heat"))
        return [name for name in names if Path(name).is_file()]

    return of


def _attention(run: Run) -> list[Outcome]:
    return [outcome for outcome in run.worst_first if not outcome.good]


_BACK = '<p><a href="index.html">All cases</a></p>'


def _png_of_floats(part: Picture) -> tuple[bytes, int, int]:
    return png(visible(part)), part.width, part.height


def _section(
    number: int, outcome: Outcome, seen: View, settings: Settings, sources: dict[str, tuple[str, int, int]]
) -> str:
    figures = fragments.pictures(outcome, seen, settings, sources)
    whole = f"pictures/case-{number}-whole.jpg" if seen.whole else ""
    return (
        f'<section class="case" id="case-{number}"><h2>{fragments.heading(outcome)}</h2>'
        f'<div class="pictures">{figures}</div>{fragments.facts(outcome, seen, settings, whole)}</section>'
    )


def _rows(outcomes: Sequence[Outcome], *, linked: bool = False) -> str:
    rows = ['<tr><th scope="col">status</th><th scope="col">picture</th><th scope="col">why</th></tr>']
    for number, outcome in enumerate(outcomes):
        name = f"<bdi>{fragments.text(outcome.name)}</bdi>"
        if linked:
            name = f'<a href="cases-{number // _CASES + 1}.html#case-{number}">{name}</a>'
        why = fragments.text(reason(outcome))
        rows.append(f"<tr><td>{fragments.badge(outcome.status)}</td><td>{name}</td><td>{why}</td></tr>")
    return "".join(rows)


def _page(title: str, body: str) -> bytes:
    return Template(asset("folder.html")).substitute(title=fragments.text(title), body=body).encode()


def _remove_old(place: Path, kept: set[str]) -> None:
    for path in (*place.iterdir(), *(place / "pictures").iterdir()):
        if _OURS.fullmatch(path.name) and str(path) not in kept:
            with suppress(OSError):
                path.unlink()


# -- The page: one HTML file with all that it needs, which asks for nothing else, or a few of them if one would be huge
# A case stands in a ``<noscript>``, which is text for a browser that runs the page's script: nothing in it is loaded or
# laid out until the script opens the case, however many there are. Where scripts are blocked, the browser shows it all.

Path_ = str | os.PathLike[str]

# The files of the script, in their order.
_SCRIPTS = ("pixels.js", "viewer.js", "page.js")
# Bytes of base64 for each byte, of which the pictures' budget has to allow.
_BASE64 = 4 / 3
# The share of the aim that pictures get; the rest is for thumbnails, stand-ins, text and the script.
_SHARE = 0.9
# The bytes that a page has beside its cases, its assets and the context: palette, totals, links.
_FRAME_BYTES = 8192
# Nothing but the page's own style and script, and pictures within the page; no connection of any kind.
_POLICY = (
    "default-src 'none'; img-src data:; style-src '{style}'; script-src '{script}'; "
    "base-uri 'none'; form-action 'none'"
)


class ReportFile(NamedTuple):
    """A file of a report, and its size in bytes."""

    path: str
    size: int


@dataclass
class _Part:
    """The cases of one page, written to files that have no name while the number of pages is not known."""

    cases: IO[bytes]
    index: IO[bytes]
    first: int
    count: int = 0
    tags: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.cases.tell() + self.index.tell()


def write_page(
    path: Path_, run: Run, settings: Settings | None = None, *, overwrite: bool = False
) -> list[ReportFile]:
    """Writes the report as a self-contained HTML file, and more (``report-2.html``) where it would exceed the cap.

    What needs attention comes first. Only one outcome's pictures are in memory at a time.

    Raises
    ------
    FileError
        A file cannot be written. Pictures that cannot be read are said to be so on the page.
    """
    settings = settings or Settings()
    with ExitStack() as stack:
        parts = _spool(run, settings, stack)
        further = (f"{Path(path).stem}-{number}" for number in range(2, len(parts) + 1))
        names = [Path(path), *map(Path(path).with_stem, further)]
        outputs = [stack.enter_context(atomic(name, overwrite=overwrite)) for name in names]
        for number, output in enumerate(outputs):
            _assemble(output, number, parts, names, run, settings)
        sizes = [os.path.getsize(output) for output in outputs]
    return [ReportFile(str(name), size) for name, size in zip(names, sizes, strict=True)]


def budget(run: Run, settings: Settings) -> float:
    """Returns the bytes that the pictures of each outcome may have."""
    count = sum(outcome.status in PICTURED for outcome in run.outcomes)
    each = max(settings.least, settings.aim * _SHARE / max(count, 1))
    return min(each, settings.cap / 2) / _BASE64


def _spool(run: Run, settings: Settings, stack: ExitStack) -> list[_Part]:
    def new(first: int) -> _Part:
        cases, index = (tempfile.TemporaryFile(dir=temporary.folder()) for _ in range(2))  # noqa: SIM115, the stack closes them
        return _Part(stack.enter_context(cases), stack.enter_context(index), first)

    frame = [_script(), *map(asset, ("page.css", "page.html")), fragments.rows(run.context.items())]
    room = settings.cap - _FRAME_BYTES - sum(len(part.encode()) for part in frame)
    bytes_each = budget(run, settings)
    parts = [new(0)]
    for number, outcome in enumerate(run.worst_first):
        shown = view(outcome, settings, bytes_each)
        case = _case(outcome, shown, settings).encode()
        entry = _json(_entry(outcome, shown, parts[-1].tags)).encode()
        if parts[-1].count and parts[-1].size + len(case) + len(entry) > room:
            parts.append(new(number))
            entry = _json(_entry(outcome, shown, parts[-1].tags)).encode()
        part = parts[-1]
        part.cases.write(case)
        part.index.write((b",\n" if part.count else b"") + entry)
        part.count += 1
    return parts


def _case(outcome: Outcome, shown: View, settings: Settings) -> str:
    """Returns a case as the script opens it, and as it is read without one."""
    whole = _address(shown.whole) if shown.whole else ""
    body = fragments.facts(outcome, shown, settings, whole)
    if shown.sides:
        seen = shown.pictures(lambda part: jpeg(part, *STANDIN))
        sources = {which: (_address(data), width, height) for which, data, width, height in seen}
        figures = fragments.pictures(outcome, shown, settings, sources)
        raw = "".join(
            f'<template data-of="{which}">{b64encode(side.data).decode()}</template>'
            for which, side in shown.sides.items()
            if side.kind != "png"
        )
        about = f'<script type="application/json">{_json(_about(outcome, shown, settings))}</script>'
        # The stand-ins of floats are no data: the script finds the template first.
        body = f'<div class="pictures">{raw}{about}{figures}</div>{body}'
    return (
        f'<noscript><details class="case"><summary>{fragments.heading(outcome)}</summary>'
        f'<div class="body">{body}</div></details></noscript>\n'
    )


def _address(data: bytes) -> str:
    kind = "png" if data.startswith(SIGNATURE) else "jpeg"
    return f"data:image/{kind};base64,{b64encode(data).decode()}"


def _about(outcome: Outcome, shown: View, settings: Settings) -> dict[str, Any]:
    """Returns what the viewer needs to know of the pictures."""
    about: dict[str, Any] = {"aligned": shown.aligned, "top": shown.top}
    for which in SIDES:
        if side := shown.sides.get(which):
            part = side.part
            names = ("width", "height", "channels", "alpha", "linear")
            about[which] = {"kind": side.kind, "x": side.x, "y": side.y}
            about[which] |= {name: getattr(part, name) for name in names}
    if shown.heat:
        side = next(iter(shown.sides.values()))
        about["heat"] = {"kind": "png", "x": side.x, "y": side.y, "name": line(settings.heat_name)}
    worst = outcome.worst
    if worst and any(side.has(worst.x, worst.y) for side in shown.sides.values()):
        about["worst"] = [worst.x, worst.y]
    return about


def _entry(outcome: Outcome, shown: View, tags: dict[str, int]) -> list[Any]:
    numbers = [tags.setdefault(line(tag), len(tags)) for tag in outcome.tags]
    thumbnail = b64encode(shown.thumbnail).decode()
    why = cause(outcome) or outcome.says
    return [line(outcome.name), list(STATUSES).index(outcome.status), why, numbers, thumbnail]


def _assemble(
    output: Path_, number: int, parts: list[_Part], names: list[Path], run: Run, settings: Settings
) -> None:
    part, style, script = parts[number], asset("page.css"), _script()
    signs = {name: status.sign for name, status in STATUSES.items()}
    start: dict[str, Any] = {"statuses": list(STATUSES), "signs": signs, "tags": list(part.tags)}
    start |= {"palette": palette().reshape(-1).tolist()}
    policy = _POLICY.format(style=_hash(style), script=_hash(script))
    filled = {
        "policy": escape(policy, quote=True),
        "title": fragments.text(settings.title),
        "style": style,
        "script": script,
        "totals": fragments.totals(run.totals),
        "context": fragments.rows(run.context.items()),
        "pages": _pages(number, parts, names),
    }
    # The list works before the browser has read the cases, which come last.
    before, rest = asset("page.html").split("$index")
    between, after = rest.split("$cases")
    with open(output, "wb") as file:
        file.write(Template(before).substitute(filled).encode())
        file.write(f'{_json(start)[:-1]},"cases":[\n'.encode())
        _copy(part.index, file)
        file.write(b"]}")
        file.write(Template(between).substitute(filled).encode())
        _copy(part.cases, file)
        file.write(Template(after).substitute(filled).encode())


def _pages(number: int, parts: list[_Part], names: list[Path]) -> str:
    if len(parts) == 1:
        return ""
    links = []
    for k, (part, name) in enumerate(zip(parts, names, strict=True)):
        says = f"{part.first + 1}–{part.first + part.count}"
        link = f'<a href="{quote(os.fsencode(name.name))}">{says}</a>'
        links.append(f"<strong>{says}</strong>" if k == number else link)
    total = parts[-1].first + parts[-1].count
    says = f"Page {number + 1} of {len(parts)} of {total} cases, the worst first: {', '.join(links)}"
    return f'<nav class="pages" aria-label="Pages">{says}</nav>'


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    source.seek(0)
    while data := source.read(1 << 20):
        target.write(data)


def asset(name: str) -> str:
    """Returns the text of a file beside this one."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _script() -> str:
    return "\n".join(map(asset, _SCRIPTS))


def _hash(content: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _json(value: Any) -> str:
    """Returns JSON that can stand in an element: nothing in it begins a tag."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
