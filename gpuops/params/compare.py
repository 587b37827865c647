"""Parameters of a comparison of two images."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ParameterError, check_name

# The metrics by which images are compared.
METRICS = ("max", "rmse", "psnr", "ssim")
# The width in pixels of the window of structural similarity, along each axis: smaller images have none.
SSIM_SIZE = 11


@dataclass(frozen=True)
class CompareParams:
    """The metrics to measure, and the thresholds within which two images count as alike.

    Attributes
    ----------
    metrics
        Names of :data:`METRICS` to measure; those that thresholds need are measured as well.
    data_range : float
        The value that counts as 1 (255 for 8-bit levels): errors are given as fractions of it.
    max_error : float, optional
        Largest error of any value, as a fraction of data_range.
    min_psnr : float, optional
        Smallest peak signal-to-noise ratio, in dB.
    min_ssim : float, optional
        Smallest structural similarity, at most 1.

    Without any threshold only equal images are alike.
    """

    metrics: tuple[str, ...] = METRICS
    data_range: float = 1.0
    max_error: float | None = None
    min_psnr: float | None = None
    min_ssim: float | None = None

    def __post_init__(self) -> None:
        for metric in self.metrics:
            check_name("metric", metric, METRICS)
        if not (math.isfinite(self.data_range) and self.data_range > 0):
            raise ParameterError(f"the data range must be a positive number, not {self.data_range}")
        if self.max_error is not None and not self.max_error >= 0:
            raise ParameterError(f"the largest error allowed must be 0 or more, not {self.max_error}")
        if self.min_psnr is not None and math.isnan(self.min_psnr):
            raise ParameterError("the smallest PSNR allowed must be a number of dB")
        if self.min_ssim is not None and not -1 <= self.min_ssim <= 1:
            raise ParameterError(f"the smallest SSIM allowed must be in -1…1, not {self.min_ssim}")

    @property
    def thresholds(self) -> dict[str, float]:
        """The thresholds that are set, by metric."""
        limits = {"max": self.max_error, "psnr": self.min_psnr, "ssim": self.min_ssim}
        return {metric: limit for metric, limit in limits.items() if limit is not None}

    @property
    def measured(self) -> tuple[str, ...]:
        """The metrics asked for and those that thresholds need, in the order of :data:`METRICS`."""
        return tuple(metric for metric in METRICS if metric in self.metrics or metric in self.thresholds)
