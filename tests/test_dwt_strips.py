"""The transform in place by strips: how much is put aside, and among how many groups images of any size are shared."""

from dataclasses import replace
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuops import Gpu
from gpuops.params.dwt import DwtParams
from gpuops.wavelets import strips, transform

from .reference import wavelets as wavelets_reference
from .reference.wavelets import mirrored
from .tolerance import DWT as TOLERANCE

UNITS = 132  # compute units


def large(gpu: Gpu) -> Gpu:
    """The device as a large GPU."""
    real = gpu.limits
    gpu.limits = replace(
        real,
        is_cpu=False,
        lanes=1,
        work_group=min(1024, real.work_group),
        local_bytes=min(49152, real.local_bytes),
        compute_units=UNITS,
    )
    return gpu


@pytest.mark.parametrize("name", ["bior4.4", "dd13/7"])
def test_what_is_put_aside(opened, name) -> None:
    """2 % of a large image; of a smaller one what half of the compute units need to have work, a quarter at most."""
    gpu, params, shares, groups = large(opened()), DwtParams(name, "mirror", 1), {}, {}
    for n in (1024, 2048, 4096, 8192, 16384):
        # An image that needs no memory.
        image: Any = SimpleNamespace(gpu=gpu, shape=(1, n, n), dtype=np.dtype(np.float32), nbytes=4 * n * n)
        ((layout, shape),) = strips._levels(image, params, 1)
        _, step, columns, rows = strips._level(image, params, layout, shape, inverse=False)._groups
        shares[n] = (prod(columns) + prod(rows)) / n**2
        groups[n] = prod(step.size) // prod(step.local or ())
    assert shares[16384] <= 0.02
    assert all(share <= 0.25 for share in shares.values())
    assert all(groups[n] >= UNITS / 2 for n in (4096, 8192, 16384))
    # Smaller images have fewer groups; once a single group had all rows of 1024² and 2048².
    assert groups[1024] >= 15 and groups[2048] >= 30


@pytest.mark.parametrize("shape", [(130, 300), (97, 131), (256, 64)])
def test_many_bands(opened, rng, shape) -> None:
    gpu, x = large(opened()), rng.standard_normal(shape).astype(np.float32)
    params = DwtParams("bior4.4", "mirror", 1, "strip")
    approximation, details = transform.forward(gpu.array(x[None]), params)
    ours = [band.numpy()[0] for band in (approximation, *details)]
    for mine, theirs in zip(ours, wavelets_reference.flat(mirrored(x.astype(float), "bior4.4")), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=TOLERANCE["coefficients"] * np.abs(x).max())
    back = transform.inverse(approximation, details, params, shape).numpy()[0]
    np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE["round trip"] * np.abs(x).max())
