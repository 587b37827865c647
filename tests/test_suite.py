"""Suites: manifests, folders, references, accepting, and running of cases. Pictures that are measured are elsewhere."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuops import FileError, ParameterError, files
from gpuops.batch.job import shard
from gpuops.params.thresholds import Thresholds
from gpuops.regress import acceptance, manifest
from gpuops.regress.cases import run_cases
from gpuops.regress.index import Index, references
from gpuops.regress.judge import FilePair, pairs
from gpuops.regress.outcome import Outcome, PairedPicture, Run
from gpuops.regress.references import References, digests_if_unlike, places_of, sha256_of

SUITE = """schema = 1
references = "refs"

[defaults]
max-flip = 0.1

[thresholds."noise/*"]
min-ssim = 0.5
max-flip = 0.3

[[case]]
name = "a"
chain = "blur --sigma 2 then sharpen"
inputs = ["in.png"]
tags = ["quick", "x"]

[[case]]
name = "b"
command = "tool {inputs} --to={output} --in {out}"
inputs = ["1.png", "2.png"]
outputs = ["noise/b.png"]
timeout = 2.5
thresholds = {max-flip = 0.2}

[[case]]
name = "c"
recipe = "look.toml"
inputs = ["1.png"]
outputs = ["c.exr"]
"""


@pytest.mark.parametrize("other", [b"a" * 3_000_000, b"a" * 2_999_999 + b"b", b"a" * 7, b""])
def test_digests_of_files_that_are_unlike(tmp_path, other) -> None:
    contents = b"a" * 3_000_000, other
    paths = [tmp_path / name for name in "ab"]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    digests = tuple(hashlib.sha256(content).hexdigest() for content in contents)
    assert digests_if_unlike(*paths) == (None if contents[0] == other else digests)
    with pytest.raises(FileError, match=r"none: could not be read \(No such file"):
        digests_if_unlike(paths[0], tmp_path / "none")


def picture(path: Path, value: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    files.write(path, files.Picture(np.full((4, 5, 3), value, np.uint8)))
    return path


def test_a_suite_is_read() -> None:
    suite = manifest.parse(SUITE, "tests/suite.toml")
    a, b, c = suite.cases
    assert suite.references == os.path.join("tests", "refs") and a.outputs == ("a.png",)
    assert " ".join(a.command("OUT")) == "clpix blur in.png --sigma 2 then sharpen -o OUT/a.png --overwrite"
    assert b.command("OUT") == ("tool", "1.png", "2.png", "--to=OUT/noise/b.png", "--in", "OUT")
    assert c.command("OUT") == ("clpix", "run", "look.toml", "1.png", "-o", "OUT/c.exr", "--overwrite")
    assert (a.tags, b.timeout) == (("quick", "x"), 2.5)
    assert suite.thresholds(a, "a.png") == Thresholds(limits={"flip": 0.1})
    assert suite.thresholds(b, "noise/b.png") == Thresholds(limits={"flip": 0.2, "ssim": 0.5})


def test_cases_are_selected() -> None:
    cases = manifest.parse(SUITE).cases
    assert [case.name for case in manifest.select(cases, ["a", "[bc]"])] == ["a", "b", "c"]
    assert [case.name for case in manifest.select(cases, [], ["quick"])] == ["a"]
    parts = [case.name for n in (1, 2) for case in shard(list(cases), f"{n}/2")]
    assert sorted(parts) == ["a", "b", "c"]
    with pytest.raises(ParameterError, match="did you mean 'quick'"):
        manifest.select(cases, [], ["quik"])
    with pytest.raises(ParameterError, match="no case is called"):
        manifest.select(cases, ["d*"])
    for part in ("0/2", "3/2", "1", "a/b", "1/0"):
        with pytest.raises(ParameterError, match="I/N"):
            shard(list(cases), part)


@pytest.mark.parametrize(("before", "after", "message"), [
    ("schema = 1", "schema = 2", "knows 1 at most"), ("schema = 1\n", "", "has no line 'schema = 1'"),
    (SUITE, "schema = 1\n", "has no [[case]]"), ("schema = 1", "schema = [", "is no TOML"),
    ("timeout = 2.5", "timeout = inf", "line 17: case 'b': timeout must be"),
    ("references", "referenzes", "line 2: unknown key 'referenzes': did you mean 'references'"),
    ("max-flip = 0.1", "max-flp = 0.1", "line 5: unknown threshold 'max-flp': did you mean 'max-flip'"),
    ("min-ssim = 0.5", "min-ssim = 2", "line 8: min-ssim 2: no picture has more than 1"),
    ("timeout = 2.5", "tiemout = 2.5", "line 22: unknown key 'tiemout': did you mean 'timeout'"),
    ("timeout = 2.5", "timeout = 0", "line 17: case 'b': timeout must be"),
    ('name = "b"', 'name = "a"', "line 17: there are two cases called 'a'"),
    ('name = "b"', "", "line 17: a case needs a name"),
    ('outputs = ["c.exr"]', 'outputs = ["a.png"]', "line 25: cases 'a' and 'c' have the same output 'a.png'"),
    ('outputs = ["c.exr"]', 'outputs = ["../c.exr"]', "inside the folder of results"),
    ('outputs = ["c.exr"]', 'outputs = "c.exr"', "must be a list of texts"),
    ('recipe = "look.toml"', "", "give one of command, chain, recipe"),
    ('recipe = "look.toml"', 'recipe = "a"\nchain = "blur"', "give one of command, chain, recipe"),
    ("tool {inputs} --to={output} --in {out}", "tool", "needs {output}"),
    ("tool {inputs}", "tool 'a {inputs}", "No closing quotation"),
    ("{max-flip = 0.2}", "{max-flip = true}", "line 17: case 'b': max-flip must be a number"),
])  # fmt: skip
def test_errors_name_the_line(before, after, message) -> None:
    assert before in SUITE
    with pytest.raises(ParameterError) as error:
        manifest.parse(SUITE.replace(before, after), "suite.toml")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_pairs_new_missing_and_renamed(tmp_path) -> None:
    out, refs = tmp_path / "out", tmp_path / "refs"
    picture(out / "same.png", 1)
    picture(out / "sub" / "new.png", 2)
    picture(out / "now.png", 3)
    picture(refs / "same.png", 1)
    picture(refs / "before.png", 3)
    picture(refs / "gone.png", 4)
    (out / "notes.txt").write_text("no picture")
    picture(out / ".hidden" / "a.png", 1)
    found = list(pairs(out, References(str(refs)), ()))
    assert [(one.name, getattr(one, "status", "pair")) for one in found] == [
        ("gone.png", "missing"), ("now.png", "renamed"), ("same.png", "pair"), ("sub/new.png", "new"),
    ]  # fmt: skip
    renamed = found[1]
    assert isinstance(renamed, Outcome) and renamed.reference is not None
    assert renamed.reference.name == "before.png"


def test_the_nearest_reference_wins_and_is_named(tmp_path) -> None:
    out, refs = tmp_path / "out", tmp_path / "refs"
    for name in ("a.png", "b.png", "c.png"):
        picture(out / name, 1)
        picture(refs / name, 1)
    picture(refs / "@linux" / "b.png", 2)
    picture(refs / "@linux" / "c.png", 2)
    picture(refs / "@nvidia-h200" / "c.png", 3)
    found = list(pairs(out, References(str(refs)), ("nvidia-h200", "linux")))
    assert [one.of for one in found if isinstance(one, FilePair)] == ["base", "linux", "nvidia-h200"]


def test_names_of_places(monkeypatch) -> None:
    for platform, name in (("linux", "linux"), ("darwin", "macos"), ("win32", "windows")):
        monkeypatch.setattr(sys, "platform", platform)
        assert places_of("NVIDIA H200", "NVIDIA CUDA") == ("nvidia-h200", "nvidia-cuda", name)
        assert places_of(None, None) == (name,)


def test_folders_that_are_not_there(tmp_path) -> None:
    with pytest.raises(ParameterError, match="there is no such folder"):
        list(pairs(tmp_path / "none", References(str(tmp_path)), ()))
    picture(tmp_path / "out" / "a.png", 1)
    found = list(pairs(tmp_path / "out", References(str(tmp_path / "none")), ()))
    assert [one.status for one in found if isinstance(one, Outcome)] == ["new"]


def make_index(path: str, store: str) -> Index:
    """Writes the index of a store that has nothing yet."""
    Path(path).write_text(json.dumps({"schema": 1, "store": store, "pictures": {}}))
    return Index(path)


def index(folder: Path) -> Index:
    return make_index(str(folder / "refs.json"), "store")


@pytest.mark.parametrize("kind", [lambda p: References(str(p / "refs")), index], ids=["folder", "index"])
def test_only_what_differs_is_accepted(tmp_path, kind) -> None:
    there = kind(tmp_path)
    a, b = str(picture(tmp_path / "a.png", 1)), str(picture(tmp_path / "b.png", 2))
    assert there.accept({"x.png": a, "y/z.png": b}) == ["x.png", "y/z.png"]
    assert there.accept({"x.png": a, "y/z.png": b}) == [] and there.names() == ["x.png", "y/z.png"]
    # A platform's own, only where it differs from the base.
    assert there.accept({"x.png": a, "y/z.png": a}, "linux") == ["y/z.png"]
    path, of = there.nearest("y/z.png", ("linux",)) or ("", "")
    assert (sha256_of(path), of) == (sha256_of(a), "linux")
    assert (there.nearest("y/z.png", ()) or ("", ""))[1] == "base"
    assert (there.nearest("x.png", ("linux",)) or ("", ""))[1] == "base"
    assert there.nearest("none.png", ("linux",)) is None
    # What has become equal to the base needs no copy any more.
    assert there.accept({"y/z.png": b}, "linux") == ["y/z.png"]
    assert (there.nearest("y/z.png", ("linux",)) or ("", ""))[1] == "base"


def test_an_index_at_an_address(tmp_path) -> None:
    pytest.importorskip("fsspec", reason="needs the extra s3")
    there = make_index(str(tmp_path / "refs.json"), "memory://pictures")
    a = str(picture(tmp_path / "a.png", 1))
    assert there.accept({"x.png": a}) == ["x.png"]
    again = references(str(tmp_path / "refs.json"))
    path, _ = again.nearest("x.png", ()) or ("", "")
    assert sha256_of(path) == sha256_of(a) and path != a


@pytest.mark.parametrize(("text", "message"), [
    ("{", "is no JSON"),
    ("[" * 99_999, "is no JSON"),
    ("[]", "is no index"),
    ('{"store": "s"}', "is no index"),
    ('{"store": "s", "pictures": {}}', "another version"),
    ('{"schema": 2, "store": "s", "pictures": {}}', "another version"),
    ('{"schema": 1, "store": "s", "pictures": {"../x.png": {}}}', "no name within a folder"),
    ('{"schema": 1, "store": "s", "pictures": {"x.png": {"base": "../../x"}}}', "64 hex digits"),
    ('{"schema": 1, "store": "s", "pictures": {"x.png": []}}', "64 hex digits"),
])  # fmt: skip
def test_indexes_that_are_none(tmp_path, text, message) -> None:
    path = tmp_path / "refs.json"
    path.write_text(text)
    with pytest.raises(ParameterError, match=message):
        references(str(path))


def test_a_store_that_lost_a_file_or_has_another(tmp_path) -> None:
    there = index(tmp_path)
    there.accept({"x.png": (source := str(picture(tmp_path / "a.png", 1)))})
    (path,) = (tmp_path / "store").rglob("*.png")
    picture(path, 2)
    with pytest.raises(FileError, match="not those that the index names"):
        there.nearest("x.png", ())
    (verdict,) = pairs(tmp_path, there, (), {"x.png"})  # the run goes on
    assert isinstance(verdict, Outcome) and verdict.status == "error"
    there.accept({"x.png": source, "y.png": source})  # mends it
    assert there.nearest("x.png", ()) == (str(path), "base")
    path.unlink()
    with pytest.raises(FileError, match="lacks this reference"):
        there.nearest("x.png", ())


def a_run(tmp_path: Path) -> Run:
    out = tmp_path / "out"
    outcomes = []
    for name, status in (("a.png", "failed"), ("b.png", "equal"), ("c.png", "new")):
        path = picture(out / name, len(outcomes))
        outcomes.append(Outcome(name, status, PairedPicture(str(path), name, sha256_of(path))))
    return Run([*outcomes, Outcome("d.png", "missing")], {})


def test_accepting_takes_what_was_seen(tmp_path) -> None:
    run, there = a_run(tmp_path), References(str(tmp_path / "refs"))
    chosen = acceptance.choose(run)
    assert list(chosen) == ["a.png", "c.png"] and list(acceptance.choose(run, ["c*"])) == ["c.png"]
    with pytest.raises(ParameterError, match=r"called 'b.png'"):
        acceptance.choose(run, ["b.png"])
    picture(tmp_path / "out" / "c.png", 77)
    with pytest.raises(FileError, match="has changed since the run"):
        acceptance.accept(run, chosen, there)
    assert there.names() == []  # nothing was taken
    assert acceptance.accept(run, acceptance.choose(run, ["a.png"]), there) == ["a.png"]
    with pytest.raises(ParameterError, match="nothing to accept"):
        acceptance.choose(Run([Outcome("b.png", "equal")]))


@pytest.mark.parametrize(
    "name", ["../x.png", "/tmp/x.png", "a/../../x.png", ".git/x.png", "a.sh", "a\0.png", "link/x.png"]
)
def test_a_report_of_others_writes_nothing_elsewhere(tmp_path, name) -> None:
    there, path = References(str(tmp_path / "refs")), picture(tmp_path / "out" / "a.png", 1)
    (tmp_path / "refs").mkdir()
    (tmp_path / "refs" / "link").symlink_to(tmp_path)
    run = Run([Outcome(name, "new", PairedPicture(str(path), name, sha256_of(path)))], {})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError, match=r"name within|no picture's extension|a link leads out"):
        acceptance.accept(run, acceptance.choose(run), there)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", [lambda p: References(str(p / "refs")), index], ids=["folder", "index"])
def test_references_without_a_result_go_if_wanted(tmp_path, kind) -> None:
    there = kind(tmp_path)
    for number, (name, place) in enumerate([("a.png", "base"), ("a.png", "linux"), ("b.png", "base")]):
        there.accept({name: str(picture(tmp_path / f"{number}.png", number))}, place)
    lost = [PairedPicture("", name, sha256_of(there.nearest(name, ())[0])) for name in ("a.png", "b.png")]  # type: ignore[index]
    path = picture(tmp_path / "out" / "c.png", 2)  # b.png, renamed
    result = PairedPicture(str(path), "c.png", sha256_of(path))
    run = Run([Outcome("a.png", "missing", None, lost[0]), Outcome("c.png", "renamed", result, lost[1])])
    assert list(acceptance.choose(run)) == ["c.png"]
    chosen = acceptance.choose(run, remove_missing=True)
    for_linux = acceptance.choose(run, place="linux", remove_missing=True)
    other = replace(run.outcomes[0], reference=lost[0]._replace(sha256="0" * 64))
    with pytest.raises(FileError, match="has changed since"):
        acceptance.accept(Run([other, run.outcomes[1]]), chosen, there)
    assert acceptance.accept(run, for_linux, there) == ["c.png", "a.png"]
    assert there.names() == ["a.png", "b.png", "c.png"]  # it is about linux alone
    assert acceptance.accept(run, chosen, there) == ["c.png", "a.png"] and there.names() == ["c.png"]
    assert acceptance.accept(run, chosen, there) == []  # once more, as after an interruption


_ACCEPT = """
import sys
from gpuops.regress.index import references
there = references(sys.argv[1])
print("ready", flush=True)
while True:
    for source in sys.argv[2:]:
        there.accept({f"{k}.png": source for k in range(40)})
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name != "posix", reason="there is no kill -9")
@pytest.mark.parametrize("kind", ["folder", "index"])
def test_a_kill_leaves_old_or_new_references(tmp_path, kind) -> None:
    where = str(index(tmp_path).path if kind == "index" else tmp_path / "refs")
    sources = [str(picture(tmp_path / f"{k}.png", k)) for k in range(2)]
    known = {sha256_of(path) for path in sources}
    for wait in (0.0, 0.01, 0.03, 0.06):
        process = subprocess.Popen([sys.executable, "-c", _ACCEPT, where, *sources], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        there = references(where)
        found = {sha256_of((there.nearest(name, ()) or ("", ""))[0]) for name in there.names()}
        assert found <= known
        if kind == "index":
            assert len(found) <= 1  # all references change at once


def test_cases_run_and_say_how_they_ended(tmp_path) -> None:
    def case(name: str, program: str, timeout: float = 60) -> manifest.Case:
        return manifest.Case(
            name, (sys.executable, "-c", program, "{out}"), (f"{name}.png",), timeout=timeout
        )

    out = tmp_path / "out"
    picture(out / "stale.png", 1)
    cases = [
        case("good", "import sys, pathlib; pathlib.Path(sys.argv[1], 'good.png').write_text('x')"),
        case("bad", "import sys; print('why', file=sys.stderr); sys.exit(3)"),
        case("slow", "import time; time.sleep(60)", 0.3),
        case("stale", "pass"),
        case("killed", "import os; os.kill(os.getpid(), 9)"),
        manifest.Case("none", (str(tmp_path / "no-such-program"),), ("none.png",)),
    ]
    good, bad, slow, _stale, killed, none = run_cases(cases, tmp_path, out, 3)
    assert (good.error, (out / "good.png").read_text()) == ("", "x")
    assert (bad.error, bad.output.strip()) == ("the command ended with exit code 3: why", "why")
    assert slow.error == "the command took longer than its 0.3 s" and slow.seconds < 30
    assert "SIGKILL" in killed.error and "could not be started" in none.error
    assert not (out / "stale.png").exists()  # of an earlier run
