"""An animation as the output of many frames: they are made as pictures in a folder of their own, and then joined."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from .options import refuse
from .shared import Shared

if TYPE_CHECKING:
    from gpuops.files import Format, Identities


def is_wanted(shared: Shared) -> bool:
    """Says whether all frames go to one file: its name has no field, and its format holds animations."""
    from gpuops.files.formats import holds_animation

    output = shared.output or ""
    one = not output.endswith(os.sep) and not os.path.isdir(output) and "{" not in output
    return bool(shared.frame_of) and one and holds_animation(output)


def make(shared: Shared, each: Callable[[Shared], None], inputs: Identities, *, writes: bool) -> None:
    """Makes an animation; ``each`` does the work on frames, and ``writes`` says that it writes pictures on the way.

    ``inputs``: files that it may not overwrite.
    """
    from gpuops import files
    from gpuops.files import animations
    from gpuops.files.drafts import draft_folder

    from .checks import check_depth, check_storage

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
    fmt: Format = files.check_output(shared.output, overwrite=shared.overwrite, inputs=inputs)
    check_depth(shared, replace(fmt, name=f"animated {fmt}", dtypes=("uint8",)))
    check_storage(shared, shared.output)
    output, storage = shared.output, shared.of_job().storage
    shared = replace(shared, quality=None, subsampling=None, compression=None)  # they are the animation's
    with draft_folder() as folder:
        drafts = os.path.join(folder, "{frame}.png")
        each(replace(shared, output=drafts, draft_of=output, dtype="uint8", overwrite=False))
        pictures = [os.path.join(folder, f"{frame:04d}.png") for frame in shared.frame_of]
        timing = animations.timing(shared.inputs[0], shared.frame_of)
        animations.join(output, pictures, timing, overwrite=shared.overwrite, storage=storage)
