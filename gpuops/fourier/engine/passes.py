"""The passes of a transform over one or two axes: pure functions of the problem and the device's limits."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ...errors import ParameterError, TooLongError
from ...gpu import Limits
from .planner import ROWS, AxisPass, Four, PassEnds, Planner, Sequences
from .problem import Problem, row_steps


def passes(limits: Limits, problem: Problem) -> list[AxisPass]:
    """The passes of a transform, in order.

    Raises ParameterError beyond what addresses of type int reach, and TooLongError for rows that need several passes if
    the image has surroundings."""
    both = problem.axes == 2 or problem.down
    values = problem.in_shape[0] * prod(problem.n if both else problem.in_shape[1:])
    planner = Planner(limits, problem.params, problem.real.itemsize, values=values, spread=problem.half)
    n_rows, n_columns = problem.n
    _, rows, columns = problem.in_shape
    planes = 1 if problem.axes == 2 else problem.in_shape[0]
    if planes * max(rows, n_rows) * max(columns, n_columns) >= 2**31:
        raise ParameterError(f"a transform of {n_rows}×{n_columns} is beyond 2³¹ elements: use a smaller one")
    plan = _columns(planner, problem) if problem.down else None
    if problem.interleaved:
        plan = _interleaved(planner, problem)
    elif not problem.down:
        plan = _columns_and_rows(planner, problem)
    if plan is None and problem.around:
        raise TooLongError(
            f"rows of {n_columns} points do not fit into the device's {limits.local_bytes // 1024} KB of local memory: "
            "choose another method than fft"
        )
    plan = plan or _rows_and_columns(planner, problem)
    plan[0] = replace(plan[0], real_in=problem.real_in)
    plan[-1] = replace(plan[-1], real_out=problem.real_out)
    return plan


def _rows_and_columns(planner: Planner, problem: Problem) -> list[AxisPass]:
    """Rows, then columns; columns, then rows where the result is real. Or rows alone."""
    planes, in_rows, in_columns = problem.in_shape
    _, out_rows, out_columns = problem.out_shape
    rows_n, columns_n = problem.n
    swap, two = problem.inverse, problem.axes == 2
    in_steps, out_steps = problem.in_steps, problem.out_steps
    packed = None if two else _packed_rows(planner, problem)
    if packed:
        return [packed]
    if problem.kind == "c2r":
        wide, high = (min(in_columns, columns_n // 2 + 1), out_rows) if two else (in_columns, in_rows)
        between = row_steps((planes, high, wide))
        counts = (planes, 1, out_rows) if problem.pixels else (1, 1, planes * out_rows)
        rows = Sequences(counts, between, out_steps, wide, out_columns)
        share = planner.part(problem.scale, rows_n, problem.size) if two else 1.0
        last = planner.passes(
            columns_n, rows, PassEnds("hermitian", "samples", True, True, problem.scale / share)
        )
        if not two:
            return last
        columns = Sequences((planes, 1, wide), _turned(in_steps), _turned(between), in_rows, out_rows)
        first = planner.passes(rows_n, columns, PassEnds(swap_in=True, swap_out=True, scale=share))
        return [*first[:-1], replace(first[-1], temporary=planes * wide * high), *last]
    load, store = ("samples" if real else "complex" for real in (problem.real_in, problem.real_out))
    present = min(in_rows, rows_n)  # rows beyond the transform are unneeded, beyond the input zero
    # A result of complex numbers is transformed in place.
    between = row_steps((planes, present, out_columns)) if problem.real_out else out_steps
    rows = Sequences((planes, 1, present), in_steps, between, in_columns, out_columns)
    if present == in_rows == out_rows and not problem.pixels:  # no plane has a gap behind it
        rows = replace(rows, counts=(1, 1, planes * present))
    share = planner.part(problem.scale, columns_n, problem.size) if two else problem.scale
    first = planner.passes(columns_n, rows, PassEnds(load, "complex" if two else store, swap, swap, share))
    if not two:
        return first
    if problem.real_out:
        first[-1] = replace(first[-1], temporary=planes * present * out_columns)
    columns = Sequences((planes, 1, out_columns), _turned(between), _turned(out_steps), present, out_rows)
    rest = PassEnds("complex", store, swap, swap, problem.scale / share)
    return first + planner.passes(rows_n, columns, rest)


def _columns(planner: Planner, problem: Problem) -> list[AxisPass]:
    """Columns alone."""
    planes, rows, columns = problem.in_shape
    steps = _turned(problem.in_steps), _turned(problem.out_steps)
    at = Sequences((planes, 1, columns), *steps, min(rows, problem.n[0]), problem.out_shape[1])
    swap = problem.inverse
    return planner.passes(problem.n[0], at, PassEnds(swap_in=swap, swap_out=swap, scale=problem.scale))


def _interleaved(planner: Planner, problem: Problem) -> list[AxisPass]:
    """Rows, then columns in place, of (rows, columns, planes), in which the values of a pixel are neighbours."""
    planes, n_rows, n_columns = problem.in_shape
    row, share = n_columns * planes, planner.part(problem.scale, n_columns, problem.size)
    along, across = (row, 0, 1, planes), (0, 0, 1, row)
    rows = Sequences((n_rows, 1, planes), along, along, n_columns, n_columns)
    columns = Sequences((1, 1, row), across, across, n_rows, n_rows)
    ends = PassEnds(swap_in=problem.inverse, swap_out=problem.inverse, scale=share)
    # A group that takes all planes of a row reads whole lines of memory, however few planes there are.
    single = planner.single(n_columns, rows, ends) if planner.params.method != "global" else None
    whole = single and single.schedule.columns * single.lanes >= planes
    first = [single] if single and whole else planner.passes(n_columns, rows, ends)
    return first + planner.passes(n_rows, columns, replace(ends, scale=problem.scale / share))


def _packed_rows(planner: Planner, problem: Problem) -> AxisPass | None:
    """The pass over real rows of even length, two neighbours of which are one complex value; None for other rows, and
    for those that do not fit local memory."""
    real, spectrum, n = problem.in_shape, problem.out_shape, problem.n[1]
    if problem.kind == "c2r":
        real, spectrum = spectrum, real
    if problem.kind == "c2c" or n % 2 or spectrum[2] == n != 2 or (problem.kind == "r2c") == problem.inverse:
        return None
    half, present = n // 2, min(real[2], n)
    ends, steps = PassEnds(), (0, 0, real[2] // 2, 1)
    if real[2] % 2 or present % 2:
        ends, steps = PassEnds("samples", "samples", pixel=1, pixels=present), (0, 0, real[2], 2)
    counts, beyond = (1, 1, real[0] * real[1]), (0, 0, spectrum[2], 1)
    if problem.kind == "r2c":
        rows = Sequences(counts, steps, beyond, -(-present // 2), half + 1)
        ends, pairs = replace(ends, store="complex", scale=problem.scale / 2), "unpack"
    else:
        rows = Sequences(counts, beyond, steps, min(spectrum[2], half + 1), half)
        ends, pairs = replace(ends, load="complex", swap_in=True, swap_out=True, scale=problem.scale), "pack"
    return planner.single(half, rows, ends, replace(ROWS, pairs=pairs, own_mirror=True))


def _turned(rows: Four) -> Four:
    """The steps of columns of an image whose rows have the steps ``rows``."""
    return rows[0], rows[2], rows[3], rows[2]


def _columns_and_rows(planner: Planner, problem: Problem) -> list[AxisPass] | None:
    """Columns of N / joined points, then rows: every pass writes whole lines of memory, whatever the width.

    T_j[k] is the transform of rows j, j + joined, …; row k + p·N/joined of the result is the transform along the row
    of Σ_j w_joined^(j·p) · w_N^(j·k) · T_j[k]. Real images of even width are transformed as pairs of neighbours (see
    fft.cl), and the passes are the other way round where the result is real. Returns None for a size that this does not
    suit.
    """
    kind, (n_rows, n_columns) = problem.kind, problem.n
    planes, in_rows, in_columns = problem.in_shape
    _, out_rows, out_columns = problem.out_shape
    real = kind != "c2c"
    if problem.axes == 1 or problem.params.method == "global" or (real and n_columns % 2):
        return None
    if (kind == "r2c" and problem.inverse) or (kind == "c2r" and in_rows < n_rows):
        return None
    if kind == "c2c" and out_rows < n_rows:  # the rows that are not wanted are among the joined ones
        return None
    pairs = {"c2c": "", "r2c": "unpack", "c2r": "pack", "convolve": "convolve"}[kind]
    present = min(in_columns, n_columns)  # columns; two of a real image are one value
    points = n_columns // 2 if real else n_columns
    wide = points if kind == "c2r" or problem.around else -(-present // 2) if real else present
    columns_last = kind in ("c2r", "convolve")
    divided = out_rows if columns_last else n_rows if problem.around else min(in_rows, n_rows)
    joined = planner.joined(n_rows, divided, points, wide, pairs)
    short = n_rows // joined
    # From row to row of an intermediate: not a power of two, at which caches have the fewest places.
    pitch = -(-wide // 16) * 16 | 16
    if n_rows * pitch >= 2**31:  # steps are ints
        return None
    size = planes * n_rows * pitch
    between: Four = (n_rows * pitch, 0, pitch, 1)
    between_columns: Four = (n_rows * pitch, short * pitch, 1, pitch)
    image_in, image_out = problem.in_steps, problem.out_steps
    swap = problem.inverse and not real
    # The part of the scale that the last columns take, or the first ones if rows follow.
    share = planner.part(problem.scale, short, problem.size)
    if columns_last and not problem.half:
        share = problem.scale
    plan: list[AxisPass] = []

    def columns_of(rows: Four, pixels: int) -> tuple[Four, PassEnds, int]:
        """For an image whose rows have the steps ``rows``: the steps of its columns, or of pairs of real columns; their
        ends; their number."""
        plane, _, row, pixel = rows
        if not real:
            ends = PassEnds("samples" if problem.real_in else "complex")
            return (plane, row, pixel, joined * row), ends, pixels
        if problem.pixels or row % 2 or pixels % 2:
            ends = PassEnds("samples", "samples", pixel=pixel, pixels=pixels)
            return (plane, row, 2 * pixel, joined * row), ends, -(-pixels // 2)
        return (plane // 2, row // 2, 1, joined * row // 2), PassEnds(), pixels // 2

    if kind != "c2r":
        steps, ends, count = columns_of(image_in, present)
        in_n = min(in_rows, n_rows) // joined
        if problem.around:
            after = problem.around.after
            steps, count = (image_in[0], in_columns, 2, joined * in_columns), wide
            ends, in_n = PassEnds("image", pixels=in_columns + after[1]), in_rows + after[0]
        columns = Sequences((planes, joined, count), steps, between_columns, in_n, short)
        scale = 1.0 if columns_last else share
        ends = replace(ends, store="complex", swap_in=swap, swap_out=swap, scale=scale)
        plan += planner.passes(short, columns, ends)
        plan[-1] = replace(plan[-1], temporary=size)

    rows_in, in_n = (image_in, in_columns) if kind == "c2r" else (between, wide)
    rows_out, out_n = (between, wide) if columns_last else (image_out, out_columns)
    sequences = (planes, 1, short // 2 + 1 if real else short)
    partner = (short * rows_in[2], short * rows_out[2])
    rows = Sequences(sequences, rows_in, rows_out, in_n, out_n, joined, partner)
    ends = PassEnds(
        store="samples" if problem.real_out and not real else "complex",
        swap_in=swap or kind == "c2r",
        swap_out=swap,
        scale=problem.scale / share / (2 if kind == "r2c" else 1),
    )
    form = replace(ROWS, pairs=pairs, whole=kind == "r2c" and out_columns == n_columns)
    row = planner.single(points, rows, ends, form)
    if row is None:
        return None
    plan.append(replace(row, gap=short))

    if columns_last:
        plan[-1] = replace(plan[-1], temporary=size)
        steps, ends, count = columns_of(image_out, out_columns)
        columns = Sequences((planes, joined, count), between_columns, steps, short, out_rows // joined)
        plan += planner.passes(short, columns, replace(ends, load="complex", swap_out=True, scale=share))
    return plan
