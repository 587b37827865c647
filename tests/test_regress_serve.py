"""clpix regress serve: a request is a line of JSON, and so is its answer; nothing that a request holds ends it."""

import io
import json
import os
import subprocess
import sys
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gpuops import files
from gpuops.gpu import Gpu
from gpuops.params.comparing import Comparing
from gpuops.params.thresholds import Thresholds
from gpuops.regress import requests
from gpuops.regress.index import references
from gpuops.regress.outcome import from_json
from gpuops.regress.references import Change
from gpuops.regress.requests import Requests


@pytest.fixture
def here(tmp_path, monkeypatch, rng) -> Path:
    """A folder with a.png, b.png, which has 9 levels more at (5, 3), and small.png."""
    monkeypatch.chdir(tmp_path)
    pixels = rng.integers(40, 200, (24, 40, 3), np.uint8)
    files.write("a.png", files.Picture(pixels))
    pixels[3, 5, 1] += 9
    files.write("b.png", files.Picture(pixels))
    files.write("small.png", files.Picture(pixels[:9].copy()))
    return tmp_path


@pytest.fixture
def ask(gpu, here):
    """Returns what asks in this process: requests as values or bytes, and the answers without the first line."""

    def asked(
        *lines: Any, known: str | None = None, thresholds: Thresholds | None = None
    ) -> list[dict[str, Any]]:
        data = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        open_references = None if known is None else lambda: (references(known), ("linux",))
        answering = Requests(Comparing(), thresholds or Thresholds(), lambda: gpu, open_references)
        first, *answers = map(json.loads, answering.answers(io.BytesIO(data)))
        assert first == {"ready": True, "schema": 1} and len(answers) == len(
            [one for one in lines if one != b""]
        )
        return answers

    return asked


PAIR = {"result": "b.png", "reference": "a.png"}


def test_a_process_answers_in_order_and_ends_with_its_input(here) -> None:
    lines = [
        {"id": 1, **PAIR},
        {"id": "two", "result": "a.png", "reference": "a.png"},
        {"id": 3.5},
        {**PAIR, "id": None},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "clpix", "regress", "serve", "--max-error", "0.04"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    assert json.loads(process.stdout.readline()) == {"ready": True, "schema": 1}
    answers = []
    for line in lines:  # each answer comes before the next request
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        answers.append(json.loads(process.stdout.readline()))
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "", "")
    assert [one["id"] for one in answers] == [1, "two", 3.5, None]
    assert [one.get("status") for one in answers] == ["passed", "equal", None, "passed"]
    assert answers[0]["figures"]["max"] == pytest.approx(9 / 255) and answers[0]["exit_code"] == 0
    assert "lacks 'result'" in answers[2]["error"]


def test_a_reader_that_is_gone_ends_it(here) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "clpix", "regress", "serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin and process.stdout and process.stderr
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b'{"id": 1}\n' * 3)
    process.stdin.flush()
    process.wait(60)
    assert b"Traceback" not in process.stderr.read()


def test_answers_are_outcomes_by_the_schema(ask) -> None:
    (failed, equal, size) = ask(
        {"id": 1, **PAIR},
        {"id": 2, **PAIR, "ignore": [[5, 3, 1, 1]]},
        {"id": 3, "result": "small.png", "reference": "a.png"},
    )
    rules = json.loads(resources("gpuops.regress").joinpath("report.schema.json").read_text("utf-8"))
    for answer in (failed, equal, size):
        assert {"id", "exit_code", "diff"} == set(answer) - set(rules["$defs"]["outcome"]["required"])
        from_json(
            json.dumps({"schema": 1, "totals": {}, "context": {}, "outcomes": [answer]})
        )  # checks all types
    assert (failed["status"], failed["exit_code"]) == ("failed", 1)
    assert (failed["worst"]["x"], failed["worst"]["y"]) == (5, 3)
    assert failed["missed"] == [{"name": "allowfailures", "value": 1, "limit": 0}]
    assert (equal["status"], equal["message"]) == ("equal", "1 of 960 pixels are not compared")
    assert (size["status"], size["exit_code"]) == ("size", 1)


def test_what_a_request_says_counts_over_the_command_line(ask) -> None:
    asked = [
        {**PAIR}, {**PAIR, "thresholds": {"max-error": 0.04}}, {**PAIR, "thresholds": {"allowfailures": 0}},
        {**PAIR, "metrics": ["ssim"]}, {**PAIR, "thresholds": {"min-ssim": 1}},
    ]  # fmt: skip
    answers = ask(*asked, thresholds=Thresholds(limits={"max": 0.01}))
    assert [one["status"] for one in answers] == ["failed", "passed", "failed", "failed", "failed"]
    assert set(answers[3]["figures"]) == {"max", "ssim"} or "ssim" in answers[3]["figures"]
    assert answers[4]["thresholds"] == {"max-error": 0.01, "min-ssim": 1}


BAD: list[tuple[bytes | dict[str, Any], str]] = [
    (b"junk", "is no JSON"),
    (b"\xff\xfe{", "is no JSON"),
    (b"[" * 100_000, "is no JSON"),
    (b'{"id": 1', "is no JSON"),
    (b"9" * 5000, "is no JSON"),
    (b"[1]", "is no object"),
    (b"null", "is no object"),
    (b'"text"', "is no object"),
    ({"id": [1], **PAIR}, "id is neither"),
    ({"id": {}}, "id is neither"),
    ({}, "lacks 'result'"),
    ({"result": "a.png"}, "either 'reference'"),
    ({**PAIR, "name": "a.png"}, "either 'reference'"),
    ({**PAIR, "refrence": "a.png"}, "unknown key 'refrence': did you mean 'reference'"),
    ({**PAIR, "result": 5}, "result is 5, and not of type string"),
    ({**PAIR, "result": "a\0.png"}, "has a NUL"),
    ({**PAIR, "result": "none.png"}, "none.png: no such file"),
    ({**PAIR, "reference": "."}, ".: is no file"),
    ({**PAIR, "result": "pipe"}, "pipe: is no file"),
    ({**PAIR, "result": "-"}, "-: no such file"),
    ({**PAIR, "mask": "-"}, "-: no such file"),
    ({**PAIR, "mask": "small.png"}, "the mask has"),
    ({**PAIR, "result": "x" * 5000}, "no such file"),
    ({**PAIR, "result": "text.png"}, "is not a picture"),
    ({**PAIR, "thresholds": {"max-flp": 1}}, "did you mean 'max-flip'"),
    ({**PAIR, "thresholds": {"max-flip": "0"}}, "not of type number"),
    ({**PAIR, "thresholds": []}, "not of type object"),
    ({**PAIR, "thresholds": {"max-error": -1}}, "must be 0 or more"),
    ({**PAIR, "thresholds": {"fail": 1}}, "never fail"),
    ({**PAIR, "thresholds": {"allowfailures": 0.5}}, "whole number"),
    (json.dumps({**PAIR, "thresholds": {"max-error": float("nan")}}).encode(), "must be a number"),
    ({**PAIR, "metrics": ["flop"]}, "did you mean 'flip'"),
    ({**PAIR, "metrics": "flip"}, "not of type array"),
    ({**PAIR, "ignore": [[1, 2, 3]]}, "has 3 values, and not 4"),
    ({**PAIR, "ignore": [[0, 0, 0, 0]]}, "a rectangle"),
    ({**PAIR, "ignore": [[0, 0, 10**30, 1]]}, "a rectangle"),
    ({**PAIR, "ignore": [[0, 0, True, 1]]}, "type integer"),
    ({**PAIR, "ppd": -1}, "pixels a degree"),
    ({**PAIR, "exposures": [1]}, "has 1 values"),
    ({**PAIR, "alpha": 1}, "boolean"),
    ({**PAIR, "space": "red"}, "space"),
    ({**PAIR, "layer": "depth"}, "layer"),
    ({**PAIR, "diff": "a.png"}, "is also an input"),
    ({**PAIR, "diff": "small.png"}, "exists already"),
    ({**PAIR, "diff": "d.txt"}, "d.txt"),
    ({**PAIR, "diff": "none/d.png"}, "none/d.png"),
    ({**PAIR, "overwrite": "yes"}, "boolean"),
    ({"result": "a.png", "name": "a.png"}, "'name' needs references"),
    ({"result": "a.png", "name": "../a.png"}, "no name"),
    (b'{"id": 7, "result": "' + b"x" * requests.LONGEST + b'"}', "has more than"),
]  # fmt: skip


def test_bad_requests_get_an_answer_and_nothing_else_happens(ask, here) -> None:
    os.mkfifo(here / "pipe")
    (here / "text.png").write_text("no picture")
    before = {path: path.read_bytes() for path in here.iterdir() if path.is_file()}
    lines: list[Any] = []
    for number, (bad, _) in enumerate(BAD):
        lines += [
            {"id": number, **bad} if isinstance(bad, dict) else bad,
            b"",
            {"id": f"good {number}", **PAIR},
        ]
    answers = ask(*lines)
    for number, (bad, message) in enumerate(BAD):
        wrong, good = answers[2 * number : 2 * number + 2]
        said = wrong["error"] if "error" in wrong else f"{wrong['status']}: {wrong['message']}"
        assert message in said and "\n" not in said and not said.startswith("this went wrong"), (bad, said)
        assert "error" in wrong or wrong["status"] == "error", bad
        assert wrong["id"] == (number if isinstance(bad, dict) and "id" not in bad else None)
        assert (good["id"], good["status"]) == (f"good {number}", "failed")
    assert {path: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


def test_an_error_that_nobody_foresaw_is_an_answer(ask, monkeypatch, capfd) -> None:
    faults = iter([RuntimeError("broken"), MemoryError(), RecursionError("deep")])

    def broken(*_args: Any, **_more: Any) -> None:
        raise next(faults)

    monkeypatch.setattr(requests, "judge", broken)
    said = [one["error"] for one in ask(PAIR, PAIR, PAIR)]
    assert said == ["this went wrong: RuntimeError: broken", "there is not enough memory for this",
                    "this went wrong: RecursionError: deep"]  # fmt: skip
    assert "RuntimeError: broken" in capfd.readouterr().err


def test_references_by_name(ask, here) -> None:
    """As they are when the request comes: several, a platform's, pointers of Git LFS, none yet."""
    there = references("refs")
    there.accept({"page.png": "a.png"})
    named = {"name": "page.png"}
    (failed, equal, new) = ask(
        {"result": "b.png", **named},
        {"result": "a.png", **named},
        {"result": "a.png", "name": "new.png"},
        known="refs",
    )
    assert (failed["status"], equal["status"], new["status"]) == ("failed", "equal", "new")
    assert (new["exit_code"], new["message"]) == (2, "there is no reference")
    there.change({"page.png": Change("b.png", also=True)})
    (also,) = ask({"result": "b.png", **named}, known="refs")
    assert (also["status"], also["reference"]["of"]) == ("equal", "base:2")
    there.accept({"page.png": "small.png"}, "linux")
    (size,) = ask({"result": "b.png", **named}, known="refs")
    assert (size["status"], size["reference"]["of"]) == ("size", "linux")


def test_the_picture_of_the_difference(ask, here) -> None:
    asked = {**PAIR, "diff": "d.png"}
    (first, again, over, equal) = ask(
        asked, asked, {**asked, "overwrite": True}, {**asked, "result": "a.png", "diff": "e.png"}
    )
    assert first["diff"] == "d.png" and first["status"] == over["status"] == "failed"
    assert "d.png: exists already" in again["error"]
    assert (equal["status"], equal["diff"]) == ("equal", None) and not (here / "e.png").exists()
    shown = np.asarray(Image.open("d.png").convert("RGB"))
    assert np.argwhere(shown).tolist() == [[3, 5, 1]]
    before = (here / "a.png").read_bytes()
    (refused,) = ask({**PAIR, "diff": "./a.png", "overwrite": True})
    assert "is also an input" in refused["error"] and (here / "a.png").read_bytes() == before


def test_many_requests_take_one_device(gpu, here) -> None:
    opened = []

    def open_gpu() -> Gpu:
        opened.append(gpu)
        return gpu

    lines = b"".join(
        json.dumps({"id": k, "result": "a.png", "reference": "a.png"}).encode() + b"\n" for k in range(100)
    )
    answers = list(Requests(Comparing(), Thresholds(), open_gpu).answers(io.BytesIO(lines)))
    assert len(answers) == 101 and opened == []  # equal bytes need none
    assert [json.loads(one)["id"] for one in answers[1:]] == list(range(100))
