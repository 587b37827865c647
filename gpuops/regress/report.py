"""``report.json``: a Run as JSON, and back. ``report.schema.json`` beside this file says what is in it.

JSON has no infinities and no NaN: they are the strings "inf", "-inf" and "nan".
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import FileError, json_values
from .outcome import Limit, Outcome, PairedPicture, Run, WorstPixel

# The version of the format: it changes when what a key means does.
SCHEMA = 1

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "null": (type(None),),
}


def to_json(run: Run) -> str:
    """Returns the run as JSON text of ASCII characters, whatever the files are called, with a line for each outcome.

    What is not finite within ``context`` comes back as a string, since there a string may stand for itself.
    """
    head = _dumped({"schema": SCHEMA, "totals": run.totals, "context": run.context})
    outcomes = ",\n".join(_dumped(_of_outcome(outcome)) for outcome in run.outcomes)
    return f'{head[:-1]}, "outcomes": [\n{outcomes}\n]}}\n'


def from_json(text: str) -> Run:
    """Returns the Run that :func:`to_json` wrote; keys that it does not know are left out.

    Raises
    ------
    FileError
        The text is no report, or one of a newer clpix. Its line says where it errs.
    """
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"the report is no JSON ({error}); name a report.json of clpix regress") from None
    if isinstance(report, dict) and report.get("schema") not in (SCHEMA, None):
        raise FileError(
            f"the report has schema {report['schema']!r}, and this clpix reads {SCHEMA}; use the clpix that wrote it"
        )
    _check(report, schema(), "the report")
    return Run([_to_outcome(outcome) for outcome in report["outcomes"]], report["context"])


@cache
def schema() -> Any:
    """Returns the JSON Schema of a report."""
    return json.loads(files(__package__).joinpath("report.schema.json").read_text(encoding="utf-8"))


def _of_outcome(outcome: Outcome) -> dict[str, Any]:
    value = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
    for name in ("result", "reference", "worst"):
        value[name] = value[name] and value[name]._asdict()
    for name in ("missed", "warned"):
        value[name] = [limit._asdict() for limit in value[name]]
    return value


def _to_outcome(value: dict[str, Any]) -> Outcome:
    known = {field.name: value[field.name] for field in fields(Outcome) if field.name in value}
    for name in ("figures", "thresholds"):
        known[name] = {key: float(number) for key, number in known[name].items()}
    for name in ("result", "reference"):
        picture = known[name]
        known[name] = picture and PairedPicture(**{key: picture[key] for key in PairedPicture._fields})
    for name in ("missed", "warned"):
        known[name] = tuple(
            Limit(limit["name"], float(limit["value"]), float(limit["limit"])) for limit in known[name]
        )
    if worst := known["worst"]:
        pixels = (tuple(map(float, worst[which])) for which in ("result", "reference"))
        known["worst"] = WorstPixel(worst["x"], worst["y"], *pixels)
    return Outcome(**known | {"tags": tuple(known["tags"]), "seconds": float(known["seconds"])})


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(json_values(value), allow_nan=False)


def _check(value: Any, rule: dict[str, Any], where: str) -> None:
    """Raises FileError unless the value obeys the rule; it knows those keywords of JSON Schema that ours has."""
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    if "enum" in rule:
        if value not in rule["enum"]:
            raise FileError(f"{where} is {value!r}, and not one of {', '.join(map(str, rule['enum']))}")
        return
    if "anyOf" in rule:
        _check_any(value, rule["anyOf"], where)
        return
    types = rule.get("type", ())
    names = (types,) if isinstance(types, str) else types
    if names and not any(_is(value, name) for name in names):
        raise FileError(f"{where} is {_short(value)}, and not of type {' or '.join(names)}")
    if isinstance(value, dict):
        for name in rule.get("required", ()):
            if name not in value:
                raise FileError(f"{where} lacks {name!r}; name a report.json of clpix regress")
        known = rule.get("properties", {})
        for name, item in value.items():
            _check(item, known.get(name, rule.get("additionalProperties") or {}), f"{where}: {name}")
    if isinstance(value, list) and "items" in rule:
        for at, item in enumerate(value):
            _check(item, rule["items"], f"{where}[{at}]")


def _check_any(value: Any, rules: list[dict[str, Any]], where: str) -> None:
    for rule in rules[:-1]:
        try:
            return _check(value, rule, where)
        except FileError:
            continue
    return _check(value, rules[-1], where)


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
