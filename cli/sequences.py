"""Inputs that decide about a step together, such as one exposure for a whole sequence, and videos as outputs.

Each frame of a video is a job of its own, and few of them are in files at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import click

from gpuops import files, notes
from gpuops.batch import consensus, pipeline
from gpuops.batch.job import USUAL_TRANSFERS, Job, Work
from gpuops.batch.options import Options
from gpuops.chain import Chain
from gpuops.errors import FileError, ParameterError, visible
from gpuops.files.drafts import draft_folder
from gpuops.files.streams import printable
from gpuops.operation import Params
from gpuops.params.colours import AUTO, INPUT
from gpuops.params.files import STREAM
from gpuops.profile import Report
from gpuops.records import dataclass

from .messages import complain, failure, progress_of, say
from .options import refuse
from .shared import DTYPES, Shared

if TYPE_CHECKING:
    from gpuops.files.video_copy import Coding
    from gpuops.gpu import Gpu

    Task = Chain | Work
    Run = Callable[[Sequence[Job]], Iterable[pipeline.Done]]


def sequence(
    shared: Shared, report: Report | None, jobs: Sequence[Job]
) -> Callable[[Iterable[Job], Run], list[Job]] | None:
    """Returns what settles jobs, or None if each input is worked on by itself.

    It gives those jobs whose inputs could be measured, with what was found; errors of others are printed. ``jobs`` are
    those of all inputs, whether their work is to be done here or not; they are measured when it is first asked.
    """
    if not consensus.is_open(jobs):
        return None
    if len(jobs) > 1 and any(job.source == STREAM for job in jobs):
        raise click.UsageError(
            "inputs that decide together are read twice, and standard input can be read once: name a file"
        )
    known: dict[str, Job] | None = None

    def settled(some: Iterable[Job], run: Run) -> list[Job]:
        nonlocal known
        if len(jobs) == 1:
            return [consensus.alone(job) for job in some]
        if known is None:
            measured = consensus.settled(jobs, run, _failed, partial(tell_settled, shared, report, None))
            known = {job.target: job for job in measured}
        return [replace(job, work=known[job.target].work) for job in some if job.target in known]

    return settled


def _failed(done: pipeline.Done) -> None:
    assert done.error is not None
    if isinstance(done.error, BrokenPipeError):
        raise done.error
    complain("error", failure(done.job.source, done.error))


def tell_settled(shared: Shared, report: Report | None, frame: int | None, value: consensus.Settled) -> None:
    """Adds what an input was measured for to the report, and prints it with --verbose.

    ``frame`` is its number in a video.
    """
    which = {} if frame is None else {"frame": frame}
    if report is not None:
        figures = {f"metered {value.figure}": value.measured, value.figure: value.used}
        report.results.append({"input": value.source, **which, **figures})
    if shared.verbose:
        name = printable(value.source) + (f": frame {frame}" if which else "")
        text = f"{value.figure} {value.used:+.3f} {value.unit} (metered {value.measured:+.3f})"
        say(visible(f"clpix: {name}: {text}"))


def make_video(
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
    from gpuops.batch.access import check_input
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
    from gpuops.plan import Step

    check_input(source)
    files.check_place(target, overwrite=shared.overwrite, inputs=inputs)
    with video.opened(source) as frames:
        display = isinstance(work, Chain) and any(Step.of(step).traits.display for step in work)
        meant = {None: frames.space, "srgb": None}.get(shared.input_colour, shared.input_colour)
        coding, count = _coding(shared, target, meant, display=display), frames.count
    _warn_of_devices(shared, target)
    _VideoRun(shared, source, target, coding, count, open_gpu, report, tell).all(work)


def _coding(shared: Shared, target: str, of_source: str | None, *, display: bool) -> Coding:
    """Returns how the video is written by the options.

    ``of_source`` is the colour space that its source is read in, which it keeps if videos have it, unless a step has
    made it for a ``display``, or it is to have too few bits.
    """
    from gpuops.files.video import HDR, WRITTEN
    from gpuops.files.video_copy import DEEP, Coding

    few = shared.dtype == "uint8" or os.path.splitext(target)[1].lower() not in DEEP
    unkept = display or of_source not in WRITTEN or (few and of_source in (*HDR, "rec2020"))
    kept = None if unkept else of_source
    space = {AUTO: kept, INPUT: of_source}.get(shared.colour, shared.colour)
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
    return Coding(space, deep, shared.quality, shared.strip, hdr=of_source in HDR)


def _warn_of_devices(shared: Shared, target: str) -> None:
    """Notes that one device makes the video though several were named."""
    if shared.device is None:
        return
    from gpuops.device import names_several, select_all

    if names_several(shared.device) and len(infos := select_all(shared.device)) > 1:
        notes.note(
            f"{target}: a video is made by one device, here {infos[0].name}; several share pictures, of --frames too"
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
        from gpuops.files.video_copy import copied

        works: Iterator[Task] = repeat(work)
        if isinstance(work, Chain):
            told = partial(tell_settled, self.shared, self.report)
            works = consensus.decided(work, self._measured, told, self.source)
        copying = copied(self.source, self.target, self.coding, overwrite=self.shared.overwrite)
        number = -1
        said: list[tuple[list[str], tuple[str, ...]]] = []
        with draft_folder() as folder, copying as copy:
            for number, done in enumerate(self._worked(folder, copy.pictures(), works, "done")):
                name = f"{self.source}: frame {number}"
                if done.notes:
                    said.append((done.notes, (name,)))
                frame = replace(done.job.options, layer=str(number))
                self.tell(replace(done.job, source=name, target=self.target, options=frame), done.told)
                with self._phase("encode"):
                    copy.add(files.read(done.job.target).pixels)
        for text in notes.once(said, "frame"):
            notes.note(text)
        if self.report is not None:
            self.report.results.append({"input": self.source, "frames": number + 1})

    def _measured(self, works: Iterator[Task]) -> list[Params]:
        """Measures every frame."""
        from gpuops.files import video

        with draft_folder() as folder, video.opened(self.source) as frames:
            return [done.told for done in self._worked(folder, frames.pictures(), works, "metered")]

    def _worked(
        self, folder: str, pictures: Iterator[files.Picture], works: Iterator[Task], what: str
    ) -> Iterator[pipeline.Done]:
        """Does the work of each picture. A caller that asks for the next one has used the result."""
        shared = self.shared
        jobs = self._jobs(folder, pictures, works)
        results = pipeline.run_jobs(self.open_gpu, jobs, at_once=shared.jobs, memory=shared.memory)
        with progress_of(self.count, wanted=shared.progress, quiet=shared.quiet, frames=what) as progress:
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
        for result in self.report.results if self.report is not None else ():
            place, name = os.path.split(result["input"])
            if place == folder:
                result |= {"input": self.source, "frame": int(os.path.splitext(name)[0])}

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

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext() if self.report is None else self.report.phase(name)


def _named(folder: str, name: str, text: str) -> str:
    """Returns a message that names a frame instead of its file, and says nothing of that file's format."""
    from gpuops.rows.budget import written_whole

    for extension in ("ppm", "npz"):
        text = type(text)(text.replace(written_whole([files.format_named(extension)]), ""))
    head, colon, rest = text.partition(": ")
    return type(text)(f"{name}: {rest}" if colon and head.startswith(folder) else f"{name}: {text}")
