"""Inputs and outputs at addresses: what is made there is what is made of files, whole or not at all."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gpuops import FileError, files
from gpuops.files import locations

from .buckets import Bucket, serving
from .conftest import run_python
from .test_batch import contents, here, save

__all__ = ["here"]
FLIP = ("flip", "--axis", "vertical")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with serving() as client:
        yield client


@pytest.fixture
def bucket(server: Any, request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    """An empty bucket."""
    name = f"b{abs(hash(request.node.nodeid))}"
    server.create_bucket(Bucket=name)
    return Bucket(server, name)


@pytest.fixture
def memory() -> Iterator[Any]:
    """fsspec's file system in this process's memory, empty."""
    fsspec = pytest.importorskip("fsspec", reason="needs the extra s3")
    found = fsspec.filesystem("memory")
    found.store.clear()
    yield found
    found.store.clear()


@pytest.fixture(autouse=True)
def no_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Copies of files lie in a folder that is empty in the end."""
    folder = tmp_path / "drafts"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert os.listdir(folder) == []


def pictures(bucket: Bucket, keys: list[str], folder: Path) -> dict[str, bytes]:
    """Puts pictures into a bucket. Returns by their keys what a flip makes of files with the same pixels."""
    made = {}
    for seed, key in enumerate(keys):
        path = save(folder / "same" / f"{seed}{Path(key).suffix}", seed=seed)
        bucket.put(key, path.read_bytes())
        pixels = files.read(path).pixels
        made[key] = pixels[::-1].tobytes()
    return made


def flipped(bucket: Bucket, prefix: str, folder: Path) -> dict[str, bytes]:
    """The pixels of pictures in a bucket."""
    found = {}
    for name, content in bucket.contents(prefix).items():
        path = folder / f"seen{Path(name).suffix}"
        path.write_bytes(content)
        found[name] = files.read(path).pixels.tobytes()
    return found


def test_one_picture(clpix, here, bucket) -> None:
    """It comes from a bucket, or goes to one, under names with spaces and letters of all kinds."""
    made = pictures(bucket, ["in/ä b+c#1.png"], here)
    source, target = f"{bucket.url}/in/ä b+c#1.png", f"{bucket.url}/out/ß d.png"
    for run in (clpix(*FLIP, source, "-o", "a.png"), clpix(*FLIP, source, "-o", target)):
        assert run.code == 0 and not run.err, run.err
    assert flipped(bucket, "out/", here) == {"ß d.png": made["in/ä b+c#1.png"]}
    assert (here / "a.png").read_bytes() == bucket.get("out/ß d.png")
    assert clpix(*FLIP, "same/0.png", "-o", f"{bucket.url}/").code == 0
    assert bucket.get("0.png") == (here / "a.png").read_bytes()


def test_patterns_and_templates(clpix, here, bucket) -> None:
    """A pattern is expanded by the program; a name with brackets that is there is no pattern."""
    made = pictures(bucket, [f"in/{k}.png" for k in range(12)] + ["in/[1].png"], here)
    bucket.put("in/x.txt", b"no picture")
    run = clpix(*FLIP, f"{bucket.url}/in/?*.png", "-o", f"{bucket.url}/out/{{stem}}-f.png", "--jobs", "3")
    assert run.code == 0 and not run.err, run.err
    wanted = {f"{Path(key).stem}-f.png": pixels for key, pixels in made.items()}
    assert flipped(bucket, "out/", here) == wanted
    assert clpix(*FLIP, f"{bucket.url}/in/[1].png", "-o", "a.png").code == 0
    assert files.read("a.png").pixels.tobytes() == made["in/[1].png"]
    assert clpix(*FLIP, f"{bucket.url}/in/1[01].png", "-o", "two/").code == 0
    assert list(contents(here / "two")) == ["10.png", "11.png"]


def test_a_folder_keeps_its_tree(clpix, here, bucket) -> None:
    """Hidden files, files of other kinds and the folder of results are left out."""
    made = pictures(bucket, ["in/a.png", "in/x/b.png", "in/x/y/a b.png"], here)
    for key in ("in/.hidden.png", "in/.h/c.png", "in/notes.txt"):
        bucket.put(key, b"no picture")
    for _ in range(2):  # the second time there are results within the folder
        run = clpix(*FLIP, f"{bucket.url}/in", "--recursive", "-o", f"{bucket.url}/in/out/", "--overwrite")
        assert run.code == 0 and not run.err, run.err
    wanted = {key.removeprefix("in/"): pixels for key, pixels in made.items()}
    assert flipped(bucket, "in/out/", here) == wanted
    run = clpix(*FLIP, f"{bucket.url}/in/x/", "--recursive", "-o", f"{bucket.url}/t/{{dir}}/{{stem}}-f.png")
    assert run.code == 0 and bucket.keys("t/") == ["t/b-f.png", "t/y/a b-f.png"]
    run = clpix(*FLIP, f"{bucket.url}/in/", "-o", "there/")
    assert run.code == 1 and "is a folder" in run.err and run.err.count("\n") == 1


def test_numbers_asides_and_rows(clpix, here, bucket, monkeypatch) -> None:
    """Spectra, results on the way, and pictures that are read by rows, twice as metering wants it."""
    monkeypatch.setattr("gpuops.rows.budget._CODEC", 0)  # so that a small picture is a large one
    path = save(here / "a.exr", (40, 30, 3), "float32")
    bucket.put("a.exr", path.read_bytes())
    large = save(here / "large.tif", (900, 700, 3), "float32")
    bucket.put("large.tif", large.read_bytes())
    url = bucket.url
    for at, to in ((url, f"{url}/"), (str(here), "")):
        assert clpix("fft", f"{at}/a.exr", "-o", f"{to}s.npz").code == 0
        assert clpix("ifft", f"{at}/s.npz", "-o", f"{to}back.exr").code == 0
        aside = ("then", "write", f"{to}mid.exr", "then", *FLIP)
        run = clpix("blur", f"{at}/a.exr", "--sigma", "1", *aside, "-o", f"{to}end.exr")
        assert run.code == 0, run.err
        metered = ("tonemap", f"{at}/large.tif", "--exposure", "auto", "--memory", "2M", "-o", f"{to}t.png")
        assert clpix(*metered).code == 0
    for name in ("s.npz", "back.exr", "mid.exr", "end.exr", "t.png"):
        if name != "s.npz":  # whose archive holds the time
            assert bucket.get(name) == (here / name).read_bytes(), name


def test_memory_of_this_process(clpix, here, memory) -> None:
    """Any file system of fsspec's can be used."""
    path = save(here / "a.png")
    memory.pipe_file("/in/a.png", path.read_bytes())
    run = clpix(*FLIP, "memory://in/a.png", "-o", "memory://out/b.png")
    assert run.code == 0, run.err
    assert clpix(*FLIP, path, "-o", "b.png").code == 0
    assert memory.cat_file("/out/b.png") == (here / "b.png").read_bytes()
    assert "exists already" in clpix(*FLIP, path, "-o", "memory://out/b.png").err
    assert clpix(*FLIP, path, "-o", "memory://out/b.png", "--overwrite").code == 0


def test_update_compares_times(clpix, here, memory) -> None:
    for k in range(3):
        memory.pipe_file(f"/in/{k}.png", save(here / f"{k}.png", seed=k).read_bytes())
    command = (*FLIP, "memory://in/*.png", "-o", "memory://out/", "--update")
    assert clpix(*command).code == 0
    made = {name: memory.store[name].modified for name in memory.store if name.startswith("/out")}
    memory.pipe_file("/in/1.png", (here / "2.png").read_bytes())
    assert clpix(*command).code == 0 and len(made) == 3
    assert [name for name, time in made.items() if memory.store[name].modified != time] == ["/out/1.png"]


def test_skipping_updating_resuming(clpix, here, bucket) -> None:
    made = pictures(bucket, [f"in/{k:02}.png" for k in range(10)], here)
    command = (*FLIP, f"{bucket.url}/in/*.png", "-o", f"{bucket.url}/out/")
    bucket.put("out/03.png", b"of somebody else")
    run = clpix(*command)
    assert run.code == 1 and "03.png: exists already" in run.err and "1 of 10 inputs failed" in run.err
    assert bucket.get("out/03.png") == b"of somebody else" and len(bucket.keys("out/")) == 10
    bucket.delete("out/05.png")
    run = clpix(*command, "--skip-existing", "-v")
    assert run.code == 0 and "9 of 10 outputs are there" in run.err
    assert bucket.get("out/03.png") == b"of somebody else" and "out/05.png" in bucket.keys("out/")
    # What is out of date is made anew: an input that changed, seen by a journal.
    assert clpix(*command, "--overwrite", "--journal", "j").code == 0
    assert flipped(bucket, "out/", here) == {key[3:]: pixels for key, pixels in made.items()}
    bucket.put("in/07.png", (here / "same" / "0.png").read_bytes() + b"\n")
    bucket.delete("out/02.png")
    before = len((here / "j").read_text().splitlines())
    assert clpix(*command, "--resume", "j").code == 0
    events = [json.loads(line) for line in (here / "j").read_text().splitlines()][before:]
    redone = [event["input"] for event in events if event["event"] == "done"]
    assert redone == [f"{bucket.url}/in/02.png", f"{bucket.url}/in/07.png"]
    assert flipped(bucket, "out/", here)["07.png"] == made["in/00.png"]
    assert clpix(*command, "--update").code == 0


def test_what_is_missing(clpix, here, bucket) -> None:
    made = pictures(bucket, ["in/0.png", "in/2.png"], here)
    inputs = [f"{bucket.url}/in/{k}.png" for k in range(3)]
    run = clpix(*FLIP, *inputs, "-o", f"{bucket.url}/out/")
    assert run.code == 1 and run.err.splitlines() == [
        f"clpix: error: {bucket.url}/in/1.png: there is no such object",
        "clpix: error: 1 of 3 inputs failed",
    ]
    assert flipped(bucket, "out/", here) == {key[3:]: pixels for key, pixels in made.items()}
    for command, words in (
        ((inputs[0], "-o", "s3://no-such-bucket/a.png"), "no-such-bucket/a.png: its bucket does not exist"),
        (("s3://no-such-bucket/a.png", "-o", "a.png"), "there is no such object"),
        ((f"{bucket.url}/none/*.png", "-o", "o/"), "no file matches this pattern"),
        ((f"{bucket.url}/none", "--recursive", "-o", "o/"), "no files in this folder"),
        ((inputs[0], "-o", inputs[0], "--overwrite"), "also an input"),
        ((inputs[0], "-o", f"{bucket.url}/out"), "has no extension"),
    ):
        run = clpix(*FLIP, *command)
        assert run.code == 1 and words in run.err and run.err.count("\n") == 1, run.err
    assert not (here / "a.png").exists() and not (here / "o").exists()


@pytest.mark.parametrize("protocol", ["ftp", "https"])
def test_an_address_that_does_not_answer_fails_alone_and_tells_no_secrets(
    clpix, here, monkeypatch, protocol
) -> None:
    """Reading, listing and writing, by a library that connects at once."""

    def refuse(*_args: Any, **_options: Any) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")

    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    monkeypatch.setattr(fsspec.core, "url_to_fs", refuse)
    user, shown_user = ("u:geheim", "u:***") if protocol == "ftp" else ("geheim", "***")
    there = f"{protocol}://{user}@h/x.png?X-Amz-Signature=abc&w=3"
    save(here / "a.png", (3, 5, 3))
    shown = f"{protocol}://{shown_user}@h/x.png?X-Amz-Signature=***&w=3"
    monkeypatch.setattr(sys, "argv", ["clpix", there])
    for given in (there, there.replace("x.png", "*.png")):
        run = clpix(
            *FLIP, given, "a.png", "-o", "out/", "--overwrite", "--journal", "j", "--timing-file", "t.json"
        )
        name = shown if given == there else shown.replace("x.png", "*.png")
        assert run.code == 1 and run.err.splitlines() == [
            f"clpix: error: {name}: could not be reached ([Errno 111] Connection refused)",
            "clpix: error: 1 of 2 inputs failed",
        ]
        assert contents(here / "out").keys() == {"a.png"}
        for written in ("j", "t.json"):
            assert not any(secret in (here / written).read_text() for secret in ("geheim", "abc"))
        assert f"{protocol}://{shown_user}@h/" in (here / "t.json").read_text()
    told = json.loads(clpix("info", there, "--json").out)[0]
    assert told["path"] == shown and told["error"].startswith(shown)
    run = clpix(*FLIP, "a.png", "-o", "ftp://u:geheim@h/")
    assert run.code == 1 and run.err.startswith(
        "clpix: error: a.png: ftp://u:***@h/a.png: could not be reached"
    )


def test_a_damaged_picture_is_called_by_its_address(clpix, here, bucket) -> None:
    whole = save(here / "a.exr", (300, 200, 3), "float32").read_bytes()
    bucket.put("in/a.exr", whole[: len(whole) // 2])
    bucket.put("in/b.exr", b"no picture")
    bucket.put("in/c.exr", b"")
    run = clpix(*FLIP, f"{bucket.url}/in/*.exr", "-o", "out/")
    lines = run.err.splitlines()
    assert run.code == 1 and len(lines) == 4 and ".clpix-" not in run.err and "drafts" not in run.err
    for line, name in zip(lines, "abc", strict=False):
        assert line.startswith(f"clpix: error: {bucket.url}/in/{name}.exr: ")


def test_an_output_that_appears_meanwhile_stays(here, bucket, monkeypatch) -> None:
    """The object is created only where there is none, by the server's own decision."""
    path = save(here / "a.png")
    picture = files.read(path)
    url = f"{bucket.url}/late.png"
    import s3fs

    monkeypatch.setattr(s3fs.S3FileSystem, "exists", lambda *_: False)
    bucket.put("late.png", b"of somebody else")
    with pytest.raises(FileError, match=r"late\.png: exists already; name another output"):
        files.write(url, picture)
    assert bucket.get("late.png") == b"of somebody else" and not bucket.unfinished
    files.write(url, picture, overwrite=True)
    assert bucket.get("late.png") == path.read_bytes()


def test_a_request_whose_answer_is_lost(here, bucket, monkeypatch) -> None:
    """The library sends it again, and the server says that something is there: it is what was sent."""
    path = save(here / "a.png")
    import s3fs

    whole = s3fs.S3FileSystem._call_s3
    sent: list[str] = []

    async def twice(self: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method == "put_object":
            sent.append(kwargs["Key"])
            await whole(self, method, *args, **kwargs)
        return await whole(self, method, *args, **kwargs)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", twice)
    files.write(f"{bucket.url}/once.png", files.read(path))
    assert sent == ["once.png"] and bucket.get("once.png") == path.read_bytes()
    other = bytearray(path.read_bytes())
    other[-1] ^= 1
    bucket.put("taken.png", bytes(other))  # as long, and of somebody else
    monkeypatch.setattr(s3fs.S3FileSystem, "exists", lambda *_: False)
    with pytest.raises(FileError, match="exists already"):
        files.write(f"{bucket.url}/taken.png", files.read(path))
    assert bucket.get("taken.png") == bytes(other)


def test_nothing_appears_of_a_write_that_fails(here, bucket) -> None:
    with pytest.raises(ZeroDivisionError), files.output.atomic(f"{bucket.url}/a.png") as draft:
        Path(draft).write_bytes(b"half")
        raise ZeroDivisionError
    assert bucket.keys() == [] and not bucket.unfinished


@pytest.mark.parametrize(("command", "code", "words"), [
    (("a.png", "-o", "https://example.org/o.png"), 1, "can only be read"),
    (("a.png", "-o", "nothing-like-this://o.png"), 2, "is no address that fsspec knows"),
    (("nothing-like-this://o.png", "-o", "o.png"), 2, "is no address that fsspec knows"),
    (("gs://bucket/a.png", "-o", "o.png"), 2, "gcsfs"),
    (("http://127.0.0.1:9/a.png", "-o", "o.png"), 1, "could not be read"),
])  # fmt: skip
def test_addresses_that_are_refused(clpix, here, command, code, words) -> None:
    pytest.importorskip("s3fs", reason="needs the extra s3")
    if words == "gcsfs" and find_spec("gcsfs"):
        pytest.skip("gcsfs is installed")
    save(here / "a.png")
    run = clpix(*FLIP, *command)
    assert run.code == code and words in run.err and run.err.count("\n") == 1, run.err
    assert not (here / "o.png").exists()


@pytest.mark.parametrize("missing", ["fsspec", "s3fs"])
def test_a_package_that_is_missing(clpix, here, missing, monkeypatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="needs the extra s3")
    monkeypatch.delitem(sys.modules[f"{fsspec.__name__}.registry"]._registry, "s3", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    run = clpix(*FLIP, "s3://bucket/a.png", "-o", "a.png")
    assert run.code == 2 and "pip install 'clpix[s3]'" in run.err and run.err.count("\n") == 1, run.err


def test_a_web_server_is_read(clpix, here) -> None:
    """The name of the result is without what the server is asked beside the name."""
    pytest.importorskip("aiohttp", reason="needs the extra s3")
    save(here / "web" / "a b.png")
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        command, cwd=here / "web", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split(b"port ")[1].split()[0].decode()
        run = clpix(*FLIP, f"http://127.0.0.1:{port}/a%20b.png?signature=x/y", "-o", "out/")
        server.kill()
    assert run.code == 0, run.err
    (path,) = (here / "out").iterdir()
    assert path.name == "a%20b.png"
    assert (files.read(path).pixels == files.read(here / "web" / "a b.png").pixels[::-1]).all()


def test_files_of_this_machine_need_no_fsspec(here) -> None:
    save(here / "a.png")
    text = (
        "import sys\nfrom clpix.main import main\n"
        "try:\n    main(['flip', 'a.png', '--axis', 'vertical', '-o', 'o.png', '--journal', 'j'])\n"
        "finally:\n    print(sorted({'fsspec', 's3fs', 'distributed'} & {*sys.modules}))"
    )
    run = run_python("-c", text, check=True)
    assert run.stdout.strip() == "[]"


def test_results_that_are_there_are_seen_by_lists(clpix, here, bucket, monkeypatch) -> None:
    """No result of many is asked for by itself."""
    pictures(bucket, [f"in/{k:02}.png" for k in range(20)], here)
    command = (
        *FLIP, f"{bucket.url}/in/*.png", "-o", f"{bucket.url}/out/", "--skip-existing", "--journal", "j",
    )  # fmt: skip
    assert clpix(*command).code == 0
    asked: list[str] = []
    import s3fs

    whole = s3fs.S3FileSystem._call_s3

    async def noting(self: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(method)
        return await whole(self, method, *args, **kwargs)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", noting)
    assert clpix(*command).code == 0
    assert asked.count("head_object") <= 1 and len(asked) < 10, asked


def test_names() -> None:
    assert locations.name_of("https://h/d/a.png?x=/y.exr#z") == "a.png"
    assert locations.name_of("s3://b/a#1?.png") == "a#1?.png"
    assert locations.extension("http://h/a.tif?b.png") == ".tif"
    assert locations.absolute("s3://b/a.png") == "s3://b/a.png"
    assert not locations.is_address("a:/b.png") and locations.is_address("memory://a")
