"""clpix regress on the command line: folders, suites, accepting, audits; verdicts as exit codes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gpuops import files
from gpuops.files import Picture

from .choices import needs


def save(path: Path, pixels: np.ndarray, linear: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    files.write(path, Picture(pixels, alpha=pixels.shape[2] in (2, 4), linear=linear))
    return path


@pytest.fixture
def pixels(rng) -> np.ndarray:
    return rng.integers(40, 200, (24, 40, 3), np.uint8)


@pytest.fixture
def folders(here, pixels) -> Path:
    """Results and references: one equal, one with a value of 9 levels more, one of another size, a new one."""
    for name in ("same.png", "sub/off.png", "small.png"):
        save(here / "refs" / name, pixels)
    save(here / "out" / "same.png", pixels)
    off = pixels.copy()
    off[3, 5, 1] += 9
    save(here / "out" / "sub" / "off.png", off)
    save(here / "out" / "small.png", pixels[:9])
    save(here / "out" / "new.png", pixels + 1)
    return here


def statuses(path: Path) -> dict[str, str]:
    return {case["name"]: case["status"] for case in json.loads(path.read_text("utf-8"))["outcomes"]}


def test_folders(clpix, folders) -> None:
    run = clpix("regress", "out", "refs", "--json", "report.json", "--junit", "report.xml", "--github")
    assert (run.code, run.err) == (2, "")  # a new picture has no reference
    assert statuses(folders / "report.json") == {
        "new.png": "new", "same.png": "equal", "small.png": "size", "sub/off.png": "failed",
    }  # fmt: skip
    told = [line for line in run.out.splitlines() if not line.startswith("::")]
    (off,) = [line for line in told if "sub/off.png" in line]
    assert "worst at 5,3" in off and told[-1].startswith("4 pictures: ") and "::error" in run.out
    assert "sub/off.png" in (folders / "report.xml").read_text("utf-8")
    case = json.loads((folders / "report.json").read_text("utf-8"))["outcomes"][-1]
    assert case["worst"]["x"] == 5 and case["worst"]["y"] == 3
    before = files.read(folders / "refs" / "sub" / "off.png").pixels[3, 5].astype(int)
    assert case["worst"]["reference"] == before.tolist()
    assert case["worst"]["result"] == (before + np.array([0, 9, 0])).tolist()


def test_exit_codes_and_thresholds(clpix, folders) -> None:
    (folders / "out" / "new.png").unlink()
    assert clpix("regress", "out", "refs").code == 1
    (folders / "out" / "small.png").unlink()
    assert clpix("regress", "out", "refs").code == 2  # it is missing
    (folders / "refs" / "small.png").unlink()
    assert clpix("regress", "out", "refs").code == 1
    assert clpix("regress", "out", "refs", "--max-error", 0.04).code == 0
    assert clpix("regress", "out", "refs", "--max-error", 0.03).code == 1
    # What idiff passes: no value is above `fail`, and one is above `hardfail`.
    assert clpix("regress", "out", "refs", "--fail", 0.1, "--hardfail", 0.01).code == 1
    run = clpix("regress", "out", "refs", "--fail", 0.1, "--warn", 0.01)
    assert (run.code, run.out.split()[0]) == (0, "warned")
    assert clpix("regress", "out", "refs", "--fail", 0.1, "--warn", 0.01, "--strict").code == 1
    assert clpix("regress", "out", "refs", "--allowfailures", 1).code == 0
    assert clpix("regress", "out", "refs", "--ignore", "5,3,1,1").code == 0
    assert clpix("regress", "out", "refs", "--ignore", "5,4,1,1").code == 1


def test_a_mask(clpix, folders) -> None:
    for name in ("new.png", "small.png"):
        (folders / "out" / name).unlink()
    (folders / "refs" / "small.png").unlink()
    mask = np.full((24, 40, 1), 255, np.uint8)
    mask[3, 5] = 0
    save(folders / "mask.png", mask)
    run = clpix("regress", "out", "refs", "--mask", "mask.png", "--json", "r.json")
    assert (run.code, run.err) == (0, "")
    assert "1 of 960 pixels are not compared" in (folders / "r.json").read_text("utf-8")
    save(folders / "mask.png", mask[1:])
    run = clpix("regress", "out", "refs", "--mask", "mask.png")
    assert run.code == 2 and "the mask has 40×23 pixels" in run.out


def test_thresholds_that_cannot_fail_are_an_error(clpix, folders) -> None:
    run = clpix("regress", "out", "refs", "--fail", 1)
    assert run.code == 2 and "these thresholds can never fail: fail 1 allows every error" in run.out


def test_accept(clpix, folders, monkeypatch) -> None:
    assert clpix("regress", "accept").code == 2  # there was no run
    assert clpix("regress", "out", "refs").code == 2
    run = clpix("regress", "accept", "--dry-run")
    assert (run.code, run.err) == (0, "")
    assert [line.split()[2] for line in run.out.splitlines()] == ["new.png", "small.png", "sub/off.png"]
    monkeypatch.setenv("CI", "true")
    run = clpix("regress", "accept")
    assert (run.code, run.out) == (2, "") and "--in-ci" in run.err
    monkeypatch.delenv("CI")
    assert clpix("regress", "accept", "small*").code == 0
    assert clpix("regress", "accept").out.splitlines()[-1] == "2 of 3 references changed in refs"
    run = clpix("regress", "out", "refs")
    assert (run.code, run.out) == (0, "4 pictures: 4 equal\n")
    path = folders / "out" / "new.png"
    shown = files.read(path).pixels
    shown[0, 0, 0] ^= 1
    save(path, shown)
    assert clpix("regress", "out", "refs").code == 1  # one changed byte
    save(path, shown ^ 1)
    run = clpix("regress", "accept")
    assert run.code == 2 and "has changed since the run" in run.err
    (folders / "refs" / "old.png").write_bytes((folders / "refs" / "same.png").read_bytes())
    report = ["accept", "--remove-missing", "--from", ".clpix-regress/last.json"]
    assert clpix("regress", "out", "refs").code == 2
    run = clpix("regress", *report)
    assert run.code == 2 and "name it by --references" in run.err
    assert clpix("regress", *report, "--references", "refs", "old*").out.splitlines()[0] == "removed old.png"
    assert not (folders / "refs" / "old.png").exists()


def test_a_first_run_says_what_to_do(clpix, folders) -> None:
    run = clpix("regress", "out", "nosuchfolder")
    assert run.code == 2
    assert run.out.splitlines()[-1] == (
        "none has a reference, as there is no folder nosuchfolder: look at them, and let 'clpix regress accept' make "
        "them references"
    )
    assert "accept" not in clpix("regress", "out", "refs").out


def test_a_folder_that_cannot_be_written_leaves_the_verdict(clpix, folders) -> None:
    (folders / ".clpix-regress").write_bytes(b"")
    assert clpix("regress", "out", "out").code == 0
    run = clpix("regress", "out", "refs", "--json", "report.json")
    assert run.code == 2 and "warning: .clpix-regress/last.json: .clpix-regress is a file" in run.err
    assert (folders / "report.json").exists()


def test_only_pictures_are_accepted(clpix, here) -> None:
    (here / "out").mkdir()
    (here / "out" / "a\x1b.png").write_text("echo 'not a picture'")
    assert clpix("regress", "out", "refs").code == 2
    run = clpix("regress", "accept")
    assert (run.code, run.out) == (2, "") and "is not a picture" in run.err and "\x1b" not in run.err
    assert not (here / "refs").exists()


@pytest.mark.parametrize(("args", "message"), [
    ("out refs --json out/same.png", "--json out/same.png: is also an input"),
    ("out refs --junit refs/same.png", "--junit refs/same.png: is also an input"),
    ("out refs --report out", "--report out: is also an input"),
    ("out refs --report r.html --json ./r.html", "is also written as another output"),
    ("run suite.toml --results refs", "refs/same.png: is also an input"),
    ("run suite.toml --junit suite.toml", "--junit suite.toml: is also an input"),
])  # fmt: skip
def test_nothing_that_is_compared_is_overwritten(clpix, folders, args, message) -> None:
    case = '[[case]]\nname = "same"\nchain = "blur --sigma 0"\ninputs = ["out/new.png"]\n'
    (folders / "suite.toml").write_text(f'schema = 1\nreferences = "refs"\n{case}')
    before = {path: path.read_bytes() for path in folders.rglob("*.*") if path.is_file()}
    run = clpix("regress", *args.split())
    assert run.code == 2 and message in run.err
    assert {path: path.read_bytes() for path in folders.rglob("*.*") if path.is_file()} == before


@needs("oxipng", "regress")
def test_accept_recompresses(clpix, here) -> None:
    """Gray in RGB, 8 bits in 16, transparent colour: what a smaller file may not lose."""
    ramp = np.broadcast_to(np.arange(64, dtype=np.uint8)[:, None, None], (64, 96, 3))
    alpha = np.dstack([ramp.astype(np.uint16) * 257, np.zeros((64, 96, 1), np.uint16)])
    given = {
        "gray.png": ramp,
        "wide.png": ramp.astype(np.uint16) * 257,
        "alpha.png": alpha,
        "light.exr": ramp / 7,
    }
    for name, picture in given.items():
        save(here / "out" / name, np.asarray(picture, np.float32 if name.endswith("exr") else picture.dtype))
    assert clpix("regress", "out", "refs").code == 2 and clpix("regress", "accept", "--recompress").code == 0
    for name in given:
        before, after = here / "out" / name, here / "refs" / name
        assert after.stat().st_size < before.stat().st_size or name == "light.exr"
        read = [files.read(path) for path in (before, after)]
        assert read[0].pixels.dtype == read[1].pixels.dtype
        np.testing.assert_array_equal(read[0].pixels, read[1].pixels)
        assert read[0].metadata == read[1].metadata
    assert (here / "refs" / "light.exr").read_bytes() == (here / "out" / "light.exr").read_bytes()
    run = clpix("regress", "out", "refs")
    assert (run.code, run.out.splitlines()[-1]) == (0, "4 pictures: 4 equal")


def test_a_suite_runs_and_says_what_went_wrong(clpix, here, pixels) -> None:
    save(here / "in.png", pixels)
    (here / "suite.toml").write_text(
        """schema = 1
references = "refs"
[defaults]
max-error = 0.02
[[case]]
name = "soft"
chain = "blur --sigma 1 then flip --axis horizontal"
inputs = ["in.png"]
tags = ["quick"]
[[case]]
name = "bad"
command = "clpix blur {input} --sigma -1 -o {output}"
inputs = ["in.png"]
""",
        "utf-8",
    )
    run = clpix("regress", "run", "suite.toml", "soft")
    assert (run.code, run.err) == (2, "") and run.out.startswith("new ")
    assert clpix("regress", "accept").code == 0
    assert clpix("regress", "run", "suite.toml", "--tag", "quick").code == 0
    run = clpix("regress", "run", "suite.toml", "--json", "r.json", "--failed-first")
    assert run.code == 2 and statuses(here / "r.json") == {"bad.png": "error", "soft.png": "equal"}
    assert "sigma" in json.loads((here / "r.json").read_text("utf-8"))["outcomes"][-1]["output"]
    shown = files.read(here / "refs" / "soft.png").pixels
    save(here / "refs" / "soft.png", np.clip(shown.astype(int) + 9, 0, 255).astype(np.uint8))
    assert clpix("regress", "run", "suite.toml", "soft").code == 1
    assert clpix("regress", "run", "suite.toml", "soft", "--max-error", 0.5).code == 0


@pytest.mark.parametrize(("args", "message"), [
    (["none", "refs"], "there is no such folder"),
    (["empty", "empty"], "there are no pictures to compare"),
    (["out"], "Missing argument"),
    (["acept"], "did you mean 'accept'?"),
    (["run", "none.toml"], "none.toml"),
    (["run", "suite.toml", "--shard", "0/1"], "--shard"),
    (["out", "refs", "--max-flp", "1"], "--max-flip"),
    (["out", "refs", "--fail", "-1"], "fail must be 0 or more"),
    (["out", "refs", "--ignore", "1,2,3"], "X,Y,W,H"),
    (["accept", "--from", "none.json"], "there is no report of a run"),
    (["accept", "--for", "../.."], "is no name of a device or platform"),
    (["audit", "refs", "--strict"], "there is no option --strict here"),
    (["calibrate", "suite.toml", "--junit", "r.xml"], "there is no option --junit here"),
    (["calibrate", "suite.toml", "--max-flip", "1"], "leave out --max-flip"),
])  # fmt: skip
def test_usage(clpix, folders, args, message) -> None:
    (folders / "empty").mkdir()
    (folders / "suite.toml").write_text('schema = 1\n[[case]]\nname = "a"\nchain = "blur"\n', "utf-8")
    run = clpix("regress", *args)
    assert run.code == 2 and run.err.count("\n") == 1 and message in run.err


def test_a_file_that_is_no_picture(clpix, folders) -> None:
    (folders / "out" / "same.png").write_text("not a picture")
    (folders / "refs" / "small.png").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    run = clpix("regress", "out", "refs", "--json", "r.json")
    assert run.code == 2 and statuses(folders / "r.json")["same.png"] == "error"
    assert "refs/small.png: is a pointer of Git LFS" in run.out


def test_names_cannot_change_the_terminal(clpix, here, pixels) -> None:
    name = "a\x1b[31m<b>&.png"
    save(here / "out" / name, pixels)
    (here / "refs").mkdir()
    run = clpix("regress", "out", "refs", "--junit", "r.xml")
    assert "\x1b" not in run.out and "\x1b" not in (here / "r.xml").read_text("utf-8")


def test_audit_finds_what_thresholds_do_not_see(clpix, here, pixels) -> None:
    save(here / "refs" / "a.png", pixels)
    save(here / "refs" / "b.png", pixels[:, ::-1].copy() // 2)
    run = clpix("regress", "audit", "refs")
    assert (run.code, run.err) == (0, "") and run.out.splitlines()[-1].endswith("0 pass")
    run = clpix("regress", "audit", "refs", "--max-error", 0.01)
    assert run.code == 1
    assert {line.split(": ")[1].split(" (")[0] for line in run.out.splitlines()[:-1]} == {
        "a level more passes",
        "a level less passes",
    }
    run = clpix("regress", "audit", "refs", "a.png", "--min-psnr", 1)
    assert "a.png: mirrored passes" in run.out


def test_calibrate(clpix, here, pixels) -> None:
    save(here / "in.png", pixels)
    (here / "noise.py").write_text(
        "import sys, numpy as np\n"
        "from gpuops import files\n"
        "p = files.read(sys.argv[1]).pixels.astype(int)\n"
        "p += np.random.default_rng().integers(-3, 4, p.shape)\n"
        "files.write(sys.argv[2], files.Picture(p.astype(np.uint8)))\n"
    )
    (here / "suite.toml").write_text(
        'schema = 1\n[[case]]\nname = "same"\nchain = "flip --axis horizontal"\ninputs = ["in.png"]\n'
        f'[[case]]\nname = "noise"\ncommand = ["{sys.executable}", "noise.py", "{{input}}", "{{output}}"]\n'
        'inputs = ["in.png"]\n',
        "utf-8",
    )
    run = clpix("regress", "calibrate", "suite.toml", "--runs", 3, "--metric", "max")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0].startswith("# same.png: no noise")
    assert '[thresholds."noise.png"]' in lines
    (limit,) = [float(line.split(" = ")[1]) for line in lines if line.startswith("max-error")]
    assert 2 * 1 / 255 <= limit <= 2.1 * 6 / 255
