"""Structural similarity of stored values: the means over windows that begin in the rows that count."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ..figure import Band, Figure, Pair, mean


def fit(figure: Figure, pair: Pair, convention: str = "wang") -> Figure:
    """Returns the record for windows of a convention; raises ParameterError for pictures smaller than one."""
    from ..metrics.ssim import WINDOWS, check_size

    check_size(pair.reference.height, pair.reference.width, WINDOWS[convention])
    return replace(figure, below=WINDOWS[convention].size - 1)


def windows(band: Band, convention: str = "wang") -> int:
    """Returns how many windows a plane has."""
    from ..metrics.ssim import WINDOWS

    beside = WINDOWS[convention].size - 1
    return max(0, band.reference.height - beside) * (band.reference.width - beside)


def _ssim(band: Band, convention: str) -> float:
    from ..metrics.ssim import structural_similarity

    scale = band.pair.data_range
    return structural_similarity(band.gpu, *band.stored, data_range=scale, convention=convention)


def _fit_scales(figure: Figure, pair: Pair) -> Figure:
    from ..metrics.ssim import SCALES, WINDOWS, check_scales

    check_scales(pair.reference.height, pair.reference.width)
    coarsest = 1 << (SCALES - 1)  # rows of the pictures that one of the coarsest scale has
    return replace(figure, below=(WINDOWS["wang"].size - 1) * coarsest, multiple=coarsest)


def _windows_of_scales(band: Band) -> Any:
    """Returns how many rows of windows begin in the rows that count, at each scale: (scales, 1, 1)."""
    import numpy as np

    from ..metrics.ssim import windows_of_scales

    windows = windows_of_scales(band.place.height)
    first, end = (-(-row // 2 ** np.arange(len(windows))) for row in (band.place.start, band.place.stop))
    return np.maximum(np.minimum(end, windows) - first, 0)[:, None, None]


def _scales(band: Band) -> Any:
    import numpy as np

    from ..metrics.ssim import scale_means

    rows = _windows_of_scales(band).ravel()
    means = scale_means(band.gpu, *band.stored, band.pair.data_range, rows.tolist())
    found = np.zeros((len(rows), *means.shape[1:]))
    found[rows > 0] = means
    return found


def _of_scales(means: Any, _pair: Pair) -> float:
    from ..metrics.ssim import of_scales

    return of_scales(means)


#: What figures of structural similarity have in common.
SIMILARITY = partial(Figure, join=mean, alike=1.0, higher=True, best=1, digits=6)
FIGURES = (
    SIMILARITY("ssim", "the mean structural similarity of Wang et al. (2004), with a Gaussian window of σ 1.5 and "
               "11 × 11 pixels, K1 = 0.01, K2 = 0.03, and population covariances. Only places where the window lies "
               "inside the image count. It is the mean over channels, and needs 11 × 11 pixels",
               partial(_ssim, convention="wang"), weight=windows, worst=-1, fit=fit),
    SIMILARITY("ssim-skimage", "the same with skimage's defaults: a uniform window of 7 × 7, sample covariances",
               partial(_ssim, convention="skimage"), weight=partial(windows, convention="skimage"), worst=-1,
               fit=partial(fit, convention="skimage")),
    SIMILARITY("ms-ssim", "SSIM at five scales, Wang et al. (2003); it needs 176 pixels each way", _scales,
               weight=_windows_of_scales, value=_of_scales, worst=0, floats=0.7, fit=_fit_scales),
)  # fmt: skip
