"""The reports of a suite that need no browser: JSON, JUnit, GitHub, and what they make of names from outside."""

import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import pytest

from gpuops.errors import FileError
from gpuops.params.comparing import WorstPixel
from gpuops.regress.outcome import STATUSES, Limit, Outcome, PairedPicture, Run, from_json, to_json
from gpuops.regress.services import SUMMARY_BYTES, annotated, summary, to_junit

# Names that try to leave where they stand: markup, commands, controls, halves of surrogates, marks of direction.
EVIL = [
    "<script>alert(1)</script>.png", "a|b`c*d_e[f](g)&amp;.png", "]]>--></noscript></template>'\".png",
    "line\nbreak\r\n::error::x%0A.png", "\x1b[31mred\x1b[0m\x00\x7f\x85.png",
    "\udc80\ud800\ufffe\uffff\u202egnp.png", "größe/ナ/🙂.png",
]  # fmt: skip


def outcome(name: str = "glass.png", status: str = "failed", **more: Any) -> Outcome:
    """An outcome in which every field says something."""
    picture = PairedPicture(f"out/{name}", name, "ab" * 32, "base", 640, 480, "RGB", "float16")
    full = Outcome(
        name, status, picture, picture._replace(path=f"ref/{name}", of="lin|ux", width=None, dtype=None),
        {"max": math.inf, "psnr": 0.1 + 0.2, "flip": math.nan, "low": -math.inf}, {"max": 0.1, "psnr": math.inf},
        (Limit("max", math.inf, 0.1),), (Limit("psnr", 0.3, 40.0),),
        WorstPixel(3, 4, (0.1, math.nan, 1e-30), (0.5, -math.inf, 1.0)), f"could not: {name}", ("slow", "a<b"),
        f"render {name}", 0.125, f"said\n{name}",
    )  # fmt: skip
    return replace(full, **more)


RUN = Run(
    [outcome(name) for name in EVIL]
    + [outcome(f"{status}.exr", status) for status in STATUSES]
    + [Outcome("bare", "equal")],
    {"device": "PoCL <1>", "versions": {"clpix": "0.1"}, "folders": ["a", "b"], "gbps": 1.5, "date": None},
)


def test_exit_codes() -> None:
    def code(*statuses: str, strict: bool = False) -> int:
        return Run([Outcome(s, s) for s in statuses]).exit_code(strict=strict)

    assert code() == code("equal", "passed", "skipped", "warned") == 0
    assert code("failed", "equal") == code("warned", strict=True) == 1
    assert [code(s, "failed") for s in ("error", "missing", "new", "renamed")] == [2] * 4
    assert [s for s in STATUSES if Outcome(s, s).good] == ["skipped", "passed", "equal"]


def test_json_gives_the_run_back() -> None:
    text = to_json(RUN)
    assert text.isascii()
    back = from_json(text)
    assert repr(back) == repr(RUN)  # as text, since NaN does not equal itself
    assert to_json(back) == text


def test_json_is_strict_and_obeys_its_schema() -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    report = json.loads(to_json(RUN), parse_constant=refuse)
    assert report["outcomes"][0]["figures"] == {"max": "inf", "psnr": 0.1 + 0.2, "flip": "nan", "low": "-inf"}
    rules = json.loads(files("gpuops.regress").joinpath("report.schema.json").read_text("utf-8"))
    assert sorted(report) == sorted(rules["properties"]) == sorted(rules["required"])
    for kind, found in [("outcome", report["outcomes"][0]), ("picture", report["outcomes"][0]["result"])]:
        rule = rules["$defs"][kind]
        assert sorted(found) == sorted(rule["properties"]) == sorted(rule["required"])
    assert rules["$defs"]["outcome"]["properties"]["status"]["enum"] == list(STATUSES)
    references = re.findall(r"#/\$defs/(\w+)", json.dumps(rules))
    assert set(references) == set(rules["$defs"])


@pytest.mark.parametrize(("change", "said"), [
    (lambda r: "{", "no JSON"), (lambda r: "[" * 100_000, "no JSON"), (lambda r: "[]", "of type object"),
    (lambda r: json.dumps(r | {"schema": 2}), "schema 2"),
    (lambda r: json.dumps({k: v for k, v in r.items() if k != "schema"}), "lacks 'schema'"),
    (lambda r: json.dumps(r | {"outcomes": [r["outcomes"][0] | {"status": "fine"}]}), "not one of"),
    (lambda r: json.dumps(r | {"outcomes": [r["outcomes"][0] | {"figures": {"max": "x"}}]}), "figures: max"),
    (lambda r: json.dumps(r | {"outcomes": [r["outcomes"][0] | {"seconds": True}]}), r"\[0\]: seconds"),
    (lambda r: json.dumps(r | {"outcomes": [r["outcomes"][0] | {"worst": {"x": 1}}]}), "worst lacks 'y'"),
])  # fmt: skip
def test_what_is_no_report_is_refused_in_one_line(change, said) -> None:
    with pytest.raises(FileError, match=said) as caught:
        from_json(change(json.loads(to_json(RUN))))
    assert "\n" not in str(caught.value)


def test_keys_that_are_not_known_are_left_out() -> None:
    report = json.loads(to_json(RUN))
    report["more"] = report["outcomes"][0]["more"] = report["outcomes"][0]["result"]["more"] = 1
    assert repr(from_json(json.dumps(report))) == repr(RUN)


def test_junit_counts_what_the_exit_code_counts() -> None:
    text = to_junit(RUN, attachments=lambda outcome: [f"/ci/{outcome.name}"])
    root = ElementTree.fromstring(text.encode())
    suite = root[0]
    cases = suite.findall("testcase")
    of = {case.get("name"): case for case in cases}
    assert len(of) == len(RUN.outcomes) == int(suite.get("tests", ""))
    assert suite.get("failures") == str(len(EVIL) + 2) == str(len(suite.findall(".//failure")))
    assert suite.get("errors") == "4" == str(len(suite.findall(".//error")))
    assert suite.get("skipped") == "1" == str(len(suite.findall(".//skipped")))
    for name in ("warned.exr", "passed.exr", "equal.exr", "bare"):
        assert {child.tag for child in of[name]} <= {"properties", "system-out"}
    failure = of["failed.exr"].find("failure")
    assert failure is not None and failure.get("type") == "failed"
    assert "max inf (limit 0.1)" in failure.get("message", "")
    assert "at x 3, y 4: result 0.1 nan 1e-30, reference 0.5 -inf 1" in (failure.text or "")
    figures = {p.get("name"): p.get("value") for p in of["failed.exr"].iter("property")}
    assert figures == {"status": "failed", "max": "inf", "psnr": "0.3", "flip": "nan", "low": "-inf"}
    said = (of["failed.exr"].findtext("system-out") or "").split("\n")
    assert said == ["said", "failed.exr", "[[ATTACHMENT|/ci/failed.exr]]"]
    nested = of["größe/ナ/🙂.png"]
    assert nested.get("classname") == "größe.ナ" and nested.get("time") == "0.125"


def test_junit_makes_warnings_failures_if_it_is_strict() -> None:
    root = ElementTree.fromstring(to_junit(Run([outcome(status="warned")]), strict=True))
    assert root[0].get("failures") == "1" and root.find(".//failure") is not None


def test_junit_shows_characters_that_xml_cannot_hold() -> None:
    text = to_junit(RUN)
    root = ElementTree.fromstring(text.encode("utf-8"))
    names = [case.get("name", "") for case in root.iter("testcase")]
    assert names[0] == EVIL[0] and names[2] == EVIL[2] and names[3] == r"line\nbreak\r\n::error::x%0A.png"
    assert names[4] == r"\x1b[31mred\x1b[0m\x00\x7f\x85.png"
    assert names[5] == r"\udc80\ud800\ufffe\uffff\u202egnp.png"
    output = [case.findtext("system-out") for case in root.iter("testcase")][4]
    # A terminal's colours are left out of what commands print.
    assert output == "said\nred\\x00\\x7f\\x85.png"


def test_annotations_cannot_start_commands_of_their_own() -> None:
    lines = annotated(RUN)
    assert all("\n" not in text and "\r" not in text for text in lines)
    assert all(re.match(r"::(error|warning) title=[^,:]*::", text) for text in lines)
    broken = next(text for text in lines if "break" in text)
    assert "x%250A.png" in broken and "%3A%3Aerror%3A%3Ax" in broken


def test_at_most_ten_annotations_of_a_kind() -> None:
    failed = [outcome(f"{k}.png") for k in range(11)]
    warned = [outcome(f"{k}.png", "warned") for k in range(10)]
    lines = annotated(Run([*failed, *warned, outcome("fine", "passed")]))
    errors, warnings = ([t for t in lines if t.startswith(f"::{kind} ")] for kind in ("error", "warning"))
    assert len(errors) == 10 and len(warnings) == 10
    assert errors[9] == "::error title=2 more::2 more: 9.png, 10.png"
    assert not any(t.startswith("::warning") for t in annotated(Run(warned), strict=True))


def test_the_summary_is_a_table_whatever_the_names() -> None:
    text = summary(RUN)
    rows = [row for row in text.split("\n") if row.startswith("|")]
    assert len(rows) == 2 + len(EVIL) + 7 and all(row.count("|") == 5 for row in rows)
    assert not re.search(r"<(?!/?code>)", text)
    counts = "1 error, 1 missing, 1 new, 8 failed, 1 size, 1 warned, 1 renamed, 1 skipped, 1 passed, 2 equal"
    assert f"**{counts}**" in text
    assert rows[2].startswith("| ❗ error | <code>error&#46;exr</code> | max inf &#40;limit 0&#46;1&#41;")
    assert "große" not in text and "größe/ナ/🙂" in text
    assert "| " not in summary(Run([Outcome("a", "equal")])) and "no pictures" in summary(Run([]))


def test_the_summary_is_cut_below_the_limit() -> None:
    run = Run([outcome(f"{k:05}|<b>.png") for k in range(9_000)])
    text = summary(run)
    assert SUMMARY_BYTES - 3000 < len(text.encode()) < SUMMARY_BYTES
    shown = text.count("<code>")
    assert text.endswith(f"\n{9_000 - shown} more are left out: they are in the report.\n")
