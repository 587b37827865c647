"""A Gaussian of any σ by recursive filters: launches of recursive.cl.

Half of the Gaussian is three complex exponentials whose real parts decay and oscillate together, to 2e-6 of its peak.
Source: Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993, who has two (1.6e-4) and
leaves the coefficients to a fit; here for each σ the amplitudes are fitted to the samples there are.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..image import Image
from ..params.border import by_axis, define
from ..pixels.turns import transposed
from ..tiles.planes import planewise

if TYPE_CHECKING:
    from ..gpu import Gpu

# exp(−t²/2) ≈ Re Σ c·exp(−t·rate) for t ≥ 0 with these rates has the least largest error, 1.94e-6. They were
# found by least squares with weights that grow where errors are largest (Lawson), from what Kung's method
# makes of samples.
_RATES = np.array([2.15291550 + 0.52400604j, 2.11859726 + 1.60916587j, 2.04023941 + 2.84795980j])
# The σ below which an axis stays as it is: a neighbour's weight is e⁻⁴⁰ there.
_LEAST = 1 / 9
# The distance in σ beyond which samples have no effect.
_WARM = 8.0
# The distance in σ that the fit covers.
_FITTED = 9.0
# Rows that are fetched at a time.
_ROWS = 8
# Work-items that keep a compute unit busy.
_ITEMS = 512
# Rows that are fetched at a time on CPUs.
_WIDE_ROWS = 4
# Vectors of columns of a work-item on CPUs.
_VECTORS = 16
# Work-items that keep a compute unit of a CPU busy.
_WIDE_ITEMS = 8
# The label of transposes in reports.
_TURN = "gaussian transpose"


def gaussian(gpu: Gpu, image: Image, sigma: tuple[float, float], border: str, cval: float) -> Image:
    """Blurs a planar float32 Image by a Gaussian of ``sigma`` (y, x), one of them at least 1/9; returns a new Image.

    The error is within 1e-5 of the result's peak for any σ. A NaN or an infinity spreads along its row and column, and
    so through its plane.
    """

    down, along = by_axis(border)

    def blurred(at: slice) -> Image:
        part = image.planes(at)
        if sigma[0] >= _LEAST:
            part = _columns(gpu, part, sigma[0], down, cval)
        if sigma[1] >= _LEAST:  # rows are the columns of the transposed image
            part = transposed(
                _columns(gpu, transposed(part, label=_TURN), sigma[1], along, cval), label=_TURN
            )
        return part

    return planewise(image.shape[0], image.nbytes, blurred)


@lru_cache(64)
def coefficients(sigma: float) -> tuple[float, npt.NDArray[np.complex64]]:
    """Returns h₀ and (q, c) of each exponential, as in recursive.cl; the weights' sum is 1."""
    q = -np.expm1(-_RATES / sigma)
    n = np.arange(1, ceil(_FITTED * sigma) + 2 * len(_RATES))
    powers = np.exp(np.outer(1 - n, _RATES / sigma))
    samples = np.exp(-0.5 * (n / sigma) ** 2)
    parts = np.linalg.lstsq(np.hstack([powers.real, -powers.imag]), samples, rcond=1e-12)[0]
    c = parts[: len(q)] + 1j * parts[len(q) :]
    total = 1 + 2 * (c / q).real.sum()
    return float(1 / total), np.stack([q, c / total], axis=1).astype(np.complex64)


def _columns(gpu: Gpu, image: Image, sigma: float, border: str, cval: float) -> Image:
    centre, terms = coefficients(sigma)
    planes, height, width = image.shape
    wide = gpu.limits.lanes > 1
    rows, columns = (_WIDE_ROWS, 16 * _VECTORS) if wide else (_ROWS, 1)
    warm = ceil(_WARM * sigma / rows) * rows
    # As many bands as keep the device busy, but each at least as long as the rows that are read before it.
    items = (_WIDE_ITEMS if wide else _ITEMS) * gpu.limits.compute_units
    bands = max(1, min(items // (planes * -(-width // columns)), height // (2 * warm)))
    band = -(-height // bands)
    defines = {**define(border), "TERMS": len(terms), "ROWS": rows}
    kernel = gpu.kernel(("border", "recursive"), "recursive", VECTORS=_VECTORS if wide else None, **defines)
    result = image.like()
    gpu.launch(
        kernel, (-(-width // columns), -(-height // band), planes), image, result,
        gpu.kept(("recursive", sigma), lambda: gpu.array(terms)), height, width, warm, band, centre, float(cval),
        local=(1, 1, 1) if wide else kernel.fit(64, 1, 1), label="gaussian recursive", traffic=5 * image.nbytes,
    )  # fmt: skip
    return result
