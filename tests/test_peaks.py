"""Periodic components: their places and amplitudes are those that a picture was made of."""

import json
import re
import shlex

import numpy as np
import pytest

from gpuops import ParameterError, files
from gpuops.fourier.peaks import peaks

from .reference.images import on
from .tolerance import PEAKS

#: Cycles per picture along x and along y, and amplitudes.
PARTS = ((20.3, -11.6, 0.2), (0.0, 31.5, 0.05), (44.25, 40.0, 0.03), (75.0, 0.0, 0.02))


def picture(rows: int = 120, columns: int = 150, noise: float = 0.0) -> np.ndarray:
    y, x = np.mgrid[:rows, :columns]
    waves = [a * np.cos(2 * np.pi * (u * x / columns + v * y / rows) + (u < 70)) for u, v, a in PARTS]
    return 0.5 + np.sum(waves, 0) + noise * np.random.default_rng(1).standard_normal((rows, columns))


@pytest.mark.parametrize(("noise", "channels"), [(0.0, 4), (0.02, 1)])
def test_parts_of_a_picture(gpu, noise, channels) -> None:
    x = np.repeat(picture(noise=noise)[None], channels, 0).astype(np.float32)
    found = peaks(gpu, on(gpu, x, alpha=channels == 4), 10)
    allowed = PEAKS["noise" if noise else "place"]
    assert len(found) == len(PARTS)
    for peak, (u, v, a) in zip(found, PARTS, strict=True):
        np.testing.assert_allclose(peak.cycles, (u, v), rtol=0, atol=allowed)
        np.testing.assert_allclose(peak.frequency, (u / 150, v / 120), rtol=0, atol=allowed / 120)
        np.testing.assert_allclose(peak.amplitude, a, rtol=0, atol=max(noise / 40, 1e-5))
        fx, fy = u / 150, v / 120
        assert peak.period == pytest.approx(1 / np.hypot(fx, fy), rel=allowed)
        angle = np.degrees(np.arctan2(-fy, fx))
        assert min(abs(peak.angle - angle), abs(abs(peak.angle - angle) - 180)) < 10 * allowed
        assert -90 < peak.angle <= 90
    assert peaks(gpu, on(gpu, x, alpha=channels == 4), 2) == found[:2]


def test_where_nothing_repeats(gpu, rng) -> None:
    for x in (rng.random((3, 200, 160)), np.full((1, 40, 50), 0.3), np.zeros((1, 8, 9)), np.ones((2, 1, 1))):
        assert peaks(gpu, on(gpu, x.astype(np.float32), alpha=False), 5) == []
    x = np.zeros((1, 9, 9), np.float32)
    x[0, 3, 3] = np.nan
    with pytest.raises(ParameterError, match="NaN"):
        peaks(gpu, on(gpu, x, alpha=False), 1)


def test_the_command_lists_draws_and_reports(clpix, tmp_path) -> None:
    a, plain, drawn = (tmp_path / name for name in ("a.png", "plain.png", "drawn.png"))
    files.write(a, files.Picture(np.rint(picture()[..., None] * 65535).astype(np.uint16)))
    assert clpix("fft", a, "-o", plain).code == 0
    report = tmp_path / "report.json"
    run = clpix("fft", a, "--peaks", 3, "--axes", "-o", drawn, "--timing-file", report)
    assert (run.code, run.err) == (0, "")
    told = json.loads(report.read_text())["results"]
    assert [one["input"] for one in told] == [str(a)] and len(told[0]["peaks"]) == 3
    lines = run.out.splitlines()
    assert "3 periodic components" in lines[0] and len(lines) == 6
    for line, peak, (u, v, amplitude) in zip(lines[2:], told[0]["peaks"], PARTS, strict=False):
        assert peak["cutoff"] in line and peak["cycles"] == pytest.approx([u, v], abs=0.01)
        assert peak["amplitude"] == pytest.approx(amplitude, abs=1e-4)
    before, after = files.read(plain).pixels[..., 0], files.read(drawn).pixels[..., 0]
    changed = before != after
    assert set(np.unique(after[changed])) <= {0, 65535}
    # The places themselves stay, with a ring around each, and around its mirror image.
    for u, v, _ in PARTS[:3]:
        for sign in (1, -1):
            row, column = (60 + round(sign * v)) % 120, (75 + round(sign * u)) % 150
            assert changed[max(row - 12, 0) : row + 13, max(column - 12, 0) : column + 13].sum() > 20
    assert changed[60].mean() > 0.9 and changed[:, 75].mean() > 0.9  # the axes


def test_peaks_are_cutoffs(clpix, tmp_path) -> None:
    """What is listed, as the command that is printed, takes the components out."""
    pixels = np.rint(picture(noise=0.02)[..., None] * 255).clip(0, 255).astype(np.uint8)
    files.write(tmp_path / "a.png", files.Picture(pixels))
    run = clpix("fft", tmp_path / "a.png", "--peaks", 9, "-o", tmp_path / "s.npz")
    assert run.code == 0 and (tmp_path / "s.npz").exists()
    *listed, printed = run.out.splitlines()[2:]
    words = shlex.split(printed.removeprefix("without them: clpix "))
    assert [line.split()[-1] for line in listed] == re.findall(r"--cutoff (\S+)", printed)
    out = tmp_path / "b.png"
    run = clpix(*(out if word == "OUTPUT" else word for word in words))
    assert (run.code, run.err) == (0, "")
    inside = files.read(out).pixels[30:-30, 30:-30, 0] / 255
    assert inside.std() < 0.022 and abs(inside.mean() - 0.5) < 0.005
    left = clpix("fft", out, "--peaks", 9, "-o", "-", "--format", "png")
    assert left.err.count("0 periodic components") == 1


def test_options_without_effect(clpix, tmp_path) -> None:
    files.write(tmp_path / "a.png", files.Picture(np.zeros((4, 5, 1), np.uint8)))
    for words, text in ((("--axes",), "leave out --axes"), (("--peaks", "0"), "--peaks")):
        run = clpix("fft", tmp_path / "a.png", *words, "-o", tmp_path / "s.npz")
        assert (run.code, run.err.count("\n")) == (2, 1) and text in run.err
    run = clpix("fft", tmp_path / "a.png", "--peaks", 2, "--axes", "--pad", "3", "-o", tmp_path / "s.jpg")
    assert (run.code, run.err) == (0, "")
