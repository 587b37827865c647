"""An explanation of a chain: its steps, the values that each works on, what is fused, and the memory that it takes."""

from __future__ import annotations

import math

from .. import plan
from ..errors import byte_count, visible
from ..gpu import Gpu
from ..params.files import STREAM
from ..plan import Plan, Step
from ..rows.schedule import RowSchedule, ScheduledStep
from .access import Access
from .chains import prepare
from .item import Item
from .job import Job
from .memory import device_bytes


def explain(gpu: Gpu, job: Job) -> str:
    """Returns the explanation of a chain, for the picture in a file.

    Raises what the job would raise before it computes anything.
    """
    chain, source, target, options = job.chain, job.source, job.target, job.options
    assert chain is not None
    access = Access(source, options)
    picture = access.opened().picture
    todo = plan.plan(chain, options.space, options.light)
    item = Item(gpu, target, options, access)
    item.how(picture, linear=todo.linear, premultiply=todo.premultiplied)
    height, width, channels = picture.pixels.shape
    of_whole = f", decoded at 1/{picture.shrunk.by} of its size" if picture.shrunk else ""
    lines = [
        f"input   {source}: {width} × {height}, {channels} channels of {picture.pixels.dtype.name}{of_whole}",
        f"read as {_values(todo)}",
    ]
    orientation, shape = picture.metadata.orientation, (channels, height, width)
    with item.naming():
        schedule = RowSchedule.of(gpu, todo, shape, orientation, picture.frame, shrunk=picture.shrunk)
    todo = schedule.plan
    launches = plan.launches(todo)
    prepare(item, todo)
    for at in schedule.steps:
        fused = _fused(at.step, launches) if options.fuse else ""
        lines.append(f"{at.step.name:<12}{_step(at)}{fused}")
    memory = device_bytes(schedule, picture)
    there = f"{byte_count(gpu.limits.global_bytes)} on {gpu.info.name}"
    lines.append(f"memory  {byte_count(memory)} of {there}")
    idle = len(chain) - len(todo.steps)
    if idle:
        lines.append(f"{idle} of {len(chain)} steps change nothing and are left out")
    lines.append(f"output  {target}, {options.format if target == STREAM else options.format_of(target)}")
    access.finish()
    return "\n".join(map(visible, lines))


def _values(todo: Plan) -> str:
    is_light = todo.space == "linear" or (todo.linear and todo.space != "encoded")
    return (
        f"{'light' if is_light else 'stored values'}, {'premultiplied' if todo.premultiplied else 'straight'}"
    )


def _step(at: ScheduledStep) -> str:
    step, traits = at.step, at.step.traits
    reach = at.reach.spoiled
    words = [traits.kind, "light" if traits.space == "light" else "stored values"]
    if traits.space != "stored":
        words.append("premultiplied" if traits.premultiplied else "straight")
    if reach:
        words.append(f"halo {reach:g} pixels" if math.isfinite(reach) else "halo: the whole image")
    if traits.statistics:
        whose = " of all inputs" if step.operation.together(step.params) else ""
        words.append(f"first measures {', '.join(traits.statistics)}{whose}")
    if at.spectral is not None:
        kept = byte_count(8 * math.prod(at.spectral.spooled(at.shape)), up=True)
        words.append(f"by rows {kept} of spectra are kept")
    elif at.slabbed is not None:
        kept = byte_count(4 * math.prod(at.shape) + at.slabbed.beside, up=True)
        words.append(f"by rows {kept} of planes and coefficients are kept")
    if traits.display:
        words.append("gives a display's values")
    return ", ".join(words)


def _fused(step: Step, launches: list[tuple[Step, ...]]) -> str:
    """Says which launches a step shares with its neighbours, and with reading and writing the files."""
    group = next(group for group in launches if step in group)
    last = group[-1].operation
    if step is not group[-1]:
        return f"; at once with {group[-1].name}"
    writes = group is launches[-1] and (last.ends or last.stage)
    if group is launches[0] and (last.stage or (last.ends and writes)):
        return "; reads and writes the files' pixels" if writes else "; reads the file's pixels"
    return "; writes the file's pixels" if writes else ""
