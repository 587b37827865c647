"""The launch function, the kernel cache, the pool and what errors they give."""

import numpy as np
import pyopencl as cl
import pytest

from gpuops import DeviceError, Gpu, ParameterError, Report
from gpuops import fourier as fft
from gpuops.filters import blur
from gpuops.gpu import LATER, GeneratedSource, Local

SCALE = GeneratedSource(
    "scale",
    """
__kernel void scale(__global const float *in, __global float *out, int n, float factor) {
    int i = get_global_id(0);
    if (i < n) out[i] = in[i] * factor;
}
__kernel void weigh(__global float *out, float4 w, int2 k) {
    out[get_global_id(0)] = w.x + 10 * w.y + 100 * w.z + 1000 * w.w + k.x * k.y;
}
__kernel void through_local(__global const float *in, __global float *out, __local float *tile) {
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - i];
}
__kernel void defined(__global float *out) {
#ifdef FLAG
    out[0] = VALUE;
#else
    out[0] = -1;
#endif
}
__kernel void absent(__global const float *in, __global float *out) { out[0] = in ? 1 : 2; }
""",
)


def test_launch_rounds_the_size_up_to_whole_groups(gpu) -> None:
    x = gpu.array(np.arange(1000, dtype=np.float32))
    y = gpu.zeros((1024,))
    gpu.launch(gpu.kernel(SCALE, "scale"), (1000,), x, y, 1000, 2.0, local=(64,))
    result = y.numpy()
    np.testing.assert_array_equal(result[:1000], 2 * np.arange(1000))
    assert not result[1000:].any()


def test_arguments_become_vectors_null_and_local_memory(gpu) -> None:
    y = gpu.zeros((64,))
    gpu.launch(gpu.kernel(SCALE, "weigh"), (64,), y, (1.0, 2.0, 3.0, 4.0), (5, 6))
    assert (y.numpy() == 4321 + 30).all()
    gpu.launch(gpu.kernel(SCALE, "absent"), (1,), None, y)
    assert y.numpy()[0] == 2
    x = gpu.array(np.arange(64, dtype=np.float32))
    gpu.launch(gpu.kernel(SCALE, "through_local"), (64,), x, y, Local(16 * 4), local=(16,))
    np.testing.assert_array_equal(y.numpy().reshape(4, 16), x.numpy().reshape(4, 16)[:, ::-1])


def test_defines_reach_the_kernel(gpu) -> None:
    y = gpu.zeros((1,))
    for defines, expected in (
        ({}, -1),
        ({"FLAG": False, "VALUE": 3}, -1),
        ({"FLAG": True, "VALUE": 3}, 3),
        ({"FLAG": True, "VALUE": 0.1}, np.float32(0.1)),
    ):
        gpu.launch(gpu.kernel(SCALE, "defined", **defines), (1,), y)
        assert y.numpy()[0] == expected


def test_a_step_keeps_its_own_arguments(gpu) -> None:
    kernel = gpu.kernel(SCALE, "scale")
    x, a, b = gpu.array(np.ones(8, np.float32)), gpu.zeros((8,)), gpu.zeros((8,))
    twice = gpu.bind(kernel, (8,), x, a, 8, 2.0)
    gpu.launch(kernel, (8,), x, b, 8, 3.0)
    twice()
    assert (a.numpy() == 2).all() and (b.numpy() == 3).all()


def test_a_steps_buffers_are_not_handed_out_again(gpu) -> None:
    x = gpu.array(np.ones(4096, np.float32))
    y = gpu.zeros((4096,))
    step = gpu.bind(gpu.kernel(SCALE, "scale"), (4096,), x, y, 4096, 5.0)
    del x
    others = [gpu.zeros((4096,)) for _ in range(8)]
    step()
    assert (y.numpy() == 5).all() and not any(other.numpy().any() for other in others)


def test_a_step_takes_the_images_that_were_left_for_later(gpu) -> None:
    x, y = gpu.array(np.arange(8, dtype=np.float32)), gpu.array(np.ones(8, np.float32))
    a, b = gpu.zeros((8,)), gpu.zeros((8,))
    step = gpu.bind(gpu.kernel(SCALE, "scale"), (8,), LATER, LATER, 8, 2.0)
    step(x, a)
    step(y, b)
    np.testing.assert_array_equal(a.numpy(), 2 * np.arange(8))
    assert (b.numpy() == 2).all()
    into = gpu.bind(gpu.kernel(SCALE, "scale"), (8,), x, LATER, 8, 3.0)
    into(b)
    np.testing.assert_array_equal(b.numpy(), 3 * np.arange(8))
    with pytest.raises(ValueError):
        into(x, a)
    with pytest.raises(ParameterError, match="another Gpu"):
        into(Gpu().zeros((8,)))


def test_a_launch_takes_all_arguments(gpu) -> None:
    kernel, x = gpu.kernel(SCALE, "scale"), gpu.zeros((8,))
    for arguments in ((x, x, 8), (x, x, 8, 2.0, 1)):
        with pytest.raises(TypeError, match="takes 4 arguments"):
            gpu.launch(kernel, (8,), *arguments)


def test_kernels_are_cached(gpu) -> None:
    assert gpu.kernel(SCALE, "scale") is gpu.kernel(SCALE, "scale")
    assert gpu.kernel(GeneratedSource(SCALE.name, SCALE.text), "scale") is gpu.kernel(SCALE, "scale")
    # Compilers see different defines, although some of these values are equal in Python.
    variants = [{"FLAG": True, "VALUE": value} for value in (1, 1.0, True, 0.0, -0.0)]
    kernels = [gpu.kernel(SCALE, "defined", **variant) for variant in variants]
    assert len(set(kernels)) == len(variants)
    for variant, kernel in zip(variants, kernels, strict=True):
        assert gpu.kernel(SCALE, "defined", **dict(reversed(variant.items()))) is kernel


def test_fit_halves_the_largest_dimension(gpu) -> None:
    kernel = gpu.kernel(SCALE, "scale")
    assert kernel.fit(1) == (1,)
    shape = kernel.fit(1 << 20, 4)
    assert np.prod(shape) <= min(kernel.work_group, gpu.limits.work_group)
    assert 1 <= shape[0] <= gpu.limits.work_item_sizes[0]


def test_built_kernels_are_kept_between_processes(empty_cache) -> None:
    source = GeneratedSource("kept", "__kernel void kept(__global float *x) { x[0] = 7; }")

    def check(hits: int, misses: int) -> None:
        report = Report()
        gpu = Gpu(report=report)
        y = gpu.zeros((1,))
        gpu.launch(gpu.kernel(source, "kept"), (1,), y)
        assert y.numpy()[0] == 7 and report.builds == {"hit": hits, "miss": misses}

    check(0, 1)
    check(1, 0)
    # A damaged entry counts as a missing one.
    (path,) = (empty_cache / "kernels").iterdir()
    entry = path.read_bytes()
    for damaged in (b"", b"not a binary", entry[:-1], entry[:-1] + bytes([entry[-1] ^ 1])):
        path.write_bytes(damaged)
        check(0, 1)
        assert path.read_bytes() != damaged


def test_dump_writes_the_source(tmp_path) -> None:
    gpu = Gpu(dump=tmp_path / "dumped")
    gpu.kernel(("border", "separable"), "rows_direct", BORDER_REFLECT=True, ROWS=True)
    (file,) = (tmp_path / "dumped").iterdir()
    assert "-D BORDER_REFLECT" in file.read_text() and "rows_direct" in file.read_text()


def test_a_build_failure_names_the_file_and_the_line(gpu) -> None:
    with pytest.raises(DeviceError, match="broken") as error:
        gpu.kernel(
            GeneratedSource("broken", "__kernel void broken(__global float *x) { x[0] = nothing; }"), "broken"
        )
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("failures", [1, 3])
def test_a_program_that_another_process_removed_is_built_again(gpu, monkeypatch, failures) -> None:
    """Six processes that built the same programs with PoCL 3.1 at once failed 5 times in 360."""
    if gpu.info.platform != "Portable Computing Language":
        pytest.skip("only PoCL's processes remove each other's programs")
    built, failed = cl.Program.build, []

    def build(program, options):
        if len(failed) < failures:
            failed.append(options)
            raise cl.RuntimeError(
                "clBuildProgram failed: BUILD_PROGRAM_FAILURE\n\nfailed to build the program"
            )
        return built(program, options)

    monkeypatch.setattr(cl.Program, "build", build)
    source = GeneratedSource("again", "__kernel void again(__global float *x) { x[0] = 1; }")
    if failures < 3:
        assert gpu.kernel(source, "again", TIMES=failures)
    else:
        with pytest.raises(DeviceError, match="could not build again"):
            gpu.kernel(source, "again", TIMES=failures)


def test_events_are_recorded_with_their_traffic() -> None:
    report = Report()
    gpu = Gpu(report=report)
    x = gpu.zeros((1 << 20,))
    step = gpu.bind(
        gpu.kernel(SCALE, "scale"), (1 << 20,), x, x, 1 << 20, 1.0, label="scale it", traffic=1 << 23
    )
    for _ in range(3):
        step()
    (kernel,) = report.kernels()
    assert kernel.label == "scale it" and len(kernel.ms) == 3 and kernel.traffic == 1 << 23
    assert min(kernel.ms) > 0 and kernel.gbps == pytest.approx((1 << 23) / kernel.median_ms / 1e6)
    assert report.peak_device_bytes >= 1 << 22


def test_an_image_of_another_gpu_is_refused(gpu) -> None:
    foreign = Gpu().array(np.ones((1, 8, 8), np.float32))
    for use in (lambda: blur.gaussian_filter(gpu, foreign, 2), lambda: fft.rfft2(gpu, foreign)):
        with pytest.raises(ParameterError, match="another Gpu"):
            use()
    kernel = gpu.kernel("copy", "copy")
    with pytest.raises(ParameterError, match="another Gpu"):
        gpu.launch(kernel, (16,), foreign, gpu.empty((64,)), np.uint64(16))


def test_too_large_a_buffer_says_how_much_is_needed(gpu) -> None:
    with pytest.raises(DeviceError, match=r"\d (M|G|T)B"):
        gpu.empty((gpu.limits.max_alloc_bytes // 4 + 1024,))


def test_images_of_many_sizes_do_not_fill_the_device(opened) -> None:
    """Freed memory is kept for the next Image of its size, but not more of it than was in use at once."""
    gpu = opened()
    for megabytes in range(2, 40):
        assert gpu.empty((megabytes << 20,), np.uint8).nbytes == megabytes << 20
        assert gpu._pool.managed_bytes <= 3 * (megabytes << 20)
    held = gpu.empty((39 << 20,), np.uint8)
    assert gpu._pool.active_bytes >= held.nbytes
