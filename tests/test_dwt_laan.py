"""Van der Laan's method on devices of all kinds, beside PyWavelets; its launches, its memory and the bytes it moves."""

from dataclasses import replace

import numpy as np
import pytest
import pywt

from gpuops import DeviceError, Gpu, Report
from gpuops.params.dwt import DwtParams
from gpuops.wavelets import dwt2, idwt2, laan

from . import test_dwt as of_dwt
from .choices import each
from .reference import wavelets as wavelets_reference
from .reference.wavelets import mirrored
from .tolerance import DWT as TOLERANCE

# Samples before and after a pair that its coefficients depend on: half the length of the longer filter.
HALO = {"haar": 0, "bior2.2": 2, "bior4.4": 4, "dd9/7": 4, "dd13/7": 6}
# Bytes of local memory and work-items of a group on GPUs, and the vectors of CPUs, each with a wavelet and a mode.
KINDS = {
    "tiny": ({"is_cpu": False, "lanes": 1, "local_bytes": 2048, "work_group": 16}, "dd13/7", "mirror"),
    "16 KB": ({"is_cpu": False, "lanes": 1, "local_bytes": 16384, "work_group": 64}, "haar", "periodization"),
    "48 KB": ({"is_cpu": False, "lanes": 1, "local_bytes": 49152, "work_group": 256}, "bior4.4", "mirror"),
    "64 KB": (
        {"is_cpu": False, "lanes": 1, "local_bytes": 65536, "work_group": 1024},
        "dd9/7",
        "periodization",
    ),
    "cpu": ({"is_cpu": True, "lanes": 8, "local_bytes": 16384}, "bior2.2", "mirror"),
}
# A row has several segments, or a group takes several short rows; sizes are primes; bands lie one below the other.
SHAPES = [(2, 13001), (67, 5), (131, 97)]


def claiming(gpu: Gpu, claims: dict[str, int]) -> Gpu:
    """The device with other limits, of which sizes are never more than it has."""
    real = gpu.limits
    if real.lanes == 1:  # its compiler does not know vectors
        claims = {**claims, "lanes": 1}
    sizes = ("work_group", "local_bytes")
    gpu.limits = replace(
        real, **{k: min(v, getattr(real, k)) if k in sizes else v for k, v in claims.items()}
    )
    return gpu


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_devices(opened, rng, kind) -> None:
    claims, name, mode = KINDS[kind]
    gpu = claiming(opened(), claims)
    for shape in SHAPES:
        x = rng.standard_normal(shape).astype(np.float32)
        ours = dwt2(gpu, x, name, mode, method="laan")
        plain = x.astype(float)
        expected = (
            mirrored(plain, name)
            if mode == "mirror"
            else pywt.dwt2(plain, wavelets_reference.wavelet_of(name), mode)
        )
        of_dwt.assert_close(ours, expected)
        back = idwt2(gpu, ours, name, mode, shape=shape, method="laan")
        np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE["round trip"] * np.abs(x).max())


def test_double_precision(gpu, rng) -> None:
    if not gpu.limits.double:
        pytest.skip("no double precision")
    x = rng.standard_normal((41, 70))
    ours = dwt2(gpu, x, "9/7", "mirror", method="laan")
    for mine, theirs in zip(
        wavelets_reference.flat(ours), wavelets_reference.flat(mirrored(x, "bior4.4")), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=TOLERANCE["double"])
    back = idwt2(gpu, ours, "9/7", "mirror", method="laan")
    np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE["double"])


@each(name=HALO, kind=["48 KB", "cpu"])
def test_an_axis_is_one_launch_of_as_many_bytes_as_table_3_says(opened, rng, kind, name) -> None:
    """16 (1 + h / r) bytes a pixel, of which r is a row, or a band of 64 rows at least."""
    report = Report()
    gpu = claiming(opened(report=report), KINDS[kind][0])
    image = gpu.array(rng.random((1, 400, 300), np.float32))
    params = DwtParams(name, "mirror", 2)
    laan.decompose(image, params, 2)
    kernels = report.kernels()
    assert sum(len(k.ms) for k in kernels) == 4  # two levels of two axes, whatever the number of steps
    moved = sum(k.traffic * len(k.ms) for k in kernels)
    pixels = 400 * 300 + 200 * 150
    least, most = 16 * pixels, 8 * (1 + HALO[name] / 300) * pixels + 8 * (1 + HALO[name] / 64) * pixels
    assert least <= moved <= most
    assert least <= laan.table_3_bytes(gpu, image.shape, params, 2) <= 1.02 * most  # rows of level 2: 150
    assert moved <= 1.15 * laan.table_3_bytes(gpu, image.shape, params, 2)


def test_too_little_local_memory_is_one_line(opened, rng) -> None:
    gpu = claiming(opened(), {"is_cpu": False, "lanes": 1, "local_bytes": 64})
    with pytest.raises(
        DeviceError, match="64 bytes of local memory, too few for the method laan: use --method"
    ):
        dwt2(gpu, rng.random((9, 9), np.float32), "9/7", "mirror", method="laan")
