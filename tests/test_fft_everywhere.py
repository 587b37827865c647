r"""Every way to compute a transform, planned for five kinds of devices, on small sizes, against numpy in double.

A few of all combinations run each time: every method with every size, computed twiddles with every size in local
memory, and of any two other choices nearly each pair. With ``CLPIX_EVERY_FFT`` set to anything all of them run. Most
build kernels of their own, which takes a processor hours::

    CLPIX_EVERY_FFT=1 CLPIX_DEVICE=Portable pytest -n auto --dist load --maxschedchunk 1 -rP \
        tests/test_fft_everywhere.py -k test_every_combination
"""

import itertools
import os
import random
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from gpuops import Gpu
from gpuops import fourier as fft
from gpuops.fourier.engine.passes import passes
from gpuops.fourier.engine.planner import Planner
from gpuops.fourier.engine.problem import Problem
from gpuops.gpu import Limits
from gpuops.image import PIXEL_TYPE_NAMES
from gpuops.params.fft import METHODS, RADICES, FftParams

from . import choices
from .tolerance import FFT_EVERYWHERE as LIMITS

pytestmark = pytest.mark.exhaustive


# The limits that plans may count on. If the device has less than one of them, its own limit holds.
DEVICES: dict[str, dict[str, Any]] = {
    "16 KB": {"local_bytes": 16 << 10, "work_group": 64, "is_cpu": False, "compute_units": 4},
    "32 KB": {"local_bytes": 32 << 10, "work_group": 256, "is_cpu": False, "compute_units": 16},
    "48 KB": {"local_bytes": 48 << 10, "work_group": 1024, "is_cpu": False, "compute_units": 132},
    "64 KB": {"local_bytes": 64 << 10, "work_group": 512, "is_cpu": False, "compute_units": 1},
    "CPU": {"local_bytes": 32 << 10, "work_group": 1024, "is_cpu": True, "compute_units": 2},
}

# A prime up to 199 is a radix; one above goes through a convolution.
SIZES = [
    (227, 239),  # both axes by convolutions, of the same 480 points
    (64, 211),  # rows by a convolution
    (422, 40),  # columns by a convolution, eight in a group where it has room
    (3, 422),  # pairing real numbers along rows leaves a prime length
    (199, 37),  # the largest prime that is a radix, and one that GPUs unroll
    (60, 84),  # composite; real rows of pairs, after columns joined where local memory is small
    (4620, 3),  # composite, and too long for the least local memory: in two halves
    (2, 4106),  # twice 2053: a convolution that goes through global memory where local memory is small
]
TWIDDLES = ("table", "compute")
KINDS = ("fft2", "ifft2", "rfft2", "irfft2", "rfft", "irfft")
# Of pixels: rows whose pairs are whole words for any number of channels, or for few; and those of odd width.
PIXEL_SIZES = [(96, 60), (60, 42), (44, 35)]


@dataclass(frozen=True)
class Case:
    method: str
    size: tuple[int, int]
    twiddle: str
    radix: str
    precision: str
    kind: str
    device: str
    depth: str = (
        ""  # of pixels that the transform reads or writes itself; "": planes of real or complex numbers
    )
    channels: int = 2

    def __str__(self) -> str:
        rows, columns = self.size
        rest = (self.twiddle, f"radix {self.radix}", self.precision, self.kind, self.device)
        if self.depth:
            rest += (f"{self.channels} of {self.depth}",)
        return ", ".join((self.method, f"{rows}x{columns}", *rest))

    @property
    def params(self) -> FftParams:
        return FftParams(self.method, self.radix, self.twiddle)

    @property
    def data(self) -> tuple[Any, ...]:
        """What decides the input and the exact result."""
        return self.size, self.kind, self.precision, self.depth, self.channels


# Along rows alone, only pairs of real numbers are tested; the rest is covered by two axes.
ALL = [
    case
    for case in itertools.starmap(Case, product(METHODS, SIZES, TWIDDLES, RADICES, LIMITS, KINDS, DEVICES))
    if case.kind.endswith("2") or case.size[1] % 2 == 0
]
PIXELS = list(
    itertools.starmap(
        Case,
        product(
            METHODS, PIXEL_SIZES, TWIDDLES, RADICES, ("single",), ("rfft2", "irfft2"), DEVICES,
            PIXEL_TYPE_NAMES, (1, 2, 3, 4),
        ),
    )
)  # fmt: skip


# Former errors: compilers kept computed twiddles across barriers, wrongly, also while channels were taken in turn; one
# axis got the other's filter; the values of a group of large radices were more than a CPU's stack holds.
ONCE_WRONG = [
    Case("local", (96, 60), "compute", "8", "single", "rfft2", "48 KB", "uint8", 3),
    Case("global", (227, 239), "table", "auto", "single", "fft2", "48 KB"),
    Case("local", (422, 40), "compute", "4", "single", "fft2", "64 KB"),
    Case("local", (64, 211), "compute", "2", "single", "rfft2", "48 KB"),
    Case("local", (422, 40), "compute", "4", "single", "ifft2", "CPU"),
    Case("global", (199, 37), "table", "auto", "double", "fft2", "CPU"),
]


def few() -> list[Case]:
    """One case of each size through global memory, in local memory one with a table and one without; some of pixels.

    As far as these suffice, each pair of any other two choices occurs; of pixels each pair of any two.
    """
    dice = random.Random(23)
    found = ONCE_WRONG.copy()
    todo = set().union(*map(pairs, ALL)).difference(*map(pairs, found))
    there = {(c.method, c.size, c.twiddle) for c in found}

    def add(fitting: list[Case]) -> None:
        found.append(
            max(dice.sample(fitting, min(500, len(fitting))), key=lambda case: len(todo & pairs(case)))
        )
        todo.difference_update(pairs(found[-1]))

    for method, size in product(("local", "global"), SIZES):  # auto takes one of them
        for twiddles in (("table",), ("compute",)) if method == "local" else (TWIDDLES,):
            if there.isdisjoint((method, size, twiddle) for twiddle in twiddles):
                add([c for c in ALL if (c.method, c.size) == (method, size) and c.twiddle in twiddles])
    todo = set().union(*map(pairs, PIXELS)).difference(*map(pairs, found))
    while todo:
        add(PIXELS)
    return found


def pairs(case: Case) -> set[tuple[Any, ...]]:
    return set(combinations(enumerate(vars(case).values()), 2))


class Claiming(Gpu):
    """The device under test, which claims to be one of DEVICES, but no more than it is."""

    claims: dict[str, Any]

    def claim(self, name: str) -> None:
        """Plans belong to the device that was claimed before."""
        self.claims = DEVICES[name]
        self.plans.clear()

    @property
    def limits(self) -> Limits:  # type: ignore[override]
        """Sizes are never more than the device has."""
        least = {
            name: min(self.claims[name], getattr(self.real, name)) for name in ("local_bytes", "work_group")
        }
        return replace(self.real, **self.claims | least)

    @cached_property
    def real(self) -> Limits:
        """The limits of the device itself."""
        return super().limits


class Asked(Exception):
    """Ends a transform that is to be planned."""


@cache
def device() -> Claiming:
    """One for all claims: a process can have few contexts, and built kernels serve several claims."""
    return Claiming()


def claiming(name: str) -> Claiming:
    device().claim(name)
    return device()


def computation(case: Case) -> Hashable:
    """All that decides which programs run with which arguments: cases that share it are the same computation."""
    gpu = claiming(case.device)
    with patch.object(gpu, "kept", side_effect=Asked) as kept, pytest.raises(Asked):
        transform(gpu, case)
    problem: Problem = kept.call_args.args[0]
    vectors = Planner(gpu.limits, problem.params).vectors
    group = min(256, gpu.limits.work_group)  # of stages in global memory
    return replace(problem, params=FftParams()), tuple(passes(gpu.limits, problem)), vectors, group


@cache
def transformed(
    size: tuple[int, int], kind: str, precision: str, depth: str, channels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Input and exact result of planes, or of pixels."""
    rng = np.random.default_rng(17)
    real = np.float32 if precision == "single" else np.float64
    x: np.ndarray = rng.standard_normal((channels, *size)).astype(real)
    if depth:
        most = np.iinfo(depth).max if depth.startswith("u") else 1
        pixels = (rng.random((*size, channels)) * most).astype(depth)
        spectra = np.fft.rfft2(np.moveaxis(pixels.astype(float), 2, 0) / most)
        return (pixels, spectra) if kind == "rfft2" else (spectra.astype(np.complex64), pixels)
    if kind in ("fft2", "ifft2"):
        x = x + 1j * rng.standard_normal(x.shape).astype(real)
    if kind == "irfft2":
        x = np.fft.rfft2(x.astype(float)).astype(np.result_type(real, np.complex64))
        return x, np.fft.irfft2(x.astype(complex), size)
    if kind == "irfft":
        x = np.fft.rfft(x.astype(float)).astype(np.result_type(real, np.complex64))
        return x, np.fft.irfft(x.astype(complex), size[1])
    return x, getattr(np.fft, kind)(x.astype(complex if x.dtype.kind == "c" else float))


def transform(gpu: Gpu, case: Case) -> np.ndarray:
    """The transform by the device under test."""
    x, _ = transformed(*case.data)
    if case.depth:
        if case.kind == "rfft2":
            return fft.rfft2_of_pixels(gpu, x, params=case.params)
        return fft.irfft2_to_pixels(gpu, x, case.size, case.depth, params=case.params)[0]
    length: dict[str, Any] = {"irfft2": {"s": case.size}, "irfft": {"n": case.size[1]}}.get(case.kind, {})
    result: np.ndarray = getattr(fft, case.kind)(gpu, x, **length, params=case.params)
    return result


def error(case: Case) -> float:
    """Relative L2."""
    _, exact = transformed(*case.data)
    got = transform(claiming(case.device), case)
    number = np.float32 if case.precision == "single" else np.float64
    if exact.dtype.kind == "c":
        number = np.result_type(number, np.complex64)
    assert (got.shape, got.dtype) == (exact.shape, exact.dtype if exact.dtype == case.depth else number)
    return float(np.linalg.norm(got.astype(complex) - exact) / np.linalg.norm(exact.astype(complex)))


@choices.each(case=few())
def test_a_few_combinations(case) -> None:
    if case.precision == "double" and not device().real.double:
        pytest.skip("no double precision")
    assert error(case) < LIMITS[case.precision]


@pytest.mark.exhaustive
@pytest.mark.skipif("CLPIX_EVERY_FFT" not in os.environ, reason="takes hours: CLPIX_EVERY_FFT=1 runs it")
@pytest.mark.parametrize("data", dict.fromkeys(case.data for case in ALL + PIXELS), ids=str)
def test_every_combination(data) -> None:
    computations: dict[Hashable, list[Case]] = {}
    for case in ALL + PIXELS:
        if case.data == data:
            computations.setdefault(computation(case), []).append(case)
    errors = {}
    for case, *_ in computations.values():
        if case.precision == "double" and not device().real.double:
            pytest.skip("no double precision")
        errors[case] = error(case)
        print(f"{case}: {errors[case]:.2g}", flush=True)
    print(f"{len(errors)} computations, largest error {np.max([*errors.values()]):.2g}")
    wrong = [f"{case}: {value:.2g}" for case, value in errors.items() if not value < LIMITS[case.precision]]
    assert not wrong, "\n".join(wrong)
