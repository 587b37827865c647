"""Work for tests with several processes, which import this module alone."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from gpuops.batch.chains import work
from gpuops.batch.item import Item
from gpuops.chain import Chain
from gpuops.files import drafts, threads
from gpuops.gpu import Gpu
from gpuops.ops.flip import FlipParams

FLIP = Chain(FlipParams("vertical"))


@dataclass(frozen=True)
class Meets:
    """Flips a picture once ``count`` processes have one. It tells the device, the process and the codec's threads."""

    folder: str
    count: int

    def __call__(self, item: Item) -> tuple[int, int, int]:
        self.wait()
        work(item, FLIP, ())
        return item.gpu.info.index, os.getpid(), threads.count()

    def wait(self) -> None:
        """Waits until ``count`` processes do."""
        Path(self.folder, str(os.getpid())).touch()
        end = time.monotonic() + 60
        while len(os.listdir(self.folder)) < self.count and time.monotonic() < end:
            time.sleep(0.005)


@dataclass(frozen=True)
class Kills:
    """Flips a picture. At each of some names it kills its process, in the middle of writing or ``late``, after that.

    ``once``: a folder of marks, if it does so only the first time. ``meets``: each waits for others first.
    """

    names: tuple[str, ...]
    late: bool = False
    once: str = ""
    meets: Meets | None = None

    def __call__(self, item: Item) -> None:
        name = Path(item.path).stem
        if self.meets is not None:
            self.meets.wait()
        deadly = name in self.names and not (self.once and Path(self.once, name).exists())
        if deadly and self.once:
            Path(self.once, name).touch()
        if deadly and not self.late:
            with drafts.draft_file(Path(item.output.path).parent):
                os.kill(os.getpid(), signal.SIGKILL)
        work(item, FLIP, ())
        if deadly:
            item.output.access.finish()  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGKILL)


def refuses(number: str) -> Gpu:
    """Opens no device but those with an even number."""
    from gpuops import DeviceError

    if int(number) % 2:
        raise DeviceError("this device is not for us")
    return Gpu(number)


def fails(_number: str) -> Gpu:
    """Has a mistake in it."""
    raise KeyError("a mistake")


@dataclass(frozen=True)
class Logs:
    """Flips a picture, slowly. It notes its name in a log, and tells its process. ``pause``: seconds."""

    log: str
    pause: float = 0.03

    def __call__(self, item: Item) -> int:
        with open(self.log, "a") as log:
            log.write(f"{os.getpid()} {Path(item.path).name}\n")
        time.sleep(self.pause)
        work(item, FLIP, ())
        return os.getpid()


@dataclass(frozen=True)
class FailsAtFirst:
    """Flips a picture, but fails a few times before. ``marks``: a folder in which it counts."""

    marks: str
    times: int

    def __call__(self, item: Item) -> None:
        from gpuops import FileError

        mark = Path(self.marks, Path(item.path).stem)
        count = int(mark.read_text()) if mark.exists() else 0
        mark.write_text(str(count + 1))
        if count < self.times:
            raise FileError(f"{item.path}: failed {count + 1} times")
        work(item, FLIP, ())
