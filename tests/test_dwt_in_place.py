"""The transform in its own memory: against Laan's out of place, and the permutation and the memory by themselves."""

import warnings

import numpy as np
import pytest
import pywt

from gpuops import GpuopsWarning, ParameterError, Report
from gpuops.params import dwt as names
from gpuops.params.dwt import DwtParams
from gpuops.wavelets import in_place, laan, transform, wavedec2

from .choices import some
from .tolerance import DWT as TOLERANCE
from .tolerance import ROUNDINGS

LIFTING = [name for name, (lifts, _) in names.WAVELETS.items() if lifts and not name.startswith("vc2-")]
# Rows are shorter than two chunks, of whole chunks, or with remainders; chunks have short cycles, or one of nearly
# all samples (1500, and the prime 1499); and lines have one sample.
SHAPES = [
    (1, 1), (1, 2), (1, 3), (2, 1), (3, 5), (1, 67), (67, 1), (31, 29), (64, 256), (7, 2100), (1500, 3), (1499, 2),
]  # fmt: skip
MEMORY = 1.001  # memory as a multiple of the image


def image_of(rng, shape: tuple[int, ...], integer: bool) -> np.ndarray:
    whole = rng.integers(0, 65536, shape).astype(np.int32)
    return whole if integer else (whole / 65536).astype(np.float32)


@some(integer=[True, False], name=LIFTING)
def test_the_result_is_laans(gpu, rng, name, integer) -> None:
    if integer and not names.WAVELETS[name][1]:
        return
    levels = 3
    for shape in SHAPES:
        x = image_of(rng, (2, *shape), integer)
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
        x = image_of(rng, (2, *shape), True)
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
        image = gpu.array(image_of(rng, (1, *shape), params.integer))
        before = gpu.report.peak_device_bytes
        assert before >= image.nbytes
        in_place.decompose(image, params, 5)
        in_place.recompose(image, params, 5)
        tables = 2 * in_place.table_bytes(gpu, shape, 5)  # one table forward, one inverse
        assert 0 < tables <= (MEMORY - 1) * image.nbytes and gpu.report.peak_device_bytes == before
        del image
