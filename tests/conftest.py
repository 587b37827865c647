"""Fixtures shared by all tests. Everything is seeded; the device is the one clpix would choose (CLPIX_DEVICE)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gpuops import Gpu


@pytest.fixture(scope="session")
def gpu() -> Iterator[Gpu]:
    """The device under test."""
    yield Gpu()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(20240229)
