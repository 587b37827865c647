"""The Fourier transforms of two documents as named variants, beside the least time that they could take.

UAV, SLM and the formulas of bytes are from Intel, "Fast Fourier Transform for Image Processing in DirectX 11", figures
5 to 10. The radices, "empty" and "read-write only" are from StellarWarp, "FFT Implementation". docs/bench.md says which
parts of them are measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..files import charts
from ..params.fft import FftParams
from . import copies as bench
from . import fft_ways as bench_fft_ways
from . import tables
from .fft_ways import Variant
from .report_formats import cell

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..image import Image

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
    total, lookups = 0, 0
    axes = ((width, height), (height, width))
    for (length, across), factors in zip(axes, radices or ((), ()), strict=True):
        uav = params is not None and params.method == "global"
        moved = uav_bytes(length, across, len(factors), texel) if uav else slm_bytes(length, across, texel)
        total += sum(moved)
        if params is not None and params.twiddle != "compute":
            lookups += lookup_bytes(length, across, len(factors))
    return round(2 * total * share) + 2 * lookups


def _powers(radices: Sequence[int]) -> str:
    """Writes radices as powers: (8, 8, 8, 2) → 8³·2."""
    counts = ((radix, radices.count(radix)) for radix in dict.fromkeys(radices))
    superscripts = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "·".join(f"{radix}{str(n).translate(superscripts) if n > 1 else ''}" for radix, n in counts)


# -- measuring ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FftRow(tables.Row):
    """One variant at one size: a forward and an inverse transform of ``channels`` channels.

    Attributes
    ----------
    params, radices
        The transform's parameters, and the radices of rows and columns; None and empty where nothing is transformed.
    form, dtype
        The form of the data, one of those of :mod:`gpuops.bench.fft_ways`, and the type of pixels.
    half
        Real and imaginary parts are stored in 16 bits, and computations use 32.
    launches
        The number of kernel launches, in both directions.
    predicted_bytes, predicted_half_bytes
        The bytes by the documents' formulas, as stored here and if stored in halves; 0 for "empty".
    model_bytes
        The bytes that the launches have to read and write by the library's own model, without twiddles.
    ms
        The sum of all launches' times in each run, by their events.
    floor_ms, floor_bytes
        The median of "read-write only" at this size, and its predicted bytes.
    """

    variant: str
    params: FftParams | None
    width: int
    height: int
    channels: int
    radices: tuple[tuple[int, ...], ...]
    half: bool
    form: str
    dtype: str
    launches: int
    predicted_bytes: int
    predicted_half_bytes: int
    model_bytes: int
    ms: tuple[float, ...]
    floor_ms: float = 0.0
    floor_bytes: int = 0
    more = ("median_ms", "floors", "predicted_ms", "channel_ms", "gbps")

    @property
    def plan(self) -> str:
        """The radices for a person: 8³·2, or 8³·2 / 8³ where rows and columns differ; empty without a transform."""
        return " / ".join(dict.fromkeys(map(_powers, self.radices)))

    @property
    def floors(self) -> float | None:
        """The median time over that of "read-write only"; None where the device's clock cannot tell."""
        return self.median_ms / self.floor_ms if self.floor_ms > 0 else None

    @property
    def predicted_ms(self) -> float | None:
        """The time that the predicted bytes take at the speed of "read-write only"; None where that is not known."""
        return self.floor_ms * self.predicted_bytes / self.floor_bytes if self.floor_bytes else None

    @property
    def channel_ms(self) -> float:
        """The time of one channel in one direction."""
        return self.median_ms / (2 * self.channels)


def check_size(gpu: Gpu, width: int, height: int, channels: int) -> None:
    """Raises ParameterError for a size that the documents' variants do not have, DeviceError for too little memory."""
    name = f"{width}×{height}"
    if any(n < 2 or n & (n - 1) for n in (width, height)):
        raise ParameterError(f"the documents' transforms are of powers of two from 2 on, not of {name}")
    if channels < 1:
        raise ParameterError(f"a transform has 1 channel or more, not {channels}")
    # Seven images: a copy's source and target; the variant's input, spectrum and result; two temporary ones of UAV.
    bench.check_memory(gpu, (width, height), channels, ITEM, images=7)


def measure(
    gpu: Gpu,
    sizes: Sequence[tuple[int, int]] = (),
    channels: int = 4,
    *,
    form: str = bench_fft_ways.PLANES,
    half: bool = False,
) -> Iterator[FftRow]:
    """Measures "empty", "read-write only" and all variants at ``sizes`` (width, height), with ``channels`` channels.

    Each row comes when it is measured.

    Parameters
    ----------
    sizes
        The default is :data:`SIZES`, on CPUs :data:`CPU_SIZES`.
    form, half
        The form of the data, a plane of complex numbers for each channel or ``"pairs"`` of channels, and whether they
        are stored in half floats. With others than the usual ones, only the documents' transforms are measured, on such
        data. Four channels in pairs and halves are the texture of the second document.

    Raises
    ------
    ParameterError
        Sizes that are no powers of two or beyond 2³¹ elements, no channel, or a gpu without a report (only a
        profiling queue tells times).
    DeviceError
        The device has too little memory.
    """
    bench.need_events(gpu)
    sizes = tuple(dict.fromkeys(sizes)) or (CPU_SIZES if gpu.limits.is_cpu else SIZES)
    for size in sizes:  # all sizes are checked before the first is measured
        check_size(gpu, *size, channels)
    data = Variant(FftParams(), form, half)
    for size in sizes:
        yield from _measure(gpu, *size, channels, data)


def _measure(gpu: Gpu, width: int, height: int, channels: int, data: Variant) -> Iterator[FftRow]:
    noise = np.random.default_rng(1).standard_normal((channels, height, 2 * width), np.float32)
    values, size = noise.view(np.complex64), (width, height, channels)
    empty, copy = _floors(gpu, gpu.array(bench_fft_ways.data_of(data, values)))
    floor = _row(gpu, READ_WRITE, data, size, copy, copied=1)

    def beside(row: FftRow) -> FftRow:
        return replace(row, floor_ms=floor.median_ms, floor_bytes=floor.predicted_bytes)

    yield beside(_row(gpu, EMPTY, data, size, empty, copied=0))
    yield beside(floor)
    for name, variant in bench_fft_ways.variants(channels, data.form, half=data.half).items():
        way = bench_fft_ways.way(gpu, variant, values)

        def call(way: bench_fft_ways.Way = way) -> Image:
            return way.back(way.there(way.source))

        yield beside(_row(gpu, name, variant, size, call))


def _floors(gpu: Gpu, image: Image) -> tuple[Callable[[], object], Callable[[], object]]:
    """Returns calls of the launches for each axis, forward and inverse: of "empty", and of "read-write only".

    The launches of "empty" have as many groups, but their work-items do nothing."""
    kernel, other, items = gpu.kernel("copy", "copy"), image.like(), -(-image.nbytes // 16)

    def copies(moved: int) -> Callable[[], object]:
        there, back = (
            gpu.bind(
                kernel, (items,), source, target, np.uint64(moved), local=kernel.fit(256), traffic=2 * 16 * moved
            )
            for source, target in ((image, other), (other, image))
        )  # fmt: skip

        def run() -> None:
            for step in (there, back, there, back):
                step()

        return run

    return copies(0), copies(image.nbytes // 16)


def _row(
    gpu: Gpu,
    name: str,
    variant: Variant,
    size: tuple[int, int, int],
    call: Callable[[], object],
    *,
    copied: int | None = None,
) -> FftRow:
    """Measures ``call``. ``copied``: nothing is transformed, and the data is moved so often for each axis."""
    width, height, channels = size
    kernels, ms = bench.times(gpu, call)
    params = variant.params if copied is None else None
    radices = _radices(gpu) if copied is None else ()
    planes = variant.planes(channels)

    def predicted(item: int) -> int:
        share = bench_fft_ways.predicted_share(variant, item) if copied is None else copied
        return predicted_bytes(params, width, height, radices, planes * item, share)

    return FftRow(
        name, params, width, height, channels, radices, variant.half, variant.form, variant.dtype,
        sum(len(k.ms) for k in kernels), predicted(2 if variant.half else 4), predicted(2),
        sum(k.traffic * len(k.ms) for k in kernels), ms,
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
_CELLS: dict[str, Callable[[FftRow], str]] = {
    "forward and inverse": lambda row: row.variant,
    "size": lambda row: f"{row.width}×{row.height}×{row.channels}",
    "radices": lambda row: row.plan or "-",
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


def table(gpu: Gpu, rows: Sequence[FftRow]) -> str:
    """Returns the rows as text for a person."""
    return tables.table(
        gpu,
        _CELLS,
        rows,
        "R4*: butterflies subdivided into smaller ones, R4: as sums. All kernels of both directions. formula MB: the",
        "documents'; half MB: theirs for half storage; formula ms: what formula MB take at read-write only's speed;",
        "µs/channel: of one direction; model MB: what the launches read and write; GB/s: of the model's at the median.",
    )


def chart(gpu: Gpu, rows: Sequence[FftRow], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Writes the rows as bars, a panel for each size, to a PNG or SVG; errors as :func:`gpuops.files.charts.check`."""
    charts.check(path, overwrite=overwrite)
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys((row.width, row.height) for row in rows))
    figure = Figure(figsize=(8, 0.6 + len(sizes) + 0.24 * len(rows)), layout="constrained")
    figure.suptitle(tables.heading(gpu), fontsize="small", wrap=True)
    panels = figure.subplots(len(sizes), squeeze=False)[:, 0]
    for panel, size in zip(panels, sizes, strict=True):
        shown = [row for row in rows if (row.width, row.height) == size]
        names = [f"{row.variant}   {row.plan}".strip() for row in shown]
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
