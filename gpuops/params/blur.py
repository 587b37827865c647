"""Parameters of blurs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from .border import border_name

KINDS = ("gaussian", "box", "disc", "motion")
METHODS = ("auto", "local", "direct", "multirate", "fft")
MAX_RADIUS, MAX_RADIUS_2D = 16384, 2048  # of weights for an axis; of weights for both
LEAST_MULTIRATE = 3.0  # sigma below which there is no coarse grid
ENOUGH = 4.5  # sigmas: what is beyond is less than 4e-5 of the peak


@dataclass(frozen=True)
class BlurParams:
    """A blur by convolution.

    Attributes
    ----------
    sigma : (float, float)
        Standard deviation in pixels along rows' direction (y) and columns' direction (x); 0 leaves an axis as it is.
        For ``kind="gaussian"``.
    radius : (float, float)
        Half-width in pixels along y and x, of the box a whole number: it is 2·radius + 1 wide. The disc is an ellipse
        with these half-axes, of whose edge pixels have their shares. For ``kind="box"`` and ``"disc"``.
    length, angle : float
        Of the motion, in pixels and in degrees, counter-clockwise from a row's direction. For ``kind="motion"``.
    truncate : float, optional
        The Gaussian is cut at ``int(truncate·sigma + 0.5)``, as in scipy.ndimage. None: nowhere that matters, which is
        within 5e-5 of the peak.
    border, cval
        What stands outside the image: a name of :data:`gpuops.params.border.BORDERS`; the constant's value.
    method
        ``local``: tiles in local memory. ``direct``: vectors straight from global memory. ``multirate``: the same time
        for any sigma, :mod:`gpuops.multirate`. ``fft``: as a product of spectra, with an error of 1e-6 of the plane's
        largest value everywhere. ``auto``: multirate where it can be (a Gaussian that is not cut); else direct on CPUs,
        local elsewhere (measured: docs/benchmarks); of disc and motion fft where it is faster.
    """

    sigma: tuple[float, float] = (0.0, 0.0)
    radius: tuple[float, float] = (0, 0)
    length: float = 0.0
    angle: float = 0.0
    kind: str = "gaussian"
    truncate: float | None = None
    border: str = "reflect"
    cval: float = 0.0
    method: str = "auto"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"unknown kind of blur {self.kind!r}: use one of {', '.join(KINDS)}")
        if self.method not in METHODS:
            raise ParameterError(f"unknown method {self.method!r}: use one of {', '.join(METHODS)}")
        object.__setattr__(self, "border", border_name(self.border))
        for sigma in self.sigma:
            if not (math.isfinite(sigma) and sigma >= 0):
                raise ParameterError(f"sigma must be a finite number of pixels, 0 or more, not {sigma}")
        if self.truncate is not None and not (math.isfinite(self.truncate) and self.truncate > 0):
            raise ParameterError(f"truncate must be a positive number of sigmas, not {self.truncate}")
        if not math.isfinite(self.cval):
            raise ParameterError(f"the border's constant must be finite, not {self.cval}")
        if self.method == "multirate":
            if self.kind != "gaussian" or self.truncate is not None:
                raise ParameterError("multirate is a whole Gaussian's method: use local, direct or fft")
            if max(self.sigma) < LEAST_MULTIRATE:
                raise ParameterError(
                    f"multirate needs a sigma of {LEAST_MULTIRATE} or more: use local or direct"
                )
        for name, value in (*(("radius", radius) for radius in self.radius), ("length", self.length)):
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError(f"{name} must be a finite number of pixels, 0 or more, not {value}")
        if not math.isfinite(self.angle):
            raise ParameterError(f"angle must be a finite number of degrees, not {self.angle}")
        if self.kind == "box" and any(radius != int(radius) for radius in self.radius):
            raise ParameterError(f"a box has a whole number as radius, not {self.radius}")
        most = MAX_RADIUS_2D if self.by_both_axes else MAX_RADIUS
        if max(self.radii) > most:
            raise ParameterError(f"a radius of {max(self.radii)} pixels is beyond {most}")

    @property
    def by_both_axes(self) -> bool:
        """Whether it needs the weights of both axes at once."""
        return self.kind in ("disc", "motion") or self.method == "fft"

    @property
    def radii(self) -> tuple[int, int]:
        """Half-widths of the support along y and x, in pixels."""
        if self.kind == "box":
            return int(self.radius[0]), int(self.radius[1])
        if self.kind == "disc":
            y, x = (max(0, math.ceil(radius - 0.5)) for radius in self.radius)
            return (y, x) if min(self.radius) > 0 else (0, 0)
        if self.kind == "motion":  # a line one pixel wide
            c, s = (abs(f(math.radians(self.angle))) for f in (math.cos, math.sin))
            y, x = (math.ceil((self.length * a + b - 1) / 2 - 1e-9) for a, b in ((s, c), (c, s)))
            return max(0, y), max(0, x)
        truncate = ENOUGH if self.truncate is None else self.truncate
        y, x = (int(truncate * sigma + 0.5) for sigma in self.sigma)
        return y, x

    def weights(self, axis: int) -> npt.NDArray[np.float64]:
        """The normalised weights along ``axis`` (0: y, 1: x), 2·radius + 1 of them."""
        if self.kind == "box":
            size = 2 * self.radii[axis] + 1
            return np.full(size, 1.0 / size)
        return gaussian(self.sigma[axis], ENOUGH if self.truncate is None else self.truncate)


def gaussian(sigma: float, truncate: float) -> npt.NDArray[np.float64]:
    """Normalised weights −r … r, r = int(truncate·sigma + 0.5), as in scipy.ndimage."""
    radius = int(truncate * sigma + 0.5)
    if radius == 0:  # also a sigma so small that nothing beyond the pixel itself is inside the support
        return np.ones(1)
    values = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return np.asarray(values / math.fsum(values), np.float64)
