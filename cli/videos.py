"""A video as the output: each frame is a job of its own, and few of them are in files at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import click

from gpuops import files, notes
from gpuops.batch import pipeline, together
from gpuops.batch.job import Job
from gpuops.chain import Chain
from gpuops.errors import FileError, ParameterError
from gpuops.files.formats import VIDEOS

from .options import refuse
from .shared import Shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuops.batch.job import Work
    from gpuops.gpu import Gpu
    from gpuops.operation import Params


def is_wanted(shared: Shared) -> bool:
    """Says whether the output is a video."""
    return os.path.splitext(shared.output or "")[1].lower() in VIDEOS


def make(
    shared: Shared, work: Chain | Work, open_gpu: Callable[[], Gpu], *, writes: bool, fuse: bool
) -> None:
    """Does the work on every frame of a video, and writes these as another; ``writes``: it writes on the way."""
    from gpuops.batch.reader import check_input
    from gpuops.files import video
    from gpuops.files.drafts import draft_folder

    refuse(
        "a video is written as a whole, with 8 bits",
        *("skip_existing", "update", "journal", "resume", "shard", "cluster", "format", "frames"),
        *("layer", "subsampling", "compression", "gain_map", "strip", "colour"),
    )
    if writes:
        raise click.UsageError("a step that writes on the way makes a file a frame, which a video has not")
    if len(shared.inputs) != 1 or "{" in (shared.output or ""):
        raise click.UsageError("a video is made of one video: name one input and one output")
    if shared.dtype not in ("auto", "uint8"):
        raise ParameterError("a video holds 8-bit integers: use --dtype uint8")
    source, target = shared.inputs[0], shared.output
    assert target is not None
    check_input(source)
    files.check_place(target, overwrite=shared.overwrite, inputs=files.Identities(shared.inputs))
    how = replace(shared, quality=None, dtype="uint8", overwrite=False).of_job(fuse=fuse)

    def worked(
        folder: str, pictures: Iterator[files.Picture], works: Iterator[Chain | Work]
    ) -> Iterator[pipeline.Done]:
        """Does the work of each picture. A caller that asks for the next one has used the result."""

        def jobs() -> Iterator[Job]:
            for number, (picture, one) in enumerate(zip(pictures, works, strict=False)):
                # Of these formats, which are quick, .npz says what colours are.
                path = os.path.join(folder, f"{number}.{'ppm' if picture.metadata.colour is None else 'npz'}")
                files.write(path, picture)
                yield Job(path, one, os.path.join(folder, f"{number}-out.ppm"), (), how)

        for number, done in enumerate(
            pipeline.run_jobs(open_gpu, jobs(), at_once=shared.jobs, memory=shared.memory)
        ):
            named = partial(_named, folder, f"{source}: frame {number}")
            if done.error is not None:
                raise FileError(named(_said(done.error)))
            done.notes[:] = map(named, done.notes)
            yield done
            for path in (done.job.source, done.job.target):
                with suppress(FileNotFoundError):
                    os.unlink(path)

    def measured(works: Iterator[Work]) -> list[Params]:
        with draft_folder() as folder, video.opened(source) as frames:
            return [done.told for done in worked(folder, frames.pictures(), works)]

    works: Iterator[Chain | Work] = repeat(work)
    if isinstance(work, Chain):
        works = together.decided(work, measured)
    copying = video.copied(source, target, overwrite=shared.overwrite, quality=shared.quality)
    with draft_folder() as folder, copying as copy:
        said = False
        for done in worked(folder, copy.pictures(), works):
            if done.notes and not said:  # the next frames have much the same to say
                said = True
                for text in done.notes:
                    notes.note(text)
            copy.add(files.read(done.job.target).pixels)


def _said(error: Exception) -> str:
    """Returns what a frame's error says."""
    return "does not fit in memory" if isinstance(error, MemoryError) else str(error)


def _named(folder: str, name: str, text: str) -> str:
    """Returns a message that names a frame instead of its file."""
    head, colon, rest = text.partition(": ")
    return f"{name}: {rest}" if colon and head.startswith(folder) else f"{name}: {text}"
