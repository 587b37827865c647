"""Mirrored images against numpy's, and files, also of crops, whose values come out bit for bit."""

import numpy as np

from gpuops import files
from gpuops.ops.flip import FlipParams

from . import tolerance
from .choices import each

TOLERANCE = tolerance.COPIED
IDENTITIES: list[FlipParams] = []
AXES = {"horizontal": 1, "vertical": 0, "both": (0, 1)}  # of (height, width, channels)


def reference(x: np.ndarray, colours: int, p: FlipParams) -> np.ndarray:  # type: ignore[type-arg]
    return np.flip(x.transpose(1, 2, 0), AXES[p.axis]).transpose(2, 0, 1)


# Turns are in tests/test_turned_by_rows.py.
WAYS = [
    *((("flip", "--axis", axis), lambda x, axis=axis: np.flip(x, AXES[axis])) for axis in AXES),
    *((("crop", "--region", "7,5,13,8", "--space", space), lambda x: x[5:13, 7:20])
      for space in ("auto", "linear", "encoded")),
]  # fmt: skip


@each(command__of=WAYS, dtype=["uint8", "uint16", "float16", "float32"], channels=[1, 2, 3, 4])
def test_every_value_stays(clpix, rng, command, of, dtype, channels, tmp_path) -> None:
    """Of NPZ, which holds every depth: colours under alpha 0 as well, and what is not finite."""
    x = rng.integers(0, 256, (13, 21, channels)).astype(dtype)
    x[6, 9, -1] = 0
    if dtype.startswith("f"):
        x[11, 19] = (np.nan, np.inf, -np.inf, -0.0)[:channels]
    files.write(tmp_path / "in.npz", files.Picture(x, alpha=channels % 2 == 0, linear=dtype.startswith("f")))
    run = clpix(command[0], tmp_path / "in.npz", *command[1:], "-o", tmp_path / "out.npz")
    assert (run.code, run.err) == (0, "")
    result = files.read(tmp_path / "out.npz").pixels
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, of(x))


def test_an_axis_is_needed(clpix, tmp_path) -> None:
    run = clpix("flip", tmp_path / "in.png", "-o", tmp_path / "out.png")
    assert run.code == 2 and len(run.err.splitlines()) == 1 and "--axis" in run.err
