"""Filters of frequencies against numpy in double, and against clpix fft and clpix ifft."""

from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage

from gpuops import ParameterError, files
from gpuops.chain import Chain
from gpuops.ops.filter import OPERATION as filter_
from gpuops.ops.filter import FilterParams
from gpuops.params.files import FileOperand

from .choices import each
from .reference.fourier import frequency_filter
from .reference.images import on
from .tolerance import FILTER as TOLERANCE

IDENTITIES: list[FilterParams] = []


def reference(planes: np.ndarray, colours: int, params: FilterParams) -> np.ndarray:
    """The filter as a product of whole complex spectra, of the image and its mirror images where it is mirrored."""
    filter_of = params.filter()
    assert filter_of is not None
    x = planes
    if params.border == "reflect":
        x = np.concatenate([x, x[:, ::-1]], 1)
        x = np.concatenate([x, x[:, :, ::-1]], 2)
    h = frequency_filter(filter_of, x.shape[1:])
    found = np.fft.ifft2(np.fft.fft2(x) * h).real[:, : planes.shape[1], : planes.shape[2]]
    if params.kind in ("highpass", "bandpass"):
        found[colours:] = planes[colours:]
    offset = 0.0 if params.offset == "auto" else float(params.offset)
    coverage = planes[colours:] if len(planes) > colours else 1.0
    found[:colours] += offset * coverage
    return found


def masked(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The real part of the filtered picture, by numpy."""
    return np.fft.ifft2(np.fft.fft2(x) * np.fft.ifftshift(mask)).real


def mask_file(path: Path, mask: np.ndarray) -> FileOperand:
    files.write(path, files.Picture(mask.astype(np.float32)[..., None], linear=True))
    return FileOperand.of(path)


@pytest.mark.parametrize("size", [(1, 1), (7, 12), (16, 9)])
@pytest.mark.parametrize("kind", [None, "highpass"])
def test_masks(gpu, rng, size, kind, tmp_path) -> None:
    """A mask without symmetry: what is filtered is the real part, and alpha stays."""
    x, mask = rng.random((4, *size), np.float32), rng.random(size, np.float32) * 2 - 0.5
    cutoff = () if kind is None else ("0.2",)
    params = FilterParams(kind, cutoff, mask=mask_file(tmp_path / "m.tif", mask), border="wrap")
    found = filter_(gpu, on(gpu, x, alpha=True), params).numpy()
    h = mask if kind is None else mask * np.fft.fftshift(frequency_filter(params.filter(), size))
    np.testing.assert_allclose(found[:3], masked(x[:3].astype(float), h), rtol=0, atol=TOLERANCE * 4)
    np.testing.assert_array_equal(found[3], x[3])


def test_a_mask_of_a_mirrored_image(gpu, rng, tmp_path) -> None:
    """Between its places it is interpolated: the mask of a smooth filter is the filter itself, nearly."""
    x = rng.random((1, 60, 81), np.float32)
    fy, fx = (np.fft.fftshift(np.fft.fftfreq(n)) for n in x.shape[1:])
    smooth = np.multiply.outer(1 + np.cos(2 * np.pi * fy), 1 + np.cos(2 * np.pi * fx)) / 4
    found = filter_(gpu, on(gpu, x, alpha=False), FilterParams(mask=mask_file(tmp_path / "m.tif", smooth)))
    # (1 + cos 2πf) / 2 is the transform of ¼, ½, ¼.
    weights = np.multiply.outer([0.25, 0.5, 0.25], [0.25, 0.5, 0.25])
    expected = scipy.ndimage.convolve(x[0].astype(float), weights, mode="reflect")
    np.testing.assert_allclose(found.numpy()[0], expected, rtol=0, atol=2e-3)


def test_masks_that_do_not_fit(gpu, clpix, rng, tmp_path) -> None:
    image = on(gpu, rng.random((1, 5, 6), np.float32), alpha=False)
    for name, mask, text in (
        ("a.tif", np.ones((6, 5)), "5 × 6 pixels and the spectrum 6 × 5"),
        ("b.tif", np.full((5, 6), np.nan), "finite"),
    ):
        with pytest.raises(ParameterError, match=text):
            filter_(gpu, image, FilterParams(mask=mask_file(tmp_path / name, mask)))
    files.write(tmp_path / "in.png", files.Picture(np.zeros((5, 6, 1), np.uint8)))
    for command in ("filter", "fft"):
        for mask, code in (("a.tif", 1), ("b.tif", 1), ("none.png", 1), ("in.txt", 1)):
            out = tmp_path / "out.png"
            run = clpix(command, tmp_path / "in.png", "--mask", tmp_path / mask, "-o", out)
            assert (run.code, run.err.count("\n"), out.exists()) == (code, 1, False) and mask in run.err


@pytest.mark.cases(2)
@each(options=[("--half",), ("--full", "--shift"), ("--precision", "half"), ("--memory", "20M")])
def test_fft_with_a_mask(clpix, rng, options, tmp_path) -> None:
    pixels, mask = rng.random((33, 40, 3), np.float32), rng.integers(0, 256, (33, 40, 1), np.uint8)
    files.write(tmp_path / "a.tif", files.Picture(pixels, linear=True))
    files.write(tmp_path / "m.png", files.Picture(mask))
    spectrum, back = tmp_path / "s.npz", tmp_path / "b.tif"
    run = clpix("fft", tmp_path / "a.tif", "--mask", tmp_path / "m.png", *options, "-o", spectrum, "-q")
    assert (run.code, run.err) == (0, "") and clpix("ifft", spectrum, "-o", back).code == 0
    expected = masked(np.moveaxis(pixels.astype(float), 2, 0), mask[..., 0] / 255)
    allowed = 3e-3 if "half" in options else TOLERANCE
    found = np.moveaxis(files.read(back).pixels, 2, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("cutoffs", [("notch", "0.2,-0.1", "-0.3,-0.25,0.1"), ("lowpass", "0.2")])
def test_it_is_fft_and_ifft(clpix, rng, cutoffs, tmp_path) -> None:
    files.write(tmp_path / "a.png", files.Picture(rng.integers(0, 65536, (24, 30, 3), np.uint16)))
    kind, *places = cutoffs
    words = [word for place in places for word in ("--cutoff", place)]
    a, s, b, c = (tmp_path / name for name in ("a.png", "s.npz", "b.png", "c.png"))
    assert clpix("fft", a, "--filter", kind, *words, "-o", s).code == 0
    assert clpix("ifft", s, "-o", b, "-q").code == 0
    run = clpix("filter", a, "--kind", kind, *words, "--border", "wrap", "--space", "encoded", "-o", c, "-q")
    assert (run.code, run.err) == (0, "")
    found, expected = (files.read(path).pixels.astype(int) for path in (c, b))
    assert np.abs(found - expected).max() <= 1


def test_offsets(clpix, rng, tmp_path) -> None:
    """Integers have differences around middle gray, whatever the steps around; floats have none but what is asked."""
    flat = np.full((6, 7, 3), 90, np.uint8)
    files.write(tmp_path / "flat.png", files.Picture(flat))
    high = ("--kind", "highpass", "--cutoff", "0.1")

    def value(*words: str, out: str = "o.png") -> float:
        run = clpix("filter", tmp_path / "flat.png", *words, "-o", tmp_path / out, "--overwrite")
        assert (run.code, run.err) == (0, "")
        pixels = files.read(tmp_path / out).pixels.astype(float)
        assert np.ptp(pixels) < 1e-5
        return float(pixels.mean())

    assert abs(value(*high) - 127.5) <= 0.5
    for words in (("--no-fuse",), ("--space", "encoded"), ("then", "flip", "--axis", "vertical")):
        assert abs(value(*high, *words) - 127.5) <= 0.5
    assert value("--kind", "bandpass", "--cutoff", "0.1:0.2", out="o.jpg") == pytest.approx(127.5, abs=1)
    assert value(*high, "--offset", "0.5", "--space", "encoded") == pytest.approx(127.5, abs=0.5)
    assert value(*high, "--offset", "0") == 0 and value(*high, out="o.exr") == pytest.approx(0, abs=1e-6)
    assert value(*high, "--offset", "middle", out="o.exr") == pytest.approx(0.21404114, abs=1e-4)
    assert value(*high, "--dtype", "float", out="o.tif") == pytest.approx(0, abs=1e-6)
    assert value("--kind", "lowpass", "--cutoff", "0.1") == 90
    # An input of floats makes an output of floats.
    files.write(tmp_path / "flat.tif", files.Picture(np.full((6, 7, 3), 0.3, np.float32), linear=True))
    assert clpix("filter", tmp_path / "flat.tif", *high, "-o", tmp_path / "high.tif").code == 0
    assert np.abs(files.read(tmp_path / "high.tif").pixels).max() < 1e-6


def test_in_a_chain(gpu, clpix, rng, tmp_path) -> None:
    files.write(tmp_path / "a.exr", files.Picture(rng.random((20, 24, 3), np.float32), linear=True))
    recipe = tmp_path / "r.toml"
    words = [
        "--kind", "notch", "--cutoff", "0.25,0.125", "--cutoff", "-0.1,0.2,0.05", "then", "blur", "--sigma",
        "1",
    ]  # fmt: skip
    run = clpix("filter", tmp_path / "a.exr", *words, "-o", tmp_path / "b.exr", "--save-recipe", recipe)
    assert (run.code, run.err) == (0, "")
    chain = Chain.from_toml(recipe.read_text())
    assert chain.steps[0] == FilterParams("notch", ("0.25,0.125", "-0.1,0.2,0.05"))
    assert clpix("run", recipe, tmp_path / "a.exr", "-o", tmp_path / "c.exr").code == 0
    np.testing.assert_array_equal(*(files.read(tmp_path / name).pixels for name in ("b.exr", "c.exr")))


@pytest.mark.parametrize(("words", "text"), [
    ((), "needs --kind or --mask"),
    (("--kind", "lowpass"), "kind and cutoff go together"),
    (("--cutoff", "0.1"), "needs --kind or --mask"),
    (("--kind", "lowpass", "--cutoff", "0.1", "--cutoff", "0.2"), "has one --cutoff, not 2"),
    (("--kind", "notch", "--cutoff", "0.7,0"), "from −0.5 to 0.5"),
    (("--kind", "lowpass", "--cutoff", "0.1", "--order", "3"), "only shape butterworth"),
    (
        ("--kind", "highpass", "--cutoff", "0.1", "--offset", "gray"),
        "offset must be auto or middle or V, with numbers from -100000 to 100000",
    ),
    (
        ("--kind", "highpass", "--cutoff", "0.1", "--offset", "nan"),
        "offset must be auto or middle or V, with numbers from -100000 to 100000",
    ),
])  # fmt: skip
def test_bad_options(clpix, words, text, tmp_path) -> None:
    run = clpix("filter", tmp_path / "a.png", *words, "-o", tmp_path / "b.png")
    assert (run.code, run.err.count("\n")) == (2, 1) and text in run.err
