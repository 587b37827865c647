"""Plans: transforms whose passes are built and bound on a device."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import prod

import numpy as np
import pyopencl as cl

from ...gpu import Argument, BoundLaunch, Define, GeneratedSource, Gpu, Kernel, Local
from ...image import Image
from ...pixels.coding import Encoding
from . import butterflies, local_kernel, tables, wide_kernel
from .passes import passes
from .planner import AxisPass
from .problem import Problem
from .schedule import LARGEST_UNROLLED, SHARED


class TransformPlan:
    """Bound launches of a :class:`Problem`; a call of the plan costs a few microseconds of Python for each launch."""

    def __init__(self, gpu: Gpu, problem: Problem) -> None:
        self.gpu = gpu
        self.problem = problem
        self.passes = passes(gpu.limits, problem)
        self.steps = bound_launches(gpu, problem, self.passes)
        self._stored = problem.stored
        # While it is kept the plan takes bytes of tables on the device, and programs that suit its size only.
        self.nbytes = sum(step.nbytes for step in self.steps)
        self.programs = {step.of for step in self.steps if step.of.once}
        self._result = problem.result

    def __call__(
        self,
        image: Image,
        spectrum: Image | None = None,
        *,
        lost: Image | None = None,
    ) -> Image:
        """Transforms ``image``. ``spectrum`` is that of a convolution's kernel; ``lost`` are encode.cl's counts where
        pixels are written."""
        self.gpu.check_own(image)
        result = image.like(*self._result)
        source = image
        with self.gpu.lock:  # all threads that call the plan share its kernels' arguments
            if lost is not None:
                self.steps[-1].kernel.set_arg(LOST, lost.buffer)
            for step, p in zip(self.steps, self.passes, strict=True):
                target = self.gpu.empty((p.temporary,), self._stored) if p.temporary else result
                step.kernel.set_arg(0, source.buffer)
                step.kernel.set_arg(4, target.buffer)
                if p.schedule.pairs == "convolve" and spectrum is not None:
                    step.kernel.set_arg(2, spectrum.buffer)
                step()
                source = target
        return result


def plan(gpu: Gpu, problem: Problem) -> TransformPlan:
    """The plan for a problem, kept on the Gpu. Raises DeviceError for double precision if the device has none."""
    if problem.double:
        gpu.check_double()
    return gpu.kept(problem, lambda: TransformPlan(gpu, problem))


# -- Launches: the kernel that a pass is generated and compiled as, and the arguments that it is called with -----

LOST = 12  # the number of the kernel's argument that counts values lost in pixels
#: The most work-items in a group of a stage in global memory.
GROUP = 256
#: The most complex values of such a group on a CPU: all of them may lie on one thread's stack.
ON_A_STACK = 4096


def bound_launches(gpu: Gpu, problem: Problem, passes: Sequence[AxisPass]) -> list[BoundLaunch]:
    """Returns the launches of passes. Their arguments 0, 2 and 4 are input, factors and output; argument :data:`LOST`
    counts values that do not fit into pixels that are written."""
    requests = [(_sources(problem, p), f"fft_{p.kind}", _defines(gpu, problem, p)) for p in passes]
    kept: dict[Hashable, Image] = {}
    return [
        _bind(gpu, problem, p, kernel, kept) for p, kernel in zip(passes, gpu.kernels(requests), strict=True)
    ]


def _bind(
    gpu: Gpu, problem: Problem, p: AxisPass, kernel: Kernel, cache: dict[Hashable, Image]
) -> BoundLaunch:
    """Returns the launch of a pass; ``cache`` keeps tables."""
    schedule, at, ends = p.schedule, p.at, p.ends
    groups = at.counts[0] * at.counts[1] * -(-at.counts[2] // (schedule.columns * p.lanes))
    label = f"{'convolve' if problem.around else 'fft'} {'inverse ' * problem.inverse}{p.kind} {p.n}"
    size: tuple[int, ...] = (groups * schedule.group,)
    rest: tuple[Argument, ...] = ()
    local: tuple[int, ...] = (schedule.group,)
    if p.kind == "wide":
        stages, places = (gpu.array(make(schedule)) for make in (wide_kernel.stages, wide_kernel.places))
        memory = schedule.points * schedule.loaded * p.lanes * problem.complex.itemsize
        rest = (_lengths(p), schedule.points, stages.shape[0], stages, places, Local(memory))
    if p.kind == "global":
        radix = schedule.radices[0]
        most = max(1, ON_A_STACK // (radix * p.lanes)) if gpu.limits.is_cpu else GROUP
        local = kernel.fit(min(GROUP, most))
        label += f" radix {radix}"
        size, rest = (groups * (p.n // radix),), (p.n // radix, p.stride, groups)
    count = (at.counts[2], at.counts[1], at.in_n, at.out_n)
    more = (*(problem.n if ends.load == "image" else at.partner), ends.pixel, ends.pixels)
    shape = (at.in_steps, at.out_steps, more, count, _edge(problem, p))
    scale = np.array([ends.scale], problem.real)  # a float of either precision would be passed in single
    written = _written(problem, p)
    encoding = (written.codes(gpu), None) if written else ()
    return gpu.bind(
        kernel, size, None, *_tables(gpu, problem, p, cache), None, *shape, scale, *encoding, *rest,
        local=local, label=label, traffic=_traffic(p, problem),
    )  # fmt: skip


def _sources(problem: Problem, p: AxisPass) -> tuple[str | GeneratedSource, ...]:
    """The parts of a pass's program: its reading and writing, its butterflies, and its kernel."""
    real, schedule = "double" if problem.double else "float", p.schedule
    own = [r for i, r in enumerate(schedule.radices) if not (schedule.share and i == SHARED)]
    if p.kind == "wide":
        own = wide_kernel.straight(schedule)
    subdivided = problem.params.butterfly == "subdivided"
    text = butterflies.butterflies((*own, p.at.joined), real, LARGEST_UNROLLED, subdivided)
    if p.kind == "local":
        text += local_kernel.definitions(schedule, real)
    elif p.kind == "wide":
        text += wide_kernel.definitions(schedule)
    before: tuple[str, ...] = ("border",) if p.ends.load == "image" else ()
    if _written(problem, p):
        before = ("lanes", "colour", "encode")
    loops = ("fft_prime",) if p.kind == "wide" or "dft_of_prime" in text else ()
    behind: tuple[str, ...] = (f"fft_{p.kind}",)
    if p.kind == "local":
        rader, pairs = ("fft_rader",) * bool(schedule.share), ("fft_pairs",) * bool(schedule.pairs)
        behind = ("fft_stages", *rader, *pairs, "fft_local")
    generated = GeneratedSource("fft_generated", text, once=p.kind != "wide", long=True)
    return (*before, "fft", "fft_take", "fft_give", *loops, generated, *behind)


def _written(problem: Problem, p: AxisPass) -> Encoding | None:
    """The encoding of the pixels that a pass writes; None if it writes none."""
    return problem.written.encoding if problem.written and p.real_out else None


def _defines(gpu: Gpu, problem: Problem, p: AxisPass) -> dict[str, Define]:
    """The definitions that the head of fft.cl lists."""
    schedule, at, ends, fixed = p.schedule, p.at, p.ends, p.kind != "wide"
    # The number of elements that a kernel is compiled for; −2: any number.
    elements = -2 if not fixed or p.split else schedule.points if p.kind == "local" else p.n
    spectrum = elements * 2 if schedule.whole else elements + 1  # elements of the spectrum of unpacked values
    opposites = bool(schedule.pairs) and not schedule.own_mirror
    inside = bool(schedule.length)  # this kernel does all of Bluestein's convolution, with both chirps
    factor = "unchirp" if inside else ends.factor
    length, factors, gap, pitch = _lengths(p)
    pairs = ends.pixels if "samples" in (ends.load, ends.store) else 0
    of_pixels = (problem.read and p.real_in) or (problem.written and p.real_out)
    on_cpu = bool(gpu.device.type & cl.device_type.CPU)
    defines: dict[str, Define] = {
        "UNALIASED": "" if on_cpu else "restrict", "UNFUSED": on_cpu and p.kind == "local",
        "REAL": "double" if problem.double else "float", "LANES": p.lanes, "REALS": 2 * p.lanes,
        "PLANES": at.counts[0] if of_pixels else None, "PIXEL_STEP": ends.pixel if of_pixels and pairs else None,
        "HALF_IN": problem.half and not p.real_in, "HALF_OUT": problem.half and not p.real_out,
        "LOAD_SAMPLES": ends.load == "samples", "STORE_SAMPLES": ends.store == "samples",
        "LOAD_IMAGE": ends.load == "image",
        "ALL_PAIRS": pairs > 0 and pairs % 2 == 0, "PAIR_STEP": ends.pixel if (fixed or of_pixels) and pairs else None,
        "PAIRS_ALONG": schedule.own_mirror,
        "ANY_LENGTH": not fixed,
        "LOAD_HERMITIAN": ends.load == "hermitian",
        "LENGTH": length if ends.load == "hermitian" and fixed else None,
        # Swapped values times the chirp are swapped products with its conjugate.
        "SWAP_IN": ends.swap_in, "SWAP_OUT": ends.swap_out != inside,
        "FACTOR_IN": inside or factor == "chirp", "FACTOR_OUT": {"filter": 1, "unchirp": -1}.get(factor),
        "FACTORS": factors if factor and fixed else None,
        "FACTOR_BY": ("i" if inside else "n") if factor else None,
        "OPPOSITES": opposites, "APART": p.gap if opposites and fixed else None, "JOINED": at.joined,
        "SPECTRUM_IN": opposites and schedule.pairs == "pack",
        "PITCH": pitch if schedule.pairs == "convolve" and fixed else None,
        "IN_ALL": at.in_n == (spectrum if schedule.pairs == "pack" else elements),
        "OUT_ALL": at.out_n == (spectrum if schedule.pairs == "unpack" else elements),
        "UNSCALED": fixed and ends.scale == 1,
        "IN_STEP": at.in_steps[3] if fixed else None, "OUT_STEP": at.out_steps[3] if fixed else None,
        "LANES_IN_ORDER": p.lanes > 1 and at.in_steps[2] == 1 and ends.load == "complex",
        "LANES_OUT_ORDER": p.lanes > 1 and at.out_steps[2] == 1 and ends.store == "complex",
        "SPLIT": p.split or None, "GAP": gap if p.split and fixed else None, "SPLIT_BESIDE": p.beside,
        "SWAPPED": inside and p.split == 1,
    }  # fmt: skip
    if p.kind == "global":
        radix = schedule.radices[0]
        defines |= {"RADIX": radix, "UNROLLED_RADIX": radix if radix <= LARGEST_UNROLLED else 1}
        defines |= {"ALONG": schedule.along, "COMPUTED": schedule.computed}
    if problem.around and ends.load == "image":
        defines |= problem.around.defines()
        if fixed:
            rows, columns = problem.in_shape[1:]
            defines |= {"HIGH": problem.n[0], "WIDE": problem.n[1], "ROWS": rows, "COLUMNS": columns}
    if problem.read and p.real_in:
        defines |= problem.read.defines()
    if problem.written and p.real_out:
        defines |= problem.written.written(p.lanes)
    return defines


def _lengths(p: AxisPass) -> tuple[int, int, int, int]:
    """The values of fft.cl's LENGTH, FACTORS, GAP and PITCH."""
    factors = p.schedule.length or (p.n if p.ends.factor == "filter" else p.convolved)
    return p.convolved or p.n, factors, p.gap if p.split else 1, p.schedule.points + 1


def _edge(problem: Problem, p: AxisPass) -> tuple[int, int, int, int]:
    """The member ``edge`` of fft.cl's Shape. For an image it is height, width and origin. For other inputs it is the
    number of rows of a plane's transfer function (0: one for all planes), and then the distance of opposites.
    """
    around = problem.around
    if around and p.ends.load == "image":
        return *problem.in_shape[1:], *around.origin
    several = around is not None and p.schedule.pairs == "convolve" and around.kernels > 1
    return problem.n[0] if several else 0, p.gap, 0, 0


def _tables(
    gpu: Gpu, problem: Problem, p: AxisPass, cache: dict[Hashable, Image]
) -> tuple[Image, Image | None, Image | None]:
    """Three tables: the twiddles and the constants behind them; Bluestein's factors; the turns of halves or of joined
    sequences."""

    def table(make: Callable[..., tables.Complex], *args: object) -> Image:
        key = make, args
        if key not in cache:
            cache[key] = gpu.array(make(*args).astype(problem.complex))
        return cache[key]

    s, convolved, factors, roots = p.schedule, p.schedule.length or p.convolved, None, None
    if p.kind == "global":
        constants = table(tables.stage, p.stride, s.radices[0])
    else:
        sums = (s.radices[SHARED], s.share * s.pieces) if s.share else None
        loops = wide_kernel.looped(s) if p.kind == "wide" else ()
        constants = table(tables.constants, s.radices, s.length, bool(s.pairs), sums, loops)
    if not s.length and p.ends.factor == "filter":
        factors = table(tables.filter, convolved, p.n)
    elif s.length or p.ends.factor:
        factors = table(tables.chirp, convolved)
    turns = p.n if p.split == 1 else p.at.joined * p.gap if p.at.joined > 1 else 0
    if turns:
        roots = table(tables.roots, turns)
    return constants, factors, roots


def _traffic(p: AxisPass, problem: Problem) -> int:
    """The bytes of the samples that exist and of the results that are wanted."""
    at, schedule, stored = p.at, p.schedule, problem.stored.itemsize // 2
    opposites = schedule.pairs and not schedule.own_mirror
    sequences = at.counts[0] * p.gap * at.joined if opposites else at.total // (p.gap if p.split else 1)

    def moved(elements: int, what: str, is_image: bool) -> int:
        numbers = 1 if what == "samples" and not p.ends.pixels else 2
        return sequences * elements * numbers * (problem.real.itemsize if is_image else stored)

    read = moved(at.in_n * (p.gap if p.split == 2 else 1), p.ends.load, p.real_in)
    written = moved(at.out_n * (p.gap if p.split == 1 else 1), p.ends.store, p.real_out)
    if p.real_in and (problem.around or problem.read):
        pixel = np.dtype(problem.read.dtype if problem.read else problem.real).itemsize
        read = prod(problem.in_shape) * pixel
    if p.real_out and problem.written:
        written = prod(problem.out_shape) * np.dtype(problem.written.dtype).itemsize
    transfer = 2 * sequences * schedule.points * stored * (schedule.pairs == "convolve")
    return read + written + transfer
