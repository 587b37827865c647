"""A run of a command over one input or many: checks, the device, each item's work, the timing report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from gpuops import files, notes
from gpuops.batch.access import check_source
from gpuops.batch.job import Job, Work, shard
from gpuops.batch.journal import Journal
from gpuops.batch.pipeline import Done, run_jobs
from gpuops.chain import Chain
from gpuops.errors import FileError, ParameterError, masked
from gpuops.files.drafts import draft_folder
from gpuops.files.formats import holds_animation, is_of_video
from gpuops.files.locations import is_address
from gpuops.files.streams import printable
from gpuops.params.files import STREAM
from gpuops.process import ahead
from gpuops.profile import Report, process_age

from . import batches, sequences
from .exits import FAILURE
from .messages import complain, failure, notes_at_end, progress_of, say, take_notes, warn
from .options import refuse
from .outputs import (
    check_apart,
    check_depth,
    check_dump,
    check_output,
    check_scratch,
    check_stdin,
    check_storage,
    check_stream,
    levels_of,
    outputs_of,
    without_empty_folders,
)
from .shared import Shared

if TYPE_CHECKING:
    from gpuops.device import DeviceInfo
    from gpuops.gpu import Gpu


def process(
    shared: Shared,
    op: str,
    work: Chain | Work,
    *,
    asides: Mapping[str, tuple[str, ...]] | None = None,
    also_read: Sequence[str] = (),
    check: Callable[[Job], None] = lambda _job: None,
    tell: Callable[[Job, Any], None] = lambda _job, _told: None,
) -> None:
    """Does the job of every input; each failure is one line, and the exit code says that some failed.

    ``asides``: by output, the files that a chain writes on the way. ``also_read`` are further files that no output may
    overwrite, such as a kernel image. ``check`` refuses options that have no meaning for a job's kind of output.
    ``tell`` is given what the work has to tell.
    What can be known to fail is refused before the device is even opened.
    """
    taken = files.Identities((*shared.inputs, *shared.lists, *also_read))
    if _is_animation(shared):
        check_apart(taken, [shared.output or ""])
        again = partial(process, op=op, work=work, also_read=also_read, check=check, tell=tell)
        _animate(shared, again, taken, writes=bool(asides))
        return
    with reporting(shared) as report:
        opening = cache(partial(open_gpu, shared, report))
        if is_of_video(shared.output or ""):
            check_apart(taken, [shared.output or ""])
            sequences.make_video(shared, work, opening, report, tell, taken, writes=bool(asides))
            return
        batches.check(shared)
        batches.check_cluster(shared)
        check_stdin(*shared.inputs, *also_read)
        check_scratch(shared)
        outputs = outputs_of(shared, op)
        written = [*outputs, *(path for paths in (asides or {}).values() for path in paths)]
        check_apart(taken, (path for path in written if path != STREAM))
        if STREAM in outputs:
            check_stream(shared)
        elif shared.format is not None:
            refuse("an output's name says its format, and --format that of '-'", "format")
        if shared.space == "encoded":
            refuse("stored values have their own primaries", "working")
        how = shared.of_job()
        hows = [replace(how, layer=layer) for layer in shared.layer_of] or [how] * len(outputs)
        jobs = [
            Job(path, work, output, (asides or {}).get(output, ()), how)
            for path, output, how in zip(shared.inputs, outputs, hows, strict=True)
        ]
        levels = dict(zip(outputs, map(levels_of, shared.below), strict=True))
        settled = sequences.sequence(shared, report, jobs)
        if shared.shard is not None:
            jobs = shard(jobs, shared.shard)
        batches.look_at(jobs)
        count = len(jobs)
        if settled is not None and (shared.update or shared.resume is not None):
            # Whether a job is done depends on its neighbours, too, as they are now.
            jobs = settled(jobs, partial(_results, shared, opening))
        lost = shared.failed + count - len(jobs)
        with batches.journal_of(shared, jobs) as journal:
            wanted = list(batches.remaining(shared, jobs, journal))
            if shared.verbose and len(wanted) < len(jobs):
                say(f"clpix: {len(jobs) - len(wanted)} of {len(jobs)} outputs are there and stay")
            # Inputs are checked first: an output may be named after a wrong one.
            todo = list(_passing(wanted, lambda job: check_source(job.source)))
            for job in todo:
                check(job)
            with without_empty_folders([job.target for job in todo]):

                def check_target(job: Job) -> None:
                    one = replace(shared, overwrite=job.options.overwrite)
                    check_output(one, job.target, taken, levels[job.target])

                todo = list(_passing(todo, check_target))
                if settled is not None and todo:
                    todo = settled(todo, partial(_results, shared, opening))
                failed = lost + len(wanted) - len(todo)
                if todo:
                    failed += _run(shared, opening, todo, journal, tell)
        if failed and len(shared.inputs) + shared.failed > 1:
            complain("error", f"{failed} of {lost + len(wanted)} inputs failed")
    if failed:
        click.get_current_context().exit(FAILURE)


def _is_animation(shared: Shared) -> bool:
    """Says whether all frames go to one file: its name has no field, and its format holds animations."""
    output = shared.output or ""
    one = not output.endswith(os.sep) and not os.path.isdir(output) and "{" not in output
    return bool(shared.frame_of) and one and holds_animation(output)


def _animate(
    shared: Shared, each: Callable[[Shared], None], inputs: files.Identities, *, writes: bool
) -> None:
    """Makes an animation; ``each`` does the work on frames, and ``writes`` says that it writes pictures on the way.

    ``inputs``: files that it may not overwrite.
    """
    from gpuops.files import animations

    refuse(
        "an animation is written as a whole",
        *("skip_existing", "update", "journal", "resume", "shard", "cluster", "format"),
    )
    if writes:
        raise click.UsageError(
            "a step that writes frames on the way needs numbered outputs, such as {frame}.png"
        )
    if len(set(shared.inputs)) > 1:
        raise click.UsageError("an animation is made of the frames of one file: give -o a folder for several")
    assert shared.output is not None
    fmt = files.check_output(shared.output, overwrite=shared.overwrite, inputs=inputs)
    check_depth(shared, fmt if fmt.join else replace(fmt, name=f"animated {fmt}", dtypes=("uint8",)))
    check_storage(shared, shared.output)
    if fmt.join is not None:
        _join_pages(shared, each, fmt)
        return
    output, storage = shared.output, shared.of_job().storage
    shared = replace(shared, quality=None, subsampling=None, compression=None)  # they are the animation's
    with draft_folder() as folder:
        drafts = os.path.join(folder, "{frame}.png")
        each(replace(shared, output=drafts, draft_of=output, dtype="uint8", overwrite=False))
        pictures = [os.path.join(folder, f"{frame:04d}.png") for frame in shared.frame_of]
        timing = animations.timing(shared.inputs[0], shared.frame_of)
        animations.join(output, pictures, timing, overwrite=shared.overwrite, storage=storage)


def _join_pages(shared: Shared, each: Callable[[Shared], None], fmt: files.Format) -> None:
    """Makes a file of pages; ``each`` does the work on them."""
    from gpuops.files import animations
    from gpuops.files.output import atomic

    output, source = shared.output, shared.inputs[0]
    assert output is not None and fmt.join is not None
    with draft_folder() as folder:
        drafts = os.path.join(folder, f"{{frame}}{fmt.extension}")
        each(replace(shared, output=drafts, draft_of=output, overwrite=False))
        pages = [os.path.join(folder, f"{frame:04d}{fmt.extension}") for frame in shared.frame_of]
        whole = [*shared.frame_of] == [*animations.pages(source, animations.count(source))]
        with atomic(output, overwrite=shared.overwrite) as temporary:
            fmt.join(temporary, pages, source if whole else "")


def _passing(jobs: Iterable[Job], check: Callable[[Job], None]) -> Iterator[Job]:
    """The jobs that a check lets pass; each failure is one line."""
    for job in jobs:
        try:
            check(job)
        except FileError as error:
            complain("error", _told(job, error))
        else:
            yield job


def _run(
    shared: Shared,
    opening: Callable[[], Gpu],
    jobs: Sequence[Job],
    journal: Journal | None,
    tell: Callable[[Job, Any], None],
) -> int:
    """Does the jobs. Returns how many failed."""
    failed = 0
    telling = progress_of(len(jobs), wanted=shared.progress, quiet=shared.quiet)
    with notes_at_end(), telling as progress:
        noting = {} if journal is None else {"begin": journal.begin, "end": journal.end}
        for done in _results(shared, opening, jobs, **noting):
            done.notes[:] = (type(text)(_shown(shared, done.job, text)) for text in done.notes)
            if not shared.quiet:
                take_notes(done, at_once=len(jobs) == 1 or shared.verbose > 0)
            if done.error is None:
                tell(done.job, done.told)
            else:
                _complain(shared, done.job, done.error)
                failed += 1
            if progress is not None:
                progress.tell(done)
    return failed


def _results(
    shared: Shared, opening: Callable[[], Gpu], jobs: Sequence[Job], **noting: Any
) -> Iterator[Done]:
    """Does the jobs on the device that the options name; if there are several of both, on all of these devices.

    Many small pictures are done by several processes on one device. A cluster has its own devices. ``noting``: what is
    given each job that begins and what became of it, as for :func:`gpuops.batch.pipeline.run_jobs`.
    """
    if shared.cluster is not None and not batches.processes(shared):
        return batches.results(shared, jobs, **noting)
    how = {"at_once": shared.jobs, "memory": shared.memory, **noting}
    devices = _devices(shared, jobs)
    if not devices:
        return run_jobs(opening, jobs, **how)
    check_dump(shared)
    from gpuops.batch.devices import run_jobs_on
    from gpuops.gpu import Gpu

    for info in dict.fromkeys(devices):
        _name(shared, info)
    open_one = partial(Gpu, dump=shared.dump_kernels, memory=shared.device_memory)
    retries = 0 if shared.cluster is None else shared.retries
    return run_jobs_on(devices, open_one, jobs, retries=retries, **how)


def _devices(shared: Shared, jobs: Sequence[Job]) -> list[DeviceInfo]:
    """Returns the device of each process that is to work, or nothing if this process is quickest.

    Times, dumps and limits of memory are those of one process.
    """
    count = batches.processes(shared)
    if len(jobs) == 1 and not count:
        return []
    from gpuops.device import names_several, select, select_all

    if not count:
        if names_several(shared.device) and len(devices := select_all(shared.device)) > 1:
            refuse("times are those of one device, and here are several", "timing", "timing_file")
            return devices
        if any((shared.timing, shared.timing_file, shared.dump_kernels, shared.memory, shared.device_memory)):
            return []
        from gpuops.batch.dispatch import processes_for

        count = processes_for(jobs, shared.jobs or files.threads.count())
        if count == 1:
            return []
    _, info = select(shared.device)
    return [info] * count


def _complain(shared: Shared, job: Job, error: Exception) -> None:
    """Says why a job failed. Raises what ends the whole run."""
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, ParameterError) and len(shared.inputs) == 1:
        raise click.UsageError(str(error), click.get_current_context()) from None
    complain("error", _shown(shared, job, _told(job, error)))


def _shown(shared: Shared, job: Job, text: str) -> str:
    """Returns a message that names an animation in place of the draft of a frame."""
    if shared.draft_of is None:
        return text
    frame = int(os.path.splitext(os.path.basename(job.target))[0])
    return text.replace(job.target, f"{shared.draft_of}: frame {frame}")


def _told(job: Job, error: Exception) -> str:
    """Returns the message of an error with a job; that of an output's address names the input, too."""
    text = failure(job.source, error)
    named = text.startswith(f"{masked(job.source)}: ") or not is_address(job.target)
    return text if named else f"{job.source}: {text}"


def open_gpu(shared: Shared, report: Report | None) -> Gpu:
    """The device that the options name. It is closed at the command's end."""
    check_dump(shared)
    with report.phase("import") if report else nullcontext():
        from gpuops.gpu import Gpu

    gpu = Gpu(shared.device, report=report, dump=shared.dump_kernels, memory=shared.device_memory)
    if not ahead.single:  # else the process ends soon, and frees a graphics card's memory once
        click.get_current_context().call_on_close(gpu.close)
    if report is not None:
        import shlex

        from gpuops.bench import report_formats

        command = masked(printable(shlex.join(["clpix", *sys.argv[1:]])))
        report.context |= {**report_formats.device_context(gpu.info), "command": command}
    _name(shared, gpu.info)
    return gpu


def _name(shared: Shared, info: DeviceInfo) -> None:
    """Names a device with --verbose."""
    if shared.verbose:
        say(f"clpix: device {info.index}: {info.name} ({info.platform})")


@contextmanager
def reporting(shared: Shared) -> Iterator[Report | None]:
    """Runs what is within it, with the notes that are wanted, and writes the timing report if all went well.

    It begins with the process. A timing file that cannot be written is refused first.
    """
    sink = partial(warn, details=shared.verbose > 0)
    with notes.to((lambda _text: None) if shared.quiet else sink):
        if not shared.timing and not shared.timing_file:
            yield None
            return
        report = Report()
        age = process_age()
        if age is not None:  # what Python and the imports took before this line
            report.started -= age
            report.add("import", age)
        with report.phase("import"):
            from gpuops.bench import report_formats
        if shared.timing_file:
            report_formats.check_path(shared.timing_file)
            files.check_place(shared.timing_file, overwrite=shared.overwrite)
        yield report
        report.close()
        if shared.timing_file:
            report_formats.write(report, shared.timing_file, overwrite=shared.overwrite)
        if shared.timing:
            say(report_formats.table(report))
