"""A device keeps things for the next time: enough, and no more than its bounds, however many sizes a process sees."""

import gc
import os
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from gpuops import Gpu, Report, programs
from gpuops import fourier as fft
from gpuops import wavelets as dwt
from gpuops.device import cache
from gpuops.errors import DeviceError
from gpuops.filters import blur, convolve, median
from gpuops.glow.bloom import bloom
from gpuops.metrics import compare
from gpuops.metrics import statistics as reduce
from gpuops.metrics.ssimulacra2 import ssimulacra2
from gpuops.ops.bloom import BloomParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.fft import FftParams
from gpuops.programs import GeneratedSource
from gpuops.reuse import Bounds, nbytes_of, trim
from gpuops.tone.tonemap import tonemap

from .choices import thinned
from .reference.fourier import error
from .tolerance import FFT


def once(number: int) -> GeneratedSource:
    """A program for one size."""
    return GeneratedSource("fill", f"__kernel void fill(__global float *x) {{ x[0] = {number}; }}", once=True)


def filled(gpu: Gpu, source: GeneratedSource) -> float:
    image = gpu.zeros((1,))
    gpu.launch(gpu.kernel(source, "fill"), (1,), image)
    return float(image.numpy()[0])


def test_programs_for_one_size_go_and_come_back(monkeypatch) -> None:
    monkeypatch.setattr(programs, "MOST_ONCE", 3)
    gpu = Gpu()
    lasting = gpu.kernel("copy", "copy")
    first = weakref.ref(gpu.kernel(once(0), "fill"))
    for number in range(8):
        assert filled(gpu, once(number)) == number
        gc.collect()
        assert len(gpu.programs) <= 4
    assert first() is None and filled(gpu, once(0)) == 0 and gpu.kernel("copy", "copy") is lasting


def test_programs_for_any_size_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr(programs, "MOST_LASTING", 3)
    gpu = Gpu()
    for number in range(6):
        assert filled(gpu, GeneratedSource("fill", once(number).text)) == number
        gc.collect()
        assert len(gpu.programs) <= 3


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Objects go with the last reference to them alone."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
def test_a_closed_gpu_goes_with_the_last_reference(rng) -> None:
    x = rng.random((3, 24, 40), np.float32)
    with Gpu() as gpu:
        kept = fft.rfft2(gpu, gpu.array(x))
        dwt.wavedec2(gpu, x, "bior4.4", level=1)
        blur.gaussian_filter(gpu, x, 2)
    for use, arguments in ((gpu.empty, [(1,)]), (gpu.array, [x[0, 0]]), (gpu.kernel, ["copy", "copy"])):
        with pytest.raises(DeviceError, match="closed"):
            use(*arguments)
    with pytest.raises(DeviceError, match="closed"):
        fft.rfft2(gpu, x)
    gpu.close()
    assert error(kept.numpy(), np.fft.rfft2(x)) < FFT["single"]
    gone = weakref.ref(gpu)
    del gpu, kept, use
    assert gone() is None


@pytest.mark.exhaustive
def test_transforms_of_many_sizes_are_bounded(opened, rng, monkeypatch) -> None:
    """Plans, their tables and their programs, which method local builds for one size on every device."""
    monkeypatch.setattr(programs, "MOST_ONCE", 2)
    most = Bounds(count=4, nbytes=3000, programs=4)
    monkeypatch.setattr("gpuops.reuse._LIMITS", most)
    gpu = opened()
    sizes = [(n, 2 * n) for n in (4, 5, 6, 8, 4)]
    x = rng.random((2, *sizes[0]), np.float32)
    params = FftParams("local")
    fft.rfft2(gpu, x, params=params)
    (first,) = (weakref.ref(plan) for plan in gpu.plans.values())
    for shape in sizes:
        x = rng.random((2, *shape), np.float32)
        assert error(fft.rfft2(gpu, x, params=params), np.fft.rfft2(x)) < FFT["single"]
        gc.collect()
        plans = gpu.plans.values()
        assert len(plans) <= most.count
        assert len({program for plan in plans for program in plan.programs}) <= most.programs
        assert sum(map(nbytes_of, plans)) <= most.nbytes and len(gpu.programs) <= most.programs + 2
        if shape == sizes[-2]:
            assert first() is None


def test_tables_are_bounded_by_their_bytes(gpu) -> None:
    from collections import OrderedDict

    tables = OrderedDict((n, [gpu.empty((1000,)), gpu.empty((250,))]) for n in range(9))
    gone = trim(tables, Bounds(nbytes=12_000))
    assert list(tables) == [7, 8] and len(gone) == 7
    # An entry that exceeds the limit by itself is kept, as it is in use.
    tables[9] = [gpu.empty((10_000,))]
    trim(tables, Bounds(nbytes=12_000))
    assert list(tables) == [9]


SIZES = [(64, 48), (61, 83), (100, 37), (33, 96), (128, 130), (77, 50), (90, 91)]
WEIGHTS = np.random.default_rng(5).random((5, 5)).astype(np.float32)
OPERATIONS: dict[str, Callable[[Gpu, np.ndarray], object]] = {
    "gaussian": lambda gpu, x: blur.gaussian_filter(gpu, x, 2),
    "coarse gaussian": lambda gpu, x: blur.gaussian_filter(gpu, x, 6 + x.shape[0] / 20),
    "box": lambda gpu, x: blur.uniform_filter(gpu, x, 7),
    "median": lambda gpu, x: median.median_filter(gpu, x, 5),
    "convolve": lambda gpu, x: convolve.convolve(gpu, x, WEIGHTS),
    "convolve by transforms": lambda gpu, x: convolve.convolve(gpu, x, WEIGHTS, method="fft"),
    "transform": lambda gpu, x: fft.irfft2(gpu, fft.rfft2(gpu, x), x.shape),
    "complex transform": lambda gpu, x: fft.ifft2(gpu, fft.fft2(gpu, x)),
    "transform of pixels": lambda gpu, x: fft.rfft2_of_pixels(gpu, x[:, :, None]),
    "wavelets": lambda gpu, x: dwt.waverec2(gpu, dwt.wavedec2(gpu, x, "bior2.2", level=2), "bior2.2"),
    "filter bank": lambda gpu, x: dwt.dwt2(gpu, x, "db4", method="filterbank"),
    "statistics": lambda gpu, x: reduce.statistics(gpu, x),
    "tonemap": lambda gpu, x: tonemap(gpu, gpu.array(x[None]), TonemapParams()),
    "bloom": lambda gpu, x: bloom(gpu, gpu.array(x[None]), BloomParams()),
    "compare": lambda gpu, x: compare.structural_similarity(gpu, x, x * x, data_range=1.0),
    "ssimulacra2": lambda gpu, x: ssimulacra2(gpu, x, x * x),
}


@pytest.mark.parametrize("name", thinned(OPERATIONS, 4))
def test_on_cpus_a_new_size_builds_nothing(opened, rng, name) -> None:
    gpu = opened(report=(report := Report()))
    if gpu.limits.lanes == 1:
        pytest.skip("compilers that do not know vectors have what a size fixes as constants")
    operation = OPERATIONS[name]
    # Lengths of both parities; the levels are those below.
    for shape in ((128, 128), (97, 131), (130, 66), (65, 64), (36, 38)):
        operation(gpu, rng.random(shape, np.float32))
    built = report.builds.copy()
    assert sum(built.values())
    for shape in SIZES:
        operation(gpu, rng.random(shape, np.float32))
    assert report.builds == built


def test_the_least_recently_used_kernels_leave_the_disk(empty_cache, monkeypatch) -> None:
    for number, name in enumerate(("oldest", "used", "newest")):
        cache.save_binary(f"kernels/{name}", bytes(1000))
        os.utime(empty_cache / "kernels" / name, (number, number))
    assert cache.load_binary("kernels/used") == bytes(1000)
    monkeypatch.setattr(cache, "_MOST_BYTES", 2500)
    cache.save_binary("kernels/00", bytes(1000))
    assert {path.name for path in (empty_cache / "kernels").iterdir()} == {"used", "00"}
