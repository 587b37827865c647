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
from .planner import Ends, Four, Pass, Planner, Sequences

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
    values = problem.in_shape[0] * prod(problem.n if problem.axes == 2 else problem.in_shape[1:])
    planner = Planner(gpu.limits, problem.params, problem.real.itemsize, values=values)
    planes, in_rows, in_columns = problem.in_shape
    _, out_rows, out_columns = problem.out_shape
    rows_n, columns_n = problem.n
    swap, two = problem.inverse, problem.axes == 2
    in_step, out_step = in_rows * in_columns, out_rows * out_columns
    if problem.kind == "c2r":
        wide, high = (min(in_columns, columns_n // 2 + 1), out_rows) if two else (in_columns, in_rows)
        rows = _joined(
            planes, out_rows, (high * wide, 0, wide, 1), (out_step, 0, out_columns, 1), wide, out_columns
        )
        last = planner.passes(columns_n, rows, Ends("hermitian", "real", True, True, problem.scale))
        if not two:
            return last
        columns = Sequences(
            (planes, 1, wide), (in_step, 0, 1, in_columns), (high * wide, 0, 1, wide), in_rows, out_rows
        )
        first = planner.passes(rows_n, columns, Ends(swap_in=True, swap_out=True))
        first[-1] = replace(first[-1], temporary=planes * wide * high)
        return first + last
    load = "real" if problem.kind == "r2c" else "complex"
    ends = Ends(load, "complex", swap, swap, 1.0 if two else problem.scale)
    present = min(
        in_rows, out_rows
    )  # rows beyond the transform are not needed, rows beyond the input are zero
    steps = (in_step, 0, in_columns, 1), (out_step, 0, out_columns, 1)
    if two and out_rows == rows_n:
        found = _columns_first(planner, problem)
        if found:
            return found
    rows = (
        _joined(planes, present, *steps, in_columns, out_columns)
        if present == in_rows == out_rows
        else Sequences((planes, 1, present), *steps, in_columns, out_columns)
    )
    first = planner.passes(columns_n, rows, ends)
    if not two:
        return first
    steps = (out_step, 0, 1, out_columns), (out_step, 0, 1, out_columns)
    columns = Sequences((planes, 1, out_columns), *steps, present, out_rows)
    return first + planner.passes(rows_n, columns, Ends("complex", "complex", swap, swap, problem.scale))


def _columns_first(planner: Planner, problem: Problem) -> list[Pass] | None:
    """Columns of N / joined points, then rows: every pass writes whole lines of memory, whatever the width.

    T_j[k] is the transform of rows j, j + joined, …; row k + p·N/joined of the result is the transform along the row
    of Σ_j w_joined^(j·p) · w_N^(j·k) · T_j[k]. Pairs of real columns are one complex column, and are taken apart when
    rows are loaded; row k of the spectrum of a real image also gives row N − k.
    """
    if planner.vectors or planner.params.method == "global":
        return None
    planes, in_rows, in_columns = problem.in_shape
    _, n_rows, width = problem.out_shape
    real, n_columns = problem.kind == "r2c", problem.n[1]
    wide = min(in_columns, n_columns)
    swap = problem.inverse and not real
    ends = Ends("real", "packed") if real else Ends(swap_in=swap, swap_out=swap)
    kept = -(-wide // 2) if real else wide
    joined = planner.joined(n_rows, n_columns, wide, ends) if in_rows >= n_rows else 1
    short, pitch = n_rows // joined, -(-kept // 16) * 16
    if n_rows * pitch >= 2**31:  # steps are ints
        return None
    columns = Sequences(
        (planes, joined, wide), (in_rows * in_columns, in_columns, 1, joined * in_columns),
        (n_rows * pitch, short * pitch, 1, pitch), min(in_rows, short), short,
    )  # fmt: skip
    rows = Sequences(
        (planes, 1, short // 2 + 1 if real else short), (n_rows * pitch, 0, pitch, 1), (n_rows * width, 0, width, 1),
        wide, width, joined, (short * pitch, short * width),
    )  # fmt: skip
    last = planner.single(
        n_columns, rows, Ends("packed" if real else "complex", "mirrored" if real else "complex", swap, swap,
                              problem.scale * (0.5 if real else 1), short)
    )  # fmt: skip
    first = planner.passes(short, columns, ends) if last else []
    if last is None or (real and any(p.kind != "local" for p in first)):
        return None
    return [*first[:-1], replace(first[-1], temporary=planes * n_rows * pitch), last]


def _joined(planes: int, rows: int, in_steps: Four, out_steps: Four, in_n: int, out_n: int) -> Sequences:
    """All planes' rows as one stack, as no plane has a gap behind it."""
    return Sequences((1, 1, planes * rows), (0, *in_steps[1:]), (0, *out_steps[1:]), in_n, out_n)


def _bind(gpu: Gpu, problem: Problem, p: Pass, cache: dict[str, Image]) -> tuple[Step, int, int]:
    """The launch of a pass, and where its input and output go among the arguments."""
    real = "double" if problem.double else "float"
    schedule, at = p.schedule, p.at
    radices, computed = schedule.radices, schedule.computed
    fixed = not Planner(gpu.limits, problem.params).vectors  # on CPUs all this is not worth another build
    elements = (
        0 if not fixed or p.kind == "multiply" or p.split else schedule.points if p.kind == "local" else p.n
    )
    defines: dict[str, bool | int | str | None] = {
        "REAL": real, "LANES": p.lanes, "WIDTH": 2 * p.lanes, "PAIR": p.pair, "JOINED": schedule.joined,
        "LENGTH": p.n if p.load == "hermitian" or p.store == "mirrored" else None, "PACKED": p.store == "packed",
        "IN_PAIRS": p.store == "packed" and not any(s % 2 for s in (*at.in_steps[:2], at.in_steps[3], at.counts[2])),
        "LOAD_PACKED": p.gap if p.load == "packed" else None,
        "MIRRORED": p.gap * at.joined if p.store == "mirrored" else None,
        "SWAP_IN": p.swap_in, "SWAP_OUT": p.swap_out, "IN_ALL": at.in_n == elements, "OUT_ALL": at.out_n == elements,
        "UNSCALED": fixed and p.scale == 1, "CONJUGATE": p.store == "mirrored" and problem.inverse,
        "IN_STEP": at.in_steps[3] if fixed else None, "OUT_STEP": at.out_steps[3] if fixed else None,
        "LOAD_REAL": p.load == "real", "LOAD_HERMITIAN": p.load == "hermitian", "STORE_REAL": p.store == "real",
        "LANES_IN_ORDER": p.lanes > 1 and at.in_steps[2] == 1 and not p.pair,
        "LANES_OUT_ORDER": p.lanes > 1 and at.out_steps[2] == 1 and not p.pair,
        "SPLIT": p.split or None, "GAP": p.gap if p.split else None, "SPLIT_LANES": p.split_lanes,
    }  # fmt: skip
    count = (at.counts[2], at.counts[1], at.in_n, at.out_n)
    partner = at.partner if at.joined > 1 else (at.in_steps[2], at.out_steps[2])
    steps = (at.in_steps, at.out_steps, partner, count)
    scale = np.array([p.scale], problem.real)  # a float of either precision would be passed in single
    reals = 2 if p.pair else 1
    groups = at.counts[0] * at.counts[1] * -(-at.counts[2] // (schedule.columns * p.lanes * reals))

    def table(name: str, values: npt.NDArray[np.complex128]) -> Image:
        if name not in cache:
            cache[name] = gpu.array(values.astype(problem.complex))
        return cache[name]

    traffic = _traffic(p, problem)
    label = f"fft {'inverse ' * (p.swap_in and p.swap_out)}{p.kind} {p.n}"
    if p.kind == "local":
        across = (schedule.rows,) if schedule.joined else ()
        text = generate.butterflies((*radices, *across), real) + generate.local_kernel(schedule)
        kernel = gpu.kernel(("fft", Source("fft_generated", text)), "fft_local", **defines)
        values = tables.twiddles(radices)
        if schedule.length:
            chirp, filter = tables.bluestein(schedule.length, schedule.points)
            places = np.empty_like(filter)
            places[tables.digit_reversal(radices)] = filter
            values = np.concatenate([values, chirp, places])
        constants = table(f"{radices} {schedule.length}", values)
        order = gpu.array(tables.digit_reversal(radices)) if schedule.staged_in else None
        turns = p.n if p.split == 1 else at.joined * p.gap if schedule.joined else 0
        roots = table(f"roots {turns}", tables.roots(turns)) if turns else None
        group = schedule.items * schedule.columns
        step = gpu.bind(
            kernel, (groups * group,), None, constants, order, roots, None, *steps, scale,
            local=(group,), label=label, traffic=traffic,
        )  # fmt: skip
        return step, 0, 4
    defines["ALONG"] = schedule.along
    if p.kind == "global":
        radix, butterflies = radices[0], p.n // radices[0]
        text = generate.butterflies(radices, real) + generate.global_kernel(radix, computed)
        kernel = gpu.kernel(("fft", Source("fft_generated", text)), "fft_global", **defines)
        values = np.concatenate([np.ones(p.stride - 1), tables.twiddles((p.stride, radix))[p.stride - 1 :]])
        step = gpu.bind(
            kernel, (groups * butterflies,), None, table(f"{p.stride} {radix}", values), None, None, *steps, scale,
            butterflies, p.stride, groups,
            local=kernel.fit(256), label=f"{label} radix {radix}", traffic=traffic,
        )  # fmt: skip
        return step, 0, 3
    points = prod(radices)
    factors = dict(zip(("chirp", "filter"), tables.bluestein(p.n, points), strict=True))
    kernel = gpu.kernel("fft", "fft_multiply", **defines)
    step = gpu.bind(
        kernel, (groups * points,), None, table(f"{p.table} {p.n}", factors[p.table]), None, *steps, scale,
        points, groups, local=kernel.fit(256), label=f"{label} {p.table}", traffic=traffic,
    )  # fmt: skip
    return step, 0, 2


def _traffic(p: Pass, problem: Problem) -> int:
    """Bytes of the samples that exist and of the results that are wanted."""
    size = problem.real.itemsize
    sequences = p.at.total // (p.gap if p.split else 1)
    read = p.at.in_n * (p.gap if p.split == 2 else 1) * size * (1 if p.load == "real" else 2)
    written = p.at.out_n * (p.gap if p.split == 1 else 1) * size * (1 if p.store == "real" else 2)
    return sequences * (read + written)
