"""The folder: pages without scripts, a style file, and pictures as files: what Jenkins' policy for artifacts allows.

That policy: jenkins.io/doc/book/security/configuring-content-security-policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from ...errors import FileError
from ...files import Picture
from ...files.output import atomic
from ..outcome import Outcome, Run
from . import encode, fragments
from .page import Path_, ReportFile, budget
from .pairs import Settings, View, view

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
        raise FileError(
            f"{index}: exists already; name another folder, or allow overwriting it with --overwrite"
        )
    written = []

    def write(path: Path, data: bytes) -> None:
        with atomic(path, overwrite=overwrite) as temporary:
            Path(temporary).write_bytes(data)
        written.append(ReportFile(str(path), len(data)))

    write(place / "style.css", files(__package__).joinpath("page.css").read_bytes())
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
    return encode.png(encode.visible(part)), part.width, part.height


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
    from ..text import reason

    found = ['<tr><th scope="col">status</th><th scope="col">picture</th><th scope="col">why</th></tr>']
    for number, outcome in enumerate(outcomes):
        name = f"<bdi>{fragments.text(outcome.name)}</bdi>"
        if linked:
            name = f'<a href="cases-{number // _CASES + 1}.html#case-{number}">{name}</a>'
        why = fragments.text(reason(outcome))
        found.append(f"<tr><td>{fragments.badge(outcome.status)}</td><td>{name}</td><td>{why}</td></tr>")
    return "".join(found)


def _page(title: str, body: str) -> bytes:
    text = fragments.text(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{text}</title>\n<link rel="stylesheet" href="style.css">\n</head>\n'
        f'<body class="plain">\n<header><h1>{text}</h1></header>\n<main>{body}</main>\n</body>\n</html>\n'
    ).encode()


def _remove_old(place: Path, kept: set[str]) -> None:
    for path in (*place.iterdir(), *(place / "pictures").iterdir()):
        if _OURS.fullmatch(path.name) and str(path) not in kept:
            with suppress(OSError):
                path.unlink()
