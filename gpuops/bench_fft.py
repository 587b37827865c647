"""The Fourier transforms of two documents as named variants, beside the least that they could take.

UAV, SLM and the formulas of bytes: Intel, "Fast Fourier Transform for Image Processing in DirectX 11", figures 5 to
10. Radices beside "empty" and "read-write only": StellarWarp, "FFT Implementation". docs/bench.md says what of them
is measured, and what is not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from . import bench, charts, fft
from .errors import ParameterError
from .image import COMPLEX_HALF
from .params.fft import FftParams
from .report_formats import columns

if TYPE_CHECKING:
    from .gpu import Gpu

SIZES = (
    (1024, 1024),
    (512, 512),
    (512, 256),
)  # width, height: StellarWarp's tables, Intel's figures 13 and 6 to 10
EMPTY, READ_WRITE = "empty", "read-write only"
VARIANTS = {
    "UAV R2, table": FftParams("global", "2", "table"),
    "UAV R2, computed": FftParams("global", "2", "compute"),
    "SLM R2, table": FftParams("local", "2", "table"),
    "SLM R2, computed": FftParams("local", "2", "compute"),
    "SLM R4": FftParams("local", "4", "table"),
    "SLM R8": FftParams("local", "8", "table"),
    "SLM R16": FftParams("local", "16", "table"),
    "mixed (auto)": FftParams(),
}
HALF_STORAGE = {"SLM R16, half storage": VARIANTS["SLM R16"], "mixed, half storage": VARIANTS["mixed (auto)"]}
ITEM = np.dtype(np.complex64).itemsize


# -- the documents' formulas: bytes of a transform of rows, of `width` points; columns are the same transposed ---------


def uav_bytes(width: int, height: int, passes: int, texel: int = 16) -> tuple[int, int]:
    """(read, written) by a dispatch a pass: figure 5. ``texel``: bytes of one, of the real or imaginary texture."""
    texture = width * height * texel
    return texture * passes * 2 * 2, texture * passes * 2


def slm_bytes(width: int, height: int, texel: int = 16) -> tuple[int, int]:
    """(read, written) by one dispatch: figures 7 and 8 (the former multiplies by 4 where the latter has 16)."""
    texture = width * height * texel
    return texture * 2, texture * 2


def lookup_bytes(width: int, height: int, passes: int) -> int:
    """Read of a texture of twiddles, once for each row: figure 9."""
    return width * passes * 16 * height


def predicted_bytes(
    params: FftParams | None, width: int, height: int, radices: Sequence[Sequence[int]], texel: int
) -> int:
    """What the formulas give for both axes, forward and inverse; ``radices``: of the rows, and of the columns.

    Without params: one read and one write an axis. PassCount, log2 of the length in the document, is the number of
    radices, which is the same with radix 2. The library's ``auto`` twiddles are a table.
    """
    total = 0
    for (length, across), factors in zip(
        ((width, height), (height, width)), radices or ((), ()), strict=True
    ):
        uav = params is not None and params.method == "global"
        total += sum(
            uav_bytes(length, across, len(factors), texel) if uav else slm_bytes(length, across, texel)
        )
        if params is not None and params.twiddle != "compute":
            total += lookup_bytes(length, across, len(factors))
    return 2 * total


# -- measuring ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One variant at one size: a forward and an inverse transform of ``channels`` planes of complex numbers.

    Attributes
    ----------
    params, radices
        How it is computed, and the radices of the rows' and the columns' transform; None and empty for the floors.
    half
        Real and imaginary parts are stored in 16 bits, and computed with in 32.
    launches
        Of kernels, in both directions.
    predicted_bytes, predicted_half_bytes
        By the documents' formulas, as stored here and in halves; 0 for "empty".
    model_bytes
        What the launches have to read and write by the library's own model, without twiddles.
    ms
        Of each run: the sum of all launches' times, by their events.
    floor_ms
        The median of "read-write only" at this size.
    """

    variant: str
    params: FftParams | None
    width: int
    height: int
    channels: int
    radices: tuple[tuple[int, ...], ...]
    half: bool
    launches: int
    predicted_bytes: int
    predicted_half_bytes: int
    model_bytes: int
    ms: tuple[float, ...]
    floor_ms: float = 0.0

    @property
    def median_ms(self) -> float:
        return median(self.ms)

    @property
    def plan(self) -> str:
        """The radices for a person: 8³·2, or 8³·2 / 8³ where columns have others than rows; empty for the floors."""
        return " / ".join(dict.fromkeys(map(_powers, self.radices)))

    @property
    def floors(self) -> float | None:
        """The median time over that of "read-write only"; None where the device's clock cannot tell."""
        return self.median_ms / self.floor_ms if self.floor_ms > 0 else None

    @property
    def gbps(self) -> float | None:
        """10⁹ model bytes a second at the median time; None where nothing is moved."""
        return self.model_bytes / self.median_ms / 1e6 if self.model_bytes and self.median_ms > 0 else None


def check_size(gpu: Gpu, width: int, height: int, channels: int) -> None:
    """ParameterError for a size that the documents' variants have not, DeviceError for too little memory."""
    name = f"{width}×{height}"
    if any(n < 2 or n & (n - 1) for n in (width, height)):
        raise ParameterError(f"the documents' transforms are of powers of two from 2 on, not of {name}")
    if channels < 1:
        raise ParameterError(f"a transform has 1 channel or more, not {channels}")
    # Input, as halves too, spectrum, result, two between the launches of the UAV way, and the target of copies.
    bench.check_memory(gpu, (width, height), channels, ITEM, images=7)


def measure(gpu: Gpu, sizes: Sequence[tuple[int, int]] = SIZES, channels: int = 4) -> Iterator[Row]:
    """Measures the floors and all variants at ``sizes`` (width, height), of ``channels`` planes of complex64.

    Raises
    ------
    ParameterError
        Sizes that are no powers of two or beyond 2³¹ elements, no channel, or a gpu without a report (only a
        profiling queue tells times).
    DeviceError
        The device has too little memory.
    """
    bench.need_events(gpu)
    for size in sizes:  # all of them, before time goes into the first
        check_size(gpu, *size, channels)
    for size in dict.fromkeys(sizes):
        yield from _measure(gpu, *size, channels)


def _measure(gpu: Gpu, width: int, height: int, channels: int) -> Iterator[Row]:
    shape = (channels, height, width)
    noise = np.random.default_rng(1).standard_normal((channels, height, 2 * width), np.float32)
    image, other = gpu.array(noise.view(np.complex64)), gpu.empty(shape, np.complex64)
    kernel = gpu.kernel("copy", "copy")
    items = image.nbytes // 16

    def copies(moved: int) -> Callable[[], object]:
        """Each axis, there and back: the same groups for "empty", whose work-items find nothing to do."""
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

    halves = np.empty(shape, COMPLEX_HALF)
    halves["real"], halves["imag"] = noise[..., ::2], noise[..., 1::2]
    halved = gpu.array(halves)

    def transforms(params: FftParams, half: bool = False) -> Callable[[], object]:
        how = partial(fft.fft2, norm="ortho", params=params), partial(fft.ifft2, norm="ortho", params=params)
        return lambda: how[1](gpu, how[0](gpu, halved if half else image))

    cases: list[tuple[str, FftParams | None, bool, Callable[[], object]]] = [
        (EMPTY, None, False, copies(0)),
        (READ_WRITE, None, False, copies(items)),
        *((variant, params, False, transforms(params)) for variant, params in VARIANTS.items()),
        *((variant, params, True, transforms(params, half=True)) for variant, params in HALF_STORAGE.items()),
    ]
    rows = []
    for variant, params, half, call in cases:
        kernels, ms = bench.times(gpu, call)
        radices = _radices(gpu) if params else ()
        predicted, in_halves = (
            predicted_bytes(params, width, height, radices, channels * item) if variant != EMPTY else 0
            for item in (2 if half else 4, 2)
        )
        rows.append(
            Row(
                variant, params, width, height, channels, radices, half, sum(len(k.ms) for k in kernels), predicted,
                in_halves, sum(k.traffic * len(k.ms) for k in kernels), ms,
            )
        )  # fmt: skip
    floor = next(row.median_ms for row in rows if row.variant == READ_WRITE)
    for row in rows:
        yield replace(row, floor_ms=floor)


def _radices(gpu: Gpu) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those of the rows and of the columns in the plan that ran last; an axis may take several passes."""
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    for p in next(reversed(gpu.plans.values())).passes:
        if p.beside or (not p.split and p.at.in_steps[3] == 1):
            rows += p.schedule.radices
            columns += (p.at.joined,) if p.at.joined > 1 else ()  # of the columns, done when rows are loaded
        else:
            columns += p.schedule.radices
    return rows, columns


# -- telling ------------------------------------------------------------------------------------------------------


def to_json(gpu: Gpu, rows: Sequence[Row]) -> dict[str, Any]:
    """The rows with what they were measured on, as plain values."""
    more = ("median_ms", "floors", "gbps")
    return bench.document(
        gpu, [{**asdict(row), **{name: getattr(row, name) for name in more}} for row in rows]
    )


def table(gpu: Gpu, rows: Sequence[Row]) -> str:
    """The rows as text for a person."""
    header = (
        "forward and inverse", "size", "radices", "launches", "min ms", "median", "× read-write", "formula MB",
        "half MB", "model MB", "GB/s",
    )  # fmt: skip
    cells = [
        (
            row.variant,
            f"{row.width}×{row.height}×{row.channels}",
            row.plan or "-",
            str(row.launches),
            f"{min(row.ms):.4f}",
            f"{row.median_ms:.4f}",
            "-" if row.floors is None else f"{row.floors:.2f}",
            *(f"{n / 1e6:.2f}" for n in (row.predicted_bytes, row.predicted_half_bytes, row.model_bytes)),
            "-" if row.gbps is None else f"{row.gbps:.1f}",
        )
        for row in rows
    ]
    lines = [
        bench.heading(gpu),
        *columns(header, cells),
        "complex64, of half storage two half floats; all kernels of both directions; formula MB: the documents'; half",
        "MB: theirs for half storage; model MB: what the launches read and write; GB/s: of the model's at the median.",
    ]
    return "\n".join(lines)


def _powers(radices: Sequence[int]) -> str:
    """(8, 8, 8, 2) → 8³·2."""
    counts = ((radix, radices.count(radix)) for radix in dict.fromkeys(radices))
    superscripts = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "·".join(f"{radix}{str(n).translate(superscripts) if n > 1 else ''}" for radix, n in counts)


def chart(gpu: Gpu, rows: Sequence[Row], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Writes the rows as bars, a panel for each size, to a PNG or SVG; errors as :func:`gpuops.charts.check`."""
    charts.check(path, overwrite=overwrite)
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys((row.width, row.height) for row in rows))
    figure = Figure(figsize=(8, 0.6 + 3 * len(sizes)), layout="constrained")
    figure.suptitle(bench.heading(gpu), fontsize="small", wrap=True)
    panels = figure.subplots(len(sizes), squeeze=False)[:, 0]
    for panel, size in zip(panels, sizes, strict=True):
        shown = [row for row in rows if (row.width, row.height) == size]
        names = [f"{row.variant}   {row.plan}".strip() for row in shown]
        bars = panel.barh(names, [row.median_ms for row in shown])
        panel.bar_label(bars, [f"{row.median_ms:.4g}" for row in shown], padding=3)
        panel.axvline(shown[0].floor_ms, linestyle="--", color="gray")
        panel.invert_yaxis()
        panel.margins(x=0.15)
        panel.set_title(f"{size[0]}×{size[1]}, {shown[0].channels} channels of complex64")
        panel.set_xlabel("ms, forward and inverse; dashed: read-write only")
    charts.save(figure, path, overwrite=overwrite)
