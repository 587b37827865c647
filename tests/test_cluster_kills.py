"""Deaths in the middle of a batch of 400 pictures on a cluster, whose results are files, or objects in a bucket.

Nothing is lost, only what was under way is done twice, and nothing half-written is left.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gpuops import files

pytest.importorskip("distributed", reason="needs the extra dask")


from .buckets import Bucket, serving
from .schedulers import Cluster
from .test_batch import here, save

__all__ = ["here"]
pytestmark = pytest.mark.exhaustive
PICTURES = 400
# After so many results something dies.
THIRD = PICTURES // 3
# Seconds after which a test that waits for something gives up.
PATIENCE = 600


@dataclass
class Place:
    """Where pictures lie, in a folder, and their results: in another one, or in a bucket."""

    folder: Path
    bucket: Bucket | None = None

    @property
    def out(self) -> str:
        return f"{self.folder if self.bucket is None else self.bucket.url}/out"

    def put(self) -> list[str]:
        """Makes the pictures. Returns their paths."""
        (self.folder / "out").mkdir()
        return [str(save(self.folder / "in" / f"{k:03}.png", seed=k)) for k in range(PICTURES)]

    def results(self) -> list[str]:
        """The names of all that is where results go, what is half-written among them."""
        if self.bucket is None:
            return sorted(os.listdir(self.folder / "out"))
        return [key.removeprefix("out/") for key in self.bucket.keys("out/")]

    def marks(self) -> dict[str, object]:
        """What changes when a result is written again: a file's time, or how often an object was put."""
        if self.bucket is None:
            return {name: os.stat(self.folder / "out" / name).st_mtime_ns for name in self.results()}
        pages = self.bucket.client.get_paginator("list_object_versions").paginate(
            Bucket=self.bucket.name, Prefix="out/"
        )
        return dict(Counter(item["Key"].removeprefix("out/") for page in pages for item in page["Versions"]))

    def check(self, made: Callable[[Path], np.ndarray]) -> None:
        """Checks that all results are there, and nothing else, and what they hold."""
        names = [f"{k:03}.png" for k in range(PICTURES)]
        assert self.results() == names
        seen = self.folder / "seen.png"
        for name in names:
            path = self.folder / "out" / name
            if self.bucket is not None:
                path = seen
                path.write_bytes(self.bucket.get(f"out/{name}"))
            np.testing.assert_array_equal(files.read(path).pixels, made(self.folder / "in" / name))
        assert self.bucket is None or not self.bucket.unfinished


@pytest.fixture
def place(here, kind) -> Iterator[Place]:
    """A place without any pictures."""
    with ExitStack() as stack:
        bucket = None
        if kind == "bucket":
            client = stack.enter_context(serving())
            client.create_bucket(Bucket="pictures")
            client.put_bucket_versioning(Bucket="pictures", VersioningConfiguration={"Status": "Enabled"})
            bucket = Bucket(client, "pictures")
        yield Place(here, bucket)


@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_a_scheduler_is_killed_and_the_rest_resumed(place, tmp_path, tmp_path_factory) -> None:
    """What the journal says is done is not touched again; the rest is what one process makes."""
    command = [sys.executable, "-m", "clpix", "blur", *place.put(), "--sigma", "2", "-o"]
    with Cluster(tmp_path_factory.mktemp("first")) as cluster:
        cluster.add()
        cluster.add()
        on_it = [*command, f"{place.out}/", "--resume", "j", "--cluster", str(cluster.file)]
        with subprocess.Popen(on_it, stderr=subprocess.PIPE, text=True) as run:
            end = time.monotonic() + PATIENCE
            while not os.path.exists("j") or Path("j").read_text().count('"done"') < THIRD:
                time.sleep(0.005)
                assert run.poll() is None, run.communicate()[1]
                assert time.monotonic() < end
            cluster.scheduler.kill()
            said = run.communicate(timeout=PATIENCE)[1]
    assert run.returncode == 1 and "the scheduler is gone" in said and said.count("\n") == 1, said
    events = [json.loads(line) for line in Path("j").read_text().splitlines()]
    done = {event["output"].rpartition("/")[2] for event in events if event["event"] == "done"}
    assert THIRD <= len(done) < PICTURES and done <= set(place.results())
    before = place.marks()
    with Cluster(tmp_path_factory.mktemp("second")) as cluster:
        cluster.add()
        on_it[-1] = str(cluster.file)
        again = subprocess.run(on_it, capture_output=True, text=True)
    assert again.returncode == 0 and not again.stderr, again.stderr
    after = place.marks()
    assert {name: after[name] for name in done} == {name: before[name] for name in done}
    subprocess.run([*command, "one/"], check=True)
    place.check(lambda path: files.read(tmp_path / "one" / path.name).pixels)
