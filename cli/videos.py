"""A video as the output: each frame is a job of its own, and few of them are in files at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import click

from gpuops import files, notes
from gpuops.batch import consensus, pipeline
from gpuops.batch.job import USUAL_TRANSFERS, Job
from gpuops.chain import Chain
from gpuops.errors import FileError, ParameterError
from gpuops.params.colours import AUTO, INPUT
from gpuops.params.files import STREAM

from . import sequences, status
from .options import refuse
from .shared import DTYPES, Shared

if TYPE_CHECKING:
    from gpuops.batch.job import Work
    from gpuops.batch.options import Options
    from gpuops.files.video_copy import Coding
    from gpuops.gpu import Gpu
    from gpuops.operation import Params
    from gpuops.profile import Report

    #: What is done with a frame.
    Task = Chain | Work


def make(
    shared: Shared,
    work: Task,
    open_gpu: Callable[[], Gpu],
    report: Report | None,
    tell: Callable[[Job, Any], None],
    inputs: files.Identities,
    *,
    writes: bool,
) -> None:
    """Does the work on every frame of a video, and writes these as another; ``writes``: it writes on the way.

    ``tell`` is given what the work has to tell of each frame. ``inputs``: files that it may not overwrite.
    """
    from gpuops.batch.reader import check_input
    from gpuops.files import video

    refuse(
        "a video is written as a whole",
        *("skip_existing", "update", "journal", "resume", "shard", "cluster", "format", "frames", "layer"),
    )
    refuse("a video has a codec of its own", "subsampling", "compression", "gain_map")
    if writes:
        raise click.UsageError("a step that writes on the way makes a file a frame, which a video has not")
    if len(shared.inputs) != 1 or "{" in (shared.output or ""):
        raise click.UsageError("a video is made of one video: name one input and one output")
    source, target = shared.inputs[0], shared.output
    assert target is not None
    if source == STREAM:
        raise click.UsageError("a video is read from a file: name one in place of '-'")
    curves = [getattr(step, "transfer", "auto") for step in work] if isinstance(work, Chain) else []
    if not set(curves) <= set(USUAL_TRANSFERS):
        raise click.UsageError(
            "a video has the curve of its space: in place of --transfer name --colour rec2100-pq"
        )
    check_input(source)
    files.check_place(target, overwrite=shared.overwrite, inputs=inputs)
    with video.opened(source) as frames:
        coding, count = _coding(shared, target, frames.space), frames.count
    _warn_of_devices(shared, target)
    _VideoRun(shared, source, target, coding, count, open_gpu, report, tell).all(work)


def _coding(shared: Shared, target: str, of_source: str | None) -> Coding:
    """Returns how the video is written by the options; ``of_source`` is its source's colour space."""
    from gpuops.files.video_copy import DEEP, Coding
    from gpuops.files.video_tags import HDR, WRITTEN

    space = {AUTO: None, INPUT: of_source}.get(shared.colour, shared.colour)
    if space is not None and space not in WRITTEN:
        raise ParameterError(f"--colour {space}: a video is written as {', '.join(WRITTEN)}, or as input")
    wanted = DTYPES[shared.dtype]
    if wanted not in (None, "uint8", "uint16"):
        raise ParameterError("a video holds 8-bit integers, or 10 of 16 bits: use --dtype uint8 or uint16")
    is_wide = space in (*HDR, "rec2020")
    if is_wide and wanted == "uint8":
        raise ParameterError(f"8 bits are too few for --colour {space}: leave out --dtype")
    deep = is_wide or wanted == "uint16"
    if deep and os.path.splitext(target)[1].lower() not in DEEP:
        raise FileError(f"{target}: is written with 8 bits: name {', '.join(DEEP)} for 10")
    if deep:
        refuse("the encoder rounds to 10 bits", "output_dither")
    return Coding(space, deep, shared.quality, shared.strip)


def _warn_of_devices(shared: Shared, target: str) -> None:
    """Notes that one device makes the video though several were named."""
    if shared.device is None:
        return
    from gpuops.device import names_several, select_all

    if names_several(shared.device) and len(found := select_all(shared.device)) > 1:
        notes.note(
            f"{target}: a video is made by one device, here {found[0].name}; several share pictures, of --frames too"
        )


@dataclass
class _VideoRun:
    """The work on all frames of a video."""

    shared: Shared
    source: str
    target: str
    coding: Coding
    count: int | None
    open_gpu: Callable[[], Gpu]
    report: Report | None
    tell: Callable[[Job, Any], None]

    @cached_property
    def _options(self) -> Options:
        return replace(
            self.shared,
            quality=None,
            strip=False,
            colour=self.coding.space or AUTO,
            dtype="uint16" if self.coding.deep else "uint8",
            overwrite=False,
        ).of_job()

    def all(self, work: Task) -> None:
        """Writes the video."""
        from gpuops.files.drafts import draft_folder
        from gpuops.files.video_copy import copied

        works: Iterator[Task] = repeat(work)
        if isinstance(work, Chain):
            works = consensus.decided(work, self._measured, self._settled, self.source)
        copying = copied(self.source, self.target, self.coding, overwrite=self.shared.overwrite)
        number = -1
        said: list[tuple[list[str], tuple[str, ...]]] = []
        with draft_folder() as folder, copying as copy:
            for number, done in enumerate(self._worked(folder, copy.pictures(), works, "done")):
                name = f"{self.source}: frame {number}"
                if done.notes:
                    said.append((done.notes, (name,)))
                self.tell(replace(done.job, source=name, target=self.target), done.told)
                with self._phase("encode"):
                    copy.add(files.read(done.job.target).pixels)
        for text in notes.once(said, "frame"):
            notes.note(text)
        if self.report is not None:
            self.report.results.append({"input": self.source, "frames": number + 1})

    def _measured(self, works: Iterator[Task]) -> list[Params]:
        """Measures every frame."""
        from gpuops.files import video
        from gpuops.files.drafts import draft_folder

        with draft_folder() as folder, video.opened(self.source) as frames:
            return [done.told for done in self._worked(folder, frames.pictures(), works, "metered")]

    def _settled(self, number: int, found: consensus.Settled) -> None:
        sequences.tell(self.shared, self.report, found, number)

    def _worked(
        self, folder: str, pictures: Iterator[files.Picture], works: Iterator[Task], what: str
    ) -> Iterator[pipeline.Done]:
        """Does the work of each picture. A caller that asks for the next one has used the result."""
        shared = self.shared
        jobs = self._jobs(folder, pictures, works)
        results = pipeline.run_jobs(self.open_gpu, jobs, at_once=shared.jobs, memory=shared.memory)
        with status.progress(self.count, wanted=shared.progress, quiet=shared.quiet, frames=what) as progress:
            for number, done in enumerate(results):
                named = partial(_named, folder, f"{self.source}: frame {number}")
                if done.error is not None:
                    full = isinstance(done.error, MemoryError)
                    raise FileError(named("does not fit in memory" if full else str(done.error)))
                done.notes[:] = map(named, done.notes)
                yield done
                if progress is not None:
                    progress.tell(done)
                for path in (done.job.source, done.job.target):
                    with suppress(FileNotFoundError):
                        os.unlink(path)
            if progress is not None:
                progress.end(self.source, self.target)
        if self.report is not None:
            self.report.results[:] = self._by_frames(folder, self.report.results)

    def _jobs(self, folder: str, pictures: Iterator[files.Picture], works: Iterator[Task]) -> Iterator[Job]:
        """Puts each picture into a file, and gives the job that is to be done on it."""
        # Both formats are quick; only .npz stores the colour space.
        extension = "ppm" if self.coding.space in (None, "srgb") else "npz"
        for number, one in enumerate(works):
            with self._phase("decode"):
                picture = next(pictures, None)
                if picture is None:
                    return
                path = os.path.join(folder, f"{number}.{'ppm' if picture.metadata.colour is None else 'npz'}")
                files.write(path, picture)
            yield Job(path, one, os.path.join(folder, f"{number}-out.{extension}"), (), self._options)

    def _by_frames(self, folder: str, results: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yields a report's results with the number of a frame in place of its file."""
        for result in results:
            place, name = os.path.split(result["input"])
            if place != folder:
                yield result
            else:
                which = {"input": self.source, "frame": int(os.path.splitext(name)[0])}
                yield which | {key: value for key, value in result.items() if key != "input"}

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext() if self.report is None else self.report.phase(name)


def _named(folder: str, name: str, text: str) -> str:
    """Returns a message that names a frame instead of its file."""
    head, colon, rest = text.partition(": ")
    return type(text)(f"{name}: {rest}" if colon and head.startswith(folder) else f"{name}: {text}")
