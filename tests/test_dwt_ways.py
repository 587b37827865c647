"""Ways to compute a level, on devices of all kinds, beside PyWavelets and each other; launches, memory and bytes."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import cycle
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import pywt

from gpuops import DeviceError, Gpu, GpuopsWarning, ParameterError, Report
from gpuops.params import dwt as names
from gpuops.params.dwt import MODES, DwtParams
from gpuops.wavelets import dwt2, idwt2, in_place, laan, strips, transform, two_levels, wavedec2
from gpuops.wavelets import tiled_level as tile

from . import test_dwt as of_dwt
from .choices import each, some
from .reference.wavelets import flat, mirrored, wavelet_of
from .tolerance import DWT as TOLERANCE
from .tolerance import ROUNDINGS


def claiming(gpu: Gpu, is_cpu: bool = False, lanes: int = 1, **sizes: int) -> Gpu:
    """The device with other limits, of which sizes are never more than it has."""
    real = gpu.limits
    for name in ("work_group", "local_bytes"):
        if name in sizes:
            sizes[name] = min(sizes[name], getattr(real, name))
    # A compiler may not know vectors.
    gpu.limits = replace(real, is_cpu=is_cpu, lanes=1 if real.lanes == 1 else lanes, **sizes)
    return gpu


# Samples before and after a pair that its coefficients depend on: half the length of the longer filter.
HALO = {"haar": 0, "bior2.2": 2, "bior4.4": 4, "dd9/7": 4, "dd13/7": 6}
# Bytes of local memory and work-items of a group on GPUs, and the vectors of CPUs, each with a wavelet and a mode.
KINDS = {
    "tiny": ({"local_bytes": 2048, "work_group": 16}, "dd13/7", "mirror"),
    "16 KB": ({"local_bytes": 16384, "work_group": 64}, "haar", "periodization"),
    "48 KB": ({"local_bytes": 49152, "work_group": 256}, "bior4.4", "mirror"),
    "64 KB": ({"local_bytes": 65536, "work_group": 1024}, "dd9/7", "periodization"),
    "cpu": ({"is_cpu": True, "lanes": 8, "local_bytes": 16384}, "bior2.2", "mirror"),
}
# A row has several segments, or a group takes several short rows; sizes are primes; bands lie one below the other.
LAAN_SHAPES = [(2, 13001), (67, 5), (131, 97)]


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_devices(opened, rng, kind) -> None:
    claims, name, mode = KINDS[kind]
    gpu = claiming(opened(), **claims)
    for shape in LAAN_SHAPES:
        x = rng.standard_normal(shape).astype(np.float32)
        ours = dwt2(gpu, x, name, mode, method="laan")
        plain = x.astype(float)
        expected = mirrored(plain, name) if mode == "mirror" else pywt.dwt2(plain, wavelet_of(name), mode)
        of_dwt.assert_close(ours, expected)
        back = idwt2(gpu, ours, name, mode, shape=shape, method="laan")
        np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE["round trip"] * np.abs(x).max())


def test_double_precision(gpu, rng) -> None:
    if not gpu.limits.double:
        pytest.skip("no double precision")
    x = rng.standard_normal((41, 70))
    ours = dwt2(gpu, x, "9/7", "mirror", method="laan")
    for mine, theirs in zip(flat(ours), flat(mirrored(x, "bior4.4")), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=TOLERANCE["double"])
    back = idwt2(gpu, ours, "9/7", "mirror", method="laan")
    np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE["double"])


@pytest.mark.cases(1)
@each(name=HALO, kind=["48 KB", "cpu"])
def test_an_axis_is_one_launch_of_as_many_bytes_as_table_3_says(opened, rng, kind, name) -> None:
    """16 (1 + h / r) bytes a pixel, of which r is a row, or a band of 64 rows at least."""
    report = Report()
    gpu = claiming(opened(report=report), **KINDS[kind][0])
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
    gpu = claiming(opened(), local_bytes=64)
    with pytest.raises(
        DeviceError, match="64 bytes of local memory, too few for the method laan: use --method"
    ):
        dwt2(gpu, rng.random((9, 9), np.float32), "9/7", "mirror", method="laan")


LARGE = {"work_group": 1024, "local_bytes": 49152, "compute_units": 132}


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["bior4.4", "dd13/7"])
def test_what_is_put_aside(opened, name) -> None:
    """2 % of a large image; of a smaller one what half of the compute units need to have work, a quarter at most."""
    gpu, params, shares, groups = claiming(opened(), **LARGE), DwtParams(name, "mirror", 1), {}, {}
    for n in (1024, 2048, 4096, 8192, 16384):
        # An image that needs no memory.
        image: Any = SimpleNamespace(gpu=gpu, shape=(1, n, n), dtype=np.dtype(np.float32), nbytes=4 * n * n)
        ((layout, shape),) = strips._levels(image, params, 1)
        _, step, columns, rows = strips._level(image, params, layout, shape, inverse=False)._groups
        shares[n] = (prod(columns) + prod(rows)) / n**2
        groups[n] = prod(step.size) // prod(step.local or ())
    assert shares[16384] <= 0.02 and all(share <= 0.25 for share in shares.values())
    assert all(groups[n] >= LARGE["compute_units"] / 2 for n in (4096, 8192, 16384))
    # Smaller images have fewer groups; once a single group had all rows of 1024² and 2048².
    assert groups[1024] >= 15 and groups[2048] >= 30


@pytest.mark.cases(1)
@pytest.mark.parametrize("shape", [(130, 300), (97, 131), (256, 64)])
def test_many_bands(opened, rng, shape) -> None:
    gpu, x = claiming(opened(), **LARGE), rng.standard_normal(shape).astype(np.float32)
    params = DwtParams("bior4.4", "mirror", 1, "strip")
    approximation, details = transform.forward(gpu.array(x[None]), params)
    ours = [band.numpy()[0] for band in (approximation, *details)]
    for mine, theirs in zip(ours, flat(mirrored(x.astype(float), "bior4.4")), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=TOLERANCE["coefficients"] * np.abs(x).max())
    back = transform.inverse(approximation, details, params, shape).numpy()[0]
    np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE["round trip"] * np.abs(x).max())


# The work-items of a group and the compute units give tiles each of the sides; a group lifts its rows in one round
# or several, or has fewer work-items than its rows have samples.
CLAIMS = [(1024, 1), (256, 4), (256, 1000), (16, 1000)]
WAVELETS = cycle(["haar", "bior2.2", "bior4.4", "dd13/7", "vc2-fidelity"])  # the last one reaches farthest
CASES = list(zip((mode for mode in MODES if mode != "vc2"), WAVELETS, strict=False))[
    ::-1
]  # the least to build first


def limited(gpu: Gpu, work_group: int, units: int) -> Gpu:
    return claiming(gpu, work_group=work_group, local_bytes=32768, compute_units=units)


@pytest.fixture(scope="module")
def tiled() -> Iterator[list[Gpu]]:
    """GPUs that take tiles."""
    with ExitStack() as stack:
        yield [limited(stack.enter_context(Gpu()), *claims) for claims in CLAIMS]


@pytest.fixture(scope="module")
def banded() -> Iterator[Gpu]:
    """A GPU that takes bands of rows, while tiles do not pay."""
    with Gpu() as gpu:
        yield limited(gpu, 256, 4)


def there_and_back(gpu: Gpu, x: np.ndarray, name: str, mode: str) -> list[np.ndarray]:
    """Four bands, and the image of others."""
    low, details = dwt2(gpu, x, name, mode)
    given = low[..., ::-1, :], tuple(band[..., ::-1] for band in details)
    return [low, *details, idwt2(gpu, given, name, mode, shape=x.shape[-2:])]


@pytest.mark.cases(1)
@each(dtype=[np.float32, np.float64], mode__name=CASES)
def test_all_ways_agree(gpu, tiled, banded, rng, monkeypatch, mode, name, dtype) -> None:
    if dtype == np.float64 and not gpu.limits.double:
        pytest.skip("no double precision")
    least = 2 if "reflect" in mode else 1
    shapes = [(2, *rng.integers(least, 68, 2)), (least, 6), rng.integers(least, 68, 2), (67, least)]
    turn = len(mode) % 2 * 2
    for shape in shapes[turn : turn + 2]:
        x = rng.standard_normal(shape).astype(dtype)
        with monkeypatch.context() as patch:
            patch.setattr(tile, "pays", lambda *_, **__: False)
            expected = there_and_back(banded, x, name, mode)
        for one in tiled:
            for part, other in zip(there_and_back(one, x, name, mode), expected, strict=True):
                np.testing.assert_array_equal(part, other)
        scale = max(np.abs(part).max(initial=0) for part in expected)
        for part, other in zip(there_and_back(gpu, x, name, mode), expected, strict=True):
            np.testing.assert_allclose(part, other, rtol=0, atol=of_dwt.tolerance_of(dtype) * scale)


def test_small_levels_are_one_launch(opened, rng, monkeypatch) -> None:
    x = rng.standard_normal((3, 40, 64)).astype(np.float32)
    for small, launches in ((x.nbytes, [1, 1]), (x.nbytes - 1, [2, 2])):
        monkeypatch.setattr(tile, "_SMALL", small)
        monkeypatch.setattr(tile, "_SMALL_INVERSE", small)
        report = Report()
        gpu = limited(opened(report=report), 256, 4)
        idwt2(gpu, dwt2(gpu, x, "bior4.4", "mirror"), "bior4.4", "mirror")
        counts = [
            sum(len(k.ms) for k in report.kernels() if k.label.startswith(way)) for way in ("dwt", "idwt")
        ]
        assert counts == launches


def test_tiles_are_as_large_as_groups_and_their_memory_allow(opened, rng) -> None:
    x = rng.standard_normal((90, 90)).astype(np.float32)
    least = limited(opened(), 256, 1)
    # Neither a tile nor a group of the other method fits.
    least.limits = replace(least.limits, local_bytes=1024)
    for gpu in (least, limited(opened(), 1, 1)):
        of_dwt.assert_close(dwt2(gpu, x, "bior4.4"), dwt2(opened(), x, "bior4.4"))


# Bands and tiles end within the image, beyond its last row, and at its edge; there are few rows, or an odd number.
PAIR_SHAPES = [(1, 65, 128), (2, 33, 200), (1, 7, 24), (3, 1, 72)]
PAIR_MODES = [mode for mode in MODES if mode not in ("vc2", "smooth", "antireflect")]
PAIRED = ["haar", "bior2.2", "bior4.4"]


@pytest.fixture
def pairing(opened, monkeypatch) -> Gpu:
    """The device under test as a GPU, to which small images are large and all steps short; small groups."""
    monkeypatch.setattr(two_levels, "_LEAST_SAMPLES", 0)
    monkeypatch.setattr(two_levels, "_MOST_REACH", {False: 9, True: 9})
    monkeypatch.setattr(two_levels, "_ITEMS", 16)
    monkeypatch.setattr(two_levels, "_LEAST", 2)
    return claiming(opened(report=Report()), local_bytes=32768)


def bands_of(gpu: Gpu, x: np.ndarray, params: DwtParams) -> list[np.ndarray]:
    """All bands on the host."""
    return [band.numpy() for band in transform.flat(*transform.decompose(gpu.array(x), params))]


def image_of(gpu: Gpu, bands: list[np.ndarray], params: DwtParams, shape: tuple[int, ...]) -> np.ndarray:
    """The image on the host."""
    return transform.recompose(
        *transform.nested([gpu.array(band) for band in bands]), params, shape[1:]
    ).numpy()


def count(gpu: Gpu) -> int:
    """Launches of two levels so far."""
    return sum(len(k.ms) for k in gpu.report.kernels() if "two levels" in k.label)


@pytest.mark.cases(1)
@each(name=PAIRED)
def test_two_levels_in_one_pass_are_two(pairing, rng, monkeypatch, name) -> None:
    for shape in PAIR_SHAPES:
        for mode in PAIR_MODES:
            if "reflect" in mode and min(shape) < 2:
                continue
            params = DwtParams(name, mode, 2)
            x = rng.standard_normal(shape).astype(np.float32)
            with monkeypatch.context() as patch:
                patch.setattr(two_levels, "fitting", lambda *_, **__: None)
                expected = bands_of(pairing, x, params)
                back = image_of(pairing, expected, params, shape)
            for ours, theirs in zip(bands_of(pairing, x, params), expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(image_of(pairing, expected, params, shape), back)
    # The count is of the mode mirror, where rows suit vectors, forward and inverse.
    assert count(pairing) >= 2 * len(PAIR_SHAPES)


def test_two_levels_are_taken_by_pairs(pairing, rng) -> None:
    x = rng.standard_normal((128, 128)).astype(np.float32)
    for levels, pairs in ((1, 0), (2, 1), (3, 1), (4, 2)):
        before = count(pairing)
        wavedec2(pairing, x, "haar", "mirror", levels)
        assert count(pairing) - before == pairs


def test_zeros_stand_for_bands_that_are_none(pairing, rng) -> None:
    x = rng.standard_normal((1, 64, 64)).astype(np.float32)
    params = DwtParams("haar", "mirror", 2)
    low, (coarse, fine) = transform.decompose(pairing.array(x), params)
    for given in ([(None, coarse[1], None), (None, None, None)], [(None,) * 3, (fine[0], None, fine[2])]):
        zeros = [tuple(pairing.zeros(b.shape) if a is None else a for a, b in zip(g, w, strict=True))
                 for g, w in zip(given, (coarse, fine), strict=True)]  # fmt: skip
        np.testing.assert_array_equal(
            transform.recompose(low, given, params).numpy(), transform.recompose(low, zeros, params).numpy()
        )


LIFTING = [name for name, (lifts, _) in names.WAVELETS.items() if lifts and not name.startswith("vc2-")]
# Rows are shorter than two chunks, of whole chunks, or with remainders; chunks have short cycles, or one of nearly
# all samples (1500, and the prime 1499); and lines have one sample.
PLACE_SHAPES = [
    (1, 1), (1, 2), (1, 3), (2, 1), (3, 5), (1, 67), (67, 1), (31, 29), (64, 256), (7, 2100), (1500, 3), (1499, 2),
]  # fmt: skip
MEMORY = 1.001  # memory as a multiple of the image


def samples_of(rng, shape: tuple[int, ...], integer: bool) -> np.ndarray:
    whole = rng.integers(0, 65536, shape).astype(np.int32)
    return whole if integer else (whole / 65536).astype(np.float32)


@pytest.mark.cases(1)
@some(integer=[True, False], name=LIFTING)
def test_the_result_is_laans(gpu, rng, name, integer) -> None:
    if integer and not names.WAVELETS[name][1]:
        return
    levels = 3
    for shape in PLACE_SHAPES:
        x = samples_of(rng, (2, *shape), integer)
        theirs = DwtParams(name, "mirror", levels, "laan", integer)
        expected = transform.decompose(gpu.array(x), theirs)
        ours = DwtParams(name, "mirror", levels, "in-place", integer)
        image = gpu.array(x)
        approximation, details = transform.decompose(image, ours)
        np.testing.assert_array_equal(image.numpy(), x)  # the image from which bands were copied is unchanged
        for mine, other in zip(
            transform.flat(approximation, details), transform.flat(*expected), strict=True
        ):
            assert mine.shape == other.shape
            # The steps are the same, but scale in other places; values are up to 8.
            allowed = 0 if integer else 8 * ROUNDINGS
            np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=0, atol=allowed)
        back = transform.recompose(approximation, details, ours).numpy()
        np.testing.assert_allclose(back, x, rtol=0, atol=0 if integer else TOLERANCE["round trip"])


@some(table=in_place.TABLES, chunk=[1, 5, 16, 128, 300])
def test_chunks_of_any_size(gpu, rng, chunk, table) -> None:
    """One image holds all bands, of many levels; what lies beside a level's rectangle stays as it is."""
    levels = 6
    params = DwtParams("5/3", "mirror", levels, "in-place", True)
    for shape in [(1, 3000 * chunk), (9, 1000), (256, 512), (33, 70)]:
        x = samples_of(rng, (2, *shape), True)
        expected, ours = gpu.array(x), gpu.array(x)
        laan.decompose(expected, params, levels)
        in_place.decompose(ours, params, levels, chunk=chunk, table=table)
        np.testing.assert_array_equal(ours.numpy(), expected.numpy())
        in_place.recompose(ours, params, levels, chunk=chunk, table=table)
        np.testing.assert_array_equal(ours.numpy(), x)


def test_the_layout_is_pywts(gpu, rng) -> None:
    x = rng.random((96, 160), dtype=np.float32)
    theirs, _ = pywt.coeffs_to_array(pywt.wavedec2(x.astype(float), "bior4.4", "periodization", 3))
    image = gpu.array(x[None])
    params = DwtParams("bior4.4", "periodization", 3, "in-place")
    in_place.decompose(image, params, 3)
    allowed = TOLERANCE["coefficients"] * np.abs(theirs).max()
    np.testing.assert_allclose(image.numpy()[0], theirs, rtol=0, atol=allowed)
    in_place.recompose(image, params, 3)
    np.testing.assert_allclose(image.numpy()[0], x, rtol=0, atol=TOLERANCE["round trip"])


def test_periodization_needs_even_lengths(gpu) -> None:
    x = np.zeros((12, 20), np.float32)
    assert wavedec2(gpu, x, "haar", "periodization", 2, method="in-place")[0].shape == (3, 5)
    with (
        pytest.raises(ParameterError, match="even lengths at each level, not 3×5: use mode mirror"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", GpuopsWarning)
        wavedec2(gpu, x, "haar", "periodization", 3, method="in-place")


def test_what_it_is_not_for(gpu) -> None:
    floats = gpu.array(np.zeros((1, 4, 4), np.float32))
    ours = DwtParams("haar", "mirror", 1, "in-place")
    for image, params, chunk, message in [
        (gpu.array(np.zeros((1, 4, 4))), ours, 16, "float32 is needed, not .* float64"),
        (gpu.array(np.zeros((4, 4), np.float32)), ours, 16, "planes, height, width"),
        (floats, DwtParams("haar", "mirror", 1, "in-place", integer=True), 16, "int32 is needed"),
        (floats, DwtParams("haar", "mirror", 1, "laan"), 16, "method laan"),
        (floats, ours, 0, "a sample at least"),
    ]:
        for function in (in_place.decompose, in_place.recompose):
            with pytest.raises(ParameterError, match=message):
                function(image, params, 1, chunk=chunk)
    with pytest.raises(ParameterError, match="in-place knows the modes mirror and periodization"):
        DwtParams("haar", "zero", 1, "in-place")
    with pytest.raises(ParameterError, match="no lifting steps"):
        DwtParams("db4", "periodization", 1, "in-place")


def test_laans_memory(opened, rng) -> None:
    """Twice the image's, whatever is transformed."""
    gpu = opened(report=Report())
    assert gpu.report is not None
    image = gpu.array(rng.random((1, 600, 1000), np.float32))
    laan.decompose(image, DwtParams("9/7", "mirror", 5, "laan"), 5)
    assert gpu.report.peak_device_bytes == 2 * image.nbytes


@pytest.mark.parametrize("shape", [(1024, 2048), (1500, 1500), (1021, 999)])
def test_memory(shape, opened, rng) -> None:
    """The memory is the image's, and no more than a thousandth beside it."""
    gpu = opened(report=Report())
    assert gpu.report is not None
    for params in (
        DwtParams("dd13/7", "mirror", 5, "in-place"),
        DwtParams("5/3", "mirror", 5, "in-place", True),
    ):
        image = gpu.array(samples_of(rng, (1, *shape), params.integer))
        before = gpu.report.peak_device_bytes
        assert before >= image.nbytes
        in_place.decompose(image, params, 5)
        in_place.recompose(image, params, 5)
        tables = 2 * in_place.table_bytes(gpu, shape, 5)  # one table forward, one inverse
        assert 0 < tables <= (MEMORY - 1) * image.nbytes and gpu.report.peak_device_bytes == before
        del image
