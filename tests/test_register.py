"""Shifts between pictures, against skimage in double and against shifts that are known."""

import json
import re
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import skimage.registration

from gpuops import ParameterError, files
from gpuops.fourier.registration import phase_cross_correlation
from gpuops.ops.register import RegisterParams

from .choices import pairs
from .tolerance import REGISTER

IDENTITIES: list[RegisterParams] = []


def pair(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A smooth periodic image, and the same shifted by parts of a pixel, with a little noise."""
    a = scipy.ndimage.gaussian_filter(rng.random(size), 1, mode="wrap")
    b = np.fft.ifft2(scipy.ndimage.fourier_shift(np.fft.fft2(a), (3.37, -5.62))).real
    return a, b + 0.001 * rng.random(size)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("size", "factor", "normalization"),
    pairs([(32, 41), (33, 40), (30, 30), (1, 17), (19, 1), (1, 1)], [1, 10, 100], ["phase", None]),
)
def test_skimage(gpu, rng, size, factor, normalization) -> None:
    how: dict[str, Any] = {"upsample_factor": factor, "normalization": normalization}
    a, b = pair(rng, size)
    expected = skimage.registration.phase_cross_correlation(a, b, **how)
    if gpu.limits.double:
        found = phase_cross_correlation(gpu, a, b, **how)
        both = ((found[0], expected[0]), (found[1] ** 2, expected[1] ** 2), (found[2], expected[2]))
        for ours, theirs in both:
            np.testing.assert_allclose(ours, theirs, rtol=REGISTER["double"], atol=REGISTER["double"])
    # In single precision a step beside the largest value may be as large.
    shift, error, phase = phase_cross_correlation(gpu, a.astype(np.float32), b.astype(np.float32), **how)
    step = 1.1 / factor if factor == 100 else 1e-6
    np.testing.assert_allclose(shift, expected[0], rtol=0, atol=step)
    np.testing.assert_allclose(error**2, expected[1] ** 2, rtol=REGISTER["error"], atol=REGISTER["error"])
    np.testing.assert_allclose(phase, expected[2], rtol=0, atol=REGISTER["phase"])


def test_what_cannot_be_registered(gpu, rng) -> None:
    a = rng.random((5, 6))
    bad = a.copy()
    bad[2, 2] = np.nan
    for args, how, text in (
        ((a, a[:4]), {}, "one shape"),
        ((a, gpu.array(a[None].astype(np.float32))), {}, "float64 is needed"),
        ((a, bad), {}, "finite"),
        ((a[None], a[None]), {}, "rows, columns"),
        ((a, a), {"normalization": "amplitude"}, "normalization"),
        ((a, a), {"upsample_factor": 0}, "1 or more"),
        ((gpu.array(np.ones((2, 3, 3), np.float32)),) * 2, {}, "one plane"),
    ):
        with pytest.raises(ParameterError, match=text):
            phase_cross_correlation(gpu, *args, **how)  # type: ignore[arg-type]


def photograph(rng: np.random.Generator) -> np.ndarray:
    """Detail of all sizes, larger than the pictures that are cut out of it."""
    noise = rng.random((200, 220, 3))
    found = sum(s * scipy.ndimage.gaussian_filter(noise, (s, s, 0)) for s in (0.7, 2, 6))
    return (found - found.min()) / np.ptp(found)


@pytest.mark.parametrize(("shift", "words"), [((7, -4), ()), ((-3, 2), ("--upsample", "1")), ((0, 0), ())])
def test_whole_shifts_move_pixels(clpix, rng, shift, words, tmp_path) -> None:
    scene, (dx, dy) = np.rint(photograph(rng) * 65535).astype(np.uint16), shift
    files.write(tmp_path / "a.png", files.Picture(scene[40:140, 50:170]))
    # What is at (x, y) of the reference is at (x − dx, y − dy) of this one.
    moving = scene[40 + dy : 140 + dy, 50 + dx : 170 + dx]
    files.write(tmp_path / "b.png", files.Picture(moving))
    out, report = tmp_path / "c.png", tmp_path / "r.json"
    run = clpix(
        "register", tmp_path / "b.png", "--reference", tmp_path / "a.png", *words, "--background", "1", "-o", out,
        "--timing-file", report,
    )  # fmt: skip
    assert (run.code, run.err) == (0, "")
    assert run.out == f"{tmp_path / 'b.png'}: shift {dx},{dy} pixels to the right and down\n"
    assert json.loads(report.read_text())["results"] == [
        {"input": str(tmp_path / "b.png"), "shift": [dx, dy]}
    ]
    found = files.read(out).pixels
    rows, columns = np.mgrid[:100, :120]
    inside = (rows >= dy) & (rows < 100 + dy) & (columns >= dx) & (columns < 120 + dx)
    np.testing.assert_array_equal(found[inside], scene[40:140, 50:170][inside])
    assert (found[~inside] == 65535).all()


def test_parts_of_a_pixel(clpix, rng, tmp_path) -> None:
    """The shifted picture is nearer to the reference; transparent where nothing is known."""
    scene = scipy.ndimage.gaussian_filter(photograph(rng), (1, 1, 0))
    moved = scipy.ndimage.shift(scene, (2.3, -5.6, 0), order=5, mode="mirror")
    a, b = (np.ones((100, 120, 4), np.float32) for _ in range(2))
    a[..., :3], b[..., :3] = scene[40:140, 50:170], moved[40:140, 50:170]
    for name, pixels in (("a.exr", a), ("b.exr", b)):
        files.write(tmp_path / name, files.Picture(pixels, alpha=True, linear=True))
    out = tmp_path / "c.exr"
    run = clpix("register", tmp_path / "b.exr", "--reference", tmp_path / "a.exr", "-o", out)
    shift = re.search(r"shift (\S+),(\S+) pixels", run.out)
    assert (run.code, run.err) == (0, "") and shift
    np.testing.assert_allclose([float(v) for v in shift.groups()], (5.6, -2.3), rtol=0, atol=0.11)
    found = files.read(out).pixels
    inside = np.s_[8:-8, 8:-8, :3]
    before, after = (np.abs(x[inside] - a[inside]).mean() for x in (b, found))
    assert after < before / 10
    assert not found[:, :3, 3].any() and not found[-1, :, 3].any() and (found[8:-8, 8:-8, 3] == 1).all()


def test_bad_input(clpix, tmp_path) -> None:
    bad = np.ones((5, 6, 1), np.float32)
    bad[2, 2] = np.inf
    ones = np.ones((5, 6, 1), np.float32)
    for name, pixels in (("a.exr", ones), ("b.exr", ones[:4]), ("c.exr", bad)):
        files.write(tmp_path / name, files.Picture(pixels, linear=True))
    out = tmp_path / "o.exr"
    for reference, code, text in (
        ("b.exr", 1, "resize one"),
        ("c.exr", 1, "finite"),
        ("d.exr", 1, "no such file"),
    ):
        run = clpix("register", tmp_path / "a.exr", "--reference", tmp_path / reference, "-o", out)
        assert (run.code, run.err.count("\n"), out.exists()) == (code, 1, False) and text in run.err
    run = clpix("register", tmp_path / "a.exr", "-o", out)
    assert run.code == 2 and "--reference" in run.err
