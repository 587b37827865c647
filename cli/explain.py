"""What a chain would do: its steps, the values that each works on, what is fused, and the memory that it takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuops.chain import Chain

from . import naming, options

if TYPE_CHECKING:
    from gpuops.plan import Plan, Step


def explain(shared: options.Shared, chain: Chain, *, fuse: bool) -> str:
    """Returns the explanation, for the first input."""
    from gpuops import files, plan
    from gpuops.gpu import Gpu

    from .reader import read_picture

    first = shared.inputs[0]
    picture = read_picture(first, shared.layer)
    assert shared.output is not None
    output = naming.outputs_for(shared.inputs, shared.output, "chain")[0]
    todo = plan.plan(chain, shared.space)
    height, width, channels = picture.pixels.shape
    values = height * width * channels
    lines = [
        f"input   {first}: {width} × {height}, {channels} channels of {picture.pixels.dtype.name}",
        f"read as {_values(todo)}",
    ]
    with Gpu(shared.device, memory=shared.device_memory) as gpu:
        for step in todo.steps:
            fused = _fused(step, plan.launches(todo)) if fuse else ""
            lines.append(f"{step.name:<12}{_step(gpu, step, (channels, height, width))}{fused}")
        device = gpu.info.name
        pixels = values * picture.pixels.dtype.itemsize
        beside = (step.traits.bytes_per_value * values + step.traits.fixed_bytes for step in todo.steps)
        memory = pixels + 4 * values + max(beside, default=4.0 * values)
        lines.append(f"memory  {memory / 1e6:.3g} MB of {gpu.limits.global_bytes / 1e6:.4g} MB on {device}")
    idle = len(chain) - len(todo.steps)
    if idle:
        lines.append(f"{idle} of {len(chain)} steps change nothing and are left out")
    lines.append(f"output  {output}, {files.format_of(output) if output != naming.STREAM else shared.format}")
    return "\n".join(lines)


def _values(todo: Plan) -> str:
    kind = "light" if todo.linear and todo.space != "encoded" else "stored values"
    if todo.space == "linear":
        kind = "light"
    return f"{kind}, {'premultiplied' if todo.premultiplied else 'straight'}"


def _step(gpu: object, step: Step, shape: tuple[int, ...]) -> str:
    traits = step.traits
    reach = step.operation.reach(gpu, shape, step.params) if step.operation.reach else 0  # type: ignore[arg-type]
    words = [traits.kind, "stored values" if traits.space == "stored" else "light"]
    if traits.space != "stored":
        words.append("premultiplied" if traits.premultiplied else "straight")
    if reach:
        words.append(f"halo {reach:g} pixels" if math.isfinite(reach) else "halo: the whole image")
    if traits.statistics:
        words.append(f"first measures {', '.join(traits.statistics)}")
    if traits.display:
        words.append("gives a display's values")
    return ", ".join(words)


def _fused(step: Step, launches: list[tuple[Step, ...]]) -> str:
    """Says what a step has in common with its neighbours and with the files."""
    group = next(group for group in launches if step in group)
    last = group[-1].operation
    if step is not group[-1]:
        return f"; at once with {group[-1].name}"
    writes = group is launches[-1] and (last.ends or last.stage)
    if group is launches[0] and (last.stage or (last.ends and writes)):
        return "; reads and writes the files' pixels" if writes else "; reads the file's pixels"
    return "; writes the file's pixels" if writes else ""
