"""References: several valid ones, pointers of Git LFS, renamed and removed ones, and accepting that is cut off."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gpuops import FileError, ParameterError, files
from gpuops.files.read_errors import digest_in_pointer
from gpuops.regress import acceptance, references
from gpuops.regress.index import references as opened
from gpuops.regress.outcome import Limit, Outcome, PairedPicture, Run, excess

KINDS = ["folder", "index"]


def save(path: Path | str, value: int = 100, *spots: tuple[int, int, int]) -> Path:
    """Writes a picture of one value, in which pixels (x, y) have more levels."""
    path = Path(path)
    pixels = np.full((16, 24, 3), value, np.uint8)
    for x, y, more in spots:
        pixels[y, x] += more
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    files.write(path, files.Picture(pixels))
    return path


def sha256(path: Path | str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def pointer(
    path: Path, of: Path | None = None, version: str = "https://git-lfs.github.com/spec/v1", end: str = "\n"
) -> None:
    """Puts the pointer of a file in the place of another, or of itself."""
    of = of or path
    text = end.join([f"version {version}", f"oid sha256:{sha256(of)}", f"size {of.stat().st_size}", ""])
    path.write_bytes(text.encode())


def run_of(folder: Path, name: str = "r.json") -> dict[str, dict]:
    return {case["name"]: case for case in json.loads((folder / name).read_text("utf-8"))["outcomes"]}


def made(kind: str, folder: Path) -> str:
    """Returns what names an empty folder of references, or an empty index."""
    if kind == "folder":
        return "refs"
    (folder / "refs.json").write_text(json.dumps({"schema": 1, "store": "store", "pictures": {}}))
    return "refs.json"


# -- pointers of Git LFS


def test_a_pointer_of_the_result_is_equal(clpix, here) -> None:
    for name in ("a.png", "b.png", "old.png"):
        shutil.copy(save(here / "out" / name, 10 + len(name)), save(here / "refs" / name))
    save(here / "out" / "b.png", 77)
    (here / "out" / "old.png").rename(here / "out" / "now.png")
    save(here / "out" / "now.png", 5)
    shutil.copy(here / "out" / "now.png", here / "refs" / "old.png")
    for path in (here / "refs").iterdir():
        pointer(path)
    run = clpix("regress", "out", "refs", "--json", "r.json", "--report", "r.html")
    seen = run_of(here)
    assert {name: case["status"] for name, case in seen.items()} == {
        "a.png": "equal", "b.png": "error", "now.png": "renamed",
    }  # fmt: skip
    assert "b.png: refs/b.png: is a pointer of Git LFS" in run.out and "'git lfs pull'" in run.out
    assert (run.code, run.err) == (2, "") and seen["now.png"]["reference"]["sha256"] == sha256("out/now.png")
    assert clpix("regress", "accept").code == 0  # the pointer gets the new name, as git has it
    assert (here / "refs" / "now.png").read_bytes().startswith(b"version ") and not (
        here / "refs" / "old.png"
    ).exists()
    assert clpix("regress", "out", "refs", "--json", "r.json").code == 2
    assert {name: case["status"] for name, case in run_of(here).items()} == {
        "a.png": "equal", "b.png": "error", "now.png": "equal",
    }  # fmt: skip


@pytest.mark.parametrize(("version", "end", "status"), [
    ("https://git-lfs.github.com/spec/v1", "\n", "equal"), ("https://hawser.github.com/spec/v1", "\n", "equal"),
    ("https://git-lfs.github.com/spec/v1", "\r\n", "equal"), ("https://example.com/spec/v1", "\n", "error"),
])  # fmt: skip
def test_forms_of_pointers(clpix, here, version, end, status) -> None:
    save(here / "out" / "a.png")
    (here / "refs").mkdir()
    pointer(here / "refs" / "a.png", here / "out" / "a.png", version, end)
    clpix("regress", "out", "refs", "--json", "r.json")
    assert run_of(here)["a.png"]["status"] == status


@pytest.mark.parametrize("damage", [
    lambda text: text.replace(b"sha256:", b"sha512:"), lambda text: text.replace(b"oid ", b"oid: "),
    lambda text: text[:100], lambda text: b"#\n" + text, lambda text: text + b" " * 1024, lambda text: b"",
    lambda text: text.replace(b"sha256:", b"sha256:0"), lambda text: text.upper(),
])  # fmt: skip
def test_what_is_no_pointer_has_no_digest(damage) -> None:
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 5\n".encode()
    assert digest_in_pointer(text) == digest_in_pointer(text.rstrip()) == "ab" * 32
    assert digest_in_pointer(damage(text)) == ""


def test_a_store_of_pointers(clpix, here) -> None:
    """A store that is in Git LFS itself: equal results need nothing of it."""
    save(here / "out" / "a.png", 1)
    refs = made("index", here)
    assert clpix("regress", "out", refs).code == 2 and clpix("regress", "accept").code == 0
    (stored,) = (here / "store").rglob("*.png")
    pointer(stored)
    assert clpix("regress", "out", refs).out == "1 pictures: 1 equal\n"
    save(here / "out" / "a.png", 2)
    run = clpix("regress", "out", refs)
    assert run.code == 2 and "is a pointer of Git LFS" in run.out
    pointer(stored, here / "out" / "a.png")
    assert "not those that the index names" in clpix("regress", "out", refs).out


def test_an_address_that_gives_pointers_gives_no_reference(tmp_path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="needs the extra s3")
    path = save(tmp_path / "a.png", 31)
    digest = sha256(path)
    pointer(path)
    where = f"memory://pointers/{digest[:2]}/{digest}.png"
    with fsspec.open(where, "wb") as file:
        file.write(path.read_bytes())
    index = {"schema": 1, "store": "memory://pointers", "pictures": {"a.png": {"base": digest}}}
    (tmp_path / "refs.json").write_text(json.dumps(index))
    with pytest.raises(FileError, match="not those that the index names"):
        opened(str(tmp_path / "refs.json")).nearest("a.png", ())


def test_what_a_broken_transfer_left_is_put_again(tmp_path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="needs the extra s3")
    path = save(tmp_path / "a.png", 32)
    where = f"memory://halves/{sha256(path)[:2]}/{sha256(path)}.png"
    with fsspec.open(where, "wb") as file:
        file.write(path.read_bytes()[:50])
    (tmp_path / "refs.json").write_text(json.dumps({"schema": 1, "store": "memory://halves", "pictures": {}}))
    assert opened(str(tmp_path / "refs.json")).accept({"a.png": str(path)}) == ["a.png"]
    with fsspec.open(where, "rb") as file:
        assert file.read() == path.read_bytes()


# -- several valid references


def several(clpix, here: Path, kind: str = "folder") -> str:
    """Three valid references of a.png, 100, 60 and 20 levels bright, that `accept` has made, and one of b.png."""
    refs = made(kind, here)
    save(here / "out" / "b.png", 9)
    for value, more in ((100, ()), (60, ("--also",)), (20, ("--also",))):
        save(here / "out" / "a.png", value)
        assert clpix("regress", "out", refs).code in (1, 2)
        assert clpix("regress", "accept", *more).code == 0
    return refs


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_like_any_reference_passes(clpix, here, kind) -> None:
    refs = several(clpix, here, kind)
    if kind == "folder":
        there = sorted(path.relative_to(here).as_posix() for path in here.glob("refs/**/*.png"))
        assert there == ["refs/a.png", "refs/a.png.also/2.png", "refs/a.png.also/3.png", "refs/b.png"]
    else:
        assert len(json.loads((here / refs).read_text())["pictures"]["a.png"]["base"]) == 3
    for value in (100, 60, 20):
        save(here / "out" / "a.png", value)
        assert clpix("regress", "out", refs, "--json", "r.json").code == 0
        assert run_of(here)["a.png"]["status"] == "equal"
    # The nearest one, with thresholds and without.
    for value, of, code, more in (
        (61, "base:2", 0, ("--max-error", 0.005)), (62, "base:2", 1, ("--max-error", 0.005)), (24, "base:3", 1, ()),
        (97, "base", 1, ()), (81, "base", 1, ("--max-error", 0.001)),
    ):  # fmt: skip
        save(here / "out" / "a.png", value)
        run = clpix("regress", "out", refs, "--json", "r.json", "--junit", "r.xml", "--github", *more)
        case = run_of(here)["a.png"]
        assert (run.code, run.err, case["reference"]["of"]) == (code, "", of)
        assert case["status"] == ("failed" if code else "passed")
        said = f"of 3 valid references the nearest is {case['reference']['path']}"
        assert run.out.count(said) == (2 if code else 0)  # for people and for GitHub
        assert (here / "r.xml").read_text("utf-8").count(said) == (1 if code else 0)


def test_the_nearest_is_the_one_that_is_least_beyond_its_thresholds(clpix, here) -> None:
    """A few pixels far off, or all a little: which is nearer depends on the threshold."""
    save(here / "out" / "a.png", 100)
    save(here / "refs" / "a.png", 100, (1, 1, 90), (2, 1, 90))
    save(here / "refs" / "a.png.also" / "soft.png", 104)
    for threshold, nearest in ((("--max-error", 0.01), "soft.png"), (("--max-mean", 0.001), "a.png")):
        run = clpix("regress", "out", "refs", "--json", "r.json", *threshold)
        assert run.code == 1 and run_of(here)["a.png"]["reference"]["path"].endswith(f"/{nearest}")
    # Only one of them passes, though not the first.
    assert clpix("regress", "out", "refs", "--max-error", 0.02).code == 0
    # What is not compared does not count: with the spots masked the first is equal, and the second differs.
    clpix("regress", "out", "refs", "--ignore", "1,1,2,1", "--json", "r.json")
    assert run_of(here)["a.png"]["status"] == "equal" and run_of(here)["a.png"]["reference"]["of"] == "base"


def test_excess() -> None:
    def beyond(*missed: Limit, rmse: float = 0.0) -> tuple[float, ...]:
        return excess(Outcome("a", "failed", missed=missed, figures={"rmse": rmse}))

    assert beyond(Limit("max-flip", 0.3, 0.1))[0] == pytest.approx(3)
    assert beyond(Limit("max-flip", 0.3, 0.1), Limit("min-ssim", 0.5, 0.9))[0] == pytest.approx(5)
    assert beyond(Limit("min-psnr", 20, 40))[0] == pytest.approx(10)
    assert beyond(Limit("min-psnr of depth", -np.inf, 40))[0] == np.inf
    assert beyond(Limit("allowfailures", 7, 0)) < beyond(Limit("allowfailures", 8, 0))
    assert beyond(Limit("allowfailures", 7, 0), rmse=0.1) < beyond(Limit("allowfailures", 7, 0), rmse=0.2)
    assert beyond(Limit("max-flip", np.nan, 0.1)) > beyond(Limit("max-flip", 9.0, 0.1))
    assert beyond(Limit("min-ssim", 0.5, 1.0))[0] == np.inf
    passed = [
        Outcome("a", "passed", figures={"flip": v, "psnr": 50}, thresholds={"max-flip": 0.1})
        for v in (0.01, 0.05)
    ]
    assert excess(passed[0]) < excess(passed[1]) < (1, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_accept_replaces_the_reference_that_was_compared(clpix, here, kind) -> None:
    refs = several(clpix, here, kind)
    save(here / "out" / "a.png", 63)
    assert clpix("regress", "out", refs).code == 1
    last = (here / ".clpix-regress" / "last.json").read_bytes()
    assert clpix("regress", "accept").out.splitlines()[0] == "accepted a.png"
    for value, code in ((100, 0), (63, 0), (20, 0), (60, 1)):
        save(here / "out" / "a.png", value)
        assert clpix("regress", "out", refs).code == code, value
    # The reference that the report names is no more one of them.
    save(here / "out" / "a.png", 64)
    assert clpix("regress", "out", refs).code == 1 and clpix("regress", "accept").code == 0
    save(here / "out" / "a.png", 63)
    (here / ".clpix-regress" / "last.json").write_bytes(last)
    run = clpix("regress", "accept")
    assert run.code != 0 and "a.png: the reference has changed since the run that saw it" in run.err


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_references(tmp_path, kind) -> None:
    os.chdir(tmp_path)
    there = opened(made(kind, tmp_path))
    paths = [str(save(tmp_path / f"{k}.png", k)) for k in range(references.MOST + 1)]
    for path in paths[:-1]:
        assert there.change({"a.png": references.Change(path, also=True)}) == ["a.png"]
    assert there.change({"a.png": references.Change(paths[3], also=True)}) == []
    assert len(there.valid("a.png", ())) == references.MOST
    with pytest.raises(FileError, match="has 8 references already"):
        there.change({"b.png": references.Change(paths[0]), "a.png": references.Change(paths[-1], also=True)})
    assert opened(str(there.path)).names() == ["a.png"]  # nothing of it was done
    labels = [label for _, label in opened(str(there.path)).valid("a.png", ("linux",))]
    assert labels == ["base", *(f"base:{k}" for k in range(2, 9))]


def test_further_references_of_a_platform(clpix, here) -> None:
    """The references of the platform stand in the place of the common ones, all of them."""
    several(clpix, here)
    save(here / "refs" / "@linux" / "a.png", 200)
    save(here / "refs" / "@linux" / "a.png.also" / "mesa.png", 220)
    for value, code in ((200, 0), (220, 0), (100, 1)):
        save(here / "out" / "a.png", value)
        run = clpix("regress", "out", "refs", "--json", "r.json")
        assert run.code == code and run_of(here)["a.png"]["reference"]["of"].startswith("linux")
    assert "reference of linux" in run.out
    assert clpix("regress", "accept", "--also").code == 0
    assert files.read(here / "refs" / "@linux" / "a.png.also" / "2.png").pixels[0, 0, 0] == 100
    save(here / "out" / "a.png", 221)
    assert clpix("regress", "out", "refs").code == 1 and clpix("regress", "accept").code == 0
    assert files.read(here / "refs" / "@linux" / "a.png.also" / "mesa.png").pixels[0, 0, 0] == 221
    assert files.read(here / "refs" / "a.png").pixels[0, 0, 0] == 100


def test_a_further_reference_of_another_kind(clpix, here) -> None:
    save(here / "out" / "a.png", 30)
    save(here / "refs" / "a.png", 90)
    save(here / "refs" / "a.png.also" / "x.bmp", 31)
    (here / "refs" / "a.png.also" / "why.txt").write_text("what it is for")
    assert clpix("regress", "out", "refs").code == 1 and clpix("regress", "accept").code == 0
    assert sorted(path.name for path in (here / "refs" / "a.png.also").iterdir()) == ["2.png", "why.txt"]
    assert clpix("regress", "out", "refs").code == 0


@pytest.mark.parametrize("fault", ["size", "damaged", "pointer"])
def test_a_further_reference_that_cannot_be_compared(clpix, here, fault) -> None:
    """The others still count; it is shown only where there is no other."""
    save(here / "out" / "a.png", 100)
    first, other = here / "refs" / "a.png", here / "refs" / "a.png.also" / "2.png"
    for path, good in ((first, other), (other, first)):
        save(good, 101)
        save(path, 3)
        if fault == "size":
            path.unlink()
            files.write(path, files.Picture(np.zeros((5, 5, 3), np.uint8)))
        elif fault == "damaged":
            path.write_bytes(path.read_bytes()[:60])
        else:
            pointer(path)
        assert clpix("regress", "out", "refs", "--max-error", 0.01).code == 0
        run = clpix("regress", "out", "refs", "--max-error", 0.001, "--json", "r.json")
        assert (
            run.code == 1 and run_of(here)["a.png"]["reference"]["path"] == good.relative_to(here).as_posix()
        )


def test_no_result_becomes_a_further_reference_by_its_name(clpix, here) -> None:
    save(here / "out" / "a.png.also" / "x.png")
    save(here / "refs" / "b.png")
    assert clpix("regress", "out", "refs").code == 2
    run = clpix("regress", "accept")
    assert run.code != 0 and "is in a folder of further references" in run.err
    assert not (here / "refs" / "a.png.also").exists()


@pytest.mark.parametrize("value", ["[]", '["0"]', "[[]]", "{}", "null", json.dumps(["ab" * 32] * 9)])
def test_lists_of_digests_that_are_none(tmp_path, value) -> None:
    path = tmp_path / "refs.json"
    path.write_text(f'{{"schema": 1, "store": "s", "pictures": {{"x.png": {{"base": {value}}}}}}}')
    with pytest.raises(ParameterError, match="64 hex digits, or of lists of 8 at most"):
        opened(str(path))


def test_a_folder_of_further_references_that_leads_out(tmp_path) -> None:
    save(tmp_path / "refs" / "a.png", 1)
    (tmp_path / "away").mkdir()
    (tmp_path / "refs" / "a.png.also").symlink_to(tmp_path / "away")
    there = opened(str(tmp_path / "refs"))
    with pytest.raises(FileError, match="a link leads out"):
        there.change({"a.png": references.Change(str(save(tmp_path / "b.png", 2)), also=True)})
    assert list((tmp_path / "away").iterdir()) == []


# -- renamed and removed ones


@pytest.mark.parametrize("value", [100, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_a_renamed_picture_keeps_all_its_references(clpix, here, kind, value) -> None:
    """Whichever of them the result has the bytes of."""
    refs = several(clpix, here, kind)
    save(here / "out" / "a.png", 150)
    there = opened(refs)
    there.change({"a.png": references.Change(str(here / "out" / "a.png"), "amiga")})
    variance = save(here / "variance.exr.png")
    there.accept({"a.png.variance.exr": str(variance)})
    save(here / "out" / "a.png", value)
    (here / "out" / "a.png").rename(here / "out" / "new.png")
    run = clpix("regress", "out", refs)
    assert run.code == 2 and "renamed  new.png: it has the bytes of the reference a.png" in run.out
    run = clpix("regress", "accept", "--dry-run")
    assert run.out == "would rename a.png to new.png\n"
    assert clpix("regress", "accept", "new.png").out.splitlines()[0] == "renamed a.png to new.png"
    assert clpix("regress", "out", refs).code == 0
    there = opened(refs)
    assert there.names() == ["b.png", "new.png"] and len(there.valid("new.png", ())) == 3
    assert there.valid("new.png", ("amiga",))[0][1] == "amiga" and there.variance_of("new.png", "base")
    left = {path.relative_to(here).as_posix() for path in (here / "refs").rglob("*")}
    assert not [name for name in left if "/a.png" in name]


def test_two_new_pictures_of_one_that_is_missing(clpix, here) -> None:
    """One of them is the renamed one; the other is new."""
    several(clpix, here)
    save(here / "out" / "c.png", 60)
    (here / "out" / "a.png").rename(here / "out" / "d.png")
    assert clpix("regress", "out", "refs", "--json", "r.json").code == 2
    assert {name: case["status"] for name, case in run_of(here).items()} == {
        "b.png": "equal", "c.png": "renamed", "d.png": "new",
    }  # fmt: skip
    assert clpix("regress", "accept").out.splitlines()[:2] == ["renamed a.png to c.png", "accepted d.png"]
    assert clpix("regress", "out", "refs").code == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_rename_to_another_extension(clpix, here, kind) -> None:
    """A store names pictures by digest and extension."""
    refs = made(kind, here)
    save(here / "out" / "a.jpg.png", 3)
    (here / "out" / "a.jpg.png").rename(here / "out" / "a.tga")
    assert clpix("regress", "out", refs).code == 2 and clpix("regress", "accept").code == 0
    (here / "out" / "a.tga").rename(here / "out" / "b.png")
    assert clpix("regress", "out", refs).code == 2 and clpix("regress", "accept").code == 0
    assert clpix("regress", "out", refs).out == "1 pictures: 1 equal\n"


@pytest.mark.parametrize("kind", KINDS)
def test_removing_takes_all_references_of_a_picture(clpix, here, kind) -> None:
    refs = several(clpix, here, kind)
    (here / "out" / "a.png").unlink()
    assert clpix("regress", "out", refs).code == 2
    assert clpix("regress", "accept", "--remove-missing", "--dry-run").out == "would remove a.png\n"
    assert clpix("regress", "accept", "--remove-missing").out.splitlines()[0] == "removed a.png"
    assert opened(refs).names() == ["b.png"]
    assert clpix("regress", "out", refs).code == 0
    if kind == "folder":
        assert not (here / "refs" / "a.png.also").exists()


def test_removing_asks_whether_the_run_knew_all(clpix, here) -> None:
    save(here / "refs" / "a.png", 1)
    save(here / "refs" / "b.png", 2)
    save(here / "out" / "a.png", 1)
    assert clpix("regress", "out", "refs").code == 2
    save(here / "out" / "b.png", 3)  # it was made since
    run = clpix("regress", "accept", "--remove-missing")
    assert run.code != 0 and "out/b.png: is there now" in run.err and (here / "refs" / "b.png").exists()
    for name in ("a.png", "b.png"):
        (here / "out" / name).unlink()
    assert clpix("regress", "out", "refs").code == 2
    run = clpix("regress", "accept", "--remove-missing")  # such as after a program that made nothing
    assert run.code == 2 and "no picture has a result" in run.err
    assert clpix("regress", "accept", "--remove-missing", "a.png").code == 0
    assert opened("refs").names() == ["b.png"]


def suite(here: Path, *names: str) -> None:
    cases = "".join(
        f'[[case]]\nname = "{name}"\nchain = "flip --axis horizontal"\ninputs = ["{name[0]}.bmp"]\n'
        f"tags = ['{name}']\n"
        for name in names
    )
    (here / "suite.toml").write_text(f'schema = 1\nreferences = "refs"\n{cases}')


def test_references_that_no_case_makes(clpix, here) -> None:
    """A suite that runs as a whole knows them; one that runs in part knows nothing of the others."""
    for value, name in enumerate("abc"):
        save(here / f"{name}.bmp", value)
    suite(here, "a", "b", "c")
    assert clpix("regress", "run", "suite.toml").code == 2 and clpix("regress", "accept").code == 0
    suite(here, "a", "c2")  # b is deleted, c has another name
    run = clpix("regress", "run", "suite.toml", "a")
    assert (run.code, run.out) == (0, "1 pictures: 1 equal\n")
    run = clpix("regress", "accept", "--remove-missing")
    assert (
        run.code == 2 and "the run was of some cases (a): run all of them before --remove-missing" in run.err
    )
    assert clpix("regress", "run", "suite.toml", "--tag", "a", "--shard", "1/1").code == 0
    assert "(--tag a --shard 1/1)" in clpix("regress", "accept", "--remove-missing").err
    for more in (("--jobs", 1), ("--failed-first",)):
        run = clpix("regress", "run", "suite.toml", "--json", "r.json", "--junit", "r.xml", "--github", *more)
        assert {name: case["status"] for name, case in run_of(here).items()} == {
            "a.png": "equal", "c2.png": "renamed", "b.png": "skipped",
        }  # fmt: skip
        assert (
            "references that no case of suite.toml makes: b.png; 'clpix regress accept --remove-missing'"
            in run.out
        )
        assert "::error" in run.out and "b.png" not in "".join(s for s in run.out.splitlines() if "::" in s)
        tests = ElementTree.parse(here / "r.xml").getroot().findall(".//testcase[skipped]")
        assert [test.get("name") for test in tests] == ["b.png"]
    assert clpix("regress", "accept").out.splitlines() == [
        "renamed c.png to c2.png", "1 of 1 references changed in refs",
        "1 references have no result; --remove-missing removes them",
    ]  # fmt: skip
    run = clpix("regress", "run", "suite.toml")
    assert run.code == 0 and run.out.startswith("3 pictures: 1 skipped, 2 equal\n")
    assert clpix("regress", "accept", "--remove-missing").out.splitlines()[0] == "removed b.png"
    assert clpix("regress", "run", "suite.toml").out == "2 pictures: 2 equal\n"


# -- interruptions

_KILLED = """
import os, signal, sys
from gpuops.regress import references
from gpuops.regress.index import references as opened
left, calls = int(sys.argv[2]), ("replace", "unlink")
def dying(call):
    def run(*args, **more):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*args, **more)
    return run
for name in calls:
    setattr(os, name, dying(getattr(os, name)))
there = opened(sys.argv[1])
there.change({
    "moved.png": references.Change("moved.png", old="a.png"),
    "b.png": references.Change("new.png"),
    "c.png": references.Change(None),
    "d.png": references.Change("new.png", also=True),
})
print("whole")
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name != "posix", reason="there is no kill -9")
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_step_loses_nothing(here, kind) -> None:
    """Before each renaming and each removal of a file the process is killed; the same change then ends the work."""
    values = {"a.png": (1, 11, 21), "b.png": (2,), "c.png": (3, 13), "d.png": (4,)}
    save(here / "moved.png", 1)
    save(here / "new.png", 99)

    def digests(name: str) -> list[str]:
        there = opened(refs)
        return [sha256(path) for path, _ in there.valid(name, ())]

    def of(*several: int) -> list[str]:
        return [sha256(save(here / "one.png", value)) for value in several]

    def begun() -> None:
        for folder in ("refs", "store"):
            shutil.rmtree(here / folder, ignore_errors=True)
        there = opened(made(kind, here))
        for name, several in values.items():
            for value in several:
                there.change({name: references.Change(str(save(here / "one.png", value)), also=True)})

    refs = made(kind, here)
    states = set()
    for step in range(40):
        begun()
        program = [sys.executable, "-c", _KILLED, refs]
        ended = subprocess.run([*program, str(step)], capture_output=True, text=True, check=False)
        assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
        assert digests("b.png") in (of(2), of(99))
        assert digests("c.png") in (of(3, 13), of(13), of(3), [])
        assert digests("d.png") in (of(4), of(4, 99))
        moved, old = digests("moved.png"), digests("a.png")
        assert set(moved) | set(old) == set(of(1, 11, 21))  # each is under one name or both
        states.add((len(moved), len(old)))
        if kind == "index":
            assert (moved, digests("b.png"), digests("c.png")) in (
                (of(1, 11, 21), of(99), []),
                ([], of(2), of(3, 13)),
            )
        again = subprocess.run([*program, "-1"], capture_output=True, text=True, check=True)
        assert again.stdout == "whole\n"
        assert digests("moved.png") == of(1, 11, 21) and digests("a.png") == digests("c.png") == []
        assert digests("b.png") == of(99) and digests("d.png") == of(4, 99)
        if ended.returncode == 0:
            break
    assert step > (2 if kind == "index" else 8) and {(0, 3), (3, 0)} <= states


_MANY = """
import sys
from gpuops.regress.index import references as opened
there = opened("refs.json")
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    there.accept({f"{sys.argv[1]}{number}.png": sys.argv[2]})
"""


def test_processes_that_change_an_index_at_once_lose_nothing(here) -> None:
    """Such as the workers of pytest-xdist with --clpix-update."""
    path = str(save(here / "a.png"))
    made("index", here)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _MANY, name, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "xy"
    ]
    assert [process.stdout.readline() for process in processes if process.stdout] == ["ready\n"] * 2
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert opened("refs.json").names() == sorted(f"{name}{k}.png" for name in "xy" for k in range(25))


def test_a_full_disk_removes_nothing(tmp_path, monkeypatch) -> None:
    there = opened(str(tmp_path / "refs"))
    for name, value in (("a.png", 1), ("b.png", 2)):
        there.accept({name: str(save(tmp_path / name, value))})

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"c.png: could not be written \(No space"):
        there.change(
            {
                "c.png": references.Change(str(tmp_path / "a.png"), old="a.png"),
                "b.png": references.Change(None),
            }
        )
    assert opened(str(tmp_path / "refs")).names() == ["a.png", "b.png"]
    assert len(list((tmp_path / "refs").iterdir())) == 2  # no draft is left


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "of", ["../..", "x/../../../away", "/tmp", "", "a\0", "Linux", "linux/sub:2", "..:2"]
)
def test_a_report_of_others_names_no_place_elsewhere(here, kind, of) -> None:
    there = opened(made(kind, here))
    there.accept({"a.png": str(save(here / "one.png", 1))})
    path = save(here / "out" / "a.png", 2)
    reference = PairedPicture("refs/a.png", "a.png", sha256(here / "one.png"), of)
    run = Run([Outcome("a.png", "failed", PairedPicture(str(path), "a.png", sha256(path)), reference)])
    before = {path: path.is_file() and path.read_bytes() for path in here.rglob("*")}
    with pytest.raises(FileError, match="is no name of a device or platform"):
        acceptance.accept(run, acceptance.choose(run), opened(str(there.path)))
    assert {path: path.is_file() and path.read_bytes() for path in here.rglob("*")} == before


def test_choice_of_changes() -> None:
    """What accepting makes of each verdict."""
    result = PairedPicture("out/x.png", "x.png", "a" * 64)
    other = PairedPicture("refs/x.png", "x.png", "b" * 64, "linux:2")
    run = Run([Outcome("x.png", "failed", result, other)])
    one = acceptance.choose(run)["x.png"]
    assert one == references.Change("out/x.png", "linux", "b" * 64)
    assert acceptance.choose(run, place="linux")["x.png"] == one
    assert acceptance.choose(run, place="base")["x.png"] == references.Change("out/x.png", "base")
    assert acceptance.choose(run, also=True)["x.png"].also
