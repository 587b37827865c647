"""convert: every value stays, or is what its depth and space make of it."""

import numpy as np
import pytest

from gpuops import files
from gpuops.ops.convert import ConvertParams

from . import tolerance
from .reference.colour import srgb_light

TOLERANCE = tolerance.COPIED
IDENTITIES = [ConvertParams()]


def reference(x: np.ndarray, colours: int, p: ConvertParams) -> np.ndarray:
    return x


@pytest.mark.parametrize("ends", [("png", "tif"), ("tif", "png"), ("png", "npz")])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_integers_stay(clpix, rng, ends, dtype, tmp_path) -> None:
    x = rng.integers(0, np.iinfo(dtype).max, (9, 14, 4), endpoint=True).astype(dtype)
    x[2, 3, 3] = 0
    before, after = (tmp_path / f"in.{ends[0]}", tmp_path / f"out.{ends[1]}")
    files.write(before, files.Picture(x, alpha=True))
    assert clpix("convert", before, "-o", after).code == 0
    np.testing.assert_array_equal(files.read(after).pixels, x)


def test_eight_bits_become_light_and_come_back(clpix, tmp_path) -> None:
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    files.write(tmp_path / "in.png", files.Picture(codes))
    for step in (("in.png", "a.exr", "--dtype", "float"), ("a.exr", "b.png", "--dtype", "uint8")):
        assert clpix("convert", tmp_path / step[0], "-o", tmp_path / step[1], *step[2:]).code == 0
    v = codes / 255  # the device has a power of three units in the last place
    np.testing.assert_allclose(files.read(tmp_path / "a.exr").pixels, srgb_light(v), rtol=tolerance.ROUNDINGS)
    np.testing.assert_array_equal(files.read(tmp_path / "b.png").pixels, codes)
