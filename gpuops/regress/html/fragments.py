"""Parts of pages: an outcome, the totals, the context, as HTML. All that comes from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from ...figures import FIGURES
from ..outcome import STATUSES, Outcome, block, details, line, number, reason
from .graphics import drawing
from .pairs import SIDES, Settings, View


def text(value: object) -> str:
    """Returns a text on one line, for elements and attributes."""
    return escape(line(str(value)))


def badge(status: str) -> str:
    """Returns a status as a sign and its word."""
    sign = STATUSES[status].sign
    return f'<span class="status {status}"><span aria-hidden="true">{sign}</span> {status}</span>'


def totals(counts: Mapping[str, int]) -> str:
    """Returns the items of the list of totals."""
    items = (f"<li>{badge(status)} {count}</li>" for status, count in counts.items())
    return "".join(items) or "<li>no cases</li>"


def rows(pairs: Iterable[tuple[str, object]]) -> str:
    """Returns the rows of a table of names and values."""
    lines = (f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>' for name, value in pairs)
    return "".join(lines)


def heading(outcome: Outcome) -> str:
    """Returns an outcome's status, name and reason on one line."""
    return f"{badge(outcome.status)} <bdi>{text(outcome.name)}</bdi> – <span>{escape(reason(outcome))}</span>"


def facts(outcome: Outcome, view: View, settings: Settings, whole: str = "") -> str:
    """Returns all that is known of an outcome but its pictures: remarks, histogram, figures, files, output.

    ``whole`` is the address of the small picture that shows where the part is that was cut.
    """
    parts = [f'<p class="remarks">{escape(" ".join(view.remarks))}</p>'] if view.remarks else []
    if drawings := _histogram(view, settings) + (_whole(view, whole) if whole else ""):
        parts.append(f'<div class="drawings">{drawings}</div>')
    tables = [_figures(outcome)] if outcome.figures or outcome.thresholds else []
    if known := rows(details(outcome)):
        tables.append(f"<table>{known}</table>")
    if tables:
        parts.append(f'<div class="facts">{"".join(tables)}</div>')
    if outcome.output:
        parts.append(f"<h3>Output</h3><pre>{escape(block(outcome.output))}</pre>")
    return "".join(parts)


def _histogram(view: View, settings: Settings) -> str:
    if not view.counts:
        return ""
    name, count = text(settings.heat_name), sum(view.counts)
    svg = drawing(view.counts, view.top, view.mark, f"Histogram of the {name}, logarithmic, {count} pixels")
    return f"<figure>{svg}<figcaption>{name}: {count} pixels differ</figcaption></figure>"


def _whole(view: View, address: str) -> str:
    """Returns the small picture of all, with a frame around the part that is shown."""
    side = next(iter(view.sides.values()))
    frame = f'x="{side.x}" y="{side.y}" width="{side.part.width}" height="{side.part.height}"'
    size = f'width="{side.width}" height="{side.height}"'
    return (
        f'<figure><svg class="whole" viewBox="0 0 {side.width} {side.height}" role="img" '
        f'aria-label="The part that is shown, {side.part.width} × {side.part.height} of {side.width} × {side.height}">'
        f'<image href="{address}" {size}/><rect class="under" {frame}/><rect {frame}/></svg>'
        "<figcaption>the part that is shown</figcaption></figure>"
    )


def _figures(outcome: Outcome) -> str:
    """Returns the table of figures with their limits, and of limits that are on none of them, such as a share of
    pixels."""
    missed, warned = ({limit.name: limit for limit in limits} for limits in (outcome.missed, outcome.warned))
    option_of = {name: FIGURES[name].option if name in FIGURES else name for name in outcome.figures}
    others = {*outcome.thresholds, *missed, *warned}.difference(option_of.values())
    option_of |= {name: name for name in (*outcome.thresholds, *missed, *warned) if name in others}
    lines = []
    for name, option in option_of.items():
        limit = missed.get(option) or warned.get(option)
        value = outcome.figures.get(name, limit.value if limit else None)
        allowed = limit.limit if limit else outcome.thresholds.get(option)
        verdict = badge("failed") if option in missed else badge("warned") if option in warned else ""
        lines.append(
            f'<tr><th scope="row">{text(name)}</th>'
            f'<td class="number">{"not measured" if value is None else number(value)}</td>'
            f'<td class="number">{"" if allowed is None else number(allowed)}</td><td>{verdict}</td></tr>'
        )
    head = '<tr><th scope="col">figure</th><th scope="col" class="number">value</th>'
    head += '<th scope="col" class="number">limit</th><td></td></tr>'
    return f"<table>{head}{''.join(lines)}</table>"


def described(outcome: Outcome, which: str, settings: Settings) -> str:
    """Returns the text that stands for a picture, with the figures."""
    what = f"map of {settings.heat_name}" if which == "heat" else which
    figures = ", ".join(f"{name} {number(value)}" for name, value in outcome.figures.items())
    return text(f"{what} of {outcome.name}: {outcome.says}{'; ' + figures if figures else ''}")


def pictures(
    outcome: Outcome, view: View, settings: Settings, sources: Mapping[str, tuple[str, int, int]]
) -> str:
    """Returns the figures of an outcome: reference, result, and map, with the addresses and sizes of ``sources``."""
    figures = []
    for which in (*SIDES, "heat"):
        if which in sources:
            source, width, height = sources[which]
            scale = f"{settings.heat_name}: black is 0, white {number(view.top)}"
            caption = scale if which == "heat" else which
            figures.append(
                f'<figure><img data-of="{which}" src="{source}" width="{width}" height="{height}" loading="lazy" '
                f'alt="{described(outcome, which, settings)}"><figcaption>{text(caption)}</figcaption></figure>'
            )
    return "".join(figures)
