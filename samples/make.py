"""Makes the samples of Blender's studio lights: python samples/make.py /usr/share/blender/datafiles/studiolights/world

Those were reduced by Lanczos and cut at 0, which leaves black rings around lamps, and compressed with losses, which
leaves noise about 0. A pixel with a value that is not above 0, or within this noise far below those around it, is
given at least the least light of its good neighbours here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from gpuops import files
from gpuops.params.storage import Storage

#: A value of noise is less than this, and wrong if it is less than this part of the median of 5 × 5 values.
_NOISE, _PART = 0.0035, 1 / 20
#: The least light, which is above 0 after compression as well, and the most of a half float.
_LIGHT = 1e-4, 65504


def mended(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns light (height, width, 3) without its wrong pixels."""
    around = ndimage.median_filter(pixels, (5, 5, 1), mode="nearest") * _PART
    wrong = (pixels <= np.clip(around, 0, _NOISE)).any(-1, keepdims=True)
    result = np.where(wrong, np.inf, pixels)
    while np.isinf(result).any():
        least = ndimage.minimum_filter(result, (3, 3, 1), mode="nearest")
        result = np.where(np.isinf(result), least, result)
    return np.maximum(result, pixels).clip(*_LIGHT)


def main(folder: Path) -> None:
    for name in ("courtyard", "interior", "night", "sunset"):
        pixels = mended(files.read(folder / f"{name}.exr").pixels.astype(np.float64)).astype(np.float16)
        out = Path(__file__).parent / f"{name}.exr"
        picture = files.Picture(pixels, linear=True)
        files.write(out, picture, overwrite=True, storage=Storage(compression="dwab"))
        assert files.read(out).pixels.min() > 0


main(Path(sys.argv[1]))
