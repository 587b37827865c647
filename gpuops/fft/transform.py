"""Plans: the passes of a transform over one or two axes, built and bound on a device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from ..errors import ParameterError, TooLongError
from ..gpu import Source
from ..image import COMPLEX_HALF, PIXEL_TYPES
from ..params.fft import FftParams
from . import butterflies, generate, tables
from .planner import ROWS, Ends, Four, Pass, Planner, Sequences
from .schedule import Schedule

if TYPE_CHECKING:
    from ..gpu import Gpu, Step
    from ..image import Image

KEPT_PLANS = 64


Table = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class Surroundings:
    """What stands around an image: ``border`` and ``cval`` of border.cl.

    ``after``: so many rows and columns of it behind the image; the others of the transform's length are before it.
    ``origin``: the pixel at index (0, 0). ``kernels``: of a convolution, 1 for all planes, or as many.
    """

    border: str
    cval: float
    after: tuple[int, int]
    origin: tuple[int, int] = (0, 0)
    kernels: int = 1


@dataclass(frozen=True)
class Problem:
    """A transform: ``axes`` 1 (the last) or 2 (the last two) of (planes, rows, columns).

    ``kind``: ``c2c``, ``r2c`` (half a spectrum, or all of it: as many columns as ``out_shape`` has), ``c2r``, or
    ``convolve``: images by a kernel's half spectrum. ``around``: what stands around the image, instead of zeros.
    ``n``: the transform's lengths along rows and columns. Input beyond them is not read, output beyond not made.
    ``pixels``: the input's type where it is (rows, columns, planes) of pixels, else "". ``half``: complex numbers in
    memory are two half floats.
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
    around: Surroundings | None = None
    pixels: str = ""
    half: bool = False

    @property
    def in_steps(self) -> Four:
        """Of the rows of the input, in elements."""
        planes, _, columns = self.in_shape
        return (1, 0, columns * planes, planes) if self.pixels else _steps(self.in_shape)

    @property
    def real(self) -> np.dtype[np.generic]:
        return np.dtype(np.float64 if self.double else np.float32)

    @property
    def complex(self) -> np.dtype[np.generic]:
        """Of tables, and of what is stored in between and in the end, unless in halves."""
        return np.dtype(np.complex128 if self.double else np.complex64)

    @property
    def stored(self) -> np.dtype[np.generic]:
        return COMPLEX_HALF if self.half else self.complex

    def scale_of(self, points: int) -> float:
        """The part of the scale that a pass over ``points`` takes, so that halves neither overflow nor vanish; in
        other precisions the last pass takes all of it."""
        size = prod(self.n) if self.axes == 2 else self.n[1]
        return float(self.scale ** (log(points) / log(size))) if self.half and size > 1 else 1.0


class Plan:
    """Bound launches of a :class:`Problem`; calling it costs a few microseconds of Python for each."""

    def __init__(self, gpu: Gpu, problem: Problem) -> None:
        self.gpu = gpu
        self.problem = problem
        self.passes = _passes(gpu, problem)
        cache: dict[str, Image] = {}
        self.steps = [_bind(gpu, problem, p, cache) for p in self.passes]
        # Of each pass: elements of its target where that is not the result, whether it multiplies by a spectrum.
        ways = [(p.temporary, p.schedule.twin == "convolve") for p in self.passes]
        self._ways = list(zip(self.steps, *zip(*ways, strict=True), strict=True))
        self._stored = problem.stored
        self._result = problem.real if problem.kind in ("c2r", "convolve") else problem.stored

    def __call__(self, image: Image, spectrum: Image | None = None) -> Image:
        """``spectrum``: the kernel's of a convolution."""
        self.gpu.check_own(image)
        result = image.like(self.problem.out_shape, self._result)
        source = image
        for step, temporary, multiplies in self._ways:
            target = self.gpu.empty((temporary,), self._stored) if temporary else result
            step.kernel.set_arg(0, source.buffer)
            step.kernel.set_arg(4, target.buffer)
            if multiplies and spectrum is not None:
                step.kernel.set_arg(2, spectrum.buffer)
            step()
            source = target
        return result


def plan(gpu: Gpu, problem: Problem) -> Plan:
    """The plan for a problem, kept on the Gpu; the least recently used of many goes."""
    kept = gpu.plans
    found: Plan | None = kept.get(problem)
    if found is None:
        found = kept[problem] = Plan(gpu, problem)
        if len(kept) > KEPT_PLANS:
            kept.popitem(last=False)
    kept.move_to_end(problem)
    return found


def _passes(gpu: Gpu, problem: Problem) -> list[Pass]:
    """ParameterError beyond what addresses of type int reach, TooLongError for rows that need several passes and what
    stands around the image."""
    values = problem.in_shape[0] * prod(problem.n if problem.axes == 2 else problem.in_shape[1:])
    planner = Planner(gpu.limits, problem.params, problem.real.itemsize, values=values)
    n_rows, n_columns = problem.n
    _, rows, columns = problem.in_shape
    if (
        max(rows, n_rows) * max(columns, n_columns) * (1 if problem.axes == 2 else problem.in_shape[0])
        >= 2**31
    ):
        raise ParameterError(f"a transform of {n_rows}×{n_columns} is beyond 2³¹ elements: use a smaller one")
    found = _columns_and_rows(planner, problem)
    if found is None and problem.around:
        raise TooLongError(
            f"{gpu.info.name} has no local memory for rows of {n_columns} points: choose another method than fft"
        )
    return found or _rows_and_columns(planner, problem)


def _steps(shape: tuple[int, int, int]) -> Four:
    """Of the rows of (planes, rows, columns)."""
    return shape[1] * shape[2], 0, shape[2], 1


def _rows_and_columns(planner: Planner, problem: Problem) -> list[Pass]:
    """Rows, then columns; columns, then rows where the result is real. Or rows alone."""
    planes, in_rows, in_columns = problem.in_shape
    _, out_rows, out_columns = problem.out_shape
    rows_n, columns_n = problem.n
    swap, two = problem.inverse, problem.axes == 2
    in_steps, out_steps = problem.in_steps, _steps(problem.out_shape)
    packed = None if two else _packed_rows(planner, problem)
    if packed:
        return [packed]
    if problem.kind == "c2r":
        wide, high = (min(in_columns, columns_n // 2 + 1), out_rows) if two else (in_columns, in_rows)
        between = _steps((planes, high, wide))
        rows = Sequences((1, 1, planes * out_rows), between, out_steps, wide, out_columns)
        last = planner.passes(columns_n, rows, Ends("hermitian", "samples", True, True, problem.scale))
        if not two:
            return last
        columns = Sequences((planes, 1, wide), _turned(in_steps), _turned(between), in_rows, out_rows)
        first = planner.passes(rows_n, columns, Ends(swap_in=True, swap_out=True))
        return [*first[:-1], replace(first[-1], temporary=planes * wide * high), *last]
    load = "samples" if problem.kind == "r2c" else "complex"
    present = min(in_rows, out_rows)  # rows beyond the transform are not needed, beyond the input zero
    rows = Sequences((planes, 1, present), in_steps, out_steps, in_columns, out_columns)
    if present == in_rows == out_rows and not problem.pixels:  # no plane has a gap behind it
        rows = replace(rows, counts=(1, 1, planes * present))
    share = problem.scale_of(columns_n) if two else problem.scale
    first = planner.passes(columns_n, rows, Ends(load, "complex", swap, swap, share))
    if not two:
        return first
    columns = Sequences((planes, 1, out_columns), _turned(out_steps), _turned(out_steps), present, out_rows)
    rest = Ends("complex", "complex", swap, swap, problem.scale / share)
    return first + planner.passes(rows_n, columns, rest)


def _packed_rows(planner: Planner, problem: Problem) -> Pass | None:
    """Real rows of even length, two neighbours a complex value; None where rows are not, or do not fit local memory."""
    real, spectrum, n = problem.in_shape, problem.out_shape, problem.n[1]
    if problem.kind == "c2r":
        real, spectrum = spectrum, real
    if problem.kind == "c2c" or n % 2 or spectrum[2] == n != 2 or (problem.kind == "r2c") == problem.inverse:
        return None
    half, present = n // 2, min(real[2], n)
    ends, steps = Ends(), (0, 0, real[2] // 2, 1)
    if real[2] % 2 or present % 2:
        ends, steps = Ends("samples", "samples", pixel=1, pixels=present), (0, 0, real[2], 2)
    counts, beyond = (1, 1, real[0] * real[1]), (0, 0, spectrum[2], 1)
    if problem.kind == "r2c":
        rows = Sequences(counts, steps, beyond, -(-present // 2), half + 1)
        ends, twin = replace(ends, store="complex", scale=problem.scale / 2), "unpack"
    else:
        rows = Sequences(counts, beyond, steps, min(spectrum[2], half + 1), half)
        ends, twin = replace(ends, load="complex", swap_in=True, swap_out=True, scale=problem.scale), "pack"
    return planner.single(half, rows, ends, replace(ROWS, twin=twin, alone=True))


def _turned(rows: Four) -> Four:
    """Of the columns of what has these steps of rows."""
    return rows[0], rows[2], rows[3], rows[2]


def _columns_and_rows(planner: Planner, problem: Problem) -> list[Pass] | None:
    """Columns of N / joined points, then rows: every pass writes whole lines of memory, whatever the width.

    T_j[k] is the transform of rows j, j + joined, …; row k + p·N/joined of the result is the transform along the row
    of Σ_j w_joined^(j·p) · w_N^(j·k) · T_j[k]. Real images of even width as pairs of neighbours (see fft.cl), and the
    other way round where the result is real. None where this does not suit the size.
    """
    kind, (n_rows, n_columns) = problem.kind, problem.n
    planes, in_rows, in_columns = problem.in_shape
    _, out_rows, out_columns = problem.out_shape
    real = kind != "c2c"
    if problem.axes == 1 or problem.params.method == "global" or (real and n_columns % 2):
        return None
    if (kind == "r2c" and problem.inverse) or (kind == "c2r" and in_rows < n_rows):
        return None
    twin = {"c2c": "", "r2c": "unpack", "c2r": "pack", "convolve": "convolve"}[kind]
    present = min(in_columns, n_columns)  # of real images: columns, of which two are a value
    points = n_columns // 2 if real else n_columns
    wide = points if kind == "c2r" or problem.around else -(-present // 2) if real else present
    divided = {"c2r": n_rows, "convolve": out_rows}.get(
        kind, n_rows if problem.around else min(in_rows, n_rows)
    )
    joined = planner.joined(n_rows, divided, points, wide, twin)
    short = n_rows // joined
    pitch = _pitch(wide)
    if n_rows * pitch >= 2**31:  # steps are ints
        return None
    size = planes * n_rows * pitch
    between: Four = (n_rows * pitch, 0, pitch, 1)
    between_columns: Four = (n_rows * pitch, short * pitch, 1, pitch)
    image_in, image_out = problem.in_steps, _steps(problem.out_shape)
    swap, share = problem.inverse and not real, problem.scale_of(short)
    passes = []

    def columns_of(rows: Four, pixels: int) -> tuple[Four, Ends, int]:
        """Steps of columns, or of pairs of real ones, of an image with these of rows; what they are; how many."""
        plane, _, row, pixel = rows
        if not real:
            return (plane, row, 1, joined * row), Ends(), pixels
        if problem.pixels or row % 2 or pixels % 2:
            ends = Ends("samples", "samples", pixel=pixel, pixels=pixels)
            return (plane, row, 2 * pixel, joined * row), ends, -(-pixels // 2)
        return (plane // 2, row // 2, 1, joined * row // 2), Ends(), pixels // 2

    if kind != "c2r":
        steps, ends, count = columns_of(image_in, present)
        in_n = min(in_rows, n_rows) // joined
        if problem.around:
            after = problem.around.after
            steps, count = (image_in[0], in_columns, 2, joined * in_columns), wide
            ends, in_n = Ends("image", pixels=in_columns + after[1]), in_rows + after[0]
        columns = Sequences((planes, joined, count), steps, between_columns, in_n, short)
        ends = replace(ends, store="complex", swap_in=swap, swap_out=swap, scale=share)
        passes += planner.passes(short, columns, ends)
        passes[-1] = replace(passes[-1], temporary=size)

    rows_in, in_n = (image_in, in_columns) if kind == "c2r" else (between, wide)
    rows_out, out_n = (between, wide) if kind in ("c2r", "convolve") else (image_out, out_columns)
    sequences = (planes, 1, short // 2 + 1 if real else short)
    partner = (short * rows_in[2], short * rows_out[2])
    rows = Sequences(sequences, rows_in, rows_out, in_n, out_n, joined, partner)
    ends = Ends(
        swap_in=swap or kind == "c2r",
        swap_out=swap,
        scale=problem.scale / share / (2 if kind == "r2c" else 1),
    )
    form = replace(ROWS, twin=twin, whole=kind == "r2c" and out_columns == n_columns)
    row = planner.single(points, rows, ends, form)
    if row is None:
        return None
    passes.append(replace(row, gap=short))

    if kind in ("c2r", "convolve"):
        passes[-1] = replace(passes[-1], temporary=size, ends=replace(ends, scale=1.0))
        steps, ends, count = columns_of(image_out, out_columns)
        columns = Sequences((planes, joined, count), between_columns, steps, short, out_rows // joined)
        passes += planner.passes(
            short, columns, replace(ends, load="complex", swap_out=True, scale=problem.scale)
        )
    return passes


def _pitch(wide: int) -> int:
    """Of an intermediate's rows: not a power of two, in which caches have the fewest places."""
    return -(-wide // 16) * 16 | 16


def _bind(gpu: Gpu, problem: Problem, p: Pass, cache: dict[str, Image]) -> Step:
    """The launch of a pass; its input, factors and output are arguments 0, 2 and 4."""
    real = "double" if problem.double else "float"
    schedule, at, ends, around = p.schedule, p.at, p.ends, problem.around
    fixed = not Planner(gpu.limits, problem.params).vectors  # on CPUs all this is not worth another build
    # What a kernel is compiled for; −2: for any.
    elements = -2 if not fixed or p.split else schedule.points if p.kind == "local" else p.n
    spectrum = elements * 2 if schedule.whole else elements + 1  # of what was packed
    twins = bool(schedule.twin) and not schedule.alone
    inside = schedule.length  # Bluestein's convolution in this very kernel: with both its chirps
    factor = "unchirp" if inside else ends.factor
    image = around if ends.load == "image" else None
    transfer = around if schedule.twin == "convolve" else None
    pairs = ends.pixels if "samples" in (ends.load, ends.store) else 0
    defines: dict[str, bool | int | float | str | None] = {
        "UNALIASED": "" if gpu.device.type & cl.device_type.CPU else "restrict",
        "REAL": real, "LANES": p.lanes, "WIDTH": 2 * p.lanes,
        "CHANNELS": at.counts[0] if problem.pixels and ends.load == "samples" else None,
        "STORED_HALF": problem.half,
        "LOAD_SAMPLES": ends.load == "samples", "STORE_SAMPLES": ends.store == "samples", "LOAD_IMAGE": bool(image),
        "ALL_PAIRS": pairs > 0 and pairs % 2 == 0, "PAIR_STEP": ends.pixel if fixed and pairs else None,
        "PAIRS_ALONG": schedule.alone,
        "LOAD_HERMITIAN": ends.load == "hermitian", "LENGTH": (p.convolved or p.n) * (ends.load == "hermitian") or None,
        # Swapped values times the chirp are swapped products with its conjugate.
        "SWAP_IN": ends.swap_in, "SWAP_OUT": ends.swap_out != bool(inside),
        "FACTOR_IN": bool(inside) or factor == "chirp", "FACTOR_OUT": {"filter": 1, "unchirp": -1}.get(factor),
        "FACTORS": (inside or (p.n if factor == "filter" else p.convolved)) if factor else None,
        "FACTOR_BY": ("i" if inside else "n") if factor else None,
        "TWIN": p.gap if twins else None, "JOINED": at.joined if twins else None,
        "SPECTRUM_IN": twins and schedule.twin == "pack", "PITCH": schedule.points + 1 if transfer else None,
        "IN_ALL": at.in_n == (spectrum if schedule.twin == "pack" else elements),
        "OUT_ALL": at.out_n == (spectrum if schedule.twin == "unpack" else elements),
        "UNSCALED": fixed and ends.scale == 1,
        "IN_STEP": at.in_steps[3] if fixed else None, "OUT_STEP": at.out_steps[3] if fixed else None,
        "LANES_IN_ORDER": p.lanes > 1 and at.in_steps[2] == 1 and ends.load == "complex",
        "LANES_OUT_ORDER": p.lanes > 1 and at.out_steps[2] == 1 and ends.store == "complex",
        "SPLIT": p.split or None, "GAP": p.gap if p.split else None, "SPLIT_BESIDE": p.beside,
        "SWAPPED": bool(inside) and p.split == 1,
    }  # fmt: skip
    edge = (0, 0, 0, 0)
    if image:
        edge = (*problem.in_shape[1:], *image.origin)
        high, wide = problem.n
        defines |= {f"BORDER_{image.border.upper()}": True, "CVAL": f"{float(image.cval)!r}f"}
        defines |= {"HIGH": high, "WIDE": wide}
        if fixed:
            defines |= {"ROWS": problem.in_shape[1], "COLUMNS": problem.in_shape[2]}
    if transfer:
        edge = (problem.n[0] if transfer.kernels > 1 else 0, 0, 0, 0)
    if problem.pixels and ends.load == "samples":
        dtype = np.dtype(problem.pixels)
        gain = 1 / np.iinfo(dtype.name).max if dtype.kind == "u" else 1.0
        defines |= {"SAMPLE": PIXEL_TYPES[problem.pixels], "GAIN": f"{gain!r}f", "HALF": dtype == np.float16}
    count = (at.counts[2], at.counts[1], at.in_n, at.out_n)
    more = (*at.partner, ends.pixel, ends.pixels)
    steps = (at.in_steps, at.out_steps, more, count, edge)
    scale = np.array([ends.scale], problem.real)  # a float of either precision would be passed in single
    groups = at.counts[0] * at.counts[1] * -(-at.counts[2] // (schedule.columns * p.lanes))

    def table(name: str, make: Callable[[], Table]) -> Image:
        if name not in cache:
            cache[name] = gpu.array(make().astype(problem.complex))
        return cache[name]

    factors = roots = None
    if factor == "filter":
        factors = table(f"filter {p.n}", lambda: tables.filter(p.convolved, p.n))
    elif factor:
        factors = table(f"chirp {inside or p.convolved}", lambda: tables.chirp(inside or p.convolved))
    turns = p.n if p.split == 1 else at.joined * p.gap if at.joined > 1 else 0
    if turns:
        roots = table(f"roots {turns}", lambda: tables.roots(turns))
    across = (at.joined,) if at.joined > 1 else ()
    unrolled = butterflies.LARGEST_UNROLLED if fixed else butterflies.LARGEST_UNROLLED_ON_CPUS
    text = butterflies.butterflies((*schedule.radices, *across), real, unrolled)
    label = f"{'convolve' if around else 'fft'} {'inverse ' * problem.inverse}{p.kind} {p.n}"
    size: tuple[int, ...]
    rest: tuple[int, ...] = ()
    if p.kind == "local":
        text += generate.local_kernel(schedule, real, not fixed)
        constants = table(f"{schedule.radices} {inside} {schedule.twin != ''}", lambda: _constants(schedule))
        size = (groups * schedule.group,)
    else:
        radix = schedule.radices[0]
        text += generate.global_kernel(radix, schedule.computed)
        label += f" radix {radix}"
        constants = table(f"{p.stride} {radix}", lambda: tables.stage(p.stride, radix))
        size, rest = (groups * (p.n // radix),), (p.n // radix, p.stride, groups)
        defines["ALONG"] = schedule.along
    sources: tuple[str | Source, ...] = ("fft", Source("fft_generated", text, once=True))
    kernel = gpu.kernel(("border", *sources) if image else sources, f"fft_{p.kind}", **defines)
    return gpu.bind(
        kernel, size, None, constants, factors, roots, None, *steps, scale, *rest,
        local=(schedule.group,) if p.kind == "local" else kernel.fit(256),
        label=label, traffic=_traffic(p, problem),
    )  # fmt: skip


def _constants(schedule: Schedule) -> Table:
    """Twiddles; behind them Bluestein's filter, or what separates twins."""
    values = [tables.twiddles(schedule.radices)]
    if schedule.length:
        values.append(tables.filter(schedule.length, schedule.points))
    if schedule.twin:
        values.append(tables.roots(2 * schedule.points))
    return np.concatenate(values)


def _traffic(p: Pass, problem: Problem) -> int:
    """Bytes of the samples that exist and of the results that are wanted."""
    at, schedule, size = p.at, p.schedule, 2 if problem.half else problem.real.itemsize
    twins = schedule.twin and not schedule.alone
    sequences = at.counts[0] * p.gap * at.joined if twins else at.total // (p.gap if p.split else 1)
    read, written = (
        sequences
        * n
        * (p.gap if p.split == half else 1)
        * (1 if what == "samples" and not p.ends.pixels else 2)
        for n, half, what in ((at.in_n, 2, p.ends.load), (at.out_n, 1, p.ends.store))
    )
    if p.ends.load == "image" or (p.ends.load == "samples" and problem.pixels):
        pixel = np.dtype(problem.pixels or problem.real).itemsize
        return prod(problem.in_shape) * pixel + written * size
    transfer = 2 * sequences * schedule.points * (schedule.twin == "convolve")
    return (read + written + transfer) * size
