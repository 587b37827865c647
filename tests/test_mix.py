"""Mixtures against their formula in double."""

from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from gpuops import ParameterError, files
from gpuops.files import operands
from gpuops.ops.mix import OPERATION as mix
from gpuops.ops.mix import MixParams

from .choices import each, pairs, thinned
from .conftest import in_blocks
from .tolerance import MIX

IDENTITIES: list[MixParams] = []


def planes(pixels: np.ndarray, *, alpha: bool) -> np.ndarray:
    """Premultiplied planes in double."""
    x = pixels.astype(float)
    if alpha:
        x[..., :-1] *= x[..., -1:]
    return x.transpose(2, 0, 1)


def picture(folder: Path, name: str, pixels: np.ndarray, *, alpha: bool) -> Path:
    files.write(folder / name, files.Picture(pixels, alpha=alpha, linear=True))
    return folder / name


@pytest.mark.parametrize(
    ("size", "other_alpha", "alpha", "masked", "amount"),
    pairs([(1, 1), (7, 13), (1, 19)], *3 * [(False, True)], (0.3, 1.0)),
)
def test_formula(gpu, rng, size, other_alpha, alpha, masked, amount, tmp_path) -> None:
    a = rng.random((*size, 3 + alpha), np.float32)
    b = rng.random((*size, 3 + other_alpha), np.float32)
    m = rng.integers(0, 255, (*size, 1), endpoint=True).astype(np.uint8)
    files.write(tmp_path / "mask.png", files.Picture(m))
    params = MixParams(
        str(picture(tmp_path, "b.tif", b, alpha=other_alpha)),  # type: ignore[arg-type]
        str(tmp_path / "mask.png") if masked else None,  # type: ignore[arg-type]
        amount,
        invert=masked and amount == 1,
    )
    x, y = planes(a, alpha=alpha), planes(b, alpha=other_alpha)
    image = gpu.array(x.astype(np.float32))
    image.alpha = alpha
    if other_alpha and not alpha:
        y = y[:3] + (1 - y[3:]) * x
    elif alpha and not other_alpha:
        y = np.concatenate([y, np.ones((1, *size))])
    share = amount * (m[..., 0] / 255 if masked else np.ones(size))
    if params.invert:
        share = 1 - share
    result = mix(gpu, image, params)
    np.testing.assert_allclose(result.numpy(), x + share * (y - x), rtol=0, atol=MIX)
    np.testing.assert_array_equal(image.numpy(), x.astype(np.float32))


def test_gray_and_colour(gpu, rng, tmp_path) -> None:
    """A gray picture is each colour's; a colour picture mixes with gray by its luminance, which is said."""
    gray, colour = rng.random((5, 6, 1), np.float32), rng.random((5, 6, 3), np.float32)
    half = {"amount": 0.5}
    params = MixParams(str(picture(tmp_path, "gray.tif", gray, alpha=False)), **half)  # type: ignore[arg-type]
    result = mix(gpu, gpu.array(planes(colour, alpha=False).astype(np.float32)), params).numpy()
    np.testing.assert_allclose(result, (planes(colour, alpha=False) + gray[..., 0]) / 2, rtol=0, atol=MIX)
    params = MixParams(str(picture(tmp_path, "colour.tif", colour, alpha=False)), **half)  # type: ignore[arg-type]
    with pytest.warns(match="mixed as gray"):
        result = mix(gpu, gpu.array(planes(gray, alpha=False).astype(np.float32)), params).numpy()
    luminance = colour.astype(float) @ (0.2126, 0.7152, 0.0722)
    np.testing.assert_allclose(result[0], (gray[..., 0] + luminance) / 2, rtol=0, atol=MIX)


def test_only_what_is_mixed_can_spoil(gpu, tmp_path) -> None:
    a, b = np.ones((1, 1, 3), np.float32), np.full((1, 3, 1), np.nan, np.float32)
    a[0, 0, 2] = np.inf
    b[0, 2] = 0.25
    files.write(tmp_path / "m.png", files.Picture(np.uint8([[[0], [0], [255]]])))
    params = MixParams(
        str(picture(tmp_path, "b.tif", b, alpha=False)),
        str(tmp_path / "m.png"),  # type: ignore[arg-type]
    )
    np.testing.assert_array_equal(mix(gpu, gpu.array(a), params).numpy(), [[[1, 1, 0.25]]])


def test_a_blur_of_a_part(clpix, rng, tmp_path) -> None:
    x = rng.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    m = np.zeros((40, 60, 1), np.uint8)
    m[:, 30:] = 255
    for name, pixels in (("in.png", x), ("m.png", m)):
        files.write(tmp_path / name, files.Picture(pixels))
    path = tmp_path / "in.png"
    assert clpix("blur", path, "--sigma", 3, "-o", tmp_path / "blur.png").code == 0
    run = clpix(
        "blur", path, "--sigma", 3, "then", "mix", "--picture", path, "--mask", tmp_path / "m.png",
        "-o", tmp_path / "out.png",
    )  # fmt: skip
    assert (run.code, run.err) == (0, "")
    result = files.read(tmp_path / "out.png").pixels
    np.testing.assert_array_equal(result[:, 30:], x[:, 30:])
    np.testing.assert_array_equal(result[:, :30], files.read(tmp_path / "blur.png").pixels[:, :30])


CHAINS = [
    "mix in --picture b --mask m --amount 0.7",
    "blur in --sigma 3 then mix --picture b --mask m --invert then tonemap",
    "mix in --picture in --mask b then sharpen then mix --picture b",
    "crop in --region 0,0,61,83 then mix --picture b then crop --region 0,70,61,9",
]


@each(channels__chain__small=thinned(pairs((1, 3, 4), CHAINS, (0, 1 << 24)), 4, arguments=3))
def test_by_rows_it_is_the_same(clpix, rng, monkeypatch, tmp_path, channels, chain, small) -> None:
    """Rows of the other pictures come as those of the input do, several times where a figure is measured first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpuops.files.operands._SMALL", small)
    names = {"in": f"in-{channels}.exr", "b": "b.tif", "m": "m.png"}
    others = {"m.png": (rng.integers(0, 255, (83, 61, 3)) / 255, 3), "b.tif": (rng.random((83, 61, 4)), 4)}
    for name, (pixels, count) in (others | {names["in"]: (rng.random((83, 61, channels)), channels)}).items():
        stored = (255 * pixels).astype(np.uint8) if name == "m.png" else pixels.astype(np.float32)
        files.write(name, files.Picture(stored, alpha=count == 4, linear=name != "m.png"))
    command = [names.get(word, word) for word in chain.split()]
    whole = clpix(*command, "-o", "whole.exr")
    with monkeypatch.context() as patch:
        in_blocks(patch, 1 << 11)
        taken = mock.Mock(side_effect=operands.Rows.take, autospec=True)
        patch.setattr(operands.Rows, "take", lambda *given: taken(*given))
        by_rows = clpix(*command, "-o", "rows.exr")
    assert whole.code == by_rows.code == 0, by_rows.err
    assert whole.err == by_rows.err and taken.call_count > 1
    expected, found = (files.read(tmp_path / f"{name}.exr").pixels for name in ("whole", "rows"))
    np.testing.assert_allclose(found, expected, rtol=1e-6 if "tonemap" in chain else 0, atol=0)


def test_a_damaged_picture_by_rows(clpix, rng, monkeypatch, tmp_path) -> None:
    """Each input fails with its line, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpuops.files.operands._SMALL", 0)
    in_blocks(monkeypatch, 1 << 11)
    light = np.cumsum(rng.random((400, 61, 3)), axis=0).astype(np.float32)
    for name in ("a.exr", "b.exr", "other.exr"):
        files.write(name, files.Picture(light, linear=True))
    content = Path("other.exr").read_bytes()
    first, end = len(content) * 7 // 10, len(content) * 8 // 10
    Path("other.exr").write_bytes(content[:first] + bytes(end - first) + content[end:])
    run = clpix("mix", "a.exr", "b.exr", "--picture", "other.exr", "-o", "out/")
    assert run.code == 1 and not list(tmp_path.glob("out/*"))
    *lines, last = run.err.splitlines()
    assert len(lines) == 2 and all("other.exr" in line for line in lines) and "2 of 2 inputs failed" in last


def test_refusals(clpix, gpu, tmp_path) -> None:
    path = picture(tmp_path, "b.tif", np.ones((4, 5, 3), np.float32), alpha=False)
    with pytest.raises(ParameterError, match="5 × 4 pixels and the image 5 × 3: resize"):
        mix(gpu, gpu.array(np.ones((3, 3, 5), np.float32)), MixParams(str(path)))  # type: ignore[arg-type]
    for args, text in (
        (["--picture", tmp_path / "none.png"], "none.png: there is no such file"),
        (["--picture", path, "--amount", 2], "amount must be from 0 to 1, not 2"),
        ([], "Missing option '--picture'"),
    ):
        run = clpix("mix", path, *args, "-o", tmp_path / "out.png")
        assert run.code in (1, 2) and text in run.err and len(run.err.splitlines()) == 1
        assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize(("command", "more"), [
    (("mix", "--picture"), ("--repeat", "2")), (("mix", "--picture"), ("--no-fuse",)),
    (("merge", "--others"), ()), (("register", "--reference"), ("--jobs", "1")),
])  # fmt: skip
def test_each_gray_image_is_told_of(clpix, rng, tmp_path, command, more) -> None:
    """A picture is made gray once, and every image that it goes to is named."""
    names = [tmp_path / f"{name}.png" for name in ("a",) if command[0] == "merge"] or [
        tmp_path / f"{name}.png" for name in "abc"
    ]
    for name in names:
        files.write(name, files.Picture(rng.integers(0, 256, (9, 7, 1), np.uint8)))
    files.write(tmp_path / "colour.png", files.Picture(rng.integers(0, 256, (9, 7, 3), np.uint8)))
    options = ("-v", "-o", tmp_path / "{stem}-out.png", *more)
    run = clpix(command[0], *names, command[1], tmp_path / "colour.png", *options)
    assert run.code == 0
    lines = [line for line in run.err.splitlines() if "is mixed as gray" in line]
    assert [line.split(": ")[2] for line in lines] == [str(name) for name in names]
