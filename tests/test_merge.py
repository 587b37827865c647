"""Exposure fusion against its formulas in double, beside OpenCV's; shifts; and several inputs for one output."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from gpuops import Gpu, ParameterError, Report, files
from gpuops.chain import Chain
from gpuops.ops import operation
from gpuops.ops.merge import OPERATION as merge
from gpuops.ops.merge import MergeParams
from gpuops.params.files import FileOperand
from gpuops.tone.fusion import shift_between

from .conftest import Run
from .reference.images import on
from .tolerance import MERGE

IDENTITIES = [MergeParams()]
LUMA = (0.299, 0.587, 0.114)
FILTER = np.array([1, 4, 6, 4, 1]) / 16


def weights(x: np.ndarray, colours: int, powers: tuple[float, float, float]) -> np.ndarray:
    """Of planes in double."""
    gray = np.tensordot(LUMA, x[:3], 1) if colours == 3 else x[0]
    contrast = np.abs(ndimage.convolve(gray, [[0, 1, 0], [1, -4, 1], [0, 1, 0]], mode="mirror"))
    found = contrast ** powers[0] * np.exp(-((x[:colours] - 0.5) ** 2) / (2 * 0.2**2)).prod(0) ** powers[2]
    if colours == 3:
        found = found * x[:3].std(axis=0) ** powers[1]
    return (found + 1e-12) * (x[-1] if len(x) > colours else 1)


def filtered(x: np.ndarray) -> np.ndarray:
    for axis in (-2, -1):
        x = ndimage.correlate1d(x, FILTER, axis, mode="mirror")
    return x


def expanded(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    between = np.zeros((*x.shape[:-2], *like.shape[-2:]))
    between[..., ::2, ::2] = x
    return 4 * filtered(between)


def gaussian(x: np.ndarray, levels: int) -> list[np.ndarray]:
    found = [x]
    for _ in range(levels):
        found.append(filtered(found[-1])[..., ::2, ::2])
    return found


def fusion(
    images: list[np.ndarray], colours: int, powers: tuple[float, float, float] = (1, 1, 1)
) -> np.ndarray:
    levels = int(np.log2(min(images[0].shape[-2:])))
    all_weights = np.array([weights(x, colours, powers) for x in images])
    shares = all_weights / all_weights.sum(0)
    result: list[np.ndarray] = [np.zeros(1)] * (levels + 1)
    for x, share in zip(images, shares, strict=True):
        light, part = gaussian(x, levels), gaussian(share, levels)
        for k in range(levels + 1):
            detail = light[k] - expanded(light[k + 1], light[k]) if k < levels else light[k]
            result[k] = result[k] + part[k] * detail
    top = result.pop()
    while result:
        below = result.pop()
        top = below + expanded(top, below)
    return top


def bracket(
    rng: np.random.Generator, height: int, width: int, channels: int = 3, count: int = 3
) -> list[np.ndarray]:
    """Pictures (height, width, channels) of 8 bits of one scene, from dark to bright, with noise."""
    y, x = np.mgrid[:height, :width] / max(height, width, 2)
    scene = np.stack([0.02 + np.exp(3 * np.sin(9 * x + k) * np.cos(7 * y - k)) for k in range(channels)], -1)
    scene *= rng.uniform(0.7, 1.3, scene.shape)
    found = []
    for stop in range(count):
        signal = np.clip(scene * 0.05 * 4**stop, 0, 1) ** (1 / 2.2)
        if channels in (2, 4):
            signal[..., -1] = rng.uniform(0.2, 1, (height, width))
        found.append(np.rint(255 * signal).astype(np.uint8))
    return found


def saved(folder: Path, pictures: list[np.ndarray], kind: str = "png") -> list[Path]:
    paths = [folder / f"{number}.{kind}" for number in range(len(pictures))]
    for path, pixels in zip(paths, pictures, strict=True):
        files.write(path, files.Picture(pixels, alpha=pixels.shape[2] in (2, 4)))
    return paths


def planes_of(pixels: np.ndarray) -> np.ndarray:
    return pixels.transpose(2, 0, 1) / 255


def merged(gpu: Gpu, pictures: list[np.ndarray], paths: list[Path], **options: Any) -> np.ndarray:
    alpha = pictures[0].shape[2] in (2, 4)
    image = on(gpu, planes_of(pictures[0]), alpha=alpha)
    image.linear = False
    others = tuple(FileOperand(str(path)) for path in paths[1:])
    result = merge(gpu, image, MergeParams(others, **options))
    assert (result.alpha, result.space) == (alpha, image.space)
    return result.numpy()


def check(
    gpu: Gpu, rng: np.random.Generator, folder: Path, shape: tuple[int, int, int], powers: tuple[float, ...]
) -> None:
    pictures = bracket(rng, *shape)
    names = dict(zip(("contrast", "saturation", "exposedness"), powers, strict=True))
    found = merged(gpu, pictures, saved(folder, pictures), **names)
    colours = shape[2] - (shape[2] in (2, 4))
    expected = fusion([planes_of(one) for one in pictures], colours, powers)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, rtol=0, atol=MERGE["fusion"])


@pytest.mark.parametrize(("shape", "powers"), [
    ((1, 1, 3), (1, 1, 1)), ((1, 7, 3), (0, 0, 1)), ((2, 3, 1), (2, 0.5, 0)), ((23, 34, 3), (1, 1, 1)),
    ((16, 33, 4), (2, 0.5, 0)), ((20, 9, 2), (0, 0, 1)),
])  # fmt: skip
def test_formulas(gpu, rng, tmp_path, shape, powers) -> None:
    check(gpu, rng, tmp_path, shape, powers)


def test_it_is_opencvs(gpu, rng, tmp_path) -> None:
    """OpenCV takes blue for red in the luma, and its pyramids end as ours at sizes that are powers of two."""
    pictures = bracket(rng, 64, 128)
    found = merged(gpu, pictures, saved(tmp_path, pictures))
    cv2 = pytest.importorskip("cv2", reason="needs the extra test-all")
    theirs = cv2.createMergeMertens(1, 1, 1).process([one.copy() for one in pictures])
    np.testing.assert_allclose(found.transpose(1, 2, 0), theirs, rtol=0, atol=MERGE["peer"])


@pytest.mark.parametrize("shift", [(0, 0), (5, -7), (-12, 3)])
def test_shifts_are_found_whatever_the_exposure(gpu, rng, shift) -> None:
    down, right = shift
    scene = np.exp(9 * ndimage.gaussian_filter(rng.standard_normal((110, 130)), 3))
    scene = np.array([1, 0.9, 0.7])[:, None, None] * scene
    views = [scene[:, 20:90, 20:110], scene[:, 20 - down : 90 - down, 20 - right : 110 - right]]
    dark, bright = (np.clip(view * gain, 0, 1) for view, gain in zip(views, (0.2, 1.5), strict=True))
    assert shift_between(gpu, on(gpu, dark), on(gpu, bright)) == shift
    assert shift_between(gpu, on(gpu, bright), on(gpu, dark)) == (-down, -right)


def test_pictures_without_detail_stay(gpu) -> None:
    for shape in ((3, 1, 1), (1, 7, 9)):
        flat = np.full(shape, 0.25)
        assert shift_between(gpu, on(gpu, flat), on(gpu, 2 * flat)) == (0, 0)


def test_aligned_pictures(clpix, rng, tmp_path) -> None:
    """A shifted picture lies on the first one; where it shows nothing, the first one is seen."""
    wide = [np.kron(one, np.ones((4, 4, 1), np.uint8)) for one in bracket(rng, 20, 26, count=2)]
    straight = [wide[0][8:72, 8:96], wide[1][8:72, 8:96]]
    paths = saved(tmp_path, [straight[0], wide[1][8 + 4 : 72 + 4, 8 - 6 : 96 - 6]])
    out = tmp_path / "out.png"
    assert clpix("merge", *paths, "--align", "translation", "-o", out, "-q") == Run(0, "", "")
    first, second = (planes_of(one) for one in straight)
    moved = np.pad(second[:, 4:, :-6], ((0, 0), (4, 0), (0, 6)), "edge")
    inside = np.zeros((64, 88))
    inside[4:, :-6] = 1
    expected = np.clip(_with_gaps([first, moved], [np.ones((64, 88)), inside]), 0, 1)
    found = files.read(out).pixels
    np.testing.assert_allclose(found, 255 * expected.transpose(1, 2, 0), rtol=0, atol=0.51)


def _with_gaps(images: list[np.ndarray], seen: list[np.ndarray]) -> np.ndarray:
    """The fusion of colours of which some count only in part."""
    as_alpha = [np.concatenate([x, part[None]]) for x, part in zip(images, seen, strict=True)]
    return fusion(as_alpha, 3)[:3]


def test_several_inputs_make_one_output(clpix, gpu, rng, tmp_path) -> None:
    pictures = bracket(rng, 30, 41)
    paths, out = saved(tmp_path, pictures), tmp_path / "out.png"
    recipe = tmp_path / "recipe.toml"
    run = clpix("merge", *paths, "--saturation", 0, "-o", out, "--save-recipe", recipe, "-q")
    assert run == Run(0, "", "")
    expected = fusion([planes_of(one) for one in pictures], 3, (1, 0, 1)).transpose(1, 2, 0)
    result = files.read(out).pixels
    np.testing.assert_allclose(result, 255 * np.clip(expected, 0, 1), rtol=0, atol=0.51)
    # The recipe has the other pictures; the option is another way to name them, and steps may follow.
    again = Chain.from_toml(recipe.read_text())
    assert again == Chain(MergeParams(tuple(FileOperand(str(path)) for path in paths[1:]), saturation=0))
    for number, command in enumerate(
        (
            ["run", recipe, paths[0]],
            ["merge", paths[0], "--others", paths[1], "--others", paths[2], "--saturation", 0],
            ["merge", *paths[:2], "--others", paths[2], "--saturation", 0],
            ["flip", paths[0], "--axis", "horizontal", "then", "flip", "--axis", "horizontal", "then", "merge",
             "--others", paths[1], "--others", paths[2], "--saturation", 0],
        )
    ):  # fmt: skip
        other = tmp_path / f"{number}-out.png"
        assert clpix(*command, "-o", other, "-q") == Run(0, "", "")
        np.testing.assert_array_equal(files.read(other).pixels, result)
    turned = ("then", "flip", "--axis", "horizontal", "-o", tmp_path / "f.png", "-q")
    assert clpix("merge", *paths, *turned).code == 0
    (tmp_path / "list.txt").write_text("\n".join(map(str, paths)))
    listed = clpix("merge", f"@{tmp_path / 'list.txt'}", "--saturation", 0, "-o", tmp_path / "l.png", "-q")
    assert listed.code == 0
    np.testing.assert_array_equal(files.read(tmp_path / "l.png").pixels, result)


def test_depths_and_layouts_go_together(clpix, rng, tmp_path) -> None:
    """The others become what the first picture is: colours of gray, light of a linear file, opaque."""
    dark, bright = bracket(rng, 24, 18, count=2)
    gray = np.repeat(bright[..., :1], 3, -1)
    (first,) = saved(tmp_path, [dark])
    files.write(tmp_path / "gray.png", files.Picture(bright[..., :1].astype(np.uint16) * 257))
    out = tmp_path / "out.png"
    assert clpix("merge", first, tmp_path / "gray.png", "-o", out, "-q") == Run(0, "", "")
    expected = fusion([planes_of(dark), planes_of(gray)], 3).transpose(1, 2, 0)
    found = files.read(out).pixels
    assert found.dtype == np.uint8
    np.testing.assert_allclose(found, 255 * np.clip(expected, 0, 1), rtol=0, atol=0.51)


def test_refusals(clpix, rng, tmp_path) -> None:
    small, large = saved(tmp_path, [bracket(rng, 4, 5)[0], bracket(rng, 4, 6)[0]])
    (tmp_path / "bad.png").write_bytes(b"no picture")
    out = tmp_path / "out.png"
    for inputs, code, text in (
        ((small, large), 1, "has 6 × 4 pixels and the image 5 × 4"),
        ((small, tmp_path / "none.png"), 1, "there is no such file"),
        ((small, tmp_path / "bad.png"), 1, "bad.png"),
        (("-", "-"), 2, "standard input"),
        ((small, small, "--contrast", -1), 2, "contrast"),
    ):
        run = clpix("merge", *inputs, "-o", out)
        assert run.code == code and text in run.err and len(run.err.splitlines()) == 1, run
        assert not out.exists()
    run = clpix("merge", small, large, "-o", large, "--overwrite")
    assert run.code in (1, 2) and "input" in run.err  # not even the second one is overwritten
    with pytest.raises(ParameterError, match="is a list of files"):
        Chain.from_toml('schema = 1\n[[step]]\nop = "merge"\nothers = "a.png"\n')


@pytest.mark.parametrize("align", ["none", "translation"])
@pytest.mark.parametrize("channels", [1, 4])
def test_memory(opened, rng, tmp_path, channels, align) -> None:
    pictures = bracket(rng, 150, 160, channels)
    paths = saved(tmp_path, pictures)
    params = MergeParams(tuple(FileOperand(str(path)) for path in paths[1:]), align)
    report = Report()
    gpu = opened(report=report)
    image = on(gpu, planes_of(pictures[0]), alpha=channels == 4)
    image.linear = False
    before = report.peak_device_bytes = image.nbytes
    merge(gpu, image, params)
    traits = operation("merge").traits_of(params)
    assert report.peak_device_bytes - before <= traits.bytes_per_value * image.nbytes / 4 + (64 << 10)
