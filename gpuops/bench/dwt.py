"""Wavelet transforms in place and with memory to spare, by the tables and figures of Ikuzawa, Ino and Hagihara.

"Reducing Memory Usage of Discrete Wavelet Transform by Overwriting the Input on a GPU": memory over size (figure 4),
the table of cycles (figure 5), the efficiency of each part (table 2) and the bytes that it should move (table 3), time
by where source and target are (figure 6), throughput with and without transfers during computation (figure 7).
bench_dwt_tables prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DeviceError, ParameterError
from ..gpu import Gpu
from ..image import Image
from ..metrics.counts import counts
from ..params.dwt import WAVELETS, DwtParams, wavelet_name
from ..records import dataclass
from ..tiles.ends import HostImage
from ..tiles.memory import least
from ..wavelets import blocks, in_place, laan, multilevel, strips, transform
from . import copies as bench
from .copies import Row, ratio, speed

# Widths of the square images on CPUs.
CPU_SIZES = (512, 1024, 2048)
# Widths of the square images on other devices.
GPU_SIZES = (1024, 2048, 4096, 8192, 16384)
# The method of DwtParams for each variant, and options of the method in-place.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{method: (method, {}) for method in ("filterbank", "lifting", "laan", "in-place")},
    "in-place, constant table": ("in-place", {"table": in_place.CONSTANT}),
    "in-place, no table": ("in-place", {"table": in_place.NONE}),
    "in-place, 128 bytes": ("in-place", {"chunk": 32}),
    "strip": ("strip", {}),
}
# The step that each kernel belongs to, by the last word of its label.
STEPS = {
    "create": "chunk creation",
    "permute": "chunk permutation",
    "shift": "rests of rows",
    "predict": "lifting",
    "update": "lifting",
    "lift": "lifting",
}
# The name of the whole transform, beside its steps.
WHOLE = "whole"
# The largest difference between variants, as a share of the largest coefficient: their order of operations
# differs.
TOLERANCE = 4e-6
# Runs on the host's clock, after a first one.
_WALL_RUNS = 3
# Where the source and the target of a transform are, and host memory is pageable.
ENDS = ("device", "host")
# The way in which images are copied and transformed one after the other.
IN_TURN = "one after the other"
# The way in which copies overlap with transforms.
OVERLAPPED = "overlapped"
# The least rows of an image that is worth splitting.
_SPLIT_ROWS = 256
# The least bytes of an image that is worth splitting.
_SPLIT_BYTES = 1 << 20
# Images in memory at a time, at most: the source, the one that is transformed, its bands, and one to compare
# with.
_IMAGES = 6


Array = npt.NDArray[Any]


@dataclass(frozen=True)
class WaveletWay:
    """A variant's transform. Called with an image, it gives all bands, in one Image or each in its own.

    laan, in-place and strip overwrite the image. ``options``: those of the method in-place.
    """

    params: DwtParams
    options: dict[str, Any]

    @property
    def levels(self) -> int:
        return self.params.levels or 0

    def __call__(self, image: Image) -> list[Image]:
        module = {"laan": laan, "in-place": in_place, "strip": strips}.get(self.params.method)
        if module is None:
            return transform.flat(*transform.decompose(image, self.params))
        module.decompose(image, self.params, self.levels, **self.options)
        return [image]


def measure(
    gpu: Gpu,
    sizes: Sequence[tuple[int, int]] = (),
    wavelet: str = "dd13/7",
    levels: int = 1,
    *,
    memory: int | None = None,
) -> Iterator[Row]:
    """Measures all :data:`VARIANTS` at ``sizes`` (width, height), in the mode mirror; their results are compared first.

    Each is measured on a plane of float32.

    Parameters
    ----------
    sizes
        The default is 512 … 2048 squared on CPUs, else 1024 … 16384 squared as memory allows.
    wavelet
        A wavelet that has lifting steps; the source uses dd13/7.
    memory
        Bytes of the device's memory: variants that take more are split in the measurements by source and target, and
        the table's largest image is the one that fits in these bytes.

    Yields
    ------
    Row
        ``variant``, ``wavelet``, ``levels``, ``width`` and ``height``; ``image_bytes``; ``peak_bytes``, the most memory
        in use on the device from the upload on, by the pool's account, and ``table_bytes``, the part of it that the
        table of cycles takes; ``room_bytes``, the device's memory, or the part of it that was given.

        ``parts``: the method's steps, where they are launches of their own, and then the whole transform. Each has
        ``step``, ``launches`` (their number), ``model_bytes`` (those that they read and write by the library's own
        model, the source's M), ``predicted_bytes`` (see :func:`predicted`; None where the source's table 3 says
        nothing), ``ms`` (the sum of their times in each run), ``median_ms`` (T), ``gbps`` and ``efficiency`` (the
        source's E = M / T / P). ``useful_efficiency`` of the whole counts 8 bytes a pixel: read once, written once.

        ``copy_ms`` and ``copy_gbps`` (P): of a kernel that reads and writes such an image once.

        ``wall_ms``: milliseconds of each run on the host's clock, by "source → target": upload, transform and download
        in turn. ``split``: whether they are in slabs, as the variant takes more memory than there is room. A source on
        the device is then copied to the host first, and a target on the device is copied there last. ``slabs_ms``: the
        same from host to host in slabs, even where memory would be enough, with transfers during computation
        (:data:`OVERLAPPED`) and without (:data:`IN_TURN`); empty for small images. ``wall_median_ms`` and
        ``slabs_median_ms`` are their medians.

    Raises
    ------
    ParameterError
        A size below 1, no level, a wavelet without lifting steps, or a gpu without a report (only a profiling queue
        tells times).
    DeviceError
        The device has too little memory, or variants give different results.
    """
    bench.need_events(gpu)
    if levels < 1:
        raise ParameterError(f"there must be a level at least, not {levels}")
    name = wavelet_name(wavelet)
    if not WAVELETS[name][0] or name.startswith("vc2-"):
        raise ParameterError(
            f"{wavelet} has no lifting steps that several methods know: use one such as dd13/7"
        )
    ways = {
        name: WaveletWay(DwtParams(wavelet, "mirror", levels, method), options)
        for name, (method, options) in VARIANTS.items()
    }
    for size in bench.checked(gpu, sizes, _sizes_that_fit(gpu), 1, 4, images=_IMAGES):
        yield from _measure(gpu, size, ways, gpu.limits.global_bytes if memory is None else memory)


def _sizes_that_fit(gpu: Gpu) -> tuple[tuple[int, int], ...]:
    limits = gpu.limits
    most = min(limits.max_alloc_bytes, limits.global_bytes // (2 * _IMAGES))
    first, *others = CPU_SIZES if limits.is_cpu else GPU_SIZES
    return tuple((n, n) for n in (first, *(n for n in others if 4 * n * n <= most)))


def _measure(gpu: Gpu, size: tuple[int, int], ways: Mapping[str, WaveletWay], room: int) -> Iterator[Row]:
    host = np.random.default_rng(1).random((1, *size[::-1]), np.float32)
    memory = {name: _memory(gpu, host.shape, way) for name, way in ways.items()}
    _check(gpu, host, ways)
    source = gpu.array(host)
    *_, copy_times = bench.times(gpu, partial(bench.copy_image, gpu, source))
    copy_ms, gbps = speed(copy_times, 2 * source.nbytes)
    copy_gbps = gbps or 0.0
    for name, way in ways.items():
        work, params = source.like(), way.params

        def call(way: WaveletWay = way, work: Image = work) -> None:
            work.put(slice(0, 1), source)  # this copy is no kernel, so it is not timed
            way(work)

        in_chunks = params.method == "in-place"
        table = in_place.table_bytes(gpu, size[::-1], way.levels, **way.options) if in_chunks else 0
        peak = memory[name] + table
        moved = partial(_moved, gpu, host, work, way, room if peak > room else None)
        walls = {
            f"{ENDS[upload]} → {ENDS[download]}": _clock(
                gpu, partial(moved, upload=upload, download=download)
            )
            for upload, download in product((False, True), repeat=2)
        }
        worth = not way.options and host.nbytes >= _SPLIT_BYTES and size[1] >= _SPLIT_ROWS
        slabs = _slabs(gpu, host, params) if worth else {}
        parts = [*_parts(gpu, call, predicted(gpu, host.shape, params, way.levels), copy_gbps)]
        yield Row(
            variant=name, wavelet=params.wavelet, levels=way.levels, width=size[0], height=size[1],
            peak_bytes=peak, table_bytes=table, parts=parts, wall_ms=walls, room_bytes=room, split=peak > room,
            slabs_ms=slabs, copy_ms=copy_ms, copy_gbps=copy_gbps, image_bytes=host.nbytes,
            useful_efficiency=ratio(2 * host.nbytes / 1e6, parts[-1].median_ms * copy_gbps),
            wall_median_ms={way: median(ms) for way, ms in walls.items()},
            slabs_median_ms={way: median(ms) for way, ms in slabs.items()},
        )  # fmt: skip


def _memory(gpu: Gpu, shape: tuple[int, ...], way: WaveletWay) -> int:
    """Returns the most bytes that the pool has given out at a time: for input, result, and temporary memory."""
    with bench.own_report(gpu) as report:
        way(gpu.empty(shape))
        gpu.finish()
    return report.peak_device_bytes


def _check(gpu: Gpu, host: Array, ways: Mapping[str, WaveletWay]) -> None:
    """Raises DeviceError if a variant's result differs from the first one's."""
    expected: Image | None = None
    with bench.own_report(gpu):
        for name, way in ways.items():
            largest = 2.0**way.levels  # the coefficient that a constant of 1 becomes
            bands = way(gpu.array(host))
            if name == "strip":
                bands = [
                    place.copy(bands[0], slice(0, place.size[0]))
                    for place in strips.places(bands[0], way.params, way.levels)
                ]
            whole = bands[0] if len(bands) == 1 else blocks.joined(bands, way.params, host.shape[1:])
            expected = expected or whole
            error = counts(gpu, whole, expected).max / largest
            if not error <= TOLERANCE:
                raise DeviceError(
                    f"{gpu.info.name} gives results that differ by {error:.1e} of the largest coefficient between "
                    f"{next(iter(ways))} and {name}: update its driver or choose another with --device"
                )


def predicted(gpu: Gpu, shape: tuple[int, ...], params: DwtParams, levels: int) -> dict[str, int]:
    """Returns the bytes by the source's table 3, for 4-byte samples, of each step and of the :data:`WHOLE`.

    For both axes of N² samples these are 16 N² for the creation and 16 N² for the permutation of chunks, and
    16 (1 + h / r) N² for lifting, where groups make r samples and read h more on either side. The source does not say
    its r; here it is that of :mod:`gpuops.wavelets.laan` on this device. The result is empty for methods that the table
    lacks.
    """
    if params.method not in ("laan", "in-place"):
        return {}
    steps = {}
    if params.method == "in-place":
        regions = blocks.regions(shape[1:], params, levels)
        samples = shape[0] * sum(height * width for height, width in regions)
        steps = {STEPS["create"]: 16 * samples, STEPS["permute"]: 16 * samples}
    steps[STEPS["lift"]] = laan.table_3_bytes(gpu, shape, params, levels)
    return {**steps, WHOLE: sum(steps.values())}


def _parts(
    gpu: Gpu, call: Callable[[], object], predicted: Mapping[str, int], copy_gbps: float
) -> Iterator[Row]:
    """Yields the launches of each step of a transform, and then all of them together."""
    runs = bench.runs(gpu, call)
    for step in dict.fromkeys((*STEPS.values(), WHOLE)):
        of = [[k for k in run if step in (WHOLE, STEPS.get(k.label.rsplit(" ", 1)[-1]))] for run in runs]
        if of[0]:
            labels, moved, ms = bench.summary(of)
            median_ms, gbps = speed(ms, moved)
            yield Row(
                step=step, launches=len(labels), model_bytes=moved,
                predicted_bytes=predicted.get(step), ms=ms, median_ms=median_ms, gbps=gbps,
                efficiency=ratio(gbps, copy_gbps),
            )  # fmt: skip


def _moved(
    gpu: Gpu, host: Array, work: Image, way: WaveletWay, memory: int | None, *, upload: bool, download: bool
) -> list[Any]:
    """Transforms ``host`` if ``upload``, else ``work``; returns the bands, on the host if ``download``.

    With ``memory`` it works in slabs.
    """
    if memory is None:
        bands = way(gpu.array(host) if upload else work)
        return [band.numpy() for band in bands] if download else bands
    source = HostImage(gpu, host if upload else work.numpy())
    arrays = [band.numpy() for band in multilevel.decompose(source, way.params, memory=memory, overlap=False)]
    return arrays if download else [*map(gpu.array, arrays)]


def _slabs(gpu: Gpu, host: Array, params: DwtParams) -> dict[str, tuple[float, ...]]:
    """Returns the milliseconds on the host's clock that a split transform takes."""

    def call(overlap: bool) -> None:
        memory = least(host.nbytes, multilevel.COPIES)
        multilevel.decompose(HostImage(gpu, host), params, memory=memory, overlap=overlap)

    ways = {IN_TURN: False, OVERLAPPED: True}
    return {name: _clock(gpu, partial(call, overlap)) for name, overlap in ways.items()}


def _clock(gpu: Gpu, call: Callable[[], object]) -> tuple[float, ...]:
    """Returns the milliseconds of some runs after a first one."""

    with bench.own_report(gpu):
        bench.wall_ms(gpu, call)
        return tuple(bench.wall_ms(gpu, call) for _ in range(_WALL_RUNS))
