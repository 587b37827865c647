"""The work of a chain on every input: what each command of an operation, and each recipe, comes down to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import click

from gpuops.batch.job import Job
from gpuops.chain import Chain
from gpuops.errors import ParameterError, visible
from gpuops.notes import Finding
from gpuops.operation import Params, kinds, operation_of
from gpuops.ops.write import WriteParams
from gpuops.params.files import STREAM, FileOperand
from gpuops.params.lut import LutParams

from . import options
from .outputs import check_format, check_output, check_stdin, levels_of, outputs_of
from .shared import Shared
from .tables import Table, table_of


def process_chain(shared: Shared, chain: Chain, name: str, *, also_read: Sequence[str] = ()) -> None:
    """Does the chain on every input; ``name``: what {op} stands for in an output's name.

    ``also_read``: files that no output may overwrite, beside those that the chain and the options name.
    """
    from gpuops.files.output import check_place, write_text

    from .pipeline import process

    check_stdin(*shared.inputs, *files_of(chain))
    check_files(shared, chain)
    if not shared.output_dither:
        options.refuse("there is no --dither", "output_noise", "output_seed")
    if shared.explain:
        options.refuse("--explain does nothing", "table")
        _explain(shared, chain)
        return
    also_read = (*also_read, *files_of(chain))
    asides = _asides(shared, chain, name, also_read)
    if shared.save_recipe is not None:
        check_place(shared.save_recipe, overwrite=shared.overwrite)
        text = chain.to_toml()

    with table_of(shared) as table:
        tell = partial(_tell, shared, table)
        process(shared, name, chain, asides=asides, also_read=also_read, tell=tell)
    if shared.save_recipe is not None:
        write_text(shared.save_recipe, text, overwrite=shared.overwrite)


def _tell(shared: Shared, table: Table | None, job: Job, findings: Sequence[Finding] | None) -> None:
    """Prints what the steps have found, details on standard error with --verbose; all goes to the table."""
    from gpuops.files.streams import printable

    from .messages import result, say

    if table is not None:
        figures: dict[str, Any] = {}
        times = Counter[str]()
        for name, value in (pair for finding in findings or () for pair in finding.figures.items()):
            times[name] += 1
            figures[name if times[name] == 1 else f"{name}_{times[name]}"] = value
        table.add(*_page_of(shared, job), figures)
    for finding in findings or ():
        text = f"{printable(job.source)}: {finding.text}"
        if not finding.detail:
            result(text, job.target)
        elif shared.verbose:
            say(f"clpix: {visible(text)}")


def _page_of(shared: Shared, job: Job) -> tuple[str, str | None]:
    """Returns the file that a job's picture is of, and the number of the page or frame that it is."""
    from gpuops.files.formats import is_of_video

    if is_of_video(shared.output or ""):
        return shared.inputs[0], job.options.layer
    return job.source, job.options.layer if shared.frame_of else None


def _explain(shared: Shared, chain: Chain) -> None:
    """Prints what would be done with the first input."""
    from gpuops.batch.explanation import explain
    from gpuops.gpu import Gpu

    named = (None, *(params.output for params in chain if isinstance(params, WriteParams)))
    target, *asides = (outputs_of(shared, "chain", name)[0] for name in named)
    check_format(shared, target)
    job = Job(shared.inputs[0], chain, target, tuple(asides), shared.of_job())
    with Gpu(shared.device, memory=shared.device_memory) as gpu:
        try:
            click.echo(explain(gpu, job))
        except ParameterError as error:
            raise click.UsageError(str(error), click.get_current_context()) from None


def _asides(shared: Shared, chain: Chain, name: str, also_read: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns the files that ``write`` steps make, by the output. Refuses files that cannot be written."""
    from gpuops.files import Identities

    writes = [params for params in chain if isinstance(params, WriteParams)]
    if not writes:
        return {}
    if shared.repeat > 1:
        raise click.UsageError("what is written on the way is written once: leave out --repeat")
    outputs = outputs_of(shared, name)
    taken = Identities(outputs)
    inputs = Identities((*shared.inputs, *shared.lists, *also_read))
    # Whether existing files stay or are replaced is decided later, with each job.
    later = shared.skip_existing or shared.update or shared.resume is not None
    written = [outputs_of(shared, name, params.output) for params in writes]
    for params, paths in zip(writes, written, strict=True):
        how = replace(shared, output=params.output, overwrite=shared.overwrite or later)
        for path, folder in zip(paths, shared.below, strict=True):
            if taken.add(path) is not None:
                raise click.UsageError(f"{path} would be written twice: name another file")
            if path == STREAM:
                raise click.UsageError("'write' needs a file's name; -o - is for the result")
            check_output(how, path, inputs, levels_of(folder))
    return dict(zip(outputs, zip(*written, strict=True), strict=True))


def check_files(shared: Shared, chain: Iterable[Params]) -> None:
    """Refuses files that steps cannot work with; by their headers those that take more memory than allowed."""
    from gpuops.batch.access import Access

    for path, whole in _files(chain):
        Access(path, shared.of_job()).check_second(whole)
    for params in chain:
        operation_of(params).check(params)


def files_of(chain: Iterable[Params]) -> list[str]:
    """The files that a chain reads beside its inputs."""
    return [path for path, _ in _files(chain)]


def _files(chain: Iterable[Params]) -> Iterator[tuple[str, str]]:
    """Gives the path of each file that a chain reads beside its inputs, and what the file is, if it is read whole."""
    for params in chain:
        known = kinds(type(params))
        for field in fields(params):
            value = getattr(params, field.name)
            for one in value if isinstance(value, tuple) else (value,):
                is_lut = isinstance(one, LutParams)
                file = one.lut if isinstance(one, LutParams) else one
                if isinstance(file, FileOperand):
                    by_rows = getattr(known.get(field.name), "by_rows", False)
                    yield file.path, "" if by_rows else "table" if is_lut else field.name
