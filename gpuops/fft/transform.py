"""Plans: the passes of a transform over one or two axes, built and bound on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..gpu import Source
from ..params.fft import FftParams
from . import generate, tables
from .planner import Ends, Pass, Planner, Sequences

if TYPE_CHECKING:
    from ..gpu import Gpu, Step
    from ..image import Image

KEPT_PLANS = 64


@dataclass(frozen=True)
class Problem:
    """A transform: ``axes`` 1 (the last) or 2 (the last two) of (planes, rows, columns).

    ``kind``: ``c2c``, ``r2c`` (half a spectrum, or all of it: as many columns as ``out_shape`` has), ``c2r``.
    ``n``: the transform's lengths along rows and columns. Input beyond them is not read, output beyond not made.
    """

    kind: str
    axes: int
    in_shape: tuple[int, int, int]
    out_shape: tuple[int, int, int]
    n: tuple[int, int]
    inverse: bool
    scale: float
    double: bool
    params: FftParams

    @property
    def real(self) -> np.dtype[np.generic]:
        return np.dtype(np.float64 if self.double else np.float32)

    @property
    def complex(self) -> np.dtype[np.generic]:
        return np.dtype(np.complex128 if self.double else np.complex64)


class Plan:
    """Bound launches of a :class:`Problem`; calling it costs a few microseconds of Python for each."""

    def __init__(self, gpu: Gpu, problem: Problem) -> None:
        self.gpu = gpu
        self.problem = problem
        self.passes = _passes(gpu, problem)
        cache: dict[str, Image] = {}
        self.steps = [_bind(gpu, problem, p, cache) for p in self.passes]

    def __call__(self, image: Image) -> Image:
        self.gpu.check_own(image)
        problem = self.problem
        result = image.like(problem.out_shape, problem.real if problem.kind == "c2r" else problem.complex)
        source = image
        for p, (step, in_slot, out_slot) in zip(self.passes, self.steps, strict=True):
            target = self.gpu.empty((p.temporary,), problem.complex) if p.temporary else result
            step.kernel.set_arg(in_slot, source.buffer)
            step.kernel.set_arg(out_slot, target.buffer)
            step()
            source = target
        return result


def plan(gpu: Gpu, problem: Problem) -> Plan:
    """The plan for a problem, kept on the Gpu; the least recently used of many goes."""
    kept = gpu.plans
    if problem not in kept:
        kept[problem] = Plan(gpu, problem)
        if len(kept) > KEPT_PLANS:
            kept.popitem(last=False)
    kept.move_to_end(problem)
    found: Plan = kept[problem]
    return found


def _passes(gpu: Gpu, problem: Problem) -> list[Pass]:
    """Rows, then columns; columns, then rows where the result is real."""
    planner = Planner(gpu.limits, problem.params, problem.real.itemsize)
    planes, in_rows, in_columns = problem.in_shape
    _, out_rows, out_columns = problem.out_shape
    rows_n, columns_n = problem.n
    swap = problem.inverse
    if problem.kind == "c2r":
        middle = (
            (min(in_columns, columns_n // 2 + 1), out_rows) if problem.axes == 2 else (in_columns, in_rows)
        )
        rows = Sequences(
            planes, out_rows, (middle[0] * middle[1], middle[0], 1), (out_rows * out_columns, out_columns, 1),
            middle[0], out_columns,
        )  # fmt: skip
        last = planner.passes(columns_n, _joined(rows), Ends("hermitian", "real", True, True, problem.scale))
        if problem.axes == 1:
            return last
        columns = Sequences(
            planes, middle[0], (in_rows * in_columns, 1, in_columns), (middle[0] * middle[1], 1, middle[0]),
            in_rows, out_rows,
        )  # fmt: skip
        first = planner.passes(rows_n, columns, Ends(swap_in=True, swap_out=True))
        first[-1] = replace(first[-1], temporary=planes * middle[0] * middle[1])
        return first + last
    present = min(
        in_rows, out_rows
    )  # rows beyond the transform are not needed, rows beyond the input are zero
    step = out_rows * out_columns
    rows = Sequences(
        planes,
        present,
        (in_rows * in_columns, in_columns, 1),
        (step, out_columns, 1),
        in_columns,
        out_columns,
    )
    load = "real" if problem.kind == "r2c" else "complex"
    scale = problem.scale
    ends = Ends(load, "complex", swap, swap, 1.0 if problem.axes == 2 else scale)
    if present == in_rows == out_rows:
        rows = _joined(rows)
    first = planner.passes(columns_n, rows, ends)
    if problem.axes == 1:
        return first
    columns = Sequences(
        planes, out_columns, (step, 1, out_columns), (step, 1, out_columns), present, out_rows
    )
    return first + planner.passes(rows_n, columns, Ends("complex", "complex", swap, swap, scale))


def _joined(rows: Sequences) -> Sequences:
    """All planes' rows as one stack, where no plane has a gap behind it."""
    return replace(
        rows, outer=1, beside=rows.outer * rows.beside, in_steps=(0, *rows.in_steps[1:]),
        out_steps=(0, *rows.out_steps[1:]),
    )  # fmt: skip


def _bind(gpu: Gpu, problem: Problem, p: Pass, cache: dict[str, Image]) -> tuple[Step, int, int]:
    """The launch of a pass, and where its input and output go among the arguments."""
    real = "double" if problem.double else "float"
    radices, computed = p.schedule.radices, p.schedule.computed
    defines: dict[str, bool | int | str | None] = {
        "REAL": real, "LANES": p.lanes, "WIDTH": 2 * p.lanes, "PAIR": p.pair,
        "LENGTH": p.n if p.load == "hermitian" else None,
        "SWAP_IN": p.swap_in, "SWAP_OUT": p.swap_out,
        "LOAD_REAL": p.load == "real", "LOAD_HERMITIAN": p.load == "hermitian", "STORE_REAL": p.store == "real",
        "LANES_IN_ORDER": p.lanes > 1 and p.in_steps[2] == 1 and not p.pair,
        "LANES_OUT_ORDER": p.lanes > 1 and p.out_steps[2] == 1 and not p.pair,
        "SPLIT": p.split or None, "GAP": p.gap if p.split else None, "SPLIT_LANES": p.split_lanes,
    }  # fmt: skip
    count = (p.counts[2], p.counts[1], p.in_n, p.out_n)
    scale = np.array([p.scale], problem.real)  # a float of either precision would be passed in single
    groups = (
        p.counts[0] * p.counts[1] * -(-p.counts[2] // (p.schedule.columns * p.lanes * (2 if p.pair else 1)))
    )

    def table(name: str, values: npt.NDArray[np.complex128]) -> Image:
        if name not in cache:
            cache[name] = gpu.array(values.astype(problem.complex))
        return cache[name]

    traffic = _traffic(p, problem)
    label = f"fft {'inverse ' * (p.swap_in and p.swap_out)}{p.kind} {p.n}"
    if p.kind == "local":
        text = generate.butterflies(radices, real) + generate.local_kernel(p.schedule)
        kernel = gpu.kernel(("fft", Source("fft_generated", text)), "fft_local", **defines)
        values = tables.twiddles(radices)
        if p.schedule.length:
            chirp, filter = tables.bluestein(p.schedule.length, p.schedule.points)
            places = np.empty_like(filter)
            places[tables.digit_reversal(radices)] = filter
            values = np.concatenate([values, chirp, places])
        constants = table(f"{radices} {p.schedule.length}", values)
        order = gpu.array(tables.digit_reversal(radices)) if p.schedule.staged_in else None
        roots = table(f"roots {p.n}", tables.roots(p.n)) if p.split == 1 else None
        group = p.schedule.items * p.schedule.columns
        step = gpu.bind(
            kernel, (groups * group,), None, constants, order, roots, None, p.in_steps, p.out_steps, count, scale,
            local=(group,), label=label, traffic=traffic,
        )  # fmt: skip
        return step, 0, 4
    defines["ALONG"] = p.schedule.along
    if p.kind == "global":
        radix, butterflies = radices[0], p.n // radices[0]
        text = generate.butterflies(radices, real) + generate.global_kernel(radix, computed)
        kernel = gpu.kernel(("fft", Source("fft_generated", text)), "fft_global", **defines)
        values = np.concatenate([np.ones(p.stride - 1), tables.twiddles((p.stride, radix))[p.stride - 1 :]])
        step = gpu.bind(
            kernel, (groups * butterflies,), None, table(f"{p.stride} {radix}", values), None, None, p.in_steps,
            p.out_steps, count, scale, butterflies, p.stride, groups,
            local=kernel.fit(256), label=f"{label} radix {radix}", traffic=traffic,
        )  # fmt: skip
        return step, 0, 3
    points = prod(radices)
    factors = dict(zip(("chirp", "filter"), tables.bluestein(p.n, points), strict=True))
    kernel = gpu.kernel("fft", "fft_multiply", **defines)
    step = gpu.bind(
        kernel, (groups * points,), None, table(f"{p.table} {p.n}", factors[p.table]), None, p.in_steps, p.out_steps,
        count, scale, points, groups, local=kernel.fit(256), label=f"{label} {p.table}", traffic=traffic,
    )  # fmt: skip
    return step, 0, 2


def _traffic(p: Pass, problem: Problem) -> int:
    """Bytes of the samples that exist and of the results that are wanted."""
    size = problem.real.itemsize
    sequences = prod(p.counts) // (p.gap if p.split else 1)
    read = p.in_n * (p.gap if p.split == 2 else 1) * size * (1 if p.load == "real" else 2)
    written = p.out_n * (p.gap if p.split == 1 else 1) * size * (1 if p.store == "real" else 2)
    return sequences * (read + written)
