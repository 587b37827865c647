"""Cosine and sine transforms against scipy.fft in double."""

from itertools import product

import numpy as np
import pytest
import scipy.fft

from gpuops import ParameterError
from gpuops.fourier import real

from .reference.fourier import error
from .tolerance import FFT as TOLERANCE


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_scipy(gpu, rng, name, type) -> None:
    for n, norm, ends in product((2, 3, 8, 17), (None, "ortho", "forward"), (None, True, False)):
        x = rng.standard_normal((2, n))
        expected = getattr(scipy.fft, name)(x, type, norm=norm, orthogonalize=ends)
        if gpu.limits.double:
            found = getattr(real, name)(gpu, x, type, norm=norm, orthogonalize=ends)
            assert found.dtype == np.float64 and error(found, expected) < 1e-13
        found = getattr(real, name)(gpu, x.astype(np.float32), type, norm=norm, orthogonalize=ends)
        assert found.dtype == np.float32 and error(found, expected) < 3 * TOLERANCE["single"]


@pytest.mark.parametrize("name", ["dctn", "idctn", "dstn", "idstn"])
def test_several_axes(gpu, rng, name) -> None:
    x = rng.standard_normal((4, 5, 6)).astype(np.float32)
    for more in ({}, {"axes": (0, 2), "norm": "ortho"}, {"s": (7, 3), "type": 3}, {"axes": (-2,), "type": 4}):
        expected = getattr(scipy.fft, name)(x.astype(float), **more)
        assert error(getattr(real, name)(gpu, x, **more), expected) < 3 * TOLERANCE["single"]


def test_lengths_and_axes(gpu, rng) -> None:
    x = rng.integers(0, 9, (5, 6))
    for n, axis in ((4, 0), (9, 0), (3, 1), (1, -1)):
        expected = scipy.fft.dct(x.astype(float), n=n, axis=axis)
        assert error(real.dct(gpu, x, n=n, axis=axis), expected) < 3 * TOLERANCE["single"]
    for args, text in (
        ((x, 5), "1 to 4"),
        ((x * 1j,), "real array"),
        ((x, 1, 1), "no meaning"),
        ((x, 2, 0), "length of 1"),
        ((x, 2, None, 3), "axes"),
        ((x, 2, None, 0, "unitary"), "norm"),
    ):
        with pytest.raises(ParameterError, match=text):
            real.dct(gpu, *args)
