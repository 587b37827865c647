"""Parameters of blurs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ParameterError
from .bilateral import BilateralParams
from .border import border_name

# The kinds of blur.
KINDS = ("gaussian", "box", "disc", "motion", "median", "bilateral")
# The ways to compute a blur.
METHODS = ("auto", "local", "direct", "multirate", "fft", "recursive")
# The largest half-width in pixels of weights for one axis.
MAX_RADIUS = 16384
# The largest half-width in pixels of weights for both axes at once.
MAX_RADIUS_2D = 2048
# The largest radius of a median in pixels.
MAX_MEDIAN = 15
# The sigma below which there is no coarse grid.
LEAST_MULTIRATE = 3.0
# The number of sigmas beyond which a Gaussian is less than 4e-5 of its peak.
ENOUGH = 4.5


@dataclass(frozen=True)
class BlurParams:
    """A blur, by convolution, by rank (the median), or by similarity (the bilateral filter).

    Attributes
    ----------
    sigma : (float, float)
        Standard deviation in pixels along rows' direction (y) and columns' direction (x); 0 leaves an axis as it is.
        For ``kind="gaussian"``.
    radius : (float, float)
        Half-width in pixels along y and x. The box and the median's window are 2·radius + 1 wide, where radius is a
        whole number; the median's are 31 wide at most. The disc is an ellipse with these half-axes, whose edge pixels
        count by the share of their area. The bilateral filter's window is 2·radius + 1 wide, the same along both axes;
        where both are 0 it has the default width of :class:`BilateralParams`.
    sigma_color : float
        The bilateral filter's standard deviation of colours; ``sigma`` is its spatial one, the same along both axes.
    length, angle : float
        The motion's length in pixels and its direction in degrees, counter-clockwise from a row's direction. For
        ``kind="motion"``.
    truncate : float, optional
        The Gaussian is cut at ``int(truncate·sigma + 0.5)``, as in scipy.ndimage. None cuts it where that changes the
        result by less than 5e-5 of the peak.
    border, cval
        The values outside the image: a name of :data:`gpuops.params.border.BORDERS`, and the constant's value.
    method
        With ``local``, work-items share tiles in local memory; with ``direct``, each works alone, with vectors on CPUs.
        ``multirate`` takes the same time for any sigma, :mod:`gpuops.filters.multirate`. ``recursive`` adds decaying
        exponentials, :mod:`gpuops.filters.recursive`, for comparison. ``fft`` multiplies spectra, with an error of 1e-6
        of the plane's largest value everywhere. ``auto`` is multirate for a Gaussian that is not cut; otherwise direct
        on CPUs and local elsewhere (measured: docs/benchmarks); fft for disc and motion where it is faster; and sums of
        sums for a box with a large radius, or on CPUs. The median and the bilateral filter only have auto.
    """

    sigma: tuple[float, float] = (0.0, 0.0)
    radius: tuple[float, float] = (0, 0)
    sigma_color: float = 0.0
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
        if self.method in ("multirate", "recursive") and (
            self.kind != "gaussian" or self.truncate is not None
        ):
            raise ParameterError(f"{self.method} is a whole Gaussian's method: use local, direct or fft")
        if self.method == "multirate" and max(self.sigma) < LEAST_MULTIRATE:
            raise ParameterError(f"multirate needs a sigma of {LEAST_MULTIRATE} or more: use local or direct")
        for name, value in (*(("radius", radius) for radius in self.radius), ("length", self.length)):
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError(f"{name} must be a finite number of pixels, 0 or more, not {value}")
        if not math.isfinite(self.angle):
            raise ParameterError(f"angle must be a finite number of degrees, not {self.angle}")
        if self.kind == "median" and max(self.radius) > MAX_MEDIAN:
            raise ParameterError(f"a median's radius is {MAX_MEDIAN} at most, not {max(self.radius):g}")
        if self.kind == "bilateral" and (self.sigma[0] != self.sigma[1] or self.radius[0] != self.radius[1]):
            raise ParameterError("the bilateral filter has one sigma and one radius for both axes")
        if self.kind in ("median", "bilateral") and self.method != "auto":
            raise ParameterError(f"--kind {self.kind} has no other method than auto")
        if self.kind in ("box", "median", "bilateral") and any(
            radius != int(radius) for radius in self.radius
        ):
            raise ParameterError(f"{self.kind} has a whole number as radius, not {max(self.radius):g}")
        if self.kind == "bilateral":
            _ = self.bilateral  # this checks its parameters
        most = MAX_RADIUS_2D if self.by_both_axes else MAX_RADIUS
        if max(self.radii) > most:
            what = {"gaussian": "sigma", "motion": "length"}.get(self.kind, "radius")
            raise ParameterError(
                f"the {what} is too large: it would reach {max(self.radii):.6g} pixels far, and {most} is the most"
            )

    @property
    def by_both_axes(self) -> bool:
        """Whether it needs the weights of both axes at once."""
        return self.kind in ("disc", "motion") or self.method == "fft"

    @property
    def radii(self) -> tuple[int, int]:
        """Half-widths of the support along y and x, in pixels."""
        if self.kind in ("box", "median"):
            return int(self.radius[0]), int(self.radius[1])
        if self.kind == "bilateral":
            return self.bilateral.radius, self.bilateral.radius
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

    @property
    def bilateral(self) -> BilateralParams:
        """The parameters of the bilateral filter."""
        size = 2 * int(self.radius[0]) + 1 if self.radius[0] else None
        return BilateralParams(self.sigma_color, self.sigma[0], size, border=self.border, cval=self.cval)

    def weights(self, axis: int) -> list[float]:
        """The normalised weights along ``axis`` (0: y, 1: x), 2·radius + 1 of them."""
        if self.kind == "box":
            size = 2 * self.radii[axis] + 1
            return [1.0 / size] * size
        return gaussian(self.sigma[axis], ENOUGH if self.truncate is None else self.truncate)


def gaussian(sigma: float, truncate: float) -> list[float]:
    """Normalised weights −r … r, r = int(truncate·sigma + 0.5), as in scipy.ndimage."""
    radius = int(truncate * sigma + 0.5)
    if radius == 0:  # also a sigma so small that nothing beyond the pixel itself is inside the support
        return [1.0]
    values = [math.exp(-0.5 * (i / sigma) ** 2) for i in range(-radius, radius + 1)]
    total = math.fsum(values)
    return [v / total for v in values]
