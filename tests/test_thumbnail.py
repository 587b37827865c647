"""Thumbnails against matrices of weights in double precision; sizes and turns by exact fractions."""

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import PIL.Image
import pytest

from gpuops import ParameterError, files
from gpuops.ops.thumbnail import OPERATION as thumbnail
from gpuops.ops.thumbnail import ThumbnailParams
from gpuops.params.kinds import Params

from . import tolerance
from .choices import each, pairs
from .conftest import in_blocks
from .reference.images import on
from .test_resize import matrix
from .test_turned_by_rows import UPRIGHT, saved

TOLERANCE = tolerance.RESIZE
IDENTITIES: list[Params] = []
FITS = ("contain", "cover", "stretch")


def sides(height: int, width: int, p: Any) -> tuple[int, int, Fraction, Fraction]:
    """The rows and columns of an upright picture's thumbnail, and the samples of each."""
    box = [Fraction(new, old) for new, old in zip(p.size, (width, height), strict=True) if new]
    if None in p.size or p.fit == "contain":
        factor = min(box) if p.enlarge else min(*box, Fraction(1))
        rows, columns = (max(1, floor(n * factor + Fraction(1, 2))) for n in (height, width))
    else:
        columns, rows = (
            new if p.enlarge else min(new, old) for new, old in zip(p.size, (width, height), strict=True)
        )
    y, x = Fraction(height, rows), Fraction(width, columns)
    if p.fit == "cover" and None not in p.size:
        y = x = min(x, y)
    return rows, columns, y, x


def reference(x: np.ndarray, _colours: int, p: Any) -> np.ndarray:
    rows, columns, y, step = sides(*x.shape[1:], p)
    if (rows, columns) == x.shape[1:]:
        return x
    return matrix(x.shape[1], rows, y, p.filter) @ x @ matrix(x.shape[2], columns, step, p.filter).T


@each(
    size=[(20, 20), (7, 30), (None, 9), (21, None), (90, 4), (1, 1)],
    fit=FITS,
    enlarge=[False, True],
    orientation=range(1, 9),
)
def test_turns_and_boxes(gpu, rng, size, fit, enlarge, orientation) -> None:
    """The size is that of the upright picture, and the Image says that it is upright."""
    x, params = rng.random((3, 17, 43)).astype(np.float32), ThumbnailParams(size, fit, enlarge=enlarge)
    image = on(gpu, x)
    image.orientation = orientation
    upright = UPRIGHT[orientation](x.transpose(1, 2, 0)).transpose(2, 0, 1)
    expected = reference(upright.astype(float), 3, params)
    result = thumbnail(gpu, image, params)
    assert result.orientation == 1 and result.shape == expected.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())
    np.testing.assert_array_equal(image.numpy(), x)


def test_what_is_small_and_upright_stays(gpu, rng) -> None:
    for size in ((43, 17), (100, 100), (None, 17), (43, None)):
        for fit in FITS:
            image = on(gpu, rng.random((1, 17, 43)))
            image.orientation = 1
            assert thumbnail(gpu, image, ThumbnailParams(size, fit)) is image


def test_notations() -> None:
    assert ThumbnailParams("1200") == ThumbnailParams(1200) == ThumbnailParams((1200, 1200))  # type: ignore[arg-type]
    assert ThumbnailParams("1200x").size == (1200, None)  # type: ignore[arg-type]
    for wrong in ("", "x", "0", "-3", "1e3", "1200x0", 2.5, (None, None), None):
        with pytest.raises(ParameterError, match="size"):
            ThumbnailParams(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="unknown filter 'nearest'"):
        ThumbnailParams(10, filter="nearest")  # type: ignore[arg-type]


FILES = {".png": np.uint8, ".tif": np.uint16, ".jpg": np.uint8}


@pytest.mark.cases(6)
@pytest.mark.parametrize(
    ("orientation", "size", "fit", "suffix"), pairs(range(1, 9), ("20x12", "15"), FITS, FILES)
)
def test_by_rows_as_on_the_whole(clpix, rng, tmp_path, monkeypatch, orientation, size, fit, suffix) -> None:
    """Rows flow through the resize, and a spool turns the few that are left of them; another step follows."""
    pixels = rng.integers(0, 256, (97, 61, 3)).astype(FILES[suffix])
    path = saved(tmp_path / f"in{suffix}", pixels, exif=orientation)
    command = ("thumbnail", path, "--size", size, "--fit", fit, "then", "blur", "--sigma", "1")
    first = clpix(*command, "-o", tmp_path / f"whole{suffix}")
    with monkeypatch.context() as patch:
        in_blocks(patch)
        run = clpix(*command, "-o", tmp_path / f"rows{suffix}")
    assert (first.code, run.code) == (0, 0)
    whole, rows = (files.read(tmp_path / f"{name}{suffix}") for name in ("whole", "rows"))
    np.testing.assert_array_equal(rows.pixels, whole.pixels)
    assert rows.metadata == whole.metadata and rows.metadata.orientation == 1
    upright = UPRIGHT[orientation](pixels)
    assert whole.pixels.shape[:2] == sides(*upright.shape[:2], ThumbnailParams(size, fit))[:2]  # type: ignore[arg-type]


def test_a_file_is_turned_and_says_so(clpix, rng, tmp_path) -> None:
    """Beside Pillow's turn of the same pixels, which then have no orientation."""
    pixels = rng.integers(0, 256, (40, 64, 3)).astype(np.uint8)
    for orientation in range(1, 9):
        path = saved(tmp_path / f"{orientation}.png", pixels, exif=orientation)
        with PIL.Image.open(path) as image:
            from PIL import ImageOps

            upright = np.asarray(ImageOps.exif_transpose(image))
        saved(tmp_path / "upright.png", np.ascontiguousarray(upright))
        outputs = [tmp_path / f"{name}.png" for name in ("a", "b")]
        for source, output in zip((path, tmp_path / "upright.png"), outputs, strict=True):
            run = clpix("thumbnail", source, "--size", "30x17", "-o", output, "--overwrite", "-q")
            assert (run.code, run.err) == (0, "")
        ours, theirs = map(files.read, outputs)
        np.testing.assert_allclose(ours.pixels.astype(int), theirs.pixels, atol=1)
        assert ours.metadata.orientation == 1


def test_exr_windows(clpix, rng, tmp_path) -> None:
    """The size is the display window's, as for resize."""
    x = rng.random((20, 30, 3)).astype(np.float32)
    frame = files.picture.Frame(5, 4, 30, 20, 80, 60)
    picture = files.Picture(x, linear=True, metadata=files.Metadata(frame=frame))
    files.write(tmp_path / "in.exr", picture)
    for name, options in {"thumbnail": ("40",), "resize": ("40x40",)}.items():
        assert clpix(name, tmp_path / "in.exr", "--size", *options, "-o", tmp_path / f"{name}.exr").code == 0
    ours, theirs = (files.read(tmp_path / f"{name}.exr") for name in ("thumbnail", "resize"))
    assert ours.frame == theirs.frame and (ours.frame.width, ours.frame.height) == (40, 30)
    np.testing.assert_array_equal(ours.pixels, theirs.pixels)
