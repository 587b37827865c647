"""The Fourier transforms of two documents as named variants, beside the least time that they could take.

UAV, SLM and the formulas of bytes are from Intel, "Fast Fourier Transform for Image Processing in DirectX 11", figures
5 to 10. The radices, "empty" and "read-write only" are from StellarWarp, "FFT Implementation". docs/bench.md says which
parts of them are measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

import numpy as np

from ..errors import ParameterError
from ..files import charts
from ..gpu import Gpu
from ..image import Image
from ..params.fft import FftParams
from . import copies as bench
from . import fft_ways as bench_fft_ways
from .copies import Row, ratio
from .fft_ways import Variant
from .report_formats import cell

# Widths and heights: of StellarWarp's tables, of Intel's figure 13, and of its figures 6 to 10.
SIZES = ((1024, 1024), (512, 512), (512, 256))
# On CPUs, where a transform through global memory takes seconds at the others.
CPU_SIZES = ((512, 256),)
# The variant whose kernel does nothing.
EMPTY = "empty"
# The variant whose kernel only reads and writes.
READ_WRITE = "read-write only"
# Bytes of a complex number.
ITEM = np.dtype(np.complex64).itemsize


# -- the documents' formulas: bytes of a transform of rows, of `width` points; columns are the same transposed ---------


def uav_bytes(width: int, height: int, passes: int, texel: int = 16) -> tuple[int, int]:
    """Returns the bytes (read, written) with a dispatch for each pass: figure 5.

    ``texel``: bytes of a texel of the real or the imaginary texture.
    """
    texture = width * height * texel
    return texture * passes * 2 * 2, texture * passes * 2


def slm_bytes(width: int, height: int, texel: int = 16) -> tuple[int, int]:
    """Returns the bytes (read, written) with one dispatch: figures 7 and 8 (figure 7 has 4 where figure 8 has 16)."""
    texture = width * height * texel
    return texture * 2, texture * 2


def lookup_bytes(width: int, height: int, passes: int) -> int:
    """Returns the bytes read of a texture of twiddles, once for each row: figure 9."""
    return width * passes * 16 * height


def predicted_bytes(
    params: FftParams | None,
    width: int,
    height: int,
    radices: Sequence[Sequence[int]],
    texel: int,
    share: float = 1.0,
) -> int:
    """Returns the bytes that the formulas give for both axes, forward and inverse.

    ``radices``: the rows' and the columns'; ``share``: see :func:`gpuops.bench.fft_ways.predicted_share`.

    Without params there is one read and one write an axis. The document's PassCount, log2 of the length, is taken as
    the number of radices, which is the same with radix 2. The library's ``auto`` twiddles are a table.
    """
    moved, lookups = 0, 0
    for length, across, factors in zip((width, height), (height, width), radices or ((), ()), strict=True):
        if params is not None and params.method == "global":
            moved += sum(uav_bytes(length, across, len(factors), texel))
        else:
            moved += sum(slm_bytes(length, across, texel))
        if params is not None and params.twiddle != "compute":
            lookups += lookup_bytes(length, across, len(factors))
    return round(2 * moved * share) + 2 * lookups


def _plan(row: Row) -> str:
    """The radices for a person: 8³·2, or 8³·2 / 8³ where rows and columns differ; empty without a transform."""
    return " / ".join(dict.fromkeys(map(_powers, row.radices)))


def _powers(radices: Sequence[int]) -> str:
    """Writes radices as powers: (8, 8, 8, 2) → 8³·2."""
    counts = ((radix, radices.count(radix)) for radix in dict.fromkeys(radices))
    superscripts = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "·".join(f"{radix}{str(n).translate(superscripts) if n > 1 else ''}" for radix, n in counts)


# -- measuring ----------------------------------------------------------------------------------------------------


def measure(
    gpu: Gpu,
    sizes: Sequence[tuple[int, int]] = (),
    channels: int = 4,
    *,
    form: str = bench_fft_ways.PLANES,
    half: bool = False,
) -> Iterator[Row]:
    """Measures "empty", "read-write only" and all variants at ``sizes`` (width, height), with ``channels`` channels.

    Each row, a forward and an inverse transform, comes when it is measured.

    Parameters
    ----------
    sizes
        The default is :data:`SIZES`, on CPUs :data:`CPU_SIZES`.
    form, half
        The form of the data, a plane of complex numbers for each channel or ``"pairs"`` of channels, and whether they
        are stored in half floats. With others than the usual ones, only the documents' transforms are measured, on such
        data. Four channels in pairs and halves are the texture of the second document.

    Yields
    ------
    Row
        ``variant``, ``width``, ``height`` and ``channels``; ``params`` and ``radices``, of rows and columns, which are
        None and empty where nothing is transformed; ``half``, ``form`` and ``dtype``, those of the variant (see
        :mod:`gpuops.bench.fft_ways`); ``launches``, of both directions; ``predicted_bytes`` and
        ``predicted_half_bytes``, those by the documents' formulas, as stored here and if stored in halves (0 for
        "empty"); ``model_bytes``, which the launches have to read and write by the library's own model, without
        twiddles; ``ms``, the sum of their times in each run, with ``median_ms``, ``gbps`` and ``channel_ms`` (of one
        channel in one direction); ``floor_ms`` and ``floor_bytes``, median and predicted bytes of "read-write only" at
        this size; ``floors``, the median over its; ``predicted_ms``, the time of the predicted bytes at its speed. What
        the device's clock cannot tell is None.

    Raises
    ------
    ParameterError
        Sizes that are no powers of two or beyond 2³¹ elements, no channel, or a gpu without a report (only a
        profiling queue tells times).
    DeviceError
        The device has too little memory.
    """
    bench.need_events(gpu)
    if channels < 1:
        raise ParameterError(f"a transform has 1 channel or more, not {channels}")
    for width, height in sizes:
        if any(n < 2 or n & (n - 1) for n in (width, height)):
            words = f"the documents' transforms are of powers of two from 2 on, not of {width}×{height}"
            raise ParameterError(words)
    data, usual = Variant(FftParams(), form, half), CPU_SIZES if gpu.limits.is_cpu else SIZES
    # Seven images: a copy's source and target; the variant's input, spectrum and result; two temporary ones of UAV.
    for size in bench.checked(gpu, sizes, usual, channels, ITEM, images=7):
        yield from _measure(gpu, *size, channels, data)


def _measure(gpu: Gpu, width: int, height: int, channels: int, data: Variant) -> Iterator[Row]:
    noise = np.random.default_rng(1).standard_normal((channels, height, 2 * width), np.float32)
    values, size = noise.view(np.complex64), (width, height, channels)
    image = gpu.array(bench_fft_ways.data_of(data, values))
    floor = _row(gpu, READ_WRITE, data, size, _copying(gpu, image, image.nbytes // 16), copied=1)
    yield _row(gpu, EMPTY, data, size, _copying(gpu, image, 0), floor, copied=0)
    yield floor
    for name, variant in bench_fft_ways.variants(channels, data.form, half=data.half).items():
        way = bench_fft_ways.way(gpu, variant, values)

        def call(way: bench_fft_ways.Way = way) -> Image:
            return way.back(way.there(way.source))

        yield _row(gpu, name, variant, size, call, floor)


def _copying(gpu: Gpu, image: Image, moved: int) -> Callable[[], object]:
    """Returns a call of a copy's launch for each axis, forward and inverse.

    If less is ``moved``, in float4, there are as many groups, but their work-items do nothing.
    """
    other, items = image.like(), -(-image.nbytes // 16)
    ends = ((image, other), (other, image))
    steps = [bench.copy_step(gpu, source, target, items, moved) for source, target in ends]

    def run() -> None:
        for step in 2 * steps:
            step()

    return run


def _row(
    gpu: Gpu,
    name: str,
    variant: Variant,
    size: tuple[int, int, int],
    call: Callable[[], object],
    floor: Row | None = None,
    *,
    copied: int | None = None,
) -> Row:
    """Measures ``call``. ``floor``: the row of "read-write only", if it is another.

    ``copied``: nothing is transformed, and the data is moved so often for each axis.
    """
    width, height, channels = size
    kernels, moved, ms = bench.times(gpu, call)
    params = variant.params if copied is None else None
    radices = _radices(gpu) if copied is None else ()
    planes = variant.planes(channels)

    def predicted(item: int) -> int:
        share = bench_fft_ways.predicted_share(variant, item) if copied is None else copied
        return predicted_bytes(params, width, height, radices, planes * item, share)

    median_ms, gbps = bench.speed(ms, moved)
    foretold = predicted(2 if variant.half else 4)
    floor_ms, floor_bytes = (floor.median_ms, floor.predicted_bytes) if floor else (median_ms, foretold)
    return Row(
        variant=name, params=params and asdict(params), width=width, height=height, channels=channels,
        radices=radices, half=variant.half, form=variant.form, dtype=variant.dtype, launches=len(kernels),
        predicted_bytes=foretold, predicted_half_bytes=predicted(2), model_bytes=moved, ms=ms,
        floor_ms=floor_ms, floor_bytes=floor_bytes, median_ms=median_ms, floors=ratio(median_ms, floor_ms),
        predicted_ms=ratio(floor_ms * foretold, floor_bytes), channel_ms=median_ms / (2 * channels), gbps=gbps,
    )  # fmt: skip


def _radices(gpu: Gpu) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the radices of rows and of columns in the plan that ran last; an axis may take several passes."""
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    plan = next(reversed(gpu.plans.values()))
    # From one element of a row to the next.
    along = plan.problem.in_shape[0] if plan.problem.interleaved else 1
    for p in plan.passes:
        if p.beside or (not p.split and p.at.in_steps[3] == along):
            rows += p.schedule.radices
            columns += (p.at.joined,) if p.at.joined > 1 else ()  # the radix of columns while rows are loaded
        else:
            columns += p.schedule.radices
    return rows, columns


# The cells of a row, by the table's headings.
_CELLS: dict[str, Callable[[Row], str]] = {
    "forward and inverse": lambda row: str(row.variant),
    "size": lambda row: f"{row.width}×{row.height}×{row.channels}",
    "radices": lambda row: _plan(row) or "-",
    "launches": lambda row: str(row.launches),
    "min ms": lambda row: f"{min(row.ms):.4f}",
    "median": lambda row: f"{row.median_ms:.4f}",
    "formula ms": lambda row: cell(row.predicted_ms, 4),
    "µs/channel": lambda row: f"{1e3 * row.channel_ms:.2f}",
    "× read-write": lambda row: cell(row.floors, 2),
    "formula MB": lambda row: cell(row.predicted_bytes, 2, per=1e6),
    "half MB": lambda row: cell(row.predicted_half_bytes, 2, per=1e6),
    "model MB": lambda row: cell(row.model_bytes, 2, per=1e6),
    "GB/s": lambda row: cell(row.gbps),
}


def table(gpu: Gpu, rows: Sequence[Row]) -> str:
    """Returns the rows as text for a person."""
    return bench.table_of(
        gpu,
        _CELLS,
        rows,
        "R4*: butterflies subdivided into smaller ones, R4: as sums. All kernels of both directions. formula MB: the",
        "documents'; half MB: theirs for half storage; formula ms: what formula MB take at read-write only's speed;",
        "µs/channel: of one direction; model MB: what the launches read and write; GB/s: of the model's at the median.",
    )


def chart(gpu: Gpu, rows: Sequence[Row], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Writes the rows as bars, a panel for each size, to a PNG or SVG; errors as :func:`gpuops.files.charts.check`."""
    charts.check(path, overwrite=overwrite)
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys((row.width, row.height) for row in rows))
    figure = Figure(figsize=(8, 0.6 + len(sizes) + 0.24 * len(rows)), layout="constrained")
    figure.suptitle(bench.heading(gpu), fontsize="small", wrap=True)
    panels = figure.subplots(len(sizes), squeeze=False)[:, 0]
    for panel, size in zip(panels, sizes, strict=True):
        shown = [row for row in rows if (row.width, row.height) == size]
        names = [f"{row.variant}   {_plan(row)}".strip() for row in shown]
        bars = panel.barh(names, [row.median_ms for row in shown])
        panel.bar_label(bars, [f"{row.median_ms:.3g}" for row in shown], padding=3)
        foretold = [
            (row.predicted_ms, name) for row, name in zip(shown, names, strict=True) if row.predicted_ms
        ]
        panel.plot(*zip(*foretold, strict=True), "k|", markersize=10, markeredgewidth=2)
        panel.axvline(shown[0].floor_ms, linestyle="--", color="gray")
        panel.set_xscale("log")
        panel.invert_yaxis()
        panel.margins(x=0.15)
        panel.set_title(f"{size[0]}×{size[1]}, {shown[0].channels} channels")
        panel.set_xlabel("ms, forward and inverse; mark: by the documents' bytes; dashed: read-write only")
    charts.save(figure, path, overwrite=overwrite)
