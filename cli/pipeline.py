"""A run of a command over one input or many: checks, the device, each item's work, the timing report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuops import files, notes
from gpuops.batch.job import Job, run_job
from gpuops.batch.reader import Reader, check_input
from gpuops.errors import DeviceError, FileError, GpuopsError, ParameterError
from gpuops.files.streams import printable
from gpuops.params.files import STREAM

from . import naming
from .checks import check_dump, check_output, check_stdin, check_stream
from .main import FAILURE, complain, say
from .options import Shared, refuse

if TYPE_CHECKING:
    from gpuops.batch.job import Work
    from gpuops.chain import Chain
    from gpuops.gpu import Gpu
    from gpuops.profile import Report

# The path of an input, and that of its output.
Task = tuple[str, str]


def process(
    shared: Shared,
    op: str,
    work: Chain | Work,
    *,
    fuse: bool = True,
    asides: Mapping[str, tuple[str, ...]] | None = None,
    pictures: bool = True,
    also_read: Sequence[str] = (),
    check: Callable[[bool], None] = lambda _writes_data: None,
    tell: Callable[[Job, Any], None] = lambda _job, _told: None,
) -> None:
    """Does the job of every input; each failure is one line, and the exit code says that some failed.

    ``asides``: by output, the files that a chain writes on the way. ``pictures``: inputs are pictures; the first is
    read while the device is being opened. ``also_read`` are further files that no output may overwrite, such as a
    kernel image. ``check`` refuses options that have no meaning for an output of numbers, or of a picture. ``tell``
    is given what the work has to tell.
    What can be known to fail is refused before the device is even opened.
    """
    with reporting(shared, also_read) as report:
        assert shared.output is not None
        how = shared.of_job(fuse=fuse)
        check_stdin(*shared.inputs, *also_read)
        outputs = naming.outputs_for(shared.inputs, shared.output, op)
        if STREAM in outputs:
            check_stream(shared)
        elif shared.format is not None:
            refuse("an output's name says its format, and --format that of '-'", "format")
        # Inputs first: an output may be named after what is none.
        tasks = list(
            _passing(zip(shared.inputs, outputs, strict=True), lambda path, _output: check_input(path))
        )
        for _, output in tasks:
            check(how.writes_data(output))
        with naming.without_empty_folders(outputs):
            tasks = list(_passing(tasks, lambda _path, output: check_output(shared, output, also_read)))
            failed = len(shared.inputs) - len(tasks)
            if tasks:
                with Reader(shared.layer) as reader:
                    if pictures:
                        reader.begin(tasks[0][0])
                    jobs = (
                        Job(path, work, output, (asides or {}).get(output, ()), how)
                        for path, output in _with_progress(shared, tasks)
                    )
                    failed += _run(shared, report, jobs, reader, tell)
        if failed and len(shared.inputs) > 1:
            complain("error", f"{failed} of {len(shared.inputs)} inputs failed")
    if failed:
        click.get_current_context().exit(FAILURE)


def _passing(tasks: Iterable[Task], check: Callable[[str, str], None]) -> Iterator[Task]:
    """The tasks that a check lets pass; each failure is one line."""
    for task in tasks:
        try:
            check(*task)
        except FileError as error:
            complain("error", error)
        else:
            yield task


def _run(
    shared: Shared,
    report: Report | None,
    jobs: Iterable[Job],
    reader: Reader,
    tell: Callable[[Job, Any], None],
) -> int:
    """Opens the device and does the jobs. Returns how many failed."""
    gpu, failed = open_gpu(shared, report), 0
    for job in jobs:
        try:
            tell(job, run_job(gpu, job, reader))
        except BrokenPipeError:
            raise
        except (GpuopsError, OSError, MemoryError) as error:
            if isinstance(error, ParameterError) and len(shared.inputs) == 1:
                raise click.UsageError(str(error), click.get_current_context()) from None
            complain("error", failure(job.source, error))
            failed += 1
    return failed


def failure(path: str, error: Exception) -> str:
    """Returns the message of an error with one input of several: parameters that do not fit it may fit the next."""
    if isinstance(error, MemoryError):
        return f"{path}: does not fit in memory; use a smaller one"
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}"
    return f"{path}: {error}" if isinstance(error, ParameterError | DeviceError) else str(error)


def open_gpu(shared: Shared, report: Report | None) -> Gpu:
    """The device that the options name. It is closed at the command's end."""
    check_dump(shared)
    with report.phase("import") if report else nullcontext():
        from gpuops.gpu import Gpu

    gpu = Gpu(shared.device, report=report, dump=shared.dump_kernels, memory=shared.device_memory)
    click.get_current_context().call_on_close(gpu.close)
    if report is not None:
        import shlex

        from gpuops.bench import report_formats

        report.context |= report_formats.device_context(gpu.info) | {
            "command": printable(shlex.join(["clpix", *sys.argv[1:]]))
        }
    if shared.verbose:
        say(f"clpix: device {gpu.info.index}: {gpu.info.name} ({gpu.info.platform})")
    return gpu


@contextmanager
def reporting(shared: Shared, also_read: Sequence[str] = ()) -> Iterator[Report | None]:
    """The frame of a run: no notes with --quiet, and the timing report once it has ended well."""
    with notes.to(lambda _text: None) if shared.quiet else nullcontext():
        if not shared.timing and not shared.timing_file:
            yield None
            return
        report = _begun(shared, (*shared.inputs, *also_read))
        yield report
        from gpuops.bench import report_formats

        report.close()
        if shared.timing_file:
            report_formats.write(report, shared.timing_file, overwrite=shared.overwrite)
        if shared.timing:
            say(report_formats.table(report))


def _begun(shared: Shared, inputs: Sequence[str]) -> Report:
    """A report from the process's first moment on; no input may be overwritten by it."""
    from gpuops.profile import Report, process_age

    report = Report()
    age = process_age()
    if age is not None:  # what Python and the imports took before this line
        report.started -= age
        report.add("import", age)
    with report.phase("import"):
        from gpuops.bench import report_formats
    if shared.timing_file:
        report_formats.check_path(shared.timing_file)
        files.check_place(shared.timing_file, overwrite=shared.overwrite, inputs=inputs)
    return report


def _with_progress(shared: Shared, tasks: list[Task]) -> Iterator[Task]:
    wanted = shared.progress
    if wanted is None:
        wanted = len(tasks) > 1 and sys.stderr.isatty() and not shared.quiet
    for index, (path, output) in enumerate(tasks, 1):
        if wanted:
            say(f"clpix: [{index}/{len(tasks)}] {Path(path).name} → {Path(output).name}")
        yield path, output
