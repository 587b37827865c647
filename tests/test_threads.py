"""Several threads with one Gpu, and with one each: what they get is what one thread alone gets, bit for bit."""

import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from gpuops import Gpu, Report
from gpuops import fourier as fft
from gpuops import wavelets as dwt
from gpuops.filters import blur, convolve, median
from gpuops.glow.bloom import bloom
from gpuops.metrics import compare
from gpuops.metrics import statistics as reduce
from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.region import Region
from gpuops.pixels import regions
from gpuops.programs import GeneratedSource
from gpuops.tiles.transfers import Inlet, Outlet, Transfers
from gpuops.tone.tonemap import tonemap

Work = Callable[[Gpu], np.ndarray]

THREADS, ROUNDS = 4, 6


def flat(coefficients: Any) -> np.ndarray:
    """Everything in lists of lists of bands, one after the other."""
    if isinstance(coefficients, np.ndarray):
        return coefficients.ravel()
    return np.concatenate([flat(part) for part in coefficients])


def statistics(gpu: Gpu, x: np.ndarray) -> np.ndarray:
    found = reduce.statistics(gpu, x)
    return np.concatenate([[found.sum, found.log2_sum, found.minimum, found.maximum], found.histogram])


def there_and_back(gpu: Gpu, x: np.ndarray) -> np.ndarray:
    return fft.irfft2(gpu, fft.rfft2(gpu, x), x.shape)


def by_levels(gpu: Gpu, x: np.ndarray, wavelet: str, **how: str) -> np.ndarray:
    bands = dwt.wavedec2(gpu, x, wavelet, level=2, **how)
    return np.concatenate([flat(bands), dwt.waverec2(gpu, bands, wavelet, **how).ravel()])


def toned(gpu: Gpu, x: np.ndarray) -> np.ndarray:
    return tonemap(gpu, gpu.array(4 * x[None]), TonemapParams()).numpy()


def bloomed(gpu: Gpu, x: np.ndarray) -> np.ndarray:
    return bloom(gpu, gpu.array(4 * x[None]), BloomParams()).numpy()


def moved(gpu: Gpu, x: np.ndarray) -> np.ndarray:
    """Work that moves arrays to the device and back while kernels run."""
    result = np.empty((1, *x.shape), x.dtype)
    with Transfers(gpu) as transfers:
        inlet, outlet = Inlet(transfers, x.nbytes), Outlet(transfers, x.nbytes)
        image = inlet.send([x[None]], 1)
        smooth = blur.blur(gpu, image, BlurParams(sigma=(2, 2)))
        inlet.release()
        outlet.receive(smooth, 0, result)
    return result


def works(rng: np.random.Generator) -> list[Work]:
    """One of each kind, of sizes and parameters of their own."""
    x, y = rng.random((60, 84), np.float32), rng.random((96, 64), np.float32)
    kernel = rng.random((5, 7), np.float32)
    return [
        *(partial(blur.gaussian_filter, input=image, sigma=sigma) for image in (x, y) for sigma in (1, 2.5, 9)),
        partial(blur.uniform_filter, input=x, size=7),
        *(partial(there_and_back, x=image) for image in (x, y)),
        partial(fft.fft2, x=x),
        *(partial(by_levels, x=image, wavelet="bior2.2") for image in (x, y)),
        partial(by_levels, x=x, wavelet="db2", method="filterbank"),
        partial(by_levels, x=y, wavelet="bior4.4", mode="mirror", method="in-place"),
        partial(by_levels, x=y, wavelet="bior2.2", mode="mirror", method="laan"),
        partial(statistics, x=x),
        partial(statistics, x=y),
        partial(toned, x=x),
        partial(bloomed, x=y),
        partial(median.median_filter, input=x, size=3),
        partial(convolve.convolve, input=x, weights=kernel),
        partial(convolve.convolve, input=y, weights=np.ones((41, 41), np.float32)),
        lambda gpu: np.array(compare.structural_similarity(gpu, x, x * x, data_range=1.0)),
        lambda gpu: np.array(compare.peak_signal_noise_ratio(gpu, y, y * y, data_range=1.0)),
        partial(moved, x=x),
    ]  # fmt: skip


def at_once(tasks: list[Callable[[], Any]]) -> list[Any]:
    """The results of tasks, each in a thread of its own; all begin together."""
    ready = threading.Barrier(len(tasks))

    def run(task: Callable[[], Any]) -> Any:
        ready.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


def shuffled(gpu: Gpu, work: list[Work], seed: int) -> list[tuple[int, np.ndarray]]:
    order = np.random.default_rng(seed).permutation(len(work))
    return [(index, work[index](gpu)) for index in order]


def check(gpus: list[Gpu], work: list[Work], expected: list[np.ndarray], rounds: int) -> None:
    for round in range(rounds):
        tasks = [partial(shuffled, gpu, work, len(gpus) * round + n) for n, gpu in enumerate(gpus)]
        for results in at_once(tasks):
            for index, result in results:
                np.testing.assert_array_equal(result, expected[index], err_msg=str(work[index]))


def test_threads_share_a_gpu(gpu, rng) -> None:
    work = works(rng)
    check([gpu] * THREADS, work, [do(gpu) for do in work], ROUNDS)


@pytest.mark.exhaustive
def test_threads_share_a_gpu_that_knows_nothing_yet(gpu, opened, rng) -> None:
    """Programs, tables and plans are made by whoever comes first."""
    work = works(rng)
    check([opened()] * THREADS, work, [do(gpu) for do in work], 1)


@pytest.mark.exhaustive
def test_threads_have_a_gpu_each(gpu, opened, rng) -> None:
    work = works(rng)
    expected = [do(gpu) for do in work]
    check(at_once([opened, opened]), work, expected, 2)


def test_a_kernel_is_built_once_for_all_threads() -> None:
    report = Report()
    gpu = Gpu(report=report)
    texts = [f"__kernel void fill(__global float *x) {{ x[get_global_id(0)] = {n}; }}" for n in range(3)]

    def filled(text: str) -> np.ndarray:
        image = gpu.zeros((16,))
        gpu.launch(gpu.kernel(GeneratedSource("fill", text), "fill"), (16,), image)
        return image.numpy()

    results = at_once([partial(filled, text) for text in texts * 3])
    for result, text in zip(results, texts * 3, strict=True):
        assert (result == texts.index(text)).all()
    assert sum(report.builds.values()) == len(texts)


def test_builds_in_threads_leave_the_filters_of_warnings_alone() -> None:
    before = list(warnings.filters)
    source = GeneratedSource("quiet", "__kernel void quiet(__global float *x) { x[0] = 1; }")
    at_once([lambda: Gpu().kernel(source, "quiet")] * 4)
    assert list(warnings.filters) == before


def test_a_plan_is_made_once_for_all_threads(gpu) -> None:
    made: list[object] = []
    found = at_once([partial(gpu.kept, "a plan of this test", lambda: made.append(object()) or made[-1])] * 8)
    assert len(made) == 1 and all(one is made[0] for one in found)
    gpu.plans.pop("a plan of this test")


def test_transfers_end_with_an_error(gpu) -> None:
    with pytest.raises(ZeroDivisionError), Transfers(gpu) as moving:
        Inlet(moving, 100).send([np.zeros((1, 5, 5), np.float32)], 1)
        raise ZeroDivisionError


def test_a_thread_may_launch_while_another_waits_for_a_download(gpu) -> None:
    image, held = gpu.zeros((1 << 16,)), cl.UserEvent(gpu.context)
    cl.enqueue_barrier(gpu.queue, wait_for=[held])
    try:
        with ThreadPoolExecutor(1) as pool:
            download = pool.submit(image.numpy)
            time.sleep(0.05)  # so that the download has most likely begun
            free = gpu.lock.acquire(timeout=120)
            if free:
                gpu.lock.release()
            held.set_status(cl.command_execution_status.COMPLETE)
            assert free and not download.result().any()
    finally:
        gpu.finish()


def test_a_report_of_threads_counts_every_launch(opened, rng) -> None:
    report = Report()
    gpu = opened(report=report)
    x = rng.random((61, 83), np.float32)
    blur.gaussian_filter(gpu, x, 2)
    each = sum(len(kernel.ms) for kernel in report.kernels())

    def work() -> None:
        with report.phase("compute"):
            for _ in range(10):
                blur.gaussian_filter(gpu, x, 2)

    at_once([work] * THREADS)
    assert sum(len(kernel.ms) for kernel in report.kernels()) == each * (10 * THREADS + 1)
    # Within a phase times do not overlap: no thread can have more than the whole time.
    assert report.phases["compute"] < THREADS * report.wall
    ends = [end for _, _, end in report.trace_events()]
    assert max(ends) <= report.started + report.wall


@pytest.mark.exhaustive
@pytest.mark.parametrize("bound", ["plans", "programs"])
def test_threads_share_what_does_not_stay(gpu, rng, monkeypatch, bound) -> None:
    """Plans and kernels are dropped by one thread while others use them."""
    from gpuops import programs
    from gpuops.reuse import Bounds

    work = works(rng)[:10]
    expected = [do(gpu) for do in work]
    if bound == "plans":
        monkeypatch.setattr("gpuops.reuse._LIMITS", Bounds(count=2))
    else:
        monkeypatch.setattr(programs, "MOST_LASTING", 1)
        monkeypatch.setattr(programs, "MOST_ONCE", 1)
    check([gpu] * THREADS, work, expected, 1)


def test_everything_that_is_enqueued_is_under_the_lock(opened, rng, monkeypatch) -> None:
    gpu = opened()  # it has no staging memory yet
    called: list[str] = []

    def watch(name: str) -> None:
        function = getattr(cl, name)

        def watched(*args: Any, **how: Any) -> Any:
            called.append(name)
            assert gpu.lock._is_owned(), name  # type: ignore[attr-defined]
            return function(*args, **how)

        monkeypatch.setattr(cl, name, watched)

    names = [name for name in dir(cl) if name.startswith("enqueue_")]
    for name in names:
        watch(name)
    x = rng.random((2, 40, 50), np.float32)
    image = gpu.array(np.zeros(1 << 19, np.float32))  # large enough to be copied through the queue
    assert not image.numpy().any() and not gpu.zeros((1 << 15,)).numpy().any()
    planes = gpu.array(x)
    np.testing.assert_array_equal(planes.planes(slice(1, 2)).numpy(), x[1:])
    planes.put(slice(0, 1), planes.planes(slice(1, 2)))
    np.testing.assert_array_equal(planes.numpy()[0], x[1])
    np.testing.assert_array_equal(planes.pixel(3, 4), x[[1, 1], 3, 4])
    region = regions.cut(planes, Region(2, 3, 20, 10), interleaved=False)
    np.testing.assert_array_equal(region.numpy(), planes.numpy()[:, 3:13, 2:22])
    moved(gpu, x[0])
    kinds = ("copy", "fill_buffer", "map_buffer", "marker", "barrier")
    assert {f"enqueue_{kind}" for kind in kinds} <= set(called)
